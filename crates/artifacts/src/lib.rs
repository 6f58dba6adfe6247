//! Connects artifacts in the database with the blob store: open uploads, completing them and reading content.
//!
//! The progress of an upload is the length of its file, so a chunk needs no database write. The database stores the
//! owner, the metadata and the expiry of uploads, and everything about complete artifacts. The service knows neither
//! connections nor wire types: it reports changes made in the background to an [`ArtifactListener`].

use std::{future::Future, ops::Range, pin::Pin, sync::Arc};

use blobs::{
    key::{BlobKey, ContentHash, UploadSegment, WorkspaceSegment},
    kind::{self, Detected, Kind as ContentKind},
    name,
    store::{BlobReader, BlobStore as _, LocalBlobs, PayloadHash},
};
use crud::{
    ArtifactDetail, BindTargets, ChunkHashes, CrudStore, FinishUpload, Finished, NewArtifact,
    NewOutput, NewUpload, UploadStarted,
};
use entity::{artifact_blob, artifact_projection, artifact_upload_session as session};
use serde_json::json;
use sources::Sources;
use tokio::sync::mpsc;

mod blocking;
pub mod chunk_hashes;
mod error;
mod maintenance;
mod open;
mod projections;
#[cfg(test)]
mod testing;
mod upload;
mod verification;

use blocking::blocking;
pub use error::{Damage, Error};
pub use maintenance::run as run_maintenance;
use open::OpenUploads;
pub use projections::run as run_projections;
pub use upload::{AcceptedChunk, Chunk, DeclaredHash, Rejection};
pub use verification::run as run_verification;

/// Limits of uploads and downloads. Sizes are in bytes.
pub mod limits {
    /// The recommended size of a chunk.
    pub const RECOMMENDED_CHUNK: u64 = 256 << 10;
    /// The maximum size of a chunk.
    pub const MAX_CHUNK: u64 = 1 << 20;
    /// The maximum size of an upload.
    pub const MAX_UPLOAD: u64 = 50 << 20;
    /// The maximum number of artifacts in the input of a turn, and of stored outputs of a run.
    pub const MAX_FILES_PER_TURN: u32 = 32;
    /// The maximum number of open downloads of one workspace per connection.
    pub const MAX_DOWNLOADS: u32 = 2;
    /// The maximum number of open uploads per connection.
    pub const MAX_OPEN_UPLOADS: usize = 16;
    /// The maximum number of open uploads per token over HTTP, where they do not belong to one connection.
    pub const MAX_OPEN_HTTP_UPLOADS: usize = 64;
    /// The maximum length of a file name, in characters.
    pub const MAX_NAME_CHARS: usize = 255;
    /// The default storage limits of one workspace. Deleted artifacts, which are kept for 30 days, and open uploads may
    /// together use as much space again as the artifacts.
    pub const QUOTA: crud::Quota = crud::Quota {
        max_bytes: 10 << 30,
        max_files: 100_000,
        max_stored_bytes: 20 << 30,
    };
    /// The time after which an inactive upload or download expires, in seconds.
    pub const SESSION_SECONDS: i64 = 3600;
    /// The maximum lifetime of an upload, in seconds.
    pub const MAX_SESSION_SECONDS: i64 = 24 * 3600;
    /// The minimum interval between two progress notifications of one upload or download.
    pub const PROGRESS_EVERY: std::time::Duration = std::time::Duration::from_millis(250);
    /// The maximum number of bytes returned by one `artifact/read`.
    pub const MAX_READ: u64 = 1 << 20;
}

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

/// What [`Artifacts`] works with.
pub struct ArtifactOptions {
    /// The gateway database.
    pub store: CrudStore,
    /// The bytes.
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

/// A change of an artifact that no request made.
#[derive(Clone, Debug)]
pub enum ArtifactChange {
    /// The verification found that the bytes are intact again.
    Healed(ArtifactDetail),
    /// The verification found that the bytes are damaged or missing.
    Damaged(ArtifactDetail),
    /// A projection was rendered, or failed to be.
    Projected(artifact_projection::Model),
}

/// A file that was made here and becomes an artifact, such as the output of a run.
#[derive(Clone, Debug)]
pub struct OutputFile {
    /// The id of the artifact. It is derived from the origin of the file, so that no file is stored twice.
    pub artifact_id: String,
    /// The kind of the artifact; `None` to derive it from the content.
    pub kind: Option<&'static str>,
    /// The id of the workspace.
    pub workspace_id: String,
    /// The name of the file.
    pub file_name: String,
    /// The content.
    pub bytes: Vec<u8>,
    /// The detected content type of the bytes.
    pub detected: Detected,
    /// The name of the agent or provider that made the file.
    pub author: String,
    /// The metadata of the artifact, a JSON object.
    pub metadata: serde_json::Value,
    /// The thread, turn, job and run that the artifact is bound to.
    pub targets: BindTargets,
    /// The purpose of the binding: `task_result` or `agent_output`.
    pub binding_kind: &'static str,
    /// The role of the binding: `task` or `assistant`.
    pub role: &'static str,
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

