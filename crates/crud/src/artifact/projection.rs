//! Projections of artifacts: derived views that are shown instead of the bytes.

use entity::{artifact_blob, artifact_projection};
use sea_orm::{
    ActiveModelTrait as _, ActiveValue::Set, ColumnTrait as _, DatabaseConnection,
    EntityTrait as _, QueryFilter as _, QueryOrder as _, QuerySelect as _,
};

use super::{ArtifactRepository, blob, detail};
use crate::{Error, query, workspace};

/// A projection to be created.
#[derive(Clone, Debug, PartialEq)]
pub struct ProjectionWork {
    /// The row of the projection.
    pub projection: artifact_projection::Model,
    /// The blob it is created from.
    pub source: artifact_blob::Model,
}

/// The result of creating a projection.
#[derive(Clone, Debug)]
pub enum ProjectionResult {
    /// The projection is a text.
    Text {
        /// The text of the projection.
        text: String,
        /// SHA-256 of the text, lower-case hexadecimal.
        sha256: String,
        /// The MIME type of the text.
        mime_type: String,
        /// Additional properties as JSON.
        metadata: String,
    },
    /// The projection is a stored blob.
    Blob {
        /// The id for the blob if it is new.
        new_id: String,
        /// SHA-256 of the bytes, lower-case hexadecimal.
        sha256: String,
        /// The size, in bytes.
        size_bytes: i64,
        /// The MIME type of the bytes.
        mime_type: String,
        /// Additional properties as JSON.
        metadata: String,
    },
    /// The projection failed.
    Failed {
        /// The class of the failure.
        class: String,
    },
}

impl ArtifactRepository<'_> {
    /// Returns a projection of a version of an artifact, ready or not.
    pub async fn projection(
        &self,
        workspace_id: &str,
        artifact_id: &str,
        version_id: Option<&str>,
        kind: &str,
    ) -> Result<artifact_projection::Model, Error> {
        let (workspace_id, artifact_id, kind) = (
            workspace_id.to_owned(),
            artifact_id.to_owned(),
            kind.to_owned(),
        );
        let version_id = version_id.map(ToOwned::to_owned);
        self.0
            .read(move |db| {
                workspace::active(db, &workspace_id)?;
                let found = detail(db, &workspace_id, &artifact_id, version_id.as_deref())?;
                let projection = artifact_projection::Entity::find()
                    .filter(artifact_projection::Column::ArtifactVersionId.eq(found.version.id))
                    .filter(artifact_projection::Column::ProjectionKind.eq(kind.as_str()))
                    .one(db)?;
                projection.ok_or(Error::UnknownProjection { artifact_id, kind })
            })
            .await
    }

    /// Marks projections of a kind that another extractor version made as stale, so that they are created again.
    /// Returns their number.
    pub async fn outdate_projections(
        &self,
        kind: &str,
        extractor: &str,
        now: i64,
    ) -> Result<usize, Error> {
        let (kind, current) = (kind.to_owned(), format!("%\"extractor\":\"{extractor}\"%"));
        self.0
            .write(move |db| {
                let sql = "UPDATE artifact_projection SET status = 'stale', updated_at = $3 \
                           WHERE status = 'ready' AND projection_kind = $1 AND metadata NOT LIKE $2 \
                           RETURNING id";
                let outdated = query::all(db, sql, [kind.into(), current.into(), now.into()])?;
                Ok(outdated.len())
            })
            .await
    }

    /// Returns the projections to be created for the first time or again, oldest first.
    pub async fn pending_projections(&self, limit: u64) -> Result<Vec<ProjectionWork>, Error> {
        self.0
            .read(move |db| {
                let pending = artifact_projection::Entity::find()
                    .filter(artifact_projection::Column::Status.is_in(["pending", "stale"]))
                    .order_by_asc(artifact_projection::Column::CreatedAt)
                    .limit(limit)
                    .all(db)?;
                let mut work = Vec::new();
                for projection in pending {
                    let version_id = projection.artifact_version_id.as_str();
                    let found = detail(
                        db,
                        &projection.workspace_id,
                        &projection.artifact_id,
                        Some(version_id),
                    )?;
                    work.push(ProjectionWork {
                        projection,
                        source: found.blob,
                    });
                }
                Ok(work)
            })
            .await
    }

    /// Records the result of creating a projection.
    pub async fn finish_projection(
        &self,
        id: &str,
        result: ProjectionResult,
        now: i64,
    ) -> Result<artifact_projection::Model, Error> {
        let id = id.to_owned();
        self.0.write(move |db| finish(db, &id, result, now)).await
    }
}

fn finish(
    db: &DatabaseConnection,
    id: &str,
    result: ProjectionResult,
    now: i64,
) -> Result<artifact_projection::Model, Error> {
    let found = artifact_projection::Entity::find_by_id(id).one(db)?;
    let found = found.ok_or_else(|| Error::UnknownProjection {
        artifact_id: String::new(),
        kind: id.to_owned(),
    })?;
    let workspace_id = found.workspace_id.clone();
    let mut row = artifact_projection::ActiveModel::from(found);
    row.updated_at = Set(now);
    match result {
        ProjectionResult::Text {
            text,
            sha256,
            mime_type,
            metadata,
        } => {
            row.status = Set("ready".to_owned());
            row.size_bytes = Set(i64::try_from(text.len()).ok());
            row.text_content = Set(Some(text));
            row.sha256 = Set(Some(sha256));
            row.mime_type = Set(Some(mime_type));
            row.metadata = Set(metadata);
        }
        ProjectionResult::Blob {
            new_id,
            sha256,
            size_bytes,
            mime_type,
            metadata,
        } => {
            let blob = blob(db, &workspace_id, &new_id, &sha256, size_bytes, now)?;
            row.status = Set("ready".to_owned());
            row.blob_id = Set(Some(blob.id));
            row.size_bytes = Set(Some(size_bytes));
            row.sha256 = Set(Some(sha256));
            row.mime_type = Set(Some(mime_type));
            row.metadata = Set(metadata);
        }
        ProjectionResult::Failed { class } => {
            row.status = Set("failed".to_owned());
            row.error_class = Set(Some(class));
        }
    }
    Ok(row.update(db)?)
}
