//! `turn/*`: exchanges with a model on a thread.
//!
//! Wrappers are snake_case, as everywhere in the tree family; inputs, items and event payloads are camelCase
//! inside, and so is all of `turn/timeline`.

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

    /// Ask the model of a thread.
    ///
    /// Answers as soon as the turn is stored; the rest comes by notifications.
    /// The same `turn_id` with the same input answers the stored turn and runs nothing.
    Spend TurnStart = "turn/start" (TurnStartParams in thread_id) -> TurnStartResponse;
    /// End a running turn; a finished one is answered unchanged.
    Write TurnCancel = "turn/cancel" (TurnCancelParams in thread_id) -> TurnCancelResponse;
    /// Read one turn with its prompt manifest.
    Read TurnGet = "turn/get" (TurnGetParams in thread_id) -> TurnGetResponse;
    /// Read the item events of a turn.
    Read TurnItems = "turn/items" (TurnItemsParams in thread_id) -> TurnItemsResponse;
    /// Read the item events of a turn in the order of time, ready to be shown.
    Read TurnTimeline = "turn/timeline" (TurnTimelineParams in thread_id) -> TurnTimelineResponse;
    /// List every piece of a turn's prompt with its document, version, hash and size; two turns can be compared.
    Read TurnExplain = "turn/explain" (TurnExplainParams in thread_id) -> TurnExplainResponse;

    notifications {
        /// A turn was accepted and runs.
        "turn/started" = TurnStartedNotification;
        /// A turn ended well.
        "turn/completed" = TurnCompletedNotification;
        /// A turn ended badly, or was interrupted.
        "turn/failed" = TurnFailedNotification;
        /// An item begins.
        ///
        /// Who joins in the middle of an answer gets it with the text so far.
        "item/started" = ItemStartedNotification;
        /// More text of an answer.
        ///
        /// A connection that reads too slowly may miss some, which `seq` shows; `item/completed` has it all.
        "item/agent_message/delta" = ItemAgentMessageDeltaNotification;
        /// An item is complete.
        "item/completed" = ItemCompletedNotification;
    }
}

/// One exchange on a thread.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Turn {
    /// The turn.
    pub id: TurnId,
    /// Where it stands.
    pub status: TurnStatus,
    /// Why it failed or was interrupted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// What the model was told, once it was told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prompt_manifest: Option<PromptManifest>,
}

/// Where a turn stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum TurnStatus {
    /// Accepted and running.
    InProgress,
    /// Finished normally.
    Completed,
    /// Ended by a failure; `error` says which.
    Failed,
    /// Cancelled, or found running after a restart.
    Interrupted,
}

/// What the user says.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(
    tag = "type",
    rename_all = "camelCase",
    rename_all_fields = "camelCase"
)]
pub enum UserInput {
    /// Words.
    Text {
        /// The text, kept letter by letter.
        text: String,
        /// Parts of the text that stand for something.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        text_elements: Vec<TextElement>,
    },
    /// A picture on the web.
    Image {
        /// Where it is.
        url: String,
    },
    /// A file on the web.
    File {
        /// Where it is.
        url: String,
    },
    /// A sound on the web.
    Audio {
        /// Where it is.
        url: String,
    },
    /// A film on the web.
    Video {
        /// Where it is.
        url: String,
    },
    /// A picture beside the gateway.
    LocalImage {
        /// Where it is.
        path: String,
    },
    /// A file beside the gateway.
    LocalFile {
        /// Where it is.
        path: String,
    },
    /// A sound beside the gateway.
    LocalAudio {
        /// Where it is.
        path: String,
    },
    /// A film beside the gateway.
    LocalVideo {
        /// Where it is.
        path: String,
    },
    /// Something the user points at.
    Mention {
        /// What it is called.
        name: String,
        /// Where it is.
        path: String,
    },
    /// A skill the user chose.
    Skill {
        /// What it is called.
        name: String,
        /// Where it is.
        path: String,
    },
    /// An artifact of the workspace.
    #[serde(rename_all = "snake_case")]
    Artifact {
        /// The artifact.
        artifact_id: String,
        /// Its version; the newest when absent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        version_id: Option<String>,
    },
}

/// A part of a text that stands for something.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TextElement {
    /// Which part.
    pub byte_range: ByteRange,
    /// What stands there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub placeholder: Option<String>,
}

