//! Builds an index from scratch: files are read and parsed on all cores, one thread writes.

use std::{
    collections::BTreeSet,
    io,
    path::Path,
    sync::{
        atomic::{AtomicUsize, Ordering},
        mpsc::{self, SyncSender},
    },
    thread,
};

use company::Company;
use protocol::company::index::IndexSyncResponse;
use rusqlite::{Connection, OpenFlags};

use crate::{
    Error, counters,
    documents::{self, ReadDocument},
    events::{self, EventLine, EventSummary, LineReader, LineReading, MessageLine},
    scan::{self, FileKind, FileStamp, RecordedFile, Scanned, project_of},
    schema,
};

/// Number of pieces that may wait for the writer. A piece is a quarter of a megabyte at most, or one long line.
const MAX_WAITING: usize = 16;
/// Maximum number of parser threads; with more, they would only wait for the writer.
const MAX_PARSERS: usize = 6;

/// A document, and the JSON Lines file that belongs to it.
struct Unit<'a> {
    document: &'a Scanned,
    lines: Option<&'a Scanned>,
}

/// A piece of parsed content. The pieces of one unit arrive in order.
enum Piece {
    Document {
        unit: usize,
        read: Box<ReadDocument>,
    },
    Events {
        unit: usize,
        run: String,
        lines: Vec<EventLine>,
    },
    Messages {
        unit: usize,
        conversation: String,
        lines: Vec<MessageLine>,
    },
    Lines {
        unit: usize,
        known: RecordedFile,
        activity: Option<Box<EventSummary>>,
    },
}

/// Builds an index at a path where no file exists.
pub(crate) fn build(
    company: &Company,
    path: &Path,
    counts: &mut IndexSyncResponse,
) -> Result<(), Error> {
    let scanned = scan::scan(company).map_err(Error::Io)?;
    counts.files_scanned = scanned.len() as u64;
    let units = units(&scanned);
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE
        | OpenFlags::SQLITE_OPEN_CREATE
        | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let db = Connection::open_with_flags(path, flags)?;
    // No other process opens the file before it is complete, so a crash loses nothing: the rest is deleted later.
    db.execute_batch(
        "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA locking_mode = EXCLUSIVE;
         PRAGMA cache_size = -32768; PRAGMA threads = 2; BEGIN",
    )?;
    schema::create_tables(&db)?;
    let next = AtomicUsize::new(0);
    let (sender, receiver) = mpsc::sync_channel(MAX_WAITING);
    let parsers = thread::available_parallelism()
        .map_or(1, usize::from)
        .min(MAX_PARSERS);
    thread::scope(|scope| -> Result<(), Error> {
        for _ in 0..parsers {
            let (sender, next, units) = (sender.clone(), &next, &units);
            scope.spawn(move || {
                while let Some(unit) = units.get(next.load(Ordering::Relaxed)).and_then(|_| {
                    let mine = next.fetch_add(1, Ordering::Relaxed);
                    units.get(mine).map(|unit| (mine, unit))
                }) {
                    // The writer failed and dropped the receiver.
                    if parse(company, unit.0, unit.1, &sender).is_err() {
                        return;
                    }
                }
            });
        }
        drop(sender);
        let mut writer = RowWriter {
            db: &db,
            units: &units,
            counts,
            taken: BTreeSet::new(),
            left_out: BTreeSet::new(),
        };
        for piece in receiver {
            writer.write(piece)?;
        }
        Ok(())
    })?;
    counters::recount_all(&db, counts)?;
    schema::finish(&db)?;
    db.execute_batch("COMMIT; PRAGMA locking_mode = NORMAL; PRAGMA synchronous = NORMAL; PRAGMA journal_mode = WAL")?;
    db.close().map_err(|(_, error)| error)?;
    Ok(())
}

fn units(scanned: &[Scanned]) -> Vec<Unit<'_>> {
    let mut units: Vec<Unit<'_>> = Vec::with_capacity(scanned.len());
    for file in scanned {
        match (file.kind, units.last_mut()) {
            // The scan lists a document right before its JSON Lines file.
            (FileKind::Events | FileKind::Messages, Some(unit)) => unit.lines = Some(file),
            (FileKind::Events | FileKind::Messages, None) => {}
            _ => units.push(Unit {
                document: file,
                lines: None,
            }),
        }
    }
    units
}

/// The writer failed and dropped the receiver.
struct WriterStopped;

