//! `inbox.*`: documents that need a decision, and the decisions.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{
    ActorRole, DocumentId, IsoTime, JobId, MemoryScopeKind, MilestoneStatus, ProjectId,
    ReviewDecision, ReviewId, Sensitivity, TaskStatus, Text, Visibility,
};
use crate::thread::agents_doc::proposal::ThreadAgentsDocProposal;

crate::methods! {
    Company family "inbox";

    /// List reviews, newest first.
    Read InboxListReviews = "inbox.list_reviews" (InboxListParams in workspace_dir as actor_role) -> InboxListReviewsResponse;
    /// List help requests, newest first.
    Read InboxListHelpRequests = "inbox.list_help_requests" (InboxListParams in workspace_dir as actor_role) -> InboxListHelpRequestsResponse;
    /// Get the documents that need a decision, and the most recent decisions.
    Read InboxSnapshot = "inbox.snapshot" (InboxSnapshotParams in workspace_dir as actor_role) -> InboxSnapshotResponse;
    /// Get all files that a decision about a document depends on, and the `sha256` that binds a decision to them.
    ///
    /// Actors that may not decide about the document are rejected.
    Read InboxRead = "inbox.read" (InboxReadParams in workspace_dir as actor_role) -> InboxReadResponse;
    /// Approve or deny a document. The first decision is final: a second one is rejected.
    Write InboxResolve = "inbox.resolve" (InboxResolveParams in workspace_dir as actor_role) -> InboxResolveResponse;
}

/// A decision about a document, on the wire as in its file `inbox/reviews/<id>.yaml`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Review {
    /// Schema version of the document. The gateway writes 1.
    #[schemars(range(min = 1))]
    pub schema_version: u32,
    /// Document type: always `review`.
    pub r#type: ReviewTag,
    /// Id of the review.
    pub id: Text,
    /// Time of the decision, ISO-8601.
    pub created_at: IsoTime,
    /// Id of the person or agent that decided.
    pub actor_id: Text,
    /// Role of that actor.
    pub actor_role: ActorRole,
    /// The decision.
    pub decision: ReviewDecision,
    /// The document that was decided about.
    pub subject: ReviewSubject,
    /// The policy decision that allowed it.
    pub policy: PolicyOutcome,
    /// Comment of the actor; the gateway writes an empty text if there is none. Absent in files without the field.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub notes: Option<String>,
}

/// The document type `review`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ReviewTag {
    /// The only value.
    #[default]
    Review,
}

/// The document that a review is about. The optional fields are present for memory deltas only.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ReviewSubject {
    /// Kind of the subject: `memory_delta`, `milestone` or `heartbeat_action`.
    pub kind: Text,
    /// Id of the document.
    pub artifact_id: Text,
    /// Id of its project.
    pub project_id: Text,
    /// Path of the memory file that the delta changes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target_file: Option<Text>,
    /// Path of the patch of the delta.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub patch_file: Option<Text>,
    /// Kind of memory that the delta changes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scope_kind: Option<MemoryScopeKind>,
    /// Id of the project or agent whose memory the delta changes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scope_ref: Option<Text>,
    /// Sensitivity of the delta.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sensitivity: Option<Sensitivity>,
    /// Why the delta was proposed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rationale: Option<Text>,
}

/// A decision of the policy engine.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PolicyOutcome {
    /// Whether the action was allowed.
    pub allowed: bool,
    /// Id of the rule that decided.
    pub rule_id: Text,
    /// Reason of the rule, as a code.
    pub reason: Text,
}

/// Front matter of a help request, on the wire as in its file `inbox/help_requests/<id>.md`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HelpRequest {
    /// Schema version of the document. The gateway writes 1.
    #[schemars(range(min = 1))]
    pub schema_version: u32,
    /// Document type: always `help_request`.
    pub r#type: HelpRequestTag,
    /// Id of the help request.
    pub id: Text,
    /// Time of the request, ISO-8601.
    pub created_at: Text,
    /// Title of the request.
    pub title: Text,
    /// Who may read the request. The target manager always may.
    pub visibility: Visibility,
    /// Id of the person or agent that asks for help.
    pub requester: Text,
    /// Id of the manager that is asked.
    pub target_manager: Text,
    /// Id of the project. Absent if the request belongs to none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project_id: Option<Text>,
    /// Id of the share pack attached to the request. Absent if there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub share_pack_id: Option<Text>,
}

impl HelpRequest {
    /// The required headings of level two.
    pub const HEADINGS: [&'static str; 2] = ["Question", "Response"];
}

/// The document type `help_request`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum HelpRequestTag {
    /// The only value.
    #[default]
    HelpRequest,
}

