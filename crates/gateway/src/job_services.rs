//! Implements the services that jobs and heartbeats of `jobs` need: context plans, memory candidates and approved
//! actions.

use company::{
    Company, Error,
    inbox::{ActionExecutor, ApprovedAction},
    memory::{
        self, CandidateQuery,
        context_plan::{self, Job},
    },
    policy::Actor,
};
use index::Indexes;
use jobs::{ContextPlan, Heartbeats, JobServices, KeptPlan};
use protocol::{
    Id as _, MayExec,
    company::{
        ActorRole, ContextPackId, DocumentId, JobId, ProjectId, RunId,
        context::{ContextPlanForJobResponse, ContextRef},
        heartbeat::ProposedAction,
        inbox::ActionExecution,
        job::{JobRecord, JobSpec},
    },
};
use serde_json::{Value, json};

use crate::run_inputs::RunInputs;

/// The implementation of [`JobServices`] for the jobs of this gateway.
#[derive(Clone, Debug)]
pub(crate) struct GatewayJobServices {
    pub(crate) indexes: Indexes,
    pub(crate) inputs: RunInputs,
}

/// Selects the context for a worker. Documents that match the goal in the full-text index rank first.
pub(crate) fn plan(
    company: &Company,
    indexes: &Indexes,
    job: &Job,
) -> Result<ContextPlanForJobResponse, Error> {
    let project = job.project_id.as_str();
    context_plan::plan(company, job, &|goal, documents| {
        indexes.relevance(company, project, goal, documents)
    })
}

fn manager(job: &JobSpec) -> Actor {
    Actor {
        id: job
            .manager_actor_id
            .as_deref()
            .unwrap_or("manager")
            .to_owned(),
        role: job.manager_role.unwrap_or(ActorRole::Manager),
        team_id: job.manager_team_id.as_ref().map(ToString::to_string),
    }
}

fn planned(company: &Company, job: &JobSpec) -> Result<Job, Error> {
    Ok(Job {
        project_id: job.project_id.clone(),
        worker: job.worker_agent_id.clone(),
        manager: manager(job).known(company)?,
        kind: job.job_kind,
        goal: job.goal.to_string(),
        particulars: job
            .constraints
            .iter()
            .chain(&job.deliverables)
            .map(ToString::to_string)
            .collect(),
        seeds: job.context_refs.clone(),
        max_refs: job.max_context_refs,
    })
}

impl JobServices for GatewayJobServices {
    fn plan_context(&self, company: &Company, job: &JobSpec) -> Result<ContextPlan, Error> {
        // References given by the caller precede the planned ones; a reference that the plan rejects is left out.
        let plan = plan(company, &self.indexes, &planned(company, job)?)?;
        let is_given = |chosen: &&ContextRef| {
            let same = |seed: &&ContextRef| seed.kind == chosen.kind && seed.value == chosen.value;
            job.context_refs.iter().find(same).is_some()
        };
        let given = job.context_refs.iter().filter(|seed| {
            let chosen = plan.context_refs.iter();
            chosen
                .clone()
                .any(|other| other.kind == seed.kind && other.value == seed.value)
        });
        let planned = plan.context_refs.iter().filter(|chosen| !is_given(chosen));
        Ok(ContextPlan {
            refs: given.chain(planned).cloned().collect(),
            plan: Some(json!(plan)),
        })
    }

    fn check_refs(&self, company: &Company, refs: &[ContextRef]) -> Result<(), Error> {
        self.inputs.check(company, refs)
    }

    fn hand_over(
        &self,
        company: &Company,
        refs: &[ContextRef],
        run: (&ProjectId, &RunId, &JobId),
    ) -> Result<Vec<ContextRef>, Error> {
        self.inputs.copy(company, refs, run)
    }

    fn keep_plan(
        &self,
        company: &Company,
        job: &JobSpec,
        plan: &Value,
        (run, pack, session_ref): (&RunId, &ContextPackId, &str),
    ) -> Result<Option<KeptPlan>, Error> {
        let plan: ContextPlanForJobResponse = serde_json::from_value(plan.clone())
            .map_err(|error| Error::Refused(format!("a plan cannot be read: {error}")))?;
        let kept = {
            let job = planned(company, job)?;
            context_plan::persist(company, &job, run, pack, session_ref, &plan)?
        };
        Ok(Some(KeptPlan {
            relpath: kept.context_plan_relpath,
            hash: kept.context_plan_hash,
        }))
    }

    fn job_over(&self, company: &Company, job: &JobId, record: &JobRecord) {
        if record.job.manager_actor_id.is_none() || record.attempts.is_empty() {
            return;
        }
        let wanted = CandidateQuery {
            project_id: record.job.project_id.clone(),
            job_id: Some(job.clone()),
            run_id: None,
            actor: manager(&record.job),
            limit: 20,
        };
        if let Err(error) = memory::extract_candidates(company, &wanted) {
            tracing::debug!(%error, %job, "a job taught nothing");
        }
    }
}

/// Executes approved actions.
pub(crate) struct JobActions {
    pub(crate) heartbeats: Heartbeats,
    /// The capability to start workers, or `None` if the principal that decides lacks the scope `exec`.
    pub(crate) may: Option<MayExec>,
}

fn action(approved: &ApprovedAction) -> Result<ProposedAction, Error> {
    serde_json::from_value(Value::Object(approved.proposed_action.clone()))
        .map_err(|error| Error::Refused(format!("the proposed action cannot be read: {error}")))
}

impl ActionExecutor for JobActions {
    fn check(&self, company: &Company, approved: &ApprovedAction) -> Result<(), Error> {
        if self.may.is_none() {
            return Err(Error::NeedsExec);
        }
        self.heartbeats
            .check_approved(company, &action(approved)?, &approved.actor())
    }

    fn execute(
        &self,
        company: &Company,
        approved: &ApprovedAction,
    ) -> Result<ActionExecution, Error> {
        let may = self.may.ok_or(Error::NeedsExec)?;
        let actor = approved.actor();
        let carried = self
            .heartbeats
            .carry_out(company, &action(approved)?, &actor, may)?;
        let documents = carried.proposal_artifact_ids.iter();
        let jobs = carried.launched_job_ids.iter();
        Ok(ActionExecution {
            executed_actions: carried.executed_actions,
            queued_for_approval: carried.queued_for_approval,
            deduped_actions: carried.deduped_actions,
            skipped_actions: carried.skipped_actions,
            proposal_artifact_ids: documents
                .filter_map(|id| DocumentId::parse(id).ok())
                .collect(),
            launched_job_ids: jobs.filter_map(|id| JobId::parse(id).ok()).collect(),
        })
    }
}
