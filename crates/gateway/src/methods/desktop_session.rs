//! Handlers of `desktop_session/*`.

use protocol::desktop_session::*;
use rpc::{Failure, Router};

use crate::{Context, rows};

pub(super) fn routes(router: &mut Router<Context>) {
    router
        .on::<DesktopSessionList>(list)
        .on::<DesktopSessionEnd>(end);
}

async fn list(
    ctx: Context,
    _params: DesktopSessionListParams,
) -> Result<DesktopSessionListResponse, Failure> {
    ctx.principal().check_owner()?;
    let sessions = ctx.desktop_sessions().list(ctx.now()).await;
    let items = sessions.map_err(rows::failure)?.into_iter();
    let current = ctx.principal().session_id();
    Ok(DesktopSessionListResponse {
        items: items
            .map(|row| rows::desktop_session(row, current))
            .collect::<Result<_, _>>()?,
    })
}

async fn end(
    ctx: Context,
    params: DesktopSessionEndParams,
) -> Result<DesktopSessionEndResponse, Failure> {
    ctx.principal().check_owner()?;
    let ended = ctx.desktop_sessions().end(&params.session_id).await;
    let ended = ended.map_err(rows::failure)?;
    ctx.close_revoked();
    Ok(DesktopSessionEndResponse { ended })
}
