//! `.local/heartbeat/pending_jobs.yaml`: workers that were woken and whose reports were not dealt with yet. What the
//! heartbeat remembers has no place for them.

use company::{Company, Error, Writer, document::Document};
use protocol::company::job::JobSpec;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

const FILE: &str = ".local/heartbeat/pending_jobs.yaml";

/// A woken worker.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct Pending {
    /// Who.
    pub(crate) worker_agent_id: String,
    /// Whether it acts as a director.
    pub(crate) is_director: bool,
    /// Its job, so that one that was never submitted can be.
    pub(crate) job: JobSpec,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
struct PendingJobs {
    jobs: Vec<Pending>,
}

impl Document for PendingJobs {}

/// Who was woken and not heard yet. What cannot be read is nobody.
pub(crate) fn all(company: &Company) -> Vec<Pending> {
    let read = company.read::<PendingJobs>(FILE);
    read.map(|pending| pending.jobs.clone()).unwrap_or_default()
}

/// Changes who was woken and not heard yet.
pub(crate) fn change(
    writer: &Writer<'_>,
    change: impl FnOnce(&mut Vec<Pending>),
) -> Result<(), Error> {
    let mut jobs = all(writer.company());
    change(&mut jobs);
    writer.put(FILE, &PendingJobs { jobs })
}
