//! `thread/*`: threads and the tree they hang in.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    FolderId, Name, ThreadId, WorkspaceId,
    turn::{Turn, TurnEvent},
};

pub mod agents_doc;
pub mod folder;

use agents_doc::ThreadAgentsDocSummary;
use folder::ThreadFolder;

crate::methods! {
    Tree family "thread";

    /// Create a thread, or open the one with this id, and subscribe to it.
    ///
    /// A thread that has neither a turn nor a place in the tree is a draft: only this connection sees it,
    /// and it is forgotten after a day.
    Write ThreadStart = "thread/start" (ThreadStartParams in workspace_id) -> ThreadStartResponse;
    /// Read one thread.
    Read ThreadGet = "thread/get" (ThreadGetParams in thread_id) -> ThreadGetResponse;
    /// Read the recorded events of a thread, oldest first.
    Read ThreadHistory = "thread/history" (ThreadHistoryParams in thread_id) -> ThreadHistoryResponse;
    /// Read the tree of a workspace.
    ///
    /// The first page carries every folder, placement and AGENTS.md summary; further pages carry threads only.
    Read ThreadTree = "thread/tree" (ThreadTreeParams in workspace_id) -> ThreadTreeResponse;
    /// Put a thread into a folder, or to the root.
    Write ThreadMove = "thread/move" (ThreadMoveParams in workspace_id) -> ThreadMoveResponse;
    /// Rename, archive, show or hide a thread.
    Write ThreadUpdate = "thread/update" (ThreadUpdateParams in workspace_id) -> ThreadUpdateResponse;
    /// Move a thread with its turns into the trash; refused while a turn runs.
    ///
    /// A draft is deleted at once. `trash/restore` brings a thread back within 30 days.
    Write ThreadDelete = "thread/delete" (ThreadDeleteParams in workspace_id) -> ThreadDeleteResponse;
    /// Stop receiving the notifications of a thread on this connection.
    Read ThreadUnsubscribe = "thread/unsubscribe" (ThreadUnsubscribeParams in thread_id) -> ThreadUnsubscribeResponse;

    notifications {
        /// A thread was created or opened; sent to the caller of `thread/start`.
        "thread/started" = ThreadStartedNotification;
        /// A thread changed; sent to its subscribers.
        "thread/updated" = ThreadUpdatedNotification;
        /// The last subscriber of a thread left; sent to that subscriber.
        "thread/closed" = ThreadClosedNotification;
        /// The tree of a workspace changed: read it again before showing it.
        ///
        /// Several changes may be told by one notification.
        "thread/tree/changed" = ThreadTreeChangedNotification;
    }
}

/// A conversation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Thread {
    /// The workspace that owns the thread.
    pub workspace_id: WorkspaceId,
    /// The thread.
    pub id: ThreadId,
    /// The title; absent until given or generated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The first text that was said, empty before that.
    pub preview: String,
    /// What the model may do.
    pub mode: ThreadMode,
    /// The model of new turns.
    pub model: String,
    /// The provider of new turns.
    pub model_provider: String,
    /// Unix seconds.
    pub created_at: i64,
    /// Unix seconds; moves when a turn starts or ends.
    pub updated_at: i64,
    /// Whether a turn runs.
    pub status: ThreadStatus,
    /// Who the thread belongs to.
    pub origin_kind: ThreadOriginKind,
    /// Whether the tree shows it.
    pub sidebar_visibility: ThreadSidebarVisibility,
    /// The name of the agent, for delegated threads.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent_nickname: Option<String>,
    /// The role of the agent, for delegated threads.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent_role: Option<String>,
    /// The turns; empty in lists.
    #[serde(default)]
    pub turns: Vec<Turn>,
}

/// The purpose of a thread. It is stored and shown, and hooks may filter by it; it changes nothing about a turn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum ThreadMode {
    /// A conversation.
    #[default]
    Chat,
    /// The work of an agent. Turns offer the model no tools in this mode either.
    Agent,
}

/// Whether a thread is at work.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum ThreadStatus {
    /// A turn runs.
    Active,
    /// Nothing runs.
    Idle,
    /// Nothing will run.
    Closed,
}

/// Where a thread comes from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ThreadOriginKind {
    /// A person.
    #[default]
    User,
    /// A job or session.
    TaskRun,
    /// The gateway.
    System,
}

/// Whether the tree shows a thread.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ThreadSidebarVisibility {
    /// It is listed.
    #[default]
    Visible,
    /// It is left out.
    Hidden,
}

/// Where a thread hangs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ThreadPlacement {
    /// The thread.
    pub thread_id: ThreadId,
    /// The workspace that owns both.
    pub workspace_id: WorkspaceId,
    /// The folder; absent for the root.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub folder_id: Option<FolderId>,
}

/// What commands of a thread may touch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum SandboxMode {
    /// Everything the gateway's user may touch.
    #[default]
    FullAccess,
}

/// The sandbox of a thread.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Sandbox {
    /// What commands may touch.
    pub mode: SandboxMode,
}

