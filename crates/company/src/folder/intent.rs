//! Atomic changes of several files, even if the process ends in the middle.
//!
//! All writes of a change are first recorded in one file of `.local/intents`, a write-ahead log. Creating that file
//! commits the change: before, nothing has happened; afterwards, everything will be written. The next writer finishes
//! the intents of ended processes. Finishing is idempotent: files are written with the same content again, and an event
//! that is already in its log is not appended again.
//!
//! A write that fails while the process is alive is undone, and the caller gets the error. A change that cannot be
//! undone, because an event is already in its log, counts as done: the next writer finishes the rest.
//!
//! An intent that cannot be finished does not block other writes. If only events or removals are left, they are retried
//! later; otherwise the intent is renamed to `<id>.json.failed` and kept for manual repair, and doctor reports it.

use std::{
    collections::{BTreeMap, BTreeSet},
    io::{BufRead as _, BufReader},
    path::{Path, PathBuf},
};

use protocol::company::{EventId, ProjectId, RunId, Visibility};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use sha2::{Digest as _, Sha256};

use crate::{
    Company, Error, Writer,
    event_log::{Event, Payload, hex},
    layout,
};

/// The writes of one atomic change, applied in this order: files, folders, events, removals.
#[derive(Debug, Default)]
pub(crate) struct WriteSet {
    /// Relative paths of files, with their new content.
    pub(crate) files: Vec<(String, String)>,
    /// Folders to create, which may stay empty.
    pub(crate) dirs: Vec<String>,
    /// Events to append, by project. Events of a run that does not exist are dropped.
    pub(crate) events: Vec<(ProjectId, Event)>,
    /// Files to remove.
    pub(crate) removed: Vec<String>,
}

/// The serialized form of [`WriteSet`].
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
    /// Hash of the previous content, to detect edits made after the intent was written; absent for a new file.
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

/// Suffix of the name of an intent that cannot be read.
const DAMAGED: &str = ".damaged";
/// Suffix of the name of an intent that cannot be finished.
const FAILED: &str = ".failed";

/// Relative paths of the intents that are never finished automatically: damaged or failed ones, whose changes were
/// applied in part or not at all, and those that another machine wrote.
pub(crate) fn unfinishable(company: &Company) -> Vec<String> {
    let names = company.names(layout::INTENTS).unwrap_or_default();
    let paths = names
        .iter()
        .map(|name| format!("{}/{name}", layout::INTENTS));
    let is_ours = |path: &str| {
        let text = company.read_text(path).unwrap_or_default();
        !matches!(company.open_sealed::<Intent>(path, &text), Ok(None))
    };
    paths
        .filter(|path| {
            path.ends_with(DAMAGED)
                || path.ends_with(FAILED)
                || (path.ends_with(".json") && !is_ours(path))
        })
        .collect()
}

