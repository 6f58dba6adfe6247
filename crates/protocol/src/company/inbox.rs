//! `inbox.*`: what waits for a decision, and what was decided.

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
    /// Show what waits for a decision and what was decided last.
    Read InboxSnapshot = "inbox.snapshot" (InboxSnapshotParams in workspace_dir as actor_role) -> InboxSnapshotResponse;
    /// Show exactly what a decision about a document rests on, and the `sha256` that binds a decision to it.
    /// Actors that may not decide about the document are refused.
    Read InboxRead = "inbox.read" (InboxReadParams in workspace_dir as actor_role) -> InboxReadResponse;
    /// Decide about a document that waits for it. The first decision is final.
    Write InboxResolve = "inbox.resolve" (InboxResolveParams in workspace_dir as actor_role) -> InboxResolveResponse;
}

/// A decision, on the wire as in its file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Review {
    /// 1.
    #[schemars(range(min = 1))]
    pub schema_version: u32,
    /// `review`.
    pub r#type: ReviewTag,
    /// Its id.
    pub id: Text,
    /// When it was decided.
    pub created_at: IsoTime,
    /// Who decided.
    pub actor_id: Text,
    /// What they are.
    pub actor_role: ActorRole,
    /// What they decided.
    pub decision: ReviewDecision,
    /// About what.
    pub subject: ReviewSubject,
    /// Why they could.
    pub policy: PolicyOutcome,
    /// What they said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub notes: Option<String>,
}

/// The word `review`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ReviewTag {
    /// The word `review`.
    #[default]
    Review,
}

/// What a review is about.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ReviewSubject {
    /// The kind of the document.
    pub kind: Text,
    /// The document.
    pub artifact_id: Text,
    /// Its project.
    pub project_id: Text,
    /// What it changes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target_file: Option<Text>,
    /// How it changes that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub patch_file: Option<Text>,
    /// What kind of memory it changes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scope_kind: Option<MemoryScopeKind>,
    /// Whose memory it changes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scope_ref: Option<Text>,
    /// How secret it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sensitivity: Option<Sensitivity>,
    /// Why it was proposed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rationale: Option<Text>,
}

/// What policy said.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PolicyOutcome {
    /// Whether it was allowed.
    pub allowed: bool,
    /// The rule that decided.
    pub rule_id: Text,
    /// Why.
    pub reason: Text,
}

/// The head of a help request, on the wire as in its file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HelpRequest {
    /// 1.
    #[schemars(range(min = 1))]
    pub schema_version: u32,
    /// `help_request`.
    pub r#type: HelpRequestTag,
    /// Its id.
    pub id: Text,
    /// When it was asked.
    pub created_at: Text,
    /// Its title.
    pub title: Text,
    /// Who may see it.
    pub visibility: Visibility,
    /// Who asks.
    pub requester: Text,
    /// Who is asked.
    pub target_manager: Text,
    /// The project.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project_id: Option<Text>,
    /// What was shared for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub share_pack_id: Option<Text>,
}

impl HelpRequest {
    /// The headings of level two that a help request has.
    pub const HEADINGS: [&'static str; 2] = ["Question", "Response"];
}

/// The word `help_request`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum HelpRequestTag {
    /// The word `help_request`.
    #[default]
    HelpRequest,
}

/// Params of [`InboxListReviews`] and [`InboxListHelpRequests`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct InboxListParams {
    /// The company folder.
    pub workspace_dir: Text,
    /// How many; 200 if not given.
    #[serde(default)]
    #[schemars(range(min = 1, max = 1000))]
    pub limit: Option<u32>,
    /// Who asks: what they may not see is left out.
    #[serde(default)]
    pub actor_id: Option<Text>,
    /// What they are.
    #[serde(default)]
    pub actor_role: Option<ActorRole>,
    /// Their team.
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
    /// The company folder.
    pub workspace_dir: Text,
    /// Only of this project.
    #[serde(default)]
    pub project_id: Option<Text>,
    /// How many that wait; 200 if not given.
    #[serde(default)]
    #[schemars(range(min = 1, max = 5000))]
    pub pending_limit: Option<u32>,
    /// How many decisions; 200 if not given.
    #[serde(default)]
    #[schemars(range(min = 1, max = 5000))]
    pub decisions_limit: Option<u32>,
    /// Build the index anew first.
    #[serde(default)]
    pub refresh_index: Option<bool>,
    /// Bring the index up to date first; true if not given.
    #[serde(default)]
    pub sync_index: Option<bool>,
    /// Who asks: documents they may not see are left out.
    #[serde(default)]
    pub actor_id: Option<Text>,
    /// What they are.
    #[serde(default)]
    pub actor_role: Option<ActorRole>,
    /// Their team.
    #[serde(default)]
    pub actor_team_id: Option<Text>,
}

/// Response of [`InboxSnapshot`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct InboxSnapshotResponse {
    /// The folder as it was given.
    pub workspace_dir: String,
    /// When it was looked at.
    pub generated_at: String,
    /// Whether the index was built for it.
    pub index_rebuilt: bool,
    /// Whether the index was brought up to date for it.
    pub index_synced: bool,
    /// Whether logs of the runs behind it have lines that are not JSON.
    pub parse_errors: InboxParseErrors,
    /// What waits for a decision, newest first.
    pub pending: Vec<InboxPending>,
    /// What was decided, newest first.
    pub recent_decisions: Vec<InboxDecision>,
    /// The newest changes of AGENTS.md files that wait, of the workspace that the folder is linked to: 50 at most, and
    /// those of the project's folder alone if one is named. `thread/agents_doc/proposal/decide` decides about them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub agents_doc_proposals: Vec<ThreadAgentsDocProposal>,
}

