//! Artifacts with their versions, bytes, bindings and previews.

use std::collections::BTreeMap;

use entity::{
    artifact, artifact_binding, artifact_blob, artifact_chunk_hashes, artifact_projection,
    artifact_version,
};
use sea_orm::{
    ColumnTrait as _, DatabaseConnection, EntityTrait as _, QueryFilter as _, QueryOrder as _,
    QuerySelect as _,
};

use crate::{CrudStore, Error, query, workspace};

mod binding;
mod lifecycle;
mod list;
mod make;
mod output;
mod projection;
mod quota;
mod upload;

pub use binding::{BindTargets, NewBinding};
pub use lifecycle::{Deleted, RestoredBytes, Usage};
pub use list::{ArtifactPage, ArtifactQuery, is_run_output};
pub use make::{ChunkHashes, NewArtifact};
pub use output::NewOutput;
pub use projection::{ProjectionResult, ProjectionWork};
pub use quota::Quota;
pub use upload::{FinishUpload, FinishedUpload, NewUpload, UploadStarted};

/// The repository of artifacts.
#[derive(Debug)]
pub struct ArtifactRepository<'a>(pub(crate) &'a CrudStore);

/// An artifact with everything a summary shows.
#[derive(Clone, Debug, PartialEq)]
pub struct ArtifactDetail {
    /// The row of the artifact.
    pub artifact: artifact::Model,
    /// The requested version.
    pub version: artifact_version::Model,
    /// The bytes of that version.
    pub blob: artifact_blob::Model,
    /// The bindings of the artifact, newest first.
    pub bindings: Vec<artifact_binding::Model>,
    /// The preview of the version: a thumbnail if there is one, else a text. Absent if there is no projection.
    pub preview: Option<artifact_projection::Model>,
}

impl ArtifactRepository<'_> {
    /// Returns one artifact in one version, or in the newest if none is given.
    pub async fn get(
        &self,
        workspace_id: &str,
        id: &str,
        version_id: Option<&str>,
    ) -> Result<ArtifactDetail, Error> {
        let (workspace_id, id) = (workspace_id.to_owned(), id.to_owned());
        let version_id = version_id.map(ToOwned::to_owned);
        self.0
            .read(move |db| {
                workspace::active(db, &workspace_id)?;
                detail(db, &workspace_id, &id, version_id.as_deref())
            })
            .await
    }

    /// Returns the row of a blob, such as that of a projection.
    pub async fn blob(&self, blob_id: &str) -> Result<artifact_blob::Model, Error> {
        let blob_id = blob_id.to_owned();
        self.0
            .read(move |db| {
                let found = artifact_blob::Entity::find_by_id(blob_id.as_str()).one(db)?;
                found.ok_or(Error::UnknownArtifact(blob_id))
            })
            .await
    }

    /// Returns the chunk hashes of a blob, or `None` if they are unknown.
    pub async fn chunk_hashes(&self, blob_id: &str) -> Result<Option<ChunkHashes>, Error> {
        let blob_id = blob_id.to_owned();
        self.0
            .read(move |db| {
                let found = artifact_chunk_hashes::Entity::find_by_id(blob_id).one(db)?;
                Ok(found.map(|found| ChunkHashes {
                    chunk_bytes: found.chunk_bytes,
                    hashes: found.hashes,
                }))
            })
            .await
    }

    /// Returns a page of artifacts, with a fixed number of statements.
    pub async fn list(&self, wanted: ArtifactQuery) -> Result<ArtifactPage, Error> {
        self.0.read(move |db| list::page(db, &wanted)).await
    }

    /// Returns the versions of an artifact with their bytes, newest first.
    pub async fn versions(
        &self,
        workspace_id: &str,
        id: &str,
        before: Option<i64>,
        limit: u64,
    ) -> Result<Vec<(artifact_version::Model, artifact_blob::Model)>, Error> {
        let (workspace_id, id) = (workspace_id.to_owned(), id.to_owned());
        self.0
            .read(move |db| {
                workspace::active(db, &workspace_id)?;
                owned(db, &workspace_id, &id)?;
                let versions = artifact_version::Entity::find()
                    .filter(artifact_version::Column::ArtifactId.eq(id))
                    .filter(artifact_version::Column::VersionNumber.lt(before.unwrap_or(i64::MAX)))
                    .order_by_desc(artifact_version::Column::VersionNumber)
                    .limit(limit)
                    .all(db)?;
                let mut blobs = blobs(db, &versions)?;
                let pairs = versions.into_iter().filter_map(|version| {
                    let blob = blobs.remove(&version.blob_id)?;
                    Some((version, blob))
                });
                Ok(pairs.collect())
            })
            .await
    }
}

/// Returns an artifact of the workspace, deleted or not, or fails.
fn owned(db: &DatabaseConnection, workspace_id: &str, id: &str) -> Result<artifact::Model, Error> {
    let found = artifact::Entity::find_by_id(id).one(db)?;
    found
        .filter(|artifact| artifact.workspace_id == workspace_id)
        .ok_or_else(|| Error::UnknownArtifact(id.to_owned()))
}

