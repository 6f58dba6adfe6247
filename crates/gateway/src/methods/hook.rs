//! Handlers of `hook/*`.

use crud::HookRunQuery;
use hooks::Visibility;
use protocol::hook::*;
use rpc::{Failure, Router};

use super::thread::page_size;
use crate::{Context, rows};

/// The default number of hook runs per page.
const PAGE: usize = 100;
/// The maximum number of hook runs per page.
const MAX_PAGE: usize = 500;

pub(super) fn routes(router: &mut Router<Context>) {
    router.on::<HookRunsList>(runs_list);
}

async fn runs_list(
    ctx: Context,
    params: HookRunsListParams,
) -> Result<HookRunsListResponse, Failure> {
    let limit = page_size(params.limit, PAGE, MAX_PAGE)?;
    // Tokens see only hook runs with the visibility `UserAudit`; internal ones are for the owner, who operates the
    // gateway.
    let subscription_ids = if ctx.principal().is_owner() {
        None
    } else {
        Some(
            ctx.agent()
                .hooks()
                .visible_subscriptions(Visibility::UserAudit),
        )
    };
    let wanted = HookRunQuery {
        workspace_id: params.workspace_id.into(),
        turn_id: params.turn_id.map(String::from),
        thread_id: params.thread_id.map(String::from),
        hook_id: params.hook_id,
        status: params.status.map(rows::stored).transpose()?,
        subscription_ids,
        after: params.cursor.as_deref().map(parse_cursor).transpose()?,
        limit: limit + 1,
    };
    let mut found = ctx
        .store()
        .hook_runs()
        .list(wanted)
        .await
        .map_err(rows::failure)?;
    let has_more = found.len() as u64 > limit;
    found.truncate(usize::try_from(limit).unwrap_or(usize::MAX));
    let next = found.last().filter(|_| has_more);
    Ok(HookRunsListResponse {
        next_cursor: next.map(|last| format!("{}.{}", last.queued_at_ms, last.id)),
        items: found
            .into_iter()
            .map(rows::hook_run)
            .collect::<Result<_, _>>()?,
    })
}

/// Parses a cursor, which is opaque to clients: `<queued_at_ms>.<id>` of the last run of the page.
fn parse_cursor(text: &str) -> Result<(i64, String), Failure> {
    let parsed = text
        .split_once('.')
        .and_then(|(time, id)| Some((time.parse().ok()?, id.to_owned())));
    parsed.ok_or_else(|| Failure::param("/cursor", "expected a `next_cursor` of this method"))
}
