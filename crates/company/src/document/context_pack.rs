//! `context_packs/<id>/manifest.yaml` and `policy_snapshot.yaml`: what a run was given to know.

use protocol::company::{IsoTime, Text, Visibility};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Document, tags};

tags! {
    ContextPackTag = "context_pack_manifest";
    PolicySnapshotTag = "policy_snapshot";
}

/// What a run was given to know.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ContextPack {
    /// 1.
    #[schemars(range(min = 1))]
    pub schema_version: u32,
    /// `context_pack_manifest`.
    pub r#type: ContextPackTag,
    /// Its id.
    pub id: Text,
    /// When it was made.
    pub created_at: IsoTime,
    /// The run.
    pub run_id: Text,
    /// The project.
    pub project_id: Text,
    /// The agent.
    pub agent_id: Text,
    /// The state of the repository.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub repo_snapshot: Option<RepoSnapshot>,
    /// The documents.
    pub included_docs: Vec<IncludedDoc>,
    /// The tools it may use.
    pub tool_allowlist: Vec<String>,
}

impl Document for ContextPack {}

impl ContextPack {
    /// A pack with nothing in it.
    pub fn empty(
        id: Text,
        created_at: IsoTime,
        run_id: Text,
        project_id: Text,
        agent_id: Text,
    ) -> Self {
        Self {
            schema_version: 1,
            r#type: ContextPackTag::It,
            id,
            created_at,
            run_id,
            project_id,
            agent_id,
            repo_snapshot: None,
            included_docs: Vec::new(),
            tool_allowlist: Vec::new(),
        }
    }
}

/// The state of a repository when a run began.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RepoSnapshot {
    /// The repository.
    pub repo_id: Text,
    /// Its commit.
    pub head_sha: Text,
    /// Whether there were changes on top.
    pub dirty: bool,
    /// Those changes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dirty_patch_artifact_id: Option<Text>,
}

/// A document of a [`ContextPack`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct IncludedDoc {
    /// Where it is.
    pub path: Text,
    /// Its hash.
    #[schemars(length(min = 16))]
    pub sha256: String,
    /// Who may see it.
    pub visibility: Visibility,
}

/// What a run was allowed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PolicySnapshot {
    /// 1.
    #[schemars(range(min = 1))]
    pub schema_version: u32,
    /// `policy_snapshot`.
    pub r#type: PolicySnapshotTag,
    /// Its id.
    pub id: Text,
    /// When it was made.
    pub created_at: IsoTime,
    /// The run.
    pub run_id: Text,
    /// What was decided about visibility.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub visibility_notes: Option<String>,
    /// The tools it may use.
    pub tool_allowlist: Vec<String>,
}

impl Document for PolicySnapshot {}

impl PolicySnapshot {
    /// A snapshot that allows nothing in particular.
    pub fn empty(id: Text, created_at: IsoTime, run_id: Text) -> Self {
        Self {
            schema_version: 1,
            r#type: PolicySnapshotTag::It,
            id,
            created_at,
            run_id,
            visibility_notes: None,
            tool_allowlist: Vec::new(),
        }
    }
}
