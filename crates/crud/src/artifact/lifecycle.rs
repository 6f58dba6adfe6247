//! Deletion, restoration, usage counting, purging and verification of artifacts.

use entity::{artifact, artifact_binding, artifact_blob};
use sea_orm::{
    ActiveModelTrait as _, ActiveValue::Set, ColumnTrait as _, Condition, DatabaseConnection,
    EntityTrait as _, QueryFilter as _, QueryOrder as _, QuerySelect as _,
};

use super::{
    ArtifactRepository, ChunkHashes, Quota, make, owned,
    quota::{self, PlannedStorage},
};
use crate::{Error, query, workspace};

/// The result of deleting an artifact.
#[derive(Clone, Debug, PartialEq)]
pub struct Deleted {
    /// The artifact after the deletion.
    pub artifact: artifact::Model,
    /// The ids of the threads the artifact is bound to.
    pub thread_ids: Vec<String>,
    /// True if this call deleted it; false if it was already deleted.
    pub is_new: bool,
}

/// The storage used by the artifacts of a workspace.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Usage {
    /// The size of the distinct blobs of artifacts that are not deleted, and of their projections, in bytes.
    pub bytes: i64,
    /// The number of these blobs.
    pub files: i64,
    /// The size of the blobs that only deleted artifacts use, in bytes.
    pub reclaimable_bytes: i64,
    /// The size of all blobs, referenced or not, in bytes.
    pub stored_bytes: i64,
    /// The total declared size of uploads in progress, in bytes.
    pub open_upload_bytes: i64,
}

/// The state of the bytes of an artifact to be restored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RestoredBytes {
    /// The bytes match their hash.
    Intact,
    /// The bytes do not match their hash.
    Damaged,
    /// The bytes do not exist.
    Missing,
}

