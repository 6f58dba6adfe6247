//! The indexes of all company folders that this process has opened.
//!
//! A rebuild replaces an index by renaming a complete new file over it, so a connection belongs to one file and is
//! discarded when another file has its name. SQLite keeps its WAL in files beside the database, under the name of the
//! database: therefore no process may open an index while it is being replaced. `index.sqlite.lock` is held only for
//! opening and for replacing.

use std::{
    collections::BTreeMap,
    fs::{self, File, OpenOptions},
    io,
    os::unix::fs::MetadataExt as _,
    path::{Path, PathBuf},
    sync::Arc,
    time::Instant,
};

use company::{Company, layout};
use parking_lot::{Mutex, MutexGuard};
use protocol::company::index::{IndexRebuildResponse, IndexSearchResponse, IndexSyncResponse};
use rusqlite::{Connection, OpenFlags, TransactionBehavior};

use crate::{
    Error, Query, rebuild,
    scan::{self, RecordedFiles, Scanned},
    schema, search,
    snapshot::People,
    sync::{self, Differences},
};

/// Name of the index file in the folder for derived files.
const INDEX: &str = "index.sqlite";
/// Maximum number of company folders with open connections.
const MAX_FOLDERS: usize = 64;

/// The indexes of all company folders. Cheap to clone: clones share their connections.
#[derive(Clone, Default)]
pub struct Indexes {
    folders: Arc<Mutex<BTreeMap<PathBuf, Arc<CompanyIndex>>>>,
}

/// How fresh the index must be for a request.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Freshness {
    /// Synced right before it is read.
    Synced,
    /// Rebuilt right before it is read.
    Rebuilt,
    /// As of the last sync; built only if there is none.
    AsItIs,
}

impl Freshness {
    /// From the parameters of a request: `refresh_index` rebuilds; otherwise the index is synced, unless `sync_index`
    /// is false.
    pub fn of(refresh_index: Option<bool>, sync_index: Option<bool>) -> Self {
        match (refresh_index, sync_index) {
            (Some(true), _) => Self::Rebuilt,
            (_, Some(false)) => Self::AsItIs,
            (_, _) => Self::Synced,
        }
    }
}

/// What was done to the index before it was read.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct IndexRefresh {
    /// The index was built from scratch.
    pub rebuilt: bool,
    /// The index was synced.
    pub synced: bool,
}

#[derive(Default)]
struct CompanyIndex {
    /// Serializes syncs and rebuilds of the folder.
    writer: Mutex<IndexWriter>,
    /// Idle read connections.
    readers: Mutex<Vec<OpenIndex>>,
}

#[derive(Default)]
struct IndexWriter {
    open: Option<OpenIndex>,
    /// The recorded state of files, and the SQLite `data_version` at which it was read.
    known: Option<(i64, RecordedFiles)>,
    /// The scan of the last sync that found no difference. Comparing two scans in order is cheaper than looking up
    /// every file.
    in_sync: Option<Vec<Scanned>>,
}

/// A connection, and the identity of the file it was opened on.
struct OpenIndex {
    connection: Connection,
    file: FileId,
}

#[derive(Clone, Copy, PartialEq)]
struct FileId {
    device: u64,
    inode: u64,
}

impl FileId {
    fn of(path: &Path) -> Option<Self> {
        let metadata = path.metadata().ok().filter(fs::Metadata::is_file)?;
        Some(Self {
            device: metadata.dev(),
            inode: metadata.ino(),
        })
    }
}

impl Indexes {
    /// Creates an empty registry; folders are opened when they are first used.
    pub fn new() -> Self {
        Self::default()
    }

    /// Whether the folder has an index file, usable or not.
    pub fn is_built(&self, company: &Company) -> bool {
        FileId::of(&company.derived(INDEX)).is_some()
    }

    /// Rebuilds the index from scratch.
    pub fn rebuild(&self, company: &Company) -> Result<IndexRebuildResponse, Error> {
        let counts = self.build(company)?;
        Ok(IndexRebuildResponse {
            db_path: counts.db_path,
            runs_indexed: counts.runs_upserted,
            events_indexed: counts.events_indexed,
            event_parse_errors: counts.event_parse_errors_indexed,
            artifacts_indexed: counts.artifacts_upserted,
            reviews_indexed: counts.reviews_upserted,
            help_requests_indexed: counts.help_requests_upserted,
            conversations_indexed: counts.conversations_upserted,
            messages_indexed: counts.messages_indexed,
            tasks_indexed: counts.tasks_upserted,
            task_milestones_indexed: counts.task_milestones_indexed,
            agent_counters_indexed: counts.agent_counters_upserted,
            files_scanned: counts.files_scanned,
            duration_ms: counts.duration_ms,
        })
    }

