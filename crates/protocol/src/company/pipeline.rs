//! `pipeline.*`: from what a client wants to tasks of workers, with the CEO in between.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{ActorRole, AgentId, ConversationId, DocumentId, MilestoneId, ProjectId, TaskId, Text};

crate::methods! {
    Company family "pipeline";

    /// Make a project of what a client wants: a brief, the plans of the departments and of the company, a transcript,
    /// a task for each director, and a proposal that waits for the CEO.
    ///
    /// Everything is there at once or not at all. With `model`, workers then write the plans and the transcript anew;
    /// what they cannot do stays as it was made and is told in the audit log.
    Exec PipelineClientIntakeRun = "pipeline.client_intake.run" (PipelineClientIntakeRunParams in workspace_dir) -> PipelineClientIntakeRunResponse;
    /// Give the workers of a department their tasks, once the CEO approved the executive plan.
    ///
    /// A worker that has an open task for the plan keeps it. A later denial of the plan closes the gate.
    Write PipelineDepartmentAssignTasks = "pipeline.department.assign_tasks" (PipelineDepartmentAssignTasksParams in workspace_dir as actor_role) -> PipelineDepartmentAssignTasksResponse;
}

/// Params of [`PipelineClientIntakeRun`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PipelineClientIntakeRunParams {
    /// The company folder.
    pub workspace_dir: Text,
    /// What the project is called.
    #[schemars(length(max = 200))]
    pub project_name: Text,
    /// Who leads the company.
    pub ceo_actor_id: Text,
    /// The agent that leads the project, which must exist.
    pub executive_manager_agent_id: AgentId,
    /// What the client wants.
    #[serde(default)]
    pub intake_text: Option<String>,
    /// A file that says it instead: below the company folder, or an absolute path; at most 1 MiB.
    #[serde(default)]
    pub intake_file: Option<String>,
    /// Lets workers write the plans and the transcript, those of the model's provider with this model.
    #[serde(default)]
    pub model: Option<String>,
}

/// Response of [`PipelineClientIntakeRun`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PipelineClientIntakeRunResponse {
    /// The project.
    pub project_id: ProjectId,
    /// The documents of the whole project.
    pub artifacts: PipelineArtifacts,
    /// The plans by department; a second director of a department has `<key>#2`.
    pub department_plan_artifact_ids: BTreeMap<String, DocumentId>,
    /// The tasks of the directors by department.
    pub director_task_ids: BTreeMap<String, TaskId>,
    /// The same tasks in the order of the directors.
    pub assigned_task_ids: Vec<TaskId>,
    /// Where the planning is talked about.
    pub meeting_conversation_id: ConversationId,
    /// What workers wrote.
    pub generation: PipelineGeneration,
}

/// The documents of a whole project.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PipelineArtifacts {
    /// What the client wants.
    pub intake_brief_artifact_id: DocumentId,
    /// The plan of the company.
    pub executive_plan_artifact_id: DocumentId,
    /// What was said about it.
    pub meeting_transcript_artifact_id: DocumentId,
    /// The proposal that waits for the CEO.
    pub approval_artifact_id: DocumentId,
}

/// What workers wrote.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PipelineGeneration {
    /// Whether they were asked.
    pub mode: PipelineGenerationMode,
    /// How many documents they were asked for.
    pub attempted: u64,
    /// How many they wrote.
    pub succeeded: u64,
    /// How many stayed as they were made.
    pub failed: u64,
    /// A report about each of those.
    pub failure_artifact_ids: Vec<DocumentId>,
    /// The log of all this, relative to the company folder.
    pub audit_log_relpath: String,
}

/// Who writes the documents.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PipelineGenerationMode {
    /// The gateway alone.
    Deterministic,
    /// Workers, and the gateway where they fail.
    ProviderWithFallback,
}

/// Params of [`PipelineDepartmentAssignTasks`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PipelineDepartmentAssignTasksParams {
    /// The company folder.
    pub workspace_dir: Text,
    /// The project.
    pub project_id: ProjectId,
    /// The department, whatever the case.
    pub department_key: Text,
    /// Its director.
    pub director_agent_id: AgentId,
    /// Who gets a task.
    #[schemars(length(min = 1))]
    pub worker_agent_ids: Vec<Text>,
    /// The executive plan that the CEO approved.
    pub approved_executive_plan_artifact_id: DocumentId,
    /// Who assigns: a manager or above.
    #[serde(default)]
    pub actor_id: Option<Text>,
    /// What they are.
    #[serde(default)]
    pub actor_role: Option<ActorRole>,
}

/// Response of [`PipelineDepartmentAssignTasks`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PipelineDepartmentAssignTasksResponse {
    /// The project.
    pub project_id: ProjectId,
    /// The department, as it was given.
    pub department_key: String,
    /// Its director.
    pub director_agent_id: AgentId,
    /// The executive plan.
    pub executive_plan_artifact_id: DocumentId,
    /// The tasks that were made.
    pub created_task_ids: Vec<TaskId>,
    /// Their milestones.
    pub created_milestone_ids: Vec<MilestoneId>,
    /// Open tasks for the plan that the workers had already.
    pub reused_task_ids: Vec<TaskId>,
    /// The task of each worker.
    pub assignment_map: BTreeMap<String, TaskId>,
    /// Who got none.
    pub denied_assignments: Vec<DeniedAssignment>,
    /// The log of all this, relative to the company folder.
    pub audit_log_relpath: String,
}

/// Somebody who got no task.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DeniedAssignment {
    /// Who.
    pub worker_agent_id: String,
    /// Why: `agent_not_found`, `not_worker_role` or `cross_team_assignment_denied`.
    pub reason: String,
    /// The team they would have to belong to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expected_team_id: Option<String>,
    /// The team they belong to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub actual_team_id: Option<String>,
}
