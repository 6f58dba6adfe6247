//! Hands run records to the store beside the phases, so that a slow or broken store slows and fails no turn.

use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};

use tokio::sync::{mpsc, oneshot};

use crate::{RunRecord, RunStatus, RunStore, background::Tracked};

/// Takes in records. One task writes them, in the order they came.
#[derive(Clone)]
pub(crate) struct Recorder {
    messages: mpsc::Sender<Message>,
    dropped: Arc<AtomicU64>,
}

enum Message {
    Save(Box<RunRecord>),
    Flush(oneshot::Sender<()>),
}

impl Recorder {
    /// Starts the task; it ends when the last recorder is gone and everything is written.
    pub(crate) fn start(store: Arc<dyn RunStore>, capacity: usize, tracked: Arc<Tracked>) -> Self {
        let (messages, incoming) = mpsc::channel(capacity.max(1));
        let dropped = Arc::new(AtomicU64::new(0));
        tokio::spawn(write(store, incoming, tracked, Arc::clone(&dropped)));
        Self { messages, dropped }
    }

    /// Never waits: a record there is no room for is dropped.
    pub(crate) fn save(&self, run: RunRecord) {
        if let Err(error) = self.messages.try_send(Message::Save(Box::new(run))) {
            self.dropped.fetch_add(1, Ordering::Relaxed);
            if let Message::Save(run) = error.into_inner() {
                tracing::warn!(
                    run_id = run.id,
                    hook_id = run.hook_id,
                    "hook run dropped: too many wait to be stored"
                );
            }
        }
    }

    /// Waits for room. For background runs, which nobody waits for and which must not be done twice.
    pub(crate) async fn save_when_there_is_room(&self, run: RunRecord) {
        let run = Box::new(run);
        if self.messages.send(Message::Save(run)).await.is_err() {
            self.dropped.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Waits until everything that was handed in before is written, or has failed to be.
    pub(crate) async fn flush(&self) {
        let (done, wait) = oneshot::channel();
        if self.messages.send(Message::Flush(done)).await.is_ok() {
            // An error means the task is gone, and with it everything there was to wait for.
            let _ = wait.await;
        }
    }

    /// How many records were lost.
    pub(crate) fn dropped(&self) -> u64 {
        self.dropped.load(Ordering::Relaxed)
    }
}

async fn write(
    store: Arc<dyn RunStore>,
    mut incoming: mpsc::Receiver<Message>,
    tracked: Arc<Tracked>,
    dropped: Arc<AtomicU64>,
) {
    while let Some(message) = incoming.recv().await {
        match message {
            Message::Save(run) => {
                let id = run.id.clone();
                let has_ended = run.is_background && has_ended(run.status);
                match store.save(*run).await {
                    Ok(()) => {
                        if has_ended {
                            tracked.forget(&id);
                        }
                    }
                    // A background run whose end is not stored stays tracked: to the store it is still open, and
                    // this process must not do the work twice.
                    Err(error) => {
                        dropped.fetch_add(1, Ordering::Relaxed);
                        tracing::warn!(run_id = id, %error, "hook run not stored");
                    }
                }
            }
            Message::Flush(done) => {
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
