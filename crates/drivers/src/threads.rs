//! Totals of Codex threads. `codex exec resume` and `fork` report the usage of the whole thread; the usage that earlier
//! runs accounted for is subtracted, so that each run accounts for its own turn only.

use std::collections::BTreeMap;

use company::{Company, Error};
use serde::{Deserialize, Serialize};

use crate::usage::TokenCounts;

/// Path of the file with the totals, relative to the company folder.
const FILE: &str = ".local/codex_threads.json";
/// Maximum number of threads kept; the least recently reported ones are dropped.
const MAX_THREADS: usize = 2000;

/// Tokens of a thread, summed over its turns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct ThreadTotal {
    /// Input tokens, including cached ones.
    pub(crate) input: u64,
    /// Input tokens read from a cache.
    pub(crate) cached: u64,
    /// Output tokens, including reasoning.
    pub(crate) output: u64,
    /// Reasoning tokens.
    pub(crate) reasoning: u64,
    /// Total number of tokens.
    pub(crate) total: u64,
    /// Time of the report, in Unix milliseconds.
    #[serde(default)]
    pub(crate) at_ms: i64,
}

/// Known totals by thread id.
pub(crate) type Threads = BTreeMap<String, ThreadTotal>;

#[derive(Default, Serialize, Deserialize)]
struct File {
    schema_version: u32,
    threads: Threads,
}

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

/// Reads the known totals of a company; empty if there are none or the file is unreadable.
pub(crate) fn known(company: &Company) -> Threads {
    let text = company.read_text(FILE).unwrap_or_default();
    let file: File = serde_json::from_str(&text).unwrap_or_default();
    file.threads
}

/// Stores the total that a run reported for its thread.
pub(crate) fn remember(
    company: &Company,
    thread: &str,
    reported: &TokenCounts,
) -> Result<(), Error> {
    let total = ThreadTotal {
        at_ms: company.sources().now_ms(),
        ..ThreadTotal::from(reported)
    };
    company.write(|writer| {
        let mut threads = known(company);
        threads.insert(thread.to_owned(), total);
        if threads.len() > MAX_THREADS {
            let mut times: Vec<_> = threads.values().map(|total| total.at_ms).collect();
            times.sort_unstable();
            let oldest = times[times.len() - MAX_THREADS];
            threads.retain(|_, total| total.at_ms >= oldest);
        }
        let file = File {
            schema_version: 1,
            threads,
        };
        let text = serde_json::to_string_pretty(&file)
            .map_err(|error| Error::Refused(format!("threads cannot be written: {error}")))?;
        writer.put_text(FILE, &(text + "\n"))
    })
}

/// Returns the id of the thread that a command line forks: `codex exec … fork <id>`.
pub(crate) fn forked_thread(argv: &[String]) -> Option<&str> {
    let place = argv.iter().position(|argument| argument == "fork")?;
    argv.get(place + 1..)?
        .iter()
        .map(String::as_str)
        .find(|argument| !argument.starts_with('-'))
}
