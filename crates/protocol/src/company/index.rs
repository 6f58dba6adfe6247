//! `index.*`: the rebuildable index of a company folder.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    ActorRole, Asking, ReviewDecision, RunStatus, Text, Visibility, workspace::CompanyFolderParams,
};

crate::methods! {
    Company family "index";

    /// Rebuild the index from scratch and replace the old one. Requests use the old index until the new one is complete.
    Write IndexRebuild = "index.rebuild" (CompanyFolderParams in workspace_dir) -> IndexRebuildResponse;
    /// Bring the index up to date. Only changed files are read; the response counts the changes.
    Write IndexSync = "index.sync" (CompanyFolderParams in workspace_dir) -> IndexSyncResponse;
    /// Count the rows of the index.
    Read IndexStats = "index.stats" (CompanyFolderParams in workspace_dir) -> IndexStatsResponse;
    /// Get the status of the worker that keeps indexes up to date in the background.
    Read IndexSyncWorkerStatus = "index.sync_worker_status" (IndexSyncWorkerParams) -> IndexSyncWorkerStatusResponse;
    /// Run the pending syncs of the background worker now.
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
    /// Search documents, messages, comments, tasks and events for words. Texts the actor may not read are omitted.
    Read IndexSearch = "index.search" (IndexSearchParams in workspace_dir as actor_role) -> IndexSearchResponse;
}

/// Response of [`IndexRebuild`]: numbers of indexed items.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct IndexRebuildResponse {
    /// Path of the index file.
    pub db_path: String,
    /// Number of runs.
    pub runs_indexed: u64,
    /// Number of events.
    pub events_indexed: u64,
    /// Number of event log lines that are not JSON.
    pub event_parse_errors: u64,
    /// Number of documents.
    pub artifacts_indexed: u64,
    /// Number of reviews.
    pub reviews_indexed: u64,
    /// Number of help requests.
    pub help_requests_indexed: u64,
    /// Number of conversations.
    pub conversations_indexed: u64,
    /// Number of messages.
    pub messages_indexed: u64,
    /// Number of tasks.
    pub tasks_indexed: u64,
    /// Number of milestones of tasks.
    pub task_milestones_indexed: u64,
    /// Number of agents with usage counters.
    pub agent_counters_indexed: u64,
    /// Number of files found by the scan.
    pub files_scanned: u64,
    /// Duration in milliseconds.
    pub duration_ms: u64,
}

/// Response of [`IndexSync`]: numbers of changed rows. Unchanged rows are not counted.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct IndexSyncResponse {
    /// Path of the index file.
    pub db_path: String,
    /// Whether the index did not exist and was created.
    pub db_created: bool,
    /// Number of runs added or changed.
    pub runs_upserted: u64,
    /// Number of runs deleted.
    pub runs_deleted: u64,
    /// Number of events added.
    pub events_indexed: u64,
    /// Number of events deleted.
    pub events_deleted: u64,
    /// Number of lines added that are not JSON.
    pub event_parse_errors_indexed: u64,
    /// Number of lines that were not JSON and were repaired or removed.
    pub event_parse_errors_deleted: u64,
    /// Number of documents added or changed.
    pub artifacts_upserted: u64,
    /// Number of documents deleted.
    pub artifacts_deleted: u64,
    /// Number of reviews added or changed.
    pub reviews_upserted: u64,
    /// Number of reviews deleted.
    pub reviews_deleted: u64,
    /// Number of help requests added or changed.
    pub help_requests_upserted: u64,
    /// Number of help requests deleted.
    pub help_requests_deleted: u64,
    /// Number of conversations added or changed.
    pub conversations_upserted: u64,
    /// Number of conversations deleted.
    pub conversations_deleted: u64,
    /// Number of messages added.
    pub messages_indexed: u64,
    /// Number of messages deleted.
    pub messages_deleted: u64,
    /// Number of tasks added or changed.
    pub tasks_upserted: u64,
    /// Number of tasks deleted.
    pub tasks_deleted: u64,
    /// Number of milestones written with those tasks.
    pub task_milestones_indexed: u64,
    /// Number of milestones replaced or deleted.
    pub task_milestones_deleted: u64,
    /// Number of agents whose usage counters changed.
    pub agent_counters_upserted: u64,
    /// Number of agents whose usage counters were deleted.
    pub agent_counters_deleted: u64,
    /// Number of files found by the scan.
    pub files_scanned: u64,
    /// Number of files added, changed or deleted.
    pub files_changed: u64,
    /// Duration in milliseconds.
    pub duration_ms: u64,
}

