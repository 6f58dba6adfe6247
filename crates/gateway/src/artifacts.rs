//! Connects artifacts in the database with the blob store: open uploads, completing them and reading content.
//!
//! The progress of an upload is the length of its file, so a chunk needs no database write. The database stores the
//! owner, the metadata and the expiry of uploads, and everything about complete artifacts.

use std::{ops::Range, path::Path, sync::Arc};

use blobs::{
    key::{BlobKey, ContentHash, UploadSegment, WorkspaceSegment},
    kind::{self, ContentKind, Detected},
    name,
    store::{BlobReader, BlobStore as _, LocalBlobs, PayloadHash},
};
use crud::{ArtifactDetail, ChunkHashes, FinishUpload, FinishedUpload, NewArtifact};
use entity::{artifact_blob, artifact_upload_session as session};
use rpc::{Failure, FailureKind};
use serde_json::json;
use tokio::sync::mpsc;

use crate::{Error, Gateway, rows};

pub(crate) mod attachments;
pub(crate) mod chunk_hashes;
mod frame;
pub(crate) mod inputs;
mod intake;
mod maintenance;
mod open;
pub(crate) mod outputs;
mod projections;
#[cfg(test)]
mod testing;
pub(crate) mod upload;
mod verification;

pub(crate) use frame::download_frame;
pub(crate) use intake::Intake;
pub(crate) use maintenance::run as run_maintenance;
use open::OpenUploads;
pub(crate) use projections::run as run_projections;
pub(crate) use verification::run as run_verification;

/// Limits of uploads and downloads. Sizes are in bytes.
pub(crate) mod limits {
    pub(crate) const RECOMMENDED_CHUNK: u64 = 256 << 10;
    pub(crate) const MAX_CHUNK: u64 = 1 << 20;
    pub(crate) const MAX_UPLOAD: u64 = 50 << 20;
    pub(crate) const MAX_FILES_PER_TURN: u32 = 32;
    pub(crate) const MAX_DOWNLOADS: u32 = 2;
    /// The maximum number of open uploads per connection.
    pub(crate) const MAX_OPEN_UPLOADS: usize = 16;
    /// The maximum number of open uploads per token over HTTP, where they do not belong to one connection.
    pub(crate) const MAX_OPEN_HTTP_UPLOADS: usize = 64;
    pub(crate) const MAX_NAME_CHARS: usize = 255;
    /// The default storage limits of one workspace. Deleted artifacts, which are kept for 30 days, and open uploads may
    /// together use as much space again as the artifacts.
    pub(crate) const QUOTA: crud::Quota = crud::Quota {
        max_bytes: 10 << 30,
        max_files: 100_000,
        max_stored_bytes: 20 << 30,
    };
    /// The time after which an inactive upload or download expires, in seconds.
    pub(crate) const SESSION_SECONDS: i64 = 3600;
    /// The maximum lifetime of an upload, in seconds.
    pub(crate) const MAX_SESSION_SECONDS: i64 = 24 * 3600;
    /// The minimum interval between two progress notifications of one upload or download.
    pub(crate) const PROGRESS_EVERY: std::time::Duration = std::time::Duration::from_millis(250);
    /// The maximum number of bytes returned by one `artifact/read`.
    pub(crate) const MAX_READ: u64 = 1 << 20;
}

/// The artifact storage of a gateway.
#[derive(Debug)]
pub(crate) struct Artifacts {
    blobs: Arc<LocalBlobs>,
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
    pub(crate) quota: crud::Quota,
}

