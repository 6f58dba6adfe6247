//! A process while it runs: reads its output into the sink, enforces its limits, and ends it.

use std::{fs::File, io::Read as _, sync::Arc, time::Duration};

use drivers::{Outcome, StopSignal, codex_app_server::Conversation, output::Stream, usage};
use protocol::company::RunStatus;
use serde_json::Value;
use tokio::{
    io::AsyncWriteExt as _,
    sync::{mpsc, watch},
    time::{Instant, sleep, sleep_until, timeout},
};

use super::{
    Live, NotStarted, Stage,
    conclusion::Cause,
    end::End,
    fail,
    prepare::Prepared,
    printed::{BATCH_BYTES, Printed, Sign, converse, pump},
    worker_process::{Exit, LocalProcess, ProcessCommand, WorkerProcess},
};
use crate::{
    blocking::blocking,
    budget::{self, Spent},
    instruction_file::{self, Placed},
    pipes::{self, Pipes},
    plan::Plan,
    process::{self, ProcessId},
    run_log::RunLog,
    sink::Sink,
};

/// How long a process may take to end after a signal.
const GRACE_PERIOD: Duration = Duration::from_millis(1500);
/// How long pipes may stay open without output after their process has ended, and how long an app server may take to
/// end after its input was closed.
const PIPE_TIMEOUT: Duration = Duration::from_millis(500);
/// How long the remaining processes of a session may take to end after `SIGTERM`.
const LEFTOVER_TIMEOUT: Duration = Duration::from_millis(300);
/// How long an app server may take to answer the requests that precede the turn.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(60);
/// How often the processes that the leader started are listed.
const SCAN_INTERVAL: Duration = Duration::from_secs(1);

/// A running process with its pipes and tasks.
pub(super) struct Started<P> {
    process: P,
    /// Queue of messages to an app server. `None` for other programs.
    stdin: Option<mpsc::UnboundedSender<Value>>,
    signs: mpsc::UnboundedReceiver<Sign>,
    /// The task that writes the output. It ends when all output is written.
    pump: tokio::task::JoinHandle<(Sink, Option<company::Error>)>,
    /// Time of the last read that returned output.
    read_at: Arc<watch::Sender<Instant>>,
    stop_reading: watch::Sender<bool>,
    /// The lock on the pipes, held until the end is recorded, so that no other gateway treats the session as orphaned
    /// before that.
    lock: Option<File>,
    /// The conversation with an app server at the time it named the turn. `None` before that and for other programs.
    conversation: Option<Conversation>,
    /// Length of the input of the process, in UTF-16 code units.
    chars_in: u64,
    /// The lock on the instructions file. `None` for a session that was taken over, whose file is found by its note.
    placed: Option<Placed>,
}

pub(super) async fn start(
    plan: &Arc<Plan>,
    live: &Arc<Live>,
    run_log: &RunLog,
    prepared: Prepared,
) -> Result<Started<LocalProcess>, NotStarted> {
    let Prepared {
        command,
        cwd,
        files,
        reader,
        pipes: (pipes, ends),
        turn,
        placed,
    } = prepared;
    let line = &command.line;
    let has_input = line.stdin.is_some() || turn.is_some();
    let process = ProcessCommand {
        argv: &line.argv,
        cwd: &cwd,
        environment: &command.environment,
        mark: plan.mark(),
        has_input,
    };
    let mut process = LocalProcess::start(process, ends).map_err(|error| {
        pipes::remove(&plan.company, &plan.session_ref);
        NotStarted::spawn(error)
    })?;
    let leader = process.id();
    let now_ms = plan.company.sources().now_ms();
    live.update(|record| {
        record.pid = Some(leader.pid);
        record.pid_claimed_at_ms = Some(now_ms);
        record.pid_start_ticks = leader.start_ticks;
    });
    if let Err(error) = live.state().record.seal(&plan.company) {
        tracing::warn!(%error, "the process id of a session cannot be sealed, so no later gateway can stop the session");
    }

    let printed = Printed::read(pipes);
    let secrets = plan.secrets(&command.environment);
    let mut sink = Sink::new(
        run_log.clone(),
        plan.agent.clone(),
        plan.provider.clone(),
        files,
        &secrets,
        reader,
    );
    let mut chars_in = line.stdin.as_ref().map_or(0, |text| utf16(text));
    let stdin = match (turn, process.take_input()) {
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
                    // A program may end or close its input without reading it.
                    let _ = pipe.write_all(text.as_bytes()).await;
                });
            }
            None
        }
    };
    let record = live.state().record;
    let saved = {
        let company = plan.company.clone();
        blocking(move || record.save(&company))
    };
    if let Err(error) = saved.await {
        tracing::warn!(%error, "the process id of a session cannot be recorded");
    }
    live.advance(Stage::Running);
    let started = Started::begin(process, stdin, printed, sink, chars_in);
    Ok(Started { placed, ..started })
}

