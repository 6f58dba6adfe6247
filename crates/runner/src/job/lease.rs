//! Which process works on a job: a small file beside the sessions. It holds as long as that process lives.

use company::{Company, Error, Writer};
use protocol::company::{JobId, ProjectId};

use crate::ProcessId;

const FOLDER: &str = ".local/jobs";

fn path(project: &ProjectId, job: &JobId) -> String {
    format!("{FOLDER}/{project}/{job}.json")
}

/// Takes a job for this process.
pub(crate) fn hold(writer: &Writer<'_>, project: &ProjectId, job: &JobId) -> Result<(), Error> {
    let text = serde_json::to_string(&ProcessId::own()).unwrap_or_default() + "\n";
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
    let owner = text.and_then(|text| serde_json::from_str::<ProcessId>(&text).ok());
    owner.is_some_and(ProcessId::is_alive)
}

/// Lets a job go.
pub(crate) fn release(company: &Company, project: &ProjectId, job: &JobId) {
    // One that stays ends with this process.
    let _ = company.remove(&path(project, job));
}
