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
