//! Handlers of `monitor.*`.

use protocol::company::{Asking, monitor::*};
use rpc::{Failure, Router};

use super::{asking, indexed, known, live};
use crate::Context;

pub(in crate::methods) fn routes(router: &mut Router<Context>) {
    router.on::<MonitorSnapshot>(snapshot);
}

async fn snapshot(
    ctx: Context,
    params: MonitorSnapshotParams,
) -> Result<MonitorSnapshotResponse, Failure> {
    let actor = asking(
        &ctx,
        Asking {
            actor_id: params.actor_id.clone(),
            actor_role: params.actor_role,
            actor_team_id: params.actor_team_id.clone(),
        },
    );
    let live = live(&ctx, &params.workspace_dir).await?;
    indexed(
        &ctx,
        params.workspace_dir.clone(),
        move |indexes, company| {
            indexes.monitor(company, &params, &live, known(company, actor)?.as_ref())
        },
    )
    .await
}
