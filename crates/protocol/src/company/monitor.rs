//! `monitor.*`: what runs, and what happened last.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{ActorRole, RunStatus, Text};

crate::methods! {
    Company family "monitor";

    /// Show the newest runs with their last event, their decisions and what they used.
    Read MonitorSnapshot = "monitor.snapshot" (MonitorSnapshotParams in workspace_dir as actor_role) -> MonitorSnapshotResponse;
}

/// Params of [`MonitorSnapshot`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MonitorSnapshotParams {
    /// The company folder.
    pub workspace_dir: Text,
    /// Only of this project.
    #[serde(default)]
    pub project_id: Option<Text>,
    /// How many runs; 200 if not given.
    #[serde(default)]
    #[schemars(range(min = 1, max = 5000))]
    pub limit: Option<u32>,
    /// Build the index anew first.
    #[serde(default)]
    pub refresh_index: Option<bool>,
    /// Bring the index up to date first; true if not given.
    #[serde(default)]
    pub sync_index: Option<bool>,
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

/// Response of [`MonitorSnapshot`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MonitorSnapshotResponse {
    /// The folder as it was given.
    pub workspace_dir: String,
    /// When it was looked at.
    pub generated_at: String,
    /// Whether the index was built for it.
    pub index_rebuilt: bool,
    /// Whether the index was brought up to date for it.
    pub index_synced: bool,
    /// The jobs of the projects that are shown; absent if none is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub jobs: Option<MonitorJobs>,
    /// What is live, then the newest.
    pub rows: Vec<MonitorRow>,
}

/// How many jobs stand how.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MonitorJobs {
    /// Waiting.
    pub queued: u64,
    /// At work.
    pub running: u64,
    /// Done.
    pub completed: u64,
    /// Given up.
    pub canceled: u64,
}

/// A run, or a session without one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MonitorRow {
    /// The project.
    pub project_id: String,
    /// The run.
    pub run_id: String,
    /// When it was made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub created_at: Option<String>,
    /// Where it stands, as its document says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run_status: Option<RunStatus>,
    /// What runs it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub provider: Option<String>,
    /// The agent that runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent_id: Option<String>,
    /// What it was given to know.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context_pack_id: Option<String>,
    /// What the run is for, as in `run.list`; absent if it is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub goal: Option<String>,
    /// Its newest session.
    #[serde(flatten)]
    pub live: Option<MonitorLive>,
    /// What happened last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_event: Option<MonitorEvent>,
    /// Lines of its log that are not JSON.
    pub parse_error_count: u64,
    /// Policy decisions.
    pub policy_decision_count: u64,
    /// What policy forbade.
    pub policy_denied_count: u64,
    /// Budget decisions.
    pub budget_decision_count: u64,
    /// Budgets that are nearly used up.
    pub budget_alert_count: u64,
    /// Budgets that are used up.
    pub budget_exceeded_count: u64,
    /// What policy said last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub latest_policy_decision: Option<MonitorPolicyDecision>,
    /// What policy forbade last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub latest_policy_denied: Option<MonitorPolicyDenied>,
    /// What was said last about a budget.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub latest_budget_decision: Option<MonitorBudgetDecision>,
    /// What it used.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub token_usage: Option<MonitorTokenUsage>,
}

/// The session of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MonitorLive {
    /// Its name.
    pub session_ref: String,
    /// Where it stands.
    pub live_status: RunStatus,
    /// True while the session waits in the queue and has no process; absent otherwise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub live_queued: Option<bool>,
    /// How it ended.
    pub live_exit_code: Option<i64>,
    /// What ended it.
    pub live_signal: Option<String>,
    /// What went wrong.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub live_error: Option<String>,
    /// When it began.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_started_at_ms: Option<i64>,
    /// When it ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_ended_at_ms: Option<i64>,
}

/// An event, in short.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MonitorEvent {
    /// Its place in the log.
    pub seq: u64,
    /// What happened.
    pub r#type: String,
    /// When.
    pub ts_wallclock: Option<String>,
    /// Who did it.
    pub actor: Option<String>,
    /// Who may see it.
    pub visibility: Option<String>,
}

/// What policy said.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MonitorPolicyDecision {
    /// Whether it was allowed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub allowed: Option<bool>,
    /// The rule that decided.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rule_id: Option<String>,
    /// Why.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// What was tried.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub action: Option<String>,
}

/// What policy forbade.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MonitorPolicyDenied {
    /// The rule that decided.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rule_id: Option<String>,
    /// Why.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// What was tried.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub action: Option<String>,
}

/// What was said about a budget.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MonitorBudgetDecision {
    /// Whose budget: `run`, `task` or `project`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scope: Option<String>,
    /// Of what: `cost_usd` or `tokens`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metric: Option<String>,
    /// `soft` or `hard`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub severity: Option<String>,
    /// `ok`, `alert` or `exceeded`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result: Option<String>,
    /// What was used.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub actual: Option<f64>,
    /// What may be used.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub threshold: Option<f64>,
}

/// What a run used.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MonitorTokenUsage {
    /// Who counted: `provider_reported` or `estimated_chars`.
    pub source: String,
    /// How sure that is: `high` or `low`.
    pub confidence: String,
    /// All tokens.
    pub total_tokens: u64,
    /// Tokens in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input_tokens: Option<u64>,
    /// Tokens out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output_tokens: Option<u64>,
    /// What it cost.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost_usd: Option<f64>,
}
