//! Detects events that other processes append to the logs of company folders.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::{Path, PathBuf},
    sync::{Arc, Mutex, MutexGuard, PoisonError, Weak},
    time::Duration,
};

use notify::{RecommendedWatcher, RecursiveMode, Watcher as _};
use tokio::task::AbortHandle;

use super::CompanyEvents;

/// The interval for comparing log lengths while file system notifications work, to find changes they missed.
const COMPARE_WATCHED: Duration = Duration::from_secs(2);
/// The interval for comparing log lengths when file system notifications are not available.
const COMPARE_UNWATCHED: Duration = Duration::from_millis(250);

/// The watched folders: those with a subscription.
#[derive(Debug)]
pub(super) struct FolderWatch {
    events: Weak<CompanyEvents>,
    folders: Mutex<BTreeMap<PathBuf, Watched>>,
}

#[derive(Debug)]
struct Watched {
    /// Keeps the file system watch active. `None` if the system does not support it.
    _watcher: Option<RecommendedWatcher>,
    comparing: AbortHandle,
}

impl Drop for Watched {
    fn drop(&mut self) {
        self.comparing.abort();
    }
}

impl FolderWatch {
    pub(super) fn new(events: Weak<CompanyEvents>) -> Self {
        Self {
            events,
            folders: Mutex::default(),
        }
    }

    /// Starts to watch a folder if it is not watched yet.
    pub(super) fn add(&self, root: &Path) {
        if self.folders().contains_key(root) {
            return;
        }
        // Created outside the lock, because it may walk through many directories.
        let watcher = self.watcher(root);
        let interval = match watcher {
            Some(_) => COMPARE_WATCHED,
            None => COMPARE_UNWATCHED,
        };
        let comparing = tokio::spawn(compare(
            Weak::clone(&self.events),
            root.to_owned(),
            interval,
        ));
        let watched = Watched {
            _watcher: watcher,
            comparing: comparing.abort_handle(),
        };
        self.folders().entry(root.to_owned()).or_insert(watched);
    }

    /// Stops watching all folders except `roots`.
    pub(super) fn keep_only(&self, roots: &BTreeSet<PathBuf>) {
        self.folders().retain(|root, _| roots.contains(root));
    }

    fn watcher(&self, root: &Path) -> Option<RecommendedWatcher> {
        let events = Weak::clone(&self.events);
        let told = move |told: notify::Result<notify::Event>| {
            let (Some(events), Ok(told)) = (events.upgrade(), told) else {
                return;
            };
            if told.kind.is_access() {
                return;
            }
            for path in told.paths {
                // A log without a stored position is new, so it is read from the beginning.
                events.grown(&path, 0);
            }
        };
        let watching = notify::recommended_watcher(told).and_then(|mut watcher| {
            watcher.watch(
                &root.join(company::layout::PROJECTS),
                RecursiveMode::Recursive,
            )?;
            Ok(watcher)
        });
        watching
            .inspect_err(|error| tracing::warn!(%error, "cannot watch the folder for changes; polling it often"))
            .ok()
    }

    fn folders(&self) -> MutexGuard<'_, BTreeMap<PathBuf, Watched>> {
        self.folders.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Periodically reports the logs whose length has changed.
async fn compare(events: Weak<CompanyEvents>, root: PathBuf, interval: Duration) {
    let folder: Arc<Path> = Arc::from(root);
    let mut known: Option<BTreeMap<PathBuf, u64>> = None;
    loop {
        tokio::time::sleep(interval).await;
        let folder = Arc::clone(&folder);
        let found = tokio::task::spawn_blocking(move || lengths(&folder)).await;
        let (Ok(found), Some(events)) = (found, events.upgrade()) else {
            return;
        };
        for (path, length) in &found {
            let before = known
                .as_ref()
                .map(|known| known.get(path).copied().unwrap_or(0));
            if before.is_none_or(|before| before != *length) {
                events.grown(path, before.unwrap_or(0));
            }
        }
        known = Some(found);
    }
}

fn lengths(root: &Path) -> BTreeMap<PathBuf, u64> {
    let below = |folder: &Path| {
        let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
        entries.map(|entry| entry.path()).collect::<Vec<_>>()
    };
    let mut found = BTreeMap::new();
    for project in below(&root.join(company::layout::PROJECTS)) {
        for run in below(&project.join("runs")) {
            let log = run.join("events.jsonl");
            if let Ok(metadata) = log.metadata() {
                found.insert(log, metadata.len());
            }
        }
    }
    found
}
