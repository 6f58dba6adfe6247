//! The life of one session, from its place in the lane until its run is over.

use std::{
    fs::{self, File},
    os::unix::process::ExitStatusExt as _,
    path::PathBuf,
    process::{ExitStatus, Stdio},
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use company::{
    document::{Run, RunSpec, Usage},
    event::Event,
    files,
};
use protocol::company::{RunStatus, TaskId, Text, Visibility, session::CompanySessionMode};
use rustix::process::Signal;
use serde_json::{Value, json};
use tokio::{
    io::AsyncWriteExt as _,
    process::{Child, ChildStdin, Command as Program},
    sync::{mpsc, watch},
    time::{Instant, sleep, sleep_until, timeout},
};

use crate::{
    budget::{self, Phase, Spent},
    driver::{
        Driver, ErrorClass, Outcome, StopSignal,
        codex_app_server::{Completion, Conversation, TurnWish},
        command,
    },
    environment::{self, MARK},
    output::{self, Piece, Stream},
    plan::{Command, Plan},
    process::{ProcessId, Tree, signal_name, spawn_error},
    record::SessionRecord,
    scribe::{Scribe, cause_of},
    sink::{Heard, Sink, redacted},
    snapshot, usage,
    worktree::Worktree,
};

/// How long a process may take to end on a signal.
const GRACE: Duration = Duration::from_millis(1500);
/// How long pipes may stay open after the end of the process they belong to.
const PIPES: Duration = Duration::from_millis(500);
/// How long what a process left behind may take to end.
const LEFTOVERS: Duration = Duration::from_millis(300);
/// How long an app server may take to answer before the turn runs.
const ANSWER: Duration = Duration::from_secs(60);
/// How often it is looked what a process has started.
const LOOK: Duration = Duration::from_secs(1);
/// Pieces of output that wait to be written.
const WAITING_PIECES: usize = 8;
/// So much is written at once.
const BATCH_BYTES: usize = 256 << 10;

/// A session of this process, seen from outside.
#[derive(Debug)]
pub(crate) struct Live {
    /// What is known of it.
    state: watch::Sender<State>,
    /// Whether somebody wants it stopped.
    stop: watch::Sender<bool>,
    /// What it may still spend, so that others do not.
    reserved: Mutex<Spent>,
    /// What its program said, once it is over.
    outcome: Mutex<Option<Outcome>>,
    pub(crate) task: Option<TaskId>,
}

/// Where a session of this process stands.
#[derive(Clone, Debug)]
pub(crate) struct State {
    pub(crate) record: SessionRecord,
    pub(crate) stage: Stage,
}

/// How far a session is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stage {
    /// It waits for a place.
    Queued,
    /// It has a place, and no process yet.
    Starting,
    /// It runs.
    Running,
    /// Its run is over, and so is it.
    Over,
}

impl Live {
    pub(crate) fn new(record: SessionRecord, stage: Stage, task: Option<TaskId>) -> Self {
        Self {
            state: watch::Sender::new(State { record, stage }),
            stop: watch::Sender::new(false),
            reserved: Mutex::default(),
            outcome: Mutex::default(),
            task,
        }
    }

    pub(crate) fn state(&self) -> State {
        self.state.borrow().clone()
    }

    pub(crate) fn is_over(&self) -> bool {
        self.state.borrow().stage == Stage::Over
    }

    pub(crate) fn request_stop(&self) {
        self.stop.send_replace(true);
    }

    pub(crate) fn stop_requested(&self) -> bool {
        *self.stop.borrow()
    }

    pub(crate) async fn stop_wanted(&self) {
        let _ = self.stop.subscribe().wait_for(|stop| *stop).await;
    }

    /// Waits until it is as far as this.
    pub(crate) async fn reach(&self, wanted: impl Fn(Stage) -> bool) -> State {
        let mut state = self.state.subscribe();
        let reached = state.wait_for(|state| wanted(state.stage)).await;
        match reached {
            Ok(state) => state.clone(),
            Err(_) => self.state(),
        }
    }

    pub(crate) fn advance(&self, stage: Stage) {
        self.state.send_modify(|state| state.stage = stage);
    }

    pub(crate) fn update(&self, change: impl FnOnce(&mut SessionRecord)) {
        self.state.send_modify(|state| change(&mut state.record));
    }

    pub(crate) fn end(&self, record: SessionRecord) {
        *self.reserved.lock().unwrap_or_else(PoisonError::into_inner) = Spent::default();
        self.state.send_replace(State {
            record,
            stage: Stage::Over,
        });
    }

