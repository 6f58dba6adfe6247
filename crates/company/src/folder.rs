//! An open company folder with cached reads and locked writes.

pub(crate) mod comment_queue;
pub(crate) mod intent;
pub(crate) mod lock;
pub(crate) mod trust;

use std::{
    any::Any,
    collections::BTreeMap,
    fs,
    io::{self, Read as _},
    os::unix::fs::MetadataExt as _,
    path::{Path, PathBuf},
    sync::{
        Arc, OnceLock,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

use parking_lot::{Mutex, MutexGuard};
use protocol::company::{IsoTime, Issue, ProjectId, RunId, Text};
use serde::Serialize;

use crate::{
    Error, Sources,
    document::{self, Document, EventsTail, Markdown},
    event_log::{
        Event,
        log::{EventLogs, LogFile},
    },
    files::{
        self, StagedFolder,
        dir::{self, Dir, Readers},
    },
    folder::{comment_queue::CommentQueue, lock::WriteLock, trust::Trust},
    format::yaml,
    layout,
};

/// Maximum size of a document in bytes; larger files are rejected as damaged or malicious.
const LARGEST_DOCUMENT: u64 = 16 << 20;
/// Maximum number of files whose parsed documents are cached.
const MAX_CACHED_FILES: usize = 20_000;

/// Time before the next attempt to finish an intent whose remaining parts failed.
const PUT_OFF: Duration = Duration::from_secs(60);

/// Factory of [`Company`] handles, with the state that all company folders of this process share.
#[derive(Clone)]
pub struct Companies {
    sources: Sources,
    trust: Trust,
    cache: Arc<Cache>,
    logs: Arc<EventLogs>,
    started: Instant,
    on_append: OnAppend,
    before_write: Option<BeforeWrite>,
    executing: Arc<Mutex<()>>,
    /// Queues of comments to be written, by folder.
    comments: Arc<Mutex<BTreeMap<PathBuf, Arc<CommentQueue>>>>,
    /// Intents whose remaining parts failed, with the time of the last attempt.
    put_off: Arc<Mutex<BTreeMap<PathBuf, Instant>>>,
    /// Set when [`BeforeWrite`] simulated the end of the process.
    ended: Arc<AtomicBool>,
}

/// Hook that tests install: called with the path before each write, and its error fails that write. [`Error::Refused`]
/// simulates the end of the process, after which nothing is undone.
pub type BeforeWrite = Arc<dyn Fn(&Path) -> Result<(), Error> + Send + Sync>;

/// Callback after this process appended events, with the path of the log and the byte offset of the first new event.
pub type OnAppend = Arc<dyn Fn(&Path, u64) + Send + Sync>;

/// One company folder. Cheap to create and to clone.
#[derive(Clone, Debug)]
pub struct Company {
    /// The path as the caller wrote it; responses repeat it.
    given: String,
    /// The absolute path with symbolic links resolved.
    root: PathBuf,
    /// Handle of the folder; set once the folder was opened.
    dir: Arc<OnceLock<Dir>>,
    origin: Origin,
    /// The caller has no `write` scope.
    is_read_only: bool,
    shared: Companies,
}

/// Origin of a folder, which decides how its trust is determined.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Origin {
    /// An existing folder: the trust list of the home decides.
    Existing,
    /// Created by this process: always trusted.
    CreatedHere,
}

impl Companies {
    /// Creates the factory without any open folder.
    pub fn new(sources: Sources, trust: Trust, on_append: OnAppend) -> Self {
        Self {
            sources,
            trust,
            cache: Arc::default(),
            logs: Arc::new(EventLogs::new()),
            started: Instant::now(),
            on_append,
            before_write: None,
            executing: Arc::default(),
            comments: Arc::default(),
            put_off: Arc::default(),
            ended: Arc::default(),
        }
    }

    /// Installs a hook that is called before each write.
    #[must_use]
    pub fn with_before_write(self, before_write: BeforeWrite) -> Self {
        Self {
            before_write: Some(before_write),
            ..self
        }
    }

    /// Opens the folder at a path; fails if it is not a company folder.
    pub fn open(&self, workspace_dir: &str) -> Result<Company, Error> {
        let company = self.locate(workspace_dir);
        company.check_is_company().map(|()| company)
    }

    /// Returns the folder at a path without checking that it is a company folder or exists.
    pub fn locate(&self, workspace_dir: &str) -> Company {
        let path = Path::new(workspace_dir);
        let (dir, root) = match Dir::open(path) {
            Ok((dir, root)) => (OnceLock::from(dir), root),
            Err(_) => {
                let root = std::path::absolute(path);
                (OnceLock::new(), root.unwrap_or_else(|_| path.to_owned()))
            }
        };
        Company {
            given: workspace_dir.to_owned(),
            root,
            dir: Arc::new(dir),
            origin: Origin::Existing,
            is_read_only: false,
            shared: self.clone(),
        }
    }
}

impl std::fmt::Debug for Companies {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("Companies")
    }
}

