//! `run.*`: executions, and what they recorded.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, value::RawValue};

use super::{ActorRole, AgentId, Asking, ContextPackId, ProjectId, RunId, RunStatus, Text};

crate::methods! {
    Company family "run";

    /// Make a run: its folder, its context pack and its first event. Nothing is started.
    Write RunCreate = "run.create" (RunCreateParams in workspace_dir) -> RunCreateResponse;
    /// End a run that was never launched, or whose session is still queued. Its status becomes `stopped`.
    ///
    /// A run with a process is refused: `session.stop` ends its session.
    Write RunCancel = "run.cancel" (RunCancelParams in workspace_dir as actor_role) -> RunCancelResponse;
    /// List the runs of a project or of the whole company, newest first.
    Read RunList = "run.list" (RunListParams in workspace_dir as asking.actor_role) -> RunListResponse;
    /// Read the events of a run and prove that nobody changed them.
    Read RunReplay = "run.replay" (RunReplayParams in workspace_dir as actor_role) -> RunReplayResponse;
}

/// Params of [`RunCreate`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RunCreateParams {
    /// The company folder.
    pub workspace_dir: Text,
    /// The project.
    pub project_id: ProjectId,
    /// The agent that runs.
    pub agent_id: AgentId,
    /// What runs it: `cmd`, `codex`, `claude`, `gemini`.
    pub provider: Text,
    /// What the run is for, in one line of at most 500 characters. Lists show it as the name of the run. Absent: a
    /// run of a job is named by the job's goal, a command by its command line.
    #[serde(default)]
    #[schemars(length(max = 500))]
    pub goal: Option<Text>,
}

/// Params of [`RunCancel`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RunCancelParams {
    /// The company folder.
    pub workspace_dir: Text,
    /// The project.
    pub project_id: ProjectId,
    /// The run.
    pub run_id: RunId,
    /// Why the run is not needed any more, for its log.
    #[serde(default)]
    pub reason: Option<Text>,
    /// The person or agent that cancels, for the log of the run; the caller of the method if absent.
    #[serde(default)]
    pub actor_id: Option<Text>,
    /// The role of that actor.
    #[serde(default)]
    pub actor_role: Option<ActorRole>,
    /// The team of that actor.
    #[serde(default)]
    pub actor_team_id: Option<Text>,
}

/// Response of [`RunCancel`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RunCancelResponse {
    /// The run.
    pub run_id: RunId,
    /// `stopped`.
    pub status: RunStatus,
}

/// Response of [`RunCreate`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RunCreateResponse {
    /// The new run.
    pub run_id: RunId,
    /// What it is given to know.
    pub context_pack_id: ContextPackId,
    /// Its folder.
    pub run_dir: String,
    /// What looks wrong about the run although it was made: an agent or a provider that does not exist. One sentence
    /// each; absent if nothing does.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
}

/// Params of [`RunList`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RunListParams {
    /// The company folder.
    pub workspace_dir: Text,
    /// Only runs of this project.
    #[serde(default)]
    pub project_id: Option<ProjectId>,
    /// Who asks.
    #[serde(flatten)]
    pub asking: Asking,
}

/// Response of [`RunList`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct RunListResponse(pub Vec<RunRow>);

/// A run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RunRow {
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
    /// What the run is for: the goal it was made with, the goal of its job, or its command line. Absent if none of
    /// them is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub goal: Option<String>,
    /// What looks wrong about it: an agent or a provider that does not exist. One sentence each; absent if nothing
    /// does.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
    /// True if its status is `running` and it was never launched, so that it has no process; absent otherwise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub not_started: Option<bool>,
}

/// How events are read back.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ReplayMode {
    /// As they are.
    #[default]
    Raw,
    /// With every hash checked.
    Verified,
    /// The same, for callers that will run them again.
    Deterministic,
    /// With every hash checked, and what runs at this moment.
    Live,
}

/// Params of [`RunReplay`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RunReplayParams {
    /// The company folder.
    pub workspace_dir: Text,
    /// The project.
    pub project_id: ProjectId,
    /// The run.
    pub run_id: RunId,
    /// Only the last events.
    #[serde(default)]
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub tail: Option<u64>,
    /// Only events after this one, counted from 1.
    #[serde(default)]
    pub after_seq: Option<u64>,
    /// At most this many events; `next_cursor` tells where to go on.
    #[serde(default)]
    #[schemars(range(min = 1, max = 100_000))]
    pub limit: Option<u64>,
    /// How.
    #[serde(default)]
    pub mode: Option<ReplayMode>,
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

/// Response of [`RunReplay`].
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct RunReplayResponse {
    /// The run.
    pub run_id: RunId,
    /// Its project.
    pub project_id: ProjectId,
    /// How it was read.
    pub mode: ReplayMode,
    /// What was found.
    #[serde(flatten)]
    pub replay: ReplayedEvents,
    /// How many events were left out because who asks may not see them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub filtered_by_policy_count: Option<u64>,
    /// What runs at this moment.
    pub live: ReplayLive,
}

/// Events of a log, and what is wrong with it.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct ReplayedEvents {
    /// The events, as they are in the file.
    #[schemars(with = "Vec<Value>")]
    pub events: Vec<Box<RawValue>>,
    /// Lines that are not JSON.
    pub parse_issues: Vec<ReplayParseIssue>,
    /// Events that are not what was written.
    pub verification_issues: Vec<ReplayVerificationIssue>,
    /// Whether everything was checked and nothing is wrong.
    pub deterministic_ok: bool,
    /// Where to go on, if `limit` left something.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<u64>,
}

/// A line that is not JSON.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ReplayParseIssue {
    /// Its place among the lines that are not blank, from 1.
    pub seq: u64,
    /// Its line in the file, from 1.
    pub line: u64,
    /// What is wrong.
    pub error: String,
    /// The line.
    pub raw: String,
}

/// An event that is not what was written.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ReplayVerificationIssue {
    /// Its place among the lines that are JSON, from 1.
    pub seq: u64,
    /// Its line in the file, from 1.
    pub line: u64,
    /// What is wrong: `invalid_shape`, `missing_key`, `invalid_schema_version`, `invalid_prev_hash_type`,
    /// `invalid_event_hash`, `event_hash_mismatch`, `first_prev_hash_non_null`, `prev_hash_chain_mismatch` or
    /// `truncated_log`.
    pub code: String,
    /// A sentence for people.
    pub message: String,
}

/// What runs at this moment.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ReplayLive {
    /// Whether something does, or did a moment ago.
    pub available: bool,
    /// The session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_ref: Option<String>,
    /// Where it stands.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<String>,
    /// What went wrong.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}
