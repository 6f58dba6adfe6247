//! Creation of an artifact: its row, a version, its binding and its pending projections.

use entity::{artifact, artifact_chunk_hashes, artifact_projection, artifact_version};
use sea_orm::{
    ActiveModelTrait as _, ActiveValue::Set, ColumnTrait as _, DatabaseConnection,
    EntityTrait as _, QueryFilter as _, QueryOrder as _, sea_query::OnConflict,
};

use super::{ArtifactDetail, NewBinding, binding, blob, detail, upload::open_for_versions};
use crate::{Error, query};

/// An artifact, or a version of one, whose bytes are already stored.
#[derive(Clone, Debug)]
pub struct NewArtifact {
    /// The id for the artifact.
    pub artifact_id: String,
    /// The id for the version.
    pub version_id: String,
    /// The id for the blob if it is new.
    pub blob_id: String,
    /// The id for the binding.
    pub binding_id: String,
    /// The display name.
    pub display_name: String,
    /// The kind of the artifact.
    pub kind: String,
    /// The MIME type, if known.
    pub mime_type: Option<String>,
    /// The principal that created it.
    pub author: String,
    /// Additional properties as JSON.
    pub metadata: String,
    /// The ids and kinds of the projections to create.
    pub projections: Vec<(String, String)>,
    /// The chunk hashes, if they were computed while receiving the bytes.
    pub chunk_hashes: Option<ChunkHashes>,
    /// The current time, in Unix seconds.
    pub now: i64,
}

/// The hashes of the chunks of a blob, as received or computed later with a chosen chunk size.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChunkHashes {
    /// The size of every chunk but the last, in bytes.
    pub chunk_bytes: i64,
    /// The concatenated hashes, 64 hexadecimal digits per chunk.
    pub hashes: String,
}

/// The destination of a new artifact or version.
pub(super) struct ArtifactTarget<'a> {
    pub(super) workspace_id: &'a str,
    pub(super) thread_id: Option<&'a str>,
    /// The id of the artifact that gets a new version. Absent for a new artifact.
    pub(super) version_of: Option<&'a str>,
    pub(super) sha256: &'a str,
    pub(super) size_bytes: i64,
    pub(super) created_by_kind: &'a str,
}

/// The result of [`make`].
pub(super) struct CreatedArtifact {
    pub(super) artifact_id: String,
    /// Other artifacts that are usable again, because their damaged bytes were replaced.
    pub(super) healed: Vec<ArtifactDetail>,
}

