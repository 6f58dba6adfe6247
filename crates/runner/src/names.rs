//! Warnings about names in a launch that stand for nothing: an agent without a document, a provider without a driver.
//!
//! The methods accept such names, because other programs do; the answer carries a warning for the person who typed it.

use company::{Company, document::Agent, layout};
use protocol::{Id as _, company::AgentId};

use crate::{Options, driver::Driver};

/// Providers that need no driver: they run commands of the caller, or the gateway makes their runs itself.
const PLAIN: [&str; 7] = [
    "cmd",
    "command",
    "shell",
    "manager",
    "manual",
    "pipeline",
    "self_improve",
];

/// The warning about an agent that the company does not have.
pub fn agent_warning(company: &Company, agent: &str) -> Option<String> {
    let known = AgentId::parse(agent).is_ok_and(|id| {
        let path = format!("{}/agent.yaml", layout::agent(&id));
        company.read::<Agent>(&path).is_ok()
    });
    (!known).then(|| format!("there is no agent `{agent}` in this company"))
}

/// The warning about a provider that no driver runs.
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
