//! The writer thread: owns the only writing connection, commits in groups, and detects writes of other processes.

use std::{
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
        mpsc::{Receiver, RecvTimeoutError, SyncSender, TrySendError, sync_channel},
    },
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

use entity::workspace;
use parking_lot::{Mutex, MutexGuard};
use sea_orm::{ConnectionTrait as _, DatabaseConnection, EntityTrait as _};
use tokio::sync::{oneshot, watch};

use crate::{
    Error,
    lock::DatabaseLock,
    reader::guarded,
    spin_wait::SpinWait,
    sqlite,
    store::{OpenError, Options},
};

/// Maximum number of queued writes; further writes fail with [`Error::Overloaded`].
const MAX_WAITING: usize = 4096;
/// Maximum number of writes per commit.
const MAX_GROUP: usize = 256;
/// Limit of the work time of one group, as a multiple of the commit time. Callers that already have their result can
/// send the next write while the writer works on the next group; in one large group all would wait for the slowest.
const WORK_PER_COMMIT: u32 = 2;
/// The assumed commit time before the first commit.
const FIRST_COMMIT: Duration = Duration::from_millis(1);
/// Commits faster than this wrote nothing and are not used to estimate the commit time.
const FASTEST_COMMIT: Duration = Duration::from_micros(50);

type WriteWork =
    Box<dyn FnOnce(Result<&DatabaseConnection, Error>, GroupPosition) -> FinishedWrite + Send>;
type WriteAnswer = Box<dyn FnOnce(Result<(), Error>) + Send>;

/// A queued write: runs its work, and responds once the outcome of the commit is known.
struct WriteJob(WriteWork);

/// The position of a write in the transaction of its group.
#[derive(Clone, Copy)]
enum GroupPosition {
    First,
    Later,
}

struct FinishedWrite {
    /// An error if the transaction is no longer open; a full disk can roll all of it back.
    transaction: Result<(), Error>,
    answer: WriteAnswer,
}

impl WriteJob {
    fn new<T: Send + 'static>(
        work: impl FnOnce(&DatabaseConnection) -> Result<T, Error> + Send + 'static,
        answer: oneshot::Sender<Result<T, Error>>,
    ) -> Self {
        Self(Box::new(move |db, position| {
            let (result, transaction) = match db {
                Ok(db) => in_savepoint(db, position, work),
                Err(error) => (Err(error.clone()), Err(error)),
            };
            let answer = Box::new(move |committed: Result<(), Error>| {
                let _ = answer.send(result.and_then(|value| committed.map(|()| value)));
            });
            FinishedWrite {
                transaction,
                answer,
            }
        }))
    }
}

/// Runs the work of one request so that a failure undoes only its own changes.
fn in_savepoint<T>(
    db: &DatabaseConnection,
    position: GroupPosition,
    work: impl FnOnce(&DatabaseConnection) -> Result<T, Error>,
) -> (Result<T, Error>, Result<(), Error>) {
    type Statements = &'static [&'static str];
    let (begin, undo, end): (Statements, Statements, Statements) = match position {
        // The transaction is still empty. Most groups have only one write, which needs no savepoint.
        GroupPosition::First => (&[], &["ROLLBACK", "BEGIN IMMEDIATE"], &[]),
        GroupPosition::Later => (
            &["SAVEPOINT request"],
            &["ROLLBACK TO request"],
            &["RELEASE request"],
        ),
    };
    let run = |statements: Statements| {
        let mut statements = statements.iter();
        statements.try_for_each(|sql| sqlite::execute(db, sql))
    };
    if let Err(error) = run(begin) {
        return (Err(error.clone()), Err(error));
    }
    let result = guarded(|| work(db));
    let undone = match &result {
        Ok(_) => Ok(()),
        Err(_) => run(undo),
    };
    let ended = undone.and_then(|()| run(end));
    match (result, ended) {
        (result, Ok(())) => (result, Ok(())),
        // The savepoint is lost and so is the transaction; report the original failure of the work.
        (Err(error), Err(_)) => (Err(error.clone()), Err(error)),
        (Ok(_), Err(error)) => (Err(error.clone()), Err(error)),
    }
}

pub(crate) struct DatabaseWriter {
    /// Taken by `close`, which drops the sender and thereby ends the thread.
    running: Mutex<Option<RunningWriter>>,
    waiting: Arc<AtomicUsize>,
    spin_wait: Arc<SpinWait>,
}

struct RunningWriter {
    jobs: SyncSender<WriteJob>,
    thread: JoinHandle<()>,
}

