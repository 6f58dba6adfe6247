//! Places tasks on the calendar: by their own dates if they have any, else by the critical path.

use protocol::company::task::Task;

use super::{
    DAY_MS, after,
    critical_path::{Network, Slot},
    date, printable,
};

/// Calendar span of a task.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Bar {
    /// Start in Unix milliseconds.
    pub(super) start_ms: i64,
    /// End in Unix milliseconds. Before `start_ms` only if the task has a planned end, no planned start, and
    /// dependencies that end after the planned end.
    pub(super) end_ms: i64,
    /// Whether its dates contradict its dependencies: it starts before a dependency ends, or its planned end is before
    /// its earliest start.
    pub(super) is_conflict: bool,
}

/// Returns the bars, indexed like the tasks.
pub(super) fn bars(
    tasks: &[&Task],
    network: &Network,
    slots: &[Slot],
    days: &[u64],
    now_ms: i64,
) -> Vec<Bar> {
    let planned: Vec<PlannedDates> = tasks.iter().map(|task| PlannedDates::of(task)).collect();
    // Without any date the plan starts at midnight, so that it is stable over the day.
    let today = printable(now_ms.div_euclid(DAY_MS) * DAY_MS);
    let starts = planned.iter().filter_map(|planned| planned.start_ms);
    let base = starts.min().unwrap_or(today);
    let spans: Vec<Span> = planned
        .iter()
        .zip(slots)
        .zip(days)
        .map(|((planned, slot), days)| planned.span(base, slot, *days))
        .collect();
    let bars = spans.iter().enumerate().map(|(index, span)| {
        let mut needs = network.needs(index).iter();
        let is_early = needs.any(|needed| span.start_ms < spans[*needed].end_ms);
        Bar {
            start_ms: span.start_ms,
            end_ms: span.end_ms,
            is_conflict: (span.starts_by_date && is_early) || span.end_ms < span.start_ms,
        }
    });
    bars.collect()
}

/// Planned dates of a task.
struct PlannedDates {
    start_ms: Option<i64>,
    end_ms: Option<i64>,
}

impl PlannedDates {
    fn of(task: &Task) -> Self {
        let schedule = task.schedule.as_ref();
        let start = schedule.and_then(|schedule| schedule.planned_start.as_deref());
        let end = schedule.and_then(|schedule| schedule.planned_end.as_deref());
        Self {
            start_ms: start.and_then(date),
            end_ms: end.and_then(date),
        }
    }

    fn span(&self, base: i64, slot: &Slot, days: u64) -> Span {
        let earliest = after(base, slot.earliest_start());
        let by_date = |start_ms, end_ms| Span {
            start_ms,
            end_ms,
            starts_by_date: true,
        };
        let by_path = |end_ms| Span {
            start_ms: earliest,
            end_ms,
            starts_by_date: false,
        };
        match (self.start_ms, self.end_ms) {
            (Some(start), Some(end)) if end >= start => by_date(start, end),
            (Some(start), _) => by_date(start, after(start, days)),
            // Explicit dates are shown even when they contradict the dependencies.
            (None, Some(end)) => by_path(end),
            (None, None) => {
                let least = slot.earliest_start().saturating_add(1);
                by_path(after(base, slot.earliest_finish().max(least)))
            }
        }
    }
}

/// Span of a task before it is compared with its dependencies.
struct Span {
    start_ms: i64,
    end_ms: i64,
    /// Whether the start is a planned date.
    starts_by_date: bool,
}
