//! `turn/*`: exchanges with a model on a thread.
//!
//! Params and responses use snake_case, as in the rest of the tree family. Inputs, items and event payloads use
//! camelCase for their own fields, and so does all of `turn/timeline`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{ThreadId, TurnId, WorkspaceId, thread::SandboxMode, thread::ThreadMode};

mod explain;
mod manifest;

pub use explain::*;
pub use manifest::*;

crate::methods! {
    Tree family "turn";

    /// Start a turn: send input to the model of a thread.
    ///
    /// The gateway responds as soon as the turn is stored; notifications report its progress and its result. Repeating
    /// the call with the same `turn_id` and the same input returns the stored turn and does not start another one. The
    /// call fails while another turn of the thread is running.
    Spend TurnStart = "turn/start" (TurnStartParams in thread_id) -> TurnStartResponse;
    /// Cancel a running turn and wait until it has ended; a finished turn is returned unchanged.
    Write TurnCancel = "turn/cancel" (TurnCancelParams in thread_id) -> TurnCancelResponse;
    /// Return one turn with its prompt manifest.
    Read TurnGet = "turn/get" (TurnGetParams in thread_id) -> TurnGetResponse;
    /// Return the item events of a turn, oldest first.
    Read TurnItems = "turn/items" (TurnItemsParams in thread_id) -> TurnItemsResponse;
    /// Return the item events of a turn in chronological order, in a form suited to display.
    Read TurnTimeline = "turn/timeline" (TurnTimelineParams in thread_id) -> TurnTimelineResponse;
    /// List every part of a turn's prompt with its document, version, hash and size.
    ///
    /// Optionally compares the prompt with that of another turn.
    Read TurnExplain = "turn/explain" (TurnExplainParams in thread_id) -> TurnExplainResponse;

    notifications {
        /// A turn was accepted and is running.
        "turn/started" = TurnStartedNotification;
        /// A turn completed successfully.
        "turn/completed" = TurnCompletedNotification;
        /// A turn failed or was interrupted.
        "turn/failed" = TurnFailedNotification;
        /// An item of a turn started.
        ///
        /// A client that subscribes while the model is answering receives this notification with the text generated so
        /// far.
        "item/started" = ItemStartedNotification;
        /// The model generated more text of an answer.
        ///
        /// A connection that reads too slowly may miss deltas; a gap in `seq` shows this. `item/completed` contains the
        /// whole text.
        "item/agent_message/delta" = ItemAgentMessageDeltaNotification;
        /// An item of a turn is complete.
        "item/completed" = ItemCompletedNotification;
    }
}

/// One exchange on a thread.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Turn {
    /// The id of the turn.
    pub id: TurnId,
    /// The current status of the turn.
    pub status: TurnStatus,
    /// The reason why the turn failed or was interrupted. Absent for other statuses.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// The manifest of the prompt that was sent to the model. Absent until the prompt is compiled.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prompt_manifest: Option<PromptManifest>,
}

/// The status of a turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum TurnStatus {
    /// The turn was accepted and is running.
    InProgress,
    /// The turn completed successfully.
    Completed,
    /// The turn failed; `error` contains the reason.
    Failed,
    /// The turn was cancelled, or the gateway stopped while it was running.
    Interrupted,
}