/// Params of [`ThreadStart`]. On a thread that exists, only the given fields change.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ThreadStartParams {
    /// The id of the thread, made by the client.
    pub thread_id: ThreadId,
    /// The workspace that owns the thread.
    pub workspace_id: WorkspaceId,
    /// The title.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The model of new turns.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The provider of new turns.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model_provider: Option<String>,
    /// Has no effect beyond being answered: `FullAccess` is the only value, and turns start no commands.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sandbox: Option<SandboxMode>,
    /// What the model may do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mode: Option<ThreadMode>,
    /// Where the thread comes from; read only when the thread is new.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub origin_kind: Option<ThreadOriginKind>,
    /// Whether the tree shows it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sidebar_visibility: Option<ThreadSidebarVisibility>,
    /// The name of the agent, for delegated threads.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent_nickname: Option<String>,
    /// The role of the agent, for delegated threads.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent_role: Option<String>,
}

/// Response of [`ThreadStart`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ThreadStartResponse {
    /// The thread as it is now.
    pub thread: Thread,
    /// Its sandbox.
    pub sandbox: Sandbox,
}

/// Params of [`ThreadGet`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ThreadGetParams {
    /// The thread.
    pub thread_id: ThreadId,
}

/// Response of [`ThreadGet`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ThreadGetResponse {
    /// The thread.
    pub thread: Thread,
}

/// Params of [`ThreadHistory`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ThreadHistoryParams {
    /// The thread.
    pub thread_id: ThreadId,
    /// The most events to answer, the newest ones; at least 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<u32>,
}

/// Response of [`ThreadHistory`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ThreadHistoryResponse {
    /// The workspace that owns the thread.
    pub workspace_id: WorkspaceId,
    /// The thread.
    pub thread_id: ThreadId,
    /// What happened, oldest first.
    pub events: Vec<TurnEvent>,
}

/// Params of [`ThreadTree`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ThreadTreeParams {
    /// The workspace.
    pub workspace_id: WorkspaceId,
    /// The most threads to answer: 500 when absent, 5000 at most.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<u32>,
    /// The `next_cursor` of the page before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cursor: Option<String>,
}

/// Response of [`ThreadTree`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ThreadTreeResponse {
    /// The workspace.
    pub workspace_id: WorkspaceId,
    /// The visible threads, newest `updated_at` first, then by id.
    pub threads: Vec<Thread>,
    /// Every folder by name in byte order, then by id; empty on further pages.
    pub folders: Vec<ThreadFolder>,
    /// Where the visible threads hang, by thread id; empty on further pages.
    pub placements: Vec<ThreadPlacement>,
    /// The AGENTS.md of each scope, without its text; empty on further pages.
    pub agents_docs: Vec<ThreadAgentsDocSummary>,
    /// Grows with every change of the tree.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tree_version: Option<u64>,
    /// Where the next page of threads begins; absent on the last one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
}

/// Params of [`ThreadMove`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ThreadMoveParams {
    /// The workspace that owns both.
    pub workspace_id: WorkspaceId,
    /// The thread.
    pub thread_id: ThreadId,
    /// The folder; absent for the root.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub folder_id: Option<FolderId>,
}

/// Response of [`ThreadMove`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ThreadMoveResponse {
    /// Always `true`, also when the thread was there already.
    pub moved: bool,
}

/// Params of [`ThreadUpdate`]; at least one change is needed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ThreadUpdateParams {
    /// The workspace that owns the thread.
    pub workspace_id: WorkspaceId,
    /// The thread.
    pub thread_id: ThreadId,
    /// The new title.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<Name>,
    /// Whether the thread is put away; archived threads are not in the tree.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub archived: Option<bool>,
    /// Whether the tree shows it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub visibility: Option<ThreadSidebarVisibility>,
}

/// Response of [`ThreadUpdate`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ThreadUpdateResponse {
    /// The thread as it is now.
    pub thread: Thread,
}

/// Params of [`ThreadDelete`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ThreadDeleteParams {
    /// The workspace that owns the thread.
    pub workspace_id: WorkspaceId,
    /// The thread.
    pub thread_id: ThreadId,
}

/// Response of [`ThreadDelete`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ThreadDeleteResponse {
    /// Whether there was such a thread.
    pub deleted: bool,
}

/// Params of [`ThreadUnsubscribe`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ThreadUnsubscribeParams {
    /// The thread; `thread_id` is understood too.
    #[serde(rename = "threadId", alias = "thread_id")]
    pub thread_id: ThreadId,
}

/// Response of [`ThreadUnsubscribe`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ThreadUnsubscribeResponse {
    /// What the call found.
    pub status: ThreadUnsubscribeStatus,
}

/// What [`ThreadUnsubscribe`] found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum ThreadUnsubscribeStatus {
    /// Nobody is subscribed to the thread.
    NotLoaded,
    /// Others are subscribed, this connection is not.
    NotSubscribed,
    /// This connection was subscribed and is no longer.
    Unsubscribed,
}

/// Payload of `thread/started`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ThreadStartedNotification {
    /// The thread as it is now.
    pub thread: Thread,
}

/// Payload of `thread/updated`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ThreadUpdatedNotification {
    /// The thread as it is now.
    pub thread: Thread,
    /// Where it hangs; absent while it has no place in the tree.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub placement: Option<ThreadPlacement>,
}

/// Payload of `thread/closed`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ThreadClosedNotification {
    /// The workspace that owns the thread.
    pub workspace_id: WorkspaceId,
    /// The thread.
    pub thread_id: ThreadId,
}

/// Payload of `thread/tree/changed`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ThreadTreeChangedNotification {
    /// The workspace.
    pub workspace_id: WorkspaceId,
    /// The method that changed the tree, or `external` for a change made by another process.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The version of the tree after the change.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tree_version: Option<u64>,
}
