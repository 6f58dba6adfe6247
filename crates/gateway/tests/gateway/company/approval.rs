//! A decision applies only to the content that was shown, and its record contains how the decider was connected.

use std::{fs, path::PathBuf};

use rpc::Client;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use tempfile::TempDir;
use testkit::{TestGateway, put, text};

/// A gateway and a company with a project and a run.
struct Fixture {
    running: TestGateway,
    owner: Client,
    folder: TempDir,
    project: String,
    run: Value,
}

impl Fixture {
    async fn new() -> Self {
        let running = testkit::gateway().await;
        let owner = running.client();
        let (folder, project) = testkit::company(&owner).await;
        let mut fixture = Self {
            running,
            owner,
            folder,
            project,
            run: Value::Null,
        };
        let run = json!({"agent_id": "agent_x", "provider": "cmd"});
        fixture.run = fixture.call("run.create", run).await.expect("a run");
        fixture
    }

    async fn call(&self, method: &str, params: Value) -> Result<Value, Value> {
        self.call_as(&self.owner, method, params).await
    }

    /// Calls a method as a person, with the folder and the project in the params. Returns the result or the data of the
    /// error.
    async fn call_as(
        &self,
        client: &Client,
        method: &str,
        mut params: Value,
    ) -> Result<Value, Value> {
        params["workspace_dir"] = json!(self.folder.path());
        params["project_id"] = json!(self.project);
        for (name, value) in [("actor_id", "human"), ("actor_role", "human")] {
            if params[name].is_null() {
                params[name] = json!(value);
            }
        }
        match client.call_raw(method, params).await {
            Ok(answer) => Ok(answer),
            Err(rpc::client::Error::Rpc { data, .. }) => Err(data),
            Err(error) => panic!("{error}"),
        }
    }

    fn path(&self, relative: &str) -> PathBuf {
        let project = self.folder.path().join("work/projects").join(&self.project);
        project.join(relative)
    }

    /// Proposes a line for the memory of the project.
    async fn delta(&self) -> String {
        let delta = json!({
            "title": "Use port 8080", "scope_kind": "project_memory", "sensitivity": "internal",
            "rationale": "Agreed", "under_heading": "## Decisions", "insert_lines": ["- port 8080"],
            "visibility": "managers", "produced_by": "agent_x", "run_id": self.run["run_id"],
            "context_pack_id": self.run["context_pack_id"], "evidence": ["art_e"],
        });
        let proposed = self.call("memory.propose_delta", delta).await;
        text(&proposed.expect("a delta")["artifact_id"])
    }

    /// Writes a report about the only milestone of a task, with a patch as evidence.
    fn report(&self) -> String {
        let (project, run) = (&self.project, text(&self.run["run_id"]));
        put(
            &self.path("tasks/task_1.md"),
            &format!(
                "---\nschema_version: 1\ntype: task\nid: task_1\nproject_id: {project}\ntitle: Work\n\
                 created_at: \"2024-06-01T10:00:00.000Z\"\nstatus: draft\nvisibility: team\n\
                 deliverables: [it]\nacceptance_criteria: [it is done]\n\
                 milestones:\n  - id: ms_1\n    title: One\n    kind: planning\n    status: ready\n    acceptance_criteria: []\n\
                 ---\n\n# Work\n\n## Contract\n\n## Milestones\n"
            ),
        );
        put(
            &self.path("artifacts/art_diff.patch"),
            "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n",
        );
        put(
            &self.path("artifacts/art_report.md"),
            &format!(
                "---\nschema_version: 1\ntype: milestone_report\nid: art_report\ncreated_at: \"2024-06-02T10:00:00.000Z\"\n\
                 title: Report\nvisibility: team\nproduced_by: agent_x\nrun_id: {run}\ncontext_pack_id: ctx_1\n\
                 project_id: {project}\ntask_id: task_1\nmilestone_id: ms_1\nevidence_artifacts: [art_diff]\n---\n\n\
                 # Report\n\n## Summary\n\n## Evidence\n\n## Next\n"
            ),
        );
        "art_report".to_owned()
    }

    /// Writes an action proposed by a heartbeat.
    fn action(&self) -> String {
        let (project, run) = (&self.project, text(&self.run["run_id"]));
        put(
            &self.path("artifacts/art_action.md"),
            &format!(
                "---\nschema_version: 1\ntype: heartbeat_action_proposal\nid: art_action\ncreated_at: \"2024-06-02T10:00:00.000Z\"\n\
                 title: Proposal\nvisibility: managers\nproduced_by: agent_x\nrun_id: {run}\ncontext_pack_id: ctx_1\n\
                 project_id: {project}\nproposed_action:\n  kind: noop\n  idempotency_key: key_1\n  risk: low\n\
                 \x20 needs_approval: true\n  reason: none\n---\n\n# Proposal\n\n## Summary\n\n## Proposed Action\n\n## Policy\n"
            ),
        );
        "art_action".to_owned()
    }

    async fn read(&self, artifact: &str) -> Value {
        let read = self.call("inbox.read", json!({"artifact_id": artifact}));
        read.await.expect("it can be read")
    }

