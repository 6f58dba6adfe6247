//! Handlers of `index.*`.

use std::sync::Arc;

use ::index::{Freshness, Query};
use protocol::company::{Asking, index::*, workspace::CompanyFolderParams};
use rpc::{Failure, Router};

use super::{asking, indexed, known};
use crate::{Context, blocking::blocking};

/// The default number of search results.
const USUAL_HITS: u32 = 50;

pub(in crate::methods) fn routes(router: &mut Router<Context>) {
    router
        .on::<IndexRebuild>(rebuild)
        .on::<IndexSync>(sync)
        .on::<IndexStats>(stats)
        .on::<IndexSyncWorkerStatus>(sync_worker_status)
        .on::<IndexSyncWorkerFlush>(sync_worker_flush)
        .on::<IndexListRuns>(list_runs)
        .on::<IndexListEvents>(list_events)
        .on::<IndexListEventParseErrors>(list_event_parse_errors)
        .on::<IndexListReviews>(list_reviews)
        .on::<IndexListHelpRequests>(list_help_requests)
        .on::<IndexSearch>(search);
}

async fn rebuild(
    ctx: Context,
    params: CompanyFolderParams,
) -> Result<IndexRebuildResponse, Failure> {
    indexed(&ctx, params.workspace_dir, |indexes, company| {
        indexes.rebuild(company)
    })
    .await
}

async fn sync(ctx: Context, params: CompanyFolderParams) -> Result<IndexSyncResponse, Failure> {
    let worker = Arc::clone(ctx.index_worker());
    indexed(&ctx, params.workspace_dir, move |_, company| {
        worker.sync(company)
    })
    .await
}

async fn stats(ctx: Context, params: CompanyFolderParams) -> Result<IndexStatsResponse, Failure> {
    indexed(&ctx, params.workspace_dir, |indexes, company| {
        indexes.stats(company)
    })
    .await
}

async fn sync_worker_status(
    ctx: Context,
    _params: IndexSyncWorkerParams,
) -> Result<IndexSyncWorkerStatusResponse, Failure> {
    Ok(worker_status(&ctx, ctx.index_worker().status()))
}

/// Removes the fields that the caller may not see from a status of the index worker.
pub(super) fn worker_status(
    ctx: &Context,
    status: IndexSyncWorkerStatusResponse,
) -> IndexSyncWorkerStatusResponse {
    if !ctx.principal().is_limited() {
        return status;
    }
    // A token limited to some workspaces must not learn the paths of other company folders.
    IndexSyncWorkerStatusResponse {
        last_notified_workspace: None,
        last_error_message: None,
        last_error_workspace: None,
        ..status
    }
}

async fn sync_worker_flush(
    ctx: Context,
    _params: IndexSyncWorkerParams,
) -> Result<IndexSyncWorkerStatusResponse, Failure> {
    let worker = std::sync::Arc::clone(ctx.index_worker());
    let status = blocking(move || worker.flush()).await?;
    Ok(worker_status(&ctx, status))
}

async fn list_runs(
    ctx: Context,
    params: IndexListRunsParams,
) -> Result<IndexListRunsResponse, Failure> {
    let actor = asking(&ctx, params.asking.clone());
    let rows = indexed(
        &ctx,
        params.workspace_dir.clone(),
        move |indexes, company| {
            indexes.list_runs(company, &params, known(company, actor)?.as_ref())
        },
    );
    rows.await.map(IndexListRunsResponse)
}

async fn list_events(
    ctx: Context,
    params: IndexListEventsParams,
) -> Result<IndexListEventsResponse, Failure> {
    let actor = asking(
        &ctx,
        Asking {
            actor_id: params.actor_id.clone(),
            actor_role: params.actor_role,
            actor_team_id: params.actor_team_id.clone(),
        },
    );
    let rows = indexed(
        &ctx,
        params.workspace_dir.clone(),
        move |indexes, company| {
            indexes.list_events(company, &params, known(company, actor)?.as_ref())
        },
    );
    rows.await.map(IndexListEventsResponse)
}

async fn list_event_parse_errors(
    ctx: Context,
    params: IndexListEventParseErrorsParams,
) -> Result<IndexListEventParseErrorsResponse, Failure> {
    let actor = asking(&ctx, Asking::default());
    let rows = indexed(
        &ctx,
        params.workspace_dir.clone(),
        move |indexes, company| indexes.list_event_parse_errors(company, &params, actor.as_ref()),
    );
    rows.await.map(IndexListEventParseErrorsResponse)
}

async fn list_reviews(
    ctx: Context,
    params: IndexListReviewsParams,
) -> Result<IndexListReviewsResponse, Failure> {
    let actor = asking(&ctx, Asking::default());
    let rows = indexed(
        &ctx,
        params.workspace_dir.clone(),
        move |indexes, company| indexes.list_reviews(company, &params, actor.as_ref()),
    );
    rows.await.map(IndexListReviewsResponse)
}

async fn list_help_requests(
    ctx: Context,
    params: IndexListHelpRequestsParams,
) -> Result<IndexListHelpRequestsResponse, Failure> {
    let actor = asking(&ctx, Asking::default());
    let rows = indexed(
        &ctx,
        params.workspace_dir.clone(),
        move |indexes, company| indexes.list_help_requests(company, &params, actor.as_ref()),
    );
    rows.await.map(IndexListHelpRequestsResponse)
}

async fn search(ctx: Context, params: IndexSearchParams) -> Result<IndexSearchResponse, Failure> {
    let actor = asking(
        &ctx,
        Asking {
            actor_id: params.actor_id,
            actor_role: params.actor_role,
            actor_team_id: params.actor_team_id,
        },
    );
    let mut query = Query {
        words: params.query.into(),
        kinds: params.kinds.unwrap_or_else(|| SearchKind::ALL.to_vec()),
        project_id: params.project_id.map(String::from),
        limit: params.limit.unwrap_or(USUAL_HITS) as usize,
        actor: None,
    };
    let freshness = Freshness::of(None, params.sync_index);
    indexed(&ctx, params.workspace_dir, move |indexes, company| {
        query.actor = known(company, actor)?;
        indexes.search(company, freshness, &query)
    })
    .await
}
