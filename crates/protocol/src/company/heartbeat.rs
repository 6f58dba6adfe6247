//! `heartbeat.*`: who is woken, when and why.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    AgentId, Issue, JobKind, PermissionLevel, Text, Visibility, WorkerKind,
    workspace::CompanyFolderParams,
};

crate::methods! {
    Company family "heartbeat";

    /// Tell how the heartbeat stands: how it is set, what it remembers, what it does now.
    Read HeartbeatStatus = "heartbeat.status" (CompanyFolderParams in workspace_dir) -> HeartbeatStatusResponse;
    /// Look around now: wake who has reason to be woken, wait for their reports, do or queue what they want.
    ///
    /// With `dry_run` nothing is written and nobody is woken.
    Exec HeartbeatTick = "heartbeat.tick" (HeartbeatTickParams in workspace_dir) -> HeartbeatTickResponse;
    /// Tell how the heartbeat of a company is set.
    Read HeartbeatConfigGet = "heartbeat.config.get" (CompanyFolderParams in workspace_dir) -> HeartbeatConfigResponse;
    /// Change how it is set; what is not given stays.
    ///
    /// If it beats afterwards, `forecast` says what it may start by itself, how often, and the token caps. With
    /// `dry_run` nothing is written.
    Exec HeartbeatConfigSet = "heartbeat.config.set" (HeartbeatConfigSetParams in workspace_dir only Human) -> HeartbeatConfigSetResponse;
}

/// How the heartbeat of a company is set, on the wire as in its file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HeartbeatConfig {
    /// 1.
    #[serde(default = "one")]
    #[schemars(range(min = 1))]
    pub schema_version: u32,
    /// `heartbeat_config`.
    #[serde(default)]
    pub r#type: HeartbeatConfigTag,
    /// Whether it beats.
    #[serde(default = "yes")]
    pub enabled: bool,
    /// How often.
    #[serde(default = "HeartbeatConfig::tick_interval_minutes")]
    #[schemars(range(min = 1, max = 1440))]
    pub tick_interval_minutes: u32,
    /// How many workers are woken at once.
    #[serde(default = "HeartbeatConfig::top_k_workers")]
    #[schemars(range(min = 1, max = 100))]
    pub top_k_workers: u32,
    /// How much reason there must be to wake one.
    #[serde(default = "HeartbeatConfig::min_wake_score")]
    #[schemars(range(min = 0, max = 100))]
    pub min_wake_score: u32,
    /// For how long a worker that had nothing to do is left alone.
    #[serde(default = "HeartbeatConfig::ok_suppression_minutes")]
    #[schemars(range(min = 0, max = 1440))]
    pub ok_suppression_minutes: u32,
    /// How far ahead a task counts as due.
    #[serde(default = "HeartbeatConfig::due_horizon_minutes")]
    #[schemars(range(min = 1, max = 1440))]
    pub due_horizon_minutes: u32,
    /// How many actions may be done at once without asking.
    #[serde(default = "HeartbeatConfig::max_auto_actions_per_tick")]
    #[schemars(range(min = 1, max = 10_000))]
    pub max_auto_actions_per_tick: u32,
    /// How many in an hour.
    #[serde(default = "HeartbeatConfig::max_auto_actions_per_hour")]
    #[schemars(range(min = 1, max = 100_000))]
    pub max_auto_actions_per_hour: u32,
    /// Who is in the pool.
    #[serde(default)]
    pub hierarchy_mode: HierarchyMode,
    /// Who leads the work.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub executive_manager_agent_id: Option<Text>,
    /// Whether directors may start workers of their team.
    #[serde(default)]
    pub allow_director_to_spawn_workers: bool,
    /// When the quiet hours begin, in local time.
    #[serde(default = "HeartbeatConfig::quiet_hours_start_hour")]
    #[schemars(range(min = 0, max = 23))]
    pub quiet_hours_start_hour: u32,
    /// When they end.
    #[serde(default = "HeartbeatConfig::quiet_hours_end_hour")]
    #[schemars(range(min = 0, max = 23))]
    pub quiet_hours_end_hour: u32,
    /// After how long a running job counts as stuck.
    #[serde(default = "HeartbeatConfig::stuck_job_running_minutes")]
    #[schemars(range(min = 1, max = 1440))]
    pub stuck_job_running_minutes: u32,
    /// For how long an action is remembered, so that it is not done twice.
    #[serde(default = "HeartbeatConfig::idempotency_ttl_days")]
    #[schemars(range(min = 1, max = 365))]
    pub idempotency_ttl_days: u32,
    /// By how much wakes are spread.
    #[serde(default = "HeartbeatConfig::jitter_max_seconds")]
    #[schemars(range(min = 0, max = 3600))]
    pub jitter_max_seconds: u32,
}