/// Response of [`IndexStats`]: numbers of rows.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct IndexStatsResponse {
    /// Number of runs.
    pub runs: u64,
    /// Number of events.
    pub events: u64,
    /// Number of event log lines that are not JSON.
    pub event_parse_errors: u64,
    /// Number of documents.
    pub artifacts: u64,
    /// Number of reviews.
    pub reviews: u64,
    /// Number of help requests.
    pub help_requests: u64,
    /// Number of conversations.
    pub conversations: u64,
    /// Number of messages.
    pub messages: u64,
    /// Number of tasks.
    pub tasks: u64,
    /// Number of milestones of tasks.
    pub task_milestones: u64,
    /// Number of agents with usage counters.
    pub agent_counters: u64,
}

/// Params of [`IndexSyncWorkerStatus`] and [`IndexSyncWorkerFlush`]: none; given fields are ignored.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct IndexSyncWorkerParams {}

/// Response of [`IndexSyncWorkerStatus`] and [`IndexSyncWorkerFlush`]. Times are Unix milliseconds and null before the
/// first occurrence.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct IndexSyncWorkerStatusResponse {
    /// Whether the worker is enabled. Always true.
    pub enabled: bool,
    /// Whether a batch is running.
    pub running: bool,
    /// Whether the worker was stopped.
    pub closed: bool,
    /// Number of company folders with events that wait to be indexed.
    pub pending_workspaces: u64,
    /// Time in milliseconds that the worker waits for further events before it syncs.
    pub debounce_ms: u64,
    /// Minimum pause in milliseconds between two batches.
    pub min_interval_ms: u64,
    /// End of the last batch. The same as `last_batch_completed_at_ms`.
    pub last_run_at_ms: Option<i64>,
    /// Last time that this process wrote an event.
    pub last_notify_at_ms: Option<i64>,
    /// Path of the company folder of that event. Null also for tokens limited to some workspaces.
    pub last_notified_workspace: Option<String>,
    /// Start of the last batch.
    pub last_batch_started_at_ms: Option<i64>,
    /// End of the last batch.
    pub last_batch_completed_at_ms: Option<i64>,
    /// Number of times that this process wrote events.
    pub total_notify_calls: u64,
    /// Number of batches.
    pub total_batches: u64,
    /// Number of company folders synced in batches.
    pub total_workspace_sync_attempts: u64,
    /// Number of those syncs that failed.
    pub total_workspace_sync_errors: u64,
    /// Error message of the last failed sync. Null if there was none, and for tokens limited to some workspaces.
    pub last_error_message: Option<String>,
    /// Path of the company folder of the last failed sync. Null if there was none, and for tokens limited to some
    /// workspaces.
    pub last_error_workspace: Option<String>,
    /// Time of the last failed sync.
    pub last_error_at_ms: Option<i64>,
    /// Number of company folders watched for changes by other programs.
    pub watched_workspaces: u64,
    /// Number of syncs of watched folders.
    pub total_watch_syncs: u64,
}

