//! `context.*`: what a worker is given to know.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    ActorRole, AgentId, JobKind, MemoryScopeKind, ProjectId, Sensitivity, Text, Visibility,
};

crate::methods! {
    Company family "context";

    /// Choose what a worker should know for a job: governance first, then approved memory, then what happened.
    Read ContextPlanForJob = "context.plan_for_job" (ContextPlanForJobParams in workspace_dir as manager_role) -> ContextPlanForJobResponse;
}

/// What a reference is to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ContextRefKind {
    /// A file of the folder.
    File,
    /// A command.
    Command,
    /// A document.
    Artifact,
    /// A remark.
    Note,
}

impl ContextRefKind {
    /// The word on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::File => "file",
            Self::Command => "command",
            Self::Artifact => "artifact",
            Self::Note => "note",
        }
    }
}

/// Something a worker is given to know.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ContextRef {
    /// What it is.
    pub kind: ContextRefKind,
    /// Which one.
    pub value: Text,
    /// What it is for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<Text>,
}

/// Params of [`ContextPlanForJob`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ContextPlanForJobParams {
    /// The company folder.
    pub workspace_dir: Text,
    /// The project.
    pub project_id: ProjectId,
    /// Who will work.
    #[serde(default)]
    pub worker_agent_id: Option<AgentId>,
    /// Who gives the job.
    pub manager_actor_id: Text,
    /// What they are.
    pub manager_role: ActorRole,
    /// Their team.
    #[serde(default)]
    pub manager_team_id: Option<Text>,
    /// What kind of job it is.
    #[serde(default)]
    pub job_kind: Option<JobKind>,
    /// What the job is for.
    pub goal: Text,
    /// What it must keep to.
    #[serde(default)]
    pub constraints: Option<Vec<String>>,
    /// What it must give.
    #[serde(default)]
    pub deliverables: Option<Vec<String>>,
    /// What the worker should know in any case.
    #[serde(default)]
    pub context_refs: Option<Vec<ContextRef>>,
    /// How many references at most; 32 if not given, 8 for a heartbeat.
    #[serde(default)]
    #[schemars(range(min = 1, max = 200))]
    pub max_refs: Option<u32>,
}

/// How near to the core a reference is.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
pub enum ContextLayer {
    /// Governance and what the caller gave.
    L0,
    /// Approved memory.
    L1,
    /// What happened lately.
    L2,
}

/// Where a reference comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ContextSourceKind {
    /// A file of the folder.
    File,
    /// A document.
    Artifact,
    /// A run.
    Run,
    /// A remark.
    Note,
    /// A memory delta.
    MemoryDelta,
    /// The caller.
    Seed,
}

/// What became of a candidate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ContextDecision {
    /// It is given.
    Included,
    /// The manager may not give it.
    FilteredPolicy,
    /// It is too secret for the manager to give.
    FilteredSensitivity,
    /// It holds a secret.
    FilteredSecret,
    /// Nobody approved it.
    FilteredNotApproved,
    /// There was no room.
    FilteredLimit,
}

/// What became of one candidate, and why.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ContextTraceEntry {
    /// Its layer.
    pub layer: ContextLayer,
    /// Where it comes from.
    pub source_kind: ContextSourceKind,
    /// Which one; of a rejected seed only a hash.
    pub source_id: String,
    /// What it is worth.
    pub score: f64,
    /// When it was made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub created_at: Option<String>,
    /// What became of it.
    pub decision: ContextDecision,
    /// Why.
    pub reason: String,
    /// Who may see it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub visibility: Option<Visibility>,
    /// How secret it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sensitivity: Option<Sensitivity>,
    /// How much of the score is for fitting the goal, at most 50.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub relevance: Option<f64>,
}

/// Response of [`ContextPlanForJob`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ContextPlanForJobResponse {
    /// When it was planned.
    pub generated_at: String,
    /// How many references there could be.
    pub max_refs: u32,
    /// Whose memory matters most.
    pub scope_kind: MemoryScopeKind,
    /// Which agent or project that is.
    pub scope_ref: String,
    /// What the worker is given.
    pub context_refs: Vec<ContextRef>,
    /// The layers it comes from.
    pub layers_used: Vec<ContextLayer>,
    /// What became of every candidate; at most 200 rows.
    pub retrieval_trace: Vec<ContextTraceEntry>,
    /// How many rows the trace left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trace_truncated_count: Option<u64>,
    /// How many the manager may not give.
    pub filtered_by_policy_count: u64,
    /// How many are too secret.
    pub filtered_by_sensitivity_count: u64,
    /// How many hold a secret.
    pub filtered_by_secret_count: u64,
}
