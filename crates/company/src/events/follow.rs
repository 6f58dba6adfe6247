//! Reads event logs while they grow: the lines after an offset, and the newest events before it.

use std::{
    collections::BTreeMap,
    fs::{File, Metadata},
    io::{self, BufRead as _, BufReader, Read as _, Seek as _, SeekFrom},
    os::unix::fs::MetadataExt as _,
    path::{Path, PathBuf},
};

use protocol::{
    Id as _,
    company::{ProjectId, RunId, Visibility},
};
use serde::Deserialize;

use crate::{
    Company, Error,
    event_log::is_blank,
    files::dir::Dir,
    layout,
    org::project,
    policy::{self, Action, Actor, Resource},
    unix_ms,
};

/// Size after which a read of a log returns; the caller continues from there.
const CHUNK_BYTES: usize = 256 << 10;
/// Number of path components of a log below the company folder: `work/projects/<project>/runs/<run>/events.jsonl`.
const DEPTH: usize = 6;

/// Filter of a subscription to events.
#[derive(Clone, Debug, Default)]
pub struct Filter {
    /// Only events of this project; absent for all.
    pub project_id: Option<String>,
    /// Only events of this run; absent for all.
    pub run_id: Option<String>,
    /// Only events of these types; empty for all.
    pub event_types: Vec<String>,
    /// Only events that this actor may read; absent for all.
    pub actor: Option<Actor>,
}

/// The company folder, project and run of a log, derived from its path.
#[derive(Clone, Debug, PartialEq)]
pub struct LogLocation {
    /// The company folder.
    pub root: PathBuf,
    /// Id of the project.
    pub project_id: String,
    /// Id of the run.
    pub run_id: String,
}

/// Parses a path `<root>/work/projects/<project>/runs/<run>/events.jsonl`; `None` for any other path.
pub fn log_location(path: &Path) -> Option<LogLocation> {
    let mut parts = path.iter().rev().map(|part| part.to_str());
    let is_log = parts.next()?? == "events.jsonl";
    let run_id = parts.next()??.to_owned();
    let is_run = parts.next()?? == "runs";
    let project_id = parts.next()??.to_owned();
    let is_project = parts.next()?? == "projects" && parts.next()?? == "work";
    // A run that is still being created has a hidden temporary name; it is reported under its final name.
    let is_made = !run_id.starts_with('.') && !project_id.starts_with('.');
    (is_log && is_run && is_project && is_made).then(|| LogLocation {
        root: path
            .ancestors()
            .nth(DEPTH)
            .unwrap_or(Path::new("/"))
            .to_owned(),
        project_id,
        run_id,
    })
}

impl Filter {
    /// Whether a log can contain matching events.
    pub fn wants_log(&self, place: &LogLocation) -> bool {
        let fits = |wanted: &Option<String>, found: &str| {
            wanted.as_deref().is_none_or(|wanted| wanted == found)
        };
        fits(&self.project_id, &place.project_id) && fits(&self.run_id, &place.run_id)
    }

    /// Returns the id and times of the event in a line if it matches the filter; `None` for a line that is not an
    /// event.
    pub fn wants(&self, line: &str) -> Option<EventStamp> {
        #[derive(Deserialize)]
        struct EventFields<'a> {
            #[serde(borrow, default)]
            run_id: Option<std::borrow::Cow<'a, str>>,
            #[serde(borrow, default, rename = "type")]
            kind: Option<std::borrow::Cow<'a, str>>,
            #[serde(borrow, default)]
            event_id: Option<std::borrow::Cow<'a, str>>,
            #[serde(borrow, default)]
            ts_wallclock: Option<std::borrow::Cow<'a, str>>,
            // Other programs write logs, too: a time in another format must not hide the event.
            #[serde(borrow, default)]
            ts_monotonic_ms: Option<&'a serde_json::value::RawValue>,
            #[serde(borrow, default)]
            actor: Option<std::borrow::Cow<'a, str>>,
            #[serde(default)]
            visibility: Option<Visibility>,
        }
        let head: EventFields<'_> = serde_json::from_str(line).ok()?;
        let kind = head.kind.as_deref().unwrap_or_default();
        if !self.event_types.is_empty() && !self.event_types.iter().any(|wanted| wanted == kind) {
            return None;
        }
        if self.run_id.is_some() && self.run_id.as_deref() != head.run_id.as_deref() {
            return None;
        }
        if let Some(actor) = &self.actor {
            let resource = Resource {
                producing_actor_id: head.actor.as_deref(),
                // An event without visibility gets the most restrictive one.
                ..Resource::visible(head.visibility.unwrap_or(Visibility::PrivateAgent))
            };
            if !policy::decide(actor, Action::Read, &resource).allowed {
                return None;
            }
        }
        let made_at = head.ts_wallclock.as_deref().unwrap_or_default();
        Some(EventStamp {
            event_id: head.event_id.map(Into::into),
            made_at: made_at.to_owned(),
            ts_monotonic_ms: head
                .ts_monotonic_ms
                .and_then(|time| time.get().parse().ok()),
        })
    }
}

