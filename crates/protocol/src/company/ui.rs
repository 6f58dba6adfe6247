//! `ui.*`: the combined data of the desktop.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    ActorRole, AgentRole, DocumentId, ProjectId, ReviewDecision, Text,
    comment::Comment,
    inbox::{InboxResolveResponse, InboxSnapshotResponse},
    index::IndexSyncWorkerStatusResponse,
    monitor::MonitorSnapshotResponse,
    usage::UsageAnalyticsResponse,
};

crate::methods! {
    Company family "ui";

    /// Get the monitor, the inbox, the usage, the agents and the comments in one consistent snapshot.
    Read UiSnapshot = "ui.snapshot" (UiSnapshotParams in workspace_dir as actor_role) -> UiSnapshotResponse;
    /// Approve or deny a pending document and return a new snapshot.
    Write UiResolve = "ui.resolve" (UiResolveParams in workspace_dir as actor_role) -> UiResolveResponse;
}

/// Params of [`UiSnapshot`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct UiSnapshotParams {
    /// Absolute path of the company folder.
    pub workspace_dir: Text,
    /// Return only data of this project. All projects if absent.
    #[serde(default)]
    pub project_id: Option<Text>,
    /// The maximum number of runs to return. Default 200.
    #[serde(default)]
    #[schemars(range(min = 1, max = 5000))]
    pub monitor_limit: Option<u32>,
    /// The maximum number of pending documents to return. Default 200.
    #[serde(default)]
    #[schemars(range(min = 1, max = 5000))]
    pub pending_limit: Option<u32>,
    /// The maximum number of decisions to return. Default 200.
    #[serde(default)]
    #[schemars(range(min = 1, max = 5000))]
    pub decisions_limit: Option<u32>,
    /// If true, rebuilds the index first. Default false.
    #[serde(default)]
    pub refresh_index: Option<bool>,
    /// If true, syncs the index first. Default true.
    #[serde(default)]
    pub sync_index: Option<bool>,
    /// The id of the actor whose visibility applies: data the actor may not see is omitted. If absent, the identity of
    /// the caller's token applies.
    #[serde(default)]
    pub actor_id: Option<Text>,
    /// The role of that actor. If absent, the role of the caller's token applies; the owner sees everything.
    #[serde(default)]
    pub actor_role: Option<ActorRole>,
    /// The id of the actor's team. If absent, the gateway uses the team stored for the agent, if the actor is an agent.
    #[serde(default)]
    pub actor_team_id: Option<Text>,
}

/// Response of [`UiSnapshot`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct UiSnapshotResponse {
    /// The company folder, as given in the request.
    pub workspace_dir: String,
    /// The time the snapshot was generated, in ISO-8601.
    pub generated_at: String,
    /// The status of the worker that syncs the indexes.
    pub index_sync_worker: IndexSyncWorkerStatusResponse,
    /// The configuration and the state of the heartbeat.
    pub heartbeat: UiHeartbeat,
    /// The runs, as in `monitor.snapshot`.
    pub monitor: MonitorSnapshotResponse,
    /// The pending documents and the decisions, as in `inbox.snapshot`.
    pub review_inbox: InboxSnapshotResponse,
    /// Tokens and costs, as in `usage.analytics`.
    pub usage_analytics: UsageAnalyticsResponse,
    /// The agents: those with the most active runs first, then by pending documents and last activity.
    pub colleagues: Vec<UiColleague>,
    /// The comments of the project, newest first, among its 300 newest. Empty if no project was given.
    pub comments: Vec<Comment>,
}

/// The configuration and the state of the heartbeat.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct UiHeartbeat {
    /// True if the heartbeat is enabled.
    pub enabled: bool,
    /// True if the heartbeat loop is running.
    pub running: bool,
    /// The time between two ticks, in minutes. Default 20.
    pub tick_interval_minutes: u64,
    /// The maximum number of workers woken per tick. Default 2.
    pub top_k_workers: u64,
    /// The minimum score at which a worker is woken. Default 3.
    pub min_wake_score: u64,
    /// The hierarchy mode: `standard` or `enterprise_v1`. Default `standard`.
    pub hierarchy_mode: String,
    /// The id of the executive manager. Absent if there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub executive_manager_agent_id: Option<String>,
    /// True if directors may start workers. Default false.
    pub allow_director_to_spawn_workers: bool,
    /// The time of the last tick, in ISO-8601. Absent before the first tick.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_tick_at: Option<String>,
    /// The time of the next tick, in ISO-8601. Absent if none is scheduled.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_tick_at: Option<String>,
    /// The counters of the heartbeat.
    pub stats: UiHeartbeatStats,
}

