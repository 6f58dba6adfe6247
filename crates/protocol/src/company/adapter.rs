//! `adapter.*`: the worker programs of this machine.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Text, workspace::CompanyFolderParams};

crate::methods! {
    Company family "adapter";

    /// Tell which worker programs can be started, and why others cannot.
    Read AdapterStatus = "adapter.status" (CompanyFolderParams in workspace_dir) -> AdapterStatusResponse;
    /// Choose how the sessions of a worker program are paid for: by its subscription login or by an API key.
    ///
    /// Changes `provider_execution_policy` in `.local/machine.yaml`. With `api`, workers get the key variables of the
    /// gateway's environment; with `subscription_cli`, they get none and a launch checks the login.
    Write AdapterChannelSet = "adapter.channel.set" (AdapterChannelSetParams only Human) -> AdapterChannelSetResponse;
}

/// How the sessions of a worker program are paid for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum AdapterChannel {
    /// The login of the program, whose subscription is proven before each launch.
    SubscriptionCli,
    /// A key in the environment of the gateway.
    Api,
}

/// Params of [`AdapterChannelSet`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct AdapterChannelSetParams {
    /// The company folder.
    pub workspace_dir: Text,
    /// The worker program, or a provider that it runs: `codex`, `claude` or `gemini`.
    pub provider: Text,
    /// How its sessions are paid for from now on.
    pub channel: AdapterChannel,
}

/// Response of [`AdapterChannelSet`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct AdapterChannelSetResponse {
    /// The worker program.
    pub provider: String,
    /// How its sessions are paid for.
    pub channel: AdapterChannel,
    /// The names in `provider_execution_policy` whose policy changed; empty if nothing did.
    pub changed: Vec<String>,
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
    /// The kind of obstacle; absent if it can be started.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason_code: Option<AdapterReasonCode>,
    /// What it can do.
    pub capabilities: AdapterCapabilities,
    /// What the check before a launch says; absent if the program cannot be started at all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub launch: Option<AdapterLaunch>,
}

/// What the check of a worker program before a launch says at this moment.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct AdapterLaunch {
    /// Whether a launch would pass the check.
    pub ready: bool,
    /// How its sessions are paid for.
    pub channel: AdapterChannel,
    /// Why it would not: `unapproved_worker_binary`, `auth_probe_failed`, `api_key_present` or `unknown_proof_strategy`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason_code: Option<String>,
    /// The same in a sentence, with the setting and the command that changes it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// Why a worker program cannot be started.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum AdapterReasonCode {
    /// There is no such program on this machine.
    NotInstalled,
    /// The program has a name that is not approved for the provider.
    UnapprovedBinary,
    /// The program is there and has no app server.
    NoAppServer,
    /// The program was not asked, because the caller may not start it.
    NotAsked,
    /// `.local/machine.yaml` cannot be read.
    MachineFile,
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