/// Id and times of an event that matches a filter.
#[derive(Clone, Debug, PartialEq)]
pub struct EventStamp {
    /// Id of the event; absent if the event has none.
    pub event_id: Option<String>,
    /// `ts_wallclock` of the event; empty if it has none.
    pub(crate) made_at: String,
    /// `ts_monotonic_ms` of the event; absent if it is not a whole number.
    pub ts_monotonic_ms: Option<u64>,
}

/// Identity of the file of a log. An upgrade replaces the log by another file with the same name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LogFileId {
    device: u64,
    inode: u64,
}

impl LogFileId {
    fn of(metadata: &Metadata) -> Self {
        Self {
            device: metadata.dev(),
            inode: metadata.ino(),
        }
    }
}

/// Complete lines of a log.
#[derive(Debug)]
pub struct LogLines {
    /// The lines, without LF.
    pub lines: Vec<String>,
    /// Byte offset of the first line.
    pub begin: u64,
    /// Byte offset for the next read.
    pub next_offset: u64,
    /// Whether more data can be read now.
    pub has_more: bool,
    /// The file that was read.
    pub file: LogFileId,
    /// Whether the file was replaced since the last read, so that the lines before `begin` have to be counted again.
    pub has_moved: bool,
}

/// Opens a log, or the original that an upgrade kept, through the company folder, so that no link in the folder leads
/// to the log of another company.
fn open(path: &Path) -> io::Result<File> {
    let root = path.ancestors().nth(DEPTH).unwrap_or(Path::new("/"));
    let (dir, place) = Dir::open(root)?;
    if place != root {
        return Err(io::ErrorKind::NotFound.into());
    }
    dir.read(path.strip_prefix(root).unwrap_or(path))
}

/// Reads complete lines from a byte offset on; a log that became shorter is read from its new end.
///
/// `was` is the file that the offset refers to. If another file has replaced it, reading continues there after the same
/// number of lines that are not blank, because an upgrade rewrites each line and drops blank ones.
pub fn read_from(path: &Path, offset: u64, was: Option<LogFileId>) -> Result<LogLines, Error> {
    let read = || -> io::Result<LogLines> {
        let mut file = open(path)?;
        let metadata = file.metadata()?;
        let length = metadata.len();
        let current = LogFileId::of(&metadata);
        let has_moved = was.is_some_and(|was| was != current);
        let offset = match was {
            Some(was) if has_moved => moved_offset(path, was, offset, &file)?.unwrap_or(length),
            Some(_) | None => offset,
        };
        let mut lines = LogLines {
            lines: Vec::new(),
            begin: offset.min(length),
            next_offset: offset.min(length),
            has_more: false,
            file: current,
            has_moved,
        };
        if length <= offset {
            return Ok(lines);
        }
        file.seek(SeekFrom::Start(offset))?;
        let mut reader = BufReader::new(file.take(length - offset));
        let mut bytes = Vec::new();
        loop {
            bytes.clear();
            let count = reader.read_until(b'\n', &mut bytes)?;
            // A line without LF is still being written.
            if bytes.last() != Some(&b'\n') {
                return Ok(lines);
            }
            lines.next_offset += count as u64;
            // A line that is not UTF-8 cannot be an event; an empty line keeps the count.
            lines
                .lines
                .push(String::from_utf8(bytes[..count - 1].to_vec()).unwrap_or_default());
            let taken = usize::try_from(lines.next_offset - offset).unwrap_or(usize::MAX);
            if taken >= CHUNK_BYTES {
                lines.has_more = lines.next_offset < length;
                return Ok(lines);
            }
        }
    };
    read().map_err(|error| Error::io("read", path, error))
}

/// The offset in a rewritten log that corresponds to an offset in the original, which an upgrade keeps next to it.
/// `None` if the original does not exist.
fn moved_offset(path: &Path, was: LogFileId, offset: u64, now: &File) -> io::Result<Option<u64>> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let kept = format!("{name}.pre-");
    for entry in path.parent().unwrap_or(Path::new(".")).read_dir()? {
        let entry = entry?;
        if !entry.file_name().to_string_lossy().starts_with(&kept)
            || LogFileId::of(&entry.metadata()?) != was
        {
            continue;
        }
        let mut reader = BufReader::new(open(&entry.path())?.take(offset));
        let (mut lines, mut bytes) = (0u64, Vec::new());
        while reader.read_until(b'\n', &mut bytes)? > 0 {
            lines += u64::from(!is_blank(bytes.strip_suffix(b"\n").unwrap_or(&bytes)));
            bytes.clear();
        }
        let mut reader = BufReader::new(now);
        reader.seek(SeekFrom::Start(0))?;
        let mut place = 0;
        while lines > 0 {
            bytes.clear();
            let count = reader.read_until(b'\n', &mut bytes)?;
            if count == 0 {
                break;
            }
            place += count as u64;
            lines -= u64::from(!is_blank(bytes.strip_suffix(b"\n").unwrap_or(&bytes)));
        }
        return Ok(Some(place));
    }
    Ok(None)
}

