//! Draws a plan as a Gantt chart of characters: one line per task, one column per unit of time.

use protocol::company::{
    TaskStatus,
    pm::{CpmStatus, GanttTask, ProjectPlan},
};

use crate::terminal::harmless;

/// The style of a chart.
#[derive(Clone, Copy, Debug)]
pub(super) struct Style {
    /// Width of the chart in columns.
    pub(super) width: usize,
    /// Whether to use colours.
    pub(super) is_coloured: bool,
}

/// Maximum length of a title in characters; longer titles are shortened.
const MAX_TITLE: usize = 32;
/// Minimum width of the bars in columns, which may exceed the requested width.
const MIN_BAR_WIDTH: usize = 20;

/// Draws a plan. The last line is the legend.
pub(super) fn draw(name: &str, plan: &ProjectPlan, style: Style) -> String {
    let tasks = &plan.gantt.tasks;
    let mut lines = vec![headline(name, plan)];
    if tasks.is_empty() {
        return lines.remove(0);
    }
    let titles: Vec<String> = tasks.iter().map(|task| title(&task.title)).collect();
    let title_width = titles.iter().map(|title| title.chars().count()).max();
    let title_width = title_width.unwrap_or(0);
    let notes: Vec<String> = tasks.iter().map(note).collect();
    let note_width = notes.iter().map(|note| note.chars().count()).max();
    let taken = title_width + note_width.unwrap_or(0) + 4;
    let axis = Axis::new(tasks, style.width.saturating_sub(taken).max(MIN_BAR_WIDTH));
    lines.push(format!("{:title_width$}  {}", "", axis.labels()));
    for ((task, title), note) in tasks.iter().zip(&titles).zip(&notes) {
        let padding = " ".repeat(title_width - title.chars().count());
        let bar = coloured(&axis.bar(task), colour(task), style);
        lines.push(
            format!("{title}{padding}  {bar}  {note}")
                .trim_end()
                .to_owned(),
        );
    }
    lines.push("█ critical  ▒ has slack  · canceled  ! starts too early".to_owned());
    lines.join("\n")
}

fn headline(name: &str, plan: &ProjectPlan) -> String {
    let summary = &plan.summary;
    let counted = |count: u64, noun: &str| match count {
        1 => format!("1 {noun}"),
        count => format!("{count} {noun}s"),
    };
    let mut parts = vec![
        counted(summary.task_count, "task"),
        format!("{} % done", summary.progress_pct),
        counted(plan.gantt.project_span_days, "day"),
    ];
    if let Some(days) = plan.gantt.remaining_span_days {
        parts.push(format!("{days} left"));
    }
    if summary.blocked_tasks > 0 {
        parts.push(format!("{} blocked", summary.blocked_tasks));
    }
    let mut text = format!("{}: {}", harmless(name), parts.join(", "));
    if plan.gantt.cpm_status == CpmStatus::DependencyCycle {
        let members: Vec<String> = plan
            .gantt
            .cycle_task_ids
            .iter()
            .map(|id| harmless(id))
            .collect();
        text.push_str(&format!("\ndependency cycle: {}", members.join(", ")));
    }
    text
}

fn title(text: &str) -> String {
    let text = harmless(text);
    match text.chars().count() {
        0..=MAX_TITLE => text,
        _ => text.chars().take(MAX_TITLE - 1).chain(['…']).collect(),
    }
}

fn note(task: &GanttTask) -> String {
    let mark = if task.schedule_conflict { "! " } else { "" };
    format!("{mark}{} {} %", task.status, task.progress_pct)
}

fn colour(task: &GanttTask) -> &'static str {
    match task.status {
        TaskStatus::Done => "32",
        TaskStatus::Blocked => "33",
        TaskStatus::Canceled => "2",
        TaskStatus::Draft | TaskStatus::Ready | TaskStatus::InProgress if task.critical => "31",
        TaskStatus::Draft | TaskStatus::Ready | TaskStatus::InProgress => "36",
    }
}

fn coloured(text: &str, colour: &str, style: Style) -> String {
    if style.is_coloured {
        format!("\u{1b}[{colour}m{text}\u{1b}[0m")
    } else {
        text.to_owned()
    }
}

/// Maps points in time to columns.
struct Axis {
    first: jiff::Timestamp,
    last: jiff::Timestamp,
    columns: usize,
}

impl Axis {
    fn new(tasks: &[GanttTask], columns: usize) -> Self {
        let starts = tasks.iter().filter_map(|task| moment(&task.start_at));
        let ends = tasks.iter().filter_map(|task| moment(&task.end_at));
        let first = starts.min().unwrap_or_default();
        Self {
            first,
            last: ends.max().unwrap_or_default().max(first),
            columns,
        }
    }