/// Creates the artifact or its version.
pub(super) fn make(
    db: &DatabaseConnection,
    target: &ArtifactTarget<'_>,
    new: &NewArtifact,
    binding: Option<NewBinding>,
) -> Result<CreatedArtifact, Error> {
    let now = new.now;
    let (workspace_id, sha256) = (target.workspace_id, target.sha256);
    let blob = blob(
        db,
        workspace_id,
        &new.blob_id,
        sha256,
        target.size_bytes,
        now,
    )?;
    if let Some(chunk_hashes) = &new.chunk_hashes {
        keep_chunk_hashes(db, &blob.id, chunk_hashes)?;
    }
    let mut healed = Vec::new();
    if blob.id != new.blob_id {
        for artifact in revive(db, &blob.id, now)? {
            healed.push(detail(db, workspace_id, &artifact.id, None)?);
        }
    }
    let (artifact_id, version_number) = match target.version_of {
        Some(artifact_id) => {
            let artifact = open_for_versions(db, workspace_id, artifact_id)?;
            let mut row = artifact::ActiveModel::from(artifact);
            row.current_version_id = Set(new.version_id.clone());
            row.kind = Set(new.kind.clone());
            row.mime_type = Set(new.mime_type.clone());
            // The new bytes are intact, whatever the state of the previous ones.
            row.status = Set("ready".to_owned());
            row.updated_at = Set(now);
            row.metadata = Set(new.metadata.clone());
            row.update(db)?;
            (artifact_id, last_version(db, artifact_id)? + 1)
        }
        None => {
            let row = artifact::ActiveModel {
                id: Set(new.artifact_id.clone()),
                workspace_id: Set(workspace_id.to_owned()),
                primary_thread_id: Set(target.thread_id.map(ToOwned::to_owned)),
                current_version_id: Set(new.version_id.clone()),
                display_name: Set(new.display_name.clone()),
                kind: Set(new.kind.clone()),
                mime_type: Set(new.mime_type.clone()),
                status: Set("ready".to_owned()),
                status_before_delete: Set(None),
                created_by_kind: Set(target.created_by_kind.to_owned()),
                created_by_actor_id: Set(Some(new.author.clone())),
                created_at: Set(now),
                updated_at: Set(now),
                deleted_at: Set(None),
                metadata: Set(new.metadata.clone()),
            };
            row.insert(db)?;
            (new.artifact_id.as_str(), 1)
        }
    };
    let row = artifact_version::ActiveModel {
        id: Set(new.version_id.clone()),
        workspace_id: Set(workspace_id.to_owned()),
        artifact_id: Set(artifact_id.to_owned()),
        version_number: Set(version_number),
        blob_id: Set(blob.id),
        mime_type: Set(new.mime_type.clone()),
        created_at: Set(now),
    };
    row.insert(db)?;
    if let Some(binding) = binding {
        let binding = NewBinding {
            artifact_id: artifact_id.to_owned(),
            ..binding
        };
        binding::insert(db, binding)?;
    }
    for (id, kind) in &new.projections {
        let row = artifact_projection::ActiveModel {
            id: Set(id.clone()),
            workspace_id: Set(workspace_id.to_owned()),
            artifact_id: Set(artifact_id.to_owned()),
            artifact_version_id: Set(new.version_id.clone()),
            projection_kind: Set(kind.clone()),
            status: Set("pending".to_owned()),
            text_content: Set(None),
            blob_id: Set(None),
            mime_type: Set(None),
            size_bytes: Set(None),
            sha256: Set(None),
            error_class: Set(None),
            metadata: Set("{}".to_owned()),
            created_at: Set(now),
            updated_at: Set(now),
        };
        row.insert(db)?;
    }
    healed.retain(|healed| healed.artifact.id != artifact_id);
    Ok(CreatedArtifact {
        artifact_id: artifact_id.to_owned(),
        healed,
    })
}

/// Makes artifacts ready again whose newest version uses this blob, which is intact now, and queues the projections
/// that failed because of damaged bytes. Returns these artifacts.
pub(super) fn revive(
    db: &DatabaseConnection,
    blob_id: &str,
    now: i64,
) -> Result<Vec<artifact::Model>, Error> {
    let sql = "UPDATE artifact SET status = 'ready', updated_at = $2 \
               WHERE status IN ('quarantined', 'failed') AND current_version_id IN ( \
                 SELECT id FROM artifact_version WHERE blob_id = $1) RETURNING *";
    let revived: Vec<artifact::Model> = query::list(db, sql, [blob_id.into(), now.into()])?;
    if !revived.is_empty() {
        let sql = "UPDATE artifact_projection SET status = 'pending', error_class = NULL, updated_at = $2 \
                   WHERE status = 'failed' AND error_class = 'missing' AND artifact_version_id IN ( \
                     SELECT id FROM artifact_version WHERE blob_id = $1) RETURNING id";
        query::all(db, sql, [blob_id.into(), now.into()])?;
    }
    Ok(revived)
}

/// Stores the chunk hashes of a blob and replaces older ones.
pub(super) fn keep_chunk_hashes(
    db: &DatabaseConnection,
    blob_id: &str,
    chunk_hashes: &ChunkHashes,
) -> Result<(), Error> {
    let row = artifact_chunk_hashes::ActiveModel {
        blob_id: Set(blob_id.to_owned()),
        chunk_bytes: Set(chunk_hashes.chunk_bytes),
        hashes: Set(chunk_hashes.hashes.clone()),
    };
    artifact_chunk_hashes::Entity::insert(row)
        .on_conflict(
            OnConflict::column(artifact_chunk_hashes::Column::BlobId)
                .update_columns([
                    artifact_chunk_hashes::Column::ChunkBytes,
                    artifact_chunk_hashes::Column::Hashes,
                ])
                .to_owned(),
        )
        .exec_without_returning(db)?;
    Ok(())
}

fn last_version(db: &DatabaseConnection, artifact_id: &str) -> Result<i64, Error> {
    let newest = artifact_version::Entity::find()
        .filter(artifact_version::Column::ArtifactId.eq(artifact_id))
        .order_by_desc(artifact_version::Column::VersionNumber)
        .one(db)?;
    Ok(newest.map_or(0, |version| version.version_number))
}
