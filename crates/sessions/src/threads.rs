//! `.local/codex_threads.json`: the totals of Codex threads that earlier runs reported.

use company::{Company, Error};
use drivers::{
    threads::{ThreadTotal, Threads},
    usage::TokenCounts,
};
use serde::{Deserialize, Serialize};

/// Path of the file with the totals, relative to the company folder.
const FILE: &str = ".local/codex_threads.json";
/// Maximum number of threads kept; the least recently reported ones are dropped.
const MAX_THREADS: usize = 2000;

#[derive(Default, Serialize, Deserialize)]
struct ThreadsFile {
    schema_version: u32,
    threads: Threads,
}

/// Reads the known totals of a company; empty if there are none or the file is unreadable.
pub(crate) fn known(company: &Company) -> Threads {
    let text = company.read_text(FILE).unwrap_or_default();
    let file: ThreadsFile = serde_json::from_str(&text).unwrap_or_default();
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
        let file = ThreadsFile {
            schema_version: 1,
            threads,
        };
        let text = serde_json::to_string_pretty(&file)
            .map_err(|error| Error::Refused(format!("threads cannot be written: {error}")))?;
        writer.put_text(FILE, &(text + "\n"))
    })
}
