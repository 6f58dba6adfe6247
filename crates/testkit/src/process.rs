//! The real binary as a child process, for tests about processes.

use std::{
    io::{BufRead as _, BufReader, Read as _, Write as _},
    path::{Path, PathBuf},
    process::{Child, ChildStderr, ChildStdin, ChildStdout, Command, ExitStatus, Stdio},
    thread::JoinHandle,
};

use serde_json::{Value, json};

/// A running `ac serve`. Dropping it ends the process.
#[derive(Debug)]
pub struct ServeProcess {
    child: Child,
    /// `None` once [`ServeProcess::log`] reads it.
    stderr: Option<ChildStderr>,
    /// Keeps the pipe open; the startup output has already been read.
    _stdout: BufReader<ChildStdout>,
    /// The lines printed when the process was ready.
    pub announcement: String,
    /// The content of the ready file.
    pub ready: Value,
}

impl ServeProcess {
    /// Starts `ac serve` on a free port and waits until it is ready. The command is the binary, optionally with an
    /// environment.
    pub fn start(command: Command, home: &Path) -> Self {
        Self::start_at(command, home, "127.0.0.1:0")
    }

    /// Like [`ServeProcess::start`], on a given address.
    pub fn start_at(mut command: Command, home: &Path, listen: &str) -> Self {
        let ready_file = home.join("ready.json");
        let mut child = command
            .arg("serve")
            .args(["--listen", listen])
            .arg("--home")
            .arg(home)
            .arg("--ready-file")
            .arg(&ready_file)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the binary can be started");
        let stdout = child.stdout.take().expect("it was piped");
        let mut stderr = child.stderr.take().expect("it was piped");
        let mut stdout = BufReader::new(stdout);
        let mut announcement = String::new();
        while !announcement.contains("Stop it with Ctrl-C.\n") {
            let read = stdout.read_line(&mut announcement);
            if read.expect("standard output is text") == 0 {
                let mut complaint = String::new();
                let _ = stderr.read_to_string(&mut complaint);
                panic!("`ac serve` ended before it was ready: {complaint}");
            }
        }
        let ready = std::fs::read(&ready_file).expect("the ready file exists");
        Self {
            child,
            stderr: Some(stderr),
            _stdout: stdout,
            announcement,
            ready: serde_json::from_slice(&ready).expect("the ready file is JSON"),
        }
    }

    /// Returns the URL for WebSocket clients.
    pub fn url(&self) -> &str {
        self.ready["url"]
            .as_str()
            .expect("the ready file has a url")
    }

    /// Returns host and port.
    pub fn address(&self) -> &str {
        let url = self.url().trim_start_matches("ws://");
        url.trim_end_matches('/')
    }

    /// Returns the owner's token.
    pub fn token(&self) -> String {
        let path = self.ready["token_file"].as_str();
        let path = PathBuf::from(path.expect("the ready file names the token file"));
        std::fs::read_to_string(path).expect("the owner can read the token")
    }

    /// Connects a WebSocket client as the owner.
    pub async fn client(&self) -> rpc::Client {
        let connected = rpc::websocket::connect(self.url(), &self.token()).await;
        connected.expect("the owner can connect")
    }

    /// Sends a signal such as `TERM`.
    pub fn signal(&self, name: &str) {
        let sent = Command::new("kill")
            .args(["-s", name, &self.child.id().to_string()])
            .status();
        assert!(sent.expect("there is a program `kill`").success());
    }

    /// Reads standard error on a thread until the process ends, for output that exceeds the pipe buffer.
    pub fn log(&mut self) -> JoinHandle<String> {
        let mut stderr = self.stderr.take().expect("`log` is called once");
        std::thread::spawn(move || {
            let mut log = String::new();
            let read = stderr.read_to_string(&mut log);
            read.expect("standard error is text");
            log
        })
    }

    /// Waits for the end of the process. Returns its exit status and its standard error, which is empty after
    /// [`ServeProcess::log`].
    pub fn wait(&mut self) -> (ExitStatus, String) {
        let mut complaint = String::new();
        if let Some(stderr) = &mut self.stderr {
            let read = stderr.read_to_string(&mut complaint);
            read.expect("standard error is text");
        }
        let status = self
            .child
            .wait()
            .expect("the child process can be waited for");
        (status, complaint)
    }
}

impl Drop for ServeProcess {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A running `ac server:start`. Dropping it ends the process.
#[derive(Debug)]
pub struct StdioProcess {
    child: Child,
    stdin: ChildStdin,
    stdout: BufReader<ChildStdout>,
    last_id: u64,
}

impl StdioProcess {
    /// Starts `ac server:start`.
    pub fn start(mut command: Command, home: &Path) -> Self {
        let mut child = command
            .arg("server:start")
            .arg("--home")
            .arg(home)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("the binary can be started");
        Self {
            stdin: child.stdin.take().expect("it was piped"),
            stdout: BufReader::new(child.stdout.take().expect("it was piped")),
            child,
            last_id: 0,
        }
    }

    /// Calls a method and waits for its response; notifications are skipped.
    pub fn call(&mut self, method: &str, params: &Value) -> Result<Value, Value> {
        let answer = self.try_call(method, params);
        answer.expect("the process responds")
    }

    /// Like [`StdioProcess::call`], but returns `None` if the process ends before it responds.
    pub fn try_call(&mut self, method: &str, params: &Value) -> Option<Result<Value, Value>> {
        self.last_id += 1;
        let request =
            json!({"jsonrpc": "2.0", "id": self.last_id, "method": method, "params": params});
        let written = writeln!(self.stdin, "{request}");
        written.expect("the process reads");
        loop {
            let mut line = String::new();
            let read = self.stdout.read_line(&mut line);
            if read.expect("answers are text") == 0 {
                return None;
            }
            let mut message: Value = serde_json::from_str(&line).expect("answers are JSON");
            if message["id"] == self.last_id {
                return Some(match message.get_mut("error") {
                    None => Ok(message["result"].take()),
                    Some(error) => Err(error.take()),
                });
            }
        }
    }
}

impl Drop for StdioProcess {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
