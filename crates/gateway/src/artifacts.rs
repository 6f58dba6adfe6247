//! Artifacts between the database and the blob store: uploads under way, finishing, reading.
//!
//! How far an upload has come is the length of its file, so a chunk needs no write to the database. The database
//! knows who uploads what for how long, and everything about artifacts that are complete.

use std::{ops::Range, path::Path, sync::Arc};

use blobs::{
    key::{BlobKey, ContentHash, UploadSegment, WorkspaceSegment},
    kind::{self, Detected, Kind as ContentKind},
    name,
    store::{BlobReader, BlobStore as _, LocalBlobs, PayloadHash},
};
use crud::{ArtifactDetail, ChunkHashes, FinishUpload, Finished, NewArtifact};
use entity::{artifact_blob, artifact_upload_session as session};
use rpc::{Failure, Kind};
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

/// Limits of uploads and downloads.
pub(crate) mod limits {
    pub(crate) const RECOMMENDED_CHUNK: u64 = 256 << 10;
    pub(crate) const MAX_CHUNK: u64 = 1 << 20;
    pub(crate) const MAX_UPLOAD: u64 = 50 << 20;
    pub(crate) const MAX_FILES_PER_TURN: u32 = 32;
    pub(crate) const MAX_DOWNLOADS: u32 = 2;
    /// Of one connection.
    pub(crate) const MAX_OPEN_UPLOADS: usize = 16;
    /// Of one token over HTTP, where no connection holds them together.
    pub(crate) const MAX_OPEN_HTTP_UPLOADS: usize = 64;
    pub(crate) const MAX_NAME_CHARS: usize = 255;
    /// What one workspace may store, unless [`crate::GatewayOptions`] says otherwise. Deleted bytes that are kept for 30
    /// days and uploads under way may take as much room again as the artifacts themselves.
    pub(crate) const QUOTA: crud::Quota = crud::Quota {
        max_bytes: 10 << 30,
        max_files: 100_000,
        max_stored_bytes: 20 << 30,
    };
    /// How long an upload or download is kept without a sign of life.
    pub(crate) const SESSION_SECONDS: i64 = 3600;
    /// How long an upload is kept at most.
    pub(crate) const MAX_SESSION_SECONDS: i64 = 24 * 3600;
    /// Progress of one upload or download is told at most this often.
    pub(crate) const PROGRESS_EVERY: std::time::Duration = std::time::Duration::from_millis(250);
    /// The most bytes of one `artifact/read`.
    pub(crate) const MAX_READ: u64 = 1 << 20;
}

/// The bytes of a gateway's artifacts.
#[derive(Debug)]
pub(crate) struct Artifacts {
    blobs: Arc<LocalBlobs>,
    open: OpenUploads,
    /// Wakes whoever makes projections.
    projections: tokio::sync::Notify,
    /// Wakes whoever waits for a projection, each time one is made.
    projected: tokio::sync::Notify,
    /// Whether this process makes projections at all.
    makes_projections: bool,
    /// Bytes that wait to be looked at.
    unverified: mpsc::Sender<artifact_blob::Model>,
    /// What one workspace may store.
    pub(crate) quota: crud::Quota,
}

impl Artifacts {
    /// Opens the folder. The other half is for [`run_verification`].
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

    /// A new artifact is written down: others may do now what can be done after the answer.
    fn added(&self, artifact: &ArtifactDetail, has_chunk_hashes: bool) {
        self.projections.notify_one();
        let has_chunks = artifact.blob.size_bytes.unsigned_abs() > limits::RECOMMENDED_CHUNK;
        if has_chunks && !has_chunk_hashes {
            // If too many wait, this one is found later.
            let _ = self.unverified.try_send(artifact.blob.clone());
        }
    }

    pub(crate) fn blobs(&self) -> &Arc<LocalBlobs> {
        &self.blobs
    }

    /// How many bytes of an upload have arrived. Blocks.
    ///
    /// All of them, if the workspace has them: a process may have died after it moved the file to its place and
    /// before the artifact was made.
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

