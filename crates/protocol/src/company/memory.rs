//! `memory.*`: curated memory of projects and guidance of agents, which change only through approved deltas.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    ActorRole, ContextPackId, DocumentId, Issue, JobId, MemoryScopeKind, ProjectId, ReviewDecision,
    ReviewId, RunId, Sensitivity, Text, Visibility,
};

crate::methods! {
    Company family "memory";

    /// Propose lines for the memory of a project or the guidance of an agent.
    ///
    /// For `project_memory`, the gateway rejects a `scope_ref` other than `project_id`.
    Write MemoryProposeDelta = "memory.propose_delta" (MemoryProposeDeltaParams in workspace_dir) -> MemoryProposeDeltaResponse;
    /// Approve a pending delta and apply it. A delta is applied completely or not at all, and at most once.
    Write MemoryApproveDelta = "memory.approve_delta" (MemoryApproveDeltaParams in workspace_dir as actor_role) -> MemoryApproveDeltaResponse;
    /// List the deltas the actor may see, newest first.
    Read MemoryListDeltas = "memory.list_deltas" (MemoryListDeltasParams in workspace_dir as actor_role) -> MemoryListDeltasResponse;
    /// Derive candidates for memory deltas from the result of a job and store them as a report.
    ///
    /// Does not change any memory.
    Write MemoryExtractCandidates = "memory.extract_candidates" (MemoryExtractCandidatesParams in workspace_dir as actor_role) -> MemoryExtractCandidatesResponse;
}

/// Params of [`MemoryProposeDelta`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MemoryProposeDeltaParams {
    /// Absolute path of the company folder.
    pub workspace_dir: Text,
    /// The id of the project.
    pub project_id: ProjectId,
    /// The title of the delta, at most 200 characters.
    #[schemars(length(max = 200))]
    pub title: Text,
    /// Which kind of memory the delta changes.
    pub scope_kind: MemoryScopeKind,
    /// The id of the agent for `agent_guidance`, where it is required. For `project_memory` the id of the project,
    /// which is also the default.
    #[serde(default)]
    pub scope_ref: Option<Text>,
    /// The sensitivity of the content. `restricted` cannot be combined with visibility `org`.
    pub sensitivity: Sensitivity,
    /// Why the change is proposed. Must not be blank.
    pub rationale: Text,
    /// The heading line below which the lines are inserted, exactly as in the target file, for example `## Decisions`.
    pub under_heading: Text,
    /// The lines to insert. Each item is one line.
    #[schemars(length(min = 1))]
    pub insert_lines: Vec<Text>,
    /// Which actors may see the delta.
    pub visibility: Visibility,
    /// The id of the actor that proposes the delta.
    pub produced_by: Text,
    /// The id of the run the delta originates from.
    pub run_id: RunId,
    /// The id of the context pack of that run.
    pub context_pack_id: ContextPackId,
    /// References that support the proposal, such as document ids or `run:<id>` and `job:<id>` tags.
    #[schemars(length(min = 1))]
    pub evidence: Vec<Text>,
}

/// Response of [`MemoryProposeDelta`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MemoryProposeDeltaResponse {
    /// The id of the new delta.
    pub artifact_id: DocumentId,
    /// The path of the delta, relative to the company folder.
    pub artifact_relpath: String,
    /// The path of its patch file, relative to the company folder.
    pub patch_relpath: String,
    /// The path of the memory file the patch applies to, relative to the company folder.
    pub target_file: String,
    /// Which kind of memory the delta changes.
    pub scope_kind: MemoryScopeKind,
    /// The id of the project or of the agent whose memory the delta changes.
    pub scope_ref: String,
}

