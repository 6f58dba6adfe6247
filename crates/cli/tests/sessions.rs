//! Workers whose gateway is killed: the next one goes on with them.

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

/// A company folder, and a gateway that can be killed.
struct Office {
    folder: TempDir,
    gateway: StdioProcess,
    project: String,
    run: String,
}

#[expect(
    clippy::disallowed_methods,
    reason = "what a test lays out need not survive a crash"
)]
fn write(path: &Path, content: &str) {
    fs::write(path, content).expect("a file can be written");
}

fn start(home: &Path) -> StdioProcess {
    StdioProcess::start(Command::new(env!("CARGO_BIN_EXE_ac")), home)
}

impl Office {
    /// Starts a script that goes on when there is a file `go`; answers when it has printed `before`.
    fn with_worker(provider: &str, program: &str, script: &str) -> Self {
        let folder = tempfile::tempdir().expect("a folder can be made");
        let gateway = start(&folder.path().join("home"));
        let mut office = Self {
            folder,
            gateway,
            project: String::new(),
            run: String::new(),
        };
        office.call("workspace.init", json!({}));
        let made = office.call(
            "workspace.project.create_with_defaults",
            json!({"name": "P"}),
        );
        office.project = text(&made["project_id"]);
        let made = office.call(
            "run.create",
            json!({"project_id": office.project, "agent_id": "agent_w", "provider": provider}),
        );
        office.run = text(&made["run_id"]);
        let worker = office.folder.path().join(program);
        write(&worker, &format!("#!/bin/sh\n{script}"));
        let mode = fs::Permissions::from_mode(0o755);
        fs::set_permissions(&worker, mode).expect("a file can be made a program");
        let launch = json!({
            "project_id": office.project,
            "run_id": office.run,
            "session_ref": "s",
            "argv": [worker],
            "env": {"GO": office.go()},
            "apply_guard": false,
        });
        assert_eq!(office.call("session.launch", launch)["state"], "running");
        office.wait_for_output("before");
        office
    }

    fn dir(&self) -> PathBuf {
        self.folder.path().join("office")
    }

    fn go(&self) -> PathBuf {
        self.folder.path().join("go")
    }

    fn call(&mut self, method: &str, mut params: Value) -> Value {
        params["workspace_dir"] = json!(self.dir());
        let answer = self.gateway.call(method, &params);
        answer.unwrap_or_else(|error| panic!("{method}: {error}"))
    }

    /// Kills the gateway, as a crash does, and starts another one.
    fn kill_the_gateway(&mut self) {
        let home = self.folder.path().join("home");
        // The old one is killed when it is dropped.
        self.gateway = start(&home);
    }

    fn run_file(&self, name: &str) -> PathBuf {
        self.dir()
            .join("work/projects")
            .join(&self.project)
            .join("runs")
            .join(&self.run)
            .join(name)
    }

    fn stdout(&self) -> String {
        fs::read_to_string(self.run_file("outputs/stdout.txt")).unwrap_or_default()
    }

    fn wait_for_output(&self, wanted: &str) {
        let deadline = Instant::now() + PATIENCE;
        while !self.printed().contains(wanted) {
            assert!(Instant::now() < deadline, "no `{wanted}` in the output");
            thread::yield_now();
        }
    }

    fn events(&self) -> Vec<Value> {
        let log = fs::read_to_string(self.run_file("events.jsonl")).expect("there are events");
        // The last line may be under way.
        log.lines()
            .filter_map(|line| serde_json::from_str(line).ok())
            .collect()
    }

    /// What the events say that was printed.
    fn printed(&self) -> String {
        self.events()
            .iter()
            .filter(|event| event["type"] == "provider.raw")
            .map(|event| text(&event["payload"]["chunk"]))
            .collect()
    }

    /// The chain of events is whole, and there is one end.
    fn assert_intact(&mut self) {
        let params =
            json!({"project_id": self.project, "run_id": self.run, "mode": "verified", "tail": 1});
        let replayed = self.call("run.replay", params);
        assert_eq!(replayed["verification_issues"], json!([]), "{replayed}");
        let ends = self.events().into_iter().filter(|event| {
            let name = event["type"].as_str().unwrap_or_default();
            ["run.ended", "run.failed", "run.stopped"].contains(&name)
        });
        assert_eq!(ends.count(), 1);
    }
}

fn text(value: &Value) -> String {
    value.as_str().expect("an id is text").to_owned()
}

const WAIT: &str = "while [ ! -e \"$GO\" ]; do sleep 0.02; done\n";

