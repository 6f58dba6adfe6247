//! Default agents and conversations of every company and every project.
//!
//! Participants are only added, never removed, and a file is written only when its content changes, so these functions
//! can be called again without reverting participants that people added.

use std::sync::Arc;

use protocol::company::{
    AgentId, AgentRole, CompanyScope, ConversationId, ConversationKind, IsoTime, ProjectId, RepoId,
    Text, Visibility,
    conversation::{Conversation, ConversationTag, Participants},
};

use crate::{
    Company, Error, Writer,
    document::{Agent, Team},
    folder::intent::WriteSet,
    format::yaml,
    layout,
    org::{self, NewAgent, iso, text},
};

/// Actor id of the CEO when the request names no other.
pub const HUMAN_CEO: &str = "human_ceo";
/// Agent id of the company-wide assistant.
pub(crate) const GLOBAL_MANAGER: &str = "agent_global_manager";
/// Prefix of the agent ids of secretaries; the project id follows.
pub(crate) const SECRETARY: &str = "agent_secretary_";

/// Default agents and conversations of a project, as found or created by [`Writer::ensure_project_defaults`].
#[derive(Clone, Debug)]
pub struct ProjectDefaults {
    /// The company-wide assistant.
    pub global_manager: AgentId,
    /// The assistant of the project.
    pub secretary: AgentId,
    /// The default conversations of the project.
    pub conversations: Vec<ConversationId>,
}

/// The agent id of the assistant of a project.
pub(crate) fn secretary_of(project: &ProjectId) -> Result<AgentId, Error> {
    parsed(&format!("{SECRETARY}{project}"))
}

