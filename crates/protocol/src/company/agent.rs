//! `agent.*`: one agent, what it does wrong, what it learns from it, and what it is to read.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    ActorRole, AgentId, AgentRole, ContextPackId, DocumentId, MilestoneId, ProjectId, RepoId,
    RunId, TaskId, Text,
};

crate::methods! {
    Company family "agent";

    /// Show an agent and what it did.
    Read AgentProfileSnapshot = "agent.profile.snapshot" (AgentProfileSnapshotParams in workspace_dir) -> AgentProfileSnapshotResponse;
    /// Write down that an agent made a mistake.
    Write AgentRecordMistake = "agent.record_mistake" (AgentRecordMistakeParams in workspace_dir as manager_role) -> AgentRecordMistakeResponse;
    /// Write down a mistake and, when it was made often enough and the evaluation passes, propose a rule against it.
    Exec AgentSelfImproveCycle = "agent.self_improve_cycle" (AgentSelfImproveCycleParams in workspace_dir as manager_role) -> AgentSelfImproveCycleResponse;
    /// Write the list of what an agent should read.
    Write AgentRefreshContext = "agent.refresh_context" (AgentRefreshContextParams in workspace_dir) -> AgentRefreshContextResponse;
}

/// Params of [`AgentProfileSnapshot`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct AgentProfileSnapshotParams {
    /// The company folder.
    pub workspace_dir: Text,
    /// The agent.
    pub agent_id: AgentId,
    /// Only runs of this project.
    #[serde(default)]
    pub project_id: Option<Text>,
    /// Bring the index up to date first; true if not given.
    #[serde(default)]
    pub sync_index: Option<bool>,
}

/// Response of [`AgentProfileSnapshot`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct AgentProfileSnapshotResponse {
    /// The folder as it was given.
    pub workspace_dir: String,
    /// When it was looked at.
    pub generated_at: String,
    /// Who it is.
    pub agent: AgentProfile,
    /// What it did.
    pub metrics: AgentMetrics,
}

/// Who an agent is.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct AgentProfile {
    /// Its id.
    pub agent_id: String,
    /// Its name.
    pub name: String,
    /// What it is called in the company.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub display_title: Option<String>,
    /// Its picture.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub avatar: Option<String>,
    /// What it is.
    pub role: AgentRole,
    /// What runs it.
    pub provider: String,
    /// Which model suits it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model_hint: Option<String>,
    /// Its team.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub team_id: Option<String>,
    /// When it was made.
    pub created_at: String,
    /// Whole days since then.
    pub tenure_days: u64,
}

/// What an agent did.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct AgentMetrics {
    /// Its runs.
    pub total_runs: u64,
    /// Those that are not over.
    pub running_runs: u64,
    /// Those that ended well.
    pub ended_runs: u64,
    /// Those that failed.
    pub failed_runs: u64,
    /// Those that were stopped.
    pub stopped_runs: u64,
    /// The tokens they used.
    pub total_tokens: u64,
    /// What they cost.
    pub total_cost_usd: f64,
    /// How often its context was renewed; null if nobody knows.
    pub context_cycles_count: Option<u64>,
    /// How that is known.
    pub context_cycles_source: AgentCyclesSource,
}

/// How renewed contexts are known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum AgentCyclesSource {
    /// The provider said so.
    ProviderSignal,
    /// They are not.
    #[default]
    Unknown,
}

/// Params of [`AgentRecordMistake`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct AgentRecordMistakeParams {
    /// The company folder.
    pub workspace_dir: Text,
    /// Who made it.
    pub worker_agent_id: AgentId,
    /// Who saw it.
    pub manager_actor_id: Text,
    /// What they are.
    pub manager_role: ActorRole,
    /// What the mistake is called.
    pub mistake_key: Text,
    /// What happened.
    pub summary: Text,
    /// What prevents it.
    pub prevention_rule: Text,
    /// The project it happened in.
    #[serde(default)]
    pub project_id: Option<ProjectId>,
    /// The run it happened in.
    #[serde(default)]
    pub run_id: Option<RunId>,
    /// The task it happened in.
    #[serde(default)]
    pub task_id: Option<TaskId>,
    /// The milestone it happened in.
    #[serde(default)]
    pub milestone_id: Option<MilestoneId>,
    /// What shows it.
    #[serde(default)]
    pub evidence_artifact_ids: Option<Vec<Text>>,
    /// How often it may happen; told in the event and nothing else.
    #[serde(default)]
    #[schemars(range(min = 1))]
    pub promote_threshold: Option<u64>,
}

/// Response of [`AgentRecordMistake`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct AgentRecordMistakeResponse {
    /// Who made it.
    pub worker_agent_id: AgentId,
    /// What it is called.
    pub mistake_key: String,
    /// How often it was made.
    pub count: u64,
    /// False: rules come by approved deltas only.
    pub promoted_to_agents_md: bool,
    /// The log.
    pub log_relpath: String,
    /// The guidance of the agent.
    pub agents_md_relpath: String,
}

