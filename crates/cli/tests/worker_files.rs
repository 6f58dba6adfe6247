//! The file of instructions of a worker whose gateway is killed: the next one removes it and proposes what became of it.

use std::{
    fs,
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
    process::Command,
    thread,
    time::{Duration, Instant},
};

use serde_json::{Value, json};
use tempfile::TempDir;
use testkit::StdioProcess;

/// Longer than anything takes; a test that reaches it has failed.
const PATIENCE: Duration = Duration::from_secs(60);

/// A company whose worker runs in a worktree, and a gateway that can be killed.
struct Office {
    folder: TempDir,
    gateway: StdioProcess,
    workspace: String,
    worktree: PathBuf,
}

fn start(home: &Path) -> StdioProcess {
    StdioProcess::start(Command::new(env!("CARGO_BIN_EXE_ac")), home)
}

impl Office {
    /// Starts a worker that edits its file, then waits for a file `go`, then ends.
    fn with_worker() -> Self {
        let folder = tempfile::tempdir().expect("a folder can be made");
        let mut office = Self {
            gateway: start(&folder.path().join("home")),
            folder,
            workspace: String::new(),
            worktree: PathBuf::new(),
        };
        let repo = office.folder.path().join("repo");
        put(&repo.join("a.txt"), "one\n");
        for arguments in [
            &["init", "-q", "-b", "main"][..],
            &["add", "-A"],
            &["commit", "-q", "-m", "first"],
        ] {
            git(&repo, arguments);
        }
        office.call("workspace.init", json!({}));
        let made = office.call(
            "workspace.project.create_with_defaults",
            json!({"name": "Alpha"}),
        );
        let project = text(&made["project_id"]);
        let listed = office.call("workspace/list", json!({}));
        office.workspace = text(&listed["workspaces"][0]["id"]);
        let save = json!({"workspace_id": office.workspace, "content": "Use tabs.\n"});
        office.call("thread/agents_doc/save", save);
        put(
            &office
                .dir()
                .join(format!("work/projects/{project}/tasks/task_1.md")),
            &format!(
                "---\nschema_version: 1\ntype: task\nid: task_1\nproject_id: {project}\ntitle: T\n\
                 created_at: \"2024-06-01T10:00:00.000Z\"\nstatus: draft\nvisibility: team\n\
                 scope:\n  requires_worktree_isolation: true\nmilestones: []\n---\n\n## Contract\n\n## Milestones\n"
            ),
        );
        let worker = office.folder.path().join("worker");
        let place = office.folder.path().display();
        put(
            &worker,
            &format!(
                "#!/bin/sh\ncat > /dev/null\necho 'Use spaces.' > AGENTS.md\necho $$ > {place}/pid\n\
                 mv {place}/pid {place}/edited\nwhile [ ! -e {place}/go ]; do sleep 0.02; done\n"
            ),
        );
        fs::set_permissions(&worker, fs::Permissions::from_mode(0o755)).expect("a program");
        put(
            &office.dir().join(".local/machine.yaml"),
            &format!(
                "schema_version: 1\ntype: machine\nrepo_roots:\n  site: {}\nprovider_bins:\n  codex: {}\n",
                repo.display(),
                worker.display()
            ),
        );
        let run = office.call(
            "run.create",
            json!({"project_id": project, "agent_id": "agent_w", "provider": "codex"}),
        );
        let run = text(&run["run_id"]);
        office.worktree = office
            .dir()
            .join(format!(".local/worktrees/{project}/task_1/{run}"));
        let launch = json!({
            "project_id": project, "run_id": run, "session_ref": "s", "prompt_text": "Work.",
            "repo_id": "site", "task_id": "task_1", "apply_guard": false,
        });
        assert_eq!(office.call("session.launch", launch)["state"], "running");
        let edited = office.folder.path().join("edited");
        until("the worker edits its file", || edited.exists());
        office
    }

    fn dir(&self) -> PathBuf {
        self.folder.path().join("office")
    }

    fn call(&mut self, method: &str, mut params: Value) -> Value {
        if !method.contains('/') {
            params["workspace_dir"] = json!(self.dir());
        }
        let answer = self.gateway.call(method, &params);
        answer.unwrap_or_else(|error| panic!("{method}: {error}"))
    }

    /// Kills the gateway, as a crash does, and starts another one.
    fn kill_the_gateway(&mut self) {
        // The old one is killed when it is dropped.
        self.gateway = start(&self.folder.path().join("home"));
    }

    fn let_the_worker_end(&self) {
        put(&self.folder.path().join("go"), "");
    }

    fn assert_proposed_and_tidy(&mut self) {
        let list = json!({"workspace_id": self.workspace});
        let found = self.call("thread/agents_doc/proposal/list", list);
        let items = found["items"].as_array().expect("a list");
        assert_eq!(items.len(), 1, "{found}");
        assert_eq!(items[0]["author"], "agent_w");
        assert_eq!(
            items[0]["diff"],
            "--- a/AGENTS.md\n+++ b/AGENTS.md\n@@ -1 +1 @@\n-Use tabs.\n+Use spaces.\n"
        );
        assert!(self.worktree.join("a.txt").exists());
        assert!(!self.worktree.join("AGENTS.md").exists());
        let config = fs::read_to_string(self.folder.path().join("repo/.git/config"));
        assert!(!config.expect("settings").contains("accord"));
    }
}

fn text(value: &Value) -> String {
    value.as_str().expect("an id is text").to_owned()
}

#[expect(
    clippy::disallowed_methods,
    reason = "what a test lays out need not survive a crash"
)]
fn put(path: &Path, content: &str) {
    fs::create_dir_all(path.parent().expect("a folder")).expect("a folder can be made");
    fs::write(path, content).expect("a file can be written");
}

fn git(folder: &Path, arguments: &[&str]) {
    let mut command = Command::new("git");
    let named = ["-c", "user.name=t", "-c", "user.email=t@example.com"];
    let status = command
        .arg("-C")
        .arg(folder)
        .args(named)
        .args(arguments)
        .status();
    assert!(status.expect("git runs").success(), "git {arguments:?}");
}

fn until(what: &str, is_so: impl Fn() -> bool) {
    let deadline = Instant::now() + PATIENCE;
    while !is_so() {
        assert!(Instant::now() < deadline, "{what}: not in time");
        thread::yield_now();
    }
}

#[test]
fn a_worker_that_ends_under_the_next_gateway_is_cleaned_up_after_by_it() {
    let mut office = Office::with_worker();
    office.kill_the_gateway();
    office.call("workspace.open", json!({}));
    assert!(office.worktree.join("AGENTS.md").exists(), "it still works");
    office.let_the_worker_end();
    office.call("session.collect", json!({"session_ref": "s"}));
    office.assert_proposed_and_tidy();
}

#[test]
fn a_worker_that_ended_without_any_gateway_is_cleaned_up_after_by_the_next_one() {
    let mut office = Office::with_worker();
    let pid = fs::read_to_string(office.folder.path().join("edited")).unwrap();
    let process = PathBuf::from(format!("/proc/{}/stat", pid.trim()));
    office.kill_the_gateway();
    office.let_the_worker_end();
    until("the worker ends", || {
        let stat = fs::read_to_string(&process).unwrap_or_default();
        stat.is_empty() || stat.contains(") Z ")
    });
    office.call("session.list", json!({}));
    office.assert_proposed_and_tidy();
}