impl Writer<'_> {
    /// Creates the company-wide assistant and the two company-wide conversations, where they are missing. Returns the
    /// id of the assistant.
    pub(crate) fn ensure_workspace_defaults(
        &self,
        ceo: &str,
        executive: Option<&AgentId>,
    ) -> Result<AgentId, Error> {
        let manager: AgentId = parsed(GLOBAL_MANAGER)?;
        let conversations = workspace_conversations(ceo, executive.unwrap_or(&manager));
        self.check_workspace_defaults(ceo, executive)?;
        self.ensure_agent(&global_manager(&manager))?;
        for wanted in conversations {
            self.ensure_conversation(&wanted)?;
        }
        Ok(manager)
    }

    /// Fails if [`Writer::ensure_workspace_defaults`] would fail because a company-wide conversation cannot be read.
    /// Callers use it before they create anything that needs these conversations.
    pub(crate) fn check_workspace_defaults(
        &self,
        ceo: &str,
        executive: Option<&AgentId>,
    ) -> Result<(), Error> {
        let manager: AgentId = parsed(GLOBAL_MANAGER)?;
        let conversations = workspace_conversations(ceo, executive.unwrap_or(&manager));
        self.check_conversations(&conversations)
    }

    /// Fails if an existing conversation cannot be read. Called before anything is created.
    fn check_conversations(&self, wanted: &[DefaultConversation]) -> Result<(), Error> {
        for wanted in wanted {
            self.conversation_change(wanted)?;
        }
        Ok(())
    }

    /// Creates the Workspace Home conversation, which every company has from the start, if it is missing.
    pub(crate) fn ensure_workspace_home(&self) -> Result<(), Error> {
        let home = workspace_home(HUMAN_CEO);
        self.ensure_conversation(&home).map(drop)
    }

    /// Creates the company-wide defaults, the assistant of the project and the conversations of the project, where they
    /// are missing.
    pub fn ensure_project_defaults(
        &self,
        project: &ProjectId,
        ceo: &str,
        executive: Option<&AgentId>,
    ) -> Result<ProjectDefaults, Error> {
        crate::org::project::project(self.company(), project)?;
        self.check_conversations(&self.project_conversations(project, ceo, executive)?)?;
        let global_manager = self.ensure_workspace_defaults(ceo, executive)?;
        let secretary_id = secretary_of(project)?;
        self.ensure_agent(&secretary(&secretary_id, &secretary_name(project)))?;
        let mut conversations = Vec::new();
        for wanted in self.project_conversations(project, ceo, executive)? {
            conversations.push(self.ensure_conversation(&wanted)?);
        }
        Ok(ProjectDefaults {
            global_manager,
            secretary: secretary_id,
            conversations,
        })
    }

    /// Creates a project with its defaults and its repository links in one atomic change.
    pub fn create_project_with_defaults(
        &self,
        name: &str,
        repos: &[RepoId],
        ceo: &str,
        executive: Option<&AgentId>,
    ) -> Result<(ProjectId, ProjectDefaults), Error> {
        let project: ProjectId = self.company().sources().id();
        let folder = layout::project(&project);
        let mut files: Vec<_> = self
            .project_files(&project, name)?
            .into_iter()
            .map(|(name, text)| (format!("{folder}/{name}"), text))
            .collect();
        if !repos.is_empty() {
            files.push(self.repos_file(&project, repos)?);
        }
        files.extend(self.project_default_files(&project, ceo, executive)?);
        let conversations = self.project_conversations(&project, ceo, executive)?;
        let dirs = layout::PROJECT_DIRS.iter();
        self.put_all(&WriteSet {
            files,
            dirs: dirs.map(|name| format!("{folder}/{name}")).collect(),
            ..WriteSet::default()
        })?;
        let defaults = ProjectDefaults {
            global_manager: parsed(GLOBAL_MANAGER)?,
            secretary: secretary_of(&project)?,
            conversations: conversations
                .iter()
                .map(|wanted| parsed(&wanted.id))
                .collect::<Result<_, _>>()?,
        };
        Ok((project, defaults))
    }

    /// The files that [`Writer::ensure_project_defaults`] would write for a project that is about to be created.
    pub(crate) fn project_default_files(
        &self,
        project: &ProjectId,
        ceo: &str,
        executive: Option<&AgentId>,
    ) -> Result<Vec<(String, String)>, Error> {
        let mut files = Vec::new();
        let (manager, secretary_id) = (parsed(GLOBAL_MANAGER)?, secretary_of(project)?);
        let name = secretary_name(project);
        for agent in [global_manager(&manager), secretary(&secretary_id, &name)] {
            let folder = layout::agent(&agent.id);
            if !self
                .company()
                .path(&format!("{folder}/agent.yaml"))
                .exists()
            {
                let made = self.agent_files(&agent)?.into_iter();
                files.extend(made.map(|(file, text)| (format!("{folder}/{file}"), text)));
            }
        }
        let company_wide = workspace_conversations(ceo, executive.unwrap_or(&manager));
        let of_project = self.project_conversations(project, ceo, executive)?;
        for wanted in company_wide.iter().chain(&of_project) {
            let folder = wanted.folder()?;
            let (conversation, is_new) = match self.conversation_change(wanted)? {
                ConversationChange::None => continue,
                ConversationChange::Made(conversation) => (conversation, true),
                ConversationChange::Changed(conversation) => (conversation, false),
            };
            let text = self.yaml(&conversation)?;
            files.push((format!("{folder}/conversation.yaml"), text));
            if is_new {
                files.push((format!("{folder}/messages.jsonl"), String::new()));
            }
        }
        Ok(files)
    }

    /// The default conversations of a project, given the current teams and agents.
    fn project_conversations(
        &self,
        project: &ProjectId,
        ceo: &str,
        executive: Option<&AgentId>,
    ) -> Result<Vec<DefaultConversation>, Error> {
        let secretary = secretary_of(project)?.to_string();
        let agents = org::agents(self.company())?;
        let of_role = |role: AgentRole| ids(agents.iter().filter(move |agent| agent.role == role));
        let executive = match executive {
            Some(executive) => executive.to_string(),
            None => {
                let titled = agents.iter().find(|agent| {
                    agent.role == AgentRole::Manager
                        && agent.display_title.as_deref() == Some("Executive Manager")
                });
                titled.map_or_else(|| GLOBAL_MANAGER.to_owned(), |agent| agent.id.to_string())
            }
        };
        let top = [
            vec![ceo.to_owned()],
            of_role(AgentRole::Ceo),
            vec![
                GLOBAL_MANAGER.to_owned(),
                executive.clone(),
                secretary.clone(),
            ],
        ]
        .concat();
        let office = vec![ceo.to_owned(), executive.clone(), secretary];
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
            ("home", ConversationKind::Home, "Home", GLOBAL_MANAGER, top),
            (
                "executive_office",
                channel,
                "Executive Office",
                &executive,
                office,
            ),
            (COUNCIL, channel, "Planning Council", &executive, council),
            (
                "executive_meeting",
                channel,
                "Executive Meeting",
                GLOBAL_MANAGER,
                meeting,
            ),
        ];
        let mut conversations: Vec<_> = rows
            .into_iter()
            .map(
                |(suffix, kind, name, created_by, agents)| DefaultConversation {
                    id: format!("conv_{project}_{suffix}"),
                    project: Some(project.clone()),
                    kind,
                    name: name.to_owned(),
                    slug: suffix.replace('_', "-"),
                    visibility: Visibility::Org,
                    created_by: created_by.to_owned(),
                    agents,
                    team: None,
                },
            )
            .collect();
        for team in org::teams(self.company())? {
            let Team { id, name, .. } = &*team;
            let members = agents
                .iter()
                .filter(|agent| agent.team_id.as_deref() == Some(id));
            conversations.push(DefaultConversation {
                id: format!("conv_{project}_team_{id}"),
                project: Some(project.clone()),
                kind: channel,
                name: name.to_string(),
                slug: slug(name),
                visibility: Visibility::Team,
                created_by: executive.clone(),
                agents: [ids(members), vec![executive.clone()]].concat(),
                team: Some(id.clone()),
            });
        }
        Ok(conversations)
    }

    fn ensure_agent(&self, agent: &NewAgent<'_>) -> Result<(), Error> {
        let path = format!("{}/agent.yaml", layout::agent(&agent.id));
        if self.company().path(&path).exists() {
            Ok(())
        } else {
            self.create_agent(agent)
        }
    }

    fn ensure_conversation(&self, wanted: &DefaultConversation) -> Result<ConversationId, Error> {
        let folder = wanted.folder()?;
        match self.conversation_change(wanted)? {
            ConversationChange::None => {}
            ConversationChange::Made(conversation) => self.make_or_repair(
                &folder,
                &[
                    ("conversation.yaml", self.yaml(&conversation)?),
                    ("messages.jsonl", String::new()),
                ],
            )?,
            ConversationChange::Changed(conversation) => {
                self.put(&format!("{folder}/conversation.yaml"), &conversation)?;
            }
        }
        parsed(&wanted.id)
    }

    /// Creates a folder, or restores the missing files of an existing one. Existing files, such as messages, are kept.
    fn make_or_repair(&self, folder: &str, files: &[(&str, String)]) -> Result<(), Error> {
        if !self.company().path(folder).is_dir() {
            return self.make_whole(folder, &[], files);
        }
        for (name, text) in files {
            let path = format!("{folder}/{name}");
            if !self.company().path(&path).exists() {
                self.put_text(&path, text)?;
            }
        }
        Ok(())
    }

    /// The change that brings a conversation to its wanted state.
    fn conversation_change(
        &self,
        wanted: &DefaultConversation,
    ) -> Result<ConversationChange, Error> {
        let path = format!("{}/conversation.yaml", wanted.folder()?);
        let found: Option<Arc<Conversation>> = self.company().read_if_there(&path)?;
        let Some(found) = found else {
            return Ok(ConversationChange::Made(wanted.made(self.now())));
        };
        let mut kept = Conversation::clone(&found);
        kept.name = text(&wanted.name);
        kept.slug = text(&wanted.slug);
        kept.visibility = wanted.visibility;
        kept.auto_generated = true;
        add(&mut kept.participants.agent_ids, &wanted.agents);
        add(
            &mut kept.participants.team_ids,
            wanted.team.iter().map(|team| team.as_str()),
        );
        Ok(if kept == *found {
            ConversationChange::None
        } else {
            ConversationChange::Changed(kept)
        })
    }
}

