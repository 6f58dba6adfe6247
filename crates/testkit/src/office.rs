//! A company folder, and the real binary that serves it.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
    time::{Duration, Instant},
};

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::StdioProcess;

/// Longer than anything takes; a test that reaches it has failed.
const PATIENCE: Duration = Duration::from_secs(60);

/// The company Acme with its project Alpha, and a gateway that can be killed.
#[derive(Debug)]
pub struct Office {
    place: TempDir,
    program: PathBuf,
    gateway: StdioProcess,
    /// The id of the project.
    pub project: String,
}

impl Office {
    /// Makes it with a binary.
    pub fn open(program: impl Into<PathBuf>) -> Self {
        Self::open_with(Command::new(program.into()))
    }

    /// The same with a binary in an environment.
    pub fn open_with(command: Command) -> Self {
        let place = tempfile::tempdir().expect("a temporary folder");
        let program = command.get_program().into();
        let mut office = Self {
            gateway: StdioProcess::start(command, &place.path().join("home")),
            place,
            program,
            project: String::new(),
        };
        office.call("workspace.init", json!({"company_name": "Acme"}));
        let alpha = json!({"name": "Alpha"});
        let made = office.call("workspace.project.create_with_defaults", alpha);
        office.project = text(&made["project_id"]);
        office
    }

    /// Where all of it is.
    pub fn place(&self) -> &Path {
        self.place.path()
    }

    /// The company folder.
    pub fn dir(&self) -> PathBuf {
        self.place().join("acme")
    }

    /// The folder of the project.
    pub fn project_dir(&self) -> PathBuf {
        self.dir().join("work/projects").join(&self.project)
    }

    /// Calls a method, of the company family with the company folder.
    pub fn call(&mut self, method: &str, mut params: Value) -> Value {
        if !method.contains('/') {
            params["workspace_dir"] = json!(self.dir());
        }
        let answer = self.gateway.call(method, &params);
        answer.unwrap_or_else(|error| panic!("{method}: {error}"))
    }

    /// Makes a run of the project; answers its id and the id of its context pack.
    pub fn run(&mut self, agent: &str, provider: &str) -> (String, String) {
        let params = json!({"project_id": self.project, "agent_id": agent, "provider": provider});
        let made = self.call("run.create", params);
        (text(&made["run_id"]), text(&made["context_pack_id"]))
    }

    /// Proposes to remember a port in the project, by a run. Answers the id of what waits.
    pub fn delta(&mut self, (run, context_pack): &(String, String)) -> String {
        let params = json!({
            "project_id": self.project, "title": "Use port 8080", "scope_kind": "project_memory",
            "sensitivity": "internal", "rationale": "Agreed", "under_heading": "## Decisions",
            "insert_lines": ["- port 8080"], "visibility": "managers", "produced_by": "agent_a",
            "run_id": run, "context_pack_id": context_pack, "evidence": ["art_e"],
        });
        text(&self.call("memory.propose_delta", params)["artifact_id"])
    }

    /// Kills the gateway, as a crash does, and starts another one.
    pub fn kill_the_gateway(&mut self) {
        // The old one is killed when it is dropped.
        self.gateway =
            StdioProcess::start(Command::new(&self.program), &self.place.path().join("home"));
    }

    /// Ends the gateway; the folders stay until the place is dropped.
    pub fn close(self) -> TempDir {
        self.place
    }
}

/// An id, or another text, of an answer.
pub fn text(value: &Value) -> String {
    value.as_str().expect("it is a text").to_owned()
}

/// Lays out a file, with its folders.
#[expect(
    clippy::disallowed_methods,
    reason = "what a test lays out need not survive a crash"
)]
pub fn put(path: &Path, content: &str) {
    fs::create_dir_all(path.parent().expect("a folder")).expect("a folder can be made");
    fs::write(path, content).expect("a file can be written");
}

/// The same, as a program.
#[cfg(unix)]
pub fn put_program(path: &Path, content: &str) {
    put(path, content);
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    fs::set_permissions(path, mode).expect("a file can be made a program");
}

/// Waits for something that other processes do.
pub fn until(what: &str, mut is_so: impl FnMut() -> bool) {
    let deadline = Instant::now() + PATIENCE;
    while !is_so() {
        assert!(Instant::now() < deadline, "{what}: not in time");
        std::thread::yield_now();
    }
}
