//! Notices what other programs change in a company folder.

use std::{
    path::Path,
    sync::Weak,
    time::{Duration, Instant},
};

use company::layout;
use notify::{RecommendedWatcher, RecursiveMode, Watcher as _};

use super::Shared;

/// How often a folder is looked at where the system tells of changes: what it forgot to tell is found then.
const LOOK_WATCHED: Duration = Duration::from_secs(60);
/// How often where it does not.
const LOOK_UNWATCHED: Duration = Duration::from_secs(2);
/// Looking may take this share of the time, whatever the size of the folder.
const REST_PER_LOOK: u32 = 50;
/// And this share where something happens all the time.
const REST_PER_NOTICE: u32 = 10;

/// A folder in use.
pub(super) struct Watched {
    /// Kept for as long as the folder is watched.
    watcher: Option<RecommendedWatcher>,
    /// When somebody last used it.
    pub(super) used_at: Instant,
    /// When to look at it, whatever the watcher says.
    pub(super) look_at: Instant,
    /// Not to look again before: a large folder in which much happens.
    pub(super) rests_until: Instant,
}

impl Watched {
    pub(super) fn new(shared: Weak<Shared>, root: &Path) -> Self {
        let now = Instant::now();
        let watcher = watcher(shared, root)
            .inspect_err(|error| tracing::warn!(%error, "the system does not tell of changes: looking often"))
            .ok();
        let interval = interval(watcher.as_ref());
        Self {
            watcher,
            used_at: now,
            look_at: now + interval,
            rests_until: now,
        }
    }

    /// It was looked at, and that took so long.
    pub(super) fn looked(&mut self, took: Duration) {
        let interval = interval(self.watcher.as_ref());
        let now = Instant::now();
        self.look_at = now + interval.max(took * REST_PER_LOOK);
        self.rests_until = now + took * REST_PER_NOTICE;
    }
}

fn interval(watcher: Option<&RecommendedWatcher>) -> Duration {
    match watcher {
        Some(_) => LOOK_WATCHED,
        None => LOOK_UNWATCHED,
    }
}

fn watcher(shared: Weak<Shared>, root: &Path) -> notify::Result<RecommendedWatcher> {
    let folder = root.to_owned();
    let told = move |told: notify::Result<notify::Event>| {
        let Some(shared) = shared.upgrade() else {
            return;
        };
        // An error may mean that something was missed: look.
        if told.is_ok_and(|told| told.kind.is_access()) {
            return;
        }
        shared.noticed(&folder);
    };
    let mut watcher = notify::recommended_watcher(told)?;
    // Not `.local`: there the index itself is.
    for part in [layout::PROJECTS, "inbox", layout::AGENTS] {
        watcher.watch(&root.join(part), RecursiveMode::Recursive)?;
    }
    Ok(watcher)
}
