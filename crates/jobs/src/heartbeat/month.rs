//! Test that simulates a month of heartbeats with a virtual clock: fifty workers, random events, a crash every few
//! ticks.

use std::collections::BTreeMap;

use protocol::company::{
    Text,
    heartbeat::{HeartbeatConfig, HeartbeatState, ProposedAction},
};
use serde_json::json;

use super::{
    arbitration::{ActionDecision, arbitrate, hour_key, resume},
    triage::{Counts, Moment, Worker, decide, is_quiet},
};

const BEGIN_MS: i64 = 1_777_593_600_000;
const DAYS: i64 = 30;

/// Pseudo-random numbers that depend only on the seed.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % sides
    }
}

/// The log of a simulated month, in order, and how often each action was executed.
#[derive(Debug, Default, PartialEq)]
struct Story {
    lines: Vec<String>,
    done: BTreeMap<String, u32>,
}

fn simulate(seed: u64) -> Story {
    let config = HeartbeatConfig {
        max_auto_actions_per_tick: 3,
        max_auto_actions_per_hour: 5,
        top_k_workers: 4,
        ..HeartbeatConfig::default()
    };
    let (mut dice, mut story) = (Dice(seed), Story::default());
    // The state that survives a crash.
    let mut disk = HeartbeatState::default();
    let mut begun: Vec<(String, ProposedAction, Option<String>)> = Vec::new();
    let mut hours: BTreeMap<i64, u32> = BTreeMap::new();
    let mut logs = [0_u64; 50];
    let mut keys = 0_u64;
    let interval_ms = i64::from(config.tick_interval_minutes) * 60_000;
    for number in 0..DAYS * 86_400_000 / interval_ms {
        let unix_ms = BEGIN_MS + number * interval_ms;
        let hour = u32::try_from(unix_ms / 3_600_000 % 24).unwrap();
        let now = Moment {
            unix_ms,
            local_hour: hour,
        };
        for log in &mut logs {
            *log += u64::from(dice.roll(200) == 0);
        }
        let mut state = disk.clone();
        let workers: Vec<Worker> = logs
            .iter()
            .enumerate()
            .map(|(place, seq)| {
                let key = format!("p::run_{place}");
                let seen = state.run_event_cursors.get(&key).copied().unwrap_or(0);
                let counts = Counts {
                    new_signals: seq - seen,
                    stuck_jobs: u64::from(dice.roll(2000) == 0),
                    ..Counts::default()
                };
                Worker {
                    agent_id: format!("agent_{place:02}"),
                    kind: "codex".to_owned(),
                    by_project: BTreeMap::from([("p".to_owned(), counts)]),
                    cursors: BTreeMap::from([(key, *seq)]),
                    ..Worker::default()
                }
            })
            .collect();
        let decision = decide(&workers, &state, &config, now, |_| 0);
        assert!(decision.wakes.len() <= 4);
        assert!(
            decision.wakes.is_empty() || !is_quiet(&config, hour),
            "a worker was woken in the quiet hours"
        );
        let crashes_at = (dice.roll(4) == 0).then(|| dice.roll(12));
        for (place, seq) in logs.iter().enumerate() {
            state
                .run_event_cursors
                .insert(format!("p::run_{place}"), *seq);
        }
        for candidate in &decision.candidates {
            let worker = state
                .worker_state
                .entry(candidate.agent_id.clone())
                .or_default();
            worker.last_context_hash = Text::new(candidate.context_hash.clone());
        }
        disk = state.clone();
        let (mut step, mut done_this_tick) = (0, 0);
        // Actions that a crash left unfinished are executed first, within the limits.
        for (key, action, mut hour) in std::mem::take(&mut begun) {
            if resume(&action, &mut hour, &mut state, &config, now, done_this_tick) {
                story.lines.push(format!("{number} resumed {key} Execute"));
                done_this_tick += 1;
                *story.done.entry(key).or_default() += 1;
                *hours.entry(unix_ms / 3_600_000).or_default() += 1;
            } else {
                begun.push((key, action, hour));
            }
            disk = state.clone();
        }
        'tick: for wake in &decision.wakes {
            for _ in 0..dice.roll(4) {
                // Some workers propose an earlier action again.
                let key = match dice.roll(3) {
                    0 if keys > 0 => dice.roll(keys),
                    _ => {
                        keys += 1;
                        keys - 1
                    }
                };
                let risk = ["low", "low", "medium"][usize::try_from(dice.roll(3)).unwrap()];
                let action: ProposedAction = serde_json::from_value(json!({
                    "kind": "launch_job", "idempotency_key": format!("k{key}"), "risk": risk,
                    "needs_approval": false, "project_id": "p", "goal": "g",
                }))
                .unwrap();
                step += 1;
                if crashes_at == Some(step) {
                    story.lines.push(format!("{number} crash"));
                    break 'tick;
                }
                let verdict = arbitrate(&action, None, &mut state, &config, now, done_this_tick);
                disk = state.clone();
                story
                    .lines
                    .push(format!("{number} {} k{key} {verdict:?}", wake.agent_id));
                step += 1;
                if crashes_at == Some(step) {
                    // The action is recorded but not executed, so a later tick executes it.
                    if verdict == ActionDecision::Execute {
                        story.lines.pop();
                        begun.push((format!("k{key}"), action, Some(hour_key(now))));
                    }
                    story.lines.push(format!("{number} crash"));
                    break 'tick;
                }
                if verdict == ActionDecision::Execute {
                    done_this_tick += 1;
                    *story.done.entry(format!("k{key}")).or_default() += 1;
                    *hours.entry(unix_ms / 3_600_000).or_default() += 1;
                }
            }
        }
        assert!(done_this_tick <= 3, "too many actions in one tick");
    }
    assert!(
        hours.values().all(|count| *count <= 5),
        "too many actions in one hour"
    );
    assert!(begun.is_empty(), "actions were never executed: {begun:?}");
    story
}

#[test]
fn in_a_month_with_crashes_budgets_hold_and_nothing_is_done_twice() {
    for seed in [7, 4711] {
        let story = simulate(seed);
        // An action expires after two weeks and may be executed again then, but not before.
        let mut last: BTreeMap<&str, i64> = BTreeMap::new();
        let ttl_ticks = 14 * 24 * 3;
        for line in &story.lines {
            let words: Vec<_> = line.split(' ').collect();
            if let [tick, _, key, "Execute"] = words[..] {
                let tick: i64 = tick.parse().unwrap();
                if let Some(before) = last.insert(key, tick) {
                    assert!(
                        tick - before >= ttl_ticks,
                        "{key} was executed at {before} and at {tick}"
                    );
                }
            }
        }
        assert!(story.done.len() > 100, "{}", story.done.len());
        let has = |word: &str| story.lines.iter().any(|line| line.contains(word));
        assert!(has("crash") && has("resumed"));
    }
}

#[test]
fn the_same_seed_tells_the_same_story() {
    assert_eq!(simulate(99), simulate(99));
}
