//! Decides which workers to wake: a pure function of the facts, the heartbeat state, the config and the time.

use std::collections::BTreeMap;

use company::unix_ms;
use data_encoding::HEXLOWER;
use protocol::company::heartbeat::{HeartbeatConfig, HeartbeatState};
use serde::Serialize;
use sha2::{Digest as _, Sha256};

/// The time of a decision.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Moment {
    /// The time in Unix milliseconds.
    pub unix_ms: i64,
    /// The hour of the day in local time, 0 to 23, which quiet hours refer to.
    pub local_hour: u32,
}

/// An agent that can be woken, with the facts that speak for it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Worker {
    /// Id of the agent.
    pub agent_id: String,
    /// The worker program that runs the agent.
    pub kind: String,
    /// Id of the agent's team. `None` if it has no team.
    pub team_id: Option<String>,
    /// The facts, by project.
    pub by_project: BTreeMap<String, Counts>,
    /// Number of events in the log of each run with new signals for the agent, by `<project>::<run>`.
    pub cursors: BTreeMap<String, u64>,
    /// The project of the agent's latest run. `None` if it has no run.
    pub latest_project: Option<String>,
}

/// Counts of the facts that speak for waking a worker.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Counts {
    /// Number of signals from new events.
    pub new_signals: u64,
    /// Number of tasks that are due within the horizon.
    pub due_tasks: u64,
    /// Number of overdue tasks.
    pub overdue_tasks: u64,
    /// Number of stuck jobs.
    pub stuck_jobs: u64,
}

/// The parts of a worker's score.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Components {
    /// 5 if there are new signals.
    pub new_signal_points: i64,
    /// 3 if tasks are due soon.
    pub due_points: i64,
    /// 2 if tasks are overdue.
    pub overdue_points: i64,
    /// 4 if jobs are stuck.
    pub stuck_points: i64,
    /// -3 if the worker recently reported that it had nothing to do, and nothing changed since.
    pub recent_ok_penalty: i64,
    /// -2 in the quiet hours.
    pub quiet_hours_penalty: i64,
}

/// A worker that was considered.
#[derive(Clone, Debug, PartialEq)]
pub struct Candidate {
    /// Id of the agent.
    pub agent_id: String,
    /// Id of the agent's team. `None` if it has no team.
    pub team_id: Option<String>,
    /// Sum of the components.
    pub score: i64,
    /// The parts of the score.
    pub components: Components,
    /// The facts, summed over all projects.
    pub counts: Counts,
    /// Hash of the facts, which changes when they do.
    pub context_hash: String,
    /// Why the worker is not woken, independent of its score. `None` if it is not suppressed.
    pub suppression: Option<String>,
}

/// A worker that is woken.
#[derive(Clone, Debug, PartialEq)]
pub struct Wake {
    /// Id of the agent.
    pub agent_id: String,
    /// Id of the agent's team. `None` if it has no team.
    pub team_id: Option<String>,
    /// The project for which the worker is woken. `None` if no fact belongs to a project and the agent has no run.
    pub project_id: Option<String>,
    /// Score of the candidate.
    pub score: i64,
    /// Delay of the start in seconds, so that not all workers start at once.
    pub jitter_seconds: u32,
    /// Hash of the facts.
    pub context_hash: String,
    /// The reasons for the wake, for people.
    pub reasons: Vec<String>,
}

/// The result of [`decide`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Decision {
    /// All workers, in the given order.
    pub candidates: Vec<Candidate>,
    /// The workers to wake, highest score first.
    pub wakes: Vec<Wake>,
}

