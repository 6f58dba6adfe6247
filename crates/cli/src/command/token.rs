//! `ac token create|list|revoke`

use clap::{Args, Subcommand};
use crud::CrudStore;
use gateway::{Home, NewToken, Sources};
use serde_json::json;

use super::HomeOption;
use crate::{failure::Failure, names::Names, terminal};

#[derive(Args, Debug)]
pub(crate) struct Token {
    #[command(subcommand)]
    action: TokenAction,
}

#[derive(Debug, Subcommand)]
enum TokenAction {
    /// Make a token and print its secret, once.
    Create {
        #[command(flatten)]
        home: HomeOption,
        /// What the token is for.
        #[arg(long, default_value = "unnamed")]
        name: String,
        /// The highest role its calls may claim: worker, manager, director, ceo or human.
        #[arg(long, default_value = "worker")]
        role: String,
        /// What its calls may do: read, propose (changes of AGENTS.md that people decide about), write, spend (ask models with your keys) and exec (start processes, which includes spend), separated by commas.
        #[arg(long = "scope", value_delimiter = ',', default_value = "read")]
        scopes: Vec<String>,
        /// The only workspaces it can see; may be given several times.
        #[arg(long = "workspace", value_name = "ID", value_delimiter = ',')]
        workspaces: Vec<String>,
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
    /// List the tokens that were made, without their secrets.
    List {
        #[command(flatten)]
        home: HomeOption,
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
    /// End a token; its connections are closed within a second.
    Revoke {
        #[command(flatten)]
        home: HomeOption,
        /// The id as `ac token list` shows it.
        id: String,
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
}

impl Token {
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
                terminal::say(&if json {
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
                terminal::say(&if json {
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
                terminal::say(&if json {
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
        return "There are no tokens. `ac token create` makes one.".to_owned();
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
