//! `.local/heartbeat/pending_jobs.yaml`: workers that were woken and whose reports are not processed yet. The format of
//! the heartbeat state has no field for them.

use company::{Company, Error, Writer, document::Document};
use protocol::company::job::JobSpec;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

const FILE: &str = ".local/heartbeat/pending_jobs.yaml";

/// A woken worker.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct Pending {
    /// Id of the agent.
    pub(crate) worker_agent_id: String,
    /// Whether the agent is a director.
    pub(crate) is_director: bool,
    /// The job that wakes the worker. Stored in full, so that a job that was not submitted yet can be.
    pub(crate) job: JobSpec,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
struct PendingJobs {
    jobs: Vec<Pending>,
}

impl Document for PendingJobs {}

/// All woken workers whose reports are not processed yet. Empty if the file is missing or cannot be read.
pub(crate) fn all(company: &Company) -> Vec<Pending> {
    let read = company.read::<PendingJobs>(FILE);
    read.map(|pending| pending.jobs.clone()).unwrap_or_default()
}

/// Changes the list of woken workers whose reports are not processed yet.
pub(crate) fn change(
    writer: &Writer<'_>,
    change: impl FnOnce(&mut Vec<Pending>),
) -> Result<(), Error> {
    let mut jobs = all(writer.company());
    change(&mut jobs);
    writer.put(FILE, &PendingJobs { jobs })
}
