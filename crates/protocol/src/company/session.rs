//! `session.*`: the live processes of runs.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    ActorRole, AgentId, Asking, Budget, MilestoneId, ProjectId, RepoId, RunId, RunStatus, TaskId,
    Text,
};

crate::methods! {
    Company family "session";

    /// Start a worker program, or any command, for a run.
    ///
    /// Policy and budgets are looked at first. A session that has to wait for a free place is answered as
    /// `queued`. What cannot be prepared, such as an unknown repository, is answered as `failed`, and a program that
    /// the system cannot start is an error; both fail the run. With `explain` nothing is started and nothing is
    /// written.
    Exec CompanySessionLaunch = "session.launch" (CompanySessionLaunchParams in workspace_dir as actor_role) -> CompanySessionLaunchResponse;
    /// List sessions, newest first: of one company folder, or those of this gateway process.
    Read CompanySessionList = "session.list" (CompanySessionListParams in workspace_dir as asking.actor_role) -> CompanySessionListResponse;
    /// Tell where a session stands.
    Read CompanySessionPoll = "session.poll" (CompanySessionParams in workspace_dir as asking.actor_role) -> CompanySessionStateResponse;
    /// Wait until a session is over and tell what it left.
    Read CompanySessionCollect = "session.collect" (CompanySessionParams in workspace_dir as asking.actor_role) -> CompanySessionCollectResponse;
    /// Stop a session and everything it started. Answers at once; `session.collect` waits for the end.
    Exec CompanySessionStop = "session.stop" (CompanySessionParams in workspace_dir as asking.actor_role) -> CompanySessionStateResponse;
    /// List the providers that cool down in a company folder, with the cause and the end of each cool-down.
    Read CompanySessionCooldownList = "session.cooldown.list" (CompanySessionCooldownListParams in workspace_dir) -> CompanySessionCooldownListResponse;
    /// End cool-downs now. Sessions that waited for them start as far as limits allow.
    Exec CompanySessionCooldownClear = "session.cooldown.clear" (CompanySessionCooldownClearParams in workspace_dir) -> CompanySessionCooldownListResponse;
}

/// Which waiting session starts first.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum CompanySessionPriority {
    /// Before the others.
    High,
    /// As most.
    #[default]
    Normal,
    /// After the others.
    Low,
}

/// What a worker program may do by itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum CompanySessionPermission {
    /// Look at files.
    #[default]
    ReadOnly,
    /// Change files of its working directory.
    Patch,
    /// Run commands.
    RunCommands,
}

/// When a hard limit of the run's budget ends a session.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CompanySessionBudgetEnforcement {
    /// Before it starts and after its end.
    Completion,
    /// Also as soon as the worker reports that it used more.
    Live,
}

