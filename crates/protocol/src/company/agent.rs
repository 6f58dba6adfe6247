//! `agent.*`: the profile of an agent, its mistake log, the rules proposed from it, and its context index.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    ActorRole, AgentId, AgentRole, ContextPackId, DocumentId, MilestoneId, ProjectId, RepoId,
    RunId, TaskId, Text,
};

crate::methods! {
    Company family "agent";

    /// Show the profile of an agent and the totals of its runs.
    Read AgentProfileSnapshot = "agent.profile.snapshot" (AgentProfileSnapshotParams in workspace_dir) -> AgentProfileSnapshotResponse;
    /// Record a mistake of an agent in its mistake log.
    Write AgentRecordMistake = "agent.record_mistake" (AgentRecordMistakeParams in workspace_dir as manager_role) -> AgentRecordMistakeResponse;
    /// Record a mistake of an agent and propose a rule against it once it has recurred often enough.
    ///
    /// The rule is proposed when the count reaches the threshold and the evaluation command passes.
    Exec AgentSelfImproveCycle = "agent.self_improve_cycle" (AgentSelfImproveCycleParams in workspace_dir as manager_role) -> AgentSelfImproveCycleResponse;
    /// Write the context index of an agent: the list of files it should read for its assigned tasks.
    Write AgentRefreshContext = "agent.refresh_context" (AgentRefreshContextParams in workspace_dir) -> AgentRefreshContextResponse;
}

/// Params of [`AgentProfileSnapshot`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct AgentProfileSnapshotParams {
    /// Path of the company folder.
    pub workspace_dir: Text,
    /// Id of the agent.
    pub agent_id: AgentId,
    /// Count only runs of this project. Default: runs of all projects.
    #[serde(default)]
    pub project_id: Option<Text>,
    /// Whether to sync the index first. Default: true.
    #[serde(default)]
    pub sync_index: Option<bool>,
}

/// Response of [`AgentProfileSnapshot`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct AgentProfileSnapshotResponse {
    /// Path of the company folder as the request named it.
    pub workspace_dir: String,
    /// Time of the response, ISO-8601 in UTC.
    pub generated_at: String,
    /// The profile of the agent.
    pub agent: AgentProfile,
    /// Totals over the agent's runs.
    pub metrics: AgentMetrics,
}

/// Profile of an agent, from its `agent.yaml`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct AgentProfile {
    /// Id of the agent.
    pub agent_id: String,
    /// Name of the agent.
    pub name: String,
    /// Job title shown to people. Absent if `agent.yaml` has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub display_title: Option<String>,
    /// Avatar of the agent. Absent if `agent.yaml` has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub avatar: Option<String>,
    /// Role of the agent in the company.
    pub role: AgentRole,
    /// Provider that runs the agent, such as `codex` or `claude_code`.
    pub provider: String,
    /// Preferred model of the agent. Absent if `agent.yaml` has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model_hint: Option<String>,
    /// Id of the agent's team. Absent if it has no team.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub team_id: Option<String>,
    /// Time the agent was created, ISO-8601.
    pub created_at: String,
    /// Whole days since `created_at`.
    pub tenure_days: u64,
}

/// Totals over the indexed runs of an agent.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct AgentMetrics {
    /// Number of runs.
    pub total_runs: u64,
    /// Number of runs with the status `running`.
    pub running_runs: u64,
    /// Number of runs with the status `ended`, which succeeded.
    pub ended_runs: u64,
    /// Number of runs with the status `failed`.
    pub failed_runs: u64,
    /// Number of runs with the status `stopped`.
    pub stopped_runs: u64,
    /// Tokens that the runs used.
    pub total_tokens: u64,
    /// Cost of the runs in US dollars.
    pub total_cost_usd: f64,
    /// Number of context cycles (compactions of the model's context) in runs whose provider reports them. Null if no
    /// run reports them.
    pub context_cycles_count: Option<u64>,
    /// Where `context_cycles_count` originates.
    pub context_cycles_source: AgentCyclesSource,
}

/// Where a count of context cycles originates.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum AgentCyclesSource {
    /// At least one run has a count reported by its provider.
    ProviderSignal,
    /// No run has a reported count.
    #[default]
    Unknown,
}

