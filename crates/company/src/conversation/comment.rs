//! Comments of people and agents on agents, documents and runs.

use protocol::{
    Id as _,
    company::{
        CommentId, ProjectId, RunId, Text, Visibility,
        comment::{Comment, CommentTag, CommentTarget},
    },
};
use serde_json::{Map, Value};

use crate::{
    Company, Error, Writer,
    event_log::{Event, Payload},
    folder::{comment_queue::PendingComment, intent::WriteSet},
    format::yaml,
    layout,
    org::{iso, text},
    policy::{self, Action, Actor, Resource},
    secret,
};

/// A comment to be added.
#[derive(Clone, Debug)]
pub struct NewComment {
    /// Project of the commented object.
    pub project_id: ProjectId,
    /// Author of the comment.
    pub author: Actor,
    /// Text of the comment; surrounding white space is removed, and it must not be empty.
    pub body: String,
    /// The agent commented on. At least one of `agent_id`, `artifact_id` and `run_id` is required.
    pub agent_id: Option<String>,
    /// The document commented on.
    pub artifact_id: Option<String>,
    /// The run commented on.
    pub run_id: Option<RunId>,
    /// Who may read the comment.
    pub visibility: Visibility,
}

/// Adds a comment. If it is about a run, also appends a `comment.added` event to the log of that run.
pub fn add(company: &Company, new: NewComment) -> Result<(CommentId, Comment), Error> {
    let id: CommentId = company.sources().id();
    let comment = add_as(company, &id, new)?;
    Ok((id, comment))
}

/// Adds a comment with a given id. An existing comment with that id is left unchanged, so the call can be retried.
pub fn add_once(company: &Company, id: &CommentId, new: NewComment) -> Result<(), Error> {
    if company.path(&path(id)).exists() {
        Ok(())
    } else {
        add_as(company, id, new).map(drop)
    }
}

fn path(id: &CommentId) -> String {
    format!("{}/{id}.yaml", layout::COMMENTS)
}

fn add_as(company: &Company, id: &CommentId, new: NewComment) -> Result<Comment, Error> {
    let body = Text::new(new.body.trim())
        .ok_or_else(|| Error::Refused("Comment body is required".to_owned()))?;
    let author = new.author.known(company)?;
    secret::refuse("comment.body", &body)?;
    let named = |id: Option<String>| id.and_then(|id| Text::new(id.trim()));
    let target = CommentTarget {
        project_id: text(&new.project_id),
        agent_id: named(new.agent_id),
        artifact_id: named(new.artifact_id),
        run_id: new.run_id.as_ref().map(text),
    };
    if !target.refine().is_empty() {
        return Err(Error::Refused(
            "Comment target requires one of: target_agent_id, target_artifact_id, target_run_id"
                .to_owned(),
        ));
    }
    let comment = Comment {
        schema_version: 1,
        r#type: CommentTag::Comment,
        id: text(id),
        created_at: iso(company.sources().now_text()),
        author_id: text(&author.id),
        author_role: author.role,
        visibility: new.visibility,
        target,
        body,
    };
    let event = match &new.run_id {
        Some(run) => Some((new.project_id, event(company, id, run, &comment)?)),
        None => None,
    };
    let made = PendingComment {
        file: (path(id), yaml::print(&comment)?),
        event,
    };
    let bytes = made.file.1.len();
    let queue = company.comment_queue();
    let written = queue.submit(made, bytes, |comments| write(company, &comments));
    written.unwrap_or_else(|_| Err(Error::Refused("the write was interrupted".to_owned())))?;
    Ok(comment)
}

/// Writes comments in one change. If that fails, writes each comment separately, so that an invalid one does not fail
/// the others; a lock timeout fails all of them.
fn write(company: &Company, comments: &[PendingComment]) -> Vec<Result<(), Error>> {
    match company.write(|writer| put(writer, comments)) {
        Ok(()) => comments.iter().map(|_| Ok(())).collect(),
        Err(error) if comments.len() == 1 => vec![Err(error)],
        Err(Error::LockTimeout(path)) => comments
            .iter()
            .map(|_| Err(Error::LockTimeout(path.clone())))
            .collect(),
        Err(_) => comments
            .iter()
            .map(|comment| company.write(|writer| put(writer, std::slice::from_ref(comment))))
            .collect(),
    }
}

