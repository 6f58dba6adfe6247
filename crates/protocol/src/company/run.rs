//! `run.*`: recorded executions of agents and their event logs.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, value::RawValue};

use super::{ActorRole, AgentId, Asking, ContextPackId, ProjectId, RunId, RunStatus, Text};

crate::methods! {
    Company family "run";

    /// Create a run with its folder, its context pack and its first event. Starts no process.
    Write RunCreate = "run.create" (RunCreateParams in workspace_dir) -> RunCreateResponse;
    /// End a run that was never launched or whose session is still queued. Its status becomes `stopped`.
    ///
    /// A run with a process is rejected; use `session.stop` to end its session.
    Write RunCancel = "run.cancel" (RunCancelParams in workspace_dir as actor_role) -> RunCancelResponse;
    /// List the runs of a project or of the whole company, newest first.
    Read RunList = "run.list" (RunListParams in workspace_dir as asking.actor_role) -> RunListResponse;
    /// Read the events of a run and, unless the mode is `raw`, verify their hash chain.
    Read RunReplay = "run.replay" (RunReplayParams in workspace_dir as actor_role) -> RunReplayResponse;
}

/// Params of [`RunCreate`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RunCreateParams {
    /// Absolute path of the company folder.
    pub workspace_dir: Text,
    /// The id of the project.
    pub project_id: ProjectId,
    /// The id of the agent that executes the run. An unknown agent is accepted with a warning.
    pub agent_id: AgentId,
    /// The provider of the run, such as `cmd`, `codex`, `claude` or `gemini`. An unknown provider is accepted with a
    /// warning.
    pub provider: Text,
    /// The purpose of the run, in one line of at most 500 characters; lists show it as the name of the run. If absent,
    /// lists show the goal of the job for a run of a job and the command line for a command.
    #[serde(default)]
    #[schemars(length(max = 500))]
    pub goal: Option<Text>,
}

/// Params of [`RunCancel`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RunCancelParams {
    /// Absolute path of the company folder.
    pub workspace_dir: Text,
    /// The id of the project.
    pub project_id: ProjectId,
    /// The id of the run.
    pub run_id: RunId,
    /// The reason for the cancellation, stored in the event log of the run. Optional.
    #[serde(default)]
    pub reason: Option<Text>,
    /// The id of the person or agent that cancels the run, stored in the event log. The caller if absent.
    #[serde(default)]
    pub actor_id: Option<Text>,
    /// The role of that actor. If absent, the role of the caller's token applies.
    #[serde(default)]
    pub actor_role: Option<ActorRole>,
    /// The id of the actor's team. If absent, the gateway uses the team stored for the agent, if the actor is an agent.
    #[serde(default)]
    pub actor_team_id: Option<Text>,
}

/// Response of [`RunCancel`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RunCancelResponse {
    /// The id of the run.
    pub run_id: RunId,
    /// The new status, always `stopped`.
    pub status: RunStatus,
}

/// Response of [`RunCreate`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RunCreateResponse {
    /// The id of the new run.
    pub run_id: RunId,
    /// The id of the new context pack.
    pub context_pack_id: ContextPackId,
    /// The path of the folder of the run: `workspace_dir` as given in the request, followed by the relative path.
    pub run_dir: String,
    /// Warnings about an agent or a provider that does not exist. One sentence each; absent if there are none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
}

/// Params of [`RunList`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RunListParams {
    /// Absolute path of the company folder.
    pub workspace_dir: Text,
    /// Return only runs of this project. All projects if absent.
    #[serde(default)]
    pub project_id: Option<ProjectId>,
    /// The actor whose visibility applies to the response.
    #[serde(flatten)]
    pub asking: Asking,
}

/// Response of [`RunList`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct RunListResponse(pub Vec<RunRow>);

/// A run in a list.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RunRow {
    /// The id of the project.
    pub project_id: String,
    /// The id of the run.
    pub run_id: String,
    /// The time the run was created, in ISO-8601.
    pub created_at: String,
    /// The status stored in `run.yaml`.
    pub status: RunStatus,
    /// The provider of the run.
    pub provider: String,
    /// The id of the agent that executes the run.
    pub agent_id: String,
    /// The purpose of the run: the goal it was created with, its command line, or the goal of its job. Absent if none
    /// of them is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub goal: Option<String>,
    /// Warnings about an agent or a provider that does not exist. One sentence each; absent if there are none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
    /// True if the status is `running` but the run was never launched and has no process. Absent otherwise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub not_started: Option<bool>,
}

