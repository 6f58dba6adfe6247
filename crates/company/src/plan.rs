//! The arithmetic of plans: which tasks decide when a project ends, when each happens, and who should do it.
//!
//! Everything here is computed from what it is given; files are read and written by `task` and `home`.

pub mod allocation;
mod bar;
pub mod critical_path;
pub mod export;

use protocol::company::{
    ProjectId, TaskStatus,
    pm::{CpmStatus, Gantt, GanttTask, ProjectPlan, ProjectPlanSummary},
    task::Task,
};

use crate::{home, iso_time, unix_ms};
use bar::Bar;
use critical_path::{Network, Slot};

/// The milliseconds of a day. A day of a plan has 24 hours; there is no calendar of working days.
pub(crate) const DAY_MS: i64 = 86_400_000;

/// What a task must wait for.
pub(crate) fn needs(task: &Task) -> impl Iterator<Item = &str> {
    let schedule = task.schedule.iter();
    schedule.flat_map(|schedule| schedule.depends_on_task_ids.iter().map(|id| id.as_str()))
}

/// How many days a task takes: as it says, or the days between its dates, or one.
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

/// A date of a plan in Unix milliseconds, within the years 0 to 9999 so that everybody can print it.
pub(crate) fn date(text: &str) -> Option<i64> {
    unix_ms(text).map(printable)
}

/// The nearest moment that has a year of four digits.
pub(crate) fn printable(unix_ms: i64) -> i64 {
    const YEAR_0: i64 = -62_167_219_200_000;
    const YEAR_9999: i64 = 253_370_764_800_000;
    unix_ms.clamp(YEAR_0, YEAR_9999)
}

/// The days after a moment.
pub(crate) fn after(unix_ms: i64, days: u64) -> i64 {
    let days = i64::try_from(days).unwrap_or(i64::MAX);
    printable(unix_ms.saturating_add(days.saturating_mul(DAY_MS)))
}

/// The network of tasks by what they wait for.
pub fn network<'a>(tasks: impl IntoIterator<Item = &'a Task>) -> Network {
    let tasks: Vec<&Task> = tasks.into_iter().collect();
    Network::new(
        &tasks
            .iter()
            .map(|task| (task.id.as_str(), needs(task).collect()))
            .collect::<Vec<_>>(),
    )
}

/// The plan of a project whose tasks are given in the order of `task.list`.
pub fn project_plan(project: ProjectId, tasks: &[&Task], now_ms: i64) -> ProjectPlan {
    let count = |status| tasks.iter().filter(|task| task.status == status).count() as u64;
    ProjectPlan {
        summary: ProjectPlanSummary {
            task_count: tasks.len() as u64,
            done_tasks: count(TaskStatus::Done),
            blocked_tasks: count(TaskStatus::Blocked),
            in_progress_tasks: count(TaskStatus::InProgress),
            progress_pct: home::mean_pct(tasks.iter().map(|task| home::progress(task))),
            progress_weighted_pct: weighted_pct(tasks),
        },
        gantt: gantt(tasks, now_ms),
        project_id: project,
    }
}

/// The progress of tasks as per cent with one decimal, where a task counts as many times as it has days.
fn weighted_pct(tasks: &[&Task]) -> f64 {
    let (mut done, mut all) = (0.0, 0.0);
    for task in tasks {
        let days = duration_days(task) as f64;
        done += home::progress(task) * days;
        all += days;
    }
    if tasks.is_empty() {
        0.0
    } else {
        (done / all * 1000.0).round() / 10.0
    }
}

/// The tasks in time, by when they begin.
pub fn gantt(tasks: &[&Task], now_ms: i64) -> Gantt {
    let days: Vec<u64> = tasks.iter().map(|task| duration_days(task)).collect();
    let network = network(tasks.iter().copied());
    let classic = network.schedule(&days);
    let remaining = Remaining::of(tasks, &days);
    let bars = bar::bars(tasks, &network, &classic.slots, &days, now_ms);
    let mut rows: Vec<(i64, GanttTask)> = bars
        .iter()
        .zip(tasks)
        .enumerate()
        .map(|(place, (bar, task))| {
            let row = row(
                task,
                bar,
                &classic.slots[place],
                days[place],
                remaining.slack_days[place],
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
        project_span_days: classic.span_days,
        remaining_span_days: Some(remaining.span_days),
        cycle_task_ids: cycle
            .iter()
            .map(|place| tasks[*place].id.to_string())
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
        progress_pct: home::mean_pct([home::progress(task)].into_iter()),
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

/// The same arithmetic for what is still to do: done tasks take no time, tasks given up take no part.
struct Remaining {
    span_days: u64,
    /// By the place of the task; none for tasks that take no part.
    slack_days: Vec<Option<u64>>,
}

impl Remaining {
    fn of(tasks: &[&Task], days: &[u64]) -> Self {
        let places: Vec<usize> = (0..tasks.len())
            .filter(|place| tasks[*place].status != TaskStatus::Canceled)
            .collect();
        let left: Vec<u64> = places
            .iter()
            .map(|place| match tasks[*place].status {
                TaskStatus::Done => 0,
                TaskStatus::Draft
                | TaskStatus::Ready
                | TaskStatus::InProgress
                | TaskStatus::Blocked
                | TaskStatus::Canceled => days[*place],
            })
            .collect();
        let schedule = network(places.iter().map(|place| tasks[*place])).schedule(&left);
        let mut slack_days = vec![None; tasks.len()];
        for (place, slot) in places.iter().zip(&schedule.slots) {
            slack_days[*place] = slot.is_on_path().then(|| slot.slack_days());
        }
        Self {
            span_days: schedule.span_days,
            slack_days,
        }
    }
}

#[cfg(test)]
mod tests;
