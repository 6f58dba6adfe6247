//! `heartbeat.*`: periodic ticks that score agents, wake those with work and execute or queue the actions they report.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    AgentId, Issue, JobKind, PermissionLevel, Text, Visibility, WorkerKind,
    workspace::CompanyFolderParams,
};

crate::methods! {
    Company family "heartbeat";

    /// Get the configuration, the stored state and the runtime state of the heartbeat of a company.
    Read HeartbeatStatus = "heartbeat.status" (CompanyFolderParams in workspace_dir) -> HeartbeatStatusResponse;
    /// Run a tick now: score the agents, wake the best ones and execute or queue the actions they report.
    ///
    /// The call waits up to 120 seconds for the reports; later reports are handled by the next tick.
    ///
    /// With `dry_run` only the scores are computed: nothing is written and no job starts.
    Exec HeartbeatTick = "heartbeat.tick" (HeartbeatTickParams in workspace_dir) -> HeartbeatTickResponse;
    /// Get the heartbeat configuration of a company. Without a configuration file, the defaults.
    Read HeartbeatConfigGet = "heartbeat.config.get" (CompanyFolderParams in workspace_dir) -> HeartbeatConfigResponse;
    /// Change the heartbeat configuration. Fields that are not given keep their value.
    ///
    /// If the heartbeat is enabled afterwards, `forecast` lists what it may start on its own, how often, and the token
    /// caps. With `dry_run` nothing is written.
    Exec HeartbeatConfigSet = "heartbeat.config.set" (HeartbeatConfigSetParams in workspace_dir only Human) -> HeartbeatConfigSetResponse;
}

/// Heartbeat configuration, on the wire as in its file `.local/heartbeat/config.yaml`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HeartbeatConfig {
    /// Schema version of the document. The gateway writes 1. Default: 1.
    #[serde(default = "one")]
    #[schemars(range(min = 1))]
    pub schema_version: u32,
    /// Document type: always `heartbeat_config`.
    #[serde(default)]
    pub r#type: HeartbeatConfigTag,
    /// Whether ticks run, periodic or requested. Default: true. Periodic ticks run only if the configuration file
    /// exists.
    #[serde(default = "yes")]
    pub enabled: bool,
    /// Minutes between two ticks. Default: 20.
    #[serde(default = "HeartbeatConfig::tick_interval_minutes")]
    #[schemars(range(min = 1, max = 1440))]
    pub tick_interval_minutes: u32,
    /// Maximum number of agents woken per tick. Default: 2.
    #[serde(default = "HeartbeatConfig::top_k_workers")]
    #[schemars(range(min = 1, max = 100))]
    pub top_k_workers: u32,
    /// Minimum score for which an agent is woken. Default: 3.
    #[serde(default = "HeartbeatConfig::min_wake_score")]
    #[schemars(range(min = 0, max = 100))]
    pub min_wake_score: u32,
    /// Minutes for which an agent that reported nothing to do is not woken again unless its facts change. Default: 60.
    #[serde(default = "HeartbeatConfig::ok_suppression_minutes")]
    #[schemars(range(min = 0, max = 1440))]
    pub ok_suppression_minutes: u32,
    /// A task counts as due if its planned end is at most this many minutes ahead. Default: 120.
    #[serde(default = "HeartbeatConfig::due_horizon_minutes")]
    #[schemars(range(min = 1, max = 1440))]
    pub due_horizon_minutes: u32,
    /// Maximum number of reported actions that one tick executes without approval. Default: 10.
    #[serde(default = "HeartbeatConfig::max_auto_actions_per_tick")]
    #[schemars(range(min = 1, max = 10_000))]
    pub max_auto_actions_per_tick: u32,
    /// Maximum number of reported actions executed without approval per hour (UTC). Default: 60.
    #[serde(default = "HeartbeatConfig::max_auto_actions_per_hour")]
    #[schemars(range(min = 1, max = 100_000))]
    pub max_auto_actions_per_hour: u32,
    /// Which agents can be woken. Default: `standard`.
    #[serde(default)]
    pub hierarchy_mode: HierarchyMode,
    /// Id of the agent that is the manager of heartbeat jobs in mode `enterprise_v1`. Absent: `heartbeat_coordinator`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub executive_manager_agent_id: Option<Text>,
    /// Whether actions reported by a director run in the name of that director, so that it can start workers of its
    /// team. Used in mode `enterprise_v1`. Default: false.
    #[serde(default)]
    pub allow_director_to_spawn_workers: bool,
    /// Hour at which the quiet hours begin, 0 to 23 in local time of the gateway. No agent is woken during them.
    /// Default: 22.
    #[serde(default = "HeartbeatConfig::quiet_hours_start_hour")]
    #[schemars(range(min = 0, max = 23))]
    pub quiet_hours_start_hour: u32,
    /// Hour at which the quiet hours end. The same hour as the start means no quiet hours. Default: 7.
    #[serde(default = "HeartbeatConfig::quiet_hours_end_hour")]
    #[schemars(range(min = 0, max = 23))]
    pub quiet_hours_end_hour: u32,
    /// Minutes after which a running job counts as stuck. Default: 30.
    #[serde(default = "HeartbeatConfig::stuck_job_running_minutes")]
    #[schemars(range(min = 1, max = 1440))]
    pub stuck_job_running_minutes: u32,
    /// Days for which an action is remembered by its idempotency key, so that it is not executed twice. Default: 14.
    #[serde(default = "HeartbeatConfig::idempotency_ttl_days")]
    #[schemars(range(min = 1, max = 365))]
    pub idempotency_ttl_days: u32,
    /// Upper limit in seconds of the random delay of each job of a periodic tick. Default: 90.
    #[serde(default = "HeartbeatConfig::jitter_max_seconds")]
    #[schemars(range(min = 0, max = 3600))]
    pub jitter_max_seconds: u32,
}

