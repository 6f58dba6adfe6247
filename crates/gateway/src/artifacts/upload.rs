//! Appends chunks to uploads in progress.

use std::sync::Arc;

use entity::artifact_upload_session as session;
use rpc::Bytes;
use tokio::runtime::Handle;

use super::{Artifacts, limits, open::Place};

/// The minimum interval between two extensions of an upload's expiry in the database, in seconds.
const EXTEND_EVERY: i64 = 60;

/// Why a chunk was rejected.
pub(crate) struct Rejection {
    pub(crate) kind: &'static str,
    pub(crate) message: String,
    pub(crate) next_offset: Option<u64>,
}

/// An accepted chunk.
pub(crate) struct AcceptedChunk {
    pub(crate) received: u64,
    pub(crate) total: u64,
    /// The new expiry of the upload in Unix seconds; `None` if no extension is due.
    pub(crate) extend_to: Option<i64>,
}

/// A chunk and its position in an upload.
pub(crate) struct Chunk<'a> {
    pub(crate) workspace_id: &'a str,
    pub(crate) upload_id: &'a str,
    /// The author name of the principal that must own the upload.
    pub(crate) owner: &'a str,
    pub(crate) offset: u64,
    pub(crate) bytes: Bytes,
    /// The SHA-256 of the bytes, already verified. `None` if the client sent none.
    pub(crate) sha256: Option<&'a str>,
}

impl Rejection {
    /// Creates a rejection with a stable name and a message for people.
    pub(crate) fn new(kind: &'static str, message: impl Into<String>) -> Self {
        Self {
            kind,
            message: message.into(),
            next_offset: None,
        }
    }
}

impl Artifacts {
    /// Appends a chunk to an upload in progress. Blocks; `database` runs the database queries.
    pub(crate) fn append_chunk(
        &self,
        database: &Handle,
        chunk: &Chunk<'_>,
    ) -> Result<AcceptedChunk, Rejection> {
        let place = self.open.place(chunk.upload_id);
        let accepted = self
            .check_session(database, &place, chunk)
            .and_then(|session| self.append(&place, &session, chunk));
        if accepted.is_err() {
            place.lock().doubt();
            self.open.give_back(chunk.upload_id, &place);
        }
        accepted
    }

    /// Returns the upload of a chunk, from the cache or from the database.
    fn check_session(
        &self,
        database: &Handle,
        place: &Place,
        chunk: &Chunk<'_>,
    ) -> Result<Arc<session::Model>, Rejection> {
        let &Chunk {
            workspace_id,
            upload_id,
            owner,
            ..
        } = chunk;
        let now = self.sources.clock.now();
        if let Some(session) = place.checked(workspace_id, owner, now) {
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
            "receiving" => Ok(place.note(session)),
            _ => Err(complete(upload_id)),
        }
    }

    /// Extends the expiry of an upload if an accepted chunk requires it.
    pub(crate) async fn extend_upload(&self, upload_id: &str, accepted: &AcceptedChunk) {
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
        place: &Place,
        session: &session::Model,
        chunk: &Chunk<'_>,
    ) -> Result<AcceptedChunk, Rejection> {
        let broken = |error: blobs::Error| {
            tracing::error!(%error, "a chunk cannot be stored");
            Rejection::new("internal", "the chunk could not be stored")
        };
        let (offset, length) = (chunk.offset, chunk.bytes.len() as u64);
        let mut open = place.lock();
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
