//! The gateway on a failing disk.
#![cfg(target_os = "linux")]

use std::{
    path::{Path, PathBuf},
    process::Command,
};

use rpc::{Client, client::Error};
use serde_json::{Value, json};
use tempfile::TempDir;
use testkit::ServeProcess;
use tokio::task::JoinSet;

/// A home on a disk whose faults are controlled by the trigger file.
struct FaultyDisk {
    home: TempDir,
    tools: TempDir,
}

impl FaultyDisk {
    fn new() -> Self {
        let folder = || tempfile::tempdir().expect("a temporary folder can be made");
        let disk = Self {
            home: folder(),
            tools: folder(),
        };
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cli/faults/shim.c");
        let compiled = Command::new("cc")
            .args(["-shared", "-fPIC", "-O1", "-o"])
            .arg(disk.shim())
            .arg(source)
            .arg("-ldl")
            .status();
        assert!(compiled.expect("there is a C compiler").success());
        disk
    }

    fn shim(&self) -> PathBuf {
        self.tools.path().join("shim.so")
    }

    fn trigger(&self) -> PathBuf {
        self.tools.path().join("trigger")
    }

    fn serve(&self) -> ServeProcess {
        let mut command = Command::new(env!("CARGO_BIN_EXE_ac"));
        command.env("LD_PRELOAD", self.shim());
        command.env("ACCORD_FAULTS", self.trigger());
        ServeProcess::start(command, self.home.path())
    }

    fn fail(&self, fault: &str) {
        let written = gateway::replace_file(&self.trigger(), fault.as_bytes());
        written.expect("the trigger can be written");
    }

    /// Returns the files that were synced since the disk became slow, without the index, which is derived and built in
    /// the background.
    fn syncs(&self) -> Vec<String> {
        let path = self.trigger().with_added_extension("syncs");
        let text = std::fs::read_to_string(path).unwrap_or_default();
        text.lines()
            .filter(|path| !path.contains("index.sqlite"))
            .map(ToOwned::to_owned)
            .collect()
    }

    fn repair(&self) {
        std::fs::remove_file(self.trigger()).expect("the trigger was there");
    }
}

async fn create(client: &Client, name: &str) -> Result<Value, Error> {
    let params = json!({"workspace_id": "ws_a", "name": name});
    client.call_raw("thread/folder/create", params).await
}

async fn names(client: &Client) -> Vec<String> {
    let tree = client
        .call_raw("thread/tree", json!({"workspace_id": "ws_a"}))
        .await;
    let tree = tree.expect("the tree can be read");
    let folders = tree["folders"].as_array().expect("folders are a list");
    let name = |folder: &Value| folder["name"].as_str().expect("a name is text").to_owned();
    folders.iter().map(name).collect()
}

/// Connects a client and creates a workspace and a folder while the disk works.
async fn with_a_folder(serving: &ServeProcess) -> Client {
    let client = serving.client().await;
    let workspace = json!({"workspace_id": "ws_a"});
    let created = client.call_raw("workspace/create", workspace).await;
    created.expect("the disk is well");
    create(&client, "before").await.expect("the disk is well");
    client
}

#[tokio::test]
async fn a_write_that_may_not_be_on_the_disk_is_not_acknowledged_and_ends_the_process() {
    let disk = FaultyDisk::new();
    let mut serving = disk.serve();
    let client = with_a_folder(&serving).await;

    disk.fail("fsync");
    let answer = create(&client, "lost").await;
    assert_eq!(answer, Err(Error::Closed));
    let (status, complaint) = serving.wait();
    assert_eq!(status.code(), Some(70), "{complaint}");
    let sentence = "error: the disk failed to store a write (fsync): the gateway stops, because writes are no longer durable";
    assert!(
        complaint.lines().any(|line| line == sentence),
        "{complaint}"
    );

    disk.repair();
    let serving = disk.serve();
    let client = serving.client().await;
    let found = names(&client).await;
    assert!(found.contains(&"before".to_owned()), "{found:?}");
    create(&client, "after").await.unwrap();
}

#[tokio::test]
async fn a_full_disk_refuses_writes_answers_reads_and_recovers() {
    let disk = FaultyDisk::new();
    let serving = disk.serve();
    let client = with_a_folder(&serving).await;

    disk.fail("enospc");
    for _ in 0..3 {
        let Err(Error::Rpc { code, data, .. }) = create(&client, "refused").await else {
            panic!("the disk is full");
        };
        assert_eq!((code, &data["kind"]), (-32600, &json!("quota_exceeded")));
        assert_eq!(names(&client).await, ["before"]);
    }

    disk.repair();
    create(&client, "later").await.unwrap();
    assert_eq!(names(&client).await, ["before", "later"]);
    drop(serving);

    let serving = disk.serve();
    let client = serving.client().await;
    assert_eq!(names(&client).await, ["before", "later"]);
}

