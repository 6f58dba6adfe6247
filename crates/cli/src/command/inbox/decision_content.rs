//! The content that a decision is based on: its text for the terminal, and the hash that binds the decision to exactly
//! this content.

use protocol::company::{
    ActorRole, Text,
    inbox::{InboxFile, InboxFileRole, InboxRead, InboxReadResponse},
};
use rpc::Client;
use serde_json::{Value, json};

use super::{PendingItem, ProposalPaths, shown};
use crate::{failure::Failure, terminal};

/// Maximum number of lines per file on a terminal; `ac inbox ID --json` prints more.
const MAX_LINES: usize = 400;

/// The content that is shown before a decision.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::command) struct DecisionContent {
    /// The hash that binds a decision to this content.
    pub(in crate::command) sha256: String,
    /// The text for the terminal.
    pub(in crate::command) text: String,
    /// The JSON result for programs.
    pub(super) answer: Value,
}

impl PendingItem {
    /// Loads the content that a decision is based on.
    pub(in crate::command) async fn read(
        &self,
        client: &Client,
        folder: Option<&Text>,
        places: &ProposalPaths,
    ) -> Result<DecisionContent, Failure> {
        let pending = match self {
            Self::Document(pending) => pending,
            Self::Proposal(proposal) => {
                return Ok(DecisionContent {
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
        Ok(DecisionContent {
            text: of_files(&read),
            answer: json!(read),
            sha256: read.sha256,
        })
    }
}

impl DecisionContent {
    /// Returns the text for the terminal, followed by the hash.
    pub(super) fn with_hash(&self) -> String {
        format!("{}\n\nSHA-256 of this item: {}", self.text, self.sha256)
    }
}

/// Formats the files of a decision for people, one after the other.
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
        return format!("{head} does not exist");
    };
    // Targets and tasks are not printed: the patch shows the context of the change, and the report names the milestone.
    let is_named_only = matches!(file.role, InboxFileRole::Target | InboxFileRole::Task);
    let Some(text) = file.text.as_deref().filter(|_| !is_named_only) else {
        return format!("{head} (SHA-256 {hash})");
    };
    let lines: Vec<&str> = text.lines().collect();
    let shown = &lines[..lines.len().min(MAX_LINES)];
    let shown = terminal::harmless_lines(&shown.join("\n"));
    let is_cut = lines.len() > MAX_LINES || file.truncated == Some(true);
    let more = if is_cut {
        "\n… the rest of this file is not shown"
    } else {
        ""
    };
    format!("{head}\n{shown}{more}")
}
