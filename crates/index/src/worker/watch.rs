//! Watches a company folder for changes by other programs.

use std::{
    path::Path,
    sync::Weak,
    time::{Duration, Instant},
};

use company::layout;
use notify::{RecommendedWatcher, RecursiveMode, Watcher as _};

use super::WorkerShared;

/// Polling interval of a watched folder; it finds changes for which the operating system sent no notification.
const POLL_WATCHED: Duration = Duration::from_secs(60);
/// Polling interval of a folder that cannot be watched.
const POLL_UNWATCHED: Duration = Duration::from_secs(2);
/// After a sync the next poll waits for at least this many times the duration of that sync.
const REST_PER_LOOK: u32 = 50;
/// After a sync that follows a notification the next one waits for at least this many times its duration.
const REST_PER_NOTICE: u32 = 10;

/// A folder in use.
pub(super) struct Watched {
    /// Kept for as long as the folder is watched; `None` if the operating system cannot watch it.
    watcher: Option<RecommendedWatcher>,
    /// When the folder was last used by a request.
    pub(super) used_at: Instant,
    /// When to poll it, whether or not a change was notified.
    pub(super) look_at: Instant,
    /// Earliest time of the next sync after a notification; spares a large folder that changes constantly.
    pub(super) rests_until: Instant,
}

impl Watched {
    pub(super) fn new(shared: Weak<WorkerShared>, root: &Path) -> Self {
        let now = Instant::now();
        let watcher = watcher(shared, root)
            .inspect_err(|error| tracing::warn!(%error, "cannot watch the folder for changes; polling it often"))
            .ok();
        let interval = interval(watcher.as_ref());
        Self {
            watcher,
            used_at: now,
            look_at: now + interval,
            rests_until: now,
        }
    }

    /// Records that a sync finished, and how long it took.
    pub(super) fn looked(&mut self, took: Duration) {
        let interval = interval(self.watcher.as_ref());
        let now = Instant::now();
        self.look_at = now + interval.max(took * REST_PER_LOOK);
        self.rests_until = now + took * REST_PER_NOTICE;
    }
}

fn interval(watcher: Option<&RecommendedWatcher>) -> Duration {
    match watcher {
        Some(_) => POLL_WATCHED,
        None => POLL_UNWATCHED,
    }
}

fn watcher(shared: Weak<WorkerShared>, root: &Path) -> notify::Result<RecommendedWatcher> {
    let folder = root.to_owned();
    let on_event = move |event: notify::Result<notify::Event>| {
        let Some(shared) = shared.upgrade() else {
            return;
        };
        // An error may mean that a notification was lost, so it causes a sync as well.
        if event.is_ok_and(|event| event.kind.is_access()) {
            return;
        }
        shared.noticed(&folder);
    };
    let mut watcher = notify::recommended_watcher(on_event)?;
    // `.local` is not watched, because it contains the index itself.
    for part in [layout::PROJECTS, "inbox", layout::AGENTS] {
        watcher.watch(&root.join(part), RecursiveMode::Recursive)?;
    }
    Ok(watcher)
}
