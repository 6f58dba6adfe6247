//! `ac cooldown list|clear`: the cool-downs of providers.

use std::io::{self, IsTerminal as _};

use clap::{Args, Subcommand};
use protocol::company::{Text, session::*};
use serde_json::json;

use super::HomeOption;
use crate::{failure::Failure, folder::CompanyOption, local::Local, terminal};

/// List and clear cool-downs of providers.
///
/// A provider cools down after a rate limit, a network failure or a rejected login; its sessions stay in the queue
/// until the cool-down ends.
#[derive(Args, Debug)]
pub(crate) struct CooldownCommand {
    #[command(subcommand)]
    action: CooldownAction,
}

#[derive(Debug, Subcommand)]
enum CooldownAction {
    /// List cool-downs with their provider, cause and end.
    List {
        #[command(flatten)]
        home: HomeOption,
        #[command(flatten)]
        company: CompanyOption,
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
    /// End cool-downs and start the sessions that wait for them.
    Clear {
        #[command(flatten)]
        home: HomeOption,
        #[command(flatten)]
        company: CompanyOption,
        /// Provider, such as `codex` [default: all providers]
        provider: Option<String>,
        /// Do not ask for confirmation.
        #[arg(long)]
        now: bool,
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
}

impl CooldownCommand {
    pub(crate) async fn run(self) -> Result<(), Failure> {
        match self.action {
            CooldownAction::List {
                home,
                company,
                json,
            } => {
                let items = Local::with(&home, |local| async move {
                    let dir = local.company(&company).await?;
                    listed(&local, dir).await
                });
                print(&items.await?, "No provider is cooling down.", json)
            }
            CooldownAction::Clear {
                home,
                company,
                provider,
                now,
                json,
            } => {
                let provider = provider.map(|provider| {
                    Text::new(provider).ok_or_else(|| Failure::Argument {
                        detail: "the provider is empty: expected a name such as `codex`".to_owned(),
                    })
                });
                let provider = provider.transpose()?;
                let can_ask = io::stdin().is_terminal() && io::stderr().is_terminal();
                if !now && !can_ask {
                    return Err(Failure::Argument {
                        detail: "`ac cooldown clear` asks for confirmation, which needs a terminal: add --now to skip the question".to_owned(),
                    });
                }
                let items = Local::with(&home, |local| async move {
                    let dir = local.company(&company).await?;
                    if !now {
                        let mut items = listed(&local, dir.clone()).await?;
                        items.retain(|one| {
                            let is_named = |name: &Text| name.as_str() == one.provider;
                            provider.as_ref().is_none_or(is_named)
                        });
                        if items.is_empty() || !is_confirmed(&items) {
                            return Ok(Vec::new());
                        }
                    }
                    let params = CompanySessionCooldownClearParams {
                        workspace_dir: dir,
                        provider,
                    };
                    let cleared = local.client.call::<CompanySessionCooldownClear>(params);
                    Ok(cleared.await?.items)
                });
                let items = items.await?;
                if !terminal::is_for_people(json) {
                    return terminal::answer(&json!(items), json);
                }
                Ok(terminal::print(&ended(&items))?)
            }
        }
    }
}

async fn listed(local: &Local, dir: Text) -> Result<Vec<CompanySessionCooldown>, Failure> {
    let params = CompanySessionCooldownListParams { workspace_dir: dir };
    let listed = local.client.call::<CompanySessionCooldownList>(params);
    Ok(listed.await?.items)
}

fn print(items: &[CompanySessionCooldown], none: &str, as_json: bool) -> Result<(), Failure> {
    if items.is_empty() && terminal::is_for_people(as_json) {
        return Ok(terminal::print(none)?);
    }
    terminal::answer(&json!(items), as_json)
}

/// Returns one line per cool-down that was ended.
fn ended(items: &[CompanySessionCooldown]) -> String {
    if items.is_empty() {
        return "No cool-down was ended.".to_owned();
    }
    let line = |one: &CompanySessionCooldown| {
        format!(
            "Ended the cool-down of {} until {}.",
            terminal::harmless(&one.provider),
            local_time(&one.until)
        )
    };
    items.iter().map(line).collect::<Vec<_>>().join("\n")
}

/// Formats a timestamp as local time. Any other text is returned unchanged.
fn local_time(text: &str) -> String {
    terminal::of_text(text, &terminal::zone()).unwrap_or_else(|| terminal::harmless(text))
}

/// Lists the cool-downs and asks the user to confirm.
fn is_confirmed(items: &[CompanySessionCooldown]) -> bool {
    for one in items {
        let reason = terminal::harmless(&one.reason);
        terminal::complain(&format!("{reason}, until {}", local_time(&one.until)));
    }
    terminal::complain("End these cool-downs now? Queued sessions start at once. y/n");
    let mut answer = String::new();
    let read = io::stdin().read_line(&mut answer);
    read.is_ok() && matches!(answer.trim(), "y" | "yes")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ended_cool_downs_are_listed_by_provider_with_a_local_time() {
        let item = CompanySessionCooldown {
            provider: "codex".to_owned(),
            reason_code: "rate_limit".to_owned(),
            reason: "provider `codex` cools down".to_owned(),
            until: "2999-01-01T00:00:00.000Z".to_owned(),
            level: 1,
            waiting: 0,
        };
        let until = local_time(&item.until);
        assert!(!until.contains(['T', 'Z']), "{until}");
        let sentence = format!("Ended the cool-down of codex until {until}.");
        assert_eq!(ended(&[item]), sentence);
        assert_eq!(ended(&[]), "No cool-down was ended.");
    }
}
