//! Brings an index up to date: reads the files whose metadata changed, and leaves the other rows as they are.

use std::collections::{BTreeMap, BTreeSet};

use company::Company;
use protocol::company::index::IndexSyncResponse;
use rusqlite::{Connection, OptionalExtension as _};

use crate::{
    Error, counters, documents,
    events::{self, EventLine, EventSummary, LineReader, LineReading},
    scan::{
        self, FileKind, FileStamp, RecordedFile, RecordedFiles, Scanned, lines_of, owner_of,
        project_of,
    },
};

/// Differences between a scan and the recorded state of files.
#[derive(Debug, Default)]
pub(crate) struct Differences {
    /// Files that are new or whose metadata changed.
    changed: Vec<(FileKind, String)>,
    /// Files that no longer exist.
    vanished: Vec<String>,
}

impl Differences {
    /// Compares a scan with the recorded state.
    pub(crate) fn between(scanned: &[Scanned], known: &RecordedFiles) -> Self {
        let mut differences = Self::default();
        let mut still_there = 0;
        for file in scanned {
            match known.get(&file.path) {
                Some(found) => {
                    still_there += 1;
                    if found.stamp != file.stamp {
                        differences.changed.push((file.kind, file.path.clone()));
                    }
                }
                None => differences.changed.push((file.kind, file.path.clone())),
            }
        }
        if still_there < known.len() {
            let there: BTreeSet<&str> = scanned.iter().map(|file| file.path.as_str()).collect();
            let gone = known.keys().filter(|path| !there.contains(path.as_str()));
            differences.vanished = gone.cloned().collect();
        }
        differences
    }

    /// Whether the index is current in spite of these differences. A file that was read right after it changed is read
    /// once more by the next sync; it is current if only its recorded modification time differs.
    pub(crate) fn are_only_unsettled(&self, scanned: &[Scanned], known: &RecordedFiles) -> bool {
        let there: BTreeMap<&str, &Scanned> = scanned
            .iter()
            .map(|file| (file.path.as_str(), file))
            .collect();
        let is_read = |path: &String| {
            let known = known.get(path).map(|known| known.stamp);
            let found = there.get(path.as_str());
            known.zip(found).is_some_and(|(known, found)| {
                FileStamp {
                    mtime_ns: 0,
                    ..found.stamp
                } == known
            })
        };
        self.vanished.is_empty() && self.changed.iter().all(|(_, path)| is_read(path))
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.changed.is_empty() && self.vanished.is_empty()
    }

    pub(crate) fn len(&self) -> usize {
        self.changed.len() + self.vanished.len()
    }
}

/// Applies the differences to the index and to `known`. The caller has opened a transaction.
pub(crate) fn apply(
    company: &Company,
    db: &Connection,
    known: &mut RecordedFiles,
    differences: Differences,
    counts: &mut IndexSyncResponse,
) -> Result<(), Error> {
    let mut sync = SyncPass {
        company,
        db,
        known,
        counts,
        agents: BTreeSet::new(),
        lines: BTreeMap::new(),
        freed: Vec::new(),
    };
    for path in &differences.vanished {
        sync.vanished(path)?;
    }
    for (kind, path) in differences.changed {
        match kind {
            FileKind::Events | FileKind::Messages => drop(sync.lines.insert(path, kind)),
            FileKind::Run
            | FileKind::Artifact
            | FileKind::Task
            | FileKind::Job
            | FileKind::Conversation
            | FileKind::Review
            | FileKind::HelpRequest
            | FileKind::Comment
            | FileKind::Agent => sync.document(kind, &path)?,
        }
    }
    sync.retry_unclaimed()?;
    while let Some((path, kind)) = sync.lines.pop_first() {
        sync.lines(kind, &path)?;
    }
    let agents = std::mem::take(&mut sync.agents);
    counters::recount(db, &agents, counts)?;
    Ok(())
}

