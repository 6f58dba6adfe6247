//! Handlers of `pm.*` (project planning).

use company::{
    conversation::ConversationScope,
    execution::machine,
    planning::plan::allocation::Provider,
    pm::{self, overview::ProjectsOverview},
};
use protocol::company::{
    Asking,
    adapter::{AdapterRow, WorktreeIsolation},
    pm::*,
};
use rpc::{Failure, Router};
use sessions::program::Program;

use super::{asking, live, live_runs, scope, within};
use crate::Context;

pub(in crate::methods) fn routes(router: &mut Router<Context>) {
    router
        .on::<PmSnapshot>(snapshot)
        .on::<PmRecommendAllocations>(recommend_allocations)
        .on::<PmApplyAllocations>(apply_allocations)
        .on::<PmExport>(export);
}

async fn snapshot(ctx: Context, params: PmSnapshotParams) -> Result<PmSnapshotResponse, Failure> {
    let project = match scope(params.scope, params.project_id)? {
        ConversationScope::Workspace => None,
        ConversationScope::Project(project) => Some(project),
    };
    let live = live_runs(&live(&ctx, &params.workspace_dir).await?);
    let actor = asking(&ctx, Asking::default());
    within(&ctx, &params.workspace_dir, move |company| {
        let standings = ProjectsOverview::read(company, &live)?.shown_to(company, actor.as_ref());
        Ok(pm::snapshot(&standings, project.as_ref()))
    })
    .await
}

pub(super) async fn recommend_allocations(
    ctx: Context,
    params: PmRecommendAllocationsParams,
) -> Result<PmRecommendAllocationsResponse, Failure> {
    let PmRecommendAllocationsParams {
        workspace_dir,
        project_id,
    } = params;
    let machine = within(&ctx, &workspace_dir, |company| {
        Ok(machine::read(company).map_err(|error| error.to_string()))
    });
    let machine = machine.await?;
    let machine = machine.as_deref().map_err(String::as_str);
    let adapters = ctx
        .services()
        .adapters
        .status(machine, ctx.may_exec().ok())
        .await;
    let live = live_runs(&live(&ctx, &workspace_dir).await?);
    within(&ctx, &workspace_dir, move |company| {
        let providers = |name: &str| provider(&adapters, name);
        pm::recommend_allocations(company, &project_id, &live, &providers)
    })
    .await
}

/// Combines the capabilities of all adapters of a provider. Returns `None` for a provider without a driver.
fn provider(adapters: &[AdapterRow], name: &str) -> Option<Provider> {
    let driver = Program::of_provider(name).ok()?;
    let ways = || {
        adapters
            .iter()
            .filter(|adapter| adapter.provider == driver.as_str())
    };
    Some(Provider {
        is_available: ways().any(|way| way.available),
        exports_patches: ways().any(|way| way.capabilities.supports_patch_export),
        isolates: ways().any(|way| {
            way.capabilities.supports_worktree_isolation != WorktreeIsolation::Unsupported
        }),
    })
}

async fn apply_allocations(
    ctx: Context,
    params: PmApplyAllocationsParams,
) -> Result<PmApplyAllocationsResponse, Failure> {
    let PmApplyAllocationsParams {
        workspace_dir,
        project_id,
        applied_by,
        items,
    } = params;
    within(&ctx, &workspace_dir, move |company| {
        let applied_at = company.sources().now_text();
        let updated_task_ids = company.write(|writer| {
            writer.apply_allocations(&project_id, &applied_by, &applied_at, items)
        })?;
        Ok(PmApplyAllocationsResponse {
            workspace_dir: company.given().to_owned(),
            project_id,
            applied_at,
            updated_task_ids,
        })
    })
    .await
}

async fn export(ctx: Context, params: PmExportParams) -> Result<PmExportResponse, Failure> {
    let PmExportParams {
        workspace_dir,
        project_id,
        format,
    } = params;
    let actor = asking(&ctx, Asking::default());
    within(&ctx, &workspace_dir, move |company| {
        pm::export(company, &project_id, format, actor.as_ref())
    })
    .await
}
