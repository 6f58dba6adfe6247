//! `turn/explain`: every piece of a prompt, and what two prompts have in common.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{PromptTruncation, TurnStatus};
use crate::{AgentsDocId, ThreadId, TurnId, WorkspaceId};

/// Params of [`TurnExplain`](super::TurnExplain).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TurnExplainParams {
    /// The thread.
    pub thread_id: ThreadId,
    /// The turn.
    pub turn_id: TurnId,
    /// A turn to compare it with, of the same thread or of another one of the same workspace.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub compare_turn_id: Option<TurnId>,
    /// The thread of that turn; the same one when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub compare_thread_id: Option<ThreadId>,
}

/// Response of [`TurnExplain`](super::TurnExplain).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TurnExplainResponse {
    /// The workspace.
    pub workspace_id: WorkspaceId,
    /// The thread.
    pub thread_id: ThreadId,
    /// What the turn was told.
    pub prompt: ExplainedPrompt,
    /// What the other turn was told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub compared: Option<ExplainedPrompt>,
    /// How they differ, piece by piece; empty without another turn.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changes: Vec<PromptChange>,
}

/// A prompt in pieces.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ExplainedPrompt {
    /// The turn.
    pub turn_id: TurnId,
    /// Where it stands.
    pub status: TurnStatus,
    /// The compiler; absent when nothing was told yet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub compiler_version: Option<String>,
    /// SHA-256 of the whole prompt.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fingerprint_full: Option<String>,
    /// The pieces in the order of the prompt.
    pub pieces: Vec<PromptPiece>,
}

/// One piece of a prompt.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PromptPiece {
    /// The section it is in.
    pub section_id: String,
    /// The hook that brought it; absent for what every prompt begins with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hook_id: Option<String>,
    /// The contribution.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub contribution_id: Option<String>,
    /// `sha256:` and the hash of the contribution.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub contribution_hash: Option<String>,
    /// The agents doc it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub document: Option<PromptDocument>,
    /// Who cut it.
    pub truncation: PromptTruncation,
}

/// The version of an agents doc that was in a prompt.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PromptDocument {
    /// The document.
    pub doc_id: AgentsDocId,
    /// The version.
    pub version: i64,
    /// SHA-256 of its text; absent when the version is no longer kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content_sha256: Option<String>,
    /// Its length in characters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub char_count: Option<u64>,
    /// Who saved it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub saved_by: Option<String>,
    /// Unix seconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub saved_at: Option<i64>,
}

/// How a section differs between two prompts.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PromptChange {
    /// The section.
    pub section_id: String,
    /// How.
    pub change: PromptChangeKind,
}

/// How a section differs between the compared turn and this one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PromptChangeKind {
    /// Not at all.
    Same,
    /// It was not there.
    Added,
    /// It is no longer there.
    Removed,
    /// It says something else.
    Changed,
}
