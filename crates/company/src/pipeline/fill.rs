//! What workers write into a planning package. What a worker says becomes the body of a document only if it is the
//! document that was asked for; its head stays ours.

use protocol::company::{
    DocumentId, ProjectId, Text, Visibility, pipeline::PipelineClientIntakeRunResponse,
};
use serde_json::{Map, Value, json};

use super::{gate, intake::Package};
use crate::{
    Company, Error,
    document::{DocumentHead, DocumentKind, Markdown},
    documents,
    execution::run::CreatedRun,
    folder::intent::Together,
    format::front_matter,
    layout,
    org::text,
    policy,
};

/// A document that a worker may write anew.
#[derive(Clone, Debug)]
pub struct Target {
    /// What it is.
    pub kind: DocumentKind,
    /// The key and the name of its department.
    pub department: Option<(String, String)>,
    /// The document.
    pub document: DocumentId,
    /// Who writes it.
    pub agent_id: Text,
    /// Its title.
    pub title: String,
}

/// What a worker is asked to write.
pub fn prompt(
    company: &Company,
    package: &Package,
    target: &Target,
    run: &CreatedRun,
) -> Result<String, Error> {
    let wanted = match (target.kind, &target.department) {
        (DocumentKind::DepartmentPlan, Some((_, label))) => {
            format!("Write the plan of the department {label}: what it does, what it delivers, its risks and what it depends on.")
        }
        (DocumentKind::MeetingTranscript, _) => {
            "Write the transcript of the planning council: who was there, what was discussed, what was decided and what is open."
                .to_owned()
        }
        _ => "Write the executive plan: bring the plans of the departments together, in order, with what they depend on."
            .to_owned(),
    };
    let head = head(company, target, run);
    let current = current(company, package, target)?;
    Ok(format!(
        "Answer with one Markdown document and nothing else.\n\
         Keep the front matter exactly as it is and keep every heading. Nobody answers questions. \
         Do not use tools and do not write files.\n\n\
         {wanted}\n\nProject: {}\nWhat the client wants:\n{}\n\nThe draft so far:\n{}\n\nThe document to fill in:\n\n{}",
        package.project_name,
        package.intake,
        current.trim(),
        documents::template(&head)?
    ))
}

/// The body of a document as it is.
fn current(company: &Company, package: &Package, target: &Target) -> Result<String, Error> {
    let relpath = layout::document(&package.response.project_id, &target.document);
    Ok(company
        .read_markdown::<DocumentHead>(&relpath)?
        .body
        .clone())
}

fn head(company: &Company, target: &Target, run: &CreatedRun) -> DocumentHead {
    DocumentHead {
        schema_version: 1,
        r#type: target.kind,
        id: text(&target.document),
        created_at: text(company.sources().now_text()),
        title: text(&target.title),
        visibility: Visibility::Managers,
        produced_by: target.agent_id.clone(),
        run_id: text(&run.run_id),
        context_pack_id: text(&run.context_pack_id),
    }
}

