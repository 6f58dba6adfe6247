//! The heartbeats of all company folders: one tick at a time each, and a loop for those that somebody set.

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
use tokio::{sync::watch, time::sleep};

use super::{
    act::{self, Carried, Starter},
    facts::Logs,
    tick::{self, Tick},
};
use crate::{Jobs, session::blocking};

/// No tick comes sooner.
const SOONEST: Duration = Duration::from_millis(250);
/// How long a loop rests after a tick that failed, at first and at most.
const REST: (Duration, Duration) = (Duration::from_secs(60), Duration::from_secs(3600));
/// How often a heartbeat that does not beat is looked at, in case another process sets it.
const LOOKS: Duration = Duration::from_secs(60);

/// The heartbeats of one process. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Heartbeats {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    jobs: Jobs,
    logs: Logs,
    known: Mutex<BTreeMap<PathBuf, Known>>,
    ticking: Mutex<BTreeSet<PathBuf>>,
    /// Held while actions are done: what this process has begun is left only if nobody holds it.
    acting: Mutex<()>,
    /// Counts changes of settings, so that loops look again.
    changed: watch::Sender<u64>,
}

/// What is known of the heartbeat of a folder.
#[derive(Debug, Default)]
struct Known {
    loops: bool,
    next_at_ms: Option<i64>,
    last_error: Option<String>,
    last_tick: Option<HeartbeatTickResponse>,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Nothing beats by itself in a folder whose heartbeat nobody set.
fn is_configured(company: &Company) -> bool {
    company.path(company::layout::HEARTBEAT_CONFIG).is_file()
}

/// The place of the one tick of a folder, free again however the tick ends.
struct Turn<'a>(&'a Inner, PathBuf);

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        lock(&self.0.ticking).remove(&self.1);
    }
}

impl Heartbeats {
    /// Starts with none.
    pub fn new(jobs: Jobs) -> Self {
        Self {
            inner: Arc::new(Inner {
                jobs,
                logs: Logs::default(),
                known: Mutex::default(),
                ticking: Mutex::default(),
                acting: Mutex::default(),
                changed: watch::Sender::new(0),
            }),
        }
    }

    pub(crate) fn jobs(&self) -> &Jobs {
        &self.inner.jobs
    }

