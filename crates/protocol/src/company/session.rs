//! `session.*`: the live processes of runs, their queue and the cool-downs of providers.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    ActorRole, AgentId, Asking, Budget, MilestoneId, ProjectId, RepoId, RunId, RunStatus, TaskId,
    Text,
};

crate::methods! {
    Company family "session";

    /// Start a worker program or a command for a run.
    ///
    /// The gateway checks policy and budgets first and returns an error if they forbid the launch. If no slot is free,
    /// the session is queued and the state is `queued`. If the launch cannot be prepared, for example because of an
    /// unknown repository, or if the operating system cannot start the program, the state is `failed` and so is the
    /// run. With `explain` nothing is started and nothing is written.
    Exec CompanySessionLaunch = "session.launch" (CompanySessionLaunchParams in workspace_dir as actor_role) -> CompanySessionLaunchResponse;
    /// List the sessions of a company folder, or those of this gateway process, newest first.
    Read CompanySessionList = "session.list" (CompanySessionListParams in workspace_dir as asking.actor_role) -> CompanySessionListResponse;
    /// Get the status of a session.
    Read CompanySessionPoll = "session.poll" (CompanySessionParams in workspace_dir as asking.actor_role) -> CompanySessionStateResponse;
    /// Wait until a session has ended and list its outputs.
    ///
    /// A session that this gateway process does not run is returned without waiting.
    Read CompanySessionCollect = "session.collect" (CompanySessionParams in workspace_dir as asking.actor_role) -> CompanySessionCollectResponse;
    /// Stop a session and all processes it started.
    ///
    /// Returns without waiting for the end; `session.collect` waits for it.
    Exec CompanySessionStop = "session.stop" (CompanySessionParams in workspace_dir as asking.actor_role) -> CompanySessionStateResponse;
    /// List the cool-downs of providers in a company folder, with cause and end.
    Read CompanySessionCooldownList = "session.cooldown.list" (CompanySessionCooldownListParams in workspace_dir) -> CompanySessionCooldownListResponse;
    /// End cool-downs now. Queued sessions that waited for them start as far as the limits allow.
    Exec CompanySessionCooldownClear = "session.cooldown.clear" (CompanySessionCooldownClearParams in workspace_dir) -> CompanySessionCooldownListResponse;
}

/// The priority of a queued session.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum CompanySessionPriority {
    /// Starts before sessions with normal and low priority.
    High,
    /// The default priority.
    #[default]
    Normal,
    /// Starts after sessions with high and normal priority. Waiting sessions move up one level per minute.
    Low,
}

/// The actions a worker program may take without asking.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum CompanySessionPermission {
    /// Read files.
    #[default]
    ReadOnly,
    /// Read files and change files in its working directory.
    Patch,
    /// Read and change files, and run commands.
    RunCommands,
}

/// When the gateway enforces the hard limits of a run's budget.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CompanySessionBudgetEnforcement {
    /// Before the session starts and after it has ended.
    Completion,
    /// Also while the session runs, as soon as the worker reports usage above a limit.
    Live,
}

