//! A company folder from another machine is only data until a person trusts it.

use std::{
    fs,
    os::unix::fs::{PermissionsExt as _, symlink},
    path::Path,
    process::{Child, Command},
};

use rpc::{Client, client::Error};
use serde_json::{Value, json};
use tempfile::TempDir;
use testkit::{TestGateway, put, put_program};

/// A company created on another machine, with that machine's local settings.
struct FromElsewhere {
    gateway: TestGateway,
    owner: Client,
    folder: TempDir,
    project: String,
}

impl FromElsewhere {
    async fn new() -> Self {
        let theirs = testkit::gateway().await;
        let (folder, project) = testkit::company(&theirs.client()).await;
        let gateway = testkit::gateway().await;
        let owner = gateway.client();
        let elsewhere = Self {
            gateway,
            owner,
            folder,
            project,
        };
        let program = elsewhere.folder.path().with_extension("codex");
        put_program(
            &program.join("codex"),
            &format!("#!/bin/sh\ntouch {}\n", elsewhere.started().display()),
        );
        let machine = format!(
            "schema_version: 1\ntype: machine\nrepo_roots: {{}}\nprovider_bins:\n  codex: {}\n",
            program.join("codex").display()
        );
        put(&elsewhere.local("machine.yaml"), &machine);
        elsewhere
    }

    fn local(&self, path: &str) -> std::path::PathBuf {
        self.folder.path().join(".local").join(path)
    }

    /// The file created by the program that the folder configures.
    fn started(&self) -> std::path::PathBuf {
        self.folder.path().with_extension("started")
    }

    async fn call(
        &self,
        client: &Client,
        method: &str,
        mut params: Value,
    ) -> Result<Value, String> {
        params["workspace_dir"] = json!(self.folder.path());
        params["project_id"] = json!(self.project);
        match client.call_raw(method, params).await {
            Ok(answer) => Ok(answer),
            Err(Error::Rpc { data, .. }) => Err(data["reason_code"].to_string()),
            Err(error) => panic!("{method}: {error}"),
        }
    }

    async fn trust(&self) {
        let trusted = self.call(&self.owner, "workspace.trust", json!({})).await;
        assert_eq!(trusted.expect("a company")["trusted"], true);
    }
}

/// Returns every file below a directory with its content.
fn tree(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() && !path.is_symlink() {
            found.extend(tree(&path))
        } else {
            found.push((
                path.display().to_string(),
                fs::read(&path).unwrap_or_default(),
            ))
        }
    }
    found.sort();
    found
}

#[tokio::test]
async fn a_folder_from_elsewhere_is_read_and_neither_changed_nor_believed() {
    let elsewhere = FromElsewhere::new().await;
    let before = tree(elsewhere.folder.path());
    for method in [
        "workspace.open",
        "workspace.validate",
        "workspace.doctor",
        "workspace.projects.list",
        "adapter.status",
        "pm.recommend_allocations",
        "monitor.snapshot",
        "inbox.snapshot",
        "session.list",
        "job.list",
        "heartbeat.status",
    ] {
        let answer = elsewhere.call(&elsewhere.owner, method, json!({})).await;
        assert!(answer.is_ok(), "{method}: {answer:?}");
    }
    let snapshot =
        json!({"view": "home", "scope": "project", "actor_id": "human", "actor_role": "human"});
    let shown = elsewhere
        .call(&elsewhere.owner, "desktop.bootstrap.snapshot", snapshot)
        .await;
    assert!(shown.is_ok(), "{shown:?}");
    assert_eq!(tree(elsewhere.folder.path()), before);
    assert!(!elsewhere.started().exists());

    let run = json!({"agent_id": "agent_a", "provider": "cmd"});
    let refused = elsewhere
        .call(&elsewhere.owner, "run.create", run.clone())
        .await;
    assert_eq!(refused, Err("\"WORKSPACE_UNTRUSTED\"".to_owned()));
    assert_eq!(tree(elsewhere.folder.path()), before);

    let told = elsewhere
        .call(&elsewhere.owner, "workspace.trust.get", json!({}))
        .await;
    let told = told.expect("a company");
    assert_eq!(told["trusted"], false);
    assert!(
        told["programs"]["codex"]
            .as_str()
            .is_some_and(|bin| bin.ends_with("codex"))
    );
    elsewhere.trust().await;
    let made = elsewhere.call(&elsewhere.owner, "run.create", run).await;
    assert!(made.is_ok(), "{made:?}");
}