/// Decides which workers to wake. `jitter` returns a number from 0 to its argument.
pub fn decide(
    workers: &[Worker],
    state: &HeartbeatState,
    config: &HeartbeatConfig,
    now: Moment,
    mut jitter: impl FnMut(u32) -> u32,
) -> Decision {
    let candidates: Vec<Candidate> = workers
        .iter()
        .map(|worker| consider(worker, state, config, now))
        .collect();
    let mut chosen: Vec<(&Worker, &Candidate)> = workers
        .iter()
        .zip(&candidates)
        .filter(|(_, candidate)| {
            candidate.suppression.is_none() && candidate.score >= i64::from(config.min_wake_score)
        })
        .collect();
    chosen.sort_by(|(_, left), (_, right)| {
        let by_score = right.score.cmp(&left.score);
        by_score.then_with(|| left.agent_id.cmp(&right.agent_id))
    });
    chosen.truncate(config.top_k_workers as usize);
    let wakes = chosen
        .into_iter()
        .map(|(worker, candidate)| Wake {
            agent_id: candidate.agent_id.clone(),
            team_id: candidate.team_id.clone(),
            project_id: project_for(worker),
            score: candidate.score,
            jitter_seconds: jitter(config.jitter_max_seconds),
            context_hash: candidate.context_hash.clone(),
            reasons: reasons(&candidate.counts, config),
        })
        .collect();
    Decision { candidates, wakes }
}

fn consider(
    worker: &Worker,
    state: &HeartbeatState,
    config: &HeartbeatConfig,
    now: Moment,
) -> Candidate {
    let counts = worker
        .by_project
        .values()
        .fold(Counts::default(), |sum, counts| Counts {
            new_signals: sum.new_signals + counts.new_signals,
            due_tasks: sum.due_tasks + counts.due_tasks,
            overdue_tasks: sum.overdue_tasks + counts.overdue_tasks,
            stuck_jobs: sum.stuck_jobs + counts.stuck_jobs,
        });
    let context_hash = context_hash(worker, &counts);
    let known = state.worker_state.get(&worker.agent_id);
    let last_hash = known.and_then(|known| known.last_context_hash.as_deref());
    let is_unchanged = last_hash == Some(context_hash.as_str());
    let minutes_since =
        |at: Option<&str>| at.and_then(unix_ms).map(|at| (now.unix_ms - at) / 60_000);
    let last_ok = known.and_then(|known| known.last_ok_at.as_deref());
    let was_ok = minutes_since(last_ok)
        .is_some_and(|minutes| minutes < i64::from(config.ok_suppression_minutes));
    let is_quiet = is_quiet(config, now.local_hour);
    let points = |count: u64, points: i64| if count > 0 { points } else { 0 };
    let components = Components {
        new_signal_points: points(counts.new_signals, 5),
        due_points: points(counts.due_tasks, 3),
        overdue_points: points(counts.overdue_tasks, 2),
        stuck_points: points(counts.stuck_jobs, 4),
        recent_ok_penalty: if is_unchanged && was_ok { -3 } else { 0 },
        quiet_hours_penalty: if is_quiet { -2 } else { 0 },
    };
    let until = known.and_then(|known| known.suppressed_until.as_deref());
    let is_suppressed = until
        .and_then(unix_ms)
        .is_some_and(|until| until > now.unix_ms);
    let suppression = match until {
        Some(until) if is_unchanged && is_suppressed => Some(format!("suppressed_until={until}")),
        // The penalty alone would not stop workers with a high score.
        _ if is_quiet => Some("quiet_hours".to_owned()),
        _ => None,
    };
    Candidate {
        agent_id: worker.agent_id.clone(),
        team_id: worker.team_id.clone(),
        score: components.new_signal_points
            + components.due_points
            + components.overdue_points
            + components.stuck_points
            + components.recent_ok_penalty
            + components.quiet_hours_penalty,
        components,
        counts,
        context_hash,
        suppression,
    }
}

/// Whether an hour is within the quiet hours. If their start and end are equal, there are none.
pub fn is_quiet(config: &HeartbeatConfig, hour: u32) -> bool {
    let (start, end) = (config.quiet_hours_start_hour, config.quiet_hours_end_hour);
    match start.cmp(&end) {
        std::cmp::Ordering::Equal => false,
        std::cmp::Ordering::Less => (start..end).contains(&hour),
        std::cmp::Ordering::Greater => hour >= start || hour < end,
    }
}

/// Hash of the facts of a worker. Facts of other workers do not affect it.
fn context_hash(worker: &Worker, counts: &Counts) -> String {
    #[derive(Serialize)]
    struct Facts<'a> {
        worker_agent_id: &'a str,
        worker_kind: &'a str,
        #[serde(flatten)]
        counts: &'a Counts,
        run_event_cursors: &'a BTreeMap<String, u64>,
    }
    let facts = Facts {
        worker_agent_id: &worker.agent_id,
        worker_kind: &worker.kind,
        counts,
        run_event_cursors: &worker.cursors,
    };
    let text = serde_json::to_string(&facts).unwrap_or_default();
    HEXLOWER.encode(&Sha256::digest(text))
}