impl Company {
    /// The path of the folder as the caller wrote it.
    pub fn given(&self) -> &str {
        &self.given
    }

    /// The absolute path of the folder with symbolic links resolved.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Fails if the folder is not a company folder.
    pub fn check_is_company(&self) -> Result<(), Error> {
        let found = self
            .dir()
            .and_then(|dir| dir.metadata(Path::new(layout::COMPANY)));
        if found.is_ok_and(|found| found.is_file()) {
            Ok(())
        } else {
            Err(Error::NotACompanyFolder(self.given.clone()))
        }
    }

    /// Whether a person created this folder on this machine or confirmed trust in it. In any other folder, `.local` is
    /// ignored and nothing is written.
    pub fn is_trusted(&self) -> bool {
        self.origin == Origin::CreatedHere || self.shared.trust.holds(&self.root)
    }

    /// Adds this folder to the trust list of the home.
    pub fn trust(&self) -> Result<(), Error> {
        self.shared.trust.grant(&self.root)
    }

    /// Removes this folder from the trust list of the home.
    pub(crate) fn distrust(&self) -> Result<(), Error> {
        self.shared.trust.withdraw(&self.root)
    }

    /// The same folder treated as trusted, in order to show the content of its `.local`.
    pub(crate) fn as_if_trusted(&self) -> Self {
        Self {
            origin: Origin::CreatedHere,
            ..self.clone()
        }
    }

    /// Path for derived data that can be rebuilt from the folder: below the folder's `.local`, or in the home if the
    /// folder is not trusted and therefore not written to.
    pub fn derived(&self, name: &str) -> PathBuf {
        if self.is_trusted() {
            self.root.join(layout::LOCAL).join(name)
        } else {
            self.shared.trust.beside(&self.root).join(name)
        }
    }

    /// The trust store, which holds the key to verify the seals of files that this machine wrote.
    pub fn seals(&self) -> &Trust {
        &self.shared.trust
    }

    /// Fails if the folder is not trusted.
    pub fn check_trusted(&self) -> Result<(), Error> {
        if self.is_trusted() {
            Ok(())
        } else {
            Err(Error::Untrusted(self.given.clone()))
        }
    }

    /// The same folder without write access: every write through it fails. Appending to logs stays possible, because
    /// they record read access.
    #[must_use]
    pub fn read_only(mut self) -> Self {
        self.is_read_only = true;
        self
    }

    /// Whether the folder can be written through this handle.
    pub(crate) fn is_writable(&self) -> bool {
        self.check_writable().is_ok()
    }

    fn check_writable(&self) -> Result<(), Error> {
        if self.is_read_only {
            return Err(Error::NeedsWrite);
        }
        self.check_trusted()
    }

    /// Whether the file at a relative path may be used. Machine-specific files below `.local` are ignored in an
    /// untrusted folder.
    pub(crate) fn counts(&self, relative: &str) -> bool {
        !layout::is_local(relative) || self.is_trusted()
    }

