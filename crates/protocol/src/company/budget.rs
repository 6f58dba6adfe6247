//! Limits on cost and tokens of a project, task or run.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Issue;

/// Limits on cost and tokens. Exceeding a soft limit raises an alert; exceeding a hard limit stops the work.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Budget {
    /// Cost in US dollars above which an alert is raised. Absent: no limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0))]
    pub soft_cost_usd: Option<f64>,
    /// Cost in US dollars above which the work stops. Absent: no limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0))]
    pub hard_cost_usd: Option<f64>,
    /// Number of tokens above which an alert is raised. Absent: no limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub soft_tokens: Option<u64>,
    /// Number of tokens above which the work stops. Absent: no limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hard_tokens: Option<u64>,
}

impl Budget {
    /// Returns an issue for each hard limit that is below its soft limit. `place` is the dotted path of the budget.
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
