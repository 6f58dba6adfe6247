//! Views of runs: names, runs that were never launched, and the log entries made by reading.

use std::fs;

use rpc::{Client, client::Error};
use serde_json::{Value, json};
use tempfile::TempDir;
use testkit::TestGateway;

/// A gateway, a client and a company with one project.
struct Fixture {
    _running: TestGateway,
    client: Client,
    folder: TempDir,
    project: String,
}

impl Fixture {
    async fn new() -> Self {
        let running = testkit::gateway().await;
        let client = running.client();
        let (folder, project) = testkit::company(&client).await;
        Self {
            _running: running,
            client,
            folder,
            project,
        }
    }

    /// Calls a method with the folder and the project in the params. Returns the result or the message of the error.
    async fn call(&self, method: &str, mut params: Value) -> Result<Value, String> {
        params["workspace_dir"] = json!(self.folder.path());
        params["project_id"] = json!(self.project);
        match self.client.call_raw(method, params).await {
            Ok(answer) => Ok(answer),
            Err(Error::Rpc { message, .. }) => Err(message),
            Err(error) => panic!("{error}"),
        }
    }

    async fn answer(&self, method: &str, params: Value) -> Value {
        self.call(method, params).await.expect(method)
    }

    async fn run(&self, provider: &str) -> String {
        let params = json!({"agent_id": "agent_x", "provider": provider});
        let run = self.answer("run.create", params).await;
        run["run_id"].as_str().expect("an id").to_owned()
    }

    /// Runs a shell script to completion.
    async fn script(&self, run: &str, script: &str) {
        let argv = ["/bin/sh", "-c", script];
        let launched = self
            .answer("session.launch", json!({"run_id": run, "argv": argv}))
            .await;
        let session = json!({"session_ref": launched["session_ref"]});
        self.answer("session.collect", session).await;
    }

    async fn row(&self, run: &str) -> Value {
        let rows = self.answer("run.list", json!({})).await;
        let mut rows = rows.as_array().expect("rows").iter();
        rows.find(|row| row["run_id"] == run)
            .expect("the run")
            .clone()
    }

    fn path(&self, relative: &str) -> std::path::PathBuf {
        let project = format!("work/projects/{}", self.project);
        self.folder.path().join(project).join(relative)
    }

    fn log(&self, run: &str) -> String {
        fs::read_to_string(self.path(&format!("runs/{run}/events.jsonl"))).expect("a log")
    }

    #[expect(clippy::disallowed_methods, reason = "a file no method writes")]
    fn put(&self, relative: &str, text: &str) {
        let path = self.path(relative);
        fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        fs::write(path, text).expect("a file");
    }

    fn put_report(&self, run: &str) {
        let project = &self.project;
        self.put(
            "artifacts/art_report.md",
            &format!(
                "---\nschema_version: 1\ntype: milestone_report\nid: art_report\ncreated_at: \"2025-11-01T00:00:00.000Z\"\n\
                 title: Done\nvisibility: managers\nproduced_by: agent_x\nrun_id: {run}\ncontext_pack_id: ctx_1\n\
                 project_id: {project}\ntask_id: task_1\nmilestone_id: ms_1\n\
                 evidence_artifacts: [art_change]\ntests_artifacts: [art_tests]\n---\n\n\
                 # Done\n\n## Summary\n\n## Evidence\n\n## Next\n"
            ),
        );
    }
}

const HUMAN: (&str, &str) = ("human", "human");

fn by(who: (&str, &str), mut params: Value) -> Value {
    params["actor_id"] = json!(who.0);
    params["actor_role"] = json!(who.1);
    params
}

#[tokio::test]
async fn a_person_who_reads_a_document_leaves_nothing_in_the_log_of_its_run() {
    let fixture = Fixture::new().await;
    let run = fixture.run("cmd").await;
    fixture.put_report(&run);
    let before = fixture.log(&run);
    let report = json!({"artifact_id": "art_report"});
    for _ in 0..2 {
        fixture
            .answer("artifact.read", by(HUMAN, report.clone()))
            .await;
        fixture.answer("inbox.snapshot", by(HUMAN, json!({}))).await;
    }
    assert_eq!(fixture.log(&run), before);
    let audit = fs::read_to_string(fixture.path("logs/policy_audit.jsonl")).unwrap();
    assert_eq!(audit.lines().count(), 2, "the audit is beside the runs");

    // Reads by agents and rejected calls are still recorded in the run.
    let manager = by(("agent_m", "manager"), report.clone());
    fixture.answer("artifact.read", manager).await;
    let worker = by(("agent_w", "worker"), report);
    fixture.call("artifact.read", worker).await.unwrap_err();
    let log = fixture.log(&run);
    let news: Vec<Value> = log[before.len()..]
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let types: Vec<_> = news.iter().map(|event| &event["type"]).collect();
    assert_eq!(
        types,
        ["policy.decision", "policy.decision", "policy.denied"]
    );
}

