//! Appends chunks to uploads in progress.

use std::sync::Arc;

use blobs::key::ContentHash;
use bytes::Bytes;
use entity::artifact_upload_session as session;

use super::{Artifacts, Error, blocking::blocking, limits, open::UploadEntry};

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
pub struct Chunk {
    /// The id of the workspace of the upload.
    pub workspace_id: String,
    /// The id of the upload.
    pub upload_id: String,
    /// The author name of the principal that must own the upload.
    pub owner: Arc<str>,
    /// The offset of the first byte in the upload.
    pub offset: u64,
    /// The bytes.
    pub bytes: Bytes,
    /// The hash that the client declared for the bytes, if any.
    pub declared: Option<DeclaredHash>,
}

/// A hash that a client declared for a chunk.
#[derive(Clone, Debug)]
pub struct DeclaredHash {
    /// The SHA-256, 64 lower-case hexadecimal characters if it is well-formed.
    pub sha256: String,
    /// Where the client declared it, as the end of the message of a rejection, such as `of the header`.
    pub source: &'static str,
}

/// The result of appending a chunk without reading the database.
enum Attempt {
    Complete(Result<AcceptedChunk, Rejection>),
    /// The row of the upload must be read first.
    Uncached(Arc<UploadEntry>, Chunk),
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
    /// Appends a chunk to an upload in progress and extends the expiry of the upload if that is due.
    ///
    /// The database is read only if the row of the upload is not cached, so that a chunk usually needs one blocking
    /// task and no query.
    pub async fn append_chunk(
        self: &Arc<Self>,
        chunk: Chunk,
    ) -> Result<Result<AcceptedChunk, Rejection>, Error> {
        let length = chunk.bytes.len() as u64;
        // Checked first, so that no more bytes are hashed than a chunk may have.
        if length > limits::MAX_CHUNK {
            let message = format!(
                "expected at most {} bytes, found {length}",
                limits::MAX_CHUNK
            );
            return Ok(Err(Rejection::new("chunk_too_large", message)));
        }
        let (artifacts, upload_id) = (Arc::clone(self), chunk.upload_id.clone());
        let accepted = match blocking(move || artifacts.append_if_cached(chunk)).await? {
            Attempt::Complete(accepted) => accepted,
            Attempt::Uncached(entry, chunk) => {
                let found = self.find_session(&chunk).await;
                let artifacts = Arc::clone(self);
                let append = move || {
                    let found = found.map(|session| entry.cache(session));
                    artifacts.append_found(&entry, found, &chunk)
                };
                blocking(append).await?
            }
        };
        if let Ok(accepted) = &accepted
            && let Some(expires_at) = accepted.extend_to
        {
            let artifacts = self.store.artifacts();
            if let Err(error) = artifacts.extend_upload(&upload_id, expires_at).await {
                tracing::warn!(%error, "an upload cannot be kept for longer");
            }
        }
        Ok(accepted)
    }

    /// Verifies the declared hash of a chunk and appends the chunk if the row of its upload is cached. Blocks.
    fn append_if_cached(&self, chunk: Chunk) -> Attempt {
        if let Some(declared) = &chunk.declared
            && ContentHash::of(&chunk.bytes).to_string() != declared.sha256
        {
            let message = format!("the bytes do not have the hash {}", declared.source);
            return Attempt::Complete(Err(Rejection::new("hash_mismatch", message)));
        }
        // The entry exists before the database is read: see the module `open`.
        let entry = self.open.entry(&chunk.upload_id);
        let now = self.sources.clock.now();
        match entry.cached(&chunk.workspace_id, &chunk.owner, now) {
            Some(session) => Attempt::Complete(self.append_found(&entry, Ok(session), &chunk)),
            None => Attempt::Uncached(entry, chunk),
        }
    }

    /// Reads the row of the upload of a chunk.
    async fn find_session(&self, chunk: &Chunk) -> Result<session::Model, Rejection> {
        let (upload_id, now) = (&chunk.upload_id, self.sources.clock.now());
        let artifacts = self.store.artifacts();
        let found = artifacts
            .upload(&chunk.workspace_id, upload_id, &chunk.owner, now)
            .await;
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
            "receiving" => Ok(session),
            _ => Err(complete(upload_id)),
        }
    }

    /// Appends a chunk to its upload, if the upload was found. After a rejection the next chunk reads the row again.
    /// Blocks.
    fn append_found(
        &self,
        entry: &Arc<UploadEntry>,
        found: Result<Arc<session::Model>, Rejection>,
        chunk: &Chunk,
    ) -> Result<AcceptedChunk, Rejection> {
        let accepted = found.and_then(|session| self.append(entry, &session, chunk));
        if accepted.is_err() {
            entry.lock().invalidate();
            self.open.release(&chunk.upload_id, entry);
        }
        accepted
    }

    /// Appends a chunk to the file of its upload, or accepts it as a repetition of bytes already received. Blocks.
    fn append(
        &self,
        entry: &UploadEntry,
        session: &session::Model,
        chunk: &Chunk,
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
        let declared = chunk.declared.as_ref();
        let declared = declared.map(|declared| declared.sha256.as_str());
        if let Some(collected) = &mut open.chunk_hashes
            && !collected.add(length, total, declared)
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::TestHome;

    #[tokio::test]
    async fn a_chunk_that_is_too_long_is_not_hashed() {
        let home = TestHome::open().await;
        let session = home.start("a.bin", b"abc").await;
        let chunk = |length: u64| Chunk {
            workspace_id: session.workspace_id.clone(),
            upload_id: session.id.clone(),
            owner: session.owner.as_str().into(),
            offset: 0,
            bytes: vec![0; usize::try_from(length).unwrap()].into(),
            declared: Some(DeclaredHash {
                sha256: "0".repeat(64),
                source: "of the test",
            }),
        };
        for (length, kind) in [
            (limits::MAX_CHUNK + 1, "chunk_too_large"),
            (limits::MAX_CHUNK, "hash_mismatch"),
        ] {
            let rejected = home.artifacts.append_chunk(chunk(length)).await.unwrap();
            assert_eq!(rejected.unwrap_err().kind, kind);
        }
    }
}
