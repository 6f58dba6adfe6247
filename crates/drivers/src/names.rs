//! Warnings about unknown names in a launch: an agent without a document, a provider without a driver.
//!
//! The methods accept such names for compatibility with other programs; the response carries a warning for the user.

use company::{Company, document::Agent, layout};
use protocol::{Id as _, company::AgentId};

use crate::{Options, driver::Driver};

/// Providers that need no driver: they run commands of the caller, or the gateway creates their runs itself.
const PLAIN: [&str; 7] = [
    "cmd",
    "command",
    "shell",
    "manager",
    "manual",
    "pipeline",
    "self_improve",
];

/// Returns a warning if the company has no readable document of the agent.
pub fn agent_warning(company: &Company, agent: &str) -> Option<String> {
    let known = AgentId::parse(agent).is_ok_and(|id| {
        let path = format!("{}/agent.yaml", layout::agent(&id));
        company.read::<Agent>(&path).is_ok()
    });
    (!known).then(|| format!("there is no agent `{agent}` in this company"))
}

/// Returns a warning if no driver exists for the provider.
pub fn provider_warning(provider: &str, options: &Options) -> Option<String> {
    let has_driver = Driver::of_provider(provider, &options.drivers) != Driver::Command;
    if has_driver || PLAIN.contains(&provider) {
        return None;
    }
    let declared: String = options
        .drivers
        .keys()
        .map(|name| format!(", {name}"))
        .collect();
    Some(format!(
        "there is no provider `{provider}`: expected codex, claude, gemini{declared}, or cmd for a command of your own"
    ))
}
