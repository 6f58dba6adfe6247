//! Answers as people see them: where a value of the wire would mislead, the word that is true stands in its place.
//!
//! Programs get the answer as it is.

use protocol::MethodSpec;
use serde_json::{Map, Value, json};

/// The word for a run without a process, in place of `running`, which the wire has for it.
pub(crate) const NOT_STARTED: &str = "not started";
/// In place of a cost of 0 that only says that no run had a price.
const UNKNOWN: &str = "unknown";
/// Providers of plain commands. Their tokens are estimates from what they printed, and no model used any.
const PLAIN: [&str; 2] = ["cmd", "command"];

/// The answer of a method for people.
pub(super) fn shown(method: &MethodSpec, mut result: Value) -> Value {
    match method.name {
        "run.list" => name_unstarted(&mut result, "status", |row| row["not_started"] == true),
        "monitor.snapshot" => name_unstarted(&mut result["rows"], "run_status", |row| {
            row["run_status"] == "running" && row["session_ref"].is_null()
        }),
        "usage.analytics" => {
            let runs = result["recent_runs"].clone();
            for row in result["by_provider"].as_array_mut().into_iter().flatten() {
                price_provider(row, &runs);
            }
            for row in result["recent_runs"].as_array_mut().into_iter().flatten() {
                if row["cost_usd"].is_null() {
                    row["cost_usd"] = UNKNOWN.into();
                }
            }
        }
        _ => {}
    }
    tell_costs(&mut result);
    result
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

/// The runs of one provider have a cost if one of them has.
fn price_provider(row: &mut Value, runs: &Value) {
    let of_provider = |run: &&Value| run["provider"] == row["provider"];
    let mut runs = runs.as_array().into_iter().flatten().filter(of_provider);
    if !runs.any(|run| !run["cost_usd"].is_null()) {
        row["total_cost_usd"] = UNKNOWN.into();
        row["average_cost_usd_per_run"] = UNKNOWN.into();
    }
}

/// Rounds costs, names those that are not known, and leaves out the tokens of plain commands.
fn tell_costs(value: &mut Value) {
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
                    Some(_) | None => tell_costs(member),
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(tell_costs),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// Whether a sum of 0 says that no run had a price, and not that nothing was paid.
fn has_unknown_cost(members: &Map<String, Value>) -> bool {
    let number = |name: &str| members.get(name).and_then(Value::as_f64);
    let is_zero = number("total_cost_usd") == Some(0.0);
    let is_unpriced = match number("priced_run_count") {
        Some(priced) => priced == 0.0 && number("run_count").is_some_and(|runs| runs > 0.0),
        None => number("total_tokens").is_some_and(|tokens| tokens > 0.0),
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
        assert_eq!(shown(spec, answer), *expected);
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
    fn a_cost_that_nobody_knows_is_unknown_and_plain_commands_have_no_tokens() {
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
    }
}
