//! Deterministic times and ids for tests.

use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};

use gateway::{Clock, IdSource};

/// The first time returned by the clock, in Unix seconds.
pub const FIRST_TIME: i64 = 1_777_900_000;

/// A clock that advances one second per call.
#[derive(Debug)]
pub struct TickingClock(AtomicI64);

impl Default for TickingClock {
    fn default() -> Self {
        Self(AtomicI64::new(FIRST_TIME))
    }
}

impl TickingClock {
    /// Advances the clock by a number of seconds.
    pub fn advance(&self, seconds: i64) {
        self.0.fetch_add(seconds, Ordering::Relaxed);
    }
}

impl Clock for TickingClock {
    fn now_ms(&self) -> i64 {
        self.0.fetch_add(1, Ordering::Relaxed) * 1000
    }
}

/// An id source that counts upwards: `000000000000000001`, `000000000000000002`, …
#[derive(Debug, Default)]
pub struct CountingIds(AtomicU64);

impl IdSource for CountingIds {
    fn suffix(&self) -> String {
        format!("{:018}", self.0.fetch_add(1, Ordering::Relaxed) + 1)
    }
}
