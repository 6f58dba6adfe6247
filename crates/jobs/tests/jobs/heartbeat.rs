//! Tests of heartbeats with workers that are small scripts.

#![allow(
    clippy::needless_pass_by_value,
    reason = "a test hands over what it wrote down"
)]

use std::{collections::BTreeMap, fs, path::Path};

use crate::fixture::{Fixture, MAY};
use company::{execution::heartbeat as files, policy::Actor};
use jobs::{Heartbeats, Tick};
use protocol::Id as _;
use protocol::company::{
    ActorRole, AgentId,
    heartbeat::{HeartbeatConfigSetParams, HeartbeatTickResponse, ProposedAction},
};
use serde_json::{Value, json};

const OK: &str = r#"{"status":"ok","token":"HEARTBEAT_OK","summary":"quiet"}"#;

fn set(fixture: &Fixture, more: Value) {
    let mut params = json!({
        "workspace_dir": fixture.company.given(), "enabled": true, "quiet_hours_start_hour": 0,
        "quiet_hours_end_hour": 0, "jitter_max_seconds": 0,
    });
    for (name, value) in more.as_object().expect("an object") {
        params[name] = value.clone();
    }
    let params: HeartbeatConfigSetParams = serde_json::from_value(params).expect("params");
    files::set(&fixture.company, params).expect("a setting");
}

/// Creates a run of the worker, which is a reason to wake it.
fn signal(fixture: &Fixture) {
    let agent = AgentId::parse("agent_w").expect("an id");
    company::execution::run::create(&fixture.company, &fixture.project, &agent, "codex")
        .expect("a run");
}

fn says(fixture: &Fixture, actions: &[Value]) {
    let report = json!({"status": "actions", "summary": "things to do", "actions": actions});
    fixture.codex(&format!("cat > /dev/null; cat <<'E'\n{report}\nE"));
}

fn comment(fixture: &Fixture, key: &str, risk: &str) -> Value {
    json!({"kind": "add_comment", "idempotency_key": key, "risk": risk, "needs_approval": false,
        "project_id": fixture.project, "body": format!("remark {key}"), "target_agent_id": "agent_w"})
}

fn comments(fixture: &Fixture) -> usize {
    fs::read_dir(fixture.company.path("inbox/comments")).map_or(0, Iterator::count)
}

fn proposals(fixture: &Fixture) -> Vec<String> {
    let folder = fixture.project_path("artifacts");
    let entries = fs::read_dir(folder).expect("a folder");
    entries
        .map(|entry| fs::read_to_string(entry.expect("an entry").path()).expect("a document"))
        .collect()
}

async fn tick(fixture: &Fixture, beats: &Heartbeats) -> HeartbeatTickResponse {
    beats
        .tick(&fixture.company, Tick::Asked, "test", MAY)
        .await
        .expect("a tick")
}

fn files_below(folder: &Path, found: &mut BTreeMap<String, Vec<u8>>) {
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            files_below(&path, found);
        } else {
            found.insert(path.display().to_string(), fs::read(&path).expect("a file"));
        }
    }
}

#[tokio::test]
async fn a_dry_tick_tells_whom_it_would_wake_and_writes_nothing() {
    let fixture = Fixture::new();
    set(&fixture, json!({}));
    signal(&fixture);
    let beats = Heartbeats::new(fixture.jobs.clone());
    let (mut before, mut after) = (BTreeMap::new(), BTreeMap::new());
    files_below(fixture.company.root(), &mut before);
    let ticked = beats
        .tick(&fixture.company, Tick::Dry, "test", MAY)
        .await
        .expect("a tick");
    files_below(fixture.company.root(), &mut after);
    assert_eq!(before, after);
    assert_eq!(ticked.woken_workers[0].worker_agent_id, "agent_w");
    assert_eq!(ticked.woken_workers[0].reasons, ["1 new event"]);
    let again = beats
        .tick(&fixture.company, Tick::Dry, "test", MAY)
        .await
        .expect("a tick");
    assert_eq!(
        again.woken_workers[0].reasons,
        ["1 new event"],
        "a dry tick swallows no signal"
    );
}