    /// Brings the index up to date. Builds it if there is none, or if it cannot be used.
    pub fn sync(&self, company: &Company) -> Result<IndexSyncResponse, Error> {
        if !self.is_built(company) {
            let counts = self.build(company)?;
            return Ok(IndexSyncResponse {
                db_created: true,
                ..counts
            });
        }
        match self.try_sync(company) {
            Err(error) if is_gone_or_broken(&error) => {
                log_rebuild(company, &error);
                self.build(company)
            }
            other => other,
        }
    }

    /// Whether a sync would change nothing.
    pub fn is_current(&self, company: &Company) -> Result<bool, Error> {
        let known = self.read(company, |db| Ok(scan::recorded_files(db)?))?;
        let scanned = scan::scan(company).map_err(Error::Io)?;
        let differences = Differences::between(&scanned, &known);
        Ok(differences.are_only_unsettled(&scanned, &known))
    }

    /// Makes the index as fresh as the request requires.
    pub fn freshen(&self, company: &Company, freshness: Freshness) -> Result<IndexRefresh, Error> {
        let rebuilt = IndexRefresh {
            rebuilt: true,
            synced: false,
        };
        let built = self.is_built(company);
        match (freshness, built) {
            (Freshness::Rebuilt, _) | (_, false) => self.build(company).map(|_| rebuilt),
            (Freshness::Synced, true) => self.sync(company).map(|_| IndexRefresh {
                rebuilt: false,
                synced: true,
            }),
            (Freshness::AsItIs, true) => Ok(IndexRefresh::default()),
        }
    }

    /// Searches the full text.
    pub fn search(
        &self,
        company: &Company,
        freshness: Freshness,
        query: &Query,
    ) -> Result<IndexSearchResponse, Error> {
        self.freshen(company, freshness)?;
        while self.add_texts(company)? {}
        let people = People::of(company)?;
        self.read(company, |db| search::search(db, company, query, &people))
    }

    /// Adds a batch of events to the full text. Returns whether more are waiting.
    pub(crate) fn add_texts(&self, company: &Company) -> Result<bool, Error> {
        let folder = self.folder(company);
        let mut writer = folder.writer();
        search::add_events(writer.open(company)?)
    }

    /// Reads a consistent snapshot. An index that cannot be used is rebuilt once.
    pub(crate) fn read<R>(
        &self,
        company: &Company,
        read: impl Fn(&Connection) -> Result<R, Error>,
    ) -> Result<R, Error> {
        match self.try_read(company, &read) {
            Err(error) if error.is_mended_by_rebuild() => {
                log_rebuild(company, &error);
                self.build(company)?;
                self.try_read(company, &read)
            }
            other => other,
        }
    }

    fn try_read<R>(
        &self,
        company: &Company,
        read: &impl Fn(&Connection) -> Result<R, Error>,
    ) -> Result<R, Error> {
        let folder = self.folder(company);
        let Some(file) = FileId::of(&company.derived(INDEX)) else {
            return Err(not_built(company));
        };
        let reader = {
            let mut readers = folder.readers();
            readers.retain(|reader| reader.file == file);
            readers.pop()
        };
        let reader = match reader {
            Some(reader) => reader,
            None => OpenIndex::new(company)?,
        };
        let answer = {
            // Dropping the transaction rolls it back; reading wrote nothing.
            let moment = reader.connection.unchecked_transaction()?;
            read(&moment)?
        };
        folder.readers().push(reader);
        Ok(answer)
    }

