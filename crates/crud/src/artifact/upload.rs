//! Upload sessions and their completion.

use std::collections::BTreeSet;

use entity::{artifact, artifact_blob, artifact_upload_session as session};
use sea_orm::{
    ActiveModelTrait as _, ActiveValue::Set, ColumnTrait as _, DatabaseConnection,
    EntityTrait as _, QueryFilter as _, QueryOrder as _, QuerySelect as _,
};

use super::{
    ArtifactDetail, ArtifactRepository, BindTargets, NewArtifact, NewBinding, Quota, detail,
    make::{ArtifactTarget, CreatedArtifact, make},
    owned,
    quota::PlannedStorage,
};
use crate::{Error, query, workspace};

/// An upload to start.
#[derive(Clone, Debug)]
pub struct NewUpload {
    /// The session to insert if no open one can be continued.
    pub session: session::Model,
    /// The quota of the workspace.
    pub quota: Quota,
}

/// The result of starting an upload.
#[derive(Clone, Debug, PartialEq)]
pub struct UploadStarted {
    /// The upload session.
    pub session: session::Model,
    /// True if the session is new.
    pub is_new: bool,
    /// The blob, if the workspace already has these bytes.
    pub present: Option<artifact_blob::Model>,
}

/// A completed upload whose bytes are stored.
#[derive(Clone, Debug)]
pub struct FinishUpload {
    /// The id of the upload.
    pub upload_id: String,
    /// The artifact to create.
    pub new: NewArtifact,
    /// The kind of creator: `user` or `import`.
    pub created_by_kind: &'static str,
    /// The quota of the workspace.
    pub quota: Quota,
}

/// The result of completing an upload.
#[derive(Clone, Debug, PartialEq)]
pub struct FinishedUpload {
    /// The artifact and its details.
    pub detail: ArtifactDetail,
    /// True if this call created the artifact or its newest version.
    pub is_new: bool,
    /// Other artifacts that are usable again, because their damaged bytes were replaced.
    pub healed: Vec<ArtifactDetail>,
}

impl ArtifactRepository<'_> {
    /// Starts an upload, or returns the open one with the same name, size and hash.
    pub async fn start_upload(&self, new: NewUpload) -> Result<UploadStarted, Error> {
        self.0.write(move |db| start(db, new)).await
    }

    /// Returns an unexpired upload of an owner in a workspace.
    pub async fn upload(
        &self,
        workspace_id: &str,
        id: &str,
        owner: &str,
        now: i64,
    ) -> Result<session::Model, Error> {
        let (workspace_id, id, owner) = (workspace_id.to_owned(), id.to_owned(), owner.to_owned());
        self.0
            .read(move |db| {
                workspace::active(db, &workspace_id)?;
                let found = session::Entity::find_by_id(id.as_str()).one(db)?;
                found
                    .filter(|found| {
                        found.workspace_id == workspace_id
                            && found.owner == owner
                            && found.expires_at > now
                    })
                    .ok_or(Error::UnknownUpload(id))
            })
            .await
    }

    /// Returns an unexpired upload of an owner in any workspace.
    pub async fn find_upload(
        &self,
        id: &str,
        owner: &str,
        now: i64,
    ) -> Result<session::Model, Error> {
        let (id, owner) = (id.to_owned(), owner.to_owned());
        self.0
            .read(move |db| {
                let found = session::Entity::find_by_id(id.as_str()).one(db)?;
                let found = found
                    .filter(|found| found.owner == owner && found.expires_at > now)
                    .ok_or(Error::UnknownUpload(id))?;
                workspace::active(db, &found.workspace_id)?;
                Ok(found)
            })
            .await
    }

    /// Returns the number of open uploads of an owner, counted up to `limit`.
    pub async fn open_uploads(&self, owner: &str, now: i64, limit: usize) -> Result<usize, Error> {
        let owner = owner.to_owned();
        self.0
            .read(move |db| {
                let open = session::Entity::find()
                    .filter(session::Column::Owner.eq(owner))
                    .filter(session::Column::Status.eq("receiving"))
                    .filter(session::Column::ExpiresAt.gt(now))
                    .limit(limit as u64);
                Ok(open.all(db)?.len())
            })
            .await
    }

    /// Extends the expiry time of an upload, in Unix seconds.
    pub async fn extend_upload(&self, id: &str, expires_at: i64) -> Result<(), Error> {
        let id = id.to_owned();
        self.0
            .write(move |db| {
                let sql =
                    "UPDATE artifact_upload_session SET expires_at = $2 WHERE id = $1 RETURNING id";
                query::one(db, sql, [id.into(), expires_at.into()])?;
                Ok(())
            })
            .await
    }

    /// Deletes the row of an upload.
    pub async fn remove_upload(&self, id: &str) -> Result<(), Error> {
        let id = id.to_owned();
        self.0
            .write(move |db| {
                session::Entity::delete_by_id(id).exec(db)?;
                Ok(())
            })
            .await
    }

    /// Returns the ids among `ids` that have a row.
    pub async fn known_uploads(&self, ids: Vec<String>) -> Result<BTreeSet<String>, Error> {
        self.0
            .read(move |db| {
                let known = session::Entity::find().filter(session::Column::Id.is_in(ids));
                Ok(known.all(db)?.into_iter().map(|known| known.id).collect())
            })
            .await
    }

    /// Returns the expired uploads.
    pub async fn expired_uploads(&self, now: i64) -> Result<Vec<session::Model>, Error> {
        self.0
            .read(move |db| {
                let expired = session::Entity::find().filter(session::Column::ExpiresAt.lte(now));
                Ok(expired.all(db)?)
            })
            .await
    }

    /// Creates an artifact from an upload whose bytes are stored. Idempotent: a second call returns the same artifact.
    pub async fn finish_upload(&self, finish: FinishUpload) -> Result<FinishedUpload, Error> {
        self.0.write(move |db| self::finish(db, finish)).await
    }
}

