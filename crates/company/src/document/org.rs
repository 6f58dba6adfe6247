//! `team.yaml` and `agent.yaml`.

use protocol::company::{AgentRole, IsoTime, Text};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{Document, tags};

tags! {
    TeamTag = "team";
    AgentTag = "agent";
}

/// A team.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Team {
    /// 1.
    #[schemars(range(min = 1))]
    pub schema_version: u32,
    /// `team`.
    pub r#type: TeamTag,
    /// Its id.
    pub id: Text,
    /// Its name.
    pub name: Text,
    /// The department it is, by key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub department_key: Option<Text>,
    /// The department it is, by name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub department_label: Option<Text>,
    /// What it is for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub charter: Option<Text>,
    /// When it was made.
    pub created_at: IsoTime,
}

impl Document for Team {}

/// An agent.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Agent {
    /// 1.
    #[schemars(range(min = 1))]
    pub schema_version: u32,
    /// `agent`.
    pub r#type: AgentTag,
    /// Its id.
    pub id: Text,
    /// Its name.
    pub name: Text,
    /// What it is called in the company.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub display_title: Option<Text>,
    /// Its picture.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub avatar: Option<Text>,
    /// Which model suits it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model_hint: Option<Text>,
    /// What it is.
    pub role: AgentRole,
    /// What runs it.
    pub provider: Text,
    /// Its team.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub team_id: Option<String>,
    /// When it was made.
    pub created_at: IsoTime,
    /// How it is started.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub launcher: Option<Map<String, Value>>,
}

impl Document for Agent {}

/// What is known of a team before it is written.
impl Team {
    /// A new team.
    pub fn new(id: Text, name: Text, created_at: IsoTime) -> Self {
        Self {
            schema_version: 1,
            r#type: TeamTag::It,
            id,
            name,
            department_key: None,
            department_label: None,
            charter: None,
            created_at,
        }
    }
}

impl Agent {
    /// A new agent.
    pub fn new(id: Text, name: Text, role: AgentRole, provider: Text, created_at: IsoTime) -> Self {
        Self {
            schema_version: 1,
            r#type: AgentTag::It,
            id,
            name,
            display_title: None,
            avatar: None,
            model_hint: None,
            role,
            provider,
            team_id: None,
            created_at,
            launcher: Some(Map::new()),
        }
    }
}
