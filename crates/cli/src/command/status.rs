//! `ac status`: shows the status of the home, its gateway and the current company.

use clap::Args;
use gateway::{Home, VERSION};
use protocol::{
    company::workspace::{CompanyFolderParams, CompanyWorkspaceHomeSnapshot},
    workspace::{Workspace, WorkspaceList, WorkspaceListParams},
};
use serde_json::{Value, json};

use super::{HomeOption, inbox};
use crate::{
    failure::Failure,
    folder::{self, CompanyOption},
    local::Local,
    terminal,
};

/// Show the status of the home, its gateway and the current company.
#[derive(Args, Debug)]
pub(crate) struct StatusCommand {
    #[command(flatten)]
    home: HomeOption,
    #[command(flatten)]
    company: CompanyOption,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

impl StatusCommand {
    pub(crate) async fn run(self) -> Result<(), Failure> {
        let option = self.company;
        let home = Home::open(&self.home.path()?)?;
        let served_at = home.served_at();
        let (workspaces, company) = Local::with(&self.home, |local| async move {
            let client = &local.client;
            let listed = client.call::<WorkspaceList>(WorkspaceListParams {}).await?;
            let company = match local.company_if_any(&option).await? {
                None => None,
                Some(workspace_dir) => {
                    // Count through the inbox, so that the number equals the rows of `ac inbox`.
                    let inbox_sources = inbox::InboxSources::of(&local, &option).await?;
                    let waiting = inbox_sources.waiting().await?.len();
                    let params = CompanyFolderParams { workspace_dir };
                    let found = client.call::<CompanyWorkspaceHomeSnapshot>(params);
                    Some((found.await?.home, waiting))
                }
            };
            Ok((listed.workspaces, company))
        })
        .await?;
        let answer = json!({
            "version": VERSION,
            "home": home.path(),
            "gateway": served_at.as_deref().unwrap_or("not running: `ac serve` starts it"),
            "workspaces": workspaces.iter().filter(|one| one.is_active).map(row).collect::<Vec<_>>(),
            "company": company.as_ref().map(|(company, waiting)| json!({
                "folder": company.workspace_dir,
                "waiting_for_you": waiting,
                "running": company.summary.active_runs,
            })),
            "projects": company.iter().flat_map(|(company, _)| &company.projects).map(|project| json!({
                "id": project.project_id,
                "name": project.name,
                "progress": format!("{:.0} %", project.progress_pct),
                "running": project.active_runs,
                "waiting": project.pending_reviews,
                "blocked": project.blocked_tasks,
            })).collect::<Vec<_>>(),
        });
        terminal::answer(&answer, self.json)?;
        if terminal::is_for_people(self.json) {
            for dir in workspaces
                .iter()
                .filter_map(missing)
                .map(terminal::harmless)
            {
                terminal::print(&format!(
                    "\nThe company folder `{dir}` does not exist: put it back, or run `ac company forget {}`.",
                    folder::quoted(&dir)
                ))?;
            }
        }
        Ok(())
    }
}

/// Returns a workspace with its company folder and whether that exists.
fn row(workspace: &Workspace) -> Value {
    let mut row = json!({
        "id": workspace.id,
        "name": workspace.name,
        "current": workspace.is_current,
    });
    if let Some(dir) = &workspace.dir {
        row["folder"] = dir.as_str().into();
        row["folder_state"] = if missing(workspace).is_some() {
            "missing".into()
        } else {
            "there".into()
        };
    }
    row
}

/// Returns the company folder of an active workspace if it no longer contains a company.
fn missing(workspace: &Workspace) -> Option<&str> {
    let dir = workspace.dir.as_deref().filter(|_| workspace.is_active)?;
    (!folder::is_company(dir.as_ref())).then_some(dir)
}
