//! `job.*`

use protocol::company::job::*;
use rpc::{Failure, Router};
use runner::Resubmit;

use super::session::failure;
use crate::Context;

pub(in crate::methods) fn routes(router: &mut Router<Context>) {
    router.on::<JobSubmit>(submit);
    router.on::<JobList>(list);
    router.on::<JobPoll>(poll);
    router.on::<JobCollect>(collect);
    router.on::<JobCancel>(cancel);
}

async fn submit(ctx: Context, params: JobSubmitParams) -> Result<JobSubmitResponse, Failure> {
    let again = match params.resubmit {
        Some(true) => Resubmit::Forget,
        Some(false) | None => Resubmit::Refuse,
    };
    let submitted = ctx.jobs().submit(params.job, again).await;
    submitted.map_err(|error| failure(&error))
}

async fn list(ctx: Context, params: JobListParams) -> Result<JobListResponse, Failure> {
    let rows = ctx.jobs().list(params).await;
    rows.map(JobListResponse).map_err(|error| failure(&error))
}

async fn poll(ctx: Context, params: JobParams) -> Result<JobPollResponse, Failure> {
    let JobParams {
        workspace_dir,
        project_id,
        job_id,
    } = params;
    let polled = ctx.jobs().poll(&workspace_dir, &project_id, &job_id).await;
    polled.map_err(|error| failure(&error))
}

async fn collect(ctx: Context, params: JobParams) -> Result<JobCollectResponse, Failure> {
    let JobParams {
        workspace_dir,
        project_id,
        job_id,
    } = params;
    let collected = ctx
        .jobs()
        .collect(&workspace_dir, &project_id, &job_id)
        .await;
    collected.map_err(|error| failure(&error))
}

async fn cancel(ctx: Context, params: JobParams) -> Result<JobPollResponse, Failure> {
    let JobParams {
        workspace_dir,
        project_id,
        job_id,
    } = params;
    let canceled = ctx
        .jobs()
        .cancel(&workspace_dir, &project_id, &job_id)
        .await;
    canceled.map_err(|error| failure(&error))
}
