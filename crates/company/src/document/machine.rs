//! `.local/machine.yaml`: what holds on this machine alone.

use std::collections::BTreeMap;

use protocol::company::Text;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{Document, tags};

tags! { MachineTag = "machine"; }

/// Repositories, programs, their rules and their prices on this machine.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Machine {
    /// 1.
    #[schemars(range(min = 1))]
    pub schema_version: u32,
    /// `machine`.
    pub r#type: MachineTag,
    /// Where each repository is.
    pub repo_roots: BTreeMap<String, String>,
    /// Which program runs each provider.
    pub provider_bins: BTreeMap<String, String>,
    /// What each provider may use.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub provider_execution_policy: Option<BTreeMap<String, ExecutionPolicy>>,
    /// What a thousand tokens cost, in US dollars.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub provider_pricing_usd_per_1k_tokens: Option<BTreeMap<String, RateCard>>,
    /// What other programs keep here; it stays.
    #[serde(flatten)]
    pub rest: Map<String, Value>,
}

impl Document for Machine {}

/// How a provider may be run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ExecutionPolicy {
    /// How it is paid for.
    pub channel: Channel,
    /// Whether a subscription must be proven first.
    pub require_subscription_proof: bool,
    /// How it is proven.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub proof_strategy: Option<Text>,
    /// What the program's file name must look like.
    pub allowed_bin_patterns: Vec<Text>,
}

/// How a provider is paid for.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Channel {
    /// A command line program with a subscription.
    SubscriptionCli,
    /// By use.
    Api,
}

/// US dollars for a thousand tokens.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RateCard {
    /// Of input.
    #[schemars(range(min = 0))]
    pub input: f64,
    /// Of input read from a cache.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0))]
    pub cached_input: Option<f64>,
    /// Of output.
    #[schemars(range(min = 0))]
    pub output: f64,
    /// Of output nobody sees.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0))]
    pub reasoning_output: Option<f64>,
}

impl Machine {
    /// What a new folder begins with.
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
