//! Runs one command to its end as a run of the company, and writes down in the run what it did.
//!
//! It is the gate of `agent.self_improve_cycle`: no lanes and no budget, a time limit instead.

use std::{
    io::Read,
    os::unix::process::{CommandExt as _, ExitStatusExt as _},
    path::PathBuf,
    process::{Child, Command, ExitStatus, Stdio},
    sync::mpsc,
    thread,
    time::{Duration, Instant},
};

use company::{
    Company, Error,
    document::{Machine, Run},
    event::{Event, Payload},
    guidance::{Ended, Evaluation},
    iso_time, layout,
    run::CreatedRun,
};
use protocol::company::{IsoTime, ProjectId, RunStatus, Visibility};
use serde_json::{Value, json};

/// How much of what a command prints is kept.
const MOST_OUTPUT: u64 = 1 << 20;
/// How often a command that is over its time is looked at.
const POLL: Duration = Duration::from_millis(20);

/// Runs the command of an evaluation, at most for `limit`, and waits for it.
pub fn evaluate(
    company: &Company,
    project: &ProjectId,
    run: &CreatedRun,
    agent: &str,
    evaluation: &Evaluation,
    limit: Duration,
) -> Result<Ended, Error> {
    let log = Log {
        company,
        project,
        run,
        agent,
    };
    let done = log.run(evaluation, limit);
    if let Err(error) = &done {
        // A run that could not start is over, too.
        log.end(
            RunStatus::Failed,
            &json!({
                "exit_code": null, "signal": null, "stopped": false, "preflight": true,
                "reason": "launch_preflight_failed", "error": error.to_string(), "budget_exceeded": false,
            }),
        )?;
    }
    done
}

struct Log<'a> {
    company: &'a Company,
    project: &'a ProjectId,
    run: &'a CreatedRun,
    agent: &'a str,
}

impl Log<'_> {
    fn run(&self, evaluation: &Evaluation, limit: Duration) -> Result<Ended, Error> {
        let folder = self.folder_of(evaluation)?;
        let Some((program, arguments)) = evaluation.argv.split_first() else {
            return Err(Error::Refused("a command is needed".to_owned()));
        };
        let child = Command::new(program)
            .args(arguments)
            .envs(&evaluation.env)
            .current_dir(folder)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0)
            .spawn();
        let child = child.map_err(|error| {
            Error::Refused(format!("`{program}` cannot be started: {}", error.kind()))
        })?;
        let mut executing = json!({
            "argv": evaluation.argv,
            "task_id": evaluation.task_id,
            "milestone_id": evaluation.milestone_id,
            "worktree_relpath": null,
            "worktree_branch": null,
            "stdin_relpath": null,
        });
        if let Some(repo) = &evaluation.repo_id {
            executing["repo_id"] = json!(repo);
        }
        if let Some(workdir) = &evaluation.workdir_rel {
            executing["workdir_rel"] = json!(workdir);
        }
        self.tell("system", Visibility::Org, "run.executing", &executing)?;
        let (status, output) = wait(child, limit)?;
        for (stream, text) in [("stdout", &output.stdout), ("stderr", &output.stderr)] {
            if !text.is_empty() {
                let payload = json!({"stream": stream, "chunk": text});
                self.tell(self.agent, Visibility::Team, "provider.raw", &payload)?;
            }
        }
        let characters =
            output.stdout.encode_utf16().count() + output.stderr.encode_utf16().count();
        let tokens = characters.div_ceil(4);
        self.tell(
            "system",
            Visibility::Org,
            "usage.estimated",
            &json!({
                "source": "estimated_chars",
                "confidence": "low",
                "estimate_method": "estimated from character counts using tokens≈chars/4",
                "provider": "self_improve",
                "input_tokens": 0,
                "output_tokens": tokens,
                "total_tokens": tokens,
            }),
        )?;
        let ended = Ended {
            exit_code: status.code(),
            signal: status.signal().map(signal_name),
        };
        let status = match ended.exit_code {
            Some(0) => RunStatus::Ended,
            Some(_) | None => RunStatus::Failed,
        };
        self.end(
            status,
            &json!({
                "exit_code": ended.exit_code,
                "signal": ended.signal,
                "stopped": false,
                "budget_exceeded": false,
            }),
        )?;
        Ok(ended)
    }

    /// The repository and the folder below it, or the company folder.
    fn folder_of(&self, evaluation: &Evaluation) -> Result<PathBuf, Error> {
        let root = match &evaluation.repo_id {
            None => self.company.root().to_owned(),
            Some(repo) => {
                let machine = self.company.read::<Machine>(layout::MACHINE)?;
                let known = machine.repo_roots.get(repo.as_str());
                let known = known.ok_or_else(|| {
                    Error::Refused(format!(
                        "Unknown repo_id `{repo}`: say where it is with `workspace.repo_root.set`"
                    ))
                })?;
                PathBuf::from(known)
            }
        };
        let Some(workdir) = evaluation.workdir_rel.as_deref() else {
            return Ok(root);
        };
        let inside = |path: PathBuf| {
            let (root, path) = (root.canonicalize().ok()?, path.canonicalize().ok()?);
            path.starts_with(&root).then_some(path)
        };
        inside(root.join(workdir))
            .ok_or_else(|| Error::Refused(format!("`{workdir}` is no folder of the repository")))
    }

    /// Ends the run: its document first, then its log.
    fn end(&self, status: RunStatus, payload: &Value) -> Result<(), Error> {
        let path = format!("{}/run.yaml", self.run.relpath);
        let now = iso_time(self.company.sources().now_ms());
        self.company.write(|writer| {
            let mut document = Run::clone(&*self.company.read::<Run>(&path)?);
            document.status = status;
            document.ended_at = IsoTime::new(now);
            writer.put(&path, &document)
        })?;
        let event_type = match status {
            RunStatus::Ended => "run.ended",
            RunStatus::Failed | RunStatus::Running | RunStatus::Stopped => "run.failed",
        };
        self.tell("system", Visibility::Org, event_type, payload)
    }

    fn tell(
        &self,
        actor: &str,
        visibility: Visibility,
        event_type: &str,
        payload: &Value,
    ) -> Result<(), Error> {
        let sources = self.company.sources();
        let run_id = self.run.run_id.clone();
        let session_ref = format!("local_{run_id}");
        let event = Event {
            ts_wallclock: sources.now_text(),
            run_id: run_id.clone(),
            session_ref: session_ref.clone(),
            actor: actor.to_owned(),
            visibility,
            event_type: event_type.to_owned(),
            payload: Payload::new(payload)?,
            event_id: sources.id(),
            correlation_id: Some(session_ref),
            causation_id: None,
            ts_monotonic_ms: self.company.uptime_ms(),
        };
        self.company.append_events(self.project, &run_id, &[event])
    }
}

