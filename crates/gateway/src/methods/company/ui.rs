//! `ui.*`

use protocol::company::ui::*;
use rpc::{Failure, Router};

use super::{actor, indexed, live};
use crate::Context;

pub(in crate::methods) fn routes(router: &mut Router<Context>) {
    router.on::<UiSnapshot>(snapshot);
}

async fn snapshot(ctx: Context, params: UiSnapshotParams) -> Result<UiSnapshotResponse, Failure> {
    let actor = actor(
        params.actor_id.clone(),
        params.actor_role,
        params.actor_team_id.clone(),
    );
    let live = live(&ctx, &params.workspace_dir).await?;
    let worker = ctx.index_worker().status();
    indexed(
        &ctx,
        params.workspace_dir.clone(),
        move |indexes, company| indexes.ui(company, &params, &live, actor.as_ref(), worker),
    )
    .await
}
