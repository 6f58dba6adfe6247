//! Channels, direct conversations and their messages.

pub mod comment;

use std::sync::Arc;

use protocol::{
    Id as _,
    company::{
        ActorRole, CompanyScope, ConversationId, ConversationKind, ConversationMessageId,
        MessageKind, ProjectId, Text, Visibility,
        conversation::{
            Conversation, ConversationMessage, ConversationMessageTag, ConversationTag,
            Participants,
        },
    },
};

use crate::{
    Company, Error, Writer, files,
    format::collation,
    layout,
    org::{iso, project, text},
    policy::{self, Action, Actor, Resource},
    secret,
};

/// The scope of a conversation: the whole company or one of its projects.
#[derive(Clone, Debug, PartialEq)]
pub enum ConversationScope {
    /// The whole company.
    Workspace,
    /// A project.
    Project(ProjectId),
}

impl ConversationScope {
    fn project(&self) -> Option<&ProjectId> {
        match self {
            Self::Workspace => None,
            Self::Project(project) => Some(project),
        }
    }

    fn wire_scope(&self) -> CompanyScope {
        match self {
            Self::Workspace => CompanyScope::Workspace,
            Self::Project(_) => CompanyScope::Project,
        }
    }

    /// Folders of the conversations of the scope.
    fn folders(&self, company: &Company) -> Result<Vec<String>, Error> {
        let (base, mut folders) = match self {
            Self::Workspace => (
                "inbox/conversations".to_owned(),
                vec!["inbox/workspace_home".to_owned()],
            ),
            Self::Project(project) => (
                format!("{}/conversations", layout::project(project)),
                Vec::new(),
            ),
        };
        folders.extend(
            company
                .names(&base)?
                .into_iter()
                .map(|name| format!("{base}/{name}")),
        );
        Ok(folders)
    }
}

/// Every readable conversation of a scope with its folder.
fn all(
    company: &Company,
    scope: &ConversationScope,
) -> Result<Vec<(String, Arc<Conversation>)>, Error> {
    let mut found = Vec::new();
    for folder in scope.folders(company)? {
        if let Ok(conversation) =
            company.read::<Conversation>(&format!("{folder}/conversation.yaml"))
        {
            found.push((folder, conversation));
        }
    }
    Ok(found)
}

/// The conversations of a scope that the actor may read; all of them without an actor. The fixed conversations come
/// first, then channels, then direct conversations, each group sorted by name.
pub fn list(
    company: &Company,
    scope: &ConversationScope,
    actor: Option<&Actor>,
) -> Result<Vec<Conversation>, Error> {
    let mut found: Vec<Conversation> = all(company, scope)?
        .into_iter()
        .filter(|(_, conversation)| actor.is_none_or(|actor| may_see(actor, conversation)))
        .map(|(_, conversation)| Conversation::clone(&conversation))
        .collect();
    let rank = |conversation: &Conversation| {
        let fixed = [
            "home",
            "executive-office",
            "planning-council",
            "executive-meeting",
        ];
        let fixed = fixed
            .iter()
            .position(|slug| *slug == conversation.slug.as_str());
        fixed.unwrap_or(match conversation.kind {
            ConversationKind::Channel => 4,
            ConversationKind::Dm => 5,
            ConversationKind::Home => 6,
        })
    };
    found.sort_by(|left, right| {
        let by_rank = rank(left).cmp(&rank(right));
        by_rank.then_with(|| collation::compare(&left.name, &right.name))
    });
    Ok(found)
}

/// Whether an actor may read a conversation.
pub fn may_see(actor: &Actor, conversation: &Conversation) -> bool {
    let Participants {
        agent_ids,
        team_ids,
    } = &conversation.participants;
    let is_member = || {
        let team = actor.team_id.as_deref();
        agent_ids.iter().any(|id| id.as_str() == actor.id)
            || team_ids.iter().any(|id| Some(id.as_str()) == team)
    };
    is_open_to(actor, conversation.visibility, is_member())
}

/// Whether an actor may read a conversation of this visibility. `takes_part` states whether the actor or the actor's
/// team is a participant.
pub fn is_open_to(actor: &Actor, visibility: Visibility, takes_part: bool) -> bool {
    match (actor.role, visibility) {
        (ActorRole::Human | ActorRole::Ceo, _) | (_, Visibility::Org) => true,
        (ActorRole::Director | ActorRole::Manager, Visibility::Managers) => true,
        (
            ActorRole::Director | ActorRole::Manager | ActorRole::Worker,
            Visibility::Managers | Visibility::Team | Visibility::PrivateAgent,
        ) => takes_part,
    }
}

