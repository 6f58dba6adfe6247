//! `context_packs/<id>/manifest.yaml` and `policy_snapshot.yaml`: the context of a run.

use protocol::company::{IsoTime, Text, Visibility};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Document, tags};

tags! {
    ContextPackTag = "context_pack_manifest";
    PolicySnapshotTag = "policy_snapshot";
}

/// Manifest of the context that a run was given.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ContextPack {
    /// Version of the format: 1.
    #[schemars(range(min = 1))]
    pub schema_version: u32,
    /// `context_pack_manifest`.
    pub r#type: ContextPackTag,
    /// Id of the document.
    pub id: Text,
    /// Creation time.
    pub created_at: IsoTime,
    /// The run that the document belongs to.
    pub run_id: Text,
    /// Project of the run.
    pub project_id: Text,
    /// Agent of the run.
    pub agent_id: Text,
    /// State of the repository when the run started; absent if the run has no repository.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub repo_snapshot: Option<RepoSnapshot>,
    /// The included documents.
    pub included_docs: Vec<IncludedDoc>,
    /// Tools that the run may use.
    pub tool_allowlist: Vec<String>,
}

impl Document for ContextPack {}

impl ContextPack {
    /// A pack without documents and tools.
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

/// State of a repository when a run started.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RepoSnapshot {
    /// Id of the repository.
    pub repo_id: Text,
    /// Commit id of `HEAD`.
    pub head_sha: Text,
    /// Whether there were uncommitted changes.
    pub dirty: bool,
    /// Artifact with the uncommitted changes as a patch; absent if there are none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dirty_patch_artifact_id: Option<Text>,
}

/// A document of a [`ContextPack`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct IncludedDoc {
    /// Path of the document.
    pub path: Text,
    /// SHA-256 of the document in hexadecimal.
    #[schemars(length(min = 16))]
    pub sha256: String,
    /// Who may see the document.
    pub visibility: Visibility,
}

/// Permissions of a run when it was created.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PolicySnapshot {
    /// Version of the format: 1.
    #[schemars(range(min = 1))]
    pub schema_version: u32,
    /// `policy_snapshot`.
    pub r#type: PolicySnapshotTag,
    /// Id of the document.
    pub id: Text,
    /// Creation time.
    pub created_at: IsoTime,
    /// The run that the document belongs to.
    pub run_id: Text,
    /// Notes about visibility decisions; absent if there are none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) visibility_notes: Option<String>,
    /// Tools that the run may use.
    pub tool_allowlist: Vec<String>,
}

impl Document for PolicySnapshot {}

impl PolicySnapshot {
    /// A snapshot without notes and tools.
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