#[tokio::test]
async fn a_run_that_was_never_launched_can_be_cancelled() {
    let fixture = Fixture::new().await;
    let run = fixture.run("cmd").await;
    let params = by(HUMAN, json!({"run_id": run}));
    let canceled = fixture.answer("run.cancel", params.clone()).await;
    assert_eq!(canceled, json!({"run_id": run, "status": "stopped"}));
    assert_eq!(fixture.row(&run).await["status"], "stopped");
    let verified = json!({"run_id": run, "mode": "verified"});
    let replayed = fixture.answer("run.replay", verified).await;
    assert_eq!(replayed["deterministic_ok"], true, "{replayed:#}");
    let last = replayed["events"].as_array().unwrap().last().unwrap();
    assert_eq!(last["type"], "run.stopped");
    assert_eq!(last["actor"], "human");
    assert_eq!(last["payload"]["reason"], "cancelled");

    let again = fixture.call("run.cancel", params).await.unwrap_err();
    assert_eq!(
        again,
        format!("run `{run}` is already stopped: expected a run that is not over")
    );
    let launch = json!({"run_id": run, "argv": ["true"]});
    let launched = fixture.answer("session.launch", launch).await;
    assert_eq!(launched["state"], "failed", "{launched:#}");
}

#[tokio::test]
async fn a_run_with_a_process_is_stopped_by_its_session_and_not_cancelled() {
    let fixture = Fixture::new().await;
    let run = fixture.run("cmd").await;
    let argv = ["/bin/sh", "-c", "exec sleep 600"];
    let launched = fixture
        .answer("session.launch", json!({"run_id": run, "argv": argv}))
        .await;
    let params = by(HUMAN, json!({"run_id": run}));
    let refused = fixture.call("run.cancel", params).await.unwrap_err();
    assert_eq!(
        refused,
        format!(
            "run `{run}` has a process and cannot be cancelled: stop its session `local_{run}` instead"
        )
    );
    let session = json!({"session_ref": launched["session_ref"]});
    fixture.answer("session.stop", session.clone()).await;
    fixture.answer("session.collect", session).await;
}

#[tokio::test]
async fn runs_are_listed_with_what_they_are_for() {
    let fixture = Fixture::new().await;
    let named = json!({"agent_id": "agent_x", "provider": "codex", "goal": "Fix the login loop"});
    let named = fixture.answer("run.create", named).await;
    let command = fixture.run("cmd").await;
    fixture.script(&command, "echo hello").await;
    let nameless = fixture.run("codex").await;
    let goal = fixture.row(named["run_id"].as_str().unwrap()).await["goal"].clone();
    assert_eq!(goal, "Fix the login loop");
    assert_eq!(fixture.row(&command).await["goal"], "echo hello");
    assert_eq!(fixture.row(&nameless).await.get("goal"), None);

    let monitor = fixture.answer("monitor.snapshot", json!({})).await;
    let mut goals: Vec<_> = monitor["rows"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|row| row["goal"].as_str())
        .collect();
    goals.sort_unstable();
    assert_eq!(goals, ["Fix the login loop", "echo hello"]);
}

#[tokio::test]
async fn a_job_is_listed_with_its_goal_and_the_status_of_its_result() {
    let fixture = Fixture::new().await;
    let job = json!({"job": {
        "job_id": "job_poster", "worker_kind": "codex", "workspace_dir": fixture.folder.path(),
        "project_id": fixture.project, "goal": "Draw the poster", "constraints": [], "deliverables": [],
        "permission_level": "read-only", "context_refs": [], "context_mode": "manual",
        "worker_agent_id": "agent_nobody",
    }});
    fixture.answer("job.submit", job).await;
    let params = json!({"job_id": "job_poster"});
    let polled = loop {
        let polled = fixture.answer("job.poll", params.clone()).await;
        if polled["status"] == "completed" {
            break polled;
        }
        tokio::task::yield_now().await;
    };
    assert_eq!(polled["goal"], "Draw the poster");
    assert_eq!(polled["result_status"], "blocked");
    let listed = fixture.answer("job.list", json!({})).await;
    assert_eq!(listed[0]["goal"], "Draw the poster");
    assert_eq!(listed[0]["result_status"], "blocked");
}