/// The document type `heartbeat_config`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum HeartbeatConfigTag {
    /// The only value.
    #[default]
    HeartbeatConfig,
}

/// Which agents can be woken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum HierarchyMode {
    /// Workers, and managers without a team or whose team has no worker.
    #[default]
    Standard,
    /// Directors and workers.
    EnterpriseV1,
}

fn one() -> u32 {
    1
}

fn yes() -> bool {
    true
}

macro_rules! usual {
    ($($field:ident = $value:literal;)+) => {
        impl HeartbeatConfig {
            $(fn $field() -> u32 {
                $value
            })+
        }

        impl Default for HeartbeatConfig {
            fn default() -> Self {
                Self {
                    schema_version: 1,
                    r#type: HeartbeatConfigTag::HeartbeatConfig,
                    enabled: true,
                    hierarchy_mode: HierarchyMode::Standard,
                    executive_manager_agent_id: None,
                    allow_director_to_spawn_workers: false,
                    $($field: $value,)+
                }
            }
        }
    };
}

usual! {
    tick_interval_minutes = 20;
    top_k_workers = 2;
    min_wake_score = 3;
    ok_suppression_minutes = 60;
    due_horizon_minutes = 120;
    max_auto_actions_per_tick = 10;
    max_auto_actions_per_hour = 60;
    quiet_hours_start_hour = 22;
    quiet_hours_end_hour = 7;
    stuck_job_running_minutes = 30;
    idempotency_ttl_days = 14;
    jitter_max_seconds = 90;
}

/// Response of [`HeartbeatConfigGet`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct HeartbeatConfigResponse(pub HeartbeatConfig);

/// Response of [`HeartbeatConfigSet`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct HeartbeatConfigSetResponse {
    /// The config after the change.
    #[serde(flatten)]
    pub config: HeartbeatConfig,
    /// Limits of automatic work. Absent if the heartbeat is disabled.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub forecast: Option<HeartbeatForecast>,
}

/// Limits of the work that an enabled heartbeat starts without a request.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct HeartbeatForecast {
    /// The other fields in one sentence, for people.
    pub summary: String,
    /// The agents that can be woken, sorted by id.
    pub agents: Vec<HeartbeatForecastAgent>,
    /// Minutes between two ticks.
    pub tick_interval_minutes: u32,
    /// Maximum number of workers that one tick starts.
    pub max_workers_per_tick: u32,
    /// Maximum number of workers that the ticks of one hour start.
    pub max_workers_per_hour: u32,
    /// Maximum number of reported actions executed without approval per hour; an action can be a further job.
    pub max_auto_actions_per_hour: u32,
    /// The token cap of each readable project.
    pub token_caps: Vec<HeartbeatForecastCap>,
}

