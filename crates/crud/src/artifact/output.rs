//! Artifacts created by agents: outputs of runs and generated images.

use entity::artifact;
use sea_orm::{DatabaseConnection, EntityTrait as _};

use super::{
    ArtifactRepository, BindTargets, FinishedUpload, NewArtifact, NewBinding, Quota, detail,
    make::{ArtifactTarget, CreatedArtifact, make},
    quota::PlannedStorage,
};
use crate::{Error, workspace};

/// A file created by an agent, whose bytes are already stored.
#[derive(Clone, Debug)]
pub struct NewOutput {
    /// The id of the workspace.
    pub workspace_id: String,
    /// SHA-256 of the bytes, lower-case hexadecimal.
    pub sha256: String,
    /// The size, in bytes.
    pub size_bytes: i64,
    /// The run or turn and related objects to bind to. Objects that do not exist yet are ignored.
    pub targets: BindTargets,
    /// The purpose of the binding: `task_result` or `agent_output`.
    pub binding_kind: &'static str,
    /// The role of the binding: `task` or `assistant`.
    pub role: &'static str,
    /// The artifact to create.
    pub new: NewArtifact,
    /// The quota of the workspace.
    pub quota: Quota,
}

impl ArtifactRepository<'_> {
    /// Stores a file created by an agent as an artifact. The id identifies the file of the run or turn: identical bytes
    /// change nothing, different bytes become a new version.
    pub async fn keep_output(&self, output: NewOutput) -> Result<FinishedUpload, Error> {
        self.0.write(move |db| keep(db, &output)).await
    }
}

fn keep(db: &DatabaseConnection, output: &NewOutput) -> Result<FinishedUpload, Error> {
    let NewOutput {
        workspace_id,
        sha256,
        new,
        ..
    } = output;
    workspace::active(db, workspace_id)?;
    let known = artifact::Entity::find_by_id(new.artifact_id.as_str()).one(db)?;
    let known = known.filter(|known| known.workspace_id == *workspace_id);
    if let Some(known) = &known {
        let detail = detail(db, workspace_id, &known.id, None)?;
        if detail.blob.sha256 == *sha256 || known.status == "deleted" {
            return Ok(FinishedUpload {
                detail,
                is_new: false,
                healed: Vec::new(),
            });
        }
    }
    let targets = &output.targets;
    let target = ArtifactTarget {
        workspace_id,
        thread_id: targets.thread_id.as_deref(),
        version_of: known.as_ref().map(|known| known.id.as_str()),
        sha256,
        size_bytes: output.size_bytes,
        created_by_kind: "agent",
    };
    let binding = NewBinding {
        id: new.binding_id.clone(),
        workspace_id: workspace_id.clone(),
        artifact_id: new.artifact_id.clone(),
        version_id: Some(new.version_id.clone()),
        targets: targets.clone(),
        binding_kind: output.binding_kind.to_owned(),
        direction: "output".to_owned(),
        item_index: None,
        role: Some(output.role.to_owned()),
        now: new.now,
    };
    let CreatedArtifact {
        artifact_id,
        healed,
    } = make(db, &target, new, Some(binding))?;
    output
        .quota
        .check(db, workspace_id, PlannedStorage::default())?;
    Ok(FinishedUpload {
        detail: detail(db, workspace_id, &artifact_id, None)?,
        is_new: true,
        healed,
    })
}
