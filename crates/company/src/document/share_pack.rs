//! `share_packs/<id>/manifest.yaml`: a bundle of documents and events for sharing.

use protocol::company::{IsoTime, Text, Visibility};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Document, tags};

tags! { SharePackTag = "share_pack"; }

/// Manifest of a share pack. All paths are relative to the company folder.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SharePack {
    /// Version of the format: 1.
    #[schemars(range(min = 1))]
    pub schema_version: u32,
    /// `share_pack`.
    pub r#type: SharePackTag,
    /// Id of the pack.
    pub id: Text,
    /// Creation time.
    pub created_at: IsoTime,
    /// Shared project.
    pub project_id: Text,
    /// The actor that created the pack.
    pub created_by: Text,
    /// Who may see the pack.
    pub visibility: Visibility,
    /// Included documents.
    pub included_artifacts: Vec<SharedDocument>,
    /// Other included files; absent if there are none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) included_files: Option<Vec<SharedFile>>,
    /// Included runs; absent if there are none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub included_runs: Option<Vec<SharedRun>>,
}

impl Document for SharePack {}

impl SharePack {
    /// An empty pack that managers may see.
    pub fn new(id: Text, created_at: IsoTime, project_id: Text, created_by: Text) -> Self {
        Self {
            schema_version: 1,
            r#type: SharePackTag::It,
            id,
            created_at,
            project_id,
            created_by,
            visibility: Visibility::Managers,
            included_artifacts: Vec::new(),
            included_files: None,
            included_runs: None,
        }
    }
}

/// A document in a share pack.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SharedDocument {
    /// Id of the document.
    pub artifact_id: Text,
    /// Type of the document.
    pub r#type: Text,
    /// Who may see the document.
    pub visibility: Visibility,
    /// Path of the original file.
    pub source_relpath: Text,
    /// Path of the copy in the pack.
    pub bundle_relpath: Text,
}

/// A file in a share pack.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SharedFile {
    /// Path of the original file.
    pub source_relpath: Text,
    /// Path of the copy in the pack.
    pub bundle_relpath: Text,
}

/// A run in a share pack.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SharedRun {
    /// Id of the run.
    pub run_id: Text,
    /// Path of the original event log.
    pub source_relpath: Text,
    /// Path of the event log in the pack.
    pub bundle_relpath: Text,
    /// Number of included events.
    pub included_event_count: u64,
}
