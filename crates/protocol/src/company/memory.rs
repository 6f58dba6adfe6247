//! `memory.*`: what projects and agents remember. It changes by approved deltas only.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    ActorRole, ContextPackId, DocumentId, Issue, JobId, MemoryScopeKind, ProjectId, ReviewDecision,
    ReviewId, RunId, Sensitivity, Text, Visibility,
};

crate::methods! {
    Company family "memory";

    /// Propose lines for the memory of a project or the guidance of an agent.
    /// For `project_memory`, a `scope_ref` other than `project_id` is refused, as in the recorded reference, although the
    /// contract ignores it.
    Write MemoryProposeDelta = "memory.propose_delta" (MemoryProposeDeltaParams in workspace_dir) -> MemoryProposeDeltaResponse;
    /// Apply a proposed delta. It is applied whole, and once.
    Write MemoryApproveDelta = "memory.approve_delta" (MemoryApproveDeltaParams in workspace_dir as actor_role) -> MemoryApproveDeltaResponse;
    /// List the deltas the actor may see, newest first.
    Read MemoryListDeltas = "memory.list_deltas" (MemoryListDeltasParams in workspace_dir as actor_role) -> MemoryListDeltasResponse;
    /// Suggest what a job taught that could be proposed. It changes no memory.
    Write MemoryExtractCandidates = "memory.extract_candidates" (MemoryExtractCandidatesParams in workspace_dir as actor_role) -> MemoryExtractCandidatesResponse;
}

/// Params of [`MemoryProposeDelta`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MemoryProposeDeltaParams {
    /// The company folder.
    pub workspace_dir: Text,
    /// The project.
    pub project_id: ProjectId,
    /// What it is called.
    #[schemars(length(max = 200))]
    pub title: Text,
    /// What kind of memory it changes.
    pub scope_kind: MemoryScopeKind,
    /// Whose memory it changes; needed for `agent_guidance`.
    #[serde(default)]
    pub scope_ref: Option<Text>,
    /// How secret it is.
    pub sensitivity: Sensitivity,
    /// Why it is proposed.
    pub rationale: Text,
    /// The line of the heading under which the lines go: `## Decisions`.
    pub under_heading: Text,
    /// The lines.
    #[schemars(length(min = 1))]
    pub insert_lines: Vec<Text>,
    /// Who may see it.
    pub visibility: Visibility,
    /// Who proposes it.
    pub produced_by: Text,
    /// The run it comes from.
    pub run_id: RunId,
    /// What that run was given to know.
    pub context_pack_id: ContextPackId,
    /// What it is based on.
    #[schemars(length(min = 1))]
    pub evidence: Vec<Text>,
}

/// Response of [`MemoryProposeDelta`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MemoryProposeDeltaResponse {
    /// The delta.
    pub artifact_id: DocumentId,
    /// Its file.
    pub artifact_relpath: String,
    /// The patch.
    pub patch_relpath: String,
    /// What it changes.
    pub target_file: String,
    /// What kind of memory that is.
    pub scope_kind: MemoryScopeKind,
    /// Whose memory that is.
    pub scope_ref: String,
}

/// Params of [`MemoryApproveDelta`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MemoryApproveDeltaParams {
    /// The company folder.
    pub workspace_dir: Text,
    /// The project.
    pub project_id: ProjectId,
    /// The delta.
    pub artifact_id: DocumentId,
    /// Who approves.
    pub actor_id: Text,
    /// What they are.
    pub actor_role: ActorRole,
    /// Their team.
    #[serde(default)]
    pub actor_team_id: Option<Text>,
    /// What they say.
    #[serde(default)]
    pub notes: Option<String>,
    /// The `sha256` of `inbox.read` that was looked at: if anything of it changed since, nothing is decided. Absent for
    /// whatever is there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expected_sha256: Option<String>,
}

/// Response of [`MemoryApproveDelta`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MemoryApproveDeltaResponse {
    /// The review.
    pub review_id: ReviewId,
    /// `approved`.
    pub decision: ReviewDecision,
    /// Whether the lines were put under their heading anew because the text around it had changed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rebased: Option<bool>,
}

/// Where a delta stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum DeltaStatus {
    /// Nobody decided.
    Pending,
    /// It was applied.
    Approved,
    /// It was refused.
    Denied,
    /// Undecided, and it can only be denied: its file, its target or its patch cannot be used.
    Invalid,
}

/// Which deltas are wanted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum DeltaFilter {
    /// Those nobody decided about.
    Pending,
    /// Those that were applied.
    Approved,
    /// Those that were refused.
    Denied,
    /// Those that can only be denied.
    Invalid,
    /// All.
    #[default]
    All,
}

