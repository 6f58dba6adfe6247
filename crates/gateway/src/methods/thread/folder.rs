//! Handlers of `thread/folder/*`.

use crud::{DeleteFolder, FolderChange, FolderMoved, NewFolder};
use protocol::{
    FolderId, Method as _,
    thread::{agents_doc::ThreadAgentsDocChangedNotification, folder::*},
};
use rpc::{Failure, Router};

use crate::{Context, proposals, rows};

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
    if let FolderMoved::Changed {
        tree_version,
        effective,
        effective_changed,
    } = moved.map_err(rows::failure)?
    {
        // The document of the folder moves with it, but another document may be effective now.
        let effective = effective
            .map(|effective| rows::resolved(*effective, ctx.now()))
            .transpose()?;
        ctx.agents_doc_changed(&ThreadAgentsDocChangedNotification {
            workspace_id: params.workspace_id.clone(),
            folder_id: Some(params.folder_id),
            doc: None,
            effective,
            effective_changed,
        });
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
    let delete = DeleteFolder {
        workspace_id: params.workspace_id.as_str().to_owned(),
        folder_id: params.folder_id.as_str().to_owned(),
        revision_id: ctx.new_text_id("agr_"),
        author: ctx.principal().author().to_owned(),
        now: ctx.now(),
    };
    let deleted = ctx
        .store()
        .folders()
        .delete(delete)
        .await
        .map_err(rows::failure)?;
    let was_there = deleted.is_some();
    if let Some(deleted) = deleted {
        if let Some(doc) = deleted.archived {
            ctx.agents_doc_changed(&ThreadAgentsDocChangedNotification {
                workspace_id: params.workspace_id.clone(),
                folder_id: Some(params.folder_id),
                doc: Some(rows::agents_doc(doc)?),
                effective: None,
                effective_changed: deleted.effective_changed,
            });
        }
        for withdrawn in &deleted.withdrawn {
            ctx.publish(proposals::changed(withdrawn)?);
        }
        ctx.tree_changed(
            &params.workspace_id,
            deleted.tree_version,
            ThreadFolderDelete::NAME,
        );
    }
    Ok(ThreadFolderDeleteResponse { deleted: was_there })
}