/// A part of a text in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ByteRange {
    /// Its first byte.
    pub start: u64,
    /// The byte after its last.
    pub end: u64,
}

/// Something said or done in a turn.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(
    tag = "type",
    rename_all = "camelCase",
    rename_all_fields = "camelCase"
)]
pub enum TurnItem {
    /// What the user said.
    UserMessage {
        /// `user_` and the turn's id.
        id: String,
        /// The text, letter by letter.
        text: String,
        /// What came with it.
        #[serde(default)]
        attachments: Vec<Value>,
    },
    /// What the model said.
    AgentMessage {
        /// The item.
        id: String,
        /// The text.
        text: String,
    },
    /// How the model came to it.
    Reasoning {
        /// The item.
        id: String,
        /// In short.
        summary: Vec<String>,
        /// In full.
        content: Vec<String>,
    },
    /// What the gateway has to say.
    SystemEvent {
        /// The item.
        id: String,
        /// How bad it is.
        level: SystemEventLevel,
        /// One sentence.
        message: String,
        /// A stable name.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        code: Option<String>,
    },
}

/// How bad a system event is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum SystemEventLevel {
    /// Good to know.
    Info,
    /// Not as it should be.
    Warning,
    /// Wrong.
    Error,
}

/// What happened, as the durable log keeps it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(
    tag = "type",
    rename_all = "camelCase",
    rename_all_fields = "camelCase"
)]
pub enum TurnEventPayload {
    /// The turn was accepted.
    TurnStarted {
        /// What the user said.
        input: Vec<UserInput>,
    },
    /// An item began.
    ItemStarted {
        /// The item.
        item: TurnItem,
    },
    /// An item is complete.
    ItemCompleted {
        /// The item.
        item: TurnItem,
    },
    /// The turn ended well.
    TurnCompleted {
        /// Tokens as the provider reported them.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        usage: Option<TurnUsage>,
    },
    /// The turn ended badly, or was interrupted.
    TurnFailed {
        /// How it ended.
        status: TurnStatus,
        /// Why.
        error: String,
    },
}

/// Tokens of a turn as the provider reported them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TurnUsage {
    /// Tokens of the question.
    pub input_tokens: u64,
    /// Of these, tokens the provider had cached.
    pub cached_input_tokens: u64,
    /// Tokens of the answer.
    pub output_tokens: u64,
}

/// One entry of the durable log.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TurnEvent {
    /// The turn it belongs to.
    pub turn_id: TurnId,
    /// Its place within the turn, from 1.
    pub sequence: u64,
    /// Unix milliseconds.
    pub created_at: i64,
    /// What happened.
    pub payload: TurnEventPayload,
}

/// Params of [`TurnStart`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TurnStartParams {
    /// The thread.
    pub thread_id: ThreadId,
    /// The id of the turn, made by the client.
    pub turn_id: TurnId,
    /// What the user says; never nothing.
    #[serde(default)]
    pub input: Vec<UserInput>,
    /// The model; the thread's when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The provider; the thread's when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model_provider: Option<String>,
    /// Refused when given: a turn asks a model and starts no command that a sandbox could restrict.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sandbox_policy: Option<SandboxPolicy>,
    /// The mode of the thread from now on; unchanged when absent. `Agent` is refused: a turn offers the model no tools.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mode: Option<ThreadMode>,
    /// Whether model, provider and mode become the thread's; `true` when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub remember: Option<bool>,
}

/// What commands of a turn may touch.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SandboxPolicy {
    /// What commands may touch.
    pub mode: SandboxMode,
}

/// Response of [`TurnStart`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TurnStartResponse {
    /// The turn.
    pub turn: Turn,
}

/// Params of [`TurnCancel`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TurnCancelParams {
    /// The thread.
    pub thread_id: ThreadId,
    /// The turn.
    pub turn_id: TurnId,
    /// Why; becomes the turn's `error`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// Response of [`TurnCancel`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TurnCancelResponse {
    /// The thread.
    pub thread_id: ThreadId,
    /// Its workspace.
    pub workspace_id: WorkspaceId,
    /// The turn as it is now.
    pub turn: Turn,
}

/// Params of [`TurnGet`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TurnGetParams {
    /// The thread.
    pub thread_id: ThreadId,
    /// The turn.
    pub turn_id: TurnId,
}