/// Params of [`CompanySessionLaunch`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CompanySessionLaunchParams {
    /// The company folder.
    pub workspace_dir: Text,
    /// The project.
    pub project_id: ProjectId,
    /// The run, which must be running.
    pub run_id: RunId,
    /// The program and its arguments. Without it the driver of the run's provider makes them from `prompt_text`.
    #[serde(default)]
    pub argv: Option<Vec<Text>>,
    /// The repository. A worker program that may write gets a worktree of it, a plain command runs in it. Without it
    /// a worker program runs in a scratch folder of its run, a plain command in the company folder.
    #[serde(default)]
    pub repo_id: Option<RepoId>,
    /// A folder below the repository.
    #[serde(default)]
    pub workdir_rel: Option<Text>,
    /// The task it works on.
    #[serde(default)]
    pub task_id: Option<TaskId>,
    /// The milestone of the task.
    #[serde(default)]
    pub milestone_id: Option<MilestoneId>,
    /// What the worker is asked.
    #[serde(default)]
    pub prompt_text: Option<String>,
    /// The model.
    #[serde(default)]
    pub model: Option<Text>,
    /// What the run may cost.
    #[serde(default)]
    pub budget: Option<Budget>,
    /// What the program reads from standard input.
    #[serde(default)]
    pub stdin_text: Option<String>,
    /// Variables of its environment.
    #[serde(default)]
    pub env: Option<BTreeMap<String, String>>,
    /// What the session is called; `local_<run_id>` otherwise.
    #[serde(default)]
    pub session_ref: Option<Text>,
    /// Which waiting session starts first.
    #[serde(default)]
    pub lane_priority: Option<CompanySessionPriority>,
    /// How many sessions may run in this company folder at a time.
    #[serde(default)]
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub lane_workspace_limit: Option<u64>,
    /// How many of this provider.
    #[serde(default)]
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub lane_provider_limit: Option<u64>,
    /// How many of this team.
    #[serde(default)]
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub lane_team_limit: Option<u64>,
    /// Who launches.
    #[serde(default)]
    pub actor_id: Option<Text>,
    /// As what.
    #[serde(default)]
    pub actor_role: Option<ActorRole>,
    /// Of which team.
    #[serde(default)]
    pub actor_team_id: Option<Text>,
    /// What a worker program may do, where the driver makes the command.
    #[serde(default)]
    pub permission_level: Option<CompanySessionPermission>,
    /// How long it may run.
    #[serde(default)]
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub timeout_ms: Option<u64>,
    /// How long it may print nothing.
    #[serde(default)]
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub idle_timeout_ms: Option<u64>,
    /// How long it may wait for a free place.
    #[serde(default)]
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub queue_timeout_ms: Option<u64>,
    /// When a hard limit ends it. Workers whose output is understood are watched live, commands are not.
    #[serde(default)]
    pub budget_enforcement: Option<CompanySessionBudgetEnforcement>,
    /// Variables of the gateway that are passed on although they are not among those every worker gets.
    #[serde(default)]
    pub env_passthrough: Option<Vec<Text>>,
    /// Pass on the whole environment of the gateway.
    #[serde(default)]
    pub inherit_env: Option<bool>,
    /// Check the worker program against the rules of this machine. It is when its name is that of a known one.
    #[serde(default)]
    pub apply_guard: Option<bool>,
    /// Run a worker program in the repository itself, or in the company folder if no repository is named, instead of
    /// in a folder of its own. Only a person (role `human`) may ask for it, and the log of the run says so. False if
    /// absent.
    #[serde(default)]
    pub in_place: Option<bool>,
    /// Tell what would happen instead of doing it.
    #[serde(default)]
    pub explain: Option<bool>,
    /// With `explain`: explain the launch of a run that does not exist yet. `run_id` is then any free id, and nothing
    /// is left behind. Ignored without `explain`.
    #[serde(default)]
    pub explain_run: Option<CompanySessionExplainRun>,
}

/// A run that is only explained and never made.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CompanySessionExplainRun {
    /// The agent of the run.
    pub agent_id: AgentId,
    /// The provider of the run, such as `cmd` or `codex`.
    pub provider: Text,
}

/// Where a launched session stands.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CompanySessionLaunchState {
    /// It runs.
    Running,
    /// It waits for a free place.
    Queued,
    /// It ended already.
    Ended,
    /// It could not be started, or failed already.
    Failed,
    /// Somebody stopped it already.
    Stopped,
    /// Nothing was started: `explain` tells what would be.
    Explained,
}

/// Response of [`CompanySessionLaunch`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CompanySessionLaunchResponse {
    /// What the session is called.
    pub session_ref: String,
    /// Where it stands.
    pub state: CompanySessionLaunchState,
    /// Its place among those that wait, from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub queue_position: Option<u64>,
    /// What it waits for; absent unless it is queued.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub queue_reason: Option<CompanySessionQueueReason>,
    /// Why it failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// What would happen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub explain: Option<Box<CompanySessionExplanation>>,
    /// Names of the run that stand for nothing here, in a sentence each; absent if there are none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
}