/// Takes over what a worker wrote: the document, its event and the row of the log, in one step.
pub fn accept(
    company: &Company,
    response: &PipelineClientIntakeRunResponse,
    target: &Target,
    run: &CreatedRun,
    answer: &str,
) -> Result<(), Error> {
    let project = &response.project_id;
    let wanted = head(company, target, run);
    let answer = unfenced(answer);
    let refused =
        |detail: String| Error::Refused(format!("the answer is not the document: {detail}"));
    let found = Markdown::<DocumentHead>::parse(answer).map_err(|issues| {
        let issues: Vec<String> = issues.iter().map(ToString::to_string).collect();
        refused(issues.join("; "))
    })?;
    let fields = |head: &DocumentHead| {
        [
            ("type", head.r#type.as_str().to_owned()),
            ("id", head.id.to_string()),
            ("produced_by", head.produced_by.to_string()),
            ("run_id", head.run_id.to_string()),
            ("context_pack_id", head.context_pack_id.to_string()),
        ]
    };
    for ((name, found), (_, expected)) in fields(&found.head).iter().zip(fields(&wanted)) {
        if *found != expected {
            return Err(refused(format!(
                "`{name}` is `{found}` and `{expected}` was expected"
            )));
        }
    }
    let text = documents::print(&wanted, &found.body)?;
    let relpath = layout::document(project, &target.document);
    let payload = json!({"artifact_id": target.document, "relpath": relpath, "artifact_type": target.kind.as_str()});
    company.write(|writer| {
        // What somebody decided about stays what they saw.
        let plan = &response.artifacts.executive_plan_artifact_id;
        let decided = gate::decision(company, project, plan)?.decision;
        if decided.is_some() {
            return Err(Error::Refused(
                "the executive plan was decided about in the meantime".to_owned(),
            ));
        }
        let event = policy::managers_event(
            company,
            &run.run_id,
            &target.agent_id,
            "artifact.produced",
            &payload,
        )?;
        let row = target.row(company, "provider_fill_succeeded", Some(run));
        let audit = &response.generation.audit_log_relpath;
        writer.put_together(&Together {
            files: vec![(relpath.clone(), text), added(company, audit, row)?],
            events: vec![(project.clone(), event)],
            ..Together::default()
        })
    })
}

/// Writes down that a document stays as it was, and why.
pub fn give_up(
    company: &Company,
    response: &PipelineClientIntakeRunResponse,
    target: &Target,
    run: Option<&CreatedRun>,
    error: &str,
) -> Result<DocumentId, Error> {
    let project = &response.project_id;
    let id: DocumentId = company.sources().id();
    let error = crate::secret::redact(error).0.into_owned();
    let (run_id, context_pack_id) = match run {
        Some(run) => (text(&run.run_id), text(&run.context_pack_id)),
        None => run_of(company, project, &target.document)?,
    };
    let head = DocumentHead {
        schema_version: 1,
        r#type: DocumentKind::FailureReport,
        id: text(&id),
        created_at: text(company.sources().now_text()),
        title: text(format!("Generation failed: {}", target.title)),
        visibility: Visibility::Managers,
        produced_by: target.agent_id.clone(),
        run_id,
        context_pack_id,
    };
    let body = format!(
        "# {}\n\n## Summary\n\nThe document `{}` stays as it was made.\n\n## Cause\n\n{}\n\n## Next Steps\n\n\
         - Look at the run and write the document by hand, or run the intake again.\n",
        head.title,
        target.document,
        quoted(&error)
    );
    let report = documents::print(&head, &body)?;
    company.write(|writer| {
        let mut row = target.row(company, "provider_fill_failed", run);
        row.insert("error".to_owned(), json!(error));
        row.insert("failure_artifact_id".to_owned(), json!(id));
        let audit = &response.generation.audit_log_relpath;
        let relpath = layout::document(project, &id);
        writer.put_together(&Together {
            files: vec![(relpath, report), added(company, audit, row)?],
            ..Together::default()
        })
    })?;
    Ok(id)
}

/// The run a document was made in.
fn run_of(
    company: &Company,
    project: &ProjectId,
    document: &DocumentId,
) -> Result<(Text, Text), Error> {
    let relpath = layout::document(project, document);
    let document = company.read_markdown::<DocumentHead>(&relpath)?;
    let head = &document.head;
    Ok((head.run_id.clone(), head.context_pack_id.clone()))
}

impl Target {
    /// A row of the log.
    fn row(&self, company: &Company, event: &str, run: Option<&CreatedRun>) -> Map<String, Value> {
        let mut row = Map::new();
        let mut put = |name: &str, value: Value| row.insert(name.to_owned(), value);
        put("ts", json!(company.sources().now_text()));
        put("event", json!(event));
        put("artifact_kind", json!(self.kind.as_str()));
        if let Some((key, _)) = &self.department {
            put("department_key", json!(key));
        }
        put("artifact_id", json!(self.document));
        put("agent_id", json!(self.agent_id));
        if let Some(run) = run {
            put("run_id", json!(run.run_id));
            put("context_pack_id", json!(run.context_pack_id));
        }
        row
    }
}

/// A log with one row more.
fn added(
    company: &Company,
    relpath: &str,
    row: Map<String, Value>,
) -> Result<(String, String), Error> {
    let log = company.read_text(relpath)?;
    Ok((relpath.to_owned(), format!("{log}{}\n", Value::Object(row))))
}

/// A document without the code fence that some models put around it.
fn unfenced(answer: &str) -> &str {
    let answer = answer.trim();
    let inner = answer
        .strip_prefix("```")
        .and_then(|rest| rest.split_once('\n'))
        .and_then(|(_, rest)| rest.trim_end().strip_suffix("```"));
    // A fence inside the document is no fence around it.
    match inner {
        Some(inner) if front_matter::split(inner.trim_start()).is_ok() => inner.trim(),
        Some(_) | None => answer,
    }
}

/// Somebody else's text, so that its headings are none of ours.
fn quoted(text: &str) -> String {
    let lines: Vec<String> = text
        .lines()
        .take(40)
        .map(|line| format!("> {line}"))
        .collect();
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_fence_around_a_document_is_taken_off() {
        let document = "---\nid: x\n---\n\n# T\n\n```\ncode\n```";
        assert_eq!(unfenced(document), document);
        assert_eq!(
            unfenced(&format!("```markdown\n{document}\n```\n")),
            document
        );
        assert_eq!(unfenced("```\nno document\n```"), "```\nno document\n```");
    }
}
