//! Handlers of `thread/*`.

use crud::{
    DeleteThread, Field, Moved, StartThread, Started, ThreadChange, ThreadCursor, TreeQuery,
    Updated,
};
use protocol::{FolderId, Id as _, Method as _, Name, ThreadId, thread::*};
use rpc::{Failure, FailureKind, Router};
use serde::Serialize;

use crate::{Context, notify::thread_topic, rows, worker_prompts::is_workers};

pub(super) mod agents_doc;
pub(super) mod folder;

/// The default number of threads per page of the tree.
const PAGE: usize = 500;
/// The maximum number of threads per page of the tree.
pub(super) const MAX_PAGE: usize = 5000;
/// The maximum number of events in a history.
const MAX_EVENTS: usize = 10_000;
/// The provider of a thread if the caller gives none.
const DEFAULT_PROVIDER: &str = "echo";
const DEFAULT_MODEL: &str = "echo";

pub(super) fn routes(router: &mut Router<Context>) {
    router
        .on::<ThreadStart>(start)
        .on::<ThreadGet>(get)
        .on::<ThreadHistory>(history)
        .on::<ThreadTree>(tree)
        .on::<ThreadMove>(move_to)
        .on::<ThreadUpdate>(update)
        .on::<ThreadDelete>(delete)
        .on::<ThreadUnsubscribe>(unsubscribe);
}

/// Rejects the thread of a worker, which is read-only: clients cannot start, continue or delete it.
pub(super) fn check_is_no_workers(path: &str, thread_id: &ThreadId) -> Result<(), Failure> {
    if is_workers(thread_id.as_str()) {
        Err(Failure::param(
            path,
            format!("`{thread_id}` is the thread of a worker, which can only be read"),
        ))
    } else {
        Ok(())
    }
}

async fn start(ctx: Context, params: ThreadStartParams) -> Result<ThreadStartResponse, Failure> {
    if is_workers(params.thread_id.as_str()) {
        let found = ctx.store().threads().get(params.thread_id.as_str()).await;
        let is_there = found.is_ok_and(|thread| thread.origin_kind == "task_run");
        if !is_there {
            check_is_no_workers("/thread_id", &params.thread_id)?;
        }
    }
    let start = StartThread {
        id: params.thread_id.as_str().to_owned(),
        workspace_id: params.workspace_id.as_str().to_owned(),
        draft_owner: ctx.peer().key.clone(),
        name: given_text("name", params.name)?,
        model: or_default(given_text("model", params.model)?, DEFAULT_MODEL),
        model_provider: or_default(
            given_text("model_provider", params.model_provider)?,
            DEFAULT_PROVIDER,
        ),
        mode: given_word(params.mode)?,
        origin_kind: rows::stored(params.origin_kind.unwrap_or_default())?,
        sidebar_visibility: given_word(params.sidebar_visibility)?,
        agent_nickname: given_text("agent_nickname", params.agent_nickname)?,
        agent_role: given_text("agent_role", params.agent_role)?,
        now: ctx.now(),
    };
    let started = ctx
        .store()
        .threads()
        .start(start)
        .await
        .map_err(rows::failure)?;
    ctx.peer().follow_thread(&params.thread_id);
    ctx.catch_up(&params.thread_id);
    let thread = match started {
        Started::Created(row) => rows::thread(row)?,
        Started::Opened(updated) => announce(&ctx, updated, ThreadStart::NAME)?,
    };
    ctx.tell(&ThreadStartedNotification {
        thread: thread.clone(),
    });
    let sandbox = Sandbox {
        mode: params.sandbox.unwrap_or_default(),
    };
    Ok(ThreadStartResponse { thread, sandbox })
}

async fn get(ctx: Context, params: ThreadGetParams) -> Result<ThreadGetResponse, Failure> {
    let row = ctx.store().threads().get(params.thread_id.as_str()).await;
    let thread = rows::thread(row.map_err(rows::failure)?)?;
    ctx.peer().follow(&thread.workspace_id);
    Ok(ThreadGetResponse { thread })
}