/// Continues with the process of a gateway that has ended: reads the output files to rebuild the state of the sink,
/// then the pipes.
pub(super) fn take_over(
    plan: &Arc<Plan>,
    run_log: &RunLog,
    process: ProcessId,
    pipes: Pipes,
) -> Result<Started<LocalProcess>, company::Error> {
    let path = |name: &str| plan.output(name).0;
    let append = |name: &str| plan.company.append_to(&path(name));
    let files = (append("stdout.txt")?, append("stderr.txt")?);
    let environment = process::environment_of(process);
    let mut sink = Sink::new(
        run_log.clone(),
        plan.agent.clone(),
        plan.provider.clone(),
        files,
        &plan.secrets(&environment),
        plan.reader(),
    );
    for (stream, name) in [
        (Stream::Stdout, "stdout.txt"),
        (Stream::Stderr, "stderr.txt"),
    ] {
        let path = path(name);
        let mut file = plan.company.open(&path)?;
        let failed = |error| company::Error::io("read", plan.company.path(&path), error);
        let mut bytes = vec![0; BATCH_BYTES];
        loop {
            match file.read(&mut bytes).map_err(failed)? {
                0 => break,
                read => sink.recall(stream, &bytes[..read])?,
            }
        }
    }
    let stdin = plan
        .company
        .read_text(&path("stdin.txt"))
        .unwrap_or_default();
    Ok(Started::begin(
        LocalProcess::take_over(process, plan.mark()),
        None,
        Printed::read(pipes),
        sink,
        utf16(&stdin),
    ))
}

fn utf16(text: &str) -> u64 {
    text.chars().map(|char| char.len_utf16() as u64).sum()
}

impl<P: WorkerProcess> Started<P> {
    fn begin(
        process: P,
        stdin: Option<mpsc::UnboundedSender<Value>>,
        printed: Printed,
        sink: Sink,
        chars_in: u64,
    ) -> Self {
        let (sign_sender, signs) = mpsc::unbounded_channel();
        Self {
            process,
            stdin,
            signs,
            pump: tokio::spawn(pump(sink, printed.waiting, sign_sender)),
            read_at: printed.read_at,
            stop_reading: printed.stop_reading,
            lock: printed.lock,
            conversation: None,
            chars_in,
            placed: None,
        }
    }