/// The project with the highest weight of facts. Among equal ones, the project of the worker's latest run, else the
/// first. Without facts, the project of the latest run.
fn project_for(worker: &Worker) -> Option<String> {
    let weight = |counts: &Counts| {
        5 * counts.new_signals
            + 3 * counts.due_tasks
            + 2 * counts.overdue_tasks
            + 4 * counts.stuck_jobs
    };
    let heaviest = worker
        .by_project
        .values()
        .map(weight)
        .max()
        .filter(|weight| *weight > 0);
    let Some(heaviest) = heaviest else {
        return worker.latest_project.clone();
    };
    let mut tied = worker
        .by_project
        .iter()
        .filter(|(_, counts)| weight(counts) == heaviest)
        .map(|(project, _)| project);
    let first = tied.clone().next();
    let latest = tied.find(|project| Some(*project) == worker.latest_project.as_ref());
    latest.or(first).cloned()
}

fn reasons(counts: &Counts, config: &HeartbeatConfig) -> Vec<String> {
    let horizon = config.due_horizon_minutes;
    let rows = [
        (
            counts.new_signals,
            "new event".to_owned(),
            "new events".to_owned(),
        ),
        (
            counts.overdue_tasks,
            "task is late".to_owned(),
            "tasks are late".to_owned(),
        ),
        (
            counts.due_tasks,
            format!("task is due within {horizon} minutes"),
            format!("tasks are due within {horizon} minutes"),
        ),
        (
            counts.stuck_jobs,
            "job does not move".to_owned(),
            "jobs do not move".to_owned(),
        ),
    ];
    rows.into_iter()
        .filter(|(count, ..)| *count > 0)
        .map(|(count, one, many)| match count {
            1 => format!("1 {one}"),
            _ => format!("{count} {many}"),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use protocol::company::{Text, heartbeat::HeartbeatWorkerState};

    use super::*;

    const NOON: Moment = Moment {
        unix_ms: 1_777_900_000_000,
        local_hour: 12,
    };

    fn worker(id: &str, project: &str, counts: Counts) -> Worker {
        Worker {
            agent_id: id.to_owned(),
            kind: "codex".to_owned(),
            by_project: BTreeMap::from([(project.to_owned(), counts)]),
            ..Worker::default()
        }
    }

    fn signals(count: u64) -> Counts {
        Counts {
            new_signals: count,
            ..Counts::default()
        }
    }

    fn woken(
        workers: &[Worker],
        state: &HeartbeatState,
        config: &HeartbeatConfig,
        now: Moment,
    ) -> Vec<String> {
        let decision = decide(workers, state, config, now, |_| 0);
        decision
            .wakes
            .into_iter()
            .map(|wake| wake.agent_id)
            .collect()
    }

    #[test]
    fn the_most_urgent_are_woken_first_and_no_more_than_wanted() {
        let late = Counts {
            due_tasks: 1,
            overdue_tasks: 1,
            ..Counts::default()
        };
        let stuck = Counts {
            stuck_jobs: 2,
            new_signals: 1,
            ..Counts::default()
        };
        let workers = [
            worker("agent_a", "p", signals(1)),
            worker("agent_b", "p", late),
            worker("agent_c", "p", stuck),
            worker(
                "agent_d",
                "p",
                Counts {
                    overdue_tasks: 9,
                    ..Counts::default()
                },
            ),
        ];
        let config = HeartbeatConfig {
            top_k_workers: 3,
            ..HeartbeatConfig::default()
        };
        let decision = decide(&workers, &HeartbeatState::default(), &config, NOON, |_| 0);
        let scores: Vec<_> = decision
            .candidates
            .iter()
            .map(|candidate| candidate.score)
            .collect();
        assert_eq!(scores, [5, 5, 9, 2]);
        let order: Vec<_> = decision
            .wakes
            .iter()
            .map(|wake| wake.agent_id.as_str())
            .collect();
        assert_eq!(order, ["agent_c", "agent_a", "agent_b"]);
        assert_eq!(
            decision.wakes[0].reasons,
            ["1 new event", "2 jobs do not move"]
        );
        assert_eq!(
            decision.wakes[2].reasons,
            ["1 task is late", "1 task is due within 120 minutes"]
        );
    }

    #[test]
    fn a_worker_that_had_nothing_to_do_is_left_alone_until_something_changes() {
        let config = HeartbeatConfig::default();
        let mut due = worker(
            "agent_a",
            "p",
            Counts {
                due_tasks: 1,
                ..Counts::default()
            },
        );
        let hash = decide(
            &[due.clone()],
            &HeartbeatState::default(),
            &config,
            NOON,
            |_| 0,
        )
        .wakes[0]
            .context_hash
            .clone();
        let mut state = HeartbeatState::default();
        let known = HeartbeatWorkerState {
            last_ok_at: Text::new(company::iso_time(NOON.unix_ms)),
            last_context_hash: Text::new(hash),
            suppressed_until: Text::new(company::iso_time(NOON.unix_ms + 3_600_000)),
            ..HeartbeatWorkerState::default()
        };
        state.worker_state.insert("agent_a".to_owned(), known);
        assert_eq!(
            woken(&[due.clone()], &state, &config, NOON),
            Vec::<String>::new()
        );
        due.cursors.insert("p::run_1".to_owned(), 7);
        due.by_project.insert(
            "p".to_owned(),
            Counts {
                due_tasks: 1,
                new_signals: 1,
                ..Counts::default()
            },
        );
        assert_eq!(woken(&[due], &state, &config, NOON), ["agent_a"]);
    }

    #[test]
    fn nobody_is_woken_in_the_quiet_hours() {
        let workers = [worker("agent_a", "p", signals(100))];
        let config = HeartbeatConfig::default();
        for hour in 0..24 {
            let now = Moment {
                local_hour: hour,
                ..NOON
            };
            let is_quiet = !(7..22).contains(&hour);
            assert_eq!(
                woken(&workers, &HeartbeatState::default(), &config, now).is_empty(),
                is_quiet,
                "{hour}"
            );
        }
    }

    #[test]
    fn a_wake_goes_to_the_project_that_most_of_it_is_about() {
        let mut tied = worker("agent_a", "p1", signals(1));
        tied.by_project.insert("p2".to_owned(), signals(1));
        assert_eq!(project_for(&tied), Some("p1".to_owned()));
        tied.latest_project = Some("p2".to_owned());
        assert_eq!(project_for(&tied), Some("p2".to_owned()));
        tied.by_project.insert("p3".to_owned(), signals(2));
        assert_eq!(project_for(&tied), Some("p3".to_owned()));
        tied.by_project.clear();
        assert_eq!(project_for(&tied), Some("p2".to_owned()));
    }

    prop_compose! {
        fn any_worker()(
            id in "agent_[a-e]", project in "p[12]",
            new_signals in 0u64..3, due_tasks in 0u64..3, overdue_tasks in 0u64..3, stuck_jobs in 0u64..3,
        ) -> Worker {
            worker(&id, &project, Counts { new_signals, due_tasks, overdue_tasks, stuck_jobs })
        }
    }

    proptest! {
        #[test]
        fn a_decision_keeps_its_limits_and_is_the_same_twice(
            workers in prop::collection::vec(any_worker(), 0..8),
            top_k_workers in 1u32..4, min_wake_score in 0u32..12, hour in 0u32..24,
        ) {
            let config = HeartbeatConfig { top_k_workers, min_wake_score, ..HeartbeatConfig::default() };
            let now = Moment { local_hour: hour, ..NOON };
            let state = HeartbeatState::default();
            let first = decide(&workers, &state, &config, now, |most| most / 2);
            prop_assert!(first.wakes.len() <= top_k_workers as usize);
            for wake in &first.wakes {
                prop_assert!(wake.score >= i64::from(min_wake_score));
                prop_assert!(!is_quiet(&config, hour));
                prop_assert!(wake.jitter_seconds <= config.jitter_max_seconds);
            }
            prop_assert_eq!(first, decide(&workers, &state, &config, now, |most| most / 2));
        }
    }
}
