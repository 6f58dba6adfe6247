//! `ac search`: full-text search in a company.

use clap::Args;
use protocol::company::{ActorRole, Text, index::*};
use serde_json::json;

use super::HomeOption;
use crate::{failure::Failure, folder::CompanyOption, local::Local, terminal};

/// Search the documents, messages, comments, tasks and events of a company.
#[derive(Args, Debug)]
pub(crate) struct SearchCommand {
    #[command(flatten)]
    home: HomeOption,
    #[command(flatten)]
    company: CompanyOption,
    /// Words to find; `begin*` matches words that start with `begin`.
    #[arg(required = true)]
    words: Vec<String>,
    /// Maximum number of results.
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=1000), default_value_t = 20)]
    limit: u32,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

impl SearchCommand {
    pub(crate) async fn run(self) -> Result<(), Failure> {
        let query = Text::new(self.words.join(" ")).ok_or_else(|| Failure::Argument {
            detail: "the search text is empty: expected a word".to_owned(),
        })?;
        let (company, limit) = (self.company, self.limit);
        let found = Local::with(&self.home, |local| async move {
            let params = IndexSearchParams {
                workspace_dir: local.company(&company).await?,
                query,
                kinds: None,
                project_id: None,
                limit: Some(limit),
                sync_index: None,
                actor_id: None,
                actor_role: Some(ActorRole::Human),
                actor_team_id: None,
            };
            Ok(local.client.call::<IndexSearch>(params).await?)
        })
        .await?;
        if found.items.is_empty() && !self.json {
            return Ok(terminal::print("Nothing was found.")?);
        }
        let row = |hit: &SearchHit| json!({"kind": hit.kind, "id": hit.id, "title": hit.title, "text": hit.snippet});
        if self.json {
            terminal::answer(&json!(found), true)
        } else {
            terminal::answer(
                &json!(found.items.iter().map(row).collect::<Vec<_>>()),
                false,
            )
        }
    }
}
