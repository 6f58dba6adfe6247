//! `inbox.*`

use ::index::snapshot;
use protocol::company::inbox::*;
use rpc::{Failure, Router};

use super::{actor, indexed, within};
use crate::Context;

/// How many are listed if nobody says how many.
const USUAL: u32 = 200;

pub(in crate::methods) fn routes(router: &mut Router<Context>) {
    router
        .on::<InboxListReviews>(list_reviews)
        .on::<InboxListHelpRequests>(list_help_requests)
        .on::<InboxSnapshot>(inbox_snapshot);
}

async fn list_reviews(
    ctx: Context,
    params: InboxListParams,
) -> Result<InboxListReviewsResponse, Failure> {
    let limit = params.limit.unwrap_or(USUAL) as usize;
    let actor = actor(params.actor_id, params.actor_role, params.actor_team_id);
    let found = within(&ctx, &params.workspace_dir, move |company| {
        snapshot::list_reviews(company, limit, actor.as_ref())
    });
    found.await.map(InboxListReviewsResponse)
}

async fn list_help_requests(
    ctx: Context,
    params: InboxListParams,
) -> Result<InboxListHelpRequestsResponse, Failure> {
    let limit = params.limit.unwrap_or(USUAL) as usize;
    let actor = actor(params.actor_id, params.actor_role, params.actor_team_id);
    let found = within(&ctx, &params.workspace_dir, move |company| {
        snapshot::list_help_requests(company, limit, actor.as_ref())
    });
    found.await.map(InboxListHelpRequestsResponse)
}

async fn inbox_snapshot(
    ctx: Context,
    params: InboxSnapshotParams,
) -> Result<InboxSnapshotResponse, Failure> {
    let actor = actor(
        params.actor_id.clone(),
        params.actor_role,
        params.actor_team_id.clone(),
    );
    indexed(
        &ctx,
        params.workspace_dir.clone(),
        move |indexes, company| indexes.inbox(company, &params, actor.as_ref()),
    )
    .await
}
