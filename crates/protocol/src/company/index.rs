//! `index.*`: the rebuildable index of a company folder.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    ActorRole, Asking, ReviewDecision, RunStatus, Text, Visibility, workspace::CompanyFolderParams,
};

crate::methods! {
    Company family "index";

    /// Build the index anew, beside the old one, and take it into use.
    Write IndexRebuild = "index.rebuild" (CompanyFolderParams in workspace_dir) -> IndexRebuildResponse;
    /// Bring the index up to date. The cost follows what changed; the counts say what changed.
    Write IndexSync = "index.sync" (CompanyFolderParams in workspace_dir) -> IndexSyncResponse;
    /// Count what is in the index.
    Read IndexStats = "index.stats" (CompanyFolderParams in workspace_dir) -> IndexStatsResponse;
    /// Tell what the worker that keeps indexes up to date is doing.
    Read IndexSyncWorkerStatus = "index.sync_worker_status" (IndexSyncWorkerParams) -> IndexSyncWorkerStatusResponse;
    /// Let the worker do now what it would do in a moment.
    Write IndexSyncWorkerFlush = "index.sync_worker_flush" (IndexSyncWorkerParams) -> IndexSyncWorkerStatusResponse;
    /// List indexed runs, newest first.
    Read IndexListRuns = "index.list_runs" (IndexListRunsParams in workspace_dir as asking.actor_role) -> IndexListRunsResponse;
    /// List indexed events by time.
    Read IndexListEvents = "index.list_events" (IndexListEventsParams in workspace_dir as actor_role) -> IndexListEventsResponse;
    /// List lines of event logs that are not JSON.
    Read IndexListEventParseErrors = "index.list_event_parse_errors" (IndexListEventParseErrorsParams in workspace_dir) -> IndexListEventParseErrorsResponse;
    /// List indexed reviews, newest first.
    Read IndexListReviews = "index.list_reviews" (IndexListReviewsParams in workspace_dir) -> IndexListReviewsResponse;
    /// List indexed help requests, newest first.
    Read IndexListHelpRequests = "index.list_help_requests" (IndexListHelpRequestsParams in workspace_dir) -> IndexListHelpRequestsResponse;
    /// Find words in documents, messages, comments, tasks and events. What the actor may not see is not found.
    Read IndexSearch = "index.search" (IndexSearchParams in workspace_dir as actor_role) -> IndexSearchResponse;
}

/// Response of [`IndexRebuild`]: how much was indexed.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct IndexRebuildResponse {
    /// Where the index is.
    pub db_path: String,
    /// Runs.
    pub runs_indexed: u64,
    /// Events.
    pub events_indexed: u64,
    /// Lines of event logs that are not JSON.
    pub event_parse_errors: u64,
    /// Documents.
    pub artifacts_indexed: u64,
    /// Reviews.
    pub reviews_indexed: u64,
    /// Help requests.
    pub help_requests_indexed: u64,
    /// Conversations.
    pub conversations_indexed: u64,
    /// Messages.
    pub messages_indexed: u64,
    /// Tasks.
    pub tasks_indexed: u64,
    /// Milestones of tasks.
    pub task_milestones_indexed: u64,
    /// Agents with what they used.
    pub agent_counters_indexed: u64,
    /// Files that were looked at.
    pub files_scanned: u64,
    /// How long it took.
    pub duration_ms: u64,
}

