//! `inbox.*`: what waits for a decision, and what was decided.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    ActorRole, DocumentId, JobId, MilestoneStatus, ProjectId, ReviewDecision, ReviewId, TaskStatus,
    Text,
};

crate::methods! {
    Company family "inbox";

    /// Decide about a document that waits for it. The first decision is final.
    Write InboxResolve = "inbox.resolve" (InboxResolveParams in workspace_dir as actor_role) -> InboxResolveResponse;
}

/// Params of [`InboxResolve`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct InboxResolveParams {
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
}

/// Response of [`InboxResolve`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct InboxResolveResponse {
    /// The review.
    pub review_id: ReviewId,
    /// What was decided.
    pub decision: ReviewDecision,
    /// What it was about: `memory_delta`, `milestone` or `heartbeat_action`.
    pub subject_kind: String,
    /// The project.
    pub project_id: ProjectId,
    /// The document.
    pub artifact_id: DocumentId,
    /// The task of a milestone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task_id: Option<String>,
    /// The milestone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub milestone_id: Option<String>,
    /// Where the task stands now.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task_status: Option<TaskStatus>,
    /// Where the milestone stands now.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub milestone_status: Option<MilestoneStatus>,
    /// Whether the lines of a delta were put under their heading anew.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rebased: Option<bool>,
    /// What an approved action did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub execution: Option<ActionExecution>,
}

/// What came of actions.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ActionExecution {
    /// How many were done.
    pub executed_actions: u64,
    /// How many wait for another approval.
    pub queued_for_approval: u64,
    /// How many had been done before.
    pub deduped_actions: u64,
    /// How many were left.
    pub skipped_actions: u64,
    /// The new proposals.
    pub proposal_artifact_ids: Vec<DocumentId>,
    /// The new jobs.
    pub launched_job_ids: Vec<JobId>,
}