impl ArtifactRepository<'_> {
    /// Marks an artifact as deleted. Its bytes are kept until it is purged.
    pub async fn delete(&self, workspace_id: &str, id: &str, now: i64) -> Result<Deleted, Error> {
        let (workspace_id, id) = (workspace_id.to_owned(), id.to_owned());
        self.0
            .write(move |db| {
                workspace::active(db, &workspace_id)?;
                let artifact = owned(db, &workspace_id, &id)?;
                let thread_ids = threads(db, &id)?;
                if artifact.status == "deleted" {
                    return Ok(Deleted {
                        artifact,
                        thread_ids,
                        is_new: false,
                    });
                }
                let before = artifact.status.clone();
                let mut row = artifact::ActiveModel::from(artifact);
                row.status = Set("deleted".to_owned());
                row.status_before_delete = Set(Some(before));
                row.deleted_at = Set(Some(now));
                row.updated_at = Set(now);
                Ok(Deleted {
                    artifact: row.update(db)?,
                    thread_ids,
                    is_new: true,
                })
            })
            .await
    }

    /// Restores a deleted artifact. Fails if that exceeds the quota of the workspace.
    pub async fn restore(
        &self,
        workspace_id: &str,
        id: &str,
        bytes: RestoredBytes,
        quota: Quota,
        now: i64,
    ) -> Result<Deleted, Error> {
        let (workspace_id, id) = (workspace_id.to_owned(), id.to_owned());
        self.0
            .write(move |db| {
                workspace::active(db, &workspace_id)?;
                let artifact = owned(db, &workspace_id, &id)?;
                if artifact.status != "deleted" {
                    return Err(Error::ArtifactNotReady {
                        artifact_id: id,
                        status: artifact.status,
                    });
                }
                let before = artifact.status_before_delete.clone();
                let mut row = artifact::ActiveModel::from(artifact);
                row.status = Set(match (bytes, before.as_deref()) {
                    // Bytes that are intact now may have been damaged when the artifact was deleted.
                    (RestoredBytes::Intact, None | Some("quarantined" | "failed")) => {
                        "ready".to_owned()
                    }
                    (RestoredBytes::Intact, Some(before)) => before.to_owned(),
                    (RestoredBytes::Damaged, _) => "quarantined".to_owned(),
                    (RestoredBytes::Missing, Some("missing_external_source")) => {
                        "missing_external_source".to_owned()
                    }
                    (RestoredBytes::Missing, _) => "failed".to_owned(),
                });
                row.status_before_delete = Set(None);
                row.deleted_at = Set(None);
                row.updated_at = Set(now);
                let restored = Deleted {
                    artifact: row.update(db)?,
                    thread_ids: threads(db, &id)?,
                    is_new: true,
                };
                quota.check(db, &workspace_id, PlannedStorage::default())?;
                Ok(restored)
            })
            .await
    }

    /// Returns the storage used by a workspace.
    pub async fn usage(&self, workspace_id: &str) -> Result<Usage, Error> {
        let workspace_id = workspace_id.to_owned();
        self.0
            .read(move |db| {
                workspace::active(db, &workspace_id)?;
                let stored = quota::stored(db, &workspace_id)?;
                Ok(Usage {
                    stored_bytes: stored.bytes,
                    open_upload_bytes: stored.open_upload_bytes,
                    ..usage(db, &workspace_id)?
                })
            })
            .await
    }

    /// Deletes the rows of artifacts deleted before `deleted_before`, at most `limit` at a time. Returns their number.
    pub async fn purge(&self, deleted_before: i64, limit: u64) -> Result<usize, Error> {
        self.0
            .write(move |db| {
                let old = artifact::Entity::find()
                    .filter(artifact::Column::Status.eq("deleted"))
                    .filter(artifact::Column::DeletedAt.lt(deleted_before))
                    .limit(limit)
                    .all(db)?;
                for artifact in &old {
                    let id = artifact.id.as_str();
                    for sql in [
                        "DELETE FROM artifact_projection WHERE artifact_id = $1 RETURNING id",
                        "DELETE FROM artifact_binding WHERE artifact_id = $1 RETURNING id",
                        "DELETE FROM artifact_version WHERE artifact_id = $1 RETURNING id",
                        "DELETE FROM artifact WHERE id = $1 RETURNING id",
                    ] {
                        query::all(db, sql, [id.into()])?;
                    }
                }
                Ok(old.len())
            })
            .await
    }

    /// Deletes the rows of unreferenced blobs older than `before`. Returns them, so that the caller can remove their
    /// files; a row without its file would be worse than a file without a row.
    pub async fn forget_blobs(
        &self,
        before: i64,
        limit: u64,
    ) -> Result<Vec<artifact_blob::Model>, Error> {
        self.0
            .write(move |db| {
                let sql = "DELETE FROM artifact_blob WHERE id IN ( \
                             SELECT blob.id FROM artifact_blob blob WHERE blob.created_at < $1 \
                             AND NOT EXISTS (SELECT 1 FROM artifact_version version WHERE version.blob_id = blob.id) \
                             AND NOT EXISTS (SELECT 1 FROM artifact_projection projection WHERE projection.blob_id = blob.id) \
                             LIMIT $2) RETURNING *";
                query::list(db, sql, [before.into(), i64::try_from(limit).unwrap_or(i64::MAX).into()])
            })
            .await
    }

    /// Returns the blobs that were verified the longest time ago.
    pub async fn least_verified(
        &self,
        before: i64,
        limit: u64,
    ) -> Result<Vec<artifact_blob::Model>, Error> {
        self.0
            .read(move |db| {
                use artifact_blob::Column;
                let oldest = artifact_blob::Entity::find()
                    .filter(Column::Status.eq("ready"))
                    .filter(
                        Condition::any()
                            .add(Column::LastVerifiedAt.is_null())
                            .add(Column::LastVerifiedAt.lt(before)),
                    )
                    .order_by_asc(Column::LastVerifiedAt)
                    .limit(limit);
                Ok(oldest.all(db)?)
            })
            .await
    }

    /// Returns the hashes of all recorded blobs of a workspace.
    pub async fn blob_hashes(&self, workspace_id: &str) -> Result<Vec<String>, Error> {
        let workspace_id = workspace_id.to_owned();
        self.0
            .read(move |db| {
                let known = artifact_blob::Entity::find()
                    .select_only()
                    .column(artifact_blob::Column::Sha256)
                    .filter(artifact_blob::Column::WorkspaceId.eq(workspace_id))
                    .into_tuple();
                Ok(known.all(db)?)
            })
            .await
    }

    /// Records the result of verifying a blob and stores its chunk hashes. Damaged or missing bytes are no longer
    /// served, and an artifact whose newest version uses them is not ready until they are repaired. Returns the
    /// artifacts whose status changed.
    pub async fn verified(
        &self,
        blob_id: &str,
        status: &str,
        chunk_hashes: Option<ChunkHashes>,
        now: i64,
    ) -> Result<Vec<artifact::Model>, Error> {
        let (blob_id, status) = (blob_id.to_owned(), status.to_owned());
        self.0
            .write(move |db| {
                // A blob quarantined by another caller is missing as well; keep its status.
                let sql = "UPDATE artifact_blob SET status = $2, last_verified_at = $3 \
                           WHERE id = $1 AND ($2 <> 'missing' OR status = 'ready') RETURNING id";
                if query::one(db, sql, [blob_id.as_str().into(), status.as_str().into(), now.into()])?.is_none() {
                    return Ok(Vec::new());
                }
                if let Some(chunk_hashes) = chunk_hashes {
                    make::keep_chunk_hashes(db, &blob_id, &chunk_hashes)?;
                }
                let artifact_status = match status.as_str() {
                    "quarantined" => "quarantined",
                    "missing" => "failed",
                    _ => return make::revive(db, &blob_id, now),
                };
                let sql = "UPDATE artifact SET status = $2, updated_at = $3 WHERE status = 'ready' AND current_version_id IN ( \
                             SELECT id FROM artifact_version WHERE blob_id = $1) RETURNING *";
                query::list(db, sql, [blob_id.as_str().into(), artifact_status.into(), now.into()])
            })
            .await
    }
}

