//! What jobs need from others: what a worker may know, who hears of a result.

use company::{Company, Error, secret};
use protocol::company::{
    ContextPackId, JobId, ProjectId, RunId,
    context::ContextRef,
    job::{JobRecord, JobSpec},
};
use serde_json::Value;

/// What was planned for a worker to know.
#[derive(Clone, Debug, Default)]
pub struct ContextPlan {
    /// The references, the caller's own first.
    pub refs: Vec<ContextRef>,
    /// The plan as whoever made it keeps it; none if it is not kept.
    pub plan: Option<Value>,
}

/// Where a plan was kept.
#[derive(Clone, Debug)]
pub struct KeptPlan {
    /// Its file, relative to the company folder.
    pub relpath: String,
    /// The SHA-256 of that file.
    pub hash: String,
}

/// Implemented by the gateway, called by jobs, on threads that may wait.
pub trait Surroundings: Send + Sync + 'static {
    /// Chooses what a worker should know. What is rejected is not among it, even if the caller gave it.
    fn plan_context(&self, company: &Company, job: &JobSpec) -> Result<ContextPlan, Error>;

    /// Refuses references to what the worker could not be given.
    fn check_refs(&self, company: &Company, refs: &[ContextRef]) -> Result<(), Error>;

    /// Puts what the references mean where the worker of a run can read it. Answers them as the worker is told them.
    fn hand_over(
        &self,
        company: &Company,
        refs: &[ContextRef],
        run: (&ProjectId, &RunId, &JobId),
    ) -> Result<Vec<ContextRef>, Error>;

    /// Keeps a plan with the run it is used in and tells of it in the log of the run.
    fn keep_plan(
        &self,
        company: &Company,
        job: &JobSpec,
        plan: &Value,
        run: (&RunId, &ContextPackId, &str),
    ) -> Result<Option<KeptPlan>, Error>;

    /// Hears that a job is over.
    fn job_over(&self, company: &Company, job: &JobId, record: &JobRecord);
}

/// Nobody around: what the caller gave is all there is.
#[derive(Clone, Copy, Debug)]
pub struct Alone;

impl Surroundings for Alone {
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