/// An agent that can be woken.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct HeartbeatForecastAgent {
    /// Id of the agent.
    pub agent_id: String,
    /// Name of the agent.
    pub name: String,
    /// Worker program that is started for the agent.
    pub worker_kind: WorkerKind,
}

/// The token cap of a project.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct HeartbeatForecastCap {
    /// Id of the project.
    pub project_id: String,
    /// Name of the project.
    pub name: String,
    /// Number of tokens after which no worker of the project starts. Absent if the budget of the project has no such
    /// limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hard_tokens: Option<u64>,
}

/// Params of [`HeartbeatConfigSet`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HeartbeatConfigSetParams {
    /// Path of the company folder.
    pub workspace_dir: Text,
    /// Whether ticks run, periodic or requested.
    #[serde(default)]
    pub enabled: Option<bool>,
    /// Minutes between two ticks.
    #[serde(default)]
    #[schemars(range(min = 1, max = 1440))]
    pub tick_interval_minutes: Option<u32>,
    /// Maximum number of agents woken per tick.
    #[serde(default)]
    #[schemars(range(min = 1, max = 100))]
    pub top_k_workers: Option<u32>,
    /// Minimum score for which an agent is woken.
    #[serde(default)]
    #[schemars(range(min = 0, max = 100))]
    pub min_wake_score: Option<u32>,
    /// Minutes for which an agent that reported nothing to do is not woken again unless its facts change.
    #[serde(default)]
    #[schemars(range(min = 0, max = 1440))]
    pub ok_suppression_minutes: Option<u32>,
    /// A task counts as due if its planned end is at most this many minutes ahead.
    #[serde(default)]
    #[schemars(range(min = 1, max = 1440))]
    pub due_horizon_minutes: Option<u32>,
    /// Maximum number of reported actions that one tick executes without approval.
    #[serde(default)]
    #[schemars(range(min = 1, max = 10_000))]
    pub max_auto_actions_per_tick: Option<u32>,
    /// Maximum number of reported actions executed without approval per hour (UTC).
    #[serde(default)]
    #[schemars(range(min = 1, max = 100_000))]
    pub max_auto_actions_per_hour: Option<u32>,
    /// Which agents can be woken.
    #[serde(default)]
    pub hierarchy_mode: Option<HierarchyMode>,
    /// Id of the agent that is the manager of heartbeat jobs in mode `enterprise_v1`. It can be changed but not
    /// removed.
    #[serde(default)]
    pub executive_manager_agent_id: Option<AgentId>,
    /// Whether actions reported by a director run in the name of that director.
    #[serde(default)]
    pub allow_director_to_spawn_workers: Option<bool>,
    /// Hour at which the quiet hours begin, in local time of the gateway.
    #[serde(default)]
    #[schemars(range(min = 0, max = 23))]
    pub quiet_hours_start_hour: Option<u32>,
    /// Hour at which the quiet hours end. The same hour as the start means no quiet hours.
    #[serde(default)]
    #[schemars(range(min = 0, max = 23))]
    pub quiet_hours_end_hour: Option<u32>,
    /// Minutes after which a running job counts as stuck.
    #[serde(default)]
    #[schemars(range(min = 1, max = 1440))]
    pub stuck_job_running_minutes: Option<u32>,
    /// Days for which an action is remembered by its idempotency key.
    #[serde(default)]
    #[schemars(range(min = 1, max = 365))]
    pub idempotency_ttl_days: Option<u32>,
    /// Upper limit in seconds of the random delay of each job of a periodic tick.
    #[serde(default)]
    #[schemars(range(min = 0, max = 3600))]
    pub jitter_max_seconds: Option<u32>,
    /// If true, return the resulting configuration and write nothing. Default: false.
    #[serde(default)]
    pub dry_run: Option<bool>,
}

