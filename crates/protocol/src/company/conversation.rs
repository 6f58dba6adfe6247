//! `conversation.*`: the channels, direct conversations and messages of a company.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    ActorRole, AgentId, CompanyScope, ConversationId, ConversationKind, ConversationMessageId,
    IsoTime, Issue, MessageKind, ProjectId, Text, Visibility,
};

crate::methods! {
    Company family "conversation";

    /// List the conversations of the company or of a project.
    /// A missing `project_id` fails with -32601, not -32602, for compatibility with existing clients.
    Read ConversationList = "conversation.list" (ConversationListParams in workspace_dir as actor_role) -> ConversationListResponse;
    /// Create a channel.
    /// A missing `project_id` fails with -32601, not -32602, for compatibility with existing clients.
    Write ConversationCreateChannel = "conversation.create_channel" (ConversationCreateChannelParams in workspace_dir) -> ConversationCreatedResponse;
    /// Create a direct conversation between two participants, or return the existing one.
    /// A missing `project_id` fails with -32601, not -32602, for compatibility with existing clients.
    Write ConversationCreateDm = "conversation.create_dm" (ConversationCreateDmParams in workspace_dir) -> ConversationCreatedResponse;
    /// List the newest messages of a conversation, oldest first.
    /// A missing `project_id` fails with -32601, not -32602, for compatibility with existing clients.
    Read ConversationMessagesList = "conversation.messages.list" (ConversationMessagesListParams in workspace_dir as actor_role) -> ConversationMessagesListResponse;
    /// Send a message to a conversation.
    /// A missing `project_id` fails with -32601, not -32602, for compatibility with existing clients.
    Write ConversationMessageSend = "conversation.message.send" (ConversationMessageSendParams in workspace_dir as author_role) -> ConversationMessageSendResponse;
    /// Create the default conversations of a project and update their participants.
    Write ConversationMembersSync = "conversation.members.sync" (ConversationMembersSyncParams in workspace_dir) -> ConversationMembersSyncResponse;

    notifications {
        /// A message was sent to a conversation.
        ///
        /// Delivered to subscriptions of `events.subscribe` whose `event_types` contain `conversation.message`.
        "conversation.notification" = ConversationNotification;
    }
}

/// Params of [`ConversationList`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ConversationListParams {
    /// Path of the company folder.
    pub workspace_dir: Text,
    /// Whether to list the conversations of the company (`workspace`) or of a project.
    pub scope: CompanyScope,
    /// Id of the project. Required for the scope `project`; ignored otherwise.
    #[serde(default)]
    pub project_id: Option<ProjectId>,
    /// Id of the person or agent that reads; conversations it may not read are omitted. Default: the caller's own id.
    #[serde(default)]
    pub actor_id: Option<Text>,
    /// Role of that actor, at most the role of the caller's token. Default: the role of the token.
    #[serde(default)]
    pub actor_role: Option<ActorRole>,
    /// Team id of that actor. Default: the team in the agent's `agent.yaml`; none for people.
    #[serde(default)]
    pub actor_team_id: Option<Text>,
}

/// Response of [`ConversationList`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct ConversationListResponse(pub Vec<Conversation>);

/// Params of [`ConversationCreateChannel`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ConversationCreateChannelParams {
    /// Path of the company folder.
    pub workspace_dir: Text,
    /// Whether the conversation belongs to the company (`workspace`) or to a project.
    pub scope: CompanyScope,
    /// Id of the project. Required for the scope `project`; ignored otherwise.
    #[serde(default)]
    pub project_id: Option<ProjectId>,
    /// Display name of the channel.
    #[schemars(length(max = 200))]
    pub name: Text,
    /// Short name of the channel, unique within its scope. `home` is reserved.
    #[schemars(length(max = 200))]
    pub slug: Text,
    /// Who may read the channel. Default: `team`.
    #[serde(default)]
    pub visibility: Option<Visibility>,
    /// Id of the person or agent that creates the channel. The creator is not added to the participants.
    pub created_by: Text,
    /// Ids of the agents and people that participate. Default: none.
    #[serde(default)]
    pub participant_agent_ids: Option<Vec<Text>>,
    /// Ids of the teams that participate. Default: none.
    #[serde(default)]
    pub participant_team_ids: Option<Vec<Text>>,
}

