//! Group commit for the files of lines of a company folder: every line is appended through [`EventLogs`].
//!
//! Each file has a [`Group`] in this process: one thread acquires the system lock of the file, writes the lines of all
//! waiting threads and syncs once. Only processes contend for the system lock, never the threads of one process.
//!
//! Events form a hash chain, which is computed under the lock. A file of events is never created here: creating a run
//! creates its file, and an event for a run that does not exist is an error. A file of plain lines (messages, audit
//! logs) is created by its first line.

use std::{
    collections::BTreeMap,
    fs::{File, Metadata},
    io::{self, Write as _},
    os::unix::fs::{FileExt as _, MetadataExt as _},
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use parking_lot::Mutex;

use super::{Event, PreparedEvent, verify};
use crate::{
    Error,
    files::{
        self,
        dir::{Dir, Readers},
        group_commit::Group,
    },
};

/// Maximum number of files whose ends are cached, so that they need not be read again.
const MAX_FILES: usize = 512;
/// Number of bytes that are read first from the end of a file that is not cached.
const TAIL_BYTES: u64 = 64 * 1024;
/// Timeout of an append that waits for another process to release the lock of a file.
const LOCK_PATIENCE: Duration = Duration::from_secs(10);

/// Appends lines to files and caches the ends of their hash chains. One per process, shared in an `Arc`.
#[derive(Default)]
pub struct EventLogs {
    logs: Mutex<OpenLogs>,
}

#[derive(Default)]
struct OpenLogs {
    by_path: BTreeMap<PathBuf, (Arc<Log>, u64)>,
    /// Counts appends, to find the least recently used file.
    uses: u64,
}

/// An event that was written durably.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Appended {
    /// Line number, starting at 1; absent if the lines of the file were not counted, because it was already large when
    /// this process first wrote to it.
    pub seq: Option<u64>,
    /// Byte offset of the line in the file.
    pub offset: u64,
    /// The line without LF.
    pub line: String,
    /// Hash of the event; empty for a plain line.
    pub event_hash: String,
}

impl EventLogs {
    /// Starts with an empty cache.
    pub fn new() -> Self {
        Self::default()
    }

    /// Appends events to a file, contiguously and in order, and returns when they are durable. Appends of other threads
    /// that arrive meanwhile are written together with one sync.
    ///
    /// If the file does not exist, the error satisfies [`Error::is_missing`]. After any other error, none of the events
    /// is in the file, unless truncating the file failed, too.
    pub fn append(&self, place: &LogFile, events: &[Event]) -> Result<Vec<Appended>, Error> {
        if events.is_empty() {
            return Ok(Vec::new());
        }
        let lines = events
            .iter()
            .map(PreparedEvent::new)
            .map(NewLine::Event)
            .collect();
        self.log(&place.path).append(place, lines)
    }

    /// Appends plain lines, given without LF, to a file. Creates the file, but not its folder, if it does not exist.
    /// The lines are durable when this returns, and share one sync with the appends of other threads.
    pub(crate) fn append_lines(&self, place: &LogFile, lines: Vec<String>) -> Result<(), Error> {
        if lines.is_empty() {
            return Ok(());
        }
        let lines = lines.into_iter().map(NewLine::Plain).collect();
        self.log(&place.path).append(place, lines).map(drop)
    }

    /// Drops the cached end of a file that was rewritten.
    pub fn forget(&self, path: &Path) {
        if let Some((log, _)) = self.logs.lock().by_path.get(path) {
            *log.remembered.lock() = None;
        }
    }

    fn log(&self, path: &Path) -> Arc<Log> {
        let mut logs = self.logs.lock();
        logs.uses += 1;
        let now = logs.uses;
        if let Some((log, used)) = logs.by_path.get_mut(path) {
            *used = now;
            return Arc::clone(log);
        }
        if logs.by_path.len() >= MAX_FILES {
            // A file that no thread is appending to: the `Arc` is cloned under this lock only.
            let idle = logs
                .by_path
                .iter()
                .filter(|(_, (log, _))| Arc::strong_count(log) == 1);
            if let Some(oldest) = idle
                .min_by_key(|(_, (_, used))| *used)
                .map(|(path, _)| path.clone())
            {
                logs.by_path.remove(&oldest);
            }
        }
        let log = Arc::new(Log::default());
        logs.by_path
            .insert(path.to_owned(), (Arc::clone(&log), now));
        log
    }
}

