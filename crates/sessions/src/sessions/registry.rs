//! The registry of the sessions of this process, by name and run.

use std::sync::{Arc, Mutex};

use company::{Company, document::Run};
use protocol::{
    MayExec,
    company::{
        ProjectId, RunId, RunStatus, Text,
        session::{CompanySessionRow, CompanySessionState},
    },
};
use serde_json::Map;

use super::{Inner, lock};
use crate::{
    Error,
    blocking::locate,
    lanes::Ticket,
    plan::Plan,
    process::ProcessId,
    record::{self, SessionRecord, SessionRecordTag},
    session::{Live, STOP_FLAG, Stage},
};

/// Maximum number of sessions that are over and stay in the registry, so that callers can look them up by name alone.
const REMEMBERED: usize = 1000;

/// A session of this process.
#[derive(Debug)]
pub(super) struct RegisteredSession {
    pub(super) company: Company,
    pub(super) project: ProjectId,
    pub(super) run: RunId,
    /// Proof that the caller who launched the session has the permission to execute.
    pub(super) may: MayExec,
    pub(super) live: Arc<Live>,
    /// The ticket in the lane. `None` until the session enters the lane.
    pub(super) ticket: Mutex<Option<Ticket>>,
    /// A sentence for each name in the run, such as a team, that refers to nothing.
    pub(super) warnings: Vec<String>,
}

impl Inner {
    /// Registers a session under its name and run. Fails if a session that is not over has either of them.
    pub(super) fn claim(
        &self,
        plan: &Plan,
        run: &Run,
        may: MayExec,
    ) -> Result<Arc<RegisteredSession>, Error> {
        if let Some(other) = self.detached(plan, run) {
            return Err(Error::AlreadyRunning(other));
        }
        let mut live = lock(&self.live);
        let root = plan.company.root();
        let key = (root.to_owned(), plan.run.to_string());
        // The launch read the run before this process cancelled it.
        if run.status == RunStatus::Running && lock(&self.cancelled).contains(&key) {
            return Err(Error::Over {
                run: plan.run.clone(),
                status: RunStatus::Stopped,
            });
        }
        let other = live.values().find(|session| {
            session.company.root() == root
                && !session.live.is_over()
                && (session.run == plan.run
                    || *session.live.state().record.session_ref == *plan.session_ref)
        });
        if let Some(other) = other {
            return Err(Error::AlreadyRunning(
                other.live.state().record.session_ref.to_string(),
            ));
        }
        let text = |value: &str| Text::new(value).expect("a name that was checked");
        let record = SessionRecord {
            schema_version: 1,
            r#type: SessionRecordTag::SessionRecord,
            session_ref: text(&plan.session_ref),
            workspace_dir: text(plan.company.given()),
            project_id: text(plan.project.as_str()),
            run_id: text(plan.run.as_str()),
            status: RunStatus::Running,
            exit_code: None,
            signal: None,
            error: None,
            started_at_ms: plan.company.sources().now_ms(),
            ended_at_ms: None,
            mode: plan.mode,
            pid: None,
            pid_claimed_at_ms: None,
            pid_start_ticks: None,
            timeout_ms: plan.limits.0,
            idle_timeout_ms: plan.limits.1,
            stop_marker_relpath: Some(plan.output(STOP_FLAG).1),
            protocol_thread_id: None,
            protocol_turn_id: None,
            rest: Map::new(),
        };
        let session = Arc::new(RegisteredSession {
            company: plan.company.clone(),
            project: plan.project.clone(),
            run: plan.run.clone(),
            may,
            live: Arc::new(Live::new(record, Stage::Queued, plan.task.clone())),
            ticket: Mutex::default(),
            warnings: plan.warnings.clone(),
        });
        live.insert(
            (root.to_owned(), plan.session_ref.clone()),
            Arc::clone(&session),
        );
        Ok(session)
    }

