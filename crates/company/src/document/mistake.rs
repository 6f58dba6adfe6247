//! `org/agents/<id>/mistakes.yaml`: the mistakes of an agent and their counts. Every member has a default, so that
//! files edited by hand stay readable.

use protocol::company::Text;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Document, tags};

tags! { MistakeLogTag = "agent_mistake_log"; }

/// The mistakes of an agent.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MistakeLog {
    /// Version of the format: 1.
    #[serde(default)]
    pub schema_version: u32,
    /// `agent_mistake_log`.
    #[serde(default)]
    pub r#type: MistakeLogTag,
    /// Id of the agent.
    #[serde(default)]
    pub agent_id: String,
    /// Time of the last change of this file.
    #[serde(default)]
    pub updated_at: String,
    /// The mistakes, one entry per key.
    #[serde(default)]
    pub entries: Vec<Mistake>,
}

impl Document for MistakeLog {}

/// One kind of mistake.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Mistake {
    /// Key of the mistake.
    #[serde(default)]
    pub key: String,
    /// Number of observations.
    #[serde(default)]
    pub count: u64,
    /// Time of the last observation.
    #[serde(default)]
    pub last_seen_at: String,
    /// Description of the last observation.
    #[serde(default)]
    pub summary: String,
    /// Rule that prevents the mistake.
    #[serde(default)]
    pub prevention_rule: String,
    /// The last observations.
    #[serde(default)]
    pub observations: Vec<Observation>,
}

/// One observation of a mistake.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Observation {
    /// Time of the observation.
    #[serde(default)]
    pub at: String,
    /// The actor that observed it.
    #[serde(default)]
    pub observed_by: String,
    /// Project, if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project_id: Option<Text>,
    /// Run, if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run_id: Option<Text>,
    /// Task, if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task_id: Option<Text>,
    /// Milestone, if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub milestone_id: Option<Text>,
    /// Artifacts that document the mistake.
    #[serde(default)]
    pub evidence_artifact_ids: Vec<Text>,
}