impl HeartbeatConfigSetParams {
    /// Returns the configuration with the given fields replaced.
    pub fn merged_into(self, config: &HeartbeatConfig) -> HeartbeatConfig {
        let old = config.clone();
        let text = |id: AgentId| Text::new(String::from(id));
        HeartbeatConfig {
            schema_version: old.schema_version,
            r#type: old.r#type,
            enabled: self.enabled.unwrap_or(old.enabled),
            tick_interval_minutes: self
                .tick_interval_minutes
                .unwrap_or(old.tick_interval_minutes),
            top_k_workers: self.top_k_workers.unwrap_or(old.top_k_workers),
            min_wake_score: self.min_wake_score.unwrap_or(old.min_wake_score),
            ok_suppression_minutes: self
                .ok_suppression_minutes
                .unwrap_or(old.ok_suppression_minutes),
            due_horizon_minutes: self.due_horizon_minutes.unwrap_or(old.due_horizon_minutes),
            max_auto_actions_per_tick: self
                .max_auto_actions_per_tick
                .unwrap_or(old.max_auto_actions_per_tick),
            max_auto_actions_per_hour: self
                .max_auto_actions_per_hour
                .unwrap_or(old.max_auto_actions_per_hour),
            hierarchy_mode: self.hierarchy_mode.unwrap_or(old.hierarchy_mode),
            executive_manager_agent_id: self
                .executive_manager_agent_id
                .and_then(text)
                .or(old.executive_manager_agent_id),
            allow_director_to_spawn_workers: self
                .allow_director_to_spawn_workers
                .unwrap_or(old.allow_director_to_spawn_workers),
            quiet_hours_start_hour: self
                .quiet_hours_start_hour
                .unwrap_or(old.quiet_hours_start_hour),
            quiet_hours_end_hour: self
                .quiet_hours_end_hour
                .unwrap_or(old.quiet_hours_end_hour),
            stuck_job_running_minutes: self
                .stuck_job_running_minutes
                .unwrap_or(old.stuck_job_running_minutes),
            idempotency_ttl_days: self
                .idempotency_ttl_days
                .unwrap_or(old.idempotency_ttl_days),
            jitter_max_seconds: self.jitter_max_seconds.unwrap_or(old.jitter_max_seconds),
        }
    }
}

/// Params of [`HeartbeatTick`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct HeartbeatTickParams {
    /// Path of the company folder.
    pub workspace_dir: Text,
    /// If true, compute the scores and change nothing. Default: false.
    #[serde(default)]
    pub dry_run: Option<bool>,
    /// Reason of the tick, recorded in the state. Default: `rpc`.
    #[serde(default)]
    pub reason: Option<Text>,
}

/// Response of [`HeartbeatTick`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct HeartbeatTickResponse {
    /// Id of the tick: `hbtick_` and a suffix.
    pub tick_id: String,
    /// The company folder, as given in the request.
    pub workspace_dir: String,
    /// Reason of the tick: `interval` for periodic ticks, otherwise the reason of the request.
    pub reason: String,
    /// Start of the tick, ISO-8601 in UTC.
    pub started_at: String,
    /// End of the tick, ISO-8601 in UTC.
    pub finished_at: String,
    /// Duration in milliseconds.
    pub duration_ms: u64,
    /// Whether the tick only computed scores.
    pub dry_run: bool,
    /// Whether the heartbeat is enabled.
    pub enabled: bool,
    /// True if the tick did nothing because another tick of the company is running.
    pub skipped_due_to_running: bool,
    /// Why the tick did nothing: `tick_already_in_progress`, `heartbeat_disabled` or `ticked_by_another_process`.
    /// Absent if it ran.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub skipped_reason: Option<String>,
    /// The configuration that applied.
    pub config: HeartbeatConfig,
    /// All agents that were scored.
    pub candidates: Vec<HeartbeatCandidate>,
    /// The agents that are woken, highest score first. In a dry run, those that would be woken.
    pub woken_workers: Vec<HeartbeatWake>,
    /// The jobs that were started for them. Empty in a dry run.
    pub jobs_submitted: Vec<HeartbeatJob>,
    /// Number of reports received, including late reports of earlier ticks.
    pub reports_processed: u64,
    /// Number of reports with status `ok`.
    pub reports_ok: u64,
    /// Number of reports with status `actions`.
    pub reports_actions: u64,
    /// Number of actions executed.
    pub actions_executed: u64,
    /// Number of actions queued for approval.
    pub approvals_queued: u64,
    /// Number of actions skipped because their idempotency key was seen before.
    pub deduped_actions: u64,
    /// Number of actions that need approval but name no project, so that no proposal can be written.
    pub skipped_actions: u64,
}

