//! `worktree.*`: the Git worktrees in which runs work.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{ProjectId, RunStatus, Text};

crate::methods! {
    Company family "worktree";

    /// Remove the worktrees of runs that ended long ago. Paths outside of `.local/worktrees` are never removed.
    Exec WorktreeCleanup = "worktree.cleanup" (WorktreeCleanupParams in workspace_dir) -> WorktreeCleanupResponse;
}

/// Params of [`WorktreeCleanup`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct WorktreeCleanupParams {
    /// Absolute path of the company folder.
    pub workspace_dir: Text,
    /// Consider only runs of this project. All projects if absent.
    #[serde(default)]
    pub project_id: Option<ProjectId>,
    /// The minimum time since the end of a run before its worktree is removed, in hours. Default 72.
    #[serde(default)]
    #[schemars(range(min = 0))]
    pub max_age_hours: Option<f64>,
    /// If true, removes nothing and reports what would be removed and what would fail. Default false.
    #[serde(default)]
    pub dry_run: Option<bool>,
    /// If true, also removes worktrees with uncommitted changes. Default false.
    #[serde(default)]
    pub force: Option<bool>,
    /// If true, also deletes the branches of worktrees that are removed or already missing: those merged into the
    /// current branch of the repository, or all of them with `force`. Default false.
    #[serde(default)]
    pub delete_branches: Option<bool>,
}

/// Response of [`WorktreeCleanup`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct WorktreeCleanupResponse {
    /// The company folder, as given in the request.
    pub workspace_dir: String,
    /// True if the call was a dry run.
    pub dry_run: bool,
    /// The minimum time since the end of a run that was applied, in hours.
    pub max_age_hours: f64,
    /// The number of runs with a worktree.
    pub scanned: u64,
    /// The number of these runs that ended at least `max_age_hours` ago.
    pub eligible: u64,
    /// The number of worktrees that were removed.
    pub removed: u64,
    /// The number of worktrees that were already missing.
    pub missing: u64,
    /// The number of worktrees that could not be removed.
    pub failed: u64,
    /// The number of worktrees that were kept. In a dry run this includes those that would be removed.
    pub kept: u64,
    /// The individual worktrees, sorted by project and run.
    pub items: Vec<WorktreeCleanupItem>,
}

/// The action taken for a worktree.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum WorktreeCleanupAction {
    /// The worktree was kept.
    Kept,
    /// The worktree was already missing.
    Missing,
    /// The worktree was removed.
    Removed,
    /// The worktree could not be removed.
    Failed,
}

/// The worktree of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct WorktreeCleanupItem {
    /// The id of the project.
    pub project_id: String,
    /// The id of the run.
    pub run_id: String,
    /// The id of the repository. `null` if unknown.
    pub repo_id: Option<String>,
    /// The path of the worktree, relative to the company folder.
    pub worktree_relpath: String,
    /// The path of the worktree: `workspace_dir` as given in the request, followed by the relative path.
    pub worktree_abs: String,
    /// The branch of the worktree. `null` if unknown.
    pub branch: Option<String>,
    /// The status of the run.
    pub status: RunStatus,
    /// The time the run ended, in ISO-8601. `null` if it has not ended.
    pub ended_at: Option<String>,
    /// The action taken for the worktree.
    pub action: WorktreeCleanupAction,
    /// The reason for the action.
    pub reason: String,
    /// Whether the branch was deleted. Absent if deletion was not requested, in a dry run, or if there is no branch.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub branch_deleted: Option<bool>,
    /// Why the branch was kept, such as `unmerged commits`. Absent if it was deleted or deletion was not requested.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub branch_kept_reason: Option<String>,
}