/// Params of [`AgentSelfImproveCycle`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct AgentSelfImproveCycleParams {
    /// The company folder.
    pub workspace_dir: Text,
    /// The project.
    pub project_id: ProjectId,
    /// Who made the mistake.
    pub worker_agent_id: AgentId,
    /// Who saw it.
    pub manager_actor_id: Text,
    /// What they are.
    pub manager_role: ActorRole,
    /// What the mistake is called.
    pub mistake_key: Text,
    /// What happened.
    pub summary: Text,
    /// What prevents it.
    pub prevention_rule: Text,
    /// From which count on a rule is proposed; 3 if not given.
    #[serde(default)]
    #[schemars(range(min = 1))]
    pub proposal_threshold: Option<u64>,
    /// How often it may happen; told in the event and nothing else.
    #[serde(default)]
    #[schemars(range(min = 1))]
    pub promote_threshold: Option<u64>,
    /// What shows it.
    #[serde(default)]
    pub evidence_artifact_ids: Option<Vec<Text>>,
    /// The task it happened in.
    #[serde(default)]
    pub task_id: Option<TaskId>,
    /// The milestone it happened in.
    #[serde(default)]
    pub milestone_id: Option<MilestoneId>,
    /// The command that must succeed before a rule is proposed; without one nothing is checked.
    #[serde(default)]
    #[schemars(length(min = 1))]
    pub evaluation_argv: Option<Vec<Text>>,
    /// The repository it runs in.
    #[serde(default)]
    pub evaluation_repo_id: Option<RepoId>,
    /// The folder below that.
    #[serde(default)]
    pub evaluation_workdir_rel: Option<Text>,
    /// Its variables.
    #[serde(default)]
    pub evaluation_env: Option<BTreeMap<String, String>>,
}

/// How a cycle ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SelfImproveStatus {
    /// It was not made often enough.
    RecordedOnly,
    /// There is a rule against it already.
    AlreadyGuided,
    /// The evaluation failed.
    EvaluationFailed,
    /// A rule waits for approval.
    ProposalCreated,
}

/// Response of [`AgentSelfImproveCycle`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct AgentSelfImproveCycleResponse {
    /// How it ended.
    pub status: SelfImproveStatus,
    /// Who made the mistake.
    pub worker_agent_id: AgentId,
    /// The project.
    pub project_id: ProjectId,
    /// What the mistake is called.
    pub mistake_key: String,
    /// How often it was made.
    pub mistake_count: u64,
    /// From which count on a rule is proposed.
    pub proposal_threshold: u64,
    /// False: rules come by approved deltas only.
    pub promoted_to_agents_md: bool,
    /// True if an earlier proposal waits still.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reused: Option<bool>,
    /// What the evaluation gave, if there was one.
    #[serde(flatten)]
    pub evaluation: Option<SelfImproveEvaluation>,
    /// What was proposed, if anything was.
    #[serde(flatten)]
    pub proposal: Option<SelfImproveProposal>,
}

/// What an evaluation gave.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SelfImproveEvaluation {
    /// The run.
    pub run_id: RunId,
    /// What it was given to know.
    pub context_pack_id: ContextPackId,
    /// How it ended.
    pub evaluation_exit_code: Option<i32>,
    /// What ended it.
    pub evaluation_signal: Option<String>,
    /// The report.
    pub evaluation_artifact_id: DocumentId,
    /// The file of the report.
    pub evaluation_artifact_relpath: String,
    /// `manager_digest` or `failure_report`.
    pub evaluation_artifact_type: String,
}

/// What a cycle proposed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SelfImproveProposal {
    /// The delta.
    pub memory_delta_artifact_id: DocumentId,
    /// Its file.
    pub memory_delta_artifact_relpath: String,
    /// Its patch.
    pub memory_delta_patch_relpath: String,
    /// What it changes.
    pub target_file: String,
}

/// Params of [`AgentRefreshContext`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct AgentRefreshContextParams {
    /// The company folder.
    pub workspace_dir: Text,
    /// The agent.
    pub agent_id: AgentId,
    /// Only tasks of this project.
    #[serde(default)]
    pub project_id: Option<ProjectId>,
    /// How many tasks; 20 if not given.
    #[serde(default)]
    #[schemars(range(min = 1, max = 200))]
    pub max_tasks: Option<u32>,
    /// How many paths of tasks; 40 if not given.
    #[serde(default)]
    #[schemars(range(min = 1, max = 500))]
    pub max_scope_paths: Option<u32>,
}

/// Response of [`AgentRefreshContext`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct AgentRefreshContextResponse {
    /// The agent.
    pub agent_id: AgentId,
    /// The list.
    pub context_index_relpath: String,
    /// How many tasks it names.
    pub assignment_count: u64,
    /// How many lines it has.
    pub reference_count: u64,
    /// Whether it changed.
    pub updated: bool,
    /// When it was made.
    pub generated_at: String,
    /// The project, if one was given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project_id: Option<ProjectId>,
}
