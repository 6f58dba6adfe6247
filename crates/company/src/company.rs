//! A company folder in use: reads that are remembered, writes that are locked.

use std::{
    any::Any,
    collections::BTreeMap,
    fs,
    io::{self, Read as _},
    os::{fd::OwnedFd, unix::fs::MetadataExt as _},
    path::{Path, PathBuf},
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

use protocol::company::{IsoTime, Issue, ProjectId, RunId, Text};
use serde::Serialize;

use crate::{
    Error, Sources,
    comment::CommentQueue,
    document::{self, Document, EventsTail, Markdown},
    event::{Event, log::EventLogs},
    files::{self, StagedFolder},
    intent, layout,
    lock::WriteLock,
    yaml,
};

/// No document of a company is larger; what is larger is a mistake or an attack.
const LARGEST_DOCUMENT: u64 = 16 << 20;
/// How many parsed documents are remembered.
const REMEMBERED: usize = 20_000;

/// How long an intent whose rest could not be done is left alone.
const PUT_OFF: Duration = Duration::from_secs(60);

/// All company folders this process works with.
#[derive(Clone)]
pub struct Companies {
    sources: Sources,
    cache: Arc<Cache>,
    logs: Arc<EventLogs>,
    started: Instant,
    on_append: OnAppend,
    before_write: Option<BeforeWrite>,
    carrying: Arc<Mutex<()>>,
    /// Comments that wait to be written, by folder.
    comments: Arc<Mutex<BTreeMap<PathBuf, Arc<CommentQueue>>>>,
    /// Intents whose rest could not be done, and since when.
    put_off: Arc<Mutex<BTreeMap<PathBuf, Instant>>>,
    /// [`BeforeWrite`] has ended the process.
    ended: Arc<AtomicBool>,
}

/// Called before each write with the file; a failure is the failure of the write. [`Error::Refused`] stands for the end
/// of the process: nothing is undone. Tests use it.
pub type BeforeWrite = Arc<dyn Fn(&Path) -> Result<(), Error> + Send + Sync>;

/// Called when this process wrote events, with the file and where they begin in it.
pub type OnAppend = Arc<dyn Fn(&Path, u64) + Send + Sync>;

/// One company folder. Cheap to make and to clone.
#[derive(Clone, Debug)]
pub struct Company {
    /// As the caller wrote it; answers say it back.
    given: String,
    /// Absolute and without links.
    root: PathBuf,
    shared: Companies,
}

impl Companies {
    /// Starts without any folder.
    pub fn new(sources: Sources, on_append: OnAppend) -> Self {
        Self {
            sources,
            cache: Arc::default(),
            logs: Arc::new(EventLogs::new()),
            started: Instant::now(),
            on_append,
            before_write: None,
            carrying: Arc::default(),
            comments: Arc::default(),
            put_off: Arc::default(),
            ended: Arc::default(),
        }
    }

    /// Asks before each write.
    #[must_use]
    pub fn with_before_write(self, before_write: BeforeWrite) -> Self {
        Self {
            before_write: Some(before_write),
            ..self
        }
    }

    /// The folder at a path, which must be a company folder. What a process left half done is finished first.
    pub fn open(&self, workspace_dir: &str) -> Result<Company, Error> {
        let company = self.at(workspace_dir);
        if !company.path(layout::COMPANY).is_file() {
            return Err(Error::NotACompanyFolder(workspace_dir.to_owned()));
        }
        company.finish_left();
        Ok(company)
    }

    /// The folder at a path, whatever it is.
    pub fn at(&self, workspace_dir: &str) -> Company {
        let path = Path::new(workspace_dir);
        let root = path
            .canonicalize()
            .or_else(|_| std::path::absolute(path))
            .unwrap_or_else(|_| path.to_owned());
        Company {
            given: workspace_dir.to_owned(),
            root,
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
    /// The folder as the caller wrote it.
    pub fn given(&self) -> &str {
        &self.given
    }

    /// The folder, absolute and without links.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The clock and the ids.
    pub fn sources(&self) -> &Sources {
        &self.shared.sources
    }

    /// The place of a relative path. Every part of it is ours or a checked id.
    pub fn path(&self, relative: &str) -> PathBuf {
        self.root.join(relative)
    }

    /// The place of a relative path as answers show it: in the caller's spelling, and absolute.
    pub fn shown_path(&self, relative: &str) -> String {
        let folder = match Path::new(&self.given).is_absolute() {
            true => Path::new(&self.given),
            false => &self.root,
        };
        folder.join(relative).display().to_string()
    }

    /// Reads a YAML document.
    pub fn read<T: Document>(&self, relative: &str) -> Result<Arc<T>, Error> {
        self.cached(relative, |bytes| {
            let text = text(relative, bytes)?;
            let value = yaml::parse(text).map_err(|detail| {
                invalid(relative, vec![Issue::new("parse_error", &[], detail)])
            })?;
            document::read(value).map_err(|issues| invalid(relative, issues))
        })
    }

    /// Reads a Markdown document with its front matter.
    pub fn read_markdown<T: Document>(&self, relative: &str) -> Result<Arc<Markdown<T>>, Error> {
        self.cached(relative, |bytes| {
            Markdown::parse(text(relative, bytes)?).map_err(|issues| invalid(relative, issues))
        })
    }

    /// Reads a document that may be absent.
    pub fn read_if_there<T: Document>(&self, relative: &str) -> Result<Option<Arc<T>>, Error> {
        match self.read(relative) {
            Ok(document) => Ok(Some(document)),
            Err(error) if error.is_missing() => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Reads a text file.
    pub fn read_text(&self, relative: &str) -> Result<String, Error> {
        let bytes = self.read_bytes(relative)?;
        text(relative, &bytes).map(ToOwned::to_owned)
    }

    /// Reads a file. A link that leads out of the folder is not followed.
    pub fn read_bytes(&self, relative: &str) -> Result<Vec<u8>, Error> {
        self.load(relative).map(|(bytes, _)| bytes)
    }

    /// Opens a file for reading. A link that leads out of the folder is not followed.
    pub fn open(&self, relative: &str) -> Result<fs::File, Error> {
        open_beneath(&self.root, relative).map_err(|error| self.io("read", relative, error))
    }

    /// The names in a folder that are not hidden, sorted; none if it is not there.
    pub fn names(&self, relative: &str) -> Result<Vec<String>, Error> {
        let entries = match fs::read_dir(self.path(relative)) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(self.io("read", relative, error)),
        };
        let mut names = Vec::new();
        for entry in entries {
            let entry = entry.map_err(|error| self.io("read", relative, error))?;
            let name = entry.file_name().into_string();
            names.extend(name.ok().filter(|name| !name.starts_with('.')));
        }
        names.sort_unstable();
        Ok(names)
    }

    /// Finishes what a process left half done.
    pub fn finish_left(&self) {
        if intent::is_left(self) {
            // Whoever cannot write can still read, and writes will tell what is wrong.
            if let Err(error) = self.write(|_| Ok(())) {
                tracing::warn!(%error, "what was left half done could not be finished");
            }
        }
    }

    /// Changes the folder under its write lock. Reading what is changed belongs inside, too.
    pub fn write<R>(
        &self,
        change: impl FnOnce(&Writer<'_>) -> Result<R, Error>,
    ) -> Result<R, Error> {
        let lock = WriteLock::acquire(&self.root, &self.sources().now_text())?;
        let writer = Writer {
            company: self,
            _lock: lock,
        };
        // Nobody else holds the lock, so whoever left something is gone.
        intent::finish(&writer)?;
        change(&writer)
    }

    /// Appends events to the log of a run, which must be there.
    pub fn append_events(
        &self,
        project: &ProjectId,
        run: &RunId,
        events: &[Event],
    ) -> Result<(), Error> {
        self.append_last_events(project, run, events, |_| Ok(()))
    }

    /// Appends events to the log of a run and does something more before anybody hears of them: whoever is told that
    /// a run is over finds its document saying so. `then` gets where the log ends now, if that is known.
    pub fn append_last_events(
        &self,
        project: &ProjectId,
        run: &RunId,
        events: &[Event],
        then: impl FnOnce(Option<EventsTail>) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let relative = format!("{}/events.jsonl", layout::run(project, run));
        self.before_write(&self.path(&relative))?;
        let appended = self.shared.logs.append(&self.path(&relative), events);
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

    /// Appends plain lines, given without LF, to a file of the folder, which is created if it is not there.
    pub(crate) fn append_lines(&self, relative: &str, lines: Vec<String>) -> Result<(), Error> {
        let path = self.path(relative);
        self.before_write(&path)?;
        self.shared.logs.append_lines(&path, lines)
    }

    /// The comments that wait to be written together.
    pub(crate) fn comment_queue(&self) -> Arc<CommentQueue> {
        let queues = self.shared.comments.lock();
        let mut queues = queues.unwrap_or_else(PoisonError::into_inner);
        Arc::clone(queues.entry(self.root.clone()).or_default())
    }

    /// Held while an approved action is carried out, which happens outside of the write lock.
    pub(crate) fn carrying(&self) -> MutexGuard<'_, ()> {
        let carrying = self.shared.carrying.lock();
        carrying.unwrap_or_else(PoisonError::into_inner)
    }

    /// A link planted in the folder must not lead a write outside.
    fn stays_inside(&self, path: &Path) -> Result<(), Error> {
        let mut nearest = path.parent();
        while let Some(folder) = nearest {
            if let Ok(real) = folder.canonicalize() {
                return match real.starts_with(&self.root) {
                    true => Ok(()),
                    false => Err(Error::Refused(format!(
                        "`{}` leads out of the company folder",
                        path.strip_prefix(&self.root).unwrap_or(path).display()
                    ))),
                };
            }
            nearest = folder.parent();
        }
        Ok(())
    }

    /// Builds a folder beside its place, to be put there by [`Writer::put_in_place`].
    pub(crate) fn stage(
        &self,
        relative: &str,
        dirs: &[&str],
        files: &[(&str, String)],
    ) -> Result<StagedFolder, Error> {
        let path = self.path(relative);
        self.stays_inside(&path)?;
        StagedFolder::build(&path, dirs, files)
    }

    fn before_write(&self, path: &Path) -> Result<(), Error> {
        let Some(before_write) = &self.shared.before_write else {
            return Ok(());
        };
        before_write(path).inspect_err(|error| {
            if matches!(error, Error::Refused(_)) {
                self.shared.ended.store(true, Ordering::Relaxed);
            }
        })
    }

    /// Whether a test has ended the process.
    pub(crate) fn has_ended(&self) -> bool {
        self.shared.ended.load(Ordering::Relaxed)
    }

    /// Does not try an intent again for a while.
    pub(crate) fn put_off(&self, intent: &str) {
        let mut put_off = self
            .shared
            .put_off
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        put_off.retain(|_, since| since.elapsed() < PUT_OFF);
        put_off.insert(self.path(intent), Instant::now());
    }

    /// Whether an intent failed a short while ago.
    pub(crate) fn is_put_off(&self, intent: &str) -> bool {
        let put_off = self
            .shared
            .put_off
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let since = put_off.get(&self.path(intent));
        since.is_some_and(|since| since.elapsed() < PUT_OFF)
    }

    /// The event logs of this process.
    pub(crate) fn logs(&self) -> &EventLogs {
        &self.shared.logs
    }

    /// Tells who listens that there are events in a log from `offset` on.
    pub(crate) fn events_appended(&self, relative: &str, offset: u64) {
        (self.shared.on_append)(&self.path(relative), offset);
    }

    /// Milliseconds since this process began.
    pub fn uptime_ms(&self) -> u64 {
        u64::try_from(self.shared.started.elapsed().as_millis()).unwrap_or(u64::MAX)
    }

    /// An empty folder beside this one, to build something in that then takes this one's place.
    pub(crate) fn staged(&self) -> Result<Self, Error> {
        let path = files::make_staging(&self.root)?;
        Ok(Self {
            given: path.display().to_string(),
            root: path,
            shared: self.shared.clone(),
        })
    }

    fn cached<T: Send + Sync + 'static>(
        &self,
        relative: &str,
        parse: impl FnOnce(&[u8]) -> Result<T, Error>,
    ) -> Result<Arc<T>, Error> {
        let path = self.path(relative);
        let metadata = fs::metadata(&path).map_err(|error| self.io("read", relative, error))?;
        if let Some(found) = self.shared.cache.get(&path, Stamp::of(&metadata)) {
            return Ok(found);
        }
        let (bytes, metadata) = self.load(relative)?;
        let parsed = Arc::new(parse(&bytes)?);
        // A file that changed a moment ago may change again without its time moving on: look again next time.
        const SETTLED: Duration = Duration::from_millis(50);
        let age = metadata.modified().ok().and_then(|at| at.elapsed().ok());
        if age.is_some_and(|age| age > SETTLED) {
            self.shared
                .cache
                .put(path, Stamp::of(&metadata), Arc::clone(&parsed) as _);
        }
        Ok(parsed)
    }

    fn load(&self, relative: &str) -> Result<(Vec<u8>, fs::Metadata), Error> {
        let loaded = (|| {
            let file = open_beneath(&self.root, relative)?;
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
                let issue = Issue::new("invalid_type", &[], "it is not a file");
                return invalid(relative, vec![issue]);
            }
            self.io("read", relative, error)
        })
    }

    /// What the system said about a file of the folder, in words that name it as answers do.
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

    fn io(&self, verb: &'static str, relative: &str, error: io::Error) -> Error {
        let kind = error.kind();
        if kind == io::ErrorKind::NotFound {
            return Error::Missing(relative.to_owned());
        }
        if matches!(
            kind,
            io::ErrorKind::NotADirectory | io::ErrorKind::IsADirectory
        ) {
            let detail = "a file stands where a folder is expected, or the other way round";
            return invalid(relative, vec![Issue::new("invalid_type", &[], detail)]);
        }
        Error::io(verb, self.path(relative), error)
    }
}

/// The folder while its write lock is held.
#[derive(Debug)]
pub struct Writer<'a> {
    company: &'a Company,
    _lock: WriteLock,
}

impl Writer<'_> {
    /// The folder.
    pub fn company(&self) -> &Company {
        self.company
    }

    /// The time as documents have it.
    pub fn now(&self) -> IsoTime {
        IsoTime::new(self.company.sources().now_text()).expect("the clock prints a time")
    }

    /// A document as YAML.
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
        self.company.stays_inside(&path)?;
        self.company.before_write(&path)?;
        files::replace(&path, bytes)?;
        self.company.shared.cache.forget(&path);
        Ok(())
    }

    /// Replaces several text files. They share their syncs; a crash may leave some of them replaced.
    pub(crate) fn put_texts(&self, files: &[(String, String)]) -> Result<(), Error> {
        let mut paths = Vec::with_capacity(files.len());
        for (relative, text) in files {
            let path = self.company.path(relative);
            self.company.stays_inside(&path)?;
            paths.push((path, text.as_bytes()));
        }
        let replaced = files::replace_all(&paths, |path| self.company.before_write(path));
        for (path, _) in &paths {
            self.company.shared.cache.forget(path);
        }
        replaced
    }

    /// Makes a folder.
    pub fn make_dir(&self, relative: &str) -> Result<(), Error> {
        let path = self.company.path(relative);
        self.company.stays_inside(&path)?;
        files::make_dir(&path)
    }

    /// Removes a file; one that is not there is removed.
    pub(crate) fn remove(&self, relative: &str) -> Result<(), Error> {
        let path = self.company.path(relative);
        self.company.stays_inside(&path)?;
        self.company.before_write(&path)?;
        files::remove(&path)?;
        self.company.shared.cache.forget(&path);
        Ok(())
    }

    /// Adds an ending to the name of a file or folder, whatever it is.
    pub(crate) fn put_aside(&self, relative: &str, ending: &str) -> Result<(), Error> {
        let path = self.company.path(relative);
        self.company.stays_inside(&path)?;
        self.company.before_write(&path)?;
        files::rename(&path, &self.company.path(&format!("{relative}{ending}")))
    }

    /// Makes a folder with all its files at once: it is there whole, or not at all.
    pub fn make_whole(
        &self,
        relative: &str,
        dirs: &[&str],
        files: &[(&str, String)],
    ) -> Result<(), Error> {
        let path = self.free_place(relative)?;
        files::make_whole(&path, dirs, files)
    }

    /// Puts a folder in place that was built and synced before the lock was taken.
    pub(crate) fn put_in_place(&self, relative: &str, folder: StagedFolder) -> Result<(), Error> {
        self.free_place(relative)?;
        folder.put_in_place()
    }

    /// The place of a new folder, where nothing may be yet.
    fn free_place(&self, relative: &str) -> Result<PathBuf, Error> {
        let path = self.company.path(relative);
        self.company.stays_inside(&path)?;
        let is_there = fs::read_dir(&path).is_ok_and(|mut entries| entries.next().is_some());
        if is_there || path.is_file() {
            let place = relative.trim_end_matches('/');
            return Err(Error::Refused(format!(
                "`{place}` is there already, and not what it should be"
            )));
        }
        self.company.before_write(&path)?;
        Ok(path)
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

/// Opens a file below `root`, whatever links are on the way: none may lead out.
fn open_beneath(root: &Path, relative: &str) -> io::Result<fs::File> {
    #[cfg(target_os = "linux")]
    {
        use rustix::fs::{CWD, Mode, OFlags, ResolveFlags};
        let folder: OwnedFd = rustix::fs::openat(
            CWD,
            root,
            OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC,
            Mode::empty(),
        )?;
        let opened = rustix::fs::openat2(
            &folder,
            relative,
            // A pipe planted as a document must not hold us.
            OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK,
            Mode::empty(),
            ResolveFlags::BENEATH | ResolveFlags::NO_MAGICLINKS,
        );
        match opened {
            Ok(file) => return Ok(fs::File::from(file)),
            // Kernels and sandboxes without it.
            Err(rustix::io::Errno::NOSYS | rustix::io::Errno::PERM) => {}
            Err(error) => return Err(error.into()),
        }
    }
    let path = root.join(relative).canonicalize()?;
    if !path.starts_with(root) {
        return Err(io::Error::other("a link leads out of the company folder"));
    }
    fs::File::open(path)
}

/// What tells one state of a file from another.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Stamp {
    modified: (i64, i64),
    changed: (i64, i64),
    size: u64,
    inode: u64,
}

impl Stamp {
    fn of(metadata: &fs::Metadata) -> Self {
        Self {
            modified: (metadata.mtime(), metadata.mtime_nsec()),
            changed: (metadata.ctime(), metadata.ctime_nsec()),
            size: metadata.len(),
            inode: metadata.ino(),
        }
    }
}

/// A document of any type.
type Parsed = Arc<dyn Any + Send + Sync>;

/// Parsed documents by path, as long as their files do not change.
#[derive(Default)]
struct Cache {
    entries: Mutex<BTreeMap<PathBuf, (Stamp, Vec<Parsed>)>>,
}

impl std::fmt::Debug for Cache {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("Cache")
    }
}

impl Cache {
    fn get<T: Send + Sync + 'static>(&self, path: &Path, stamp: Stamp) -> Option<Arc<T>> {
        let entries = self.entries.lock().unwrap_or_else(PoisonError::into_inner);
        let (kept, documents) = entries.get(path)?;
        let fits = |document: &Parsed| Arc::clone(document).downcast().ok();
        (*kept == stamp)
            .then(|| documents.iter().find_map(fits))
            .flatten()
    }

    fn put(&self, path: PathBuf, stamp: Stamp, document: Parsed) {
        let mut entries = self.entries.lock().unwrap_or_else(PoisonError::into_inner);
        if entries.len() >= REMEMBERED {
            // Everything is read again once in a while rather than counted on every read.
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
        self.entries
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .remove(path);
    }
}