impl Writer<'_> {
    /// Applies all writes atomically.
    pub(crate) fn put_all(&self, writes: &WriteSet) -> Result<(), Error> {
        let company = self.company();
        let before = writes
            .files
            .iter()
            .map(|(path, _)| match company.read_bytes(path) {
                Ok(bytes) => Ok(Some(bytes)),
                Err(error) if error.is_missing() => Ok(None),
                Err(error) => Err(error),
            });
        let before = before.collect::<Result<Vec<_>, _>>()?;
        let files = writes.files.iter().zip(&before);
        let files = files.map(|((path, content), before)| IntendedFile {
            path: path.clone(),
            before_sha256: before.as_deref().map(sha256),
            content: content.clone(),
        });
        let events = writes.events.iter().map(|(project, event)| {
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
                payload: payload.map_err(|error| not_json(&error))?,
                event_id: event.event_id.clone(),
                ts_monotonic_ms: event.ts_monotonic_ms,
            })
        });
        let intent = Intent {
            schema_version: 1,
            created_at: self.now().to_string(),
            files: files.collect(),
            dirs: writes.dirs.clone(),
            events: events.collect::<Result<_, Error>>()?,
            removed: writes.removed.clone(),
        };
        let new_dirs = new_dirs(company, writes);
        let id: EventId = company.sources().id();
        let path = format!("{}/{id}.json", layout::INTENTS);
        let text = company
            .sealed(&path, &intent)
            .map_err(|error| not_json(&error))?;
        let mut is_irreversible = false;
        let written = self
            .put_text(&path, &text)
            .and_then(|()| self.apply(writes, &path, &mut is_irreversible));
        let Err(error) = written else {
            return Ok(());
        };
        if company.has_ended() {
            return Err(error);
        }
        if is_irreversible {
            tracing::warn!(%error, path, "a change is decided and will be finished by the next write");
            return Ok(());
        }
        match self.undo(writes, before, &new_dirs, &path) {
            Ok(()) => Err(error),
            Err(undo) => {
                tracing::warn!(%error, %undo, path, "a change can neither be written nor undone now; the next write finishes it");
                Ok(())
            }
        }
    }

    /// Applies the writes of an intent and removes the intent. Sets `is_irreversible` after the first write that cannot
    /// be undone.
    fn apply(
        &self,
        writes: &WriteSet,
        intent: &str,
        is_irreversible: &mut bool,
    ) -> Result<(), Error> {
        self.put_texts(&writes.files)?;
        for dir in &writes.dirs {
            self.make_dir(dir)?;
        }
        let mut by_run: BTreeMap<_, Vec<Event>> = BTreeMap::new();
        for (project, event) in &writes.events {
            let events = by_run.entry((project, &event.run_id)).or_default();
            events.push(event.clone());
        }
        for ((project, run), events) in by_run {
            append(self.company(), project, run, &events)?;
            *is_irreversible = true;
        }
        for gone in &writes.removed {
            self.remove(gone)?;
            // A removed file cannot be restored.
            *is_irreversible = true;
        }
        self.remove(intent)
    }

    /// Restores the previous content of the written files, and removes the new folders and the intent.
    fn undo(
        &self,
        writes: &WriteSet,
        before: Vec<Option<Vec<u8>>>,
        new_dirs: &BTreeSet<PathBuf>,
        intent: &str,
    ) -> Result<(), Error> {
        for ((path, content), before) in writes.files.iter().zip(before) {
            let is_changed = match self.company().read_bytes(path) {
                Ok(found) => found == content.as_bytes(),
                Err(error) if error.is_missing() => false,
                Err(error) => return Err(error),
            };
            match before {
                Some(before) if is_changed => self.put_bytes(path, &before)?,
                None if is_changed => self.remove(path)?,
                Some(_) | None => {}
            }
        }
        // Deepest folders first. A folder that is not empty contains files of another program and is kept.
        for dir in new_dirs.iter().rev() {
            let _ = self.company().dir().map(|folder| folder.remove_dir(dir));
        }
        self.remove(intent)
    }
}

/// The folders that a change has to create.
fn new_dirs(company: &Company, writes: &WriteSet) -> BTreeSet<PathBuf> {
    let parents = writes
        .files
        .iter()
        .filter_map(|(path, _)| Path::new(path).parent());
    let dirs = writes.dirs.iter().map(Path::new);
    dirs.chain(parents)
        .flat_map(Path::ancestors)
        .filter(|dir| !dir.as_os_str().is_empty())
        .filter(|dir| !company.root().join(dir).exists())
        .map(Path::to_owned)
        .collect()
}

/// Whether there are unfinished intents.
pub(crate) fn is_left(company: &Company) -> bool {
    let names = company.names(layout::INTENTS).unwrap_or_default();
    names.iter().any(|name| name.ends_with(".json"))
}

/// Finishes the intents of ended processes, oldest first.
pub(crate) fn finish(writer: &Writer<'_>) -> Result<(), Error> {
    let company = writer.company();
    for name in company.names(layout::INTENTS)? {
        let Some(id) = name.strip_suffix(".json") else {
            continue;
        };
        let path = format!("{}/{name}", layout::INTENTS);
        if company.is_put_off(&path) {
            continue;
        }
        let read = company.read_text(&path).and_then(|text| {
            let opened = company.open_sealed::<Intent>(&path, &text);
            opened.map_err(|error| not_json(&error))
        });
        let mut intent = match read {
            Ok(Some(intent)) => intent,
            // Not sealed by this machine, so it must not be applied. Doctor reports it.
            Ok(None) => {
                tracing::warn!(
                    path,
                    "an intent was not written by this machine and is left alone"
                );
                company.put_off(&path);
                continue;
            }
            // Another process finished it in the meantime.
            Err(error) if error.is_missing() => continue,
            Err(error) => {
                // Intents are written atomically, so it was modified later. It is kept for manual inspection and not
                // retried.
                tracing::warn!(%error, path, "an intent cannot be read and is put aside");
                writer.put_aside(&path, DAMAGED)?;
                continue;
            }
        };
        tracing::info!(path, "finishing what was left half done");
        let Err(error) = intent.finish(writer, id) else {
            writer.remove(&path)?;
            continue;
        };
        // A full disk, or the simulated end of the process, fails the current write, too.
        if matches!(error, Error::DiskFull) || company.has_ended() {
            return Err(error);
        }
        if intent.files.is_empty() && intent.dirs.is_empty() {
            // All files are written, and other writers may now change them. The remaining parts conflict with no write,
            // so they are retried later.
            tracing::warn!(%error, path, "an intent is not finished yet");
            let text = company.sealed(&path, &intent);
            writer.put_text(&path, &text.map_err(|error| not_json(&error))?)?;
            company.put_off(&path);
        } else {
            tracing::warn!(%error, path, "an intent cannot be finished and is put aside");
            writer.put_aside(&path, FAILED)?;
        }
    }
    Ok(())
}

