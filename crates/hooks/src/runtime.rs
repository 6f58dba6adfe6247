//! The runtime: installs packages and runs phases.

use std::{fmt, sync::Arc};

use futures_util::future::join_all;
use tokio::sync::{Mutex, Semaphore, mpsc, watch};

use crate::{
    Contribution, FailurePolicy, HookContext, Package, Phase, PhaseError, PhaseOutcome,
    RegistrationError, RunStore, RuntimeOptions, StoreError, Visibility,
    background::{self, Tracked},
    execution::{AttemptFailure, EndedExecution, Execution, is_background},
    order,
    recorder::Recorder,
    registry::{RegisteredHook, Registry},
};

/// Returns the current time in unix milliseconds.
pub type Clock = Arc<dyn Fn() -> i64 + Send + Sync>;

/// Generates ids of runs, `hkr_…`.
pub type Ids = Arc<dyn Fn() -> String + Send + Sync>;

/// Runs the subscriptions of phases. Clones share one runtime; its background tasks end when the last clone is dropped.
#[derive(Clone)]
pub struct Runtime {
    shared: Arc<RuntimeShared>,
    /// Dropping the sender stops the background tasks.
    _life: Arc<watch::Sender<()>>,
}

/// Collects packages for a [`Runtime`].
pub struct RuntimeBuilder {
    store: Arc<dyn RunStore>,
    clock: Clock,
    ids: Ids,
    options: RuntimeOptions,
    registry: Registry,
}

/// Counters of failures that are not returned to a caller.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RuntimeStats {
    /// Number of run records that were not stored, because the queue was full or the store failed.
    pub records_dropped: u64,
}

/// State shared by phases and background tasks.
pub(crate) struct RuntimeShared {
    pub(crate) store: Arc<dyn RunStore>,
    pub(crate) clock: Clock,
    pub(crate) ids: Ids,
    pub(crate) options: RuntimeOptions,
    pub(crate) registry: Registry,
    pub(crate) recorder: Recorder,
    pub(crate) queue: mpsc::Sender<Execution>,
    pub(crate) tracked: Arc<Tracked>,
    /// One permit per concurrent background attempt.
    pub(crate) slots: Semaphore,
    /// Held during a recovery pass.
    pub(crate) recovering: Mutex<()>,
}

impl RuntimeBuilder {
    /// Replaces the default limits.
    #[must_use]
    pub fn options(mut self, options: RuntimeOptions) -> Self {
        self.options = options;
        self
    }

    /// Installs a package.
    pub fn install(mut self, package: Package) -> Result<Self, RegistrationError> {
        self.try_install(package)?;
        Ok(self)
    }

    /// Installs the whole package, or nothing of it on error, so that the caller can continue without it.
    pub fn try_install(&mut self, package: Package) -> Result<(), RegistrationError> {
        self.registry.install(package)
    }

    /// Starts the runtime.
    ///
    /// # Panics
    ///
    /// Panics outside of a tokio runtime, because it spawns background tasks.
    pub fn build(self) -> Runtime {
        let limits = self.options.background;
        let tracked = Arc::new(Tracked::default());
        let (queue, queued) = mpsc::channel(limits.queue_capacity.max(1));
        let (end, life) = watch::channel(());
        let shared = Arc::new(RuntimeShared {
            recorder: Recorder::start(
                Arc::clone(&self.store),
                limits.record_capacity,
                Arc::clone(&tracked),
            ),
            store: self.store,
            clock: self.clock,
            ids: self.ids,
            options: self.options,
            registry: self.registry,
            queue,
            tracked,
            slots: Semaphore::new(limits.concurrency.clamp(1, Semaphore::MAX_PERMITS)),
            recovering: Mutex::new(()),
        });
        background::start(&shared, queued, &life);
        Runtime {
            shared,
            _life: Arc::new(end),
        }
    }
}

impl Runtime {
    /// Returns a builder without packages. The caller provides clock and ids, so that tests can control them.
    pub fn builder(store: Arc<dyn RunStore>, clock: Clock, ids: Ids) -> RuntimeBuilder {
        RuntimeBuilder {
            store,
            clock,
            ids,
            options: RuntimeOptions::default(),
            registry: Registry::default(),
        }
    }