fn detail(
    db: &DatabaseConnection,
    workspace_id: &str,
    id: &str,
    version_id: Option<&str>,
) -> Result<ArtifactDetail, Error> {
    let artifact = owned(db, workspace_id, id)?;
    let version_id = version_id.unwrap_or(&artifact.current_version_id);
    let version = artifact_version::Entity::find_by_id(version_id).one(db)?;
    let version = version.filter(|version| version.artifact_id == id);
    let version = version.ok_or_else(|| Error::UnknownArtifactVersion(version_id.to_owned()))?;
    let details = details(db, vec![(artifact, version)])?;
    details
        .into_iter()
        .next()
        .ok_or_else(|| Error::UnknownArtifact(id.to_owned()))
}

/// Loads the details of artifacts, in three statements regardless of their number.
fn details(
    db: &DatabaseConnection,
    found: Vec<(artifact::Model, artifact_version::Model)>,
) -> Result<Vec<ArtifactDetail>, Error> {
    let (artifacts, versions): (Vec<_>, Vec<_>) = found.into_iter().unzip();
    let ids: Vec<&str> = artifacts
        .iter()
        .map(|artifact| artifact.id.as_str())
        .collect();
    let version_ids: Vec<&str> = versions.iter().map(|version| version.id.as_str()).collect();
    let blobs = blobs(db, &versions)?;
    let mut bindings: BTreeMap<String, Vec<artifact_binding::Model>> = BTreeMap::new();
    let rows = artifact_binding::Entity::find()
        .filter(artifact_binding::Column::ArtifactId.is_in(ids))
        .order_by_desc(artifact_binding::Column::CreatedAt)
        .order_by_desc(artifact_binding::Column::Id)
        .all(db)?;
    for binding in rows {
        bindings
            .entry(binding.artifact_id.clone())
            .or_default()
            .push(binding);
    }
    let mut previews: BTreeMap<String, artifact_projection::Model> = BTreeMap::new();
    let rows = artifact_projection::Entity::find()
        .filter(artifact_projection::Column::ArtifactVersionId.is_in(version_ids))
        .all(db)?;
    for projection in rows {
        let key = projection.artifact_version_id.clone();
        match previews.get(&key) {
            Some(known) if rank(known) >= rank(&projection) => {}
            Some(_) | None => {
                previews.insert(key, projection);
            }
        }
    }
    let details = artifacts
        .into_iter()
        .zip(versions)
        .filter_map(|(artifact, version)| {
            Some(ArtifactDetail {
                blob: blobs.get(&version.blob_id)?.clone(),
                bindings: bindings.remove(&artifact.id).unwrap_or_default(),
                preview: previews.remove(&version.id),
                artifact,
                version,
            })
        });
    Ok(details.collect())
}

/// Ranks projections as previews: ready ones first, then images, then newer ones.
fn rank(projection: &artifact_projection::Model) -> (bool, bool, i64) {
    (
        projection.status == "ready",
        projection.projection_kind == "thumbnail",
        projection.updated_at,
    )
}

fn blobs(
    db: &DatabaseConnection,
    versions: &[artifact_version::Model],
) -> Result<BTreeMap<String, artifact_blob::Model>, Error> {
    let ids: Vec<&str> = versions
        .iter()
        .map(|version| version.blob_id.as_str())
        .collect();
    let rows = artifact_blob::Entity::find()
        .filter(artifact_blob::Column::Id.is_in(ids))
        .all(db)?;
    Ok(rows
        .into_iter()
        .map(|blob| (blob.id.clone(), blob))
        .collect())
}

/// Returns the row of the blob with this hash, and inserts it if it is new.
fn blob(
    db: &DatabaseConnection,
    workspace_id: &str,
    new_id: &str,
    sha256: &str,
    size_bytes: i64,
    now: i64,
) -> Result<artifact_blob::Model, Error> {
    let sql = "INSERT INTO artifact_blob (id, workspace_id, sha256, size_bytes, status, created_at) \
               VALUES ($1, $2, $3, $4, 'ready', $5) \
               ON CONFLICT (workspace_id, sha256) DO UPDATE SET status = 'ready' \
               RETURNING *";
    let values = [
        new_id.into(),
        workspace_id.into(),
        sha256.into(),
        size_bytes.into(),
        now.into(),
    ];
    query::find(db, sql, values)?.ok_or_else(|| Error::UnknownArtifact(new_id.to_owned()))
}

/// Deletes the bindings of artifacts to a thread that is being deleted.
pub(crate) fn unbind_thread(db: &DatabaseConnection, thread_id: &str) -> Result<(), Error> {
    artifact_binding::Entity::delete_many()
        .filter(artifact_binding::Column::ThreadId.eq(thread_id))
        .exec(db)?;
    Ok(())
}
