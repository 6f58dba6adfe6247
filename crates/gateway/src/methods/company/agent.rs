//! `agent.*`

use protocol::company::agent::*;
use rpc::{Failure, Router};

use super::indexed;
use crate::Context;

pub(in crate::methods) fn routes(router: &mut Router<Context>) {
    router.on::<AgentProfileSnapshot>(profile_snapshot);
}

async fn profile_snapshot(
    ctx: Context,
    params: AgentProfileSnapshotParams,
) -> Result<AgentProfileSnapshotResponse, Failure> {
    indexed(
        &ctx,
        params.workspace_dir.clone(),
        move |indexes, company| indexes.profile(company, &params),
    )
    .await
}
