//! Decides about the actions that woken workers propose: whether an action is executed, queued for a decision, skipped
//! or already known. The functions change the given heartbeat state and have no other effects.

use company::{DAY_MS, iso_time, unix_ms};
use protocol::company::{
    Text,
    heartbeat::{
        ActionRisk, HeartbeatAction, HeartbeatActionStatus, HeartbeatConfig, HeartbeatState,
        ProposedAction,
    },
};

use super::triage::{Moment, is_quiet};

/// How long the hourly counters are kept.
const HOURS_KEPT_MS: i64 = 2 * DAY_MS;

/// Why an action must not be executed without a decision, independent of its risk.
#[derive(Clone, Debug, PartialEq)]
pub enum HardStop {
    /// Policy denies the action; the id of the rule.
    PolicyDenied(String),
    /// The action contains a secret.
    SecretRisk,
    /// A director starts a worker of another team.
    CrossTeam,
    /// The budget of the project or task is exceeded.
    Budget,
}

impl HardStop {
    /// The reason code that is used in rationales.
    pub fn reason(&self) -> String {
        match self {
            Self::PolicyDenied(rule) => format!("policy_denied:{rule}"),
            Self::SecretRisk => "secret_risk_detected".to_owned(),
            Self::CrossTeam => "director_cross_team_worker_spawn_denied".to_owned(),
            Self::Budget => "budget_limit_exceeded".to_owned(),
        }
    }
}

