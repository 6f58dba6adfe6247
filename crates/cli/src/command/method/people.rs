//! Adapts results for people: replaces values of the wire that would be misleading.
//!
//! Programs get the unchanged result.

use protocol::MethodSpec;
use serde_json::{Map, Value, json};

use crate::{command::artifact, names::Names, terminal};

/// Status of a run that was never launched. On the wire it is `running`.
pub(crate) const NOT_STARTED: &str = "not started";
/// Status of a session that waits in the queue. On the wire it is `running`.
const QUEUED: &str = "queued";
/// Status of an item with an invalid file, target or patch.
pub(crate) const INVALID: &str = "invalid, can only be denied";
/// Replaces a cost of 0 that only means that no run has a known price.
const UNKNOWN: &str = "unknown";
/// Providers of plain commands. Their token counts are estimates from their output; no model was involved.
const PLAIN: [&str; 2] = ["cmd", "command"];

/// Converts the result of a method for people.
pub(super) fn shown(method: &MethodSpec, mut result: Value, names: &Names) -> Value {
    match method.name {
        "run.list" => name_unstarted(&mut result, "status", |row| row["not_started"] == true),
        "run.replay" => result = replay(result),
        "monitor.snapshot" => name_unstarted_rows(&mut result["rows"], names),
        "ui.snapshot" => {
            count_started(&mut result, names);
            name_unstarted_rows(&mut result["monitor"]["rows"], names);
            name_unstarted_runs(&mut result["usage"]["recent_runs"], names);
        }
        "agent.profile.snapshot" => count_started_of_agent(&mut result, names),
        "usage.analytics" => {
            let runs = result["recent_runs"].clone();
            for row in result["by_provider"].as_array_mut().into_iter().flatten() {
                price_provider(row, &runs);
            }
            name_unstarted_runs(&mut result["recent_runs"], names);
            for row in result["recent_runs"].as_array_mut().into_iter().flatten() {
                if row["cost_usd"].is_null() {
                    row["cost_usd"] = UNKNOWN.into();
                }
            }
        }
        "session.list" => {
            let rows = result.as_array_mut().into_iter().flatten();
            rows.for_each(|row| *row = session(row));
        }
        "session.launch" => {
            if let Some(members) = result.as_object_mut()
                && let Some(reason) = members.remove("queue_reason")
            {
                flatten_queue_reason(members, &reason);
            }
        }
        "session.poll" | "session.stop" | "session.collect" => result = session(&result),
        "artifact/list" => {
            let rows = result["items"].as_array_mut().into_iter().flatten();
            rows.for_each(|row| *row = artifact::row_of(row));
        }
        "memory.list_deltas" => {
            let rows = result["items"].as_array_mut().into_iter().flatten();
            rows.for_each(flatten_decision);
        }
        "workspace.bootstrap.enterprise" => use_names(&mut result, names),
        name if name.starts_with("heartbeat.") => remove_file_types(&mut result),
        _ => {}
    }
    if let Some(members) = result.as_object_mut() {
        // The caller prints warnings separately.
        members.remove("warnings");
    }
    add_goals(&mut result, names);
    format_costs(&mut result);
    result
}

/// Converts a session: keeps what identifies it, its status and the reason why it waits.
fn session(row: &Value) -> Value {
    const KEPT: [&str; 11] = [
        "project_id",
        "run_id",
        "session_ref",
        "status",
        "exit_code",
        "signal",
        "error",
        "started_at_ms",
        "ended_at_ms",
        "events_relpath",
        "output_relpaths",
    ];
    let kept = KEPT.iter().filter_map(|name| {
        let value = row.get(*name).filter(|value| !value.is_null())?;
        Some(((*name).to_owned(), value.clone()))
    });
    let mut shown: Map<String, Value> = kept.collect();
    if row["queued"] == true {
        shown.insert("status".to_owned(), QUEUED.into());
        shown.insert("queue_position".to_owned(), row["queue_position"].clone());
        flatten_queue_reason(&mut shown, &row["queue_reason"]);
    }
    Value::Object(shown)
}

/// Adds the reason why a session waits as plain members. On the wire it is an object.
fn flatten_queue_reason(members: &mut Map<String, Value>, reason: &Value) {
    for (name, value) in [
        ("waits_because", &reason["reason"]),
        ("waits_until", &reason["until"]),
    ] {
        if !value.is_null() {
            members.insert(name.to_owned(), value.clone());
        }
    }
}

