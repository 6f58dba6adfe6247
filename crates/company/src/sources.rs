//! Sources of times and ids: the system in production, deterministic ones in tests.

use std::{fmt, sync::Arc};

use parking_lot::Mutex;
use protocol::Id;

/// Milliseconds per day. A day has 24 hours everywhere, also in plans; there is no calendar of working days.
pub const DAY_MS: i64 = 86_400_000;

/// Returns the current time in Unix milliseconds.
pub type Now = Arc<dyn Fn() -> i64 + Send + Sync>;

/// Clock and id generator of one process.
#[derive(Clone)]
pub struct Sources {
    now: Now,
    /// Last ULID; new ones are larger, so that ids of the same millisecond sort in creation order.
    last: Arc<Mutex<u128>>,
    random: Arc<dyn Fn() -> u128 + Send + Sync>,
}

impl Sources {
    /// Uses `now` as the clock and the randomness of the system.
    pub fn new(now: Now) -> Self {
        Self::with_random(now, || {
            let mut bytes = [0u8; 16];
            getrandom::fill(&mut bytes).expect("the system gives randomness");
            u128::from_be_bytes(bytes)
        })
    }

    /// Uses the given clock and random source, so that tests get reproducible ids.
    pub fn with_random(now: Now, random: impl Fn() -> u128 + Send + Sync + 'static) -> Self {
        Self {
            now,
            last: Arc::default(),
            random: Arc::new(random),
        }
    }

    /// The current time in Unix milliseconds.
    pub fn now_ms(&self) -> i64 {
        (self.now)()
    }

    /// The current time in the format of company files.
    pub fn now_text(&self) -> String {
        iso_time(self.now_ms())
    }

    /// Generates a new id.
    pub fn id<I: Id>(&self) -> I {
        let text = format!("{}{}", I::PREFIX, self.ulid());
        I::parse(&text).expect("a prefix and a ULID are an id")
    }

    fn ulid(&self) -> String {
        const RANDOM_BITS: u32 = 80;
        let time = u128::try_from(self.now_ms()).unwrap_or(0) << RANDOM_BITS;
        let random = (self.random)() & ((1 << RANDOM_BITS) - 1);
        let mut last = self.last.lock();
        // Incrementing the last id keeps the order even when the clock stands still or is set back.
        *last = (time | random).max(*last + 1);
        crockford(*last)
    }
}

impl fmt::Debug for Sources {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Sources")
    }
}

fn crockford(value: u128) -> String {
    const ALPHABET: &[u8; 32] = b"0123456789ABCDEFGHJKMNPQRSTVWXYZ";
    (0..26)
        .rev()
        .map(|digit| char::from(ALPHABET[(value >> (5 * digit)) as usize & 31]))
        .collect()
}

/// Formats a time like `2026-11-15T12:00:00.000Z`.
pub fn iso_time(unix_ms: i64) -> String {
    match jiff::Timestamp::from_millisecond(unix_ms) {
        Ok(time) => format!("{time:.3}"),
        Err(_) => "1970-01-01T00:00:00.000Z".to_owned(),
    }
}

/// Parses a time from a file to Unix milliseconds; a time without a zone is taken as UTC.
pub fn unix_ms(text: &str) -> Option<i64> {
    if let Ok(time) = text.parse::<jiff::Timestamp>() {
        return Some(time.as_millisecond());
    }
    let local = text.parse::<jiff::civil::DateTime>().ok()?;
    let zoned = local.to_zoned(jiff::tz::TimeZone::UTC).ok()?;
    Some(zoned.timestamp().as_millisecond())
}

#[cfg(test)]
mod tests {
    use protocol::company::RunId;

    use super::*;

    #[test]
    fn ids_of_one_millisecond_sort_as_they_were_made() {
        let sources = Sources::new(Arc::new(|| 1_763_208_000_000));
        let ids: Vec<RunId> = (0..1000).map(|_| sources.id()).collect();
        assert!(ids.is_sorted());
        assert_eq!(ids[0].as_str().len(), "run_".len() + 26);
    }

    #[test]
    fn a_time_is_printed_with_three_decimals() {
        assert_eq!(iso_time(1_763_208_000_000), "2025-11-15T12:00:00.000Z");
        assert_eq!(unix_ms("2025-11-15T12:00:00.000Z"), Some(1_763_208_000_000));
        assert_eq!(
            unix_ms("2025-11-15T14:00:00+02:00"),
            Some(1_763_208_000_000)
        );
        assert_eq!(unix_ms("2025-11-15T12:00"), Some(1_763_208_000_000));
        assert_eq!(unix_ms("soon"), None);
    }
}