/// Params of [`IndexListRuns`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct IndexListRunsParams {
    /// Path of the company folder.
    pub workspace_dir: Text,
    /// List only runs of this project. Default: all projects.
    #[serde(default)]
    pub project_id: Option<Text>,
    /// List only runs with this status. Default: any.
    #[serde(default)]
    pub status: Option<RunStatus>,
    /// Maximum number of runs. Default: 200.
    #[serde(default)]
    #[schemars(range(min = 1, max = 5000))]
    pub limit: Option<u32>,
    /// The actor on whose behalf the request reads.
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
    /// Id of the project.
    pub project_id: String,
    /// Id of the run.
    pub run_id: String,
    /// Creation time, ISO-8601.
    pub created_at: String,
    /// Status of the run.
    pub status: RunStatus,
    /// Provider that executes the run, such as `codex`.
    pub provider: String,
    /// Id of the agent.
    pub agent_id: String,
    /// Id of the context pack that the run received.
    pub context_pack_id: String,
    /// Number of tokens used. Null if unknown.
    pub usage_total_tokens: Option<u64>,
    /// Cost in US dollars. Null if unknown.
    pub usage_cost_usd: Option<f64>,
    /// Source of the token count: `provider_reported` or `estimated_chars`. Null without usage.
    pub usage_source: Option<String>,
    /// Confidence of the token count: `high` or `low`. Null without usage.
    pub usage_confidence: Option<String>,
    /// Number of context cycles: how often the provider compacted or renewed its context. Null if not recorded.
    pub context_cycles_count: Option<u64>,
    /// Source of that number: `provider_signal` or `unavailable`. Null if not recorded.
    pub context_cycles_source: Option<String>,
    /// Model the run was started with. Null if none was chosen.
    pub spec_model: Option<String>,
    /// Id of the task the run works on. Null if none.
    pub spec_task_id: Option<String>,
    /// Id of the milestone the run works on. Null if none.
    pub spec_milestone_id: Option<String>,
}

/// Order of a list by time.
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
    /// Path of the company folder.
    pub workspace_dir: Text,
    /// List only events of this project. Default: all projects.
    #[serde(default)]
    pub project_id: Option<Text>,
    /// List only events of this run. Default: all runs.
    #[serde(default)]
    pub run_id: Option<Text>,
    /// List only events of this type. Default: all types.
    #[serde(default)]
    pub r#type: Option<Text>,
    /// List only events with a greater `seq`. Meant for use with `run_id`. Default: all.
    #[serde(default)]
    pub since_seq: Option<u64>,
    /// Maximum number of events. Default: 500.
    #[serde(default)]
    #[schemars(range(min = 1, max = 5000))]
    pub limit: Option<u32>,
    /// Order by time. Default: `desc`.
    #[serde(default)]
    pub order: Option<IndexOrder>,
    /// Id of the person or agent that reads; events it may not read are omitted. Default: the caller's own id.
    #[serde(default)]
    pub actor_id: Option<Text>,
    /// Role of that actor, at most the role of the caller's token. Default: the role of the token.
    #[serde(default)]
    pub actor_role: Option<ActorRole>,
    /// Team id of that actor. Default: the team in the agent's `agent.yaml`; none for people.
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
    /// Id of the project.
    pub project_id: String,
    /// Id of the run.
    pub run_id: String,
    /// Number of the line in the event log, blank lines not counted, from 1.
    pub seq: u64,
    /// Type of the event; `unknown` if the line has none.
    pub r#type: String,
    /// Time of the event, ISO-8601. Null if the event has none.
    pub ts_wallclock: Option<String>,
    /// Milliseconds since the writing process started. Null if the event has none.
    pub ts_monotonic_ms: Option<serde_json::Number>,
    /// Id of the actor that caused the event. Null if the event has none.
    pub actor: Option<String>,
    /// Id of the session. Null if the event has none.
    pub session_ref: Option<String>,
    /// Who may read the event. Null if the event does not state it.
    pub visibility: Option<String>,
    /// Payload as compact JSON text; `null` if the event has none.
    pub payload_json: String,
    /// The line of the log as it was written.
    pub raw_json: String,
}

/// Params of [`IndexListEventParseErrors`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct IndexListEventParseErrorsParams {
    /// Path of the company folder.
    pub workspace_dir: Text,
    /// List only lines of this project. Default: all projects.
    #[serde(default)]
    pub project_id: Option<Text>,
    /// List only lines of this run. Default: all runs.
    #[serde(default)]
    pub run_id: Option<Text>,
    /// Maximum number of lines. Default: 200.
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
    /// Id of the project.
    pub project_id: String,
    /// Id of the run.
    pub run_id: String,
    /// Number of the line in the event log, blank lines not counted, from 1.
    pub seq: u64,
    /// Message of the JSON parser.
    pub error: String,
    /// The line. Empty if the role of the caller is below `human`, because the line carries no visibility.
    pub raw_line: String,
}

/// Params of [`IndexListReviews`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct IndexListReviewsParams {
    /// Path of the company folder.
    pub workspace_dir: Text,
    /// List only reviews of this project. Default: all projects.
    #[serde(default)]
    pub project_id: Option<Text>,
    /// List only reviews with this decision. Default: any.
    #[serde(default)]
    pub decision: Option<ReviewDecision>,
    /// Maximum number of reviews. Default: 200.
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
}

