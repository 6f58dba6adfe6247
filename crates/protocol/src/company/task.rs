//! `task.*`: planned units of work and their milestones.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    Budget, IsoDate, Issue, MilestoneKind, MilestoneStatus, ProjectId, TaskId, TaskStatus, Text,
    Visibility,
};

crate::methods! {
    Company family "task";

    /// List the tasks of a project that the caller may see, newest first, with their progress.
    Read TaskList = "task.list" (TaskListParams in workspace_dir) -> TaskListResponse;
    /// Update the schedule and the execution plan of a task. The rest of its file is kept.
    ///
    /// If `execution_plan.applied_by` is given, the gateway sets `applied_at` to the current time, as the recorded
    /// reference does, although the contract lets the caller provide it.
    Write TaskUpdatePlan = "task.update_plan" (TaskUpdatePlanParams in workspace_dir) -> TaskUpdatePlanResponse;
}

/// Params of [`TaskList`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TaskListParams {
    /// Absolute path of the company folder.
    pub workspace_dir: Text,
    /// The id of the project.
    pub project_id: ProjectId,
}

/// Response of [`TaskList`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TaskListResponse {
    /// The company folder, as given in the request.
    pub workspace_dir: String,
    /// The id of the project.
    pub project_id: ProjectId,
    /// The tasks, newest first.
    pub tasks: Vec<TaskRow>,
    /// The files in the task folder that cannot be read as a task. Absent if there are none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub invalid: Vec<InvalidTaskFile>,
}

/// A task in a [`TaskListResponse`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TaskRow {
    /// The id of the task.
    pub task_id: String,
    /// The id of the project.
    pub project_id: String,
    /// The path of the task file, relative to the company folder.
    pub relpath: String,
    /// The absolute path of the task file.
    pub abs_path: String,
    /// The front matter of the task file.
    pub frontmatter: Task,
    /// The progress of the task from 0 to 1: the share of done milestones. Without milestones, 1 if the task is done
    /// and 0 otherwise.
    pub progress_ratio: f64,
    /// The number of milestones by status.
    pub milestone_counts: MilestoneCounts,
}

/// The number of milestones of a task by status.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MilestoneCounts {
    /// The number of all milestones.
    pub total: u64,
    /// The number of milestones with status `done`.
    pub done: u64,
    /// The number of milestones with status `in_progress`.
    pub in_progress: u64,
    /// The number of milestones with status `blocked`.
    pub blocked: u64,
    /// The number of milestones with status `ready`.
    pub ready: u64,
    /// The number of milestones with status `draft`.
    pub draft: u64,
}

/// A file in the task folder that cannot be read as a task.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct InvalidTaskFile {
    /// The path of the file, relative to the company folder.
    pub relpath: String,
    /// The issues of the file.
    pub issues: Vec<Issue>,
}

/// Params of [`TaskUpdatePlan`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TaskUpdatePlanParams {
    /// Absolute path of the company folder.
    pub workspace_dir: Text,
    /// The id of the project.
    pub project_id: ProjectId,
    /// The id of the task.
    pub task_id: TaskId,
    /// The new schedule, which replaces the stored one completely. If absent, the stored one is kept.
    #[serde(default)]
    pub schedule: Option<TaskScheduleUpdate>,
    /// Changes of the execution plan; fields that are absent keep their stored value. If absent, the stored plan is
    /// kept.
    #[serde(default)]
    pub execution_plan: Option<TaskExecutionPlanUpdate>,
    /// If true, removes the schedule and ignores `schedule`. Default false.
    #[serde(default)]
    pub clear_schedule: Option<bool>,
    /// If true, removes the execution plan and ignores `execution_plan`. Default false.
    #[serde(default)]
    pub clear_execution_plan: Option<bool>,
}

/// The new schedule of a task. Unknown fields are rejected.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TaskScheduleUpdate {
    /// The planned start. Absent if not planned.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub planned_start: Option<IsoDate>,
    /// The planned end, not before `planned_start`. Absent if not planned.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub planned_end: Option<IsoDate>,
    /// The planned duration in days. Absent if not planned.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub duration_days: Option<u64>,
    /// The ids of the tasks that must be done first, without the task itself. Duplicates are removed. Default empty.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub depends_on_task_ids: Option<Vec<Text>>,
}

/// Changes of the execution plan of a task. Unknown fields are rejected.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TaskExecutionPlanUpdate {
    /// The provider that should run the task.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub preferred_provider: Option<Text>,
    /// The model that should run the task.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub preferred_model: Option<Text>,
    /// The id of the agent that should work on the task.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub preferred_agent_id: Option<Text>,
    /// The expected budget in tokens.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub token_budget_hint: Option<u64>,
    /// The id of the actor that plans. If given, the gateway sets `applied_at` to the current time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub applied_by: Option<Text>,
    /// The time of planning. Ignored if `applied_by` is given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub applied_at: Option<IsoDate>,
}