/// The word `heartbeat_config`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum HeartbeatConfigTag {
    /// The word `heartbeat_config`.
    #[default]
    HeartbeatConfig,
}

/// Who is in the pool of workers that can be woken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum HierarchyMode {
    /// Workers, and managers without workers.
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
    /// What the heartbeat may start by itself; absent if it does not beat.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub forecast: Option<HeartbeatForecast>,
}

/// What a heartbeat that beats may start without being asked.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct HeartbeatForecast {
    /// The rest of this in one sentence.
    pub summary: String,
    /// The agents that can be woken, sorted by id.
    pub agents: Vec<HeartbeatForecastAgent>,
    /// Minutes between two ticks.
    pub tick_interval_minutes: u32,
    /// How many workers one tick starts at most.
    pub max_workers_per_tick: u32,
    /// How many workers the ticks of an hour start at most.
    pub max_workers_per_hour: u32,
    /// How many actions of woken workers, which can be further jobs, are done without asking in an hour at most.
    pub max_auto_actions_per_hour: u32,
    /// The token cap of each project.
    pub token_caps: Vec<HeartbeatForecastCap>,
}

/// An agent that can be woken.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct HeartbeatForecastAgent {
    /// The agent.
    pub agent_id: String,
    /// Its name.
    pub name: String,
    /// The worker program that is started for it.
    pub worker_kind: WorkerKind,
}

/// The token cap of a project.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct HeartbeatForecastCap {
    /// The project.
    pub project_id: String,
    /// Its name.
    pub name: String,
    /// Tokens after which no worker of the project starts any more; absent if the project's budget has no such limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hard_tokens: Option<u64>,
}

/// Params of [`HeartbeatConfigSet`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HeartbeatConfigSetParams {
    /// The company folder.
    pub workspace_dir: Text,
    /// Whether it beats.
    #[serde(default)]
    pub enabled: Option<bool>,
    /// How often.
    #[serde(default)]
    #[schemars(range(min = 1, max = 1440))]
    pub tick_interval_minutes: Option<u32>,
    /// How many workers are woken at once.
    #[serde(default)]
    #[schemars(range(min = 1, max = 100))]
    pub top_k_workers: Option<u32>,
    /// How much reason there must be to wake one.
    #[serde(default)]
    #[schemars(range(min = 0, max = 100))]
    pub min_wake_score: Option<u32>,
    /// For how long a worker that had nothing to do is left alone.
    #[serde(default)]
    #[schemars(range(min = 0, max = 1440))]
    pub ok_suppression_minutes: Option<u32>,
    /// How far ahead a task counts as due.
    #[serde(default)]
    #[schemars(range(min = 1, max = 1440))]
    pub due_horizon_minutes: Option<u32>,
    /// How many actions may be done at once without asking.
    #[serde(default)]
    #[schemars(range(min = 1, max = 10_000))]
    pub max_auto_actions_per_tick: Option<u32>,
    /// How many in an hour.
    #[serde(default)]
    #[schemars(range(min = 1, max = 100_000))]
    pub max_auto_actions_per_hour: Option<u32>,
    /// Who is in the pool.
    #[serde(default)]
    pub hierarchy_mode: Option<HierarchyMode>,
    /// Who leads the work.
    #[serde(default)]
    pub executive_manager_agent_id: Option<AgentId>,
    /// Whether directors may start workers of their team.
    #[serde(default)]
    pub allow_director_to_spawn_workers: Option<bool>,
    /// When the quiet hours begin, in local time.
    #[serde(default)]
    #[schemars(range(min = 0, max = 23))]
    pub quiet_hours_start_hour: Option<u32>,
    /// When they end.
    #[serde(default)]
    #[schemars(range(min = 0, max = 23))]
    pub quiet_hours_end_hour: Option<u32>,
    /// After how long a running job counts as stuck.
    #[serde(default)]
    #[schemars(range(min = 1, max = 1440))]
    pub stuck_job_running_minutes: Option<u32>,
    /// For how long an action is remembered.
    #[serde(default)]
    #[schemars(range(min = 1, max = 365))]
    pub idempotency_ttl_days: Option<u32>,
    /// By how much wakes are spread.
    #[serde(default)]
    #[schemars(range(min = 0, max = 3600))]
    pub jitter_max_seconds: Option<u32>,
    /// Answer what the config would be and write nothing. False if absent.
    #[serde(default)]
    pub dry_run: Option<bool>,
}