#[test]
fn what_a_worker_prints_after_its_gateway_was_killed_is_not_lost() {
    // More than a pipe holds: the worker has to wait for the next gateway.
    const LINES: usize = 20_000;
    let script = format!("echo before\n{WAIT}seq 1 {LINES}\necho after\n");
    let mut office = Office::with_worker("cmd", "worker", &script);
    office.kill_the_gateway();
    write(&office.go(), "");
    let listed = office.call("session.list", json!({"status": "running"}));
    assert_eq!(listed[0]["session_ref"], "s");
    let ended = office.call("session.collect", json!({"session_ref": "s"}));
    // It was not our child, so nobody knows its exit code.
    assert_eq!(ended["status"], "failed");
    assert_eq!(ended["exit_code"], Value::Null);
    assert!(text(&ended["error"]).contains("restarted"), "{ended}");
    let mut expected = "before\n".to_owned();
    expected.extend((1..=LINES).map(|line| format!("{line}\n")));
    expected.push_str("after\n");
    assert!(office.stdout() == expected, "the output is not whole");
    assert!(office.printed() == expected, "the events are not whole");
    let last = office.events().pop().expect("there are events");
    assert_eq!(last["payload"]["orphaned"], true);
    office.assert_intact();
}

#[test]
fn a_worker_that_answers_after_its_gateway_was_killed_has_done_its_run() {
    let init = json!({"type": "system", "subtype": "init", "session_id": "before"});
    let result = json!({
        "type": "result", "subtype": "success", "is_error": false, "result": "done", "session_id": "before",
        "usage": {"input_tokens": 400, "cache_read_input_tokens": 800, "output_tokens": 34},
    });
    let script = format!("echo '{init}'\n{WAIT}echo '{result}'\n");
    let mut office = Office::with_worker("claude", "claude", &script);
    office.kill_the_gateway();
    office.call("workspace.open", json!({}));
    write(&office.go(), "");
    let ended = office.call("session.collect", json!({"session_ref": "s"}));
    assert_eq!(ended["status"], "ended", "{ended}");
    let said = fs::read_to_string(office.run_file("outputs/last_message.md"));
    assert_eq!(said.expect("there are last words"), "done");
    let usage = fs::read_to_string(office.run_file("outputs/token_usage.json"));
    assert!(usage.expect("there is a count").contains("1234"));
    office.assert_intact();
}

#[test]
fn a_worker_whose_gateway_was_killed_can_be_stopped_with_all_it_started() {
    let script = "setsid sleep 1000 &\necho before $$ $!\nexec sleep 1000\n";
    let mut office = Office::with_worker("cmd", "worker", script);
    let pids = office.stdout();
    office.kill_the_gateway();
    office.call("session.stop", json!({"session_ref": "s"}));
    let ended = office.call("session.collect", json!({"session_ref": "s"}));
    assert_eq!(ended["status"], "stopped", "{ended}");
    for pid in pids.split_whitespace().skip(1) {
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        let state = stat.rsplit_once(") ").map(|(_, rest)| &rest[..1]);
        assert!(matches!(state, None | Some("Z")), "{stat}");
    }
    office.assert_intact();
}

#[test]
fn a_worker_that_ended_while_there_was_no_gateway_is_an_orphan() {
    let script = format!("echo before\n{WAIT}: > \"$GO.done\"\n");
    let mut office = Office::with_worker("cmd", "worker", &script);
    let done = office.folder.path().join("go.done");
    // The new one knows nothing of the folder before it is asked.
    office.kill_the_gateway();
    write(&office.go(), "");
    let deadline = Instant::now() + PATIENCE;
    let pid = |office: &Office| {
        let record = fs::read_to_string(office.dir().join(".local/sessions/s.yaml"));
        let record = record.expect("there is a record");
        let line = record.lines().find_map(|line| line.strip_prefix("pid: "));
        line.expect("it has a process").to_owned()
    };
    let process = PathBuf::from(format!("/proc/{}", pid(&office)));
    let is_zombie = || {
        let stat = fs::read_to_string(process.join("stat")).unwrap_or_default();
        stat.contains(") Z ")
    };
    while !done.exists() || (process.exists() && !is_zombie()) {
        assert!(Instant::now() < deadline, "the worker does not end");
        thread::yield_now();
    }
    let state = office.call("session.poll", json!({"session_ref": "s"}));
    assert_eq!(state["status"], "failed");
    assert!(text(&state["error"]).contains("orphaned"), "{state}");
    let left = fs::read_dir(office.dir().join(".local/sessions")).expect("there are records");
    assert_eq!(left.count(), 1, "the pipes are gone");
    office.assert_intact();
}