    /// Returns the payloads of the decisions in the log of the run.
    fn decisions(&self) -> Vec<Value> {
        let log = self.path(&format!("runs/{}/events.jsonl", text(&self.run["run_id"])));
        payloads(&fs::read_to_string(log).expect("a log"))
    }

    fn reviews(&self) -> usize {
        let reviews = fs::read_dir(self.folder.path().join("inbox/reviews"));
        reviews.map_or(0, Iterator::count)
    }
}

/// Returns the payloads of the decisions in a log.
fn payloads(log: &str) -> Vec<Value> {
    let events = log.lines().map(|line| {
        let event: Value = serde_json::from_str(line).expect("a line of JSON");
        event
    });
    events
        .filter(|event| event["type"] == "approval.decided")
        .map(|event| event["payload"].clone())
        .collect()
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Decides with an outdated hash, which is rejected, and then with the current one.
async fn check(fixture: &Fixture, method: &str, mut params: Value, touched: &str) {
    let artifact = params["artifact_id"].as_str();
    let artifact = artifact.or(params["report_artifact_id"].as_str());
    let artifact = artifact.expect("an id").to_owned();
    let before = fixture.read(&artifact).await;
    let path = fixture.path(touched);
    let original = fs::read_to_string(&path).expect("a file");
    put(&path, &format!("{original}\n"));
    params["expected_sha256"] = before["sha256"].clone();
    let refused = fixture.call(method, params.clone()).await;
    let data = refused.expect_err("it is not what was shown");
    assert_eq!(data["reason_code"], "VERSION_CONFLICT", "{method}");
    assert_eq!(data["expected_sha256"], before["sha256"]);
    let now = fixture.read(&artifact).await;
    assert_eq!(data["actual_sha256"], now["sha256"]);
    // The files in the error show which one changed.
    let files = data["files"].as_array().expect("files").iter();
    let shown = before["files"].as_array().expect("files").iter();
    let changed: Vec<_> = files
        .zip(shown)
        .filter(|(now, shown)| now["sha256"] != shown["sha256"])
        .map(|(now, _)| text(&now["relpath"]))
        .collect();
    assert_eq!(changed.len(), 1, "{changed:?}");
    assert!(changed[0].ends_with(touched), "{changed:?}");
    assert_eq!((fixture.reviews(), fixture.decisions().len()), (0, 0));

    put(&path, &original);
    let decided = fixture.call(method, params).await;
    decided.unwrap_or_else(|data| panic!("{method}: {data}"));
    assert_eq!(fixture.reviews(), 1);
    let told = fixture.decisions();
    assert_eq!(told.len(), 1);
    assert_eq!(told[0]["basis_sha256"], before["sha256"]);
    assert_eq!(told[0]["is_bound"], true);
    assert_eq!(told[0]["presence"], json!({"via": "terminal"}));
}

#[tokio::test]
async fn a_delta_is_approved_with_the_document_the_patch_and_the_memory_that_were_shown() {
    for method in ["inbox.resolve", "ui.resolve", "memory.approve_delta"] {
        for touched in ["document", "patch", "memory.md"] {
            let fixture = Fixture::new().await;
            let delta = fixture.delta().await;
            let touched = match touched {
                "document" => format!("artifacts/{delta}.md"),
                "patch" => format!("artifacts/{delta}.patch"),
                other => other.to_owned(),
            };
            let params = json!({"artifact_id": delta, "decision": "approved"});
            check(&fixture, method, params, &touched).await;
            let memory = fs::read_to_string(fixture.path("memory.md")).expect("a file");
            assert!(memory.contains("- port 8080"), "{memory}");
        }
    }
}

#[tokio::test]
async fn a_swapped_patch_does_not_reach_the_memory() {
    let fixture = Fixture::new().await;
    let delta = fixture.delta().await;
    let shown = fixture.read(&delta).await;
    let path = fixture.path(&format!("artifacts/{delta}.patch"));
    let patch = fs::read_to_string(&path).expect("a patch");
    put(&path, &patch.replace("port 8080", "port 6666"));
    let params = json!({
        "artifact_id": delta, "decision": "approved", "expected_sha256": shown["sha256"],
    });
    let refused = fixture.call("inbox.resolve", params).await;
    assert_eq!(
        refused.expect_err("a conflict")["reason_code"],
        "VERSION_CONFLICT"
    );
    let memory = fs::read_to_string(fixture.path("memory.md")).expect("a file");
    assert!(!memory.contains("port"), "{memory}");
}

#[tokio::test]
async fn a_milestone_is_approved_with_the_report_the_task_and_the_evidence_that_were_shown() {
    for method in ["inbox.resolve", "milestone.approve"] {
        for touched in [
            "artifacts/art_report.md",
            "tasks/task_1.md",
            "artifacts/art_diff.patch",
        ] {
            let fixture = Fixture::new().await;
            let report = fixture.report();
            let params = match method {
                "inbox.resolve" => json!({"artifact_id": report, "decision": "approved"}),
                _ => {
                    json!({"report_artifact_id": report, "task_id": "task_1", "milestone_id": "ms_1"})
                }
            };
            check(&fixture, method, params, touched).await;
        }
    }
}

#[tokio::test]
async fn evidence_that_appears_after_the_report_was_shown_is_a_change() {
    let fixture = Fixture::new().await;
    let report = fixture.report();
    let shown = fixture.read(&report).await;
    put(&fixture.path("artifacts/art_diff.txt"), "all tests pass\n");
    let params = json!({
        "artifact_id": report, "decision": "approved", "expected_sha256": shown["sha256"],
    });
    let refused = fixture.call("inbox.resolve", params).await;
    assert_eq!(
        refused.expect_err("a conflict")["reason_code"],
        "VERSION_CONFLICT"
    );
}

#[tokio::test]
async fn an_action_is_approved_or_denied_as_it_was_shown() {
    for decision in ["approved", "denied"] {
        let fixture = Fixture::new().await;
        let params = json!({"artifact_id": fixture.action(), "decision": decision});
        check(&fixture, "inbox.resolve", params, "artifacts/art_action.md").await;
    }
}

#[tokio::test]
async fn a_malformed_delta_is_denied_as_it_was_shown() {
    let fixture = Fixture::new().await;
    let delta = fixture.delta().await;
    let path = format!("artifacts/{delta}.md");
    let document = fs::read_to_string(fixture.path(&path)).expect("a delta");
    put(
        &fixture.path(&path),
        &document.replacen("---\n", "---\nsurplus: 1\n", 1),
    );
    let params = json!({"artifact_id": delta, "decision": "denied"});
    check(&fixture, "inbox.resolve", params, &path).await;
}

#[tokio::test]
async fn the_hash_is_that_of_the_lines_that_sha256sum_prints() {
    let fixture = Fixture::new().await;
    let delta = fixture.delta().await;
    let read = fixture.read(&delta).await;
    let files = read["files"].as_array().expect("files");
    let roles: Vec<_> = files.iter().map(|file| text(&file["role"])).collect();
    assert_eq!(roles, ["document", "patch", "target"]);
    let mut lines = String::new();
    for file in files {
        let bytes = fs::read(fixture.folder.path().join(text(&file["relpath"]))).expect("a file");
        assert_eq!(text(&file["text"]).as_bytes(), bytes);
        let hash = hex(&Sha256::digest(bytes));
        lines.push_str(&format!("{hash}  {}\n", text(&file["relpath"])));
    }
    assert_eq!(read["sha256"], hex(&Sha256::digest(lines)));
    assert_eq!(read["frontmatter"]["id"], json!(delta));
}

#[tokio::test]
async fn what_a_decision_rests_on_is_shown_to_those_who_may_decide() {
    let fixture = Fixture::new().await;
    let delta = fixture.delta().await;
    let read = json!({"artifact_id": delta, "actor_id": "m", "actor_role": "manager"});
    let refused = fixture.call("inbox.read", read).await;
    assert_eq!(
        refused.expect_err("managers do not approve memory")["rule_id"],
        "approve.memory.role"
    );
    let director = json!({"artifact_id": delta, "actor_id": "d", "actor_role": "director"});
    fixture
        .call("inbox.read", director)
        .await
        .expect("directors do");
}

#[tokio::test]
async fn a_decision_without_a_hash_is_recorded_as_not_bound() {
    let fixture = Fixture::new().await;
    let params = json!({"artifact_id": fixture.delta().await, "decision": "denied"});
    let decided = fixture.call("inbox.resolve", params).await;
    decided.expect("as before");
    assert_eq!(fixture.decisions()[0]["is_bound"], false);
}

#[tokio::test]
async fn the_record_of_a_decision_names_the_token() {
    let fixture = Fixture::new().await;
    let scopes = ["read", "write"];
    let client = fixture
        .running
        .client_with_role("human", &scopes, &[])
        .await;
    let params = json!({"artifact_id": fixture.delta().await, "decision": "approved"});
    let decided = fixture.call_as(&client, "inbox.resolve", params).await;
    decided.expect("a token of a person");
    let presence = &fixture.decisions()[0]["presence"];
    assert_eq!(
        (&presence["via"], &presence["token"]["name"]),
        (&json!("token"), &json!("test"))
    );
    assert!(text(&presence["token"]["id"]).starts_with("tok_"));
}

#[tokio::test]
async fn a_decision_about_a_run_without_a_log_is_recorded_beside_the_runs() {
    let fixture = Fixture::new().await;
    let delta = fixture.delta().await;
    fs::remove_dir_all(fixture.path(&format!("runs/{}", text(&fixture.run["run_id"]))))
        .expect("a run");
    let params = json!({"artifact_id": delta, "decision": "denied"});
    let decided = fixture.call("inbox.resolve", params).await;
    decided.expect("runs may be gone");
    let audit = fs::read_to_string(fixture.path("logs/policy_audit.jsonl")).expect("a log");
    assert_eq!(payloads(&audit)[0]["presence"]["via"], "terminal");
}