    /// What starts jobs with this right.
    pub(crate) fn starter(&self, may: MayExec) -> Starter<'_> {
        Starter {
            jobs: &self.inner.jobs,
            may,
        }
    }

    /// Held while actions are done.
    pub(crate) fn acting(&self) -> MutexGuard<'_, ()> {
        lock(&self.inner.acting)
    }

    pub(crate) fn logs(&self) -> &Logs {
        &self.inner.logs
    }

    /// Looks around. Only one tick at a time runs in a folder, whatever number of processes work in it.
    pub async fn tick(
        &self,
        company: &Company,
        kind: Tick,
        reason: &str,
        may: MayExec,
    ) -> Result<HeartbeatTickResponse, crate::Error> {
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
        let _turn = Turn(&self.inner, root.clone());
        // A dry tick writes nothing, not even a lock file.
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
        lock(&self.inner.known).entry(root).or_default().last_tick = Some(ticked.clone());
        Ok(ticked)
    }

    /// How the heartbeat of a folder stands.
    pub fn status(&self, company: &Company) -> HeartbeatStatusResponse {
        let setting = files::setting(company);
        let state = files::state(company).unwrap_or_else(|_| HeartbeatState {
            schema_version: 1,
            ..HeartbeatState::default()
        });
        let known = lock(&self.inner.known);
        let known = known.get(company.root());
        HeartbeatStatusResponse {
            workspace_dir: company.given().to_owned(),
            observed: true,
            config: setting.config.as_ref().clone(),
            config_error: setting.error,
            state,
            runtime: HeartbeatRuntime {
                // A loop that only waits to be turned on does not run.
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

    /// Lets the heartbeat of a folder beat by itself, if somebody set it. Called as often as one likes: what beats
    /// already goes on as it does.
    pub fn observe(&self, company: &Company, may: MayExec) {
        if !is_configured(company) {
            return;
        }
        {
            let mut known = lock(&self.inner.known);
            let known = known.entry(company.root().to_owned()).or_default();
            if std::mem::replace(&mut known.loops, true) {
                return;
            }
        }
        let (this, company) = (self.clone(), company.clone());
        tokio::spawn(async move {
            tokio::select! {
                () = this.beat(&company, may) => {}
                () = this.inner.jobs.closed() => {}
            }
            lock(&this.inner.known)
                .entry(company.root().to_owned())
                .or_default()
                .loops = false;
        });
    }

    /// Tells the loops that a setting changed.
    pub fn changed(&self) {
        self.inner.changed.send_modify(|count| *count += 1);
    }

    /// Ticks for as long as there is a config that says how. Whatever goes wrong is told of and tried again later.
    async fn beat(&self, company: &Company, may: MayExec) {
        let mut changed = self.inner.changed.subscribe();
        let mut rest = REST.0;
        while is_configured(company) {
            let read = {
                let company = company.clone();
                blocking(move || Ok((files::setting(&company), files::state(&company).ok()))).await
            };
            let Ok((setting, state)) = read else {
                sleep(rest).await;
                continue;
            };
            if !setting.config.enabled {
                self.know(company, |known| known.next_at_ms = None);
                tokio::select! {
                    _ = changed.changed() => {}
                    () = sleep(LOOKS) => {}
                }
                continue;
            }
            let now_ms = company.sources().now_ms();
            let interval_ms = i64::from(setting.config.tick_interval_minutes) * 60_000;
            let written = state.and_then(|state| unix_ms(state.next_tick_at.as_deref()?));
            let planned = lock(&self.inner.known)
                .get(company.root())
                .and_then(|known| known.next_at_ms);
            // What was planned once is not put off; a shorter interval brings it nearer.
            let next_ms = match written.filter(|at| *at > now_ms).or(planned) {
                Some(at) => at.min(now_ms + interval_ms),
                None => now_ms + interval_ms,
            };
            self.know(company, |known| known.next_at_ms = Some(next_ms));
            let length = Duration::from_millis(u64::try_from(next_ms - now_ms).unwrap_or(0));
            tokio::select! {
                () = sleep(length.max(SOONEST)) => {}
                _ = changed.changed() => continue,
            }
            if !is_configured(company) {
                return;
            }
            let ticked = self
                .tick(company, Tick::Interval, tick::INTERVAL, may)
                .await;
            self.know(company, |known| {
                known.next_at_ms = None;
                known.last_error = ticked.as_ref().err().map(ToString::to_string);
            });
            match ticked {
                Ok(_) => rest = REST.0,
                Err(error) => {
                    tracing::warn!(%error, "a heartbeat failed");
                    sleep(rest).await;
                    rest = (rest * 2).min(REST.1);
                }
            }
        }
    }

    fn know(&self, company: &Company, change: impl FnOnce(&mut Known)) {
        change(
            lock(&self.inner.known)
                .entry(company.root().to_owned())
                .or_default(),
        );
    }

    /// Whether an action may be carried out if somebody approves it.
    pub fn check_approved(
        &self,
        company: &Company,
        action: &ProposedAction,
        approver: &Actor,
    ) -> Result<(), Error> {
        act::check_approved(company, action, approver)
    }

    /// Carries out an action somebody approved: once, whoever asks how often. Blocking, on a thread of the runtime.
    pub fn carry_out(
        &self,
        company: &Company,
        action: &ProposedAction,
        approver: &Actor,
        may: MayExec,
    ) -> Result<Carried, Error> {
        let now = tick::moment(company.sources().now_ms());
        let _acting = self.acting();
        act::approved(self.starter(may), company, action, approver, now)
    }
}
