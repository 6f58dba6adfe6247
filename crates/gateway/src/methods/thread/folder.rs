//! `thread/folder/*`

use crud::{FolderChange, Moved, NewFolder};
use protocol::{FolderId, Method as _, thread::folder::*};
use rpc::{Failure, Router};

use crate::{Context, rows};

pub(in crate::methods) fn routes(router: &mut Router<Context>) {
    router
        .on::<ThreadFolderCreate>(create)
        .on::<ThreadFolderMove>(move_to)
        .on::<ThreadFolderUpdate>(update)
        .on::<ThreadFolderDelete>(delete);
}

async fn create(
    ctx: Context,
    params: ThreadFolderCreateParams,
) -> Result<ThreadFolderCreateResponse, Failure> {
    let folder = NewFolder {
        id: ctx.new_id::<FolderId>().into(),
        workspace_id: params.workspace_id.as_str().to_owned(),
        parent_folder_id: params.parent_folder_id.map(String::from),
        name: params.name.into(),
        now: ctx.now(),
    };
    let (row, tree_version) = ctx
        .store()
        .folders()
        .create(folder)
        .await
        .map_err(rows::failure)?;
    ctx.tree_changed(&params.workspace_id, tree_version, ThreadFolderCreate::NAME);
    let folder = rows::folder(row)?;
    Ok(ThreadFolderCreateResponse { folder })
}

async fn move_to(
    ctx: Context,
    params: ThreadFolderMoveParams,
) -> Result<ThreadFolderMoveResponse, Failure> {
    let parent = params.parent_folder_id.as_ref().map(FolderId::as_str);
    let moved = ctx
        .store()
        .folders()
        .move_to(
            params.workspace_id.as_str(),
            params.folder_id.as_str(),
            parent,
            ctx.now(),
        )
        .await;
    if let Moved::Changed(tree_version) = moved.map_err(rows::failure)? {
        ctx.tree_changed(&params.workspace_id, tree_version, ThreadFolderMove::NAME);
    }
    Ok(ThreadFolderMoveResponse { moved: true })
}

async fn update(
    ctx: Context,
    params: ThreadFolderUpdateParams,
) -> Result<ThreadFolderUpdateResponse, Failure> {
    if params.name.is_none() && params.position.is_none() {
        return Err(Failure::param(
            "",
            "nothing to change: expected `name` or `position`",
        ));
    }
    let change = FolderChange {
        name: params.name.map(String::from),
        position: params.position,
    };
    let updated = ctx
        .store()
        .folders()
        .update(
            params.workspace_id.as_str(),
            params.folder_id.as_str(),
            change,
            ctx.now(),
        )
        .await;
    let (row, tree_version) = updated.map_err(rows::failure)?;
    ctx.tree_changed(&params.workspace_id, tree_version, ThreadFolderUpdate::NAME);
    let folder = rows::folder(row)?;
    Ok(ThreadFolderUpdateResponse { folder })
}

async fn delete(
    ctx: Context,
    params: ThreadFolderDeleteParams,
) -> Result<ThreadFolderDeleteResponse, Failure> {
    let folders = ctx.store().folders();
    let deleted = folders
        .delete(
            params.workspace_id.as_str(),
            params.folder_id.as_str(),
            ctx.now(),
        )
        .await;
    let tree_version = deleted.map_err(rows::failure)?;
    if let Some(tree_version) = tree_version {
        ctx.tree_changed(&params.workspace_id, tree_version, ThreadFolderDelete::NAME);
    }
    Ok(ThreadFolderDeleteResponse {
        deleted: tree_version.is_some(),
    })
}