/// Response of [`IndexSync`]: what changed. Rows that stayed the same are not counted.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct IndexSyncResponse {
    /// Where the index is.
    pub db_path: String,
    /// Whether there was none.
    pub db_created: bool,
    /// Runs that are new or different.
    pub runs_upserted: u64,
    /// Runs that are gone.
    pub runs_deleted: u64,
    /// New events.
    pub events_indexed: u64,
    /// Events that are gone.
    pub events_deleted: u64,
    /// New lines that are not JSON.
    pub event_parse_errors_indexed: u64,
    /// Lines that were not JSON and are mended or gone.
    pub event_parse_errors_deleted: u64,
    /// Documents that are new or different.
    pub artifacts_upserted: u64,
    /// Documents that are gone.
    pub artifacts_deleted: u64,
    /// Reviews that are new or different.
    pub reviews_upserted: u64,
    /// Reviews that are gone.
    pub reviews_deleted: u64,
    /// Help requests that are new or different.
    pub help_requests_upserted: u64,
    /// Help requests that are gone.
    pub help_requests_deleted: u64,
    /// Conversations that are new or different.
    pub conversations_upserted: u64,
    /// Conversations that are gone.
    pub conversations_deleted: u64,
    /// New messages.
    pub messages_indexed: u64,
    /// Messages that are gone.
    pub messages_deleted: u64,
    /// Tasks that are new or different.
    pub tasks_upserted: u64,
    /// Tasks that are gone.
    pub tasks_deleted: u64,
    /// Milestones of those tasks.
    pub task_milestones_indexed: u64,
    /// Milestones that were replaced or are gone.
    pub task_milestones_deleted: u64,
    /// Agents whose numbers changed.
    pub agent_counters_upserted: u64,
    /// Agents that are gone.
    pub agent_counters_deleted: u64,
    /// Files that were looked at.
    pub files_scanned: u64,
    /// Files that changed.
    pub files_changed: u64,
    /// How long it took.
    pub duration_ms: u64,
}

/// Response of [`IndexStats`]: how many rows there are.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct IndexStatsResponse {
    /// Runs.
    pub runs: u64,
    /// Events.
    pub events: u64,
    /// Lines of event logs that are not JSON.
    pub event_parse_errors: u64,
    /// Documents.
    pub artifacts: u64,
    /// Reviews.
    pub reviews: u64,
    /// Help requests.
    pub help_requests: u64,
    /// Conversations.
    pub conversations: u64,
    /// Messages.
    pub messages: u64,
    /// Tasks.
    pub tasks: u64,
    /// Milestones of tasks.
    pub task_milestones: u64,
    /// Agents with what they used.
    pub agent_counters: u64,
}

/// Params of [`IndexSyncWorkerStatus`] and [`IndexSyncWorkerFlush`]: whatever is given is ignored.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct IndexSyncWorkerParams {}

/// Response of [`IndexSyncWorkerStatus`] and [`IndexSyncWorkerFlush`].
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct IndexSyncWorkerStatusResponse {
    /// Whether there is a worker.
    pub enabled: bool,
    /// Whether it syncs at this moment.
    pub running: bool,
    /// Whether it has ended.
    pub closed: bool,
    /// Company folders with events that wait to be indexed.
    pub pending_workspaces: u64,
    /// How long it waits for more.
    pub debounce_ms: u64,
    /// How long it rests between two batches.
    pub min_interval_ms: u64,
    /// When the last batch ended.
    pub last_run_at_ms: Option<i64>,
    /// When an event was last written here.
    pub last_notify_at_ms: Option<i64>,
    /// In which company folder.
    pub last_notified_workspace: Option<String>,
    /// When the last batch began.
    pub last_batch_started_at_ms: Option<i64>,
    /// When the last batch was done.
    pub last_batch_completed_at_ms: Option<i64>,
    /// How often events were written here.
    pub total_notify_calls: u64,
    /// How many batches there were.
    pub total_batches: u64,
    /// How many folders were synced in them.
    pub total_workspace_sync_attempts: u64,
    /// How many of those failed.
    pub total_workspace_sync_errors: u64,
    /// What went wrong last.
    pub last_error_message: Option<String>,
    /// In which company folder.
    pub last_error_workspace: Option<String>,
    /// When.
    pub last_error_at_ms: Option<i64>,
    /// Company folders that are watched for what other programs write.
    pub watched_workspaces: u64,
    /// How often a watched folder was synced.
    pub total_watch_syncs: u64,
}

/// Params of [`IndexListRuns`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct IndexListRunsParams {
    /// The company folder.
    pub workspace_dir: Text,
    /// Only of this project.
    #[serde(default)]
    pub project_id: Option<Text>,
    /// Only where they stand like this.
    #[serde(default)]
    pub status: Option<RunStatus>,
    /// How many; 200 if not given.
    #[serde(default)]
    #[schemars(range(min = 1, max = 5000))]
    pub limit: Option<u32>,
    /// Who asks.
    #[serde(flatten)]
    pub asking: Asking,
}

/// Response of [`IndexListRuns`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct IndexListRunsResponse(pub Vec<IndexedRun>);

