//! Outputs of runs become artifacts with their lineage, and artifacts can be given to workers.

use serde_json::{Value, json};

use super::fixture::{Fixture, text};

/// Writes `report.md` to the outputs of the run, and a symbolic link that leads out of the company folder.
const REPORTS: &str = "cd \"$ACCORD_RUN_DIR/outputs\"\n\
                       printf '# Report\\n' > report.md\n\
                       ln -sf /etc/hostname linked.txt\n\
                       : > empty.txt\n";

impl Fixture {
    async fn artifacts(&self, run: &str) -> Vec<Value> {
        let wanted = json!({"workspace_id": self.workspace, "task_run_id": run});
        let listed = self.call("artifact/list", wanted).await;
        listed["items"].as_array().expect("a list").clone()
    }
}

#[tokio::test]
async fn the_results_of_a_run_are_artifacts_that_tell_what_the_worker_was_told() {
    let fixture = Fixture::new().await;
    fixture.install_script(REPORTS);
    let folder = fixture.project_folder().await;
    let doc = fixture.save(Some(&folder), "Write a report.").await;
    let (run, _) = fixture.work("codex").await;
    // Later instructions are not part of the run's lineage.
    fixture.save(Some(&folder), "Write nothing.").await;

    let kept = fixture.artifacts(&run).await;
    let names: Vec<_> = kept
        .iter()
        .map(|item| text(&item["artifact"]["display_name"]))
        .collect();
    assert!(names.contains(&"report.md".to_owned()), "{names:?}");
    for not_a_result in [
        "prompt.txt",
        "prompt_manifest.json",
        "linked.txt",
        "empty.txt",
    ] {
        assert!(!names.contains(&not_a_result.to_owned()), "{names:?}");
    }
    let report = kept
        .iter()
        .find(|item| item["artifact"]["display_name"] == "report.md")
        .expect("the report");
    assert_eq!(report["created_by_kind"], "agent");
    let binding = &report["bindings"][0];
    assert_eq!(binding["binding_kind"], "task_result");
    assert_eq!(binding["direction"], "output");
    assert_eq!(binding["task_run_id"], json!(run));

    let id = &report["artifact"]["artifact_id"];
    let get = json!({"workspace_id": fixture.workspace, "artifact_id": id});
    let found = fixture.call("artifact/get", get.clone()).await;
    let lineage = &found["lineage"];
    assert_eq!(lineage["run_id"], json!(run));
    assert_eq!(lineage["thread_id"], json!(format!("thr_{run}")));
    assert_eq!(lineage["turn_id"], json!(format!("trn_{run}")));
    let told = lineage["instructions"].as_array().expect("a list");
    assert_eq!(told.len(), 1, "{lineage}");
    assert_eq!(told[0]["doc_id"], doc["id"]);
    assert_eq!(told[0]["version"], doc["version"]);

    // Binding the artifact to another run does not change its lineage.
    let mut bind = get.clone();
    bind["task_run_id"] = json!("run_other");
    bind["binding_kind"] = json!("task_result");
    bind["direction"] = json!("output");
    fixture.call("artifact/bind", bind).await;
    let again = fixture.call("artifact/get", get).await;
    assert_eq!(&again["lineage"], lineage);
}

#[tokio::test]
async fn the_results_of_a_plain_command_are_artifacts_too() {
    let fixture = Fixture::new().await;
    let made = json!({"agent_id": "agent_x", "provider": "cmd"});
    let run = text(&fixture.within("run.create", made).await["run_id"]);
    let script = format!(
        "printf 42 > '{}/work/projects/{}/runs/{run}/outputs/answer.txt'",
        fixture.folder.path().display(),
        fixture.project
    );
    let launch = json!({"run_id": run, "argv": ["sh", "-c", script]});
    let launched = fixture.within("session.launch", launch).await;
    let wait = json!({
        "workspace_dir": fixture.folder.path(), "session_ref": launched["session_ref"],
    });
    fixture.call("session.collect", wait).await;
    let kept = fixture.artifacts(&run).await;
    let answer = kept
        .iter()
        .find(|item| item["artifact"]["display_name"] == "answer.txt")
        .expect("the answer");
    let get = json!({
        "workspace_id": fixture.workspace, "artifact_id": answer["artifact"]["artifact_id"],
    });
    let found = fixture.call("artifact/get", get).await;
    assert_eq!(found["lineage"], json!({"run_id": run, "instructions": []}));
}

impl Fixture {
    /// Returns the params of a job that receives an artifact.
    fn job(&self, id: &str, artifact: &str) -> Value {
        json!({"job": {
            "job_id": id, "worker_kind": "codex", "workspace_dir": self.folder.path(),
            "project_id": self.project, "goal": "Read it", "constraints": [], "deliverables": [],
            "permission_level": "read-only", "context_mode": "manual",
            "context_refs": [{"kind": "artifact", "value": artifact, "description": "the facts"}],
        }})
    }

    /// Creates an artifact from the output of a run.
    async fn result(&self, content: &str) -> String {
        self.install_script(&format!(
            "printf '{content}' > \"$ACCORD_RUN_DIR/outputs/facts.md\"\n"
        ));
        let (run, _) = self.work("codex").await;
        let kept = self.artifacts(&run).await;
        let facts = kept
            .iter()
            .find(|item| item["artifact"]["display_name"] == "facts.md");
        text(&facts.expect("the facts")["artifact"]["artifact_id"])
    }
}

