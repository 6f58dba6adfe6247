//! Handlers of `session/*`.

use protocol::session::*;
use rpc::{Failure, NeedsNumbers, Router};

use crate::{Context, rows};

pub(super) fn routes(router: &mut Router<Context>) {
    router.on::<SessionResume>(resume);
}

async fn resume(
    ctx: Context,
    params: SessionResumeParams,
) -> Result<SessionResumeResponse, Failure> {
    let SessionResumeParams {
        workspace_id,
        after_seq,
    } = params;
    let workspaces = ctx.store().workspaces();
    workspaces
        .get(workspace_id.as_str())
        .await
        .map_err(rows::failure)?;
    let (services, connection) = (ctx.services(), ctx.peer().connection);
    let found = loop {
        match services
            .hub
            .resumption(connection, workspace_id.as_str(), after_seq)
        {
            Ok(found) => break found,
            Err(NeedsNumbers) => {
                let reserved = services.notifier.reserve(workspace_id.as_str()).await;
                reserved.map_err(rows::failure)?;
            }
        }
    };
    ctx.resume(workspace_id, after_seq, found);
    Ok(SessionResumeResponse {
        replayed: found.replayed,
        gap: found.gap,
        next_seq: found.next_seq,
    })
}