/// Params of [`CompanySessionLaunch`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CompanySessionLaunchParams {
    /// Absolute path of the company folder.
    pub workspace_dir: Text,
    /// The id of the project of the run.
    pub project_id: ProjectId,
    /// The id of the run. Its status must be `running`, and it must have no active session.
    pub run_id: RunId,
    /// The program and its arguments. If absent, the driver of the run's provider builds the command line from
    /// `prompt_text`.
    #[serde(default)]
    pub argv: Option<Vec<Text>>,
    /// The id of the repository to work in. A worker program that may write runs in a worktree of it; a command runs in
    /// the repository itself, unless the task requires a worktree. If absent, a worker program runs in a scratch folder
    /// of its run and a command in the company folder.
    #[serde(default)]
    pub repo_id: Option<RepoId>,
    /// The working directory, relative to the repository. Defaults to the root of the repository. Has no effect without
    /// `repo_id`.
    #[serde(default)]
    pub workdir_rel: Option<Text>,
    /// The id of the task the session works on; its budget applies. Absent if there is none.
    #[serde(default)]
    pub task_id: Option<TaskId>,
    /// The id of the milestone of the task. Absent if there is none.
    #[serde(default)]
    pub milestone_id: Option<MilestoneId>,
    /// The prompt for the worker program. Required if the driver builds the command line.
    #[serde(default)]
    pub prompt_text: Option<String>,
    /// The model the worker program is asked to use. The program's own default if absent.
    #[serde(default)]
    pub model: Option<Text>,
    /// The budget of the run. No budget if absent.
    #[serde(default)]
    pub budget: Option<Budget>,
    /// The text written to the standard input of the program. No input if absent.
    #[serde(default)]
    pub stdin_text: Option<String>,
    /// Additional environment variables of the program, by name.
    #[serde(default)]
    pub env: Option<BTreeMap<String, String>>,
    /// The reference of the session, at most 80 characters without control characters. Default `local_<run_id>`.
    #[serde(default)]
    pub session_ref: Option<Text>,
    /// The priority in the queue. Default `normal`.
    #[serde(default)]
    pub lane_priority: Option<CompanySessionPriority>,
    /// The maximum number of sessions that run in this company folder at a time. Defaults to the configured limit, 4
    /// unless changed. Only roles `human` and `ceo` can exceed the configured limit.
    #[serde(default)]
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub lane_workspace_limit: Option<u64>,
    /// The maximum number of sessions of this provider that run at a time. Defaults to the configured limit, 2 unless
    /// changed. Only roles `human` and `ceo` can exceed the configured limit.
    #[serde(default)]
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub lane_provider_limit: Option<u64>,
    /// The maximum number of sessions of this team that run at a time. Defaults to the configured limit, 2 unless
    /// changed. Only roles `human` and `ceo` can exceed the configured limit.
    #[serde(default)]
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub lane_team_limit: Option<u64>,
    /// The id of the actor that launches the session. Default `human`, or the identity of the caller's token if its
    /// role is limited.
    #[serde(default)]
    pub actor_id: Option<Text>,
    /// The role of that actor. Default `human`, or the role of the caller's token if it is limited.
    #[serde(default)]
    pub actor_role: Option<ActorRole>,
    /// The id of the actor's team. If absent, the gateway uses the team stored for the agent, if the actor is an agent.
    #[serde(default)]
    pub actor_team_id: Option<Text>,
    /// The permissions of the worker program, if the driver builds the command line. Default `read-only`.
    #[serde(default)]
    pub permission_level: Option<CompanySessionPermission>,
    /// The maximum running time in milliseconds. Defaults to the configured timeout, 24 hours unless changed.
    #[serde(default)]
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub timeout_ms: Option<u64>,
    /// The maximum time without output in milliseconds. Defaults to the configured timeout, 2 hours unless changed.
    #[serde(default)]
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub idle_timeout_ms: Option<u64>,
    /// The maximum time in the queue in milliseconds; the session then fails. No limit if absent.
    #[serde(default)]
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub queue_timeout_ms: Option<u64>,
    /// When hard limits of the run's budget are enforced. If absent, `live` for workers whose output reports usage
    /// reliably, `completion` otherwise.
    #[serde(default)]
    pub budget_enforcement: Option<CompanySessionBudgetEnforcement>,
    /// Names of environment variables of the gateway to pass on in addition to the default allow-list.
    #[serde(default)]
    pub env_passthrough: Option<Vec<Text>>,
    /// If true, passes on the whole environment of the gateway. Default false.
    #[serde(default)]
    pub inherit_env: Option<bool>,
    /// Whether to check the worker program against the execution policy of this machine. Defaults to true for known
    /// worker programs and false otherwise.
    #[serde(default)]
    pub apply_guard: Option<bool>,
    /// If true, a worker program runs in the repository itself, or in the company folder if no repository is given,
    /// instead of in a folder of its own. Requires role `human`, and the run logs it. Default false.
    #[serde(default)]
    pub in_place: Option<bool>,
    /// If true, returns what a launch would do and starts nothing. Default false.
    #[serde(default)]
    pub explain: Option<bool>,
    /// With `explain`, explains the launch of a run that does not exist yet; `run_id` is then any unused id and nothing
    /// is stored. Ignored without `explain`.
    #[serde(default)]
    pub explain_run: Option<CompanySessionExplainRun>,
}