/// An indexed run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct IndexedRun {
    /// Its project.
    pub project_id: String,
    /// Its id.
    pub run_id: String,
    /// When it was made.
    pub created_at: String,
    /// Where it stands.
    pub status: RunStatus,
    /// What runs it.
    pub provider: String,
    /// The agent that runs.
    pub agent_id: String,
    /// What it was given to know.
    pub context_pack_id: String,
    /// The tokens it used.
    pub usage_total_tokens: Option<u64>,
    /// What that cost.
    pub usage_cost_usd: Option<f64>,
    /// Who counted: `provider_reported` or `estimated_chars`.
    pub usage_source: Option<String>,
    /// How sure that is: `high` or `low`.
    pub usage_confidence: Option<String>,
    /// How often its context was renewed.
    pub context_cycles_count: Option<u64>,
    /// How we know: `provider_signal` or `unavailable`.
    pub context_cycles_source: Option<String>,
    /// The model it was started with.
    pub spec_model: Option<String>,
    /// The task it works on.
    pub spec_task_id: Option<String>,
    /// The milestone it works on.
    pub spec_milestone_id: Option<String>,
}

/// Which end of time a list begins at.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum IndexOrder {
    /// Oldest first.
    Asc,
    /// Newest first.
    #[default]
    Desc,
}

/// Params of [`IndexListEvents`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct IndexListEventsParams {
    /// The company folder.
    pub workspace_dir: Text,
    /// Only of this project.
    #[serde(default)]
    pub project_id: Option<Text>,
    /// Only of this run.
    #[serde(default)]
    pub run_id: Option<Text>,
    /// Only of this type.
    #[serde(default)]
    pub r#type: Option<Text>,
    /// Only after this place in their log.
    #[serde(default)]
    pub since_seq: Option<u64>,
    /// How many; 500 if not given.
    #[serde(default)]
    #[schemars(range(min = 1, max = 5000))]
    pub limit: Option<u32>,
    /// Which end first; newest if not given.
    #[serde(default)]
    pub order: Option<IndexOrder>,
    /// Who asks: events they may not see are left out.
    #[serde(default)]
    pub actor_id: Option<Text>,
    /// What they are.
    #[serde(default)]
    pub actor_role: Option<ActorRole>,
    /// Their team.
    #[serde(default)]
    pub actor_team_id: Option<Text>,
}

/// Response of [`IndexListEvents`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct IndexListEventsResponse(pub Vec<IndexedEvent>);

/// An indexed event.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct IndexedEvent {
    /// Its project.
    pub project_id: String,
    /// Its run.
    pub run_id: String,
    /// Its place among the lines that are not blank, from 1.
    pub seq: u64,
    /// What happened.
    pub r#type: String,
    /// When.
    pub ts_wallclock: Option<String>,
    /// When, since the writing process began.
    pub ts_monotonic_ms: Option<serde_json::Number>,
    /// Who did it.
    pub actor: Option<String>,
    /// The session.
    pub session_ref: Option<String>,
    /// Who may see it.
    pub visibility: Option<String>,
    /// What there is to say about it, as JSON text.
    pub payload_json: String,
    /// The line of the log.
    pub raw_json: String,
}

/// Params of [`IndexListEventParseErrors`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct IndexListEventParseErrorsParams {
    /// The company folder.
    pub workspace_dir: Text,
    /// Only of this project.
    #[serde(default)]
    pub project_id: Option<Text>,
    /// Only of this run.
    #[serde(default)]
    pub run_id: Option<Text>,
    /// How many; 200 if not given.
    #[serde(default)]
    #[schemars(range(min = 1, max = 5000))]
    pub limit: Option<u32>,
}

/// Response of [`IndexListEventParseErrors`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct IndexListEventParseErrorsResponse(pub Vec<IndexedParseError>);

/// A line of an event log that is not JSON.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct IndexedParseError {
    /// The project.
    pub project_id: String,
    /// The run.
    pub run_id: String,
    /// Its place among the lines that are not blank, from 1.
    pub seq: u64,
    /// What is wrong.
    pub error: String,
    /// The line.
    pub raw_line: String,
}

