//! An AGENTS.md that somebody saves reaches the worker programs of the project, and each run can prove it.

use std::{fs, os::unix::fs::PermissionsExt as _, path::PathBuf};

use gateway::sha256_hex;
use rpc::Client;
use serde_json::{Value, json};
use tempfile::TempDir;
use testkit::TestGateway;

/// A company with a project, and a program that keeps what it is asked.
struct Fixture {
    _running: TestGateway,
    client: Client,
    folder: TempDir,
    workspace: String,
    project: String,
}

impl Fixture {
    async fn new() -> Self {
        let running = testkit::gateway().await;
        let client = running.client();
        let folder = tempfile::tempdir().expect("a folder");
        let init = json!({"workspace_dir": folder.path(), "company_name": "Acme"});
        client
            .call_raw("workspace.init", init)
            .await
            .expect("a company");
        let project = json!({"workspace_dir": folder.path(), "name": "Alpha"});
        let made = client
            .call_raw("workspace.project.create_with_defaults", project)
            .await
            .expect("a project");
        let listed = client.call_raw("workspace/list", json!({})).await;
        let fixture = Self {
            _running: running,
            client,
            workspace: text(&listed.expect("a list")["workspaces"][0]["id"]),
            project: text(&made["project_id"]),
            folder,
        };
        fixture.install();
        fixture
    }

    /// A program that stands for all three: it keeps what it reads, and says nothing.
    fn install(&self) {
        let program = self.folder.path().join("worker");
        write(&program, "#!/bin/sh\ncat > \"$(dirname \"$0\")/asked\"\n");
        let mode = fs::Permissions::from_mode(0o755);
        fs::set_permissions(&program, mode).expect("a program");
        let program = program.display();
        write(
            &self.folder.path().join(".local/machine.yaml"),
            &format!(
                "schema_version: 1\ntype: machine\nrepo_roots: {{}}\nprovider_bins:\n  codex: {program}\n  \
                 claude: {program}\n  gemini: {program}\n"
            ),
        );
    }

    async fn call(&self, method: &str, params: Value) -> Value {
        self.client.call_raw(method, params).await.expect(method)
    }

    async fn within(&self, method: &str, mut params: Value) -> Value {
        params["workspace_dir"] = json!(self.folder.path());
        params["project_id"] = json!(self.project);
        self.call(method, params).await
    }

    /// The folder that stands for the project.
    async fn project_folder(&self) -> String {
        let tree = self.call("thread/tree", json!({"workspace_id": self.workspace}));
        text(&tree.await["folders"][0]["id"])
    }

    async fn save(&self, folder: Option<&str>, content: &str) -> Value {
        let mut params = json!({"workspace_id": self.workspace, "content": content});
        if let Some(folder) = folder {
            params["folder_id"] = json!(folder);
        }
        self.call("thread/agents_doc/save", params).await["doc"].clone()
    }

    /// Runs a worker and answers its run and what it was asked.
    async fn work(&self, provider: &str) -> (String, String) {
        let made = json!({"agent_id": "agent_x", "provider": provider});
        let run = text(&self.within("run.create", made).await["run_id"]);
        let launch = json!({"run_id": run, "prompt_text": "Fix the bug.", "apply_guard": false});
        let launched = self.within("session.launch", launch).await;
        let wait = json!({
            "workspace_dir": self.folder.path(), "session_ref": launched["session_ref"],
        });
        let ended = self.call("session.collect", wait).await;
        assert_eq!(ended["status"], "ended", "{ended}");
        let asked = fs::read_to_string(self.folder.path().join("asked")).expect("it was asked");
        (run, asked)
    }

    fn manifest(&self, run: &str) -> Value {
        let path: PathBuf = [
            "work/projects",
            &self.project,
            "runs",
            run,
            "outputs/prompt_manifest.json",
        ]
        .iter()
        .collect();
        let text = fs::read_to_string(self.folder.path().join(path)).expect("a manifest");
        serde_json::from_str(&text).expect("JSON")
    }

    /// The turn that a run is.
    async fn turn(&self, run: &str) -> Value {
        let params = json!({"thread_id": format!("thr_{run}"), "turn_id": format!("trn_{run}")});
        self.call("turn/get", params).await["turn"].clone()
    }
}

fn text(value: &Value) -> String {
    value.as_str().expect("a text").to_owned()
}

fn write(path: &std::path::Path, content: &str) {
    let mut file = fs::File::create(path).expect("a file");
    std::io::Write::write_all(&mut file, content.as_bytes()).expect("room");
}

