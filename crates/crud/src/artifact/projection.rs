//! What can be shown for an artifact instead of its bytes.

use entity::{artifact_blob, artifact_projection};
use sea_orm::{
    ActiveModelTrait as _, ActiveValue::Set, ColumnTrait as _, DatabaseConnection,
    EntityTrait as _, QueryFilter as _, QueryOrder as _, QuerySelect as _,
};

use super::{ArtifactRepository, blob, detail};
use crate::{Error, query, workspace};

/// A projection that is to be made.
#[derive(Clone, Debug, PartialEq)]
pub struct ProjectionWork {
    /// The projection.
    pub projection: artifact_projection::Model,
    /// The bytes it is made from.
    pub source: artifact_blob::Model,
}

/// How making a projection ended.
#[derive(Clone, Debug)]
pub enum ProjectionResult {
    /// As text.
    Text {
        /// The text.
        text: String,
        /// SHA-256 of the text.
        sha256: String,
        /// Its MIME type.
        mime_type: String,
        /// JSON.
        metadata: String,
    },
    /// As bytes that are stored.
    Blob {
        /// The id of the bytes, if they are new.
        new_id: String,
        /// SHA-256 of the bytes.
        sha256: String,
        /// How many there are.
        size_bytes: i64,
        /// Their MIME type.
        mime_type: String,
        /// JSON.
        metadata: String,
    },
    /// Not at all.
    Failed {
        /// What kind of failure.
        class: String,
    },
}

impl ArtifactRepository<'_> {
    /// A projection of an artifact's version, ready or not.
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

    /// Marks projections of a kind as stale that another extractor made, so that they are made again. Answers how many.
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

    /// Projections that wait to be made, for the first time or again, oldest first.
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

    /// Writes down how making a projection ended.
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
