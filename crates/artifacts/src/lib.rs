//! Connects artifacts in the database with the blob store: open uploads, completing them and reading content.
//!
//! The progress of an upload is the length of its file, so a chunk needs no database write. The database stores the
//! owner, the metadata and the expiry of uploads, and everything about complete artifacts. The service knows neither
//! connections nor wire types: it reports changes made in the background to an [`ArtifactListener`].

use std::{future::Future, ops::Range, pin::Pin, sync::Arc};

use blobs::{
    key::{BlobKey, ContentHash, UploadSegment, WorkspaceSegment},
    store::{BlobReader, BlobStore as _, LocalBlobs},
};
use crud::{ArtifactDetail, CrudStore, NewUpload, UploadStarted};
use entity::{artifact_blob, artifact_projection, artifact_upload_session as session};
use sources::Sources;
use tokio::sync::mpsc;

mod blocking;
pub mod chunk_hashes;
mod error;
mod finish;
pub mod limits;
mod maintenance;
mod open;
mod projections;
#[cfg(test)]
mod testing;
mod upload;
mod verification;

use blocking::blocking;
pub use error::{Damage, Error};
pub use finish::OutputFile;
pub use maintenance::run as run_maintenance;
use open::OpenUploads;
pub use projections::run as run_projections;
pub use upload::{AcceptedChunk, Chunk, DeclaredHash, Rejection};
pub use verification::run as run_verification;

/// The artifacts of a home: their rows and their bytes.
#[derive(Debug)]
pub struct Artifacts {
    store: CrudStore,
    sources: Sources,
    blobs: Arc<LocalBlobs>,
    listener: Arc<dyn ArtifactListener>,
    open: OpenUploads,
    /// Wakes the task that renders projections.
    projections: tokio::sync::Notify,
    /// Wakes the requests that wait for a projection whenever one is complete.
    projected: tokio::sync::Notify,
    /// Whether this process renders projections.
    makes_projections: bool,
    /// The queue of blobs to verify.
    unverified: mpsc::Sender<artifact_blob::Model>,
    /// The storage limits of one workspace.
    quota: crud::Quota,
}

/// The dependencies and settings of [`Artifacts`].
pub struct ArtifactOptions {
    /// The gateway database.
    pub store: CrudStore,
    /// The store of the bytes.
    pub blobs: LocalBlobs,
    /// The clock and the id generator.
    pub sources: Sources,
    /// Receives the changes that background tasks make.
    pub listener: Arc<dyn ArtifactListener>,
    /// The storage limits of one workspace.
    pub quota: crud::Quota,
    /// Whether this process renders projections.
    pub makes_projections: bool,
}

/// Receives the changes that background tasks make. The gateway implements it to notify clients.
pub trait ArtifactListener: std::fmt::Debug + Send + Sync + 'static {
    /// Handles one change.
    fn tell(&self, change: ArtifactChange) -> Pin<Box<dyn Future<Output = ()> + Send + '_>>;
}

/// A change of an artifact that was found or made by the service itself, not requested by a client.
#[derive(Clone, Debug)]
pub enum ArtifactChange {
    /// The verification found that the bytes are intact again.
    Healed(ArtifactDetail),
    /// The verification found that the bytes are damaged or missing.
    Damaged(ArtifactDetail),
    /// A projection was rendered, or rendering it failed.
    Projected(artifact_projection::Model),
}

impl Artifacts {
    /// Creates the service. The returned receiver is the input of [`run_verification`].
    pub fn new(options: ArtifactOptions) -> (Arc<Self>, mpsc::Receiver<artifact_blob::Model>) {
        let (unverified, to_verify) = mpsc::channel(verification::MAX_WAITING);
        let artifacts = Self {
            store: options.store,
            sources: options.sources,
            blobs: Arc::new(options.blobs),
            listener: options.listener,
            open: OpenUploads::default(),
            projections: tokio::sync::Notify::new(),
            projected: tokio::sync::Notify::new(),
            makes_projections: options.makes_projections,
            unverified,
            quota: options.quota,
        };
        (Arc::new(artifacts), to_verify)
    }

    /// Returns the storage limits of one workspace.
    pub fn quota(&self) -> crud::Quota {
        self.quota
    }

    /// Starts an upload, or returns the identical upload that is already open.
    pub async fn start_upload(
        self: &Arc<Self>,
        session: session::Model,
    ) -> Result<UploadStarted, Error> {
        let new = NewUpload {
            session,
            quota: self.quota,
        };
        let mut started = self.store.artifacts().start_upload(new).await?;
        // Damaged bytes count as absent, so that the upload replaces them.
        if let Some(blob) = &started.present {
            match self.open_bytes(blob).await {
                Ok(_) => {}
                Err(Error::Unserved { .. }) => started.present = None,
                Err(error) => return Err(error),
            }
        }
        Ok(started)
    }

    /// Returns the number of received bytes of an upload.
    pub async fn received(self: &Arc<Self>, session: session::Model) -> Result<u64, Error> {
        let artifacts = Arc::clone(self);
        Ok(blocking(move || artifacts.count_received(&session)).await??)
    }

    /// Counts the received bytes of an upload. Blocks.
    ///
    /// Returns the full size if the workspace already has the blob: a process may have died after it moved the file
    /// into place and before it recorded the artifact.
    fn count_received(&self, session: &session::Model) -> Result<u64, blobs::Error> {
        let size = session.size_bytes.unsigned_abs();
        let in_place = self
            .blobs
            .open(&key(&session.workspace_id, &session.sha256)?);
        if matches!(in_place, Ok(found) if found.size() == size) {
            return Ok(size);
        }
        let entry = self.open.entry(&session.id);
        let received = match entry.lock().existing(&self.blobs, session)? {
            Some(upload) => upload.received(),
            None => 0,
        };
        self.open.release(&session.id, &entry);
        Ok(received)
    }

