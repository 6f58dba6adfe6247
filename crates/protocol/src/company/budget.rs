//! What something may cost.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Issue;

/// Limits on cost and tokens: above the soft one somebody is told, above the hard one it stops.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Budget {
    /// US dollars after which somebody is told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0))]
    pub soft_cost_usd: Option<f64>,
    /// US dollars after which it stops.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0))]
    pub hard_cost_usd: Option<f64>,
    /// Tokens after which somebody is told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub soft_tokens: Option<u64>,
    /// Tokens after which it stops.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hard_tokens: Option<u64>,
}

impl Budget {
    /// A hard limit below its soft one makes no sense. `place` is the path of the budget, with dots.
    pub fn refine(&self, place: &str) -> Vec<Issue> {
        let mut issues = Vec::new();
        let dot = if place.is_empty() { "" } else { "." };
        if matches!((self.soft_cost_usd, self.hard_cost_usd), (Some(soft), Some(hard)) if hard < soft)
        {
            let field = format!("{place}{dot}hard_cost_usd");
            issues.push(Issue::custom(
                &field,
                "hard_cost_usd must be >= soft_cost_usd",
            ));
        }
        if matches!((self.soft_tokens, self.hard_tokens), (Some(soft), Some(hard)) if hard < soft) {
            let field = format!("{place}{dot}hard_tokens");
            issues.push(Issue::custom(&field, "hard_tokens must be >= soft_tokens"));
        }
        issues
    }
}