#[tokio::test]
async fn a_worker_that_had_nothing_to_do_is_not_woken_by_its_own_report() {
    let fixture = Fixture::new();
    set(&fixture, json!({}));
    signal(&fixture);
    fixture.codex(&format!("cat > /dev/null; echo '{OK}'"));
    let beats = Heartbeats::new(fixture.jobs.clone());
    let first = tick(&fixture, &beats).await;
    assert_eq!((first.reports_ok, first.jobs_submitted.len()), (1, 1));
    let second = tick(&fixture, &beats).await;
    assert_eq!(
        second.woken_workers,
        [],
        "zero model tokens when nothing changed"
    );
    signal(&fixture);
    assert_eq!(tick(&fixture, &beats).await.reports_ok, 1);
}

#[tokio::test]
async fn harmless_actions_happen_once_and_others_wait_for_a_decision() {
    let fixture = Fixture::new();
    set(&fixture, json!({}));
    signal(&fixture);
    says(
        &fixture,
        &[
            comment(&fixture, "c1", "low"),
            comment(&fixture, "c2", "medium"),
        ],
    );
    let beats = Heartbeats::new(fixture.jobs.clone());
    let first = tick(&fixture, &beats).await;
    assert_eq!((first.actions_executed, first.approvals_queued), (1, 1));
    assert_eq!(comments(&fixture), 1);
    assert_eq!(proposals(&fixture).len(), 1);
    signal(&fixture);
    assert_eq!(tick(&fixture, &beats).await.deduped_actions, 2);
    assert_eq!(comments(&fixture), 1);

    let action: ProposedAction =
        serde_json::from_value(comment(&fixture, "c2", "medium")).expect("an action");
    let boss = Actor {
        id: "boss".to_owned(),
        role: ActorRole::Human,
        team_id: None,
    };
    let totals = beats
        .carry_out(&fixture.company, &action, &boss, MAY)
        .expect("an execution");
    assert_eq!(totals.executed_actions, 1);
    let again = beats
        .carry_out(&fixture.company, &action, &boss, MAY)
        .expect("an execution");
    assert_eq!((again.executed_actions, again.deduped_actions), (0, 1));
    assert_eq!(comments(&fixture), 2);
}

#[tokio::test]
async fn a_secret_anywhere_in_an_action_is_blacked_out_and_never_carried_out() {
    let fixture = Fixture::new();
    set(&fixture, json!({}));
    signal(&fixture);
    let secret = "ghp_abcdefghijklmnopqrstuvwxyz0123456789";
    let action = json!({"kind": "launch_job", "idempotency_key": "l1", "risk": "low", "needs_approval": false,
        "project_id": fixture.project, "goal": "go", "constraints": [format!("use {secret}")]});
    says(&fixture, std::slice::from_ref(&action));
    let beats = Heartbeats::new(fixture.jobs.clone());
    assert_eq!(tick(&fixture, &beats).await.approvals_queued, 1);
    let proposal = &proposals(&fixture)[0];
    assert!(!proposal.contains(secret), "{proposal}");
    assert!(
        proposal.contains("secret_risk_detected") && proposal.contains("redacted: true"),
        "{proposal}"
    );
    let boss = Actor {
        id: "boss".to_owned(),
        role: ActorRole::Human,
        team_id: None,
    };
    let action: ProposedAction = serde_json::from_value(action).expect("an action");
    assert!(
        beats
            .carry_out(&fixture.company, &action, &boss, MAY)
            .is_err()
    );
}

#[tokio::test]
async fn the_limit_of_a_tick_counts_across_its_reports() {
    let fixture = Fixture::new();
    set(&fixture, json!({"max_auto_actions_per_tick": 1}));
    signal(&fixture);
    says(
        &fixture,
        &[
            comment(&fixture, "c1", "low"),
            comment(&fixture, "c2", "low"),
        ],
    );
    let beats = Heartbeats::new(fixture.jobs.clone());
    let ticked = tick(&fixture, &beats).await;
    assert_eq!((ticked.actions_executed, ticked.approvals_queued), (1, 1));
}

