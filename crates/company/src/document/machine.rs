//! `.local/machine.yaml`: the configuration of this machine.

use std::collections::BTreeMap;

use protocol::company::Text;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{Document, tags};

tags! { MachineTag = "machine"; }

/// Repositories, provider programs, execution policies and prices on this machine.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Machine {
    /// Version of the format: 1.
    #[schemars(range(min = 1))]
    pub schema_version: u32,
    /// `machine`.
    pub r#type: MachineTag,
    /// Absolute path of each repository, by repository id.
    pub repo_roots: BTreeMap<String, String>,
    /// Program of each provider, by provider name.
    pub provider_bins: BTreeMap<String, String>,
    /// Execution policy of each provider; absent if there are none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub provider_execution_policy: Option<BTreeMap<String, ExecutionPolicy>>,
    /// Price of 1000 tokens in US dollars, by provider; absent if there are none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub provider_pricing_usd_per_1k_tokens: Option<BTreeMap<String, RateCard>>,
    /// Members of other programs, which are preserved.
    #[serde(flatten)]
    pub rest: Map<String, Value>,
}

impl Document for Machine {}

/// Conditions for running a provider.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ExecutionPolicy {
    /// Billing channel of the provider.
    pub channel: Channel,
    /// Whether a subscription must be verified before a run.
    pub require_subscription_proof: bool,
    /// Method of verification; absent if none is required.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub proof_strategy: Option<Text>,
    /// Patterns of which the file name of the program must match one.
    pub allowed_bin_patterns: Vec<Text>,
}

/// Billing channel of a provider.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Channel {
    /// A command line program with a subscription.
    SubscriptionCli,
    /// An API that is billed by use.
    Api,
}

/// Prices in US dollars per 1000 tokens.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RateCard {
    /// Input tokens.
    #[schemars(range(min = 0))]
    pub input: f64,
    /// Input tokens read from a cache; absent if they have no separate price.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0))]
    pub cached_input: Option<f64>,
    /// Output tokens.
    #[schemars(range(min = 0))]
    pub output: f64,
    /// Reasoning tokens of the output; absent if they have no separate price.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0))]
    pub reasoning_output: Option<f64>,
}

impl Machine {
    /// The configuration of a new company folder.
    pub fn initial() -> Self {
        let subscription = |strategy: &str, pattern: &str| ExecutionPolicy {
            channel: Channel::SubscriptionCli,
            require_subscription_proof: true,
            proof_strategy: Text::new(strategy),
            allowed_bin_patterns: Text::new(pattern).into_iter().collect(),
        };
        let api = |pattern: Option<&str>| ExecutionPolicy {
            channel: Channel::Api,
            require_subscription_proof: false,
            proof_strategy: None,
            allowed_bin_patterns: pattern.and_then(Text::new).into_iter().collect(),
        };
        let policies = [
            ("codex", subscription("codex_cli", "codex")),
            ("codex_app_server", subscription("codex_cli", "codex")),
            ("claude", subscription("claude_cli", "claude")),
            ("claude_code", subscription("claude_cli", "claude")),
            ("gemini", api(Some("gemini"))),
            ("manager", api(None)),
        ];
        let policies = policies.map(|(provider, policy)| (provider.to_owned(), policy));
        Self {
            schema_version: 1,
            r#type: MachineTag::It,
            repo_roots: BTreeMap::new(),
            provider_bins: BTreeMap::new(),
            provider_execution_policy: Some(BTreeMap::from(policies)),
            provider_pricing_usd_per_1k_tokens: Some(BTreeMap::new()),
            rest: Map::new(),
        }
    }
}
