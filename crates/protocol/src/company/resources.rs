//! `resources.*`: the agents of a company and the tokens and costs of their runs.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Text;

crate::methods! {
    Company family "resources";

    /// Count agents, providers and models, and sum up the tokens and costs of runs.
    Read ResourcesSnapshot = "resources.snapshot" (ResourcesSnapshotParams in workspace_dir) -> ResourcesSnapshotResponse;
}

/// Params of [`ResourcesSnapshot`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ResourcesSnapshotParams {
    /// Absolute path of the company folder.
    pub workspace_dir: Text,
    /// Count only runs of this project; agents and models always cover the whole company. All projects if absent.
    #[serde(default)]
    pub project_id: Option<Text>,
    /// Has no effect: the response is computed from the current documents, not from the index.
    #[serde(default)]
    pub sync_index: Option<bool>,
}

/// Response of [`ResourcesSnapshot`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ResourcesSnapshotResponse {
    /// The company folder, as given in the request.
    pub workspace_dir: String,
    /// The time the snapshot was generated, in ISO-8601.
    pub generated_at: String,
    /// The project filter of the request. Absent if none was given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project_id: Option<String>,
    /// Totals over all agents and runs.
    pub totals: ResourceTotals,
    /// Usage by provider, most tokens first.
    pub providers: Vec<ResourceProvider>,
    /// The number of agents by model, most agents first.
    pub models: Vec<ResourceModel>,
}

/// Totals over all agents and runs.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ResourceTotals {
    /// The number of agents, including those that appear only in runs.
    pub agents: u64,
    /// The number of agents with role worker. Agents that appear only in runs count as workers.
    pub workers: u64,
    /// The number of workers with a running run that has a live session, or that was launched and is less than 24 hours
    /// old. A run that was never launched does not count, although its status is `running`.
    pub active_workers: u64,
    /// The number of runs.
    pub runs_indexed: u64,
    /// The total number of tokens of these runs.
    pub total_tokens: u64,
    /// The total cost of these runs in US dollars. Runs without a price count as 0.
    pub total_cost_usd: f64,
    /// The total number of context compactions that providers reported.
    pub context_cycles_total: u64,
    /// The number of runs whose provider reported context compactions.
    pub context_cycles_known_runs: u64,
    /// The number of finished runs whose provider reported none.
    pub context_cycles_unknown_runs: u64,
}

/// The usage of one provider.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ResourceProvider {
    /// The name of the provider.
    pub provider: String,
    /// The number of runs.
    pub run_count: u64,
    /// The total number of tokens.
    pub total_tokens: u64,
    /// The total cost in US dollars. Runs without a price count as 0.
    pub total_cost_usd: f64,
}

/// The number of agents with one model.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ResourceModel {
    /// The `model_hint` of the agents, or `<provider> (default)` if they have none.
    pub model: String,
    /// The number of agents.
    pub agent_count: u64,
}