/// A run that is only explained and never created.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CompanySessionExplainRun {
    /// The id of the agent of the run.
    pub agent_id: AgentId,
    /// The provider of the run, such as `cmd` or `codex`.
    pub provider: Text,
}

/// The state of a session when the launch request returns.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CompanySessionLaunchState {
    /// The session is running.
    Running,
    /// The session waits for a free slot.
    Queued,
    /// The session has already completed successfully.
    Ended,
    /// The session could not be started, or has already failed.
    Failed,
    /// The session has already been stopped.
    Stopped,
    /// Nothing was started; `explain` describes the launch.
    Explained,
}

/// Response of [`CompanySessionLaunch`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CompanySessionLaunchResponse {
    /// The reference of the session.
    pub session_ref: String,
    /// The state of the session.
    pub state: CompanySessionLaunchState,
    /// The position in the queue, starting at 1. Absent unless the session is queued.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub queue_position: Option<u64>,
    /// Why the session is queued. Absent unless the session is queued.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub queue_reason: Option<CompanySessionQueueReason>,
    /// Why the session failed. Absent if there is no error.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// The description of the launch. Present only if the request had `explain`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub explain: Option<Box<CompanySessionExplanation>>,
    /// Warnings about an agent or a provider of the run that does not exist. One sentence each; absent if there are
    /// none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
}

/// A description of what a launch would do.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CompanySessionExplanation {
    /// True if the session would be started or queued.
    pub would_launch: bool,
    /// The first reason why the launch would fail. Absent if `would_launch` is true.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refusal: Option<String>,
    /// The policy decision about the launch.
    pub policy: CompanySessionPolicy,
    /// The limits, and the position in the queue.
    pub lane: CompanySessionLane,
    /// The budget checks, one per configured limit.
    pub budget: Vec<CompanySessionBudgetCheck>,
    /// The instruction files the worker would receive.
    pub instructions: Vec<CompanySessionInstruction>,
    /// The command that would run. Absent if it cannot be determined.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<CompanySessionCommand>,
}

/// A policy decision.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CompanySessionPolicy {
    /// True if policy allows the launch.
    pub allowed: bool,
    /// The id of the rule that decided, such as `vis.org`.
    pub rule_id: String,
    /// The reason code of the decision, such as `org_visible`.
    pub reason: String,
}

/// The limits that apply to a session, and its position in the queue.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CompanySessionLane {
    /// The priority of the session.
    pub priority: CompanySessionPriority,
    /// The provider of the session.
    pub provider: String,
    /// The id of the team of the session's agent. Absent if the agent has no team.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub team_id: Option<String>,
    /// The maximum number of sessions that run in the company folder at a time.
    pub workspace_limit: u64,
    /// The maximum number of sessions of the provider that run at a time.
    pub provider_limit: u64,
    /// The maximum number of sessions of the team that run at a time.
    pub team_limit: u64,
    /// The number of sessions that currently run in the company folder.
    pub running: u64,
    /// The position the session would get in the queue, starting at 1. Absent if it would start at once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub queue_position: Option<u64>,
    /// The end of the provider's cool-down, in ISO-8601. Absent if there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cooldown_until: Option<String>,
}

/// One limit of a budget, compared with the amount spent.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CompanySessionBudgetCheck {
    /// The owner of the budget: `run`, `project` or `task`.
    pub scope: String,
    /// The limited quantity: `cost_usd` or `tokens`.
    pub metric: String,
    /// The kind of limit: `soft` or `hard`.
    pub severity: String,
    /// The limit, in US dollars or tokens according to `metric`.
    pub threshold: f64,
    /// The amount spent and reserved, in US dollars or tokens according to `metric`.
    pub actual: f64,
    /// The outcome: `ok`, `alert` or `exceeded`.
    pub result: String,
}