#[tokio::test]
async fn a_folder_that_was_made_here_is_trusted_and_one_can_take_that_back() {
    let gateway = testkit::gateway().await;
    let owner = gateway.client();
    let (folder, project) = testkit::company(&owner).await;
    let here = FromElsewhere {
        gateway,
        owner,
        folder,
        project,
    };
    let ignored = fs::read_to_string(here.folder.path().join(".gitignore")).expect("a file");
    assert!(ignored.lines().any(|line| line == "/.local/"));
    let run = json!({"agent_id": "agent_a", "provider": "cmd"});
    let made = here.call(&here.owner, "run.create", run.clone()).await;
    assert!(made.is_ok(), "{made:?}");
    let withdrawn = here
        .call(&here.owner, "workspace.trust.withdraw", json!({}))
        .await;
    assert_eq!(withdrawn.expect("a company")["trusted"], false);
    let refused = here.call(&here.owner, "run.create", run).await;
    assert_eq!(refused, Err("\"WORKSPACE_UNTRUSTED\"".to_owned()));
}

#[tokio::test]
async fn a_folder_without_its_empty_folders_can_be_looked_at_before_it_is_trusted() {
    let elsewhere = FromElsewhere::new().await;
    let owner = &elsewhere.owner;
    // Git does not store empty directories, and the settings of the other machine are not part of the clone.
    for empty in ["inbox/reviews", "inbox/help_requests", "company/migrations"] {
        fs::remove_dir(elsewhere.folder.path().join(empty)).expect("an empty folder");
    }
    fs::remove_dir_all(elsewhere.folder.path().join(".local")).expect("a folder");
    let opened = elsewhere.call(owner, "workspace.open", json!({})).await;
    opened.expect("a company");
    let listed = owner
        .call_raw("workspace/list", json!({}))
        .await
        .expect("a list");
    let dir = elsewhere.folder.path().canonicalize().expect("a folder");
    let text = listed.to_string();
    assert!(text.contains(&*dir.to_string_lossy()), "{text}");
    let looked = elsewhere.call(owner, "workspace.doctor", json!({})).await;
    let looked = looked.expect("a report");
    let checks = looked["checks"].as_array().expect("checks");
    let trust = checks.iter().find(|check| check["id"] == "workspace.trust");
    assert_eq!(trust.expect("a check")["status"], "warn");
    assert!(
        !checks.iter().any(|check| check["id"] == "machine.config"),
        "{looked}"
    );
    elsewhere.trust().await;
    let run = json!({"agent_id": "agent_a", "provider": "cmd"});
    elsewhere
        .call(owner, "run.create", run)
        .await
        .expect("a run");
    assert!(elsewhere.folder.path().join(".gitignore").is_file());
}

#[tokio::test]
async fn an_import_with_the_settings_of_another_machine_is_not_trusted() {
    let elsewhere = FromElsewhere::new().await;
    let owner = &elsewhere.owner;
    let places = tempfile::tempdir().expect("a folder");
    for (name, include_local) in [("with", true), ("without", false)] {
        let place = places.path().join(name);
        let import = json!({"src_dir": elsewhere.folder.path(), "workspace_dir": place, "include_local": include_local});
        owner
            .call_raw("workspace.import", import)
            .await
            .expect("a company");
        let folder = json!({"workspace_dir": place});
        let told = owner
            .call_raw("workspace.trust.get", folder)
            .await
            .expect("a company");
        assert_eq!(told["trusted"], !include_local, "{name}");
    }
}

#[tokio::test]
async fn trust_is_given_to_what_the_person_saw() {
    let elsewhere = FromElsewhere::new().await;
    let owner = &elsewhere.owner;
    let shown = elsewhere
        .call(owner, "workspace.trust.get", json!({}))
        .await;
    let shown = shown.expect("a company")["sha256"].clone();
    let machine = elsewhere.local("machine.yaml");
    let said = fs::read_to_string(&machine).expect("a file");
    put(&machine, &said.replace("/codex\n", "/other\n"));
    let trust = json!({"expected_sha256": shown});
    let refused = elsewhere
        .call(owner, "workspace.trust", trust.clone())
        .await;
    assert_eq!(refused, Err("\"VERSION_CONFLICT\"".to_owned()));
    let told = elsewhere
        .call(owner, "workspace.trust.get", json!({}))
        .await;
    assert_eq!(told.expect("a company")["trusted"], false);
    put(&machine, &said);
    let told = elsewhere.call(owner, "workspace.trust", trust).await;
    assert_eq!(told.expect("a company")["trusted"], true);
}

