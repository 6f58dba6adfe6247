//! The agents and conversations every company and every project has.
//!
//! Existing participants are only ever added to, and a file is written only when something in it changes, so this
//! can be called again without undoing what people set.

use std::sync::Arc;

use protocol::company::{
    AgentId, AgentRole, CompanyScope, ConversationId, ConversationKind, ProjectId, Text,
    Visibility,
    conversation::{Conversation, ConversationTag, Participants},
};

use crate::{
    Error, Writer,
    document::{Agent, Team},
    layout,
    org::{self, NewAgent, text},
};

/// Who leads when nobody else is named.
pub const HUMAN_CEO: &str = "human_ceo";
/// The assistant of the whole company.
pub const GLOBAL_MANAGER: &str = "agent_global_manager";
/// What the ids of secretaries begin with; the project follows.
pub(crate) const SECRETARY: &str = "agent_secretary_";

/// What [`Writer::ensure_project_defaults`] found or made.
#[derive(Clone, Debug)]
pub struct ProjectDefaults {
    /// The assistant of the whole company.
    pub global_manager: AgentId,
    /// The assistant of the project.
    pub secretary: AgentId,
    /// The conversations of the project.
    pub conversations: Vec<ConversationId>,
}

/// The assistant of a project.
pub fn secretary_of(project: &ProjectId) -> Result<AgentId, Error> {
    parsed(&format!("{SECRETARY}{project}"))
}

impl Writer<'_> {
    /// The assistant of the company and the two conversations of everybody.
    pub fn ensure_workspace_defaults(
        &self,
        ceo: &str,
        executive: Option<&AgentId>,
    ) -> Result<AgentId, Error> {
        let manager: AgentId = parsed(GLOBAL_MANAGER)?;
        self.ensure_agent(&NewAgent {
            id: manager.clone(),
            name: "General Manager",
            display_title: Some("Global Assistant"),
            role: AgentRole::Manager,
            provider: "codex",
            model_hint: Some("codex"),
            team: None,
        })?;
        let executive = executive.unwrap_or(&manager);
        self.ensure_conversation(&WantedConversation {
            id: "conv_workspace_home".to_owned(),
            project: None,
            kind: ConversationKind::Home,
            name: "Workspace Home",
            slug: "home".to_owned(),
            visibility: Visibility::Org,
            created_by: manager.as_str(),
            agents: vec![ceo.to_owned(), manager.to_string()],
            team: None,
        })?;
        self.ensure_conversation(&WantedConversation {
            id: "conv_workspace_executive_office".to_owned(),
            project: None,
            kind: ConversationKind::Channel,
            name: "Executive Office",
            slug: "executive-office".to_owned(),
            visibility: Visibility::Org,
            created_by: executive.as_str(),
            agents: vec![ceo.to_owned(), executive.to_string()],
            team: None,
        })?;
        Ok(manager)
    }

    /// The above, the assistant of the project and its conversations.
    pub fn ensure_project_defaults(
        &self,
        project: &ProjectId,
        ceo: &str,
        executive: Option<&AgentId>,
    ) -> Result<ProjectDefaults, Error> {
        crate::project::project(self.company(), project)?;
        let global_manager = self.ensure_workspace_defaults(ceo, executive)?;
        let secretary = secretary_of(project)?;
        self.ensure_agent(&NewAgent {
            id: secretary.clone(),
            name: &format!("Project Secretary {project}"),
            display_title: Some("Executive Secretary"),
            role: AgentRole::Worker,
            provider: "codex",
            model_hint: Some("codex"),
            team: None,
        })?;
        let agents = org::agents(self.company())?;
        let of_role = |role: AgentRole| ids(agents.iter().filter(move |agent| agent.role == role));
        let executive = match executive {
            Some(executive) => executive.to_string(),
            None => {
                let titled = agents.iter().find(|agent| {
                    agent.role == AgentRole::Manager
                        && agent.display_title.as_deref() == Some("Executive Manager")
                });
                titled.map_or_else(|| global_manager.to_string(), |agent| agent.id.to_string())
            }
        };
        let top = [
            vec![ceo.to_owned()],
            of_role(AgentRole::Ceo),
            vec![
                global_manager.to_string(),
                executive.clone(),
                secretary.to_string(),
            ],
        ]
        .concat();
        let office = vec![ceo.to_owned(), executive.clone(), secretary.to_string()];
        let council = [
            vec![ceo.to_owned(), executive.clone()],
            of_role(AgentRole::Director),
        ]
        .concat();
        let meeting = [
            top.clone(),
            of_role(AgentRole::Director),
            of_role(AgentRole::Manager),
        ]
        .concat();
        let channel = ConversationKind::Channel;
        let rows = [
            (
                "home",
                ConversationKind::Home,
                "Home",
                global_manager.as_str(),
                top,
            ),
            (
                "executive_office",
                channel,
                "Executive Office",
                &executive,
                office,
            ),
            (
                "planning_council",
                channel,
                "Planning Council",
                &executive,
                council,
            ),
            (
                "executive_meeting",
                channel,
                "Executive Meeting",
                global_manager.as_str(),
                meeting,
            ),
        ];
        let mut conversations = Vec::new();
        for (suffix, kind, name, created_by, agents) in rows {
            conversations.push(self.ensure_conversation(&WantedConversation {
                id: format!("conv_{project}_{suffix}"),
                project: Some(project),
                kind,
                name,
                slug: suffix.replace('_', "-"),
                visibility: Visibility::Org,
                created_by,
                agents,
                team: None,
            })?);
        }
        for team in org::teams(self.company())? {
            let Team { id, name, .. } = &*team;
            let members = agents
                .iter()
                .filter(|agent| agent.team_id.as_deref() == Some(id));
            conversations.push(self.ensure_conversation(&WantedConversation {
                id: format!("conv_{project}_team_{id}"),
                project: Some(project),
                kind: channel,
                name,
                slug: slug(name),
                visibility: Visibility::Team,
                created_by: &executive,
                agents: [ids(members), vec![executive.clone()]].concat(),
                team: Some(id),
            })?);
        }
        Ok(ProjectDefaults {
            global_manager,
            secretary,
            conversations,
        })
    }

    fn ensure_agent(&self, agent: &NewAgent<'_>) -> Result<(), Error> {
        let path = format!("{}/agent.yaml", layout::agent(&agent.id));
        match self.company().path(&path).exists() {
            true => Ok(()),
            false => self.create_agent(agent),
        }
    }

    fn ensure_conversation(
        &self,
        wanted: &WantedConversation<'_>,
    ) -> Result<ConversationId, Error> {
        let id: ConversationId = parsed(&wanted.id)?;
        let folder = layout::conversation(wanted.project, &id, &wanted.slug);
        let path = format!("{folder}/conversation.yaml");
        let found: Option<Arc<Conversation>> = self.company().read_if_there(&path)?;
        let Some(found) = found else {
            let conversation = wanted.made(self);
            self.make_whole(
                &folder,
                &[],
                &[
                    ("conversation.yaml", self.yaml(&conversation)?),
                    ("messages.jsonl", String::new()),
                ],
            )?;
            return Ok(id);
        };
        let mut kept = Conversation::clone(&found);
        kept.name = text(wanted.name);
        kept.slug = text(&wanted.slug);
        kept.visibility = wanted.visibility;
        kept.auto_generated = true;
        add(&mut kept.participants.agent_ids, &wanted.agents);
        add(
            &mut kept.participants.team_ids,
            wanted.team.into_iter().map(|team| team.as_str()),
        );
        if kept != *found {
            self.put(&path, &kept)?;
        }
        Ok(id)
    }
}

