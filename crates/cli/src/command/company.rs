//! `ac company forget`: removes a company folder from the home.

use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};
use protocol::workspace::{Workspace, WorkspaceForget, WorkspaceForgetParams};
use serde_json::json;

use super::HomeOption;
use crate::{failure::Failure, folder, local::Local, terminal};

#[derive(Args, Debug)]
pub(crate) struct CompanyCommand {
    #[command(subcommand)]
    action: CompanyAction,
}

#[derive(Debug, Subcommand)]
enum CompanyAction {
    /// Forget a company folder, such as a deleted one, without changing files.
    ///
    /// Opening the folder again restores its workspace with its threads and documents.
    Forget {
        #[command(flatten)]
        home: HomeOption,
        /// Company folder; it need not exist.
        #[arg(value_name = "DIR", value_parser = folder::argument())]
        directory: PathBuf,
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
}

impl CompanyCommand {
    pub(crate) async fn run(self) -> Result<(), Failure> {
        let CompanyAction::Forget {
            home,
            directory,
            json,
        } = self.action;
        let directory = folder::whole(&directory)?;
        let forgotten = Local::with(&home, |local| async move {
            let known = local.companies().await?;
            let found = find(&known, &directory).ok_or_else(|| not_known(&known, &directory))?;
            let params = WorkspaceForgetParams {
                workspace_id: found.id.clone(),
            };
            let answer = local.client.call::<WorkspaceForget>(params).await?;
            Ok(answer.workspace)
        });
        let workspace = forgotten.await?;
        let directory = workspace.dir.as_deref().unwrap_or_default();
        if json {
            let answer = json!({"forgotten": directory, "workspace": workspace.id});
            return terminal::answer(&answer, true);
        }
        Ok(terminal::print(&format!(
            "`{}` (`{directory}`) is forgotten. No files were changed; `ac workspace:open DIR` restores it.",
            terminal::harmless(&workspace.name),
        ))?)
    }
}

/// Finds a workspace by the path of its company folder, as given or with links resolved.
fn find<'a>(known: &'a [Workspace], directory: &Path) -> Option<&'a Workspace> {
    let resolved = directory.canonicalize().ok();
    known.iter().find(|one| {
        let dir = one.dir.as_deref().map(Path::new);
        dir == Some(directory) || (resolved.is_some() && dir == resolved.as_deref())
    })
}

fn not_known(known: &[Workspace], directory: &Path) -> Failure {
    let dirs: Vec<_> = known.iter().filter_map(|one| one.dir.as_deref()).collect();
    let known = if dirs.is_empty() {
        "it knows none".to_owned()
    } else {
        format!("expected one of `{}`", dirs.join("`, `"))
    };
    Failure::Argument {
        detail: format!(
            "`{}` is not a company folder that this home knows: {known}",
            directory.display()
        ),
    }
}