    /// The handle of the folder, opened on first use. All files of the folder are accessed through this handle only.
    pub fn dir(&self) -> io::Result<&Dir> {
        if let Some(dir) = self.dir.get() {
            return Ok(dir);
        }
        let (dir, _) = Dir::open(&self.root)?;
        Ok(self.dir.get_or_init(|| dir))
    }

    /// Whether the open folder is still the one at its path. An import replaces the folder by another one.
    pub(crate) fn is_in_place(&self) -> bool {
        let identity = |found: fs::Metadata| (found.dev(), found.ino());
        let here = self.dir().and_then(|dir| dir.metadata(Path::new(".")));
        let named = fs::symlink_metadata(&self.root).ok().map(identity);
        named.is_some() && here.ok().map(identity) == named
    }

    /// Runs `work` on the folder handle; the error names the relative path and `verb`.
    pub fn through<R>(
        &self,
        verb: &'static str,
        relative: &str,
        work: impl FnOnce(&Dir, &Path) -> io::Result<R>,
    ) -> Result<R, Error> {
        let done = self.dir().and_then(|dir| work(dir, Path::new(relative)));
        done.map_err(|error| match error.raw_os_error() {
            // `Dir` itself, not the operating system, rejects paths that resolve outside the folder.
            None if error.kind() == io::ErrorKind::PermissionDenied => {
                Error::Refused(format!("`{relative}` leads out of the company folder"))
            }
            _ => Error::io(verb, self.path(relative), error),
        })
    }

    /// The clock and the id generator.
    pub fn sources(&self) -> &Sources {
        &self.shared.sources
    }

    /// The absolute path for a relative path. Every component must be a constant of this crate or a validated id.
    pub fn path(&self, relative: &str) -> PathBuf {
        self.root.join(relative)
    }

    /// The absolute path for a relative path as responses show it: below the folder as the caller spelled it, if that
    /// spelling is absolute.
    pub fn shown_path(&self, relative: &str) -> String {
        let folder = if Path::new(&self.given).is_absolute() {
            Path::new(&self.given)
        } else {
            &self.root
        };
        folder.join(relative).display().to_string()
    }

    /// Reads and validates a YAML document; unchanged files come from the cache.
    pub fn read<T: Document>(&self, relative: &str) -> Result<Arc<T>, Error> {
        self.cached(relative, |bytes| {
            let text = text(relative, bytes)?;
            let value = yaml::parse(text).map_err(|detail| {
                invalid(relative, vec![Issue::new("parse_error", &[], detail)])
            })?;
            document::read(value).map_err(|issues| invalid(relative, issues))
        })
    }

    /// Reads and validates a Markdown document with front matter; unchanged files come from the cache.
    pub fn read_markdown<T: Document>(&self, relative: &str) -> Result<Arc<Markdown<T>>, Error> {
        self.cached(relative, |bytes| {
            Markdown::parse(text(relative, bytes)?).map_err(|issues| invalid(relative, issues))
        })
    }