/// Params of [`ConversationCreateDm`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ConversationCreateDmParams {
    /// Path of the company folder.
    pub workspace_dir: Text,
    /// Whether the conversation belongs to the company (`workspace`) or to a project.
    pub scope: CompanyScope,
    /// Id of the project. Required for the scope `project`; ignored otherwise.
    #[serde(default)]
    pub project_id: Option<ProjectId>,
    /// Id of the person or agent that starts the conversation.
    pub created_by: Text,
    /// Id of the other participant.
    pub peer_agent_id: Text,
    /// Who may read a new conversation. Default: `private_agent`.
    #[serde(default)]
    pub visibility: Option<Visibility>,
}

/// Response of [`ConversationCreateChannel`] and [`ConversationCreateDm`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct ConversationCreatedResponse(pub Conversation);

/// Params of [`ConversationMessagesList`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ConversationMessagesListParams {
    /// Path of the company folder.
    pub workspace_dir: Text,
    /// Whether the conversation belongs to the company (`workspace`) or to a project.
    pub scope: CompanyScope,
    /// Id of the project. Required for the scope `project`; ignored otherwise.
    #[serde(default)]
    pub project_id: Option<ProjectId>,
    /// Id of the conversation.
    pub conversation_id: ConversationId,
    /// Maximum number of messages. Default: 300.
    #[serde(default)]
    #[schemars(range(min = 1, max = 5000))]
    pub limit: Option<u32>,
    /// Cursor: list only messages before this one. An unknown id returns an empty list.
    #[serde(default)]
    pub before_message_id: Option<ConversationMessageId>,
    /// Id of the person or agent that reads; the call fails if it may not read the conversation. Default: the caller's
    /// own id.
    #[serde(default)]
    pub actor_id: Option<Text>,
    /// Role of that actor, at most the role of the caller's token. Default: the role of the token.
    #[serde(default)]
    pub actor_role: Option<ActorRole>,
    /// Team id of that actor. Default: the team in the agent's `agent.yaml`; none for people.
    #[serde(default)]
    pub actor_team_id: Option<Text>,
}

/// Response of [`ConversationMessagesList`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct ConversationMessagesListResponse(pub Vec<ConversationMessage>);

/// Params of [`ConversationMessageSend`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ConversationMessageSendParams {
    /// Path of the company folder.
    pub workspace_dir: Text,
    /// Whether the conversation belongs to the company (`workspace`) or to a project.
    pub scope: CompanyScope,
    /// Id of the project. Required for the scope `project`; ignored otherwise.
    #[serde(default)]
    pub project_id: Option<ProjectId>,
    /// Id of the conversation.
    pub conversation_id: ConversationId,
    /// Id of the person or agent that sends the message. It must be allowed to read the conversation.
    pub author_id: Text,
    /// Role of the author.
    pub author_role: ActorRole,
    /// Text of the message. Surrounding white space is removed; text with a secret is rejected.
    #[schemars(length(max = 100_000))]
    pub body: Text,
    /// Kind of the message. Default: `text`.
    #[serde(default)]
    pub kind: Option<MessageKind>,
    /// Who may read the message. Default: the visibility of the conversation.
    #[serde(default)]
    pub visibility: Option<Visibility>,
    /// Ids of the agents and people mentioned in the message. Default: none.
    #[serde(default)]
    pub mentions: Option<Vec<Text>>,
}

/// Response of [`ConversationMessageSend`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ConversationMessageSendResponse {
    /// The conversation of the message.
    pub conversation: Conversation,
    /// The message as stored.
    pub message: ConversationMessage,
}

/// Params of [`ConversationMembersSync`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ConversationMembersSyncParams {
    /// Path of the company folder.
    pub workspace_dir: Text,
    /// Id of the project.
    pub project_id: ProjectId,
    /// Id of the person who acts as CEO. Default: `human_ceo`.
    #[serde(default)]
    pub ceo_actor_id: Option<Text>,
    /// Id of the executive manager. Default: an agent chosen from the company's managers.
    #[serde(default)]
    pub executive_manager_agent_id: Option<AgentId>,
}

/// Response of [`ConversationMembersSync`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ConversationMembersSyncResponse {
    /// Id of the agent that assists the whole company.
    pub global_manager_agent_id: AgentId,
    /// Id of the agent that assists the project.
    pub project_secretary_agent_id: AgentId,
    /// Ids of the default conversations of the project, in order of creation.
    pub conversation_ids: Vec<ConversationId>,
}