impl HeartbeatConfigSetParams {
    /// The config with what is given.
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
    /// The company folder.
    pub workspace_dir: Text,
    /// Only tell what would happen.
    #[serde(default)]
    pub dry_run: Option<bool>,
    /// Why now; `rpc` if not given.
    #[serde(default)]
    pub reason: Option<Text>,
}

/// Response of [`HeartbeatTick`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct HeartbeatTickResponse {
    /// The tick.
    pub tick_id: String,
    /// The company folder.
    pub workspace_dir: String,
    /// Why it was.
    pub reason: String,
    /// When it began.
    pub started_at: String,
    /// When it was over.
    pub finished_at: String,
    /// How long it took.
    pub duration_ms: u64,
    /// Whether nothing was written.
    pub dry_run: bool,
    /// Whether the heartbeat beats.
    pub enabled: bool,
    /// Whether another tick runs, and this one did nothing.
    pub skipped_due_to_running: bool,
    /// Why it did nothing: `tick_already_in_progress` or `heartbeat_disabled`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub skipped_reason: Option<String>,
    /// How it is set.
    pub config: HeartbeatConfig,
    /// Everybody who was considered.
    pub candidates: Vec<HeartbeatCandidate>,
    /// Who is woken, the most urgent first.
    pub woken_workers: Vec<HeartbeatWake>,
    /// Their jobs.
    pub jobs_submitted: Vec<HeartbeatJob>,
    /// How many reports came.
    pub reports_processed: u64,
    /// How many said that all is well.
    pub reports_ok: u64,
    /// How many wanted something.
    pub reports_actions: u64,
    /// What was done.
    pub actions_executed: u64,
    /// What waits for a decision.
    pub approvals_queued: u64,
    /// What was seen before.
    pub deduped_actions: u64,
    /// What could not even be decided about.
    pub skipped_actions: u64,
}

/// A worker that was considered.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct HeartbeatCandidate {
    /// Its id.
    pub worker_agent_id: String,
    /// Its team.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub team_id: Option<String>,
    /// All points together.
    pub score: i64,
    /// The points.
    pub components: HeartbeatComponents,
    /// What there is for it.
    pub counts: HeartbeatCounts,
    /// The hash of what there is for it.
    pub context_hash: String,
    /// Whether it is left alone whatever its score.
    pub suppressed: bool,
    /// Why.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub suppression_reason: Option<String>,
}

/// What speaks for and against waking a worker.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct HeartbeatComponents {
    /// For new events.
    pub new_signal_points: i64,
    /// For tasks that are due soon.
    pub due_points: i64,
    /// For tasks that are late.
    pub overdue_points: i64,
    /// For jobs that do not move.
    pub stuck_points: i64,
    /// Because it had nothing to do a moment ago and nothing changed.
    pub recent_ok_penalty: i64,
    /// Because it is night.
    pub quiet_hours_penalty: i64,
}

/// What there is for a worker.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct HeartbeatCounts {
    /// Events it has not seen.
    pub new_signals: u64,
    /// Tasks that are due soon.
    pub due_tasks: u64,
    /// Tasks that are late.
    pub overdue_tasks: u64,
    /// Jobs that do not move.
    pub stuck_jobs: u64,
}

/// A worker that is woken.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct HeartbeatWake {
    /// Its id.
    pub worker_agent_id: String,
    /// Its team.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub team_id: Option<String>,
    /// The project it is woken for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project_id: Option<String>,
    /// How much reason there is.
    pub score: i64,
    /// By how much its start is put off.
    pub jitter_seconds: u32,
    /// The hash of what there is for it.
    pub context_hash: String,
    /// Why it is woken, in words.
    pub reasons: Vec<String>,
}

/// The job of a woken worker.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct HeartbeatJob {
    /// The worker.
    pub worker_agent_id: String,
    /// The project.
    pub project_id: String,
    /// The job.
    pub job_id: String,
    /// By how much its start was put off.
    pub jitter_seconds: u32,
}

