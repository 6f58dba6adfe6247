//! Handlers of `task.*`.

use company::{
    org::project,
    planning::task::{Change, Tasks},
};
use protocol::company::{Asking, task::*};
use rpc::{Failure, Router};

use super::{asking, within};
use crate::Context;

pub(in crate::methods) fn routes(router: &mut Router<Context>) {
    router
        .on::<TaskList>(list)
        .on::<TaskUpdatePlan>(update_plan);
}

async fn list(ctx: Context, params: TaskListParams) -> Result<TaskListResponse, Failure> {
    let TaskListParams {
        workspace_dir,
        project_id,
    } = params;
    let actor = asking(&ctx, Asking::default());
    within(&ctx, &workspace_dir, move |company| {
        project::project(company, &project_id)?;
        let Tasks { files, invalid } = Tasks::read(company, &project_id)?;
        let shown = files.iter().filter(|file| {
            let actor = actor.as_ref();
            actor.is_none_or(|actor| file.is_seen_by(company, actor))
        });
        let rows = shown.map(|file| file.row(company, &project_id));
        Ok(TaskListResponse {
            workspace_dir: company.given().to_owned(),
            tasks: rows.collect(),
            project_id,
            invalid,
        })
    })
    .await
}

async fn update_plan(
    ctx: Context,
    params: TaskUpdatePlanParams,
) -> Result<TaskUpdatePlanResponse, Failure> {
    let TaskUpdatePlanParams {
        workspace_dir,
        project_id,
        task_id,
        schedule,
        execution_plan,
        clear_schedule,
        clear_execution_plan,
    } = params;
    let schedule = Change::new(schedule, clear_schedule);
    let execution_plan = Change::new(execution_plan, clear_execution_plan);
    within(&ctx, &workspace_dir, move |company| {
        let planned = company
            .write(|writer| writer.update_plan(&project_id, &task_id, schedule, execution_plan))?;
        Ok(TaskUpdatePlanResponse {
            task_id,
            task_path: company.shown_path(&planned.relpath),
            frontmatter: planned.task,
            warnings: planned.warnings,
        })
    })
    .await
}