struct SyncPass<'a> {
    company: &'a Company,
    db: &'a Connection,
    known: &'a mut RecordedFiles,
    counts: &'a mut IndexSyncResponse,
    /// Agents whose counters may have changed.
    agents: BTreeSet<String>,
    /// JSON Lines files to read once all documents are read.
    lines: BTreeMap<String, FileKind>,
    /// Kinds of documents of which an id became free.
    freed: Vec<FileKind>,
}

impl SyncPass<'_> {
    fn vanished(&mut self, path: &str) -> Result<(), Error> {
        let known = self.known.remove(path);
        scan::forget(self.db, path)?;
        let (Some(kind), Some(id)) = (FileKind::of(path), known.and_then(|known| known.row_id))
        else {
            return Ok(());
        };
        match kind {
            FileKind::Events => events::delete(self.db, project_of(path), &id, self.counts)?,
            FileKind::Messages => events::delete_messages(self.db, path, &id, self.counts)?,
            FileKind::Run
            | FileKind::Artifact
            | FileKind::Task
            | FileKind::Job
            | FileKind::Conversation
            | FileKind::Review
            | FileKind::HelpRequest
            | FileKind::Comment
            | FileKind::Agent => self.delete(kind, path, &id)?,
        }
        Ok(())
    }

    /// Deletes the row of a document, and has its JSON Lines file read again if the document comes back.
    fn delete(&mut self, kind: FileKind, path: &str, id: &str) -> Result<(), Error> {
        self.note_agent(kind, path, id)?;
        documents::delete(self.db, kind, path, id, self.counts)?;
        self.freed.push(kind);
        if let Some(lines) = lines_of(path)
            && self.known.remove(&lines).is_some()
        {
            scan::forget(self.db, &lines)?;
            self.queue_lines(lines);
        }
        Ok(())
    }

    fn queue_lines(&mut self, path: String) {
        if let Some(kind) = FileKind::of(&path) {
            self.lines.insert(path, kind);
        }
    }

    /// Notes the agent whose counters change with this agent document or run.
    fn note_agent(&mut self, kind: FileKind, path: &str, id: &str) -> Result<(), Error> {
        match kind {
            FileKind::Agent => drop(self.agents.insert(id.to_owned())),
            FileKind::Run => {
                let agent = self
                    .db
                    .prepare_cached(
                        "SELECT agent_id FROM runs WHERE project_id = ?1 AND run_id = ?2",
                    )?
                    .query_row([project_of(path), id], |row| row.get(0))
                    .optional()?;
                self.agents.extend(agent);
            }
            FileKind::Events
            | FileKind::Artifact
            | FileKind::Task
            | FileKind::Job
            | FileKind::Conversation
            | FileKind::Messages
            | FileKind::Review
            | FileKind::HelpRequest
            | FileKind::Comment => {}
        }
        Ok(())
    }

    fn document(&mut self, kind: FileKind, path: &str) -> Result<(), Error> {
        let Some(read) = documents::read(self.company, kind, path) else {
            // The file was deleted after the scan; the next sync notices that.
            return Ok(());
        };
        let before = self.known.get(path);
        let old_id = before.and_then(|known| known.row_id.clone());
        let is_unchanged = before.is_some_and(|known| known.hash == read.hash && read.hash != 0)
            && (old_id.is_some() || read.parsed.is_none());
        if is_unchanged {
            return self.remember(path, read.known(old_id));
        }
        let mut new_id = read.parsed.as_ref().map(|parsed| parsed.id(path));
        if let Some(id) = &new_id {
            // Of two files with the same id, the file that was indexed first keeps it.
            if documents::is_taken(self.db, kind, path, id)? {
                new_id = None;
            }
        }
        if let Some(old_id) = old_id
            .as_ref()
            .filter(|old_id| Some(*old_id) != new_id.as_ref())
        {
            self.delete(kind, path, old_id)?;
        }
        if let (Some(id), Some(parsed)) = (&new_id, &read.parsed) {
            self.note_agent(kind, path, id)?;
            documents::write(self.db, path, parsed, self.counts)?;
            self.note_agent(kind, path, id)?;
        }
        if old_id != new_id
            && let Some(lines) = lines_of(path).filter(|lines| self.company.path(lines).is_file())
        {
            self.queue_lines(lines);
        }
        self.remember(path, read.known(new_id))
    }

    /// Reads files again that lost their id to another file: an id that became free may be theirs.
    fn retry_unclaimed(&mut self) -> Result<(), Error> {
        for kind in std::mem::take(&mut self.freed) {
            let second: Vec<String> = self
                .known
                .iter()
                .filter(|(path, known)| known.row_id.is_none() && FileKind::of(path) == Some(kind))
                .map(|(path, _)| path.clone())
                .collect();
            for path in second {
                self.document(kind, &path)?;
            }
        }
        self.freed.clear();
        Ok(())
    }

    fn lines(&mut self, kind: FileKind, path: &str) -> Result<(), Error> {
        let owner = owner_of(path).and_then(|owner| self.known.get(&owner));
        let Some(id) = owner.and_then(|owner| owner.row_id.clone()) else {
            // The file belongs to no indexed document; only its metadata is recorded.
            let Ok(metadata) = self.company.path(path).metadata() else {
                return Ok(());
            };
            let known = RecordedFile {
                stamp: FileStamp::of(&metadata),
                read_bytes: 0,
                lines: 0,
                hash: 0,
                row_id: None,
            };
            return self.remember(path, known);
        };
        let before = self.known.get(path);
        let before = before.filter(|known| known.row_id.as_ref() == Some(&id));
        let (reader, is_afresh) = match events::open(self.company, path, before) {
            Ok(LineReading::Same) => return Ok(()),
            Ok(LineReading::Onward(reader)) => (reader, false),
            Ok(LineReading::Afresh(reader)) => (reader, true),
            Err(error) if error.is_missing() => return Ok(()),
            Err(error) => return Err(error.into()),
        };
        let known = if kind == FileKind::Messages {
            self.messages(path, &id, reader, is_afresh)?
        } else {
            self.events(path, &id, reader, is_afresh)?
        };
        self.remember(path, known)
    }

    fn events(
        &mut self,
        path: &str,
        run: &str,
        mut reader: LineReader,
        is_afresh: bool,
    ) -> Result<RecordedFile, Error> {
        let project = project_of(path);
        if is_afresh {
            events::delete(self.db, project, run, self.counts)?;
        }
        let mut activity = EventSummary::load(self.db, project, run)?;
        let mut batch = Vec::new();
        while reader
            .next(|seq, line| batch.push(EventLine::parse(seq, line)))
            .map_err(Error::Io)?
        {
            batch.iter().for_each(|line| activity.see(line));
            events::insert(self.db, project, run, &batch, self.counts)?;
            batch.clear();
        }
        activity.save(self.db, project, run)?;
        reader.known(run.to_owned()).map_err(Error::Io)
    }

    fn messages(
        &mut self,
        path: &str,
        conversation: &str,
        mut reader: LineReader,
        is_afresh: bool,
    ) -> Result<RecordedFile, Error> {
        if is_afresh {
            events::delete_messages(self.db, path, conversation, self.counts)?;
        }
        let mut batch = Vec::new();
        while reader
            .next(|seq, line| batch.extend(events::parse_message(seq, line)))
            .map_err(Error::Io)?
        {
            events::insert_messages(self.db, path, conversation, &batch, self.counts)?;
            batch.clear();
        }
        reader.known(conversation.to_owned()).map_err(Error::Io)
    }

    fn remember(&mut self, path: &str, known: RecordedFile) -> Result<(), Error> {
        scan::remember(self.db, path, &known)?;
        self.known.insert(path.to_owned(), known);
        Ok(())
    }
}