    /// What its program said. Known before anybody hears that it is over.
    pub(crate) fn outcome(&self) -> Option<Outcome> {
        self.outcome
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    fn say(&self, outcome: Option<Outcome>) {
        *self.outcome.lock().unwrap_or_else(PoisonError::into_inner) = outcome;
    }

    pub(crate) fn reserved(&self) -> Spent {
        *self.reserved.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn reserve(&self, spent: Spent) {
        *self.reserved.lock().unwrap_or_else(PoisonError::into_inner) = spent;
    }
}

/// Why a session could not be started.
#[derive(Debug)]
pub(crate) struct NotStarted {
    reason: &'static str,
    pub(crate) error: String,
}

impl NotStarted {
    pub(crate) fn launch(error: impl Into<String>) -> Self {
        Self {
            reason: "launch_failed",
            error: error.into(),
        }
    }
}

impl From<company::Error> for NotStarted {
    fn from(error: company::Error) -> Self {
        Self::launch(error.to_string())
    }
}

/// Runs a session that has its place. What a worker said about when to come back is answered.
pub(crate) async fn run(plan: Arc<Plan>, live: Arc<Live>) -> Option<Outcome> {
    live.advance(Stage::Starting);
    let scribe = Scribe {
        company: plan.company.clone(),
        project: plan.project.clone(),
        run: plan.run.clone(),
        session_ref: plan.session_ref.clone(),
    };
    let started = match prepare(&plan, &scribe).await {
        Ok(prepared) => start(&plan, &live, &scribe, prepared).await,
        Err(error) => Err(error),
    };
    match started {
        Ok(started) => started.finish(&plan, &live, &scribe).await,
        Err(error) => {
            fail(&scribe, &live, error).await;
            None
        }
    }
}

/// Writes down that a session could not be started.
pub(crate) async fn fail(scribe: &Scribe, live: &Live, not_started: NotStarted) {
    let NotStarted { reason, error } = not_started;
    let mut record = live.state().record;
    record.status = RunStatus::Failed;
    record.error = Some(error.clone());
    close_unstarted(
        scribe,
        live,
        record,
        "run.failed",
        json!({"reason": reason, "error": error}),
    )
    .await;
}

/// Writes down that somebody stopped a session before it had a process.
pub(crate) async fn stop_unstarted(scribe: &Scribe, live: &Live) {
    let mut record = live.state().record;
    record.status = RunStatus::Stopped;
    close_unstarted(
        scribe,
        live,
        record,
        "run.stopped",
        json!({"reason": "stopped_in_queue"}),
    )
    .await;
}

async fn close_unstarted(
    scribe: &Scribe,
    live: &Live,
    mut record: SessionRecord,
    event_type: &'static str,
    more: Value,
) {
    record.ended_at_ms = Some(scribe.company.sources().now_ms());
    let (scribe, copy) = (scribe.clone(), record.clone());
    let written = blocking(move || {
        let mut payload = json!({
            "exit_code": null,
            "signal": null,
            "stopped": copy.status == RunStatus::Stopped,
            "budget_exceeded": false,
        });
        for (name, value) in more.as_object().into_iter().flatten() {
            payload[name] = value.clone();
        }
        let event = scribe.event(event_type, &payload)?;
        scribe.end(&[event], copy.status, |_| {}, &[], Some(&copy))
    });
    if let Err(error) = written.await {
        tracing::error!(%error, "the end of a session cannot be written down");
    }
    live.end(record);
}

/// Files are waited for on threads that may wait.
pub(crate) async fn blocking<R: Send + 'static>(
    work: impl FnOnce() -> Result<R, company::Error> + Send + 'static,
) -> Result<R, company::Error> {
    match tokio::task::spawn_blocking(work).await {
        Ok(done) => done,
        Err(panic) => Err(company::Error::Refused(format!("a thread failed: {panic}"))),
    }
}

/// Everything a process needs.
struct Prepared {
    command: Command,
    cwd: PathBuf,
    files: (File, File),
    /// What an app server is asked.
    turn: Option<TurnWish>,
}

/// Makes folders and files and writes down what will run.
async fn prepare(plan: &Arc<Plan>, scribe: &Scribe) -> Result<Prepared, NotStarted> {
    let is_server = plan.mode == CompanySessionMode::CodexAppServer;
    let prompt = plan
        .prompt
        .as_ref()
        .or(plan.stdin.as_ref())
        .filter(|text| !text.trim().is_empty());
    let makes_line = plan.argv.is_empty() && prompt.is_some() && plan.driver != Driver::Command;
    if is_server && prompt.is_none() {
        return Err(NotStarted::launch(
            "prompt_text or stdin_text is required for codex_app_server",
        ));
    }
    if !is_server && !makes_line {
        if let Some(refusal) = command::refusal(&plan.argv) {
            return Err(NotStarted::launch(refusal));
        }
    }

    let files = {
        let plan = Arc::clone(plan);
        blocking(move || {
            let path = |name: &str| plan.company.path(&plan.output(name).0);
            if let Some(folder) = path("stdout.txt").parent() {
                files::make_dir(folder)?;
            }
            // Left by an earlier session of this run.
            let _ = fs::remove_file(path(STOP_FLAG));
            let create = |name: &str| {
                let path = path(name);
                File::create(&path).map_err(|error| company::Error::io("made", path, error))
            };
            Ok((create("stdout.txt")?, create("stderr.txt")?))
        })
        .await?
    };

    let place = {
        let plan = Arc::clone(plan);
        blocking(move || Ok(plan.place()))
            .await?
            .map_err(NotStarted::launch)?
    };
    let mut events = Vec::new();
    let base = match (&place.repo, &place.worktree) {
        (None, _) | (Some(_), None) => {
            let base = plan.base(&place);
            if plan.extra.scratch && place.repo.is_none() {
                files::make_dir(&base)?;
            }
            base
        }
        (Some(repo), Some(worktree)) => {
            let path = worktree
                .prepare(&plan.company, repo)
                .await
                .map_err(NotStarted::launch)?;
            events.push(scribe.event_by(
                &plan.agent,
                Visibility::Org,
                "worktree.prepared",
                &json!({
                    "repo_id": plan.repo,
                    "task_id": plan.task,
                    "milestone_id": plan.milestone,
                    "worktree_relpath": worktree.relpath,
                    "branch": worktree.branch,
                }),
            )?);
            path
        }
    };
    let (cwd, command) = {
        let (plan, base) = (Arc::clone(plan), base.clone());
        blocking(move || {
            Ok(plan
                .workdir(&base)
                .map(|cwd| (cwd.clone(), plan.command(&cwd))))
        })
        .await?
        .map_err(NotStarted::launch)?
    };
    if let Some(refusal) = command::refusal(&command.line.argv) {
        return Err(NotStarted::launch(refusal));
    }

    let secrets = environment::secrets(&command.environment);
    let argv: Vec<_> = command
        .line
        .argv
        .iter()
        .map(|argument| redacted(argument, &secrets))
        .collect();
    {
        let (plan, scribe, command) = (Arc::clone(plan), scribe.clone(), command.clone());
        let (argv, worktree) = (argv.clone(), place.worktree.clone());
        blocking(move || write_spec(&plan, &scribe, &command, &argv, worktree.as_ref())).await?;
    }
    if let Some(repo) = &plan.repo {
        let taken = snapshot::take(
            &plan.company,
            &plan.project,
            &plan.context_pack,
            repo.as_str(),
            &base,
        );
        for (event_type, payload) in taken.await {
            events.push(scribe.event(event_type, &payload)?);
        }
    }
    let stdin_relpath = command
        .line
        .stdin
        .as_ref()
        .map(|_| plan.output("stdin.txt").1);
    let executing = plan.executing(&argv, place.worktree.as_ref(), stdin_relpath.as_deref());
    events.push(scribe.event("run.executing", &executing)?);
    {
        let scribe = scribe.clone();
        blocking(move || scribe.append(&events)).await?;
    }
    let turn = is_server.then(|| TurnWish {
        cwd: cwd.display().to_string(),
        prompt: prompt.cloned().unwrap_or_default(),
        model: plan.model.clone(),
        sandbox: match plan.permission {
            protocol::company::session::CompanySessionPermission::ReadOnly => "read-only",
            protocol::company::session::CompanySessionPermission::Patch
            | protocol::company::session::CompanySessionPermission::RunCommands => {
                "workspace-write"
            }
        },
    });
    Ok(Prepared {
        command,
        cwd,
        files,
        turn,
    })
}

/// The file that says that somebody wants a session stopped.
pub(crate) const STOP_FLAG: &str = "stop_requested.flag";

/// Writes what will run into `run.yaml`, and what it reads into files.
fn write_spec(
    plan: &Plan,
    scribe: &Scribe,
    command: &Command,
    argv: &[String],
    worktree: Option<&Worktree>,
) -> Result<(), company::Error> {
    if let (Some((_, settings)), path) = (&command.line.settings, plan.settings_path()) {
        files::replace(&path, format!("{settings:#}\n").as_bytes())?;
    }
    if let Some(schema) = &plan.extra.schema {
        files::replace(&plan.schema_path(), format!("{schema:#}\n").as_bytes())?;
    }
    plan.company.write(|writer| {
        let stdin = match &command.line.stdin {
            Some(text) => {
                let (path, relpath) = plan.output("stdin.txt");
                writer.put_text(&path, text)?;
                Some(relpath)
            }
            None => None,
        };
        if plan.mode == CompanySessionMode::CodexAppServer {
            let prompt = plan.prompt.as_ref().or(plan.stdin.as_ref());
            writer.put_text(
                &plan.output("prompt.txt").0,
                prompt.map_or("", String::as_str),
            )?;
        }
        let path = scribe.run_path();
        let mut run = Run::clone(&*plan.company.read::<Run>(&path)?);
        if run.status != RunStatus::Running {
            return Err(company::Error::Refused(not_running(run.status)));
        }
        run.spec = Some(plan.spec(argv, worktree, stdin.as_deref()));
        writer.put(&path, &run)
    })
}

/// Why a run that is over is not run again.
pub(crate) fn not_running(status: RunStatus) -> String {
    format!("Run is not in running status (status={status})")
}

/// A process and all that belongs to it.
struct Started {
    child: Child,
    tree: Tree,
    stdin: Option<mpsc::UnboundedSender<Value>>,
    signs: mpsc::UnboundedReceiver<Sign>,
    /// Ends when everything that was printed is written down.
    pump: tokio::task::JoinHandle<(Sink, Option<company::Error>)>,
    read_at: Arc<watch::Sender<Instant>>,
    stop_reading: watch::Sender<bool>,
    /// The conversation with an app server, as it was when the turn got its name.
    conversation: Option<Conversation>,
    chars_in: u64,
}

/// What the output says that has to be acted upon.
#[derive(Debug)]
enum Sign {
    /// The turn of an app server is over.
    Completed,
    /// The thread and the turn have names.
    Named(Option<String>, Option<String>, Box<Conversation>),
    /// The app server was answered.
    Answered,
    /// So much was used.
    Used(usage::TokenCounts),
    /// The worker tries in vain.
    Hopeless,
    /// It cannot be written down.
    Unwritable(String),
}

/// Why a session ends.
#[derive(Clone, Debug, PartialEq)]
enum Cause {
    /// By itself.
    Itself,
    /// Its turn is over.
    Completed,
    /// Somebody stops it.
    Stopped,
    /// It took too long.
    TimedOut(String, &'static str),
    /// It used too much.
    OverBudget,
    /// Something else is wrong.
    Broken(String),
}

async fn start(
    plan: &Arc<Plan>,
    live: &Arc<Live>,
    scribe: &Scribe,
    prepared: Prepared,
) -> Result<Started, NotStarted> {
    let Prepared {
        command,
        cwd,
        files,
        turn,
    } = prepared;
    let line = &command.line;
    let has_input = line.stdin.is_some() || turn.is_some();
    let mut program = Program::new(&line.argv[0]);
    program
        .args(&line.argv[1..])
        .current_dir(&cwd)
        .env_clear()
        .envs(&command.environment)
        .stdin(match has_input {
            true => Stdio::piped(),
            false => Stdio::null(),
        })
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        // A group of its own, so that signals reach all of it and none of ours.
        .process_group(0);
    let mut child = program.spawn().map_err(|error| NotStarted {
        reason: "spawn_failed",
        error: spawn_error(&line.argv[0], &error),
    })?;
    let pid = child
        .id()
        .and_then(|pid| i32::try_from(pid).ok())
        .unwrap_or(0);
    let leader = ProcessId::of(pid);
    let now_ms = plan.company.sources().now_ms();
    live.update(|record| {
        record.pid = Some(pid);
        record.pid_claimed_at_ms = Some(now_ms);
        record.pid_start_ticks = leader.start_ticks;
    });

    let (pieces, waiting) = mpsc::channel(WAITING_PIECES);
    let (stop_reading, stopped) = watch::channel(false);
    let read_at = Arc::new(watch::Sender::new(Instant::now()));
    if let Some(stdout) = child.stdout.take() {
        let reading = output::read(
            Stream::Stdout,
            stdout,
            pieces.clone(),
            stopped.clone(),
            Arc::clone(&read_at),
        );
        tokio::spawn(reading);
    }
    if let Some(stderr) = child.stderr.take() {
        let reading = output::read(
            Stream::Stderr,
            stderr,
            pieces.clone(),
            stopped,
            Arc::clone(&read_at),
        );
        tokio::spawn(reading);
    }
    drop(pieces);

    let secrets = environment::secrets(&command.environment);
    let mut sink = Sink::new(
        scribe.clone(),
        plan.agent.clone(),
        plan.provider.clone(),
        files,
        secrets,
        plan.driver.reader(),
    );
    let mut chars_in = line.stdin.as_ref().map_or(0, |text| utf16(text));
    let stdin = match (turn, child.stdin.take()) {
        (Some(turn), Some(pipe)) => {
            chars_in = utf16(&turn.prompt);
            let (sender, receiver) = mpsc::unbounded_channel();
            tokio::spawn(converse(pipe, receiver));
            let (conversation, first) = Conversation::begin(turn);
            let _ = sender.send(first);
            sink.conversation = Some((conversation, sender.clone()));
            Some(sender)
        }
        (_, pipe) => {
            if let (Some(mut pipe), Some(text)) = (pipe, line.stdin.clone()) {
                tokio::spawn(async move {
                    // A program that does not read its input does not need it.
                    let _ = pipe.write_all(text.as_bytes()).await;
                });
            }
            None
        }
    };
    let (tell, signs) = mpsc::unbounded_channel();
    let pump = tokio::spawn(pump(sink, waiting, tell));

    let record = live.state().record;
    let saved = {
        let company = plan.company.clone();
        blocking(move || record.save(&company))
    };
    if let Err(error) = saved.await {
        tracing::warn!(%error, "the process of a session cannot be written down");
    }
    live.advance(Stage::Running);
    let mark = format!("{MARK}={}", plan.mark_value());
    Ok(Started {
        child,
        tree: Tree::new(leader, mark),
        stdin,
        signs,
        pump,
        read_at,
        stop_reading,
        conversation: None,
        chars_in,
    })
}

fn utf16(text: &str) -> u64 {
    text.chars().map(|char| char.len_utf16() as u64).sum()
}

/// Writes messages to an app server. `null` is the last one: then its input is closed, which ends it.
async fn converse(mut pipe: ChildStdin, mut messages: mpsc::UnboundedReceiver<Value>) {
    while let Some(message) = messages.recv().await.filter(|message| !message.is_null()) {
        if pipe
            .write_all(format!("{message}\n").as_bytes())
            .await
            .is_err()
        {
            return;
        }
    }
}

/// Writes output down as it comes. After an error it goes on reading, so that the process can end.
async fn pump(
    mut sink: Sink,
    mut waiting: mpsc::Receiver<Piece>,
    tell: mpsc::UnboundedSender<Sign>,
) -> (Sink, Option<company::Error>) {
    let mut failure = None;
    while let Some(piece) = waiting.recv().await {
        if failure.is_some() {
            continue;
        }
        let mut bytes = piece.bytes.len();
        let mut pieces = vec![piece];
        while bytes < BATCH_BYTES
            && let Ok(piece) = waiting.try_recv()
        {
            bytes += piece.bytes.len();
            pieces.push(piece);
        }
        let taken = tokio::task::spawn_blocking(move || {
            let heard = sink.take(pieces);
            (sink, heard)
        });
        let heard;
        (sink, heard) = taken.await.expect("nothing in a sink panics");
        match heard {
            Ok(heard) => signs(&sink, heard, &tell),
            Err(error) => {
                let _ = tell.send(Sign::Unwritable(error.to_string()));
                failure = Some(error);
            }
        }
    }
    if failure.is_none() {
        let finished = tokio::task::spawn_blocking(move || {
            let heard = sink.finish();
            (sink, heard)
        });
        let heard;
        (sink, heard) = finished.await.expect("nothing in a sink panics");
        match heard {
            Ok(heard) => signs(&sink, heard, &tell),
            Err(error) => failure = Some(error),
        }
    }
    (sink, failure)
}

fn signs(sink: &Sink, heard: Heard, tell: &mpsc::UnboundedSender<Sign>) {
    let mut signs = Vec::new();
    if let (Some((thread, turn)), Some((conversation, _))) = (heard.named, &sink.conversation) {
        signs.push(Sign::Named(thread, turn, Box::new(conversation.clone())));
    }
    if sink
        .conversation
        .as_ref()
        .is_some_and(|(conversation, _)| !conversation.is_waiting())
    {
        signs.push(Sign::Answered);
    }
    signs.extend(heard.usage.map(Sign::Used));
    if heard.hopeless {
        signs.push(Sign::Hopeless);
    }
    if heard.completed {
        signs.push(Sign::Completed);
    }
    for sign in signs {
        // Nobody listens any more once the process has ended.
        let _ = tell.send(sign);
    }
}

impl Started {
    /// Watches the process until it ends, and writes its end down.
    async fn finish(
        mut self,
        plan: &Arc<Plan>,
        live: &Arc<Live>,
        scribe: &Scribe,
    ) -> Option<Outcome> {
        let (cause, status) = self.watch(plan, live).await;
        let status = match status {
            Some(status) => status,
            None => self.end(plan, &cause).await,
        };
        // What it left behind may hold the pipes, and must not.
        if let Some(server) = self.stdin.take() {
            let _ = server.send(Value::Null);
        }
        let exited_at = Instant::now();
        let mut pump = self.pump;
        let mut done = timeout(PIPES, &mut pump).await.ok();
        self.tree.end_left(LEFTOVERS).await;
        while done.is_none() {
            let silent_since = (*self.read_at.borrow()).max(exited_at);
            done = timeout(PIPES, &mut pump).await.ok();
            if done.is_none() && (*self.read_at.borrow()).max(exited_at) == silent_since {
                self.stop_reading.send_replace(true);
            }
        }
        let (sink, failure) = match done.expect("the loop ends with it") {
            Ok(pumped) => pumped,
            Err(panic) => {
                let error = NotStarted::launch(format!("output cannot be read: {panic}"));
                fail(scribe, live, error).await;
                return None;
            }
        };
        let cause = match (failure, live.stop_requested()) {
            (Some(error), _) => Cause::Broken(error.to_string()),
            // It ended just when somebody wanted it to.
            (None, true) => Cause::Stopped,
            (None, false) => cause,
        };
        let end = End {
            cause,
            status,
            chars_in: self.chars_in,
        };
        let (plan, scribe) = (Arc::clone(plan), scribe.clone());
        let record = live.state().record;
        let written = blocking(move || Ok(end.write(&plan, &scribe, sink, record))).await;
        match written {
            Ok((record, outcome)) => {
                live.say(outcome.clone());
                live.end(record);
                outcome
            }
            Err(error) => {
                tracing::error!(%error, "the end of a session cannot be written down");
                let mut record = live.state().record;
                record.status = RunStatus::Failed;
                record.error = Some(error.to_string());
                live.end(record);
                None
            }
        }
    }

