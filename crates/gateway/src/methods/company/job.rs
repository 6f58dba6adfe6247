//! `job.*`

use company::policy;
use protocol::company::{ActorRole, job::*};
use rpc::{Failure, Router};
use runner::{JobPlacement, Resubmit};

use super::session::failure;
use crate::Context;

pub(in crate::methods) fn routes(router: &mut Router<Context>) {
    router.on::<JobSubmit>(submit);
    router.on::<JobList>(list);
    router.on::<JobPoll>(poll);
    router.on::<JobCollect>(collect);
    router.on::<JobCancel>(cancel);
}

async fn submit(ctx: Context, mut params: JobSubmitParams) -> Result<JobSubmitResponse, Failure> {
    // A job that nobody is named for is a manager's, but not if its token is only a worker's.
    let job = &mut params.job;
    if let (None, Some(ceiling), Some(ContextMode::Manual)) = (
        job.manager_role,
        ctx.principal().ceiling(),
        job.context_mode,
    ) {
        job.manager_role = Some(
            match policy::rank(ceiling) < policy::rank(ActorRole::Manager) {
                true => ceiling,
                false => ActorRole::Manager,
            },
        );
    }
    let again = match params.resubmit {
        Some(true) => Resubmit::Forget,
        Some(false) | None => Resubmit::Refuse,
    };
    let placement = JobPlacement::from(&params);
    let jobs = ctx.jobs();
    let submitted = jobs
        .submit_placed(params.job, again, placement, ctx.may_exec()?)
        .await;
    submitted.map_err(|error| failure(&error))
}

async fn list(ctx: Context, mut params: JobListParams) -> Result<JobListResponse, Failure> {
    params.workspace_dir = ctx.real_dir(params.workspace_dir);
    let rows = ctx.jobs().list(params, ctx.may_exec().ok()).await;
    rows.map(JobListResponse).map_err(|error| failure(&error))
}

async fn poll(ctx: Context, params: JobParams) -> Result<JobPollResponse, Failure> {
    let JobParams {
        workspace_dir,
        project_id,
        job_id,
    } = params;
    let workspace_dir = ctx.real_dir(workspace_dir);
    let (jobs, may) = (ctx.jobs(), ctx.may_exec().ok());
    let polled = jobs.poll(&workspace_dir, &project_id, &job_id, may).await;
    polled.map_err(|error| failure(&error))
}

async fn collect(ctx: Context, params: JobParams) -> Result<JobCollectResponse, Failure> {
    let JobParams {
        workspace_dir,
        project_id,
        job_id,
    } = params;
    let workspace_dir = ctx.real_dir(workspace_dir);
    let collected = ctx
        .jobs()
        .collect(&workspace_dir, &project_id, &job_id, ctx.may_exec().ok())
        .await;
    collected.map_err(|error| failure(&error))
}

async fn cancel(ctx: Context, params: JobParams) -> Result<JobPollResponse, Failure> {
    let JobParams {
        workspace_dir,
        project_id,
        job_id,
    } = params;
    let workspace_dir = ctx.real_dir(workspace_dir);
    let canceled = ctx
        .jobs()
        .cancel(&workspace_dir, &project_id, &job_id, ctx.may_exec()?)
        .await;
    canceled.map_err(|error| failure(&error))
}
