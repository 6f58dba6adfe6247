//! `trash/*`: deleted threads, folders and AGENTS.md documents that can still be restored.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    FolderId, WorkspaceId,
    thread::{Thread, agents_doc::ThreadAgentsDocPayload, folder::ThreadFolder},
};

crate::methods! {
    Tree family "trash";

    /// List the deleted items of a workspace that can still be restored, newest deletion first.
    ///
    /// `thread/delete`, `thread/folder/delete` and `thread/agents_doc/archive` move items to the trash. The gateway
    /// deletes them permanently after 30 days.
    Read TrashList = "trash/list" (TrashListParams in workspace_id) -> TrashListResponse;
    /// Restore a deleted thread, folder or AGENTS.md document to its previous location.
    ///
    /// If the containing folder no longer exists, a thread or folder is restored to the root and `notes` reports it. A
    /// restored folder gets back its AGENTS.md document and the threads and folders that have not been moved since.
    /// Restoring an AGENTS.md document fails while its folder is deleted or has another document.
    Write TrashRestore = "trash/restore" (TrashRestoreParams in workspace_id) -> TrashRestoreResponse;
    /// Delete items of the trash permanently; either all of them or none.
    ///
    /// Saved versions of AGENTS.md documents stay readable by `thread/agents_doc/revision_get`, because prompt
    /// manifests refer to them.
    Write TrashPurge = "trash/purge" (TrashPurgeParams in workspace_id) -> TrashPurgeResponse;
}

/// The type of a deleted item.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TrashItemKind {
    /// A thread with its turns.
    Thread,
    /// A folder with its AGENTS.md document.
    Folder,
    /// An AGENTS.md document that was archived separately from its folder.
    AgentsDoc,
}

/// A deleted item that can still be restored.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TrashItem {
    /// The type of the item.
    pub kind: TrashItemKind,
    /// The id of the thread, folder or document. `kind` and `id` together identify the item.
    pub id: String,
    /// The id of the workspace that owns the item.
    pub workspace_id: WorkspaceId,
    /// The title of the thread, the name of the folder, or `AGENTS.md`. For a thread without a title, the beginning of
    /// its first message; empty if it has none.
    pub name: String,
    /// The id of the folder that contained the item; for a document, its folder. Absent for the root.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub folder_id: Option<FolderId>,
    /// The name of that folder at the time of deletion. Absent for the root.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub folder_name: Option<String>,
    /// For folders, the number of threads directly in it; they moved up one level when the folder was deleted. 0 for
    /// other items.
    pub thread_count: u64,
    /// For folders, the number of folders directly in it; they moved up one level when the folder was deleted. 0 for
    /// other items.
    pub folder_count: u64,
    /// Whether an AGENTS.md document was archived together with the folder. `false` for items that are not folders.
    pub has_agents_doc: bool,
    /// The time of deletion in Unix seconds.
    pub deleted_at: i64,
    /// The principal that deleted the item: `owner` or the id of a token.
    pub deleted_by: String,
    /// The time of permanent deletion in Unix seconds, 30 days after `deleted_at`.
    pub purge_at: i64,
}

/// A reference to one item of the trash.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TrashItemRef {
    /// The type of the item.
    pub kind: TrashItemKind,
    /// The id of the thread, folder or document.
    pub id: String,
}

/// Params of [`TrashList`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TrashListParams {
    /// The id of the workspace.
    pub workspace_id: WorkspaceId,
    /// The maximum number of items to return. Default 100, maximum 1000.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<u32>,
    /// The `next_cursor` of the previous page. Absent for the first page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cursor: Option<String>,
}

/// Response of [`TrashList`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TrashListResponse {
    /// The items, newest deletion first.
    pub items: Vec<TrashItem>,
    /// The cursor of the next page. Absent on the last page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
}

/// Params of [`TrashRestore`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TrashRestoreParams {
    /// The id of the workspace that owns the item.
    pub workspace_id: WorkspaceId,
    /// The type of the item.
    pub kind: TrashItemKind,
    /// The id of the thread, folder or document.
    pub id: String,
}

/// Response of [`TrashRestore`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TrashRestoreResponse {
    /// The item as it was listed in the trash.
    pub item: TrashItem,
    /// The restored thread. Absent if the item is not a thread.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thread: Option<Thread>,
    /// The restored folder. Absent if the item is not a folder.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub folder: Option<ThreadFolder>,
    /// The restored AGENTS.md document. It keeps its id and its earlier versions and gets the next version number of
    /// its scope. Absent if no document was restored.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub doc: Option<ThreadAgentsDocPayload>,
    /// The number of threads that moved back into the restored folder.
    pub returned_threads: u64,
    /// The number of folders that moved back into the restored folder.
    pub returned_folders: u64,
    /// Sentences for display that state what could not be restored to its previous state. Empty if everything was.
    pub notes: Vec<String>,
}

/// Params of [`TrashPurge`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TrashPurgeParams {
    /// The id of the workspace that owns the items.
    pub workspace_id: WorkspaceId,
    /// The items to delete permanently, 1 to 1000.
    pub items: Vec<TrashItemRef>,
}

/// Response of [`TrashPurge`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TrashPurgeResponse {
    /// The number of items that were deleted permanently; duplicates count once.
    pub purged: u64,
}
