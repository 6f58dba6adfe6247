//! `resources.*`: who there is, and what they used.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Text;

crate::methods! {
    Company family "resources";

    /// Count agents, providers and models, and add up what they used.
    Read ResourcesSnapshot = "resources.snapshot" (ResourcesSnapshotParams in workspace_dir) -> ResourcesSnapshotResponse;
}

/// Params of [`ResourcesSnapshot`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ResourcesSnapshotParams {
    /// The company folder.
    pub workspace_dir: Text,
    /// Only runs of this project.
    #[serde(default)]
    pub project_id: Option<Text>,
    /// Without effect: the answer is read from the documents, as they are now.
    #[serde(default)]
    pub sync_index: Option<bool>,
}

/// Response of [`ResourcesSnapshot`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ResourcesSnapshotResponse {
    /// The folder as it was given.
    pub workspace_dir: String,
    /// When it was looked at.
    pub generated_at: String,
    /// The project, if one was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project_id: Option<String>,
    /// Everything together.
    pub totals: ResourceTotals,
    /// What was used, by provider.
    pub providers: Vec<ResourceProvider>,
    /// Which models the agents are meant for.
    pub models: Vec<ResourceModel>,
}

/// Everything together.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ResourceTotals {
    /// Agents of the company.
    pub agents: u64,
    /// Those that are workers.
    pub workers: u64,
    /// Workers with a run that has a process, or was launched within the last day and has not ended. A run that was
    /// created and never launched does not count, although its status is `running`.
    pub active_workers: u64,
    /// Runs.
    pub runs_indexed: u64,
    /// Their tokens.
    pub total_tokens: u64,
    /// What they cost.
    pub total_cost_usd: f64,
    /// How often contexts were renewed.
    pub context_cycles_total: u64,
    /// Runs of which that is known.
    pub context_cycles_known_runs: u64,
    /// Runs of which it is not.
    pub context_cycles_unknown_runs: u64,
}

/// What was used of one provider.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ResourceProvider {
    /// The provider.
    pub provider: String,
    /// How many runs.
    pub run_count: u64,
    /// Their tokens.
    pub total_tokens: u64,
    /// What they cost.
    pub total_cost_usd: f64,
}

/// How many agents are meant for a model.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ResourceModel {
    /// The model.
    pub model: String,
    /// How many agents.
    pub agent_count: u64,
}
