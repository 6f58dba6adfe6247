//! Delays the responses to failed authentication attempts, to slow down token guessing.

use std::{
    collections::BTreeMap,
    net::IpAddr,
    sync::{Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

/// The additional delay per earlier failure from the same address.
const STEP: Duration = Duration::from_millis(25);
const MAX_STEPS: u32 = 10;
/// The time after which the failures of an address are forgotten.
const MEMORY: Duration = Duration::from_secs(600);
/// The maximum number of delayed rejections per address.
const MAX_WAITING_PER_ADDRESS: u32 = 8;
/// The maximum number of remembered addresses.
const MAX_ADDRESSES: usize = 512;

/// The recent failed attempts, by address.
#[derive(Debug, Default)]
pub(crate) struct Throttle {
    addresses: Mutex<BTreeMap<IpAddr, Attempts>>,
}

#[derive(Debug)]
struct Attempts {
    failures: u32,
    waiting: u32,
    last: Instant,
}

/// How a failed attempt is answered.
#[derive(Debug, PartialEq)]
pub(crate) enum ThrottleDecision {
    /// Rejected after this delay.
    RefuseAfter(Duration),
    /// Rejected at once, because too many rejections are already delayed or too many addresses are remembered.
    TooMany,
}

impl Throttle {
    /// Counts a failure. After [`ThrottleDecision::RefuseAfter`] the caller must call [`Throttle::waited`].
    pub(crate) fn failed(&self, address: IpAddr, now: Instant) -> ThrottleDecision {
        let mut addresses = self.addresses();
        addresses.retain(|_, attempts| {
            attempts.waiting > 0 || now.duration_since(attempts.last) < MEMORY
        });
        if addresses.len() >= MAX_ADDRESSES && !addresses.contains_key(&address) {
            return ThrottleDecision::TooMany;
        }
        let attempts = addresses.entry(address).or_insert(Attempts {
            failures: 0,
            waiting: 0,
            last: now,
        });
        if attempts.waiting >= MAX_WAITING_PER_ADDRESS {
            return ThrottleDecision::TooMany;
        }
        let delay = STEP * attempts.failures.min(MAX_STEPS);
        attempts.failures = attempts.failures.saturating_add(1);
        attempts.waiting += 1;
        attempts.last = now;
        ThrottleDecision::RefuseAfter(delay)
    }

    /// Records that a delayed rejection was sent.
    pub(crate) fn waited(&self, address: IpAddr) {
        if let Some(attempts) = self.addresses().get_mut(&address) {
            attempts.waiting = attempts.waiting.saturating_sub(1);
        }
    }

    fn addresses(&self) -> MutexGuard<'_, BTreeMap<IpAddr, Attempts>> {
        self.addresses
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ADDRESS: IpAddr = IpAddr::V4(std::net::Ipv4Addr::LOCALHOST);

    #[test]
    fn every_failure_waits_longer_until_it_is_forgotten() {
        let (throttle, start) = (Throttle::default(), Instant::now());
        let fail = |now| {
            let decision = throttle.failed(ADDRESS, now);
            throttle.waited(ADDRESS);
            decision
        };
        let delays: Vec<_> = (0..13).map(|_| fail(start)).collect();
        assert_eq!(delays[0], ThrottleDecision::RefuseAfter(Duration::ZERO));
        assert_eq!(delays[1], ThrottleDecision::RefuseAfter(STEP));
        assert_eq!(delays[12], ThrottleDecision::RefuseAfter(STEP * 10));
        assert_eq!(
            fail(start + MEMORY),
            ThrottleDecision::RefuseAfter(Duration::ZERO)
        );
    }

    #[test]
    fn an_address_cannot_pile_up_refusals() {
        let (throttle, start) = (Throttle::default(), Instant::now());
        for _ in 0..MAX_WAITING_PER_ADDRESS {
            assert_ne!(throttle.failed(ADDRESS, start), ThrottleDecision::TooMany);
        }
        assert_eq!(throttle.failed(ADDRESS, start), ThrottleDecision::TooMany);
        throttle.waited(ADDRESS);
        assert_ne!(throttle.failed(ADDRESS, start), ThrottleDecision::TooMany);
    }
}
