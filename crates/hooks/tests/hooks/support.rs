//! A store in memory and scripted handlers.

use std::{
    collections::{BTreeMap, BTreeSet},
    future::Future,
    pin::Pin,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, AtomicU32, Ordering},
    },
    time::Duration,
};

use hooks::{
    Capability, Contribution, Definition, Handler, HookContext, HookError, HookRequest,
    HookResponse, Package, Phase, PhaseError, PhaseOutcome, RunRecord, RunStatus, RunStore,
    Runtime, RuntimeBuilder, RuntimeOptions, StoreError, Subscription,
};
use tokio::{sync::Notify, time::Instant};

pub(crate) const PHASE: Phase = Phase::TurnPrePromptCompile;

pub(crate) type Answer = Result<HookResponse, HookError>;

type Script = dyn Fn(HookRequest) -> Pin<Box<dyn Future<Output = Answer> + Send>> + Send + Sync;

/// A handler with scripted behaviour.
pub(crate) struct Scripted {
    id: String,
    phases: Vec<Phase>,
    capabilities: Vec<Capability>,
    contract_version: u32,
    script: Box<Script>,
}

impl Scripted {
    /// Creates a handler for every phase with every contribution capability. It does not declare itself idempotent.
    pub(crate) fn new<F>(
        id: &str,
        script: impl Fn(HookRequest) -> F + Send + Sync + 'static,
    ) -> Self
    where
        F: Future<Output = Answer> + Send + 'static,
    {
        Self {
            id: id.to_owned(),
            phases: Phase::ALL.to_vec(),
            capabilities: vec![
                Capability::ContributePolicy,
                Capability::ContributePromptContext,
                Capability::ContributePromptSection,
                Capability::ContributeToolBundle,
                Capability::ContributePromptManifestDiagnostic,
                Capability::EmitAudit,
                Capability::ScheduleBackgroundJob,
            ],
            contract_version: 1,
            script: Box::new(move |request| Box::pin(script(request))),
        }
    }

    pub(crate) fn answers(id: &str, answer: Answer) -> Self {
        Self::new(id, move |_| std::future::ready(answer.clone()))
    }

    pub(crate) fn takes(id: &str, time: Duration, answer: Answer) -> Self {
        Self::new(id, move |_| {
            let answer = answer.clone();
            async move {
                tokio::time::sleep(time).await;
                answer
            }
        })
    }

    pub(crate) fn phases(mut self, phases: &[Phase]) -> Self {
        self.phases = phases.to_vec();
        self
    }

    pub(crate) fn capabilities(mut self, capabilities: &[Capability]) -> Self {
        self.capabilities = capabilities.to_vec();
        self
    }

    pub(crate) fn idempotent(mut self) -> Self {
        self.capabilities.push(Capability::IdempotentSideEffect);
        self
    }

    pub(crate) fn contract_version(mut self, version: u32) -> Self {
        self.contract_version = version;
        self
    }
}

impl Handler for Scripted {
    fn id(&self) -> &str {
        &self.id
    }

    fn supported_phases(&self) -> &[Phase] {
        &self.phases
    }

    fn capabilities(&self) -> &[Capability] {
        &self.capabilities
    }

    fn contract_version(&self) -> u32 {
        self.contract_version
    }

    fn execute(&self, request: HookRequest) -> Pin<Box<dyn Future<Output = Answer> + Send + '_>> {
        (self.script)(request)
    }
}

/// Keeps runs in memory and records the order of writes.
#[derive(Default)]
pub(crate) struct MemoryStore {
    runs: Mutex<BTreeMap<String, RunRecord>>,
    history: Mutex<Vec<RunRecord>>,
    changed: Notify,
    pub(crate) is_broken: AtomicBool,
    pub(crate) is_stuck: AtomicBool,
}

impl MemoryStore {
    pub(crate) fn new() -> Arc<Self> {
        Arc::default()
    }

    pub(crate) fn put(&self, run: RunRecord) {
        lock(&self.runs).insert(run.id.clone(), run);
    }

    pub(crate) fn runs(&self) -> Vec<RunRecord> {
        lock(&self.runs).values().cloned().collect()
    }

    pub(crate) fn statuses_of(&self, id: &str) -> Vec<RunStatus> {
        lock(&self.history)
            .iter()
            .filter(|run| run.id == id)
            .map(|run| run.status)
            .collect()
    }

    /// Waits until the stored run has the status.
    pub(crate) async fn until(&self, id: &str, status: RunStatus) -> RunRecord {
        self.until_it(id, |run| run.status == status).await
    }

    /// Waits until the stored run satisfies the closure. Short-lived states may be missed.
    pub(crate) async fn until_it(
        &self,
        id: &str,
        is_wanted: impl Fn(&RunRecord) -> bool,
    ) -> RunRecord {
        let wait = async {
            loop {
                let changed = self.changed.notified();
                let run = lock(&self.runs).get(id).cloned();
                match run {
                    Some(run) if is_wanted(&run) => return run,
                    _ => changed.await,
                }
            }
        };
        tokio::time::timeout(Duration::from_secs(3600), wait)
            .await
            .expect("the run gets there in an hour of test time")
    }
}