/// What a launch would do.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CompanySessionExplanation {
    /// Whether it would be started.
    pub would_launch: bool,
    /// Why not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refusal: Option<String>,
    /// Who may.
    pub policy: CompanySessionPolicy,
    /// Whether there is a free place.
    pub lane: CompanySessionLane,
    /// What was spent.
    pub budget: Vec<CompanySessionBudgetCheck>,
    /// The files that instruct the worker.
    pub instructions: Vec<CompanySessionInstruction>,
    /// What would be run; none if it cannot be told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<CompanySessionCommand>,
}

/// What policy decides.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CompanySessionPolicy {
    /// Whether it may happen.
    pub allowed: bool,
    /// The rule.
    pub rule_id: String,
    /// Why.
    pub reason: String,
}

/// The place of a session among others.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CompanySessionLane {
    /// Its priority.
    pub priority: CompanySessionPriority,
    /// Its provider.
    pub provider: String,
    /// Its team.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub team_id: Option<String>,
    /// How many may run in the company folder.
    pub workspace_limit: u64,
    /// How many of its provider.
    pub provider_limit: u64,
    /// How many of its team.
    pub team_limit: u64,
    /// How many run in the company folder.
    pub running: u64,
    /// Its place if it had to wait, from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub queue_position: Option<u64>,
    /// Until when its provider rests.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cooldown_until: Option<String>,
}

/// One limit of a budget against what was spent.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CompanySessionBudgetCheck {
    /// `run`, `project` or `task`.
    pub scope: String,
    /// `cost_usd` or `tokens`.
    pub metric: String,
    /// `soft` or `hard`.
    pub severity: String,
    /// The limit.
    pub threshold: f64,
    /// What was spent.
    pub actual: f64,
    /// `ok`, `alert` or `exceeded`.
    pub result: String,
}

/// A file that instructs a worker.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CompanySessionInstruction {
    /// The file.
    pub path: String,
    /// How it reaches the worker: `read_by_worker`, `system_prompt_file`, `prompt`, `argument`, or
    /// `prompt_and_file` for an AGENTS.md of the thread tree that is a file of the worktree too.
    pub delivery: String,
}

/// What is run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CompanySessionCommand {
    /// How it is run and read.
    pub driver: String,
    /// The program and its arguments.
    pub argv: Vec<String>,
    /// Where.
    pub cwd: String,
    /// The names of the variables it gets.
    pub env: Vec<String>,
    /// What it reads from standard input, in characters.
    pub stdin_chars: u64,
    /// Its own copy of the repository.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub worktree_relpath: Option<String>,
    /// The branch of that copy.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub worktree_branch: Option<String>,
    /// The signal that stops it.
    pub stop_signal: String,
    /// How long it may run.
    pub timeout_ms: u64,
    /// How long it may print nothing.
    pub idle_timeout_ms: u64,
}

/// Params that name a session.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CompanySessionParams {
    /// The session.
    pub session_ref: Text,
    /// The company folder; needed for sessions of an earlier gateway process.
    #[serde(default)]
    pub workspace_dir: Option<Text>,
    /// Who asks.
    #[serde(flatten)]
    pub asking: Asking,
}

/// Where a session stands.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CompanySessionState {
    /// The session.
    pub session_ref: String,
    /// Its project.
    pub project_id: String,
    /// Its run.
    pub run_id: String,
    /// Where it stands.
    pub status: RunStatus,
    /// How the program ended.
    pub exit_code: Option<i32>,
    /// The signal that ended it: `SIGTERM`.
    pub signal: Option<String>,
    /// What went wrong.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// Whether it still waits for a free place.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub queued: Option<bool>,
    /// Its place among those that wait, from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub queue_position: Option<u64>,
    /// What it waits for; absent unless it is queued.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub queue_reason: Option<CompanySessionQueueReason>,
}

/// What a queued session waits for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CompanySessionQueueReason {
    /// The kind of obstacle.
    pub reason_code: CompanySessionQueueReasonCode,
    /// One sentence for people.
    pub reason: String,
    /// The name of the provider, the team or the company folder whose cool-down or limit it is.
    pub subject: String,
    /// How many sessions may run at a time, for limits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<u64>,
    /// When the cool-down ends, as an ISO time; `null` for limits, because no end of a session is known in advance.
    #[serde(default)]
    pub until: Option<String>,
}