/// An agent that was scored.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct HeartbeatCandidate {
    /// Id of the agent.
    pub worker_agent_id: String,
    /// Id of its team. Absent if it has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub team_id: Option<String>,
    /// Sum of `components`.
    pub score: i64,
    /// The parts of the score.
    pub components: HeartbeatComponents,
    /// The facts that were counted for the agent.
    pub counts: HeartbeatCounts,
    /// SHA-256 of these facts in hexadecimal; it shows whether they changed since the last tick.
    pub context_hash: String,
    /// Whether the agent is not woken, whatever its score.
    pub suppressed: bool,
    /// Why: `suppressed_until=<time>` after a report with nothing to do, or `quiet_hours`. Absent if not suppressed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub suppression_reason: Option<String>,
}

/// The parts of the score of an agent.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct HeartbeatComponents {
    /// 5 if there are new events, else 0.
    pub new_signal_points: i64,
    /// 3 if a task is due, else 0.
    pub due_points: i64,
    /// 2 if a task is overdue, else 0.
    pub overdue_points: i64,
    /// 4 if a job is stuck, else 0.
    pub stuck_points: i64,
    /// -3 if the agent recently reported nothing to do and its facts are unchanged, else 0.
    pub recent_ok_penalty: i64,
    /// -2 during the quiet hours, else 0.
    pub quiet_hours_penalty: i64,
}

/// The facts that count for the score of an agent.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct HeartbeatCounts {
    /// Number of new events of its runs and by the agent itself since the last tick.
    pub new_signals: u64,
    /// Number of tasks whose planned end is within `due_horizon_minutes`.
    pub due_tasks: u64,
    /// Number of tasks whose planned end has passed.
    pub overdue_tasks: u64,
    /// Number of running jobs whose last attempt started `stuck_job_running_minutes` ago, or with two failed attempts.
    pub stuck_jobs: u64,
}

/// An agent that is woken.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct HeartbeatWake {
    /// Id of the agent.
    pub worker_agent_id: String,
    /// Id of its team. Absent if it has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub team_id: Option<String>,
    /// Project of most of its facts, otherwise that of its latest run. Absent if there is neither.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project_id: Option<String>,
    /// Score of the agent.
    pub score: i64,
    /// Random delay in seconds of its job. Only periodic ticks apply it.
    pub jitter_seconds: u32,
    /// SHA-256 of the facts of the agent, in hexadecimal.
    pub context_hash: String,
    /// The reasons as phrases, such as `2 new events`.
    pub reasons: Vec<String>,
}

/// The heartbeat job of a woken agent.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct HeartbeatJob {
    /// Id of the agent.
    pub worker_agent_id: String,
    /// Id of the project of the job.
    pub project_id: String,
    /// Id of the job.
    pub job_id: String,
    /// Random delay in seconds before the job starts. Only periodic ticks apply it.
    pub jitter_seconds: u32,
}

/// Response of [`HeartbeatStatus`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct HeartbeatStatusResponse {
    /// The company folder, as given in the request.
    pub workspace_dir: String,
    /// Always true: a request that names a folder observes it.
    pub observed: bool,
    /// The effective configuration.
    pub config: HeartbeatConfig,
    /// Why the configuration file is invalid; the heartbeat is disabled then. Absent if the file is valid or missing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub config_error: Option<String>,
    /// The stored state.
    pub state: HeartbeatState,
    /// The state of this process.
    pub runtime: HeartbeatRuntime,
}

