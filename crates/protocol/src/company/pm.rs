//! `pm.*`: project plans with their critical path, and the allocation of tasks to agents.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    AgentId, CompanyScope, ProjectId, TaskId, TaskStatus, Text, workspace::PortfolioSnapshot,
};

crate::methods! {
    Company family "pm";

    /// Get a summary of all projects and, with scope `project`, the schedule and the critical path of one project.
    ///
    /// A missing `project_id` fails with -32601, not -32602, for compatibility with existing clients.
    Read PmSnapshot = "pm.snapshot" (PmSnapshotParams in workspace_dir) -> PmSnapshotResponse;
    /// Recommend an agent, a provider and a token budget for each open task of a project, with reasons.
    ///
    /// Does not change any task.
    Read PmRecommendAllocations = "pm.recommend_allocations" (PmRecommendAllocationsParams in workspace_dir) -> PmRecommendAllocationsResponse;
    /// Store execution plans for several tasks. If any of the tasks cannot be updated, none is.
    Write PmApplyAllocations = "pm.apply_allocations" (PmApplyAllocationsParams in workspace_dir) -> PmApplyAllocationsResponse;
    /// Export the plan of a project as a Mermaid diagram, a CSV table or an iCalendar file.
    Read PmExport = "pm.export" (PmExportParams in workspace_dir) -> PmExportResponse;
}

/// Params of [`PmSnapshot`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PmSnapshotParams {
    /// Absolute path of the company folder.
    pub workspace_dir: Text,
    /// Whether the response contains the plan of one project in addition to the summary of all projects.
    pub scope: CompanyScope,
    /// The id of the project. Required if `scope` is `project`, ignored otherwise.
    #[serde(default)]
    pub project_id: Option<ProjectId>,
}

/// Response of [`PmSnapshot`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PmSnapshotResponse {
    /// The company folder, as given in the request.
    pub workspace_dir: String,
    /// The time the snapshot was generated, in ISO-8601.
    pub generated_at: String,
    /// The scope of the snapshot.
    pub scope: CompanyScope,
    /// A summary of all projects.
    pub workspace: PortfolioSnapshot,
    /// The plan of the requested project. Absent if `scope` is `workspace`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project: Option<ProjectPlan>,
}

/// The plan of a project.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ProjectPlan {
    /// The id of the project.
    pub project_id: ProjectId,
    /// Task counts and progress.
    pub summary: ProjectPlanSummary,
    /// The schedule of the tasks.
    pub gantt: Gantt,
}

/// Task counts and progress of a project.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ProjectPlanSummary {
    /// The number of tasks.
    pub task_count: u64,
    /// The number of tasks with status `done`.
    pub done_tasks: u64,
    /// The number of tasks with status `blocked`.
    pub blocked_tasks: u64,
    /// The number of tasks with status `in_progress`.
    pub in_progress_tasks: u64,
    /// The mean progress of the tasks in percent, from 0 to 100 with one decimal.
    pub progress_pct: f64,
    /// The mean progress of the tasks weighted by their duration, in percent from 0 to 100 with one decimal.
    #[serde(default)]
    pub progress_weighted_pct: f64,
}

/// Whether the dependencies of the tasks contain a cycle.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CpmStatus {
    /// The dependencies contain no cycle.
    #[default]
    Ok,
    /// The dependencies contain at least one cycle.
    DependencyCycle,
}

/// The schedule of the tasks of a project.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Gantt {
    /// Whether the dependencies contain a cycle.
    pub cpm_status: CpmStatus,
    /// The length of the critical path in days, over all tasks.
    pub project_span_days: u64,
    /// The length of the critical path in days if done tasks take no time and canceled tasks are left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub remaining_span_days: Option<u64>,
    /// The ids of the tasks in a dependency cycle, which are left out of the critical path computation. Absent if there
    /// are none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cycle_task_ids: Vec<String>,
    /// The tasks, ordered by `start_at`.
    pub tasks: Vec<GanttTask>,
}