    /// Waits for the end of the process, or for a reason to end it.
    async fn watch(&mut self, plan: &Plan, live: &Live) -> (Cause, Option<ExitStatus>) {
        let started = Instant::now();
        let deadline = started + plan.timeout;
        let mut answer_by = self.stdin.as_ref().map(|_| started + ANSWER);
        let mut look = tokio::time::interval_at(started + LOOK, LOOK);
        let mut signs_open = true;
        loop {
            let idle_at = *self.read_at.borrow() + plan.idle_timeout;
            tokio::select! {
                status = self.child.wait() => {
                    return match status {
                        Ok(status) => (Cause::Itself, Some(status)),
                        Err(error) => (Cause::Broken(format!("the process is lost: {error}")), None),
                    };
                }
                () = live.stop_wanted() => return (Cause::Stopped, None),
                () = sleep_until(deadline) => {
                    let error = format!("timed out after {} ms", plan.timeout.as_millis());
                    return (Cause::TimedOut(error, "timeout"), None);
                }
                () = sleep_until(idle_at) => {
                    if *self.read_at.borrow() + plan.idle_timeout <= Instant::now() {
                        let error = format!("printed nothing for {} ms", plan.idle_timeout.as_millis());
                        return (Cause::TimedOut(error, "idle_timeout"), None);
                    }
                }
                () = sleep_until(answer_by.unwrap_or(deadline)), if answer_by.is_some() => {
                    let error = "the app server did not answer in time".to_owned();
                    return (Cause::TimedOut(error, "timeout"), None);
                }
                sign = self.signs.recv(), if signs_open => match sign {
                    Some(Sign::Completed) => return (Cause::Completed, None),
                    Some(Sign::Answered) => answer_by = None,
                    Some(Sign::Named(thread, turn, conversation)) => {
                        answer_by = Some(Instant::now() + ANSWER);
                        self.conversation = Some(*conversation);
                        live.update(|record| {
                            record.protocol_thread_id = thread;
                            record.protocol_turn_id = turn;
                        });
                        let (company, record) = (plan.company.clone(), live.state().record);
                        if let Err(error) = blocking(move || record.save(&company)).await {
                            tracing::warn!(%error, "a session cannot be written down");
                        }
                    }
                    Some(Sign::Used(counts)) => {
                        if self.is_over_budget(plan, live, &counts) {
                            return (Cause::OverBudget, None);
                        }
                    }
                    Some(Sign::Hopeless) => {
                        return (Cause::Broken("the provider refuses the key".to_owned()), None);
                    }
                    Some(Sign::Unwritable(error)) => return (Cause::Broken(error), None),
                    None => signs_open = false,
                },
                _ = look.tick() => self.tree.look(),
            }
        }
    }