/// Params of [`AgentRecordMistake`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct AgentRecordMistakeParams {
    /// Path of the company folder.
    pub workspace_dir: Text,
    /// Id of the agent that made the mistake.
    pub worker_agent_id: AgentId,
    /// Id of the manager who observed the mistake.
    pub manager_actor_id: Text,
    /// Role of that manager. The role `worker` is rejected.
    pub manager_role: ActorRole,
    /// Key that identifies the kind of mistake. Mistakes with the same key are counted together.
    pub mistake_key: Text,
    /// Description of what happened. Replaces the summary of earlier observations.
    pub summary: Text,
    /// Rule that prevents the mistake. Replaces the rule of earlier observations.
    pub prevention_rule: Text,
    /// Id of the project in which the mistake occurred.
    #[serde(default)]
    pub project_id: Option<ProjectId>,
    /// Id of the run in which the mistake occurred. With `project_id`, the event `evaluation.mistake_recorded` is
    /// appended to its log.
    #[serde(default)]
    pub run_id: Option<RunId>,
    /// Id of the task in which the mistake occurred.
    #[serde(default)]
    pub task_id: Option<TaskId>,
    /// Id of the milestone in which the mistake occurred.
    #[serde(default)]
    pub milestone_id: Option<MilestoneId>,
    /// Ids of the documents that show the mistake. Default: none.
    #[serde(default)]
    pub evidence_artifact_ids: Option<Vec<Text>>,
    /// Threshold that is recorded in the event; it has no other effect. Default: 3.
    #[serde(default)]
    #[schemars(range(min = 1))]
    pub promote_threshold: Option<u64>,
}

/// Response of [`AgentRecordMistake`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct AgentRecordMistakeResponse {
    /// Id of the agent that made the mistake.
    pub worker_agent_id: AgentId,
    /// Key of the mistake, without surrounding white space.
    pub mistake_key: String,
    /// How often this mistake has been recorded, including this time.
    pub count: u64,
    /// Always false: rules enter an agent's `AGENTS.md` only through approved memory deltas.
    pub promoted_to_agents_md: bool,
    /// Path of the mistake log, relative to the company folder.
    pub log_relpath: String,
    /// Path of the agent's `AGENTS.md`, relative to the company folder.
    pub agents_md_relpath: String,
}

/// Params of [`AgentSelfImproveCycle`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct AgentSelfImproveCycleParams {
    /// Path of the company folder.
    pub workspace_dir: Text,
    /// Id of the project.
    pub project_id: ProjectId,
    /// Id of the agent that made the mistake.
    pub worker_agent_id: AgentId,
    /// Id of the manager who observed the mistake.
    pub manager_actor_id: Text,
    /// Role of that manager. The role `worker` is rejected.
    pub manager_role: ActorRole,
    /// Key that identifies the kind of mistake. Mistakes with the same key are counted together. A proposal requires 1
    /// to 64 of the characters `A-Z a-z 0-9 . _ -`.
    pub mistake_key: Text,
    /// Description of what happened. Replaces the summary of earlier observations.
    pub summary: Text,
    /// Rule that prevents the mistake. Replaces the rule of earlier observations.
    pub prevention_rule: Text,
    /// Count from which on a rule is proposed. Default: 3.
    #[serde(default)]
    #[schemars(range(min = 1))]
    pub proposal_threshold: Option<u64>,
    /// Accepted for compatibility; it has no effect.
    #[serde(default)]
    #[schemars(range(min = 1))]
    pub promote_threshold: Option<u64>,
    /// Ids of the documents that show the mistake. Default: none.
    #[serde(default)]
    pub evidence_artifact_ids: Option<Vec<Text>>,
    /// Id of the task in which the mistake occurred; the evaluation session is launched for it too.
    #[serde(default)]
    pub task_id: Option<TaskId>,
    /// Id of the milestone in which the mistake occurred; the evaluation session is launched for it too.
    #[serde(default)]
    pub milestone_id: Option<MilestoneId>,
    /// Program and arguments of the command that must exit with code 0 before a rule is proposed. Default: a no-op that
    /// always passes.
    #[serde(default)]
    #[schemars(length(min = 1))]
    pub evaluation_argv: Option<Vec<Text>>,
    /// Id of the repository in which the command runs.
    #[serde(default)]
    pub evaluation_repo_id: Option<RepoId>,
    /// Working directory of the command, relative to the repository.
    #[serde(default)]
    pub evaluation_workdir_rel: Option<Text>,
    /// Environment variables of the command. Default: none.
    #[serde(default)]
    pub evaluation_env: Option<BTreeMap<String, String>>,
}

