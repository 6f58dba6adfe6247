//! Sessions of an earlier gateway process that this one has not taken over: reconciles their records with the state of
//! their processes, and stops them.

use std::{sync::Arc, time::Duration};

use company::{Company, document::Run, layout, unix_ms};
use drivers::environment::MARK;
use protocol::{
    Id as _, MayExec,
    company::{ProjectId, RunId, RunStatus, session::CompanySessionState},
};
use rustix::process::Signal;
use serde_json::json;
use tokio::time::sleep;

use super::Sessions;
use crate::{
    Error,
    blocking::blocking,
    pipes::{self, PipeState},
    process::ProcessId,
    process_tree::ProcessTree,
    record::SessionRecord,
    run_log::RunLog,
    session::STOP_FLAG,
};

const DETACHED: &str = "Session process is detached from this runtime (possible restart).";
const NEVER_STARTED: &str = "The gateway of the session is preparing it, or ended before it started the program; \
     `run.cancel` ends the run.";
const ORPHANED: &str = "Reconciled orphaned detached session (pid not running).";
const STOPPED: &str = "Reconciled detached stop request after process exit.";
const NOT_OURS: &str = "Nothing proves that this machine started the process that the record names, \
     so the process is left alone.";
const SIGNALLED: &str = "Stop signal sent to detached session process.";

impl Sessions {
    /// Stops the process of a session that an earlier gateway started.
    pub(super) async fn stop_detached(
        &self,
        company: Company,
        mut record: SessionRecord,
        _may: MayExec,
    ) -> Result<CompanySessionState, Error> {
        let is_running = |process: &ProcessId| !record.is_over() && process.is_alive();
        if !record.process().is_some_and(|process| is_running(&process)) {
            return Ok(record.state());
        }
        let Some(process) = record.own_process(&company) else {
            record.error = Some(NOT_OURS.to_owned());
            return Ok(record.state());
        };
        let (Ok(project), Ok(run)) = (
            ProjectId::parse(&record.project_id),
            RunId::parse(&record.run_id),
        ) else {
            return Ok(record.state());
        };
        let session_ref = record.session_ref.to_string();
        let folder = company
            .path(&layout::run(&project, &run))
            .display()
            .to_string();
        blocking(move || write_stop_flag(&company, &project, &run, &session_ref)).await?;
        let ending = async move {
            let mut tree = ProcessTree::find(process, format!("{MARK}={folder}"));
            process.signal_group(Signal::TERM);
            process.signal(Signal::TERM);
            for _ in 0..75 {
                sleep(Duration::from_millis(20)).await;
                if !process.is_alive() {
                    break;
                }
            }
            tree.look_everywhere();
            process.signal_group(Signal::KILL);
            process.signal(Signal::KILL);
            tree.end_left(Duration::from_millis(300)).await;
        };
        if self.takes_over() {
            tokio::spawn(ending);
        } else {
            // This process may end right after its response, so a background task could be lost and the worker would
            // keep running.
            ending.await;
        }
        record.error = Some(SIGNALLED.to_owned());
        Ok(record.state())
    }
}

fn stop_flag(project: &ProjectId, run: &RunId) -> String {
    format!("{}/{STOP_FLAG}", layout::run_outputs(project, run))
}

pub(super) fn write_stop_flag(
    company: &Company,
    project: &ProjectId,
    run: &RunId,
    session_ref: &str,
) -> Result<(), company::Error> {
    let text = format!("{}\n", json!({"session_ref": session_ref}));
    company.replace(&stop_flag(project, run), text.as_bytes())
}

/// Whether a stop of this session was requested. A flag that names another session does not count; a flag without a
/// readable name does.
fn has_stop_flag(company: &Company, path: &str, session_ref: &str) -> bool {
    #[derive(serde::Deserialize)]
    struct Flag {
        session_ref: String,
    }
    match company.read_text(path) {
        Ok(text) => match serde_json::from_str::<Flag>(&text) {
            Ok(flag) => flag.session_ref == session_ref,
            Err(_) => true,
        },
        Err(_) => false,
    }
}

/// Returns the record of an earlier process, updated to the current state of its run and process: a session whose
/// process no longer exists is over, even if the record still has the status `running`.
///
/// The end is recorded only if the caller has the permission to execute. Other callers just see it.
pub(super) fn reconcile(
    company: &Company,
    record: &Arc<SessionRecord>,
    may: Option<MayExec>,
) -> SessionRecord {
    let mut record = SessionRecord::clone(record);
    if record.is_over() {
        return record;
    }
    let (Ok(project), Ok(run_id)) = (
        ProjectId::parse(&record.project_id),
        RunId::parse(&record.run_id),
    ) else {
        return record;
    };
    let path = format!("{}/run.yaml", layout::run(&project, &run_id));
    let Ok(run) = company.read::<Run>(&path) else {
        return record;
    };
    if run.status != RunStatus::Running {
        record.status = run.status;
        record.ended_at_ms = run.ended_at.as_ref().and_then(|time| unix_ms(time));
        return record;
    }
    if pipes::state(company, &record.session_ref) == PipeState::Read {
        // Another gateway runs the session and records its end.
        record.error = Some(DETACHED.to_owned());
        return record;
    }
    let flag = has_stop_flag(company, &stop_flag(&project, &run_id), &record.session_ref);
    match record.process() {
        Some(process) if !process.is_alive() => {
            let (status, event_type, error) = if flag {
                (RunStatus::Stopped, "run.stopped", STOPPED)
            } else {
                (RunStatus::Failed, "run.failed", ORPHANED)
            };
            record.status = status;
            record.error = Some(error.to_owned());
            record.ended_at_ms = Some(company.sources().now_ms());
            if may.is_none() {
                return record;
            }
            let run_log = RunLog {
                company: company.clone(),
                project,
                run: run_id,
                session_ref: record.session_ref.to_string(),
            };
            let payload =
                json!({"exit_code": null, "signal": null, "stopped": flag, "orphaned": true});
            let ended = run_log
                .event(event_type, &payload)
                .and_then(|event| run_log.end(&[event], status, |_| {}, &[], Some(&record)));
            pipes::remove(company, &record.session_ref);
            if let Err(error) = ended {
                tracing::warn!(%error, "the end of an orphaned session cannot be recorded");
            }
        }
        Some(_) => record.error = Some(DETACHED.to_owned()),
        None => record.error = Some(NEVER_STARTED.to_owned()),
    }
    record
}
