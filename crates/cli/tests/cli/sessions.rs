//! Workers whose gateway is killed: the next gateway takes them over.

use std::{fs, path::PathBuf, process::Command};

use serde_json::{Value, json};
use testkit::{Office, put, put_program, text, until};

/// A company with a worker script.
struct Worker {
    office: Office,
    run: String,
}

impl Worker {
    /// Starts a script that continues when the file `go` exists. Returns when it has printed `before`.
    fn start(provider: &str, program: &str, script: &str) -> Self {
        let mut office = Office::open(env!("CARGO_BIN_EXE_ac"));
        let (run, _) = office.run("agent_w", provider);
        let path = office.place().join(program);
        put_program(&path, &format!("#!/bin/sh\n{script}"));
        let launch = json!({
            "project_id": office.project,
            "run_id": run,
            "session_ref": "s",
            "argv": [path],
            "env": {"GO": office.place().join("go")},
            "apply_guard": false,
        });
        assert_eq!(office.call("session.launch", launch)["state"], "running");
        let worker = Self { office, run };
        until("it prints", || worker.printed().contains("before"));
        worker
    }

    fn goes_on(&self) {
        put(&self.office.place().join("go"), "");
    }

    fn run_file(&self, name: &str) -> PathBuf {
        let runs = self.office.project_dir().join("runs");
        runs.join(&self.run).join(name)
    }

    fn stdout(&self) -> String {
        fs::read_to_string(self.run_file("outputs/stdout.txt")).unwrap_or_default()
    }

    fn events(&self) -> Vec<Value> {
        let log = fs::read_to_string(self.run_file("events.jsonl")).expect("there are events");
        // The last line may be incomplete.
        log.lines()
            .filter_map(|line| serde_json::from_str(line).ok())
            .collect()
    }

    /// Returns the output that the events contain.
    fn printed(&self) -> String {
        self.events()
            .iter()
            .filter(|event| event["type"] == "provider.raw")
            .map(|event| text(&event["payload"]["chunk"]))
            .collect()
    }

    /// Checks that the chain of events is intact and has one end.
    fn assert_intact(&mut self) {
        let params = json!({
            "project_id": self.office.project, "run_id": self.run, "mode": "verified", "tail": 1,
        });
        let replayed = self.office.call("run.replay", params);
        assert_eq!(replayed["verification_issues"], json!([]), "{replayed}");
        let ends = self.events().into_iter().filter(|event| {
            let name = event["type"].as_str().unwrap_or_default();
            ["run.ended", "run.failed", "run.stopped"].contains(&name)
        });
        assert_eq!(ends.count(), 1);
    }
}

const WAIT: &str = "while [ ! -e \"$GO\" ]; do sleep 0.02; done\n";

#[test]
fn what_a_worker_prints_after_its_gateway_was_killed_is_not_lost() {
    // More than the capacity of a pipe: the worker must wait for the next gateway.
    const LINES: usize = 20_000;
    let script = format!("echo before\n{WAIT}seq 1 {LINES}\necho after\n");
    let mut worker = Worker::start("cmd", "worker", &script);
    worker.office.kill_the_gateway();
    worker.goes_on();
    let listed = worker
        .office
        .call("session.list", json!({"status": "running"}));
    assert_eq!(listed[0]["session_ref"], "s");
    let ended = worker
        .office
        .call("session.collect", json!({"session_ref": "s"}));
    // The worker was not a child of this gateway, so its exit code is unknown.
    assert_eq!(ended["status"], "failed");
    assert_eq!(ended["exit_code"], Value::Null);
    assert!(text(&ended["error"]).contains("restarted"), "{ended}");
    let mut expected = "before\n".to_owned();
    expected.extend((1..=LINES).map(|line| format!("{line}\n")));
    expected.push_str("after\n");
    assert!(worker.stdout() == expected, "the output is not whole");
    assert!(worker.printed() == expected, "the events are not whole");
    let last = worker.events().pop().expect("there are events");
    assert_eq!(last["payload"]["orphaned"], true);
    worker.assert_intact();
}

