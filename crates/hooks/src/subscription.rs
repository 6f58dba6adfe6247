//! Subscriptions: the phase in which a handler runs, its time limit, retries and the effect of its failure.

use std::collections::{BTreeMap, BTreeSet};

use crate::{Contribution, Phase};

/// The registration of a handler for a phase.
#[derive(Clone, Debug, PartialEq)]
pub struct Subscription {
    /// The id, unique among all subscriptions.
    pub subscription_id: String,
    /// The id of the handler.
    pub hook_id: String,
    /// The phase.
    pub phase: Phase,
    /// Whether the subscription runs at all. Default: true.
    pub enabled: bool,
    /// Order within a layer: lower values come first. Default: 0.
    pub priority: i32,
    /// Filters by key (`mode`, `origin_kind`, `model_provider`, `workspace_id`). The subscription runs only if all
    /// match.
    pub filters: BTreeMap<String, FilterValue>,
    /// Subscriptions that must run before or after this one.
    pub dependencies: Dependencies,
    /// Whether and how long the phase waits for a run.
    pub execution_policy: ExecutionPolicy,
    /// The effect of a failure on the phase.
    pub failure_policy: FailurePolicy,
    /// Contributions used after a failure with [`FailurePolicy::Fallback`].
    pub fallback_contributions: Vec<Contribution>,
    /// Whether and how failed attempts are repeated.
    pub retry_policy: RetryPolicy,
    /// The readers who may see its runs.
    pub visibility: Visibility,
    /// Additional values. `idempotent` = `true` declares that repeated execution has no further effect.
    pub metadata: BTreeMap<String, String>,
}

/// The values a filter accepts.
#[derive(Clone, Debug, PartialEq)]
pub enum FilterValue {
    /// Exactly this value.
    Is(String),
    /// Any of these.
    OneOf(BTreeSet<String>),
}

/// Other subscriptions of the same phase, by id.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Dependencies {
    /// Subscriptions that run before this one.
    pub after: BTreeSet<String>,
    /// Subscriptions that run after this one.
    pub before: BTreeSet<String>,
}

/// Whether and how long a phase waits for a handler.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ExecutionPolicy {
    /// Whether the phase waits.
    pub await_policy: AwaitPolicy,
    /// Time limit in milliseconds. `None` for the default of the runtime; ignored for blocking runs.
    pub timeout_ms: Option<u64>,
    /// Maximum number of concurrent runs of this subscription in the process. `None` for no limit.
    pub max_parallelism: Option<usize>,
}

/// Whether the phase waits for a handler.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AwaitPolicy {
    /// Waits until the handler ends, within the ceiling of the runtime.
    Blocking,
    /// Waits up to the time limit.
    Deadline,
    /// Does not wait; the handler runs in the background.
    Background,
    /// Does not wait; treated like [`AwaitPolicy::Background`].
    FireAndRecord,
}

/// The effect of a failure on the phase.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FailurePolicy {
    /// The phase fails.
    Required,
    /// The phase fails, because continuing without the hook would be unsafe.
    FailClosed,
    /// The phase continues with the fallback contributions.
    Fallback,
    /// The phase continues with a warning diagnostic.
    BestEffort,
    /// The phase continues without a diagnostic.
    Skip,
}

/// Whether and how failed attempts are repeated.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RetryPolicy {
    /// Maximum number of attempts, including the first.
    pub max_attempts: u32,
    /// Growth of the delays.
    pub backoff: Backoff,
    /// The first delay in milliseconds. `None` for no delay.
    pub initial_delay_ms: Option<u64>,
    /// Whether retries require a handler that declares itself idempotent.
    pub idempotency_required: bool,
}

/// Growth of the delays between attempts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Backoff {
    /// No delay.
    None,
    /// A constant delay.
    Fixed,
    /// Each delay is twice the previous one, up to ten minutes.
    Exponential,
}

/// The readers of the runs of a subscription, ordered from fewest to most.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Visibility {
    /// The operator of the gateway only.
    Internal,
    /// The operator only, for troubleshooting.
    Debug,
    /// Users who read the record of a turn.
    UserAudit,
    /// Every user of the workspace.
    UserVisible,
}

impl Subscription {
    /// Creates a subscription with the defaults: one-second deadline, best effort, one attempt.
    pub fn new(
        subscription_id: impl Into<String>,
        hook_id: impl Into<String>,
        phase: Phase,
    ) -> Self {
        Self {
            subscription_id: subscription_id.into(),
            hook_id: hook_id.into(),
            phase,
            enabled: true,
            priority: 0,
            filters: BTreeMap::new(),
            dependencies: Dependencies::default(),
            execution_policy: ExecutionPolicy {
                await_policy: AwaitPolicy::Deadline,
                timeout_ms: Some(1000),
                max_parallelism: None,
            },
            failure_policy: FailurePolicy::BestEffort,
            fallback_contributions: Vec::new(),
            retry_policy: RetryPolicy {
                max_attempts: 1,
                backoff: Backoff::None,
                initial_delay_ms: None,
                idempotency_required: true,
            },
            visibility: Visibility::Internal,
            metadata: BTreeMap::new(),
        }
    }
}