/// Response of [`TurnGet`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TurnGetResponse {
    /// The thread.
    pub thread_id: ThreadId,
    /// Its workspace.
    pub workspace_id: WorkspaceId,
    /// The turn.
    pub turn: Turn,
}

/// Params of [`TurnItems`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TurnItemsParams {
    /// The thread.
    pub thread_id: ThreadId,
    /// The turn.
    pub turn_id: TurnId,
    /// Only events after this one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after_sequence: Option<u64>,
}

/// Response of [`TurnItems`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TurnItemsResponse {
    /// The thread.
    pub thread_id: ThreadId,
    /// Its workspace.
    pub workspace_id: WorkspaceId,
    /// The turn.
    pub turn_id: TurnId,
    /// The item events, oldest first.
    pub events: Vec<TurnEvent>,
    /// The last sequence of the turn so far.
    pub last_sequence: u64,
}

/// Params of [`TurnTimeline`]; snake_case is understood too.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TurnTimelineParams {
    /// The thread.
    #[serde(alias = "thread_id")]
    pub thread_id: ThreadId,
    /// The turn.
    #[serde(alias = "turn_id")]
    pub turn_id: TurnId,
}

/// Response of [`TurnTimeline`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TurnTimelineResponse {
    /// The thread.
    pub thread_id: ThreadId,
    /// Its workspace.
    pub workspace_id: WorkspaceId,
    /// The turn.
    pub turn_id: TurnId,
    /// What happened, in the order of time.
    pub items: Vec<TimelineItem>,
    /// The last sequence of the turn so far.
    pub last_sequence: u64,
}

/// One entry of a timeline.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TimelineItem {
    /// The entry.
    pub id: String,
    /// Where it comes from.
    pub origin: TimelineOrigin,
    /// What happened.
    pub payload: TimelinePayload,
}

/// Where an entry of a timeline comes from.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TimelineOrigin {
    /// What recorded it.
    pub kind: TimelineOriginKind,
    /// Its place there.
    pub origin_sequence: u64,
    /// Unix milliseconds.
    pub occurred_at: i64,
    /// The column to show it in.
    pub lane: u32,
}

/// What recorded an entry of a timeline.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TimelineOriginKind {
    /// The turn itself.
    ParentTurn,
}

/// What happened.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum TimelinePayload {
    /// An event of an item.
    TurnItemEvent {
        /// The event.
        event: TurnEventPayload,
    },
}

/// Payload of `turn/started`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TurnStartedNotification {
    /// The workspace.
    pub workspace_id: WorkspaceId,
    /// The thread.
    pub thread_id: ThreadId,
    /// The turn.
    pub turn: Turn,
}

/// Payload of `turn/completed`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TurnCompletedNotification {
    /// The workspace.
    pub workspace_id: WorkspaceId,
    /// The thread.
    pub thread_id: ThreadId,
    /// The turn.
    pub turn: Turn,
}

/// Payload of `turn/failed`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TurnFailedNotification {
    /// The workspace.
    pub workspace_id: WorkspaceId,
    /// The thread.
    pub thread_id: ThreadId,
    /// The turn, `Failed` or `Interrupted`.
    pub turn: Turn,
}

/// Payload of `item/started`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ItemStartedNotification {
    /// The workspace.
    pub workspace_id: WorkspaceId,
    /// The thread.
    pub thread_id: ThreadId,
    /// The turn.
    pub turn_id: TurnId,
    /// The item as far as it is known.
    pub item: TurnItem,
}

/// Payload of `item/agent_message/delta`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ItemAgentMessageDeltaNotification {
    /// The workspace.
    pub workspace_id: WorkspaceId,
    /// The thread.
    pub thread_id: ThreadId,
    /// The turn.
    pub turn_id: TurnId,
    /// The item.
    pub item_id: String,
    /// The text to append.
    pub delta: String,
    /// The number of the delta within the item, from 0.
    pub seq: u64,
}

/// Payload of `item/completed`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ItemCompletedNotification {
    /// The workspace.
    pub workspace_id: WorkspaceId,
    /// The thread.
    pub thread_id: ThreadId,
    /// The turn.
    pub turn_id: TurnId,
    /// The whole item.
    pub item: TurnItem,
}
