//! Warnings about the names of agents in a launch.
//!
//! The methods accept unknown names for compatibility with other programs; the response carries a warning for the user.

use company::{Company, document::Agent, layout};
use protocol::{Id as _, company::AgentId};

/// Returns a warning if the company has no readable document of the agent.
pub fn agent_warning(company: &Company, agent: &str) -> Option<String> {
    let known = AgentId::parse(agent).is_ok_and(|id| {
        let path = format!("{}/agent.yaml", layout::agent(&id));
        company.read::<Agent>(&path).is_ok()
    });
    (!known).then(|| format!("there is no agent `{agent}` in this company"))
}
