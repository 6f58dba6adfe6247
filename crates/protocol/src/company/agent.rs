//! `agent.*`: one agent.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{AgentId, AgentRole, Text};

crate::methods! {
    Company family "agent";

    /// Show an agent and what it did.
    Read AgentProfileSnapshot = "agent.profile.snapshot" (AgentProfileSnapshotParams in workspace_dir) -> AgentProfileSnapshotResponse;
}

/// Params of [`AgentProfileSnapshot`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct AgentProfileSnapshotParams {
    /// The company folder.
    pub workspace_dir: Text,
    /// The agent.
    pub agent_id: AgentId,
    /// Only runs of this project.
    #[serde(default)]
    pub project_id: Option<Text>,
    /// Bring the index up to date first; true if not given.
    #[serde(default)]
    pub sync_index: Option<bool>,
}

/// Response of [`AgentProfileSnapshot`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct AgentProfileSnapshotResponse {
    /// The folder as it was given.
    pub workspace_dir: String,
    /// When it was looked at.
    pub generated_at: String,
    /// Who it is.
    pub agent: AgentProfile,
    /// What it did.
    pub metrics: AgentMetrics,
}

/// Who an agent is.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct AgentProfile {
    /// Its id.
    pub agent_id: String,
    /// Its name.
    pub name: String,
    /// What it is called in the company.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub display_title: Option<String>,
    /// Its picture.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub avatar: Option<String>,
    /// What it is.
    pub role: AgentRole,
    /// What runs it.
    pub provider: String,
    /// Which model suits it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model_hint: Option<String>,
    /// Its team.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub team_id: Option<String>,
    /// When it was made.
    pub created_at: String,
    /// Whole days since then.
    pub tenure_days: u64,
}

/// What an agent did.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct AgentMetrics {
    /// Its runs.
    pub total_runs: u64,
    /// Those that are not over.
    pub running_runs: u64,
    /// Those that ended well.
    pub ended_runs: u64,
    /// Those that failed.
    pub failed_runs: u64,
    /// Those that were stopped.
    pub stopped_runs: u64,
    /// The tokens they used.
    pub total_tokens: u64,
    /// What they cost.
    pub total_cost_usd: f64,
    /// How often its context was renewed; null if nobody knows.
    pub context_cycles_count: Option<u64>,
    /// How that is known.
    pub context_cycles_source: AgentCyclesSource,
}

/// How renewed contexts are known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum AgentCyclesSource {
    /// The provider said so.
    ProviderSignal,
    /// They are not.
    #[default]
    Unknown,
}