    /// Reads a YAML document; `None` if the file does not exist.
    pub fn read_if_there<T: Document>(&self, relative: &str) -> Result<Option<Arc<T>>, Error> {
        match self.read(relative) {
            Ok(document) => Ok(Some(document)),
            Err(error) if error.is_missing() => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Reads a UTF-8 text file.
    pub fn read_text(&self, relative: &str) -> Result<String, Error> {
        let bytes = self.read_bytes(relative)?;
        text(relative, &bytes).map(ToOwned::to_owned)
    }

    /// Reads a file. A link that resolves outside the folder is rejected.
    pub fn read_bytes(&self, relative: &str) -> Result<Vec<u8>, Error> {
        self.load(relative).map(|(bytes, _)| bytes)
    }

    /// Opens a file for reading. A link that resolves outside the folder is rejected.
    pub fn open(&self, relative: &str) -> Result<fs::File, Error> {
        if !self.counts(relative) {
            return Err(Error::Missing(relative.to_owned()));
        }
        let opened = self.through("read", relative, |dir, path| dir.read(path));
        opened.map_err(|error| self.named_missing(relative, error))
    }

    /// Names of the entries of a folder that are not hidden, sorted; empty if the folder does not exist.
    pub fn names(&self, relative: &str) -> Result<Vec<String>, Error> {
        if !self.counts(relative) {
            return Ok(Vec::new());
        }
        let listed = self.through("read", relative, |dir, path| dir.entries(path));
        let entries = match listed {
            Ok(entries) => entries,
            Err(error) if error.is_missing() => return Ok(Vec::new()),
            Err(error) => return Err(self.named_missing(relative, error)),
        };
        let names = entries.into_iter().map(|(name, _)| name);
        let mut names: Vec<_> = names.filter(|name| !name.starts_with('.')).collect();
        names.sort_unstable();
        Ok(names)
    }

    /// Finishes changes that an ended process left incomplete.
    pub fn finish_left(&self) {
        if !self.is_read_only && intent::is_left(self) {
            // Reading must still work when writing does not; the next write reports the error.
            if let Err(error) = self.write(|_| Ok(())) {
                tracing::warn!(%error, "what was left half done could not be finished");
            }
        }
    }

    /// Changes the folder under its write lock. Reads that the change depends on belong inside `change`, too.
    pub fn write<R>(
        &self,
        change: impl FnOnce(&Writer<'_>) -> Result<R, Error>,
    ) -> Result<R, Error> {
        self.check_writable()?;
        let lock = WriteLock::acquire(self, &self.sources().now_text())?;
        let writer = Writer {
            company: self,
            _lock: lock,
        };
        // This process holds the lock, so the process that left an intent has ended.
        intent::finish(&writer)?;
        change(&writer)
    }

    /// Returns a log of this folder.
    fn log_file(&self, relative: &str) -> Result<LogFile, Error> {
        let path = self.path(relative);
        let dir = self
            .dir()
            .map_err(|error| Error::io("opened", &path, error))?;
        Ok(LogFile::below(dir.clone(), relative, path))
    }

    /// Appends events to the log of a run, which must exist.
    pub fn append_events(
        &self,
        project: &ProjectId,
        run: &RunId,
        events: &[Event],
    ) -> Result<(), Error> {
        self.append_last_events(project, run, events, |_| Ok(()))
    }

    /// Appends events to the log of a run and calls `then` before subscribers are notified, so that a client that is
    /// notified of the end of a run finds it in the run document. `then` gets the new end of the log; `None` if the
    /// lines of the log were not counted.
    pub fn append_last_events(
        &self,
        project: &ProjectId,
        run: &RunId,
        events: &[Event],
        then: impl FnOnce(Option<EventsTail>) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let relative = format!("{}/events.jsonl", layout::run(project, run));
        self.before_write(&self.path(&relative))?;
        let place = self.log_file(&relative)?;
        let appended = self.shared.logs.append(&place, events);
        let appended = appended.map_err(|error| error.or_not_found("Run", run.as_str()))?;
        let tail = appended.last().and_then(|last| {
            Some(EventsTail {
                count: last.seq?,
                event_hash: Text::new(&last.event_hash)?,
            })
        });
        let done = then(tail);
        if let Some(first) = appended.first() {
            self.events_appended(&relative, first.offset);
        }
        done
    }

    /// Replaces a file of a run. Needs no write lock, because only the session of the run writes it.
    pub fn replace(&self, relative: &str, bytes: &[u8]) -> Result<(), Error> {
        self.check_writable()?;
        self.through("written", relative, |dir, place| {
            dir.replace(place, bytes, Readers::of(relative))
        })
    }

    /// Creates an empty file of a run for incremental writing, replacing an existing one. Takes no write lock.
    pub fn create(&self, relative: &str) -> Result<fs::File, Error> {
        self.check_writable()?;
        self.through("created", relative, |dir, place| {
            dir.make_dir(place.parent().unwrap_or(Path::new("")))?;
            dir.create(place, Readers::of(relative))
        })
    }

    /// Opens a file of a run for appending; creates it if it does not exist. Takes no write lock.
    pub fn append_to(&self, relative: &str) -> Result<fs::File, Error> {
        self.check_writable()?;
        self.through("opened", relative, |dir, place| match dir.append(place) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                dir.create(place, Readers::of(relative))
            }
            opened => opened,
        })
    }

    /// Removes a file of a run; succeeds if it does not exist. Takes no write lock.
    pub fn remove(&self, relative: &str) -> Result<(), Error> {
        self.check_writable()?;
        self.through("removed", relative, |dir, place| dir.remove(place))
    }

    /// Creates a folder for files that are appended to without the write lock.
    pub(crate) fn make_dir(&self, relative: &str) -> Result<(), Error> {
        self.check_trusted()?;
        self.through("created", relative, |dir, place| {
            dir.make_dir(place).map(drop)
        })
    }

    /// Appends plain lines, given without LF, to a file of the folder; creates the file if it does not exist.
    pub(crate) fn append_lines(&self, relative: &str, lines: Vec<String>) -> Result<(), Error> {
        self.before_write(&self.path(relative))?;
        let place = self.log_file(relative)?;
        self.shared.logs.append_lines(&place, lines)
    }

    /// The queue that groups comments of this folder into shared writes.
    pub(crate) fn comment_queue(&self) -> Arc<CommentQueue> {
        let mut queues = self.shared.comments.lock();
        Arc::clone(queues.entry(self.root.clone()).or_default())
    }

    /// Locks the execution of approved actions, which happens outside of the write lock.
    pub(crate) fn executing(&self) -> MutexGuard<'_, ()> {
        self.shared.executing.lock()
    }

