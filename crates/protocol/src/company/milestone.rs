//! `milestone.*`: approval of the milestones of tasks.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    ActorRole, DocumentId, MilestoneId, MilestoneStatus, ProjectId, ReviewDecision, ReviewId,
    TaskId, TaskStatus, Text,
};

crate::methods! {
    Company family "milestone";

    /// Approve a milestone by its report and set its status to `done`.
    ///
    /// The call is rejected if the report lacks evidence that the milestone requires.
    Write MilestoneApprove = "milestone.approve" (MilestoneApproveParams in workspace_dir as actor_role) -> MilestoneApproveResponse;
    /// Read a file that a milestone report names as evidence.
    ///
    /// The actor must be allowed to read the report, and also the evidence itself if that is a document.
    Read MilestoneEvidenceRead = "milestone.evidence.read" (MilestoneEvidenceReadParams in workspace_dir as actor_role) -> MilestoneEvidenceReadResponse;
}

/// Params of [`MilestoneEvidenceRead`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MilestoneEvidenceReadParams {
    /// Absolute path of the company folder.
    pub workspace_dir: Text,
    /// The id of the project.
    pub project_id: ProjectId,
    /// The id of the milestone report.
    pub report_artifact_id: DocumentId,
    /// The id of the evidence, from `evidence_artifacts` or `tests_artifacts` of the report.
    pub evidence_artifact_id: DocumentId,
    /// The id of the actor that reads the evidence.
    pub actor_id: Text,
    /// The role of that actor.
    pub actor_role: ActorRole,
    /// The id of the actor's team. If absent, the gateway uses the team stored for the agent, if the actor is an agent.
    #[serde(default)]
    pub actor_team_id: Option<Text>,
}

/// Response of [`MilestoneEvidenceRead`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MilestoneEvidenceReadResponse {
    /// The id of the evidence.
    pub evidence_artifact_id: DocumentId,
    /// The kind of the evidence file.
    pub kind: MilestoneEvidenceKind,
    /// The path of the file, relative to the company folder.
    pub relpath: String,
    /// The content of the file, at most the first 1,048,576 bytes. Bytes that are not UTF-8 are replaced.
    pub text: String,
    /// True if `text` contains only the beginning of the file.
    pub truncated: bool,
}

/// The kind of an evidence file, by its extension.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum MilestoneEvidenceKind {
    /// A `.patch` file: a unified diff.
    Patch,
    /// A `.txt` file.
    Text,
    /// A `.json` file.
    Json,
    /// A `.md` file: a document with front matter.
    Document,
}

/// Params of [`MilestoneApprove`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MilestoneApproveParams {
    /// Absolute path of the company folder.
    pub workspace_dir: Text,
    /// The id of the project.
    pub project_id: ProjectId,
    /// The id of the task the milestone belongs to.
    pub task_id: TaskId,
    /// The id of the milestone.
    pub milestone_id: MilestoneId,
    /// The id of the milestone report, which must be about this milestone.
    pub report_artifact_id: DocumentId,
    /// The id of the actor that approves the milestone.
    pub actor_id: Text,
    /// The role of that actor. Approval requires `manager` or above.
    pub actor_role: ActorRole,
    /// The id of the actor's team. If absent, the gateway uses the team stored for the agent, if the actor is an agent.
    #[serde(default)]
    pub actor_team_id: Option<Text>,
    /// Notes that are stored with the review. Optional.
    #[serde(default)]
    pub notes: Option<String>,
    /// The `sha256` returned by `inbox.read` for this report. If any of the files has changed since, the call fails and
    /// nothing is decided. If absent, the decision applies to the current files.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expected_sha256: Option<String>,
}

/// Response of [`MilestoneApprove`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MilestoneApproveResponse {
    /// The id of the review that records the decision.
    pub review_id: ReviewId,
    /// The stored decision, always `approved`.
    pub decision: ReviewDecision,
    /// The status of the task after the approval.
    pub task_status: TaskStatus,
    /// The status of the milestone after the approval.
    pub milestone_status: MilestoneStatus,
}