/// Response of [`TaskUpdatePlan`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TaskUpdatePlanResponse {
    /// The id of the task.
    pub task_id: TaskId,
    /// The absolute path of the task file.
    pub task_path: String,
    /// The updated front matter of the task file.
    pub frontmatter: Task,
    /// Warnings about the new dependencies: `unknown_dependency:<id>` or `dependency_cycle`. Absent if there are none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
}

/// The front matter of a task, in responses and in its file. Unknown fields are rejected.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Task {
    /// The schema version of the task, currently 1.
    #[schemars(range(min = 1))]
    pub schema_version: u32,
    /// The document type, always `task`.
    pub r#type: TaskTag,
    /// The id of the task.
    pub id: Text,
    /// The id of the project the task belongs to.
    pub project_id: Text,
    /// The title of the task.
    pub title: Text,
    /// The time the task was created, in ISO-8601.
    pub created_at: Text,
    /// The status of the task.
    pub status: TaskStatus,
    /// Which actors may see the task.
    pub visibility: Visibility,
    /// The id of the team the task is assigned to. Absent if there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub team_id: Option<Text>,
    /// The id of the agent the task is assigned to. Absent if there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub assignee_agent_id: Option<Text>,
    /// The repository and the files the task works on. Absent if not limited.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scope: Option<TaskWorkScope>,
    /// The schedule of the task. Absent if not planned.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub schedule: Option<TaskSchedule>,
    /// How the task should be executed. Absent if not planned.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub execution_plan: Option<TaskExecutionPlan>,
    /// The budget of the task. Absent if there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub budget: Option<Budget>,
    /// The deliverables of the task, one per item. Required unless the status is `draft`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deliverables: Option<Vec<Text>>,
    /// The criteria for accepting the task, one per item. Required unless the status is `draft`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub acceptance_criteria: Option<Vec<Text>>,
    /// The milestones of the task. Must not be empty unless the status is `draft`.
    pub milestones: Vec<Milestone>,
}

/// The document type of a task.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TaskTag {
    /// The literal `task`.
    #[default]
    Task,
}

/// The repository and the files a task works on.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TaskWorkScope {
    /// The id of the repository. Absent if there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub repo_id: Option<Text>,
    /// The working directory, relative to the repository. The root of the repository if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workdir_rel: Option<Text>,
    /// The paths the task is about, relative to the repository. Not limited if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub paths: Option<Vec<Text>>,
    /// Whether sessions of the task must run in a worktree of their own. If absent, a worktree is required for `coding`
    /// milestones.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub requires_worktree_isolation: Option<bool>,
}

/// The schedule of a task.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TaskSchedule {
    /// The planned start, as an ISO-8601 date or date and time. Absent if not planned.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub planned_start: Option<Text>,
    /// The planned end, as an ISO-8601 date or date and time. Absent if not planned.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub planned_end: Option<Text>,
    /// The planned duration in days. Absent if not planned.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub duration_days: Option<u64>,
    /// The ids of the tasks that must be done first. Default empty.
    #[serde(default)]
    pub depends_on_task_ids: Vec<Text>,
}

/// How a task should be executed.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TaskExecutionPlan {
    /// The provider that should run the task. Absent if not planned.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub preferred_provider: Option<Text>,
    /// The model that should run the task. Absent if not planned.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub preferred_model: Option<Text>,
    /// The id of the agent that should work on the task. Absent if not planned.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub preferred_agent_id: Option<Text>,
    /// The expected budget in tokens. Absent if not planned.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub token_budget_hint: Option<u64>,
    /// The id of the actor that planned the execution. Absent if unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub applied_by: Option<Text>,
    /// The time of planning, in ISO-8601. Absent if unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub applied_at: Option<Text>,
}

/// A milestone of a task.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Milestone {
    /// The id of the milestone.
    pub id: Text,
    /// The title of the milestone.
    pub title: Text,
    /// The kind of work the milestone requires.
    pub kind: MilestoneKind,
    /// The status of the milestone.
    pub status: MilestoneStatus,
    /// The criteria for accepting the milestone, one per item. May be empty.
    pub acceptance_criteria: Vec<Text>,
    /// The evidence that approval requires. If absent, `coding` milestones require a patch and tests, other milestones
    /// nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub evidence: Option<MilestoneEvidence>,
}

/// The evidence that the approval of a milestone requires.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MilestoneEvidence {
    /// True if the report must name a patch file as evidence.
    pub requires_patch: bool,
    /// True if the report must name a file with test results.
    pub requires_tests: bool,
}
