//! Handlers of `workspace/*`.

use crud::Created;
use protocol::{Access, workspace::*};
use rpc::{Failure, Router};

use crate::{Context, rows};

const DEFAULT_ID: &str = "ws_000000000000000000";
const DEFAULT_NAME: &str = "Default Workspace";

pub(super) fn routes(router: &mut Router<Context>) {
    router
        .on::<WorkspaceList>(list)
        .on::<WorkspaceDefault>(default)
        .on::<WorkspaceCreate>(create)
        .on::<WorkspaceSelect>(select)
        .on::<WorkspaceUpdate>(update)
        .on::<WorkspaceForget>(forget)
        .on::<WorkspaceSubscribe>(subscribe)
        .on::<WorkspaceUnsubscribe>(unsubscribe);
}

async fn list(
    ctx: Context,
    _params: WorkspaceListParams,
) -> Result<WorkspaceListResponse, Failure> {
    let rows = ctx
        .store()
        .workspaces()
        .list()
        .await
        .map_err(rows::failure)?;
    let seen = rows
        .into_iter()
        .filter(|row| ctx.principal().may_see(&row.id));
    let workspaces = seen.map(rows::workspace).collect::<Result<_, _>>()?;
    Ok(WorkspaceListResponse { workspaces })
}

async fn default(
    ctx: Context,
    _params: WorkspaceDefaultParams,
) -> Result<WorkspaceDefaultResponse, Failure> {
    let workspaces = ctx.store().workspaces();
    if ctx.principal().is_limited() {
        let rows = workspaces.list().await.map_err(rows::failure)?;
        let mut seen = rows
            .into_iter()
            .filter(|row| row.is_active && ctx.principal().may_see(&row.id));
        let first = seen.next();
        let chosen = seen.find(|row| row.is_current).or(first);
        let chosen = chosen.ok_or_else(|| {
            Failure::forbidden("the token is not valid for any workspace of this gateway")
        })?;
        let workspace = rows::workspace(chosen)?;
        ctx.peer().follow(&workspace.id);
        return Ok(WorkspaceDefaultResponse { workspace });
    }
    let row = match workspaces.first().await.map_err(rows::failure)? {
        Some(row) => row,
        None => {
            ctx.principal().check_scope(Access::Write)?;
            let created = workspaces
                .first_or_create(DEFAULT_ID, DEFAULT_NAME, ctx.now())
                .await;
            announced(&ctx, created.map_err(rows::failure)?)?
        }
    };
    let workspace = rows::workspace(row)?;
    ctx.peer().follow(&workspace.id);
    Ok(WorkspaceDefaultResponse { workspace })
}

async fn create(
    ctx: Context,
    params: WorkspaceCreateParams,
) -> Result<WorkspaceCreateResponse, Failure> {
    let workspaces = ctx.store().workspaces();
    let created = workspaces
        .create(
            params.workspace_id.as_str(),
            params.name.map(String::from),
            ctx.now(),
        )
        .await;
    let workspace = rows::workspace(announced(&ctx, created.map_err(rows::failure)?)?)?;
    Ok(WorkspaceCreateResponse { workspace })
}

async fn select(
    ctx: Context,
    params: WorkspaceSelectParams,
) -> Result<WorkspaceSelectResponse, Failure> {
    let (workspaces, id) = (ctx.store().workspaces(), params.workspace_id.as_str());
    let chosen = if params.make_current.unwrap_or(false) {
        // The current workspace is a setting that all workspaces share.
        ctx.principal().check_scope(Access::Write)?;
        ctx.principal().check_unlimited()?;
        let (chosen, changed) = workspaces
            .make_current(id, ctx.now())
            .await
            .map_err(rows::failure)?;
        for row in changed {
            ctx.workspace_changed(row)?;
        }
        chosen
    } else {
        workspaces.get(id).await.map_err(rows::failure)?
    };
    let workspace = rows::workspace(chosen)?;
    Ok(WorkspaceSelectResponse { workspace })
}

async fn update(
    ctx: Context,
    params: WorkspaceUpdateParams,
) -> Result<WorkspaceUpdateResponse, Failure> {
    let name = params
        .name
        .ok_or_else(|| Failure::param("/name", "nothing to change: expected `name`"))?;
    let renamed = ctx
        .store()
        .workspaces()
        .rename(params.workspace_id.as_str(), name.into(), ctx.now())
        .await;
    let row = renamed.map_err(rows::failure)?;
    ctx.workspace_changed(row.clone())?;
    let workspace = rows::workspace(row)?;
    Ok(WorkspaceUpdateResponse { workspace })
}

async fn forget(
    ctx: Context,
    params: WorkspaceForgetParams,
) -> Result<WorkspaceForgetResponse, Failure> {
    let forgotten = ctx
        .store()
        .workspaces()
        .forget(params.workspace_id.as_str(), ctx.now())
        .await;
    let row = forgotten.map_err(rows::failure)?;
    ctx.workspace_changed(row.clone())?;
    let workspace = rows::workspace(row)?;
    Ok(WorkspaceForgetResponse { workspace })
}

async fn subscribe(
    ctx: Context,
    params: WorkspaceSubscribeParams,
) -> Result<WorkspaceSubscribeResponse, Failure> {
    // Naming the workspace has already subscribed the connection; the handler only checks that it exists.
    let found = ctx
        .store()
        .workspaces()
        .get(params.workspace_id.as_str())
        .await;
    found.map_err(rows::failure)?;
    Ok(WorkspaceSubscribeResponse { subscribed: true })
}

async fn unsubscribe(
    ctx: Context,
    params: WorkspaceUnsubscribeParams,
) -> Result<WorkspaceUnsubscribeResponse, Failure> {
    let found = ctx
        .store()
        .workspaces()
        .get(params.workspace_id.as_str())
        .await;
    found.map_err(rows::failure)?;
    ctx.peer().unfollow(&params.workspace_id);
    Ok(WorkspaceUnsubscribeResponse { subscribed: false })
}

/// Returns the row, and publishes it if it is new.
fn announced(
    ctx: &Context,
    created: Created<entity::workspace::Model>,
) -> Result<entity::workspace::Model, Failure> {
    match created {
        Created::Existing(row) => Ok(row),
        Created::New(row) => {
            ctx.services().notifier.grant_first(&row.id);
            ctx.workspace_changed(row.clone())?;
            Ok(row)
        }
    }
}