    /// Watches the process until it ends, and records its end.
    pub(super) async fn finish(
        mut self,
        plan: &Arc<Plan>,
        live: &Arc<Live>,
        run_log: &RunLog,
    ) -> Option<Outcome> {
        let (cause, status) = self.watch(plan, live).await;
        let status = match status {
            Some(status) => status,
            None => self.end(plan, &cause).await,
        };
        // Remaining child processes may hold the pipes open, so they are ended before the output is complete.
        if let Some(server) = self.stdin.take() {
            let _ = server.send(Value::Null);
        }
        let exited_at = Instant::now();
        let mut pump = self.pump;
        let mut done = timeout(PIPE_TIMEOUT, &mut pump).await.ok();
        let survivors = self.process.end_left(LEFTOVER_TIMEOUT).await;
        while done.is_none() {
            let silent_since = (*self.read_at.borrow()).max(exited_at);
            done = timeout(PIPE_TIMEOUT, &mut pump).await.ok();
            if done.is_none() && (*self.read_at.borrow()).max(exited_at) == silent_since {
                self.stop_reading.send_replace(true);
            }
        }
        let (sink, failure) = match done.expect("the loop ends only once the pump has ended") {
            Ok(pumped) => pumped,
            Err(panic) => {
                let error = NotStarted::launch(format!("output cannot be read: {panic}"));
                fail(run_log, live, error).await;
                return None;
            }
        };
        let cause = match (failure, live.stop_requested()) {
            (Some(error), _) => Cause::Broken(error.to_string()),
            // The process ended by itself at the time of the stop request.
            (None, true) => Cause::Stopped,
            (None, false) => cause,
        };
        // The lock keeps other gateways from collecting the instructions file while the session runs.
        drop(self.placed);
        instruction_file::collect_of(plan).await;
        let end = End {
            cause,
            exit: status,
            chars_in: self.chars_in,
            survivors,
        };
        let lock = self.lock;
        let written = {
            let (plan, run_log) = (Arc::clone(plan), run_log.clone());
            let record = live.state().record;
            blocking(move || {
                let written = end.record(&plan, &run_log, sink, record);
                pipes::remove(&plan.company, &plan.session_ref);
                drop(lock);
                Ok(written)
            })
            .await
        };
        match written {
            Ok((record, outcome)) => {
                live.set_outcome(outcome.clone());
                plan.over(&record, outcome.as_ref()).await;
                live.end(record);
                outcome
            }
            Err(error) => {
                tracing::error!(%error, "the end of a session cannot be recorded");
                let mut record = live.state().record;
                record.status = RunStatus::Failed;
                record.error = Some(error.to_string());
                plan.over(&record, None).await;
                live.end(record);
                None
            }
        }
    }

    /// Waits until the process ends or there is a cause to end it. The exit status is `None` if the process still runs.
    async fn watch(&mut self, plan: &Plan, live: &Live) -> (Cause, Option<Exit>) {
        let started = Instant::now();
        let deadline = started + plan.timeout;
        let mut answer_by = self.stdin.as_ref().map(|_| started + ANSWER_TIMEOUT);
        let mut look = tokio::time::interval_at(started + SCAN_INTERVAL, SCAN_INTERVAL);
        let mut signs_open = true;
        loop {
            let idle_at = *self.read_at.borrow() + plan.idle_timeout;
            tokio::select! {
                status = self.process.wait() => {
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
                        answer_by = Some(Instant::now() + ANSWER_TIMEOUT);
                        self.conversation = Some(*conversation);
                        live.update(|record| {
                            record.protocol_thread_id = thread;
                            record.protocol_turn_id = turn;
                        });
                        let (company, record) = (plan.company.clone(), live.state().record);
                        if let Err(error) = blocking(move || record.save(&company)).await {
                            tracing::warn!(%error, "the record of a session cannot be saved");
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
                _ = look.tick() => self.process.look(),
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

    /// Ends the process and its process group: interrupts the turn of an app server, then sends the stop signal of the
    /// driver, `SIGTERM` and `SIGKILL`.
    async fn end(&mut self, plan: &Plan, cause: &Cause) -> Exit {
        self.process.look();
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
            if let Ok(Ok(status)) = timeout(PIPE_TIMEOUT, self.process.wait()).await {
                return status;
            }
        }
        if plan.driver.stop_signal() == StopSignal::Interrupt {
            self.process.stop(StopSignal::Interrupt);
            if let Ok(Ok(status)) = timeout(GRACE_PERIOD, self.process.wait()).await {
                return status;
            }
        }
        self.process.look();
        self.process.stop(StopSignal::Terminate);
        if let Ok(Ok(status)) = timeout(GRACE_PERIOD, self.process.wait()).await {
            return status;
        }
        self.process.look();
        loop {
            self.process.kill();
            match timeout(GRACE_PERIOD, self.process.wait()).await {
                Ok(Ok(status)) => return status,
                // The exit status cannot be read; the process was sent `SIGKILL`.
                Ok(Err(_)) => return P::killed(),
                Err(_) => sleep(Duration::from_millis(10)).await,
            }
        }
    }
}