/// Whether an actor who may read the conversation may also read a message. Messages with the visibility of the
/// conversation are readable; policy decides about all others.
fn may_read_message(
    company: &Company,
    actor: &Actor,
    conversation: &Conversation,
    message: &ConversationMessage,
) -> bool {
    if message.visibility == conversation.visibility {
        return true;
    }
    let team = policy::team_of(company, &message.author_id);
    let resource = Resource {
        team_id: team.as_deref(),
        producing_actor_id: Some(&message.author_id),
        ..Resource::visible(message.visibility)
    };
    policy::decide(actor, Action::Read, &resource).allowed
}

/// A conversation of a scope with its folder.
fn find(
    company: &Company,
    scope: &ConversationScope,
    id: &ConversationId,
) -> Result<(String, Arc<Conversation>), Error> {
    let folder = match (scope.project(), id.as_str()) {
        (None, "conv_workspace_home") => "inbox/workspace_home".to_owned(),
        (project, _) => layout::conversation(project, id, ""),
    };
    let read = company.read::<Conversation>(&format!("{folder}/conversation.yaml"));
    let conversation = read.map_err(|error| error.or_not_found("Conversation", id.as_str()))?;
    Ok((folder, conversation))
}

/// A channel to be created.
#[derive(Clone, Debug)]
pub struct NewChannel {
    /// Display name.
    pub name: String,
    /// Name in URLs, unique in its scope.
    pub slug: String,
    /// Who may read the channel.
    pub visibility: Visibility,
    /// Id of the actor that creates the channel.
    pub created_by: Text,
    /// Agents and teams that take part.
    pub participants: Participants,
}

/// Creates a channel. Fails if its slug is already used in the scope.
pub fn create_channel(
    company: &Company,
    scope: &ConversationScope,
    new: NewChannel,
) -> Result<Conversation, Error> {
    let (name, slug) = (new.name.trim(), new.slug.trim());
    if name.is_empty() || slug.is_empty() {
        return Err(Error::Refused(
            "a channel needs a name and a slug".to_owned(),
        ));
    }
    secret::refuse("channel.name", name)?;
    check_project(company, scope)?;
    company.write(|writer| {
        let taken = all(company, scope)?
            .iter()
            .any(|(_, known)| known.slug.as_str() == slug);
        if taken {
            return Err(Error::Refused(format!(
                "Conversation slug already exists: {slug}"
            )));
        }
        let conversation = Conversation {
            kind: ConversationKind::Channel,
            name: text(name),
            slug: text(slug),
            visibility: new.visibility,
            created_by: new.created_by,
            participants: unique(new.participants),
            ..new_conversation(writer, scope)
        };
        make(writer, scope, conversation)
    })
}

/// Returns the direct conversation of two participants; creates it if there is none.
pub fn create_dm(
    company: &Company,
    scope: &ConversationScope,
    created_by: &Text,
    peer: &Text,
    visibility: Visibility,
) -> Result<Conversation, Error> {
    check_project(company, scope)?;
    company.write(|writer| {
        let both = unique(Participants {
            agent_ids: vec![created_by.clone(), peer.clone()],
            team_ids: Vec::new(),
        });
        let is_theirs = |known: &Conversation| {
            known.kind == ConversationKind::Dm
                && known.participants.agent_ids.len() == both.agent_ids.len()
                && both
                    .agent_ids
                    .iter()
                    .all(|id| known.participants.agent_ids.contains(id))
        };
        if let Some((_, known)) = all(company, scope)?
            .iter()
            .find(|(_, known)| is_theirs(known))
        {
            return Ok(Conversation::clone(known));
        }
        let conversation = Conversation {
            kind: ConversationKind::Dm,
            name: text(format!("DM: {peer}")),
            slug: text(format!("dm-{peer}")),
            visibility,
            created_by: created_by.clone(),
            participants: both,
            dm_peer_agent_id: Some(peer.clone()),
            ..new_conversation(writer, scope)
        };
        make(writer, scope, conversation)
    })
}

fn check_project(company: &Company, scope: &ConversationScope) -> Result<(), Error> {
    match scope.project() {
        Some(id) => project::project(company, id).map(drop),
        None => Ok(()),
    }
}

/// A new conversation with a fresh id and placeholders for the members that differ by kind.
fn new_conversation(writer: &Writer<'_>, scope: &ConversationScope) -> Conversation {
    let id: ConversationId = writer.company().sources().id();
    Conversation {
        schema_version: 1,
        r#type: ConversationTag::Conversation,
        id: text(id),
        scope: scope.wire_scope(),
        project_id: scope.project().map(text),
        kind: ConversationKind::Channel,
        name: text("?"),
        slug: text("?"),
        visibility: Visibility::Team,
        created_at: writer.now(),
        created_by: text("?"),
        auto_generated: false,
        participants: Participants::default(),
        dm_peer_agent_id: None,
    }
}