impl DatabaseWriter {
    pub(crate) fn start(
        path: PathBuf,
        lock: DatabaseLock,
        options: Options,
        foreign_changes: watch::Sender<u64>,
    ) -> Result<(Self, Vec<workspace::Model>), OpenError> {
        let (jobs, queue) = sync_channel(MAX_WAITING);
        let (opened, is_open) = sync_channel(1);
        let waiting = Arc::new(AtomicUsize::new(0));
        let counter = Arc::clone(&waiting);
        let spin_wait = Arc::new(SpinWait::new());
        let thread_spin_wait = Arc::clone(&spin_wait);
        let thread = thread::Builder::new()
            .name("db-writer".to_owned())
            .spawn(move || {
                let Opened {
                    db,
                    data_version,
                    workspaces,
                } = match open(&path, &lock, &options) {
                    Ok(opened) => opened,
                    Err(error) => {
                        let _ = opened.send(Err(error));
                        return;
                    }
                };
                let mut thread = WriterThread {
                    db,
                    lock,
                    options,
                    waiting: counter,
                    spin_wait: thread_spin_wait,
                    seen_version: data_version,
                    looked_at: Instant::now(),
                    foreign_changes,
                    commit_time: FIRST_COMMIT,
                };
                let _ = opened.send(Ok(workspaces));
                thread.serve(&queue);
            })
            .map_err(OpenError::Thread)?;
        let workspaces = is_open
            .recv()
            .unwrap_or(Err(OpenError::Database(Error::Closed)))?;
        let writer = Self {
            running: Mutex::new(Some(RunningWriter { jobs, thread })),
            waiting,
            spin_wait,
        };
        Ok((writer, workspaces))
    }