/// Params of [`IndexListHelpRequests`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct IndexListHelpRequestsParams {
    /// Path of the company folder.
    pub workspace_dir: Text,
    /// List only help requests to this manager. Default: any.
    #[serde(default)]
    pub target_manager: Option<Text>,
    /// List only help requests of this project. Default: all projects.
    #[serde(default)]
    pub project_id: Option<Text>,
    /// Maximum number of help requests. Default: 200.
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
    /// Id of the help request.
    pub help_request_id: String,
    /// Time of the request, ISO-8601.
    pub created_at: String,
    /// Title of the request.
    pub title: String,
    /// Who may read the request. The target manager always may.
    pub visibility: Visibility,
    /// Id of the person or agent that asks for help.
    pub requester: String,
    /// Id of the manager that is asked.
    pub target_manager: String,
    /// Id of the project. Null if the request belongs to none.
    pub project_id: Option<String>,
    /// Id of the share pack attached to the request. Null if there is none.
    pub share_pack_id: Option<String>,
}

/// Kind of a searchable text.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum SearchKind {
    /// A document. The wire calls it artifact.
    Artifact,
    /// A message of a conversation.
    Message,
    /// A comment.
    Comment,
    /// A task.
    Task,
    /// An event of a run.
    Event,
}

impl SearchKind {
    /// All kinds.
    pub const ALL: [Self; 5] = [
        Self::Artifact,
        Self::Message,
        Self::Comment,
        Self::Task,
        Self::Event,
    ];

    /// Returns the value on the wire.
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
    /// Path of the company folder.
    pub workspace_dir: Text,
    /// Words that must all occur. `"two words"` matches a phrase, `begin*` a prefix.
    pub query: Text,
    /// Search only texts of these kinds. Default: all kinds.
    #[serde(default)]
    pub kinds: Option<Vec<SearchKind>>,
    /// Search only texts of this project. Default: all projects.
    #[serde(default)]
    pub project_id: Option<Text>,
    /// Maximum number of hits. Default: 50.
    #[serde(default)]
    #[schemars(range(min = 1, max = 1000))]
    pub limit: Option<u32>,
    /// If true, sync the index first. Default: true.
    #[serde(default)]
    pub sync_index: Option<bool>,
    /// Id of the person or agent that reads; texts it may not read are omitted. Default: the caller's own id.
    #[serde(default)]
    pub actor_id: Option<Text>,
    /// Role of that actor, at most the role of the caller's token. Default: the role of the token.
    #[serde(default)]
    pub actor_role: Option<ActorRole>,
    /// Team id of that actor. Default: the team in the agent's `agent.yaml`; none for people.
    #[serde(default)]
    pub actor_team_id: Option<Text>,
}

/// Response of [`IndexSearch`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct IndexSearchResponse {
    /// The company folder, as given in the request.
    pub workspace_dir: String,
    /// The hits: documents, messages, comments and tasks by relevance, then events, newest first.
    pub items: Vec<SearchHit>,
    /// Whether there are more hits than `limit`.
    pub has_more: bool,
}

/// A text that matches a search.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SearchHit {
    /// Kind of the text.
    pub kind: SearchKind,
    /// Id of the text. For an event, the run and the line number: `run_1#7`.
    pub id: String,
    /// Id of the project. Null if the text belongs to none.
    pub project_id: Option<String>,
    /// Id of the run. Present for events only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run_id: Option<String>,
    /// Number of the line in the event log. Present for events only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seq: Option<u64>,
    /// Id of the conversation. Present for messages only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub conversation_id: Option<String>,
    /// Title of the text; for an event, its type. Null for messages and comments.
    pub title: Option<String>,
    /// Part of the text around the first match, at most 200 characters.
    pub snippet: String,
    /// Id of the author; for a task, its assignee; for an event, its actor. Null if unknown.
    pub author_id: Option<String>,
    /// Creation time, ISO-8601. Null if unknown.
    pub created_at: Option<String>,
    /// Who may read the text. Null if it is not stated.
    pub visibility: Option<String>,
}