/// Converts a replay: the result of the verification first, then the events without their hashes.
fn replay(mut result: Value) -> Value {
    let count = |list: &Value| list.as_array().map_or(0, Vec::len);
    let issues = count(&result["verification_issues"]) + count(&result["parse_issues"]);
    let log = match result["mode"].as_str() {
        Some("raw") | None => "not verified: --mode verified checks every hash".to_owned(),
        Some(_) if result["deterministic_ok"] == true => {
            "verified: no event was changed".to_owned()
        }
        Some(_) => format!(
            "changed after it was written: {}",
            terminal::count(issues, "problem")
        ),
    };
    for event in result["events"].as_array_mut().into_iter().flatten() {
        let kept = ["ts_wallclock", "type", "actor", "visibility"];
        let kept = kept.map(|name| (name.to_owned(), event[name].clone()));
        *event = Value::Object(kept.into_iter().collect());
    }
    if let Some(members) = result.as_object_mut() {
        members.remove("deterministic_ok");
        // Hide the live state if there is no session, and empty lists of issues.
        members.retain(|name, value| {
            let is_unavailable = name == "live" && value["available"] == false;
            let is_empty = value.as_array().is_some_and(Vec::is_empty);
            !is_unavailable && !is_empty
        });
        members.insert("log".to_owned(), log.into());
    }
    result
}

/// Adds the decision about a memory delta as plain members. On the wire it is an object.
fn flatten_decision(row: &mut Value) {
    let Some(members) = row.as_object_mut() else {
        return;
    };
    if members
        .get("status")
        .is_some_and(|status| status == "invalid")
    {
        members.insert("status".to_owned(), INVALID.into());
    }
    let decision = members.remove("decision").unwrap_or_default();
    for (name, value) in [
        ("decided_by", &decision["actor_id"]),
        ("decided_at", &decision["created_at"]),
        ("notes", &decision["notes"]),
    ] {
        members.insert(name.to_owned(), value.clone());
    }
}