/// A required change of a conversation.
enum ConversationChange {
    None,
    Made(Conversation),
    Changed(Conversation),
}

/// Id suffix of the conversation in which directors plan.
pub(crate) const COUNCIL: &str = "planning_council";

fn global_manager(id: &AgentId) -> NewAgent<'static> {
    NewAgent {
        id: id.clone(),
        name: "General Manager",
        display_title: Some("Global Assistant"),
        role: AgentRole::Manager,
        provider: "codex",
        model_hint: Some("codex"),
        team: None,
    }
}

fn secretary_name(project: &ProjectId) -> String {
    format!("Project Secretary {project}")
}

fn secretary<'a>(id: &AgentId, name: &'a str) -> NewAgent<'a> {
    NewAgent {
        id: id.clone(),
        name,
        display_title: Some("Executive Secretary"),
        role: AgentRole::Worker,
        provider: "codex",
        model_hint: Some("codex"),
        team: None,
    }
}

/// The files of the Workspace Home conversation, for a company that is about to be created.
pub(crate) fn workspace_home_files(company: &Company) -> Result<[(String, String); 2], Error> {
    let home = workspace_home(HUMAN_CEO);
    let folder = home.folder()?;
    let made = home.made(iso(company.sources().now_text()));
    Ok([
        (format!("{folder}/conversation.yaml"), yaml::print(&made)?),
        (format!("{folder}/messages.jsonl"), String::new()),
    ])
}

