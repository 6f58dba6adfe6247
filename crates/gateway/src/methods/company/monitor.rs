//! `monitor.*`

use protocol::company::monitor::*;
use rpc::{Failure, Router};

use super::{actor, indexed, live};
use crate::Context;

pub(in crate::methods) fn routes(router: &mut Router<Context>) {
    router.on::<MonitorSnapshot>(snapshot);
}

async fn snapshot(
    ctx: Context,
    params: MonitorSnapshotParams,
) -> Result<MonitorSnapshotResponse, Failure> {
    let actor = actor(
        params.actor_id.clone(),
        params.actor_role,
        params.actor_team_id.clone(),
    );
    let live = live(&ctx, &params.workspace_dir).await?;
    indexed(
        &ctx,
        params.workspace_dir.clone(),
        move |indexes, company| indexes.monitor(company, &params, &live, actor.as_ref()),
    )
    .await
}
