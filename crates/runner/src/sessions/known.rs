//! The sessions of this process: which names and runs they have, and which are not over.

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
    lanes::Ticket,
    plan::Plan,
    process::ProcessId,
    record::{self, SessionRecord, SessionRecordTag},
    session::{self, Live, STOP_FLAG, Stage},
};

/// Sessions that are over and are still known by their name alone.
const REMEMBERED: usize = 1000;

/// A session of this process.
#[derive(Debug)]
pub(super) struct Known {
    pub(super) company: Company,
    pub(super) project: ProjectId,
    pub(super) run: RunId,
    /// Whoever launched it may execute.
    pub(super) may: MayExec,
    pub(super) live: Arc<Live>,
    /// Its place in the lane.
    pub(super) ticket: Mutex<Option<Ticket>>,
    /// Names of its run that stand for nothing.
    pub(super) warnings: Vec<String>,
}

impl Inner {
    /// Takes the name and the run for a session, unless another one has them.
    pub(super) fn claim(&self, plan: &Plan, run: &Run, may: MayExec) -> Result<Arc<Known>, Error> {
        if let Some(other) = self.detached(plan, run) {
            return Err(Error::AlreadyRunning(other));
        }
        let mut live = lock(&self.live);
        let root = plan.company.root();
        let key = (root.to_owned(), plan.run.to_string());
        // It was read before it was cancelled.
        if run.status == RunStatus::Running && lock(&self.cancelled).contains(&key) {
            return Err(Error::Over {
                run: plan.run.clone(),
                status: RunStatus::Stopped,
            });
        }
        let other = live.values().find(|known| {
            known.company.root() == root
                && !known.live.is_over()
                && (known.run == plan.run
                    || *known.live.state().record.session_ref == *plan.session_ref)
        });
        if let Some(other) = other {
            return Err(Error::AlreadyRunning(
                other.live.state().record.session_ref.to_string(),
            ));
        }
        let text = |value: &str| Text::new(value).expect("a name that was checked");
        let record = SessionRecord {
            schema_version: 1,
            r#type: SessionRecordTag::It,
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
        let known = Arc::new(Known {
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
            Arc::clone(&known),
        );
        Ok(known)
    }

    /// The name of a session that has the run or the name already.
    pub(super) fn busy(&self, plan: &Plan, run: &Run) -> Option<String> {
        let live = lock(&self.live);
        let other = live.values().find(|known| {
            known.company.root() == plan.company.root()
                && !known.live.is_over()
                && (known.run == plan.run
                    || *known.live.state().record.session_ref == *plan.session_ref)
        });
        let other = other.map(|other| other.live.state().record.session_ref.to_string());
        drop(live);
        other.or_else(|| self.detached(plan, run))
    }

    /// A process of an earlier gateway that still runs for this run. Only a run that was started before can have one.
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

    pub(super) fn forget(&self, known: &Arc<Known>) {
        let record = known.live.state().record;
        // Whoever waits for it must not wait for ever.
        let mut over = record.clone();
        over.status = RunStatus::Failed;
        known.live.end(over);
        let key = (
            known.company.root().to_owned(),
            record.session_ref.to_string(),
        );
        lock(&self.live).remove(&key);
    }

    /// Keeps only so many sessions that are over; their records tell of the others.
    pub(super) fn remember_less(&self) {
        let mut live = lock(&self.live);
        let over: Vec<_> = live
            .iter()
            .filter(|(_, known)| known.live.is_over())
            .map(|(key, known)| (known.live.state().record.ended_at_ms, key.clone()))
            .collect();
        if over.len() > REMEMBERED {
            let mut over = over;
            over.sort();
            for (_, key) in &over[..over.len() - REMEMBERED] {
                live.remove(key);
            }
        }
    }

    /// A session of a folder; without one the newest of that name, whatever folder it is in.
    pub(super) async fn find(
        &self,
        workspace_dir: Option<&str>,
        session_ref: &str,
    ) -> Result<Option<Arc<Known>>, Error> {
        let Some(workspace_dir) = workspace_dir else {
            let live = lock(&self.live);
            let of_that_name = live.iter().filter(|((_, name), _)| name == session_ref);
            let newest =
                of_that_name.max_by_key(|(_, known)| known.live.state().record.started_at_ms);
            return Ok(newest.map(|(_, known)| Arc::clone(known)));
        };
        let company = session::at(&self.companies, workspace_dir).await?;
        Ok(self.get(&company, session_ref))
    }

    pub(super) fn get(&self, company: &Company, session_ref: &str) -> Option<Arc<Known>> {
        let key = (company.root().to_owned(), session_ref.to_owned());
        lock(&self.live).get(&key).cloned()
    }

    pub(super) fn open(&self) -> Vec<Arc<Known>> {
        let live = lock(&self.live);
        live.values()
            .filter(|known| !known.live.is_over())
            .cloned()
            .collect()
    }

    pub(super) fn state(&self, known: &Known) -> CompanySessionState {
        let waiting = self.waiting(known);
        CompanySessionState {
            queued: waiting.as_ref().map(|_| true),
            queue_position: waiting.as_ref().map(|(position, _)| *position),
            queue_reason: waiting.map(|(_, reason)| reason),
            ..known.live.state().record.state()
        }
    }

    pub(super) fn rows(&self, wanted: impl Fn(&Known) -> bool) -> Vec<CompanySessionRow> {
        let known: Vec<_> = lock(&self.live)
            .values()
            .filter(|known| wanted(known))
            .cloned()
            .collect();
        known
            .iter()
            .map(|known| CompanySessionRow {
                state: self.state(known),
                ..known.live.state().record.row()
            })
            .collect()
    }
}
