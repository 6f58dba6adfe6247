//! `ac trust`

use std::path::PathBuf;

use clap::Args;
use protocol::company::workspace::{
    CompanyFolderParams, CompanyWorkspaceTrust, CompanyWorkspaceTrustGet,
    CompanyWorkspaceTrustParams, CompanyWorkspaceTrustResponse, CompanyWorkspaceTrustWithdraw,
};
use serde_json::json;

use super::HomeOption;
use crate::{failure::Failure, folder, local::Local, terminal, worker_session};

/// Say that you trust a company folder that came from elsewhere.
///
/// A folder that was cloned, unpacked or sent can be read. Nothing is changed or started in it before you say so once.
#[derive(Args, Debug)]
pub(crate) struct Trust {
    #[command(flatten)]
    home: HomeOption,
    /// The company folder.
    #[arg(value_name = "DIR", value_parser = folder::argument())]
    directory: PathBuf,
    /// Do not ask.
    #[arg(long)]
    yes: bool,
    /// Take it back: the folder can be read and nothing else.
    #[arg(long, conflicts_with = "yes")]
    withdraw: bool,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

impl Trust {
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
        let told = Local::with(&home, |local| async move {
            let client = &local.client;
            if withdraw {
                return Ok(client.call::<CompanyWorkspaceTrustWithdraw>(params).await?);
            }
            let told = client
                .call::<CompanyWorkspaceTrustGet>(params.clone())
                .await?;
            if told.trusted {
                return Ok(told);
            }
            if !yes {
                terminal::confirm(&question(&told))?;
            }
            let params = CompanyWorkspaceTrustParams {
                workspace_dir: params.workspace_dir,
                expected_sha256: Some(told.sha256),
            };
            Ok(client.call::<CompanyWorkspaceTrust>(params).await?)
        });
        let told = told.await?;
        if !terminal::is_for_people(as_json) {
            return terminal::answer(&json!(told), as_json);
        }
        let dir = terminal::harmless(&told.workspace_dir);
        Ok(terminal::say(&if told.trusted {
            format!("{dir} is trusted on this machine.")
        } else {
            format!(
                "{dir} is not trusted on this machine any more: it can be read and nothing else."
            )
        })?)
    }
}

/// What somebody should know before they say yes.
fn question(told: &CompanyWorkspaceTrustResponse) -> String {
    let mut lines = vec![format!("Trust {}?", told.workspace_dir)];
    if !told.programs.is_empty() {
        lines.push("Its workers would run these programs as your account:".to_owned());
        let programs = told.programs.iter();
        lines.extend(programs.map(|(provider, path)| format!("  {provider}: {path}")));
    }
    if told.heartbeat_enabled {
        lines.push("Its heartbeat is on: workers would be started without being asked.".to_owned());
    }
    terminal::harmless(&lines.join("\n"))
}
