//! `pm.*`: plans of projects, and who should do what.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    AgentId, CompanyScope, ProjectId, TaskId, TaskStatus, Text, workspace::PortfolioSnapshot,
};

crate::methods! {
    Company family "pm";

    /// Tell how all projects stand and, for one of them, when its tasks happen and which of them decide when it ends.
    /// A missing `project_id` is answered with -32601, as the recorded reference answers it, where the contract has
    /// -32602.
    Read PmSnapshot = "pm.snapshot" (PmSnapshotParams in workspace_dir) -> PmSnapshotResponse;
    /// Say for each open task of a project who should do it and with how many tokens, and why. Nothing is changed.
    Read PmRecommendAllocations = "pm.recommend_allocations" (PmRecommendAllocationsParams in workspace_dir) -> PmRecommendAllocationsResponse;
    /// Note for several tasks how they should be run: all of them, or none if one cannot be changed.
    Write PmApplyAllocations = "pm.apply_allocations" (PmApplyAllocationsParams in workspace_dir) -> PmApplyAllocationsResponse;
    /// Print the plan of a project so that other tools can show it: as a Mermaid diagram, a table or a calendar.
    Read PmExport = "pm.export" (PmExportParams in workspace_dir) -> PmExportResponse;
}

/// Params of [`PmSnapshot`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PmSnapshotParams {
    /// The company folder.
    pub workspace_dir: Text,
    /// Whether one project is told in full.
    pub scope: CompanyScope,
    /// That project.
    #[serde(default)]
    pub project_id: Option<ProjectId>,
}

/// Response of [`PmSnapshot`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PmSnapshotResponse {
    /// The folder as it was given.
    pub workspace_dir: String,
    /// When it was looked at.
    pub generated_at: String,
    /// Whether one project is told in full.
    pub scope: CompanyScope,
    /// All projects.
    pub workspace: PortfolioSnapshot,
    /// The one project.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project: Option<ProjectPlan>,
}

/// The plan of a project.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ProjectPlan {
    /// The project.
    pub project_id: ProjectId,
    /// Its tasks together.
    pub summary: ProjectPlanSummary,
    /// Its tasks in time.
    pub gantt: Gantt,
}

/// The tasks of a project together.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ProjectPlanSummary {
    /// How many.
    pub task_count: u64,
    /// Finished.
    pub done_tasks: u64,
    /// Waiting for something.
    pub blocked_tasks: u64,
    /// Being worked on.
    pub in_progress_tasks: u64,
    /// How far they are, from 0 to 100; each task counts the same.
    pub progress_pct: f64,
    /// How far they are, from 0 to 100; each task counts as many times as it has days.
    #[serde(default)]
    pub progress_weighted_pct: f64,
}

/// Whether tasks wait for each other in a circle.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CpmStatus {
    /// They do not.
    #[default]
    Ok,
    /// They do.
    DependencyCycle,
}

/// The tasks of a project in time.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Gantt {
    /// Whether tasks wait for each other in a circle.
    pub cpm_status: CpmStatus,
    /// How many days the longest chain of tasks takes.
    pub project_span_days: u64,
    /// The same without what is done or given up.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub remaining_span_days: Option<u64>,
    /// The tasks that wait for each other in a circle. They take no part in the arithmetic.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cycle_task_ids: Vec<String>,
    /// The tasks, by when they begin.
    pub tasks: Vec<GanttTask>,
}

/// A task in time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct GanttTask {
    /// Its id.
    pub task_id: String,
    /// What it is called.
    pub title: String,
    /// Where it stands.
    pub status: TaskStatus,
    /// The team that does it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub team_id: Option<String>,
    /// The agent that does it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub assignee_agent_id: Option<String>,
    /// How far it is, from 0 to 100.
    pub progress_pct: f64,
    /// Start of the bar: the planned start, or the earliest start that the dependencies allow.
    pub start_at: String,
    /// End of the bar: the planned end if there is one, shown even when it contradicts the dependencies and lies before
    /// `start_at` (then `schedule_conflict` is true), else the earliest finish.
    pub end_at: String,
    /// How long it takes.
    pub duration_days: u64,
    /// How many days it can slip without moving the end of the project.
    pub slack_days: u64,
    /// The same while what is done or given up takes no time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub remaining_slack_days: Option<u64>,
    /// Whether it cannot slip at all.
    pub critical: bool,
    /// Whether the planned dates contradict the dependencies: the task begins before one of them ends, or must end
    /// before it can begin. Absent when false.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub schedule_conflict: bool,
    /// What must be done before.
    pub depends_on_task_ids: Vec<String>,
}

/// Params of [`PmRecommendAllocations`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PmRecommendAllocationsParams {
    /// The company folder.
    pub workspace_dir: Text,
    /// The project.
    pub project_id: ProjectId,
}

/// Response of [`PmRecommendAllocations`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PmRecommendAllocationsResponse {
    /// The folder as it was given.
    pub workspace_dir: String,
    /// The project.
    pub project_id: ProjectId,
    /// When it was looked at.
    pub generated_at: String,
    /// One for each task that is neither done nor given up, in the order of `task.list`.
    pub recommendations: Vec<Recommendation>,
}

/// Who should do a task.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Recommendation {
    /// The task.
    pub task_id: String,
    /// What should run it.
    pub preferred_provider: String,
    /// Which model suits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub preferred_model: Option<String>,
    /// Which agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub preferred_agent_id: Option<String>,
    /// With about how many tokens.
    pub token_budget_hint: u64,
    /// Why, in one sentence.
    pub rationale: String,
    /// Why, one reason each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub reasons: Vec<String>,
}

/// Params of [`PmApplyAllocations`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PmApplyAllocationsParams {
    /// The company folder.
    pub workspace_dir: Text,
    /// The project.
    pub project_id: ProjectId,
    /// Who plans.
    pub applied_by: Text,
    /// The plans to store, in this order; may be empty.
    ///
    /// The contract requires this list; the recorded reference took a missing one for an empty one.
    pub items: Vec<Allocation>,
}

/// How a task should be run; what is not given stays as it is.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Allocation {
    /// The task.
    pub task_id: TaskId,
    /// What should run it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub preferred_provider: Option<Text>,
    /// With which model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub preferred_model: Option<Text>,
    /// By which agent, which must be there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub preferred_agent_id: Option<AgentId>,
    /// With about how many tokens.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub token_budget_hint: Option<u64>,
}

/// Response of [`PmApplyAllocations`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PmApplyAllocationsResponse {
    /// The folder as it was given.
    pub workspace_dir: String,
    /// The project.
    pub project_id: ProjectId,
    /// The time that was noted in every task.
    pub applied_at: String,
    /// The tasks, each once.
    pub updated_task_ids: Vec<TaskId>,
}

/// How a plan is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PlanFormat {
    /// A Gantt diagram for Markdown: Mermaid.
    Mermaid,
    /// A table: comma-separated values.
    Csv,
    /// A calendar: iCalendar.
    Ics,
}

/// Params of [`PmExport`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PmExportParams {
    /// The company folder.
    pub workspace_dir: Text,
    /// The project.
    pub project_id: ProjectId,
    /// How.
    pub format: PlanFormat,
}

/// Response of [`PmExport`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PmExportResponse {
    /// The folder as it was given.
    pub workspace_dir: String,
    /// The project.
    pub project_id: ProjectId,
    /// How.
    pub format: PlanFormat,
    /// When it was looked at.
    pub generated_at: String,
    /// What the text is: `text/csv`.
    pub media_type: String,
    /// What a file with it could be called.
    pub file_name: String,
    /// The plan.
    pub content: String,
}
