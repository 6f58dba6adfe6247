//! Views of a company that are read from its index, in the form the wire has.

pub(crate) mod inbox;
mod monitor;
mod profile;
mod ui;
mod usage;

use std::{collections::BTreeMap, sync::Arc};

use company::{Company, document::Agent, org};
use protocol::company::monitor::MonitorLive;

pub use inbox::{list_help_requests, list_reviews};

/// The newest session of each run that has one, by run.
pub type Live = BTreeMap<String, LiveSession>;

/// A session and the project of its run.
#[derive(Clone, Debug, PartialEq)]
pub struct LiveSession {
    /// The project.
    pub project_id: String,
    /// How it stands.
    pub session: MonitorLive,
}

/// How many rows a view has if nobody says how many.
const USUAL: u32 = 200;

/// The agents, and what their teams are called.
pub(crate) struct People {
    agents: Vec<Arc<Agent>>,
    team_names: BTreeMap<String, String>,
    teams: BTreeMap<String, String>,
}

impl People {
    pub(crate) fn of(company: &Company) -> Result<Self, company::Error> {
        let agents = org::agents(company)?;
        let teams = agents
            .iter()
            .filter_map(|agent| Some((agent.id.to_string(), agent.team_id.clone()?)))
            .collect();
        let team_names = org::teams(company)?
            .iter()
            .map(|team| (team.id.to_string(), team.name.to_string()))
            .collect();
        Ok(Self {
            agents,
            team_names,
            teams,
        })
    }

    /// The team of an agent.
    pub(crate) fn team_of(&self, agent: &str) -> Option<&str> {
        self.teams.get(agent).map(String::as_str)
    }

    /// The team of an event: that of the agent that speaks, else that of the agent that runs.
    pub(crate) fn team_of_event(&self, actor: Option<&str>, agent: Option<&str>) -> Option<&str> {
        let of = |id: Option<&str>| id.and_then(|id| self.team_of(id));
        of(actor).or_else(|| of(agent))
    }
}
