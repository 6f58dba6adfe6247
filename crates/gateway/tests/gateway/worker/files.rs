//! A worker in a worktree finds its instructions as a file, and what it makes of them is proposed.

#[path = "../../../../jobs/tests/jobs/checkout.rs"]
mod checkout;

use std::{
    fs,
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
    process::Command,
};

use checkout::during_checkout;
use rpc::Client;
use serde_json::{Value, json};
use tempfile::TempDir;
use testkit::TestGateway;

const RULES: &str = "# Rules\n\nUse tabs.\n";
/// The drivers and the file that each program reads by itself.
const FILES: [(&str, &str); 3] = [
    ("codex", "AGENTS.md"),
    ("claude", "CLAUDE.md"),
    ("gemini", "GEMINI.md"),
];

/// A company with a project whose rules are [`RULES`], and a repository that its tasks are about.
struct Office {
    _running: TestGateway,
    client: Client,
    folder: TempDir,
    workspace: String,
    project: String,
    /// The folder of the project in the tree.
    tree_folder: String,
}

impl Office {
    async fn new() -> Self {
        let running = testkit::gateway().await;
        let client = running.client();
        let folder = tempfile::tempdir().expect("a folder");
        let dir = folder.path().join("acme");
        let call = async |method: &str, params: Value| {
            client.call_raw(method, params).await.expect(method)
        };
        call("workspace.init", json!({"workspace_dir": dir})).await;
        let params = json!({"workspace_dir": dir, "name": "Alpha"});
        let made = call("workspace.project.create_with_defaults", params).await;
        let listed = call("workspace/list", json!({})).await;
        let workspace = text(&listed["workspaces"][0]["id"]);
        let tree = call("thread/tree", json!({"workspace_id": workspace})).await;
        let office = Self {
            workspace,
            project: text(&made["project_id"]),
            tree_folder: text(&tree["folders"][0]["id"]),
            _running: running,
            client,
            folder,
        };
        office.repository();
        let save = json!({
            "workspace_id": office.workspace, "folder_id": office.tree_folder, "content": RULES,
        });
        office.call("thread/agents_doc/save", save).await;
        office
    }

    fn dir(&self) -> PathBuf {
        self.folder.path().join("acme")
    }

    fn repo(&self) -> PathBuf {
        self.folder.path().join("repo")
    }

    /// A repository with one commit, and a task that is done in a copy of it.
    fn repository(&self) {
        write(&self.repo().join("a.txt"), "one\n");
        git(&self.repo(), &["init", "-q", "-b", "main"]);
        git(&self.repo(), &["add", "-A"]);
        git(&self.repo(), &["commit", "-q", "-m", "first"]);
        let task = format!(
            "---\nschema_version: 1\ntype: task\nid: task_1\nproject_id: {}\ntitle: T\n\
             created_at: \"2024-06-01T10:00:00.000Z\"\nstatus: draft\nvisibility: team\n\
             scope:\n  requires_worktree_isolation: true\nmilestones: []\n---\n\n## Contract\n\n## Milestones\n",
            self.project
        );
        let tasks = format!("work/projects/{}/tasks/task_1.md", self.project);
        write(&self.dir().join(tasks), &task);
    }

    /// Lets a program of this script stand for all three.
    fn install(&self, script: &str) {
        let program = self.folder.path().join("worker");
        write(
            &program,
            &format!("#!/bin/sh\nset -e\ncat > /dev/null\n{script}\n"),
        );
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).expect("a program");
        let (program, repo) = (program.display(), self.repo());
        let machine = format!(
            "schema_version: 1\ntype: machine\nrepo_roots:\n  site: {}\nprovider_bins:\n  codex: {program}\n  \
             claude: {program}\n  gemini: {program}\n",
            repo.display()
        );
        write(&self.dir().join(".local/machine.yaml"), &machine);
    }

    async fn call(&self, method: &str, params: Value) -> Value {
        self.client.call_raw(method, params).await.expect(method)
    }

    async fn launch(&self, provider: &str, more: Value) -> (String, Value) {
        let within = json!({"workspace_dir": self.dir(), "project_id": self.project});
        let mut params = within.clone();
        params["agent_id"] = "agent_x".into();
        params["provider"] = provider.into();
        let run = text(&self.call("run.create", params).await["run_id"]);
        let mut params = within;
        for (name, value) in [
            ("run_id", json!(run)),
            ("prompt_text", json!("Fix the bug.")),
            ("repo_id", json!("site")),
            ("task_id", json!("task_1")),
            ("apply_guard", json!(false)),
        ] {
            params[name] = value;
        }
        for (name, value) in more.as_object().expect("an object") {
            params[name] = value.clone();
        }
        (run, self.call("session.launch", params).await)
    }

    /// Runs a worker to its end and answers its run and its worktree.
    async fn work(&self, provider: &str) -> (String, PathBuf) {
        let (run, launched) = self.launch(provider, json!({})).await;
        let wait = json!({"workspace_dir": self.dir(), "session_ref": launched["session_ref"]});
        let ended = self.call("session.collect", wait).await;
        assert_eq!(ended["status"], "ended", "{provider}: {ended}");
        let worktree = format!(".local/worktrees/{}/task_1/{run}", self.project);
        (run, self.dir().join(worktree))
    }

    async fn proposals(&self) -> Vec<Value> {
        let params = json!({"workspace_id": self.workspace, "status": "pending"});
        let found = self.call("thread/agents_doc/proposal/list", params).await;
        found["items"].as_array().expect("a list").clone()
    }

    /// Nothing is left of what was there for a worker.
    fn assert_tidy(&self, worktree: &Path) {
        for (_, file) in FILES {
            assert!(!worktree.join(file).exists(), "{file}");
        }
        let config = fs::read_to_string(self.repo().join(".git/config")).expect("settings");
        assert!(!config.contains("accord"), "{config}");
        let notes = fs::read_dir(self.dir().join(".local/sessions")).expect("records");
        for note in notes {
            let name = note.expect("a name").file_name();
            assert!(name.to_string_lossy().ends_with(".yaml"), "{name:?}");
        }
    }
}

