//! `usage.*`: the tokens and costs of runs.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{RunStatus, Text};

crate::methods! {
    Company family "usage";

    /// Sum up the tokens and costs of the newest runs and of all runs.
    Read UsageAnalytics = "usage.analytics" (UsageAnalyticsParams in workspace_dir) -> UsageAnalyticsResponse;
}

/// Params of [`UsageAnalytics`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct UsageAnalyticsParams {
    /// Absolute path of the company folder.
    pub workspace_dir: Text,
    /// Count only runs of this project. All projects if absent.
    #[serde(default)]
    pub project_id: Option<Text>,
    /// The maximum number of newest runs to return and to sum up. Default 200.
    #[serde(default)]
    #[schemars(range(min = 1, max = 5000))]
    pub limit: Option<u32>,
    /// If true, rebuilds the index first. Default false.
    #[serde(default)]
    pub refresh_index: Option<bool>,
    /// If true, syncs the index first. Default true.
    #[serde(default)]
    pub sync_index: Option<bool>,
}

/// Response of [`UsageAnalytics`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct UsageAnalyticsResponse {
    /// The company folder, as given in the request.
    pub workspace_dir: String,
    /// The time the response was generated, in ISO-8601.
    pub generated_at: String,
    /// True if the call rebuilt the index.
    pub index_rebuilt: bool,
    /// True if the call synced the index.
    pub index_synced: bool,
    /// Totals over the newest runs.
    pub totals: UsageTotals,
    /// Totals over all indexed runs, not limited by `limit`.
    pub all_time_totals: UsageTotals,
    /// Totals over the newest runs by provider, most tokens first.
    pub by_provider: Vec<UsageByProvider>,
    /// The newest runs, newest first.
    pub recent_runs: Vec<UsageRun>,
}

/// Totals over several runs.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct UsageTotals {
    /// The number of runs.
    pub run_count: u64,
    /// The total number of tokens.
    pub total_tokens: u64,
    /// The total cost in US dollars. Runs without a price count as 0.
    pub total_cost_usd: f64,
    /// The number of runs with a known cost.
    pub priced_run_count: u64,
    /// The number of runs without a known cost.
    pub unpriced_run_count: u64,
    /// The number of runs whose tokens were reported by the provider.
    pub provider_reported_count: u64,
    /// The number of runs whose tokens were estimated from character counts.
    pub estimated_count: u64,
    /// The number of runs whose event log has lines that are not valid JSON.
    pub parse_error_run_count: u64,
}

/// Totals over the runs of one provider.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct UsageByProvider {
    /// The name of the provider.
    pub provider: String,
    /// The number of runs.
    pub run_count: u64,
    /// The total number of tokens.
    pub total_tokens: u64,
    /// The total cost in US dollars. Runs without a price count as 0.
    pub total_cost_usd: f64,
    /// The mean number of tokens per run, rounded to an integer.
    pub average_tokens_per_run: u64,
    /// The mean cost per run in US dollars.
    pub average_cost_usd_per_run: f64,
    /// The number of runs whose event log has lines that are not valid JSON.
    pub parse_error_runs: u64,
}

/// The usage of one run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct UsageRun {
    /// The id of the project of the run.
    pub project_id: String,
    /// The id of the run.
    pub run_id: String,
    /// The provider of the run.
    pub provider: String,
    /// The status of the run.
    pub status: RunStatus,
    /// The time the run was created, in ISO-8601.
    pub created_at: String,
    /// The origin of the numbers: `provider_reported` or `estimated_chars`. `null` if no usage is recorded.
    pub usage_source: Option<String>,
    /// The confidence in the numbers: `high` or `low`. `null` if no usage is recorded.
    pub usage_confidence: Option<String>,
    /// The total number of tokens. 0 if no usage is recorded.
    pub total_tokens: u64,
    /// The cost in US dollars. `null` if no price is known.
    pub cost_usd: Option<f64>,
    /// The number of lines in the event log that are not valid JSON.
    pub parse_error_count: u64,
}
