//! `thread/folder/*`: the folders of the thread tree.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{FolderId, Name, WorkspaceId};

crate::methods! {
    Tree family "thread/folder";

    /// Create a folder.
    Write ThreadFolderCreate = "thread/folder/create" (ThreadFolderCreateParams in workspace_id) -> ThreadFolderCreateResponse;
    /// Move a folder with all its content into another folder or to the root.
    Write ThreadFolderMove = "thread/folder/move" (ThreadFolderMoveParams in workspace_id) -> ThreadFolderMoveResponse;
    /// Rename a folder or set its position.
    Write ThreadFolderUpdate = "thread/folder/update" (ThreadFolderUpdateParams in workspace_id) -> ThreadFolderUpdateResponse;
    /// Move a folder to the trash; its content moves up one level.
    ///
    /// The AGENTS.md document of the folder is archived with it. `trash/restore` restores both for up to 30 days.
    Write ThreadFolderDelete = "thread/folder/delete" (ThreadFolderDeleteParams in workspace_id) -> ThreadFolderDeleteResponse;
}

/// A folder of the thread tree.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ThreadFolder {
    /// The id of the folder.
    pub id: FolderId,
    /// The id of the workspace that owns the folder.
    pub workspace_id: WorkspaceId,
    /// The id of the parent folder. Absent if the folder is at the root.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent_folder_id: Option<FolderId>,
    /// The display name; siblings may have the same name.
    pub name: String,
    /// The position among its siblings, for clients that support manual sorting; the gateway does not sort by it.
    /// Absent until a client sets it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub position: Option<i64>,
    /// The time of creation in Unix seconds.
    pub created_at: i64,
    /// The time of the last change to the folder in Unix seconds.
    pub updated_at: i64,
}

/// Params of [`ThreadFolderCreate`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ThreadFolderCreateParams {
    /// The id of the workspace.
    pub workspace_id: WorkspaceId,
    /// The id of the parent folder. Absent for the root.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent_folder_id: Option<FolderId>,
    /// The display name of the folder.
    pub name: Name,
}

/// Response of [`ThreadFolderCreate`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ThreadFolderCreateResponse {
    /// The new folder.
    pub folder: ThreadFolder,
}

/// Params of [`ThreadFolderMove`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ThreadFolderMoveParams {
    /// The id of the workspace that owns both folders.
    pub workspace_id: WorkspaceId,
    /// The id of the folder to move.
    pub folder_id: FolderId,
    /// The id of the new parent folder. Absent for the root.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent_folder_id: Option<FolderId>,
}

/// Response of [`ThreadFolderMove`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ThreadFolderMoveResponse {
    /// Always `true`, even if the folder already had this parent.
    pub moved: bool,
}

/// Params of [`ThreadFolderUpdate`]. At least one change is required.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ThreadFolderUpdateParams {
    /// The id of the workspace that owns the folder.
    pub workspace_id: WorkspaceId,
    /// The id of the folder.
    pub folder_id: FolderId,
    /// The new display name. Absent for no change.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<Name>,
    /// The new position. Absent for no change.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub position: Option<i64>,
}

/// Response of [`ThreadFolderUpdate`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ThreadFolderUpdateResponse {
    /// The folder after the change.
    pub folder: ThreadFolder,
}

/// Params of [`ThreadFolderDelete`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ThreadFolderDeleteParams {
    /// The id of the workspace that owns the folder.
    pub workspace_id: WorkspaceId,
    /// The id of the folder to delete.
    pub folder_id: FolderId,
}

/// Response of [`ThreadFolderDelete`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ThreadFolderDeleteResponse {
    /// Whether the folder existed.
    pub deleted: bool,
}
