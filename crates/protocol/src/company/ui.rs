//! `ui.*`: everything a desktop shows at once.

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

    /// Show the monitor, the inbox, what was used, the colleagues and the comments, all of one moment.
    Read UiSnapshot = "ui.snapshot" (UiSnapshotParams in workspace_dir as actor_role) -> UiSnapshotResponse;
    /// Decide about a document that waits for it, and show what is left.
    Write UiResolve = "ui.resolve" (UiResolveParams in workspace_dir as actor_role) -> UiResolveResponse;
}

/// Params of [`UiSnapshot`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct UiSnapshotParams {
    /// The company folder.
    pub workspace_dir: Text,
    /// Only of this project.
    #[serde(default)]
    pub project_id: Option<Text>,
    /// How many runs; 200 if not given.
    #[serde(default)]
    #[schemars(range(min = 1, max = 5000))]
    pub monitor_limit: Option<u32>,
    /// How many documents that wait for a decision; 200 if not given.
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

/// Response of [`UiSnapshot`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct UiSnapshotResponse {
    /// The folder as it was given.
    pub workspace_dir: String,
    /// When it was looked at.
    pub generated_at: String,
    /// The worker that keeps indexes up to date.
    pub index_sync_worker: IndexSyncWorkerStatusResponse,
    /// The heartbeat.
    pub heartbeat: UiHeartbeat,
    /// What runs.
    pub monitor: MonitorSnapshotResponse,
    /// What waits for a decision.
    pub review_inbox: InboxSnapshotResponse,
    /// What was used.
    pub usage_analytics: UsageAnalyticsResponse,
    /// The agents: who is at work first.
    pub colleagues: Vec<UiColleague>,
    /// What was said in the project, newest first; none without a project.
    pub comments: Vec<Comment>,
}

/// The heartbeat in short.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct UiHeartbeat {
    /// Whether it is on.
    pub enabled: bool,
    /// Whether it beats at this moment.
    pub running: bool,
    /// How often it beats.
    pub tick_interval_minutes: u64,
    /// How many workers it wakes.
    pub top_k_workers: u64,
    /// How much there must be to do.
    pub min_wake_score: u64,
    /// Whom it may wake.
    pub hierarchy_mode: String,
    /// Who leads.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub executive_manager_agent_id: Option<String>,
    /// Whether directors may start workers.
    pub allow_director_to_spawn_workers: bool,
    /// When it beat last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_tick_at: Option<String>,
    /// When it beats next.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_tick_at: Option<String>,
    /// What it did so far.
    pub stats: UiHeartbeatStats,
}

/// What the heartbeat did so far.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct UiHeartbeatStats {
    /// How often it beat.
    pub ticks_total: u64,
    /// Workers it woke.
    pub workers_woken_total: u64,
    /// Workers with nothing to do.
    pub reports_ok_total: u64,
    /// Workers with something to do.
    pub reports_actions_total: u64,
    /// What was done at once.
    pub actions_executed_total: u64,
    /// What waits for a decision.
    pub approvals_queued_total: u64,
    /// What was asked for twice.
    pub deduped_actions_total: u64,
}

/// An agent among its colleagues.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct UiColleague {
    /// Its id.
    pub agent_id: String,
    /// Its name.
    pub name: String,
    /// What it is.
    pub role: AgentRole,
    /// What runs it.
    pub provider: String,
    /// Its team.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub team_id: Option<String>,
    /// The name of its team.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub team_name: Option<String>,
    /// Runs of the monitor that are not over.
    pub active_runs: u64,
    /// Runs of the monitor.
    pub total_runs: u64,
    /// All its runs, however many the monitor shows.
    pub all_runs: u64,
    /// Its documents that wait for a decision.
    pub pending_reviews: u64,
    /// Its decisions.
    pub recent_decisions: u64,
    /// When it was last heard of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_seen_at: Option<String>,
    /// What it is doing.
    pub status: UiColleagueStatus,
}

/// What an agent is doing.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum UiColleagueStatus {
    /// It runs something.
    Active,
    /// Something of it waits for a decision.
    NeedsReview,
    /// Nothing.
    Idle,
}

/// Params of [`UiResolve`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct UiResolveParams {
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
    /// The `sha256` of `inbox.read` that was looked at: if anything of it changed since, nothing is decided. Absent for
    /// whatever is there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expected_sha256: Option<String>,
    /// How many runs the snapshot shows; 200 if not given.
    #[serde(default)]
    #[schemars(range(min = 1, max = 5000))]
    pub monitor_limit: Option<u32>,
    /// How many documents that wait for a decision; 200 if not given.
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
}

/// Response of [`UiResolve`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct UiResolveResponse {
    /// What was decided.
    pub resolved: InboxResolveResponse,
    /// The answer of `ui.snapshot` after the decision; `null` if it could not be made.
    pub snapshot: Option<UiSnapshotResponse>,
    /// Why `snapshot` is `null`. The decision is stored nevertheless, and must not be repeated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub snapshot_error: Option<String>,
}
