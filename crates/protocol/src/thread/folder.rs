//! `thread/folder/*`: the folders of the thread tree.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{FolderId, Name, WorkspaceId};

crate::methods! {
    Tree family "thread/folder";

    /// Create a folder.
    Write ThreadFolderCreate = "thread/folder/create" (ThreadFolderCreateParams in workspace_id) -> ThreadFolderCreateResponse;
    /// Put a folder with everything in it under another one, or to the root.
    Write ThreadFolderMove = "thread/folder/move" (ThreadFolderMoveParams in workspace_id) -> ThreadFolderMoveResponse;
    /// Rename a folder or give it a position.
    Write ThreadFolderUpdate = "thread/folder/update" (ThreadFolderUpdateParams in workspace_id) -> ThreadFolderUpdateResponse;
    /// Move a folder into the trash; what is in it moves one level up.
    ///
    /// Its AGENTS.md is archived with it. `trash/restore` brings both back within 30 days.
    Write ThreadFolderDelete = "thread/folder/delete" (ThreadFolderDeleteParams in workspace_id) -> ThreadFolderDeleteResponse;
}

/// A node of the thread tree.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ThreadFolder {
    /// The folder.
    pub id: FolderId,
    /// The workspace that owns it.
    pub workspace_id: WorkspaceId,
    /// The folder it is in; absent at the root.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent_folder_id: Option<FolderId>,
    /// What people call it; siblings may share a name.
    pub name: String,
    /// A place among its siblings for clients that sort by hand; absent until given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub position: Option<i64>,
    /// Unix seconds.
    pub created_at: i64,
    /// Unix seconds.
    pub updated_at: i64,
}

/// Params of [`ThreadFolderCreate`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ThreadFolderCreateParams {
    /// The workspace.
    pub workspace_id: WorkspaceId,
    /// The folder to create it in; absent for the root.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent_folder_id: Option<FolderId>,
    /// What to call it.
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
    /// The workspace.
    pub workspace_id: WorkspaceId,
    /// The folder to move.
    pub folder_id: FolderId,
    /// The folder to move it into; absent for the root.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent_folder_id: Option<FolderId>,
}

/// Response of [`ThreadFolderMove`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ThreadFolderMoveResponse {
    /// Always `true`, also when the folder was there already.
    pub moved: bool,
}

/// Params of [`ThreadFolderUpdate`]; at least one change is needed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ThreadFolderUpdateParams {
    /// The workspace.
    pub workspace_id: WorkspaceId,
    /// The folder.
    pub folder_id: FolderId,
    /// The new name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<Name>,
    /// The new position.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub position: Option<i64>,
}

/// Response of [`ThreadFolderUpdate`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ThreadFolderUpdateResponse {
    /// The folder as it is now.
    pub folder: ThreadFolder,
}

/// Params of [`ThreadFolderDelete`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ThreadFolderDeleteParams {
    /// The workspace.
    pub workspace_id: WorkspaceId,
    /// The folder.
    pub folder_id: FolderId,
}

/// Response of [`ThreadFolderDelete`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ThreadFolderDeleteResponse {
    /// Whether there was such a folder.
    pub deleted: bool,
}
