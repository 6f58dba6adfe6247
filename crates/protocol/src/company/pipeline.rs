//! `pipeline.*`: turns a client request into an approved executive plan and tasks for workers.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{ActorRole, AgentId, ConversationId, DocumentId, MilestoneId, ProjectId, TaskId, Text};

crate::methods! {
    Company family "pipeline";

    /// Create a project from a client request, with plans, tasks and a proposal for CEO approval.
    ///
    /// The project gets an intake brief, department plans, an executive plan, a meeting transcript and a task per
    /// director.
    ///
    /// The project is created completely or not at all. If `model` is given, workers then rewrite the plans and the
    /// transcript. A document that a worker fails to write keeps its generated content, and the failure is recorded in
    /// the audit log.
    Exec PipelineClientIntakeRun = "pipeline.client_intake.run" (PipelineClientIntakeRunParams in workspace_dir) -> PipelineClientIntakeRunResponse;
    /// Create tasks for the workers of a department after the CEO approved the executive plan.
    ///
    /// A worker that already has an open task for the plan keeps it. A later denial of the plan blocks further
    /// assignments.
    Write PipelineDepartmentAssignTasks = "pipeline.department.assign_tasks" (PipelineDepartmentAssignTasksParams in workspace_dir as actor_role) -> PipelineDepartmentAssignTasksResponse;
}

/// Params of [`PipelineClientIntakeRun`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PipelineClientIntakeRunParams {
    /// Absolute path of the company folder.
    pub workspace_dir: Text,
    /// The name of the new project, at most 200 characters.
    #[schemars(length(max = 200))]
    pub project_name: Text,
    /// The id of the actor that acts as CEO.
    pub ceo_actor_id: Text,
    /// The id of the agent that leads the project. The agent must exist.
    pub executive_manager_agent_id: AgentId,
    /// The request of the client. A placeholder is used if neither this nor `intake_file` is given. Cannot be combined
    /// with `intake_file`.
    #[serde(default)]
    pub intake_text: Option<String>,
    /// The path of a UTF-8 file with the request of the client, relative to the company folder or absolute, at most 1
    /// MiB. Cannot be combined with `intake_text`.
    #[serde(default)]
    pub intake_file: Option<String>,
    /// The model that rewrites the plans and the transcript. Agents of another provider use their own `model_hint`. If
    /// absent or blank, no worker is started.
    #[serde(default)]
    pub model: Option<String>,
}

/// Response of [`PipelineClientIntakeRun`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PipelineClientIntakeRunResponse {
    /// The id of the new project.
    pub project_id: ProjectId,
    /// The ids of the documents that concern the whole project.
    pub artifacts: PipelineArtifacts,
    /// The ids of the department plans by department key. A second director of a department has the key `<key>#2`, and
    /// so on.
    pub department_plan_artifact_ids: BTreeMap<String, DocumentId>,
    /// The ids of the director tasks by department key, with the same keys.
    pub director_task_ids: BTreeMap<String, TaskId>,
    /// The ids of the director tasks, ordered by the name of the director.
    pub assigned_task_ids: Vec<TaskId>,
    /// The id of the planning council conversation of the project.
    pub meeting_conversation_id: ConversationId,
    /// The outcome of the generation by workers.
    pub generation: PipelineGeneration,
}

/// The ids of the documents that concern the whole project.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PipelineArtifacts {
    /// The id of the intake brief, which contains the client request.
    pub intake_brief_artifact_id: DocumentId,
    /// The id of the executive plan.
    pub executive_plan_artifact_id: DocumentId,
    /// The id of the meeting transcript.
    pub meeting_transcript_artifact_id: DocumentId,
    /// The id of the proposal that waits for CEO approval.
    pub approval_artifact_id: DocumentId,
}

/// The outcome of the generation of documents by workers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PipelineGeneration {
    /// Whether workers were asked to write the documents.
    pub mode: PipelineGenerationMode,
    /// The number of documents that workers were asked to write.
    pub attempted: u64,
    /// The number of documents that workers wrote.
    pub succeeded: u64,
    /// The number of documents that keep their generated content because the worker failed.
    pub failed: u64,
    /// The ids of the failure reports, one per failed document.
    pub failure_artifact_ids: Vec<DocumentId>,
    /// The path of the audit log, relative to the company folder.
    pub audit_log_relpath: String,
}

/// How the documents of a pipeline are written.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PipelineGenerationMode {
    /// The gateway generates all documents from templates.
    Deterministic,
    /// Workers write the documents; the gateway's version remains where a worker fails.
    ProviderWithFallback,
}

/// Params of [`PipelineDepartmentAssignTasks`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PipelineDepartmentAssignTasksParams {
    /// Absolute path of the company folder.
    pub workspace_dir: Text,
    /// The id of the project.
    pub project_id: ProjectId,
    /// The key of the department, compared without regard to case.
    pub department_key: Text,
    /// The id of the director whose team is the department.
    pub director_agent_id: AgentId,
    /// The ids of the workers that get a task. Duplicates are ignored.
    #[schemars(length(min = 1))]
    pub worker_agent_ids: Vec<Text>,
    /// The id of the executive plan that the CEO approved.
    pub approved_executive_plan_artifact_id: DocumentId,
    /// The id of the actor that assigns the tasks. If absent, the identity of the caller's token applies.
    #[serde(default)]
    pub actor_id: Option<Text>,
    /// The role of that actor, `manager` or above. If absent, the role of the caller's token applies.
    #[serde(default)]
    pub actor_role: Option<ActorRole>,
}

/// Response of [`PipelineDepartmentAssignTasks`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PipelineDepartmentAssignTasksResponse {
    /// The id of the project.
    pub project_id: ProjectId,
    /// The key of the department, as given in the request.
    pub department_key: String,
    /// The id of the director.
    pub director_agent_id: AgentId,
    /// The id of the executive plan.
    pub executive_plan_artifact_id: DocumentId,
    /// The ids of the created tasks.
    pub created_task_ids: Vec<TaskId>,
    /// The ids of the milestones of the created tasks, in the same order.
    pub created_milestone_ids: Vec<MilestoneId>,
    /// The ids of open tasks for the plan that workers already had.
    pub reused_task_ids: Vec<TaskId>,
    /// The id of the created or reused task by worker id.
    pub assignment_map: BTreeMap<String, TaskId>,
    /// The workers that got no task, with the reason.
    pub denied_assignments: Vec<DeniedAssignment>,
    /// The path of the audit log, relative to the company folder.
    pub audit_log_relpath: String,
}

/// A worker that got no task.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DeniedAssignment {
    /// The id of the worker, as given in the request.
    pub worker_agent_id: String,
    /// The reason code: `agent_not_found`, `not_worker_role` or `cross_team_assignment_denied`.
    pub reason: String,
    /// The id of the director's team, which the worker must belong to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expected_team_id: Option<String>,
    /// The id of the worker's team. Absent if the agent is unknown or has no team.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub actual_team_id: Option<String>,
}
