//! `conversation.*`: channels and messages of a company.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    ActorRole, AgentId, CompanyScope, ConversationId, ConversationKind, ConversationMessageId,
    IsoTime, Issue, MessageKind, ProjectId, Text, Visibility,
};

crate::methods! {
    Company family "conversation";

    /// List the conversations of the company or of a project.
    /// A missing `project_id` is answered with -32601, as the recorded reference answers it, where the contract has
    /// -32602.
    Read ConversationList = "conversation.list" (ConversationListParams in workspace_dir as actor_role) -> ConversationListResponse;
    /// Make a channel.
    /// A missing `project_id` is answered with -32601, as the recorded reference answers it, where the contract has
    /// -32602.
    Write ConversationCreateChannel = "conversation.create_channel" (ConversationCreateChannelParams in workspace_dir) -> ConversationCreatedResponse;
    /// Make a conversation between two, or find the one they have.
    /// A missing `project_id` is answered with -32601, as the recorded reference answers it, where the contract has
    /// -32602.
    Write ConversationCreateDm = "conversation.create_dm" (ConversationCreateDmParams in workspace_dir) -> ConversationCreatedResponse;
    /// Read the last messages of a conversation.
    /// A missing `project_id` is answered with -32601, as the recorded reference answers it, where the contract has
    /// -32602.
    Read ConversationMessagesList = "conversation.messages.list" (ConversationMessagesListParams in workspace_dir as actor_role) -> ConversationMessagesListResponse;
    /// Say something.
    /// A missing `project_id` is answered with -32601, as the recorded reference answers it, where the contract has
    /// -32602.
    Write ConversationMessageSend = "conversation.message.send" (ConversationMessageSendParams in workspace_dir as author_role) -> ConversationMessageSendResponse;
    /// Make the conversations a project should have, and add who should be in them.
    Write ConversationMembersSync = "conversation.members.sync" (ConversationMembersSyncParams in workspace_dir) -> ConversationMembersSyncResponse;

    notifications {
        /// Somebody said something in a conversation. Told to subscriptions of `events.subscribe` whose
        /// `event_types` name `conversation.message`.
        "conversation.notification" = ConversationNotification;
    }
}

/// Params of [`ConversationList`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ConversationListParams {
    /// The company folder.
    pub workspace_dir: Text,
    /// What they are about.
    pub scope: CompanyScope,
    /// The project; needed for the scope `project`.
    #[serde(default)]
    pub project_id: Option<ProjectId>,
    /// Who asks: conversations they may not see are left out.
    #[serde(default)]
    pub actor_id: Option<Text>,
    /// What they are.
    #[serde(default)]
    pub actor_role: Option<ActorRole>,
    /// Their team.
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
    /// The company folder.
    pub workspace_dir: Text,
    /// What it is about.
    pub scope: CompanyScope,
    /// The project; needed for the scope `project`.
    #[serde(default)]
    pub project_id: Option<ProjectId>,
    /// Its name.
    #[schemars(length(max = 200))]
    pub name: Text,
    /// Its name in addresses; `home` is taken.
    #[schemars(length(max = 200))]
    pub slug: Text,
    /// Who may see it; `team` if not given.
    #[serde(default)]
    pub visibility: Option<Visibility>,
    /// Who makes it.
    pub created_by: Text,
    /// Agents and people who take part.
    #[serde(default)]
    pub participant_agent_ids: Option<Vec<Text>>,
    /// Teams that take part.
    #[serde(default)]
    pub participant_team_ids: Option<Vec<Text>>,
}

/// Params of [`ConversationCreateDm`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ConversationCreateDmParams {
    /// The company folder.
    pub workspace_dir: Text,
    /// What it is about.
    pub scope: CompanyScope,
    /// The project; needed for the scope `project`.
    #[serde(default)]
    pub project_id: Option<ProjectId>,
    /// Who begins it.
    pub created_by: Text,
    /// The other one.
    pub peer_agent_id: Text,
    /// Who may see it; `private_agent` if not given.
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
    /// The company folder.
    pub workspace_dir: Text,
    /// What it is about.
    pub scope: CompanyScope,
    /// The project; needed for the scope `project`.
    #[serde(default)]
    pub project_id: Option<ProjectId>,
    /// The conversation.
    pub conversation_id: ConversationId,
    /// How many; 300 if not given.
    #[serde(default)]
    #[schemars(range(min = 1, max = 5000))]
    pub limit: Option<u32>,
    /// Only those before this one, which is how to page.
    #[serde(default)]
    pub before_message_id: Option<ConversationMessageId>,
    /// Who asks: a conversation they may not see is refused.
    #[serde(default)]
    pub actor_id: Option<Text>,
    /// What they are.
    #[serde(default)]
    pub actor_role: Option<ActorRole>,
    /// Their team.
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
    /// The company folder.
    pub workspace_dir: Text,
    /// What the conversation is about.
    pub scope: CompanyScope,
    /// The project; needed for the scope `project`.
    #[serde(default)]
    pub project_id: Option<ProjectId>,
    /// The conversation.
    pub conversation_id: ConversationId,
    /// Who says it.
    pub author_id: Text,
    /// What they are.
    pub author_role: ActorRole,
    /// What they say.
    #[schemars(length(max = 100_000))]
    pub body: Text,
    /// What it is; `text` if not given.
    #[serde(default)]
    pub kind: Option<MessageKind>,
    /// Who may see it; as the conversation if not given.
    #[serde(default)]
    pub visibility: Option<Visibility>,
    /// Whom it names.
    #[serde(default)]
    pub mentions: Option<Vec<Text>>,
}

