//! `thread/*`: threads and the thread tree of a workspace.

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

    /// Create a thread, or open the thread with this id, and subscribe to it.
    ///
    /// A thread that has neither a turn nor a placement in the tree is a draft. Only the connection that started a
    /// draft sees it, and the gateway deletes it after a day.
    Write ThreadStart = "thread/start" (ThreadStartParams in workspace_id) -> ThreadStartResponse;
    /// Return one thread.
    Read ThreadGet = "thread/get" (ThreadGetParams in thread_id) -> ThreadGetResponse;
    /// Return the recorded events of a thread, oldest first.
    Read ThreadHistory = "thread/history" (ThreadHistoryParams in thread_id) -> ThreadHistoryResponse;
    /// Return the thread tree of a workspace.
    ///
    /// The first page contains all folders, placements and AGENTS.md summaries; further pages contain only threads.
    Read ThreadTree = "thread/tree" (ThreadTreeParams in workspace_id) -> ThreadTreeResponse;
    /// Move a thread into a folder or to the root.
    Write ThreadMove = "thread/move" (ThreadMoveParams in workspace_id) -> ThreadMoveResponse;
    /// Rename, archive, show or hide a thread.
    Write ThreadUpdate = "thread/update" (ThreadUpdateParams in workspace_id) -> ThreadUpdateResponse;
    /// Move a thread with its turns to the trash; fails while a turn is running.
    ///
    /// A draft is deleted immediately. `trash/restore` restores a thread for up to 30 days.
    Write ThreadDelete = "thread/delete" (ThreadDeleteParams in workspace_id) -> ThreadDeleteResponse;
    /// Unsubscribe this connection from the notifications of a thread.
    Read ThreadUnsubscribe = "thread/unsubscribe" (ThreadUnsubscribeParams in thread_id) -> ThreadUnsubscribeResponse;

    notifications {
        /// A thread was created or opened; sent to the caller of `thread/start`.
        "thread/started" = ThreadStartedNotification;
        /// A thread changed; sent to its subscribers.
        "thread/updated" = ThreadUpdatedNotification;
        /// The last subscriber of a thread unsubscribed; sent to that subscriber.
        "thread/closed" = ThreadClosedNotification;
        /// The tree of a workspace changed; clients should reload it before displaying it.
        ///
        /// One notification may cover several changes.
        "thread/tree/changed" = ThreadTreeChangedNotification;
    }
}

/// A conversation with a model or the recorded work of an agent.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Thread {
    /// The id of the workspace that owns the thread.
    pub workspace_id: WorkspaceId,
    /// The id of the thread.
    pub id: ThreadId,
    /// The title. Absent until a client sets one or the gateway generates one from the first message.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The first 200 characters of the first message; empty if there is none.
    pub preview: String,
    /// The purpose of the thread.
    pub mode: ThreadMode,
    /// The id of the model for new turns.
    pub model: String,
    /// The id of the provider for new turns.
    pub model_provider: String,
    /// The time of creation in Unix seconds.
    pub created_at: i64,
    /// The time at which a turn last started or ended, in Unix seconds.
    pub updated_at: i64,
    /// Whether a turn of the thread is running.
    pub status: ThreadStatus,
    /// The origin of the thread.
    pub origin_kind: ThreadOriginKind,
    /// Whether the tree lists the thread.
    pub sidebar_visibility: ThreadSidebarVisibility,
    /// The name of the agent, for delegated threads. Absent for others.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent_nickname: Option<String>,
    /// The role of the agent, for delegated threads. Absent for others.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent_role: Option<String>,
    /// Always empty; `thread/history` returns the events of the turns.
    #[serde(default)]
    pub turns: Vec<Turn>,
}

/// The purpose of a thread. It is stored and displayed, and hooks may filter by it; it does not change how turns run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum ThreadMode {
    /// A conversation.
    #[default]
    Chat,
    /// The work of an agent. Turns offer no tools to the model in this mode either.
    Agent,
}

/// Whether a thread is active.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum ThreadStatus {
    /// A turn is running.
    Active,
    /// No turn is running.
    Idle,
    /// The thread accepts no further turns. Not produced at present.
    Closed,
}

/// The origin of a thread.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ThreadOriginKind {
    /// A person started the thread.
    #[default]
    User,
    /// A job or session of a worker started the thread.
    TaskRun,
    /// The gateway started the thread.
    System,
}

/// Whether the tree lists a thread.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ThreadSidebarVisibility {
    /// The tree lists the thread.
    #[default]
    Visible,
    /// The tree omits the thread.
    Hidden,
}

/// The placement of a thread in the tree.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ThreadPlacement {
    /// The id of the thread.
    pub thread_id: ThreadId,
    /// The id of the workspace that owns the thread and the folder.
    pub workspace_id: WorkspaceId,
    /// The id of the folder that contains the thread. Absent for the root.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub folder_id: Option<FolderId>,
}

/// The access that commands of a thread have.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum SandboxMode {
    /// Everything that the operating system user of the gateway may access.
    #[default]
    FullAccess,
}

/// The sandbox of a thread.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Sandbox {
    /// The access that commands have.
    pub mode: SandboxMode,
}