#[tokio::test]
async fn a_failing_checkpoint_loses_nothing() {
    let disk = FaultyDisk::new();
    let mut serving = disk.serve();
    let client = with_a_folder(&serving).await;
    let mut expected = vec!["before".to_owned()];
    disk.fail("checkpoint");
    // More pages than the checkpoint threshold of the log, so that the gateway attempts a checkpoint with every commit.
    for number in 0..400 {
        let name = format!("folder {number:03}");
        create(&client, &name).await.unwrap();
        expected.push(name);
    }
    let log = disk.home.path().join("gateway.db-wal");
    let pages = std::fs::metadata(log).unwrap().len() / 4096;
    assert!(pages > 1000, "{pages} pages in the log");
    serving.signal("KILL");
    serving.wait();

    disk.repair();
    let serving = disk.serve();
    let client = serving.client().await;
    assert_eq!(names(&client).await, expected);
}

/// A company folder with a project, created while the disk is fast.
struct CompanyFolder {
    folder: TempDir,
    project: String,
}

impl CompanyFolder {
    async fn new(client: &Client) -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        let root = folder.path().canonicalize().expect("it is there");
        let call = |method: &'static str, params: Value| client.call_raw(method, params);
        let init = json!({"workspace_dir": root, "company_name": "Acme"});
        call("workspace.init", init)
            .await
            .expect("the disk is well");
        let project = json!({"workspace_dir": root, "name": "Alpha"});
        let made = call("workspace.project.create_with_defaults", project).await;
        let made = made.expect("the disk is well");
        let project = made["project_id"].as_str().expect("an id").to_owned();
        Self { folder, project }
    }

    fn root(&self) -> PathBuf {
        self.folder.path().canonicalize().expect("it is there")
    }
}

