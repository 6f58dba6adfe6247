//! Appends chunks to uploads in progress.

use std::sync::Arc;

use bytes::Bytes;
use entity::artifact_upload_session as session;
use tokio::runtime::Handle;

use super::{Artifacts, limits, open::UploadEntry};

/// The minimum interval between two extensions of an upload's expiry in the database, in seconds.
const EXTEND_EVERY: i64 = 60;

/// Why a chunk was rejected.
#[derive(Clone, Debug)]
pub struct Rejection {
    /// The stable name of the reason, such as `offset_mismatch`.
    pub kind: &'static str,
    /// The reason for people.
    pub message: String,
    /// The expected offset, if the chunk has another one.
    pub next_offset: Option<u64>,
}

/// An accepted chunk.
#[derive(Clone, Debug)]
pub struct AcceptedChunk {
    /// The number of received bytes of the upload, including this chunk.
    pub received: u64,
    /// The declared size of the upload, in bytes.
    pub total: u64,
    /// The new expiry of the upload in Unix seconds; `None` if no extension is due.
    pub extend_to: Option<i64>,
}

/// A chunk and its position in an upload.
#[derive(Clone, Debug)]
pub struct Chunk<'a> {
    /// The id of the workspace of the upload.
    pub workspace_id: &'a str,
    /// The id of the upload.
    pub upload_id: &'a str,
    /// The author name of the principal that must own the upload.
    pub owner: &'a str,
    /// The offset of the first byte in the upload.
    pub offset: u64,
    /// The bytes.
    pub bytes: Bytes,
    /// The SHA-256 of the bytes, already verified. `None` if the client sent none.
    pub sha256: Option<&'a str>,
}

impl Rejection {
    /// Creates a rejection with a stable name and a message for people.
    pub fn new(kind: &'static str, message: impl Into<String>) -> Self {
        Self {
            kind,
            message: message.into(),
            next_offset: None,
        }
    }
}

impl Artifacts {
    /// Appends a chunk to an upload in progress. Blocks; `database` runs the database queries.
    pub fn append_chunk(
        &self,
        database: &Handle,
        chunk: &Chunk<'_>,
    ) -> Result<AcceptedChunk, Rejection> {
        let entry = self.open.entry(chunk.upload_id);
        let accepted = self
            .check_session(database, &entry, chunk)
            .and_then(|session| self.append(&entry, &session, chunk));
        if accepted.is_err() {
            entry.lock().invalidate();
            self.open.release(chunk.upload_id, &entry);
        }
        accepted
    }

    /// Returns the upload of a chunk, from the cache or from the database.
    fn check_session(
        &self,
        database: &Handle,
        entry: &UploadEntry,
        chunk: &Chunk<'_>,
    ) -> Result<Arc<session::Model>, Rejection> {
        let &Chunk {
            workspace_id,
            upload_id,
            owner,
            ..
        } = chunk;
        let now = self.sources.clock.now();
        if let Some(session) = entry.cached(workspace_id, owner, now) {
            return Ok(session);
        }
        let artifacts = self.store.artifacts();
        let found = database.block_on(artifacts.upload(workspace_id, upload_id, owner, now));
        let session = found.map_err(|error| {
            let is_unknown = matches!(
                error,
                crud::Error::UnknownUpload(_) | crud::Error::UnknownWorkspace(_)
            );
            if is_unknown {
                let message = format!("there is no upload `{upload_id}`");
                return Rejection::new("unknown_upload", message);
            }
            tracing::error!(%error, "an upload cannot be read");
            Rejection::new("internal", "the chunk could not be stored")
        })?;
        match session.status.as_str() {
            "receiving" => Ok(entry.cache(session)),
            _ => Err(complete(upload_id)),
        }
    }

    /// Extends the expiry of an upload if an accepted chunk requires it.
    pub async fn extend_upload(&self, upload_id: &str, accepted: &AcceptedChunk) {
        if let Some(expires_at) = accepted.extend_to {
            let artifacts = self.store.artifacts();
            if let Err(error) = artifacts.extend_upload(upload_id, expires_at).await {
                tracing::warn!(%error, "an upload cannot be kept for longer");
            }
        }
    }

    /// Appends a chunk to the file of its upload, or accepts it as a repetition of bytes already received. Blocks.
    fn append(
        &self,
        entry: &UploadEntry,
        session: &session::Model,
        chunk: &Chunk<'_>,
    ) -> Result<AcceptedChunk, Rejection> {
        let broken = |error: blobs::Error| {
            tracing::error!(%error, "a chunk cannot be stored");
            Rejection::new("internal", "the chunk could not be stored")
        };
        let (offset, length) = (chunk.offset, chunk.bytes.len() as u64);
        let mut open = entry.lock();
        if open.is_closed {
            return Err(complete(&session.id));
        }
        if length == 0 {
            return Err(Rejection::new("empty_chunk", "the chunk has no bytes"));
        }
        if length > limits::MAX_CHUNK {
            let message = format!(
                "expected at most {} bytes, found {length}",
                limits::MAX_CHUNK
            );
            return Err(Rejection::new("chunk_too_large", message));
        }
        let upload = open.file(&self.blobs, session).map_err(broken)?;
        let (received, total) = (upload.received(), session.size_bytes.unsigned_abs());
        let accepted = |received, extend_to| AcceptedChunk {
            received,
            total,
            extend_to,
        };
        if offset != received {
            if upload.is_repeat(offset, &chunk.bytes).map_err(broken)? {
                return Ok(accepted(received, None));
            }
            return Err(Rejection {
                next_offset: Some(received),
                ..Rejection::new(
                    "offset_mismatch",
                    format!("expected offset {received}, found {offset}"),
                )
            });
        }
        if length > total - received {
            let message = format!("the upload has {total} bytes, and the chunk ends behind them");
            return Err(Rejection::new("exceeds_size", message));
        }
        let received = upload
            .append_shared(offset, chunk.bytes.clone())
            .map_err(broken)?;
        if let Some(collected) = &mut open.chunk_hashes
            && !collected.add(length, total, chunk.sha256)
        {
            open.chunk_hashes = None;
        }
        let now = self.sources.clock.now();
        let extend_to = (now - open.extended_at >= EXTEND_EVERY).then(|| {
            open.extended_at = now;
            let latest = session.created_at + limits::MAX_SESSION_SECONDS;
            (now + limits::SESSION_SECONDS).min(latest)
        });
        Ok(accepted(received, extend_to))
    }
}

fn complete(upload_id: &str) -> Rejection {
    Rejection::new("not_receiving", format!("upload `{upload_id}` is complete"))
}
