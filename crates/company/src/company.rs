//! A company folder in use: reads that are remembered, writes that are locked.

use std::{
    any::Any,
    collections::BTreeMap,
    fs,
    io::{self, Read as _},
    os::unix::fs::MetadataExt as _,
    path::{Path, PathBuf},
    sync::{
        Arc, Mutex, MutexGuard, OnceLock, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

use protocol::company::{IsoTime, Issue, ProjectId, RunId, Text};
use serde::Serialize;

use crate::{
    Error, Sources,
    comment::CommentQueue,
    dir::{self, Dir, Readers},
    document::{self, Document, EventsTail, Markdown},
    event::{
        Event,
        log::{EventLogs, Place},
    },
    files::{self, StagedFolder},
    intent, layout,
    lock::WriteLock,
    trust::Trust,
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
    trust: Trust,
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
    /// The folder itself, from the moment it was looked up or made.
    dir: Arc<OnceLock<Dir>>,
    origin: Origin,
    /// Whoever it was opened for may only read.
    is_read_only: bool,
    shared: Companies,
}

/// Who made a folder.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Origin {
    /// Anybody: whether it is trusted is a matter of the home.
    Found,
    /// This process, a moment ago.
    MadeHere,
}

impl Companies {
    /// Starts without any folder.
    pub fn new(sources: Sources, trust: Trust, on_append: OnAppend) -> Self {
        Self {
            sources,
            trust,
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

    /// The folder at a path, which must be a company folder.
    pub fn open(&self, workspace_dir: &str) -> Result<Company, Error> {
        let company = self.at(workspace_dir);
        company.check_is_company().map(|()| company)
    }

    /// The folder at a path, whatever it is.
    pub fn at(&self, workspace_dir: &str) -> Company {
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
            origin: Origin::Found,
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
    /// The folder as the caller wrote it.
    pub fn given(&self) -> &str {
        &self.given
    }

    /// The folder, absolute and without links.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Refuses to go on in a folder that is no company folder.
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

    /// Whether a person made this folder on this machine, or said to trust it. In any other folder nothing of `.local`
    /// counts, and nothing is written.
    pub fn is_trusted(&self) -> bool {
        self.origin == Origin::MadeHere || self.shared.trust.holds(&self.root)
    }

    /// Remembers that a person trusts this folder.
    pub fn trust(&self) -> Result<(), Error> {
        self.shared.trust.grant(&self.root)
    }

    /// Forgets that this folder was trusted.
    pub fn distrust(&self) -> Result<(), Error> {
        self.shared.trust.withdraw(&self.root)
    }

    /// The folder as if it were trusted, to show what it says.
    pub(crate) fn as_if_trusted(&self) -> Self {
        Self {
            origin: Origin::MadeHere,
            ..self.clone()
        }
    }

    /// Where this machine keeps what it derives from the folder and can derive again: in the folder, or in the home if
    /// the folder is not trusted and so not written to.
    pub fn derived(&self, name: &str) -> PathBuf {
        if self.is_trusted() {
            self.root.join(layout::LOCAL).join(name)
        } else {
            self.shared.trust.beside(&self.root).join(name)
        }
    }

    /// Which of the notes in this folder this machine wrote itself.
    pub fn seals(&self) -> &Trust {
        &self.shared.trust
    }

    /// Refuses to go on in a folder that nobody trusts.
    pub fn check_trusted(&self) -> Result<(), Error> {
        if self.is_trusted() {
            Ok(())
        } else {
            Err(Error::Untrusted(self.given.clone()))
        }
    }

    /// The same folder for somebody who may only read: nothing is written through it, whatever code it is given to.
    /// Logs are the exception, because they tell who looked at what.
    #[must_use]
    pub fn read_only(mut self) -> Self {
        self.is_read_only = true;
        self
    }

    /// Whether something can be written through it.
    pub(crate) fn is_writable(&self) -> bool {
        self.check_writable().is_ok()
    }

    fn check_writable(&self) -> Result<(), Error> {
        if self.is_read_only {
            return Err(Error::NeedsWrite);
        }
        self.check_trusted()
    }

    /// Whether a relative path counts: what holds for one machine alone does not in a folder nobody trusts.
    pub(crate) fn counts(&self, relative: &str) -> bool {
        !layout::is_local(relative) || self.is_trusted()
    }

    /// The open folder. What is below it is reached through it alone.
    pub fn dir(&self) -> io::Result<&Dir> {
        if let Some(dir) = self.dir.get() {
            return Ok(dir);
        }
        let (dir, _) = Dir::open(&self.root)?;
        Ok(self.dir.get_or_init(|| dir))
    }

    /// Whether the open folder is still the one at its path: an import puts another in its place.
    pub(crate) fn is_in_place(&self) -> bool {
        let identity = |found: fs::Metadata| (found.dev(), found.ino());
        let here = self.dir().and_then(|dir| dir.metadata(Path::new(".")));
        let named = fs::symlink_metadata(&self.root).ok().map(identity);
        named.is_some() && here.ok().map(identity) == named
    }

    /// Does something with the open folder; an error names what it is about.
    pub fn through<R>(
        &self,
        verb: &'static str,
        relative: &str,
        work: impl FnOnce(&Dir, &Path) -> io::Result<R>,
    ) -> Result<R, Error> {
        let done = self.dir().and_then(|dir| work(dir, Path::new(relative)));
        done.map_err(|error| match error.raw_os_error() {
            // The system says nothing of it: we do not follow it.
            None if error.kind() == io::ErrorKind::PermissionDenied => {
                Error::Refused(format!("`{relative}` leads out of the company folder"))
            }
            _ => Error::io(verb, self.path(relative), error),
        })
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
        let folder = if Path::new(&self.given).is_absolute() {
            Path::new(&self.given)
        } else {
            &self.root
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
        if !self.counts(relative) {
            return Err(Error::Missing(relative.to_owned()));
        }
        let opened = self.through("read", relative, |dir, path| dir.read(path));
        opened.map_err(|error| self.named_missing(relative, error))
    }

    /// The names in a folder that are not hidden, sorted; none if it is not there.
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

    /// Finishes what a process left half done.
    pub fn finish_left(&self) {
        if !self.is_read_only && intent::is_left(self) {
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
        self.check_writable()?;
        let lock = WriteLock::acquire(self, &self.sources().now_text())?;
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
        let place = Place::of(self, &relative)?;
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

    /// Replaces a file of a run that only its session writes, so without the write lock.
    pub fn replace(&self, relative: &str, bytes: &[u8]) -> Result<(), Error> {
        self.check_writable()?;
        self.through("written", relative, |dir, place| {
            dir.replace(place, bytes, Readers::of(relative))
        })
    }

    /// Makes such a file anew, empty, to be written bit by bit.
    pub fn create(&self, relative: &str) -> Result<fs::File, Error> {
        self.check_writable()?;
        self.through("made", relative, |dir, place| {
            dir.make_dir(place.parent().unwrap_or(Path::new("")))?;
            dir.create(place, Readers::of(relative))
        })
    }

    /// Opens such a file to write on behind what is there.
    pub fn append_to(&self, relative: &str) -> Result<fs::File, Error> {
        self.check_writable()?;
        self.through("opened", relative, |dir, place| match dir.append(place) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                dir.create(place, Readers::of(relative))
            }
            opened => opened,
        })
    }

    /// Removes such a file; one that is not there is removed.
    pub fn remove(&self, relative: &str) -> Result<(), Error> {
        self.check_writable()?;
        self.through("removed", relative, |dir, place| dir.remove(place))
    }

    /// Makes a folder for lines that are appended without the write lock.
    pub(crate) fn make_dir(&self, relative: &str) -> Result<(), Error> {
        self.check_trusted()?;
        self.through("made", relative, |dir, place| dir.make_dir(place).map(drop))
    }

    /// Appends plain lines, given without LF, to a file of the folder, which is created if it is not there.
    pub(crate) fn append_lines(&self, relative: &str, lines: Vec<String>) -> Result<(), Error> {
        self.before_write(&self.path(relative))?;
        let place = Place::of(self, relative)?;
        self.shared.logs.append_lines(&place, lines)
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

    /// Builds a folder beside its place, to be put there by [`Writer::put_in_place`].
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
            dir: Arc::default(),
            origin: Origin::MadeHere,
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
                let issue = Issue::new("invalid_type", &[], "it is not a file");
                return invalid(relative, vec![issue]);
            }
            if kind == io::ErrorKind::PermissionDenied && error.raw_os_error().is_none() {
                return Error::Refused(format!("`{relative}` leads out of the company folder"));
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

    /// The same for what [`Self::through`] answers.
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
        self.company.before_write(&path)?;
        self.company.through("written", relative, |dir, place| {
            dir.replace(place, bytes, Readers::of(relative))
        })?;
        self.company.shared.cache.forget(&path);
        Ok(())
    }

    /// Replaces several text files. They share their syncs; a crash may leave some of them replaced.
    pub(crate) fn put_texts(&self, files: &[(String, String)]) -> Result<(), Error> {
        /// How many are open at the same time.
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

    /// Makes a folder.
    pub fn make_dir(&self, relative: &str) -> Result<(), Error> {
        self.company
            .through("made", relative, |dir, place| dir.make_dir(place).map(drop))
    }

    /// Removes a file; one that is not there is removed.
    pub(crate) fn remove(&self, relative: &str) -> Result<(), Error> {
        let path = self.company.path(relative);
        self.company.before_write(&path)?;
        self.company
            .through("removed", relative, |dir, place| dir.remove(place))?;
        self.company.shared.cache.forget(&path);
        Ok(())
    }

    /// Adds an ending to the name of a file or folder, whatever it is.
    pub(crate) fn put_aside(&self, relative: &str, ending: &str) -> Result<(), Error> {
        self.company.before_write(&self.company.path(relative))?;
        self.company.through("moved", relative, |dir, place| {
            let name = place.file_name().unwrap_or_default().to_string_lossy();
            dir.rename(place, Path::new(&format!("{name}{ending}")))
        })
    }

    /// Makes a folder with all its files at once: it is there whole, or not at all.
    pub fn make_whole(
        &self,
        relative: &str,
        dirs: &[&str],
        files: &[(&str, String)],
    ) -> Result<(), Error> {
        self.free_place(relative)?;
        let folder = self.company.stage(relative, dirs, files)?;
        files::sync_staged(std::slice::from_ref(&folder))?;
        folder.put_in_place()
    }

    /// Puts a folder in place that was built and synced before the lock was taken.
    pub(crate) fn put_in_place(&self, relative: &str, folder: StagedFolder) -> Result<(), Error> {
        self.free_place(relative)?;
        folder.put_in_place()
    }

    /// The place of a new folder, where nothing may be yet.
    fn free_place(&self, relative: &str) -> Result<(), Error> {
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
                "`{place}` is there already, and not what it should be"
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