#[test]
fn a_worker_that_answers_after_its_gateway_was_killed_has_done_its_run() {
    let init = json!({"type": "system", "subtype": "init", "session_id": "before"});
    let result = json!({
        "type": "result", "subtype": "success", "is_error": false, "result": "done", "session_id": "before",
        "usage": {"input_tokens": 400, "cache_read_input_tokens": 800, "output_tokens": 34},
    });
    let script = format!("echo '{init}'\n{WAIT}echo '{result}'\n");
    let mut worker = Worker::start("claude", "claude", &script);
    worker.office.kill_the_gateway();
    worker.office.call("workspace.open", json!({}));
    worker.goes_on();
    let ended = worker
        .office
        .call("session.collect", json!({"session_ref": "s"}));
    assert_eq!(ended["status"], "ended", "{ended}");
    let said = fs::read_to_string(worker.run_file("outputs/last_message.md"));
    assert_eq!(said.expect("there are last words"), "done");
    let usage = fs::read_to_string(worker.run_file("outputs/token_usage.json"));
    assert!(usage.expect("there is a count").contains("1234"));
    worker.assert_intact();
}

#[test]
fn a_worker_whose_gateway_was_killed_can_be_stopped_with_all_it_started() {
    let script = "setsid sleep 1000 &\necho before $$ $!\nexec sleep 1000\n";
    let mut worker = Worker::start("cmd", "worker", script);
    let pids = worker.stdout();
    worker.office.kill_the_gateway();
    worker
        .office
        .call("session.stop", json!({"session_ref": "s"}));
    let ended = worker
        .office
        .call("session.collect", json!({"session_ref": "s"}));
    assert_eq!(ended["status"], "stopped", "{ended}");
    for pid in pids.split_whitespace().skip(1) {
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        let state = stat.rsplit_once(") ").map(|(_, rest)| &rest[..1]);
        assert!(matches!(state, None | Some("Z")), "{stat}");
    }
    worker.assert_intact();
}

#[test]
fn a_worker_that_ended_while_there_was_no_gateway_is_an_orphan() {
    let script = format!("echo before\n{WAIT}: > \"$GO.done\"\n");
    let mut worker = Worker::start("cmd", "worker", &script);
    let done = worker.office.place().join("go.done");
    // The new gateway does not know the folder until a request names it.
    worker.office.kill_the_gateway();
    worker.goes_on();
    let record = fs::read_to_string(worker.office.dir().join(".local/sessions/s.yaml"));
    let record = record.expect("there is a record");
    let pid = record.lines().find_map(|line| line.strip_prefix("pid: "));
    let process = PathBuf::from(format!("/proc/{}", pid.expect("it has a process")));
    let is_zombie = || {
        let stat = fs::read_to_string(process.join("stat")).unwrap_or_default();
        stat.contains(") Z ")
    };
    until("the worker ends", || {
        done.exists() && (!process.exists() || is_zombie())
    });
    let state = worker
        .office
        .call("session.poll", json!({"session_ref": "s"}));
    assert_eq!(state["status"], "failed");
    assert!(text(&state["error"]).contains("orphaned"), "{state}");
    let left =
        fs::read_dir(worker.office.dir().join(".local/sessions")).expect("there are records");
    assert_eq!(left.count(), 1, "the pipes are gone");
    worker.assert_intact();
}

#[test]
fn a_command_that_stops_a_worker_without_a_gateway_ends_when_the_worker_has() {
    let script = format!("echo before\n{WAIT}");
    let mut worker = Worker::start("cmd", "worker", &script);
    // The new gateway does not know the folder until a request names it.
    worker.office.kill_the_gateway();
    let record = fs::read_to_string(worker.office.dir().join(".local/sessions/s.yaml"));
    let record = record.expect("there is a record");
    let pid = record.lines().find_map(|line| line.strip_prefix("pid: "));
    let process = PathBuf::from(format!("/proc/{}", pid.expect("it has a process")));
    let stopped = Command::new(env!("CARGO_BIN_EXE_ac"))
        .args(["session:stop", "--session-ref", "s", "--json"])
        .current_dir(worker.office.dir())
        .arg("--home")
        .arg(worker.office.place().join("home"))
        .output()
        .expect("the binary can be started");
    assert!(stopped.status.success(), "{stopped:?}");
    let stat = fs::read_to_string(process.join("stat")).unwrap_or_default();
    assert!(stat.is_empty() || stat.contains(") Z "), "{stat}");
}
