//! Accepts documents of a planning package that workers rewrite. An answer becomes the body of a document only if its
//! front matter matches the expected one; the front matter itself is always generated.

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
    folder::intent::WriteSet,
    format::front_matter,
    layout,
    org::text,
    policy,
};

/// A document that a worker may rewrite.
#[derive(Clone, Debug)]
pub struct Target {
    /// Type of the document.
    pub kind: DocumentKind,
    /// Key and label of the department; only for department plans.
    pub department: Option<(String, String)>,
    /// Id of the document.
    pub document: DocumentId,
    /// Agent that writes the document.
    pub agent_id: Text,
    /// Title of the document.
    pub title: String,
}

/// Builds the prompt for a worker.
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

/// Returns the current body of a document.
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

/// Accepts the answer of a worker: writes the document, its event and the log row in one atomic step.
pub fn accept(
    company: &Company,
    response: &PipelineClientIntakeRunResponse,
    target: &Target,
    run: &CreatedRun,
    answer: &str,
) -> Result<(), Error> {
    let project = &response.project_id;
    let wanted = head(company, target, run);
    let answer = strip_fence(answer);
    let refused = |detail: String| {
        Error::Refused(format!("the answer is not the expected document: {detail}"))
    };
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
                "`{name}`: expected `{expected}`, found `{found}`"
            )));
        }
    }
    let text = documents::print(&wanted, &found.body)?;
    let relpath = layout::document(project, &target.document);
    let payload = json!({"artifact_id": target.document, "relpath": relpath, "artifact_type": target.kind.as_str()});
    company.write(|writer| {
        // A plan that was approved or denied must not change afterwards.
        let plan = &response.artifacts.executive_plan_artifact_id;
        let decided = gate::decision(company, project, plan)?.decision;
        if decided.is_some() {
            return Err(Error::Refused(
                "the executive plan was approved or denied in the meantime".to_owned(),
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
        writer.put_all(&WriteSet {
            files: vec![(relpath.clone(), text), with_row(company, audit, row)?],
            events: vec![(project.clone(), event)],
            ..WriteSet::default()
        })
    })
}

/// Records that a document keeps its template text: writes a failure report and a log row. Returns the report's id.
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
        writer.put_all(&WriteSet {
            files: vec![(relpath, report), with_row(company, audit, row)?],
            ..WriteSet::default()
        })
    })?;
    Ok(id)
}

/// Returns the run and the context pack that produced a document.
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
    /// Builds a row of the generation log.
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

/// Returns the path and the content of a log with one more row.
fn with_row(
    company: &Company,
    relpath: &str,
    row: Map<String, Value>,
) -> Result<(String, String), Error> {
    let log = company.read_text(relpath)?;
    Ok((relpath.to_owned(), format!("{log}{}\n", Value::Object(row))))
}

/// Removes the code fence that some models put around a document.
fn strip_fence(answer: &str) -> &str {
    let answer = answer.trim();
    let inner = answer
        .strip_prefix("```")
        .and_then(|after_fence| after_fence.split_once('\n'))
        .and_then(|(_, after_fence)| after_fence.trim_end().strip_suffix("```"));
    // Only a fence around a whole document is removed, not one inside it.
    match inner {
        Some(inner) if front_matter::split(inner.trim_start()).is_ok() => inner.trim(),
        Some(_) | None => answer,
    }
}

/// Quotes foreign text, so that its headings are not taken for those of the document. At most 40 lines are kept.
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
        assert_eq!(strip_fence(document), document);
        assert_eq!(
            strip_fence(&format!("```markdown\n{document}\n```\n")),
            document
        );
        assert_eq!(
            strip_fence("```\nno document\n```"),
            "```\nno document\n```"
        );
    }
}