/// Response of [`HeartbeatStatus`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct HeartbeatStatusResponse {
    /// The company folder.
    pub workspace_dir: String,
    /// Whether this process knows the folder.
    pub observed: bool,
    /// How it is set.
    pub config: HeartbeatConfig,
    /// What is wrong with the file that says so; it does not beat then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub config_error: Option<String>,
    /// What it remembers.
    pub state: HeartbeatState,
    /// What it does now.
    pub runtime: HeartbeatRuntime,
}

/// What a heartbeat does now.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct HeartbeatRuntime {
    /// Whether it ticks by itself.
    pub loop_running: bool,
    /// Whether a tick runs.
    pub tick_in_progress: bool,
    /// When the next one is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_scheduled_at: Option<String>,
    /// What went wrong last in a tick that came by itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_error: Option<String>,
    /// What came of the last tick.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_tick_summary: Option<Box<HeartbeatTickResponse>>,
}

/// What a heartbeat remembers, on the wire as in its file.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HeartbeatState {
    /// 1.
    #[serde(default = "one")]
    #[schemars(range(min = 1))]
    pub schema_version: u32,
    /// `heartbeat_state`.
    #[serde(default)]
    pub r#type: HeartbeatStateTag,
    /// Whether a tick runs.
    #[serde(default)]
    pub running: bool,
    /// The last tick.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_tick_id: Option<Text>,
    /// When it was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_tick_at: Option<Text>,
    /// Why it was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_tick_reason: Option<Text>,
    /// When the next one is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_tick_at: Option<Text>,
    /// The last event seen of each run, by `<project>::<run>`.
    #[serde(default)]
    pub run_event_cursors: BTreeMap<String, u64>,
    /// What is known of each worker.
    #[serde(default)]
    pub worker_state: BTreeMap<String, HeartbeatWorkerState>,
    /// Actions that were seen, by their key.
    #[serde(default)]
    pub idempotency: BTreeMap<String, HeartbeatAction>,
    /// How many actions were done in each hour, by `YYYY-MM-DD-HH`.
    #[serde(default)]
    pub hourly_action_counters: BTreeMap<String, u64>,
    /// Everything counted.
    #[serde(default)]
    pub stats: HeartbeatStats,
}

/// The word `heartbeat_state`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum HeartbeatStateTag {
    /// The word `heartbeat_state`.
    #[default]
    HeartbeatState,
}

/// What is known of a worker.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HeartbeatWorkerState {
    /// When it last had nothing to do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_ok_at: Option<Text>,
    /// What it was woken about last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_context_hash: Option<Text>,
    /// Until when it is left alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub suppressed_until: Option<Text>,
    /// When it was last woken.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_wake_at: Option<Text>,
    /// What it said last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_report_status: Option<HeartbeatReportStatus>,
}

/// What a worker said.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum HeartbeatReportStatus {
    /// Nothing to do.
    Ok,
    /// Something to do.
    Actions,
}

/// An action that was seen.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HeartbeatAction {
    /// Its key.
    pub idempotency_key: Text,
    /// What it is.
    pub action_kind: Text,
    /// When it was first seen.
    pub first_seen_at: Text,
    /// When it was last seen.
    pub last_seen_at: Text,
    /// When it is forgotten.
    pub expires_at: Text,
    /// What became of it.
    pub status: HeartbeatActionStatus,
    /// How often it was done.
    pub execution_count: u64,
}

/// What became of an action.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum HeartbeatActionStatus {
    /// It waits for a decision.
    Queued,
    /// It was done.
    Executed,
}

/// Everything a heartbeat counted.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HeartbeatStats {
    /// Ticks.
    #[serde(default)]
    pub ticks_total: u64,
    /// Workers woken.
    #[serde(default)]
    pub workers_woken_total: u64,
    /// Reports of nothing to do.
    #[serde(default)]
    pub reports_ok_total: u64,
    /// Reports of something to do.
    #[serde(default)]
    pub reports_actions_total: u64,
    /// Actions done.
    #[serde(default)]
    pub actions_executed_total: u64,
    /// Actions that waited for a decision.
    #[serde(default)]
    pub approvals_queued_total: u64,
    /// Actions that were seen before.
    #[serde(default)]
    pub deduped_actions_total: u64,
}