    /// Runs `work` in the next group commit. Returns after the commit.
    pub(crate) async fn write<T: Send + 'static>(
        &self,
        work: impl FnOnce(&DatabaseConnection) -> Result<T, Error> + Send + 'static,
    ) -> Result<T, Error> {
        let (answered, answer) = oneshot::channel();
        let pending = self.spin_wait.begin();
        self.send(WriteJob::new(work, answered))?;
        let answer = pending.answer(answer).await;
        answer.unwrap_or(Err(Error::Closed))
    }

    fn send(&self, job: WriteJob) -> Result<(), Error> {
        let running = self.running();
        let jobs = &running.as_ref().ok_or(Error::Closed)?.jobs;
        self.waiting.fetch_add(1, Ordering::Relaxed);
        jobs.try_send(job).map_err(|refused| {
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

    /// Completes pending writes, checkpoints the log into the database file and ends the thread.
    pub(crate) fn close(&self) {
        let taken = self.running().take();
        if let Some(RunningWriter { jobs, thread }) = taken {
            drop(jobs);
            if thread.join().is_err() {
                tracing::error!("the writer thread panicked");
            }
        }
    }

    fn running(&self) -> MutexGuard<'_, Option<RunningWriter>> {
        self.running.lock()
    }
}

impl Drop for DatabaseWriter {
    fn drop(&mut self) {
        self.close();
    }
}

/// A newly opened database, with state read while the write lock was held.
struct Opened {
    db: DatabaseConnection,
    /// Later writes of other processes change this version.
    data_version: i64,
    /// The workspaces as of `data_version`.
    workspaces: Vec<workspace::Model>,
}

/// Opens the database and applies pending migrations in one exclusive transaction.
fn open(path: &Path, lock: &DatabaseLock, options: &Options) -> Result<Opened, OpenError> {
    let _guard = lock.hold().map_err(OpenError::Lock)?;
    let db = sqlite::open_writer(path, options).map_err(OpenError::Database)?;
    let execute = |sql| {
        let executed = db.execute_unprepared(sql);
        executed.map_err(|error| OpenError::Database(error.into()))
    };
    execute("BEGIN EXCLUSIVE")?;
    // On failure the connection is dropped, which rolls everything back.
    migration::apply(&db, options.now).map_err(OpenError::Migration)?;
    execute("COMMIT")?;
    // The lock is still held, so both values are from the same state.
    let workspaces = workspace::Entity::find().all(&db);
    let workspaces = workspaces.map_err(|error| OpenError::Database(error.into()))?;
    Ok(Opened {
        data_version: sqlite::data_version(&db).map_err(OpenError::Database)?,
        db,
        workspaces,
    })
}

struct WriterThread {
    db: DatabaseConnection,
    lock: DatabaseLock,
    options: Options,
    waiting: Arc<AtomicUsize>,
    spin_wait: Arc<SpinWait>,
    /// The data version last reported through `foreign_changes`.
    seen_version: i64,
    looked_at: Instant,
    foreign_changes: watch::Sender<u64>,
    /// The estimated commit time.
    commit_time: Duration,
}

impl WriterThread {
    /// Serves writes until the store is dropped, then runs a checkpoint.
    fn serve(&mut self, queue: &Receiver<WriteJob>) {
        let mut next = None;
        loop {
            let received = match next.take() {
                Some(job) => Ok(job),
                None => queue.recv_timeout(self.options.poll_every),
            };
            match received {
                Ok(first) => {
                    self.commit_group(first, queue);
                    next = self.spin_wait.next(queue);
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => break,
            }
            if self.looked_at.elapsed() >= self.options.poll_every {
                self.look_for_foreign_changes();
            }
        }
        if let Ok(_guard) = self.lock.hold()
            && let Err(error) = sqlite::checkpoint(&self.db)
        {
            tracing::warn!(%error, "the final checkpoint failed; the next start repeats it");
        }
    }

    /// Runs the queued writes in one transaction with one fsync, then responds to all of them.
    fn commit_group(&mut self, first: WriteJob, queue: &Receiver<WriteJob>) {
        let mut answers = Vec::new();
        let committed = self.run_group(first, queue, &mut answers);
        if let Err(error) = &committed
            && error.is_fatal()
        {
            // No response is sent: it is unknown whether these writes are on the disk.
            tracing::error!(?error, "fsync failed, so the last writes may be lost");
            (self.options.on_fatal)(
                "the disk failed to store a write (fsync): the gateway stops, because writes are no longer durable",
            );
        }
        for answer in answers {
            answer(committed.clone());
        }
    }

    fn run_group(
        &mut self,
        first: WriteJob,
        queue: &Receiver<WriteJob>,
        answers: &mut Vec<WriteAnswer>,
    ) -> Result<(), Error> {
        let guard = self.lock.hold().map_err(|error| {
            tracing::error!(%error, "the write lock cannot be acquired");
            Error::Closed
        });
        let begun = guard.and_then(|guard| {
            sqlite::execute(&self.db, "BEGIN IMMEDIATE")?;
            Ok(guard)
        });
        let (begun_at, work_time) = (Instant::now(), self.commit_time * WORK_PER_COMMIT);
        let mut next = Some(first);
        let mut state = begun.as_ref().map(|_| ()).map_err(Clone::clone);
        while let Some(WriteJob(work)) = next {
            self.waiting.fetch_sub(1, Ordering::Relaxed);
            let position = if answers.is_empty() {
                GroupPosition::First
            } else {
                GroupPosition::Later
            };
            let finished = work(state.clone().map(|()| &self.db), position);
            answers.push(finished.answer);
            state = state.and(finished.transaction);
            let goes_on =
                state.is_ok() && answers.len() < MAX_GROUP && begun_at.elapsed() < work_time;
            next = if goes_on { queue.try_recv().ok() } else { None };
        }
        let committing_at = Instant::now();
        let committed = state.and_then(|()| sqlite::execute(&self.db, "COMMIT"));
        let took = committing_at.elapsed();
        if committed.is_err() {
            // The transaction may already have been rolled back.
            let _ = sqlite::execute(&self.db, "ROLLBACK");
        }
        drop(begun);
        self.commit_time = usual_commit(self.commit_time, took);
        self.spin_wait.set_usual_commit(self.commit_time);
        committed
    }

    fn look_for_foreign_changes(&mut self) {
        self.looked_at = Instant::now();
        match sqlite::data_version(&self.db) {
            Ok(version) => {
                if self.seen_version != version {
                    self.foreign_changes.send_modify(|count| *count += 1);
                }
                self.seen_version = version;
            }
            Err(error) => tracing::warn!(%error, "the data version cannot be read"),
        }
    }
}

/// Updates the estimated commit time with one more measurement. It adapts slowly, because some commits include a
/// checkpoint.
fn usual_commit(usual: Duration, took: Duration) -> Duration {
    if took < FASTEST_COMMIT {
        usual
    } else {
        (usual * 7 + took.min(usual * 2)) / 8
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(usual: Duration, took: Duration, commits: usize) -> Duration {
        (0..commits).fold(usual, |usual, _| usual_commit(usual, took))
    }

    #[test]
    fn one_slow_commit_changes_little_and_a_slow_disk_is_noticed() {
        let usual = Duration::from_micros(200);
        let slow = Duration::from_millis(20);
        assert_eq!(after(usual, slow, 1), Duration::from_micros(225));
        assert!(after(usual, slow, 100) > slow * 9 / 10);
    }

    #[test]
    fn commits_of_nothing_say_nothing() {
        let usual = Duration::from_millis(20);
        assert_eq!(after(usual, Duration::from_micros(10), 1_000), usual);
        let fastest = after(usual, FASTEST_COMMIT, 1_000);
        assert!(fastest < FASTEST_COMMIT * 2, "{fastest:?}");
    }

    /// Work that takes longer than two commits is not grouped with further writes.
    #[tokio::test]
    async fn long_work_is_committed_by_itself() {
        let home = tempfile::tempdir().unwrap();
        let commits = Arc::new(AtomicUsize::new(0));
        let counter = Arc::clone(&commits);
        let mut options = Options::new(0, |_| ());
        options.statement_log = Some(Arc::new(move |sql| {
            counter.fetch_add(usize::from(sql == "COMMIT"), Ordering::Relaxed);
        }));
        let store = crate::CrudStore::open(home.path(), &options).unwrap();
        let before = commits.load(Ordering::Relaxed);
        let long = || {
            store.write(|_| {
                let began = Instant::now();
                while began.elapsed() < Duration::from_millis(20) {
                    thread::yield_now();
                }
                Ok(())
            })
        };
        let (first, second, third) = tokio::join!(long(), long(), long());
        first.and(second).and(third).unwrap();
        assert_eq!(commits.load(Ordering::Relaxed) - before, 3);
    }
}