#[tokio::test]
async fn explaining_a_launch_needs_no_run_and_makes_none() {
    let fixture = Fixture::new().await;
    let explain = json!({
        "run_id": "run_preview", "argv": ["/bin/sh", "-c", "echo hello"], "explain": true,
        "explain_run": {"agent_id": "agent_x", "provider": "cmd"},
    });
    let explained = fixture.answer("session.launch", explain.clone()).await;
    assert_eq!(explained["state"], "explained");
    assert_eq!(explained["explain"]["would_launch"], true, "{explained:#}");
    assert_eq!(fixture.answer("run.list", json!({})).await, json!([]));
    assert!(!fixture.path("runs/run_preview").exists());

    // Without `explain` the run must exist.
    let mut launch = explain;
    launch["explain"] = json!(false);
    let refused = fixture.call("session.launch", launch).await.unwrap_err();
    assert!(refused.contains("run_preview"), "{refused}");
}

#[tokio::test]
async fn explaining_a_worker_that_is_not_there_says_that_it_is_not_installed() {
    let fixture = Fixture::new().await;
    let machine = fixture.folder.path().join(".local/machine.yaml");
    let text = fs::read_to_string(&machine).unwrap();
    let text = text.replace(
        "provider_bins: {}",
        "provider_bins:\n  claude: /no/such/claude",
    );
    #[expect(clippy::disallowed_methods, reason = "a file people write")]
    fs::write(&machine, text).unwrap();
    let explain = json!({
        "run_id": "run_preview", "prompt_text": "Hello", "explain": true,
        "explain_run": {"agent_id": "agent_x", "provider": "claude"},
    });
    let explained = fixture.answer("session.launch", explain).await;
    assert_eq!(explained["explain"]["would_launch"], false);
    assert_eq!(
        explained["explain"]["refusal"],
        "/no/such/claude is not installed or not in PATH"
    );
}

#[tokio::test]
async fn a_run_that_names_what_does_not_exist_is_made_with_warnings() {
    let fixture = Fixture::new().await;
    let params = json!({"agent_id": "agent_typo", "provider": "codecs"});
    let made = fixture.answer("run.create", params).await;
    let expected = json!([
        "there is no agent `agent_typo` in this company",
        "there is no provider `codecs`: expected codex, claude, gemini, or cmd for a command of your own",
    ]);
    assert_eq!(made["warnings"], expected);
    let row = fixture.row(made["run_id"].as_str().unwrap()).await;
    assert_eq!(row["warnings"], expected);
}

#[tokio::test]
async fn the_evidence_of_a_milestone_is_read_through_its_report() {
    let fixture = Fixture::new().await;
    let run = fixture.run("cmd").await;
    fixture.put_report(&run);
    fixture.put("artifacts/art_change.patch", "--- a/x\n+++ b/x\n");
    fixture.put("artifacts/art_tests.txt", "ok\n");
    fixture.put("artifacts/art_other.txt", "not evidence\n");
    let read = |who, id: &str| {
        let params = json!({"report_artifact_id": "art_report", "evidence_artifact_id": id});
        fixture.call("milestone.evidence.read", by(who, params))
    };
    let patch = read(HUMAN, "art_change").await.unwrap();
    assert_eq!(patch["kind"], "patch");
    assert_eq!(patch["text"], "--- a/x\n+++ b/x\n");
    assert_eq!(patch["truncated"], false);
    assert_eq!(read(HUMAN, "art_tests").await.unwrap()["kind"], "text");
    assert_eq!(
        read(HUMAN, "art_other").await.unwrap_err(),
        "report `art_report` does not name `art_other` as evidence"
    );
    let denied = read(("agent_w", "worker"), "art_change").await.unwrap_err();
    assert!(denied.starts_with("Policy denied read"), "{denied}");
}