/// Params of [`MemoryListDeltas`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MemoryListDeltasParams {
    /// The company folder.
    pub workspace_dir: Text,
    /// Who asks.
    pub actor_id: Text,
    /// What they are.
    pub actor_role: ActorRole,
    /// Their team.
    #[serde(default)]
    pub actor_team_id: Option<Text>,
    /// Only of this project.
    #[serde(default)]
    pub project_id: Option<ProjectId>,
    /// Only those that stand so; all if not given.
    #[serde(default)]
    pub status: Option<DeltaFilter>,
    /// How many; 200 if not given.
    #[serde(default)]
    #[schemars(range(min = 1, max = 5000))]
    pub limit: Option<u32>,
}

/// Response of [`MemoryListDeltas`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MemoryListDeltasResponse {
    /// The folder as it was given.
    pub workspace_dir: String,
    /// The project, if one was given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project_id: Option<ProjectId>,
    /// Which were asked for.
    pub status: DeltaFilter,
    /// How many there are below.
    pub count: u64,
    /// How many were left out because the actor may not see them.
    pub filtered_by_policy_count: u64,
    /// The deltas.
    pub items: Vec<MemoryDeltaRow>,
}

/// A delta.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MemoryDeltaRow {
    /// Its id.
    pub artifact_id: String,
    /// What it is called.
    pub title: String,
    /// Its project.
    pub project_id: String,
    /// The run it comes from.
    pub run_id: String,
    /// When it was proposed.
    pub created_at: String,
    /// Who may see it.
    pub visibility: Visibility,
    /// Who proposed it.
    pub produced_by: String,
    /// What kind of memory it changes.
    pub scope_kind: MemoryScopeKind,
    /// Whose memory it changes.
    pub scope_ref: String,
    /// How secret it is.
    pub sensitivity: Sensitivity,
    /// Why it was proposed.
    pub rationale: String,
    /// What it is based on.
    pub evidence: Vec<Text>,
    /// The schema of its file.
    pub source_schema_version: u32,
    /// Where it stands.
    pub status: DeltaStatus,
    /// What was decided; null while it is pending.
    pub decision: Option<MemoryDecision>,
}

/// What was decided about a delta.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MemoryDecision {
    /// The review.
    pub review_id: String,
    /// What was decided.
    pub decision: ReviewDecision,
    /// Who decided.
    pub actor_id: String,
    /// What they are.
    pub actor_role: ActorRole,
    /// When.
    pub created_at: String,
    /// What they said.
    pub notes: String,
}

/// Params of [`MemoryExtractCandidates`]: a job or a run has to be named.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MemoryExtractCandidatesParams {
    /// The company folder.
    pub workspace_dir: Text,
    /// The project.
    pub project_id: ProjectId,
    /// The job.
    #[serde(default)]
    pub job_id: Option<JobId>,
    /// A run of the job; the last one if not given.
    #[serde(default)]
    pub run_id: Option<RunId>,
    /// Who asks.
    pub actor_id: Text,
    /// What they are.
    pub actor_role: ActorRole,
    /// Their team.
    #[serde(default)]
    pub actor_team_id: Option<Text>,
    /// How many; 20 if not given.
    #[serde(default)]
    #[schemars(range(min = 1, max = 100))]
    pub limit: Option<u32>,
}

impl MemoryExtractCandidatesParams {
    /// What holds between the fields.
    pub fn refine(&self) -> Vec<Issue> {
        match self.job_id.is_some() || self.run_id.is_some() {
            true => Vec::new(),
            false => vec![Issue::new("custom", &[], "job_id or run_id is required")],
        }
    }
}

/// Response of [`MemoryExtractCandidates`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MemoryExtractCandidatesResponse {
    /// Where the candidates were written.
    pub report_relpath: String,
    /// How many there are.
    pub count: u64,
    /// How many were left out because of a secret.
    pub blocked_secret_count: u64,
    /// The candidates.
    pub candidates: Vec<MemoryCandidate>,
}

/// Something that could be proposed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MemoryCandidate {
    /// What kind of memory it would change.
    pub scope_kind: MemoryScopeKind,
    /// Whose memory it would change.
    pub scope_ref: String,
    /// How secret it is.
    pub sensitivity: Sensitivity,
    /// What it is called.
    pub title: String,
    /// The lines.
    pub insert_lines: Vec<String>,
    /// Why.
    pub rationale: String,
    /// What it is based on.
    pub evidence: Vec<String>,
    /// How sure it is, from 0 to 1.
    pub confidence: f64,
    /// The heading it would fit under.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub suggested_heading: Option<String>,
}
