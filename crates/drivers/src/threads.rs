//! Totals of Codex threads. `codex exec resume` and `fork` report the usage of the whole thread; the usage that earlier
//! runs accounted for is subtracted, so that each run accounts for its own turn only.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::usage::TokenCounts;

/// Tokens of a thread, summed over its turns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ThreadTotal {
    /// Input tokens, including cached ones.
    pub input: u64,
    /// Input tokens read from a cache.
    pub cached: u64,
    /// Output tokens, including reasoning.
    pub output: u64,
    /// Reasoning tokens.
    pub reasoning: u64,
    /// Total number of tokens.
    pub total: u64,
    /// Time of the report, in Unix milliseconds.
    #[serde(default)]
    pub at_ms: i64,
}

/// Known totals by thread id.
pub type Threads = BTreeMap<String, ThreadTotal>;

impl From<&TokenCounts> for ThreadTotal {
    fn from(counts: &TokenCounts) -> Self {
        Self {
            input: counts.input.unwrap_or(0),
            cached: counts.cached.unwrap_or(0),
            output: counts.output.unwrap_or(0),
            reasoning: counts.reasoning.unwrap_or(0),
            total: counts.total,
            at_ms: 0,
        }
    }
}

impl ThreadTotal {
    /// Computes the usage of a turn from a report for the whole thread. A report below the known total cannot be a sum
    /// over the thread, so it is returned unchanged.
    pub(crate) fn turn_of(&self, reported: &TokenCounts) -> TokenCounts {
        if reported.total < self.total {
            return reported.clone();
        }
        let less = |count: Option<u64>, known: u64| count.map(|count| count.saturating_sub(known));
        TokenCounts {
            input: less(reported.input, self.input),
            cached: less(reported.cached, self.cached),
            output: less(reported.output, self.output),
            reasoning: less(reported.reasoning, self.reasoning),
            total: reported.total - self.total,
            ..reported.clone()
        }
    }
}

/// Returns the id of the thread that a command line forks: `codex exec … fork <id>`.
pub(crate) fn forked_thread(argv: &[String]) -> Option<&str> {
    let place = argv.iter().position(|argument| argument == "fork")?;
    argv.get(place + 1..)?
        .iter()
        .map(String::as_str)
        .find(|argument| !argument.starts_with('-'))
}