/// Calls a method `count` times, `at_once` calls at a time, and returns their results.
async fn pipelined(
    client: &std::sync::Arc<Client>,
    (count, at_once): (usize, usize),
    call: impl Fn(usize) -> (&'static str, Value),
) -> Vec<Result<Value, Error>> {
    let (mut answers, mut running) = (Vec::new(), JoinSet::new());
    for number in 0..count {
        if running.len() == at_once {
            let ended = running.join_next().await.expect("some are running");
            answers.push(ended.expect("the call did not panic"));
        }
        let (method, params) = call(number);
        let client = std::sync::Arc::clone(client);
        running.spawn(async move { client.call_raw(method, params).await });
    }
    while let Some(ended) = running.join_next().await {
        answers.push(ended.expect("the call did not panic"));
    }
    answers
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn messages_that_are_sent_together_share_syncs_and_survive_a_kill() {
    let disk = FaultyDisk::new();
    let mut serving = disk.serve();
    let client = std::sync::Arc::new(serving.client().await);
    let company = CompanyFolder::new(&client).await;
    let (root, project) = (company.root(), company.project.clone());
    let channel = json!({
        "workspace_dir": root, "scope": "project", "project_id": project,
        "name": "Talk", "slug": "talk", "visibility": "org", "created_by": "human",
    });
    let made = client
        .call_raw("conversation.create_channel", channel)
        .await;
    let conversation = made.expect("the disk is well")["id"].clone();

    disk.fail("slow");
    let sent = pipelined(&client, (1000, 16), |number| {
        let message = json!({
            "workspace_dir": root, "scope": "project", "project_id": project,
            "conversation_id": conversation, "author_id": "human", "author_role": "human",
            "body": format!("message {number}"),
        });
        ("conversation.message.send", message)
    });
    let sent = sent.await;
    serving.signal("KILL");
    serving.wait();
    let failed: Vec<_> = sent
        .iter()
        .filter_map(|answer| answer.as_ref().err())
        .collect();
    assert!(
        failed.is_empty(),
        "{} of 1000: {:?}",
        failed.len(),
        failed[0]
    );
    let syncs = disk.syncs();
    assert!(syncs.len() <= 80, "{} syncs", syncs.len());

    let log = root.join(format!(
        "work/projects/{project}/conversations/{}/messages.jsonl",
        conversation.as_str().expect("an id")
    ));
    let lines = std::fs::read_to_string(log).expect("the log is there");
    let mut bodies: Vec<_> = lines
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).expect("a whole line")["body"].clone())
        .collect();
    bodies.sort_by_key(Value::to_string);
    let mut expected: Vec<_> = (0..1000)
        .map(|number| json!(format!("message {number}")))
        .collect();
    expected.sort_by_key(Value::to_string);
    assert_eq!(bodies, expected);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_run_costs_at_most_four_syncs() {
    let disk = FaultyDisk::new();
    let serving = disk.serve();
    let client = serving.client().await;
    let company = CompanyFolder::new(&client).await;
    let (root, project) = (company.root(), company.project.clone());
    let run = json!({
        "workspace_dir": root, "project_id": project, "agent_id": "agent_a", "provider": "cmd",
    });
    // The first run creates the folders that all runs share.
    let made = client.call_raw("run.create", run.clone()).await;
    made.expect("the disk is well");

    disk.fail("slow");
    client.call_raw("run.create", run).await.unwrap();
    // The gateway invokes `syncfs` as a direct system call, which the shim cannot intercept.
    let syncs = disk.syncs();
    assert!(syncs.len() < 4, "{syncs:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn comments_that_are_added_together_share_syncs_and_survive_a_kill() {
    let disk = FaultyDisk::new();
    let mut serving = disk.serve();
    let client = std::sync::Arc::new(serving.client().await);
    let company = CompanyFolder::new(&client).await;
    let (root, project) = (company.root(), company.project.clone());
    let run = json!({
        "workspace_dir": root, "project_id": project, "agent_id": "agent_a", "provider": "cmd",
    });
    let made = client.call_raw("run.create", run).await;
    let run_id = made.expect("the disk is well")["run_id"].clone();
    let comment = |number: usize| {
        let comment = json!({
            "workspace_dir": root, "project_id": project, "author_id": "human",
            "author_role": "human", "body": format!("comment {number}"), "target_run_id": run_id,
        });
        ("comment.add", comment)
    };
    // The first comment creates the folder of all comments.
    let (method, first) = comment(0);
    client.call_raw(method, first).await.unwrap();

    disk.fail("slow");
    let commented = pipelined(&client, (96, 16), |number| comment(number + 1)).await;
    serving.signal("KILL");
    serving.wait();
    for answer in commented {
        answer.unwrap();
    }
    let syncs = disk.syncs();
    assert!(syncs.len() <= 48, "{} syncs", syncs.len());

    disk.repair();
    let serving = disk.serve();
    let client = serving.client().await;
    let wanted = json!({"workspace_dir": root, "project_id": project, "limit": 500});
    let listed = client.call_raw("comment.list", wanted).await.unwrap();
    assert_eq!(listed.as_array().expect("a list").len(), 97);
    let log = root.join(format!(
        "work/projects/{project}/runs/{}/events.jsonl",
        run_id.as_str().expect("an id")
    ));
    let events = std::fs::read_to_string(log).expect("the log is there");
    assert_eq!(events.matches("\"comment.added\"").count(), 97);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_process_that_stalls_between_creating_and_locking_the_write_lock_keeps_it() {
    let disk = FaultyDisk::new();
    let serving = disk.serve();
    let client = serving.client().await;
    let company = CompanyFolder::new(&client).await;
    let root = company.root();
    let another_home = tempfile::tempdir().expect("a temporary folder can be made");
    let command = Command::new(env!("CARGO_BIN_EXE_ac"));
    let mut other = testkit::StdioProcess::start(command, another_home.path());
    let project = |name: &str| json!({"workspace_dir": root, "name": name});
    other
        .call("workspace.trust", &json!({"workspace_dir": root}))
        .expect("a company");

    disk.fail("stall");
    let stalled = tokio::spawn({
        let params = project("Stalled");
        async move {
            client
                .call_raw("workspace.project.create_with_defaults", params)
                .await
        }
    });
    let lock = root.join(".local/locks/workspace.write.lock");
    testkit::until("the lock file is created", || lock.exists());
    other
        .call("workspace.project.create_with_defaults", &project("Other"))
        .expect("it waits for its turn");
    let listed = other.call("workspace.projects.list", &json!({"workspace_dir": root}));
    let listed = listed.expect("a list").to_string();
    assert!(
        listed.contains("Stalled"),
        "two processes held the lock: {listed}"
    );
    stalled.await.unwrap().unwrap();
    assert!(!lock.exists(), "the lock is released");
}
