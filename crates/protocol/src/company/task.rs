//! `task.*`: units of planned work.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    Budget, IsoDate, Issue, MilestoneKind, MilestoneStatus, ProjectId, TaskId, TaskStatus, Text,
    Visibility,
};

crate::methods! {
    Company family "task";

    /// List the tasks of a project, newest first, with how far each is.
    Read TaskList = "task.list" (TaskListParams in workspace_dir) -> TaskListResponse;
    /// Change when a task happens and how it should be run. The rest of its file stays.
    /// With `execution_plan.applied_by`, the gateway sets `applied_at` to the current time, as the recorded reference
    /// does, although the contract lets the caller give it.
    Write TaskUpdatePlan = "task.update_plan" (TaskUpdatePlanParams in workspace_dir) -> TaskUpdatePlanResponse;
}

/// Params of [`TaskList`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TaskListParams {
    /// The company folder.
    pub workspace_dir: Text,
    /// The project.
    pub project_id: ProjectId,
}

/// Response of [`TaskList`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TaskListResponse {
    /// The folder as it was given.
    pub workspace_dir: String,
    /// The project.
    pub project_id: ProjectId,
    /// Its tasks, newest first.
    pub tasks: Vec<TaskRow>,
    /// Files among the tasks that cannot be read as a task.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub invalid: Vec<InvalidTaskFile>,
}

/// A task of a [`TaskListResponse`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TaskRow {
    /// Its id.
    pub task_id: String,
    /// Its project.
    pub project_id: String,
    /// Its file, below the company folder.
    pub relpath: String,
    /// Its file.
    pub abs_path: String,
    /// What the file says of it.
    pub frontmatter: Task,
    /// How far it is, from 0 to 1.
    pub progress_ratio: f64,
    /// Its milestones by where they stand.
    pub milestone_counts: MilestoneCounts,
}

/// The milestones of a task by where they stand.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MilestoneCounts {
    /// All of them.
    pub total: u64,
    /// Finished.
    pub done: u64,
    /// Being worked on.
    pub in_progress: u64,
    /// Waiting for something.
    pub blocked: u64,
    /// Ready to be started.
    pub ready: u64,
    /// Being written.
    pub draft: u64,
}

/// A file among the tasks that is none.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct InvalidTaskFile {
    /// The file, below the company folder.
    pub relpath: String,
    /// What is wrong with it.
    pub issues: Vec<Issue>,
}

/// Params of [`TaskUpdatePlan`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TaskUpdatePlanParams {
    /// The company folder.
    pub workspace_dir: Text,
    /// The project.
    pub project_id: ProjectId,
    /// The task.
    pub task_id: TaskId,
    /// When it happens: takes the place of what was planned.
    #[serde(default)]
    pub schedule: Option<TaskScheduleUpdate>,
    /// How it should be run: what is given is changed, the rest stays.
    #[serde(default)]
    pub execution_plan: Option<TaskExecutionPlanUpdate>,
    /// Whether to forget when it happens, whatever `schedule` says.
    #[serde(default)]
    pub clear_schedule: Option<bool>,
    /// Whether to forget how it should be run, whatever `execution_plan` says.
    #[serde(default)]
    pub clear_execution_plan: Option<bool>,
}

/// When a task shall happen.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TaskScheduleUpdate {
    /// When it should begin.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub planned_start: Option<IsoDate>,
    /// When it should be done; not before it begins.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub planned_end: Option<IsoDate>,
    /// How long it takes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub duration_days: Option<u64>,
    /// What must be done before; not the task itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub depends_on_task_ids: Option<Vec<Text>>,
}

/// How a task shall be run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TaskExecutionPlanUpdate {
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
    /// Who plans it; the time is then noted, too.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub applied_by: Option<Text>,
    /// When it was planned; counts only without `applied_by`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub applied_at: Option<IsoDate>,
}

/// Response of [`TaskUpdatePlan`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TaskUpdatePlanResponse {
    /// The task.
    pub task_id: TaskId,
    /// Its file.
    pub task_path: String,
    /// What the file says of it now.
    pub frontmatter: Task,
    /// What deserves a look and was done all the same: `unknown_dependency:<id>`, `dependency_cycle`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
}

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
