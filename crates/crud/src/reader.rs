//! The reader threads: each has a read-only connection, and all share one queue.

use std::{
    io,
    panic::{AssertUnwindSafe, catch_unwind},
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
        mpsc::{Receiver, SyncSender, TrySendError, sync_channel},
    },
    thread,
};

use parking_lot::Mutex;
use sea_orm::DatabaseConnection;
use tokio::sync::oneshot;

use crate::{Error, sqlite, store::Options};

/// Maximum number of queued reads; further reads fail with [`Error::Overloaded`].
const MAX_WAITING: usize = 4096;

type ReadWork = Box<dyn FnOnce(Result<&DatabaseConnection, Error>) + Send>;

/// A queued read.
pub(crate) struct ReadJob(ReadWork);

impl ReadJob {
    pub(crate) fn new<T: Send + 'static>(
        work: impl FnOnce(&DatabaseConnection) -> Result<T, Error> + Send + 'static,
        answer: oneshot::Sender<Result<T, Error>>,
    ) -> Self {
        Self(Box::new(move |db| {
            // The caller may have been dropped; then the work is skipped.
            if !answer.is_closed() {
                let result = db.and_then(|db| guarded(|| work(db)));
                let _ = answer.send(result);
            }
        }))
    }
}

/// Runs work and converts a panic to [`Error::Panicked`].
pub(crate) fn guarded<T>(work: impl FnOnce() -> Result<T, Error>) -> Result<T, Error> {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|panic| {
        let cause = panic
            .downcast_ref::<&str>()
            .copied()
            .or_else(|| panic.downcast_ref::<String>().map(String::as_str));
        Err(Error::Panicked(cause.unwrap_or("no message").to_owned()))
    })
}

pub(crate) struct ReaderPool {
    jobs: SyncSender<ReadJob>,
    waiting: Arc<AtomicUsize>,
}

impl ReaderPool {
    pub(crate) fn start(path: &Path, options: &Options) -> io::Result<Self> {
        let (jobs, queue) = sync_channel(MAX_WAITING);
        let queue = Arc::new(Mutex::new(queue));
        let waiting = Arc::new(AtomicUsize::new(0));
        for number in 0..options.readers.max(1) {
            let (path, options): (PathBuf, Options) = (path.to_owned(), options.clone());
            let (queue, waiting) = (Arc::clone(&queue), Arc::clone(&waiting));
            thread::Builder::new()
                .name(format!("db-reader-{number}"))
                .spawn(move || serve(&path, &options, &queue, &waiting))?;
        }
        Ok(Self { jobs, waiting })
    }

    pub(crate) fn send(&self, job: ReadJob) -> Result<(), Error> {
        self.waiting.fetch_add(1, Ordering::Relaxed);
        self.jobs.try_send(job).map_err(|refused| {
            self.waiting.fetch_sub(1, Ordering::Relaxed);
            match refused {
                TrySendError::Full(_) => Error::Overloaded,
                TrySendError::Disconnected(_) => Error::Closed,
            }
        })
    }

    pub(crate) fn waiting(&self) -> usize {
        self.waiting.load(Ordering::Relaxed)
    }
}

/// Serves reads until the store is dropped. The connection is opened on the first read, so that unused readers do not
/// slow down the start.
fn serve(path: &Path, options: &Options, queue: &Mutex<Receiver<ReadJob>>, waiting: &AtomicUsize) {
    let mut connection: Option<DatabaseConnection> = None;
    loop {
        let received = queue.lock().recv();
        let Ok(ReadJob(work)) = received else {
            return;
        };
        waiting.fetch_sub(1, Ordering::Relaxed);
        if connection.is_none() {
            match sqlite::open_reader(path, options) {
                Ok(opened) => connection = Some(opened),
                Err(error) => {
                    work(Err(error));
                    continue;
                }
            }
        }
        if let Some(db) = &connection {
            work(Ok(db));
        }
    }
}