/// The appends to one file.
#[derive(Default)]
struct Log {
    group: Group<Vec<NewLine>, Result<Vec<Appended>, Error>>,
    /// End of the file after the last write of this process.
    remembered: Mutex<Option<LogEnd>>,
}

/// A line to append.
enum NewLine {
    /// An event, which becomes part of the file's chain.
    Event(PreparedEvent),
    /// Text without LF.
    Plain(String),
}

impl NewLine {
    /// Approximate length of the finished line in bytes.
    fn len(&self) -> usize {
        match self {
            Self::Event(event) => event.len(),
            Self::Plain(line) => line.len() + 1,
        }
    }
}

impl Log {
    fn append(&self, place: &LogFile, lines: Vec<NewLine>) -> Result<Vec<Appended>, Error> {
        let bytes = lines.iter().map(NewLine::len).sum();
        let written = self
            .group
            .submit(lines, bytes, |batches| self.write(place, batches));
        written.unwrap_or_else(|_| {
            let error = io::Error::other("the write was interrupted");
            Err(Error::io("written", &place.path, error))
        })
    }

    /// Writes the lines of several callers with one sync.
    fn write(
        &self,
        place: &LogFile,
        batches: Vec<Vec<NewLine>>,
    ) -> Vec<Result<Vec<Appended>, Error>> {
        let (callers, path) = (batches.len(), &place.path);
        let remembered = self.remembered.lock().take();
        match write_batches(place, remembered, batches) {
            Ok((answers, end)) => {
                *self.remembered.lock() = Some(end);
                answers.into_iter().map(Ok).collect()
            }
            Err(error) => (0..callers).map(|_| Err(copy_of(&error, path))).collect(),
        }
    }
}

/// A copy of an error, for each caller whose lines were written together.
fn copy_of(error: &Error, path: &Path) -> Error {
    if let Error::Io { verb, source, .. } = error {
        let source = match source.raw_os_error() {
            Some(code) => io::Error::from_raw_os_error(code),
            None => io::Error::new(source.kind(), source.to_string()),
        };
        Error::io(verb, path, source)
    } else if matches!(error, Error::DiskFull) {
        Error::DiskFull
    } else if matches!(error, Error::FileLocked(_)) {
        Error::FileLocked(path.to_owned())
    } else {
        Error::Refused(error.to_string())
    }
}

fn write_batches(
    place: &LogFile,
    remembered: Option<LogEnd>,
    batches: Vec<Vec<NewLine>>,
) -> Result<(Vec<Vec<Appended>>, LogEnd), Error> {
    let mut lines = batches.iter().flatten();
    let has_plain = lines.any(|line| matches!(line, NewLine::Plain(_)));
    let mut lines = batches.iter().flatten();
    let has_events = lines.any(|line| matches!(line, NewLine::Event(_)));
    let (file, created) = if has_plain {
        Locked::open_or_create(place)?
    } else {
        (Locked::open(place)?, WasCreated::No)
    };
    let path = &place.path;
    let failed = |error| Error::io("written", path, error);
    let metadata = file.0.metadata().map_err(failed)?;
    let mut end = match remembered {
        Some(end) if end.is_of(&metadata) => end,
        other => LogEnd::read(&file.0, &metadata, other)
            .map_err(|error| Error::io("read", path, error))?,
    };
    if has_events && matches!(end.chain, ChainHash::Unread) {
        let hash =
            last_hash(&file.0, end.length).map_err(|error| Error::io("read", path, error))?;
        end.chain = ChainHash::Ends(hash);
    }

    let mut buffer = String::new();
    if end.torn {
        // The fragment becomes a separate line, and the chain continues after it.
        buffer.push('\n');
        end.torn = false;
        end.lines = end.lines.map(|lines| lines + 1);
    }
    let mut answers = Vec::with_capacity(batches.len());
    for batch in batches {
        let mut appended = Vec::with_capacity(batch.len());
        for line in batch {
            let offset = end.length + buffer.len() as u64;
            let (line, event_hash) = match line {
                NewLine::Event(event) => {
                    let (line, event_hash) = event.seal(end.chain.hash());
                    end.chain = ChainHash::Ends(Some(format!("\"{event_hash}\"")));
                    (line, event_hash)
                }
                NewLine::Plain(line) => (line, String::new()),
            };
            buffer.push_str(&line);
            buffer.push('\n');
            end.lines = end.lines.map(|lines| lines + 1);
            appended.push(Appended {
                seq: end.lines,
                offset,
                line,
                event_hash,
            });
        }
        answers.push(appended);
    }

    append_durably(&file.0, end.length, buffer.as_bytes()).map_err(failed)?;
    if created == WasCreated::Yes {
        place.sync_folder().map_err(failed)?;
    }
    end.length += buffer.len() as u64;
    Ok((answers, end))
}

