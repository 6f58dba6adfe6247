//! The heartbeats of all company folders: at most one tick at a time in each folder, and a loop for each folder that
//! has a heartbeat config.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::PathBuf,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use company::{
    Company, Error,
    execution::heartbeat::{self as files, TickLock},
    policy::Actor,
    unix_ms,
};
use protocol::{
    MayExec,
    company::heartbeat::{
        HeartbeatRuntime, HeartbeatState, HeartbeatStatusResponse, HeartbeatTickResponse,
        ProposedAction,
    },
};
use sessions::blocking::blocking;
use tokio::{sync::watch, time::sleep};

use super::{
    act::{self, ActionTotals, Starter},
    facts::Logs,
    tick::{self, Tick},
};
use crate::Jobs;

/// Minimum delay before a scheduled tick.
const MIN_DELAY: Duration = Duration::from_millis(250);
/// Delay after a failed tick: the initial value and the maximum. It doubles with each further failure.
const RETRY_DELAY: (Duration, Duration) = (Duration::from_secs(60), Duration::from_secs(3600));
/// How often the config of a disabled heartbeat is read again, because another process may enable it.
const CONFIG_POLL_INTERVAL: Duration = Duration::from_secs(60);

/// The heartbeats of one process. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Heartbeats {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    jobs: Jobs,
    logs: Logs,
    /// The heartbeats of this process, by company folder.
    folders: Mutex<BTreeMap<PathBuf, FolderHeartbeat>>,
    /// Company folders in which this process runs a tick.
    ticking: Mutex<BTreeSet<PathBuf>>,
    /// Held while actions are executed. An unfinished action of this process is abandoned only if the lock is free.
    acting: Mutex<()>,
    /// Number of config changes. A change makes the loops read their config again.
    changed: watch::Sender<u64>,
}

/// The runtime data of the heartbeat of a folder.
#[derive(Debug, Default)]
struct FolderHeartbeat {
    /// Whether the loop of the folder runs.
    loops: bool,
    /// Time of the next scheduled tick, in Unix milliseconds. `None` if none is scheduled.
    next_at_ms: Option<i64>,
    /// Error of the last scheduled tick. `None` if it succeeded.
    last_error: Option<String>,
    /// Response of the last tick of this process, including dry runs.
    last_tick: Option<HeartbeatTickResponse>,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Whether a folder has a heartbeat config. Without one no tick is scheduled.
fn is_configured(company: &Company) -> bool {
    company.path(company::layout::HEARTBEAT_CONFIG).is_file()
}

/// Marks a folder as ticking, until it is dropped.
struct TickGuard<'a>(&'a Inner, PathBuf);

impl Drop for TickGuard<'_> {
    fn drop(&mut self) {
        lock(&self.0.ticking).remove(&self.1);
    }
}

impl Heartbeats {
    /// Creates a registry without heartbeats.
    pub fn new(jobs: Jobs) -> Self {
        Self {
            inner: Arc::new(Inner {
                jobs,
                logs: Logs::default(),
                folders: Mutex::default(),
                ticking: Mutex::default(),
                acting: Mutex::default(),
                changed: watch::Sender::new(0),
            }),
        }
    }

    pub(crate) fn jobs(&self) -> &Jobs {
        &self.inner.jobs
    }

