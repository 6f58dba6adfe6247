//! `conversation.*`: channels and messages of a company.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    ActorRole, CompanyScope, ConversationKind, IsoTime, Issue, MessageKind, Text, Visibility,
};

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