/// Params of [`InboxListReviews`] and [`InboxListHelpRequests`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct InboxListParams {
    /// Path of the company folder.
    pub workspace_dir: Text,
    /// Maximum number of items. Default: 200.
    #[serde(default)]
    #[schemars(range(min = 1, max = 1000))]
    pub limit: Option<u32>,
    /// Id of the person or agent that reads; items it may not read are omitted. Default: the caller's own id.
    #[serde(default)]
    pub actor_id: Option<Text>,
    /// Role of that actor, at most the role of the caller's token. Default: the role of the token.
    #[serde(default)]
    pub actor_role: Option<ActorRole>,
    /// Team id of that actor. Default: the team in the agent's `agent.yaml`; none for people.
    #[serde(default)]
    pub actor_team_id: Option<Text>,
}

/// Response of [`InboxListReviews`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct InboxListReviewsResponse(pub Vec<Review>);

/// Response of [`InboxListHelpRequests`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct InboxListHelpRequestsResponse(pub Vec<HelpRequest>);

/// Params of [`InboxSnapshot`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct InboxSnapshotParams {
    /// Path of the company folder.
    pub workspace_dir: Text,
    /// List only items of this project. Default: all projects.
    #[serde(default)]
    pub project_id: Option<Text>,
    /// Maximum number of pending documents. Default: 200.
    #[serde(default)]
    #[schemars(range(min = 1, max = 5000))]
    pub pending_limit: Option<u32>,
    /// Maximum number of decisions. Default: 200.
    #[serde(default)]
    #[schemars(range(min = 1, max = 5000))]
    pub decisions_limit: Option<u32>,
    /// If true, rebuild the index first. Default: false.
    #[serde(default)]
    pub refresh_index: Option<bool>,
    /// If true, sync the index first. Default: true.
    #[serde(default)]
    pub sync_index: Option<bool>,
    /// Id of the person or agent that reads; documents it may not read are omitted. Default: the caller's own id.
    #[serde(default)]
    pub actor_id: Option<Text>,
    /// Role of that actor, at most the role of the caller's token. Default: the role of the token.
    #[serde(default)]
    pub actor_role: Option<ActorRole>,
    /// Team id of that actor. Default: the team in the agent's `agent.yaml`; none for people.
    #[serde(default)]
    pub actor_team_id: Option<Text>,
}

/// Response of [`InboxSnapshot`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct InboxSnapshotResponse {
    /// The company folder, as given in the request.
    pub workspace_dir: String,
    /// Time of the snapshot, ISO-8601 in UTC.
    pub generated_at: String,
    /// Whether the request rebuilt the index.
    pub index_rebuilt: bool,
    /// Whether the request synced the index.
    pub index_synced: bool,
    /// Summary of event log lines that are not JSON, over the runs of the listed documents.
    pub parse_errors: InboxParseErrors,
    /// Documents that need a decision, newest first.
    pub pending: Vec<InboxPending>,
    /// Decisions, newest first.
    pub recent_decisions: Vec<InboxDecision>,
    /// Pending proposals for AGENTS.md files in the workspace linked to the company folder, newest first: at most 50,
    /// and only those of the project's folder if `project_id` is given. `thread/agents_doc/proposal/decide` decides
    /// about them. Absent if there are none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub agents_doc_proposals: Vec<ThreadAgentsDocProposal>,
}

/// Summary of event log lines that are not JSON, over the runs of an inbox.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct InboxParseErrors {
    /// Whether any run has such lines.
    pub has_parse_errors: bool,
    /// Number of pending documents of such runs.
    pub pending_with_errors: u64,
    /// Number of decisions about documents of such runs.
    pub decisions_with_errors: u64,
    /// Largest number of such lines of one run.
    pub max_parse_error_count: u64,
}

/// A document that needs a decision.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct InboxPending {
    /// Id of its project.
    pub project_id: String,
    /// Id of the document.
    pub artifact_id: String,
    /// Type of the document: `memory_delta`, `milestone_report` or `heartbeat_action_proposal`.
    pub artifact_type: String,
    /// Title of the document. Null if it has none.
    pub title: Option<String>,
    /// Who may read the document. Null if the document does not state it.
    pub visibility: Option<String>,
    /// Id of the agent or person that wrote it. Null if the document does not state it.
    pub produced_by: Option<String>,
    /// Id of the run that produced it. Null if the document does not state it.
    pub run_id: Option<String>,
    /// Creation time, ISO-8601. Null if the document does not state it.
    pub created_at: Option<String>,
    /// Number of lines of the event log of that run that are not JSON.
    pub parse_error_count: u64,
    /// True if the document is malformed: it can be denied but not approved. Absent otherwise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub invalid: Option<bool>,
}

/// A decision about a document.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct InboxDecision {
    /// Id of the review.
    pub review_id: String,
    /// Time of the decision, ISO-8601.
    pub created_at: String,
    /// The decision.
    pub decision: ReviewDecision,
    /// Id of the person or agent that decided.
    pub actor_id: String,
    /// Role of that actor.
    pub actor_role: ActorRole,
    /// Kind of the subject: `memory_delta`, `milestone` or `heartbeat_action`.
    pub subject_kind: String,
    /// Id of the document that was decided about.
    pub subject_artifact_id: String,
    /// Id of the project.
    pub project_id: String,
    /// Comment of the actor. Null or empty if there is none.
    pub notes: Option<String>,
    /// Type of the document. Null if it no longer exists.
    pub artifact_type: Option<String>,
    /// Id of the run that produced the document. Null if unknown or if the document no longer exists.
    pub run_id: Option<String>,
    /// Number of lines of the event log of that run that are not JSON.
    pub parse_error_count: u64,
}

