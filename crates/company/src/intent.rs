//! Several writes that happen all or not at all, whenever the process ends.
//!
//! Everything that is going to be written is first put into one file of `.local/intents`. That file is the moment of
//! decision: before it is there nothing happened, from then on everything will. Whoever next takes the write lock
//! finishes what it says; writing a file twice is the same as once, and an event that is in its log is not appended
//! again.

use std::io::{BufRead as _, BufReader};

use protocol::company::{EventId, ProjectId, RunId, Visibility};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use sha2::{Digest as _, Sha256};

use crate::{
    Company, Error, Writer,
    event::{Event, Payload, hex},
    layout,
};

/// What is going to be written, in this order: the files, the folders, the events, then what goes.
#[derive(Debug, Default)]
pub(crate) struct Together {
    /// Files with their new content.
    pub(crate) files: Vec<(String, String)>,
    /// Folders that need to be there, even empty.
    pub(crate) dirs: Vec<String>,
    /// Events of runs. A run that is not there hears nothing.
    pub(crate) events: Vec<(ProjectId, Event)>,
    /// Files that are no longer needed.
    pub(crate) removed: Vec<String>,
}

/// [`Together`] as its file has it.
#[derive(Serialize, Deserialize)]
struct Intent {
    schema_version: u32,
    created_at: String,
    files: Vec<IntendedFile>,
    #[serde(default)]
    dirs: Vec<String>,
    events: Vec<IntendedEvent>,
    #[serde(default)]
    removed: Vec<String>,
}

#[derive(Serialize, Deserialize)]
struct IntendedFile {
    path: String,
    /// What was there before, so that nobody's later edit is lost without a trace.
    before_sha256: Option<String>,
    content: String,
}

#[derive(Serialize, Deserialize)]
struct IntendedEvent {
    project_id: ProjectId,
    ts_wallclock: String,
    run_id: RunId,
    session_ref: String,
    actor: String,
    visibility: Visibility,
    r#type: String,
    payload: Box<RawValue>,
    event_id: EventId,
    ts_monotonic_ms: u64,
}

impl Writer<'_> {
    /// Writes everything, or nothing.
    pub(crate) fn put_together(&self, together: &Together) -> Result<(), Error> {
        let company = self.company();
        let files = together.files.iter().map(|(path, content)| {
            let before = match company.read_bytes(path) {
                Ok(bytes) => Some(sha256(&bytes)),
                Err(error) if error.is_missing() => None,
                Err(error) => return Err(error),
            };
            Ok(IntendedFile {
                path: path.clone(),
                before_sha256: before,
                content: content.clone(),
            })
        });
        let events = together.events.iter().map(|(project, event)| {
            check_log(company, project, &event.run_id)?;
            let payload = RawValue::from_string(event.payload.as_str().to_owned());
            Ok(IntendedEvent {
                project_id: project.clone(),
                ts_wallclock: event.ts_wallclock.clone(),
                run_id: event.run_id.clone(),
                session_ref: event.session_ref.clone(),
                actor: event.actor.clone(),
                visibility: event.visibility,
                r#type: event.event_type.clone(),
                payload: payload.map_err(|error| unprintable(&error))?,
                event_id: event.event_id.clone(),
                ts_monotonic_ms: event.ts_monotonic_ms,
            })
        });
        let intent = Intent {
            schema_version: 1,
            created_at: self.now().to_string(),
            files: files.collect::<Result<_, _>>()?,
            dirs: together.dirs.clone(),
            events: events.collect::<Result<_, _>>()?,
            removed: together.removed.clone(),
        };
        let id: EventId = company.sources().id();
        let path = format!("{}/{id}.json", layout::INTENTS);
        let text = serde_json::to_string_pretty(&intent).map_err(|error| unprintable(&error))?;
        self.put_text(&path, &(text + "\n"))?;
        for file in &intent.files {
            self.put_text(&file.path, &file.content)?;
        }
        for dir in &together.dirs {
            self.make_dir(dir)?;
        }
        for (project, event) in &together.events {
            append(company, project, event)?;
        }
        for gone in &together.removed {
            self.remove(gone)?;
        }
        self.remove(&path)
    }
}

/// Whether somebody left something half done.
pub(crate) fn is_left(company: &Company) -> bool {
    let names = company.names(layout::INTENTS).unwrap_or_default();
    names.iter().any(|name| name.ends_with(".json"))
}