    /// Builds a folder next to its destination; [`Writer::put_in_place`] moves it there.
    pub(crate) fn stage(
        &self,
        relative: &str,
        dirs: &[&str],
        files: &[(&str, String)],
    ) -> Result<StagedFolder, Error> {
        let dir = self.dir();
        let dir = dir.map_err(|error| Error::io("opened", &self.root, error))?;
        StagedFolder::build(dir, &self.root, relative, dirs, files)
    }

    fn before_write(&self, path: &Path) -> Result<(), Error> {
        self.check_trusted()?;
        let Some(before_write) = &self.shared.before_write else {
            return Ok(());
        };
        before_write(path).inspect_err(|error| {
            if matches!(error, Error::Refused(_)) {
                self.shared.ended.store(true, Ordering::Relaxed);
            }
        })
    }

    /// Whether a test simulated the end of the process.
    pub(crate) fn has_ended(&self) -> bool {
        self.shared.ended.load(Ordering::Relaxed)
    }

    /// Postpones the next attempt to finish an intent by [`PUT_OFF`].
    pub(crate) fn put_off(&self, intent: &str) {
        let mut put_off = self.shared.put_off.lock();
        put_off.retain(|_, since| since.elapsed() < PUT_OFF);
        put_off.insert(self.path(intent), Instant::now());
    }

    /// Whether finishing an intent failed less than [`PUT_OFF`] ago.
    pub(crate) fn is_put_off(&self, intent: &str) -> bool {
        let put_off = self.shared.put_off.lock();
        let since = put_off.get(&self.path(intent));
        since.is_some_and(|since| since.elapsed() < PUT_OFF)
    }

    /// The event logs that this process appends to.
    pub(crate) fn logs(&self) -> &EventLogs {
        &self.shared.logs
    }

    /// Notifies the [`OnAppend`] callback of new events in a log from the byte `offset` on.
    pub(crate) fn events_appended(&self, relative: &str, offset: u64) {
        (self.shared.on_append)(&self.path(relative), offset);
    }

    /// Milliseconds since this [`Companies`] was created, which is about the uptime of the process.
    pub fn uptime_ms(&self) -> u64 {
        u64::try_from(self.shared.started.elapsed().as_millis()).unwrap_or(u64::MAX)
    }