async fn history(
    ctx: Context,
    params: ThreadHistoryParams,
) -> Result<ThreadHistoryResponse, Failure> {
    let limit = page_size(params.limit, MAX_EVENTS, MAX_EVENTS)?;
    let row = ctx.store().threads().get(params.thread_id.as_str()).await;
    let workspace_id = rows::workspace_id(&row.map_err(rows::failure)?.workspace_id)?;
    ctx.peer().follow(&workspace_id);
    let events = ctx
        .store()
        .turns()
        .history(params.thread_id.as_str(), limit)
        .await;
    Ok(ThreadHistoryResponse {
        workspace_id,
        thread_id: params.thread_id,
        events: events
            .map_err(rows::failure)?
            .iter()
            .map(rows::turn_event)
            .collect::<Result<_, _>>()?,
    })
}

async fn tree(ctx: Context, params: ThreadTreeParams) -> Result<ThreadTreeResponse, Failure> {
    let query = TreeQuery {
        workspace_id: params.workspace_id.as_str().to_owned(),
        draft_owner: ctx.peer().key.clone(),
        limit: page_size(params.limit, PAGE, MAX_PAGE)?,
        after: params.cursor.as_deref().map(parse_cursor).transpose()?,
    };
    let tree = ctx
        .store()
        .threads()
        .tree(query)
        .await
        .map_err(rows::failure)?;
    Ok(ThreadTreeResponse {
        workspace_id: params.workspace_id,
        threads: tree
            .threads
            .into_iter()
            .map(rows::thread)
            .collect::<Result<_, _>>()?,
        folders: tree
            .folders
            .into_iter()
            .map(rows::folder)
            .collect::<Result<_, _>>()?,
        placements: tree
            .placements
            .iter()
            .map(rows::placement)
            .collect::<Result<_, _>>()?,
        agents_docs: tree
            .agents_docs
            .into_iter()
            .map(rows::agents_doc_summary)
            .collect::<Result<_, _>>()?,
        tree_version: Some(tree.version),
        next_cursor: tree.next.as_ref().map(print_cursor),
    })
}

async fn move_to(ctx: Context, params: ThreadMoveParams) -> Result<ThreadMoveResponse, Failure> {
    let folder = params.folder_id.as_ref().map(FolderId::as_str);
    let moved = ctx
        .store()
        .threads()
        .move_to(
            params.workspace_id.as_str(),
            params.thread_id.as_str(),
            folder,
            ctx.now(),
        )
        .await;
    if let Moved::Changed(tree_version) = moved.map_err(rows::failure)? {
        ctx.tree_changed(&params.workspace_id, tree_version, ThreadMove::NAME);
    }
    Ok(ThreadMoveResponse { moved: true })
}

async fn update(ctx: Context, params: ThreadUpdateParams) -> Result<ThreadUpdateResponse, Failure> {
    if params.name.is_none() && params.archived.is_none() && params.visibility.is_none() {
        return Err(Failure::param(
            "",
            "nothing to change: expected `name`, `archived` or `visibility`",
        ));
    }
    let change = ThreadChange {
        name: params.name.map(String::from),
        archived: params.archived,
        sidebar_visibility: params.visibility.map(rows::stored).transpose()?,
    };
    let updated = ctx
        .store()
        .threads()
        .update(
            params.workspace_id.as_str(),
            params.thread_id.as_str(),
            change,
            ctx.now(),
        )
        .await;
    let thread = announce(&ctx, updated.map_err(rows::failure)?, ThreadUpdate::NAME)?;
    Ok(ThreadUpdateResponse { thread })
}

async fn delete(ctx: Context, params: ThreadDeleteParams) -> Result<ThreadDeleteResponse, Failure> {
    check_is_no_workers("/thread_id", &params.thread_id)?;
    let delete = DeleteThread {
        workspace_id: params.workspace_id.as_str().to_owned(),
        thread_id: params.thread_id.as_str().to_owned(),
        author: ctx.principal().author().to_owned(),
        now: ctx.now(),
    };
    let deleted = ctx.store().threads().delete(delete).await;
    let tree_version = deleted.map_err(rows::failure)?;
    if let Some(tree_version) = tree_version {
        ctx.tree_changed(&params.workspace_id, tree_version, ThreadDelete::NAME);
    }
    Ok(ThreadDeleteResponse {
        deleted: tree_version.is_some(),
    })
}