/// One part of the user's input to a turn.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(
    tag = "type",
    rename_all = "camelCase",
    rename_all_fields = "camelCase"
)]
pub enum UserInput {
    /// Text written by the user.
    Text {
        /// The text, stored unchanged.
        text: String,
        /// Ranges of the text that represent something else, such as an attachment. The gateway stores them and does
        /// not interpret them. Default: empty.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        text_elements: Vec<TextElement>,
    },
    /// A reference to an image on the web. The gateway does not download it; the model receives the URL as text.
    Image {
        /// The URL of the image.
        url: String,
    },
    /// A reference to a file on the web. The gateway does not download it; the model receives the URL as text.
    File {
        /// The URL of the file.
        url: String,
    },
    /// A reference to an audio file on the web. The gateway does not download it; the model receives the URL as text.
    Audio {
        /// The URL of the audio file.
        url: String,
    },
    /// A reference to a video on the web. The gateway does not download it; the model receives the URL as text.
    Video {
        /// The URL of the video.
        url: String,
    },
    /// An image on the machine of the gateway. `turn/start` rejects it; upload the file as an artifact instead.
    LocalImage {
        /// The path of the image.
        path: String,
    },
    /// A file on the machine of the gateway. `turn/start` rejects it; upload the file as an artifact instead.
    LocalFile {
        /// The path of the file.
        path: String,
    },
    /// An audio file on the machine of the gateway. `turn/start` rejects it; upload the file as an artifact instead.
    LocalAudio {
        /// The path of the audio file.
        path: String,
    },
    /// A video on the machine of the gateway. `turn/start` rejects it; upload the file as an artifact instead.
    LocalVideo {
        /// The path of the video.
        path: String,
    },
    /// A reference to something the user mentions. The model receives its name and path as text.
    Mention {
        /// The display name of the mentioned object.
        name: String,
        /// The path of the mentioned object.
        path: String,
    },
    /// A skill selected by the user. The model receives its name and path as text.
    Skill {
        /// The name of the skill.
        name: String,
        /// The path of the skill.
        path: String,
    },
    /// An artifact of the workspace. The model receives its text or image if possible, else its description.
    #[serde(rename_all = "snake_case")]
    Artifact {
        /// The id of the artifact.
        artifact_id: String,
        /// The id of the version. Default: the newest version.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        version_id: Option<String>,
    },
}

/// A range of a text that represents something else, such as an attachment.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TextElement {
    /// The range within the text.
    pub byte_range: ByteRange,
    /// The text to display in place of the range. Absent if the range is displayed as it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub placeholder: Option<String>,
}

/// A range of a UTF-8 text in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ByteRange {
    /// The offset of the first byte, from 0.
    pub start: u64,
    /// The offset after the last byte.
    pub end: u64,
}

/// One item of a turn, such as a message.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(
    tag = "type",
    rename_all = "camelCase",
    rename_all_fields = "camelCase"
)]
pub enum TurnItem {
    /// The user's message.
    UserMessage {
        /// The id of the item: `user_` followed by the id of the turn.
        id: String,
        /// The text inputs of the turn, joined by line breaks.
        text: String,
        /// The inputs that are not text. An artifact is `{"type": "artifact", "artifact": …}` with an `ArtifactRef`;
        /// other inputs have the form in which they were sent. Default: empty.
        #[serde(default)]
        attachments: Vec<Value>,
    },
    /// The model's answer.
    AgentMessage {
        /// The id of the item.
        id: String,
        /// The text generated so far; the whole text once the item is complete.
        text: String,
    },
    /// The model's reasoning. Not produced: the gateway does not store reasoning.
    Reasoning {
        /// The id of the item.
        id: String,
        /// The summary of the reasoning, in parts.
        summary: Vec<String>,
        /// The full text of the reasoning, in parts.
        content: Vec<String>,
    },
    /// A message from the gateway. Not produced at present.
    SystemEvent {
        /// The id of the item.
        id: String,
        /// The severity of the event.
        level: SystemEventLevel,
        /// A one-sentence description of the event.
        message: String,
        /// A stable name for the event. Absent if it has none.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        code: Option<String>,
    },
}

/// The severity of a system event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum SystemEventLevel {
    /// Information; no action is required.
    Info,
    /// A problem that did not stop the turn.
    Warning,
    /// A failure.
    Error,
}

