//! `ui.*`: everything a desktop shows at once.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{ActorRole, DocumentId, ProjectId, ReviewDecision, Text, inbox::InboxResolveResponse};

crate::methods! {
    Company family "ui";

    /// Decide about a document that waits for it, and show what is left.
    Write UiResolve = "ui.resolve" (UiResolveParams in workspace_dir as actor_role) -> UiResolveResponse;
}

/// Params of [`UiResolve`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct UiResolveParams {
    /// The company folder.
    pub workspace_dir: Text,
    /// The project.
    pub project_id: ProjectId,
    /// The document.
    pub artifact_id: DocumentId,
    /// What is decided.
    pub decision: ReviewDecision,
    /// Who decides.
    pub actor_id: Text,
    /// What they are.
    pub actor_role: ActorRole,
    /// Their team.
    #[serde(default)]
    pub actor_team_id: Option<Text>,
    /// What they say.
    #[serde(default)]
    pub notes: Option<String>,
    /// How many runs the snapshot shows; 200 if not given.
    #[serde(default)]
    #[schemars(range(min = 1, max = 5000))]
    pub monitor_limit: Option<u32>,
    /// How many documents that wait for a decision; 200 if not given.
    #[serde(default)]
    #[schemars(range(min = 1, max = 5000))]
    pub pending_limit: Option<u32>,
    /// How many decisions; 200 if not given.
    #[serde(default)]
    #[schemars(range(min = 1, max = 5000))]
    pub decisions_limit: Option<u32>,
    /// Build the index anew first.
    #[serde(default)]
    pub refresh_index: Option<bool>,
    /// Bring the index up to date first; true if not given.
    #[serde(default)]
    pub sync_index: Option<bool>,
}

/// Response of [`UiResolve`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct UiResolveResponse {
    /// What was decided.
    pub resolved: InboxResolveResponse,
    /// What is left, as `ui.snapshot` shows it.
    pub snapshot: Value,
}