fn text(value: &Value) -> String {
    value.as_str().expect("a text").to_owned()
}

fn write(path: &Path, content: &str) {
    fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
    let mut file = fs::File::create(path).expect("a file");
    std::io::Write::write_all(&mut file, content.as_bytes()).expect("room");
}

fn git(folder: &Path, arguments: &[&str]) -> String {
    let mut command = Command::new("git");
    let output = command
        .arg("-C")
        .arg(folder)
        .args(["-c", "user.name=t", "-c", "user.email=t@example.com"])
        .args(arguments)
        .output()
        .expect("git runs");
    assert!(output.status.success(), "git {arguments:?}");
    String::from_utf8(output.stdout).expect("text")
}

/// Commits everything it sees, as a careless worker does.
const COMMIT: &str = "echo two > b.txt; git add -A; git -c user.name=w -c user.email=w@example.com commit -q -m work";

#[tokio::test]
async fn each_program_finds_the_document_in_force_as_the_file_it_reads_and_no_commit_has_it() {
    let office = Office::new().await;
    for (provider, file) in FILES {
        office.install(&format!("cp {file} \"$(dirname \"$0\")/found\"\n{COMMIT}"));
        let (_, worktree) = office.work(provider).await;
        let found = fs::read_to_string(office.folder.path().join("found"));
        assert_eq!(found.expect(provider), RULES);
        let committed = git(&worktree, &["ls-tree", "--name-only", "HEAD"]);
        assert_eq!(committed, "a.txt\nb.txt\n", "{provider}");
        assert_eq!(git(&worktree, &["status", "--porcelain"]), "");
        office.assert_tidy(&worktree);
    }
    assert!(office.proposals().await.is_empty());
}

#[tokio::test]
async fn only_the_worktree_hides_the_file_and_what_the_user_hides_stays_hidden() {
    let office = Office::new().await;
    let hidden = office.folder.path().join("hidden");
    write(&hidden, "*.swp");
    let hidden = hidden.display().to_string();
    git(&office.repo(), &["config", "core.excludesFile", &hidden]);
    // What the repository itself shows while the worker runs.
    office.install(&format!(
        "touch {repo}/AGENTS.md x.swp; git -C {repo} status --porcelain > \"$(dirname \"$0\")/seen\"\n\
         rm {repo}/AGENTS.md\n{COMMIT}",
        repo = office.repo().display()
    ));
    let (_, worktree) = office.work("codex").await;
    let seen = fs::read_to_string(office.folder.path().join("seen")).unwrap();
    assert_eq!(seen, "?? AGENTS.md\n");
    let committed = git(&worktree, &["ls-tree", "--name-only", "HEAD"]);
    assert_eq!(committed, "a.txt\nb.txt\n");
}

#[tokio::test]
async fn a_file_that_is_there_is_neither_overwritten_nor_removed_nor_proposed() {
    // Tracked in one repository, and made by another program while the worktree of another is checked out.
    for is_tracked in [true, false] {
        let office = Office::new().await;
        if is_tracked {
            write(&office.repo().join("AGENTS.md"), "Ours.\n");
            git(&office.repo(), &["add", "-A"]);
            git(&office.repo(), &["commit", "-q", "-m", "rules"]);
        } else {
            during_checkout(&office.repo(), |git| {
                let worktree = format!("/proc/{git}/cwd");
                write(&Path::new(&worktree).join("AGENTS.md"), "Ours.\n");
            });
        }
        office.install("echo More. >> AGENTS.md");
        let (_, worktree) = office.work("codex").await;
        let found = fs::read_to_string(worktree.join("AGENTS.md")).unwrap();
        assert_eq!(found, "Ours.\nMore.\n");
        let shown = git(&worktree, &["status", "--porcelain"]);
        let expected = if is_tracked { " M" } else { "??" };
        assert_eq!(shown, format!("{expected} AGENTS.md\n"));
        assert!(office.proposals().await.is_empty());
    }
}

