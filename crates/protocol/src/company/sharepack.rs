//! `sharepack.*`: redacted bundles of a project that can be handed to others.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    ActorRole, ProjectId, RunId, SharePackId, Text,
    run::{ReplayMode, ReplayedEvents},
};

crate::methods! {
    Company family "sharepack";

    /// Create a redacted bundle of the documents, the memory and the run events of a project.
    ///
    /// It contains what has the visibility `managers` or `org`; secrets are redacted.
    ///
    /// `SHA256SUMS` next to the manifest contains the hash of every file.
    Write SharepackCreate = "sharepack.create" (SharepackCreateParams in workspace_dir) -> SharepackCreateResponse;
    /// Read the events in a share pack and distinguish declared omissions and redactions from tampering.
    Read SharepackReplay = "sharepack.replay" (SharepackReplayParams in workspace_dir as actor_role) -> SharepackReplayResponse;
}

/// Params of [`SharepackCreate`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SharepackCreateParams {
    /// Absolute path of the company folder.
    pub workspace_dir: Text,
    /// The id of the project.
    pub project_id: ProjectId,
    /// The id of the actor that creates the share pack. Default `human`.
    #[serde(default)]
    pub created_by: Option<Text>,
}

/// Response of [`SharepackCreate`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SharepackCreateResponse {
    /// The id of the new share pack.
    pub share_pack_id: SharePackId,
    /// The path of the manifest, relative to the company folder.
    pub manifest_relpath: String,
    /// The path of the folder with the bundled files, relative to the company folder.
    pub bundle_relpath: String,
    /// The ids of the included documents, sorted.
    pub included_artifact_ids: Vec<String>,
    /// The ids of the included runs, sorted.
    pub included_run_ids: Vec<String>,
}

/// How the events of a share pack are read and verified.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SharepackReplayMode {
    /// Return the events without verification.
    #[default]
    Raw,
    /// Verify the hash chain.
    Verified,
    /// Same as `verified`, for clients that replay the events.
    Deterministic,
}

impl From<SharepackReplayMode> for ReplayMode {
    fn from(mode: SharepackReplayMode) -> Self {
        match mode {
            SharepackReplayMode::Raw => Self::Raw,
            SharepackReplayMode::Verified => Self::Verified,
            SharepackReplayMode::Deterministic => Self::Deterministic,
        }
    }
}

/// Params of [`SharepackReplay`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SharepackReplayParams {
    /// Absolute path of the company folder.
    pub workspace_dir: Text,
    /// The id of the project.
    pub project_id: ProjectId,
    /// The id of the share pack.
    pub share_pack_id: SharePackId,
    /// Return only this run. All included runs if absent.
    #[serde(default)]
    pub run_id: Option<RunId>,
    /// Return only the last `tail` events of each run. All events if absent.
    #[serde(default)]
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub tail: Option<u64>,
    /// How events are read and verified. Default `raw`.
    #[serde(default)]
    pub mode: Option<SharepackReplayMode>,
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

/// Response of [`SharepackReplay`].
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct SharepackReplayResponse {
    /// The id of the share pack.
    pub share_pack_id: SharePackId,
    /// The id of the project.
    pub project_id: ProjectId,
    /// The mode that was applied.
    pub mode: SharepackReplayMode,
    /// The runs in the share pack.
    pub runs: Vec<SharepackRun>,
    /// The number of events omitted because the actor may not see them. Absent if the caller sees everything.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub filtered_by_policy_count: Option<u64>,
}

/// A run in a share pack.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct SharepackRun {
    /// The id of the run.
    pub run_id: String,
    /// The path of the original event log, relative to the company folder.
    pub source_relpath: String,
    /// The path of the event log in the share pack, relative to the company folder.
    pub bundle_relpath: String,
    /// The events and the issues of the log.
    #[serde(flatten)]
    pub replay: ReplayedEvents,
    /// The ids of events that the share pack declares as omitted. Absent in mode `raw`, and if the share pack has no
    /// chain file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub declared_omissions: Option<Vec<String>>,
    /// The ids of events that the share pack declares as redacted. Absent in mode `raw`, and if the share pack has no
    /// chain file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub declared_redactions: Option<Vec<String>>,
}
