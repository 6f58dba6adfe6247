//! `inbox.read`: shows the files that a decision rests on to an actor that may decide.

use protocol::company::{
    DocumentId, Issue, ProjectId,
    inbox::{InboxFileRole, InboxReadResponse},
};

use super::unsupported;
use crate::{
    Company, Error,
    decisions::{
        basis::{Basis, BasisFile},
        memory_delta,
    },
    document::DocumentKind,
    documents,
    format::front_matter,
    layout,
    policy::{self, Action, Actor, Resource, Subject},
};

/// Returns the basis of a decision about a document to an actor who may decide about it.
pub fn read(
    company: &Company,
    project: &ProjectId,
    artifact: &DocumentId,
    actor: &Actor,
) -> Result<InboxReadResponse, Error> {
    let basis = Basis::read(company, project, artifact)?;
    let head = basis.loose_head();
    let kind = head.kind().unwrap_or_default();
    let produced_by = head.produced_by().unwrap_or_default();
    let team = policy::team_of(company, produced_by);
    let is_delta = kind == DocumentKind::MemoryDelta.as_str();
    let subject = Subject {
        project,
        run: head.run_id(),
        resource_id: artifact.as_str(),
        resource: Resource {
            team_id: team.as_deref(),
            producing_actor_id: Some(produced_by),
            kind: Some(if is_delta {
                memory_delta::KIND
            } else {
                "artifact"
            }),
            sensitivity: head.sensitivity(),
            // A document without a valid visibility gets the most restrictive one.
            ..Resource::visible(
                head.visibility()
                    .unwrap_or(protocol::company::Visibility::PrivateAgent),
            )
        },
    };
    policy::check(company, actor, Action::Read, &subject)?;
    policy::require(actor, Action::Approve, &subject)?;
    let text = basis.files[0].text()?;
    let front = front_matter::split(text)
        .map_err(|word| basis.files[0].invalid(vec![Issue::new("frontmatter", &[], word)]))?;
    let serde_json::Value::Object(frontmatter) = front.head else {
        return Err(unsupported(kind, artifact));
    };
    let files = basis.files.iter().map(|file| {
        if is_hidden(company, project, actor, file) {
            file.without_text()
        } else {
            file.with_text()
        }
    });
    Ok(InboxReadResponse {
        project_id: project.clone(),
        artifact_id: artifact.clone(),
        artifact_type: kind.to_owned(),
        frontmatter,
        sha256: basis.sha256(),
        files: files.collect(),
    })
}

/// Whether a file is a separate document that the actor may not read.
fn is_hidden(company: &Company, project: &ProjectId, actor: &Actor, file: &BasisFile) -> bool {
    let is_other = matches!(file.role, InboxFileRole::Evidence | InboxFileRole::Plan);
    let folder = layout::documents(project);
    let name = file.relpath.strip_prefix(&folder);
    let name = name.and_then(|name| name.strip_prefix('/')?.strip_suffix(".md"));
    let Some(id) = name.filter(|_| is_other && file.bytes.is_some()) else {
        return false;
    };
    let id = <DocumentId as protocol::Id>::parse(id);
    !id.is_ok_and(|id| documents::read(company, project, &id, actor, None).is_ok())
}