fn make(
    writer: &Writer<'_>,
    scope: &ConversationScope,
    conversation: Conversation,
) -> Result<Conversation, Error> {
    let id = ConversationId::parse(&conversation.id)
        .map_err(|error| Error::Refused(error.to_string()))?;
    let files = [
        ("conversation.yaml", writer.yaml(&conversation)?),
        ("messages.jsonl", String::new()),
    ];
    writer.make_whole(&layout::conversation(scope.project(), &id, ""), &[], &files)?;
    Ok(conversation)
}

fn unique(participants: Participants) -> Participants {
    let unique = |list: Vec<Text>| {
        let mut kept: Vec<Text> = Vec::with_capacity(list.len());
        for one in list {
            if !kept.contains(&one) {
                kept.push(one);
            }
        }
        kept
    };
    Participants {
        agent_ids: unique(participants.agent_ids),
        team_ids: unique(participants.team_ids),
    }
}

/// The last messages of a conversation, or the last ones before the message `before`, oldest first; empty if the
/// conversation does not exist.
pub fn messages(
    company: &Company,
    scope: &ConversationScope,
    id: &ConversationId,
    limit: usize,
    before: Option<&ConversationMessageId>,
    actor: Option<&Actor>,
) -> Result<Vec<ConversationMessage>, Error> {
    let (folder, conversation) = match find(company, scope, id) {
        Err(error) if error.is_missing() => return Ok(Vec::new()),
        other => other?,
    };
    if let Some(actor) = actor {
        check_member(actor, "read", &conversation)?;
    }
    let path = company.path(&format!("{folder}/messages.jsonl"));
    let is_mark = |message: &ConversationMessage| {
        before.is_some_and(|before| message.id.as_str() == before.as_str())
    };
    let from = match before {
        None => files::LookFrom::End,
        Some(_) => files::LookFrom::Before(&is_mark),
    };
    let is_readable = |message: &ConversationMessage| {
        actor.is_none_or(|actor| may_read_message(company, actor, &conversation, message))
    };
    let read = files::last_lines(&path, limit, &from, |line| {
        serde_json::from_str(line).ok().filter(is_readable)
    });
    match read {
        Err(error) if error.is_missing() => Ok(Vec::new()),
        Err(error) => Err(error),
        Ok(mut messages) => {
            // Lines that were added by hand can be out of order.
            messages.sort_by(|left, right| left.created_at.cmp(&right.created_at));
            Ok(messages)
        }
    }
}

fn check_member(
    actor: &Actor,
    action: &'static str,
    conversation: &Conversation,
) -> Result<(), Error> {
    if may_see(actor, conversation) {
        Ok(())
    } else {
        Err(Error::Denied {
            action,
            rule_id: "conversation.members",
            reason: "not_a_member",
            actor_id: actor.id.clone(),
            resource_id: conversation.id.to_string(),
        })
    }
}

/// A message to be sent.
#[derive(Clone, Debug)]
pub struct NewMessage {
    /// Author of the message.
    pub author: Actor,
    /// Text of the message; surrounding white space is removed, and it must not be empty.
    pub body: String,
    /// Kind of message.
    pub kind: MessageKind,
    /// Who may read the message; default is the visibility of the conversation.
    pub visibility: Option<Visibility>,
    /// Ids of the mentioned agents.
    pub mentions: Vec<Text>,
}

/// Appends a message to a conversation that its author may read.
pub fn send(
    company: &Company,
    scope: &ConversationScope,
    id: &ConversationId,
    new: NewMessage,
) -> Result<(Conversation, ConversationMessage), Error> {
    let body = Text::new(new.body.trim())
        .ok_or_else(|| Error::Refused("Message body is required".to_owned()))?;
    let author = new.author.known(company)?;
    let (folder, conversation) = find(company, scope, id)?;
    check_member(&author, "send", &conversation)?;
    secret::refuse("message.body", &body)?;
    let sources = company.sources();
    let message_id: ConversationMessageId = sources.id();
    let mentions = Participants {
        agent_ids: new.mentions,
        team_ids: Vec::new(),
    };
    let message = ConversationMessage {
        schema_version: 1,
        r#type: ConversationMessageTag::Message,
        id: text(message_id),
        conversation_id: text(id),
        project_id: scope.project().map(text),
        created_at: iso(sources.now_text()),
        author_id: text(&author.id),
        author_role: author.role,
        kind: new.kind,
        visibility: new.visibility.unwrap_or(conversation.visibility),
        body,
        mentions: unique(mentions).agent_ids,
    };
    let line = serde_json::to_string(&message)
        .map_err(|error| Error::Refused(format!("the message cannot be written: {error}")))?;
    company.append_lines(&format!("{folder}/messages.jsonl"), vec![line])?;
    Ok((Conversation::clone(&conversation), message))
}