/// Appends bytes to a file of the given length and syncs. After an error the file is truncated to that length, unless a
/// program that ignores the lock has appended to it meanwhile.
fn append_durably(mut file: &File, length: u64, bytes: &[u8]) -> io::Result<()> {
    let mut written = 0;
    let appended = loop {
        match file.write(&bytes[written..]) {
            Ok(0) if written < bytes.len() => break Err(io::ErrorKind::WriteZero.into()),
            Ok(more) => written += more,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => break Err(error),
        }
        if written == bytes.len() {
            break file.sync_data();
        }
    };
    if appended.is_err()
        && file
            .metadata()
            .is_ok_and(|metadata| metadata.len() == length + written as u64)
    {
        // Report the original error, even if truncating fails.
        let _ = file.set_len(length);
    }
    appended
}

/// A file of lines whose system lock this process holds until this is dropped.
pub(super) struct Locked(pub(super) File);

/// Whether a file was created when it was opened.
#[derive(Clone, Copy, PartialEq)]
enum WasCreated {
    Yes,
    No,
}

impl Locked {
    pub(super) fn open(place: &LogFile) -> Result<Self, Error> {
        loop {
            let file = regular_file(place, place.dir.append(&place.relative))?;
            if let Some(locked) = Self::lock(file, place)? {
                return Ok(locked);
            }
        }
    }

    fn open_or_create(place: &LogFile) -> Result<(Self, WasCreated), Error> {
        loop {
            match Self::open(place) {
                Err(error) if error.is_missing() => {}
                opened => return Ok((opened?, WasCreated::No)),
            }
            let made = place.dir.create_new(&place.relative, Readers::Usual);
            let file = match made {
                // Another process created it in between.
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists && !place.is_link() => {
                    continue;
                }
                made => regular_file(place, made)?,
            };
            if let Some(locked) = Self::lock(file, place)? {
                return Ok((locked, WasCreated::Yes));
            }
        }
    }

    /// Locks a file. `None` if another file replaced it while this call waited for the lock.
    fn lock(file: File, place: &LogFile) -> Result<Option<Self>, Error> {
        let failed = |error| Error::io("locked", &place.path, error);
        files::lock(&file, &place.path, LOCK_PATIENCE)?;
        let locked = Self(file);
        let ours = locked.0.metadata().map_err(failed)?;
        let named = match place.dir.link_metadata(&place.relative) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            named => named.map_err(failed)?,
        };
        let is_same = (ours.dev(), ours.ino()) == (named.dev(), named.ino());
        Ok(is_same.then_some(locked))
    }
}

/// Location of a file of lines: its path, and the open folder through which it is accessed.
#[derive(Clone, Debug)]
pub struct LogFile {
    dir: Dir,
    relative: PathBuf,
    path: PathBuf,
}

impl LogFile {
    /// A file below an open folder; `path` is its full path, for messages.
    pub(crate) fn below(dir: Dir, relative: &str, path: PathBuf) -> Self {
        Self {
            dir,
            relative: PathBuf::from(relative),
            path,
        }
    }

    /// A file at any path.
    pub fn locate(path: &Path) -> Result<Self, Error> {
        let folder = path.parent().unwrap_or(Path::new("."));
        let opened = Dir::open(folder);
        let (dir, _) = opened.map_err(|error| Error::io("opened", path, error))?;
        Ok(Self {
            dir,
            relative: PathBuf::from(path.file_name().unwrap_or_default()),
            path: path.to_owned(),
        })
    }

    fn is_link(&self) -> bool {
        let found = self.dir.link_metadata(&self.relative);
        found.is_ok_and(|found| found.is_symlink())
    }

    fn sync_folder(&self) -> io::Result<()> {
        let folder = self.relative.parent().unwrap_or(Path::new(""));
        self.dir.folder(folder)?.sync()
    }
}