impl RunStore for MemoryStore {
    fn save(
        &self,
        run: RunRecord,
    ) -> Pin<Box<dyn Future<Output = Result<(), StoreError>> + Send + '_>> {
        Box::pin(async move {
            if self.is_stuck.load(Ordering::SeqCst) {
                std::future::pending::<()>().await;
            }
            if self.is_broken.load(Ordering::SeqCst) {
                return Err(StoreError("broken".to_owned()));
            }
            lock(&self.history).push(run.clone());
            self.put(run);
            self.changed.notify_waiters();
            Ok(())
        })
    }

    fn unfinished(
        &self,
        stale_before_ms: i64,
        limit: usize,
    ) -> Pin<Box<dyn Future<Output = Result<Vec<RunRecord>, StoreError>> + Send + '_>> {
        let mut runs = self.runs();
        runs.retain(|run| {
            run.is_background
                && (run.status == RunStatus::Queued
                    || run.status == RunStatus::Running
                        && run.started_at_ms.is_some_and(|at| at < stale_before_ms))
        });
        runs.sort_by_key(|run| run.queued_at_ms);
        runs.truncate(limit);
        Box::pin(std::future::ready(Ok(runs)))
    }
}

/// Builds a runtime that uses tokio's clock, starting at 1000 s, and sequential run ids.
pub(crate) fn builder(store: &Arc<MemoryStore>) -> RuntimeBuilder {
    builder_at(store, 1_000_000)
}

pub(crate) fn builder_at(store: &Arc<MemoryStore>, start_ms: i64) -> RuntimeBuilder {
    let start = Instant::now();
    let next = AtomicU32::new(1);
    Runtime::builder(
        Arc::clone(store) as Arc<dyn RunStore>,
        Arc::new(move || {
            start_ms + i64::try_from(start.elapsed().as_millis()).expect("tests are short")
        }),
        Arc::new(move || format!("hkr_{}", next.fetch_add(1, Ordering::SeqCst))),
    )
}

/// Builds a runtime with one package of these definitions.
pub(crate) fn runtime(store: &Arc<MemoryStore>, definitions: Vec<Definition>) -> Runtime {
    runtime_with(store, RuntimeOptions::default(), definitions)
}

pub(crate) fn runtime_with(
    store: &Arc<MemoryStore>,
    options: RuntimeOptions,
    definitions: Vec<Definition>,
) -> Runtime {
    builder(store)
        .options(options)
        .install(package("package", definitions))
        .expect("the package is sound")
        .build()
}

pub(crate) fn package(id: &str, definitions: Vec<Definition>) -> Package {
    Package {
        id: id.to_owned(),
        definitions,
    }
}

pub(crate) fn definition(handler: Scripted, subscriptions: Vec<Subscription>) -> Definition {
    Definition {
        handler: Arc::new(handler),
        subscriptions,
    }
}

/// Creates a subscription of [`PHASE`] and applies the closure to it.
pub(crate) fn subscription(
    id: &str,
    hook_id: &str,
    change: impl FnOnce(&mut Subscription),
) -> Subscription {
    let mut subscription = Subscription::new(id, hook_id, PHASE);
    change(&mut subscription);
    subscription
}

/// Creates a handler with one subscription of the same name.
pub(crate) fn hook(handler: Scripted, change: impl FnOnce(&mut Subscription)) -> Definition {
    let id = handler.id.clone();
    definition(handler, vec![subscription(&id, &id, change)])
}

pub(crate) async fn run(runtime: &Runtime) -> Result<PhaseOutcome, PhaseError> {
    runtime.run_phase(PHASE, context(), Arc::default()).await
}

pub(crate) fn context() -> HookContext {
    HookContext {
        workspace_id: Some("ws_1".to_owned()),
        thread_id: Some("thr_1".to_owned()),
        turn_id: Some("turn_1".to_owned()),
        mode: Some("chat".to_owned()),
        ..HookContext::default()
    }
}

/// Creates a response with a policy of that key.
pub(crate) fn policy(key: &str) -> Answer {
    brings(vec![policy_contribution(key)])
}

pub(crate) fn policy_contribution(key: &str) -> Contribution {
    Contribution::Policy {
        domain: "test".to_owned(),
        key: key.to_owned(),
        value: serde_json::Value::Bool(true),
        priority: 0,
    }
}

pub(crate) fn audit() -> Answer {
    brings(vec![Contribution::Audit {
        event_kind: "seen".to_owned(),
        details: BTreeMap::new(),
        safe_for_user: true,
    }])
}

pub(crate) fn brings(contributions: Vec<Contribution>) -> Answer {
    Ok(HookResponse {
        contributions,
        diagnostics: Vec::new(),
    })
}

/// Creates an error that is safe for users and not retryable.
pub(crate) fn error(message: &str) -> HookError {
    HookError {
        code: "test.failed".to_owned(),
        message: message.to_owned(),
        retryable: false,
        safe_for_user: true,
    }
}

pub(crate) fn retryable() -> HookError {
    HookError {
        retryable: true,
        ..error("busy")
    }
}

/// Returns the keys of the policies, in order.
pub(crate) fn keys(outcome: &PhaseOutcome) -> Vec<&str> {
    outcome
        .contributions
        .iter()
        .map(|contributed| {
            let Contribution::Policy { key, .. } = &contributed.contribution else {
                panic!("not a policy: {contributed:?}");
            };
            key.as_str()
        })
        .collect()
}

pub(crate) fn set(ids: &[&str]) -> BTreeSet<String> {
    ids.iter().map(|&id| id.to_owned()).collect()
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