    fn try_sync(&self, company: &Company) -> Result<IndexSyncResponse, Error> {
        let started = Instant::now();
        let folder = self.folder(company);
        let mut writer = folder.writer();
        writer.open(company)?;
        let mut counts = IndexSyncResponse {
            db_path: shown_path(company),
            ..IndexSyncResponse::default()
        };
        let scanned = scan::scan(company).map_err(Error::Io)?;
        counts.files_scanned = scanned.len() as u64;
        let synced = writer.sync(company, scanned, &mut counts);
        if synced.is_err() {
            // The cached file state may be ahead of the stored one.
            *writer = IndexWriter::default();
        }
        synced?;
        counts.duration_ms = u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX);
        Ok(counts)
    }

    fn build(&self, company: &Company) -> Result<IndexSyncResponse, Error> {
        let started = Instant::now();
        let folder = self.folder(company);
        let mut writer = folder.writer();
        if !company.path(layout::COMPANY).is_file() {
            return Err(company::Error::NotACompanyFolder(company.given().to_owned()).into());
        }
        let mut counts = IndexSyncResponse {
            db_path: shown_path(company),
            ..IndexSyncResponse::default()
        };
        let temporary = Temporary::new(company)?;
        rebuild::build(company, &temporary.path, &mut counts)?;
        *writer = IndexWriter::default();
        folder.readers().clear();
        temporary.take_over(company)?;
        counts.duration_ms = u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX);
        Ok(counts)
    }

    fn folder(&self, company: &Company) -> Arc<CompanyIndex> {
        let mut folders = self.folders.lock();
        if folders.len() >= MAX_FOLDERS && !folders.contains_key(company.root()) {
            // Folders that are not in use are dropped; they are opened again when needed.
            folders.retain(|_, folder| Arc::strong_count(folder) > 1);
        }
        Arc::clone(folders.entry(company.root().to_owned()).or_default())
    }
}

impl std::fmt::Debug for Indexes {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("Indexes")
    }
}

impl CompanyIndex {
    fn writer(&self) -> MutexGuard<'_, IndexWriter> {
        self.writer.lock()
    }

    fn readers(&self) -> MutexGuard<'_, Vec<OpenIndex>> {
        self.readers.lock()
    }
}

impl IndexWriter {
    /// The connection to the current index file; reopened if the file was replaced.
    fn open(&mut self, company: &Company) -> Result<&mut Connection, Error> {
        let file = FileId::of(&company.derived(INDEX)).ok_or_else(|| not_built(company))?;
        if self.open.as_ref().is_none_or(|open| open.file != file) {
            *self = Self::default();
            self.open = Some(OpenIndex::new(company)?);
        }
        let open = self.open.as_mut().ok_or_else(|| not_built(company))?;
        Ok(&mut open.connection)
    }

    fn sync(
        &mut self,
        company: &Company,
        scanned: Vec<Scanned>,
        counts: &mut IndexSyncResponse,
    ) -> Result<(), Error> {
        let open = self.open.as_mut().ok_or_else(|| not_built(company))?;
        let db = &mut open.connection;
        if is_stale(db, self.known.as_ref())? {
            self.in_sync = None;
        } else if self.in_sync.as_ref() == Some(&scanned) {
            return Ok(());
        }
        self.in_sync = None;
        let known = current(db, &mut self.known)?;
        let mut differences = Differences::between(&scanned, known);
        if differences.is_empty() {
            self.in_sync = Some(scanned);
            return Ok(());
        }
        let change = db.transaction_with_behavior(TransactionBehavior::Immediate)?;
        // Another process may have applied the same changes while this one waited for the write lock.
        if is_stale(&change, self.known.as_ref())? {
            differences = Differences::between(&scanned, current(&change, &mut self.known)?);
        }
        if differences.is_empty() {
            return Ok(());
        }
        counts.files_changed = differences.len() as u64;
        let known = current(&change, &mut self.known)?;
        sync::apply(company, &change, known, differences, counts)?;
        change.commit()?;
        Ok(())
    }
}

fn data_version(db: &Connection) -> rusqlite::Result<i64> {
    db.pragma_query_value(None, "data_version", |row| row.get(0))
}

/// Whether another connection wrote to the database since `known` was read.
fn is_stale(db: &Connection, known: Option<&(i64, RecordedFiles)>) -> rusqlite::Result<bool> {
    let version = data_version(db)?;
    Ok(known.is_none_or(|(read_at, _)| *read_at != version))
}

/// The recorded state of files, read again if another connection wrote to the database.
fn current<'a>(
    db: &Connection,
    known: &'a mut Option<(i64, RecordedFiles)>,
) -> Result<&'a mut RecordedFiles, Error> {
    if is_stale(db, known.as_ref())? {
        *known = Some((data_version(db)?, scan::recorded_files(db)?));
    }
    let (_, files) = known.get_or_insert_default();
    Ok(files)
}

