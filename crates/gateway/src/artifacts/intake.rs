//! The binary frames of one connection, taken one after the other.

use std::sync::{Arc, Mutex, OnceLock};

use entity::artifact_upload_session as session;
use protocol::{
    artifact::upload::{
        ArtifactUploadChunkAckNotification, ArtifactUploadChunkHeader,
        ArtifactUploadChunkRejectedNotification, ArtifactUploadProgressNotification,
    },
    transport::TransportFrameRejectedNotification,
};
use rpc::{Bytes, Outbox, Waiting};
use tokio::{
    sync::{mpsc, oneshot},
    time::{Duration, Instant},
};

use super::{
    OpenUpload,
    frame::{self, Frame},
    limits, lock,
};
use crate::{Gateway, hash_secret};

/// Frames that may wait; then the connection is not read any further. Few, because each one is a chunk in memory.
const MAX_WAITING: usize = 3;
/// Progress is told at most this often.
const PROGRESS_EVERY: Duration = Duration::from_millis(250);
/// An upload's life is made longer in the database at most this often, in seconds.
const EXTEND_EVERY: i64 = 60;

/// Where the frames of one connection wait. Its worker begins with the first frame.
#[derive(Debug, Default)]
pub(crate) struct Intake {
    queue: OnceLock<mpsc::Sender<Job>>,
}

#[derive(Debug)]
enum Job {
    Frame(Bytes),
    /// Everything before this has been taken.
    Barrier(oneshot::Sender<()>),
}

impl Intake {
    /// Takes a frame; waits while too many are waiting.
    pub(crate) async fn take(
        &self,
        gateway: &Arc<Gateway>,
        outbox: &Arc<Outbox>,
        owner: &str,
        frame: Bytes,
    ) {
        let queue = self.queue.get_or_init(|| {
            let (queue, jobs) = mpsc::channel(MAX_WAITING);
            let worker = Worker {
                gateway: Arc::clone(gateway),
                outbox: Arc::clone(outbox),
                owner: owner.to_owned(),
                told_at: Instant::now(),
                checked: None,
            };
            tokio::spawn(worker.run(jobs));
            queue
        });
        // The worker ends with this queue, not before.
        let _ = queue.send(Job::Frame(frame)).await;
    }

    /// Waits until every frame that came before has been taken.
    pub(crate) async fn settled(&self) {
        let Some(queue) = self.queue.get() else {
            return;
        };
        let (done, waiting) = oneshot::channel();
        if queue.send(Job::Barrier(done)).await.is_ok() {
            let _ = waiting.await;
        }
    }
}

struct Worker {
    gateway: Arc<Gateway>,
    outbox: Arc<Outbox>,
    /// Whose uploads these are.
    owner: String,
    told_at: Instant,
    /// The upload of the last chunk.
    checked: Option<Checked>,
}

/// An upload that was found to be this owner's, open and receiving. The chunks of the same second need not ask the
/// database again: whoever finishes or aborts it in between also closes the file.
struct Checked {
    session: Arc<session::Model>,
    open: Arc<Mutex<OpenUpload>>,
    /// Unix seconds.
    checked_at: i64,
}

/// Why a chunk was not taken.
struct Rejection {
    kind: &'static str,
    message: String,
    next_offset: Option<u64>,
}

/// A chunk that was taken.
struct Taken {
    received: u64,
    total: u64,
    /// When the upload's life should be made longer.
    extend_to: Option<i64>,
}

impl Worker {
    async fn run(mut self, mut jobs: mpsc::Receiver<Job>) {
        while let Some(job) = jobs.recv().await {
            match job {
                Job::Frame(frame) => self.take(&frame).await,
                Job::Barrier(done) => {
                    let _ = done.send(());
                }
            }
        }
    }

    async fn take(&mut self, frame: &Bytes) {
        let (header, bytes) = match frame::parse(frame) {
            Frame::Upload(header, bytes) => (header, bytes),
            Frame::Malformed(detail) => {
                let rejection = reject("malformed_frame", detail);
                return self.refuse(None, rejection);
            }
            Frame::Unknown => return self.refuse_unknown(frame),
        };
        match self.chunk(&header, bytes).await {
            Ok(taken) => self.acknowledge(&header, &taken).await,
            Err(rejection) => self.refuse(Some(&header), rejection),
        }
    }