/// Replaces ids with names where a name is known.
fn use_names(value: &mut Value, names: &Names) {
    match value {
        Value::String(text) => {
            if let Some(name) = names.get(text) {
                *text = name.to_owned();
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|item| use_names(item, names)),
        Value::Object(members) => members
            .values_mut()
            .for_each(|member| use_names(member, names)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// Removes the `type` of heartbeat files, which is only useful to programs.
fn remove_file_types(value: &mut Value) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(remove_file_types),
        Value::Object(members) => {
            let is_file = |kind: &Value| {
                kind.as_str()
                    .is_some_and(|kind| kind.starts_with("heartbeat_"))
            };
            if members.get("type").is_some_and(is_file) {
                members.remove("type");
            }
            members.values_mut().for_each(remove_file_types);
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// Adds the goal of the run to every object about a run that has no name.
fn add_goals(value: &mut Value, names: &Names) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(|item| add_goals(item, names)),
        Value::Object(members) => {
            let run = members.get("run_id").and_then(Value::as_str);
            let has_name = ["name", "title", "goal"]
                .iter()
                .any(|name| members.get(*name).is_some_and(Value::is_string));
            if let Some(goal) = run.and_then(|run| names.get(run)).filter(|_| !has_name) {
                let goal = Value::from(goal);
                members.insert("goal".to_owned(), goal);
            }
            members
                .values_mut()
                .for_each(|member| add_goals(member, names));
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

fn name_unstarted(rows: &mut Value, status: &str, is_unstarted: impl Fn(&Value) -> bool) {
    for row in rows.as_array_mut().into_iter().flatten() {
        if is_unstarted(row) {
            row[status] = NOT_STARTED.into();
        }
        if let Some(row) = row.as_object_mut() {
            row.remove("not_started");
        }
    }
}

/// Marks runs of `monitor.snapshot` that were never launched.
fn name_unstarted_rows(rows: &mut Value, names: &Names) {
    name_unstarted(rows, "run_status", |row| {
        is_unstarted(row, names) || row["run_status"] == "running" && row["session_ref"].is_null()
    });
}

/// Marks runs of `usage.analytics` that were never launched.
fn name_unstarted_runs(rows: &mut Value, names: &Names) {
    name_unstarted(rows, "status", |row| {
        row["status"] == "running" && is_unstarted(row, names)
    });
}

fn is_unstarted(row: &Value, names: &Names) -> bool {
    let run = row["run_id"].as_str();
    run.is_some_and(|run| names.is_unstarted(run))
}

/// Corrects the active runs of the colleagues of `ui.snapshot`: runs that were never launched are not active.
fn count_started(result: &mut Value, names: &Names) {
    let rows = result["monitor"]["rows"].clone();
    for colleague in result["colleagues"].as_array_mut().into_iter().flatten() {
        let is_own = |row: &&Value| row["agent_id"] == colleague["agent_id"];
        let rows = rows.as_array().into_iter().flatten().filter(is_own);
        let unstarted = rows.filter(|row| is_unstarted(row, names)).count() as u64;
        let active = colleague["active_runs"].as_u64().unwrap_or_default();
        let started = active.saturating_sub(unstarted);
        if unstarted == 0 || started == active {
            continue;
        }
        colleague["active_runs"] = started.into();
        if started == 0 && colleague["status"] == "active" {
            let waits = colleague["pending_reviews"].as_u64() > Some(0);
            colleague["status"] = if waits { "needs_review" } else { "idle" }.into();
        }
    }
}

/// Corrects the running runs of an agent: counts runs that were never launched separately.
fn count_started_of_agent(result: &mut Value, names: &Names) {
    let agent = result["agent"]["agent_id"].as_str().unwrap_or_default();
    let unstarted = names.unstarted_of(agent);
    let metrics = &mut result["metrics"];
    if let (Some(running), 1..) = (metrics["running_runs"].as_u64(), unstarted) {
        metrics["running_runs"] = running.saturating_sub(unstarted).into();
        metrics["not_started_runs"] = unstarted.into();
    }
}

/// Marks the costs of a provider as unknown unless at least one of its runs has a cost.
fn price_provider(row: &mut Value, runs: &Value) {
    let of_provider = |run: &&Value| run["provider"] == row["provider"];
    let mut runs = runs.as_array().into_iter().flatten().filter(of_provider);
    if !runs.any(|run| !run["cost_usd"].is_null()) {
        row["total_cost_usd"] = UNKNOWN.into();
        row["average_cost_usd_per_run"] = UNKNOWN.into();
    }
}

/// Rounds costs, marks unknown ones and removes the token counts of plain commands.
fn format_costs(value: &mut Value) {
    match value {
        Value::Object(members) => {
            if has_unknown_cost(members) {
                members.insert("total_cost_usd".to_owned(), UNKNOWN.into());
            }
            if is_plain_estimate(members) {
                for name in ["total_tokens", "average_tokens_per_run"] {
                    if let Some(tokens) = members.get_mut(name) {
                        *tokens = Value::Null;
                    }
                }
            }
            for (name, member) in members.iter_mut() {
                match member.as_f64() {
                    Some(usd) if name.contains("cost_usd") => *member = json!(rounded(usd)),
                    Some(_) | None => format_costs(member),
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(format_costs),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// Returns whether a total of 0 means that no run has a known price, rather than that nothing was paid.
fn has_unknown_cost(members: &Map<String, Value>) -> bool {
    let number = |name: &str| members.get(name).and_then(Value::as_f64);
    let is_zero = number("total_cost_usd") == Some(0.0);
    let is_unpriced = match number("priced_run_count") {
        Some(priced) => priced == 0.0 && number("run_count").is_some_and(|runs| runs > 0.0),
        // Results without this count: there are runs, but their total is 0.
        None => ["run_count", "runs_indexed", "total_runs", "total_tokens"]
            .iter()
            .any(|name| number(name).is_some_and(|count| count > 0.0)),
    };
    is_zero && is_unpriced
}

fn is_plain_estimate(members: &Map<String, Value>) -> bool {
    let provider = members.get("provider").and_then(Value::as_str);
    let source = members.get("usage_source").and_then(Value::as_str);
    provider.is_some_and(|provider| PLAIN.contains(&provider))
        && source.is_none_or(|source| source == "estimated_chars")
}

fn rounded(usd: f64) -> f64 {
    (usd * 1e6).round() / 1e6
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(method: &str, answer: Value, expected: &Value) {
        let spec = protocol::methods()
            .map(|(_, spec)| spec)
            .find(|spec| spec.name == method)
            .unwrap();
        let mut names = Names::from_iter([("run_3".to_owned(), "Sell seats".to_owned())]);
        names.add_unstarted("run_3", "agent_1");
        assert_eq!(shown(spec, answer, &names), *expected);
    }

    #[test]
    fn a_queued_session_says_why_and_until_when_and_what_it_is_for() {
        let row = json!({
            "session_ref": "local_run_3", "run_id": "run_3", "project_id": "proj_1", "status": "running",
            "exit_code": null, "signal": null, "queued": true, "queue_position": 1,
            "queue_reason": {"reason_code": "cooldown", "reason": "provider `codex` cools down", "subject": "codex",
                             "until": "2999-01-01T00:00:00.000Z"},
            "workspace_dir": "/acme", "started_at_ms": 1, "mode": "command", "pid": 7, "pid_claimed_at_ms": 2,
            "stop_marker_relpath": "x",
        });
        let expected = json!({
            "goal": "Sell seats", "session_ref": "local_run_3", "run_id": "run_3", "project_id": "proj_1",
            "status": "queued", "queue_position": 1, "started_at_ms": 1,
            "waits_because": "provider `codex` cools down", "waits_until": "2999-01-01T00:00:00.000Z",
        });
        check("session.list", json!([row]), &json!([expected]));
        check("session.poll", row, &expected);
    }

    #[test]
    fn runs_without_a_process_are_neither_running_nor_active() {
        check(
            "usage.analytics",
            json!({"recent_runs": [{"run_id": "run_3", "status": "running", "cost_usd": 0.5}]}),
            &json!({"by_provider": null, "recent_runs": [
                {"run_id": "run_3", "goal": "Sell seats", "status": "not started", "cost_usd": 0.5},
            ]}),
        );
        check(
            "agent.profile.snapshot",
            json!({"agent": {"agent_id": "agent_1"}, "metrics": {"running_runs": 2}}),
            &json!({"agent": {"agent_id": "agent_1"}, "metrics": {"running_runs": 1, "not_started_runs": 1}}),
        );
        let row = |status: &str| json!({"run_id": "run_3", "agent_id": "agent_1", "goal": "g", "run_status": status});
        check(
            "ui.snapshot",
            json!({
                "colleagues": [{"agent_id": "agent_1", "active_runs": 1, "status": "active", "pending_reviews": 0}],
                "monitor": {"rows": [row("running")]},
                "usage": {"recent_runs": []},
            }),
            &json!({
                "colleagues": [{"agent_id": "agent_1", "active_runs": 0, "status": "idle", "pending_reviews": 0}],
                "monitor": {"rows": [row("not started")]},
                "usage": {"recent_runs": []},
            }),
        );
    }

    #[test]
    fn a_replay_says_whether_the_log_is_what_was_written() {
        let event = json!({
            "actor": "system", "event_hash": "aa", "event_id": "evt_1", "payload": {"a": 1}, "prev_event_hash": null,
            "ts_wallclock": "2024-05-01T09:00:00.000Z", "type": "run.started", "visibility": "org",
        });
        let shown = json!({
            "actor": "system", "ts_wallclock": "2024-05-01T09:00:00.000Z", "type": "run.started", "visibility": "org",
        });
        for (mode, ok, issues, log) in [
            (
                "raw",
                true,
                json!([]),
                "not verified: --mode verified checks every hash",
            ),
            (
                "verified",
                true,
                json!([]),
                "verified: no event was changed",
            ),
            (
                "verified",
                false,
                json!([{"message": "hash"}]),
                "changed after it was written: 1 problem",
            ),
        ] {
            let mut expected = json!({"log": log, "mode": mode, "events": [shown]});
            if !issues.as_array().unwrap().is_empty() {
                expected["verification_issues"] = issues.clone();
            }
            check(
                "run.replay",
                json!({
                    "mode": mode, "deterministic_ok": ok, "events": [event], "verification_issues": issues,
                    "parse_issues": [], "live": {"available": false},
                }),
                &expected,
            );
        }
    }

    #[test]
    fn a_decision_about_a_delta_is_shown_as_plain_members() {
        let decision = json!({
            "actor_id": "human", "created_at": "2024-05-01T09:00:00.000Z", "decision": "approved", "notes": "Fine",
            "review_id": "rev_1",
        });
        check(
            "memory.list_deltas",
            json!({"items": [
                {"title": "Ports", "status": "approved", "decision": decision},
                {"title": "Broken", "status": "invalid", "decision": null},
            ]}),
            &json!({"items": [
                {"title": "Ports", "status": "approved", "decided_by": "human", "notes": "Fine",
                 "decided_at": "2024-05-01T09:00:00.000Z"},
                {"title": "Broken", "status": "invalid, can only be denied", "decided_by": null, "notes": null,
                 "decided_at": null},
            ]}),
        );
    }

    #[test]
    fn warnings_are_not_shown_a_second_time() {
        check(
            "session.launch",
            json!({"session_ref": "local_1", "state": "ended", "warnings": ["there is no agent `a`"]}),
            &json!({"session_ref": "local_1", "state": "ended"}),
        );
    }

    #[test]
    fn a_launch_that_is_queued_says_why() {
        check(
            "session.launch",
            json!({"session_ref": "local_1", "state": "queued", "queue_position": 1, "queue_reason": {
                "reason_code": "workspace_limit", "reason": "4 sessions run", "subject": "acme", "limit": 4, "until": null,
            }}),
            &json!({
                "session_ref": "local_1", "state": "queued", "queue_position": 1, "waits_because": "4 sessions run",
            }),
        );
    }

    #[test]
    fn heartbeat_settings_are_shown_without_the_type_of_their_file() {
        check(
            "heartbeat.status",
            json!({"config": {"type": "heartbeat_config", "enabled": false}}),
            &json!({"config": {"enabled": false}}),
        );
    }

    #[test]
    fn a_run_that_was_never_launched_is_not_running() {
        check(
            "run.list",
            json!([
                {"run_id": "run_1", "status": "running", "not_started": true},
                {"run_id": "run_2", "status": "running"},
            ]),
            &json!([
                {"run_id": "run_1", "status": "not started"},
                {"run_id": "run_2", "status": "running"},
            ]),
        );
        check(
            "monitor.snapshot",
            json!({"rows": [
                {"run_status": "running"},
                {"run_status": "running", "session_ref": "s"},
                {"run_status": "ended"},
            ]}),
            &json!({"rows": [
                {"run_status": "not started"},
                {"run_status": "running", "session_ref": "s"},
                {"run_status": "ended"},
            ]}),
        );
    }

    #[test]
    fn a_cost_that_is_not_known_is_unknown_and_plain_commands_have_no_tokens() {
        check(
            "usage.analytics",
            json!({
                "totals": {"run_count": 2, "total_tokens": 9, "total_cost_usd": 0.0, "priced_run_count": 0},
                "all_time_totals": {"run_count": 3, "total_cost_usd": 0.300_000_000_000_000_04, "priced_run_count": 1},
                "by_provider": [
                    {"provider": "cmd", "total_tokens": 4, "total_cost_usd": 0.0,
                     "average_tokens_per_run": 4, "average_cost_usd_per_run": 0.0},
                    {"provider": "codex", "total_tokens": 5, "total_cost_usd": 0.1,
                     "average_tokens_per_run": 5, "average_cost_usd_per_run": 0.1},
                ],
                "recent_runs": [
                    {"provider": "cmd", "usage_source": "estimated_chars", "total_tokens": 4, "cost_usd": null},
                    {"provider": "codex", "usage_source": "provider_reported", "total_tokens": 5, "cost_usd": 0.1},
                ],
            }),
            &json!({
                "totals": {"run_count": 2, "total_tokens": 9, "total_cost_usd": "unknown", "priced_run_count": 0},
                "all_time_totals": {"run_count": 3, "total_cost_usd": 0.3, "priced_run_count": 1},
                "by_provider": [
                    {"provider": "cmd", "total_tokens": null, "total_cost_usd": "unknown",
                     "average_tokens_per_run": null, "average_cost_usd_per_run": "unknown"},
                    {"provider": "codex", "total_tokens": 5, "total_cost_usd": 0.1,
                     "average_tokens_per_run": 5, "average_cost_usd_per_run": 0.1},
                ],
                "recent_runs": [
                    {"provider": "cmd", "usage_source": "estimated_chars", "total_tokens": null, "cost_usd": "unknown"},
                    {"provider": "codex", "usage_source": "provider_reported", "total_tokens": 5, "cost_usd": 0.1},
                ],
            }),
        );
        check(
            "resources.snapshot",
            json!({"totals": {"total_tokens": 7, "total_cost_usd": 0.0}}),
            &json!({"totals": {"total_tokens": 7, "total_cost_usd": "unknown"}}),
        );
        check(
            "resources.snapshot",
            json!({"totals": {"runs_indexed": 1, "total_tokens": 0, "total_cost_usd": 0.0}, "providers": [
                {"provider": "pipeline", "run_count": 1, "total_tokens": 0, "total_cost_usd": 0.0},
            ]}),
            &json!({"totals": {"runs_indexed": 1, "total_tokens": 0, "total_cost_usd": "unknown"}, "providers": [
                {"provider": "pipeline", "run_count": 1, "total_tokens": 0, "total_cost_usd": "unknown"},
            ]}),
        );
        check(
            "resources.snapshot",
            json!({"totals": {"runs_indexed": 0, "total_tokens": 0, "total_cost_usd": 0.0}}),
            &json!({"totals": {"runs_indexed": 0, "total_tokens": 0, "total_cost_usd": 0.0}}),
        );
    }
}
