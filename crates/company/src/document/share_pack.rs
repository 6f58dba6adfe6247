//! `share_packs/<id>/manifest.yaml`: a bundle made for others to see.

use protocol::company::{IsoTime, Text, Visibility};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Document, tags};

tags! { SharePackTag = "share_pack"; }

/// What is in a share pack. All paths are relative to the company folder.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SharePack {
    /// 1.
    #[schemars(range(min = 1))]
    pub schema_version: u32,
    /// `share_pack`.
    pub r#type: SharePackTag,
    /// Its id.
    pub id: Text,
    /// When it was made.
    pub created_at: IsoTime,
    /// The project it is about.
    pub project_id: Text,
    /// Who made it.
    pub created_by: Text,
    /// Who may see it.
    pub visibility: Visibility,
    /// The documents in it.
    pub included_artifacts: Vec<SharedDocument>,
    /// Other files in it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub included_files: Option<Vec<SharedFile>>,
    /// The runs in it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub included_runs: Option<Vec<SharedRun>>,
}

impl Document for SharePack {}

impl SharePack {
    /// A pack before anything is put in.
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
    /// Its id.
    pub artifact_id: Text,
    /// Its type.
    pub r#type: Text,
    /// Who may see it.
    pub visibility: Visibility,
    /// Where it came from.
    pub source_relpath: Text,
    /// Where it is in the pack.
    pub bundle_relpath: Text,
}

/// A file in a share pack.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SharedFile {
    /// Where it came from.
    pub source_relpath: Text,
    /// Where it is in the pack.
    pub bundle_relpath: Text,
}

/// A run in a share pack.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SharedRun {
    /// Its id.
    pub run_id: Text,
    /// Where its events came from.
    pub source_relpath: Text,
    /// Where they are in the pack.
    pub bundle_relpath: Text,
    /// How many of them.
    pub included_event_count: u64,
}
