//! Handlers of `resources.*`.

use company::execution::resources;
use protocol::company::resources::*;
use rpc::{Failure, Router};

use super::{live, live_runs, within};
use crate::Context;

pub(in crate::methods) fn routes(router: &mut Router<Context>) {
    router.on::<ResourcesSnapshot>(snapshot);
}

async fn snapshot(
    ctx: Context,
    params: ResourcesSnapshotParams,
) -> Result<ResourcesSnapshotResponse, Failure> {
    let live = live_runs(&live(&ctx, &params.workspace_dir).await?);
    let project = params.project_id;
    within(&ctx, &params.workspace_dir, move |company| {
        resources::snapshot(company, project.as_deref(), &live)
    })
    .await
}