/// How events are read and verified.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ReplayMode {
    /// Return the events without verification.
    #[default]
    Raw,
    /// Verify the hash chain.
    Verified,
    /// Same as `verified`, for clients that replay the events.
    Deterministic,
    /// Verify the hash chain and return the newest session of the run.
    Live,
}

/// Params of [`RunReplay`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RunReplayParams {
    /// Absolute path of the company folder.
    pub workspace_dir: Text,
    /// The id of the project.
    pub project_id: ProjectId,
    /// The id of the run.
    pub run_id: RunId,
    /// Return only the last `tail` events. All events if absent.
    #[serde(default)]
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub tail: Option<u64>,
    /// Return only events after this number. Events are numbered from 1 among the lines that are valid JSON. Default 0.
    #[serde(default)]
    pub after_seq: Option<u64>,
    /// The maximum number of events to return; `next_cursor` continues the list. No limit if absent.
    #[serde(default)]
    #[schemars(range(min = 1, max = 100_000))]
    pub limit: Option<u64>,
    /// How events are read and verified. Default `raw`.
    #[serde(default)]
    pub mode: Option<ReplayMode>,
    /// The id of the actor whose visibility applies: events the actor may not see are omitted. If absent, the identity
    /// of the caller's token applies.
    #[serde(default)]
    pub actor_id: Option<Text>,
    /// The role of that actor. If absent, the role of the caller's token applies; the owner sees everything.
    #[serde(default)]
    pub actor_role: Option<ActorRole>,
    /// The id of the actor's team. If absent, the gateway uses the team stored for the agent, if the actor is an agent.
    #[serde(default)]
    pub actor_team_id: Option<Text>,
}

/// Response of [`RunReplay`].
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct RunReplayResponse {
    /// The id of the run.
    pub run_id: RunId,
    /// The id of the project.
    pub project_id: ProjectId,
    /// The mode that was applied.
    pub mode: ReplayMode,
    /// The events and the issues of the log.
    #[serde(flatten)]
    pub replay: ReplayedEvents,
    /// The number of events omitted because the actor may not see them. Absent if the caller sees everything.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub filtered_by_policy_count: Option<u64>,
    /// The newest session of the run. `available` is false unless the mode is `live`.
    pub live: ReplayLive,
}

/// The events of a log and the issues found in it.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct ReplayedEvents {
    /// The events, exactly as stored in the file.
    #[schemars(with = "Vec<Value>")]
    pub events: Vec<Box<RawValue>>,
    /// The lines that are not valid JSON, at most 1,000.
    pub parse_issues: Vec<ReplayParseIssue>,
    /// The events that fail verification, at most 10,000. Empty in mode `raw`.
    pub verification_issues: Vec<ReplayVerificationIssue>,
    /// True if the hash chain was verified and there are no issues. Always false in mode `raw`.
    pub deterministic_ok: bool,
    /// The `after_seq` of the next page. Absent if `limit` did not cut off any event.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<u64>,
}

/// A line that is not valid JSON.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ReplayParseIssue {
    /// The number of the line among the non-blank lines, starting at 1.
    pub seq: u64,
    /// The line number in the file, starting at 1.
    pub line: u64,
    /// The error of the parser.
    pub error: String,
    /// The first 4,096 bytes of the line. Empty if the visibility of an actor applies.
    pub raw: String,
}

/// An event that fails verification.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ReplayVerificationIssue {
    /// The number of the event among the lines that are valid JSON, starting at 1.
    pub seq: u64,
    /// The line number in the file, starting at 1.
    pub line: u64,
    /// The issue code: `invalid_shape`, `missing_key`, `invalid_schema_version`, `invalid_prev_hash_type`,
    /// `invalid_event_hash`, `event_hash_mismatch`, `first_prev_hash_non_null`, `prev_hash_chain_mismatch` or
    /// `truncated_log`.
    pub code: String,
    /// A description of the issue.
    pub message: String,
}

/// The newest session of a run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ReplayLive {
    /// True if the run has a session, running or ended, that the caller may see.
    pub available: bool,
    /// The reference of the session. Absent if `available` is false.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_ref: Option<String>,
    /// The status of the session. Absent if `available` is false.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<String>,
    /// The error of the session. Absent if there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}
