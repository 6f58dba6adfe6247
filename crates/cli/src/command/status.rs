//! `ac status`

use clap::Args;
use gateway::{Home, VERSION};
use protocol::{
    company::workspace::{CompanyFolderParams, CompanyWorkspaceHomeSnapshot},
    workspace::{WorkspaceList, WorkspaceListParams},
};
use serde_json::json;

use super::{HomeOption, inbox};
use crate::{failure::Failure, folder::CompanyOption, local::Local, terminal};

/// How the home, its gateway and the company around here stand.
#[derive(Args, Debug)]
pub(crate) struct Status {
    #[command(flatten)]
    home: HomeOption,
    #[command(flatten)]
    company: CompanyOption,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

impl Status {
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
                    // The same number as `ac inbox` has rows.
                    let tray = inbox::Tray::of(&local, &option).await?;
                    let waiting = tray.waiting().await?.len();
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
            "workspaces": workspaces.iter().map(|workspace| json!({
                "id": workspace.id,
                "name": workspace.name,
                "current": workspace.is_current,
            })).collect::<Vec<_>>(),
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
        terminal::answer(&answer, self.json)
    }
}
