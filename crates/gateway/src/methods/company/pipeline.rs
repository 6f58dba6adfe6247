//! Handlers of `pipeline.*`.

use company::pipeline::{
    assign::{self, Assignment},
    check_leads,
    intake::{self, NewIntake},
};
use protocol::company::{Asking, pipeline::*};
use rpc::{Failure, Router};

use super::{asking, known, session::failure, within};
use crate::Context;

pub(in crate::methods) fn routes(router: &mut Router<Context>) {
    router
        .on::<PipelineClientIntakeRun>(client_intake_run)
        .on::<PipelineDepartmentAssignTasks>(department_assign_tasks);
}

async fn client_intake_run(
    ctx: Context,
    params: PipelineClientIntakeRunParams,
) -> Result<PipelineClientIntakeRunResponse, Failure> {
    let actor = asking(&ctx, Asking::default());
    let model = params.model.as_deref().map(str::trim).unwrap_or_default();
    let model = model.to_owned();
    let new = NewIntake {
        project_name: params.project_name.into(),
        ceo: params.ceo_actor_id.into(),
        executive: params.executive_manager_agent_id,
        text: params.intake_text,
        file: params.intake_file,
        mode: if model.is_empty() {
            PipelineGenerationMode::Deterministic
        } else {
            PipelineGenerationMode::ProviderWithFallback
        },
    };
    let (company, package) = within(&ctx, &params.workspace_dir, move |company| {
        check_leads(actor.as_ref(), &new.project_name)?;
        let package = intake::run(company, &new)?;
        Ok((company.clone(), package))
    })
    .await?;
    match package.response.generation.mode {
        PipelineGenerationMode::Deterministic => Ok(package.response),
        PipelineGenerationMode::ProviderWithFallback => {
            let filled =
                jobs::fill(ctx.sessions(), &company, package, &model, ctx.may_exec()?).await;
            filled.map_err(|error| failure(&error))
        }
    }
}

async fn department_assign_tasks(
    ctx: Context,
    params: PipelineDepartmentAssignTasksParams,
) -> Result<PipelineDepartmentAssignTasksResponse, Failure> {
    let actor = asking(
        &ctx,
        Asking {
            actor_id: params.actor_id,
            actor_role: params.actor_role,
            actor_team_id: None,
        },
    );
    let wanted = Assignment {
        project_id: params.project_id,
        department_key: params.department_key.into(),
        director: params.director_agent_id,
        workers: params.worker_agent_ids,
        executive_plan: params.approved_executive_plan_artifact_id,
    };
    within(&ctx, &params.workspace_dir, move |company| {
        let actor = known(company, actor)?;
        check_leads(actor.as_ref(), wanted.executive_plan.as_str())?;
        assign::run(company, &wanted)
    })
    .await
}