/// Number of lines of a log before a byte offset.
pub fn lines_before(path: &Path, offset: u64) -> Result<u64, Error> {
    let count = || -> io::Result<u64> {
        let mut reader = BufReader::with_capacity(CHUNK_BYTES, open(path)?.take(offset));
        let mut lines = 0;
        loop {
            let bytes = reader.fill_buf()?;
            if bytes.is_empty() {
                return Ok(lines);
            }
            lines += bytes.iter().filter(|byte| **byte == b'\n').count() as u64;
            let length = bytes.len();
            reader.consume(length);
        }
    };
    count().map_err(|error| Error::io("read", path, error))
}

/// Every log of a company that can contain matching events, with its length and file identity.
pub fn logs(
    company: &Company,
    filter: &Filter,
) -> Result<BTreeMap<PathBuf, (u64, LogFileId)>, Error> {
    let mut found = BTreeMap::new();
    for project in wanted_ids::<ProjectId>(&filter.project_id, || project::project_ids(company))? {
        let folder = format!("{}/runs", layout::project(&project));
        let runs = wanted_ids::<RunId>(&filter.run_id, || {
            let names = company.names(&folder)?;
            Ok(names
                .iter()
                .filter_map(|name| RunId::parse(name).ok())
                .collect())
        })?;
        for run in runs {
            let path = company.path(&format!("{folder}/{run}/events.jsonl"));
            if let Ok(metadata) = path.metadata() {
                found.insert(path, (metadata.len(), LogFileId::of(&metadata)));
            }
        }
    }
    Ok(found)
}

fn wanted_ids<I: protocol::Id>(
    wanted: &Option<String>,
    all: impl FnOnce() -> Result<Vec<I>, Error>,
) -> Result<Vec<I>, Error> {
    match wanted {
        Some(id) => Ok(I::parse(id).ok().into_iter().collect()),
        None => all(),
    }
}

/// An event found in a log.
#[derive(Clone, Debug, PartialEq)]
pub struct FoundEvent {
    /// Path of the log.
    pub path: PathBuf,
    /// Line number, starting at 1.
    pub seq: u64,
    /// The line without LF.
    pub line: String,
    /// Id of the event; absent if the event has none.
    pub event_id: Option<String>,
    /// `ts_monotonic_ms` of the event; absent if it is not a whole number.
    pub ts_monotonic_ms: Option<u64>,
    made_at: String,
}

/// The newest matching events before the given ends of the logs, oldest first.
///
/// Logs that changed last are read first; reading stops at the first log that cannot contain newer events.
pub fn newest(
    ends: &BTreeMap<PathBuf, (u64, LogFileId)>,
    filter: &Filter,
    limit: usize,
) -> Result<Vec<FoundEvent>, Error> {
    let mut by_change: Vec<_> = ends
        .iter()
        .map(|(path, (end, _))| {
            let changed_at = path
                .metadata()
                .and_then(|metadata| metadata.modified())
                .ok();
            let changed_ms = changed_at
                .and_then(|at| at.duration_since(std::time::UNIX_EPOCH).ok())
                .map_or(i64::MAX, |since| {
                    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
                });
            (changed_ms, path, *end)
        })
        .collect();
    by_change.sort_unstable_by(|left, right| right.cmp(left));
    let mut found: Vec<FoundEvent> = Vec::new();
    for (changed_ms, path, end) in by_change {
        // `found` is sorted, oldest first; a log that did not change since the oldest found event has nothing newer.
        let oldest = found.first().and_then(|oldest| unix_ms(&oldest.made_at));
        if found.len() >= limit && oldest.is_some_and(|oldest| changed_ms < oldest) {
            break;
        }
        collect(path, end, filter, &mut found)?;
        found.sort_by(|left, right| {
            (&left.made_at, &left.path, left.seq).cmp(&(&right.made_at, &right.path, right.seq))
        });
        let surplus = found.len().saturating_sub(limit);
        found.drain(..surplus);
    }
    Ok(found)
}

fn collect(
    path: &Path,
    end: u64,
    filter: &Filter,
    found: &mut Vec<FoundEvent>,
) -> Result<(), Error> {
    let (mut offset, mut seq) = (0, 0);
    while offset < end {
        let chunk = match read_from(path, offset, None) {
            // The log was deleted in the meantime.
            Err(error) if error.is_missing() => return Ok(()),
            other => other?,
        };
        if chunk.lines.is_empty() {
            return Ok(());
        }
        for line in chunk.lines {
            offset += line.len() as u64 + 1;
            seq += 1;
            if offset > end {
                return Ok(());
            }
            if let Some(wanted) = filter.wants(&line) {
                found.push(FoundEvent {
                    path: path.to_owned(),
                    seq,
                    line,
                    event_id: wanted.event_id,
                    ts_monotonic_ms: wanted.ts_monotonic_ms,
                    made_at: wanted.made_at,
                });
            }
        }
        offset = chunk.next_offset;
    }
    Ok(())
}
