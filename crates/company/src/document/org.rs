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
    /// Version of the format: 1.
    #[schemars(range(min = 1))]
    pub schema_version: u32,
    /// `team`.
    pub r#type: TeamTag,
    /// Id of the team.
    pub id: Text,
    /// Name of the team.
    pub name: Text,
    /// Key of the department; absent if the team is not a department.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub department_key: Option<Text>,
    /// Display name of the department; absent if the team is not a department.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub department_label: Option<Text>,
    /// Purpose of the team; absent if none is given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub charter: Option<Text>,
    /// Creation time.
    pub created_at: IsoTime,
}

impl Document for Team {}

/// An agent.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Agent {
    /// Version of the format: 1.
    #[schemars(range(min = 1))]
    pub schema_version: u32,
    /// `agent`.
    pub r#type: AgentTag,
    /// Id of the agent.
    pub id: Text,
    /// Name of the agent.
    pub name: Text,
    /// Job title; absent if none is given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub display_title: Option<Text>,
    /// Avatar image; absent if none is given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub avatar: Option<Text>,
    /// Preferred model; absent if none is given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model_hint: Option<Text>,
    /// Role of the agent.
    pub role: AgentRole,
    /// Provider that runs the agent.
    pub provider: Text,
    /// Id of the team; absent if the agent belongs to none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub team_id: Option<String>,
    /// Creation time.
    pub created_at: IsoTime,
    /// Launcher settings of the agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub launcher: Option<Map<String, Value>>,
}

impl Document for Agent {}

impl Team {
    /// A new team without department and charter.
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
    /// A new agent without team and title.
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
