//! Views of a company that are read from its index and returned as wire types.

pub(crate) mod inbox;
mod monitor;
mod profile;
mod ui;
mod usage;

use std::{collections::BTreeMap, sync::Arc};

use company::{Company, document::Agent, org};
use protocol::company::monitor::MonitorLive;

pub use inbox::{list_help_requests, list_reviews};

/// The newest session of each run that has one, by run id.
pub type LiveSessions = BTreeMap<String, LiveSession>;

/// A session and the project of its run.
#[derive(Clone, Debug, PartialEq)]
pub struct LiveSession {
    /// Project of the run.
    pub project_id: String,
    /// State of the session.
    pub session: MonitorLive,
}

/// Default limit of rows of a list or view.
pub(crate) const DEFAULT_LIMIT: u32 = 200;

/// The agents of a company with their teams.
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

    /// The team of an agent, if it has one.
    pub(crate) fn team_of(&self, agent: &str) -> Option<&str> {
        self.teams.get(agent).map(String::as_str)
    }

    /// The team of an event: that of the acting agent, otherwise that of the agent whose run it is.
    pub(crate) fn team_of_event(&self, actor: Option<&str>, agent: Option<&str>) -> Option<&str> {
        let of = |id: Option<&str>| id.and_then(|id| self.team_of(id));
        of(actor).or_else(|| of(agent))
    }
}