    /// Removes `range` from an upload in progress if it is the end of the received bytes.
    pub async fn take_back(
        self: &Arc<Self>,
        session: Arc<session::Model>,
        range: Range<u64>,
    ) -> Result<(), Error> {
        let artifacts = Arc::clone(self);
        Ok(blocking(move || artifacts.cut_back(&session, range)).await??)
    }

    fn cut_back(&self, session: &session::Model, range: Range<u64>) -> Result<(), blobs::Error> {
        let (workspace, segment) = segments(session)?;
        let entry = self.open.entry(&session.id);
        let mut open = entry.lock();
        open.chunk_hashes = None;
        match open.existing(&self.blobs, session)? {
            Some(upload) if upload.received() == range.end => {
                self.blobs
                    .cut_upload(&workspace, &segment, upload, range.start)
            }
            // Another writer has appended more bytes; the hash of the whole file detects damage.
            Some(_) | None => Ok(()),
        }
    }

    /// Removes an upload and its bytes. An artifact already created from it is kept.
    pub async fn abort_upload(self: &Arc<Self>, session: session::Model) -> Result<(), Error> {
        let (artifacts, upload_id) = (Arc::clone(self), session.id.clone());
        blocking(move || artifacts.discard(&session)).await??;
        self.store.artifacts().remove_upload(&upload_id).await?;
        self.discarded(&upload_id);
        Ok(())
    }

    /// Closes an upload to further chunks and removes its bytes. The upload stays closed until [`Self::discarded`].
    /// Blocks.
    fn discard(&self, session: &session::Model) -> Result<(), blobs::Error> {
        let entry = self.open.entry(&session.id);
        entry.lock().close();
        let (workspace, upload) = segments(session)?;
        self.blobs.remove_upload(&workspace, &upload)?;
        Ok(())
    }

    /// Forgets an upload that has been deleted from the database.
    fn discarded(&self, upload_id: &str) {
        self.open.forget(upload_id);
    }

    /// Opens a blob if its bytes match its hash. Otherwise records that it is damaged or missing, and fails.
    pub async fn open_bytes(
        self: &Arc<Self>,
        blob: &artifact_blob::Model,
    ) -> Result<BlobReader, Error> {
        match self.find_bytes(&blob.workspace_id, &blob.sha256).await? {
            Ok(reader) => Ok(reader),
            Err(error) => Err(self.not_served(blob, error).await),
        }
    }

    /// Like [`Self::open_bytes`], but returns the error of the blob store and does not record any damage.
    pub async fn find_bytes(
        self: &Arc<Self>,
        workspace_id: &str,
        sha256: &str,
    ) -> Result<Result<BlobReader, blobs::Error>, Error> {
        let artifacts = Arc::clone(self);
        let (workspace_id, sha256) = (workspace_id.to_owned(), sha256.to_owned());
        blocking(move || artifacts.blobs.open(&key(&workspace_id, &sha256)?)).await
    }

    /// Returns the error for a blob that cannot be served, and records the damage so that its artifacts show it.
    pub async fn not_served(&self, blob: &artifact_blob::Model, error: blobs::Error) -> Error {
        let is_changed = matches!(
            error,
            blobs::Error::DamagedBlob(_) | blobs::Error::NotPlain { .. }
        );
        let damage = if is_changed {
            Damage::Changed
        } else if matches!(error, blobs::Error::MissingBlob(_)) {
            Damage::Missing
        } else {
            return error.into();
        };
        if let Err(error) = verification::verify(self, blob.clone()).await {
            tracing::warn!(%error, "damaged bytes cannot be recorded");
        }
        Error::Unserved {
            sha256: blob.sha256.clone(),
            damage,
        }
    }

    /// Returns a projection of a version of an artifact. Waits for at most `patience` while this process renders it;
    /// after that, the returned projection is still pending.
    pub async fn awaited_projection(
        &self,
        artifact: &ArtifactDetail,
        kind: &str,
        patience: std::time::Duration,
    ) -> Result<artifact_projection::Model, crud::Error> {
        let find = || async {
            let artifacts = self.store.artifacts();
            let row = &artifact.artifact;
            let version = Some(artifact.version.id.as_str());
            artifacts
                .projection(&row.workspace_id, &row.id, version, kind)
                .await
        };
        let waiting = async {
            loop {
                // Registers before the query, so that no completion is missed in between.
                let projected = self.projected.notified();
                let projection = find().await?;
                if !self.makes_projections || projection.status != "pending" {
                    return Ok(projection);
                }
                projected.await;
            }
        };
        match tokio::time::timeout(patience, waiting).await {
            Ok(projection) => projection,
            Err(_) => find().await,
        }
    }
}

fn segments(session: &session::Model) -> Result<(WorkspaceSegment, UploadSegment), blobs::Error> {
    Ok((
        WorkspaceSegment::new(&session.workspace_id)?,
        UploadSegment::new(&session.id)?,
    ))
}

/// Returns the key of a blob in the blob store.
fn key(workspace_id: &str, sha256: &str) -> Result<BlobKey, blobs::Error> {
    let workspace = WorkspaceSegment::new(workspace_id)?;
    Ok(BlobKey::new(workspace, ContentHash::parse(sha256)?))
}