/// Runtime state of a heartbeat in this process.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct HeartbeatRuntime {
    /// Whether periodic ticks are scheduled.
    pub loop_running: bool,
    /// Whether a tick is running in this process.
    pub tick_in_progress: bool,
    /// Time of the next periodic tick, ISO-8601 in UTC. Absent if none is scheduled.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_scheduled_at: Option<String>,
    /// Error of the last periodic tick. Absent if it succeeded or none ran.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_error: Option<String>,
    /// Response of the last tick of this process, dry runs included. Absent before the first tick.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_tick_summary: Option<Box<HeartbeatTickResponse>>,
}

/// Stored state of a heartbeat, on the wire as in its file `.local/heartbeat/state.yaml`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HeartbeatState {
    /// Schema version of the document. The gateway writes 1. Default: 1.
    #[serde(default = "one")]
    #[schemars(range(min = 1))]
    pub schema_version: u32,
    /// Document type: always `heartbeat_state`.
    #[serde(default)]
    pub r#type: HeartbeatStateTag,
    /// Whether a tick is running.
    #[serde(default)]
    pub running: bool,
    /// Id of the last tick. Absent before the first tick.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_tick_id: Option<Text>,
    /// Start of the last tick, ISO-8601 in UTC. Absent before the first tick.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_tick_at: Option<Text>,
    /// Reason of the last tick. Absent before the first tick.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_tick_reason: Option<Text>,
    /// Planned time of the next periodic tick, ISO-8601 in UTC. Absent before the first tick.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_tick_at: Option<Text>,
    /// Number of the last event seen of each run, by `<project>::<run>`.
    #[serde(default)]
    pub run_event_cursors: BTreeMap<String, u64>,
    /// State of each agent, by agent id.
    #[serde(default)]
    pub worker_state: BTreeMap<String, HeartbeatWorkerState>,
    /// Actions that were seen and have not expired, by idempotency key.
    #[serde(default)]
    pub idempotency: BTreeMap<String, HeartbeatAction>,
    /// Number of actions executed in each hour, by `YYYY-MM-DD-HH` in UTC. Hours older than two days are dropped.
    #[serde(default)]
    pub hourly_action_counters: BTreeMap<String, u64>,
    /// Counters since the state file was created.
    #[serde(default)]
    pub stats: HeartbeatStats,
}

/// The document type `heartbeat_state`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum HeartbeatStateTag {
    /// The only value.
    #[default]
    HeartbeatState,
}

/// Stored state of one agent.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HeartbeatWorkerState {
    /// Time of its last report with nothing to do, ISO-8601 in UTC. Absent if there was none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_ok_at: Option<Text>,
    /// Hash of its facts at the last tick. Absent before the first tick.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_context_hash: Option<Text>,
    /// Time until which it is not woken unless its facts change, ISO-8601 in UTC. Absent if it is not suppressed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub suppressed_until: Option<Text>,
    /// Time it was last woken, ISO-8601 in UTC. Absent if it never was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_wake_at: Option<Text>,
    /// Status of its last report. Absent if there was none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_report_status: Option<HeartbeatReportStatus>,
}

/// Status of a report.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum HeartbeatReportStatus {
    /// The agent has nothing to do.
    Ok,
    /// The agent proposes actions.
    Actions,
}

/// An action that was seen, kept to recognize it by its key.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HeartbeatAction {
    /// Idempotency key of the action.
    pub idempotency_key: Text,
    /// Kind of the action: `launch_job`, `add_comment`, `create_approval_item` or `noop`.
    pub action_kind: Text,
    /// Time it was first seen, ISO-8601 in UTC.
    pub first_seen_at: Text,
    /// Time it was last seen, ISO-8601 in UTC.
    pub last_seen_at: Text,
    /// Time at which the entry is dropped, ISO-8601 in UTC.
    pub expires_at: Text,
    /// Current status of the action.
    pub status: HeartbeatActionStatus,
    /// Number of times it was executed.
    pub execution_count: u64,
}

/// Status of an action that was seen.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum HeartbeatActionStatus {
    /// It waits for approval.
    Queued,
    /// It was executed.
    Executed,
}

