//! `trash/*`: deleted threads, folders and AGENTS.md documents that can still be restored.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    FolderId, WorkspaceId,
    thread::{Thread, agents_doc::ThreadAgentsDocPayload, folder::ThreadFolder},
};

crate::methods! {
    Tree family "trash";

    /// List what was deleted in a workspace and can still be restored, the newest first.
    ///
    /// `thread/delete`, `thread/folder/delete` and `thread/agents_doc/archive` put things here; they are deleted for good
    /// 30 days later.
    Read TrashList = "trash/list" (TrashListParams in workspace_id) -> TrashListResponse;
    /// Put a deleted thread, folder or AGENTS.md back where it was.
    ///
    /// If the folder it was in is gone, a thread or folder goes to the root and `notes` says so. A folder gets back its
    /// AGENTS.md and those threads and folders that have not been moved since. An AGENTS.md is refused while its folder is
    /// deleted or has another one.
    Write TrashRestore = "trash/restore" (TrashRestoreParams in workspace_id) -> TrashRestoreResponse;
    /// Delete items of the trash for good, all of them or none.
    ///
    /// Saved versions of AGENTS.md stay readable by `thread/agents_doc/revision_get`, because prompt manifests refer to
    /// them.
    Write TrashPurge = "trash/purge" (TrashPurgeParams in workspace_id) -> TrashPurgeResponse;
}

/// What a trash item is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TrashItemKind {
    /// A thread with its turns.
    Thread,
    /// A folder with its AGENTS.md.
    Folder,
    /// An AGENTS.md that was archived on its own.
    AgentsDoc,
}

/// A deleted thing that can still be restored.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TrashItem {
    /// What it is.
    pub kind: TrashItemKind,
    /// The id of the thread, folder or document; with `kind` it names the item.
    pub id: String,
    /// The workspace.
    pub workspace_id: WorkspaceId,
    /// The title of the thread, the name of the folder, or `AGENTS.md`; empty for a thread without a title or text.
    pub name: String,
    /// The folder it was in, or the folder of the document; absent for the root.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub folder_id: Option<FolderId>,
    /// The name of that folder when the item was deleted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub folder_name: Option<String>,
    /// Folders only: how many threads were directly in it; they moved one level up when it was deleted.
    pub thread_count: u64,
    /// Folders only: how many folders were directly in it; they moved one level up when it was deleted.
    pub folder_count: u64,
    /// Folders only: whether an AGENTS.md was archived with it.
    pub has_agents_doc: bool,
    /// Unix seconds.
    pub deleted_at: i64,
    /// Who deleted it.
    pub deleted_by: String,
    /// When it is deleted for good, in Unix seconds.
    pub purge_at: i64,
}

/// Names one item of the trash.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TrashItemRef {
    /// What it is.
    pub kind: TrashItemKind,
    /// The id of the thread, folder or document.
    pub id: String,
}

/// Params of [`TrashList`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TrashListParams {
    /// The workspace.
    pub workspace_id: WorkspaceId,
    /// The most items to answer: 100 when absent, 1000 at most.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<u32>,
    /// The `next_cursor` of the page before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cursor: Option<String>,
}

/// Response of [`TrashList`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TrashListResponse {
    /// The items, those deleted last first.
    pub items: Vec<TrashItem>,
    /// Where the next page begins; absent on the last one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
}

/// Params of [`TrashRestore`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TrashRestoreParams {
    /// The workspace.
    pub workspace_id: WorkspaceId,
    /// What the item is.
    pub kind: TrashItemKind,
    /// The id of the thread, folder or document.
    pub id: String,
}

/// Response of [`TrashRestore`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TrashRestoreResponse {
    /// The item as it was in the trash.
    pub item: TrashItem,
    /// The restored thread.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thread: Option<Thread>,
    /// The restored folder.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub folder: Option<ThreadFolder>,
    /// The restored AGENTS.md, with its id, its earlier versions and the next version of its scope.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub doc: Option<ThreadAgentsDocPayload>,
    /// How many threads moved back into the folder.
    pub returned_threads: u64,
    /// How many folders moved back into the folder.
    pub returned_folders: u64,
    /// Sentences for people about what could not be put back as it was; empty when everything was.
    pub notes: Vec<String>,
}

/// Params of [`TrashPurge`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TrashPurgeParams {
    /// The workspace.
    pub workspace_id: WorkspaceId,
    /// The items to delete for good, 1 to 1000.
    pub items: Vec<TrashItemRef>,
}

/// Response of [`TrashPurge`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TrashPurgeResponse {
    /// How many items were deleted for good.
    pub purged: u64,
}
