//! `ac trust`: trusts a company folder on this machine, or withdraws the trust.

use std::path::PathBuf;

use clap::Args;
use protocol::company::workspace::{
    CompanyFolderParams, CompanyWorkspaceTrust, CompanyWorkspaceTrustGet,
    CompanyWorkspaceTrustParams, CompanyWorkspaceTrustResponse, CompanyWorkspaceTrustWithdraw,
};
use serde_json::json;

use super::HomeOption;
use crate::{failure::Failure, folder, local::Local, terminal, worker_session};

/// Trust a company folder that was copied, cloned or restored.
///
/// Such a folder can be read, but Accord changes and starts nothing in it until you trust it.
#[derive(Args, Debug)]
pub(crate) struct TrustCommand {
    #[command(flatten)]
    home: HomeOption,
    /// Company folder.
    #[arg(value_name = "DIR", value_parser = folder::argument())]
    directory: PathBuf,
    /// Do not ask for confirmation.
    #[arg(long)]
    yes: bool,
    /// Withdraw the trust: the folder can only be read.
    #[arg(long, conflicts_with = "yes")]
    withdraw: bool,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

impl TrustCommand {
    pub(crate) async fn run(self) -> Result<(), Failure> {
        let Self {
            home,
            directory,
            yes,
            withdraw,
            json: as_json,
        } = self;
        if !withdraw {
            worker_session::refuse_decision()?;
        }
        let workspace_dir = folder::wire(&folder::company(&directory)?)?;
        let params = CompanyFolderParams { workspace_dir };
        let response = Local::with(&home, |local| async move {
            let client = &local.client;
            if withdraw {
                return Ok(client.call::<CompanyWorkspaceTrustWithdraw>(params).await?);
            }
            let current = client
                .call::<CompanyWorkspaceTrustGet>(params.clone())
                .await?;
            if current.trusted {
                return Ok(current);
            }
            if !yes {
                terminal::confirm(&question(&current))?;
            }
            let params = CompanyWorkspaceTrustParams {
                workspace_dir: params.workspace_dir,
                expected_sha256: Some(current.sha256),
            };
            Ok(client.call::<CompanyWorkspaceTrust>(params).await?)
        });
        let response = response.await?;
        if !terminal::is_for_people(as_json) {
            return terminal::answer(&json!(response), as_json);
        }
        let dir = terminal::harmless(&response.workspace_dir);
        Ok(terminal::print(&if response.trusted {
            format!("{dir} is trusted on this machine.")
        } else {
            format!("{dir} is no longer trusted on this machine: it can only be read.")
        })?)
    }
}

/// Returns the confirmation question, with the programs and the heartbeat that trust would enable.
fn question(current: &CompanyWorkspaceTrustResponse) -> String {
    let mut lines = vec![format!("Trust {}?", current.workspace_dir)];
    if !current.programs.is_empty() {
        lines.push("Its workers would run these programs under your account:".to_owned());
        let programs = current.programs.iter();
        lines.extend(programs.map(|(provider, path)| format!("  {provider}: {path}")));
    }
    if current.heartbeat_enabled {
        lines.push("Its heartbeat is enabled: workers would start automatically.".to_owned());
    }
    terminal::harmless(&lines.join("\n"))
}
