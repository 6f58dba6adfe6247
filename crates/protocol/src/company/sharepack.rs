//! `sharepack.*`: bundles made for others to see.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    ActorRole, ProjectId, RunId, SharePackId, Text,
    run::{ReplayMode, ReplayedEvents},
};

crate::methods! {
    Company family "sharepack";

    /// Bundle what managers and everybody may see of a project, with secrets blacked out: documents, memory and the
    /// events of every run. `SHA256SUMS` beside the manifest has the hash of every file.
    Write SharepackCreate = "sharepack.create" (SharepackCreateParams in workspace_dir) -> SharepackCreateResponse;
    /// Read the events in a share pack and tell what was left out from what was changed.
    Read SharepackReplay = "sharepack.replay" (SharepackReplayParams in workspace_dir as actor_role) -> SharepackReplayResponse;
}

/// Params of [`SharepackCreate`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SharepackCreateParams {
    /// The company folder.
    pub workspace_dir: Text,
    /// The project.
    pub project_id: ProjectId,
    /// Who makes it; `human` if not given.
    #[serde(default)]
    pub created_by: Option<Text>,
}

/// Response of [`SharepackCreate`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SharepackCreateResponse {
    /// The new pack.
    pub share_pack_id: SharePackId,
    /// Its manifest, relative to the company folder.
    pub manifest_relpath: String,
    /// Its files, relative to the company folder.
    pub bundle_relpath: String,
    /// The documents in it, sorted.
    pub included_artifact_ids: Vec<String>,
    /// The runs in it, sorted.
    pub included_run_ids: Vec<String>,
}

/// How the events of a share pack are read back.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SharepackReplayMode {
    /// As they are.
    #[default]
    Raw,
    /// With every hash checked.
    Verified,
    /// The same, for callers that will run them again.
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
    /// The company folder.
    pub workspace_dir: Text,
    /// The project.
    pub project_id: ProjectId,
    /// The pack.
    pub share_pack_id: SharePackId,
    /// Only this run.
    #[serde(default)]
    pub run_id: Option<RunId>,
    /// Only the last events.
    #[serde(default)]
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub tail: Option<u64>,
    /// How.
    #[serde(default)]
    pub mode: Option<SharepackReplayMode>,
    /// Who asks; everything is shown if nobody is named.
    #[serde(default)]
    pub actor_id: Option<Text>,
    /// What they are.
    #[serde(default)]
    pub actor_role: Option<ActorRole>,
    /// Their team.
    #[serde(default)]
    pub actor_team_id: Option<Text>,
}

/// Response of [`SharepackReplay`].
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct SharepackReplayResponse {
    /// The pack.
    pub share_pack_id: SharePackId,
    /// The project.
    pub project_id: ProjectId,
    /// How it was read.
    pub mode: SharepackReplayMode,
    /// The runs.
    pub runs: Vec<SharepackRun>,
    /// How many events the actor may not see; absent if nobody was named.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub filtered_by_policy_count: Option<u64>,
}

/// A run in a share pack.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct SharepackRun {
    /// Its id.
    pub run_id: String,
    /// Where its events came from.
    pub source_relpath: String,
    /// Where they are.
    pub bundle_relpath: String,
    /// What was found.
    #[serde(flatten)]
    pub replay: ReplayedEvents,
    /// Events the pack says it left out, by id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub declared_omissions: Option<Vec<String>>,
    /// Events the pack says it blacked something out of, by id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub declared_redactions: Option<Vec<String>>,
}
