//! Several processes, some of them killed, append to one events file: no acknowledged event is lost, and the chain
//! stays valid.
//!
//! A child process is this test program, which runs one test as its task; environment variables configure it.

#![cfg(unix)]

use std::{
    collections::BTreeSet,
    fs::{self, File},
    io::{BufRead as _, BufReader, Write as _},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    thread,
};

use company::{
    event_log::{
        Event, Payload,
        log::{EventLogs, LogFile},
    },
    events::replay::{Options, replay},
};
use protocol::{
    Id as _,
    company::{
        EventId, RunId, Visibility,
        run::{ReplayMode, ReplayedEvents},
    },
};
use serde_json::json;

/// Environment variable with the file that a child appends to; unset in the parent.
const FILE: &str = "COMPANY_TEST_EVENTS_FILE";
/// Environment variable with the name that the event ids of a child contain.
const NAME: &str = "COMPANY_TEST_EVENTS_NAME";
/// Environment variable with the number of events that each thread of a child appends.
const COUNT: &str = "COMPANY_TEST_EVENTS_COUNT";

const THREADS: usize = 8;

/// Location of the file for appending.
fn at(path: &std::path::Path) -> LogFile {
    LogFile::locate(path).expect("a folder")
}

fn event(id: &str) -> Event {
    Event {
        ts_wallclock: "2026-11-15T12:00:00.000Z".to_owned(),
        run_id: RunId::parse("run_1").expect("an id"),
        session_ref: "local_run_1".to_owned(),
        actor: "agent_1".to_owned(),
        visibility: Visibility::Team,
        event_type: "provider.raw".to_owned(),
        payload: Payload::new(&json!({"stream": "stdout", "chunk": "x".repeat(300)}))
            .expect("JSON"),
        event_id: EventId::parse(id).expect("an id"),
        correlation_id: None,
        causation_id: None,
        ts_monotonic_ms: 1,
    }
}

struct Folder(tempfile::TempDir);

impl Folder {
    fn new() -> Self {
        let folder = Self(tempfile::tempdir().expect("a temporary folder"));
        File::create(folder.path()).expect("an empty events file");
        folder
    }

    fn path(&self) -> PathBuf {
        self.0.path().join("events.jsonl")
    }

    fn verify(&self) -> ReplayedEvents {
        let options = Options {
            mode: ReplayMode::Verified,
            ..Options::default()
        };
        replay(&self.path(), &options)
            .expect("a readable file")
            .replayed
    }
}

fn ids(replayed: &ReplayedEvents) -> BTreeSet<String> {
    let id = |text: &str| {
        let event: serde_json::Value = serde_json::from_str(text).expect("an event");
        event["event_id"].as_str().expect("an id").to_owned()
    };
    replayed
        .events
        .iter()
        .map(|event| id(event.get()))
        .collect()
}

/// Starts a child that runs the test named `task`.
fn child(mut command: Command, task: &str, path: &Path, name: &str, count: usize) -> Child {
    command
        .args(["--exact", task, "--nocapture"])
        .env(FILE, path)
        .env(NAME, name)
        .env(COUNT, count.to_string())
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .expect("this program starts")
}

fn this_program() -> Command {
    Command::new(std::env::current_exe().expect("this program has a path"))
}

/// File, name and count of a child; `None` if this process is not a child.
fn told() -> Option<(PathBuf, String, usize)> {
    let path = std::env::var_os(FILE)?.into();
    let name = std::env::var(NAME).expect("a name");
    let count = std::env::var(COUNT).expect("a count");
    Some((path, name, count.parse().expect("a number")))
}

/// The id of the event that a child reports as durable in a line of its output.
fn acknowledged(line: &str) -> Option<String> {
    Some(line.split_once("on disk: ")?.1.to_owned())
}

#[test]
fn a_child_says_which_events_are_on_the_disk() {
    let Some((path, name, count)) = told() else {
        return;
    };
    let logs = EventLogs::new();
    thread::scope(|scope| {
        for thread in 0..THREADS {
            let (logs, path, name) = (&logs, &path, &name);
            scope.spawn(move || {
                for number in 0..count {
                    let id = format!("evt_{name}_{thread}_{number}");
                    logs.append(&at(path), &[event(&id)]).expect("an append");
                    let mut out = std::io::stdout().lock();
                    // The parent may have stopped reading.
                    let _ = writeln!(out, "on disk: {id}");
                }
            });
        }
    });
}