/// A conversation as it should be.
struct WantedConversation<'a> {
    id: String,
    project: Option<&'a ProjectId>,
    kind: ConversationKind,
    name: &'a str,
    slug: String,
    visibility: Visibility,
    created_by: &'a str,
    agents: Vec<String>,
    team: Option<&'a Text>,
}

impl WantedConversation<'_> {
    fn made(&self, writer: &Writer<'_>) -> Conversation {
        let mut participants = Participants::default();
        add(&mut participants.agent_ids, &self.agents);
        participants.team_ids = self.team.cloned().into_iter().collect();
        Conversation {
            schema_version: 1,
            r#type: ConversationTag::Conversation,
            id: text(&self.id),
            scope: match self.project {
                Some(_) => CompanyScope::Project,
                None => CompanyScope::Workspace,
            },
            project_id: self.project.map(text),
            kind: self.kind,
            name: text(self.name),
            slug: text(&self.slug),
            visibility: self.visibility,
            created_at: writer.now(),
            created_by: text(self.created_by),
            auto_generated: true,
            participants,
            dm_peer_agent_id: None,
        }
    }
}

/// Adds those that are not there yet, in order.
fn add(list: &mut Vec<Text>, more: impl IntoIterator<Item = impl AsRef<str>>) {
    for one in more {
        if !list.iter().any(|known| known.as_str() == one.as_ref()) {
            list.extend(Text::new(one.as_ref()));
        }
    }
}

fn ids<'a>(agents: impl Iterator<Item = &'a Arc<Agent>>) -> Vec<String> {
    agents.map(|agent| agent.id.to_string()).collect()
}

fn parsed<I: protocol::Id>(text: &str) -> Result<I, Error> {
    I::parse(text).map_err(|error| Error::Refused(error.to_string()))
}

/// A name as addresses have it: lower case, everything else a dash, at most 64 characters.
pub fn slug(name: &str) -> String {
    let mut slug = String::new();
    for character in name.chars().flat_map(char::to_lowercase) {
        match character {
            'a'..='z' | '0'..='9' => slug.push(character),
            _ if slug.is_empty() || slug.ends_with('-') => {}
            _ => slug.push('-'),
        }
    }
    slug.truncate(64);
    let slug = slug.trim_matches('-');
    if slug.is_empty() {
        "channel".to_owned()
    } else {
        slug.to_owned()
    }
}