#[tokio::test]
async fn trust_is_not_withdrawn_while_something_runs() {
    let elsewhere = FromElsewhere::new().await;
    elsewhere.trust().await;
    let owner = &elsewhere.owner;
    let run = json!({"agent_id": "agent_a", "provider": "cmd"});
    let run = elsewhere
        .call(owner, "run.create", run)
        .await
        .expect("a run");
    let launch = json!({"run_id": run["run_id"], "argv": ["sleep", "600"]});
    let launched = elsewhere.call(owner, "session.launch", launch).await;
    let session = json!({"session_ref": launched.expect("a session")["session_ref"]});
    let withdrawn = elsewhere
        .call(owner, "workspace.trust.withdraw", json!({}))
        .await;
    assert_eq!(withdrawn, Err("\"BUSY\"".to_owned()));
    for method in ["session.stop", "session.collect"] {
        let stopped = elsewhere.call(owner, method, session.clone()).await;
        stopped.expect("it can be stopped");
    }
    let withdrawn = elsewhere
        .call(owner, "workspace.trust.withdraw", json!({}))
        .await;
    assert_eq!(withdrawn.expect("a company")["trusted"], false);
}

#[tokio::test]
async fn only_a_person_who_may_execute_trusts_a_folder() {
    let elsewhere = FromElsewhere::new().await;
    let gateway = &elsewhere.gateway;
    let reader = gateway.client_with_token(&["read"], &[]).await;
    let writer = gateway.client_with_token(&["read", "write"], &[]).await;
    let all = ["read", "write", "spend", "exec"];
    let head = gateway.client_with_role("ceo", &all, &[]).await;
    for client in [&reader, &writer, &head] {
        let refused = elsewhere.call(client, "workspace.trust", json!({})).await;
        assert_eq!(refused, Err("\"FORBIDDEN\"".to_owned()));
    }
    let person = gateway.client_with_role("human", &["exec"], &[]).await;
    let trusted = elsewhere.call(&person, "workspace.trust", json!({})).await;
    assert_eq!(trusted.expect("a company")["trusted"], true);
}

#[tokio::test]
async fn programs_are_started_only_for_callers_that_may_execute() {
    let elsewhere = FromElsewhere::new().await;
    elsewhere.trust().await;
    let reader = elsewhere.gateway.client_with_token(&["read"], &[]).await;
    for method in [
        "adapter.status",
        "workspace.doctor",
        "pm.recommend_allocations",
    ] {
        let answer = elsewhere.call(&reader, method, json!({})).await;
        assert!(answer.is_ok(), "{method}: {answer:?}");
        assert!(!elsewhere.started().exists(), "{method}");
    }
    let answer = elsewhere
        .call(&elsewhere.owner, "adapter.status", json!({}))
        .await;
    assert!(answer.is_ok(), "{answer:?}");
    assert!(elsewhere.started().exists(), "the owner may");
}

#[tokio::test]
async fn a_program_inside_of_the_folder_is_never_started() {
    let elsewhere = FromElsewhere::new().await;
    elsewhere.trust().await;
    let inside = elsewhere.local("worktrees/run_x/codex");
    let touch = format!("#!/bin/sh\ntouch {}\n", elsewhere.started().display());
    put_program(&inside, &touch);
    let machine = format!(
        "schema_version: 1\ntype: machine\nrepo_roots: {{}}\nprovider_bins:\n  codex: {}\n",
        inside.display()
    );
    put(&elsewhere.local("machine.yaml"), &machine);
    let answer = elsewhere
        .call(&elsewhere.owner, "adapter.status", json!({}))
        .await;
    let rows = answer.expect("a list");
    assert_eq!(rows[0]["available"], false, "{rows}");
    assert!(!elsewhere.started().exists());
}

/// An unrelated process of the same account.
struct Bystander(Child);

impl Bystander {
    fn start() -> Self {
        Self(Command::new("sleep").arg("60").spawn().expect("a process"))
    }

    fn is_alive(&mut self) -> bool {
        self.0.try_wait().expect("a child").is_none()
    }
}

