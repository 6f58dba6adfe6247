//! `adapter.*`: reports which worker programs this machine can start, and sets how their sessions are paid for.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Text, workspace::CompanyFolderParams};

crate::methods! {
    Company family "adapter";

    /// List the worker programs, whether each can be started, and why not.
    Read AdapterStatus = "adapter.status" (CompanyFolderParams in workspace_dir) -> AdapterStatusResponse;
    /// Set how the sessions of a worker program are paid for: by its subscription login or by an API key.
    ///
    /// Changes `provider_execution_policy` in `.local/machine.yaml`. With `api`, workers receive the key variables of
    /// the gateway's environment; with `subscription_cli`, they receive none and every launch checks the login.
    Write AdapterChannelSet = "adapter.channel.set" (AdapterChannelSetParams only Human) -> AdapterChannelSetResponse;
}

/// How the sessions of a worker program are paid for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum AdapterChannel {
    /// The subscription login of the program. The gateway checks it before each launch.
    SubscriptionCli,
    /// An API key in the environment of the gateway.
    Api,
}

/// Params of [`AdapterChannelSet`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct AdapterChannelSetParams {
    /// Path of the company folder.
    pub workspace_dir: Text,
    /// The worker program, `codex`, `claude` or `gemini`, or a provider name that it runs, such as `claude_code`.
    pub provider: Text,
    /// The payment channel of sessions launched from now on.
    pub channel: AdapterChannel,
}

/// Response of [`AdapterChannelSet`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct AdapterChannelSetResponse {
    /// Name of the worker program: `codex`, `claude` or `gemini`.
    pub provider: String,
    /// The payment channel that is now set.
    pub channel: AdapterChannel,
    /// The keys of `provider_execution_policy` whose policy changed. Empty if the channel was already set.
    pub changed: Vec<String>,
}

/// Response of [`AdapterStatus`]: one row per adapter, in a fixed order.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct AdapterStatusResponse(pub Vec<AdapterRow>);

/// An adapter: one worker program in one mode of communication.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct AdapterRow {
    /// Name of the adapter: `codex_app_server`, `codex_cli`, `claude_cli` or `gemini_cli`.
    pub name: String,
    /// The worker program that the adapter runs: `codex`, `claude` or `gemini`.
    pub provider: String,
    /// How the gateway communicates with the program.
    pub mode: AdapterMode,
    /// Whether the program can be started on this machine.
    pub available: bool,
    /// Why the program cannot be started, as a sentence. Absent if `available` is true.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Why the program cannot be started, as a code. Absent if `available` is true.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason_code: Option<AdapterReasonCode>,
    /// The features that sessions of this program support.
    pub capabilities: AdapterCapabilities,
    /// Result of the check that precedes a launch. Absent if the program is not available or the caller lacks the scope
    /// `exec`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub launch: Option<AdapterLaunch>,
}

/// Current result of the check that precedes every launch of a worker program.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct AdapterLaunch {
    /// Whether a launch would pass the check.
    pub ready: bool,
    /// How the sessions of the program are paid for.
    pub channel: AdapterChannel,
    /// Why the check fails: `unapproved_worker_binary`, `auth_probe_failed`, `api_key_present` or
    /// `unknown_proof_strategy`. Absent if `ready` is true.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason_code: Option<String>,
    /// Why the check fails, as a sentence that names the setting and the command that changes it. Absent if `ready` is
    /// true.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// Why a worker program cannot be started.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum AdapterReasonCode {
    /// The program is not installed on this machine or not executable.
    NotInstalled,
    /// `.local/machine.yaml` names a binary whose file name is not approved for the provider.
    UnapprovedBinary,
    /// The program is installed but has no `app-server` command.
    NoAppServer,
    /// The gateway did not probe the program for an app server because the caller lacks the scope `exec`.
    NotAsked,
    /// `.local/machine.yaml` cannot be read.
    MachineFile,
}

/// How the gateway communicates with a worker program.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum AdapterMode {
    /// Messages in both directions, over the program's app server.
    Protocol,
    /// A command line whose output the gateway reads.
    Cli,
}

/// Features that the sessions of a worker program support in this gateway.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct AdapterCapabilities {
    /// Whether the program reports its progress while it works.
    pub supports_streaming_events: bool,
    /// Whether a later session can continue an earlier one.
    pub supports_resumable_session: bool,
    /// Whether the program can answer in a given format.
    pub supports_structured_output: bool,
    /// Whether the program reports the tokens it used.
    pub supports_token_usage: bool,
    /// Whether the program can return its changes as a patch.
    pub supports_patch_export: bool,
    /// Whether the program asks for approval before it acts, and the gateway answers.
    pub supports_interactive_approval_callbacks: bool,
    /// Whether sessions of the program should run in a git worktree of their own.
    pub supports_worktree_isolation: WorktreeIsolation,
}

/// Whether the sessions of a worker program should run in a git worktree of their own.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum WorktreeIsolation {
    /// The program cannot run in a worktree.
    Unsupported,
    /// A worktree is recommended.
    Recommended,
    /// A worktree is required.
    Required,
}