    /// The checks in their order, then the bytes.
    async fn chunk(
        &mut self,
        header: &ArtifactUploadChunkHeader,
        bytes: Bytes,
    ) -> Result<Taken, Rejection> {
        let length = bytes.len() as u64;
        if header.len != length {
            let message = format!(
                "the header says {} bytes, the frame has {length}",
                header.len
            );
            return Err(reject("length_mismatch", message));
        }
        let now = self.gateway.sources.clock.now();
        let found = match self.checked(header, now) {
            Some(checked) => Ok(Found::Checked(checked)),
            None => self.find(header, now).await.map(Found::Session),
        };
        let (gateway, offset) = (Arc::clone(&self.gateway), header.offset);
        let expected = header.chunk_sha256.clone();
        let written = tokio::task::spawn_blocking(move || {
            if expected.is_some_and(|expected| hash_secret(&bytes[..]) != expected) {
                return Err(reject(
                    "hash_mismatch",
                    "the bytes do not have the hash of the header",
                ));
            }
            let checked = found?.open(&gateway, now)?;
            let taken = append(&checked, offset, &bytes, now)?;
            Ok((taken, checked))
        })
        .await;
        let written =
            written.unwrap_or_else(|_| Err(reject("internal", "the chunk could not be stored")));
        let (taken, checked) = written?;
        self.checked = Some(checked);
        Ok(taken)
    }

    /// The upload of the last chunk, if this chunk is for it too and nobody has closed it.
    fn checked(&mut self, header: &ArtifactUploadChunkHeader, now: i64) -> Option<Checked> {
        // Forgotten after every refusal, so that the next chunk is checked in full.
        let checked = self.checked.take()?;
        let is_same = checked.session.id == header.upload_id.as_str()
            && checked.session.workspace_id == header.workspace_id.as_str();
        let is_fresh = checked.checked_at == now && checked.session.expires_at > now;
        (is_same && is_fresh && !lock(&checked.open).is_closed).then_some(checked)
    }

    /// The upload as the database knows it, if it is this owner's and receives.
    async fn find(
        &self,
        header: &ArtifactUploadChunkHeader,
        now: i64,
    ) -> Result<Arc<session::Model>, Rejection> {
        let (workspace_id, upload_id) = (header.workspace_id.as_str(), header.upload_id.as_str());
        let artifacts = self.gateway.store.artifacts();
        let found = artifacts
            .upload(workspace_id, upload_id, &self.owner, now)
            .await;
        match found {
            Err(_) => Err(reject(
                "unknown_upload",
                format!("there is no upload `{upload_id}`"),
            )),
            Ok(session) if session.status != "receiving" => Err(not_receiving(upload_id)),
            Ok(session) => Ok(Arc::new(session)),
        }
    }

    async fn acknowledge(&mut self, header: &ArtifactUploadChunkHeader, taken: &Taken) {
        let ack = ArtifactUploadChunkAckNotification {
            workspace_id: header.workspace_id.clone(),
            upload_id: header.upload_id.clone(),
            offset: header.offset,
            len: header.len,
            received_bytes: taken.received,
            next_offset: taken.received,
        };
        self.outbox.notify(&rpc::notification(&ack), &Waiting::Kept);
        if self.told_at.elapsed() >= PROGRESS_EVERY {
            self.told_at = Instant::now();
            let progress = ArtifactUploadProgressNotification {
                workspace_id: header.workspace_id.clone(),
                upload_id: header.upload_id.clone(),
                received_bytes: taken.received,
                total_size_bytes: taken.total,
                next_offset: taken.received,
            };
            self.outbox
                .notify(&rpc::notification(&progress), &Waiting::Droppable);
        }
        if let Some(expires_at) = taken.extend_to {
            let artifacts = self.gateway.store.artifacts();
            if let Err(error) = artifacts
                .extend_upload(header.upload_id.as_str(), expires_at)
                .await
            {
                tracing::warn!(%error, "an upload cannot be kept for longer");
            }
        }
    }

