//! The limits of a hook runtime.

use std::time::Duration;

/// Time limits of hook runs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RuntimeOptions {
    /// Limit of runs with a deadline and of background attempts whose subscription sets no timeout. Default: 1 second.
    pub default_deadline: Duration,
    /// Limit of blocking runs, regardless of the timeout of their subscription. Default: 10 seconds.
    pub blocking_ceiling: Duration,
    /// Limits of background runs and of the recorder.
    pub background: BackgroundOptions,
}

/// Limits of background runs and of the recorder.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BackgroundOptions {
    /// Maximum number of runs queued in memory; further runs wait in the store. Default: 256.
    pub queue_capacity: usize,
    /// Maximum number of concurrent attempts. Default: 4.
    pub concurrency: usize,
    /// Maximum number of run records that wait to be stored; further records are dropped. Default: 1024.
    pub record_capacity: usize,
    /// Interval between recovery passes over the store. Default: 2 seconds.
    pub recovery_interval: Duration,
    /// Maximum number of runs resumed by one recovery pass. Default: 64.
    pub recovery_batch: usize,
    /// Time after which a running run of another process counts as lost. Default: 120 seconds.
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