    /// Creates an empty staging folder next to this one, for content that later replaces this folder.
    pub(crate) fn staged(&self) -> Result<Self, Error> {
        let path = files::make_staging(&self.root)?;
        Ok(Self {
            given: path.display().to_string(),
            root: path,
            dir: Arc::default(),
            origin: Origin::CreatedHere,
            is_read_only: self.is_read_only,
            shared: self.shared.clone(),
        })
    }

    fn cached<T: Send + Sync + 'static>(
        &self,
        relative: &str,
        parse: impl FnOnce(&[u8]) -> Result<T, Error>,
    ) -> Result<Arc<T>, Error> {
        if !self.counts(relative) {
            return Err(Error::Missing(relative.to_owned()));
        }
        let path = self.path(relative);
        let metadata = fs::metadata(&path).map_err(|error| self.io("read", relative, error))?;
        if let Some(found) = self.shared.cache.get(&path, DocumentStamp::of(&metadata)) {
            return Ok(found);
        }
        let (bytes, metadata) = self.load(relative)?;
        let parsed = Arc::new(parse(&bytes)?);
        // A recently modified file can change again within the resolution of its timestamp, so it is not cached yet.
        const SETTLED: Duration = Duration::from_millis(50);
        let age = metadata.modified().ok().and_then(|at| at.elapsed().ok());
        if age.is_some_and(|age| age > SETTLED) {
            self.shared
                .cache
                .put(path, DocumentStamp::of(&metadata), Arc::clone(&parsed) as _);
        }
        Ok(parsed)
    }

    fn load(&self, relative: &str) -> Result<(Vec<u8>, fs::Metadata), Error> {
        if !self.counts(relative) {
            return Err(Error::Missing(relative.to_owned()));
        }
        let loaded = (|| {
            let file = self.dir()?.read(Path::new(relative))?;
            let metadata = file.metadata()?;
            if !metadata.is_file() {
                return Err(io::Error::new(io::ErrorKind::InvalidData, "not a file"));
            }
            if metadata.len() > LARGEST_DOCUMENT {
                return Err(io::Error::new(io::ErrorKind::FileTooLarge, "too large"));
            }
            let mut bytes = Vec::with_capacity(usize::try_from(metadata.len()).unwrap_or(0));
            file.take(LARGEST_DOCUMENT).read_to_end(&mut bytes)?;
            Ok((bytes, metadata))
        })();
        loaded.map_err(|error: io::Error| {
            let kind = error.kind();
            if kind == io::ErrorKind::FileTooLarge {
                let issue = Issue::new("too_big", &[], "the file is larger than 16 MiB");
                return invalid(relative, vec![issue]);
            }
            if kind == io::ErrorKind::InvalidData {
                let issue = Issue::new("invalid_type", &[], "it is not a regular file");
                return invalid(relative, vec![issue]);
            }
            if kind == io::ErrorKind::PermissionDenied && error.raw_os_error().is_none() {
                return Error::Refused(format!("`{relative}` leads out of the company folder"));
            }
            self.io("read", relative, error)
        })
    }

    /// Converts an I/O error about a file of the folder to one with the relative path, as responses show it. Other
    /// errors are returned unchanged.
    #[must_use]
    pub fn named(&self, error: Error) -> Error {
        let (Error::Io { path, .. } | Error::FileLocked(path)) = &error else {
            return error;
        };
        let Ok(relative) = path.strip_prefix(&self.root).map(Path::to_owned) else {
            return error;
        };
        if let Error::Io { verb, source, .. } = error {
            return self.io(verb, &relative.to_string_lossy(), source);
        }
        Error::FileLocked(relative)
    }

    /// Like [`Self::named`], for an I/O error of [`Self::through`] whose relative path is known.
    fn named_missing(&self, relative: &str, error: Error) -> Error {
        if let Error::Io { verb, source, .. } = error {
            return self.io(verb, relative, source);
        }
        error
    }

    fn io(&self, verb: &'static str, relative: &str, error: io::Error) -> Error {
        let kind = error.kind();
        if kind == io::ErrorKind::NotFound {
            return Error::Missing(relative.to_owned());
        }
        if matches!(
            kind,
            io::ErrorKind::NotADirectory | io::ErrorKind::IsADirectory
        ) {
            let detail = "expected a file and found a folder, or the reverse";
            return invalid(relative, vec![Issue::new("invalid_type", &[], detail)]);
        }
        Error::io(verb, self.path(relative), error)
    }
}

