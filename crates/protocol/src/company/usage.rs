//! `usage.*`: what runs used, and what it cost.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{RunStatus, Text};

crate::methods! {
    Company family "usage";

    /// Add up what the newest runs used, and what all of them used.
    Read UsageAnalytics = "usage.analytics" (UsageAnalyticsParams in workspace_dir) -> UsageAnalyticsResponse;
}

/// Params of [`UsageAnalytics`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct UsageAnalyticsParams {
    /// The company folder.
    pub workspace_dir: Text,
    /// Only of this project.
    #[serde(default)]
    pub project_id: Option<Text>,
    /// How many runs; 200 if not given.
    #[serde(default)]
    #[schemars(range(min = 1, max = 5000))]
    pub limit: Option<u32>,
    /// Build the index anew first.
    #[serde(default)]
    pub refresh_index: Option<bool>,
    /// Bring the index up to date first; true if not given.
    #[serde(default)]
    pub sync_index: Option<bool>,
}

/// Response of [`UsageAnalytics`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct UsageAnalyticsResponse {
    /// The folder as it was given.
    pub workspace_dir: String,
    /// When it was looked at.
    pub generated_at: String,
    /// Whether the index was built for it.
    pub index_rebuilt: bool,
    /// Whether the index was brought up to date for it.
    pub index_synced: bool,
    /// The newest runs together.
    pub totals: UsageTotals,
    /// All runs together, however many there are.
    pub all_time_totals: UsageTotals,
    /// The newest runs by provider, most tokens first.
    pub by_provider: Vec<UsageByProvider>,
    /// The newest runs.
    pub recent_runs: Vec<UsageRun>,
}

/// Runs together.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct UsageTotals {
    /// How many.
    pub run_count: u64,
    /// Their tokens.
    pub total_tokens: u64,
    /// What they cost.
    pub total_cost_usd: f64,
    /// Those with a price.
    pub priced_run_count: u64,
    /// Those without.
    pub unpriced_run_count: u64,
    /// Those whose provider counted.
    pub provider_reported_count: u64,
    /// Those that were estimated.
    pub estimated_count: u64,
    /// Those with lines that are not JSON.
    pub parse_error_run_count: u64,
}

/// The runs of one provider.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct UsageByProvider {
    /// The provider.
    pub provider: String,
    /// How many runs.
    pub run_count: u64,
    /// Their tokens.
    pub total_tokens: u64,
    /// What they cost.
    pub total_cost_usd: f64,
    /// Tokens of a run, rounded.
    pub average_tokens_per_run: u64,
    /// Cost of a run.
    pub average_cost_usd_per_run: f64,
    /// Those with lines that are not JSON.
    pub parse_error_runs: u64,
}

/// What one run used.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct UsageRun {
    /// Its project.
    pub project_id: String,
    /// Its id.
    pub run_id: String,
    /// What ran it.
    pub provider: String,
    /// Where it stands.
    pub status: RunStatus,
    /// When it was made.
    pub created_at: String,
    /// Who counted.
    pub usage_source: Option<String>,
    /// How sure that is.
    pub usage_confidence: Option<String>,
    /// Its tokens.
    pub total_tokens: u64,
    /// What it cost.
    pub cost_usd: Option<f64>,
    /// Lines of its log that are not JSON.
    pub parse_error_count: u64,
}
