//! Services that jobs need from the gateway: context for workers, and notification of finished jobs.

use company::{Company, Error, secret};
use protocol::company::{
    ContextPackId, JobId, ProjectId, RunId,
    context::ContextRef,
    job::{JobRecord, JobSpec},
};
use serde_json::Value;

/// The context planned for a worker.
#[derive(Clone, Debug, Default)]
pub struct ContextPlan {
    /// The references, the caller's own first.
    pub refs: Vec<ContextRef>,
    /// The plan in the planner's own format, to be stored with the run; absent if it is not stored.
    pub plan: Option<Value>,
}

/// Location of a stored plan.
#[derive(Clone, Debug)]
pub struct KeptPlan {
    /// Path of the file, relative to the company folder.
    pub relpath: String,
    /// SHA-256 of the file.
    pub hash: String,
}

/// Implemented by the gateway and called by jobs, always on blocking threads.
pub trait JobServices: Send + Sync + 'static {
    /// Selects the context of a worker. Rejected references are omitted, even if the caller supplied them.
    fn plan_context(&self, company: &Company, job: &JobSpec) -> Result<ContextPlan, Error>;

    /// Rejects references that cannot be provided to the worker.
    fn check_refs(&self, company: &Company, refs: &[ContextRef]) -> Result<(), Error>;

    /// Copies the referenced content to where the worker of a run can read it. Returns the references as they appear in
    /// the prompt.
    fn hand_over(
        &self,
        company: &Company,
        refs: &[ContextRef],
        run: (&ProjectId, &RunId, &JobId),
    ) -> Result<Vec<ContextRef>, Error>;

    /// Stores a plan with the run that uses it and records that in the log of the run.
    fn keep_plan(
        &self,
        company: &Company,
        job: &JobSpec,
        plan: &Value,
        run: (&RunId, &ContextPackId, &str),
    ) -> Result<Option<KeptPlan>, Error>;

    /// Called when a job is over.
    fn job_over(&self, company: &Company, job: &JobId, record: &JobRecord);
}

/// Implementation without a gateway: the context consists of the caller's references, except those that contain
/// secrets.
#[derive(Clone, Copy, Debug)]
pub struct StandaloneServices;

impl JobServices for StandaloneServices {
    fn plan_context(&self, _company: &Company, job: &JobSpec) -> Result<ContextPlan, Error> {
        let is_clean = |reference: &&ContextRef| {
            let description = reference.description.as_deref().unwrap_or_default();
            secret::detect(&reference.value).total() + secret::detect(description).total() == 0
        };
        Ok(ContextPlan {
            refs: job.context_refs.iter().filter(is_clean).cloned().collect(),
            plan: None,
        })
    }

    fn check_refs(&self, _company: &Company, _refs: &[ContextRef]) -> Result<(), Error> {
        Ok(())
    }

    fn hand_over(
        &self,
        _company: &Company,
        refs: &[ContextRef],
        _run: (&ProjectId, &RunId, &JobId),
    ) -> Result<Vec<ContextRef>, Error> {
        Ok(refs.to_vec())
    }

    fn keep_plan(
        &self,
        _company: &Company,
        _job: &JobSpec,
        _plan: &Value,
        _run: (&RunId, &ContextPackId, &str),
    ) -> Result<Option<KeptPlan>, Error> {
        Ok(None)
    }

    fn job_over(&self, _company: &Company, _job: &JobId, _record: &JobRecord) {}
}