/// The content of a turn event, as stored in the event log.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(
    tag = "type",
    rename_all = "camelCase",
    rename_all_fields = "camelCase"
)]
pub enum TurnEventPayload {
    /// The turn was accepted.
    TurnStarted {
        /// The input of the turn.
        input: Vec<UserInput>,
    },
    /// An item started.
    ItemStarted {
        /// The item at its start.
        item: TurnItem,
    },
    /// An item is complete.
    ItemCompleted {
        /// The complete item.
        item: TurnItem,
    },
    /// The turn completed successfully.
    TurnCompleted {
        /// The token usage. Absent if the provider reported none.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        usage: Option<TurnUsage>,
    },
    /// The turn failed or was interrupted.
    TurnFailed {
        /// The final status: `Failed` or `Interrupted`.
        status: TurnStatus,
        /// The reason for the failure or interruption.
        error: String,
    },
}

/// The token usage of a turn, as reported by the provider.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TurnUsage {
    /// The number of input tokens.
    pub input_tokens: u64,
    /// The number of input tokens that the provider read from its cache; included in `inputTokens`.
    pub cached_input_tokens: u64,
    /// The number of output tokens.
    pub output_tokens: u64,
}

/// One entry of the event log of a turn.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TurnEvent {
    /// The id of the turn.
    pub turn_id: TurnId,
    /// The number of the event within the turn, from 1.
    pub sequence: u64,
    /// The time of the event in Unix milliseconds.
    pub created_at: i64,
    /// The content of the event.
    pub payload: TurnEventPayload,
}

/// Params of [`TurnStart`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TurnStartParams {
    /// The id of the thread.
    pub thread_id: ThreadId,
    /// The id of the turn, chosen by the client.
    pub turn_id: TurnId,
    /// The user's input: 1 to 256 parts, at least one of which is not an empty text. Limits: 2 MiB of text and 32
    /// artifacts.
    #[serde(default)]
    pub input: Vec<UserInput>,
    /// The id of the model. Default: the model of the thread.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The id of the provider. Default: the provider of the thread.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model_provider: Option<String>,
    /// Must be absent: a turn starts no commands, so the gateway rejects any sandbox policy.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sandbox_policy: Option<SandboxPolicy>,
    /// The mode of the turn. Default: the mode of the thread. `Agent` is rejected, because a turn offers no tools to
    /// the model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mode: Option<ThreadMode>,
    /// Whether model, provider and mode become the defaults of the thread. Default `true`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub remember: Option<bool>,
}

/// The sandbox policy of a turn.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SandboxPolicy {
    /// The access that commands have.
    pub mode: SandboxMode,
}

/// Response of [`TurnStart`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TurnStartResponse {
    /// The new turn, or the stored one if the `turn_id` existed.
    pub turn: Turn,
}

/// Params of [`TurnCancel`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TurnCancelParams {
    /// The id of the thread.
    pub thread_id: ThreadId,
    /// The id of the turn to cancel.
    pub turn_id: TurnId,
    /// The reason, which becomes the `error` of the turn. Default `cancelled`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// Response of [`TurnCancel`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TurnCancelResponse {
    /// The id of the thread.
    pub thread_id: ThreadId,
    /// The id of the workspace that owns the thread.
    pub workspace_id: WorkspaceId,
    /// The turn after the cancellation.
    pub turn: Turn,
}

/// Params of [`TurnGet`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TurnGetParams {
    /// The id of the thread.
    pub thread_id: ThreadId,
    /// The id of the turn.
    pub turn_id: TurnId,
}

/// Response of [`TurnGet`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TurnGetResponse {
    /// The id of the thread.
    pub thread_id: ThreadId,
    /// The id of the workspace that owns the thread.
    pub workspace_id: WorkspaceId,
    /// The requested turn.
    pub turn: Turn,
}

/// Params of [`TurnItems`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TurnItemsParams {
    /// The id of the thread.
    pub thread_id: ThreadId,
    /// The id of the turn.
    pub turn_id: TurnId,
    /// Return only events with a greater `sequence`. Default 0, which returns all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after_sequence: Option<u64>,
}

/// Response of [`TurnItems`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TurnItemsResponse {
    /// The id of the thread.
    pub thread_id: ThreadId,
    /// The id of the workspace that owns the thread.
    pub workspace_id: WorkspaceId,
    /// The id of the turn.
    pub turn_id: TurnId,
    /// The item events, oldest first.
    pub events: Vec<TurnEvent>,
    /// The highest `sequence` of the turn so far, including events that are not about items.
    pub last_sequence: u64,
}

