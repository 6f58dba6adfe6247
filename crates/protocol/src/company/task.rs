//! `task.*`: units of planned work.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Budget, MilestoneKind, MilestoneStatus, TaskStatus, Text, Visibility};

/// The front matter of a task, on the wire as in its file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Task {
    /// 1.
    #[schemars(range(min = 1))]
    pub schema_version: u32,
    /// `task`.
    pub r#type: TaskTag,
    /// Its id.
    pub id: Text,
    /// Its project.
    pub project_id: Text,
    /// What it is called.
    pub title: Text,
    /// When it was made.
    pub created_at: Text,
    /// Where it stands.
    pub status: TaskStatus,
    /// Who may see it.
    pub visibility: Visibility,
    /// The team that does it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub team_id: Option<Text>,
    /// The agent that does it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub assignee_agent_id: Option<Text>,
    /// Where it happens.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scope: Option<TaskWorkScope>,
    /// When it happens.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub schedule: Option<TaskSchedule>,
    /// How it should be run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub execution_plan: Option<TaskExecutionPlan>,
    /// What it may cost.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub budget: Option<Budget>,
    /// What it gives.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deliverables: Option<Vec<Text>>,
    /// When it is good.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub acceptance_criteria: Option<Vec<Text>>,
    /// Its steps.
    pub milestones: Vec<Milestone>,
}

/// The word `task`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TaskTag {
    /// The word `task`.
    #[default]
    Task,
}

/// Where a task happens.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TaskWorkScope {
    /// The repository.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub repo_id: Option<Text>,
    /// The folder in it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workdir_rel: Option<Text>,
    /// The files in it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub paths: Option<Vec<Text>>,
    /// Whether it needs its own copy of the repository.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub requires_worktree_isolation: Option<bool>,
}

/// When a task happens.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TaskSchedule {
    /// When it should begin.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub planned_start: Option<Text>,
    /// When it should be done.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub planned_end: Option<Text>,
    /// How long it takes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub duration_days: Option<u64>,
    /// What must be done before.
    #[serde(default)]
    pub depends_on_task_ids: Vec<Text>,
}

/// How a task should be run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TaskExecutionPlan {
    /// By whom.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub preferred_provider: Option<Text>,
    /// With which model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub preferred_model: Option<Text>,
    /// By which agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub preferred_agent_id: Option<Text>,
    /// With about how many tokens.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub token_budget_hint: Option<u64>,
    /// Who planned it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub applied_by: Option<Text>,
    /// When it was planned.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub applied_at: Option<Text>,
}

/// A step of a task.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Milestone {
    /// Its id.
    pub id: Text,
    /// What it is called.
    pub title: Text,
    /// What it asks for.
    pub kind: MilestoneKind,
    /// Where it stands.
    pub status: MilestoneStatus,
    /// When it is good.
    pub acceptance_criteria: Vec<Text>,
    /// What must prove it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub evidence: Option<MilestoneEvidence>,
}

/// What must prove a milestone.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MilestoneEvidence {
    /// A patch.
    pub requires_patch: bool,
    /// Tests.
    pub requires_tests: bool,
}