impl Drop for Bystander {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[tokio::test]
async fn a_forged_session_record_ends_no_process() {
    let elsewhere = FromElsewhere::new().await;
    elsewhere.trust().await;
    let run = json!({"agent_id": "agent_a", "provider": "cmd"});
    let run = elsewhere
        .call(&elsewhere.owner, "run.create", run)
        .await
        .expect("a run");
    let mut bystander = Bystander::start();
    let record = format!(
        "schema_version: 1\ntype: session_record\nsession_ref: forged\nworkspace_dir: {}\nproject_id: {}\n\
         run_id: {}\nstatus: running\nexit_code: null\nsignal: null\nstarted_at_ms: 1\npid: {}\n",
        elsewhere.folder.path().display(),
        elsewhere.project,
        run["run_id"].as_str().expect("an id"),
        bystander.0.id()
    );
    put(&elsewhere.local("sessions/forged.yaml"), &record);
    for stream in ["stdout", "stderr"] {
        let pipe = elsewhere.local(&format!("sessions/forged.{stream}"));
        let made = Command::new("mkfifo").arg(&pipe).status();
        assert!(made.expect("mkfifo").success());
    }
    let opened = elsewhere
        .call(&elsewhere.owner, "workspace.open", json!({}))
        .await;
    assert!(opened.is_ok(), "{opened:?}");
    let session = json!({"session_ref": "forged"});
    let stopped = elsewhere
        .call(&elsewhere.owner, "session.stop", session.clone())
        .await;
    let stopped = stopped.expect("a state");
    let why = stopped["error"].as_str().unwrap_or_default();
    assert!(why.contains("left alone"), "{stopped}");
    let polled = elsewhere
        .call(&elsewhere.owner, "session.poll", session)
        .await;
    assert!(polled.is_ok(), "{polled:?}");
    assert!(bystander.is_alive());
}

#[tokio::test]
async fn a_forged_intent_writes_nothing() {
    let elsewhere = FromElsewhere::new().await;
    elsewhere.trust().await;
    let victim = elsewhere.folder.path().with_extension("victim");
    put(&victim, "mine");
    let name = victim
        .file_name()
        .and_then(|name| name.to_str())
        .expect("a name");
    let intent = json!({
        "schema_version": 1, "created_at": "2026-01-01T00:00:00.000Z", "dirs": [], "events": [], "removed": [],
        "files": [
            {"path": format!("../{name}"), "before_sha256": null, "content": "theirs"},
            {"path": "company/planted.yaml", "before_sha256": null, "content": "theirs"},
        ],
    });
    for (place, note) in [
        ("intents/a.json", intent.clone()),
        ("intents/b.json", json!({"seal": "00", "note": intent})),
    ] {
        put(&elsewhere.local(place), &note.to_string());
    }
    let run = json!({"agent_id": "agent_a", "provider": "cmd"});
    let made = elsewhere.call(&elsewhere.owner, "run.create", run).await;
    assert!(made.is_ok(), "{made:?}");
    assert_eq!(fs::read_to_string(&victim).expect("a file"), "mine");
    assert!(
        !elsewhere
            .folder
            .path()
            .join("company/planted.yaml")
            .exists()
    );
}

#[tokio::test]
async fn a_linked_folder_of_outputs_takes_nothing_a_worker_prints() {
    let elsewhere = FromElsewhere::new().await;
    elsewhere.trust().await;
    let run = json!({"agent_id": "agent_a", "provider": "cmd"});
    let run = elsewhere
        .call(&elsewhere.owner, "run.create", run)
        .await
        .expect("a run");
    let run = run["run_id"].as_str().expect("an id");
    let outside = tempfile::tempdir().expect("a folder");
    let runs = format!("work/projects/{}/runs/{run}", elsewhere.project);
    let outputs = elsewhere.folder.path().join(runs).join("outputs");
    fs::remove_dir_all(&outputs).expect("a folder");
    symlink(outside.path(), &outputs).expect("a link");
    let launch = json!({"run_id": run, "argv": ["echo", "printed"]});
    let launched = elsewhere
        .call(&elsewhere.owner, "session.launch", launch)
        .await;
    if let Ok(launched) = launched {
        let session = json!({"session_ref": launched["session_ref"]});
        let _ = elsewhere
            .call(&elsewhere.owner, "session.collect", session)
            .await;
    }
    assert_eq!(tree(outside.path()), []);
}

#[tokio::test]
async fn what_a_worker_printed_is_for_the_owner_of_the_files_alone() {
    let elsewhere = FromElsewhere::new().await;
    elsewhere.trust().await;
    let run = json!({"agent_id": "agent_a", "provider": "cmd"});
    let run = elsewhere
        .call(&elsewhere.owner, "run.create", run)
        .await
        .expect("a run");
    let run = run["run_id"].as_str().expect("an id");
    let launch = json!({"run_id": run, "argv": ["echo", "printed"]});
    let launched = elsewhere
        .call(&elsewhere.owner, "session.launch", launch)
        .await;
    let session = json!({"session_ref": launched.expect("a session")["session_ref"]});
    let ended = elsewhere
        .call(&elsewhere.owner, "session.collect", session)
        .await;
    assert_eq!(ended.expect("a state")["status"], "ended");
    let outputs = format!("work/projects/{}/runs/{run}/outputs", elsewhere.project);
    for name in ["stdout.txt", "stderr.txt"] {
        let path = elsewhere.folder.path().join(&outputs).join(name);
        let mode = fs::metadata(&path).expect("a file").permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "{name}");
    }
}
