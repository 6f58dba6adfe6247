//! The documents of projects: reading them under policy, listing them and rendering new ones.

pub mod validate;

use std::{cmp::Reverse, sync::Arc};

use protocol::{
    Id as _,
    company::{
        DocumentId, ProjectId, RunId, Sensitivity, Visibility,
        artifact::CompanyArtifactReadResponse,
    },
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{
    Company, Error,
    document::{Document, DocumentHead, DocumentKind, Markdown},
    format::front_matter::{self, FrontMatter},
    layout,
    policy::{self, Action, Actor, Resource, Subject},
    secret,
};

/// Reads a document if the actor may see it. The policy decision is recorded in the log of `run`, by default the run
/// that produced the document.
pub fn read(
    company: &Company,
    project: &ProjectId,
    id: &DocumentId,
    actor: &Actor,
    run: Option<&RunId>,
) -> Result<CompanyArtifactReadResponse, Error> {
    let relpath = layout::document(project, id);
    let markdown = company
        .read_text(&relpath)
        .map_err(|error| error.or_not_found("Artifact", id.as_str()))?;
    let invalid = |detail: &dyn std::fmt::Display| {
        Error::Refused(format!(
            "Invalid artifact front matter: {detail} (`{relpath}`)"
        ))
    };
    let FrontMatter { head, .. } =
        front_matter::split(&markdown).map_err(|detail| invalid(&detail))?;
    let loose: LooseHead =
        serde_json::from_value(head.clone()).map_err(|_| invalid(&"it is not a mapping"))?;
    let (Some(artifact_id), Some(produced_by)) =
        (non_empty_str(&loose.id), non_empty_str(&loose.produced_by))
    else {
        return Err(invalid(&"`id` and `produced_by` are required"));
    };
    let team = policy::team_of(company, produced_by);
    let is_delta = non_empty_str(&loose.r#type) == Some(DocumentKind::MemoryDelta.as_str());
    let kind = if is_delta { "memory_delta" } else { "artifact" };
    let subject = Subject {
        project,
        run: run.map(RunId::as_str).or(non_empty_str(&loose.run_id)),
        resource_id: artifact_id,
        resource: Resource {
            team_id: team.as_deref(),
            producing_actor_id: Some(produced_by),
            kind: Some(kind),
            sensitivity: loose.sensitivity(),
            ..Resource::visible(loose.visibility())
        },
    };
    policy::check(company, actor, Action::Read, &subject)?;
    let frontmatter = serde_json::from_value(head).map_err(|_| invalid(&"it is not a mapping"))?;
    Ok(CompanyArtifactReadResponse {
        artifact_id: artifact_id.to_owned(),
        frontmatter,
        artifact_relpath: relpath,
        markdown,
    })
}

/// The head of a document of any type. Accepts malformed members; the getters return `None` for them.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
pub struct LooseHead {
    #[serde(default)]
    r#type: Option<Value>,
    #[serde(default)]
    id: Option<Value>,
    #[serde(default)]
    title: Option<Value>,
    #[serde(default)]
    created_at: Option<Value>,
    #[serde(default)]
    visibility: Option<Value>,
    #[serde(default)]
    produced_by: Option<Value>,
    #[serde(default)]
    run_id: Option<Value>,
    #[serde(default)]
    sensitivity: Option<Value>,
}

impl Document for LooseHead {}

impl LooseHead {
    /// The declared `type`.
    pub fn kind(&self) -> Option<&str> {
        non_empty_str(&self.r#type)
    }

    /// The title.
    pub fn title(&self) -> Option<&str> {
        non_empty_str(&self.title)
    }

    /// Creation time as written in the document.
    pub fn created_at(&self) -> Option<&str> {
        non_empty_str(&self.created_at)
    }

    /// The actor that produced the document.
    pub fn produced_by(&self) -> Option<&str> {
        non_empty_str(&self.produced_by)
    }

    /// The run that produced the document.
    pub fn run_id(&self) -> Option<&str> {
        non_empty_str(&self.run_id)
    }

    /// The visibility; `None` if it is absent or not one of the four known values.
    pub fn visibility(&self) -> Option<Visibility> {
        parsed(&self.visibility)
    }

    /// The sensitivity; `None` if it is absent or unknown.
    pub fn sensitivity(&self) -> Option<Sensitivity> {
        parsed(&self.sensitivity)
    }
}

fn non_empty_str(value: &Option<Value>) -> Option<&str> {
    value
        .as_ref()
        .and_then(Value::as_str)
        .filter(|text| !text.is_empty())
}

fn parsed<T: serde::de::DeserializeOwned>(value: &Option<Value>) -> Option<T> {
    serde_json::from_value(value.clone()?).ok()
}

/// A document in a list.
#[derive(Clone, Debug)]
pub struct Listed {
    /// Project of the document.
    pub project: ProjectId,
    /// Id of the document, taken from its file name.
    pub id: DocumentId,
    /// The document with the readable part of its head.
    pub document: Arc<Markdown<LooseHead>>,
}

/// The documents of a project that have one of the given types, newest first. Files without front matter or id are
/// skipped.
pub fn list(
    company: &Company,
    project: &ProjectId,
    kinds: &[DocumentKind],
) -> Result<Vec<Listed>, Error> {
    let folder = layout::documents(project);
    let mut found = Vec::new();
    for name in company.names(&folder)? {
        let id = name.strip_suffix(".md").map(DocumentId::parse);
        let Some(Ok(id)) = id else {
            continue;
        };
        let Ok(document) = company.read_markdown::<LooseHead>(&format!("{folder}/{name}")) else {
            continue;
        };
        let kind = document.head.kind();
        if kinds.iter().any(|wanted| kind == Some(wanted.as_str()))
            && non_empty_str(&document.head.id).is_some()
        {
            found.push(Listed {
                project: project.clone(),
                id,
                document,
            });
        }
    }
    sort_newest_first(&mut found);
    Ok(found)
}

pub(crate) fn sort_newest_first(found: &mut [Listed]) {
    found.sort_by_cached_key(|listed| {
        let created_at = listed.document.head.created_at().map(ToOwned::to_owned);
        Reverse((created_at, listed.id.clone()))
    });
}

/// Renders a document with the headings of its type and empty sections.
pub fn template(head: &DocumentHead) -> Result<String, Error> {
    let headings = head.r#type.headings();
    let headings: Vec<String> = headings.iter().map(|name| format!("## {name}")).collect();
    front_matter::join(
        head,
        &format!("# {}\n\n{}\n", head.title, headings.join("\n\n")),
    )
}

/// Renders a new document and validates it: its head must parse, all headings of its type must be present, and it must
/// not contain secrets.
pub fn print<T: Document + Serialize>(head: &T, body: &str) -> Result<String, Error> {
    let text = front_matter::join(head, body)?;
    let refused = |issues: Vec<protocol::company::Issue>| {
        let issues: Vec<String> = issues.iter().map(ToString::to_string).collect();
        Error::Refused(format!("the document is not valid: {}", issues.join("; ")))
    };
    Markdown::<T>::parse(&text).map_err(refused)?;
    let document = Markdown::<DocumentHead>::parse(&text).map_err(refused)?;
    let missing = validate::missing_headings(&document.body, document.head.r#type.headings());
    if !missing.is_empty() {
        return Err(refused(missing));
    }
    secret::refuse("artifact", &text)?;
    Ok(text)
}

#[cfg(test)]
mod tests {
    use protocol::company::Visibility;

    use super::*;
    use crate::org::text;

    fn head(kind: DocumentKind) -> DocumentHead {
        DocumentHead {
            schema_version: 1,
            r#type: kind,
            id: text("art_1"),
            created_at: text("2025-11-15T12:00:00.000Z"),
            title: text("Title"),
            visibility: Visibility::Org,
            produced_by: text("human"),
            run_id: text("run_1"),
            context_pack_id: text("ctx_1"),
        }
    }

    #[test]
    fn a_template_has_the_headings_of_its_type() {
        let text = template(&head(DocumentKind::FailureReport)).unwrap();
        let (_, body) = text.split_once("---\n\n").unwrap();
        assert_eq!(body, "# Title\n\n## Summary\n\n## Cause\n\n## Next Steps\n");
        for kind in [DocumentKind::IntakeBrief, DocumentKind::Workplan] {
            let text = template(&head(kind)).unwrap();
            let FrontMatter { body, .. } = front_matter::split(&text).unwrap();
            assert_eq!(print(&head(kind), &body).unwrap(), text);
        }
    }

    #[test]
    fn a_document_without_its_headings_or_with_a_secret_is_not_made() {
        let check = |body: &str, expected: &str| {
            let error = print(&head(DocumentKind::Proposal), body).unwrap_err();
            assert_eq!(error.to_string(), expected);
        };
        check(
            "## Summary\n```\n## Plan\n```\n",
            "the document is not valid: Missing heading: ## Plan; Missing heading: ## Risks",
        );
        check(
            "## Summary\nAPI_TOKEN=abcdef0123456789\n## Plan\n## Risks\n",
            "found 1 secret(s) in `artifact`: remove them and try again",
        );
    }
}