/// Whether logs of the runs behind an inbox have lines that are not JSON.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct InboxParseErrors {
    /// Whether any has.
    pub has_parse_errors: bool,
    /// Pending documents of such runs.
    pub pending_with_errors: u64,
    /// Decisions about documents of such runs.
    pub decisions_with_errors: u64,
    /// The most lines of one run.
    pub max_parse_error_count: u64,
}

/// A document that waits for a decision.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct InboxPending {
    /// Its project.
    pub project_id: String,
    /// Its id.
    pub artifact_id: String,
    /// Its type.
    pub artifact_type: String,
    /// Its title.
    pub title: Option<String>,
    /// Who may see it.
    pub visibility: Option<String>,
    /// Who made it.
    pub produced_by: Option<String>,
    /// The run it was made in.
    pub run_id: Option<String>,
    /// When it was made.
    pub created_at: Option<String>,
    /// Lines of that run's log that are not JSON.
    pub parse_error_count: u64,
    /// True if the document is malformed: it can be denied and not approved.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub invalid: Option<bool>,
}

/// A decision.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct InboxDecision {
    /// The review.
    pub review_id: String,
    /// When it was decided.
    pub created_at: String,
    /// What was decided.
    pub decision: ReviewDecision,
    /// Who decided.
    pub actor_id: String,
    /// What they are.
    pub actor_role: ActorRole,
    /// The kind of what it is about.
    pub subject_kind: String,
    /// The document it is about.
    pub subject_artifact_id: String,
    /// The project.
    pub project_id: String,
    /// What they said.
    pub notes: Option<String>,
    /// The type of the document, if it is still there.
    pub artifact_type: Option<String>,
    /// The run it was made in, if it is still there.
    pub run_id: Option<String>,
    /// Lines of that run's log that are not JSON.
    pub parse_error_count: u64,
}

/// Params of [`InboxRead`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct InboxReadParams {
    /// The company folder.
    pub workspace_dir: Text,
    /// The project.
    pub project_id: ProjectId,
    /// The document.
    pub artifact_id: DocumentId,
    /// The actor that reads.
    pub actor_id: Text,
    /// The role of that actor.
    pub actor_role: ActorRole,
    /// The team of that actor.
    #[serde(default)]
    pub actor_team_id: Option<Text>,
}

/// Response of [`InboxRead`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct InboxReadResponse {
    /// The project.
    pub project_id: ProjectId,
    /// The document.
    pub artifact_id: DocumentId,
    /// The type of the document.
    pub artifact_type: String,
    /// The front matter of the document.
    pub frontmatter: Map<String, Value>,
    /// The value for `expected_sha256`: SHA-256 of one line per file, `<sha256>  <relpath>` and a line feed, in the
    /// order of `files`. That is what `sha256sum` prints; a file that is not there has `-` for its hash.
    pub sha256: String,
    /// The files, the document first.
    pub files: Vec<InboxFile>,
}

/// A file that a decision rests on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct InboxFile {
    /// What the file is to the decision.
    pub role: InboxFileRole,
    /// The file, below the company folder.
    pub relpath: String,
    /// SHA-256 of the whole file; absent if it is not there or cannot be read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sha256: Option<String>,
    /// The text of the file, its first MiB if it is longer; absent if it is not there, and in errors.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// True if `text` is only the beginning of the file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub truncated: Option<bool>,
}

/// What a file is to a decision.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum InboxFileRole {
    /// The document that waits.
    Document,
    /// The patch of a memory delta.
    Patch,
    /// The memory or guidance that a memory delta changes.
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
    /// The company folder.
    pub workspace_dir: Text,
    /// The project.
    pub project_id: ProjectId,
    /// The document.
    pub artifact_id: DocumentId,
    /// What is decided.
    pub decision: ReviewDecision,
    /// Who decides.
    pub actor_id: Text,
    /// What they are.
    pub actor_role: ActorRole,
    /// Their team.
    #[serde(default)]
    pub actor_team_id: Option<Text>,
    /// What they say.
    #[serde(default)]
    pub notes: Option<String>,
    /// The `sha256` of [`InboxRead`] that was looked at: if anything of it changed since, nothing is decided. Absent for
    /// whatever is there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expected_sha256: Option<String>,
}

/// Response of [`InboxResolve`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct InboxResolveResponse {
    /// The review.
    pub review_id: ReviewId,
    /// What was decided.
    pub decision: ReviewDecision,
    /// What it was about: `memory_delta`, `milestone` or `heartbeat_action`.
    pub subject_kind: String,
    /// The project.
    pub project_id: ProjectId,
    /// The document.
    pub artifact_id: DocumentId,
    /// The task of a milestone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task_id: Option<String>,
    /// The milestone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub milestone_id: Option<String>,
    /// Where the task stands now.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task_status: Option<TaskStatus>,
    /// Where the milestone stands now.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub milestone_status: Option<MilestoneStatus>,
    /// Whether the lines of a delta were put under their heading anew.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rebased: Option<bool>,
    /// What an approved action did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub execution: Option<ActionExecution>,
}

/// What came of actions.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ActionExecution {
    /// How many were done.
    pub executed_actions: u64,
    /// How many wait for another approval.
    pub queued_for_approval: u64,
    /// How many had been done before.
    pub deduped_actions: u64,
    /// How many were left.
    pub skipped_actions: u64,
    /// The new proposals.
    pub proposal_artifact_ids: Vec<DocumentId>,
    /// The new jobs.
    pub launched_job_ids: Vec<JobId>,
}
