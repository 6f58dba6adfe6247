//! Leases: which process works on a job, as a small file under `.local/jobs` that this machine seals.
//!
//! A lease is valid as long as its process lives. The file remains when the job is released, because only jobs that
//! this machine has owned are ever resumed: a job record that came with the folder, from another machine or an
//! attacker, starts nothing.

use company::{Company, Error, Writer};
use protocol::company::{JobId, ProjectId};
use serde::{Deserialize, Serialize};
use sessions::ProcessId;

const FOLDER: &str = ".local/jobs";

#[derive(Serialize, Deserialize)]
struct Lease {
    /// The process that works on the job; absent once it released the job.
    owner: Option<ProcessId>,
}

fn path(project: &ProjectId, job: &JobId) -> String {
    format!("{FOLDER}/{project}/{job}.json")
}

fn read(company: &Company, project: &ProjectId, job: &JobId) -> Option<Lease> {
    let path = path(project, job);
    let text = company.read_text(&path).ok()?;
    company.open_sealed(&path, &text).ok()?
}

/// Acquires the lease of a job for this process.
pub(crate) fn hold(writer: &Writer<'_>, project: &ProjectId, job: &JobId) -> Result<(), Error> {
    let path = path(project, job);
    let lease = Lease {
        owner: Some(ProcessId::own()),
    };
    let text = writer.company().sealed(&path, &lease).unwrap_or_default();
    writer.put_text(&path, &text)
}

/// Acquires the lease unless a live process holds it; returns whether it was acquired.
pub(crate) fn claim(writer: &Writer<'_>, project: &ProjectId, job: &JobId) -> Result<bool, Error> {
    if is_held(writer.company(), project, job) {
        return Ok(false);
    }
    hold(writer, project, job).map(|()| true)
}

/// Whether a live process holds the lease, this one or another.
pub(crate) fn is_held(company: &Company, project: &ProjectId, job: &JobId) -> bool {
    let owner = read(company, project, job).and_then(|lease| lease.owner);
    owner.is_some_and(ProcessId::is_alive)
}

/// Whether a process of this machine held the lease and no live process holds it now.
pub(crate) fn is_left(company: &Company, project: &ProjectId, job: &JobId) -> bool {
    let lease = read(company, project, job);
    lease.is_some_and(|lease| !lease.owner.is_some_and(ProcessId::is_alive))
}

/// Releases the lease if this process holds it.
pub(crate) fn release(company: &Company, project: &ProjectId, job: &JobId) {
    let lease = read(company, project, job);
    if lease.and_then(|lease| lease.owner) != Some(ProcessId::own()) {
        return;
    }
    let path = path(project, job);
    if let Ok(text) = company.sealed(&path, &Lease { owner: None }) {
        // If this fails, the lease expires with this process.
        let _ = company.replace(&path, text.as_bytes());
    }
}
