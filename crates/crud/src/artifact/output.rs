//! What runs leave behind.

use entity::artifact;
use sea_orm::{DatabaseConnection, EntityTrait as _};

use super::{
    ArtifactRepository, BindTargets, Finished, NewArtifact, NewBinding, detail,
    lifecycle::usage,
    make::{Place, make},
};
use crate::{Error, workspace};

/// A file of a run, whose bytes are in place.
#[derive(Clone, Debug)]
pub struct NewOutput {
    /// The workspace.
    pub workspace_id: String,
    /// The hash of its bytes.
    pub sha256: String,
    /// How many they are.
    pub size_bytes: i64,
    /// The run and what it belongs to. What does not exist yet is left out.
    pub targets: BindTargets,
    /// Everything else.
    pub new: NewArtifact,
    /// Bytes a workspace may have.
    pub max_bytes: i64,
    /// Files a workspace may have.
    pub max_files: i64,
}

impl ArtifactRepository<'_> {
    /// Makes an artifact of a file that a run left behind. The id tells which file of which run it is: the same bytes
    /// again change nothing, others are a new version.
    pub async fn keep_output(&self, output: NewOutput) -> Result<Finished, Error> {
        self.0.write(move |db| keep(db, &output)).await
    }
}

fn keep(db: &DatabaseConnection, output: &NewOutput) -> Result<Finished, Error> {
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
            return Ok(Finished {
                detail,
                is_new: false,
            });
        }
    }
    let used = usage(db, workspace_id)?;
    if used.bytes + output.size_bytes > output.max_bytes || used.files >= output.max_files {
        return Err(Error::QuotaExceeded {
            workspace_id: workspace_id.clone(),
        });
    }
    let targets = &output.targets;
    let place = Place {
        workspace_id,
        thread_id: targets.thread_id.as_deref(),
        version_of: known.as_ref().map(|known| known.id.as_str()),
        sha256,
        size_bytes: output.size_bytes,
        created_by_kind: "task",
    };
    let binding = NewBinding {
        id: new.binding_id.clone(),
        workspace_id: workspace_id.clone(),
        artifact_id: new.artifact_id.clone(),
        version_id: Some(new.version_id.clone()),
        targets: targets.clone(),
        binding_kind: "task_result".to_owned(),
        direction: "output".to_owned(),
        item_index: None,
        role: Some("task".to_owned()),
        now: new.now,
    };
    let artifact_id = make(db, &place, new, Some(binding))?;
    Ok(Finished {
        detail: detail(db, workspace_id, &artifact_id, None)?,
        is_new: true,
    })
}
