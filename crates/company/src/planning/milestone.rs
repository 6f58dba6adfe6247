//! Approves or denies milestones, based on a milestone report and its evidence.

use std::sync::Arc;

use protocol::{
    Id as _,
    company::{
        DocumentId, MilestoneId, MilestoneKind, MilestoneStatus, ProjectId, ReviewDecision,
        ReviewId, TaskId, TaskStatus, Text,
        inbox::InboxFileRole,
        milestone::{MilestoneEvidenceKind, MilestoneEvidenceReadResponse},
        task::{Milestone, Task},
    },
};
use serde_json::{Value, json};

use crate::{
    Company, Error,
    decisions::{
        basis::{Basis, MAX_SHOWN_BYTES},
        evidence::ENDINGS,
        review::{self, DocumentDecision},
    },
    document::{Markdown, MilestoneReportHead, missing_contract},
    documents,
    folder::intent::WriteSet,
    format::front_matter,
    layout, memory,
    policy::{self, Action, Actor, Resource, Subject},
};

/// Subject kind of a milestone in reviews.
pub const KIND: &str = "milestone";
/// Resource kind of a milestone report in the policy.
pub(crate) const REPORT_KIND: &str = "milestone_report";

/// Result of a decision about a milestone.
#[derive(Clone, Debug, PartialEq)]
pub struct DecidedMilestone {
    /// Id of the review.
    pub review_id: ReviewId,
    /// Task that the milestone belongs to.
    pub task_id: TaskId,
    /// Id of the milestone.
    pub milestone_id: Text,
    /// Status of the task after the decision.
    pub task_status: TaskStatus,
    /// Status of the milestone after the decision.
    pub milestone_status: MilestoneStatus,
}

/// Approves or denies the milestone of a report. If `named` is given, the report must be about that milestone.
pub fn decide(
    company: &Company,
    verdict: &DocumentDecision,
    named: Option<(&TaskId, &MilestoneId)>,
) -> Result<DecidedMilestone, Error> {
    verdict.check_notes()?;
    company.write(|writer| {
        let project = &verdict.project_id;
        if let Some((task, milestone)) = named {
            let task = read_task(company, project, task)?;
            find(&task.head, milestone.as_str())?;
        }
        let basis = Basis::read(company, project, &verdict.artifact_id)?;
        let report = basis.document::<MilestoneReportHead>()?;
        let report = &report.head;
        check_field("project_id", &report.project_id, project.as_str())?;
        if let Some((task, milestone)) = named {
            check_field("task_id", &report.task_id, task.as_str())?;
            check_field("milestone_id", &report.milestone_id, milestone.as_str())?;
        }
        let task_id =
            TaskId::parse(&report.task_id).map_err(|error| Error::Refused(error.to_string()))?;
        let task = basis
            .markdown::<Task>(InboxFileRole::Task)
            .map_err(|error| error.or_not_found("Task", task_id.as_str()))?;
        let milestone = find(&task.head, &report.milestone_id)?;
        let is_approved = verdict.decision == ReviewDecision::Approved;
        // A repeated decision fails below with the first decision, and only for actors that may decide at all.
        let is_first = verdict.check_first(company, KIND).is_ok();
        if is_approved && is_first {
            check_not_done(milestone)?;
        }
        let subject = Subject {
            project,
            run: Some(&report.run_id),
            resource_id: &report.id,
            resource: Resource {
                team_id: task.head.team_id.as_deref(),
                kind: Some(REPORT_KIND),
                ..Resource::visible(report.visibility)
            },
        };
        let policy = policy::check(company, &verdict.actor, Action::Approve, &subject)?;
        verdict.check_first(company, KIND)?;
        verdict.check_shown(&basis)?;
        let changed = match verdict.decision {
            ReviewDecision::Denied => None,
            ReviewDecision::Approved => {
                check_evidence(&basis, project, milestone, report)?;
                Some(with_done(&task.head, &report.milestone_id))
            }
        };
        let review_id: ReviewId = company.sources().id();
        let review = verdict.review(writer, &review_id, &policy, verdict.subject(KIND));
        let mut writes = WriteSet {
            files: vec![(layout::review(&review_id), writer.yaml(&review)?)],
            ..WriteSet::default()
        };
        let now = changed.as_ref().unwrap_or(&task.head);
        let decided = DecidedMilestone {
            review_id: review_id.clone(),
            milestone_id: report.milestone_id.clone(),
            task_status: now.status,
            milestone_status: find(now, &report.milestone_id)?.status,
            task_id: task_id.clone(),
        };
        if let Some(changed) = &changed {
            let text = front_matter::join(changed, &task.body)?;
            writes.files.push((layout::task(project, &task_id), text));
        }
        let payload = json!({
            "review_id": review_id,
            "decision": verdict.decision,
            "subject_kind": KIND,
            "task_id": report.task_id,
            "milestone_id": report.milestone_id,
            "report_artifact_id": verdict.artifact_id,
            "policy": review.policy,
        });
        let provenance = verdict.provenance(&basis);
        let event = review::event(
            company,
            &report.run_id,
            &verdict.actor.id,
            &provenance,
            payload,
        )?;
        review::put_decision(writer, writes, project, event)?;
        Ok(decided)
    })
}

