//! Several processes on one home, one of which is killed.

use std::{
    collections::BTreeSet,
    path::Path,
    process::Command,
    thread,
    time::{Duration, Instant},
};

use futures_util::{StreamExt as _, stream::FuturesUnordered};
use protocol::thread::ThreadTreeChangedNotification;
use serde_json::{Value, json};
use testkit::{ServeProcess, StdioProcess};

/// Time during which all clients write.
const STORM: Duration = Duration::from_secs(10);
/// Number of processes on standard input and output, in addition to the serving one.
const PROCESSES: usize = 8;
/// Maximum number of threads on one page of the tree.
const PAGE: usize = 5000;

fn ac() -> Command {
    Command::new(env!("CARGO_BIN_EXE_ac"))
}

/// The acknowledged writes.
#[derive(Default)]
struct Acknowledged {
    threads: BTreeSet<String>,
    folders: BTreeSet<String>,
}

/// Returns the calls of a writer in its nth round: creating and placing a thread, and occasionally creating a folder.
fn round(writer: usize, number: usize) -> [(&'static str, Value); 2] {
    let thread = format!("thr_{writer}_{number}");
    let place = json!({"workspace_id": "ws_a", "thread_id": thread, "folder_id": "fld_shared"});
    match number % 10 {
        0 => [
            (
                "thread/folder/create",
                json!({"workspace_id": "ws_a", "name": thread}),
            ),
            ("workspace/list", json!({})),
        ],
        _ => [("thread/start", place.clone()), ("thread/move", place)],
    }
}

impl Acknowledged {
    fn note(&mut self, method: &str, params: &Value, result: &Value) {
        let text = |value: &Value| value.as_str().expect("an id is text").to_owned();
        match method {
            "thread/move" => self.threads.insert(text(&params["thread_id"])),
            "thread/folder/create" => self.folders.insert(text(&result["folder"]["id"])),
            _ => false,
        };
    }

    fn join(&mut self, other: Self) {
        self.threads.extend(other.threads);
        self.folders.extend(other.folders);
    }
}

/// Reads the whole tree in a new process.
fn stored(home: &Path) -> (Acknowledged, u64) {
    let mut reader = StdioProcess::start(ac(), home);
    let mut found = Acknowledged::default();
    let mut cursor = Value::Null;
    let mut version = 0;
    loop {
        let query = json!({"workspace_id": "ws_a", "limit": PAGE, "cursor": cursor});
        let tree = reader
            .call("thread/tree", &query)
            .expect("the tree can be read");
        let ids = |part: &str, id: &str| {
            let rows = tree[part].as_array().cloned().unwrap_or_default();
            let id = |row: Value| row[id].as_str().expect("an id is text").to_owned();
            rows.into_iter().map(id).collect::<Vec<_>>()
        };
        found.folders.extend(ids("folders", "id"));
        found.threads.extend(ids("threads", "id"));
        version = tree["tree_version"].as_u64().unwrap_or(version);
        cursor = tree["next_cursor"].clone();
        if cursor.is_null() {
            return (found, version);
        }
    }
}

/// Writes until the time is over.
fn write_by_stdio(home: &Path, writer: usize, until: Instant) -> Acknowledged {
    let mut process = StdioProcess::start(ac(), home);
    let mut acknowledged = Acknowledged::default();
    for number in 0.. {
        for (method, params) in round(writer, number) {
            let result = process.call(method, &params);
            acknowledged.note(method, &params, &result.expect("every write is accepted"));
        }
        if Instant::now() > until {
            break;
        }
    }
    acknowledged
}

async fn write_by_websocket(serving: &ServeProcess, writer: usize, until: Instant) -> Acknowledged {
    let client = serving.client().await;
    let mut acknowledged = Acknowledged::default();
    for number in 0.. {
        for (method, params) in round(writer, number) {
            let result = client.call_raw(method, params.clone()).await;
            acknowledged.note(method, &params, &result.expect("every write is accepted"));
        }
        // A client with too many unread notifications receives no responses either.
        client.unread().await;
        if Instant::now() > until {
            break;
        }
    }
    acknowledged
}

/// Creates a shared folder with an id that all clients know.
fn prepare(home: &Path) {
    let mut process = StdioProcess::start(ac(), home);
    let created = process.call("workspace/create", &json!({"workspace_id": "ws_a"}));
    created.expect("a workspace can be made");
    drop(process);
    let db = rusqlite::Connection::open(home.join("gateway.db")).expect("the database is there");
    let sql = "INSERT INTO thread_folder (id, workspace_id, name, created_at, updated_at) \
               VALUES ('fld_shared', 'ws_a', 'Shared', 1, 1)";
    db.execute_batch(sql).expect("a folder can be stored");
}

fn assert_whole(home: &Path) {
    let db = rusqlite::Connection::open(home.join("gateway.db")).expect("the database is there");
    let check = db.query_row("PRAGMA integrity_check", [], |row| row.get::<_, String>(0));
    assert_eq!(check.expect("the database can be checked"), "ok");
}

#[tokio::test(flavor = "multi_thread")]
async fn nine_processes_write_one_tree_and_nothing_is_lost() {
    let home = tempfile::tempdir().unwrap();
    prepare(home.path());
    let serving = ServeProcess::start(ac(), home.path());
    let until = Instant::now() + STORM;
    let writers: Vec<_> = (0..PROCESSES)
        .map(|writer| {
            let home = home.path().to_owned();
            thread::spawn(move || write_by_stdio(&home, writer, until))
        })
        .collect();
    let mut acknowledged = write_by_websocket(&serving, PROCESSES, until).await;
    for writer in writers {
        acknowledged.join(writer.join().unwrap());
    }

    let (mut found, version) = stored(home.path());
    assert!(found.folders.remove("fld_shared"));
    let (threads, folders) = (&acknowledged.threads, &acknowledged.folders);
    assert_eq!(&found.threads, threads);
    assert_eq!(&found.folders, folders);
    assert_eq!(
        version,
        (threads.len() + folders.len()) as u64,
        "every change is counted once"
    );
    assert!(
        threads.len() > 100,
        "{} threads in ten seconds",
        threads.len()
    );
    drop(serving);
    assert_whole(home.path());
}

#[tokio::test]
async fn a_change_by_another_process_is_told_within_a_second() {
    let home = tempfile::tempdir().unwrap();
    prepare(home.path());
    let serving = ServeProcess::start(ac(), home.path());
    let client = serving.client().await;
    let follow = json!({"workspace_id": "ws_a"});
    client
        .call_raw("workspace/subscribe", follow)
        .await
        .unwrap();
    let mut process = StdioProcess::start(ac(), home.path());
    for version in 1..=5 {
        let create = json!({"workspace_id": "ws_a", "name": "Notes"});
        process.call("thread/folder/create", &create).unwrap();
        let acknowledged = Instant::now();
        let told = client.wait_for::<ThreadTreeChangedNotification>().await;
        let elapsed = acknowledged.elapsed();
        assert_eq!(told.unwrap().tree_version, Some(version));
        assert!(elapsed < Duration::from_secs(1), "told after {elapsed:?}");
    }
}

#[tokio::test]
async fn a_process_that_is_killed_loses_nothing_it_acknowledged() {
    let home = tempfile::tempdir().unwrap();
    prepare(home.path());
    let mut serving = ServeProcess::start(ac(), home.path());
    let client = serving.client().await;
    let mut acknowledged = BTreeSet::new();
    let mut calls: FuturesUnordered<_> = (0..500)
        .map(|number| {
            let create = json!({"workspace_id": "ws_a", "name": format!("Folder {number}")});
            client.call_raw("thread/folder/create", create)
        })
        .collect();
    while let Some(called) = calls.next().await {
        // The remaining requests are in flight when the process is killed.
        let Ok(created) = called else { continue };
        acknowledged.insert(created["folder"]["id"].as_str().unwrap().to_owned());
        if acknowledged.len() == 100 {
            serving.signal("KILL");
        }
    }
    let (status, _) = serving.wait();
    assert_eq!(status.code(), None, "it was killed");
    assert!(acknowledged.len() >= 100);

    let (found, _) = stored(home.path());
    let lost: Vec<_> = acknowledged.difference(&found.folders).collect();
    assert_eq!(lost, [""; 0]);
    assert_whole(home.path());
    // The killed processes leave nothing that blocks the next one.
    ServeProcess::start(ac(), home.path());
}
