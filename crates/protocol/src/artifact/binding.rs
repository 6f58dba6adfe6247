//! Bindings between artifacts and threads, turns, messages, tools and tasks, created by `artifact/bind`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{ArtifactId, ArtifactVersionId, BindingId, MessageId, ThreadId, TurnId, WorkspaceId};

/// The reason why an artifact is bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ArtifactBindingKind {
    /// The user sent the artifact as input of a turn.
    UserInput,
    /// A model generated the artifact in an answer.
    AgentOutput,
    /// A tool created the artifact. The gateway itself does not create such bindings.
    ToolOutput,
    /// The run of a worker produced the artifact.
    TaskResult,
    /// The artifact was given to the run of a worker as context.
    ContextAttachment,
    /// The artifact was derived from another one. The gateway itself does not create such bindings.
    DerivedFrom,
    /// The artifact is a preview of another one. The gateway itself does not create such bindings.
    Preview,
    /// The artifact is a system capture. The gateway itself does not create such bindings.
    SystemCapture,
    /// A user or client attached the artifact explicitly.
    ManualAttach,
    /// The artifact was uploaded for a message that has not been sent yet.
    DraftUpload,
}

/// The direction of a bound artifact, seen from its target.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ArtifactBindingDirection {
    /// The artifact is an input of the target.
    Input,
    /// The artifact is an output of the target.
    Output,
    /// The artifact is context of the target.
    Context,
    /// The artifact is derived from another one.
    Derived,
}

/// The role of the party that provided a bound artifact.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ArtifactBindingRole {
    /// The user provided it.
    User,
    /// The model provided it.
    Assistant,
    /// A tool provided it.
    Tool,
    /// The gateway provided it.
    System,
    /// A task provided or received it.
    Task,
}

/// A binding of an artifact to one or more targets.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ArtifactBindingSummary {
    /// The id of the binding.
    pub binding_id: BindingId,
    /// The id of the workspace.
    pub workspace_id: WorkspaceId,
    /// The id of the thread. Absent if the binding has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thread_id: Option<ThreadId>,
    /// The id of the turn. Absent if the binding has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turn_id: Option<TurnId>,
    /// The id of the message. Absent if the binding has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message_id: Option<MessageId>,
    /// The id of the item of the turn. Absent if the binding has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turn_item_id: Option<String>,
    /// The id of the tool call. Absent if the binding has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_call_id: Option<String>,
    /// The id of the task, which is the id of a job. Absent if the binding has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task_id: Option<String>,
    /// The id of the task run, which is the id of a run. Absent if the binding has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task_run_id: Option<String>,
    /// The reason for the binding.
    pub binding_kind: ArtifactBindingKind,
    /// The direction of the artifact, seen from the target.
    pub direction: ArtifactBindingDirection,
    /// The zero-based position of the artifact in the input. Absent if it has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub item_index: Option<u32>,
    /// The role of the party that provided the artifact. Absent if it is unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub role: Option<ArtifactBindingRole>,
    /// The time of creation in Unix seconds.
    pub created_at: i64,
}

/// Params of `artifact/bind`. At least one target is required: a thread, turn, message, item, tool call, task or task
/// run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ArtifactBindParams {
    /// The id of the workspace that owns the artifact and the targets.
    pub workspace_id: WorkspaceId,
    /// The id of the artifact.
    pub artifact_id: ArtifactId,
    /// The id of the version. Absent to bind the artifact without a particular version.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version_id: Option<ArtifactVersionId>,
    /// The id of the thread to bind to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thread_id: Option<ThreadId>,
    /// The id of the turn to bind to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turn_id: Option<TurnId>,
    /// The id of the message to bind to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message_id: Option<MessageId>,
    /// The id of the item of the turn to bind to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turn_item_id: Option<String>,
    /// The id of the tool call to bind to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_call_id: Option<String>,
    /// The id of the task to bind to, which is the id of a job.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task_id: Option<String>,
    /// The id of the task run to bind to, which is the id of a run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task_run_id: Option<String>,
    /// The reason for the binding.
    pub binding_kind: ArtifactBindingKind,
    /// The direction of the artifact, seen from the target.
    pub direction: ArtifactBindingDirection,
    /// The role of the party that provided the artifact. Absent if it is unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub role: Option<ArtifactBindingRole>,
    /// The zero-based position of the artifact among others. Absent if it has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub item_index: Option<u32>,
}

/// Response of `artifact/bind`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ArtifactBindResponse {
    /// The new binding, or the existing one if it is the same.
    pub binding: ArtifactBindingSummary,
}
