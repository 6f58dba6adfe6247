//! Views count all runs, use the documented order and contain nothing the caller may not read.

use company::policy::Actor;
use index::{LiveSession, LiveSessions, snapshot};
use protocol::company::{
    ActorRole, RunStatus, index::IndexSyncWorkerStatusResponse, monitor::MonitorLive,
};
use serde_json::{Value, json};

use crate::folder::{Folder, document, line, line_for, visible};

fn worker(id: &str, team: &str) -> Actor {
    Actor {
        id: id.to_owned(),
        role: ActorRole::Worker,
        team_id: Some(team.to_owned()),
    }
}

fn session(status: RunStatus) -> LiveSession {
    LiveSession {
        project_id: "proj_1".to_owned(),
        session: MonitorLive {
            live_queued: None,
            session_ref: "local_x".to_owned(),
            live_status: status,
            live_exit_code: None,
            live_signal: None,
            live_error: None,
            session_started_at_ms: Some(1),
            session_ended_at_ms: None,
        },
    }
}

fn monitor(folder: &Folder, params: Value, live: &LiveSessions, actor: Option<&Actor>) -> Value {
    let params = folder.params_with(params);
    let shown = folder
        .indexes
        .monitor(&folder.company, &params, live, actor)
        .expect("the index answers");
    serde_json::to_value(shown).expect("the index answers")
}

#[test]
fn a_monitor_row_tells_what_the_log_of_its_run_says() {
    let folder = Folder::with_everything();
    folder.append("run_1", "broken");
    folder.append(
        "run_1",
        &line_for(
            "budget.decision",
            "org",
            &json!({"scope": "run", "actual": 2, "threshold": 1}),
        ),
    );
    let shown = monitor(&folder, json!({}), &LiveSessions::new(), None);
    let expected = json!({
        "project_id": "proj_1", "run_id": "run_1", "created_at": "2026-07-01T08:00:01.000Z", "run_status": "running",
        "provider": "codex", "agent_id": "agent_1", "context_pack_id": "ctx_1",
        "last_event": {"seq": 4, "type": "budget.decision", "ts_wallclock": "2026-07-01T12:00:00.000Z",
                       "actor": "system", "visibility": "org"},
        "parse_error_count": 1, "policy_decision_count": 1, "policy_denied_count": 0, "budget_decision_count": 1,
        "budget_alert_count": 0, "budget_exceeded_count": 0, "latest_policy_decision": {"rule_id": "vis.org"},
        "latest_budget_decision": {"scope": "run", "actual": 2.0, "threshold": 1.0},
        "token_usage": {"source": "provider_reported", "confidence": "high", "total_tokens": 100, "cost_usd": 0.25},
    });
    assert_eq!(shown["rows"], json!([expected]));
    assert_eq!(
        shown["jobs"],
        json!({"queued": 0, "running": 1, "completed": 0, "canceled": 0})
    );
    assert_eq!(
        (&shown["index_rebuilt"], &shown["index_synced"]),
        (&json!(true), &json!(false))
    );
}

#[test]
fn what_is_live_comes_first_also_without_a_run() {
    let folder = Folder::with_everything();
    folder.run("run_2", "agent_2", "ended");
    folder.run("run_3", "agent_2", "ended");
    let mut live = LiveSessions::new();
    live.insert("run_2".to_owned(), session(RunStatus::Running));
    live.insert("run_0".to_owned(), session(RunStatus::Failed));
    let shown = monitor(&folder, json!({}), &live, None);
    let rows: Vec<&str> = shown["rows"]
        .as_array()
        .expect("it is there")
        .iter()
        .map(|row| row["run_id"].as_str().expect("it is there"))
        .collect();
    assert_eq!(rows, ["run_2", "run_3", "run_1", "run_0"]);
    assert_eq!(shown["rows"][0]["live_status"], "running");
    assert_eq!(shown["rows"][0]["live_exit_code"], Value::Null);
    assert_eq!(shown["rows"][3].get("run_status"), None);
    let one = monitor(
        &folder,
        json!({"limit": 1, "project_id": "proj_1"}),
        &live,
        None,
    );
    assert_eq!(one["rows"].as_array().expect("it is there").len(), 1);
    let none = monitor(&folder, json!({"project_id": "proj_none"}), &live, None);
    assert_eq!(none["rows"], json!([]));
}

#[test]
fn a_monitor_shows_nobody_what_they_may_not_see() {
    let folder = Folder::with_everything();
    folder.append(
        "run_1",
        &line_for(
            "policy.denied",
            "managers",
            &json!({"policy": {"rule_id": "secret"}}),
        ),
    );
    folder.append("run_1", &line_for("provider.raw", "team", &json!({})));
    let seen = |actor: &Actor| {
        let row = monitor(&folder, json!({}), &LiveSessions::new(), Some(actor))["rows"][0].clone();
        (
            row["last_event"]["seq"].as_u64(),
            row["policy_denied_count"].as_u64(),
            row["policy_decision_count"].as_u64(),
        )
    };
    assert_eq!(
        seen(&worker("agent_1", "team_1")),
        (Some(4), Some(0), Some(1))
    );
    // A run of another team is not shown at all.
    assert_eq!(seen(&worker("agent_2", "team_2")), (None, None, None));
    let manager = Actor {
        role: ActorRole::Manager,
        ..worker("agent_9", "team_9")
    };
    assert_eq!(seen(&manager), (Some(4), Some(1), Some(1)));
}