    /// Creates an artifact from a complete upload. A repeated call returns the same artifact.
    pub async fn finish_upload(
        self: &Arc<Self>,
        session: session::Model,
        author: &str,
    ) -> Result<Finished, Error> {
        if let Some(artifact_id) = &session.artifact_id {
            let artifacts = self.store.artifacts();
            let version = session.version_id.as_deref();
            let detail = artifacts.get(&session.workspace_id, artifact_id, version);
            return Ok(Finished {
                detail: detail.await?,
                is_new: false,
                healed: Vec::new(),
            });
        }
        let (artifacts, placing) = (Arc::clone(self), session.clone());
        let placed = blocking(move || artifacts.put_in_place(&placing)).await?;
        if let Err(Error::HashMismatch(_)) = &placed {
            // Bytes with a wrong hash cannot be repaired, so the upload is aborted.
            self.abort_upload(session.clone()).await?;
        }
        let finished = self.record(&session, placed?, author).await?;
        self.open.forget(&session.id);
        Ok(finished)
    }

    /// Verifies the uploaded bytes, moves them to their final location and detects their content type. Blocks.
    fn put_in_place(&self, session: &session::Model) -> Result<StoredUpload, Error> {
        let blob = key(&session.workspace_id, &session.sha256)?;
        let size = session.size_bytes.unsigned_abs();
        let entry = self.open.entry(&session.id);
        // A concurrent call for the same upload waits here and then finds the blob in place.
        let mut open = entry.lock();
        // `keep` protects the blob from collection until it is recorded and verifies its hash. Damaged bytes are
        // replaced by those of the upload.
        let is_present = self.blobs.keep(&blob, size).unwrap_or(false);
        let (workspace, segment) = segments(session)?;
        let mut chunk_hashes = None;
        if !is_present {
            if open.is_closed {
                return Err(Error::UnknownUpload(session.id.clone()));
            }
            let upload = match size {
                // Empty uploads receive no chunk, so their file does not exist yet.
                0 => Some(open.file(&self.blobs, session)?),
                _ => open.existing(&self.blobs, session)?,
            };
            let received = upload.as_ref().map_or(0, |upload| upload.received());
            let Some(upload) = upload.filter(|_| received == size) else {
                return Err(Error::Incomplete {
                    upload_id: session.id.clone(),
                    received,
                    size,
                });
            };
            let digest = upload.finish()?;
            let committed = self.blobs.commit_upload(
                &workspace,
                &segment,
                size,
                blob.sha256(),
                PayloadHash::Running(digest),
            );
            match committed {
                // Another process may have stored different bytes than those the chunk hashes were computed from.
                Ok(_) if digest.sha256 == blob.sha256() => chunk_hashes = open.chunk_hashes.take(),
                Ok(_) => {}
                Err(blobs::Error::HashMismatch { .. } | blobs::Error::SizeMismatch { .. }) => {
                    return Err(Error::HashMismatch(session.id.clone()));
                }
                Err(error) => return Err(error.into()),
            }
        }
        open.close();
        drop(open);
        self.blobs.remove_upload(&workspace, &segment)?;
        let start = self.blobs.read_range(&blob, 0, kind::HEAD_LENGTH as u64)?;
        Ok(StoredUpload {
            detected: kind::detect(&start, &session.file_name, session.mime_type.as_deref()),
            chunk_hashes: chunk_hashes.and_then(|collected| collected.of_all(size)),
        })
    }

    async fn record(
        &self,
        session: &session::Model,
        placed: StoredUpload,
        author: &str,
    ) -> Result<Finished, Error> {
        let StoredUpload {
            detected,
            chunk_hashes,
        } = placed;
        let metadata = json!({
            "client_attachment_id": session.client_attachment_id,
            "upload_id": session.id,
            "source_kind": session.source_kind,
            "declared_mime_type": session.mime_type,
            "detected_mime_type": detected.detected,
            "mime_mismatch": detected.mismatch,
        });
        let size = session.size_bytes.unsigned_abs();
        let has_chunk_hashes = chunk_hashes.is_some();
        let (kind, created_by_kind) = produced(&session.source_kind, detected.kind);
        let new = self.new_artifact(detected, size, &session.file_name, author, &metadata);
        let finish = FinishUpload {
            upload_id: session.id.clone(),
            created_by_kind,
            new: NewArtifact {
                chunk_hashes,
                kind: kind.to_owned(),
                ..new
            },
            quota: self.quota,
        };
        let finished = self.store.artifacts().finish_upload(finish).await?;
        if finished.is_new {
            self.added(&finished.detail, has_chunk_hashes);
        }
        Ok(finished)
    }

