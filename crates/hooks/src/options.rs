//! The limits of a runtime.

use std::time::Duration;

/// How long the runtime waits.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RuntimeOptions {
    /// For runs with a deadline, and for tries in the background, that do not say how long.
    pub default_deadline: Duration,
    /// For blocking runs, whatever they say.
    pub blocking_ceiling: Duration,
    /// What happens beside the phases.
    pub background: BackgroundOptions,
}

/// How much happens beside the phases.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BackgroundOptions {
    /// The most runs that wait in memory; the others wait in the store.
    pub queue_capacity: usize,
    /// The most runs under way.
    pub concurrency: usize,
    /// The most run records that wait to be stored; the others are dropped.
    pub record_capacity: usize,
    /// How often the store is asked for runs nobody works on.
    pub recovery_interval: Duration,
    /// How many of them are taken up at once.
    pub recovery_batch: usize,
    /// How long a run may be under way before it counts as lost.
    pub stale_after: Duration,
}

impl Default for RuntimeOptions {
    fn default() -> Self {
        Self {
            default_deadline: Duration::from_secs(1),
            blocking_ceiling: Duration::from_secs(10),
            background: BackgroundOptions::default(),
        }
    }
}

impl Default for BackgroundOptions {
    fn default() -> Self {
        Self {
            queue_capacity: 256,
            concurrency: 4,
            record_capacity: 1024,
            recovery_interval: Duration::from_millis(2000),
            recovery_batch: 64,
            stale_after: Duration::from_secs(120),
        }
    }
}
