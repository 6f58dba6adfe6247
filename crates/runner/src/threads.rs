//! What Codex threads have been counted for. `codex exec resume` and `fork` report the usage of the whole thread; what
//! earlier runs were counted for is subtracted, so that a run is counted for its own turn.

use std::collections::BTreeMap;

use company::{Company, Error};
use serde::{Deserialize, Serialize};

use crate::usage::TokenCounts;

/// The totals of threads, relative to the company folder.
const FILE: &str = ".local/codex_threads.json";
/// So many threads are remembered; the ones used longest ago are forgotten.
const REMEMBERED: usize = 2000;

/// The tokens of a thread, summed over its turns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct ThreadTotal {
    /// Tokens in.
    pub(crate) input: u64,
    /// Those of them that came from a cache.
    pub(crate) cached: u64,
    /// Tokens out.
    pub(crate) output: u64,
    /// Those of them that are reasoning.
    pub(crate) reasoning: u64,
    /// All of them.
    pub(crate) total: u64,
    /// When it was reported, in Unix milliseconds.
    #[serde(default)]
    pub(crate) at_ms: i64,
}

/// The threads whose totals are known, by their ids.
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
    /// The turn's part of what was reported for the whole thread. A report below what was counted before is no sum
    /// over the thread, so it is taken as it is.
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

/// The threads a company's runs were counted for.
pub(crate) fn known(company: &Company) -> Threads {
    let text = company.read_text(FILE).unwrap_or_default();
    let file: File = serde_json::from_str(&text).unwrap_or_default();
    file.threads
}

/// Remembers what a thread has been counted for.
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
        if threads.len() > REMEMBERED {
            let mut times: Vec<_> = threads.values().map(|total| total.at_ms).collect();
            times.sort_unstable();
            let oldest = times[times.len() - REMEMBERED];
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

/// The thread that a command line forks: `codex exec … fork <id>`.
pub(crate) fn forked_thread(argv: &[String]) -> Option<&str> {
    let place = argv.iter().position(|argument| argument == "fork")?;
    argv.get(place + 1..)?
        .iter()
        .map(String::as_str)
        .find(|argument| !argument.starts_with('-'))
}
