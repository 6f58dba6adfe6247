//! `org/agents/<id>/mistakes.yaml`: what an agent did wrong, and how often. Read whatever people made of it.

use protocol::company::Text;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Document, tags};

tags! { MistakeLogTag = "agent_mistake_log"; }

/// What an agent did wrong.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MistakeLog {
    /// 1.
    #[serde(default)]
    pub schema_version: u32,
    /// `agent_mistake_log`.
    #[serde(default)]
    pub r#type: MistakeLogTag,
    /// The agent.
    #[serde(default)]
    pub agent_id: String,
    /// When something was last written here.
    #[serde(default)]
    pub updated_at: String,
    /// The mistakes, each by its key.
    #[serde(default)]
    pub entries: Vec<Mistake>,
}

impl Document for MistakeLog {}

/// One kind of mistake.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Mistake {
    /// What it is called.
    #[serde(default)]
    pub key: String,
    /// How often it was made.
    #[serde(default)]
    pub count: u64,
    /// When it was last made.
    #[serde(default)]
    pub last_seen_at: String,
    /// What happened last.
    #[serde(default)]
    pub summary: String,
    /// What prevents it.
    #[serde(default)]
    pub prevention_rule: String,
    /// The last times it was made.
    #[serde(default)]
    pub observations: Vec<Observation>,
}

/// One time a mistake was made.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Observation {
    /// When.
    #[serde(default)]
    pub at: String,
    /// Who saw it.
    #[serde(default)]
    pub observed_by: String,
    /// In which project.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project_id: Option<Text>,
    /// In which run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run_id: Option<Text>,
    /// In which task.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task_id: Option<Text>,
    /// In which milestone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub milestone_id: Option<Text>,
    /// What shows it.
    #[serde(default)]
    pub evidence_artifact_ids: Vec<Text>,
}