/// Finishes what somebody left half done, the oldest first.
pub(crate) fn finish(writer: &Writer<'_>) -> Result<(), Error> {
    let company = writer.company();
    for name in company.names(layout::INTENTS)? {
        let Some(id) = name.strip_suffix(".json") else {
            continue;
        };
        let path = format!("{}/{name}", layout::INTENTS);
        let text = company.read_text(&path)?;
        let Ok(intent) = serde_json::from_str::<Intent>(&text) else {
            // It was made whole, so somebody changed it since. It is kept for people and not tried again.
            tracing::warn!(path, "an intent cannot be read");
            writer.put_text(&format!("{path}.damaged"), &text)?;
            writer.remove(&path)?;
            continue;
        };
        tracing::info!(path, "finishing what was left half done");
        for (place, file) in intent.files.iter().enumerate() {
            file.finish(writer, &format!(".local/recovered/{id}-{place}"))?;
        }
        for dir in &intent.dirs {
            writer.make_dir(dir)?;
        }
        for event in intent.events {
            event.finish(company)?;
        }
        for gone in &intent.removed {
            writer.remove(gone)?;
        }
        writer.remove(&path)?;
    }
    Ok(())
}

impl IntendedFile {
    fn finish(&self, writer: &Writer<'_>, recovered: &str) -> Result<(), Error> {
        let found = match writer.company().read_bytes(&self.path) {
            Ok(found) => Some(found),
            Err(error) if error.is_missing() => None,
            Err(error) => return Err(error),
        };
        if found.as_deref() == Some(self.content.as_bytes()) {
            return Ok(());
        }
        // A new log that somebody has added to since is whole.
        let is_log = self.before_sha256.is_none() && self.path.ends_with(".jsonl");
        let has_grown = |found: &Vec<u8>| found.starts_with(self.content.as_bytes());
        if is_log && found.as_ref().is_some_and(has_grown) {
            return Ok(());
        }
        if let Some(found) = found.filter(|found| Some(sha256(found)) != self.before_sha256) {
            // Somebody edited the file after the process ended: theirs is kept beside.
            writer.put_text(recovered, &String::from_utf8_lossy(&found))?;
        }
        writer.put_text(&self.path, &self.content)
    }
}

impl IntendedEvent {
    fn finish(self, company: &Company) -> Result<(), Error> {
        let log = format!(
            "{}/events.jsonl",
            layout::run(&self.project_id, &self.run_id)
        );
        let file = match company.open(&log) {
            Ok(file) => file,
            Err(error) if error.is_missing() => return Ok(()),
            Err(error) => return Err(error),
        };
        let mark = format!("\"event_id\":\"{}\"", self.event_id);
        let mut lines = BufReader::new(file).split(b'\n').map_while(Result::ok);
        if lines.any(|line| String::from_utf8_lossy(&line).contains(&mark)) {
            return Ok(());
        }
        let event = Event {
            ts_wallclock: self.ts_wallclock,
            run_id: self.run_id,
            correlation_id: Some(self.session_ref.clone()),
            session_ref: self.session_ref,
            actor: self.actor,
            visibility: self.visibility,
            event_type: self.r#type,
            payload: Payload::new(&self.payload)?,
            event_id: self.event_id,
            causation_id: None,
            ts_monotonic_ms: self.ts_monotonic_ms,
        };
        append(company, &self.project_id, &event)
    }
}

/// A log that cannot be written to is told of before anything is decided.
fn check_log(company: &Company, project: &ProjectId, run: &RunId) -> Result<(), Error> {
    let log = format!("{}/events.jsonl", layout::run(project, run));
    match company.path(&log).is_dir() {
        true => company.read_bytes(&log).map(drop),
        false => Ok(()),
    }
}

fn append(company: &Company, project: &ProjectId, event: &Event) -> Result<(), Error> {
    match company.append_events(project, &event.run_id, std::slice::from_ref(event)) {
        // A run that is not there cannot tell of it.
        Err(error) if error.is_missing() => Ok(()),
        other => other,
    }
}

pub(crate) fn sha256(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

fn unprintable(error: &serde_json::Error) -> Error {
    Error::Refused(format!("the intent cannot be written: {error}"))
}