/// What a woken worker wants to happen. Every action has a key, so that it happens once.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum ProposedAction {
    /// Start a job.
    LaunchJob {
        /// The key of the action.
        idempotency_key: Text,
        /// How risky it is.
        risk: ActionRisk,
        /// Whether somebody must decide first.
        needs_approval: bool,
        /// Who may see it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        visibility: Option<Visibility>,
        /// What it is, in a sentence.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        summary: Option<Text>,
        /// The project.
        project_id: Text,
        /// What the job is to reach.
        goal: Text,
        /// What kind of job.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        job_kind: Option<JobKind>,
        /// What the agent that does it must be.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        target_role: Option<TargetRole>,
        /// What runs it.
        #[serde(default)]
        worker_kind: WorkerKind,
        /// The agent that does it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        worker_agent_id: Option<Text>,
        /// What it must keep to.
        #[serde(default)]
        constraints: Vec<Text>,
        /// What it gives.
        #[serde(default)]
        deliverables: Vec<Text>,
        /// What it may do.
        #[serde(default)]
        permission_level: PermissionLevel,
        /// What it should know.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        context_note: Option<Text>,
        /// The task it works on.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        task_id: Option<Text>,
        /// The milestone it works on.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        milestone_id: Option<Text>,
    },
    /// Say something about an agent, a document or a run.
    AddComment {
        /// The key of the action.
        idempotency_key: Text,
        /// How risky it is.
        risk: ActionRisk,
        /// Whether somebody must decide first.
        needs_approval: bool,
        /// Who may see it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        visibility: Option<Visibility>,
        /// What it is, in a sentence.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        summary: Option<Text>,
        /// The project.
        project_id: Text,
        /// What is said.
        body: Text,
        /// The agent it is about.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        target_agent_id: Option<Text>,
        /// The document it is about.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        target_artifact_id: Option<Text>,
        /// The run it is about.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        target_run_id: Option<Text>,
    },
    /// Ask somebody to decide.
    CreateApprovalItem {
        /// The key of the action.
        idempotency_key: Text,
        /// How risky it is.
        risk: ActionRisk,
        /// Whether somebody must decide first.
        needs_approval: bool,
        /// Who may see it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        visibility: Option<Visibility>,
        /// What it is, in a sentence.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        summary: Option<Text>,
        /// The project.
        project_id: Text,
        /// What is to be decided.
        title: Text,
        /// Why.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        rationale: Option<Text>,
        /// What happens if it is approved.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        proposed_action: Option<Box<ProposedAction>>,
    },
    /// Nothing.
    Noop {
        /// The key of the action.
        idempotency_key: Text,
        /// How risky it is.
        risk: ActionRisk,
        /// Whether somebody must decide first.
        needs_approval: bool,
        /// Who may see it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        visibility: Option<Visibility>,
        /// What it is, in a sentence.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        summary: Option<Text>,
        /// Why nothing.
        reason: Text,
    },
}

impl ProposedAction {
    /// The key of the action.
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

    /// How risky it is.
    pub fn risk(&self) -> ActionRisk {
        let (Self::LaunchJob { risk, .. }
        | Self::AddComment { risk, .. }
        | Self::CreateApprovalItem { risk, .. }
        | Self::Noop { risk, .. }) = self;
        *risk
    }

    /// Whether somebody must decide first.
    pub fn needs_approval(&self) -> bool {
        let (Self::LaunchJob { needs_approval, .. }
        | Self::AddComment { needs_approval, .. }
        | Self::CreateApprovalItem { needs_approval, .. }
        | Self::Noop { needs_approval, .. }) = self;
        *needs_approval
    }

    /// What it is, in a sentence.
    pub fn summary(&self) -> Option<&Text> {
        let (Self::LaunchJob { summary, .. }
        | Self::AddComment { summary, .. }
        | Self::CreateApprovalItem { summary, .. }
        | Self::Noop { summary, .. }) = self;
        summary.as_ref()
    }

    /// The project, for all but nothing.
    pub fn project_id(&self) -> Option<&Text> {
        match self {
            Self::LaunchJob { project_id, .. }
            | Self::AddComment { project_id, .. }
            | Self::CreateApprovalItem { project_id, .. } => Some(project_id),
            Self::Noop { .. } => None,
        }
    }

    /// The word on the wire.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::LaunchJob { .. } => "launch_job",
            Self::AddComment { .. } => "add_comment",
            Self::CreateApprovalItem { .. } => "create_approval_item",
            Self::Noop { .. } => "noop",
        }
    }

    /// What holds between the fields of an action.
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

/// How risky an action is.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ActionRisk {
    /// It can be undone.
    Low,
    /// Somebody should look.
    Medium,
    /// Somebody must decide.
    High,
}

/// What the agent that does a job must be.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TargetRole {
    /// The head of a department.
    Director,
    /// Does work.
    Worker,
}
