//! `adapter.*`: the worker programs of this machine.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::workspace::CompanyFolderParams;

crate::methods! {
    Company family "adapter";

    /// Tell which worker programs can be started, and why others cannot.
    Read AdapterStatus = "adapter.status" (CompanyFolderParams in workspace_dir) -> AdapterStatusResponse;
}

/// Response of [`AdapterStatus`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct AdapterStatusResponse(pub Vec<AdapterRow>);

/// One way to run a worker.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct AdapterRow {
    /// Its name.
    pub name: String,
    /// Whose program it is.
    pub provider: String,
    /// How it is spoken to.
    pub mode: AdapterMode,
    /// Whether it can be started.
    pub available: bool,
    /// Why not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// What it can do.
    pub capabilities: AdapterCapabilities,
}

/// How a worker is spoken to.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum AdapterMode {
    /// Messages in both directions.
    Protocol,
    /// A command line, and what it prints.
    Cli,
}

/// What a worker program can do.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct AdapterCapabilities {
    /// Tells what it does while it does it.
    pub supports_streaming_events: bool,
    /// Goes on where it stopped.
    pub supports_resumable_session: bool,
    /// Answers in a given form.
    pub supports_structured_output: bool,
    /// Counts tokens.
    pub supports_token_usage: bool,
    /// Gives its changes as a patch.
    pub supports_patch_export: bool,
    /// Asks before it acts.
    pub supports_interactive_approval_callbacks: bool,
    /// Whether it should have its own copy of the repository.
    pub supports_worktree_isolation: WorktreeIsolation,
}

/// Whether a worker should have its own copy of the repository.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum WorktreeIsolation {
    /// It cannot use one.
    Unsupported,
    /// It is better off with one.
    Recommended,
    /// It needs one.
    Required,
}
