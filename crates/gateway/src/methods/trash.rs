//! Handlers of `trash/*`.

use crud::{RestoreTrash, TrashCursor, TrashEntry, TrashKey, TrashKind, TrashRestored};
use protocol::{
    Method as _,
    thread::agents_doc::ThreadAgentsDocChangedNotification,
    trash::{
        TrashItemKind, TrashItemRef, TrashList, TrashListParams, TrashListResponse, TrashPurge,
        TrashPurgeParams, TrashPurgeResponse, TrashRestore, TrashRestoreParams,
        TrashRestoreResponse,
    },
};
use rpc::{Failure, Router};

use super::thread::page_size;
use crate::{Context, janitor::TRASH_SECONDS, rows};

/// The default number of items per page.
const PAGE: usize = 100;
/// The maximum number of items per page and per purge.
const MAX_PAGE: usize = 1000;

pub(super) fn routes(router: &mut Router<Context>) {
    router
        .on::<TrashList>(list)
        .on::<TrashRestore>(restore)
        .on::<TrashPurge>(purge);
}

async fn list(ctx: Context, params: TrashListParams) -> Result<TrashListResponse, Failure> {
    let limit = page_size(params.limit, PAGE, MAX_PAGE)?;
    let after = params.cursor.as_deref().map(parse_cursor).transpose()?;
    let found = ctx
        .store()
        .trash()
        .list(params.workspace_id.as_str(), after, limit + 1)
        .await;
    let mut found = found.map_err(rows::failure)?;
    let has_more = found.len() as u64 > limit;
    found.truncate(usize::try_from(limit).unwrap_or(usize::MAX));
    Ok(TrashListResponse {
        next_cursor: found.last().filter(|_| has_more).map(print_cursor),
        items: found
            .iter()
            .map(|entry| rows::trash_item(entry, TRASH_SECONDS))
            .collect::<Result<_, _>>()?,
    })
}

async fn restore(
    ctx: Context,
    params: TrashRestoreParams,
) -> Result<TrashRestoreResponse, Failure> {
    let now = ctx.now();
    let restore = RestoreTrash {
        workspace_id: params.workspace_id.as_str().to_owned(),
        key: TrashKey {
            kind: kind(params.kind),
            id: params.id,
        },
        revision_id: ctx.new_text_id("agr_"),
        author: ctx.principal().author().to_owned(),
        now,
    };
    let restored = ctx.store().trash().restore(restore).await;
    let restored = restored.map_err(rows::failure)?;
    let notes = notes(&restored);
    let item = rows::trash_item(&restored.entry, TRASH_SECONDS)?;
    let doc = match restored.saved {
        None => None,
        Some(saved) => {
            let folder_id = saved.doc.folder_id.as_deref();
            let folder_id = folder_id.map(rows::folder_id).transpose()?;
            let doc = rows::agents_doc(saved.doc)?;
            let effective = saved.effective.map(|found| rows::resolved(found, now));
            ctx.agents_doc_changed(&ThreadAgentsDocChangedNotification {
                workspace_id: params.workspace_id.clone(),
                folder_id,
                doc: Some(doc.clone()),
                effective: effective.transpose()?,
                effective_changed: saved.effective_changed,
            });
            Some(doc)
        }
    };
    ctx.tree_changed(
        &params.workspace_id,
        restored.tree_version,
        TrashRestore::NAME,
    );
    Ok(TrashRestoreResponse {
        item,
        thread: restored.thread.map(rows::thread).transpose()?,
        folder: restored.folder.map(rows::folder).transpose()?,
        doc,
        returned_threads: restored.returned_threads,
        returned_folders: restored.returned_folders,
        notes,
    })
}

async fn purge(ctx: Context, params: TrashPurgeParams) -> Result<TrashPurgeResponse, Failure> {
    let count = params.items.len();
    if !(1..=MAX_PAGE).contains(&count) {
        return Err(Failure::param(
            "/items",
            format!("expected 1 to {MAX_PAGE} items, found {count}"),
        ));
    }
    let mut keys: Vec<TrashKey> = params.items.into_iter().map(key).collect();
    keys.sort_unstable();
    keys.dedup();
    let purged = keys.len() as u64;
    let tree_version = ctx
        .store()
        .trash()
        .purge(params.workspace_id.as_str(), keys)
        .await
        .map_err(rows::failure)?;
    ctx.tree_changed(&params.workspace_id, tree_version, TrashPurge::NAME);
    Ok(TrashPurgeResponse { purged })
}

/// Returns sentences for the user about everything that could not be restored to its original place.
fn notes(restored: &TrashRestored) -> Vec<String> {
    let entry = &restored.entry;
    let mut notes = Vec::new();
    if restored.parent_is_gone {
        let folder = entry.row.folder_name.as_deref().unwrap_or("?");
        notes.push(format!(
            "The folder `{folder}` that contained it no longer exists, so it was restored to the root of the tree."
        ));
    }
    let moved = |before: u64, returned: u64, noun: &str| {
        let left = before.saturating_sub(returned);
        let verb = if left == 1 { "was" } else { "were" };
        let plural = if left == 1 { "" } else { "s" };
        (left > 0).then(|| {
            format!(
                "{left} {noun}{plural} that {verb} in it {verb} moved or deleted since and {verb} not restored."
            )
        })
    };
    notes.extend(moved(entry.threads, restored.returned_threads, "thread"));
    notes.extend(moved(entry.folders, restored.returned_folders, "folder"));
    if restored.project_has_other_folder {
        let project = entry.row.project_name.as_deref().unwrap_or("?");
        notes.push(format!(
            "The project `{project}` has another folder now, so this folder is no longer linked to it."
        ));
    }
    notes
}

fn kind(kind: TrashItemKind) -> TrashKind {
    match kind {
        TrashItemKind::Thread => TrashKind::Thread,
        TrashItemKind::Folder => TrashKind::Folder,
        TrashItemKind::AgentsDoc => TrashKind::AgentsDoc,
    }
}

fn key(item: TrashItemRef) -> TrashKey {
    TrashKey {
        kind: kind(item.kind),
        id: item.id,
    }
}

/// Formats a cursor, which is opaque to clients: `<deleted_at>.<kind>.<id>` of the last item of the page.
fn print_cursor(entry: &TrashEntry) -> String {
    let row = &entry.row;
    format!("{}.{}.{}", row.deleted_at, row.kind, row.subject_id)
}

fn parse_cursor(text: &str) -> Result<TrashCursor, Failure> {
    let parsed = || {
        let (deleted_at, rest) = text.split_once('.')?;
        let (kind, id) = rest.split_once('.')?;
        let kinds = [TrashKind::AgentsDoc, TrashKind::Folder, TrashKind::Thread];
        Some(TrashCursor {
            deleted_at: deleted_at.parse().ok()?,
            key: TrashKey {
                kind: kinds.into_iter().find(|one| one.as_str() == kind)?,
                id: id.to_owned(),
            },
        })
    };
    parsed().ok_or_else(|| Failure::param("/cursor", "expected a `next_cursor` of this method"))
}