#[test]
fn threads_of_several_processes_share_one_chain_and_lose_nothing() {
    let folder = Folder::new();
    let children: Vec<_> = ["a", "b", "c"]
        .map(|name| {
            child(
                this_program(),
                "events::a_child_says_which_events_are_on_the_disk",
                &folder.path(),
                name,
                25,
            )
        })
        .into();
    for child in children {
        assert!(child.wait_with_output().unwrap().status.success());
    }
    let replayed = folder.verify();
    assert!(replayed.deterministic_ok);
    assert_eq!(replayed.events.len(), 3 * THREADS * 25);
    assert_eq!(ids(&replayed).len(), 3 * THREADS * 25);
}

#[test]
fn after_a_kill_at_any_moment_the_chain_goes_on_and_nothing_acknowledged_is_lost() {
    let folder = Folder::new();
    let logs = EventLogs::new();
    let mut on_disk = BTreeSet::new();
    for round in 0..12 {
        let mut child = child(
            this_program(),
            "events::a_child_says_which_events_are_on_the_disk",
            &folder.path(),
            &format!("r{round}"),
            1_000_000,
        );
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        // Each round kills the child at another moment.
        let heard = lines
            .by_ref()
            .map_while(Result::ok)
            .filter_map(|line| acknowledged(&line))
            .take(1 + round * 7);
        on_disk.extend(heard);
        child.kill().unwrap();
        child.wait().unwrap();
        // Lines that the child printed before it was killed count, too.
        let rest = lines
            .map_while(Result::ok)
            .filter_map(|line| acknowledged(&line));
        let complete = |id: &String| id.split('_').count() == 4;
        let mut rest: Vec<_> = rest.filter(complete).collect();
        // The last line may be truncated by the kill.
        rest.pop();
        on_disk.extend(rest);
        let id = format!("evt_parent_{round}_0");
        logs.append(&at(&folder.path()), &[event(&id)]).unwrap();
        on_disk.insert(id);
    }
    let replayed = folder.verify();
    assert_eq!(replayed.verification_issues, []);
    assert!(replayed.parse_issues.len() <= 12, "one fragment per kill");
    let found = ids(&replayed);
    let lost: Vec<_> = on_disk.difference(&found).collect();
    assert!(lost.is_empty(), "lost: {lost:?}");
    assert_eq!(found.len(), replayed.events.len());
}

#[test]
fn a_child_appends_until_its_file_may_not_grow() {
    let Some((path, name, _)) = told() else {
        return;
    };
    let logs = EventLogs::new();
    let mut number = 0;
    let error = loop {
        let events: Vec<_> = (0..3)
            .map(|part| event(&format!("evt_{name}_{number}_{part}")))
            .collect();
        number += 1;
        match logs.append(&at(&path), &events) {
            Ok(_) => println!("on disk: {number}"),
            Err(error) => break error,
        }
    };
    println!("said: {error}");
    // Another append fails, too, and must not change the file.
    logs.append(&at(&path), &[event("evt_one_more")]).ok();
}

#[test]
fn an_append_that_does_not_fit_leaves_the_file_as_it_was() {
    let folder = Folder::new();
    // Limits the file size to 16 blocks; the signal for exceeding it is ignored, so that the write fails instead.
    let mut command = Command::new("sh");
    let program = std::env::current_exe().unwrap();
    command
        .args(["-c", "trap '' XFSZ; ulimit -f 16; exec \"$0\" \"$@\""])
        .arg(program);
    let task = "events::a_child_appends_until_its_file_may_not_grow";
    let output = child(command, task, &folder.path(), "a", 0)
        .wait_with_output()
        .unwrap();
    let said = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{said}");
    assert!(said.contains("could not be written"), "{said}");
    let batches = said
        .lines()
        .filter(|line| line.contains("on disk: "))
        .count();
    assert!(batches > 1);
    let replayed = folder.verify();
    assert!(replayed.deterministic_ok);
    let more = replayed.events.len() - 3 * batches;
    assert!(
        more <= 1,
        "only the single event at the end may have fitted"
    );
    assert!(fs::read(folder.path()).unwrap().ends_with(b"\n"));
}
