//! `ui.*`

use protocol::company::{inbox::InboxResolveParams, ui::*};
use rpc::{Failure, Router};
use serde_json::json;

use super::inbox;
use crate::Context;

pub(in crate::methods) fn routes(router: &mut Router<Context>) {
    router.on::<UiResolve>(resolve);
}

async fn resolve(ctx: Context, params: UiResolveParams) -> Result<UiResolveResponse, Failure> {
    let resolved = inbox::resolve(
        ctx,
        InboxResolveParams {
            workspace_dir: params.workspace_dir,
            project_id: params.project_id,
            artifact_id: params.artifact_id,
            decision: params.decision,
            actor_id: params.actor_id,
            actor_role: params.actor_role,
            actor_team_id: params.actor_team_id,
            notes: params.notes,
        },
    );
    Ok(UiResolveResponse {
        resolved: resolved.await?,
        // `ui.snapshot` fills this in once it is answered here.
        snapshot: json!({}),
    })
}
