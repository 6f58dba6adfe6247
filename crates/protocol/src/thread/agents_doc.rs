//! What the tree shows of its AGENTS.md files. The methods of the family come with the instruction layer.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{FolderId, WorkspaceId};

/// The AGENTS.md of one scope without its text.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ThreadAgentsDocSummary {
    /// The document.
    pub id: String,
    /// The workspace that owns it.
    pub workspace_id: WorkspaceId,
    /// The folder; absent for the root file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub folder_id: Option<FolderId>,
    /// Whether it takes part in inheritance.
    pub status: ThreadAgentsDocStatus,
    /// SHA-256 of the text, lower-case hexadecimal.
    pub content_sha256: String,
    /// Grows with every save.
    pub version: i64,
    /// The length of the text in characters.
    pub char_count: u64,
    /// Unix seconds.
    pub updated_at: i64,
}

/// Whether an AGENTS.md takes part in inheritance.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ThreadAgentsDocStatus {
    /// It exists and is empty: shown, never sent to a model.
    Draft,
    /// It has text and takes part in inheritance.
    Active,
    /// It was deleted from the tree.
    Archived,
}