/// Checks that an opened file is a regular file.
fn regular_file(place: &LogFile, opened: io::Result<File>) -> Result<File, Error> {
    let failed = |error| Error::io("opened", &place.path, error);
    let file = opened.map_err(failed)?;
    if file.metadata().map_err(failed)?.is_file() {
        Ok(file)
    } else {
        let error = io::Error::new(io::ErrorKind::InvalidInput, "not a regular file");
        Err(failed(error))
    }
}

impl Drop for Locked {
    fn drop(&mut self) {
        // Closing the file is not enough: a process that is being started may hold a copy of the descriptor.
        let _ = self.0.unlock();
    }
}

/// The end of a file and of its hash chain.
struct LogEnd {
    device: u64,
    inode: u64,
    length: u64,
    chain: ChainHash,
    /// Number of lines before the end; absent if they were not counted.
    lines: Option<u64>,
    /// The file does not end with LF.
    torn: bool,
}

/// The last hash of the chain of a file.
enum ChainHash {
    /// Not read yet: no event was appended since the end of the file was read.
    Unread,
    /// The hash as JSON text; absent in a file without events.
    Ends(Option<String>),
}

impl ChainHash {
    fn hash(&self) -> Option<&str> {
        match self {
            Self::Unread => None,
            Self::Ends(hash) => hash.as_deref(),
        }
    }
}

impl LogEnd {
    fn is_of(&self, metadata: &Metadata) -> bool {
        self.is_in(metadata) && self.length == metadata.len()
    }

    fn is_in(&self, metadata: &Metadata) -> bool {
        (self.device, self.inode) == (metadata.dev(), metadata.ino())
    }

    /// Reads the end of the file. `known` is a previously cached end, possibly of another file.
    fn read(file: &File, metadata: &Metadata, known: Option<Self>) -> io::Result<Self> {
        let length = metadata.len();
        let known = known.filter(|known| known.is_in(metadata) && known.length <= length);
        let lines = match known.and_then(|known| Some((known.length, known.lines?))) {
            // Other processes appended lines after the counted ones.
            Some((counted, lines)) => Some(lines + count_lines(file, counted, length)?),
            // A small file is read completely anyway.
            None if length <= TAIL_BYTES => Some(count_lines(file, 0, length)?),
            None => None,
        };
        let torn = length > 0 && {
            let mut last = [0];
            file.read_exact_at(&mut last, length - 1)?;
            last != *b"\n"
        };
        Ok(Self {
            device: metadata.dev(),
            inode: metadata.ino(),
            length,
            chain: ChainHash::Unread,
            lines,
            torn,
        })
    }
}

fn count_lines(file: &File, mut from: u64, to: u64) -> io::Result<u64> {
    let (mut lines, mut bytes) = (0, Vec::new());
    while from < to {
        let size = (to - from).min(TAIL_BYTES);
        bytes.resize(usize::try_from(size).expect("a tail fits in memory"), 0);
        file.read_exact_at(&mut bytes, from)?;
        lines += bytes.iter().filter(|&&byte| byte == b'\n').count() as u64;
        from += size;
    }
    Ok(lines)
}

/// The hash, as JSON text, of the last line that is an event with a hash. Reads backwards from the end in growing
/// windows.
fn last_hash(file: &File, length: u64) -> io::Result<Option<String>> {
    let (mut end, mut size) = (length, TAIL_BYTES);
    // End of a line whose start lies before the window.
    let mut rest = Vec::new();
    while end > 0 {
        let start = end.saturating_sub(size);
        let mut window = vec![0; usize::try_from(end - start).expect("a window fits in memory")];
        file.read_exact_at(&mut window, start)?;
        window.append(&mut rest);
        // End position of the line that starts before the window.
        let cut = match window.iter().position(|&byte| byte == b'\n') {
            _ if start == 0 => None,
            Some(cut) => Some(cut),
            None => Some(window.len()),
        };
        let whole = cut.map_or(0, |cut| (cut + 1).min(window.len()));
        let mut lines = window[whole..].rsplit(|&byte| byte == b'\n');
        if let Some(hash) = lines.find_map(verify::stored_hash) {
            return Ok(Some(hash));
        }
        window.truncate(cut.unwrap_or(0));
        rest = window;
        end = start;
        size = (size * 4).min(16 * 1024 * 1024);
    }
    Ok(None)
}

#[cfg(test)]
pub(super) mod tests;
