//! The files that a milestone report names as evidence.

use std::collections::BTreeSet;

use protocol::{
    Id as _,
    company::{
        DocumentId, ProjectId, TaskId, inbox::InboxFileRole, milestone::MilestoneEvidenceKind,
    },
};

use crate::{Company, document::MilestoneReportHead, layout};

/// File extensions of evidence files, and the kind of evidence each one stands for.
pub(crate) const ENDINGS: [(&str, MilestoneEvidenceKind); 4] = [
    ("patch", MilestoneEvidenceKind::Patch),
    ("txt", MilestoneEvidenceKind::Text),
    ("json", MilestoneEvidenceKind::Json),
    ("md", MilestoneEvidenceKind::Document),
];

/// Returns the task of a report and every existing file that the report names as evidence or tests.
pub(crate) fn rests_on(
    company: &Company,
    project: &ProjectId,
    report: &MilestoneReportHead,
) -> Vec<(InboxFileRole, String)> {
    let task = TaskId::parse(&report.task_id).ok();
    let task = task.map(|task| (InboxFileRole::Task, layout::task(project, &task)));
    let named = report.evidence_artifacts.iter();
    let named: BTreeSet<DocumentId> = named
        .chain(report.tests_artifacts.iter().flatten())
        .filter_map(|id| DocumentId::parse(id).ok())
        .collect();
    let evidence = named.iter().flat_map(|id| {
        ENDINGS.map(|(ending, _)| format!("{}/{id}.{ending}", layout::documents(project)))
    });
    let evidence = evidence
        .filter(|relpath| company.path(relpath).is_file())
        .map(|relpath| (InboxFileRole::Evidence, relpath));
    task.into_iter().chain(evidence).collect()
}