/// Params of [`MemoryApproveDelta`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MemoryApproveDeltaParams {
    /// Absolute path of the company folder.
    pub workspace_dir: Text,
    /// The id of the project.
    pub project_id: ProjectId,
    /// The id of the delta.
    pub artifact_id: DocumentId,
    /// The id of the actor that approves the delta.
    pub actor_id: Text,
    /// The role of that actor. Approval requires `director` or above.
    pub actor_role: ActorRole,
    /// The id of the actor's team. If absent, the gateway uses the team stored for the agent, if the actor is an agent.
    #[serde(default)]
    pub actor_team_id: Option<Text>,
    /// Notes that are stored with the review. Optional.
    #[serde(default)]
    pub notes: Option<String>,
    /// The `sha256` returned by `inbox.read` for this delta. If any of the files has changed since, the call fails and
    /// nothing is decided. If absent, the decision applies to the current files.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expected_sha256: Option<String>,
}

/// Response of [`MemoryApproveDelta`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MemoryApproveDeltaResponse {
    /// The id of the review that records the decision.
    pub review_id: ReviewId,
    /// The stored decision, always `approved`.
    pub decision: ReviewDecision,
    /// True if the stored patch no longer applied and the lines were inserted below their heading in the current file.
    /// Absent otherwise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rebased: Option<bool>,
}

/// The status of a memory delta.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum DeltaStatus {
    /// The delta waits for a decision.
    Pending,
    /// The delta was approved and applied.
    Approved,
    /// The delta was denied.
    Denied,
    /// The delta is undecided and can only be denied, because its file, its target or its patch is unusable.
    Invalid,
}

/// A filter on the status of memory deltas.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum DeltaFilter {
    /// Deltas that wait for a decision.
    Pending,
    /// Deltas that were approved and applied.
    Approved,
    /// Deltas that were denied.
    Denied,
    /// Undecided deltas that can only be denied.
    Invalid,
    /// Deltas of any status.
    #[default]
    All,
}

/// Params of [`MemoryListDeltas`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MemoryListDeltasParams {
    /// Absolute path of the company folder.
    pub workspace_dir: Text,
    /// The id of the actor whose visibility applies to the list.
    pub actor_id: Text,
    /// The role of that actor.
    pub actor_role: ActorRole,
    /// The id of the actor's team. If absent, the gateway uses the team stored for the agent, if the actor is an agent.
    #[serde(default)]
    pub actor_team_id: Option<Text>,
    /// Return only deltas of this project. All projects if absent.
    #[serde(default)]
    pub project_id: Option<ProjectId>,
    /// Return only deltas with this status. Default `all`.
    #[serde(default)]
    pub status: Option<DeltaFilter>,
    /// The maximum number of deltas to return. Default 200.
    #[serde(default)]
    #[schemars(range(min = 1, max = 5000))]
    pub limit: Option<u32>,
}

/// Response of [`MemoryListDeltas`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MemoryListDeltasResponse {
    /// The company folder, as given in the request.
    pub workspace_dir: String,
    /// The project filter of the request. Absent if none was given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project_id: Option<ProjectId>,
    /// The status filter that was applied.
    pub status: DeltaFilter,
    /// The number of deltas in `items`.
    pub count: u64,
    /// The number of deltas omitted because policy hides them from the actor. Counting stops when `limit` is reached.
    pub filtered_by_policy_count: u64,
    /// The deltas, newest first.
    pub items: Vec<MemoryDeltaRow>,
}

