//! `run.cancel`: ends a run that has no process.

use std::sync::Arc;

use company::{Company, document::Run, execution::run::is_unstarted, layout};
use protocol::company::{ProjectId, RunId, RunStatus, Text, Visibility};
use serde_json::json;

use super::{Inner, Sessions, lock, registry::RegisteredSession};
use crate::{
    Error,
    blocking::{blocking, open},
    process::ProcessId,
    record,
    run_log::RunLog,
    session::Stage,
};

/// A request to cancel a run.
#[derive(Clone, Debug)]
pub struct Cancellation {
    /// Project of the run.
    pub project: ProjectId,
    /// The run to cancel.
    pub run: RunId,
    /// Id of the actor that cancels the run.
    pub actor: String,
    /// Reason of the cancellation, recorded as `note` of the event `run.stopped`. `None` if the caller gave none.
    pub reason: Option<Text>,
}

impl Sessions {
    /// Ends a run that was never launched, or removes its session from the queue.
    pub async fn cancel_run(
        &self,
        workspace_dir: &str,
        cancellation: Cancellation,
    ) -> Result<(), Error> {
        let company = open(&self.inner.companies, workspace_dir).await?;
        if let Some(session) = self.inner.session_of(&company, &cancellation.run) {
            return self.cancel_queued(&session).await;
        }
        let key = (company.root().to_owned(), cancellation.run.to_string());
        if !self.inner.forbid_launch(&company, &cancellation.run) {
            // A launch claimed the run after `session_of` was checked.
            return Err(Error::Launched(cancellation.run));
        }
        let written = write_cancellation(company, cancellation).await;
        if written.is_err() {
            lock(&self.inner.cancelled).remove(&key);
        }
        written
    }

    async fn cancel_queued(&self, session: &Arc<RegisteredSession>) -> Result<(), Error> {
        let session_ref = session.live.state().record.session_ref.to_string();
        let has_process = || Error::HasProcess {
            run: session.run.clone(),
            session_ref: session_ref.clone(),
        };
        if session.live.state().stage != Stage::Queued {
            return Err(has_process());
        }
        session.live.request_stop();
        let ended = session.live.reach(|stage| stage == Stage::Over).await;
        if ended.record.pid.is_some() {
            return Err(has_process());
        }
        Ok(())
    }
}

impl Inner {
    /// The session of a run, if there is one that is not over.
    fn session_of(&self, company: &Company, run: &RunId) -> Option<Arc<RegisteredSession>> {
        let live = lock(&self.live);
        let mut open = live.values().filter(|session| !session.live.is_over());
        open.find(|session| session.company.root() == company.root() && session.run == *run)
            .cloned()
    }

    /// Forbids this process to launch a run from now on. Returns false if a launch has already begun.
    fn forbid_launch(&self, company: &Company, run: &RunId) -> bool {
        let live = lock(&self.live);
        let mut open = live.values().filter(|session| !session.live.is_over());
        if open.any(|session| session.company.root() == company.root() && session.run == *run) {
            return false;
        }
        let key = (company.root().to_owned(), run.to_string());
        lock(&self.cancelled).insert(key);
        true
    }
}

/// Checks that the run was never launched, then records that it is stopped.
async fn write_cancellation(company: Company, cancellation: Cancellation) -> Result<(), Error> {
    let Cancellation {
        project,
        run,
        actor,
        reason,
    } = cancellation;
    let checked = {
        let (company, project, run) = (company.clone(), project.clone(), run.clone());
        blocking(move || {
            let path = format!("{}/run.yaml", layout::run(&project, &run));
            let document = company.read::<Run>(&path);
            let document = document.map_err(|error| error.or_not_found("Run", run.as_str()))?;
            if is_unstarted(&document) {
                return Ok(None);
            }
            let records = record::all(&company)?;
            let session = records.iter().find(|record| {
                !record.is_over()
                    && *record.run_id == *run.as_str()
                    && record.process().is_some_and(ProcessId::is_alive)
            });
            Ok(Some(match (document.status, session) {
                (RunStatus::Running, Some(session)) => Error::HasProcess {
                    run,
                    session_ref: session.session_ref.to_string(),
                },
                (RunStatus::Running, None) => Error::Launched(run),
                (status, _) => Error::Over { run, status },
            }))
        })
        .await?
    };
    if let Some(refusal) = checked {
        return Err(refusal);
    }
    let run_log = RunLog {
        session_ref: format!("local_{run}"),
        company,
        project,
        run,
    };
    blocking(move || {
        let mut payload = json!({
            "exit_code": null,
            "signal": null,
            "stopped": true,
            "budget_exceeded": false,
            "reason": "cancelled",
        });
        if let Some(reason) = reason {
            payload["note"] = reason.as_str().into();
        }
        let event = run_log.event_by(&actor, Visibility::Org, "run.stopped", &payload)?;
        run_log.end(&[event], RunStatus::Stopped, |_| {}, &[], None)
    })
    .await?;
    Ok(())
}