impl Intent {
    /// Applies every part that can be applied and keeps the failed ones in `self`. Returns the first error.
    fn finish(&mut self, writer: &Writer<'_>, id: &str) -> Result<(), Error> {
        let files = self.files.iter().map(|file| &file.path);
        let mut paths = files.chain(&self.dirs).chain(&self.removed);
        if let Some(path) = paths.find(|path| !layout::stays_below(path)) {
            return Err(Error::Refused(format!("`{path}` leads out of the folder")));
        }
        let mut first_error = None;
        let mut index = 0;
        self.files.retain(|file| {
            let recovered = format!(".local/recovered/{id}-{index}");
            index += 1;
            has_failed(file.finish(writer, &recovered), &mut first_error)
        });
        self.dirs
            .retain(|dir| has_failed(writer.make_dir(dir), &mut first_error));
        let company = writer.company();
        self.events
            .retain(|event| has_failed(event.finish(company), &mut first_error));
        self.removed
            .retain(|gone| has_failed(writer.remove(gone), &mut first_error));
        return first_error.map_or(Ok(()), Err);

        fn has_failed(done: Result<(), Error>, first_error: &mut Option<Error>) -> bool {
            match done {
                Ok(()) => false,
                Err(error) => {
                    first_error.get_or_insert(error);
                    true
                }
            }
        }
    }
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
        // A new log to which another process has appended since is complete.
        let is_log = self.before_sha256.is_none() && self.path.ends_with(".jsonl");
        let has_grown = |found: &Vec<u8>| found.starts_with(self.content.as_bytes());
        if is_log && found.as_ref().is_some_and(has_grown) {
            return Ok(());
        }
        if let Some(found) = found.filter(|found| Some(sha256(found)) != self.before_sha256) {
            // The file was edited after the process ended: the edited content is kept in `.local/recovered`.
            writer.put_text(recovered, &String::from_utf8_lossy(&found))?;
        }
        writer.put_text(&self.path, &self.content)
    }
}

impl IntendedEvent {
    fn finish(&self, company: &Company) -> Result<(), Error> {
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
            ts_wallclock: self.ts_wallclock.clone(),
            run_id: self.run_id.clone(),
            correlation_id: Some(self.session_ref.clone()),
            session_ref: self.session_ref.clone(),
            actor: self.actor.clone(),
            visibility: self.visibility,
            event_type: self.r#type.clone(),
            payload: Payload::new(&self.payload)?,
            event_id: self.event_id.clone(),
            causation_id: None,
            ts_monotonic_ms: self.ts_monotonic_ms,
        };
        append(company, &self.project_id, &self.run_id, &[event])
    }
}

/// Fails before the change is committed if the log of a run cannot be written because it is a folder.
fn check_log(company: &Company, project: &ProjectId, run: &RunId) -> Result<(), Error> {
    let log = format!("{}/events.jsonl", layout::run(project, run));
    if company.path(&log).is_dir() {
        company.read_bytes(&log).map(drop)
    } else {
        Ok(())
    }
}

fn append(
    company: &Company,
    project: &ProjectId,
    run: &RunId,
    events: &[Event],
) -> Result<(), Error> {
    match company.append_events(project, run, events) {
        // Events of a run that does not exist are dropped.
        Err(error) if error.is_missing() => Ok(()),
        other => other,
    }
}

pub(crate) fn sha256(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

fn not_json(error: &serde_json::Error) -> Error {
    Error::Refused(format!("the intent is not JSON: {error}"))
}
