//! Which process works on a job: a small file beside the sessions. It holds as long as that process lives.

use std::fs;

use company::{Company, Error, Writer};
use protocol::company::{JobId, ProjectId};
use serde::{Deserialize, Serialize};

use crate::ProcessId;

const FOLDER: &str = ".local/jobs";

#[derive(Serialize, Deserialize)]
struct Lease {
    pid: i32,
    start_ticks: Option<u64>,
}

fn path(project: &ProjectId, job: &JobId) -> String {
    format!("{FOLDER}/{project}/{job}.json")
}

/// Takes a job for this process.
pub(crate) fn hold(writer: &Writer<'_>, project: &ProjectId, job: &JobId) -> Result<(), Error> {
    let pid = i32::try_from(std::process::id()).unwrap_or(0);
    let lease = Lease {
        pid,
        start_ticks: ProcessId::of(pid).start_ticks,
    };
    let text = serde_json::to_string(&lease).unwrap_or_default() + "\n";
    writer.put_text(&path(project, job), &text)
}

/// Takes a job that nobody works on; false if somebody does.
pub(crate) fn claim(writer: &Writer<'_>, project: &ProjectId, job: &JobId) -> Result<bool, Error> {
    if is_held(writer.company(), project, job) {
        return Ok(false);
    }
    hold(writer, project, job).map(|()| true)
}

/// Whether a process that lives works on it, this one or another.
pub(crate) fn is_held(company: &Company, project: &ProjectId, job: &JobId) -> bool {
    let text = company.read_text(&path(project, job)).ok();
    let lease = text.and_then(|text| serde_json::from_str::<Lease>(&text).ok());
    lease.is_some_and(|lease| {
        let process = ProcessId {
            pid: lease.pid,
            start_ticks: lease.start_ticks,
        };
        process.is_alive()
    })
}

/// Lets a job go.
pub(crate) fn release(company: &Company, project: &ProjectId, job: &JobId) {
    // One that stays ends with this process.
    let _ = fs::remove_file(company.path(&path(project, job)));
}