/// Outcome of a self-improvement cycle.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SelfImproveStatus {
    /// The count is below the proposal threshold.
    RecordedOnly,
    /// The agent's `AGENTS.md` already contains a rule for this mistake.
    AlreadyGuided,
    /// The evaluation command failed; a failure report was written.
    EvaluationFailed,
    /// A memory delta with the rule is pending approval.
    ProposalCreated,
}

/// Response of [`AgentSelfImproveCycle`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct AgentSelfImproveCycleResponse {
    /// Outcome of the cycle.
    pub status: SelfImproveStatus,
    /// Id of the agent that made the mistake.
    pub worker_agent_id: AgentId,
    /// Id of the project.
    pub project_id: ProjectId,
    /// Key of the mistake, without surrounding white space.
    pub mistake_key: String,
    /// How often this mistake has been recorded, including this time.
    pub mistake_count: u64,
    /// Count from which on a rule is proposed.
    pub proposal_threshold: u64,
    /// Always false: rules enter an agent's `AGENTS.md` only through approved memory deltas.
    pub promoted_to_agents_md: bool,
    /// True if `memory_delta_artifact_id` names an earlier proposal that is still pending. Absent otherwise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reused: Option<bool>,
    /// Result of the evaluation. Its fields are absent if no evaluation ran or an earlier proposal was reused.
    #[serde(flatten)]
    pub evaluation: Option<SelfImproveEvaluation>,
    /// The proposed memory delta. Its fields are absent unless the status is `proposal_created`.
    #[serde(flatten)]
    pub proposal: Option<SelfImproveProposal>,
}

/// Result of the evaluation command of a self-improvement cycle.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SelfImproveEvaluation {
    /// Id of the run that recorded the evaluation.
    pub run_id: RunId,
    /// Id of the context pack of that run.
    pub context_pack_id: ContextPackId,
    /// Exit code of the command. Null if a signal ended it.
    pub evaluation_exit_code: Option<i32>,
    /// Name of the signal that ended the command. Null if it exited.
    pub evaluation_signal: Option<String>,
    /// Id of the report document.
    pub evaluation_artifact_id: DocumentId,
    /// Path of the report, relative to the company folder.
    pub evaluation_artifact_relpath: String,
    /// Type of the report: `manager_digest` if the command passed, else `failure_report`.
    pub evaluation_artifact_type: String,
}

/// The memory delta that a self-improvement cycle proposed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SelfImproveProposal {
    /// Id of the memory delta.
    pub memory_delta_artifact_id: DocumentId,
    /// Path of the memory delta, relative to the company folder.
    pub memory_delta_artifact_relpath: String,
    /// Path of its patch file, relative to the company folder.
    pub memory_delta_patch_relpath: String,
    /// Path of the file that the delta changes, relative to the company folder.
    pub target_file: String,
}

/// Params of [`AgentRefreshContext`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct AgentRefreshContextParams {
    /// Path of the company folder.
    pub workspace_dir: Text,
    /// Id of the agent.
    pub agent_id: AgentId,
    /// List only tasks of this project. Default: tasks of all projects.
    #[serde(default)]
    pub project_id: Option<ProjectId>,
    /// Maximum number of tasks to list; open tasks take precedence over done and canceled ones. Default: 20.
    #[serde(default)]
    #[schemars(range(min = 1, max = 200))]
    pub max_tasks: Option<u32>,
    /// Maximum number of scope paths to list over all tasks. Default: 40.
    #[serde(default)]
    #[schemars(range(min = 1, max = 500))]
    pub max_scope_paths: Option<u32>,
}

/// Response of [`AgentRefreshContext`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct AgentRefreshContextResponse {
    /// Id of the agent.
    pub agent_id: AgentId,
    /// Path of the context index, relative to the company folder.
    pub context_index_relpath: String,
    /// Number of tasks listed.
    pub assignment_count: u64,
    /// Number of reference lines written.
    pub reference_count: u64,
    /// Whether the file changed.
    pub updated: bool,
    /// Time of the response, ISO-8601 in UTC.
    pub generated_at: String,
    /// The project of the request. Absent if none was given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project_id: Option<ProjectId>,
}
