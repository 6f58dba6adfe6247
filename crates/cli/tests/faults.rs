//! The gateway on a disk that fails.
#![cfg(target_os = "linux")]

use std::{
    path::{Path, PathBuf},
    process::Command,
};

use rpc::{Client, client::Error};
use serde_json::{Value, json};
use tempfile::TempDir;
use testkit::ServeProcess;

/// A home on a disk that does what the trigger file says.
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
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/faults/shim.c");
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

/// A client that has made a workspace and a folder while the disk was well.
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
    let sentence = "error: the disk failed to store a write (fsync): the gateway stops, because it could not keep its promises";
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
    // More pages than the log should have: with every commit the gateway tries to move them into the file.
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
