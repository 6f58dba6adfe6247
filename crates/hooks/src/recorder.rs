//! Writes run records to the store in its own task, so that a slow or failing store neither delays nor fails a turn.

use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};

use tokio::sync::{mpsc, oneshot};

use crate::{RunRecord, RunStatus, RunStore, background::Tracked};

/// Accepts run records. One task writes them in order of arrival.
#[derive(Clone)]
pub(crate) struct Recorder {
    messages: mpsc::Sender<RecorderMessage>,
    dropped: Arc<AtomicU64>,
}

enum RecorderMessage {
    Save(Box<RunRecord>),
    Flush(oneshot::Sender<()>),
}

impl Recorder {
    /// Starts the writing task. It ends when the last recorder is dropped and all records are written.
    pub(crate) fn start(store: Arc<dyn RunStore>, capacity: usize, tracked: Arc<Tracked>) -> Self {
        let (messages, incoming) = mpsc::channel(capacity.max(1));
        let dropped = Arc::new(AtomicU64::new(0));
        tokio::spawn(write(store, incoming, tracked, Arc::clone(&dropped)));
        Self { messages, dropped }
    }

    /// Queues a record without waiting. If the queue is full, the record is dropped and counted.
    pub(crate) fn save(&self, run: RunRecord) {
        if let Err(error) = self.messages.try_send(RecorderMessage::Save(Box::new(run))) {
            self.dropped.fetch_add(1, Ordering::Relaxed);
            if let RecorderMessage::Save(run) = error.into_inner() {
                tracing::warn!(
                    run_id = run.id,
                    hook_id = run.hook_id,
                    "hook run dropped: too many wait to be stored"
                );
            }
        }
    }

    /// Queues a record and waits for room. For background runs: no phase waits for them, and a lost record would repeat
    /// their work.
    pub(crate) async fn save_when_there_is_room(&self, run: RunRecord) {
        let run = Box::new(run);
        if self
            .messages
            .send(RecorderMessage::Save(run))
            .await
            .is_err()
        {
            self.dropped.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Waits until all records queued before are written or have failed.
    pub(crate) async fn flush(&self) {
        let (done, wait) = oneshot::channel();
        if self
            .messages
            .send(RecorderMessage::Flush(done))
            .await
            .is_ok()
        {
            // An error means that the task has ended, so no record is left to wait for.
            let _ = wait.await;
        }
    }

    /// Returns the number of lost records.
    pub(crate) fn dropped(&self) -> u64 {
        self.dropped.load(Ordering::Relaxed)
    }
}

async fn write(
    store: Arc<dyn RunStore>,
    mut incoming: mpsc::Receiver<RecorderMessage>,
    tracked: Arc<Tracked>,
    dropped: Arc<AtomicU64>,
) {
    while let Some(message) = incoming.recv().await {
        match message {
            RecorderMessage::Save(run) => {
                let id = run.id.clone();
                let has_ended = run.is_background && has_ended(run.status);
                match store.save(*run).await {
                    Ok(()) => {
                        if has_ended {
                            tracked.forget(&id);
                        }
                    }
                    // A background run whose end is not stored stays tracked: the store still lists it as unfinished,
                    // and this process must not repeat the work.
                    Err(error) => {
                        dropped.fetch_add(1, Ordering::Relaxed);
                        tracing::warn!(run_id = id, %error, "hook run not stored");
                    }
                }
            }
            RecorderMessage::Flush(done) => {
                let _ = done.send(());
            }
        }
    }
}

fn has_ended(status: RunStatus) -> bool {
    match status {
        RunStatus::Queued | RunStatus::Running => false,
        RunStatus::Succeeded | RunStatus::Failed | RunStatus::TimedOut | RunStatus::Skipped => true,
    }
}