/// Counters of a heartbeat.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HeartbeatStats {
    /// Number of ticks.
    #[serde(default)]
    pub ticks_total: u64,
    /// Number of agents woken.
    #[serde(default)]
    pub workers_woken_total: u64,
    /// Number of reports with status `ok`.
    #[serde(default)]
    pub reports_ok_total: u64,
    /// Number of reports with status `actions`.
    #[serde(default)]
    pub reports_actions_total: u64,
    /// Number of actions executed by ticks.
    #[serde(default)]
    pub actions_executed_total: u64,
    /// Number of actions queued for approval.
    #[serde(default)]
    pub approvals_queued_total: u64,
    /// Number of actions skipped because their key was seen before.
    #[serde(default)]
    pub deduped_actions_total: u64,
}

/// An action that a woken agent proposes. Its idempotency key makes sure that it is executed once.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum ProposedAction {
    /// Submit a job.
    LaunchJob {
        /// Key by which repeated proposals of the action are recognized.
        idempotency_key: Text,
        /// Risk of the action. Only `low` is executed without approval.
        risk: ActionRisk,
        /// Whether the action must be approved first, whatever its risk.
        needs_approval: bool,
        /// Visibility that policy assumes for the action. Absent: `managers`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        visibility: Option<Visibility>,
        /// Summary of the action in one sentence. Absent if not given.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        summary: Option<Text>,
        /// Id of the project.
        project_id: Text,
        /// Goal of the job.
        goal: Text,
        /// Kind of the job. Absent: `execution`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        job_kind: Option<JobKind>,
        /// Role intended for the agent of the job, noted in its context. A director may start workers of its own team
        /// only. Absent: not stated.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        target_role: Option<TargetRole>,
        /// Worker program of the job. Default: `codex`.
        #[serde(default)]
        worker_kind: WorkerKind,
        /// Id of the agent that does the job. Absent: chosen by the gateway.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        worker_agent_id: Option<Text>,
        /// Constraints of the job. Default: none.
        #[serde(default)]
        constraints: Vec<Text>,
        /// Deliverables of the job. Default: none; the gateway then adds a generic one.
        #[serde(default)]
        deliverables: Vec<Text>,
        /// Permissions of the worker. Default: `read-only`.
        #[serde(default)]
        permission_level: PermissionLevel,
        /// Note that is added to the context of the job. Absent: a note that names the idempotency key.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        context_note: Option<Text>,
        /// Id of the task the job works on. Absent if none.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        task_id: Option<Text>,
        /// Id of the milestone the job works on. Absent if none.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        milestone_id: Option<Text>,
    },
    /// Add a comment on an agent, a document or a run.
    AddComment {
        /// Key by which repeated proposals of the action are recognized.
        idempotency_key: Text,
        /// Risk of the action. Only `low` is executed without approval.
        risk: ActionRisk,
        /// Whether the action must be approved first, whatever its risk.
        needs_approval: bool,
        /// Who may read the comment. Absent: `managers`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        visibility: Option<Visibility>,
        /// Summary of the action in one sentence. Absent if not given.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        summary: Option<Text>,
        /// Id of the project.
        project_id: Text,
        /// Text of the comment.
        body: Text,
        /// Id of the agent that the comment refers to. At least one of the three targets is required.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        target_agent_id: Option<Text>,
        /// Id of the document that the comment refers to.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        target_artifact_id: Option<Text>,
        /// Id of the run that the comment refers to.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        target_run_id: Option<Text>,
    },
    /// Write a proposal that waits for a decision in the inbox.
    CreateApprovalItem {
        /// Key by which repeated proposals of the action are recognized.
        idempotency_key: Text,
        /// Risk of the action. It does not matter for this kind, which always waits for a decision.
        risk: ActionRisk,
        /// Whether the action must be approved first. It does not matter for this kind.
        needs_approval: bool,
        /// Visibility that policy assumes for the action. Absent: `managers`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        visibility: Option<Visibility>,
        /// Summary of the action in one sentence. Absent if not given.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        summary: Option<Text>,
        /// Id of the project.
        project_id: Text,
        /// The question to decide.
        title: Text,
        /// Why a decision is needed. Absent if not given.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        rationale: Option<Text>,
        /// Action that is executed on approval, of one of the other kinds. Absent: nothing is executed.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        proposed_action: Option<Box<ProposedAction>>,
    },
    /// Do nothing; the action is only recorded.
    Noop {
        /// Key by which repeated proposals of the action are recognized.
        idempotency_key: Text,
        /// Risk of the action.
        risk: ActionRisk,
        /// Whether the action must be approved first. It has no project, so it is skipped then.
        needs_approval: bool,
        /// Visibility that policy assumes for the action. Absent: `managers`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        visibility: Option<Visibility>,
        /// Summary of the action in one sentence. Absent if not given.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        summary: Option<Text>,
        /// Why there is nothing to do.
        reason: Text,
    },
}