    /// Stores a file that was made here as an artifact.
    pub async fn keep_output(self: &Arc<Self>, output: OutputFile) -> Result<Finished, Error> {
        let artifacts = Arc::clone(self);
        let output = blocking(move || artifacts.put_output(output)).await??;
        let kept = self.store.artifacts().keep_output(output).await?;
        if kept.is_new {
            self.added(&kept.detail, false);
        }
        Ok(kept)
    }

    /// Stores the bytes of an output in the blob store. Blocks.
    fn put_output(&self, output: OutputFile) -> Result<NewOutput, blobs::Error> {
        let workspace = WorkspaceSegment::new(&output.workspace_id)?;
        let committed = self.blobs.put(&workspace, &output.bytes)?;
        let new = self.new_artifact(
            output.detected,
            committed.size,
            &output.file_name,
            &output.author,
            &output.metadata,
        );
        Ok(NewOutput {
            workspace_id: output.workspace_id,
            sha256: committed.key.sha256().to_string(),
            size_bytes: i64::try_from(committed.size).unwrap_or(i64::MAX),
            targets: output.targets,
            binding_kind: output.binding_kind,
            role: output.role,
            new: NewArtifact {
                artifact_id: output.artifact_id,
                kind: output.kind.map_or(new.kind, str::to_owned),
                ..new
            },
            quota: self.quota,
        })
    }

    /// Builds the new artifact, with new ids, for a blob that is in place.
    fn new_artifact(
        &self,
        detected: Detected,
        size: u64,
        file_name: &str,
        author: &str,
        metadata: &serde_json::Value,
    ) -> NewArtifact {
        let new_id = |prefix: &str| format!("{prefix}{}", self.sources.ids.suffix());
        let projections = blobs::projection::wanted(detected.kind, detected.mime.as_deref(), size);
        NewArtifact {
            artifact_id: new_id("art_"),
            version_id: new_id("av_"),
            blob_id: new_id("abl_"),
            binding_id: new_id("abn_"),
            display_name: name::display_name(file_name),
            kind: detected.kind.as_str().to_owned(),
            mime_type: detected.mime,
            author: author.to_owned(),
            metadata: metadata.to_string(),
            projections: projections
                .iter()
                .map(|kind| (new_id("apj_"), kind.as_str().to_owned()))
                .collect(),
            chunk_hashes: None,
            now: self.sources.clock.now(),
        }
    }

    /// Wakes the background tasks that process a newly recorded artifact.
    fn added(&self, artifact: &ArtifactDetail, has_chunk_hashes: bool) {
        self.projections.notify_one();
        let has_chunks = artifact.blob.size_bytes.unsigned_abs() > limits::RECOMMENDED_CHUNK;
        if has_chunks && !has_chunk_hashes {
            // If the queue is full, the periodic search finds this blob later.
            let _ = self.unverified.try_send(artifact.blob.clone());
        }
    }

    /// Opens a blob whose hash is valid. A damaged or missing blob is recorded as such and the call fails.
    pub async fn open_bytes(
        self: &Arc<Self>,
        blob: &artifact_blob::Model,
    ) -> Result<BlobReader, Error> {
        match self.find_bytes(&blob.workspace_id, &blob.sha256).await? {
            Ok(reader) => Ok(reader),
            Err(error) => Err(self.not_served(blob, error).await),
        }
    }

    /// Opens a blob whose hash is valid, without recording the damage of another one.
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

/// A blob that is stored at its final location.
struct StoredUpload {
    detected: Detected,
    chunk_hashes: Option<ChunkHashes>,
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

/// Returns the artifact kind and the creator kind of an uploaded file, derived from its source and its content.
fn produced(source_kind: &str, content: ContentKind) -> (&'static str, &'static str) {
    let kind = match (source_kind, content) {
        ("screenshot", ContentKind::Image) => "screenshot",
        ("worktree", _) => "workspace_file",
        ("folder_manifest", ContentKind::Json) => "directory_manifest",
        (_, content) => content.as_str(),
    };
    let creator = match source_kind {
        "import" | "worktree" | "folder_manifest" => "import",
        _ => "user",
    };
    (kind, creator)
}