fn put(writer: &Writer<'_>, comments: &[PendingComment]) -> Result<(), Error> {
    let files: Vec<_> = comments
        .iter()
        .map(|comment| comment.file.clone())
        .collect();
    let events: Vec<_> = comments
        .iter()
        .filter_map(|comment| comment.event.clone())
        .collect();
    if events.is_empty() {
        return writer.put_texts(&files);
    }
    writer.put_all(&WriteSet {
        files,
        events,
        ..WriteSet::default()
    })
}

fn event(
    company: &Company,
    id: &CommentId,
    run: &RunId,
    comment: &Comment,
) -> Result<Event, Error> {
    let mut payload = Map::new();
    payload.insert("comment_id".to_owned(), Value::from(id.as_str()));
    payload.insert(
        "project_id".to_owned(),
        Value::from(comment.target.project_id.as_str()),
    );
    for (name, value) in [
        ("agent_id", &comment.target.agent_id),
        ("artifact_id", &comment.target.artifact_id),
    ] {
        if let Some(value) = value {
            payload.insert(name.to_owned(), Value::from(value.as_str()));
        }
    }
    payload.insert("body".to_owned(), Value::from(comment.body.as_str()));
    let session_ref = format!("local_comment_{id}");
    Ok(Event {
        ts_wallclock: comment.created_at.to_string(),
        run_id: run.clone(),
        session_ref: session_ref.clone(),
        actor: comment.author_id.to_string(),
        visibility: comment.visibility,
        event_type: "comment.added".to_owned(),
        payload: Payload::new(&payload)?,
        event_id: company.sources().id(),
        correlation_id: Some(session_ref),
        causation_id: None,
        ts_monotonic_ms: company.uptime_ms(),
    })
}

/// Filter for [`list`].
#[derive(Clone, Debug)]
pub struct CommentQuery {
    /// Project of the comments.
    pub project_id: ProjectId,
    /// Only comments on this agent; absent for all.
    pub agent_id: Option<String>,
    /// Only comments on this document; absent for all.
    pub artifact_id: Option<String>,
    /// Only comments on this run; absent for all.
    pub run_id: Option<String>,
    /// Maximum number of comments to return.
    pub limit: usize,
    /// Only comments older than this one; an unknown id gives none.
    pub before: Option<CommentId>,
    /// Only comments that this actor may read; absent for all.
    pub actor: Option<Actor>,
}

/// The comments that match a filter, newest first.
pub fn list(company: &Company, wanted: &CommentQuery) -> Result<Vec<Comment>, Error> {
    let fits = |wanted: &Option<String>, found: &Option<Text>| match wanted {
        Some(wanted) => found.as_deref() == Some(wanted),
        None => true,
    };
    let mut found: Vec<Comment> = company
        .names(layout::COMMENTS)?
        .iter()
        .filter(|name| {
            name.strip_suffix(".yaml")
                .is_some_and(|id| CommentId::parse(id).is_ok())
        })
        .filter_map(|name| {
            company
                .read::<Comment>(&format!("{}/{name}", layout::COMMENTS))
                .ok()
        })
        .filter(|comment| comment.target.project_id.as_str() == wanted.project_id.as_str())
        .filter(|comment| {
            fits(&wanted.agent_id, &comment.target.agent_id)
                && fits(&wanted.artifact_id, &comment.target.artifact_id)
                && fits(&wanted.run_id, &comment.target.run_id)
        })
        .filter(|comment| {
            let Some(actor) = &wanted.actor else {
                return true;
            };
            let team = policy::team_of(company, &comment.author_id);
            let resource = Resource {
                team_id: team.as_deref(),
                producing_actor_id: Some(&comment.author_id),
                ..Resource::visible(comment.visibility)
            };
            policy::decide(actor, Action::Read, &resource).allowed
        })
        .map(|comment| Comment::clone(&comment))
        .collect();
    found.sort_by(|left, right| (&right.created_at, &right.id).cmp(&(&left.created_at, &left.id)));
    if let Some(before) = &wanted.before {
        let mark = found
            .iter()
            .position(|one| one.id.as_str() == before.as_str());
        found.drain(..mark.map_or(found.len(), |mark| mark + 1));
    }
    found.truncate(wanted.limit);
    Ok(found)
}