/// Counters over all ticks of the heartbeat.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct UiHeartbeatStats {
    /// The number of ticks.
    pub ticks_total: u64,
    /// The number of workers woken.
    pub workers_woken_total: u64,
    /// The number of worker reports without actions.
    pub reports_ok_total: u64,
    /// The number of worker reports with actions.
    pub reports_actions_total: u64,
    /// The number of actions executed without approval.
    pub actions_executed_total: u64,
    /// The number of actions queued for approval.
    pub approvals_queued_total: u64,
    /// The number of actions dropped as duplicates.
    pub deduped_actions_total: u64,
}

/// An agent and its current activity.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct UiColleague {
    /// The id of the agent.
    pub agent_id: String,
    /// The name of the agent.
    pub name: String,
    /// The role of the agent.
    pub role: AgentRole,
    /// The provider of the agent.
    pub provider: String,
    /// The id of the agent's team. Absent if it has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub team_id: Option<String>,
    /// The name of the agent's team. Absent if it has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub team_name: Option<String>,
    /// The number of running runs in `monitor`.
    pub active_runs: u64,
    /// The number of runs in `monitor`.
    pub total_runs: u64,
    /// The number of all indexed runs of the agent, not limited to `monitor`.
    pub all_runs: u64,
    /// The number of pending documents produced by the agent in `review_inbox`.
    pub pending_reviews: u64,
    /// The number of decisions made by the agent in `review_inbox`.
    pub recent_decisions: u64,
    /// The time of the last activity, in ISO-8601: an event, a run, a pending document or a decision. Absent if there
    /// is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_seen_at: Option<String>,
    /// The current activity of the agent.
    pub status: UiColleagueStatus,
}

/// The current activity of an agent.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum UiColleagueStatus {
    /// The agent has at least one running run.
    Active,
    /// The agent has no running run and at least one pending document.
    NeedsReview,
    /// The agent has neither a running run nor a pending document.
    Idle,
}

/// Params of [`UiResolve`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct UiResolveParams {
    /// Absolute path of the company folder.
    pub workspace_dir: Text,
    /// The id of the project.
    pub project_id: ProjectId,
    /// The id of the pending document.
    pub artifact_id: DocumentId,
    /// The decision.
    pub decision: ReviewDecision,
    /// The id of the actor that decides. Its visibility also applies to the snapshot.
    pub actor_id: Text,
    /// The role of that actor.
    pub actor_role: ActorRole,
    /// The id of the actor's team. If absent, the gateway uses the team stored for the agent, if the actor is an agent.
    #[serde(default)]
    pub actor_team_id: Option<Text>,
    /// Notes that are stored with the review. Optional.
    #[serde(default)]
    pub notes: Option<String>,
    /// The `sha256` returned by `inbox.read` for this document. If any of the files has changed since, the call fails
    /// and nothing is decided. If absent, the decision applies to the current files.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expected_sha256: Option<String>,
    /// The maximum number of runs to return. Default 200.
    #[serde(default)]
    #[schemars(range(min = 1, max = 5000))]
    pub monitor_limit: Option<u32>,
    /// The maximum number of pending documents to return. Default 200.
    #[serde(default)]
    #[schemars(range(min = 1, max = 5000))]
    pub pending_limit: Option<u32>,
    /// The maximum number of decisions to return. Default 200.
    #[serde(default)]
    #[schemars(range(min = 1, max = 5000))]
    pub decisions_limit: Option<u32>,
    /// If true, rebuilds the index first. Default false.
    #[serde(default)]
    pub refresh_index: Option<bool>,
    /// If true, syncs the index first. Default true.
    #[serde(default)]
    pub sync_index: Option<bool>,
}

/// Response of [`UiResolve`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct UiResolveResponse {
    /// The stored decision.
    pub resolved: InboxResolveResponse,
    /// The response of `ui.snapshot` after the decision. `null` if the snapshot failed.
    pub snapshot: Option<UiSnapshotResponse>,
    /// Why `snapshot` is `null`. The decision is stored nevertheless and must not be repeated. Absent if the snapshot
    /// succeeded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub snapshot_error: Option<String>,
}
