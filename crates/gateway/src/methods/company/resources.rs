//! `resources.*`

use protocol::company::resources::*;
use rpc::{Failure, Router};

use super::{indexed, live};
use crate::Context;

pub(in crate::methods) fn routes(router: &mut Router<Context>) {
    router.on::<ResourcesSnapshot>(snapshot);
}

async fn snapshot(
    ctx: Context,
    params: ResourcesSnapshotParams,
) -> Result<ResourcesSnapshotResponse, Failure> {
    let live = live(&ctx, &params.workspace_dir).await?;
    indexed(
        &ctx,
        params.workspace_dir.clone(),
        move |indexes, company| indexes.resources(company, &params, &live),
    )
    .await
}