    /// Runs the subscriptions of the phase that match the turn: layers in sequence, the runs of a layer concurrently.
    pub async fn run_phase(
        &self,
        phase: Phase,
        context: HookContext,
        earlier: Arc<Vec<Contribution>>,
    ) -> Result<PhaseOutcome, PhaseError> {
        let shared = &self.shared;
        let layers = order::plan(&shared.registry, phase, &context)?;
        let prepare = |entry: &Arc<RegisteredHook>| {
            Execution::new(
                Arc::clone(entry),
                (shared.ids)(),
                context.clone(),
                Arc::clone(&earlier),
                (shared.clock)(),
            )
        };
        let mut outcome = PhaseOutcome::default();
        let mut layers = layers.iter();
        while let Some(layer) = layers.next() {
            let runs = layer.iter().map(|entry| self.run(prepare(entry)));
            let mut failure = None;
            for ended in join_all(runs).await {
                failure = failure.or(phase_error(&shared.registry, &ended));
                let subscription_id = &ended.record.subscription_id;
                outcome.diagnostics.extend(
                    ended
                        .record
                        .diagnostics
                        .iter()
                        .map(|diagnostic| (subscription_id.clone(), diagnostic.clone())),
                );
                outcome.contributions.extend(ended.contributions);
                outcome.runs.push(ended.record);
            }
            if let Some(failure) = failure {
                for entry in layers.flatten() {
                    shared.recorder.save(prepare(entry).skip((shared.clock)()));
                }
                return Err(failure);
            }
        }
        Ok(outcome)
    }

    /// Returns the ids of the installed subscriptions whose runs are at least this visible. Runs of subscriptions that
    /// are no longer installed have no known visibility and count as internal.
    pub fn visible_subscriptions(&self, least: Visibility) -> Vec<String> {
        let visible = self.shared.registry.visible(least);
        visible.map(ToOwned::to_owned).collect()
    }

    /// Resumes background runs that an earlier process left unfinished and returns their number. Call it once at
    /// startup; afterwards the runtime does so periodically.
    pub async fn recover(&self) -> Result<usize, StoreError> {
        background::recover(&self.shared).await
    }

    /// Waits until every record queued so far is stored or lost. Call it before shutdown.
    pub async fn flush(&self) {
        self.shared.recorder.flush().await;
    }

    /// Counters of failures that are not returned to a caller.
    pub fn stats(&self) -> RuntimeStats {
        RuntimeStats {
            records_dropped: self.shared.recorder.dropped(),
        }
    }

    async fn run(&self, execution: Execution) -> EndedExecution {
        let shared = &self.shared;
        if is_background(execution.entry.subscription.execution_policy.await_policy) {
            let record = execution.record.clone();
            shared.recorder.save(record.clone());
            background::enqueue(shared, execution);
            return EndedExecution {
                record,
                contributions: Vec::new(),
                error: None,
            };
        }
        let mut unended = Unended {
            shared,
            execution: Some(execution.clone()),
        };
        let ended = execution.run(&shared.options, &shared.clock).await;
        unended.execution = None;
        shared.recorder.save(ended.record.clone());
        ended
    }
}

/// Records a run whose phase is dropped before the run ends, for example because the turn was cancelled.
struct Unended<'a> {
    shared: &'a RuntimeShared,
    execution: Option<Execution>,
}

impl Drop for Unended<'_> {
    fn drop(&mut self) {
        if let Some(execution) = self.execution.take() {
            let failure = AttemptFailure::abandoned(&execution.record.hook_id);
            let ended = execution.end(Err(failure), (self.shared.clock)());
            self.shared.recorder.save(ended.record);
        }
    }
}

impl fmt::Debug for Runtime {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Runtime").finish_non_exhaustive()
    }
}

/// Returns the error of the phase if the failure policy of the run requires one.
fn phase_error(registry: &Registry, ended: &EndedExecution) -> Option<PhaseError> {
    let error = ended.error.clone()?;
    let entry = registry.get(&ended.record.subscription_id)?;
    let hook_id = ended.record.hook_id.clone();
    let subscription_id = ended.record.subscription_id.clone();
    match entry.subscription.failure_policy {
        FailurePolicy::Required => Some(PhaseError::Required {
            hook_id,
            subscription_id,
            error,
        }),
        FailurePolicy::FailClosed => Some(PhaseError::FailClosed {
            hook_id,
            subscription_id,
            error,
        }),
        FailurePolicy::Fallback | FailurePolicy::BestEffort | FailurePolicy::Skip => None,
    }
}
