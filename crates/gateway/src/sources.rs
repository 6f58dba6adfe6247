//! Where times and ids come from: the system, or a test that wants exact answers.

use std::{
    fmt,
    sync::Arc,
    time::{SystemTime, UNIX_EPOCH},
};

use protocol::Id;

/// Tells the time.
pub trait Clock: Send + Sync {
    /// Unix milliseconds.
    fn now_ms(&self) -> i64;

    /// Unix seconds.
    fn now(&self) -> i64 {
        self.now_ms() / 1000
    }
}

/// Makes the random part of ids.
pub trait IdSource: Send + Sync {
    /// 18 characters of `A-Z a-z 0-9`.
    fn suffix(&self) -> String;
}

/// The sources of one gateway.
#[derive(Clone)]
pub struct Sources {
    /// Tells the time.
    pub clock: Arc<dyn Clock>,
    /// Makes ids.
    pub ids: Arc<dyn IdSource>,
}

impl Sources {
    /// The clock and the randomness of the system.
    pub fn system() -> Self {
        Self {
            clock: Arc::new(SystemClock),
            ids: Arc::new(RandomIds),
        }
    }

    /// A new id of any type.
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

struct RandomIds;

impl IdSource for RandomIds {
    fn suffix(&self) -> String {
        random_text(18)
    }
}

/// Random characters of `A-Z a-z 0-9`, each as likely as the other.
pub(crate) fn random_text(length: usize) -> String {
    const ALPHABET: &[u8; 62] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
    // The largest multiple of 62 that fits a byte: what is above would favour the first letters.
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