impl OpenIndex {
    fn new(company: &Company) -> Result<Self, Error> {
        let _lock = IndexLock::shared(company);
        let path = company.derived(INDEX);
        let file = FileId::of(&path).ok_or_else(|| not_built(company))?;
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = Connection::open_with_flags(path, flags)?;
        schema::prepare(&connection)?;
        Ok(Self { connection, file })
    }
}

fn shown_path(company: &Company) -> String {
    if company.is_trusted() {
        format!("{}/.local/{INDEX}", company.given().trim_end_matches('/'))
    } else {
        company.derived(INDEX).display().to_string()
    }
}

fn not_built(company: &Company) -> Error {
    Error::NotBuilt(shown_path(company))
}

fn is_gone_or_broken(error: &Error) -> bool {
    matches!(error, Error::NotBuilt(_)) || error.is_mended_by_rebuild()
}

fn log_rebuild(company: &Company, error: &Error) {
    tracing::warn!(folder = %company.root().display(), %error, "rebuilding the index");
}

/// The file lock held while an index is opened or replaced.
struct IndexLock {
    /// Closing the file releases the lock.
    _file: File,
}

impl IndexLock {
    fn open(company: &Company) -> io::Result<File> {
        let mut options = OpenOptions::new();
        options.read(true).append(true).create(true);
        options.open(company.derived(&format!("{INDEX}.lock")))
    }

    /// Returns `None` where the lock file cannot be created or locked; an index cannot be replaced there either.
    fn shared(company: &Company) -> Option<Self> {
        let file = Self::open(company).ok()?;
        file.lock_shared().ok()?;
        Some(Self { _file: file })
    }

    fn exclusive(company: &Company) -> io::Result<Self> {
        let file = Self::open(company)?;
        file.lock()?;
        Ok(Self { _file: file })
    }
}

/// A new index that has not replaced the old one yet. Dropping it deletes its files.
struct Temporary {
    path: PathBuf,
}

impl Temporary {
    fn new(company: &Company) -> Result<Self, Error> {
        use std::sync::atomic::{AtomicU64, Ordering};
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let place = company.derived(INDEX);
        let folder = place.parent().unwrap_or(company.root());
        fs::create_dir_all(folder).map_err(Error::Io)?;
        remove_stale_temporaries(folder);
        let mark = company::files::TEMPORARY_MARK;
        let process = std::process::id();
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        Ok(Self {
            path: folder.join(format!(".index.sqlite{mark}{process}-{count}")),
        })
    }

    fn take_over(self, company: &Company) -> Result<(), Error> {
        let replace = || -> io::Result<()> {
            // Flush the file before renaming it: after a crash the index is either complete or missing.
            File::open(&self.path)?.sync_all()?;
            let place = company.derived(INDEX);
            let _lock = IndexLock::exclusive(company)?;
            for beside in ["-wal", "-shm", "-journal"] {
                match fs::remove_file(company.derived(&format!("{INDEX}{beside}"))) {
                    Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                    _ => {}
                }
            }
            if place.is_dir() {
                fs::remove_dir_all(&place)?;
            }
            fs::rename(&self.path, &place)
        };
        replace().map_err(Error::Io)
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        // After the rename there is nothing left to remove.
        for beside in ["", "-wal", "-shm"] {
            let mut path = self.path.clone().into_os_string();
            path.push(beside);
            let _ = fs::remove_file(path);
        }
    }
}

/// Removes temporary files of processes that ended during a rebuild.
fn remove_stale_temporaries(folder: &Path) {
    let mark = format!(".index.sqlite{}", company::files::TEMPORARY_MARK);
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let Some(rest) = name.to_str().and_then(|name| name.strip_prefix(&mark)) else {
            continue;
        };
        let process = rest
            .split('-')
            .next()
            .and_then(|process| process.parse().ok());
        let lives = process
            .and_then(rustix::process::Pid::from_raw)
            .is_some_and(|process| {
                rustix::process::test_kill_process(process) != Err(rustix::io::Errno::SRCH)
            });
        if !lives {
            let _ = fs::remove_file(entry.path());
        }
    }
}