impl ProposedAction {
    /// Returns the idempotency key.
    pub fn idempotency_key(&self) -> &Text {
        let (Self::LaunchJob {
            idempotency_key, ..
        }
        | Self::AddComment {
            idempotency_key, ..
        }
        | Self::CreateApprovalItem {
            idempotency_key, ..
        }
        | Self::Noop {
            idempotency_key, ..
        }) = self;
        idempotency_key
    }

    /// Returns the risk.
    pub fn risk(&self) -> ActionRisk {
        let (Self::LaunchJob { risk, .. }
        | Self::AddComment { risk, .. }
        | Self::CreateApprovalItem { risk, .. }
        | Self::Noop { risk, .. }) = self;
        *risk
    }

    /// Returns whether the action must be approved first.
    pub fn needs_approval(&self) -> bool {
        let (Self::LaunchJob { needs_approval, .. }
        | Self::AddComment { needs_approval, .. }
        | Self::CreateApprovalItem { needs_approval, .. }
        | Self::Noop { needs_approval, .. }) = self;
        *needs_approval
    }

    /// Returns the summary.
    pub fn summary(&self) -> Option<&Text> {
        let (Self::LaunchJob { summary, .. }
        | Self::AddComment { summary, .. }
        | Self::CreateApprovalItem { summary, .. }
        | Self::Noop { summary, .. }) = self;
        summary.as_ref()
    }

    /// Returns the project, which every kind but `noop` has.
    pub fn project_id(&self) -> Option<&Text> {
        match self {
            Self::LaunchJob { project_id, .. }
            | Self::AddComment { project_id, .. }
            | Self::CreateApprovalItem { project_id, .. } => Some(project_id),
            Self::Noop { .. } => None,
        }
    }

    /// Returns the kind on the wire.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::LaunchJob { .. } => "launch_job",
            Self::AddComment { .. } => "add_comment",
            Self::CreateApprovalItem { .. } => "create_approval_item",
            Self::Noop { .. } => "noop",
        }
    }

    /// Returns the violations of rules that span several fields.
    pub fn refine(&self, place: &str) -> Vec<Issue> {
        match self {
            Self::AddComment {
                target_agent_id: None,
                target_artifact_id: None,
                target_run_id: None,
                ..
            } => vec![Issue::custom(
                place,
                "a comment needs one of target_agent_id, target_artifact_id, target_run_id",
            )],
            Self::CreateApprovalItem {
                proposed_action: Some(inner),
                ..
            } => match **inner {
                Self::CreateApprovalItem { .. } => vec![Issue::custom(
                    &format!("{place}.proposed_action"),
                    "an approval item cannot propose another approval item",
                )],
                Self::LaunchJob { .. } | Self::AddComment { .. } | Self::Noop { .. } => {
                    inner.refine(&format!("{place}.proposed_action"))
                }
            },
            Self::LaunchJob { .. }
            | Self::AddComment { .. }
            | Self::CreateApprovalItem { .. }
            | Self::Noop { .. } => Vec::new(),
        }
    }
}

/// Risk of an action, as the agent states it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ActionRisk {
    /// Harmless: the gateway may execute the action without approval.
    Low,
    /// The action needs approval.
    Medium,
    /// The action needs approval.
    High,
}

/// Role of the agent that does a job.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TargetRole {
    /// A director.
    Director,
    /// A worker.
    Worker,
}
