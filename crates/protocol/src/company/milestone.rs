//! `milestone.*`: steps of tasks.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    ActorRole, DocumentId, MilestoneId, MilestoneStatus, ProjectId, ReviewDecision, ReviewId,
    TaskId, TaskStatus, Text,
};

crate::methods! {
    Company family "milestone";

    /// Accept a milestone by its report and what proves it.
    Write MilestoneApprove = "milestone.approve" (MilestoneApproveParams in workspace_dir as actor_role) -> MilestoneApproveResponse;
    /// Read a file that a milestone report names as evidence. Callers that may read the report may read its evidence.
    Read MilestoneEvidenceRead = "milestone.evidence.read" (MilestoneEvidenceReadParams in workspace_dir as actor_role) -> MilestoneEvidenceReadResponse;
}

/// Params of [`MilestoneEvidenceRead`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MilestoneEvidenceReadParams {
    /// The company folder.
    pub workspace_dir: Text,
    /// The project.
    pub project_id: ProjectId,
    /// The milestone report.
    pub report_artifact_id: DocumentId,
    /// An id of the report's `evidence_artifacts` or `tests_artifacts`.
    pub evidence_artifact_id: DocumentId,
    /// The actor that reads.
    pub actor_id: Text,
    /// The role of that actor.
    pub actor_role: ActorRole,
    /// The team of that actor.
    #[serde(default)]
    pub actor_team_id: Option<Text>,
}

/// Response of [`MilestoneEvidenceRead`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MilestoneEvidenceReadResponse {
    /// The evidence.
    pub evidence_artifact_id: DocumentId,
    /// The kind of file.
    pub kind: MilestoneEvidenceKind,
    /// The file, below the company folder.
    pub relpath: String,
    /// The text of the file: its first MiB if it is longer.
    pub text: String,
    /// Whether `text` is only the beginning of the file.
    pub truncated: bool,
}

/// The kind of file that proves a milestone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum MilestoneEvidenceKind {
    /// A `.patch` file: a unified diff.
    Patch,
    /// A `.txt` file.
    Text,
    /// A `.json` file.
    Json,
    /// A document with front matter.
    Document,
}

/// Params of [`MilestoneApprove`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MilestoneApproveParams {
    /// The company folder.
    pub workspace_dir: Text,
    /// The project.
    pub project_id: ProjectId,
    /// The task.
    pub task_id: TaskId,
    /// The milestone.
    pub milestone_id: MilestoneId,
    /// The report.
    pub report_artifact_id: DocumentId,
    /// Who approves.
    pub actor_id: Text,
    /// What they are.
    pub actor_role: ActorRole,
    /// Their team.
    #[serde(default)]
    pub actor_team_id: Option<Text>,
    /// What they say.
    #[serde(default)]
    pub notes: Option<String>,
    /// The `sha256` of `inbox.read` that was looked at: if anything of it changed since, nothing is decided. Absent for
    /// whatever is there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expected_sha256: Option<String>,
}

/// Response of [`MilestoneApprove`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MilestoneApproveResponse {
    /// The review.
    pub review_id: ReviewId,
    /// `approved`.
    pub decision: ReviewDecision,
    /// Where the task stands now.
    pub task_status: TaskStatus,
    /// Where the milestone stands now.
    pub milestone_status: MilestoneStatus,
}