/// Write access to a company folder; holds its write lock.
#[derive(Debug)]
pub struct Writer<'a> {
    company: &'a Company,
    _lock: WriteLock,
}

impl Writer<'_> {
    /// The locked company folder.
    pub fn company(&self) -> &Company {
        self.company
    }

    /// The current time in the format of documents.
    pub fn now(&self) -> IsoTime {
        IsoTime::new(self.company.sources().now_text()).expect("the clock prints a time")
    }

    /// Renders a document as YAML.
    pub fn yaml<T: Serialize>(&self, document: &T) -> Result<String, Error> {
        yaml::print(document)
    }

    /// Replaces a YAML document.
    pub fn put<T: Serialize>(&self, relative: &str, document: &T) -> Result<(), Error> {
        self.put_text(relative, &yaml::print(document)?)
    }

    /// Replaces a text file.
    pub fn put_text(&self, relative: &str, text: &str) -> Result<(), Error> {
        self.put_bytes(relative, text.as_bytes())
    }

    /// Replaces a file.
    pub(crate) fn put_bytes(&self, relative: &str, bytes: &[u8]) -> Result<(), Error> {
        let path = self.company.path(relative);
        self.company.before_write(&path)?;
        self.company.through("written", relative, |dir, place| {
            dir.replace(place, bytes, Readers::of(relative))
        })?;
        self.company.shared.cache.forget(&path);
        Ok(())
    }

    /// Replaces several text files. They share their syncs; a crash may leave some of them replaced.
    pub(crate) fn put_texts(&self, files: &[(String, String)]) -> Result<(), Error> {
        /// Maximum number of files that are open at the same time.
        const TOGETHER: usize = 64;
        files
            .chunks(TOGETHER)
            .try_for_each(|files| self.put_few_texts(files))
    }

    fn put_few_texts(&self, files: &[(String, String)]) -> Result<(), Error> {
        let company = self.company;
        let mut staged = Vec::with_capacity(files.len());
        for (relative, text) in files {
            staged.push(company.through("written", relative, |dir, place| {
                dir.stage(place, text.as_bytes(), Readers::of(relative))
            })?);
        }
        let first = files.first().map_or("", |(relative, _)| relative);
        company.through("written", first, |_, _| dir::sync_together(&staged))?;
        let mut folders = BTreeMap::new();
        for (file, (relative, _)) in staged.into_iter().zip(files) {
            let path = company.path(relative);
            company.before_write(&path)?;
            let folder = company.through("written", relative, |_, _| file.put_in_place())?;
            company.shared.cache.forget(&path);
            folders.insert(Path::new(relative).parent(), (folder, relative));
        }
        folders.into_values().try_for_each(|(folder, relative)| {
            company.through("written", relative, |_, _| folder.sync())
        })
    }

    /// Creates a folder and its parents.
    pub fn make_dir(&self, relative: &str) -> Result<(), Error> {
        self.company.through("created", relative, |dir, place| {
            dir.make_dir(place).map(drop)
        })
    }

    /// Removes a file; succeeds if it does not exist.
    pub(crate) fn remove(&self, relative: &str) -> Result<(), Error> {
        let path = self.company.path(relative);
        self.company.before_write(&path)?;
        self.company
            .through("removed", relative, |dir, place| dir.remove(place))?;
        self.company.shared.cache.forget(&path);
        Ok(())
    }

    /// Appends `ending` to the name of a file or folder.
    pub(crate) fn put_aside(&self, relative: &str, ending: &str) -> Result<(), Error> {
        self.company.before_write(&self.company.path(relative))?;
        self.company.through("moved", relative, |dir, place| {
            let name = place.file_name().unwrap_or_default().to_string_lossy();
            dir.rename(place, Path::new(&format!("{name}{ending}")))
        })
    }

    /// Creates a folder with all its files atomically: it appears complete or not at all.
    pub fn make_whole(
        &self,
        relative: &str,
        dirs: &[&str],
        files: &[(&str, String)],
    ) -> Result<(), Error> {
        self.check_free(relative)?;
        let folder = self.company.stage(relative, dirs, files)?;
        files::sync_staged(std::slice::from_ref(&folder))?;
        folder.put_in_place()
    }

    /// Moves a folder to its destination that was built and synced before the lock was acquired.
    pub(crate) fn put_in_place(&self, relative: &str, folder: StagedFolder) -> Result<(), Error> {
        self.check_free(relative)?;
        folder.put_in_place()
    }

    /// Checks that a new folder can be created at a path: only an empty folder may exist there.
    fn check_free(&self, relative: &str) -> Result<(), Error> {
        let found = self
            .company
            .through("read", relative, |dir, place| match dir.entries(place) {
                Err(error) if error.kind() == io::ErrorKind::NotADirectory => Ok(true),
                Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
                entries => Ok(!entries?.is_empty()),
            });
        if found? {
            let place = relative.trim_end_matches('/');
            return Err(Error::Refused(format!(
                "`{place}` already exists and is not an empty folder"
            )));
        }
        self.company.before_write(&self.company.path(relative))
    }
}