/// A task in a schedule.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct GanttTask {
    /// The id of the task.
    pub task_id: String,
    /// The title of the task. If the caller may not see the task, its id.
    pub title: String,
    /// The status of the task.
    pub status: TaskStatus,
    /// The id of the team the task is assigned to. Absent if there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub team_id: Option<String>,
    /// The id of the agent the task is assigned to. Absent if there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub assignee_agent_id: Option<String>,
    /// The progress of the task in percent, from 0 to 100 with one decimal.
    pub progress_pct: f64,
    /// The start of the bar, in ISO-8601: the planned start, or the earliest start that the dependencies allow.
    pub start_at: String,
    /// The end of the bar, in ISO-8601: the planned end if there is one, otherwise the earliest finish. A planned end
    /// is returned even if it is before `start_at` because of the dependencies; `schedule_conflict` is then true.
    pub end_at: String,
    /// The duration in days: the stored one, else the time between the planned dates, else 1.
    pub duration_days: u64,
    /// The number of days the task can be delayed without delaying the project. 0 for tasks in a dependency cycle.
    pub slack_days: u64,
    /// The slack in days if done tasks take no time and canceled tasks are left out. Absent for canceled tasks and for
    /// tasks in a dependency cycle.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub remaining_slack_days: Option<u64>,
    /// True if the task is on the critical path, so that any delay delays the project.
    pub critical: bool,
    /// True if the planned dates contradict the dependencies: the task starts before a dependency ends, or ends before
    /// it can start. Absent when false.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub schedule_conflict: bool,
    /// The ids of the tasks that must be done first.
    pub depends_on_task_ids: Vec<String>,
}

/// Params of [`PmRecommendAllocations`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PmRecommendAllocationsParams {
    /// Absolute path of the company folder.
    pub workspace_dir: Text,
    /// The id of the project.
    pub project_id: ProjectId,
}

/// Response of [`PmRecommendAllocations`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PmRecommendAllocationsResponse {
    /// The company folder, as given in the request.
    pub workspace_dir: String,
    /// The id of the project.
    pub project_id: ProjectId,
    /// The time the recommendations were generated, in ISO-8601.
    pub generated_at: String,
    /// One recommendation for each task that is neither done nor canceled, in the order of `task.list`.
    pub recommendations: Vec<Recommendation>,
}

/// A recommended allocation of a task.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Recommendation {
    /// The id of the task.
    pub task_id: String,
    /// The recommended provider.
    pub preferred_provider: String,
    /// The recommended model. Absent if the agent has no model hint.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub preferred_model: Option<String>,
    /// The id of the recommended agent. Absent if no agent is suitable.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub preferred_agent_id: Option<String>,
    /// The recommended budget in tokens.
    pub token_budget_hint: u64,
    /// The reason for the recommendation, in one sentence.
    pub rationale: String,
    /// The individual reasons, one per item. Absent if there are none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub reasons: Vec<String>,
}

/// Params of [`PmApplyAllocations`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PmApplyAllocationsParams {
    /// Absolute path of the company folder.
    pub workspace_dir: Text,
    /// The id of the project.
    pub project_id: ProjectId,
    /// The id of the actor that applies the allocations; stored in each task.
    pub applied_by: Text,
    /// The execution plans to store, applied in this order. Required, but may be empty.
    pub items: Vec<Allocation>,
}

/// The execution plan of a task. Fields that are absent keep their stored value.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Allocation {
    /// The id of the task.
    pub task_id: TaskId,
    /// The provider that should run the task.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub preferred_provider: Option<Text>,
    /// The model that should run the task.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub preferred_model: Option<Text>,
    /// The id of the agent that should work on the task. The agent must exist.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub preferred_agent_id: Option<AgentId>,
    /// The expected budget in tokens.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub token_budget_hint: Option<u64>,
}

/// Response of [`PmApplyAllocations`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PmApplyAllocationsResponse {
    /// The company folder, as given in the request.
    pub workspace_dir: String,
    /// The id of the project.
    pub project_id: ProjectId,
    /// The time stored as `applied_at` in every task, in ISO-8601.
    pub applied_at: String,
    /// The ids of the updated tasks, without duplicates.
    pub updated_task_ids: Vec<TaskId>,
}

/// The format of an exported plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PlanFormat {
    /// A Mermaid Gantt diagram, for Markdown documents.
    Mermaid,
    /// A table of comma-separated values.
    Csv,
    /// An iCalendar file.
    Ics,
}

/// Params of [`PmExport`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PmExportParams {
    /// Absolute path of the company folder.
    pub workspace_dir: Text,
    /// The id of the project.
    pub project_id: ProjectId,
    /// The format of the export.
    pub format: PlanFormat,
}

/// Response of [`PmExport`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PmExportResponse {
    /// The company folder, as given in the request.
    pub workspace_dir: String,
    /// The id of the project.
    pub project_id: ProjectId,
    /// The format of the export.
    pub format: PlanFormat,
    /// The time the export was generated, in ISO-8601.
    pub generated_at: String,
    /// The media type of `content`: `text/vnd.mermaid`, `text/csv` or `text/calendar`.
    pub media_type: String,
    /// A suggested file name.
    pub file_name: String,
    /// The exported plan.
    pub content: String,
}