/// Params of [`ThreadStart`]. If the thread exists, only the fields that are present change.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ThreadStartParams {
    /// The id of the thread, chosen by the client.
    pub thread_id: ThreadId,
    /// The id of the workspace that owns the thread.
    pub workspace_id: WorkspaceId,
    /// The title, 1 to 200 characters. If absent, a new thread has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The id of the model for new turns. Default for a new thread: `echo`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The id of the provider for new turns. Default for a new thread: `echo`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model_provider: Option<String>,
    /// Returned in the response and otherwise ignored: turns start no commands. `FullAccess` is the only value and the
    /// default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sandbox: Option<SandboxMode>,
    /// The purpose of the thread. Default for a new thread: `Chat`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mode: Option<ThreadMode>,
    /// The origin of the thread; ignored if the thread exists. Default `user`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub origin_kind: Option<ThreadOriginKind>,
    /// Whether the tree lists the thread. Default for a new thread: `visible`.
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
    /// The thread after the call.
    pub thread: Thread,
    /// The sandbox of the thread.
    pub sandbox: Sandbox,
}

/// Params of [`ThreadGet`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ThreadGetParams {
    /// The id of the thread.
    pub thread_id: ThreadId,
}

/// Response of [`ThreadGet`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ThreadGetResponse {
    /// The requested thread.
    pub thread: Thread,
}

/// Params of [`ThreadHistory`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ThreadHistoryParams {
    /// The id of the thread.
    pub thread_id: ThreadId,
    /// The maximum number of events to return; the newest ones are kept. Minimum 1; default and maximum 10000.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<u32>,
}

/// Response of [`ThreadHistory`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ThreadHistoryResponse {
    /// The id of the workspace that owns the thread.
    pub workspace_id: WorkspaceId,
    /// The id of the thread.
    pub thread_id: ThreadId,
    /// The events, oldest first.
    pub events: Vec<TurnEvent>,
}

/// Params of [`ThreadTree`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ThreadTreeParams {
    /// The id of the workspace.
    pub workspace_id: WorkspaceId,
    /// The maximum number of threads to return. Default 500, maximum 5000.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<u32>,
    /// The `next_cursor` of the previous page. Absent for the first page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cursor: Option<String>,
}

/// Response of [`ThreadTree`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ThreadTreeResponse {
    /// The id of the workspace.
    pub workspace_id: WorkspaceId,
    /// The visible threads, newest `updated_at` first, then by id.
    pub threads: Vec<Thread>,
    /// All folders, by name in byte order, then by id. Empty on further pages.
    pub folders: Vec<ThreadFolder>,
    /// The placements of the visible threads, by thread id. Empty on further pages.
    pub placements: Vec<ThreadPlacement>,
    /// The AGENTS.md document of each scope, without its text. Empty on further pages.
    pub agents_docs: Vec<ThreadAgentsDocSummary>,
    /// The version of the tree, which increases with every change. The gateway always sends it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tree_version: Option<u64>,
    /// The cursor of the next page of threads. Absent on the last page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
}

/// Params of [`ThreadMove`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ThreadMoveParams {
    /// The id of the workspace that owns the thread and the folder.
    pub workspace_id: WorkspaceId,
    /// The id of the thread to move.
    pub thread_id: ThreadId,
    /// The id of the target folder. Absent for the root.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub folder_id: Option<FolderId>,
}

/// Response of [`ThreadMove`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ThreadMoveResponse {
    /// Always `true`, even if the thread was already in the folder.
    pub moved: bool,
}

/// Params of [`ThreadUpdate`]. At least one change is required.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ThreadUpdateParams {
    /// The id of the workspace that owns the thread.
    pub workspace_id: WorkspaceId,
    /// The id of the thread.
    pub thread_id: ThreadId,
    /// The new title. Absent for no change.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<Name>,
    /// Whether the thread is archived; the tree omits archived threads. Absent for no change.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub archived: Option<bool>,
    /// Whether the tree lists the thread. Absent for no change.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub visibility: Option<ThreadSidebarVisibility>,
}

/// Response of [`ThreadUpdate`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ThreadUpdateResponse {
    /// The thread after the change.
    pub thread: Thread,
}

/// Params of [`ThreadDelete`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ThreadDeleteParams {
    /// The id of the workspace that owns the thread.
    pub workspace_id: WorkspaceId,
    /// The id of the thread to delete.
    pub thread_id: ThreadId,
}

/// Response of [`ThreadDelete`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ThreadDeleteResponse {
    /// Whether the thread existed.
    pub deleted: bool,
}

/// Params of [`ThreadUnsubscribe`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ThreadUnsubscribeParams {
    /// The id of the thread. The gateway accepts the name `thread_id` as well.
    #[serde(rename = "threadId", alias = "thread_id")]
    pub thread_id: ThreadId,
}

/// Response of [`ThreadUnsubscribe`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ThreadUnsubscribeResponse {
    /// The result of the call.
    pub status: ThreadUnsubscribeStatus,
}

/// The result of [`ThreadUnsubscribe`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum ThreadUnsubscribeStatus {
    /// No connection was subscribed to the thread.
    NotLoaded,
    /// Other connections are subscribed; this one was not.
    NotSubscribed,
    /// This connection was subscribed and no longer is.
    Unsubscribed,
}

/// Payload of `thread/started`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ThreadStartedNotification {
    /// The thread that was created or opened.
    pub thread: Thread,
}

/// Payload of `thread/updated`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ThreadUpdatedNotification {
    /// The thread after the change.
    pub thread: Thread,
    /// The placement of the thread. Absent if the thread has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub placement: Option<ThreadPlacement>,
}

/// Payload of `thread/closed`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ThreadClosedNotification {
    /// The id of the workspace that owns the thread.
    pub workspace_id: WorkspaceId,
    /// The id of the thread.
    pub thread_id: ThreadId,
}

/// Payload of `thread/tree/changed`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ThreadTreeChangedNotification {
    /// The id of the workspace.
    pub workspace_id: WorkspaceId,
    /// The method that changed the tree, or `external` for a change by another process. The gateway always sends it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The version of the tree after the change. The gateway always sends it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tree_version: Option<u64>,
}