/// Params of [`TurnTimeline`]. The gateway accepts snake_case field names as well.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TurnTimelineParams {
    /// The id of the thread.
    #[serde(alias = "thread_id")]
    pub thread_id: ThreadId,
    /// The id of the turn.
    #[serde(alias = "turn_id")]
    pub turn_id: TurnId,
}

/// Response of [`TurnTimeline`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TurnTimelineResponse {
    /// The id of the thread.
    pub thread_id: ThreadId,
    /// The id of the workspace that owns the thread.
    pub workspace_id: WorkspaceId,
    /// The id of the turn.
    pub turn_id: TurnId,
    /// The entries, in chronological order.
    pub items: Vec<TimelineItem>,
    /// The highest `sequence` of the turn so far, including events that are not about items.
    pub last_sequence: u64,
}

/// One entry of a timeline.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TimelineItem {
    /// The id of the entry: the id of the turn, a colon and the `sequence` of the event.
    pub id: String,
    /// The source and the time of the entry.
    pub origin: TimelineOrigin,
    /// The content of the entry.
    pub payload: TimelinePayload,
}

/// The source and the time of a timeline entry.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TimelineOrigin {
    /// The log that recorded the event.
    pub kind: TimelineOriginKind,
    /// The `sequence` of the event in that log.
    pub origin_sequence: u64,
    /// The time of the event in Unix milliseconds.
    pub occurred_at: i64,
    /// The zero-based column in which to display the entry; always 0.
    pub lane: u32,
}

/// The log that recorded a timeline entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TimelineOriginKind {
    /// The event log of the turn itself.
    ParentTurn,
}

/// The content of a timeline entry.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum TimelinePayload {
    /// An item event of the turn.
    TurnItemEvent {
        /// The item event.
        event: TurnEventPayload,
    },
}

/// Payload of `turn/started`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TurnStartedNotification {
    /// The id of the workspace.
    pub workspace_id: WorkspaceId,
    /// The id of the thread.
    pub thread_id: ThreadId,
    /// The turn that started.
    pub turn: Turn,
}

/// Payload of `turn/completed`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TurnCompletedNotification {
    /// The id of the workspace.
    pub workspace_id: WorkspaceId,
    /// The id of the thread.
    pub thread_id: ThreadId,
    /// The completed turn.
    pub turn: Turn,
}

/// Payload of `turn/failed`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TurnFailedNotification {
    /// The id of the workspace.
    pub workspace_id: WorkspaceId,
    /// The id of the thread.
    pub thread_id: ThreadId,
    /// The turn, with status `Failed` or `Interrupted`.
    pub turn: Turn,
}

/// Payload of `item/started`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ItemStartedNotification {
    /// The id of the workspace.
    pub workspace_id: WorkspaceId,
    /// The id of the thread.
    pub thread_id: ThreadId,
    /// The id of the turn.
    pub turn_id: TurnId,
    /// The item; an agent message contains the text generated so far.
    pub item: TurnItem,
}

/// Payload of `item/agent_message/delta`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ItemAgentMessageDeltaNotification {
    /// The id of the workspace.
    pub workspace_id: WorkspaceId,
    /// The id of the thread.
    pub thread_id: ThreadId,
    /// The id of the turn.
    pub turn_id: TurnId,
    /// The id of the agent message.
    pub item_id: String,
    /// The text to append to the message.
    pub delta: String,
    /// The number of the delta within the item, from 0.
    pub seq: u64,
}

/// Payload of `item/completed`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ItemCompletedNotification {
    /// The id of the workspace.
    pub workspace_id: WorkspaceId,
    /// The id of the thread.
    pub thread_id: ThreadId,
    /// The id of the turn.
    pub turn_id: TurnId,
    /// The complete item.
    pub item: TurnItem,
}