fn threads(db: &DatabaseConnection, artifact_id: &str) -> Result<Vec<String>, Error> {
    let bindings = artifact_binding::Entity::find()
        .filter(artifact_binding::Column::ArtifactId.eq(artifact_id))
        .filter(artifact_binding::Column::ThreadId.is_not_null())
        .all(db)?;
    let mut ids: Vec<String> = bindings
        .into_iter()
        .filter_map(|binding| binding.thread_id)
        .collect();
    ids.sort();
    ids.dedup();
    Ok(ids)
}

pub(super) fn usage(db: &DatabaseConnection, workspace_id: &str) -> Result<Usage, Error> {
    let sql = "WITH live AS ( \
                 SELECT DISTINCT blob.id AS id, blob.size_bytes AS size_bytes FROM artifact_blob blob \
                 JOIN artifact_version version ON version.blob_id = blob.id \
                 JOIN artifact ON artifact.id = version.artifact_id \
                 WHERE blob.workspace_id = $1 AND artifact.status <> 'deleted' \
                 UNION \
                 SELECT DISTINCT blob.id, blob.size_bytes FROM artifact_blob blob \
                 JOIN artifact_projection projection ON projection.blob_id = blob.id \
                 JOIN artifact ON artifact.id = projection.artifact_id \
                 WHERE blob.workspace_id = $1 AND artifact.status <> 'deleted') \
               SELECT CAST(COALESCE((SELECT SUM(size_bytes) FROM live), 0) AS bigint) AS bytes, \
                 (SELECT COUNT(*) FROM live) AS files, \
                 CAST(COALESCE((SELECT SUM(size_bytes) FROM artifact_blob WHERE workspace_id = $1 \
                   AND id NOT IN (SELECT id FROM live)), 0) AS bigint) AS reclaimable";
    let row = query::one(db, sql, [workspace_id.into()])?;
    let Some(row) = row else {
        return Ok(Usage::default());
    };
    Ok(Usage {
        bytes: row.try_get("", "bytes")?,
        files: row.try_get("", "files")?,
        reclaimable_bytes: row.try_get("", "reclaimable")?,
        ..Usage::default()
    })
}