fn invalid(relative: &str, issues: Vec<Issue>) -> Error {
    Error::FileInvalid {
        path: relative.to_owned(),
        issues,
    }
}

fn text<'a>(relative: &str, bytes: &'a [u8]) -> Result<&'a str, Error> {
    std::str::from_utf8(bytes).map_err(|error| {
        let detail = format!("the file is not UTF-8 at byte {}", error.valid_up_to());
        invalid(relative, vec![Issue::new("parse_error", &[], detail)])
    })
}

/// File metadata that changes whenever the content of a file changes.
#[derive(Clone, Copy, Debug, PartialEq)]
struct DocumentStamp {
    modified: (i64, i64),
    changed: (i64, i64),
    size: u64,
    inode: u64,
}

impl DocumentStamp {
    fn of(metadata: &fs::Metadata) -> Self {
        Self {
            modified: (metadata.mtime(), metadata.mtime_nsec()),
            changed: (metadata.ctime(), metadata.ctime_nsec()),
            size: metadata.len(),
            inode: metadata.ino(),
        }
    }
}

/// A parsed document of any type.
type Parsed = Arc<dyn Any + Send + Sync>;

/// Cache of parsed documents by path; an entry is valid while the stamp of its file is unchanged.
#[derive(Default)]
struct Cache {
    entries: Mutex<BTreeMap<PathBuf, (DocumentStamp, Vec<Parsed>)>>,
}

impl std::fmt::Debug for Cache {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("Cache")
    }
}

impl Cache {
    fn get<T: Send + Sync + 'static>(&self, path: &Path, stamp: DocumentStamp) -> Option<Arc<T>> {
        let entries = self.entries.lock();
        let (kept, documents) = entries.get(path)?;
        let fits = |document: &Parsed| Arc::clone(document).downcast().ok();
        (*kept == stamp)
            .then(|| documents.iter().find_map(fits))
            .flatten()
    }

    fn put(&self, path: PathBuf, stamp: DocumentStamp, document: Parsed) {
        let mut entries = self.entries.lock();
        if entries.len() >= MAX_CACHED_FILES {
            // Clearing the whole cache at its limit is cheaper than tracking the use of entries on every read.
            entries.clear();
        }
        let (kept, documents) = entries.entry(path).or_insert((stamp, Vec::new()));
        if *kept != stamp {
            *kept = stamp;
            documents.clear();
        }
        documents.push(document);
    }

    fn forget(&self, path: &Path) {
        self.entries.lock().remove(path);
    }
}
