//! Payloads of `turn/explain`: the parts of a turn's prompt and the comparison of two prompts.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{PromptTruncation, TurnStatus};
use crate::{AgentsDocId, ThreadId, TurnId, WorkspaceId};

/// Params of [`TurnExplain`](super::TurnExplain).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TurnExplainParams {
    /// The id of the thread.
    pub thread_id: ThreadId,
    /// The id of the turn to explain.
    pub turn_id: TurnId,
    /// The id of a turn to compare with, in the same workspace. Absent for no comparison.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub compare_turn_id: Option<TurnId>,
    /// The id of the thread of the compared turn. Default: `thread_id`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub compare_thread_id: Option<ThreadId>,
}

/// Response of [`TurnExplain`](super::TurnExplain).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TurnExplainResponse {
    /// The id of the workspace that owns the thread.
    pub workspace_id: WorkspaceId,
    /// The id of the thread.
    pub thread_id: ThreadId,
    /// The prompt of the turn.
    pub prompt: ExplainedPrompt,
    /// The prompt of the compared turn. Absent without a comparison.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub compared: Option<ExplainedPrompt>,
    /// The result for each section, from the compared turn to this one. Absent without a comparison.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changes: Vec<PromptChange>,
}

/// The system prompt of a turn, split into its parts.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ExplainedPrompt {
    /// The id of the turn.
    pub turn_id: TurnId,
    /// The status of the turn.
    pub status: TurnStatus,
    /// The version of the prompt compiler. Absent if the prompt is not compiled yet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub compiler_version: Option<String>,
    /// The SHA-256 of the whole system prompt, in lower-case hexadecimal. Absent if the prompt is not compiled yet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fingerprint_full: Option<String>,
    /// The parts, in prompt order. Empty if the prompt is not compiled yet.
    pub pieces: Vec<PromptPiece>,
}

/// One part of a prompt: a built-in section or the contribution of a hook to a section.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PromptPiece {
    /// The id of the section that contains the part.
    pub section_id: String,
    /// The id of the hook that contributed the part. Absent for built-in sections.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hook_id: Option<String>,
    /// The id of the contribution. Absent for built-in sections.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub contribution_id: Option<String>,
    /// The hash of the contribution: `sha256:` followed by lower-case hexadecimal. Absent for built-in sections.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub contribution_hash: Option<String>,
    /// The AGENTS.md document that the part contains. Absent if it contains none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub document: Option<PromptDocument>,
    /// The component that truncated the part.
    pub truncation: PromptTruncation,
}

/// The version of an AGENTS.md document that was part of a prompt.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PromptDocument {
    /// The id of the document.
    pub doc_id: AgentsDocId,
    /// The version number of the document.
    pub version: i64,
    /// The SHA-256 of the text in lower-case hexadecimal. Absent if the version is no longer stored.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content_sha256: Option<String>,
    /// The length of the text in characters. Absent if the version is no longer stored.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub char_count: Option<u64>,
    /// The principal that saved the version: `owner` or the id of a token. Absent if it is unknown or the version is no
    /// longer stored.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub saved_by: Option<String>,
    /// The time at which the version was saved, in Unix seconds. Absent if the version is no longer stored.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub saved_at: Option<i64>,
}

/// The difference of one section between two prompts.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PromptChange {
    /// The id of the section.
    pub section_id: String,
    /// The kind of difference.
    pub change: PromptChangeKind,
}

/// The difference of a section from the compared turn to this one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PromptChangeKind {
    /// The section is identical in both prompts.
    Same,
    /// The section exists only in the prompt of this turn.
    Added,
    /// The section exists only in the prompt of the compared turn.
    Removed,
    /// The section exists in both prompts with different contributions.
    Changed,
}
