//! `worktree.*`: copies of repositories that runs had to themselves.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{ProjectId, RunStatus, Text};

crate::methods! {
    Company family "worktree";

    /// Remove the worktrees of runs that ended long ago. Nothing outside `.local/worktrees` is ever touched.
    Exec WorktreeCleanup = "worktree.cleanup" (WorktreeCleanupParams in workspace_dir) -> WorktreeCleanupResponse;
}

/// Params of [`WorktreeCleanup`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct WorktreeCleanupParams {
    /// The company folder.
    pub workspace_dir: Text,
    /// Only of this project.
    #[serde(default)]
    pub project_id: Option<ProjectId>,
    /// How long a run must have been over; 72 if it is not given.
    #[serde(default)]
    #[schemars(range(min = 0))]
    pub max_age_hours: Option<f64>,
    /// Only tell what would be removed, and what would fail and why.
    #[serde(default)]
    pub dry_run: Option<bool>,
    /// Also remove what has changes that were not committed.
    #[serde(default)]
    pub force: Option<bool>,
    /// Also delete the branches of worktrees that are removed or already gone: those that are merged into the current
    /// branch of the repository, or all of them with `force`. `false` when absent.
    #[serde(default)]
    pub delete_branches: Option<bool>,
}

/// Response of [`WorktreeCleanup`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct WorktreeCleanupResponse {
    /// The company folder.
    pub workspace_dir: String,
    /// Whether nothing was removed.
    pub dry_run: bool,
    /// How long a run must have been over.
    pub max_age_hours: f64,
    /// How many runs have a worktree.
    pub scanned: u64,
    /// How many of them are old enough.
    pub eligible: u64,
    /// How many were removed.
    pub removed: u64,
    /// How many were gone already.
    pub missing: u64,
    /// How many could not be removed.
    pub failed: u64,
    /// How many stay.
    pub kept: u64,
    /// One row each.
    pub items: Vec<WorktreeCleanupItem>,
}

/// What became of a worktree.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum WorktreeCleanupAction {
    /// It stays.
    Kept,
    /// It was gone already.
    Missing,
    /// It was removed.
    Removed,
    /// It could not be removed.
    Failed,
}

/// The worktree of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct WorktreeCleanupItem {
    /// The project.
    pub project_id: String,
    /// The run.
    pub run_id: String,
    /// The repository.
    pub repo_id: Option<String>,
    /// The worktree, below the company folder.
    pub worktree_relpath: String,
    /// The worktree.
    pub worktree_abs: String,
    /// Its branch.
    pub branch: Option<String>,
    /// Where the run stands.
    pub status: RunStatus,
    /// When the run was over.
    pub ended_at: Option<String>,
    /// What became of it.
    pub action: WorktreeCleanupAction,
    /// Why.
    pub reason: String,
    /// Whether its branch was deleted; absent if that was not asked for, in a dry run, or if there is no branch.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub branch_deleted: Option<bool>,
    /// Why its branch stays, such as `unmerged commits`; absent if it does not, or if deleting was not asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub branch_kept_reason: Option<String>,
}