    /// The name of a session that is not over and has the same run or name.
    pub(super) fn busy(&self, plan: &Plan, run: &Run) -> Option<String> {
        let live = lock(&self.live);
        let other = live.values().find(|session| {
            session.company.root() == plan.company.root()
                && !session.live.is_over()
                && (session.run == plan.run
                    || *session.live.state().record.session_ref == *plan.session_ref)
        });
        let other = other.map(|other| other.live.state().record.session_ref.to_string());
        drop(live);
        other.or_else(|| self.detached(plan, run))
    }

    /// The name of a session of an earlier gateway whose process still works on this run. Only a run that was launched
    /// before, and so has a spec, can have one.
    pub(super) fn detached(&self, plan: &Plan, run: &Run) -> Option<String> {
        if run.spec.is_none() || run.status != RunStatus::Running {
            return None;
        }
        let records = record::all(&plan.company).unwrap_or_default();
        let other = records.iter().find(|record| {
            !record.is_over()
                && *record.run_id == *plan.run.as_str()
                && record.process().is_some_and(ProcessId::is_alive)
        })?;
        Some(other.session_ref.to_string())
    }

    /// Removes a session that failed its preflight checks.
    pub(super) fn forget(&self, session: &Arc<RegisteredSession>) {
        let record = session.live.state().record;
        // Callers that wait for the session would otherwise wait for ever.
        let mut over = record.clone();
        over.status = RunStatus::Failed;
        session.live.end(over);
        let key = (
            session.company.root().to_owned(),
            record.session_ref.to_string(),
        );
        lock(&self.live).remove(&key);
    }

    /// Removes the oldest sessions that are over beyond [`REMEMBERED`]. Their records remain in the company folder.
    pub(super) fn remember_less(&self) {
        let mut live = lock(&self.live);
        let over: Vec<_> = live
            .iter()
            .filter(|(_, session)| session.live.is_over())
            .map(|(key, session)| (session.live.state().record.ended_at_ms, key.clone()))
            .collect();
        if over.len() > REMEMBERED {
            let mut over = over;
            over.sort();
            for (_, key) in &over[..over.len() - REMEMBERED] {
                live.remove(key);
            }
        }
    }

    /// Finds a session by name in a company folder. Without a folder, finds the newest session of that name in any
    /// folder.
    pub(super) async fn find(
        &self,
        workspace_dir: Option<&str>,
        session_ref: &str,
    ) -> Result<Option<Arc<RegisteredSession>>, Error> {
        let Some(workspace_dir) = workspace_dir else {
            let live = lock(&self.live);
            let same_name = live.iter().filter(|((_, name), _)| name == session_ref);
            let newest =
                same_name.max_by_key(|(_, session)| session.live.state().record.started_at_ms);
            return Ok(newest.map(|(_, session)| Arc::clone(session)));
        };
        let company = locate(&self.companies, workspace_dir).await?;
        Ok(self.get(&company, session_ref))
    }

    pub(super) fn get(
        &self,
        company: &Company,
        session_ref: &str,
    ) -> Option<Arc<RegisteredSession>> {
        let key = (company.root().to_owned(), session_ref.to_owned());
        lock(&self.live).get(&key).cloned()
    }

    pub(super) fn open(&self) -> Vec<Arc<RegisteredSession>> {
        let live = lock(&self.live);
        live.values()
            .filter(|session| !session.live.is_over())
            .cloned()
            .collect()
    }

    pub(super) fn state(&self, session: &RegisteredSession) -> CompanySessionState {
        let waiting = self.waiting(session);
        CompanySessionState {
            queued: waiting.as_ref().map(|_| true),
            queue_position: waiting.as_ref().map(|(position, _)| *position),
            queue_reason: waiting.map(|(_, reason)| reason),
            ..session.live.state().record.state()
        }
    }

    pub(super) fn rows(
        &self,
        wanted: impl Fn(&RegisteredSession) -> bool,
    ) -> Vec<CompanySessionRow> {
        let sessions: Vec<_> = lock(&self.live)
            .values()
            .filter(|session| wanted(session))
            .cloned()
            .collect();
        sessions
            .iter()
            .map(|session| CompanySessionRow {
                state: self.state(session),
                ..session.live.state().record.row()
            })
            .collect()
    }
}
