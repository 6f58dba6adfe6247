//! Keeps the indexes of folders in use up to date: shortly after this process wrote events, and shortly after other
//! programs changed files.
//!
//! A single thread does all the work; it starts with the first folder and sleeps when there is none. Change
//! notifications of the operating system are only hints: a folder that cannot be watched is polled often, a watched one
//! rarely.

mod watch;

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
    path::{Path, PathBuf},
    sync::{Arc, OnceLock},
    thread::JoinHandle,
    time::{Duration, Instant},
};

use company::{Companies, Company, Now};
use parking_lot::{Condvar, Mutex, MutexGuard};
use protocol::company::index::{IndexSyncResponse, IndexSyncWorkerStatusResponse};

use self::watch::Watched;
use crate::{Error, Indexes};

/// Time without further changes before a sync starts.
const DEBOUNCE: Duration = Duration::from_millis(250);
/// Maximum delay of a sync while other programs keep changing a folder.
const MAX_DEBOUNCE: Duration = Duration::from_millis(1000);
/// Minimum pause between two batches.
const MIN_PAUSE: Duration = Duration::from_millis(1000);
/// How long a folder is watched after its last use.
const WATCH_TIME: Duration = Duration::from_secs(600);

/// The background worker. Dropping it stops its thread without running pending syncs.
pub struct SyncWorker {
    shared: Arc<WorkerShared>,
}

struct WorkerShared {
    indexes: Indexes,
    now: Now,
    companies: OnceLock<Companies>,
    state: Mutex<WorkerState>,
    wake: Condvar,
    /// Serializes batches.
    batch: Mutex<()>,
}

#[derive(Default)]
struct WorkerState {
    status: IndexSyncWorkerStatusResponse,
    /// Folders in which this process wrote events since the last batch.
    dirty: BTreeSet<PathBuf>,
    /// When the next batch starts; `None` if no folder is dirty.
    due: Option<Instant>,
    /// When the last batch ended.
    last_batch_ended: Option<Instant>,
    /// Folders that other programs changed since their last sync.
    noticed: BTreeMap<PathBuf, Notice>,
    /// Folders in use.
    watched: BTreeMap<PathBuf, Watched>,
    /// Folders that were used but are not watched yet.
    to_watch: BTreeSet<PathBuf>,
    /// Folders with events that are not in the full text yet.
    texts: BTreeSet<PathBuf>,
    thread: Option<JoinHandle<()>>,
}

/// Changes by other programs that are not indexed yet.
#[derive(Clone, Copy)]
struct Notice {
    /// When the first of these changes was noticed.
    first: Instant,
    /// When the last of these changes was noticed.
    last: Instant,
    /// Earliest time of the next sync of the folder.
    not_before: Instant,
}

impl Notice {
    /// When to sync the folder: once no more changes arrive, or at the latest after `MAX_DEBOUNCE`.
    fn due(&self) -> Instant {
        (self.last + DEBOUNCE)
            .min(self.first + MAX_DEBOUNCE)
            .max(self.not_before)
    }
}

impl SyncWorker {
    /// Creates a worker that does nothing until [`SyncWorker::serve`] is called.
    pub fn new(indexes: Indexes, now: Now) -> Self {
        let status = IndexSyncWorkerStatusResponse {
            enabled: true,
            debounce_ms: 250,
            min_interval_ms: 1000,
            ..IndexSyncWorkerStatusResponse::default()
        };
        let state = WorkerState {
            status,
            ..WorkerState::default()
        };
        Self {
            shared: Arc::new(WorkerShared {
                indexes,
                now,
                companies: OnceLock::new(),
                state: Mutex::new(state),
                wake: Condvar::new(),
                batch: Mutex::new(()),
            }),
        }
    }

    /// Sets the registry of company folders, which the worker needs to open them.
    pub fn serve(&self, companies: Companies) {
        // Only the first call has an effect.
        let _ = self.shared.companies.set(companies);
    }

    /// Schedules a sync of a folder in which this process wrote events.
    pub fn notify(&self, root: &Path) {
        let now = Instant::now();
        let mut state = self.shared.state();
        if state.status.closed {
            return;
        }
        state.status.total_notify_calls += 1;
        state.status.last_notify_at_ms = Some((self.shared.now)());
        state.status.last_notified_workspace = Some(root.display().to_string());
        state.dirty.insert(root.to_owned());
        let after_pause = state.last_batch_ended.map_or(now, |end| end + MIN_PAUSE);
        state.due.get_or_insert((now + DEBOUNCE).max(after_pause));
        self.shared.wake_thread(&mut state);
    }