    fn refuse(&self, header: Option<&ArtifactUploadChunkHeader>, rejection: Rejection) {
        let rejected = ArtifactUploadChunkRejectedNotification {
            workspace_id: header.map(|header| header.workspace_id.to_string()),
            upload_id: header.map(|header| header.upload_id.to_string()),
            offset: header.map(|header| header.offset),
            kind: rejection.kind.to_owned(),
            message: rejection.message,
            next_offset: rejection.next_offset,
        };
        self.outbox
            .notify(&rpc::notification(&rejected), &Waiting::Kept);
    }

    fn refuse_unknown(&self, frame: &Bytes) {
        let magic = frame
            .get(..4)
            .filter(|magic| magic.iter().all(u8::is_ascii_graphic));
        let rejected = TransportFrameRejectedNotification {
            kind: "unknown_magic".to_owned(),
            size_bytes: frame.len() as u64,
            magic: magic.map(|magic| String::from_utf8_lossy(magic).into_owned()),
        };
        self.gateway.watch.count_rejected_frame();
        self.outbox
            .notify(&rpc::notification(&rejected), &Waiting::Kept);
    }
}

fn reject(kind: &'static str, message: impl Into<String>) -> Rejection {
    Rejection {
        kind,
        message: message.into(),
        next_offset: None,
    }
}

fn not_receiving(upload_id: &str) -> Rejection {
    reject("not_receiving", format!("upload `{upload_id}` is complete"))
}

fn broken(error: &blobs::Error) -> Rejection {
    tracing::error!(%error, "a chunk cannot be stored");
    reject("internal", "the chunk could not be stored")
}

/// The upload of a chunk, on its way to its file.
enum Found {
    Checked(Checked),
    Session(Arc<session::Model>),
}

impl Found {
    /// Opens the file, unless it is open. Blocks.
    fn open(self, gateway: &Gateway, now: i64) -> Result<Checked, Rejection> {
        let session = match self {
            Self::Checked(checked) => return Ok(checked),
            Self::Session(session) => session,
        };
        let open = gateway.artifacts.upload(&session);
        Ok(Checked {
            open: open.map_err(|error| broken(&error))?,
            session,
            checked_at: now,
        })
    }
}

/// Appends a chunk to the file of its upload, or finds that it is there already. Blocks.
fn append(checked: &Checked, offset: u64, bytes: &[u8], now: i64) -> Result<Taken, Rejection> {
    let broken = |error: blobs::Error| broken(&error);
    let session = &checked.session;
    let mut open = lock(&checked.open);
    if open.is_closed {
        return Err(not_receiving(&session.id));
    }
    let length = bytes.len() as u64;
    if length == 0 {
        return Err(reject("empty_chunk", "the chunk has no bytes"));
    }
    if length > limits::MAX_CHUNK {
        let message = format!(
            "expected at most {} bytes, found {length}",
            limits::MAX_CHUNK
        );
        return Err(reject("chunk_too_large", message));
    }
    let (received, total) = (open.upload.received(), session.size_bytes.unsigned_abs());
    let taken = |received, extend_to| Taken {
        received,
        total,
        extend_to,
    };
    if offset != received {
        if open.upload.is_repeat(offset, bytes).map_err(broken)? {
            return Ok(taken(received, None));
        }
        return Err(Rejection {
            next_offset: Some(received),
            ..reject(
                "offset_mismatch",
                format!("expected offset {received}, found {offset}"),
            )
        });
    }
    if length > total - received {
        let message = format!("the upload has {total} bytes, and the chunk ends behind them");
        return Err(reject("exceeds_size", message));
    }
    let received = open.upload.append(offset, bytes).map_err(broken)?;
    let extend_to = (now - open.extended_at >= EXTEND_EVERY).then(|| {
        open.extended_at = now;
        let latest = session.created_at + limits::MAX_SESSION_SECONDS;
        (now + limits::SESSION_SECONDS).min(latest)
    });
    Ok(taken(received, extend_to))
}
