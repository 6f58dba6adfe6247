//! `ac desktop-session list|end`: the browsers that are signed in to the desktop.

use clap::{Args, Subcommand};
use crud::{CrudStore, DesktopSession};
use gateway::{DesktopSessions, Home, Sources};
use protocol::{DesktopSessionId, Id as _};
use serde_json::json;

use super::HomeOption;
use crate::{failure::Failure, names::Names, terminal};

#[derive(Args, Debug)]
pub(crate) struct DesktopSessionCommand {
    #[command(subcommand)]
    action: DesktopSessionAction,
}

#[derive(Debug, Subcommand)]
enum DesktopSessionAction {
    /// List the browsers that are signed in to the desktop.
    List {
        #[command(flatten)]
        home: HomeOption,
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
    /// Sign a browser out and close its connections within a second.
    End {
        #[command(flatten)]
        home: HomeOption,
        /// Id of the session, as listed by `ac desktop-session list`.
        #[arg(required_unless_present = "all")]
        id: Option<String>,
        /// Sign all browsers out.
        #[arg(long, conflicts_with = "id")]
        all: bool,
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
}

impl DesktopSessionCommand {
    pub(crate) async fn run(self) -> Result<(), Failure> {
        let now = Sources::system().clock.now();
        match self.action {
            DesktopSessionAction::List { home, json } => {
                let rows = open(&home)?.list(now).await?;
                terminal::print(&if json { as_json(&rows) } else { as_table(rows) })?;
            }
            DesktopSessionAction::End { home, id, json, .. } => {
                let sessions = open(&home)?;
                let ended = match id {
                    Some(id) => vec![end(&sessions, &id).await?],
                    None => {
                        let mut ended = Vec::new();
                        for row in sessions.list(now).await? {
                            ended.push(end(&sessions, &row.id).await?);
                        }
                        ended
                    }
                };
                terminal::print(&match (json, ended.as_slice()) {
                    (true, ended) => json!({ "ended": ended }).to_string(),
                    (false, []) => "No browser was signed in.".to_owned(),
                    (false, [id]) => format!("The browser with the session `{id}` is signed out."),
                    (false, ended) => format!("{} browsers are signed out.", ended.len()),
                })?;
            }
        }
        Ok(())
    }
}

fn open(home: &HomeOption) -> Result<DesktopSessions, Failure> {
    let home = Home::open(&home.path()?)?;
    let opened = CrudStore::open(home.path(), &super::gateway_options().database);
    let store = opened.map_err(|source| gateway::Error::Database { source })?;
    Ok(DesktopSessions::open(&home, store)?)
}

/// Ends one session and returns its id.
async fn end(sessions: &DesktopSessions, id: &str) -> Result<String, Failure> {
    let unknown = || Failure::UnknownDesktopSession { id: id.to_owned() };
    let parsed = DesktopSessionId::parse(id).map_err(|_| unknown())?;
    if !sessions.end(&parsed).await? {
        return Err(unknown());
    }
    Ok(parsed.into())
}

fn as_json(rows: &[DesktopSession]) -> String {
    let sessions: Vec<_> = rows
        .iter()
        .map(|row| {
            json!({
                "id": row.id,
                "user_agent": row.user_agent,
                "created_at": row.created_at,
                "last_used_at": row.last_used_at,
                "expires_at": row.expires_at,
            })
        })
        .collect();
    json!({ "sessions": sessions }).to_string()
}

fn as_table(rows: Vec<DesktopSession>) -> String {
    if rows.is_empty() {
        return "No browser is signed in. `ac open` signs one in.".to_owned();
    }
    let row = |row: DesktopSession| {
        json!({
            "user_agent": row.user_agent,
            "created_at": row.created_at,
            "last_used_at": row.last_used_at,
            "expires_at": row.expires_at,
            "id": row.id,
        })
    };
    let rows: Vec<_> = rows.into_iter().map(row).collect();
    terminal::shown(&json!(rows), &Names::default())
}
