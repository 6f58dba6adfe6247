//! What is decided about, read once for the person who decides: its text for a terminal, and the hash that binds the
//! decision to exactly that.

use protocol::company::{
    ActorRole, Text,
    inbox::{InboxFile, InboxFileRole, InboxRead, InboxReadResponse},
};
use rpc::Client;
use serde_json::{Value, json};

use super::{Places, Waiting, shown};
use crate::{failure::Failure, terminal};

/// Lines of one file that a terminal shows; `ac inbox ID --json` has the rest.
const MAX_LINES: usize = 400;

/// What a person is shown before a decision.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::command) struct Shown {
    /// The hash that binds a decision to it.
    pub(in crate::command) sha256: String,
    /// It as a terminal shows it.
    pub(in crate::command) text: String,
    /// It as programs read it.
    pub(super) answer: Value,
}

impl Waiting {
    /// Reads what a decision rests on.
    pub(in crate::command) async fn read(
        &self,
        client: &Client,
        folder: Option<&Text>,
        places: &Places,
    ) -> Result<Shown, Failure> {
        let pending = match self {
            Self::Document(pending) => pending,
            Self::Proposal(proposal) => {
                return Ok(Shown {
                    sha256: proposal.sha256.clone(),
                    text: shown(proposal, places),
                    answer: json!(proposal),
                });
            }
        };
        let params = json!({
            "workspace_dir": folder,
            "project_id": pending.project_id,
            "artifact_id": pending.artifact_id,
            "actor_id": "human",
            "actor_role": ActorRole::Human,
        });
        let params = serde_json::from_value(params).map_err(|error| Failure::Argument {
            detail: format!("`{}` cannot be read: {error}", pending.artifact_id),
        })?;
        let read = client.call::<InboxRead>(params).await?;
        Ok(Shown {
            text: of_files(&read),
            answer: json!(read),
            sha256: read.sha256,
        })
    }
}

impl Shown {
    /// It as a terminal shows it, with its hash.
    pub(super) fn with_hash(&self) -> String {
        format!("{}\n\nSHA-256 of all of it: {}", self.text, self.sha256)
    }
}

/// The files of a decision for people, one after the other.
fn of_files(read: &InboxReadResponse) -> String {
    let files = read.files.iter().map(of_file).collect::<Vec<_>>();
    files.join("\n\n")
}

fn of_file(file: &InboxFile) -> String {
    let word = match file.role {
        InboxFileRole::Document => "Document",
        InboxFileRole::Patch => "Patch",
        InboxFileRole::Target => "Changes",
        InboxFileRole::Task => "Task",
        InboxFileRole::Evidence => "Evidence",
        InboxFileRole::Plan => "Plan",
    };
    let head = format!("{word}: {}", terminal::harmless(&file.relpath));
    let Some(hash) = &file.sha256 else {
        return format!("{head} is not there");
    };
    // The patch shows the lines around the change, and the report names the milestone.
    let is_named_only = matches!(file.role, InboxFileRole::Target | InboxFileRole::Task);
    let Some(text) = file.text.as_deref().filter(|_| !is_named_only) else {
        return format!("{head} (SHA-256 {hash})");
    };
    let lines: Vec<&str> = text.lines().collect();
    let shown = &lines[..lines.len().min(MAX_LINES)];
    let shown = terminal::harmless_lines(&shown.join("\n"));
    let is_cut = lines.len() > MAX_LINES || file.truncated == Some(true);
    let more = if is_cut {
        "\n… there is more of this file"
    } else {
        ""
    };
    format!("{head}\n{shown}{more}")
}