#[tokio::test]
async fn an_edit_becomes_a_proposal_of_the_agent_that_names_the_run() {
    let office = Office::new().await;
    for (provider, file) in FILES {
        office.install(&format!("echo 'By {provider}.' >> {file}\n{COMMIT}"));
        let (run, worktree) = office.work(provider).await;
        office.assert_tidy(&worktree);
        let proposals = office.proposals().await;
        let [proposal] = proposals.as_slice() else {
            panic!("{proposals:?}");
        };
        assert_eq!(proposal["author"], "agent_x");
        assert_eq!(proposal["folder_id"], office.tree_folder.as_str());
        assert_eq!(proposal["base_version"], 1);
        let rationale = format!(
            "Run `{run}` of project `{}` changed `{file}` in its worktree.",
            office.project
        );
        assert_eq!(proposal["rationale"], rationale);
        let diff = text(&proposal["diff"]);
        assert!(diff.ends_with(&format!("+By {provider}.\n")), "{diff}");
        let decide = json!({
            "workspace_id": office.workspace, "proposal_id": proposal["id"], "decision": "deny",
        });
        office
            .call("thread/agents_doc/proposal/decide", decide)
            .await;
    }
    let get = json!({"workspace_id": office.workspace, "folder_id": office.tree_folder});
    let doc = office.call("thread/agents_doc/get", get).await;
    assert_eq!(
        doc["explicit"]["content"], RULES,
        "nothing changed by itself"
    );
}

#[tokio::test]
async fn an_edit_that_cannot_be_proposed_stays_with_the_run() {
    let office = Office::new().await;
    office.install("head -c 70000 /dev/zero | tr '\\0' x > AGENTS.md");
    let (run, worktree) = office.work("codex").await;
    office.assert_tidy(&worktree);
    assert!(office.proposals().await.is_empty());
    let kept = format!(
        "work/projects/{}/runs/{run}/outputs/refused_AGENTS.md",
        office.project
    );
    assert_eq!(fs::read(office.dir().join(kept)).unwrap().len(), 70_000);
}

#[tokio::test]
async fn a_worker_that_removes_the_file_or_makes_it_part_of_the_repository_proposes_nothing() {
    let office = Office::new().await;
    office.install("rm AGENTS.md");
    let (_, worktree) = office.work("codex").await;
    office.assert_tidy(&worktree);
    office.install("git add -f AGENTS.md");
    let (_, worktree) = office.work("codex").await;
    assert_eq!(git(&worktree, &["status", "--porcelain"]), "A  AGENTS.md\n");
    assert!(office.proposals().await.is_empty());
}

#[tokio::test]
async fn a_program_that_cannot_be_started_leaves_no_file() {
    let office = Office::new().await;
    office.install("true");
    let program = office.folder.path().join("worker");
    fs::set_permissions(&program, fs::Permissions::from_mode(0o644)).unwrap();
    let within = json!({"workspace_dir": office.dir(), "project_id": office.project});
    let mut params = within.clone();
    params["agent_id"] = "agent_x".into();
    params["provider"] = "codex".into();
    let run = text(&office.call("run.create", params).await["run_id"]);
    let launch = json!({
        "workspace_dir": office.dir(), "project_id": office.project, "run_id": run, "prompt_text": "Fix the bug.",
        "repo_id": "site", "task_id": "task_1", "apply_guard": false,
    });
    let launched = office.call("session.launch", launch).await;
    assert_eq!(launched["state"], "failed", "{launched}");
    let worktree = format!(".local/worktrees/{}/task_1/{run}", office.project);
    let worktree = office.dir().join(worktree);
    assert!(worktree.join("a.txt").exists());
    office.assert_tidy(&worktree);
}

#[tokio::test]
async fn a_launch_that_is_explained_names_the_document_and_writes_nothing() {
    let office = Office::new().await;
    office.install("true");
    let (run, explained) = office.launch("claude", json!({"explain": true})).await;
    let instructions = &explained["explain"]["instructions"];
    let expected = json!([{"path": "AGENTS.md of Alpha", "delivery": "prompt_and_file"}]);
    assert_eq!(*instructions, expected);
    let worktree = format!(".local/worktrees/{}/task_1/{run}", office.project);
    assert!(!office.dir().join(worktree).exists());
    write(&office.repo().join("CLAUDE.md"), "Ours.\n");
    let (_, explained) = office.launch("claude", json!({"explain": true})).await;
    let expected = json!([{"path": "AGENTS.md of Alpha", "delivery": "prompt"}]);
    assert_eq!(explained["explain"]["instructions"], expected);
}

#[tokio::test]
async fn workers_of_one_repository_at_the_same_time_do_not_disturb_each_other() {
    let office = Office::new().await;
    office.install(&format!("test -e AGENTS.md || test -e CLAUDE.md\n{COMMIT}"));
    let (one, two, three, four) = tokio::join!(
        office.work("codex"),
        office.work("claude"),
        office.work("codex"),
        office.work("claude"),
    );
    for (_, worktree) in [one, two, three, four] {
        let committed = git(&worktree, &["ls-tree", "--name-only", "HEAD"]);
        assert_eq!(committed, "a.txt\nb.txt\n");
        office.assert_tidy(&worktree);
    }
}
