//! Computations on plans: critical path, Gantt bars and agent allocation.
//!
//! The functions work on their arguments only; `task` and `home` read and write the files.

pub mod allocation;
mod bar;
pub mod critical_path;
pub mod export;

use protocol::company::{
    ProjectId, TaskStatus,
    pm::{CpmStatus, Gantt, GanttTask, ProjectPlan, ProjectPlanSummary},
    task::Task,
};

use crate::{DAY_MS, iso_time, planning::task::progress, unix_ms};
use bar::Bar;
use critical_path::{Network, Slot};

/// Ids of the tasks that a task depends on.
pub(crate) fn needs(task: &Task) -> impl Iterator<Item = &str> {
    let schedule = task.schedule.iter();
    schedule.flat_map(|schedule| schedule.depends_on_task_ids.iter().map(|id| id.as_str()))
}

/// Duration of a task in days: the declared duration, else the days between its planned dates, else 1.
pub fn duration_days(task: &Task) -> u64 {
    let Some(schedule) = &task.schedule else {
        return 1;
    };
    let dates = || {
        let start = date(schedule.planned_start.as_deref()?)?;
        let end = date(schedule.planned_end.as_deref()?)?;
        let days = (end - start).max(1).unsigned_abs();
        Some(days.div_ceil(DAY_MS.unsigned_abs()))
    };
    schedule.duration_days.or_else(dates).unwrap_or(1).max(1)
}

/// Parses a planned date to Unix milliseconds, clamped to the years 0 to 9999.
pub(crate) fn date(text: &str) -> Option<i64> {
    unix_ms(text).map(printable)
}

/// Clamps a time to the years 0 to 9999, so that its ISO form has a four-digit year.
pub(crate) fn printable(unix_ms: i64) -> i64 {
    const YEAR_0: i64 = -62_167_219_200_000;
    const YEAR_9999: i64 = 253_370_764_800_000;
    unix_ms.clamp(YEAR_0, YEAR_9999)
}

/// Adds days to a time; the result is clamped like [`printable`].
pub(crate) fn after(unix_ms: i64, days: u64) -> i64 {
    let days = i64::try_from(days).unwrap_or(i64::MAX);
    printable(unix_ms.saturating_add(days.saturating_mul(DAY_MS)))
}

/// Builds the dependency network of tasks.
pub fn network<'a>(tasks: impl IntoIterator<Item = &'a Task>) -> Network {
    let tasks: Vec<&Task> = tasks.into_iter().collect();
    Network::new(
        &tasks
            .iter()
            .map(|task| (task.id.as_str(), needs(task).collect()))
            .collect::<Vec<_>>(),
    )
}

/// Builds the plan of a project. `tasks` are in the order of `task.list`.
pub(crate) fn project_plan(project: ProjectId, tasks: &[&Task], now_ms: i64) -> ProjectPlan {
    let count = |status| tasks.iter().filter(|task| task.status == status).count() as u64;
    ProjectPlan {
        summary: ProjectPlanSummary {
            task_count: tasks.len() as u64,
            done_tasks: count(TaskStatus::Done),
            blocked_tasks: count(TaskStatus::Blocked),
            in_progress_tasks: count(TaskStatus::InProgress),
            progress_pct: mean_pct(tasks.iter().map(|task| progress(task))),
            progress_weighted_pct: weighted_pct(tasks),
        },
        gantt: gantt(tasks, now_ms),
        project_id: project,
    }
}

/// Progress of the tasks in per cent with one decimal, weighted by the duration of each task.
fn weighted_pct(tasks: &[&Task]) -> f64 {
    let (mut done, mut all) = (0.0, 0.0);
    for task in tasks {
        let days = duration_days(task) as f64;
        done += progress(task) * days;
        all += days;
    }
    if tasks.is_empty() {
        0.0
    } else {
        (done / all * 1000.0).round() / 10.0
    }
}