impl Artifacts {
    /// Opens the blob store. The returned receiver is the input of [`run_verification`].
    pub(crate) fn open(
        root: &Path,
        quota: crud::Quota,
        makes_projections: bool,
    ) -> Result<(Self, mpsc::Receiver<artifact_blob::Model>), Error> {
        let blobs = LocalBlobs::open(root).map_err(|source| Error::Blobs { source })?;
        let (unverified, to_verify) = mpsc::channel(verification::MAX_WAITING);
        let artifacts = Self {
            blobs: Arc::new(blobs),
            open: OpenUploads::default(),
            projections: tokio::sync::Notify::new(),
            projected: tokio::sync::Notify::new(),
            makes_projections,
            unverified,
            quota,
        };
        Ok((artifacts, to_verify))
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

    pub(crate) fn blobs(&self) -> &Arc<LocalBlobs> {
        &self.blobs
    }

    /// Returns the number of received bytes of an upload. Blocks.
    ///
    /// Returns the full size if the workspace already has the blob: a process may have died after it moved the file
    /// into place and before it recorded the artifact.
    pub(crate) fn received(&self, session: &session::Model) -> Result<u64, blobs::Error> {
        let size = session.size_bytes.unsigned_abs();
        let in_place = self
            .blobs
            .open(&key(&session.workspace_id, &session.sha256)?);
        if matches!(in_place, Ok(found) if found.size() == size) {
            return Ok(size);
        }
        let place = self.open.place(&session.id);
        let received = match place.lock().existing(&self.blobs, session)? {
            Some(upload) => upload.received(),
            None => 0,
        };
        self.open.give_back(&session.id, &place);
        Ok(received)
    }

    /// Removes `range` from an upload in progress if it is the end of the received bytes. Blocks.
    pub(crate) fn take_back(
        &self,
        session: &session::Model,
        range: Range<u64>,
    ) -> Result<(), blobs::Error> {
        let (workspace, segment) = segments(session)?;
        let place = self.open.place(&session.id);
        let mut open = place.lock();
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

    /// Closes an upload to further chunks and removes its bytes. The upload stays closed until [`Self::discarded`].
    /// Blocks.
    fn discard(&self, session: &session::Model) -> Result<(), blobs::Error> {
        let place = self.open.place(&session.id);
        place.lock().close();
        let (workspace, upload) = segments(session)?;
        self.blobs.remove_upload(&workspace, &upload)?;
        Ok(())
    }

    /// Forgets an upload that has been deleted from the database.
    fn discarded(&self, upload_id: &str) {
        self.open.forget(upload_id);
    }
}

fn segments(session: &session::Model) -> Result<(WorkspaceSegment, UploadSegment), blobs::Error> {
    Ok((
        WorkspaceSegment::new(&session.workspace_id)?,
        UploadSegment::new(&session.id)?,
    ))
}

/// Returns the key of a blob in the blob store.
pub(crate) fn key(workspace_id: &str, sha256: &str) -> Result<BlobKey, blobs::Error> {
    let workspace = WorkspaceSegment::new(workspace_id)?;
    Ok(BlobKey::new(workspace, ContentHash::parse(sha256)?))
}

/// Creates an artifact from a complete upload. A repeated call returns the same artifact.
pub(crate) async fn finish(
    gateway: &Arc<Gateway>,
    session: session::Model,
    author: &str,
) -> Result<FinishedUpload, Failure> {
    let artifacts = gateway.store.artifacts();
    if let Some(artifact_id) = &session.artifact_id {
        let detail = artifacts
            .get(
                &session.workspace_id,
                artifact_id,
                session.version_id.as_deref(),
            )
            .await;
        return Ok(FinishedUpload {
            detail: detail.map_err(rows::failure)?,
            is_new: false,
            healed: Vec::new(),
        });
    }
    let (worker, wanted) = (Arc::clone(gateway), session.clone());
    let placed =
        tokio::task::spawn_blocking(move || put_in_place(&worker.artifacts, &wanted)).await;
    let placed = placed.map_err(|error| Failure::incident(&error))?;
    if let Err(failure) = &placed
        && failure.kind() == FailureKind::HashMismatch
    {
        // Bytes with a wrong hash cannot be repaired, so the upload is aborted.
        upload::abort(gateway, session.clone()).await?;
    }
    let finished = record(gateway, &session, placed?, author).await?;
    gateway.artifacts.open.forget(&session.id);
    Ok(finished)
}

/// A blob that is stored at its final location.
struct InPlace {
    detected: Detected,
    chunk_hashes: Option<ChunkHashes>,
}

/// Verifies the uploaded bytes, moves them to their final location and detects their content type. Blocks.
fn put_in_place(artifacts: &Artifacts, session: &session::Model) -> Result<InPlace, Failure> {
    let broken = |error: blobs::Error| Failure::incident(&error);
    let blob = key(&session.workspace_id, &session.sha256).map_err(broken)?;
    let size = session.size_bytes.unsigned_abs();
    let place = artifacts.open.place(&session.id);
    // A concurrent call for the same upload waits here and then finds the blob in place.
    let mut open = place.lock();
    // `keep` protects the blob from collection until it is recorded and verifies its hash. Damaged bytes are replaced
    // by those of the upload.
    let is_present = artifacts.blobs.keep(&blob, size).unwrap_or(false);
    let (workspace, segment) = segments(session).map_err(broken)?;
    let mut chunk_hashes = None;
    if !is_present {
        if open.is_closed {
            let message = format!("there is no upload `{}`", session.id);
            return Err(Failure::state(FailureKind::UnknownUpload, message));
        }
        let upload = match size {
            // Empty uploads receive no chunk, so their file does not exist yet.
            0 => Some(open.file(&artifacts.blobs, session).map_err(broken)?),
            _ => open.existing(&artifacts.blobs, session).map_err(broken)?,
        };
        let received = upload.as_ref().map_or(0, |upload| upload.received());
        let Some(upload) = upload.filter(|_| received == size) else {
            let message = format!("upload `{}` has {received} of {size} bytes", session.id);
            return Err(Failure::state(FailureKind::NotReady, message)
                .with("status", "receiving")
                .with("next_offset", received));
        };
        let digest = upload.finish().map_err(broken)?;
        let committed = artifacts.blobs.commit_upload(
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
                let message = format!(
                    "the bytes of upload `{}` do not have the declared hash",
                    session.id
                );
                return Err(Failure::state(FailureKind::HashMismatch, message));
            }
            Err(error) => return Err(broken(error)),
        }
    }
    open.close();
    drop(open);
    artifacts
        .blobs
        .remove_upload(&workspace, &segment)
        .map_err(broken)?;
    let start = artifacts
        .blobs
        .read_range(&blob, 0, kind::HEAD_LENGTH as u64)
        .map_err(broken)?;
    Ok(InPlace {
        detected: kind::detect(&start, &session.file_name, session.mime_type.as_deref()),
        chunk_hashes: chunk_hashes.and_then(|collected| collected.of_all(size)),
    })
}

async fn record(
    gateway: &Gateway,
    session: &session::Model,
    placed: InPlace,
    author: &str,
) -> Result<FinishedUpload, Failure> {
    let InPlace {
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
    let finish = FinishUpload {
        upload_id: session.id.clone(),
        created_by_kind,
        new: NewArtifact {
            chunk_hashes,
            kind: kind.to_owned(),
            ..new_artifact(
                gateway,
                detected,
                size,
                &session.file_name,
                author,
                &metadata,
            )
        },
        quota: gateway.artifacts.quota,
    };
    let finished = gateway
        .store
        .artifacts()
        .finish_upload(finish)
        .await
        .map_err(rows::failure)?;
    if finished.is_new {
        let artifacts = &gateway.artifacts;
        artifacts.added(&finished.detail, has_chunk_hashes);
    }
    Ok(finished)
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

/// Builds the new artifact, with new ids, for a blob that is in place.
fn new_artifact(
    gateway: &Gateway,
    detected: Detected,
    size: u64,
    file_name: &str,
    author: &str,
    metadata: &serde_json::Value,
) -> NewArtifact {
    let new_id = |prefix: &str| format!("{prefix}{}", gateway.sources.ids.suffix());
    let wanted = blobs::projection::wanted(detected.kind, detected.mime.as_deref(), size);
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
        projections: wanted
            .iter()
            .map(|kind| (new_id("apj_"), kind.as_str().to_owned()))
            .collect(),
        chunk_hashes: None,
        now: gateway.sources.clock.now(),
    }
}

/// Opens a blob whose hash is valid. A damaged or missing blob is recorded as such and the call fails.
pub(crate) async fn open_bytes(
    gateway: &Arc<Gateway>,
    blob: &artifact_blob::Model,
) -> Result<BlobReader, Failure> {
    let (worker, wanted) = (Arc::clone(gateway), blob.clone());
    let opened = tokio::task::spawn_blocking(move || {
        let key = key(&wanted.workspace_id, &wanted.sha256)?;
        worker.artifacts.blobs.open(&key)
    });
    match opened.await {
        Ok(Ok(reader)) => Ok(reader),
        Ok(Err(error)) => Err(not_served(gateway, blob, error).await),
        Err(error) => Err(Failure::incident(&error)),
    }
}

/// Returns the failure for a blob that cannot be served, and records the damage so that its artifacts show it.
pub(crate) async fn not_served(
    gateway: &Arc<Gateway>,
    blob: &artifact_blob::Model,
    error: blobs::Error,
) -> Failure {
    let is_damaged = matches!(
        error,
        blobs::Error::DamagedBlob(_) | blobs::Error::NotPlain { .. }
    );
    let status = if is_damaged {
        "quarantined"
    } else if matches!(error, blobs::Error::MissingBlob(_)) {
        "failed"
    } else {
        return Failure::incident(&error);
    };
    if let Err(error) = verification::verify(gateway, blob.clone()).await {
        tracing::warn!(%error, "damaged bytes cannot be recorded");
    }
    let found = if status == "failed" {
        "are missing"
    } else {
        "do not have their hash any more"
    };
    let message = format!("the stored bytes `{}` {found}", blob.sha256);
    Failure::state(FailureKind::NotReady, message)
        .with("status", status)
        .with("sha256", blob.sha256.as_str())
        .hint("upload the file again: good bytes replace damaged ones")
}
