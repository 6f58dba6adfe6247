//! When each task happens on the calendar: its own dates where it has them, else what the critical path gives.

use protocol::company::task::Task;

use super::{
    DAY_MS, after,
    critical_path::{Network, Slot},
    date, printable,
};

/// A task on the calendar.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Bar {
    /// When it begins, in Unix milliseconds.
    pub(super) start_ms: i64,
    /// When it ends, in Unix milliseconds. Before `start_ms` only if the task has a planned end, no planned start, and
    /// its dependencies end later than that.
    pub(super) end_ms: i64,
    /// Whether its own dates contradict its dependencies: it begins before one of them ends, or must end before it can
    /// begin.
    pub(super) is_conflict: bool,
}

/// The bars of tasks, by place.
pub(super) fn bars(
    tasks: &[&Task],
    network: &Network,
    slots: &[Slot],
    days: &[u64],
    now_ms: i64,
) -> Vec<Bar> {
    let planned: Vec<Planned> = tasks.iter().map(|task| Planned::of(task)).collect();
    // Without any date the plan begins today, so that it does not move while nothing changes.
    let today = printable(now_ms.div_euclid(DAY_MS) * DAY_MS);
    let starts = planned.iter().filter_map(|planned| planned.start_ms);
    let base = starts.min().unwrap_or(today);
    let spans: Vec<Span> = planned
        .iter()
        .zip(slots)
        .zip(days)
        .map(|((planned, slot), days)| planned.span(base, slot, *days))
        .collect();
    let bars = spans.iter().enumerate().map(|(place, span)| {
        let mut needs = network.needs(place).iter();
        let is_early = needs.any(|needed| span.start_ms < spans[*needed].end_ms);
        Bar {
            start_ms: span.start_ms,
            end_ms: span.end_ms,
            is_conflict: (span.starts_by_date && is_early) || span.end_ms < span.start_ms,
        }
    });
    bars.collect()
}

/// The dates a task has.
struct Planned {
    start_ms: Option<i64>,
    end_ms: Option<i64>,
}

impl Planned {
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

/// From when to when, before tasks are compared with each other.
struct Span {
    start_ms: i64,
    end_ms: i64,
    /// Whether the dates of the task say when it begins.
    starts_by_date: bool,
}
