//! Background runs: the bounded queue, the worker that executes them, and their recovery after a restart.

use std::{collections::BTreeSet, sync::Arc, time::Duration};

use parking_lot::{Mutex, MutexGuard};
use tokio::{
    sync::{mpsc, watch},
    task::JoinSet,
    time::MissedTickBehavior,
};

use crate::{
    HookError, RunRecord, RunStatus, StoreError,
    execution::{AttemptFailure, Execution, after, permit},
    runtime::RuntimeShared,
};

/// The background runs this process owns. The store lists them as unfinished as well, so recovery must skip them.
#[derive(Default)]
pub(crate) struct Tracked {
    sets: Mutex<TrackedSets>,
}

#[derive(Default)]
struct TrackedSets {
    open: BTreeSet<String>,
    /// Runs that ended since the current recovery pass began: the pass may have read them as unfinished.
    ended_during_pass: BTreeSet<String>,
}

impl Tracked {
    /// Adds the run. Returns whether it was new to this process.
    pub(crate) fn take_up(&self, run_id: &str) -> bool {
        let mut sets = self.sets();
        !sets.ended_during_pass.contains(run_id) && sets.open.insert(run_id.to_owned())
    }

    /// Removes the run, so that a later recovery pass picks it up.
    pub(crate) fn put_back(&self, run_id: &str) {
        self.sets().open.remove(run_id);
    }

    /// Removes a run whose final state is stored.
    pub(crate) fn forget(&self, run_id: &str) {
        let mut sets = self.sets();
        if sets.open.remove(run_id) {
            sets.ended_during_pass.insert(run_id.to_owned());
        }
    }

    fn begin_pass(&self) {
        self.sets().ended_during_pass.clear();
    }

    fn sets(&self) -> MutexGuard<'_, TrackedSets> {
        // The sets are consistent after every statement, so a poisoned lock is safe to use.
        self.sets.lock()
    }
}

/// Starts the worker and the recovery loop. Both end when `life` closes; running attempts are completed.
pub(crate) fn start(
    shared: &Arc<RuntimeShared>,
    queue: mpsc::Receiver<Execution>,
    life: &watch::Receiver<()>,
) {
    tokio::spawn(work(Arc::clone(shared), queue, life.clone()));
    tokio::spawn(recover_periodically(Arc::clone(shared), life.clone()));
}

/// Queues the run. If the queue is full, the run stays in the store until a recovery pass picks it up.
pub(crate) fn enqueue(shared: &RuntimeShared, execution: Execution) {
    let run_id = execution.record.id.clone();
    shared.tracked.take_up(&run_id);
    if shared.queue.try_send(execution).is_err() {
        shared.tracked.put_back(&run_id);
        tracing::warn!(run_id, "hook queue is full: the run waits in the store");
    }
}

/// Runs one recovery pass: resumes unfinished runs that this process does not own. Returns their number.
pub(crate) async fn recover(shared: &RuntimeShared) -> Result<usize, StoreError> {
    let options = &shared.options.background;
    // One pass at a time: `ended_during_pass` belongs to a single pass.
    let _only_one = shared.recovering.lock().await;
    shared.tracked.begin_pass();
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
    shared: Arc<RuntimeShared>,
    mut queue: mpsc::Receiver<Execution>,
    mut life: watch::Receiver<()>,
) {
    // More tasks than `concurrency`: runs that pause between attempts or wait for a permit must not block others.
    let limits = shared.options.background;
    let most = limits.queue_capacity.max(limits.concurrency).max(1);
    let mut running = JoinSet::new();
    loop {
        tokio::select! {
            biased;
            // No value is ever sent, so `changed` returns only when the sender is dropped.
            _ = life.changed() => break,
            Some(_) = running.join_next(), if !running.is_empty() => {}
            Some(execution) = queue.recv(), if running.len() < most => {
                running.spawn(run(Arc::clone(&shared), execution, life.clone()));
            }
        }
    }
    while running.join_next().await.is_some() {}
}

async fn recover_periodically(shared: Arc<RuntimeShared>, mut life: watch::Receiver<()>) {
    let period = (shared.options.background.recovery_interval).max(Duration::from_millis(1));
    // The caller runs the first pass at startup: it knows when the store and the packages are ready.
    let mut ticks = tokio::time::interval_at(after(period), period);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let passes = async {
        loop {
            ticks.tick().await;
            if let Err(error) = recover(&shared).await {
                tracing::warn!(%error, "unfinished hook runs not read");
            }
        }
    };
    // Shutdown does not wait for a running pass: the runs it read are still in the store.
    tokio::select! {
        _ = life.changed() => {}
        () = passes => {}
    }
}

/// Repeats attempts until the run succeeds or its retry policy forbids another attempt.
async fn run(shared: Arc<RuntimeShared>, mut execution: Execution, mut life: watch::Receiver<()>) {
    let clock = &shared.clock;
    let limit = execution.try_limit(&shared.options);
    loop {
        // The time limit starts with the attempt, not with the wait for a permit, because no phase waits for the run.
        // The slot is acquired last, so that only running attempts hold one.
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
        // Queued, not running: recovery after a restart then resumes the run at once.
        execution.record.status = RunStatus::Queued;
        save(&shared, &execution).await;
        tokio::select! {
            _ = life.changed() => return,
            () = tokio::time::sleep(execution.pause()) => {}
        }
    }
}

async fn save(shared: &RuntimeShared, execution: &Execution) {
    let record = execution.record.clone();
    shared.recorder.save_when_there_is_room(record).await;
}

/// Queues a run of an earlier process, or ends it if it cannot be resumed.
async fn resume(shared: &RuntimeShared, mut run: RunRecord) {
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
        // Resuming an interrupted attempt is a retry, so the retry policy decides.
        let lost = AttemptFailure::interrupted(&execution.record.hook_id);
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
