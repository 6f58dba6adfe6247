//! Sources of times and ids: the system, or a deterministic replacement in tests.

use std::{
    fmt,
    sync::Arc,
    time::{SystemTime, UNIX_EPOCH},
};

use protocol::Id;

/// A clock, implemented by the system clock and by the test kit.
pub trait Clock: Send + Sync {
    /// Returns the current time in Unix milliseconds.
    fn now_ms(&self) -> i64;

    /// Returns the current time in Unix seconds.
    fn now(&self) -> i64 {
        self.now_ms() / 1000
    }
}

/// A generator of the unique part of ids, implemented with system randomness and by the test kit.
pub trait IdSource: Send + Sync {
    /// Returns 18 characters of `0-9 A-Z a-z`. Suffixes made in a later millisecond sort after those of an earlier one.
    fn suffix(&self) -> String;
}

/// The clock and the id generator of one gateway.
#[derive(Clone)]
pub struct Sources {
    /// The clock.
    pub clock: Arc<dyn Clock>,
    /// The generator of id suffixes.
    pub ids: Arc<dyn IdSource>,
}

impl Sources {
    /// Returns the system clock and a generator that uses system randomness.
    pub fn system() -> Self {
        Self {
            clock: Arc::new(SystemClock),
            ids: Arc::new(SystemIds),
        }
    }

    /// Creates a new id of type `I`.
    pub fn id<I: Id>(&self) -> I {
        let text = format!("{}{}", I::PREFIX, self.ids.suffix());
        I::parse(&text).expect("a prefix and 18 characters are an id")
    }
}

impl fmt::Debug for Sources {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Sources")
    }
}

/// The clock of the operating system.
struct SystemClock;

impl Clock for SystemClock {
    fn now_ms(&self) -> i64 {
        #[expect(clippy::disallowed_methods, reason = "this is the clock")]
        let since = SystemTime::now().duration_since(UNIX_EPOCH);
        since.map_or(0, |since| {
            i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
        })
    }
}

/// The characters of ids, in byte order.
const ALPHABET: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

struct SystemIds;

impl IdSource for SystemIds {
    fn suffix(&self) -> String {
        let mut id = time_text(SystemClock.now_ms());
        id.push_str(&random_text(10));
        id
    }
}

/// Encodes a time in eight characters that sort like the milliseconds. New rows are then adjacent at the end of every
/// index of ids, so that a commit writes few pages.
fn time_text(now_ms: i64) -> String {
    let digit = |place: u32| {
        let digit = now_ms.unsigned_abs() / 62u64.pow(place) % 62;
        char::from(ALPHABET[digit as usize])
    };
    (0..8).rev().map(digit).collect()
}

/// Returns `length` random characters of `0-9 A-Z a-z`, uniformly distributed.
pub fn random_text(length: usize) -> String {
    // The largest multiple of 62 in a byte. Higher bytes are discarded because they would favour the first characters.
    const FAIR: u8 = 248;
    let mut text = String::with_capacity(length);
    let mut bytes = [0u8; 64];
    while text.len() < length {
        getrandom::fill(&mut bytes).expect("the system gives randomness");
        let fair = bytes.iter().filter(|byte| **byte < FAIR);
        let letters = fair.map(|byte| char::from(ALPHABET[usize::from(byte % 62)]));
        text.extend(letters.take(length - text.len()));
    }
    text
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn ids_of_a_later_millisecond_sort_behind() {
        let times = [0, 1, 61, 62, 1_700_000_000_000, 1_800_000_000_000];
        let texts = times.map(time_text);
        assert!(texts.is_sorted(), "{texts:?}");
        assert_eq!(texts[3], "00000010");
        assert!(texts.iter().all(|text| text.len() == 8));
    }

    #[test]
    fn ids_made_at_once_differ() {
        let ids: BTreeSet<_> = (0..10_000).map(|_| SystemIds.suffix()).collect();
        assert_eq!(ids.len(), 10_000);
        assert!(ids.iter().all(|id| id.len() == 18));
    }
}