    fn is_over_budget(&self, plan: &Plan, live: &Live, counts: &usage::TokenCounts) -> bool {
        let usage = counts.reported(&plan.provider);
        let cost = usage::cost(
            plan.machine.as_deref(),
            &plan.provider,
            &usage,
            counts.parts_included,
            None,
        );
        let spent = Spent {
            tokens: usage.total_tokens,
            cost_usd: cost.usd().unwrap_or(0.0),
        };
        let reserved = live.reserved();
        live.reserve(Spent {
            tokens: reserved.tokens.max(spent.tokens),
            cost_usd: reserved.cost_usd.max(spent.cost_usd),
        });
        let watches = plan.live_budget.unwrap_or(counts.parts_included);
        let checks = plan
            .budgets
            .run()
            .map(|budget| budget::checks("run", budget, spent));
        watches && checks.is_some_and(|checks| budget::is_exceeded(&checks))
    }

    /// Ends the process and everything it started, gently first.
    async fn end(&mut self, plan: &Plan, cause: &Cause) -> ExitStatus {
        self.tree.look();
        if let Some(server) = self.stdin.take() {
            if *cause != Cause::Completed {
                let interrupt = self.conversation.as_mut().and_then(Conversation::interrupt);
                if let Some(interrupt) = interrupt {
                    let _ = server.send(interrupt);
                    let completed = async {
                        while let Some(sign) = self.signs.recv().await {
                            if matches!(sign, Sign::Completed) {
                                return;
                            }
                        }
                    };
                    let _ = timeout(Duration::from_secs(1), completed).await;
                }
            }
            let _ = server.send(Value::Null);
            if let Ok(Ok(status)) = timeout(PIPES, self.child.wait()).await {
                return status;
            }
        }
        let leader = self.tree.leader();
        if plan.driver.stop_signal() == StopSignal::Interrupt {
            leader.signal_group(Signal::INT);
            if let Ok(Ok(status)) = timeout(GRACE, self.child.wait()).await {
                return status;
            }
        }
        self.tree.look();
        leader.signal_group(Signal::TERM);
        if let Ok(Ok(status)) = timeout(GRACE, self.child.wait()).await {
            return status;
        }
        self.tree.look();
        loop {
            leader.signal_group(Signal::KILL);
            leader.signal(Signal::KILL);
            for process in self.tree.left() {
                process.signal(Signal::KILL);
            }
            match timeout(GRACE, self.child.wait()).await {
                Ok(Ok(status)) => return status,
                // Nobody can say how it ended.
                Ok(Err(_)) => return ExitStatus::from_raw(Signal::KILL.as_raw()),
                Err(_) => sleep(Duration::from_millis(10)).await,
            }
        }
    }
}

/// How a process ended, and why.
struct End {
    cause: Cause,
    status: ExitStatus,
    chars_in: u64,
}

impl End {
    /// Writes everything down that is known now. What cannot be written is told in the record.
    fn write(
        self,
        plan: &Plan,
        scribe: &Scribe,
        mut sink: Sink,
        mut record: SessionRecord,
    ) -> (SessionRecord, Option<Outcome>) {
        let conversation = sink
            .conversation
            .as_ref()
            .map(|(conversation, _)| conversation.clone());
        let recognised = sink.is_recognised();
        let exit_code = self.status.code();
        let outcome = sink.outcome(exit_code);
        let counts = match &outcome {
            Some(outcome) => outcome.usage.clone(),
            None => sink.usage(),
        };
        let mut error = match (&self.cause, &outcome) {
            (Cause::TimedOut(error, _) | Cause::Broken(error), _) => Some(error.clone()),
            (Cause::OverBudget, _) => Some("the budget of the run is exceeded".to_owned()),
            (Cause::Itself | Cause::Completed, Some(outcome)) => outcome.error.clone(),
            (Cause::Itself | Cause::Completed, None) | (Cause::Stopped, _) => None,
        };
        let completion = conversation
            .as_ref()
            .and_then(|conversation| conversation.completion);
        let mut status = match (&self.cause, &conversation) {
            (Cause::Stopped, _) => RunStatus::Stopped,
            (Cause::TimedOut(..) | Cause::Broken(_) | Cause::OverBudget, _) => RunStatus::Failed,
            (_, Some(_)) => match completion {
                Some(Completion::Completed) => RunStatus::Ended,
                Some(Completion::Interrupted) => RunStatus::Stopped,
                Some(Completion::Failed) => RunStatus::Failed,
                None => {
                    error.get_or_insert_with(|| "the app server ended before its turn".to_owned());
                    RunStatus::Failed
                }
            },
            (Cause::Itself | Cause::Completed, None) => match exit_code {
                Some(0) if error.is_none() => RunStatus::Ended,
                Some(_) | None => RunStatus::Failed,
            },
        };
        record.exit_code = match (&conversation, exit_code, status) {
            // A server that was asked to go ends well whatever became of its turn.
            (Some(_), Some(0) | None, RunStatus::Ended) => Some(0),
            (Some(_), Some(0) | None, _) => Some(1),
            (_, code, _) => code,
        };
        record.signal = self.status.signal().map(signal_name);
        if conversation.is_some() && status == RunStatus::Ended {
            record.signal = None;
        }

        let usage = match &counts {
            Some(counts) => counts.reported(&plan.provider),
            None => usage::estimated(&plan.provider, self.chars_in, sink.chars()),
        };
        let parts_included = counts.as_ref().is_some_and(|counts| counts.parts_included);
        let reported_cost = outcome.as_ref().and_then(|outcome| outcome.cost_usd);
        let cost = usage::cost(
            plan.machine.as_deref(),
            &plan.provider,
            &usage,
            parts_included,
            reported_cost,
        );
        let mut closing = Closing {
            scribe,
            events: Vec::new(),
        };
        if counts.is_none() {
            closing.add("usage.estimated", &json!(usage));
        } else if outcome.is_some() && !recognised {
            // It was only understood at its end.
            closing.add("usage.reported", &json!(usage));
        }
        if let Some(usd) = cost.usd() {
            let (source, card) = match &cost {
                usage::Cost::RateCard(_, card) => ("provider_rate_card", Some(card)),
                usage::Cost::Reported(_) | usage::Cost::Unknown => ("provider_reported", None),
            };
            let payload = json!({"cost_usd": usd, "currency": "USD", "source": source, "rate_card_provider": card});
            closing.add("usage.cost_computed", &payload);
        }
        let mut priced = usage.clone();
        cost.price(&mut priced);

        let spent = Spent {
            tokens: usage.total_tokens,
            cost_usd: cost.usd().unwrap_or(0.0),
        };
        let phase = match self.cause {
            Cause::OverBudget => Phase::Live,
            _ => Phase::Completion,
        };
        // Its own usage is not in its document yet.
        let checks = plan
            .budgets
            .checks(&plan.company, &plan.project, spent, &|_| spent);
        let checks = checks.unwrap_or_default();
        for (event_type, payload) in budget::events(&checks, phase) {
            closing.add(event_type, &payload);
        }
        let budget_exceeded = budget::is_exceeded(&checks);
        if budget_exceeded && status == RunStatus::Ended {
            status = RunStatus::Failed;
        }

        let mut payload = json!({
            "exit_code": record.exit_code,
            "signal": record.signal,
            "stopped": status == RunStatus::Stopped,
            "budget_exceeded": budget_exceeded,
        });
        if let Some(conversation) = &conversation {
            payload["completion_status"] = json!(completion.map(Completion::as_str));
            payload["completion_error"] = json!(conversation.completion_error);
        }
        let reason = match &self.cause {
            Cause::TimedOut(_, reason) => Some(*reason),
            Cause::OverBudget => Some("budget_exceeded"),
            Cause::Broken(_) => Some("broken"),
            Cause::Itself | Cause::Completed | Cause::Stopped => None,
        };
        if let Some(reason) = reason {
            payload["reason"] = reason.into();
        }
        if let Some(error) = &error {
            payload["error"] = error.as_str().into();
        }
        if let Some(class) = outcome.as_ref().and_then(|outcome| outcome.error_class) {
            payload["error_class"] = class.as_str().into();
            if class == ErrorClass::RateLimited {
                payload["retry_at"] =
                    json!(retry_at(plan, outcome.as_ref()).map(company::iso_time));
            }
        }
        let event_type = match status {
            RunStatus::Ended => "run.ended",
            RunStatus::Stopped => "run.stopped",
            RunStatus::Failed | RunStatus::Running => "run.failed",
        };
        closing.add(event_type, &payload);
        if budget_exceeded {
            let cause = cause_of(&closing.events, "budget.exceeded");
            if let Some(last) = closing.events.last_mut() {
                last.causation_id = cause;
            }
        }

        record.status = status;
        record.error = error;
        record.ended_at_ms = Some(plan.company.sources().now_ms());
        let mut files = vec![(
            plan.output("token_usage.json").0,
            token_usage(&priced, &cost),
        )];
        if let Some(text) = outcome.as_ref().and_then(|outcome| outcome.text.as_ref()) {
            files.push((plan.output("last_message.md").0, text.clone()));
        }
        let cycles = sink.context_cycles();
        let ids = conversation.map(|conversation| (conversation.thread_id, conversation.turn_id));
        let change = |run: &mut Run| {
            run.usage = Some(priced);
            run.context_cycles = Some(cycles);
            if let (
                Some(RunSpec::CodexAppServer {
                    thread_id, turn_id, ..
                }),
                Some((thread, turn)),
            ) = (&mut run.spec, ids)
            {
                *thread_id = thread.and_then(Text::new);
                *turn_id = turn.and_then(Text::new);
            }
        };
        if let Err(failure) = scribe.end(&closing.events, status, change, &files, Some(&record)) {
            tracing::error!(error = %failure, "the end of a run cannot be written down");
            record.status = RunStatus::Failed;
            record.error = Some(format!(
                "the end of the run cannot be written down: {failure}"
            ));
        }
        (record, outcome)
    }
}

/// When a worker that was asked too often may be asked again.
pub(crate) fn retry_at(plan: &Plan, outcome: Option<&Outcome>) -> Option<i64> {
    retry_at_of(&plan.company, outcome?)
}

/// The same, of what a worker said.
pub(crate) fn retry_at_of(company: &company::Company, outcome: &Outcome) -> Option<i64> {
    let hint = outcome.retry.as_ref()?;
    hint.at_ms(company.sources().now_ms(), &jiff::tz::TimeZone::system())
}

/// The last events of a run. One that cannot be made is left out and told of in the log.
struct Closing<'a> {
    scribe: &'a Scribe,
    events: Vec<Event>,
}

impl Closing<'_> {
    fn add(&mut self, event_type: &str, payload: &Value) {
        match self.scribe.event(event_type, payload) {
            Ok(event) => self.events.push(event),
            Err(error) => tracing::error!(%error, event_type, "an event cannot be made"),
        }
    }
}

/// `token_usage.json`.
fn token_usage(usage: &Usage, cost: &usage::Cost) -> String {
    let mut value = json!(usage);
    if matches!(cost, usage::Cost::Reported(_)) {
        value["cost_source"] = "provider_reported".into();
    }
    format!("{value:#}\n")
}
