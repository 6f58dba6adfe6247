//! Writes the events of a session and the end of its run.

use company::{
    Company, Error,
    document::Run,
    event_log::{Event, Payload},
    layout,
};
use protocol::company::{EventId, IsoTime, ProjectId, RunId, RunStatus, Visibility};
use serde_json::Value;

use crate::record::SessionRecord;

/// Writer for the event log of one run.
#[derive(Clone, Debug)]
pub struct RunLog {
    /// The company folder.
    pub company: Company,
    /// The project of the run.
    pub project: ProjectId,
    /// The run.
    pub run: RunId,
    /// Name of the session, which events carry.
    pub session_ref: String,
}

impl RunLog {
    /// A writer for the same log, for events before the session exists.
    pub fn preflight(&self) -> Self {
        Self {
            session_ref: format!("local_{}", self.run),
            ..self.clone()
        }
    }

    /// Creates an event of the actor `system` that is visible to the whole organization.
    pub fn event(&self, event_type: &str, payload: &Value) -> Result<Event, Error> {
        self.event_by("system", Visibility::Org, event_type, payload)
    }

    /// Creates an event of an actor.
    pub fn event_by(
        &self,
        actor: &str,
        visibility: Visibility,
        event_type: &str,
        payload: &Value,
    ) -> Result<Event, Error> {
        let sources = self.company.sources();
        Ok(Event {
            ts_wallclock: sources.now_text(),
            run_id: self.run.clone(),
            session_ref: self.session_ref.clone(),
            actor: actor.to_owned(),
            visibility,
            event_type: event_type.to_owned(),
            payload: Payload::new(payload)?,
            event_id: sources.id(),
            correlation_id: Some(self.session_ref.clone()),
            causation_id: None,
            ts_monotonic_ms: self.company.uptime_ms(),
        })
    }

    /// Appends events to the log of the run.
    pub fn append(&self, events: &[Event]) -> Result<(), Error> {
        match events {
            [] => Ok(()),
            events => self.company.append_events(&self.project, &self.run, events),
        }
    }

    /// Path of the run's document.
    pub fn run_path(&self) -> String {
        format!("{}/run.yaml", layout::run(&self.project, &self.run))
    }

    /// Appends the last events of a run and stores its end before subscribers receive these events. A run that is
    /// already over is left unchanged.
    pub fn end(
        &self,
        events: &[Event],
        status: RunStatus,
        change: impl FnOnce(&mut Run),
        files: &[(String, String)],
        record: Option<&SessionRecord>,
    ) -> Result<(), Error> {
        self.company
            .append_last_events(&self.project, &self.run, events, |tail| {
                self.company.write(|writer| {
                    let path = self.run_path();
                    let mut run = Run::clone(&*self.company.read::<Run>(&path)?);
                    if run.status == RunStatus::Running {
                        run.status = status;
                        run.ended_at = IsoTime::new(self.company.sources().now_text());
                        run.events_tail = tail;
                        change(&mut run);
                        writer.put(&path, &run)?;
                    }
                    for (relpath, text) in files {
                        writer.put_text(relpath, text)?;
                    }
                    match record {
                        Some(record) => {
                            writer.put(&crate::record::relpath(&record.session_ref), record)
                        }
                        None => Ok(()),
                    }
                })
            })
    }
}

/// Returns the id of the last event of this type, to be used as the cause of a later event.
pub(crate) fn cause_of(events: &[Event], event_type: &str) -> Option<EventId> {
    events
        .iter()
        .rev()
        .find(|event| event.event_type == event_type)
        .map(|event| event.event_id.clone())
}
