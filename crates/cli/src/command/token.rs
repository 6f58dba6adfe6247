//! `ac token create|list|revoke`: the tokens of other clients.

use clap::{Args, Subcommand};
use crud::CrudStore;
use gateway::{Home, NewToken, Sources};
use serde_json::json;

use super::HomeOption;
use crate::{failure::Failure, names::Names, terminal};

#[derive(Args, Debug)]
pub(crate) struct TokenCommand {
    #[command(subcommand)]
    action: TokenAction,
}

#[derive(Debug, Subcommand)]
enum TokenAction {
    /// Create a token and print its secret, which is shown only once.
    Create {
        #[command(flatten)]
        home: HomeOption,
        /// Purpose of the token.
        #[arg(long, default_value = "unnamed")]
        name: String,
        /// Highest role that its calls may claim: worker, manager, director, ceo or human.
        #[arg(long, default_value = "worker")]
        role: String,
        /// Permissions, separated by commas: read, propose (AGENTS.md changes that people decide about), write, spend
        /// (call models with your keys) and exec (start processes; includes spend).
        #[arg(long = "scope", value_delimiter = ',', default_value = "read")]
        scopes: Vec<String>,
        /// Restrict the token to this workspace; may be given several times.
        #[arg(long = "workspace", value_name = "ID", value_delimiter = ',')]
        workspaces: Vec<String>,
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
    /// List tokens without their secrets.
    List {
        #[command(flatten)]
        home: HomeOption,
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
    /// Revoke a token and close its connections within a second.
    Revoke {
        #[command(flatten)]
        home: HomeOption,
        /// Id of the token, as listed by `ac token list`.
        id: String,
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
}

impl TokenCommand {
    pub(crate) async fn run(self) -> Result<(), Failure> {
        match self.action {
            TokenAction::Create {
                home,
                name,
                role,
                scopes,
                workspaces,
                json,
            } => {
                let token = NewToken::new(name, &role, &scopes, &workspaces)?;
                let (row, secret) = token.create(&open(&home)?, &Sources::system()).await?;
                terminal::print(&if json {
                    json!({"id": row.id, "token": secret}).to_string()
                } else {
                    format!(
                        "{secret}\n\nThis is the only time the token is shown. Revoke it with `ac token revoke {}`.",
                        row.id
                    )
                })?;
            }
            TokenAction::List { home, json } => {
                let store = open(&home)?;
                let rows = store.access_tokens().list().await?;
                let workspaces = store.workspaces().list().await?.into_iter();
                let names = workspaces.map(|workspace| (workspace.id, workspace.name));
                terminal::print(&if json {
                    as_json(&rows)
                } else {
                    as_table(rows, &names.collect())
                })?;
            }
            TokenAction::Revoke { home, id, json } => {
                let now = Sources::system().clock.now();
                if !open(&home)?.access_tokens().revoke(&id, now).await? {
                    return Err(Failure::UnknownToken { id });
                }
                terminal::print(&if json {
                    json!({"id": id, "revoked": true}).to_string()
                } else {
                    format!("The token `{id}` is revoked.")
                })?;
            }
        }
        Ok(())
    }
}

fn open(home: &HomeOption) -> Result<CrudStore, Failure> {
    let home = Home::open(&home.path()?)?;
    let opened = CrudStore::open(home.path(), &super::gateway_options().database);
    Ok(opened.map_err(|source| gateway::Error::Database { source })?)
}

fn as_json(rows: &[crud::AccessToken]) -> String {
    let tokens: Vec<_> = rows
        .iter()
        .map(|row| {
            json!({
                "id": row.id,
                "name": row.name,
                "role": row.role,
                "scopes": row.scopes.split(',').collect::<Vec<_>>(),
                "workspaces": row.workspaces.as_deref().map(|ids| ids.split(',').collect::<Vec<_>>()),
                "created_at": row.created_at,
                "revoked_at": row.revoked_at,
            })
        })
        .collect();
    json!({ "tokens": tokens }).to_string()
}

fn as_table(rows: Vec<crud::AccessToken>, workspaces: &Names) -> String {
    if rows.is_empty() {
        return "There are no tokens. `ac token create` creates one.".to_owned();
    }
    let row = |row: crud::AccessToken| {
        let ids = row.workspaces.as_deref();
        json!({
            "name": row.name,
            "state": if row.revoked_at.is_some() { "revoked" } else { "valid" },
            "role": row.role,
            "scopes": row.scopes,
            "workspaces": ids.map_or_else(|| vec!["all"], |ids| ids.split(',').collect()),
            "created_at": row.created_at,
            "id": row.id,
        })
    };
    let rows: Vec<_> = rows.into_iter().map(row).collect();
    terminal::shown(&json!(rows), workspaces)
}