#[tokio::test]
async fn an_edit_reaches_every_driver_and_the_run_proves_it() {
    let fixture = Fixture::new().await;
    let folder = fixture.project_folder().await;
    for (index, provider) in ["codex", "claude", "gemini"].into_iter().enumerate() {
        let rule = format!("Rule {index}: be brief.");
        let doc = fixture.save(Some(&folder), &rule).await;
        let (run, asked) = fixture.work(provider).await;
        assert!(asked.contains(&rule), "{provider}: {asked}");
        let told = asked.strip_suffix("\n\nFix the bug.");
        let told = told.expect("the task is behind what it is told");
        let manifest = fixture.manifest(&run);
        let fingerprint = format!("sha256:{}", sha256_hex(told));
        let stored = text(&manifest["fingerprint_full"]);
        assert!(
            stored == fingerprint || stored == sha256_hex(told),
            "{provider}: the worker read exactly what the manifest proves"
        );
        let turn = fixture.turn(&run).await;
        assert_eq!(turn["status"], "Completed");
        assert_eq!(turn["prompt_manifest"], manifest);
        let of = json!({"thread_id": format!("thr_{run}"), "turn_id": format!("trn_{run}")});
        let explained = fixture.call("turn/explain", of).await;
        let pieces = explained["prompt"]["pieces"].as_array().expect("a list");
        let document = &pieces.last().expect("a piece")["document"];
        assert_eq!(document["doc_id"], doc["id"]);
        assert_eq!(document["version"], doc["version"]);
        assert_eq!(document["content_sha256"], doc["content_sha256"]);
    }
}

#[tokio::test]
async fn moving_nesting_and_archiving_change_the_runs_that_start_afterwards() {
    let fixture = Fixture::new().await;
    let (workspace, project) = (fixture.workspace.clone(), fixture.project_folder().await);
    fixture.save(None, "Root rule.").await;
    assert!(fixture.work("codex").await.1.contains("Root rule."));

    fixture.save(Some(&project), "Project rule.").await;
    let (_, asked) = fixture.work("codex").await;
    assert!(asked.contains("Project rule.") && !asked.contains("Root rule."));

    let above = json!({"workspace_id": workspace, "name": "Above"});
    let above = fixture.call("thread/folder/create", above).await;
    let above = text(&above["folder"]["id"]);
    fixture.save(Some(&above), "Rule from above.").await;
    let archive = json!({"workspace_id": workspace, "folder_id": project});
    fixture.call("thread/agents_doc/archive", archive).await;
    assert!(fixture.work("codex").await.1.contains("Root rule."));

    let moved = json!({"workspace_id": workspace, "folder_id": project, "parent_folder_id": above});
    fixture.call("thread/folder/move", moved).await;
    assert!(fixture.work("codex").await.1.contains("Rule from above."));
}

#[tokio::test]
async fn a_launch_that_is_explained_starts_no_turn() {
    let fixture = Fixture::new().await;
    let made = json!({"agent_id": "agent_x", "provider": "codex"});
    let run = text(&fixture.within("run.create", made).await["run_id"]);
    let launch = json!({
        "run_id": run, "prompt_text": "Fix the bug.", "apply_guard": false, "explain": true,
    });
    let explained = fixture.within("session.launch", launch).await;
    assert_eq!(explained["explain"]["would_launch"], true, "{explained}");
    let of = json!({"thread_id": format!("thr_{run}"), "turn_id": format!("trn_{run}")});
    let found = fixture.client.call_raw("turn/get", of).await;
    assert!(found.is_err());
}

#[tokio::test]
async fn nobody_can_put_words_into_the_thread_of_a_worker() {
    let fixture = Fixture::new().await;
    let (run, _) = fixture.work("codex").await;
    let (thread, turn) = (format!("thr_{run}"), format!("trn_{run}"));
    let workspace = &fixture.workspace;
    let before = fixture.turn(&run).await;
    let say = json!([{"type": "text", "text": "forged"}]);
    for (method, params) in [
        (
            "thread/start",
            json!({"workspace_id": workspace, "thread_id": "thr_run_not_yet"}),
        ),
        (
            "turn/start",
            json!({"thread_id": thread, "turn_id": "trn_1", "input": say}),
        ),
        (
            "turn/start",
            json!({"thread_id": "thr_own", "turn_id": turn, "input": say}),
        ),
        (
            "thread/delete",
            json!({"workspace_id": workspace, "thread_id": thread}),
        ),
    ] {
        let refused = fixture.client.call_raw(method, params).await;
        assert!(refused.is_err(), "{method}");
    }
    // Whoever wants to follow it can.
    let follow = json!({"workspace_id": workspace, "thread_id": thread});
    fixture.call("thread/start", follow).await;
    assert_eq!(fixture.turn(&run).await, before);
}
