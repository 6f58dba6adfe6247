//! Teams and agents, stored under `org/`.

pub mod defaults;
pub mod project;

use std::sync::Arc;

use protocol::company::{
    AgentId, AgentRole, IsoTime, TeamId, Text,
    workspace::{AgentRow, TeamRow},
};

use crate::{
    Company, Error, Writer,
    document::{Agent, Team},
    format::collation,
    layout,
};

/// Returns every readable agent, in folder order.
pub fn agents(company: &Company) -> Result<Vec<Arc<Agent>>, Error> {
    readable(company, layout::AGENTS, "agent.yaml")
}

/// Returns every readable team, in folder order.
pub fn teams(company: &Company) -> Result<Vec<Arc<Team>>, Error> {
    readable(company, layout::TEAMS, "team.yaml")
}

fn readable<T: crate::document::Document>(
    company: &Company,
    folder: &str,
    file: &str,
) -> Result<Vec<Arc<T>>, Error> {
    let names = company.names(folder)?;
    let read = names
        .iter()
        .map(|name| company.read(&format!("{folder}/{name}/{file}")));
    // `workspace.validate` reports unreadable files; lists skip them.
    Ok(read.filter_map(Result::ok).collect())
}

/// Returns the agents, sorted by name and optionally restricted to a role or a team.
pub fn list_agents(
    company: &Company,
    role: Option<AgentRole>,
    team: Option<&str>,
) -> Result<Vec<AgentRow>, Error> {
    let mut rows: Vec<_> = agents(company)?
        .iter()
        .filter(|agent| role.is_none_or(|role| agent.role == role))
        .filter(|agent| team.is_none_or(|team| agent.team_id.as_deref() == Some(team)))
        .map(|agent| AgentRow {
            agent_id: agent.id.to_string(),
            name: agent.name.to_string(),
            display_title: agent.display_title.as_deref().map(ToOwned::to_owned),
            avatar: agent.avatar.as_deref().map(ToOwned::to_owned),
            role: agent.role,
            provider: agent.provider.to_string(),
            model_hint: agent.model_hint.as_deref().map(ToOwned::to_owned),
            team_id: agent.team_id.clone(),
            created_at: agent.created_at.to_string(),
        })
        .collect();
    rows.sort_by(|left, right| collation::compare(&left.name, &right.name));
    Ok(rows)
}

/// Returns the teams, sorted by name.
pub fn list_teams(company: &Company) -> Result<Vec<TeamRow>, Error> {
    let mut rows: Vec<_> = teams(company)?
        .iter()
        .map(|team| TeamRow {
            team_id: team.id.to_string(),
            name: team.name.to_string(),
            department_key: team.department_key.as_deref().map(ToOwned::to_owned),
            department_label: team.department_label.as_deref().map(ToOwned::to_owned),
            charter: team.charter.as_deref().map(ToOwned::to_owned),
            created_at: team.created_at.to_string(),
        })
        .collect();
    rows.sort_by(|left, right| collation::compare(&left.name, &right.name));
    Ok(rows)
}

/// Properties of a new agent.
#[derive(Clone, Debug)]
pub struct NewAgent<'a> {
    /// Id of the agent.
    pub id: AgentId,
    /// Name of the agent.
    pub name: &'a str,
    /// Job title; the role is shown if absent.
    pub display_title: Option<&'a str>,
    /// Role in the company.
    pub role: AgentRole,
    /// Provider that runs the agent.
    pub provider: &'a str,
    /// Preferred model; the provider's default if absent.
    pub model_hint: Option<&'a str>,
    /// Team of the agent, if it belongs to one.
    pub team: Option<&'a TeamId>,
}

impl Writer<'_> {
    /// Creates an agent with its starter files.
    pub fn create_agent(&self, new: &NewAgent<'_>) -> Result<(), Error> {
        self.make_whole(&layout::agent(&new.id), &[], &self.agent_files(new)?)
    }

    /// The starter files of an agent, as paths relative to its folder with their contents.
    pub(crate) fn agent_files(
        &self,
        new: &NewAgent<'_>,
    ) -> Result<[(&'static str, String); 5], Error> {
        let created_at = self.now();
        let NewAgent {
            id,
            name,
            role,
            provider,
            ..
        } = new;
        let team = new.team.map_or("unassigned", TeamId::as_str);
        let title = new.display_title.unwrap_or(role.as_str());
        let agent = Agent {
            display_title: new.display_title.and_then(Text::new),
            model_hint: new.model_hint.and_then(Text::new),
            team_id: new.team.map(ToString::to_string),
            ..Agent::new(
                text(id),
                text(name),
                *role,
                text(provider),
                created_at.clone(),
            )
        };
        let journal = format!(
            "# Journal\n\n- created_at: {created_at}\n- agent_id: {id}\n\nNew entries go to the end.\n\n## Entries\n"
        );
        let instructions = format!(
            "# AGENTS.md - {id}\n\n## Operating Rules\n\
             - Work from the contract of the task and the criteria of its milestone.\n\
             - Leave proof: a patch and its tests for code, a document for everything else.\n\
             - Say early what blocks you, with what you saw.\n\n## Recurring Mistakes To Avoid\n"
        );
        let role_card = format!(
            "# Role - {name}\n\n- role: {role}\n- display_title: {title}\n- provider: {provider}\n- team_id: {team}\n\n\
             ## Duties\n- Do the work that is given to this role and this team.\n- Leave a trail that others can check.\n\n\
             ## Boundaries\n- Decisions go through policy, approvals and memory reviews, never around them.\n\
             - Work of other teams needs somebody's approval first.\n\n\
             ## Escalation\n- Tell a manager about what blocks you, what was denied, what costs too much and what looks like a secret.\n"
        );
        let skills = format!(
            "# Skills - {name}\n\n## Approved Skills\n- Finding one's way in the company folder\n- Writing documents that pass validation\n\n\
             ## Approved References\n- company/company.yaml\n- company/policy.yaml\n\n\
             ## Forbidden\n- Changing memory without an approved delta\n- Reaching into other teams without an approval\n"
        );
        Ok([
            ("agent.yaml", self.yaml(&agent)?),
            ("journal.md", journal),
            ("AGENTS.md", instructions),
            ("role.md", role_card),
            ("skills_index.md", skills),
        ])
    }

    /// Creates a team with its empty memory.
    pub fn create_team(&self, id: &TeamId, team: &Team) -> Result<(), Error> {
        let memory =
            "# Team Memory (Curated)\n\n## Principles\n\n## Decisions\n\n## Links\n".to_owned();
        self.make_whole(
            &layout::team(id),
            &[],
            &[("team.yaml", self.yaml(team)?), ("memory.md", memory)],
        )
    }
}

/// Converts a value that is known not to be empty (an id, a constant or a validated value) to a [`Text`].
pub(crate) fn text(of: impl std::fmt::Display) -> Text {
    Text::new(of.to_string()).unwrap_or_else(|| Text::new("?").expect("one character"))
}

/// Converts a time printed by [`crate::Sources`] to an [`IsoTime`].
pub(crate) fn iso(of: String) -> IsoTime {
    IsoTime::new(of).expect("the clock prints a time")
}