/// The Workspace Home conversation.
fn workspace_home(ceo: &str) -> DefaultConversation {
    DefaultConversation {
        id: "conv_workspace_home".to_owned(),
        project: None,
        kind: ConversationKind::Home,
        name: "Workspace Home".to_owned(),
        slug: "home".to_owned(),
        visibility: Visibility::Org,
        created_by: GLOBAL_MANAGER.to_owned(),
        agents: vec![ceo.to_owned(), GLOBAL_MANAGER.to_owned()],
        team: None,
    }
}

/// The two company-wide conversations: Workspace Home and Executive Office.
fn workspace_conversations(ceo: &str, executive: &AgentId) -> [DefaultConversation; 2] {
    let office = DefaultConversation {
        id: "conv_workspace_executive_office".to_owned(),
        project: None,
        kind: ConversationKind::Channel,
        name: "Executive Office".to_owned(),
        slug: "executive-office".to_owned(),
        visibility: Visibility::Org,
        created_by: executive.to_string(),
        agents: vec![ceo.to_owned(), executive.to_string()],
        team: None,
    };
    [workspace_home(ceo), office]
}

/// The wanted state of a conversation.
struct DefaultConversation {
    id: String,
    project: Option<ProjectId>,
    kind: ConversationKind,
    name: String,
    slug: String,
    visibility: Visibility,
    created_by: String,
    agents: Vec<String>,
    team: Option<Text>,
}

impl DefaultConversation {
    fn folder(&self) -> Result<String, Error> {
        let id: ConversationId = parsed(&self.id)?;
        Ok(layout::conversation(self.project.as_ref(), &id, &self.slug))
    }

    fn made(&self, created_at: IsoTime) -> Conversation {
        let mut participants = Participants::default();
        add(&mut participants.agent_ids, &self.agents);
        participants.team_ids = self.team.clone().into_iter().collect();
        Conversation {
            schema_version: 1,
            r#type: ConversationTag::Conversation,
            id: text(&self.id),
            scope: match self.project {
                Some(_) => CompanyScope::Project,
                None => CompanyScope::Workspace,
            },
            project_id: self.project.as_ref().map(text),
            kind: self.kind,
            name: text(&self.name),
            slug: text(&self.slug),
            visibility: self.visibility,
            created_at,
            created_by: text(&self.created_by),
            auto_generated: true,
            participants,
            dm_peer_agent_id: None,
        }
    }
}

/// Appends the entries that the list does not contain yet, in order.
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

/// Converts a name to a slug: lower case letters and digits, everything else becomes single dashes, at most 64
/// characters. An empty result becomes `channel`.
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
