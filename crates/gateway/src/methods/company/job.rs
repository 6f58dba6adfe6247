//! Handlers of `job.*`.

use company::{Company, policy};
use jobs::{JobPlacement, Resubmit};
use protocol::company::{ActorRole, JobId, ProjectId, Text, job::*};
use rpc::{Failure, Router};

use super::{
    limited_view::{LimitedView, check_visible, visible},
    session::failure,
};
use crate::Context;

pub(in crate::methods) fn routes(router: &mut Router<Context>) {
    router.on::<JobSubmit>(submit);
    router.on::<JobList>(list);
    router.on::<JobPoll>(poll);
    router.on::<JobCollect>(collect);
    router.on::<JobCancel>(cancel);
}

async fn submit(ctx: Context, mut params: JobSubmitParams) -> Result<JobSubmitResponse, Failure> {
    // A job without a `manager_role` gets the role manager, but never a role above that of the token.
    let job = &mut params.job;
    if let (None, Some(ceiling), Some(ContextMode::Manual)) = (
        job.manager_role,
        ctx.principal().ceiling(),
        job.context_mode,
    ) {
        job.manager_role = Some(
            if policy::rank(ceiling) < policy::rank(ActorRole::Manager) {
                ceiling
            } else {
                ActorRole::Manager
            },
        );
    }
    let again = match params.resubmit {
        Some(true) => Resubmit::Forget,
        Some(false) | None => Resubmit::Refuse,
    };
    let placement = JobPlacement::from(&params);
    params.job.workspace_dir = ctx.real_dir(params.job.workspace_dir);
    let jobs = ctx.jobs();
    let submitted = jobs
        .submit_placed(params.job, again, placement, ctx.may_exec()?)
        .await;
    submitted.map_err(|error| failure(&error))
}

async fn list(ctx: Context, mut params: JobListParams) -> Result<JobListResponse, Failure> {
    let claimed = std::mem::take(&mut params.asking);
    let limited_view = LimitedView::of(&ctx, Some(&params.workspace_dir), claimed).await?;
    params.workspace_dir = ctx.real_dir(params.workspace_dir);
    let rows = ctx.jobs().list(params, ctx.may_exec().ok()).await;
    let rows = rows.map_err(|error| failure(&error))?;
    let rows = visible(limited_view, rows, |company, row| {
        agent_of_job(company, &row.project_id, &row.job_id)
    });
    rows.await.map(JobListResponse)
}

/// A job that the caller may see.
struct VisibleJob {
    workspace_dir: Text,
    project_id: ProjectId,
    job_id: JobId,
}

impl VisibleJob {
    async fn by(ctx: &Context, params: JobParams) -> Result<Self, Failure> {
        let limited_view = LimitedView::of(ctx, Some(&params.workspace_dir), params.asking).await?;
        let (project, job) = (params.project_id.clone(), params.job_id.clone());
        let agent = move |company: &Company| agent_of_job(company, &project, &job);
        check_visible(limited_view, params.job_id.to_string(), agent).await?;
        Ok(Self {
            workspace_dir: ctx.real_dir(params.workspace_dir),
            project_id: params.project_id,
            job_id: params.job_id,
        })
    }
}

/// Returns the agent that works on a job, or `None` if its record is missing or names none.
fn agent_of_job(company: &Company, project: &ProjectId, job: &JobId) -> Option<String> {
    let record = company::execution::job::record(company, project, job).ok()?;
    let named = record.job.worker_agent_id.as_ref().map(ToString::to_string);
    let tried = || {
        let attempt = record.attempts.last()?;
        Some(attempt.worker_agent_id.to_string())
    };
    named.or_else(tried)
}

async fn poll(ctx: Context, params: JobParams) -> Result<JobPollResponse, Failure> {
    let seen = VisibleJob::by(&ctx, params).await?;
    let (jobs, may) = (ctx.jobs(), ctx.may_exec().ok());
    let polled = jobs.poll(&seen.workspace_dir, &seen.project_id, &seen.job_id, may);
    polled.await.map_err(|error| failure(&error))
}

async fn collect(ctx: Context, params: JobParams) -> Result<JobCollectResponse, Failure> {
    let seen = VisibleJob::by(&ctx, params).await?;
    let (jobs, may) = (ctx.jobs(), ctx.may_exec().ok());
    let collected = jobs.collect(&seen.workspace_dir, &seen.project_id, &seen.job_id, may);
    collected.await.map_err(|error| failure(&error))
}

async fn cancel(ctx: Context, params: JobParams) -> Result<JobPollResponse, Failure> {
    let may = ctx.may_exec()?;
    let seen = VisibleJob::by(&ctx, params).await?;
    let jobs = ctx.jobs();
    let canceled = jobs.cancel(&seen.workspace_dir, &seen.project_id, &seen.job_id, may);
    canceled.await.map_err(|error| failure(&error))
}
