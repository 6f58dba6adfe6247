//! Handlers of `ui.*` (combined snapshots).

use protocol::company::{Asking, Text, inbox::InboxResolveParams, ui::*};
use rpc::{Failure, Router};

use super::{asking, inbox, indexed, known, live};
use crate::{Context, linking};

pub(in crate::methods) fn routes(router: &mut Router<Context>) {
    router.on::<UiSnapshot>(snapshot).on::<UiResolve>(resolve);
}

async fn snapshot(ctx: Context, params: UiSnapshotParams) -> Result<UiSnapshotResponse, Failure> {
    let actor = asking(
        &ctx,
        Asking {
            actor_id: params.actor_id.clone(),
            actor_role: params.actor_role,
            actor_team_id: params.actor_team_id.clone(),
        },
    );
    let live = live(&ctx, &params.workspace_dir).await?;
    let worker = super::index::worker_status(&ctx, ctx.index_worker().status());
    let project = params.project_id.clone();
    let (mut found, dir) = indexed(
        &ctx,
        params.workspace_dir.clone(),
        move |indexes, company| {
            let actor = known(company, actor)?;
            let found = indexes.ui(company, &params, &live, actor.as_ref(), &worker)?;
            Ok((found, linking::dir(company)))
        },
    )
    .await?;
    found.review_inbox.agents_doc_proposals =
        inbox::proposals(&ctx, &dir, project.as_ref()).await?;
    Ok(found)
}

async fn resolve(ctx: Context, params: UiResolveParams) -> Result<UiResolveResponse, Failure> {
    let wanted = UiSnapshotParams {
        workspace_dir: params.workspace_dir.clone(),
        project_id: Text::new(params.project_id.as_str()),
        monitor_limit: params.monitor_limit,
        pending_limit: params.pending_limit,
        decisions_limit: params.decisions_limit,
        refresh_index: params.refresh_index,
        sync_index: params.sync_index,
        // The actor sees the same snapshot as with `ui.snapshot`.
        actor_id: Some(params.actor_id.clone()),
        actor_role: Some(params.actor_role),
        actor_team_id: params.actor_team_id.clone(),
    };
    let resolved = inbox::resolve(
        ctx.clone(),
        InboxResolveParams {
            workspace_dir: params.workspace_dir,
            project_id: params.project_id,
            artifact_id: params.artifact_id,
            decision: params.decision,
            actor_id: params.actor_id,
            actor_role: params.actor_role,
            actor_team_id: params.actor_team_id,
            notes: params.notes,
            expected_sha256: params.expected_sha256,
        },
    );
    let resolved = resolved.await?;
    // The decision is already stored, so a failed snapshot must not be reported as a failed decision.
    let (snapshot, snapshot_error) = match snapshot(ctx, wanted).await {
        Ok(snapshot) => (Some(snapshot), None),
        Err(failure) => (None, Some(failure.message().to_owned())),
    };
    Ok(UiResolveResponse {
        resolved,
        snapshot,
        snapshot_error,
    })
}
