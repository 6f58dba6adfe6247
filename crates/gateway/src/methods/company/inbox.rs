//! `inbox.*`

use ::index::snapshot;
use company::{inbox, review::Verdict};
use protocol::company::inbox::*;
use rpc::{Failure, Router};

use super::{actor, asking, indexed, known, within};
use crate::{Context, surroundings::Carrier};

/// How many are listed if nobody says how many.
const USUAL: u32 = 200;

pub(in crate::methods) fn routes(router: &mut Router<Context>) {
    router
        .on::<InboxListReviews>(list_reviews)
        .on::<InboxListHelpRequests>(list_help_requests)
        .on::<InboxSnapshot>(inbox_snapshot)
        .on::<InboxResolve>(resolve);
}

async fn list_reviews(
    ctx: Context,
    params: InboxListParams,
) -> Result<InboxListReviewsResponse, Failure> {
    let limit = params.limit.unwrap_or(USUAL) as usize;
    let actor = asking(
        &ctx,
        params.actor_id,
        params.actor_role,
        params.actor_team_id,
    );
    let found = within(&ctx, &params.workspace_dir, move |company| {
        snapshot::list_reviews(company, limit, known(company, actor)?.as_ref())
    });
    found.await.map(InboxListReviewsResponse)
}

async fn list_help_requests(
    ctx: Context,
    params: InboxListParams,
) -> Result<InboxListHelpRequestsResponse, Failure> {
    let limit = params.limit.unwrap_or(USUAL) as usize;
    let actor = asking(
        &ctx,
        params.actor_id,
        params.actor_role,
        params.actor_team_id,
    );
    let found = within(&ctx, &params.workspace_dir, move |company| {
        snapshot::list_help_requests(company, limit, known(company, actor)?.as_ref())
    });
    found.await.map(InboxListHelpRequestsResponse)
}

async fn inbox_snapshot(
    ctx: Context,
    params: InboxSnapshotParams,
) -> Result<InboxSnapshotResponse, Failure> {
    let actor = asking(
        &ctx,
        params.actor_id.clone(),
        params.actor_role,
        params.actor_team_id.clone(),
    );
    indexed(
        &ctx,
        params.workspace_dir.clone(),
        move |indexes, company| indexes.inbox(company, &params, known(company, actor)?.as_ref()),
    )
    .await
}

pub(super) async fn resolve(
    ctx: Context,
    params: InboxResolveParams,
) -> Result<InboxResolveResponse, Failure> {
    let actor = actor(params.actor_id, params.actor_role, params.actor_team_id);
    let carrier = Carrier(ctx.heartbeats().clone());
    within(&ctx, &params.workspace_dir, move |company| {
        let verdict = Verdict {
            project_id: params.project_id,
            artifact_id: params.artifact_id,
            decision: params.decision,
            actor: actor.known(company)?,
            notes: params.notes,
        };
        inbox::resolve(company, &verdict, &carrier)
    })
    .await
}