/// Reads a file that a report names as evidence. The actor must be allowed to read the report.
pub fn read_evidence(
    company: &Company,
    project: &ProjectId,
    report: &DocumentId,
    evidence: &DocumentId,
    actor: &Actor,
) -> Result<MilestoneEvidenceReadResponse, Error> {
    let document = documents::read(company, project, report, actor, None)?;
    let names = |field: &str| {
        let listed = document.frontmatter.get(field).and_then(Value::as_array);
        listed.is_some_and(|ids| ids.iter().any(|id| id.as_str() == Some(evidence.as_str())))
    };
    if !names("evidence_artifacts") && !names("tests_artifacts") {
        return Err(Error::Refused(format!(
            "report `{report}` does not name `{evidence}` as evidence"
        )));
    }
    for (ending, kind) in ENDINGS {
        let relpath = format!("{}/{evidence}.{ending}", layout::documents(project));
        if !company.path(&relpath).is_file() {
            continue;
        }
        let text = match kind {
            MilestoneEvidenceKind::Patch
            | MilestoneEvidenceKind::Text
            | MilestoneEvidenceKind::Json => company.read_bytes(&relpath)?,
            // A document has its own visibility, so the policy is checked for it separately.
            MilestoneEvidenceKind::Document => {
                documents::read(company, project, evidence, actor, None)?
                    .markdown
                    .into_bytes()
            }
        };
        let truncated = text.len() > MAX_SHOWN_BYTES;
        let text = &text[..text.len().min(MAX_SHOWN_BYTES)];
        return Ok(MilestoneEvidenceReadResponse {
            evidence_artifact_id: evidence.clone(),
            kind,
            relpath,
            text: String::from_utf8_lossy(text).into_owned(),
            truncated,
        });
    }
    Err(Error::NotFound {
        what: "Evidence",
        id: evidence.to_string(),
    })
}

fn read_task(
    company: &Company,
    project: &ProjectId,
    task: &TaskId,
) -> Result<Arc<Markdown<Task>>, Error> {
    let read = company.read_markdown::<Task>(&layout::task(project, task));
    read.map_err(|error| error.or_not_found("Task", task.as_str()))
}

fn find<'a>(task: &'a Task, milestone: &str) -> Result<&'a Milestone, Error> {
    let mut milestones = task.milestones.iter();
    let found = milestones.find(|known| known.id.as_str() == milestone);
    found.ok_or_else(|| Error::NotFound {
        what: "Milestone",
        id: milestone.to_owned(),
    })
}

fn check_not_done(milestone: &Milestone) -> Result<(), Error> {
    match milestone.status {
        MilestoneStatus::Done => Err(Error::Refused("Milestone is already done".to_owned())),
        MilestoneStatus::Draft
        | MilestoneStatus::Ready
        | MilestoneStatus::InProgress
        | MilestoneStatus::Blocked => Ok(()),
    }
}

fn check_field(field: &str, found: &str, wanted: &str) -> Result<(), Error> {
    if found == wanted {
        Ok(())
    } else {
        Err(Error::Refused(format!(
            "Milestone report {field} mismatch: expected `{wanted}`, found `{found}`"
        )))
    }
}

/// Checks that the report has the evidence the milestone requires. Coding milestones require a patch and tests, unless
/// the milestone declares other requirements.
fn check_evidence(
    basis: &Basis,
    project: &ProjectId,
    milestone: &Milestone,
    report: &MilestoneReportHead,
) -> Result<(), Error> {
    let is_code = milestone.kind == MilestoneKind::Coding;
    let (needs_patch, needs_tests) = match &milestone.evidence {
        Some(evidence) => (evidence.requires_patch, evidence.requires_tests),
        None => (is_code, is_code),
    };
    let read = |id: &Text, ending: &str| {
        let id = DocumentId::parse(id).ok()?;
        let path = format!("{}/{id}.{ending}", layout::documents(project));
        basis.text_at(&path).filter(|text| !text.is_empty())
    };
    let is_proof = |id: &Text| read(id, "patch").is_some_and(memory::is_patch);
    if needs_patch && !report.evidence_artifacts.iter().any(is_proof) {
        return Err(Error::Refused(
            "Missing required patch evidence (.patch) for milestone approval".to_owned(),
        ));
    }
    let mut tests = report.tests_artifacts.iter().flatten();
    if needs_tests && !tests.any(|id| read(id, "txt").or_else(|| read(id, "json")).is_some()) {
        return Err(Error::Refused(
            "Missing required tests evidence (.txt or .json) for milestone approval".to_owned(),
        ));
    }
    Ok(())
}

/// Returns the task with the milestone marked as done and its own status updated.
fn with_done(task: &Task, milestone: &str) -> Task {
    let mut task = task.clone();
    for known in &mut task.milestones {
        if known.id.as_str() == milestone {
            known.status = MilestoneStatus::Done;
        }
    }
    let is_done = |milestone: &Milestone| milestone.status == MilestoneStatus::Done;
    task.status = match task.status {
        TaskStatus::Canceled => TaskStatus::Canceled,
        // Only drafts may lack parts of their contract, so an incomplete task stays a draft.
        TaskStatus::Draft if lacks_contract(&task) => TaskStatus::Draft,
        _ if task.milestones.iter().all(is_done) => TaskStatus::Done,
        TaskStatus::Draft | TaskStatus::Ready => TaskStatus::InProgress,
        other @ (TaskStatus::InProgress | TaskStatus::Blocked | TaskStatus::Done) => other,
    };
    task
}

/// Returns whether a task would be incomplete if it were no longer a draft.
fn lacks_contract(task: &Task) -> bool {
    let begun = Task {
        status: TaskStatus::InProgress,
        ..task.clone()
    };
    !missing_contract(&begun).is_empty()
}