struct Output {
    stdout: String,
    stderr: String,
}

/// Waits for a command, and ends it and everything it started when its time is over.
fn wait(mut child: Child, limit: Duration) -> Result<(ExitStatus, Output), Error> {
    let stdout = read_all(child.stdout.take());
    let stderr = read_all(child.stderr.take());
    let deadline = Instant::now() + limit;
    let failed = |error| Error::io("run", PathBuf::from("evaluation"), error);
    let status = loop {
        match child.try_wait().map_err(failed)? {
            Some(status) => break status,
            None if Instant::now() >= deadline => {
                end_group(&child);
                break child.wait().map_err(failed)?;
            }
            None => thread::sleep(POLL),
        }
    };
    // What it started may hold its output open; what it left behind ends with it.
    end_group(&child);
    let text = |output: mpsc::Receiver<Vec<u8>>| {
        let bytes = output.recv_timeout(Duration::from_secs(2));
        String::from_utf8_lossy(&bytes.unwrap_or_default()).into_owned()
    };
    let (stdout, stderr) = (text(stdout), text(stderr));
    Ok((status, Output { stdout, stderr }))
}

fn end_group(child: &Child) {
    let pid = i32::try_from(child.id()).ok();
    if let Some(pid) = pid.and_then(rustix::process::Pid::from_raw) {
        // Gone already is what is wanted.
        let _ = rustix::process::kill_process_group(pid, rustix::process::Signal::KILL);
    }
}

/// Reads everything a command prints and keeps the beginning of it.
fn read_all(from: Option<impl Read + Send + 'static>) -> mpsc::Receiver<Vec<u8>> {
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || {
        let mut kept = Vec::new();
        if let Some(mut from) = from {
            // Nobody listens to a reader that failed.
            let _ = (&mut from).take(MOST_OUTPUT).read_to_end(&mut kept);
            let _ = std::io::copy(&mut from, &mut std::io::sink());
        }
        let _ = sender.send(kept);
    });
    receiver
}

/// The names people know; a number for the rest.
fn signal_name(signal: i32) -> String {
    let names = [
        (1, "SIGHUP"),
        (2, "SIGINT"),
        (3, "SIGQUIT"),
        (6, "SIGABRT"),
        (9, "SIGKILL"),
        (11, "SIGSEGV"),
        (13, "SIGPIPE"),
        (15, "SIGTERM"),
    ];
    let known = names.iter().find(|(number, _)| *number == signal);
    known.map_or_else(|| format!("SIG{signal}"), |(_, name)| (*name).to_owned())
}