/// Response of [`ConversationMessageSend`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ConversationMessageSendResponse {
    /// The conversation.
    pub conversation: Conversation,
    /// The message.
    pub message: ConversationMessage,
}

/// Params of [`ConversationMembersSync`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ConversationMembersSyncParams {
    /// The company folder.
    pub workspace_dir: Text,
    /// The project.
    pub project_id: ProjectId,
    /// Who leads the company.
    #[serde(default)]
    pub ceo_actor_id: Option<Text>,
    /// Who leads the work.
    #[serde(default)]
    pub executive_manager_agent_id: Option<AgentId>,
}

/// Response of [`ConversationMembersSync`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ConversationMembersSyncResponse {
    /// Who assists the whole company.
    pub global_manager_agent_id: AgentId,
    /// Who assists the project.
    pub project_secretary_agent_id: AgentId,
    /// The conversations of the project.
    pub conversation_ids: Vec<ConversationId>,
}

/// A conversation, on the wire as in `conversation.yaml`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Conversation {
    /// 1.
    #[schemars(range(min = 1))]
    pub schema_version: u32,
    /// `conversation`.
    pub r#type: ConversationTag,
    /// Its id.
    pub id: Text,
    /// What it is about.
    pub scope: CompanyScope,
    /// The project, if it is about one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project_id: Option<Text>,
    /// What it is.
    pub kind: ConversationKind,
    /// Its name.
    pub name: Text,
    /// Its name in addresses.
    pub slug: Text,
    /// Who may see it.
    pub visibility: Visibility,
    /// When it was made.
    pub created_at: IsoTime,
    /// Who made it.
    pub created_by: Text,
    /// Whether the company made it by itself.
    #[serde(default)]
    pub auto_generated: bool,
    /// Who takes part.
    pub participants: Participants,
    /// The other one, between two.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dm_peer_agent_id: Option<Text>,
}

/// The word `conversation`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ConversationTag {
    /// The word `conversation`.
    #[default]
    Conversation,
}

/// Who takes part in a conversation.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Participants {
    /// Agents and people.
    pub agent_ids: Vec<Text>,
    /// Whole teams.
    pub team_ids: Vec<Text>,
}

impl Conversation {
    /// What holds between the fields of a conversation.
    pub fn refine(&self) -> Vec<Issue> {
        let mut issues = Vec::new();
        match (self.scope, &self.project_id) {
            (CompanyScope::Project, None) => {
                issues.push(Issue::custom(
                    "project_id",
                    "a conversation of a project names it",
                ));
            }
            (CompanyScope::Workspace, Some(_)) => issues.push(Issue::custom(
                "project_id",
                "a conversation of the company names no project",
            )),
            (CompanyScope::Project, Some(_)) | (CompanyScope::Workspace, None) => {}
        }
        if self.kind == ConversationKind::Dm && self.dm_peer_agent_id.is_none() {
            issues.push(Issue::custom(
                "dm_peer_agent_id",
                "a conversation between two names the other one",
            ));
        }
        issues
    }
}

/// A message, on the wire as in `messages.jsonl`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ConversationMessage {
    /// 1.
    #[schemars(range(min = 1))]
    pub schema_version: u32,
    /// `message`.
    pub r#type: ConversationMessageTag,
    /// Its id.
    pub id: Text,
    /// The conversation.
    pub conversation_id: Text,
    /// The project, if the conversation is about one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project_id: Option<Text>,
    /// When it was sent.
    pub created_at: IsoTime,
    /// Who sent it.
    pub author_id: Text,
    /// What they are.
    pub author_role: ActorRole,
    /// What it is.
    #[serde(default = "MessageKind::text")]
    pub kind: MessageKind,
    /// Who may see it.
    pub visibility: Visibility,
    /// What it says.
    pub body: Text,
    /// Whom it names.
    #[serde(default)]
    pub mentions: Vec<Text>,
}

/// The word `message`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ConversationMessageTag {
    /// The word `message`.
    #[default]
    Message,
}

impl MessageKind {
    fn text() -> Self {
        Self::Text
    }
}

/// What somebody said, as it is said.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ConversationNotification {
    /// The subscription that asked for it.
    pub subscription_id: String,
    /// The company folder, as the subscription named it.
    pub workspace_dir: String,
    /// Where it was said.
    pub conversation: Conversation,
    /// What was said.
    pub message: ConversationMessage,
}