/// An instruction file for a worker.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CompanySessionInstruction {
    /// The path or the name of the file.
    pub path: String,
    /// How the worker receives the file: `read_by_worker`, `system_prompt_file`, `prompt`, `argument`, or
    /// `prompt_and_file` for an AGENTS.md of the thread tree that is also written into the worktree.
    pub delivery: String,
}

/// The command of a session.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CompanySessionCommand {
    /// The driver that starts the program and reads its output.
    pub driver: String,
    /// The program and its arguments, with secrets redacted.
    pub argv: Vec<String>,
    /// The absolute path of the working directory.
    pub cwd: String,
    /// The names of the environment variables of the program.
    pub env: Vec<String>,
    /// The length of the standard input, in characters.
    pub stdin_chars: u64,
    /// The path of the worktree, relative to the company folder. Absent if the session uses none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub worktree_relpath: Option<String>,
    /// The branch of the worktree. Absent if the session uses none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub worktree_branch: Option<String>,
    /// The signal that stops the program first, such as `SIGTERM`.
    pub stop_signal: String,
    /// The maximum running time in milliseconds.
    pub timeout_ms: u64,
    /// The maximum time without output in milliseconds.
    pub idle_timeout_ms: u64,
}

/// Params of [`CompanySessionPoll`], [`CompanySessionCollect`] and [`CompanySessionStop`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CompanySessionParams {
    /// The reference of the session.
    pub session_ref: Text,
    /// Absolute path of the company folder. Required for sessions of an earlier gateway process, and if the visibility
    /// of an actor applies.
    #[serde(default)]
    pub workspace_dir: Option<Text>,
    /// The actor whose visibility applies to the request.
    #[serde(flatten)]
    pub asking: Asking,
}

/// The status of a session.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CompanySessionState {
    /// The reference of the session.
    pub session_ref: String,
    /// The id of the project.
    pub project_id: String,
    /// The id of the run of the session.
    pub run_id: String,
    /// The status of the session; `running` also while it is queued.
    pub status: RunStatus,
    /// The exit code of the program. `null` if it has not exited or was killed by a signal.
    pub exit_code: Option<i32>,
    /// The name of the signal that ended the program, such as `SIGTERM`. `null` if there was none.
    pub signal: Option<String>,
    /// The error of the session. Absent if there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// True while the session waits for a free slot. Absent otherwise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub queued: Option<bool>,
    /// The position in the queue, starting at 1. Absent unless the session is queued.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub queue_position: Option<u64>,
    /// Why the session is queued. Absent unless the session is queued.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub queue_reason: Option<CompanySessionQueueReason>,
}

/// Why a session is queued.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CompanySessionQueueReason {
    /// The reason code.
    pub reason_code: CompanySessionQueueReasonCode,
    /// A description of the reason, in one sentence.
    pub reason: String,
    /// The name of the provider, the team or the company folder the cool-down or the limit belongs to.
    pub subject: String,
    /// The maximum number of sessions that run at a time. Absent unless the reason is a limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<u64>,
    /// The end of the cool-down, in ISO-8601. `null` unless the reason is a cool-down.
    #[serde(default)]
    pub until: Option<String>,
}

/// The reason code of a queued session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CompanySessionQueueReasonCode {
    /// The provider cools down after a rate limit, a network failure, an interactive prompt or a rejected login.
    Cooldown,
    /// The limit of running sessions in the company folder is reached.
    WorkspaceLimit,
    /// The limit of running sessions of the provider is reached.
    ProviderLimit,
    /// The limit of running sessions of the team is reached.
    TeamLimit,
    /// A slot has become free and the session is about to start.
    Starting,
}