/// Params of [`InboxRead`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct InboxReadParams {
    /// Path of the company folder.
    pub workspace_dir: Text,
    /// Id of the project.
    pub project_id: ProjectId,
    /// Id of the document.
    pub artifact_id: DocumentId,
    /// Id of the person or agent that reads.
    pub actor_id: Text,
    /// Role of that actor, at most the role of the caller's token.
    pub actor_role: ActorRole,
    /// Team id of that actor. Default: the team in the agent's `agent.yaml`; none for people.
    #[serde(default)]
    pub actor_team_id: Option<Text>,
}

/// Response of [`InboxRead`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct InboxReadResponse {
    /// Id of the project.
    pub project_id: ProjectId,
    /// Id of the document.
    pub artifact_id: DocumentId,
    /// Type of the document.
    pub artifact_type: String,
    /// Front matter of the document.
    pub frontmatter: Map<String, Value>,
    /// The value for `expected_sha256`: SHA-256 of one line per file, `<sha256>  <relpath>` and a line feed, in the
    /// order of `files`. This is the output format of `sha256sum`; a missing file has `-` in place of its hash.
    pub sha256: String,
    /// The files that the decision depends on, the document first.
    pub files: Vec<InboxFile>,
}

/// A file that a decision depends on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct InboxFile {
    /// Role of the file in the decision.
    pub role: InboxFileRole,
    /// Path relative to the company folder.
    pub relpath: String,
    /// SHA-256 of the whole file, in hexadecimal. Absent if the file is missing or cannot be read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sha256: Option<String>,
    /// Text of the file, at most its first MiB. Absent if the file is missing, if the actor may not read it, and in
    /// errors.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// True if `text` is only the beginning of the file. Absent otherwise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub truncated: Option<bool>,
}

/// Role of a file in a decision.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum InboxFileRole {
    /// The document that needs the decision.
    Document,
    /// The patch of a memory delta.
    Patch,
    /// The memory or guidance file that a memory delta changes.
    Target,
    /// The task of a milestone.
    Task,
    /// A file that a milestone report names as evidence or tests.
    Evidence,
    /// The executive plan that a proposal asks to approve.
    Plan,
}

/// Params of [`InboxResolve`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct InboxResolveParams {
    /// Path of the company folder.
    pub workspace_dir: Text,
    /// Id of the project.
    pub project_id: ProjectId,
    /// Id of the document.
    pub artifact_id: DocumentId,
    /// The decision.
    pub decision: ReviewDecision,
    /// Id of the person or agent that decides.
    pub actor_id: Text,
    /// Role of that actor, at most the role of the caller's token.
    pub actor_role: ActorRole,
    /// Team id of that actor. Default: the team in the agent's `agent.yaml`; none for people.
    #[serde(default)]
    pub actor_team_id: Option<Text>,
    /// Comment on the decision; text with a secret is rejected. Default: none.
    #[serde(default)]
    pub notes: Option<String>,
    /// The `sha256` that [`InboxRead`] returned: if any of its files changed since, the request is rejected and nothing
    /// is decided. Absent: the current files are decided about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expected_sha256: Option<String>,
}

/// Response of [`InboxResolve`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct InboxResolveResponse {
    /// Id of the new review.
    pub review_id: ReviewId,
    /// The decision.
    pub decision: ReviewDecision,
    /// Kind of the subject: `memory_delta`, `milestone` or `heartbeat_action`.
    pub subject_kind: String,
    /// Id of the project.
    pub project_id: ProjectId,
    /// Id of the document.
    pub artifact_id: DocumentId,
    /// Id of the task. Present for milestones only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task_id: Option<String>,
    /// Id of the milestone. Present for milestones only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub milestone_id: Option<String>,
    /// Status of the task after the decision. Present for milestones only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task_status: Option<TaskStatus>,
    /// Status of the milestone after the decision. Present for milestones only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub milestone_status: Option<MilestoneStatus>,
    /// True if the patch of an approved memory delta no longer applied and its lines were inserted under their heading
    /// instead. Absent otherwise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rebased: Option<bool>,
    /// Result of an approved action. Present for approved heartbeat actions only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub execution: Option<ActionExecution>,
}

/// Result of the execution of actions.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ActionExecution {
    /// Number of actions executed.
    pub executed_actions: u64,
    /// Number of actions queued for another approval.
    pub queued_for_approval: u64,
    /// Number of actions skipped because they had been executed before.
    pub deduped_actions: u64,
    /// Number of actions that were not executed for other reasons.
    pub skipped_actions: u64,
    /// Ids of new proposals.
    pub proposal_artifact_ids: Vec<DocumentId>,
    /// Ids of new jobs.
    pub launched_job_ids: Vec<JobId>,
}
