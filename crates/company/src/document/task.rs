//! The front matter of a task. The wire uses the same form, so the protocol crate declares the type.

use protocol::company::{Issue, task::Task};

use super::Document;
use crate::unix_ms;

/// The required level-two headings of a task.
pub(crate) const TASK_HEADINGS: [&str; 2] = ["Contract", "Milestones"];

impl Document for Task {
    fn refine(&self) -> Vec<Issue> {
        let mut issues: Vec<Issue> = self
            .budget
            .iter()
            .flat_map(|budget| budget.refine("budget"))
            .collect();
        if let Some(schedule) = &self.schedule {
            let start = schedule.planned_start.as_deref().and_then(unix_ms);
            let end = schedule.planned_end.as_deref().and_then(unix_ms);
            if matches!((start, end), (Some(start), Some(end)) if end < start) {
                issues.push(Issue::custom(
                    "schedule.planned_end",
                    "planned_end must be >= planned_start",
                ));
            }
        }
        issues
    }
}

/// The missing parts of the contract of a task that is no longer a draft: `deliverables`, `acceptance_criteria`,
/// `milestones`.
pub(crate) fn missing_contract(task: &Task) -> Vec<&'static str> {
    if task.status == protocol::company::TaskStatus::Draft {
        return Vec::new();
    }
    let is_empty =
        |list: &Option<Vec<protocol::company::Text>>| list.as_ref().is_none_or(Vec::is_empty);
    let parts = [
        ("deliverables", is_empty(&task.deliverables)),
        ("acceptance_criteria", is_empty(&task.acceptance_criteria)),
        ("milestones", task.milestones.is_empty()),
    ];
    parts
        .into_iter()
        .filter(|(_, is_missing)| *is_missing)
        .map(|(part, _)| part)
        .collect()
}
