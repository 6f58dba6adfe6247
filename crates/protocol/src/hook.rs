//! `hook/*`: the recorded runs of hooks.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{ThreadId, TurnId, WorkspaceId};

crate::methods! {
    Tree family "hook";

    /// List the hook runs of a workspace, newest first.
    ///
    /// Runs of hooks with visibility `internal` or `debug`, such as the AGENTS.md hook, are returned to the owner of
    /// the gateway only. Every turn lists its hooks in `prompt_manifest`.
    Read HookRunsList = "hook/runs/list" (HookRunsListParams in workspace_id) -> HookRunsListResponse;
}

/// Params of [`HookRunsList`]. All filters that are present must match.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct HookRunsListParams {
    /// The id of the workspace.
    pub workspace_id: WorkspaceId,
    /// Return only runs of the turn with this id. Absent for all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turn_id: Option<TurnId>,
    /// Return only runs of the thread with this id. Absent for all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thread_id: Option<ThreadId>,
    /// Return only runs of the hook with this id. Absent for all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hook_id: Option<String>,
    /// Return only runs with this status. Absent for all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<HookRunStatus>,
    /// The `next_cursor` of the previous page. Absent for the first page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cursor: Option<String>,
    /// The maximum number of runs to return. Default 100, maximum 500.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<u32>,
}

/// Response of [`HookRunsList`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct HookRunsListResponse {
    /// The runs, newest first.
    pub items: Vec<HookRun>,
    /// The cursor of the next page. Absent on the last page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
}

/// One run of a hook.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct HookRun {
    /// The id of the run, `hkr_…`.
    pub id: String,
    /// The id of the subscription that started the run.
    pub subscription_id: String,
    /// The id of the hook.
    pub hook_id: String,
    /// The phase of the turn, for example `turn.pre_prompt_compile`.
    pub phase: String,
    /// The current status of the run.
    pub status: HookRunStatus,
    /// The id of the thread. Absent if the run does not belong to a thread.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thread_id: Option<String>,
    /// The id of the turn. Absent if the run does not belong to a turn.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turn_id: Option<String>,
    /// The number of attempts so far.
    pub attempt_count: u64,
    /// The number of contributions that the run returned.
    pub contribution_count: u64,
    /// The number of diagnostics that the run returned.
    pub diagnostic_count: u64,
    /// The hash of each contribution, `sha256:` followed by lower-case hexadecimal.
    pub contribution_hashes: Vec<String>,
    /// The message of each diagnostic; messages that users may not read are replaced by a placeholder.
    pub diagnostic_previews: Vec<String>,
    /// The error of the run or of its last attempt. Absent if none occurred.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<HookRunError>,
    /// The time at which the run was queued, in Unix milliseconds.
    pub queued_at_ms: i64,
    /// The time at which the run started, in Unix milliseconds. Absent if it has not started.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub started_at_ms: Option<i64>,
    /// The time at which the run ended, in Unix milliseconds. Absent if it has not ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub completed_at_ms: Option<i64>,
}

/// The status of a hook run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum HookRunStatus {
    /// The run waits to be started or retried.
    Queued,
    /// The run is in progress.
    Running,
    /// The run ended without an error.
    Succeeded,
    /// The run ended with an error.
    Failed,
    /// The run exceeded its timeout.
    TimedOut,
    /// The run was not started because the phase failed before it.
    Skipped,
}

/// The error of a hook run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct HookRunError {
    /// A stable name for the error.
    pub code: String,
    /// A one-sentence description. Replaced by a placeholder if `safe_for_user` is `false`.
    pub message: String,
    /// Whether another attempt may succeed.
    pub retryable: bool,
    /// Whether users may read the original message.
    pub safe_for_user: bool,
}