    /// The job runner, with the caller's permission to execute.
    pub(crate) fn starter(&self, may: MayExec) -> Starter<'_> {
        Starter {
            jobs: &self.inner.jobs,
            may,
        }
    }

    /// Acquires the lock that is held while actions are executed.
    pub(crate) fn acting(&self) -> MutexGuard<'_, ()> {
        lock(&self.inner.acting)
    }

    pub(crate) fn logs(&self) -> &Logs {
        &self.inner.logs
    }

    /// Runs a tick. Only one tick at a time runs in a folder, over all processes; if another one runs, the response
    /// reports that the tick was skipped.
    pub async fn tick(
        &self,
        company: &Company,
        kind: Tick,
        reason: &str,
        may: MayExec,
    ) -> Result<HeartbeatTickResponse, sessions::Error> {
        company.check_trusted()?;
        let root = company.root().to_owned();
        let skipped = || {
            let config = files::setting(company).config;
            let now_ms = company.sources().now_ms();
            let mut response = tick::empty(company, &config, kind, reason, now_ms);
            response.skipped_due_to_running = true;
            response.skipped_reason = Some("tick_already_in_progress".to_owned());
            response
        };
        if !lock(&self.inner.ticking).insert(root.clone()) {
            return Ok(skipped());
        }
        let _guard = TickGuard(&self.inner, root.clone());
        // A dry run writes nothing, not even a lock file.
        let _lock = if kind == Tick::Dry {
            None
        } else {
            let ticked = company.clone();
            match blocking(move || TickLock::try_acquire(&ticked)).await? {
                Some(lock) => Some(lock),
                None => return Ok(skipped()),
            }
        };
        let ticked = tick::run(self, company, kind, reason, may).await?;
        // In memory only: a dry run writes no state, but `heartbeat.status` shows its summary.
        lock(&self.inner.folders).entry(root).or_default().last_tick = Some(ticked.clone());
        Ok(ticked)
    }

    /// Returns the config, the state and the runtime data of the heartbeat of a folder.
    pub fn status(&self, company: &Company) -> HeartbeatStatusResponse {
        let setting = files::setting(company);
        let state = files::state(company).unwrap_or_else(|_| HeartbeatState {
            schema_version: 1,
            ..HeartbeatState::default()
        });
        let folders = lock(&self.inner.folders);
        let known = folders.get(company.root());
        HeartbeatStatusResponse {
            workspace_dir: company.given().to_owned(),
            observed: true,
            config: setting.config.as_ref().clone(),
            config_error: setting.error,
            state,
            runtime: HeartbeatRuntime {
                // A loop that only waits until the heartbeat is enabled does not count as running.
                loop_running: setting.config.enabled && known.is_some_and(|known| known.loops),
                tick_in_progress: lock(&self.inner.ticking).contains(company.root()),
                next_scheduled_at: known
                    .and_then(|known| known.next_at_ms)
                    .map(company::iso_time),
                last_error: known.and_then(|known| known.last_error.clone()),
                last_tick_summary: known
                    .and_then(|known| known.last_tick.clone())
                    .map(Box::new),
            },
        }
    }

    /// Starts the loop of a folder's heartbeat if the folder has a heartbeat config. Repeated calls have no effect
    /// while the loop runs.
    pub fn observe(&self, company: &Company, may: MayExec) {
        if !is_configured(company) {
            return;
        }
        {
            let mut folders = lock(&self.inner.folders);
            let folder = folders.entry(company.root().to_owned()).or_default();
            if std::mem::replace(&mut folder.loops, true) {
                return;
            }
        }
        let (this, company) = (self.clone(), company.clone());
        tokio::spawn(async move {
            tokio::select! {
                () = this.beat(&company, may) => {}
                () = this.inner.jobs.closed() => {}
            }
            lock(&this.inner.folders)
                .entry(company.root().to_owned())
                .or_default()
                .loops = false;
        });
    }

    /// Notifies the loops that a heartbeat config changed.
    pub fn changed(&self) {
        self.inner.changed.send_modify(|count| *count += 1);
    }

    /// Runs scheduled ticks for as long as the folder has a heartbeat config. A failed tick is logged and retried
    /// later.
    async fn beat(&self, company: &Company, may: MayExec) {
        let mut changed = self.inner.changed.subscribe();
        let mut retry_delay = RETRY_DELAY.0;
        while is_configured(company) {
            let read = {
                let company = company.clone();
                blocking(move || Ok((files::setting(&company), files::state(&company).ok()))).await
            };
            let Ok((setting, state)) = read else {
                sleep(retry_delay).await;
                continue;
            };
            if !setting.config.enabled {
                self.update(company, |known| known.next_at_ms = None);
                tokio::select! {
                    _ = changed.changed() => {}
                    () = sleep(CONFIG_POLL_INTERVAL) => {}
                }
                continue;
            }
            let now_ms = company.sources().now_ms();
            let interval_ms = i64::from(setting.config.tick_interval_minutes) * 60_000;
            let written = state.and_then(|state| unix_ms(state.next_tick_at.as_deref()?));
            let planned = lock(&self.inner.folders)
                .get(company.root())
                .and_then(|known| known.next_at_ms);
            // A scheduled tick is never postponed; a shorter interval moves it forward.
            let next_ms = match written.filter(|at| *at > now_ms).or(planned) {
                Some(at) => at.min(now_ms + interval_ms),
                None => now_ms + interval_ms,
            };
            self.update(company, |known| known.next_at_ms = Some(next_ms));
            let length = Duration::from_millis(u64::try_from(next_ms - now_ms).unwrap_or(0));
            tokio::select! {
                () = sleep(length.max(MIN_DELAY)) => {}
                _ = changed.changed() => continue,
            }
            if !is_configured(company) {
                return;
            }
            let ticked = self
                .tick(company, Tick::Interval, tick::INTERVAL, may)
                .await;
            self.update(company, |known| {
                known.next_at_ms = None;
                known.last_error = ticked.as_ref().err().map(ToString::to_string);
            });
            match ticked {
                Ok(_) => retry_delay = RETRY_DELAY.0,
                Err(error) => {
                    tracing::warn!(%error, "a heartbeat tick failed");
                    sleep(retry_delay).await;
                    retry_delay = (retry_delay * 2).min(RETRY_DELAY.1);
                }
            }
        }
    }

    fn update(&self, company: &Company, change: impl FnOnce(&mut FolderHeartbeat)) {
        change(
            lock(&self.inner.folders)
                .entry(company.root().to_owned())
                .or_default(),
        );
    }

    /// Checks whether an action may be executed if `approver` approves it.
    pub fn check_approved(
        &self,
        company: &Company,
        action: &ProposedAction,
        approver: &Actor,
    ) -> Result<(), Error> {
        act::check_approved(company, action, approver)
    }

    /// Executes an approved action once, even if it is called repeatedly. Blocks; must be called on a thread of the
    /// runtime.
    pub fn carry_out(
        &self,
        company: &Company,
        action: &ProposedAction,
        approver: &Actor,
        may: MayExec,
    ) -> Result<ActionTotals, Error> {
        let now = tick::moment(company.sources().now_ms());
        let _acting = self.acting();
        act::approved(self.starter(may), company, action, approver, now)
    }
}