    /// Drops the last bytes of an upload that still receives, if these are the last. Blocks.
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
            // Somebody else went on behind them; the hash of the whole will tell.
            Some(_) | None => Ok(()),
        }
    }

    /// Takes no more chunks of an upload and removes its bytes. Its place stays closed until
    /// [`Self::discarded`]. Blocks.
    fn discard(&self, session: &session::Model) -> Result<(), blobs::Error> {
        let place = self.open.place(&session.id);
        place.lock().close();
        let (workspace, upload) = segments(session)?;
        self.blobs.remove_upload(&workspace, &upload)?;
        Ok(())
    }

    /// The database does not know the upload any more.
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

/// Where the bytes of a blob are.
pub(crate) fn key(workspace_id: &str, sha256: &str) -> Result<BlobKey, blobs::Error> {
    let workspace = WorkspaceSegment::new(workspace_id)?;
    Ok(BlobKey::new(workspace, ContentHash::parse(sha256)?))
}

/// Makes an artifact of a received upload. A second time answers the same artifact.
pub(crate) async fn finish(
    gateway: &Arc<Gateway>,
    session: session::Model,
    author: &str,
) -> Result<Finished, Failure> {
    let artifacts = gateway.store.artifacts();
    if let Some(artifact_id) = &session.artifact_id {
        let detail = artifacts
            .get(
                &session.workspace_id,
                artifact_id,
                session.version_id.as_deref(),
            )
            .await;
        return Ok(Finished {
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
        && failure.kind() == Kind::HashMismatch
    {
        // Nobody can repair these bytes: the session goes with them.
        upload::abort(gateway, session.clone()).await?;
    }
    let finished = record(gateway, &session, placed?, author).await?;
    gateway.artifacts.open.forget(&session.id);
    Ok(finished)
}

/// Bytes that are in their place.
struct InPlace {
    detected: Detected,
    chunk_hashes: Option<ChunkHashes>,
}

/// Verifies the bytes, moves them to their place and looks what they are. Blocks.
fn put_in_place(artifacts: &Artifacts, session: &session::Model) -> Result<InPlace, Failure> {
    let broken = |error: blobs::Error| Failure::incident(&error);
    let blob = key(&session.workspace_id, &session.sha256).map_err(broken)?;
    let size = session.size_bytes.unsigned_abs();
    let place = artifacts.open.place(&session.id);
    // Whoever else finishes the same upload waits here and then finds the blob in place.
    let mut open = place.lock();
    // From here on the blob is not collected before it is recorded. Its bytes are hashed before they are trusted: if
    // they are damaged, those of the upload take their place.
    let is_present = artifacts.blobs.keep(&blob, size).unwrap_or(false);
    let (workspace, segment) = segments(session).map_err(broken)?;
    let mut chunk_hashes = None;
    if !is_present {
        if open.is_closed {
            let message = format!("there is no upload `{}`", session.id);
            return Err(Failure::state(Kind::UnknownUpload, message));
        }
        let upload = match size {
            // Nobody sends a chunk without bytes, so nobody has made the file.
            0 => Some(open.file(&artifacts.blobs, session).map_err(broken)?),
            _ => open.existing(&artifacts.blobs, session).map_err(broken)?,
        };
        let received = upload.as_ref().map_or(0, |upload| upload.received());
        let Some(upload) = upload.filter(|_| received == size) else {
            let message = format!("upload `{}` has {received} of {size} bytes", session.id);
            return Err(Failure::state(Kind::NotReady, message)
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
            // Another process may have put other bytes in place than the ones these are the hashes of.
            Ok(_) if digest.sha256 == blob.sha256() => chunk_hashes = open.chunk_hashes.take(),
            Ok(_) => {}
            Err(blobs::Error::HashMismatch { .. } | blobs::Error::SizeMismatch { .. }) => {
                let message = format!(
                    "the bytes of upload `{}` do not have the declared hash",
                    session.id
                );
                return Err(Failure::state(Kind::HashMismatch, message));
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
) -> Result<Finished, Failure> {
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

/// The kind and the creator of an uploaded file, from where it comes and what its content is.
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

/// What is made of bytes that are in place, under new ids.
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

/// Opens bytes that have their hash. Damaged or missing ones are recorded as such, and the caller is refused.
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

/// Why bytes are not served. What is wrong with them is recorded, so that their artifacts say it too.
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
    Failure::state(Kind::NotReady, message)
        .with("status", status)
        .with("sha256", blob.sha256.as_str())
        .hint("upload the file again: good bytes replace damaged ones")
}