    /// Marks a folder as used: changes by other programs are followed for `WATCH_TIME`.
    pub fn used(&self, company: &Company) {
        let mut state = self.shared.state();
        if state.status.closed {
            return;
        }
        match state.watched.get_mut(company.root()) {
            Some(watched) => watched.used_at = Instant::now(),
            None => {
                state.to_watch.insert(company.root().to_owned());
                self.shared.wake_thread(&mut state);
            }
        }
    }

    /// Returns counters and the current state.
    pub fn status(&self) -> IndexSyncWorkerStatusResponse {
        let state = self.shared.state();
        IndexSyncWorkerStatusResponse {
            pending_workspaces: state.dirty.len() as u64,
            watched_workspaces: state.watched.len() as u64,
            ..state.status.clone()
        }
    }

    /// Syncs a folder on request. Changes noticed before the call need no further sync.
    pub fn sync(&self, company: &Company) -> Result<IndexSyncResponse, Error> {
        let started = Instant::now();
        let counts = self.shared.indexes.sync(company)?;
        let mut state = self.shared.state();
        if let Some(notice) = state.noticed.get_mut(company.root()) {
            notice.first = notice.last;
            if notice.last <= started {
                state.noticed.remove(company.root());
            }
        }
        Ok(counts)
    }

    /// Runs pending syncs now and returns the status after them.
    pub fn flush(&self) -> IndexSyncWorkerStatusResponse {
        self.shared.run_batch();
        self.status()
    }

    /// Runs pending syncs and stops the thread.
    pub fn close(&self) {
        self.shared.run_batch();
        let thread = {
            let mut state = self.shared.state();
            state.status.closed = true;
            state.thread.take()
        };
        self.shared.wake.notify_all();
        if let Some(thread) = thread {
            let _ = thread.join();
        }
    }
}

impl Drop for SyncWorker {
    fn drop(&mut self) {
        self.shared.state().status.closed = true;
        self.shared.wake.notify_all();
    }
}

impl fmt::Debug for SyncWorker {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("SyncWorker")
    }
}