/// Params of [`CompanySessionCooldownList`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CompanySessionCooldownListParams {
    /// Absolute path of the company folder.
    pub workspace_dir: Text,
}

/// Params of [`CompanySessionCooldownClear`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CompanySessionCooldownClearParams {
    /// Absolute path of the company folder.
    pub workspace_dir: Text,
    /// End only the cool-down of this provider. All cool-downs if absent.
    #[serde(default)]
    pub provider: Option<Text>,
}

/// Response of [`CompanySessionCooldownList`], and of [`CompanySessionCooldownClear`] with the cool-downs it ended.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CompanySessionCooldownListResponse {
    /// The cool-downs, sorted by provider.
    pub items: Vec<CompanySessionCooldown>,
}

/// A period in which no sessions of a provider are started.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CompanySessionCooldown {
    /// The provider.
    pub provider: String,
    /// The cause: `rate_limit`, `transient`, `interactive` or `auth`.
    pub reason_code: String,
    /// A description of the cause, in one sentence.
    pub reason: String,
    /// The end of the cool-down, in ISO-8601.
    pub until: String,
    /// The number of consecutive cool-downs, starting at 1 and at most 6. Each one doubles the duration, up to 30
    /// minutes.
    pub level: u32,
    /// The number of sessions of the provider that are queued in this gateway process.
    pub waiting: u64,
}

/// Response of [`CompanySessionPoll`] and [`CompanySessionStop`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct CompanySessionStateResponse(pub CompanySessionState);

/// Response of [`CompanySessionCollect`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CompanySessionCollectResponse {
    /// The status of the session.
    #[serde(flatten)]
    pub state: CompanySessionState,
    /// The path of the event log of the run, relative to the project folder.
    pub events_relpath: String,
    /// The paths of the output files of the run, relative to the project folder.
    pub output_relpaths: Vec<String>,
}

/// Params of [`CompanySessionList`].
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CompanySessionListParams {
    /// Absolute path of the company folder. If absent, only sessions of this gateway process are returned. Required if
    /// the visibility of an actor applies.
    #[serde(default)]
    pub workspace_dir: Option<Text>,
    /// Return only sessions of this project. All projects if absent.
    #[serde(default)]
    pub project_id: Option<Text>,
    /// Return only sessions of this run. All runs if absent.
    #[serde(default)]
    pub run_id: Option<Text>,
    /// Return only sessions with this status. All if absent.
    #[serde(default)]
    pub status: Option<RunStatus>,
    /// The actor whose visibility applies to the response.
    #[serde(flatten)]
    pub asking: Asking,
}

/// Response of [`CompanySessionList`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct CompanySessionListResponse(pub Vec<CompanySessionRow>);

/// How the gateway communicates with the program of a session.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CompanySessionMode {
    /// The gateway runs a command line and reads its output.
    #[default]
    Command,
    /// The gateway exchanges messages with the Codex app server.
    CodexAppServer,
}

/// A session in a list.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CompanySessionRow {
    /// The status of the session.
    #[serde(flatten)]
    pub state: CompanySessionState,
    /// Absolute path of the company folder.
    pub workspace_dir: String,
    /// The time the session was launched, in Unix milliseconds.
    pub started_at_ms: i64,
    /// The time the session ended, in Unix milliseconds. Absent while it runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended_at_ms: Option<i64>,
    /// How the gateway communicates with the program.
    pub mode: CompanySessionMode,
    /// The process id of the program. Absent if no process was started.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pid: Option<i32>,
    /// The time the process id was recorded, in Unix milliseconds. Absent if no process was started.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pid_claimed_at_ms: Option<i64>,
    /// The path of the file that marks a requested stop, relative to the project folder. The file exists only after a
    /// stop was requested.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stop_marker_relpath: Option<String>,
    /// The id of the thread of the Codex app server. Absent in mode `command`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub protocol_thread_id: Option<String>,
    /// The id of the turn on that thread. Absent in mode `command`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub protocol_turn_id: Option<String>,
}
