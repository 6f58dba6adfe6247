//! The instruction file of a worker whose gateway is killed: the next gateway removes it and proposes its changes.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use serde_json::json;
use testkit::{Office, put, put_program, text, until};

/// A worker that runs in a worktree.
struct Worker {
    office: Office,
    workspace: String,
    worktree: PathBuf,
}

impl Worker {
    /// Starts a worker that edits its file, waits for a file `go` and ends.
    fn start() -> Self {
        let mut office = Office::open(env!("CARGO_BIN_EXE_ac"));
        let (place, dir) = (office.place().to_owned(), office.dir());
        let repo = place.join("repo");
        put(&repo.join("a.txt"), "one\n");
        for arguments in [
            &["init", "-q", "-b", "main"][..],
            &["add", "-A"],
            &["commit", "-q", "-m", "first"],
        ] {
            git(&repo, arguments);
        }
        let listed = office.call("workspace/list", json!({}));
        let workspace = text(&listed["workspaces"][0]["id"]);
        let save = json!({"workspace_id": workspace, "content": "Use tabs.\n"});
        office.call("thread/agents_doc/save", save);
        let project = office.project.clone();
        put(
            &office.project_dir().join("tasks/task_1.md"),
            &format!(
                "---\nschema_version: 1\ntype: task\nid: task_1\nproject_id: {project}\ntitle: T\n\
                 created_at: \"2024-06-01T10:00:00.000Z\"\nstatus: draft\nvisibility: team\n\
                 scope:\n  requires_worktree_isolation: true\nmilestones: []\n---\n\n## Contract\n\n## Milestones\n"
            ),
        );
        let (program, at) = (place.join("worker"), place.display());
        put_program(
            &program,
            &format!(
                "#!/bin/sh\ncat > /dev/null\necho 'Use spaces.' > AGENTS.md\necho $$ > {at}/pid\n\
                 mv {at}/pid {at}/edited\nwhile [ ! -e {at}/go ]; do sleep 0.02; done\n"
            ),
        );
        put(
            &dir.join(".local/machine.yaml"),
            &format!(
                "schema_version: 1\ntype: machine\nrepo_roots:\n  site: {}\nprovider_bins:\n  codex: {}\n",
                repo.display(),
                program.display()
            ),
        );
        let (run, _) = office.run("agent_w", "codex");
        let launch = json!({
            "project_id": project, "run_id": run, "session_ref": "s", "prompt_text": "Work.",
            "repo_id": "site", "task_id": "task_1", "apply_guard": false,
        });
        assert_eq!(office.call("session.launch", launch)["state"], "running");
        let edited = place.join("edited");
        until("the worker edits its file", || edited.exists());
        Self {
            office,
            workspace,
            worktree: dir.join(format!(".local/worktrees/{project}/task_1/{run}")),
        }
    }

    fn goes_on(&self) {
        put(&self.office.place().join("go"), "");
    }

    fn assert_proposed_and_tidy(&mut self) {
        let list = json!({"workspace_id": self.workspace});
        let found = self.office.call("thread/agents_doc/proposal/list", list);
        let items = found["items"].as_array().expect("a list");
        assert_eq!(items.len(), 1, "{found}");
        assert_eq!(items[0]["author"], "agent_w");
        assert_eq!(
            items[0]["diff"],
            "--- a/AGENTS.md\n+++ b/AGENTS.md\n@@ -1 +1 @@\n-Use tabs.\n+Use spaces.\n"
        );
        assert!(self.worktree.join("a.txt").exists());
        assert!(!self.worktree.join("AGENTS.md").exists());
        let config = fs::read_to_string(self.office.place().join("repo/.git/config"));
        assert!(!config.expect("settings").contains("accord"));
    }
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

#[test]
fn a_worker_that_ends_under_the_next_gateway_is_cleaned_up_after_by_it() {
    let mut worker = Worker::start();
    worker.office.kill_the_gateway();
    worker.office.call("workspace.open", json!({}));
    assert!(worker.worktree.join("AGENTS.md").exists(), "it still works");
    worker.goes_on();
    worker
        .office
        .call("session.collect", json!({"session_ref": "s"}));
    worker.assert_proposed_and_tidy();
}

#[test]
fn a_worker_that_ended_without_any_gateway_is_cleaned_up_after_by_the_next_one() {
    let mut worker = Worker::start();
    let pid = fs::read_to_string(worker.office.place().join("edited")).unwrap();
    let process = PathBuf::from(format!("/proc/{}/stat", pid.trim()));
    worker.office.kill_the_gateway();
    worker.goes_on();
    until("the worker ends", || {
        let stat = fs::read_to_string(&process).unwrap_or_default();
        stat.is_empty() || stat.contains(") Z ")
    });
    worker.office.call("session.list", json!({}));
    worker.assert_proposed_and_tidy();
}