/// A memory delta in a list.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MemoryDeltaRow {
    /// The id of the delta.
    pub artifact_id: String,
    /// The title of the delta.
    pub title: String,
    /// The id of the project.
    pub project_id: String,
    /// The id of the run the delta originates from.
    pub run_id: String,
    /// The time the delta was proposed, in ISO-8601.
    pub created_at: String,
    /// Which actors may see the delta.
    pub visibility: Visibility,
    /// The id of the actor that proposed the delta.
    pub produced_by: String,
    /// Which kind of memory the delta changes.
    pub scope_kind: MemoryScopeKind,
    /// The id of the project or of the agent whose memory the delta changes.
    pub scope_ref: String,
    /// The sensitivity of the content. `internal` for deltas of schema version 1, which do not store it.
    pub sensitivity: Sensitivity,
    /// Why the change was proposed. A fixed sentence for deltas of schema version 1, which do not store it.
    pub rationale: String,
    /// References that support the proposal.
    pub evidence: Vec<Text>,
    /// The schema version of the delta's file, 1 or 2. 0 if the file cannot be read as a delta.
    pub source_schema_version: u32,
    /// The current status of the delta.
    pub status: DeltaStatus,
    /// The decision about the delta. `null` if there is none, that is for status `pending` and `invalid`.
    pub decision: Option<MemoryDecision>,
}

/// The decision about a memory delta.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MemoryDecision {
    /// The id of the review that records the decision.
    pub review_id: String,
    /// Whether the delta was approved or denied.
    pub decision: ReviewDecision,
    /// The id of the actor that decided.
    pub actor_id: String,
    /// The role of that actor.
    pub actor_role: ActorRole,
    /// The time of the decision, in ISO-8601.
    pub created_at: String,
    /// The notes stored with the review. Empty if there are none.
    pub notes: String,
}

/// Params of [`MemoryExtractCandidates`]. At least one of `job_id` and `run_id` is required.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MemoryExtractCandidatesParams {
    /// Absolute path of the company folder.
    pub workspace_dir: Text,
    /// The id of the project.
    pub project_id: ProjectId,
    /// The id of the job. If absent, the job that has an attempt with `run_id`.
    #[serde(default)]
    pub job_id: Option<JobId>,
    /// The id of a run of the job. If absent, the run of its last attempt.
    #[serde(default)]
    pub run_id: Option<RunId>,
    /// The id of the actor that requests the candidates; stored in the report.
    pub actor_id: Text,
    /// The role of that actor.
    pub actor_role: ActorRole,
    /// The id of the actor's team. If absent, the gateway uses the team stored for the agent, if the actor is an agent.
    #[serde(default)]
    pub actor_team_id: Option<Text>,
    /// The maximum number of candidates to return. Default 20.
    #[serde(default)]
    #[schemars(range(min = 1, max = 100))]
    pub limit: Option<u32>,
}

impl MemoryExtractCandidatesParams {
    /// Returns the violations of rules that span several fields.
    pub fn refine(&self) -> Vec<Issue> {
        if self.job_id.is_some() || self.run_id.is_some() {
            Vec::new()
        } else {
            vec![Issue::new("custom", &[], "job_id or run_id is required")]
        }
    }
}

/// Response of [`MemoryExtractCandidates`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MemoryExtractCandidatesResponse {
    /// The path of the stored report, relative to the company folder.
    pub report_relpath: String,
    /// The number of candidates in `candidates`.
    pub count: u64,
    /// The number of candidates omitted because they contain a secret.
    pub blocked_secret_count: u64,
    /// The candidates. Pass one to `memory.propose_delta` to propose it.
    pub candidates: Vec<MemoryCandidate>,
}

/// A suggested memory delta.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MemoryCandidate {
    /// Which kind of memory the delta would change.
    pub scope_kind: MemoryScopeKind,
    /// The id of the project or of the agent whose memory the delta would change.
    pub scope_ref: String,
    /// The suggested sensitivity.
    pub sensitivity: Sensitivity,
    /// The suggested title.
    pub title: String,
    /// The lines to insert.
    pub insert_lines: Vec<String>,
    /// Why the lines are suggested.
    pub rationale: String,
    /// References that support the suggestion, such as `run:<id>`, `job:<id>` and document ids.
    pub evidence: Vec<String>,
    /// The confidence in the suggestion, from 0 to 1.
    pub confidence: f64,
    /// The heading the lines fit below, for `under_heading`. Absent if none is suggested.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub suggested_heading: Option<String>,
}
