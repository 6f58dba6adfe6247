//! When a handler is asked, how long it is waited for, and what its failure means.

use std::collections::{BTreeMap, BTreeSet};

use crate::{Contribution, Phase};

/// One handler in one phase.
#[derive(Clone, Debug, PartialEq)]
pub struct Subscription {
    /// The subscription, unique among all.
    pub subscription_id: String,
    /// Its handler.
    pub hook_id: String,
    /// The phase.
    pub phase: Phase,
    /// Whether it takes part at all.
    pub enabled: bool,
    /// Its place: lower ones run first.
    pub priority: i32,
    /// It takes part only where every filter fits: `mode`, `origin_kind`, `model_provider`, `workspace_id`.
    pub filters: BTreeMap<String, FilterValue>,
    /// What must run before and after it.
    pub dependencies: Dependencies,
    /// How long it is waited for.
    pub execution_policy: ExecutionPolicy,
    /// What its failure means.
    pub failure_policy: FailurePolicy,
    /// What stands in for it with [`FailurePolicy::Fallback`].
    pub fallback_contributions: Vec<Contribution>,
    /// Whether a failed run is tried again.
    pub retry_policy: RetryPolicy,
    /// Who may see its runs.
    pub visibility: Visibility,
    /// Anything else.
    pub metadata: BTreeMap<String, String>,
}

/// What a filter accepts.
#[derive(Clone, Debug, PartialEq)]
pub enum FilterValue {
    /// This value.
    Is(String),
    /// Any of these.
    OneOf(BTreeSet<String>),
}

/// Other subscriptions of the same phase, by id.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Dependencies {
    /// They run before this one.
    pub after: BTreeSet<String>,
    /// They run after this one.
    pub before: BTreeSet<String>,
}

/// How long a handler is waited for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ExecutionPolicy {
    /// Whether at all.
    pub await_policy: AwaitPolicy,
    /// How long; none means the default of the policy.
    pub timeout_ms: Option<u64>,
    /// How many runs of this subscription may be under way in the process.
    pub max_parallelism: Option<usize>,
}

/// Whether the phase waits for a handler.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AwaitPolicy {
    /// Until it is done, within the runtime's ceiling.
    Blocking,
    /// Up to the time limit.
    Deadline,
    /// Not at all.
    Background,
    /// Not at all; the run is recorded.
    FireAndRecord,
}

/// What a failure means for the phase.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FailurePolicy {
    /// The phase fails.
    Required,
    /// The phase fails, because going on without the hook would be unsafe.
    FailClosed,
    /// The fallback contributions stand in.
    Fallback,
    /// A warning, and the phase goes on.
    BestEffort,
    /// The phase goes on without a word.
    Skip,
}

/// Whether a failed run is tried again.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RetryPolicy {
    /// How often in all.
    pub max_attempts: u32,
    /// How the pauses grow.
    pub backoff: Backoff,
    /// The first pause.
    pub initial_delay_ms: Option<u64>,
    /// Whether the handler must say that doing it twice does no harm.
    pub idempotency_required: bool,
}

/// How the pauses between tries grow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Backoff {
    /// No pause.
    None,
    /// The same pause each time.
    Fixed,
    /// Twice as long each time.
    Exponential,
}

/// Who may see the runs of a subscription, from the fewest readers to the most.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Visibility {
    /// The operator of the gateway only.
    Internal,
    /// The operator only, while a problem is looked into.
    Debug,
    /// Users who read the record of a turn.
    UserAudit,
    /// Every user of the workspace.
    UserVisible,
}

impl Subscription {
    /// A subscription with the defaults: waited for one second, best effort, one try.
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