#[tokio::test]
async fn an_artifact_in_the_references_of_a_job_is_a_file_its_worker_can_read() {
    let fixture = Fixture::new().await;
    let artifact = fixture.result("Water boils at 100 degrees.").await;
    fixture.install_script("cp -n \"$(dirname \"$0\")/asked\" \"$(dirname \"$0\")/asked_first\"\n");
    fixture
        .call("job.submit", fixture.job("job_read", &artifact))
        .await;
    let job = json!({
        "workspace_dir": fixture.folder.path(), "project_id": fixture.project, "job_id": "job_read",
    });
    let polled = loop {
        let polled = fixture.call("job.poll", job.clone()).await;
        if !["queued", "running"]
            .map(Value::from)
            .contains(&polled["status"])
        {
            break polled;
        }
    };
    let run = text(&polled["attempts"][0]["run_id"]);
    let relpath = format!(
        "work/projects/{}/runs/{run}/inputs/{artifact}.md",
        fixture.project
    );
    let given = std::fs::read_to_string(fixture.folder.path().join(&relpath)).expect("a file");
    assert_eq!(given, "Water boils at 100 degrees.");
    let asked =
        std::fs::read_to_string(fixture.programs.path().join("asked_first")).expect("a prompt");
    assert!(
        asked.contains(&format!(
            "- file: {relpath} (the facts; artifact {artifact}, `facts.md`)"
        )),
        "{asked}"
    );
    let kept = fixture.artifacts(&run).await;
    let kinds: Vec<_> = kept
        .iter()
        .filter(|item| item["artifact"]["artifact_id"] == json!(artifact))
        .flat_map(|item| item["bindings"].as_array().expect("bindings").clone())
        .map(|binding| text(&binding["binding_kind"]))
        .collect();
    assert!(
        kinds.contains(&"context_attachment".to_owned()),
        "{kinds:?}"
    );
}

#[tokio::test]
async fn an_artifact_that_is_not_there_or_holds_a_secret_is_refused_before_there_is_a_job() {
    let fixture = Fixture::new().await;
    let secret = format!("key: sk-ant-api03-{}", "A1b2C3d4".repeat(12));
    let secret = fixture.result(&secret).await;
    for (artifact, told) in [
        (
            "art_000000000000000000",
            "is no artifact of this company's workspace",
        ),
        (secret.as_str(), "holds what looks like a secret"),
    ] {
        let refused = fixture
            .client
            .call_raw("job.submit", fixture.job("job_no", artifact))
            .await;
        let Err(rpc::client::Error::Rpc { message, .. }) = refused else {
            panic!("{refused:?}");
        };
        assert!(
            message.contains(told) && message.contains(artifact),
            "{message}"
        );
    }
    let listed = fixture.within("job.list", json!({})).await;
    assert_eq!(listed, json!([]));
}

#[tokio::test]
async fn what_a_run_printed_is_not_for_the_token_of_a_worker() {
    let fixture = Fixture::new().await;
    fixture.install_script(REPORTS);
    let workspace = &fixture.workspace;
    let running = &fixture.running;
    let worker = running
        .client_with_role("worker", &["read", "write"], &[])
        .await;
    let manager = running.client_with_role("manager", &["read"], &[]).await;
    for client in [&worker, &manager] {
        let subscribe = json!({"workspace_id": workspace});
        let subscribed = client.call_raw("workspace/subscribe", subscribe).await;
        subscribed.expect("a subscription");
    }
    let (run, _) = fixture.work("codex").await;
    testkit::told_until(&manager, "artifact/created").await;
    let told = testkit::told(&worker).await;
    assert!(!told.contains("artifact/created"), "{told}");
    let report = fixture.artifacts(&run).await.swap_remove(0)["artifact"]["artifact_id"].clone();

    let list = json!({"workspace_id": workspace, "task_run_id": run});
    let listed = worker
        .call_raw("artifact/list", list.clone())
        .await
        .expect("a list");
    assert_eq!(listed["items"], json!([]));
    let listed = manager
        .call_raw("artifact/list", list)
        .await
        .expect("a list");
    assert!(!listed["items"].as_array().expect("a list").is_empty());

    let one = json!({"workspace_id": workspace, "artifact_id": report, "task_run_id": "run_other",
        "binding_kind": "task_result", "direction": "output"});
    for method in [
        "artifact/get",
        "artifact/read",
        "artifact/versions/list",
        "artifact/download/start",
        "artifact/bind",
        "artifact/delete",
        "artifact/restore",
    ] {
        let refused = testkit::refusal(&worker, method, one.clone()).await;
        assert_eq!(refused, "-32043 forbidden", "{method}");
    }
    for method in ["artifact/get", "artifact/read", "artifact/versions/list"] {
        let answer = manager.call_raw(method, one.clone()).await;
        answer.unwrap_or_else(|error| panic!("{method}: {error}"));
    }
    // The artifact is not readable through a turn either.
    let thread = json!({"workspace_id": workspace, "thread_id": "thr_w"});
    worker
        .call_raw("thread/start", thread)
        .await
        .expect("a thread");
    let spender = running
        .client_with_role("worker", &["read", "spend"], &[])
        .await;
    let ask = json!({"thread_id": "thr_w", "turn_id": "trn_w",
        "input": [{"type": "text", "text": "What is in it?"}, {"type": "artifact", "artifact_id": report}]});
    let refused = testkit::refusal(&spender, "turn/start", ask).await;
    assert_eq!(refused, "-32043 forbidden");
}