#[test]
fn totals_are_of_all_runs_however_few_are_shown() {
    let folder = Folder::with_everything();
    for number in 2..=30 {
        folder.run(&format!("run_{number}"), "agent_2", "ended");
    }
    let params = folder.params_with(json!({"limit": 10}));
    let usage = folder
        .indexes
        .usage(&folder.company, &params)
        .expect("the index answers");
    assert_eq!(
        (usage.totals.run_count, usage.totals.total_tokens),
        (10, 1_000)
    );
    assert_eq!(
        (
            usage.all_time_totals.run_count,
            usage.all_time_totals.total_tokens
        ),
        (30, 3_000)
    );
    assert_eq!(usage.all_time_totals.total_cost_usd, 7.5);
    assert_eq!(usage.by_provider[0].average_tokens_per_run, 100);
    let live = company::execution::run::LiveRuns::from(["run_1".to_owned()]);
    let resources = company::execution::resources::snapshot(&folder.company, None, &live)
        .expect("the folder answers");
    assert_eq!(
        (resources.totals.runs_indexed, resources.totals.total_tokens),
        (30, 3_000)
    );
    assert_eq!(
        (resources.totals.workers, resources.totals.active_workers),
        (2, 1)
    );
    assert_eq!(resources.providers[0].run_count, 30);
    let params = folder.params_with(json!({"agent_id": "agent_2"}));
    let profile = folder
        .indexes
        .profile(&folder.company, &params)
        .expect("the index answers");
    assert_eq!(
        (profile.metrics.total_runs, profile.metrics.ended_runs),
        (29, 29)
    );
    assert_eq!(profile.metrics.context_cycles_count, None);
}

#[test]
fn a_document_waits_until_somebody_decided_about_it() {
    let folder = Folder::with_everything();
    let inbox = |folder: &Folder, actor: Option<&Actor>| {
        let params = folder.params();
        folder
            .indexes
            .inbox(&folder.company, &params, actor)
            .expect("the index answers")
    };
    let text = visible("art_2", "milestone_report", "Secret", "Text.", "managers");
    folder.write("work/projects/proj_1/artifacts/art_2.md", &text);
    folder.append("run_1", "broken");
    let outsider = worker("agent_2", "team_2");
    let ids = |actor| {
        inbox(&folder, actor)
            .pending
            .into_iter()
            .map(|item| item.artifact_id)
            .collect::<Vec<_>>()
    };
    assert_eq!(ids(None), ["art_2", "art_1"]);
    assert_eq!(ids(Some(&outsider)), ["art_1"]);
    let shown = inbox(&folder, None);
    assert_eq!(
        (
            shown.parse_errors.pending_with_errors,
            shown.parse_errors.max_parse_error_count
        ),
        (2, 1)
    );
    // Both documents lack fields that their types require.
    assert!(shown.pending.iter().all(|item| item.invalid == Some(true)));
    let review = std::fs::read_to_string(folder.path("inbox/reviews/rev_1.yaml"))
        .expect("the index answers");
    let review = review.replace("rev_1", "rev_2").replace("art_0", "art_2");
    folder.write("inbox/reviews/rev_2.yaml", &review);
    assert_eq!(ids(None), ["art_1"]);
    let decided: Vec<_> = inbox(&folder, None)
        .recent_decisions
        .into_iter()
        .map(|item| item.artifact_type)
        .collect();
    assert_eq!(decided, [Some("milestone_report".to_owned()), None]);
}

#[test]
fn what_cannot_be_read_does_not_count_against_a_limit() {
    let folder = Folder::with_everything();
    folder.write("inbox/reviews/rev_bad.yaml", "type: review\n");
    folder.write(
        "inbox/help_requests/help_bad.md",
        "---\ntype: help_request\n---\n",
    );
    let reviews = snapshot::list_reviews(&folder.company, 1, None).expect("it is there");
    assert_eq!(reviews[0].id.as_str(), "rev_1");
    let requests = snapshot::list_help_requests(&folder.company, 1, None).expect("it is there");
    assert_eq!(requests[0].id.as_str(), "help_1");
    let outsider = worker("agent_2", "team_2");
    assert!(
        snapshot::list_help_requests(&folder.company, 9, Some(&outsider))
            .expect("it is there")
            .is_empty()
    );
    assert!(
        snapshot::list_reviews(&folder.company, 9, Some(&outsider))
            .expect("it is there")
            .is_empty()
    );
}

#[test]
fn the_desktop_shows_who_is_at_work_first() {
    let folder = Folder::with_everything();
    folder.write(
        ".local/heartbeat/config.yaml",
        "schema_version: 1\ntype: heartbeat_config\nenabled: false\ntop_k_workers: 5\n",
    );
    folder.run("run_2", "agent_2", "ended");
    folder.events("run_2", &[&line("run.ended")]);
    folder.write(
        "work/projects/proj_1/artifacts/art_2.md",
        &document("art_2", "memory_delta", "Another", "Text."),
    );
    let params = folder.params_with(json!({"project_id": "proj_1", "monitor_limit": 1}));
    let status = IndexSyncWorkerStatusResponse::default();
    let shown = folder
        .indexes
        .ui(
            &folder.company,
            &params,
            &LiveSessions::new(),
            None,
            &status,
        )
        .expect("the index answers");
    let colleagues: Vec<_> = shown
        .colleagues
        .iter()
        .map(|one| {
            (
                one.agent_id.as_str(),
                one.total_runs,
                one.all_runs,
                one.pending_reviews,
            )
        })
        .collect();
    assert_eq!(colleagues, [("agent_1", 0, 1, 2), ("agent_2", 1, 1, 0)]);
    assert_eq!(
        (shown.heartbeat.enabled, shown.heartbeat.top_k_workers),
        (false, 5)
    );
    assert_eq!(shown.comments.len(), 1);
    assert_eq!(shown.monitor.rows.len(), 1);
    assert_eq!(shown.usage_analytics.recent_runs.len(), 1);
}
