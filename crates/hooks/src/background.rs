//! Runs no phase waits for: a bounded queue, the worker that runs them, and taking them up again after a restart.

use std::{
    collections::BTreeSet,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use tokio::{
    sync::{mpsc, watch},
    task::JoinSet,
    time::MissedTickBehavior,
};

use crate::{
    HookError, RunRecord, RunStatus, StoreError,
    execution::{Execution, Failure, after, permit},
    runtime::Shared,
};

/// The runs this process works on. The store calls them unfinished, too, but nobody else is to take them up.
#[derive(Default)]
pub(crate) struct Tracked {
    sets: Mutex<TrackedSets>,
}

#[derive(Default)]
struct TrackedSets {
    open: BTreeSet<String>,
    /// Those that ended since the last look at the store began: that look may still have seen them open.
    ended_since_look: BTreeSet<String>,
}

impl Tracked {
    /// Whether this process did not know the run; it does now.
    pub(crate) fn take_up(&self, run_id: &str) -> bool {
        let mut sets = self.sets();
        !sets.ended_since_look.contains(run_id) && sets.open.insert(run_id.to_owned())
    }

    /// Leaves the run to a later look at the store.
    pub(crate) fn put_back(&self, run_id: &str) {
        self.sets().open.remove(run_id);
    }

    /// The end of the run is stored.
    pub(crate) fn forget(&self, run_id: &str) {
        let mut sets = self.sets();
        if sets.open.remove(run_id) {
            sets.ended_since_look.insert(run_id.to_owned());
        }
    }

    fn begin_look(&self) {
        self.sets().ended_since_look.clear();
    }

    fn sets(&self) -> MutexGuard<'_, TrackedSets> {
        // The sets are whole after every statement, so a panic elsewhere does not spoil them.
        self.sets.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Starts the worker and the loop that looks into the store. Both end when `life` does; a try under way is let end.
pub(crate) fn start(
    shared: &Arc<Shared>,
    queue: mpsc::Receiver<Execution>,
    life: &watch::Receiver<()>,
) {
    tokio::spawn(work(Arc::clone(shared), queue, life.clone()));
    tokio::spawn(recover_again_and_again(Arc::clone(shared), life.clone()));
}

/// Puts the run into the queue. One there is no room for waits in the store.
pub(crate) fn enqueue(shared: &Shared, execution: Execution) {
    let run_id = execution.record.id.clone();
    shared.tracked.take_up(&run_id);
    if shared.queue.try_send(execution).is_err() {
        shared.tracked.put_back(&run_id);
        tracing::warn!(run_id, "hook queue is full: the run waits in the store");
    }
}

/// Looks once for runs nobody works on, and takes them up. Answers how many it did.
pub(crate) async fn recover(shared: &Shared) -> Result<usize, StoreError> {
    let options = &shared.options.background;
    // One look at a time: `ended_since_look` is about one.
    let _only_one = shared.recovering.lock().await;
    shared.tracked.begin_look();
    let now_ms = (shared.clock)();
    let stale_after_ms = i64::try_from(options.stale_after.as_millis()).unwrap_or(i64::MAX);
    let unfinished = shared
        .store
        .unfinished(
            now_ms.saturating_sub(stale_after_ms),
            options.recovery_batch,
        )
        .await?;
    let mut count = 0;
    for run in unfinished {
        if !shared.tracked.take_up(&run.id) {
            continue;
        }
        count += 1;
        resume(shared, run).await;
    }
    Ok(count)
}

async fn work(
    shared: Arc<Shared>,
    mut queue: mpsc::Receiver<Execution>,
    mut life: watch::Receiver<()>,
) {
    // More than may be asking at once: those that pause between two tries, or wait for a permit, hold up nobody.
    let limits = shared.options.background;
    let most = limits.queue_capacity.max(limits.concurrency).max(1);
    let mut running = JoinSet::new();
    loop {
        tokio::select! {
            biased;
            // Nothing is ever sent, so the only change is the end.
            _ = life.changed() => break,
            Some(_) = running.join_next(), if !running.is_empty() => {}
            Some(execution) = queue.recv(), if running.len() < most => {
                running.spawn(run(Arc::clone(&shared), execution, life.clone()));
            }
        }
    }
    while running.join_next().await.is_some() {}
}

async fn recover_again_and_again(shared: Arc<Shared>, mut life: watch::Receiver<()>) {
    let period = (shared.options.background.recovery_interval).max(Duration::from_millis(1));
    // The look at the start is the caller's: it knows when the store and the packages are ready.
    let mut ticks = tokio::time::interval_at(after(period), period);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let look = async {
        loop {
            ticks.tick().await;
            if let Err(error) = recover(&shared).await {
                tracing::warn!(%error, "unfinished hook runs not read");
            }
        }
    };
    // The end does not wait for a look under way: what it found is still in the store.
    tokio::select! {
        _ = life.changed() => {}
        () = look => {}
    }
}

/// Tries until the run succeeds or may not be tried again.
async fn run(shared: Arc<Shared>, mut execution: Execution, mut life: watch::Receiver<()>) {
    let clock = &shared.clock;
    let limit = execution.try_limit(&shared.options);
    loop {
        // The time begins with the try: nobody waits, so waiting for a permit costs nothing. The slot comes last, so
        // that only tries hold one.
        let ready = async { (permit(&execution.entry).await, shared.slots.acquire().await) };
        let permits = tokio::select! {
            biased;
            _ = life.changed() => return,
            permits = ready => permits,
        };
        execution.start(clock(), limit);
        execution.begin_attempt(clock());
        save(&shared, &execution).await;
        let result = execution.attempt(after(limit), limit).await;
        drop(permits);
        execution.end_attempt(&result, clock());

        if !result.as_ref().is_err_and(|it| execution.may_retry(it)) {
            let ended = execution.end(result, clock());
            shared.recorder.save_when_there_is_room(ended.record).await;
            return;
        }
        // Queued, not running: after a restart it is taken up at once.
        execution.record.status = RunStatus::Queued;
        save(&shared, &execution).await;
        tokio::select! {
            _ = life.changed() => return,
            () = tokio::time::sleep(execution.pause()) => {}
        }
    }
}

async fn save(shared: &Shared, execution: &Execution) {
    let record = execution.record.clone();
    shared.recorder.save_when_there_is_room(record).await;
}

/// Puts a run of an earlier process into the queue, or ends it where that cannot be.
async fn resume(shared: &Shared, mut run: RunRecord) {
    let entry = shared.registry.get(&run.subscription_id).filter(|entry| {
        entry.subscription.enabled
            && entry.subscription.hook_id == run.hook_id
            && entry.subscription.phase == run.phase
            && entry.handler.contract_version() == run.contract_version
    });
    let Some(entry) = entry else {
        tracing::warn!(
            run_id = run.id,
            hook_id = run.hook_id,
            "hook run cannot be resumed"
        );
        run.status = RunStatus::Failed;
        run.error = Some(HookError {
            code: "hook.unrecoverable".to_owned(),
            message: format!(
                "hook `{}` is gone or has changed since the run was queued",
                run.hook_id
            ),
            retryable: false,
            safe_for_user: true,
        });
        run.completed_at_ms = Some((shared.clock)());
        shared.recorder.save_when_there_is_room(run).await;
        return;
    };
    let was_running = run.status == RunStatus::Running;
    let mut execution = Execution {
        entry: Arc::clone(entry),
        earlier: Arc::clone(&run.earlier),
        record: run,
    };
    if was_running {
        // Doing it again is a retry, and only what may be retried is done again.
        let lost = Failure::interrupted(&execution.record.hook_id);
        let may_retry = execution.may_retry(&lost);
        let lost = Err(lost);
        execution.end_attempt(&lost, (shared.clock)());
        if !may_retry {
            let ended = execution.end(lost, (shared.clock)());
            shared.recorder.save_when_there_is_room(ended.record).await;
            return;
        }
        execution.record.status = RunStatus::Queued;
    }
    enqueue(shared, execution);
}
