//! The process of a worker: how it is started, signalled and waited for. Its output, its limits and the record of its
//! end are the business of `started`, wherever the process runs.

use std::{
    collections::BTreeMap,
    io,
    os::unix::process::ExitStatusExt as _,
    path::Path,
    process::{ExitStatus, Stdio},
    time::Duration,
};

use drivers::StopSignal;
use rustix::process::Signal;
use tokio::{
    process::{Child, ChildStdin, Command as Program},
    time::sleep,
};

use crate::{
    pipes::Ends,
    process::{ProcessId, spawn_error},
    process_tree::ProcessTree,
};

/// How often the gateway checks whether a process that is not its child is still alive.
const POLL_INTERVAL: Duration = Duration::from_millis(50);

/// Exit status of a process. `None` if it is unknown, because the process is not a child of this gateway.
pub(super) type Exit = Option<ExitStatus>;

/// What to start.
pub(super) struct ProcessCommand<'a> {
    /// The program and its arguments; not empty.
    pub(super) argv: &'a [String],
    /// Working directory.
    pub(super) cwd: &'a Path,
    /// All environment variables of the process.
    pub(super) environment: &'a BTreeMap<String, String>,
    /// Environment variable by which the processes of the session are found, as `NAME=value`.
    pub(super) mark: String,
    /// Whether the process gets a pipe as standard input; otherwise its input is empty.
    pub(super) has_input: bool,
}

/// A process of a worker with everything that it starts. Implemented by [`LocalProcess`]; called by the session, which
/// does not know where the process runs.
pub(super) trait WorkerProcess: Sized + Send {
    /// Where the process writes its output.
    type Output;

    /// Starts the process. The error is in the format of the company protocol.
    fn start(command: ProcessCommand<'_>, output: Self::Output) -> Result<Self, String>;

    /// Identifies the process in the record of its session.
    fn id(&self) -> ProcessId;

    /// The input of the process; `None` if it has none or the input was taken before.
    fn take_input(&mut self) -> Option<ChildStdin>;

    /// Waits until the process has ended. May be dropped and called again.
    fn wait(&mut self) -> impl Future<Output = io::Result<Exit>> + Send;

    /// Notes which processes the worker has started, so that they are found after their parents have ended.
    fn look(&mut self);

    /// Asks the process and its process group to end.
    fn stop(&mut self, signal: StopSignal);

    /// Kills the process and all processes that are known to belong to it.
    fn kill(&mut self);

    /// The exit status of a process that was killed and whose status cannot be read.
    fn killed() -> Exit {
        Some(ExitStatus::from_raw(Signal::KILL.as_raw()))
    }

    /// Ends the processes that remain after the process has ended. Returns those that may still run.
    fn end_left(&mut self, grace: Duration) -> impl Future<Output = Vec<ProcessId>> + Send;
}

/// A process on this machine, started by this gateway or by an earlier one.
#[derive(Debug)]
pub(super) struct LocalProcess {
    leader: Leader,
    tree: ProcessTree,
}

/// The first process of a session.
#[derive(Debug)]
enum Leader {
    /// A child of this process.
    Started(Child),
    /// A child of a gateway that has ended. Its exit status cannot be read.
    TakenOver(ProcessId),
}

impl LocalProcess {
    /// Continues with a process of a gateway that has ended.
    pub(super) fn take_over(process: ProcessId, mark: String) -> Self {
        Self {
            leader: Leader::TakenOver(process),
            tree: ProcessTree::find(process, mark),
        }
    }
}

impl WorkerProcess for LocalProcess {
    type Output = Ends;

    fn start(command: ProcessCommand<'_>, output: Ends) -> Result<Self, String> {
        let mut program = Program::new(&command.argv[0]);
        program
            .args(&command.argv[1..])
            .current_dir(command.cwd)
            .env_clear()
            .envs(command.environment)
            .stdin(if command.has_input {
                Stdio::piped()
            } else {
                Stdio::null()
            })
            .stdout(output.stdout)
            .stderr(output.stderr)
            // A process group of its own, so that signals to the group reach the whole session and not the gateway.
            .process_group(0);
        let child = program
            .spawn()
            .map_err(|error| spawn_error(&command.argv[0], &error))?;
        // `program` holds the worker's ends of the pipes. Until they are dropped, the pipes never close.
        drop(program);
        let pid = child
            .id()
            .and_then(|pid| i32::try_from(pid).ok())
            .unwrap_or(0);
        Ok(Self {
            leader: Leader::Started(child),
            tree: ProcessTree::begin(ProcessId::of(pid), command.mark),
        })
    }

    fn id(&self) -> ProcessId {
        self.tree.leader()
    }

    fn take_input(&mut self) -> Option<ChildStdin> {
        match &mut self.leader {
            Leader::Started(child) => child.stdin.take(),
            Leader::TakenOver(_) => None,
        }
    }

    async fn wait(&mut self) -> io::Result<Exit> {
        match &mut self.leader {
            Leader::Started(child) => child.wait().await.map(Some),
            Leader::TakenOver(process) => {
                while process.is_alive() {
                    sleep(POLL_INTERVAL).await;
                }
                Ok(None)
            }
        }
    }

    fn look(&mut self) {
        self.tree.look();
    }

    fn stop(&mut self, signal: StopSignal) {
        self.tree.leader().signal_group(match signal {
            StopSignal::Interrupt => Signal::INT,
            StopSignal::Terminate => Signal::TERM,
        });
    }

    fn kill(&mut self) {
        let leader = self.tree.leader();
        leader.signal_group(Signal::KILL);
        leader.signal(Signal::KILL);
        for process in self.tree.left() {
            process.signal(Signal::KILL);
        }
    }

    async fn end_left(&mut self, grace: Duration) -> Vec<ProcessId> {
        self.tree.end_left(grace).await
    }
}
