//! `hook/*`: what hooks did.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{ThreadId, TurnId, WorkspaceId};

crate::methods! {
    Tree family "hook";

    /// List the hook runs of a workspace, newest first. Runs of hooks with the visibility `internal` or `debug`, such as
    /// the AGENTS.md hook, are listed for the owner of the gateway only; every turn names its hooks in `prompt_manifest`.
    Read HookRunsList = "hook/runs/list" (HookRunsListParams in workspace_id) -> HookRunsListResponse;
}

/// Params of [`HookRunsList`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct HookRunsListParams {
    /// The workspace.
    pub workspace_id: WorkspaceId,
    /// Only runs of this turn.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turn_id: Option<TurnId>,
    /// Only runs of this thread.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thread_id: Option<ThreadId>,
    /// Only runs of this hook.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hook_id: Option<String>,
    /// Only runs that stand here.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<HookRunStatus>,
    /// The `next_cursor` of the page before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cursor: Option<String>,
    /// The most runs to answer: 100 when absent, 500 at most.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<u32>,
}

/// Response of [`HookRunsList`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct HookRunsListResponse {
    /// The runs, newest first.
    pub items: Vec<HookRun>,
    /// Where the next page begins; absent on the last one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
}

/// One run of a hook.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct HookRun {
    /// The run.
    pub id: String,
    /// The subscription.
    pub subscription_id: String,
    /// The hook.
    pub hook_id: String,
    /// The phase, such as `turn.pre_prompt_compile`.
    pub phase: String,
    /// Where it stands.
    pub status: HookRunStatus,
    /// The thread.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thread_id: Option<String>,
    /// The turn.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turn_id: Option<String>,
    /// How many tries there were.
    pub attempt_count: u64,
    /// How much it brought.
    pub contribution_count: u64,
    /// How many remarks it made.
    pub diagnostic_count: u64,
    /// The hashes of what it brought.
    pub contribution_hashes: Vec<String>,
    /// Its remarks, as far as users may read them.
    pub diagnostic_previews: Vec<String>,
    /// Why it failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<HookRunError>,
    /// Unix milliseconds.
    pub queued_at_ms: i64,
    /// Unix milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub started_at_ms: Option<i64>,
    /// Unix milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub completed_at_ms: Option<i64>,
}

/// Where a run stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum HookRunStatus {
    /// It waits.
    Queued,
    /// It is under way.
    Running,
    /// It ended well.
    Succeeded,
    /// It ended badly.
    Failed,
    /// It took too long.
    TimedOut,
    /// It did not take part.
    Skipped,
}

/// Why a run failed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct HookRunError {
    /// A stable name.
    pub code: String,
    /// One sentence, as far as users may read it.
    pub message: String,
    /// Whether another try could help.
    pub retryable: bool,
    /// Whether users may read the message.
    pub safe_for_user: bool,
}
