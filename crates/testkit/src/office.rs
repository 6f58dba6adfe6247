//! A company folder served by the real binary.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
    time::{Duration, Instant},
};

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::StdioProcess;

/// A timeout far above the duration of any step; reaching it fails the test.
const PATIENCE: Duration = Duration::from_secs(60);

/// The company Acme with its project Alpha, and a gateway process that can be killed.
#[derive(Debug)]
pub struct Office {
    place: TempDir,
    program: PathBuf,
    gateway: StdioProcess,
    /// The id of the project.
    pub project: String,
}

impl Office {
    /// Creates the company folder and starts the gateway with this binary.
    pub fn open(program: impl Into<PathBuf>) -> Self {
        Self::open_with(Command::new(program.into()))
    }

    /// Like [`Office::open`], with a command that may have its own environment.
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

    /// Returns the temporary directory that contains everything.
    pub fn place(&self) -> &Path {
        self.place.path()
    }

    /// Returns the path of the company folder.
    pub fn dir(&self) -> PathBuf {
        self.place().join("acme")
    }

    /// Returns the path of the project's directory.
    pub fn project_dir(&self) -> PathBuf {
        self.dir().join("work/projects").join(&self.project)
    }

    /// Calls a method; methods of the company family get the company folder as `workspace_dir`.
    pub fn call(&mut self, method: &str, mut params: Value) -> Value {
        if !method.contains('/') {
            params["workspace_dir"] = json!(self.dir());
        }
        let answer = self.gateway.call(method, &params);
        answer.unwrap_or_else(|error| panic!("{method}: {error}"))
    }

    /// Creates a run of the project. Returns its id and the id of its context pack.
    pub fn run(&mut self, agent: &str, provider: &str) -> (String, String) {
        let params = json!({"project_id": self.project, "agent_id": agent, "provider": provider});
        let made = self.call("run.create", params);
        (text(&made["run_id"]), text(&made["context_pack_id"]))
    }

    /// Proposes a memory delta for the project from a run. Returns the id of the pending review.
    pub fn delta(&mut self, (run, context_pack): &(String, String)) -> String {
        let params = json!({
            "project_id": self.project, "title": "Use port 8080", "scope_kind": "project_memory",
            "sensitivity": "internal", "rationale": "Agreed", "under_heading": "## Decisions",
            "insert_lines": ["- port 8080"], "visibility": "managers", "produced_by": "agent_a",
            "run_id": run, "context_pack_id": context_pack, "evidence": ["art_e"],
        });
        text(&self.call("memory.propose_delta", params)["artifact_id"])
    }

    /// Kills the gateway, as a crash would, and starts a new one.
    pub fn kill_the_gateway(&mut self) {
        // The old process is killed when it is dropped.
        self.gateway =
            StdioProcess::start(Command::new(&self.program), &self.place.path().join("home"));
    }

    /// Ends the gateway. The directories are kept until the returned value is dropped.
    pub fn close(self) -> TempDir {
        self.place
    }
}

/// Returns a JSON string value, such as an id in a response.
pub fn text(value: &Value) -> String {
    value.as_str().expect("it is a text").to_owned()
}

/// Writes a file and creates its parent directories.
#[expect(
    clippy::disallowed_methods,
    reason = "what a test lays out need not survive a crash"
)]
pub fn put(path: &Path, content: &str) {
    fs::create_dir_all(path.parent().expect("a folder")).expect("a folder can be made");
    fs::write(path, content).expect("a file can be written");
}

/// Writes an executable file and creates its parent directories.
#[cfg(unix)]
pub fn put_program(path: &Path, content: &str) {
    put(path, content);
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    fs::set_permissions(path, mode).expect("a file can be made a program");
}

/// Polls until a condition caused by other processes is true.
pub fn until(what: &str, mut is_so: impl FnMut() -> bool) {
    let deadline = Instant::now() + PATIENCE;
    while !is_so() {
        assert!(Instant::now() < deadline, "{what}: not in time");
        std::thread::yield_now();
    }
}
