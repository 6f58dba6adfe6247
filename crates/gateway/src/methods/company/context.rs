//! Handlers of `context.*`.

use company::memory::context_plan::Job;
use protocol::company::context::*;
use rpc::{Failure, Router};

use super::{actor, within};
use crate::{Context, job_services};

pub(in crate::methods) fn routes(router: &mut Router<Context>) {
    router.on::<ContextPlanForJob>(plan_for_job);
}

async fn plan_for_job(
    ctx: Context,
    params: ContextPlanForJobParams,
) -> Result<ContextPlanForJobResponse, Failure> {
    let (constraints, deliverables) = (params.constraints, params.deliverables);
    let manager = actor(
        params.manager_actor_id,
        params.manager_role,
        params.manager_team_id,
    );
    let indexes = ctx.indexes().clone();
    within(&ctx, &params.workspace_dir, move |company| {
        let job = Job {
            project_id: params.project_id,
            worker: params.worker_agent_id,
            manager: manager.known(company)?,
            kind: params.job_kind.unwrap_or_default(),
            goal: params.goal.into(),
            particulars: [constraints, deliverables]
                .into_iter()
                .flatten()
                .flatten()
                .collect(),
            seeds: params.context_refs.unwrap_or_default(),
            max_refs: params.max_refs,
        };
        job_services::plan(company, &indexes, &job)
    })
    .await
}
