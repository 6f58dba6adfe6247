//! `context.*`: plans which references a worker receives for a job.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    ActorRole, AgentId, JobKind, MemoryScopeKind, ProjectId, Sensitivity, Text, Visibility,
};

crate::methods! {
    Company family "context";

    /// Choose the references that a worker receives for a job.
    ///
    /// Governance comes first, then approved memory, then recent history.
    Read ContextPlanForJob = "context.plan_for_job" (ContextPlanForJobParams in workspace_dir as manager_role) -> ContextPlanForJobResponse;
}

/// Kind of a context reference.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ContextRefKind {
    /// The path of a file in the company folder.
    File,
    /// A command line.
    Command,
    /// The id of a document.
    Artifact,
    /// A free text.
    Note,
}

impl ContextRefKind {
    /// Returns the value on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::File => "file",
            Self::Command => "command",
            Self::Artifact => "artifact",
            Self::Note => "note",
        }
    }
}

/// A reference that a worker receives with its job.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ContextRef {
    /// Kind of the reference.
    pub kind: ContextRefKind,
    /// The path, command, document id or text, depending on `kind`.
    pub value: Text,
    /// Why the worker receives the reference. Absent if not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<Text>,
}

/// Params of [`ContextPlanForJob`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ContextPlanForJobParams {
    /// Path of the company folder.
    pub workspace_dir: Text,
    /// Id of the project.
    pub project_id: ProjectId,
    /// Id of the agent that will work. Its files and guidance are considered only if given.
    #[serde(default)]
    pub worker_agent_id: Option<AgentId>,
    /// Id of the manager who delegates the job. The plan contains only what this actor may pass on.
    pub manager_actor_id: Text,
    /// Role of that manager.
    pub manager_role: ActorRole,
    /// Team id of that manager. Default: the team in the agent's `agent.yaml`; none for people.
    #[serde(default)]
    pub manager_team_id: Option<Text>,
    /// Kind of the job. Default: `execution`.
    #[serde(default)]
    pub job_kind: Option<JobKind>,
    /// Goal of the job. Documents that match its words rank higher.
    pub goal: Text,
    /// Constraints of the job; they count for the ranking like the goal. Default: none.
    #[serde(default)]
    pub constraints: Option<Vec<String>>,
    /// Deliverables of the job; they count for the ranking like the goal. Default: none.
    #[serde(default)]
    pub deliverables: Option<Vec<String>>,
    /// Seed references, which rank above all others. Default: none.
    #[serde(default)]
    pub context_refs: Option<Vec<ContextRef>>,
    /// Maximum number of references. Default: 32, or 8 for a heartbeat job.
    #[serde(default)]
    #[schemars(range(min = 1, max = 200))]
    pub max_refs: Option<u32>,
}

/// Layer of a reference. Layers are filled in this order.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
pub enum ContextLayer {
    /// Governance files and the seed references of the caller.
    L0,
    /// Approved memory deltas.
    L1,
    /// Recent history: manager digests, failure reports and runs with context cycles.
    L2,
}

/// Kind of the source of a candidate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ContextSourceKind {
    /// A governance file of the company folder.
    File,
    /// A manager digest or failure report.
    Artifact,
    /// A run with context cycles.
    Run,
    /// A free text. The planner does not use it at present.
    Note,
    /// A memory delta.
    MemoryDelta,
    /// A seed reference of the caller.
    Seed,
}

/// Why a candidate was included or filtered out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ContextDecision {
    /// The plan includes the candidate.
    Included,
    /// Policy does not allow the manager to pass it on.
    FilteredPolicy,
    /// It is restricted, which requires a director or above.
    FilteredSensitivity,
    /// It contains a secret.
    FilteredSecret,
    /// The memory delta is not approved.
    FilteredNotApproved,
    /// The maximum number of references was reached.
    FilteredLimit,
}

/// The decision about one candidate.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ContextTraceEntry {
    /// Layer of the candidate.
    pub layer: ContextLayer,
    /// Kind of its source.
    pub source_kind: ContextSourceKind,
    /// File path, document id or run id of the source, or `seed:<kind>:<value>`. For a seed with a secret, the value is
    /// replaced by a hash.
    pub source_id: String,
    /// Rank within the layer; higher is better.
    pub score: f64,
    /// Creation time of the source, ISO-8601. Absent for files and seeds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub created_at: Option<String>,
    /// Decision of the planner.
    pub decision: ContextDecision,
    /// Reason of the decision as a code, such as `base_context`, `max_refs_reached` or a policy reason.
    pub reason: String,
    /// Who may read the source. Absent if the source has no visibility or it was not read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub visibility: Option<Visibility>,
    /// Sensitivity of a memory delta. Absent for other sources and for deltas that are not approved.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sensitivity: Option<Sensitivity>,
    /// Part of `score` for matching the goal, at most 50. Absent if it is zero.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub relevance: Option<f64>,
}

/// Response of [`ContextPlanForJob`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ContextPlanForJobResponse {
    /// Time of the plan, ISO-8601 in UTC.
    pub generated_at: String,
    /// Maximum number of references that applied.
    pub max_refs: u32,
    /// `agent_guidance` if a worker was named, else `project_memory`.
    pub scope_kind: MemoryScopeKind,
    /// Id of the worker or the project that `scope_kind` refers to.
    pub scope_ref: String,
    /// The chosen references, in order of layer and rank.
    pub context_refs: Vec<ContextRef>,
    /// The layers of the chosen references, sorted.
    pub layers_used: Vec<ContextLayer>,
    /// The decision about each candidate; at most 200 entries.
    pub retrieval_trace: Vec<ContextTraceEntry>,
    /// Number of entries left out of the trace. Absent if it is complete.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trace_truncated_count: Option<u64>,
    /// Number of candidates with the decision `filtered_policy`.
    pub filtered_by_policy_count: u64,
    /// Number of candidates with the decision `filtered_sensitivity`.
    pub filtered_by_sensitivity_count: u64,
    /// Number of candidates with the decision `filtered_secret`.
    pub filtered_by_secret_count: u64,
}
