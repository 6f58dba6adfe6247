//! The lifecycle of one session, from the moment its lane starts it until its run is over. Waiting in the lane is done
//! in `sessions`.

mod conclusion;
mod end;
mod live;
mod prepare;
mod printed;
mod started;
mod worker_process;

use std::sync::Arc;

use drivers::Outcome;
use protocol::company::RunStatus;
use serde_json::{Value, json};

pub(crate) use end::retry_at;
pub use end::retry_at_of;
pub(crate) use live::{Live, Stage};
pub(crate) use prepare::STOP_FLAG;
pub use prepare::is_result;

use crate::{
    blocking::blocking, instruction_file, pipes::Pipes, plan::Plan, process::ProcessId,
    record::SessionRecord, run_log::RunLog,
};

/// The reason code and the error of a session that could not be started.
#[derive(Debug)]
pub(crate) struct NotStarted {
    reason: &'static str,
    pub(crate) error: String,
}

impl NotStarted {
    /// The operating system could not start the program.
    fn spawn(error: String) -> Self {
        Self {
            reason: "spawn_failed",
            error,
        }
    }

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

/// Runs a session that its lane has started. Returns the outcome of the worker program, from which the caller decides
/// whether the provider cools down, or `None` if the session could not be started or recorded.
pub(crate) async fn run(plan: Arc<Plan>, live: Arc<Live>, run_log: RunLog) -> Option<Outcome> {
    live.advance(Stage::Starting);
    let started = match prepare::prepare(&plan, &run_log).await {
        Ok(prepared) => started::start(&plan, &live, &run_log, prepared).await,
        Err(error) => Err(error),
    };
    match started {
        Ok(started) => started.finish(&plan, &live, &run_log).await,
        Err(error) => {
            instruction_file::collect_of(&plan).await;
            fail(&run_log, &live, error).await;
            None
        }
    }
}

/// Continues a session whose gateway has ended, until the session is over.
pub(crate) async fn take_over(
    plan: Arc<Plan>,
    live: Arc<Live>,
    process: ProcessId,
    pipes: Pipes,
) -> Option<Outcome> {
    let run_log = plan.run_log();
    let taken = {
        let (plan, run_log) = (Arc::clone(&plan), run_log.clone());
        blocking(move || started::take_over(&plan, &run_log, process, pipes)).await
    };
    match taken {
        Ok(started) => started.finish(&plan, &live, &run_log).await,
        Err(error) => {
            fail(&run_log, &live, error.into()).await;
            None
        }
    }
}

/// Records that a session could not be started.
pub(crate) async fn fail(run_log: &RunLog, live: &Live, not_started: NotStarted) {
    let NotStarted { reason, error } = not_started;
    let mut record = live.state().record;
    record.status = RunStatus::Failed;
    record.error = Some(error.clone());
    close_unstarted(
        run_log,
        live,
        record,
        "run.failed",
        json!({"reason": reason, "error": error}),
    )
    .await;
}

/// Records that a session was stopped before it had a process.
pub(crate) async fn stop_unstarted(run_log: &RunLog, live: &Live) {
    let mut record = live.state().record;
    record.status = RunStatus::Stopped;
    close_unstarted(
        run_log,
        live,
        record,
        "run.stopped",
        json!({"reason": "stopped_in_queue"}),
    )
    .await;
}

async fn close_unstarted(
    run_log: &RunLog,
    live: &Live,
    mut record: SessionRecord,
    event_type: &'static str,
    more: Value,
) {
    record.ended_at_ms = Some(run_log.company.sources().now_ms());
    let (run_log, copy) = (run_log.clone(), record.clone());
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
        let event = run_log.event(event_type, &payload)?;
        run_log.end(&[event], copy.status, |_| {}, &[], Some(&copy))
    });
    if let Err(error) = written.await {
        tracing::error!(%error, "the end of a session cannot be recorded");
    }
    live.end(record);
}

/// The error of a launch whose run is already over.
pub(crate) fn not_running(status: RunStatus) -> String {
    format!("Run is not in running status (status={status})")
}