fn start(db: &DatabaseConnection, new: NewUpload) -> Result<UploadStarted, Error> {
    let wanted = new.session;
    workspace::active(db, &wanted.workspace_id)?;
    if let Some(thread_id) = &wanted.thread_id {
        crate::thread::owned(db, &wanted.workspace_id, thread_id)?;
    }
    if let Some(artifact_id) = &wanted.version_of {
        open_for_versions(db, &wanted.workspace_id, artifact_id)?;
    }
    let present = artifact_blob::Entity::find()
        .filter(artifact_blob::Column::WorkspaceId.eq(wanted.workspace_id.as_str()))
        .filter(artifact_blob::Column::Sha256.eq(wanted.sha256.as_str()))
        .filter(artifact_blob::Column::SizeBytes.eq(wanted.size_bytes))
        .filter(artifact_blob::Column::Status.eq("ready"))
        .one(db)?;
    let open = session::Entity::find()
        .filter(session::Column::WorkspaceId.eq(wanted.workspace_id.as_str()))
        .filter(session::Column::ClientAttachmentId.eq(wanted.client_attachment_id.as_str()))
        .filter(session::Column::Owner.eq(wanted.owner.as_str()))
        .filter(session::Column::Sha256.eq(wanted.sha256.as_str()))
        .filter(session::Column::SizeBytes.eq(wanted.size_bytes))
        .filter(session::Column::Status.eq("receiving"))
        .filter(session::Column::ExpiresAt.gt(wanted.created_at))
        .filter(match &wanted.version_of {
            Some(artifact_id) => session::Column::VersionOf.eq(artifact_id.as_str()),
            None => session::Column::VersionOf.is_null(),
        })
        .order_by_desc(session::Column::CreatedAt)
        .one(db)?;
    if let Some(session) = open {
        return Ok(UploadStarted {
            session,
            is_new: false,
            present,
        });
    }
    let row = session::ActiveModel::from(wanted);
    let session = row.reset_all().insert(db)?;
    // Existing bytes take no additional space; the quota is checked again when the upload is completed.
    if present.is_none() {
        let planned = PlannedStorage {
            bytes: session.size_bytes,
            files: 1,
        };
        new.quota.check(db, &session.workspace_id, planned)?;
    }
    Ok(UploadStarted {
        session,
        is_new: true,
        present,
    })
}

/// Returns an artifact that can get a new version. Fails for a deleted one.
pub(super) fn open_for_versions(
    db: &DatabaseConnection,
    workspace_id: &str,
    artifact_id: &str,
) -> Result<artifact::Model, Error> {
    let artifact = owned(db, workspace_id, artifact_id)?;
    match artifact.status.as_str() {
        "deleted" => Err(Error::ArtifactNotReady {
            artifact_id: artifact.id,
            status: artifact.status,
        }),
        _ => Ok(artifact),
    }
}

fn finish(db: &DatabaseConnection, finish: FinishUpload) -> Result<FinishedUpload, Error> {
    let found = session::Entity::find_by_id(finish.upload_id.as_str()).one(db)?;
    let upload = found.ok_or_else(|| Error::UnknownUpload(finish.upload_id.clone()))?;
    if let Some(artifact_id) = &upload.artifact_id {
        return Ok(FinishedUpload {
            detail: detail(
                db,
                &upload.workspace_id,
                artifact_id,
                upload.version_id.as_deref(),
            )?,
            is_new: false,
            healed: Vec::new(),
        });
    }
    let new = finish.new;
    let target = ArtifactTarget {
        workspace_id: &upload.workspace_id,
        thread_id: upload.thread_id.as_deref(),
        version_of: upload.version_of.as_deref(),
        sha256: &upload.sha256,
        size_bytes: upload.size_bytes,
        created_by_kind: finish.created_by_kind,
    };
    let binding = upload.thread_id.clone().map(|thread_id| NewBinding {
        id: new.binding_id.clone(),
        workspace_id: upload.workspace_id.clone(),
        artifact_id: new.artifact_id.clone(),
        version_id: Some(new.version_id.clone()),
        targets: BindTargets {
            thread_id: Some(thread_id),
            turn_id: upload.planned_turn_id.clone(),
            ..BindTargets::default()
        },
        binding_kind: "draft_upload".to_owned(),
        direction: "input".to_owned(),
        item_index: None,
        role: Some("user".to_owned()),
        now: new.now,
    });
    let CreatedArtifact {
        artifact_id,
        healed,
    } = make(db, &target, &new, binding)?;
    let workspace_id = upload.workspace_id.clone();
    let mut row = session::ActiveModel::from(upload);
    row.status = Set("completed".to_owned());
    row.artifact_id = Set(Some(artifact_id.clone()));
    row.version_id = Set(Some(new.version_id));
    row.update(db)?;
    finish
        .quota
        .check(db, &workspace_id, PlannedStorage::default())?;
    Ok(FinishedUpload {
        detail: detail(db, &workspace_id, &artifact_id, None)?,
        is_new: true,
        healed,
    })
}
