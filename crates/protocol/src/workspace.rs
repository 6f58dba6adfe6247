//! `workspace/*`: the workspaces of a home.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Name, WorkspaceId};

crate::methods! {
    Tree family "workspace";

    /// List every workspace, oldest first.
    Read WorkspaceList = "workspace/list" (WorkspaceListParams) -> WorkspaceListResponse;
    /// Answer the workspace to start in.
    ///
    /// It is the current one, else the first active one, else a new default workspace, which needs scope `write`.
    Read WorkspaceDefault = "workspace/default" (WorkspaceDefaultParams) -> WorkspaceDefaultResponse;
    /// Create a workspace under an id the client made.
    ///
    /// An id that exists answers the stored workspace and changes nothing.
    Write WorkspaceCreate = "workspace/create" (WorkspaceCreateParams in workspace_id) -> WorkspaceCreateResponse;
    /// Answer one workspace and, on request, make it the current one, which needs scope `write` and a token for all
    /// workspaces.
    Read WorkspaceSelect = "workspace/select" (WorkspaceSelectParams in workspace_id) -> WorkspaceSelectResponse;
    /// Rename a workspace.
    Write WorkspaceUpdate = "workspace/update" (WorkspaceUpdateParams in workspace_id) -> WorkspaceUpdateResponse;
    /// Forget the company folder of a workspace, such as one that was deleted; nothing on the disk changes.
    ///
    /// The workspace becomes inactive. Opening the folder again brings it back with its threads and documents.
    Write WorkspaceForget = "workspace/forget" (WorkspaceForgetParams in workspace_id) -> WorkspaceForgetResponse;
    /// Receive the notifications of a workspace on this connection.
    ///
    /// Naming a workspace in any other call has the same effect.
    Read WorkspaceSubscribe = "workspace/subscribe" (WorkspaceSubscribeParams in workspace_id) -> WorkspaceSubscribeResponse;
    /// Stop receiving the notifications of a workspace on this connection.
    Read WorkspaceUnsubscribe = "workspace/unsubscribe" (WorkspaceUnsubscribeParams in workspace_id) -> WorkspaceUnsubscribeResponse;

    notifications {
        /// A workspace was created, renamed, forgotten or became current; sent to every connection that may see it.
        "workspace/changed" = WorkspaceChangedNotification;
    }
}

/// A tree of threads with its documents and artifacts.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Workspace {
    /// The workspace.
    pub id: WorkspaceId,
    /// What people call it.
    pub name: String,
    /// An inactive workspace cannot be named in a call.
    pub is_active: bool,
    /// At most one workspace is current: the one a client should open first.
    pub is_current: bool,
    /// The company folder it stands for, if it does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dir: Option<String>,
    /// Unix seconds.
    pub created_at: i64,
    /// Unix seconds.
    pub updated_at: i64,
}

/// Params of [`WorkspaceList`].
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct WorkspaceListParams {}

/// Response of [`WorkspaceList`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct WorkspaceListResponse {
    /// The workspaces the caller may see, oldest first.
    pub workspaces: Vec<Workspace>,
}

/// Params of [`WorkspaceDefault`].
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct WorkspaceDefaultParams {}

/// Response of [`WorkspaceDefault`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct WorkspaceDefaultResponse {
    /// The workspace to start in.
    pub workspace: Workspace,
}

/// Params of [`WorkspaceCreate`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct WorkspaceCreateParams {
    /// The id of the new workspace.
    pub workspace_id: WorkspaceId,
    /// What to call it; `Workspace` and a number when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<Name>,
}

/// Response of [`WorkspaceCreate`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct WorkspaceCreateResponse {
    /// The stored workspace.
    pub workspace: Workspace,
}

/// Params of [`WorkspaceSelect`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct WorkspaceSelectParams {
    /// The workspace.
    pub workspace_id: WorkspaceId,
    /// Whether it becomes the current one; `false` when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub make_current: Option<bool>,
}

/// Response of [`WorkspaceSelect`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct WorkspaceSelectResponse {
    /// The workspace as it is now.
    pub workspace: Workspace,
}

/// Params of [`WorkspaceUpdate`]; at least one change is needed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct WorkspaceUpdateParams {
    /// The workspace.
    pub workspace_id: WorkspaceId,
    /// The new name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<Name>,
}

/// Response of [`WorkspaceUpdate`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct WorkspaceUpdateResponse {
    /// The workspace as it is now.
    pub workspace: Workspace,
}

/// Params of [`WorkspaceForget`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct WorkspaceForgetParams {
    /// The workspace; it must stand for a company folder.
    pub workspace_id: WorkspaceId,
}

/// Response of [`WorkspaceForget`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct WorkspaceForgetResponse {
    /// The workspace as it is now: inactive.
    pub workspace: Workspace,
}

/// Params of [`WorkspaceSubscribe`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct WorkspaceSubscribeParams {
    /// The workspace.
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
    /// The workspace.
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
    /// The workspace as it is now.
    pub workspace: Workspace,
}
