//! A company whose workers are scripts.

use std::{fs, os::unix::fs::PermissionsExt as _, path::PathBuf};

use rpc::Client;
use serde_json::{Value, json};
use tempfile::TempDir;
use testkit::TestGateway;

/// A company with a project, and worker programs that record their prompt.
pub(crate) struct Fixture {
    pub(crate) running: TestGateway,
    pub(crate) client: Client,
    pub(crate) folder: TempDir,
    /// The directory of the worker programs.
    pub(crate) programs: TempDir,
    pub(crate) workspace: String,
    pub(crate) project: String,
}

impl Fixture {
    pub(crate) async fn new() -> Self {
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
            running,
            client,
            workspace: text(&listed.expect("a list")["workspaces"][0]["id"]),
            project: text(&made["project_id"]),
            folder,
            programs: tempfile::tempdir().expect("a folder"),
        };
        fixture.install();
        fixture
    }

    /// Installs programs that record their input and print nothing.
    fn install(&self) {
        self.install_script("");
    }

    /// Installs programs that record their input and then run a script.
    pub(crate) fn install_script(&self, script: &str) {
        let about = "#!/bin/sh\ncase \"$1\" in\n  login) echo 'Logged in using ChatGPT'; exit 0 ;;\n  \
                     --version|--help) echo 9; exit 0 ;;\nesac\n[ \"$2\" = --help ] && exit 0\n";
        let keep = "cat > \"$(dirname \"$0\")/asked\"\n";
        let mut bins = String::new();
        for name in ["codex", "claude", "gemini"] {
            let program = self.programs.path().join(name);
            write(&program, &format!("{about}{keep}{script}"));
            let mode = fs::Permissions::from_mode(0o755);
            fs::set_permissions(&program, mode).expect("a program");
            bins.push_str(&format!("  {name}: {}\n", program.display()));
        }
        write(
            &self.folder.path().join(".local/machine.yaml"),
            &format!("schema_version: 1\ntype: machine\nrepo_roots: {{}}\nprovider_bins:\n{bins}"),
        );
    }

    pub(crate) async fn call(&self, method: &str, params: Value) -> Value {
        self.client.call_raw(method, params).await.expect(method)
    }

    pub(crate) async fn within(&self, method: &str, mut params: Value) -> Value {
        params["workspace_dir"] = json!(self.folder.path());
        params["project_id"] = json!(self.project);
        self.call(method, params).await
    }

    /// Returns the id of the tree folder of the project.
    pub(crate) async fn project_folder(&self) -> String {
        let tree = self.call("thread/tree", json!({"workspace_id": self.workspace}));
        text(&tree.await["folders"][0]["id"])
    }

    pub(crate) async fn save(&self, folder: Option<&str>, content: &str) -> Value {
        let mut params = json!({"workspace_id": self.workspace, "content": content});
        if let Some(folder) = folder {
            params["folder_id"] = json!(folder);
        }
        self.call("thread/agents_doc/save", params).await["doc"].clone()
    }

    /// Runs a worker. Returns its run id and the prompt it received.
    pub(crate) async fn work(&self, provider: &str) -> (String, String) {
        let made = json!({"agent_id": "agent_x", "provider": provider});
        let run = text(&self.within("run.create", made).await["run_id"]);
        let launch = json!({"run_id": run, "prompt_text": "Fix the bug.", "apply_guard": false});
        let launched = self.within("session.launch", launch).await;
        let wait = json!({
            "workspace_dir": self.folder.path(), "session_ref": launched["session_ref"],
        });
        let ended = self.call("session.collect", wait).await;
        assert_eq!(ended["status"], "ended", "{ended}");
        let asked = fs::read_to_string(self.programs.path().join("asked")).expect("it was asked");
        (run, asked)
    }

    pub(crate) fn manifest(&self, run: &str) -> Value {
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

    /// Returns the turn that represents a run.
    pub(crate) async fn turn(&self, run: &str) -> Value {
        let params = json!({"thread_id": format!("thr_{run}"), "turn_id": format!("trn_{run}")});
        self.call("turn/get", params).await["turn"].clone()
    }
}

pub(crate) fn text(value: &Value) -> String {
    value.as_str().expect("a text").to_owned()
}

pub(crate) fn write(path: &std::path::Path, content: &str) {
    let mut file = fs::File::create(path).expect("a file");
    std::io::Write::write_all(&mut file, content.as_bytes()).expect("room");
}