impl WorkerShared {
    fn state(&self) -> MutexGuard<'_, WorkerState> {
        self.state.lock()
    }

    /// Wakes the thread, and starts it if it is not running yet.
    fn wake_thread(self: &Arc<Self>, state: &mut WorkerState) {
        if state.thread.is_none() {
            let shared = Arc::clone(self);
            let thread = std::thread::Builder::new().name("index-sync".to_owned());
            match thread.spawn(move || shared.run()) {
                Ok(thread) => state.thread = Some(thread),
                Err(error) => {
                    tracing::warn!(%error, "indexes are not kept up to date in the background")
                }
            }
        }
        self.wake.notify_all();
    }

    /// The loop of the thread; returns when the worker is closed.
    fn run(self: &Arc<Self>) {
        loop {
            let work = {
                let mut state = self.state();
                loop {
                    if state.status.closed {
                        return;
                    }
                    let now = Instant::now();
                    match state.next(now) {
                        NextTask::Work(work) => break work,
                        NextTask::Sleep(None) => {
                            self.wake.wait(&mut state);
                        }
                        NextTask::Sleep(Some(until)) => {
                            let left = until.saturating_duration_since(now);
                            self.wake.wait_for(&mut state, left);
                        }
                    }
                }
            };
            match work {
                WorkerTask::Batch => self.run_batch(),
                WorkerTask::Watch(root) => self.watch(root),
                WorkerTask::Look(root) => self.look(&root),
                WorkerTask::Texts(root) => self.add_texts(root),
            }
        }
    }

    /// Syncs the folders in which this process wrote events.
    fn run_batch(self: &Arc<Self>) {
        let _one = self.batch.lock();
        let dirty = {
            let mut state = self.state();
            state.due = None;
            let dirty = std::mem::take(&mut state.dirty);
            if dirty.is_empty() {
                return;
            }
            state.status.running = true;
            state.status.total_batches += 1;
            state.status.last_batch_started_at_ms = Some((self.now)());
            dirty
        };
        for root in dirty {
            let synced = self.sync(&root);
            let mut state = self.state();
            state.status.total_workspace_sync_attempts += 1;
            match synced {
                Ok(()) => drop(state.texts.insert(root)),
                Err(error) => {
                    tracing::warn!(folder = %root.display(), %error, "the index could not be brought up to date");
                    state.status.total_workspace_sync_errors += 1;
                    state.status.last_error_message = Some(error.to_string());
                    state.status.last_error_workspace = Some(root.display().to_string());
                    state.status.last_error_at_ms = Some((self.now)());
                }
            }
        }
        let mut state = self.state();
        state.status.running = false;
        let now_ms = (self.now)();
        state.status.last_batch_completed_at_ms = Some(now_ms);
        state.status.last_run_at_ms = Some(now_ms);
        state.last_batch_ended = Some(Instant::now());
        if state.thread.is_some() {
            self.wake.notify_all();
        }
    }

    fn sync(&self, root: &Path) -> Result<(), Error> {
        match self.company(root) {
            Some(company) => self.indexes.sync(&company).map(drop),
            None => Ok(()),
        }
    }

    fn company(&self, root: &Path) -> Option<Company> {
        let companies = self.companies.get()?;
        Some(companies.locate(root.to_str()?))
    }

    fn watch(self: &Arc<Self>, root: PathBuf) {
        // Setting up a watch takes a while, so it happens without holding the lock.
        let mut watched = Watched::new(Arc::downgrade(self), &root);
        let company = self.company(&root);
        let is_built = company.is_none_or(|company| self.indexes.is_built(&company));
        let mut state = self.state();
        if !is_built {
            // Build the index now, so that the first view requested does not wait for it.
            watched.look_at = Instant::now();
        }
        state.texts.insert(root.clone());
        state.watched.insert(root, watched);
    }

    /// Syncs a folder after a change was noticed or its polling interval passed.
    fn look(&self, root: &Path) {
        let started = Instant::now();
        let synced = self.sync(root);
        let mut state = self.state();
        state.status.total_watch_syncs += 1;
        match synced {
            Ok(()) => {
                state.texts.insert(root.to_owned());
                if let Some(watched) = state.watched.get_mut(root) {
                    watched.looked(started.elapsed());
                }
            }
            // The folder may come back; the next request that uses it reports its error.
            Err(error) => {
                tracing::debug!(folder = %root.display(), %error, "the folder is no longer watched");
                state.watched.remove(root);
            }
        }
    }

    /// Adds a batch of events to the full text, and reschedules itself if more are waiting.
    fn add_texts(&self, root: PathBuf) {
        let Some(company) = self.company(&root) else {
            return;
        };
        if let Ok(true) = self.indexes.add_texts(&company) {
            self.state().texts.insert(root);
        }
    }

    /// Records a change notification of a watched folder.
    fn noticed(&self, root: &Path) {
        let now = Instant::now();
        let mut state = self.state();
        let rests_until = state.watched.get(root).map(|watched| watched.rests_until);
        let notice = state.noticed.entry(root.to_owned()).or_insert(Notice {
            first: now,
            last: now,
            not_before: rests_until.unwrap_or(now),
        });
        notice.last = now;
        drop(state);
        self.wake.notify_all();
    }
}

enum WorkerTask {
    Batch,
    Watch(PathBuf),
    Look(PathBuf),
    Texts(PathBuf),
}

enum NextTask {
    Work(WorkerTask),
    Sleep(Option<Instant>),
}

impl WorkerState {
    fn next(&mut self, now: Instant) -> NextTask {
        if self.due.is_some_and(|due| due <= now) {
            return NextTask::Work(WorkerTask::Batch);
        }
        if let Some(root) = self.to_watch.pop_first() {
            return NextTask::Work(WorkerTask::Watch(root));
        }
        self.watched
            .retain(|_, watched| now.duration_since(watched.used_at) < WATCH_TIME);
        let watched = &self.watched;
        self.noticed.retain(|root, _| watched.contains_key(root));
        let noticed = self.noticed.iter().find(|(_, notice)| notice.due() <= now);
        let noticed = noticed.map(|(root, _)| root.clone());
        let overdue = || {
            let due = self
                .watched
                .iter()
                .find(|(_, watched)| watched.look_at <= now);
            due.map(|(root, _)| root.clone())
        };
        if let Some(root) = noticed.or_else(overdue) {
            self.noticed.remove(&root);
            return NextTask::Work(WorkerTask::Look(root));
        }
        if let Some(root) = self.texts.pop_first() {
            return NextTask::Work(WorkerTask::Texts(root));
        }
        let looks = self.watched.values().map(|watched| watched.look_at);
        let until = looks
            .chain(self.noticed.values().map(Notice::due))
            .chain(self.due)
            .min();
        NextTask::Sleep(until)
    }
}
