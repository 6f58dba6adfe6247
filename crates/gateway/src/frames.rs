//! Processes the binary frames of one connection in order.

use std::sync::{Arc, OnceLock};

use artifacts::{AcceptedChunk, Artifacts, Chunk, Rejection, limits};
use protocol::{
    artifact::upload::{
        ArtifactUploadChunkAckNotification, ArtifactUploadChunkHeader,
        ArtifactUploadChunkRejectedNotification, ArtifactUploadProgressNotification,
    },
    transport::TransportFrameRejectedNotification,
};
use rpc::{Bytes, Closing, Outbox, Waiting};
use tokio::{
    runtime::Handle,
    sync::{mpsc, oneshot},
    time::Instant,
};

use crate::{sha256_hex, watch::Watch};

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
    pub(crate) owner: String,
}

struct FrameWorker {
    uploader: Uploader,
    told_at: Instant,
}

impl FrameWorker {
    /// Processes queued frames on a blocking thread, which it keeps while more frames are queued.
    async fn run(self, mut items: mpsc::Receiver<QueueItem>) {
        let (outbox, database) = (Arc::clone(&self.uploader.outbox), Handle::current());
        let mut worker = self;
        while let Some(first) = items.recv().await {
            let database = database.clone();
            let working = tokio::task::spawn_blocking(move || {
                let mut next = Some(first);
                while let Some(item) = next {
                    worker.work(item, &database);
                    next = items.try_recv().ok();
                }
                (worker, items)
            });
            match working.await {
                Ok(back) => (worker, items) = back,
                Err(error) => {
                    tracing::error!(%error, "the frames of a connection cannot be taken any more");
                    outbox.close(Closing::INTERNAL);
                    return;
                }
            }
        }
    }

    fn work(&mut self, item: QueueItem, database: &Handle) {
        match item {
            QueueItem::Frame(frame) => self.take(&frame, database),
            QueueItem::Barrier(done) => {
                let _ = done.send(());
            }
        }
    }

    fn take(&mut self, frame: &Bytes, database: &Handle) {
        let (header, bytes) = match frame::parse(frame) {
            Frame::Upload(header, bytes) => (header, bytes),
            Frame::Malformed(detail) => {
                let rejection = Rejection::new("malformed_frame", detail);
                return self.refuse(None, rejection);
            }
            Frame::Unknown => return self.refuse_unknown(frame),
        };
        match self.chunk(&header, bytes, database) {
            Ok(taken) => self.acknowledge(&header, &taken, database),
            Err(rejection) => self.refuse(Some(&header), rejection),
        }
    }

    /// Validates a chunk and appends its bytes to the upload.
    fn chunk(
        &self,
        header: &ArtifactUploadChunkHeader,
        bytes: Bytes,
        database: &Handle,
    ) -> Result<AcceptedChunk, Rejection> {
        let length = bytes.len() as u64;
        if header.len != length {
            let message = format!(
                "the header says {} bytes, the frame has {length}",
                header.len
            );
            return Err(Rejection::new("length_mismatch", message));
        }
        if let Some(expected) = &header.chunk_sha256
            && sha256_hex(&bytes) != *expected
        {
            return Err(Rejection::new(
                "hash_mismatch",
                "the bytes do not have the hash of the header",
            ));
        }
        let chunk = Chunk {
            workspace_id: header.workspace_id.as_str(),
            upload_id: header.upload_id.as_str(),
            owner: &self.uploader.owner,
            offset: header.offset,
            bytes,
            sha256: header.chunk_sha256.as_deref(),
        };
        self.uploader.artifacts.append_chunk(database, &chunk)
    }

    fn acknowledge(
        &mut self,
        header: &ArtifactUploadChunkHeader,
        taken: &AcceptedChunk,
        database: &Handle,
    ) {
        let ack = ArtifactUploadChunkAckNotification {
            workspace_id: header.workspace_id.clone(),
            upload_id: header.upload_id.clone(),
            offset: header.offset,
            len: header.len,
            received_bytes: taken.received,
            next_offset: taken.received,
        };
        self.uploader
            .outbox
            .notify(&rpc::notification(&ack), &Waiting::Kept);
        if self.told_at.elapsed() >= limits::PROGRESS_EVERY {
            self.told_at = Instant::now();
            let progress = ArtifactUploadProgressNotification {
                workspace_id: header.workspace_id.clone(),
                upload_id: header.upload_id.clone(),
                received_bytes: taken.received,
                total_size_bytes: taken.total,
                next_offset: taken.received,
            };
            self.uploader
                .outbox
                .notify(&rpc::notification(&progress), &Waiting::Droppable);
        }
        let extending = self
            .uploader
            .artifacts
            .extend_upload(header.upload_id.as_str(), taken);
        database.block_on(extending);
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