fn parse(
    company: &Company,
    unit: usize,
    files: &Unit<'_>,
    sender: &SyncSender<Piece>,
) -> Result<(), WriterStopped> {
    let send = |piece| sender.send(piece).map_err(|_| WriterStopped);
    let Scanned { kind, path, .. } = files.document;
    let Some(read) = documents::read(company, *kind, path) else {
        return Ok(());
    };
    let id = read.parsed.as_ref().map(|parsed| parsed.id(path));
    send(Piece::Document {
        unit,
        read: Box::new(read),
    })?;
    let Some(lines) = files.lines else {
        return Ok(());
    };
    let reader = id.and_then(|id| match events::open(company, &lines.path, None) {
        Ok(LineReading::Onward(reader) | LineReading::Afresh(reader)) => Some((id, reader)),
        Ok(LineReading::Same) | Err(_) => None,
    });
    let Some((id, reader)) = reader else {
        return send(Piece::Lines {
            unit,
            known: unread(lines.stamp),
            activity: None,
        });
    };
    if lines.kind == FileKind::Messages {
        return parse_messages(unit, id, reader, lines.stamp, &send);
    }
    parse_events(unit, id, reader, lines.stamp, &send)
}

fn parse_events(
    unit: usize,
    run: String,
    mut reader: LineReader,
    seen: FileStamp,
    send: &impl Fn(Piece) -> Result<(), WriterStopped>,
) -> Result<(), WriterStopped> {
    let mut activity = EventSummary::default();
    loop {
        let mut lines = Vec::new();
        match reader.next(|seq, line| lines.push(EventLine::parse(seq, line))) {
            Ok(true) => {}
            Ok(false) | Err(_) => break,
        }
        lines.iter().for_each(|line| activity.see(line));
        send(Piece::Events {
            unit,
            run: run.clone(),
            lines,
        })?;
    }
    send(Piece::Lines {
        unit,
        known: settled(reader.known(run), seen),
        activity: Some(Box::new(activity)),
    })
}

fn parse_messages(
    unit: usize,
    conversation: String,
    mut reader: LineReader,
    seen: FileStamp,
    send: &impl Fn(Piece) -> Result<(), WriterStopped>,
) -> Result<(), WriterStopped> {
    loop {
        let mut lines = Vec::new();
        match reader.next(|seq, line| lines.extend(events::parse_message(seq, line))) {
            Ok(true) => {}
            Ok(false) | Err(_) => break,
        }
        send(Piece::Messages {
            unit,
            conversation: conversation.clone(),
            lines,
        })?;
    }
    send(Piece::Lines {
        unit,
        known: settled(reader.known(conversation), seen),
        activity: None,
    })
}

fn unread(stamp: FileStamp) -> RecordedFile {
    RecordedFile {
        stamp,
        read_bytes: 0,
        lines: 0,
        hash: 0,
        row_id: None,
    }
}

/// A file that could not be read to its end is read again when its metadata changes.
fn settled(known: io::Result<RecordedFile>, seen: FileStamp) -> RecordedFile {
    known.unwrap_or_else(|_| unread(seen))
}

struct RowWriter<'a> {
    db: &'a Connection,
    units: &'a [Unit<'a>],
    counts: &'a mut IndexSyncResponse,
    /// Ids that already have a row: kind, project and id.
    taken: BTreeSet<(u8, String, String)>,
    /// Units whose id belongs to another file, or whose document is invalid.
    left_out: BTreeSet<usize>,
}

impl RowWriter<'_> {
    fn write(&mut self, piece: Piece) -> Result<(), Error> {
        match piece {
            Piece::Document { unit, read } => {
                let Scanned { kind, path, .. } = self.units[unit].document;
                let id = read
                    .parsed
                    .as_ref()
                    .map(|parsed| parsed.id(path))
                    .filter(|id| {
                        let project = if documents::is_of_project(*kind) {
                            project_of(path)
                        } else {
                            ""
                        };
                        self.taken
                            .insert((*kind as u8, project.to_owned(), id.clone()))
                    });
                match (&read.parsed, &id) {
                    (Some(parsed), Some(_)) => {
                        documents::write(self.db, path, parsed, self.counts)?
                    }
                    _ => drop(self.left_out.insert(unit)),
                }
                scan::remember(self.db, path, &read.known(id))?;
            }
            Piece::Events { unit, run, lines } if !self.left_out.contains(&unit) => {
                let path = &self.units[unit].document.path;
                events::insert(self.db, project_of(path), &run, &lines, self.counts)?;
            }
            Piece::Messages {
                unit,
                conversation,
                lines,
            } if !self.left_out.contains(&unit) => {
                let path = self.units[unit]
                    .lines
                    .map_or("", |lines| lines.path.as_str());
                events::insert_messages(self.db, path, &conversation, &lines, self.counts)?;
            }
            Piece::Lines {
                unit,
                known,
                activity,
            } => {
                let Some(lines) = self.units[unit].lines else {
                    return Ok(());
                };
                let is_left_out = self.left_out.contains(&unit);
                if let (Some(activity), Some(run), false) = (&activity, &known.row_id, is_left_out)
                {
                    activity.save(self.db, project_of(&lines.path), run)?;
                }
                let known = if is_left_out {
                    unread(lines.stamp)
                } else {
                    known
                };
                scan::remember(self.db, &lines.path, &known)?;
            }
            // Lines of a unit that is left out.
            Piece::Events { .. } | Piece::Messages { .. } => {}
        }
        Ok(())
    }
}