    /// Returns the line with the first and the last day.
    fn labels(&self) -> String {
        let [first, last] = [self.first, self.last].map(|at| at.strftime("%Y-%m-%d").to_string());
        let gap = self.columns.saturating_sub(first.len() + last.len());
        format!("{first}{}{last}", " ".repeat(gap.max(1)))
    }

    fn bar(&self, task: &GanttTask) -> String {
        let (Some(start), Some(end)) = (moment(&task.start_at), moment(&task.end_at)) else {
            return " ".repeat(self.columns);
        };
        // A bar has at least one column, also for a task without duration at the end.
        let from = self.column(start).min(self.columns - 1);
        let to = self.column(end).clamp(from + 1, self.columns);
        let mark = match (task.status, task.critical) {
            (TaskStatus::Canceled, _) => "·",
            (_, true) => "█",
            (_, false) => "▒",
        };
        let (before, after) = (" ".repeat(from), " ".repeat(self.columns - to));
        format!("{before}{}{after}", mark.repeat(to - from))
    }

    fn column(&self, at: jiff::Timestamp) -> usize {
        let seconds = |at: jiff::Timestamp| (at.as_second() - self.first.as_second()) as f64;
        // Avoid a division by zero for a plan without duration.
        let share = seconds(at) / seconds(self.last).max(1.0);
        (share * self.columns as f64).round() as usize
    }
}

/// Parses the time of a task. `None` if it is invalid, which leaves the bar empty.
fn moment(text: &str) -> Option<jiff::Timestamp> {
    text.parse().ok()
}

#[cfg(test)]
mod tests {
    use protocol::{Id as _, company::ProjectId};
    use serde_json::json;

    use super::*;

    fn plan(gantt: &serde_json::Value) -> ProjectPlan {
        ProjectPlan {
            project_id: ProjectId::parse("proj_1").unwrap(),
            summary: serde_json::from_value(json!({
                "task_count": 3, "done_tasks": 1, "blocked_tasks": 1, "in_progress_tasks": 0, "progress_pct": 37.5,
            }))
            .unwrap(),
            gantt: serde_json::from_value(gantt.clone()).unwrap(),
        }
    }

    fn bar(title: &str, status: &str, days: [&str; 2], critical: bool) -> serde_json::Value {
        let [start, end] = days.map(|day| format!("2031-03-{day}T00:00:00.000Z"));
        json!({
            "task_id": title, "title": title, "status": status, "progress_pct": 50.0, "start_at": start,
            "end_at": end, "duration_days": 1, "slack_days": 0, "critical": critical, "depends_on_task_ids": [],
        })
    }

    const PLAIN: Style = Style {
        width: 60,
        is_coloured: false,
    };

    #[test]
    fn a_plan_is_drawn_to_scale() {
        let mut early = bar(
            "A title that is far too long for a drawing",
            "blocked",
            ["05", "07"],
            false,
        );
        early["schedule_conflict"] = json!(true);
        let gantt = json!({
            "cpm_status": "ok", "project_span_days": 8, "remaining_span_days": 6,
            "tasks": [bar("Build", "done", ["03", "07"], true), early, bar("End", "ready", ["11", "11"], true)],
        });
        assert_eq!(
            draw("Alpha", &plan(&gantt), PLAIN),
            "\
Alpha: 3 tasks, 37.5 % done, 8 days, 6 left, 1 blocked
                                  2031-03-03 2031-03-11
Build                             ██████████            done 50 %
A title that is far too long fo…       ▒▒▒▒▒            ! blocked 50 %
End                                                  █  ready 50 %
█ critical  ▒ has slack  · canceled  ! starts too early"
        );
    }

    #[test]
    fn colours_are_for_terminals() {
        let gantt = json!({
            "cpm_status": "dependency_cycle", "project_span_days": 0, "cycle_task_ids": ["a", "b"],
            "tasks": [bar("\u{1b}[2Jx", "done", ["03", "04"], false)],
        });
        let style = Style {
            is_coloured: true,
            ..PLAIN
        };
        let drawn = draw("Alpha", &plan(&gantt), style);
        assert!(drawn.contains("dependency cycle: a, b"), "{drawn}");
        assert!(drawn.contains("\u{1b}[32m▒"), "{drawn}");
        assert!(!drawn.contains("\u{1b}[2J"), "{drawn}");
        assert!(!draw("Alpha", &plan(&gantt), PLAIN).contains('\u{1b}'));
    }

    #[test]
    fn a_project_without_tasks_is_one_line() {
        let gantt = json!({"cpm_status": "ok", "project_span_days": 0, "tasks": []});
        assert_eq!(draw("Alpha", &plan(&gantt), PLAIN).lines().count(), 1);
    }
}
