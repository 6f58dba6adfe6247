//! Processes the binary frames of one connection in order.

use std::sync::{Arc, OnceLock};

use artifacts::{AcceptedChunk, Artifacts, Chunk, DeclaredHash, Rejection, limits};
use protocol::{
    artifact::upload::{
        ArtifactUploadChunkAckNotification, ArtifactUploadChunkHeader,
        ArtifactUploadChunkRejectedNotification, ArtifactUploadProgressNotification,
    },
    transport::TransportFrameRejectedNotification,
};
use rpc::{Bytes, Closing, Outbox, Waiting};
use tokio::{
    sync::{mpsc, oneshot},
    time::Instant,
};

use crate::watch::Watch;

mod frame;

use frame::Frame;
pub(crate) use frame::download_frame;

/// The maximum number of queued frames; the connection is not read while the queue is full. The number is small because
/// each frame holds a chunk in memory.
const MAX_WAITING: usize = 3;

/// The frame queue of one connection. Its worker starts with the first frame.
#[derive(Debug, Default)]
pub(crate) struct FrameQueue {
    queue: OnceLock<mpsc::Sender<QueueItem>>,
}

#[derive(Debug)]
enum QueueItem {
    Frame(Bytes),
    /// Reports that all earlier frames have been processed.
    Barrier(oneshot::Sender<()>),
}

impl FrameQueue {
    /// Queues a frame. Waits while the queue is full.
    pub(crate) async fn take(&self, frame: Bytes, uploader: impl FnOnce() -> Uploader) {
        let queue = self.queue.get_or_init(|| {
            let (queue, items) = mpsc::channel(MAX_WAITING);
            let worker = FrameWorker {
                uploader: uploader(),
                told_at: Instant::now(),
            };
            tokio::spawn(worker.run(items));
            queue
        });
        // The worker ends only after this queue is dropped.
        let _ = queue.send(QueueItem::Frame(frame)).await;
    }

    /// Waits until all frames queued before this call have been processed.
    pub(crate) async fn settled(&self) {
        let Some(queue) = self.queue.get() else {
            return;
        };
        let (done, waiting) = oneshot::channel();
        if queue.send(QueueItem::Barrier(done)).await.is_ok() {
            let _ = waiting.await;
        }
    }
}

/// The connection that sends the frames.
pub(crate) struct Uploader {
    pub(crate) artifacts: Arc<Artifacts>,
    /// Counts the rejected frames.
    pub(crate) watch: Arc<Watch>,
    /// Receives acknowledgements and rejections.
    pub(crate) outbox: Arc<Outbox>,
    /// The author name of the principal that owns the uploads.
    pub(crate) owner: Arc<str>,
}

struct FrameWorker {
    uploader: Uploader,
    told_at: Instant,
}

impl FrameWorker {
    /// Processes the queued frames in order.
    async fn run(mut self, mut items: mpsc::Receiver<QueueItem>) {
        while let Some(item) = items.recv().await {
            match item {
                QueueItem::Frame(frame) => {
                    if let Err(error) = self.take(&frame).await {
                        tracing::error!(%error, "the frames of a connection cannot be taken any more");
                        self.uploader.outbox.close(Closing::INTERNAL);
                        return;
                    }
                }
                QueueItem::Barrier(done) => {
                    let _ = done.send(());
                }
            }
        }
    }

    async fn take(&mut self, frame: &Bytes) -> Result<(), artifacts::Error> {
        let (header, bytes) = match frame::parse(frame) {
            Frame::Upload(header, bytes) => (header, bytes),
            Frame::Malformed(detail) => {
                self.refuse(None, Rejection::new("malformed_frame", detail));
                return Ok(());
            }
            Frame::Unknown => {
                self.refuse_unknown(frame);
                return Ok(());
            }
        };
        match self.append(&header, bytes).await? {
            Ok(accepted) => self.acknowledge(&header, &accepted),
            Err(rejection) => self.refuse(Some(&header), rejection),
        }
        Ok(())
    }

    /// Validates a chunk and appends its bytes to the upload.
    async fn append(
        &self,
        header: &ArtifactUploadChunkHeader,
        bytes: Bytes,
    ) -> Result<Result<AcceptedChunk, Rejection>, artifacts::Error> {
        let length = bytes.len() as u64;
        if header.len != length {
            let message = format!(
                "the header says {} bytes, the frame has {length}",
                header.len
            );
            return Ok(Err(Rejection::new("length_mismatch", message)));
        }
        let declared = header.chunk_sha256.clone();
        let chunk = Chunk {
            workspace_id: header.workspace_id.to_string(),
            upload_id: header.upload_id.to_string(),
            owner: Arc::clone(&self.uploader.owner),
            offset: header.offset,
            bytes,
            declared: declared.map(|sha256| DeclaredHash {
                sha256,
                source: "of the header",
            }),
        };
        self.uploader.artifacts.append_chunk(chunk).await
    }

    fn acknowledge(&mut self, header: &ArtifactUploadChunkHeader, accepted: &AcceptedChunk) {
        let ack = ArtifactUploadChunkAckNotification {
            workspace_id: header.workspace_id.clone(),
            upload_id: header.upload_id.clone(),
            offset: header.offset,
            len: header.len,
            received_bytes: accepted.received,
            next_offset: accepted.received,
        };
        self.uploader
            .outbox
            .notify(&rpc::notification(&ack), &Waiting::Kept);
        if self.told_at.elapsed() >= limits::PROGRESS_EVERY {
            self.told_at = Instant::now();
            let progress = ArtifactUploadProgressNotification {
                workspace_id: header.workspace_id.clone(),
                upload_id: header.upload_id.clone(),
                received_bytes: accepted.received,
                total_size_bytes: accepted.total,
                next_offset: accepted.received,
            };
            self.uploader
                .outbox
                .notify(&rpc::notification(&progress), &Waiting::Droppable);
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
        self.uploader
            .outbox
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
        self.uploader.watch.count_rejected_frame();
        self.uploader
            .outbox
            .notify(&rpc::notification(&rejected), &Waiting::Kept);
    }
}