async fn unsubscribe(
    ctx: Context,
    params: ThreadUnsubscribeParams,
) -> Result<ThreadUnsubscribeResponse, Failure> {
    let (hub, topic) = (&ctx.services().hub, thread_topic(&params.thread_id));
    let was_subscribed = hub.unsubscribe(ctx.peer().connection, &topic);
    let status = match (was_subscribed, hub.has_listeners(&topic)) {
        (true, true) => ThreadUnsubscribeStatus::Unsubscribed,
        (true, false) => {
            match ctx.store().threads().get(params.thread_id.as_str()).await {
                Ok(row) => ctx.tell(&ThreadClosedNotification {
                    workspace_id: rows::workspace_id(&row.workspace_id)?,
                    thread_id: params.thread_id,
                }),
                // The thread was deleted meanwhile, so there is nothing to close; the caller is unsubscribed anyway.
                Err(crud::Error::UnknownThread(_)) => {}
                Err(error) => return Err(rows::failure(error)),
            }
            ThreadUnsubscribeStatus::Unsubscribed
        }
        (false, true) => ThreadUnsubscribeStatus::NotSubscribed,
        (false, false) => ThreadUnsubscribeStatus::NotLoaded,
    };
    Ok(ThreadUnsubscribeResponse { status })
}

/// Notifies the subscribers of a thread and of its workspace about a changed thread.
fn announce(ctx: &Context, updated: Updated, reason: &str) -> Result<Thread, Failure> {
    let placement = updated
        .placement
        .as_ref()
        .map(rows::placement)
        .transpose()?;
    let thread = rows::thread(updated.thread)?;
    if let Some(tree_version) = updated.tree_version {
        let notification = ThreadUpdatedNotification {
            thread: thread.clone(),
            placement,
        };
        ctx.tell_thread(&thread.workspace_id, &thread.id, &notification);
        ctx.tree_changed(&thread.workspace_id, tree_version, reason);
    }
    Ok(thread)
}

/// Validates an optional text, which must not be blank if given. The contract assigns this error the code of a state
/// conflict.
pub(super) fn given_text(field: &str, text: Option<String>) -> Result<Option<String>, Failure> {
    let parsed = text.map(|text| Name::parse(&text)).transpose();
    parsed.map(|name| name.map(String::from)).map_err(|error| {
        Failure::state(FailureKind::InvalidParams, format!("`{field}`: {error}"))
            .with("path", format!("/{field}"))
    })
}

fn or_default(text: Option<String>, default: &str) -> Field<String> {
    match text {
        Some(text) => Field::Given(text),
        None => Field::Default(default.to_owned()),
    }
}

fn given_word<T: Serialize + Default>(word: Option<T>) -> Result<Field<String>, Failure> {
    Ok(match word {
        Some(word) => Field::Given(rows::stored(word)?),
        None => Field::Default(rows::stored(T::default())?),
    })
}

/// Returns the page size: the requested limit, clamped to `most`, or the default. Rejects 0.
pub(super) fn page_size(limit: Option<u32>, default: usize, most: usize) -> Result<u64, Failure> {
    match limit {
        None => Ok(default as u64),
        Some(0) => Err(Failure::param("/limit", "expected at least 1, found 0")),
        Some(limit) => Ok(u64::from(limit).min(most as u64)),
    }
}

/// Formats a cursor, which is opaque to clients: `<updated_at>.<id>` of the last thread of the page.
fn print_cursor(cursor: &ThreadCursor) -> String {
    format!("{}.{}", cursor.updated_at, cursor.id)
}

fn parse_cursor(text: &str) -> Result<ThreadCursor, Failure> {
    let parsed = text.split_once('.').and_then(|(updated_at, id)| {
        Some(ThreadCursor {
            updated_at: updated_at.parse().ok()?,
            id: ThreadId::parse(id).ok()?.into(),
        })
    });
    parsed.ok_or_else(|| Failure::param("/cursor", "expected a `next_cursor` of this method"))
}