/// The kind of obstacle that keeps a session in the queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CompanySessionQueueReasonCode {
    /// The provider cools down after a rate limit, a network failure or a refused login.
    Cooldown,
    /// The company folder has as many running sessions as it may have.
    WorkspaceLimit,
    /// The provider has as many running sessions as it may have.
    ProviderLimit,
    /// The team has as many running sessions as it may have.
    TeamLimit,
    /// Nothing: a place has become free.
    Starting,
}

/// Params of [`CompanySessionCooldownList`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CompanySessionCooldownListParams {
    /// The company folder.
    pub workspace_dir: Text,
}

/// Params of [`CompanySessionCooldownClear`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CompanySessionCooldownClearParams {
    /// The company folder.
    pub workspace_dir: Text,
    /// Only the cool-down of this provider; all of them otherwise.
    #[serde(default)]
    pub provider: Option<Text>,
}

/// Response of [`CompanySessionCooldownList`], and of [`CompanySessionCooldownClear`] with those that were ended.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CompanySessionCooldownListResponse {
    /// The cool-downs, by provider.
    pub items: Vec<CompanySessionCooldown>,
}

/// A provider whose sessions are not started for a while.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CompanySessionCooldown {
    /// The provider.
    pub provider: String,
    /// The cause: `rate_limit`, `transient`, `interactive` or `auth`.
    pub reason_code: String,
    /// One sentence for people.
    pub reason: String,
    /// When it ends, as an ISO time.
    pub until: String,
    /// How many times in a row the provider had to cool down, from 1.
    pub level: u32,
    /// How many sessions of the provider are queued in this gateway process.
    pub waiting: u64,
}

/// Response of [`CompanySessionPoll`] and [`CompanySessionStop`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct CompanySessionStateResponse(pub CompanySessionState);

/// Response of [`CompanySessionCollect`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CompanySessionCollectResponse {
    /// Where it stands.
    #[serde(flatten)]
    pub state: CompanySessionState,
    /// Its events, below the project's folder.
    pub events_relpath: String,
    /// What it left, below the project's folder.
    pub output_relpaths: Vec<String>,
}

/// Params of [`CompanySessionList`].
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CompanySessionListParams {
    /// The company folder.
    #[serde(default)]
    pub workspace_dir: Option<Text>,
    /// Only of this project.
    #[serde(default)]
    pub project_id: Option<Text>,
    /// Only of this run.
    #[serde(default)]
    pub run_id: Option<Text>,
    /// Only those that stand there.
    #[serde(default)]
    pub status: Option<RunStatus>,
    /// Who asks.
    #[serde(flatten)]
    pub asking: Asking,
}

/// Response of [`CompanySessionList`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct CompanySessionListResponse(pub Vec<CompanySessionRow>);

/// How a session's program is spoken to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CompanySessionMode {
    /// A command line, and what it prints.
    #[default]
    Command,
    /// Messages of the Codex app server.
    CodexAppServer,
}

/// A session.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CompanySessionRow {
    /// Where it stands.
    #[serde(flatten)]
    pub state: CompanySessionState,
    /// The company folder.
    pub workspace_dir: String,
    /// When it was launched, in Unix milliseconds.
    pub started_at_ms: i64,
    /// When it was over.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended_at_ms: Option<i64>,
    /// How its program is spoken to.
    pub mode: CompanySessionMode,
    /// Its process.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pid: Option<i32>,
    /// When that was written down.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pid_claimed_at_ms: Option<i64>,
    /// The file that says that somebody wants it stopped.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stop_marker_relpath: Option<String>,
    /// The thread of the app server.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub protocol_thread_id: Option<String>,
    /// The turn on that thread.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub protocol_turn_id: Option<String>,
}