/// Params of [`IndexListReviews`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct IndexListReviewsParams {
    /// The company folder.
    pub workspace_dir: Text,
    /// Only of this project.
    #[serde(default)]
    pub project_id: Option<Text>,
    /// Only with this outcome.
    #[serde(default)]
    pub decision: Option<ReviewDecision>,
    /// How many; 200 if not given.
    #[serde(default)]
    #[schemars(range(min = 1, max = 5000))]
    pub limit: Option<u32>,
}

/// Response of [`IndexListReviews`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct IndexListReviewsResponse(pub Vec<IndexedReview>);

/// An indexed review.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct IndexedReview {
    /// Its id.
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
}

/// Params of [`IndexListHelpRequests`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct IndexListHelpRequestsParams {
    /// The company folder.
    pub workspace_dir: Text,
    /// Only to this manager.
    #[serde(default)]
    pub target_manager: Option<Text>,
    /// Only of this project.
    #[serde(default)]
    pub project_id: Option<Text>,
    /// How many; 200 if not given.
    #[serde(default)]
    #[schemars(range(min = 1, max = 5000))]
    pub limit: Option<u32>,
}

/// Response of [`IndexListHelpRequests`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct IndexListHelpRequestsResponse(pub Vec<IndexedHelpRequest>);

/// An indexed help request.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct IndexedHelpRequest {
    /// Its id.
    pub help_request_id: String,
    /// When it was asked.
    pub created_at: String,
    /// What it is about.
    pub title: String,
    /// Who may see it.
    pub visibility: Visibility,
    /// Who asks.
    pub requester: String,
    /// Who is asked.
    pub target_manager: String,
    /// The project.
    pub project_id: Option<String>,
    /// What was shared for it.
    pub share_pack_id: Option<String>,
}

/// What can be searched.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum SearchKind {
    /// Documents, which the wire calls artifacts.
    Artifact,
    /// Messages of conversations.
    Message,
    /// Comments.
    Comment,
    /// Tasks.
    Task,
    /// Events of runs.
    Event,
}

impl SearchKind {
    /// All of them.
    pub const ALL: [Self; 5] = [
        Self::Artifact,
        Self::Message,
        Self::Comment,
        Self::Task,
        Self::Event,
    ];

    /// The word on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Artifact => "artifact",
            Self::Message => "message",
            Self::Comment => "comment",
            Self::Task => "task",
            Self::Event => "event",
        }
    }
}

/// Params of [`IndexSearch`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct IndexSearchParams {
    /// The company folder.
    pub workspace_dir: Text,
    /// Words that all have to be there; `"two words"` side by side, `begin*` for a beginning.
    pub query: Text,
    /// Only in these; everywhere if not given.
    #[serde(default)]
    pub kinds: Option<Vec<SearchKind>>,
    /// Only of this project.
    #[serde(default)]
    pub project_id: Option<Text>,
    /// How many; 50 if not given.
    #[serde(default)]
    #[schemars(range(min = 1, max = 1000))]
    pub limit: Option<u32>,
    /// Bring the index up to date first; true if not given.
    #[serde(default)]
    pub sync_index: Option<bool>,
    /// Who asks: what they may not see is not found.
    #[serde(default)]
    pub actor_id: Option<Text>,
    /// What they are.
    #[serde(default)]
    pub actor_role: Option<ActorRole>,
    /// Their team.
    #[serde(default)]
    pub actor_team_id: Option<Text>,
}

/// Response of [`IndexSearch`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct IndexSearchResponse {
    /// The folder as it was given.
    pub workspace_dir: String,
    /// What was found: documents, messages, comments and tasks, the best first, then events, newest first.
    pub items: Vec<SearchHit>,
    /// Whether there is more.
    pub has_more: bool,
}

/// Something that was found.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SearchHit {
    /// What it is.
    pub kind: SearchKind,
    /// Its id; of an event, its run and its place: `run_1#7`.
    pub id: String,
    /// The project, if it belongs to one.
    pub project_id: Option<String>,
    /// The run of an event.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run_id: Option<String>,
    /// The place of an event in its log.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seq: Option<u64>,
    /// The conversation of a message.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub conversation_id: Option<String>,
    /// What it is called; of an event, its type.
    pub title: Option<String>,
    /// The words, and what is around them.
    pub snippet: String,
    /// Who made it.
    pub author_id: Option<String>,
    /// When it was made.
    pub created_at: Option<String>,
    /// Who may see it.
    pub visibility: Option<String>,
}
