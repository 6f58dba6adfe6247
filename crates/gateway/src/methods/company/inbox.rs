//! Handlers of `inbox.*`.

use ::index::snapshot;
use company::{
    decisions::{basis, review::Verdict},
    inbox,
};
use crud::ProposalQuery;
use protocol::{
    company::{Asking, Text, inbox::*},
    thread::agents_doc::proposal::{ThreadAgentsDocProposal, ThreadAgentsDocProposalStatus},
};
use rpc::{Failure, Router};

use super::{actor, asking, indexed, known, within};
use crate::{Context, job_services::Carrier, linking, rows};

/// The default number of listed items.
const USUAL: u32 = 200;
/// The maximum number of agents doc proposals in a snapshot.
const MAX_PROPOSALS: u64 = 50;

pub(in crate::methods) fn routes(router: &mut Router<Context>) {
    router
        .on::<InboxListReviews>(list_reviews)
        .on::<InboxListHelpRequests>(list_help_requests)
        .on::<InboxSnapshot>(inbox_snapshot)
        .on::<InboxRead>(read)
        .on::<InboxResolve>(resolve);
}

async fn list_reviews(
    ctx: Context,
    params: InboxListParams,
) -> Result<InboxListReviewsResponse, Failure> {
    let limit = params.limit.unwrap_or(USUAL) as usize;
    let actor = asking(
        &ctx,
        Asking {
            actor_id: params.actor_id,
            actor_role: params.actor_role,
            actor_team_id: params.actor_team_id,
        },
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
        Asking {
            actor_id: params.actor_id,
            actor_role: params.actor_role,
            actor_team_id: params.actor_team_id,
        },
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
        Asking {
            actor_id: params.actor_id.clone(),
            actor_role: params.actor_role,
            actor_team_id: params.actor_team_id.clone(),
        },
    );
    let project = params.project_id.clone();
    let (mut found, dir) = indexed(
        &ctx,
        params.workspace_dir.clone(),
        move |indexes, company| {
            let found = indexes.inbox(company, &params, known(company, actor)?.as_ref())?;
            Ok((found, linking::dir(company)))
        },
    )
    .await?;
    found.agents_doc_proposals = proposals(&ctx, &dir, project.as_ref()).await?;
    Ok(found)
}

/// Returns the pending agents doc proposals of the workspace linked to a company folder, or of the folder of one
/// project.
pub(super) async fn proposals(
    ctx: &Context,
    dir: &str,
    project: Option<&Text>,
) -> Result<Vec<ThreadAgentsDocProposal>, Failure> {
    let named = project.map_or("", |project| project);
    let place = ctx.store().companies().place(dir, named).await;
    let Some(place) = place.map_err(rows::failure)? else {
        return Ok(Vec::new());
    };
    let scope = match (project, place.folder_id) {
        (None, _) => None,
        (Some(_), Some(folder_id)) => Some(Some(folder_id)),
        (Some(_), None) => return Ok(Vec::new()),
    };
    let query = ProposalQuery {
        workspace_id: place.workspace_id,
        scope,
        status: Some(rows::stored(ThreadAgentsDocProposalStatus::Pending)?),
        after: None,
        limit: MAX_PROPOSALS,
    };
    let found = ctx.store().agents_doc_proposals().list(query).await;
    let found = found.map_err(rows::failure)?;
    found.into_iter().map(rows::proposal).collect()
}

async fn read(ctx: Context, params: InboxReadParams) -> Result<InboxReadResponse, Failure> {
    let actor = actor(params.actor_id, params.actor_role, params.actor_team_id);
    within(&ctx, &params.workspace_dir, move |company| {
        let actor = actor.known(company)?;
        basis::show(company, &params.project_id, &params.artifact_id, &actor)
    })
    .await
}

pub(super) async fn resolve(
    ctx: Context,
    params: InboxResolveParams,
) -> Result<InboxResolveResponse, Failure> {
    let actor = actor(params.actor_id, params.actor_role, params.actor_team_id);
    let carrier = Carrier {
        heartbeats: ctx.heartbeats().clone(),
        may: ctx.may_exec().ok(),
    };
    let presence = ctx.principal().presence().clone();
    within(&ctx, &params.workspace_dir, move |company| {
        let verdict = Verdict {
            project_id: params.project_id,
            artifact_id: params.artifact_id,
            decision: params.decision,
            actor: actor.known(company)?,
            notes: params.notes,
            expected_sha256: params.expected_sha256,
            presence,
        };
        inbox::resolve(company, &verdict, &carrier)
    })
    .await
}