/// The decision about an action.
#[derive(Clone, Debug, PartialEq)]
pub enum ActionDecision {
    /// The idempotency key was seen before; the action is ignored.
    Deduped,
    /// The action is executed now.
    Execute,
    /// The action waits for a decision; the rationale.
    Queue(String),
    /// The action would need a decision but cannot be queued; the reason code.
    Skip(&'static str),
}

/// Decides about an action that a worker reported, and records it in the state. `done_this_tick` is the number of
/// actions executed so far in this tick, over all reports.
pub fn arbitrate(
    action: &ProposedAction,
    hard_stop: Option<&HardStop>,
    state: &mut HeartbeatState,
    config: &HeartbeatConfig,
    now: Moment,
    done_this_tick: u32,
) -> ActionDecision {
    remove_expired(state, now);
    if state
        .idempotency
        .contains_key(action.idempotency_key().as_str())
    {
        return ActionDecision::Deduped;
    }
    let done_this_hour = state
        .hourly_action_counters
        .get(&hour_key(now))
        .copied()
        .unwrap_or(0);
    let is_comment = matches!(action, ProposedAction::AddComment { .. });
    let rationale = if let Some(stop) = hard_stop {
        Some(stop.reason())
    } else if let ProposedAction::CreateApprovalItem { rationale, .. } = action {
        Some(
            rationale
                .as_deref()
                .unwrap_or("The worker asks for a decision")
                .to_owned(),
        )
    } else if done_this_tick >= config.max_auto_actions_per_tick {
        Some("The limit of actions per tick is reached".to_owned())
    } else if done_this_hour >= u64::from(config.max_auto_actions_per_hour) {
        Some("The limit of actions per hour is reached".to_owned())
    } else if is_comment && is_quiet(config, now.local_hour) {
        Some("Comments wait in the quiet hours".to_owned())
    } else if action.needs_approval() || action.risk() != ActionRisk::Low {
        Some("The action asks for a decision or is not of low risk".to_owned())
    } else {
        None
    };
    match (rationale, action.project_id()) {
        (None, _) => {
            record(action, HeartbeatActionStatus::Executed, state, config, now);
            ActionDecision::Execute
        }
        (Some(_), None) => {
            record(action, HeartbeatActionStatus::Queued, state, config, now);
            ActionDecision::Skip("missing_project_for_approval")
        }
        (Some(rationale), Some(_)) => {
            record(action, HeartbeatActionStatus::Queued, state, config, now);
            ActionDecision::Queue(rationale)
        }
    }
}

/// Decides about an approved action: it is executed unless it was executed before.
pub fn arbitrate_approved(
    action: &ProposedAction,
    state: &mut HeartbeatState,
    config: &HeartbeatConfig,
    now: Moment,
) -> ActionDecision {
    remove_expired(state, now);
    let known = state.idempotency.get(action.idempotency_key().as_str());
    match known.map(|known| known.status) {
        Some(HeartbeatActionStatus::Executed) => ActionDecision::Deduped,
        Some(HeartbeatActionStatus::Queued) | None => {
            record(action, HeartbeatActionStatus::Executed, state, config, now);
            ActionDecision::Execute
        }
    }
}

/// Whether an action that an ended process left unfinished may be executed now. `counted_hour` is the hour in whose
/// limit the action was counted, `None` for an approved action. If that hour is over, the action is counted in the
/// current hour, so that no hour exceeds its limit.
pub fn resume(
    action: &ProposedAction,
    counted_hour: &mut Option<String>,
    state: &mut HeartbeatState,
    config: &HeartbeatConfig,
    now: Moment,
    done_this_tick: u32,
) -> bool {
    let Some(counted) = counted_hour else {
        // Approved actions are exempt from the limits.
        return true;
    };
    let is_comment = matches!(action, ProposedAction::AddComment { .. });
    if done_this_tick >= config.max_auto_actions_per_tick
        || is_comment && is_quiet(config, now.local_hour)
    {
        return false;
    }
    let hour = hour_key(now);
    if *counted == hour {
        return true;
    }
    let done_this_hour = state
        .hourly_action_counters
        .entry(hour.clone())
        .or_default();
    if *done_this_hour >= u64::from(config.max_auto_actions_per_hour) {
        return false;
    }
    *done_this_hour += 1;
    *counted = hour;
    true
}

/// Records that an action whose execution failed waits for a decision instead.
pub fn queue_instead(action: &ProposedAction, state: &mut HeartbeatState) {
    let known = state.idempotency.get_mut(action.idempotency_key().as_str());
    if let Some(known) = known {
        known.status = HeartbeatActionStatus::Queued;
        known.execution_count = known.execution_count.saturating_sub(1);
    }
}

fn record(
    action: &ProposedAction,
    status: HeartbeatActionStatus,
    state: &mut HeartbeatState,
    config: &HeartbeatConfig,
    now: Moment,
) {
    let key = action.idempotency_key();
    let is_done = status == HeartbeatActionStatus::Executed;
    let at = time(now.unix_ms);
    let expires_at = time(now.unix_ms + i64::from(config.idempotency_ttl_days) * DAY_MS);
    let entry = state.idempotency.entry(key.to_string());
    let entry = entry.or_insert_with(|| HeartbeatAction {
        idempotency_key: key.clone(),
        action_kind: Text::new(action.kind()).expect("a word is not empty"),
        first_seen_at: at.clone(),
        last_seen_at: at.clone(),
        expires_at: expires_at.clone(),
        status,
        execution_count: 0,
    });
    entry.last_seen_at = at;
    entry.expires_at = expires_at;
    entry.status = status;
    entry.execution_count += u64::from(is_done);
    if is_done {
        *state
            .hourly_action_counters
            .entry(hour_key(now))
            .or_default() += 1;
    }
}

/// Removes expired actions and old hourly counters.
fn remove_expired(state: &mut HeartbeatState, now: Moment) {
    let is_past =
        |text: &str, kept_ms: i64| unix_ms(text).is_none_or(|at| at + kept_ms <= now.unix_ms);
    state
        .idempotency
        .retain(|_, action| !is_past(&action.expires_at, 0));
    state.hourly_action_counters.retain(|hour, _| {
        let begin = hour
            .rsplit_once('-')
            .map(|(day, hour)| format!("{day}T{hour}:00:00Z"));
        begin.is_some_and(|begin| !is_past(&begin, HOURS_KEPT_MS))
    });
}

/// Key of the hourly counter: the hour in UTC, such as `2026-11-15-12`.
pub(super) fn hour_key(now: Moment) -> String {
    iso_time(now.unix_ms)[..13].replace('T', "-")
}

fn time(unix_ms: i64) -> Text {
    Text::new(iso_time(unix_ms)).expect("a time is not empty")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    const NOON: Moment = Moment {
        unix_ms: 1_777_900_000_000,
        local_hour: 12,
    };

    fn action(kind: &str, key: &str, risk: &str, needs_approval: bool) -> ProposedAction {
        let mut fields = json!({"kind": kind, "idempotency_key": key, "risk": risk, "needs_approval": needs_approval});
        let more = match kind {
            "launch_job" => json!({"project_id": "p", "goal": "g"}),
            "add_comment" => json!({"project_id": "p", "body": "b", "target_run_id": "r"}),
            "create_approval_item" => json!({"project_id": "p", "title": "t"}),
            _ => json!({"reason": "nothing"}),
        };
        let fields = fields.as_object_mut().unwrap();
        fields.extend(more.as_object().unwrap().clone());
        serde_json::from_value(json!(fields)).unwrap()
    }

    fn check(action: &ProposedAction, stop: Option<&HardStop>, done: u32, expected: &str) {
        let mut state = HeartbeatState::default();
        let config = HeartbeatConfig::default();
        let verdict = arbitrate(action, stop, &mut state, &config, NOON, done);
        let shown = match &verdict {
            ActionDecision::Queue(reason) => format!("queue: {reason}"),
            ActionDecision::Deduped | ActionDecision::Execute | ActionDecision::Skip(_) => {
                format!("{verdict:?}").to_lowercase()
            }
        };
        assert_eq!(shown, expected);
    }

    #[test]
    fn only_harmless_actions_within_the_limits_just_happen() {
        check(&action("launch_job", "k", "low", false), None, 0, "execute");
        check(&action("noop", "k", "low", false), None, 0, "execute");
        let gate = "queue: The action asks for a decision or is not of low risk";
        check(&action("launch_job", "k", "medium", false), None, 0, gate);
        check(&action("add_comment", "k", "low", true), None, 0, gate);
        check(
            &action("launch_job", "k", "low", false),
            None,
            10,
            "queue: The limit of actions per tick is reached",
        );
        let stop = HardStop::PolicyDenied("vis.team.mismatch".to_owned());
        check(
            &action("launch_job", "k", "low", false),
            Some(&stop),
            0,
            "queue: policy_denied:vis.team.mismatch",
        );
        check(
            &action("create_approval_item", "k", "low", false),
            None,
            0,
            "queue: The worker asks for a decision",
        );
        check(
            &action("noop", "k", "high", false),
            None,
            0,
            "skip(\"missing_project_for_approval\")",
        );
    }

    #[test]
    fn an_approved_action_that_waits_happens_once() {
        let mut state = HeartbeatState::default();
        let config = HeartbeatConfig::default();
        let action = action("launch_job", "k", "high", false);
        assert!(matches!(
            arbitrate(&action, None, &mut state, &config, NOON, 0),
            ActionDecision::Queue(_)
        ));
        assert_eq!(
            arbitrate(&action, None, &mut state, &config, NOON, 0),
            ActionDecision::Deduped
        );
        assert_eq!(
            arbitrate_approved(&action, &mut state, &config, NOON),
            ActionDecision::Execute
        );
        assert_eq!(
            arbitrate_approved(&action, &mut state, &config, NOON),
            ActionDecision::Deduped
        );
        assert_eq!(state.idempotency["k"].execution_count, 1);
    }

    #[test]
    fn what_was_begun_in_an_hour_that_is_over_counts_in_the_hour_it_is_done() {
        let config = HeartbeatConfig {
            max_auto_actions_per_hour: 1,
            ..HeartbeatConfig::default()
        };
        let mut state = HeartbeatState::default();
        let begun = action("launch_job", "k", "low", false);
        arbitrate(&begun, None, &mut state, &config, NOON, 0);
        let mut hour = Some(hour_key(NOON));
        assert!(resume(&begun, &mut hour, &mut state, &config, NOON, 0));
        let later = Moment {
            unix_ms: NOON.unix_ms + 3_600_000,
            ..NOON
        };
        assert!(!resume(&begun, &mut hour, &mut state, &config, later, 10));
        assert!(resume(&begun, &mut hour, &mut state, &config, later, 0));
        assert_eq!(hour, Some(hour_key(later)));
        let other = action("launch_job", "l", "low", false);
        let verdict = arbitrate(&other, None, &mut state, &config, later, 0);
        assert!(matches!(verdict, ActionDecision::Queue(_)), "{verdict:?}");
    }

    #[test]
    fn an_action_that_could_not_be_done_can_be_approved() {
        let (mut state, config) = (HeartbeatState::default(), HeartbeatConfig::default());
        let action = action("launch_job", "k", "low", false);
        arbitrate(&action, None, &mut state, &config, NOON, 0);
        queue_instead(&action, &mut state);
        let verdict = arbitrate_approved(&action, &mut state, &config, NOON);
        assert_eq!(verdict, ActionDecision::Execute);
    }

    #[test]
    fn old_actions_and_hours_are_forgotten() {
        let mut state = HeartbeatState::default();
        let config = HeartbeatConfig::default();
        let action = action("noop", "k", "low", false);
        arbitrate(&action, None, &mut state, &config, NOON, 0);
        let later = Moment {
            unix_ms: NOON.unix_ms + 14 * DAY_MS,
            ..NOON
        };
        assert_eq!(
            arbitrate(&action, None, &mut state, &config, later, 0),
            ActionDecision::Execute
        );
        assert_eq!(state.hourly_action_counters.len(), 1, "{state:?}");
    }

    proptest! {
        #[test]
        fn no_action_happens_twice_and_no_hour_has_more_than_its_limit(
            keys in prop::collection::vec(("[a-z]{1,2}", 0i64..30, 0u32..24), 0..200),
        ) {
            let config = HeartbeatConfig { max_auto_actions_per_hour: 5, ..HeartbeatConfig::default() };
            let mut state = HeartbeatState::default();
            let mut done = std::collections::BTreeSet::new();
            let mut now = NOON;
            for (key, minutes, local_hour) in keys {
                now = Moment { unix_ms: now.unix_ms + minutes * 60_000, local_hour };
                let action = action("launch_job", &key, "low", false);
                if arbitrate(&action, None, &mut state, &config, now, 0) == ActionDecision::Execute {
                    prop_assert!(done.insert(key), "an action happened twice");
                }
                prop_assert!(state.hourly_action_counters.values().all(|count| *count <= 5));
            }
        }
    }
}