/// Builds the Gantt chart; the rows are sorted by start time.
pub fn gantt(tasks: &[&Task], now_ms: i64) -> Gantt {
    let days: Vec<u64> = tasks.iter().map(|task| duration_days(task)).collect();
    let network = network(tasks.iter().copied());
    let full_schedule = network.schedule(&days);
    let remaining = Remaining::of(tasks, &days);
    let bars = bar::bars(tasks, &network, &full_schedule.slots, &days, now_ms);
    let mut rows: Vec<(i64, GanttTask)> = bars
        .iter()
        .zip(tasks)
        .enumerate()
        .map(|(index, (bar, task))| {
            let row = row(
                task,
                bar,
                &full_schedule.slots[index],
                days[index],
                remaining.slack_days[index],
            );
            (bar.start_ms, row)
        })
        .collect();
    rows.sort_by_key(|(start_ms, _)| *start_ms);
    let cycle = network.cycle();
    Gantt {
        cpm_status: if cycle.is_empty() {
            CpmStatus::Ok
        } else {
            CpmStatus::DependencyCycle
        },
        project_span_days: full_schedule.span_days,
        remaining_span_days: Some(remaining.span_days),
        cycle_task_ids: cycle
            .iter()
            .map(|index| tasks[*index].id.to_string())
            .collect(),
        tasks: rows.into_iter().map(|(_, row)| row).collect(),
    }
}

fn row(
    task: &Task,
    bar: &Bar,
    slot: &Slot,
    duration_days: u64,
    remaining_slack_days: Option<u64>,
) -> GanttTask {
    GanttTask {
        task_id: task.id.to_string(),
        title: task.title.to_string(),
        status: task.status,
        team_id: task.team_id.as_deref().map(ToOwned::to_owned),
        assignee_agent_id: task.assignee_agent_id.as_deref().map(ToOwned::to_owned),
        progress_pct: mean_pct([progress(task)].into_iter()),
        start_at: iso_time(bar.start_ms),
        end_at: iso_time(bar.end_ms),
        duration_days,
        slack_days: slot.slack_days(),
        remaining_slack_days,
        critical: slot.is_critical(),
        schedule_conflict: bar.is_conflict,
        depends_on_task_ids: needs(task).map(ToOwned::to_owned).collect(),
    }
}

/// Critical path of the remaining work: done tasks have no duration, canceled tasks are excluded.
struct Remaining {
    span_days: u64,
    /// Slack in days, indexed like the tasks; `None` for canceled tasks and for tasks in a dependency cycle.
    slack_days: Vec<Option<u64>>,
}

impl Remaining {
    fn of(tasks: &[&Task], days: &[u64]) -> Self {
        let indices: Vec<usize> = (0..tasks.len())
            .filter(|index| tasks[*index].status != TaskStatus::Canceled)
            .collect();
        let remaining_days: Vec<u64> = indices
            .iter()
            .map(|index| match tasks[*index].status {
                TaskStatus::Done => 0,
                TaskStatus::Draft
                | TaskStatus::Ready
                | TaskStatus::InProgress
                | TaskStatus::Blocked
                | TaskStatus::Canceled => days[*index],
            })
            .collect();
        let schedule = network(indices.iter().map(|index| tasks[*index])).schedule(&remaining_days);
        let mut slack_days = vec![None; tasks.len()];
        for (index, slot) in indices.iter().zip(&schedule.slots) {
            slack_days[*index] = slot.is_on_path().then(|| slot.slack_days());
        }
        Self {
            span_days: schedule.span_days,
            slack_days,
        }
    }
}

/// The mean of shares in per cent, rounded to one decimal; 0 if there are none.
pub(crate) fn mean_pct(shares: impl ExactSizeIterator<Item = f64>) -> f64 {
    match shares.len() {
        0 => 0.0,
        count => (shares.sum::<f64>() / count as f64 * 1000.0).round() / 10.0,
    }
}

#[cfg(test)]
mod tests;
