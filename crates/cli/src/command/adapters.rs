//! `ac adapters list|use`: the worker programs of this machine and their billing.

use clap::{Args, Subcommand, ValueEnum};
use protocol::company::{Text, adapter::*, workspace::CompanyFolderParams};
use serde_json::json;

use super::HomeOption;
use crate::{failure::Failure, folder::CompanyOption, local::Local, terminal};

/// List the worker programs of this machine and choose how they are billed.
#[derive(Args, Debug)]
pub(crate) struct AdaptersCommand {
    #[command(subcommand)]
    action: AdaptersAction,
}

#[derive(Debug, Subcommand)]
enum AdaptersAction {
    /// List the worker programs and whether they can be launched.
    List {
        #[command(flatten)]
        home: HomeOption,
        #[command(flatten)]
        company: CompanyOption,
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
    /// Choose whether a worker program uses an API key or its subscription login.
    Use {
        #[command(flatten)]
        home: HomeOption,
        #[command(flatten)]
        company: CompanyOption,
        /// Worker program.
        program: WorkerProgram,
        /// Use an API key: workers get the key variables of the gateway, such as OPENAI_API_KEY.
        #[arg(long, required_unless_present = "subscription")]
        api_key: bool,
        /// Use the subscription that the program is logged in to.
        #[arg(long, conflicts_with = "api_key")]
        subscription: bool,
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum WorkerProgram {
    Codex,
    Claude,
    Gemini,
}

impl WorkerProgram {
    fn as_str(self) -> &'static str {
        match self {
            Self::Codex => "codex",
            Self::Claude => "claude",
            Self::Gemini => "gemini",
        }
    }
}

impl AdaptersCommand {
    pub(crate) async fn run(self) -> Result<(), Failure> {
        match self.action {
            AdaptersAction::List {
                home,
                company,
                json,
            } => list(&home, company, json).await,
            AdaptersAction::Use {
                home,
                company,
                program,
                api_key,
                subscription: _,
                json,
            } => {
                let channel = if api_key {
                    AdapterChannel::Api
                } else {
                    AdapterChannel::SubscriptionCli
                };
                use_channel(&home, company, program, channel, json).await
            }
        }
    }
}

async fn list(home: &HomeOption, company: CompanyOption, as_json: bool) -> Result<(), Failure> {
    let rows = Local::with(home, |local| async move {
        let params = CompanyFolderParams {
            workspace_dir: local.company(&company).await?,
        };
        Ok(local.client.call::<AdapterStatus>(params).await?.0)
    });
    let rows = rows.await?;
    if !terminal::is_for_people(as_json) {
        return terminal::answer(&json!(rows), as_json);
    }
    let row = |row: &AdapterRow| {
        let (state, note) = match (&row.launch, &row.reason) {
            (Some(launch), _) if launch.ready => ("ready", None),
            (Some(launch), _) => ("refused", launch.reason.as_deref()),
            (None, reason) => ("not available", reason.as_deref()),
        };
        let paid_by = match row.launch.as_ref().map(|launch| launch.channel) {
            Some(AdapterChannel::Api) => "API key",
            Some(AdapterChannel::SubscriptionCli) => "subscription",
            None => "-",
        };
        vec![
            row.name.clone(),
            state.to_owned(),
            paid_by.to_owned(),
            terminal::harmless(&terminal::reworded(note.unwrap_or_default())),
        ]
    };
    let rows: Vec<_> = rows.iter().map(row).collect();
    Ok(terminal::print(&terminal::table(
        &["ADAPTER", "STATE", "PAID BY", "NOTE"],
        &rows,
    ))?)
}

async fn use_channel(
    home: &HomeOption,
    company: CompanyOption,
    program: WorkerProgram,
    channel: AdapterChannel,
    as_json: bool,
) -> Result<(), Failure> {
    let set = Local::with(home, |local| async move {
        let params = AdapterChannelSetParams {
            workspace_dir: local.company(&company).await?,
            provider: Text::new(program.as_str()).expect("a name is not empty"),
            channel,
        };
        Ok(local.client.call::<AdapterChannelSet>(params).await?)
    });
    let set = set.await?;
    if !terminal::is_for_people(as_json) {
        return terminal::answer(&json!(set), as_json);
    }
    let paid_by = match set.channel {
        AdapterChannel::Api => "an API key",
        AdapterChannel::SubscriptionCli => "its subscription login",
    };
    let sentence = if set.changed.is_empty() {
        format!("{} already uses {paid_by}.", set.provider)
    } else {
        format!("{} uses {paid_by} from now on.", set.provider)
    };
    Ok(terminal::print(&sentence)?)
}