#[tokio::test]
async fn a_heartbeat_that_is_off_wakes_nobody_and_a_damaged_setting_means_off() {
    let fixture = Fixture::new();
    set(&fixture, json!({"enabled": false}));
    signal(&fixture);
    let beats = Heartbeats::new(fixture.jobs.clone());
    let ticked = tick(&fixture, &beats).await;
    assert_eq!(ticked.skipped_reason.as_deref(), Some("heartbeat_disabled"));
    set(&fixture, json!({"enabled": true}));
    let path = fixture.company.path(company::layout::HEARTBEAT_CONFIG);
    let text = fs::read_to_string(&path).expect("a setting");
    company::files::replace(&path, format!("{text}bogus: 1\n").as_bytes()).expect("a file");
    let status = beats.status(&fixture.company);
    assert!(!status.config.enabled && status.config_error.is_some());
}

#[tokio::test]
async fn only_one_tick_at_a_time_runs_in_a_folder() {
    let fixture = Fixture::new();
    set(&fixture, json!({}));
    signal(&fixture);
    fixture.gate();
    fixture.gate_named("up");
    fixture.codex(&format!(
        "cat > /dev/null; echo up > $d/up; read line < $d/gate; echo '{OK}'"
    ));
    let beats = Heartbeats::new(fixture.jobs.clone());
    let (other, company) = (beats.clone(), fixture.company.clone());
    let first = tokio::spawn(async move { other.tick(&company, Tick::Asked, "first", MAY).await });
    fixture.wait_for("up").await;
    let second = tick(&fixture, &beats).await;
    assert!(second.skipped_due_to_running);
    fixture.open_gate().await;
    assert_eq!(first.await.expect("a task").expect("a tick").reports_ok, 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn two_processes_that_tick_at_once_wake_a_worker_once() {
    let fixture = Fixture::new();
    set(&fixture, json!({}));
    signal(&fixture);
    fixture.codex(&format!("cat > /dev/null; echo '{OK}'"));
    let ours = Heartbeats::new(fixture.jobs.clone());
    let (company, jobs) = fixture.of_another_process(|_| Ok(()));
    let theirs = Heartbeats::new(jobs);
    let (ours, theirs) = tokio::join!(
        ours.tick(&fixture.company, Tick::Interval, "interval", MAY),
        theirs.tick(&company, Tick::Interval, "interval", MAY),
    );
    let submitted: usize = [ours, theirs]
        .into_iter()
        .map(|ticked| ticked.expect("a tick").jobs_submitted.len())
        .sum();
    assert_eq!(submitted, 1);
    let jobs = fs::read_dir(fixture.project_path("jobs")).map_or(0, Iterator::count);
    assert_eq!(jobs, 1);
}

#[tokio::test]
async fn a_tick_that_another_process_has_just_done_is_not_done_again() {
    let fixture = Fixture::new();
    set(&fixture, json!({}));
    let (company, jobs) = fixture.of_another_process(|_| Ok(()));
    let theirs = Heartbeats::new(jobs);
    theirs
        .tick(&company, Tick::Interval, "interval", MAY)
        .await
        .expect("a tick");
    signal(&fixture);
    let ours = Heartbeats::new(fixture.jobs.clone());
    let ticked = ours
        .tick(&fixture.company, Tick::Interval, "interval", MAY)
        .await
        .expect("a tick");
    assert_eq!(
        ticked.skipped_reason.as_deref(),
        Some("ticked_by_another_process")
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn an_action_that_meets_a_held_lock_is_tried_again_and_becomes_no_proposal() {
    use std::sync::atomic::{AtomicU64, Ordering};
    for held in [1, 20] {
        let fixture = Fixture::new();
        set(&fixture, json!({"min_wake_score": 100}));
        reported(&fixture, &[comment(&fixture, "c1", "low")]);
        let left = AtomicU64::new(held);
        let (company, jobs) = fixture.of_another_process(move |path| {
            let is_comment = path
                .parent()
                .is_some_and(|folder| folder.ends_with("comments"));
            let is_held = is_comment
                && left
                    .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| {
                        left.checked_sub(1)
                    })
                    .is_ok();
            if is_held {
                return Err(company::Error::LockTimeout("the lock".to_owned()));
            }
            Ok(())
        });
        let first = Heartbeats::new(jobs);
        first
            .tick(&company, Tick::Asked, "test", MAY)
            .await
            .expect("a tick");
        assert_eq!(proposals(&fixture), [""; 0]);
        // The next tick executes the action whose lock timed out.
        tick(&fixture, &Heartbeats::new(fixture.jobs.clone())).await;
        assert_eq!(
            (comments(&fixture), proposals(&fixture).len()),
            (1, 0),
            "{held}"
        );
    }
}

/// Writes the report of a woken worker whose process ended before it processed the report, so that the next tick does.
fn reported(fixture: &Fixture, actions: &[Value]) {
    let project = &fixture.project;
    let spec = json!({"job_id": "job_1", "job_kind": "heartbeat", "context_mode": "manual", "worker_kind": "codex",
        "workspace_dir": fixture.company.given(), "project_id": project, "goal": "look", "constraints": [],
        "deliverables": [], "permission_level": "read-only", "context_refs": []});
    let time = "2025-11-15T12:00:00.000Z";
    let record = json!({"schema_version": 1, "type": "job_record", "job": spec, "created_at": time,
        "updated_at": time, "status": "completed", "cancellation_requested": false, "current_attempt": 0, "attempts": []});
    let report = json!({"schema_version": 1, "type": "heartbeat_worker_report", "status": "actions",
        "summary": "things to do", "actions": actions});
    let pending =
        json!({"jobs": [{"worker_agent_id": "agent_w", "is_director": false, "job": spec}]});
    for (path, value) in [
        (
            format!("work/projects/{project}/jobs/job_1/job.yaml"),
            record,
        ),
        (
            format!("work/projects/{project}/jobs/job_1/heartbeat_report.json"),
            report,
        ),
        (".local/heartbeat/pending_jobs.yaml".to_owned(), pending),
    ] {
        // JSON is valid YAML.
        let path = fixture.company.path(&path);
        company::files::replace(&path, value.to_string().as_bytes()).expect("a file");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_worker_asked_for_happens_once_wherever_the_process_ends() {
    let mut ended = 0;
    for writes in 0.. {
        let fixture = Fixture::new();
        // No worker is woken, so that the tick processes only the earlier report.
        set(&fixture, json!({"min_wake_score": 100}));
        let launch = json!({"kind": "launch_job", "idempotency_key": "l1", "risk": "low", "needs_approval": false,
            "project_id": fixture.project, "goal": "go", "worker_kind": "gemini"});
        let mut about_run = comment(&fixture, "c2", "low");
        about_run["target_run_id"] = json!(
            company::execution::run::create(
                &fixture.company,
                &fixture.project,
                &AgentId::parse("agent_w").expect("an id"),
                "codex"
            )
            .expect("a run")
            .run_id
        );
        reported(
            &fixture,
            &[
                comment(&fixture, "c1", "low"),
                about_run,
                launch,
                comment(&fixture, "c3", "medium"),
            ],
        );
        let (company, jobs) = fixture.ending_after(writes);
        let first = Heartbeats::new(jobs)
            .tick(&company, Tick::Asked, "test", MAY)
            .await;
        ended += u64::from(first.is_err());
        // Two more ticks of a process that does not end.
        let beats = Heartbeats::new(fixture.jobs.clone());
        tick(&fixture, &beats).await;
        tick(&fixture, &beats).await;
        let jobs = fs::read_dir(fixture.project_path("jobs")).map_or(0, Iterator::count);
        assert_eq!(
            (comments(&fixture), jobs, proposals(&fixture).len()),
            (2, 2, 1),
            "after {writes} writes"
        );
        let left = fs::read_dir(fixture.company.path(".local/heartbeat/undone"));
        assert_eq!(left.map_or(0, Iterator::count), 0, "after {writes} writes");
        if first.is_ok() {
            break;
        }
    }
    assert!(ended > 10, "{ended}");
}

#[tokio::test]
async fn what_policy_forbids_is_told_in_the_log_of_the_run() {
    let fixture = Fixture::new();
    set(&fixture, json!({}));
    signal(&fixture);
    let mut action = comment(&fixture, "c1", "low");
    action["visibility"] = json!("private_agent");
    action["summary"] = json!("for nobody");
    says(&fixture, &[action]);
    let beats = Heartbeats::new(fixture.jobs.clone());
    let ticked = tick(&fixture, &beats).await;
    let outcome = (ticked.actions_executed, ticked.approvals_queued);
    let mut found = BTreeMap::new();
    files_below(&fixture.project_path("runs"), &mut found);
    let denied = found
        .values()
        .filter(|bytes| String::from_utf8_lossy(bytes).contains("\"policy.denied\""))
        .count();
    assert_eq!((outcome, denied), ((0, 1), 1));
}
