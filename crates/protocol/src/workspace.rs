//! `workspace/*`: the workspaces of a home.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Name, WorkspaceId};

crate::methods! {
    Tree family "workspace";

    /// List the workspaces that the caller may see, oldest first.
    Read WorkspaceList = "workspace/list" (WorkspaceListParams) -> WorkspaceListResponse;
    /// Return the workspace that a client should open first.
    ///
    /// This is the current workspace, else the oldest active one, else a new default workspace. Creating the default
    /// workspace requires scope `write`.
    Read WorkspaceDefault = "workspace/default" (WorkspaceDefaultParams) -> WorkspaceDefaultResponse;
    /// Create a workspace with an id chosen by the client.
    ///
    /// If the id exists, the stored workspace is returned unchanged.
    Write WorkspaceCreate = "workspace/create" (WorkspaceCreateParams in workspace_id) -> WorkspaceCreateResponse;
    /// Return one workspace and optionally make it the current one.
    ///
    /// Making it current requires scope `write` and a token that is not limited to some workspaces.
    Read WorkspaceSelect = "workspace/select" (WorkspaceSelectParams in workspace_id) -> WorkspaceSelectResponse;
    /// Rename a workspace.
    Write WorkspaceUpdate = "workspace/update" (WorkspaceUpdateParams in workspace_id) -> WorkspaceUpdateResponse;
    /// Deactivate the workspace of a company folder, for example after the folder was deleted.
    ///
    /// Files on disk do not change. Opening the folder again reactivates the workspace with its threads and documents.
    Write WorkspaceForget = "workspace/forget" (WorkspaceForgetParams in workspace_id) -> WorkspaceForgetResponse;
    /// Subscribe this connection to the notifications of a workspace.
    ///
    /// Any other call that names the workspace subscribes the connection as well.
    Read WorkspaceSubscribe = "workspace/subscribe" (WorkspaceSubscribeParams in workspace_id) -> WorkspaceSubscribeResponse;
    /// Unsubscribe this connection from the notifications of a workspace.
    Read WorkspaceUnsubscribe = "workspace/unsubscribe" (WorkspaceUnsubscribeParams in workspace_id) -> WorkspaceUnsubscribeResponse;

    notifications {
        /// A workspace was created, renamed, deactivated or made current; sent to every connection that may see it.
        "workspace/changed" = WorkspaceChangedNotification;
    }
}

/// A thread tree with its documents and artifacts.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Workspace {
    /// The id of the workspace.
    pub id: WorkspaceId,
    /// The display name of the workspace.
    pub name: String,
    /// Whether the workspace is active. Calls that name an inactive workspace fail.
    pub is_active: bool,
    /// Whether clients should open this workspace first. At most one workspace is current.
    pub is_current: bool,
    /// The path of the company folder linked to the workspace. Absent if none is linked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dir: Option<String>,
    /// The time of creation in Unix seconds.
    pub created_at: i64,
    /// The time of the last change to the workspace itself in Unix seconds.
    pub updated_at: i64,
}

/// Params of [`WorkspaceList`].
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct WorkspaceListParams {}

/// Response of [`WorkspaceList`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct WorkspaceListResponse {
    /// The workspaces that the caller may see, oldest first, including inactive ones.
    pub workspaces: Vec<Workspace>,
}

/// Params of [`WorkspaceDefault`].
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct WorkspaceDefaultParams {}

/// Response of [`WorkspaceDefault`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct WorkspaceDefaultResponse {
    /// The workspace to open first.
    pub workspace: Workspace,
}

/// Params of [`WorkspaceCreate`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct WorkspaceCreateParams {
    /// The id of the new workspace.
    pub workspace_id: WorkspaceId,
    /// The display name. Default: `Workspace` followed by a number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<Name>,
}

/// Response of [`WorkspaceCreate`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct WorkspaceCreateResponse {
    /// The new workspace, or the stored one if the id existed.
    pub workspace: Workspace,
}

/// Params of [`WorkspaceSelect`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct WorkspaceSelectParams {
    /// The id of the workspace.
    pub workspace_id: WorkspaceId,
    /// Whether to make the workspace the current one. Default `false`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub make_current: Option<bool>,
}

/// Response of [`WorkspaceSelect`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct WorkspaceSelectResponse {
    /// The workspace after the call.
    pub workspace: Workspace,
}

/// Params of [`WorkspaceUpdate`]. At least one change is required.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct WorkspaceUpdateParams {
    /// The id of the workspace.
    pub workspace_id: WorkspaceId,
    /// The new display name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<Name>,
}

/// Response of [`WorkspaceUpdate`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct WorkspaceUpdateResponse {
    /// The workspace after the change.
    pub workspace: Workspace,
}

/// Params of [`WorkspaceForget`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct WorkspaceForgetParams {
    /// The id of a workspace that is linked to a company folder.
    pub workspace_id: WorkspaceId,
}

/// Response of [`WorkspaceForget`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct WorkspaceForgetResponse {
    /// The workspace, now inactive.
    pub workspace: Workspace,
}

/// Params of [`WorkspaceSubscribe`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct WorkspaceSubscribeParams {
    /// The id of the workspace.
    pub workspace_id: WorkspaceId,
}

/// Response of [`WorkspaceSubscribe`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct WorkspaceSubscribeResponse {
    /// Always `true`.
    pub subscribed: bool,
}

/// Params of [`WorkspaceUnsubscribe`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct WorkspaceUnsubscribeParams {
    /// The id of the workspace.
    pub workspace_id: WorkspaceId,
}

/// Response of [`WorkspaceUnsubscribe`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct WorkspaceUnsubscribeResponse {
    /// Always `false`.
    pub subscribed: bool,
}

/// Payload of `workspace/changed`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct WorkspaceChangedNotification {
    /// The workspace after the change.
    pub workspace: Workspace,
}