/// A conversation, on the wire as in `conversation.yaml`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Conversation {
    /// Schema version of the document. The gateway writes 1.
    #[schemars(range(min = 1))]
    pub schema_version: u32,
    /// Document type: always `conversation`.
    pub r#type: ConversationTag,
    /// Id of the conversation.
    pub id: Text,
    /// Whether the conversation belongs to the company (`workspace`) or to a project.
    pub scope: CompanyScope,
    /// Id of the project. Absent for the scope `workspace`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project_id: Option<Text>,
    /// Kind of the conversation.
    pub kind: ConversationKind,
    /// Display name of the conversation.
    pub name: Text,
    /// Short name of the conversation, such as `home` or `executive-office`.
    pub slug: Text,
    /// Who may read the conversation besides its participants.
    pub visibility: Visibility,
    /// Time the conversation was created, ISO-8601.
    pub created_at: IsoTime,
    /// Id of the person or agent that created the conversation.
    pub created_by: Text,
    /// Whether the gateway created the conversation as a default. Default: false.
    #[serde(default)]
    pub auto_generated: bool,
    /// The participants of the conversation.
    pub participants: Participants,
    /// Id of the other participant of a direct conversation. Absent for other kinds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dm_peer_agent_id: Option<Text>,
}

/// The document type `conversation`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ConversationTag {
    /// The only value.
    #[default]
    Conversation,
}

/// The participants of a conversation.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Participants {
    /// Ids of participating agents and people.
    pub agent_ids: Vec<Text>,
    /// Ids of participating teams.
    pub team_ids: Vec<Text>,
}

impl Conversation {
    /// Returns an issue for each inconsistency: a project missing or superfluous for the scope, or a direct
    /// conversation without a peer.
    pub fn refine(&self) -> Vec<Issue> {
        let mut issues = Vec::new();
        match (self.scope, &self.project_id) {
            (CompanyScope::Project, None) => {
                issues.push(Issue::custom(
                    "project_id",
                    "`project_id` is required for the scope `project`",
                ));
            }
            (CompanyScope::Workspace, Some(_)) => issues.push(Issue::custom(
                "project_id",
                "`project_id` is not allowed for the scope `workspace`",
            )),
            (CompanyScope::Project, Some(_)) | (CompanyScope::Workspace, None) => {}
        }
        if self.kind == ConversationKind::Dm && self.dm_peer_agent_id.is_none() {
            issues.push(Issue::custom(
                "dm_peer_agent_id",
                "`dm_peer_agent_id` is required for the kind `dm`",
            ));
        }
        issues
    }
}

/// A message, on the wire as in `messages.jsonl`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ConversationMessage {
    /// Schema version of the document. The gateway writes 1.
    #[schemars(range(min = 1))]
    pub schema_version: u32,
    /// Document type: always `message`.
    pub r#type: ConversationMessageTag,
    /// Id of the message.
    pub id: Text,
    /// Id of the conversation.
    pub conversation_id: Text,
    /// Id of the project. Absent if the conversation belongs to the company.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project_id: Option<Text>,
    /// Time the message was sent, ISO-8601.
    pub created_at: IsoTime,
    /// Id of the person or agent that sent the message.
    pub author_id: Text,
    /// Role of the author.
    pub author_role: ActorRole,
    /// Kind of the message. Default: `text`.
    #[serde(default = "MessageKind::text")]
    pub kind: MessageKind,
    /// Who may read the message among those who may read the conversation.
    pub visibility: Visibility,
    /// Text of the message.
    pub body: Text,
    /// Ids of the agents and people mentioned in the message. Default: none.
    #[serde(default)]
    pub mentions: Vec<Text>,
}

/// The document type `message`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ConversationMessageTag {
    /// The only value.
    #[default]
    Message,
}

impl MessageKind {
    fn text() -> Self {
        Self::Text
    }
}

/// Payload of `conversation.notification`: a message and its conversation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ConversationNotification {
    /// Id of the subscription that receives the message.
    pub subscription_id: String,
    /// Path of the company folder as the subscription named it, else as the sender named it.
    pub workspace_dir: String,
    /// The conversation of the message.
    pub conversation: Conversation,
    /// The message that was sent.
    pub message: ConversationMessage,
}
