//! `monitor.*`: an overview of recent runs, their sessions and their latest events.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{ActorRole, RunStatus, Text};

crate::methods! {
    Company family "monitor";

    /// Get the newest runs with their session, their last event, their policy and budget decisions and their usage.
    Read MonitorSnapshot = "monitor.snapshot" (MonitorSnapshotParams in workspace_dir as actor_role) -> MonitorSnapshotResponse;
}

/// Params of [`MonitorSnapshot`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MonitorSnapshotParams {
    /// Absolute path of the company folder.
    pub workspace_dir: Text,
    /// Return only runs of this project. All projects if absent.
    #[serde(default)]
    pub project_id: Option<Text>,
    /// The maximum number of rows to return. Default 200.
    #[serde(default)]
    #[schemars(range(min = 1, max = 5000))]
    pub limit: Option<u32>,
    /// If true, rebuilds the index first. Default false.
    #[serde(default)]
    pub refresh_index: Option<bool>,
    /// If true, syncs the index first. Default true.
    #[serde(default)]
    pub sync_index: Option<bool>,
    /// The id of the actor whose visibility applies: runs and events the actor may not see are omitted. If absent, the
    /// identity of the caller's token applies.
    #[serde(default)]
    pub actor_id: Option<Text>,
    /// The role of that actor. If absent, the role of the caller's token applies; the owner sees everything.
    #[serde(default)]
    pub actor_role: Option<ActorRole>,
    /// The id of the actor's team. If absent, the gateway uses the team stored for the agent, if the actor is an agent.
    #[serde(default)]
    pub actor_team_id: Option<Text>,
}

/// Response of [`MonitorSnapshot`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MonitorSnapshotResponse {
    /// The company folder, as given in the request.
    pub workspace_dir: String,
    /// The time the snapshot was generated, in ISO-8601.
    pub generated_at: String,
    /// True if the call rebuilt the index.
    pub index_rebuilt: bool,
    /// True if the call synced the index.
    pub index_synced: bool,
    /// The number of jobs by status, over all projects in `rows` and the requested project. Absent if there is no
    /// project.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub jobs: Option<MonitorJobs>,
    /// The runs: those with a running session first, then newest first.
    pub rows: Vec<MonitorRow>,
}

/// The number of jobs by status.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MonitorJobs {
    /// The number of jobs with status `queued`.
    pub queued: u64,
    /// The number of jobs with status `running`.
    pub running: u64,
    /// The number of jobs with status `completed`.
    pub completed: u64,
    /// The number of jobs with status `canceled`.
    pub canceled: u64,
}

/// A run, or a session whose run is not indexed yet or is not among the newest runs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MonitorRow {
    /// The id of the project.
    pub project_id: String,
    /// The id of the run.
    pub run_id: String,
    /// The time the run was created, in ISO-8601. Absent if the row comes from a session only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub created_at: Option<String>,
    /// The status stored in `run.yaml`. Absent if the row comes from a session only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run_status: Option<RunStatus>,
    /// The provider of the run. Absent if the row comes from a session only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub provider: Option<String>,
    /// The id of the agent the run belongs to. Absent if the row comes from a session only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent_id: Option<String>,
    /// The id of the context pack of the run. Absent if the row comes from a session only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context_pack_id: Option<String>,
    /// The purpose of the run, as in `run.list`. Absent if unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub goal: Option<String>,
    /// The newest session of the run. Its fields are absent if the run has no session.
    #[serde(flatten)]
    pub live: Option<MonitorLive>,
    /// The last event of the run that the actor may see. Absent if there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_event: Option<MonitorEvent>,
    /// The number of lines in the event log that are not valid JSON.
    pub parse_error_count: u64,
    /// The number of `policy.decision` events.
    pub policy_decision_count: u64,
    /// The number of `policy.denied` events.
    pub policy_denied_count: u64,
    /// The number of `budget.decision` events.
    pub budget_decision_count: u64,
    /// The number of `budget.alert` events, which report a soft limit that was reached.
    pub budget_alert_count: u64,
    /// The number of `budget.exceeded` events, which report a hard limit that was reached.
    pub budget_exceeded_count: u64,
    /// The latest policy decision. Absent if there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub latest_policy_decision: Option<MonitorPolicyDecision>,
    /// The latest policy denial. Absent if there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub latest_policy_denied: Option<MonitorPolicyDenied>,
    /// The latest budget decision. Absent if there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub latest_budget_decision: Option<MonitorBudgetDecision>,
    /// The token usage of the run. Absent if none is recorded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub token_usage: Option<MonitorTokenUsage>,
}

/// The newest session of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MonitorLive {
    /// The reference of the session.
    pub session_ref: String,
    /// The status of the session.
    pub live_status: RunStatus,
    /// True while the session waits in the queue and has no process. Absent otherwise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub live_queued: Option<bool>,
    /// The exit code of the program. `null` if it has not exited or was killed by a signal.
    pub live_exit_code: Option<i64>,
    /// The name of the signal that ended the program, such as `SIGTERM`. `null` if there was none.
    pub live_signal: Option<String>,
    /// The error of the session. Absent if there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub live_error: Option<String>,
    /// The time the session was launched, in Unix milliseconds. Absent if unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_started_at_ms: Option<i64>,
    /// The time the session ended, in Unix milliseconds. Absent while it runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_ended_at_ms: Option<i64>,
}

/// The header of an event.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MonitorEvent {
    /// The number of the event within the log of its run, starting at 1.
    pub seq: u64,
    /// The type of the event, such as `run.started`.
    pub r#type: String,
    /// The time of the event, in ISO-8601. `null` if the event has none.
    pub ts_wallclock: Option<String>,
    /// The id of the actor that caused the event. `null` if the event has none.
    pub actor: Option<String>,
    /// The visibility of the event. `null` if the event has none.
    pub visibility: Option<String>,
}

/// A policy decision. A field is absent if the event does not contain it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MonitorPolicyDecision {
    /// True if policy allowed the action.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub allowed: Option<bool>,
    /// The id of the rule that decided, such as `vis.org`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rule_id: Option<String>,
    /// The reason code of the decision, such as `org_visible`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The action that was checked, such as `launch` or `read`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub action: Option<String>,
}

/// A policy denial. A field is absent if the event does not contain it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MonitorPolicyDenied {
    /// The id of the rule that denied the action.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rule_id: Option<String>,
    /// The reason code of the denial, such as `role_not_allowed`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The action that was denied, such as `launch` or `read`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub action: Option<String>,
}

/// A budget decision. A field is absent if the event does not contain it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MonitorBudgetDecision {
    /// The owner of the budget: `run`, `task` or `project`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scope: Option<String>,
    /// The limited quantity: `cost_usd` or `tokens`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metric: Option<String>,
    /// The kind of limit: `soft` or `hard`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub severity: Option<String>,
    /// The outcome: `ok`, `alert` or `exceeded`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result: Option<String>,
    /// The amount used, in US dollars or tokens according to `metric`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub actual: Option<f64>,
    /// The limit, in US dollars or tokens according to `metric`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub threshold: Option<f64>,
}

/// The token usage of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MonitorTokenUsage {
    /// The origin of the numbers: `provider_reported` or `estimated_chars`.
    pub source: String,
    /// The confidence in the numbers: `high` or `low`.
    pub confidence: String,
    /// The total number of tokens.
    pub total_tokens: u64,
    /// The number of input tokens. Absent if unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input_tokens: Option<u64>,
    /// The number of output tokens. Absent if unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output_tokens: Option<u64>,
    /// The cost in US dollars. Absent if no price is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost_usd: Option<f64>,
}
