//! What ties artifacts to threads, turns, messages, tools and tasks; made by `artifact/bind`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{ArtifactId, ArtifactVersionId, BindingId, MessageId, ThreadId, TurnId, WorkspaceId};

/// Why an artifact is bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ArtifactBindingKind {
    /// The user gave it.
    UserInput,
    /// An agent made it.
    AgentOutput,
    /// A tool made it.
    ToolOutput,
    /// A task resulted in it.
    TaskResult,
    /// It is context.
    ContextAttachment,
    /// It was made from another.
    DerivedFrom,
    /// It is a preview.
    Preview,
    /// The gateway captured it.
    SystemCapture,
    /// Somebody attached it.
    ManualAttach,
    /// It was uploaded for a message that is not sent yet.
    DraftUpload,
}

/// Which way a bound artifact goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ArtifactBindingDirection {
    /// In.
    Input,
    /// Out.
    Output,
    /// Along.
    Context,
    /// From another.
    Derived,
}

/// Who a bound artifact belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ArtifactBindingRole {
    /// The user.
    User,
    /// The model.
    Assistant,
    /// A tool.
    Tool,
    /// The gateway.
    System,
    /// A task.
    Task,
}

/// What ties an artifact to something.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ArtifactBindingSummary {
    /// The binding.
    pub binding_id: BindingId,
    /// The workspace.
    pub workspace_id: WorkspaceId,
    /// The thread.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thread_id: Option<ThreadId>,
    /// The turn.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turn_id: Option<TurnId>,
    /// The message.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message_id: Option<MessageId>,
    /// The item of the turn.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turn_item_id: Option<String>,
    /// The call of a tool.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_call_id: Option<String>,
    /// The task.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task_id: Option<String>,
    /// The run of the task.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task_run_id: Option<String>,
    /// Why.
    pub binding_kind: ArtifactBindingKind,
    /// Which way.
    pub direction: ArtifactBindingDirection,
    /// Its place among others.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub item_index: Option<u32>,
    /// Whose it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub role: Option<ArtifactBindingRole>,
    /// Unix seconds.
    pub created_at: i64,
}

/// Params of `artifact/bind`; at least one target is needed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ArtifactBindParams {
    /// The workspace.
    pub workspace_id: WorkspaceId,
    /// The artifact.
    pub artifact_id: ArtifactId,
    /// The version; the newest when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version_id: Option<ArtifactVersionId>,
    /// The thread.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thread_id: Option<ThreadId>,
    /// The turn.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turn_id: Option<TurnId>,
    /// The message.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message_id: Option<MessageId>,
    /// The item of the turn.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turn_item_id: Option<String>,
    /// The call of a tool.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_call_id: Option<String>,
    /// The task.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task_id: Option<String>,
    /// The run of the task.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task_run_id: Option<String>,
    /// Why.
    pub binding_kind: ArtifactBindingKind,
    /// Which way.
    pub direction: ArtifactBindingDirection,
    /// Whose it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub role: Option<ArtifactBindingRole>,
    /// Its place among others.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub item_index: Option<u32>,
}

/// Response of `artifact/bind`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ArtifactBindResponse {
    /// The binding.
    pub binding: ArtifactBindingSummary,
}
