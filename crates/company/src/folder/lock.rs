//! The write lock of a company folder: one writer at a time, across the threads of this process and all other
//! processes.
//!
//! A writer passes three stages, in this order:
//!
//! 1. A first-in, first-out queue of the threads of this process ([`LockTurn`]).
//! 2. The system lock of `.local/locks/workspace.write.queue`, a file that is never removed. It serialises the
//!    processes of this program, and the system releases it when its holder dies.
//! 3. The file `.local/locks/workspace.write.lock` with the holder's process id, as other programs expect it. It exists
//!    while the lock is held, and the holder also holds its system lock.
//!
//! The queue file records the lock file that its last holder created. A lock file left behind by a killed process is
//! therefore recognised without comparing times: the holder of stage 2 knows that the recorded creator no longer holds
//! it.

#![allow(
    clippy::disallowed_methods,
    reason = "other programs use the lock file, too; only the holder's process id is read from it"
)]

use std::{
    collections::BTreeMap,
    fs::{self, File, Metadata},
    io::{self, Write as _},
    os::unix::fs::{FileExt as _, MetadataExt as _},
    path::{Path, PathBuf},
    sync::Arc,
    time::{Duration, Instant},
};

use parking_lot::{Condvar, Mutex};
use serde::{Deserialize, Serialize};

use crate::{
    Company, Error,
    files::{
        self,
        dir::{Dir, Readers},
    },
};

/// Interval between two attempts to create the lock file.
const POLL: Duration = Duration::from_millis(25);
/// Time to wait for the lock file of another program.
const LOCK_FILE_TIMEOUT: Duration = Duration::from_secs(5);
/// Time to wait for another process of this program. The system releases its lock when the process ends, so that only
/// an unresponsive disk reaches this limit.
const QUEUE_TIMEOUT: Duration = Duration::from_secs(30);
/// Longest time that one thread of this process may hold the lock while other threads wait.
const TURN_TIMEOUT: Duration = Duration::from_secs(60);
/// Longest time between the creation of a lock file by another program and the write of its process id.
const UNWRITTEN_TIMEOUT: Duration = Duration::from_secs(2);

/// The lock file, relative to the company folder.
pub(crate) const LOCK_PATH: &str = ".local/locks/workspace.write.lock";
/// Folder of the lock file and the queue file.
pub(crate) const LOCKS: &str = ".local/locks";
/// The queue file, relative to the company folder.
pub(crate) const QUEUE_PATH: &str = ".local/locks/workspace.write.queue";

/// The write lock of a folder; dropping it releases the lock.
#[derive(Debug)]
pub(crate) struct WriteLock {
    path: PathBuf,
    file: File,
    queue: File,
    _turn: LockTurn,
}

/// Identity of the lock file that the last holder of the queue created, as recorded in the queue file.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct LockFileId {
    device: u64,
    inode: u64,
    content: String,
}

impl WriteLock {
    /// Waits for the write lock of a folder and acquires it.
    pub(crate) fn acquire(company: &Company, acquired_at: &str) -> Result<Self, Error> {
        let root = company.root();
        let deadline = Instant::now() + LOCK_FILE_TIMEOUT;
        let path = root.join(LOCK_PATH);
        let turn = LockTurn::take(root).ok_or_else(|| timeout(root))?;
        company.make_dir(LOCKS)?;
        let queue = lock_queue(company)?;
        let failed = |error| Error::io("written", &path, error);
        let content = format!(
            "{{\"pid\":{},\"acquired_at\":\"{acquired_at}\"}}\n",
            std::process::id()
        );
        let mut unwritten = Unwritten::default();
        loop {
            let created = company
                .dir()
                .and_then(|dir| dir.create_new(Path::new(LOCK_PATH), Readers::Usual));
            match created {
                Ok(mut file) => {
                    // Only a process that checks whether the file is stale can hold its system lock now, and only
                    // briefly.
                    file.lock().map_err(failed)?;
                    let metadata = file.metadata().map_err(failed)?;
                    if !is_file_at(&metadata, &path) {
                        continue;
                    }
                    let created = LockFileId {
                        device: metadata.dev(),
                        inode: metadata.ino(),
                        content: content.clone(),
                    };
                    let written = record(&queue, Some(&created))
                        .and_then(|()| file.write_all(content.as_bytes()));
                    let lock = Self {
                        path,
                        file,
                        queue,
                        _turn: turn,
                    };
                    return written
                        .map(|()| lock)
                        .map_err(|error| Error::io("written", root.join(LOCK_PATH), error));
                }
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                    if remove_if_stale(&path, &queue, &mut unwritten) {
                        continue;
                    }
                    // The deadline is checked after the first attempt, so that a thread that waited longer in the queue
                    // still gets one.
                    if Instant::now() >= deadline {
                        return Err(timeout(root));
                    }
                    std::thread::sleep(POLL);
                }
                Err(error) => return Err(failed(error)),
            }
        }
    }
}

impl Drop for WriteLock {
    fn drop(&mut self) {
        // If the file cannot be removed, the next writer finds it recorded in the queue file and removes it.
        let is_ours = self
            .file
            .metadata()
            .is_ok_and(|metadata| is_file_at(&metadata, &self.path));
        if is_ours && fs::remove_file(&self.path).is_ok() {
            let _ = record(&self.queue, None);
        }
        // Closing is not enough: a child process that is being spawned may hold a copy of the descriptors.
        let _ = self.file.unlock();
        let _ = self.queue.unlock();
    }
}

fn timeout(root: &Path) -> Error {
    Error::LockTimeout(root.join(LOCK_PATH).display().to_string())
}

/// Opens the queue file and takes its system lock.
fn lock_queue(company: &Company) -> Result<File, Error> {
    let path = company.path(QUEUE_PATH);
    let failed = |error| Error::io("locked", &path, error);
    loop {
        let queue = company.through("locked", QUEUE_PATH, Dir::lockable)?;
        match files::lock(&queue, &path, QUEUE_TIMEOUT) {
            Err(Error::FileLocked(_)) => return Err(timeout(company.root())),
            locked => locked?,
        }
        if is_file_at(&queue.metadata().map_err(failed)?, &path) {
            return Ok(queue);
        }
        if !company.is_in_place() {
            return Err(Error::Refused(format!(
                "`{}` was replaced by another folder while the request waited for its write lock: retry",
                company.given()
            )));
        }
    }
}

/// Records in the queue file which lock file its holder created; `None` clears the record.
fn record(queue: &File, created: Option<&LockFileId>) -> io::Result<()> {
    queue.set_len(0)?;
    match created {
        Some(created) => queue.write_all_at(&serde_json::to_vec(created)?, 0),
        None => Ok(()),
    }
}

fn recorded(queue: &File) -> Option<LockFileId> {
    let length = usize::try_from(queue.metadata().ok()?.len()).ok()?;
    let mut bytes = vec![0; length];
    queue.read_exact_at(&mut bytes, 0).ok()?;
    serde_json::from_slice(&bytes).ok()
}

/// Returns whether the file with this metadata is the one at `path`.
fn is_file_at(metadata: &Metadata, path: &Path) -> bool {
    fs::symlink_metadata(path)
        .is_ok_and(|named| (metadata.dev(), metadata.ino()) == (named.dev(), named.ino()))
}

/// Returns whether the lock file of a folder was left behind by a process that no longer runs.
pub(crate) fn is_stale(root: &Path) -> bool {
    let Ok(file) = File::open(root.join(LOCK_PATH)) else {
        return false;
    };
    let Ok(queue) = File::open(root.join(QUEUE_PATH)) else {
        return holder(&file, None) == Holder::Gone;
    };
    queue.try_lock().is_ok() && holder(&file, Some(&queue)) == Holder::Gone
}

/// Removes a lock file whose holder no longer runs; returns whether it is gone. The caller holds the queue.
fn remove_if_stale(path: &Path, queue: &File, unwritten: &mut Unwritten) -> bool {
    let file = match File::open(path) {
        Ok(file) => file,
        // The holder released the lock in the meantime.
        Err(error) => return error.kind() == io::ErrorKind::NotFound,
    };
    let is_gone = match holder(&file, Some(queue)) {
        Holder::Gone => true,
        Holder::Alive => false,
        Holder::Unknown => unwritten.is_old(&file),
    };
    is_gone
        && file
            .metadata()
            .is_ok_and(|metadata| is_file_at(&metadata, path))
        && fs::remove_file(path).is_ok()
}

/// State of the process that created a lock file.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Holder {
    Alive,
    Gone,
    /// The file does not contain the process id of its creator.
    Unknown,
}

/// Determines the state of a lock file's holder. The caller has locked `queue`, if it passes one.
fn holder(file: &File, queue: Option<&File>) -> Holder {
    #[derive(Deserialize)]
    struct LockContent {
        pid: i32,
    }
    // A process of this program holds the system lock of its lock file as long as it runs.
    if file.try_lock().is_err() {
        return Holder::Alive;
    }
    let (Ok(metadata), Ok(content)) = (file.metadata(), io::read_to_string(file)) else {
        return Holder::Alive;
    };
    let created = queue.and_then(recorded);
    if created.is_some_and(|created| {
        (created.device, created.inode) == (metadata.dev(), metadata.ino())
            && created.content.starts_with(&content)
    }) {
        return Holder::Gone;
    }
    match serde_json::from_str::<LockContent>(&content) {
        Err(_) => Holder::Unknown,
        // This process would hold the system lock of its own lock file, so an earlier process with the same id wrote
        // it.
        Ok(content) if u32::try_from(content.pid) == Ok(std::process::id()) => Holder::Gone,
        Ok(content) if process_is_absent(content.pid) => Holder::Gone,
        Ok(_) => Holder::Alive,
    }
}

/// Observes a lock file without a process id: its creator has not written the id yet, or died before it did.
#[derive(Default)]
struct Unwritten {
    /// Device, inode and length of the file, and the time of the first observation.
    seen: Option<((u64, u64, u64), Instant)>,
}

impl Unwritten {
    /// Returns whether the file is unchanged for longer than [`UNWRITTEN_TIMEOUT`], by the monotonic clock of this
    /// process.
    fn is_old(&mut self, file: &File) -> bool {
        let Ok(metadata) = file.metadata() else {
            return false;
        };
        let state = (metadata.dev(), metadata.ino(), metadata.len());
        match self.seen {
            Some((seen, since)) if seen == state => since.elapsed() > UNWRITTEN_TIMEOUT,
            _ => {
                self.seen = Some((state, Instant::now()));
                false
            }
        }
    }
}

/// Returns whether no process with this id runs.
fn process_is_absent(pid: i32) -> bool {
    // The file may contain any number; process ids are positive.
    let Some(id) = rustix::process::Pid::from_raw(pid.max(0)) else {
        return true;
    };
    if rustix::process::test_kill_process(id) == Err(rustix::io::Errno::SRCH) {
        return true;
    }
    // A zombie holds no locks.
    stat_fields(pid)
        .is_some_and(|fields| matches!(fields.first().map(String::as_str), Some("Z" | "X")))
}

/// The fields of `/proc/<pid>/stat` after the process name; `None` on systems without that file.
fn stat_fields(pid: i32) -> Option<Vec<String>> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let (_, fields) = stat.rsplit_once(") ")?;
    Some(fields.split(' ').map(ToOwned::to_owned).collect())
}

/// Returns whether no running process with this id can have written something at `written_at` (Unix seconds). The
/// result depends on the wall clock, so it is used for leftover files only and never for the lock.
pub(crate) fn process_is_gone(pid: i32, written_at: i64) -> bool {
    if process_is_absent(pid) {
        return true;
    }
    // On systems that report start times: a process that started after the write reuses the id.
    const START_TIME: usize = 19;
    const TICKS_PER_SECOND: i64 = 100;
    const MARGIN_SECONDS: i64 = 2;
    let started = stat_fields(pid).and_then(|fields| fields.get(START_TIME)?.parse::<i64>().ok());
    match (started, boot_time()) {
        (Some(ticks), Some(boot)) => boot + ticks / TICKS_PER_SECOND > written_at + MARGIN_SECONDS,
        _ => false,
    }
}

fn boot_time() -> Option<i64> {
    let stat = fs::read_to_string("/proc/stat").ok()?;
    let line = stat.lines().find_map(|line| line.strip_prefix("btime "))?;
    line.trim().parse().ok()
}

/// A thread's place in the first-in, first-out queue of this process for one folder. Dropping it admits the next
/// thread.
#[derive(Debug)]
struct LockTurn {
    line: Arc<TurnQueue>,
}

#[derive(Debug, Default)]
struct TurnQueue {
    numbers: Mutex<TurnNumbers>,
    moved: Condvar,
}

#[derive(Debug, Default)]
struct TurnNumbers {
    next: u64,
    /// Number of turns that have ended.
    ended: u64,
    /// Numbers of the waiting threads in order of arrival; the first one holds the turn.
    waiting: std::collections::VecDeque<u64>,
}

impl LockTurn {
    /// Waits for the turn; `None` if one turn of another thread lasts longer than [`TURN_TIMEOUT`].
    fn take(root: &Path) -> Option<Self> {
        static LINES: Mutex<BTreeMap<PathBuf, Arc<TurnQueue>>> = Mutex::new(BTreeMap::new());
        let line = {
            let mut lines = LINES.lock();
            // Queues without threads are removed, so that the map does not grow with every folder.
            lines.retain(|_, line| Arc::strong_count(line) > 1);
            Arc::clone(lines.entry(root.to_owned()).or_default())
        };
        {
            let mut numbers = line.numbers.lock();
            let mine = numbers.next;
            numbers.next += 1;
            numbers.waiting.push_back(mine);
            let mut ended = numbers.ended;
            let mut deadline = Instant::now() + TURN_TIMEOUT;
            while numbers.waiting.front() != Some(&mine) {
                if numbers.ended != ended {
                    ended = numbers.ended;
                    deadline = Instant::now() + TURN_TIMEOUT;
                }
                let left = deadline.saturating_duration_since(Instant::now());
                if left.is_zero() {
                    numbers.waiting.retain(|number| *number != mine);
                    return None;
                }
                line.moved.wait_for(&mut numbers, left);
            }
        }
        Some(Self { line })
    }
}

impl Drop for LockTurn {
    fn drop(&mut self) {
        let mut numbers = self.line.numbers.lock();
        numbers.waiting.pop_front();
        numbers.ended += 1;
        self.line.moved.notify_all();
    }
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "these tests plant lock files")]
mod tests {
    use std::{fs::OpenOptions, sync::Arc};

    use super::*;
    use crate::{Companies, Sources, Trust};

    fn company(root: &Path) -> Company {
        let sources = Sources::new(Arc::new(|| 0));
        let companies = Companies::new(sources, Trust::everywhere(), Arc::new(|_, _| {}));
        companies.locate(root.to_str().unwrap())
    }

    const TIME: &str = "2026-11-15T12:00:00.000Z";

    fn folder() -> (tempfile::TempDir, PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        fs::create_dir_all(root.join(".local/locks")).unwrap();
        (folder, root)
    }

    #[test]
    fn one_writer_at_a_time_and_nothing_is_left_behind() {
        let (_folder, root) = folder();
        let inside = std::sync::atomic::AtomicU32::new(0);
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    for _ in 0..20 {
                        let lock = WriteLock::acquire(&company(&root), TIME).unwrap();
                        assert_eq!(inside.fetch_add(1, std::sync::atomic::Ordering::SeqCst), 0);
                        inside.fetch_sub(1, std::sync::atomic::Ordering::SeqCst);
                        drop(lock);
                    }
                });
            }
        });
        assert!(!root.join(LOCK_PATH).exists());
    }

    #[test]
    fn the_lock_of_a_dead_process_is_broken_at_once() {
        let (_folder, root) = folder();
        let mut child = std::process::Command::new("true").spawn().unwrap();
        let pid = child.id();
        child.wait().unwrap();
        fs::write(
            root.join(LOCK_PATH),
            format!("{{\"pid\":{pid},\"acquired_at\":\"{TIME}\"}}\n"),
        )
        .unwrap();
        let lock = WriteLock::acquire(&company(&root), TIME).unwrap();
        let content = fs::read_to_string(root.join(LOCK_PATH)).unwrap();
        assert_eq!(
            content,
            format!(
                "{{\"pid\":{},\"acquired_at\":\"{TIME}\"}}\n",
                std::process::id()
            )
        );
        drop(lock);
    }

    fn queue(root: &Path) -> File {
        lock_queue(&company(root)).unwrap()
    }

    /// A child process that runs until it is dropped.
    struct LiveProcess(std::process::Child);

    impl LiveProcess {
        fn new() -> Self {
            let mut command = std::process::Command::new("sleep");
            Self(command.arg("600").spawn().unwrap())
        }
    }

    impl Drop for LiveProcess {
        fn drop(&mut self) {
            self.0.kill().unwrap();
            self.0.wait().unwrap();
        }
    }

    #[test]
    fn the_lock_of_a_living_process_is_respected() {
        let (_folder, root) = folder();
        let living = LiveProcess::new();
        fs::write(
            root.join(LOCK_PATH),
            format!("{{\"pid\":{},\"acquired_at\":\"{TIME}\"}}\n", living.0.id()),
        )
        .unwrap();
        let queue = queue(&root);
        let path = root.join(LOCK_PATH);
        assert!(!remove_if_stale(&path, &queue, &mut Unwritten::default()));
        assert!(path.exists());
    }

    #[test]
    fn a_living_holder_keeps_the_lock_whatever_the_wall_clock_says() {
        let (_folder, root) = folder();
        let living = LiveProcess::new();
        let path = root.join(LOCK_PATH);
        fs::write(
            &path,
            format!("{{\"pid\":{},\"acquired_at\":\"{TIME}\"}}\n", living.0.id()),
        )
        .unwrap();
        // The file looks decades old, as if the wall clock had been set forward.
        let long_ago = std::time::UNIX_EPOCH + Duration::from_secs(86_400);
        let file = OpenOptions::new().write(true).open(&path).unwrap();
        file.set_modified(long_ago).unwrap();
        assert!(!remove_if_stale(
            &path,
            &queue(&root),
            &mut Unwritten::default()
        ));
        assert!(!is_stale(&root));
    }

    #[test]
    fn an_unwritten_lock_file_is_not_old_because_its_time_is() {
        let (_folder, root) = folder();
        let path = root.join(LOCK_PATH);
        let file = File::create(&path).unwrap();
        file.set_modified(std::time::UNIX_EPOCH).unwrap();
        let queue = queue(&root);
        let mut unwritten = Unwritten::default();
        assert!(!remove_if_stale(&path, &queue, &mut unwritten));
        assert!(path.exists());
        // First observed longer ago than its creator may take, by the clock of this process.
        if let Some((_, since)) = &mut unwritten.seen {
            *since = since.checked_sub(2 * UNWRITTEN_TIMEOUT).unwrap();
        }
        assert!(remove_if_stale(&path, &queue, &mut unwritten));
    }

    #[test]
    fn a_release_leaves_the_lock_file_of_another_holder_alone() {
        let (_folder, root) = folder();
        let lock = WriteLock::acquire(&company(&root), TIME).unwrap();
        let path = root.join(LOCK_PATH);
        fs::remove_file(&path).unwrap();
        fs::write(&path, "{\"pid\":1}\n").unwrap();
        drop(lock);
        assert_eq!(fs::read_to_string(&path).unwrap(), "{\"pid\":1}\n");
    }

    #[test]
    fn a_lock_file_left_by_a_killed_process_of_ours_is_removed_although_its_id_is_used_again() {
        let (_folder, root) = folder();
        let path = root.join(LOCK_PATH);
        let living = LiveProcess::new();
        let content = format!("{{\"pid\":{},\"acquired_at\":\"{TIME}\"}}\n", living.0.id());
        fs::write(&path, &content).unwrap();
        let metadata = fs::metadata(&path).unwrap();
        let queue = queue(&root);
        let created = LockFileId {
            device: metadata.dev(),
            inode: metadata.ino(),
            content,
        };
        record(&queue, Some(&created)).unwrap();
        queue.unlock().unwrap();
        drop(WriteLock::acquire(&company(&root), TIME).unwrap());
        assert!(!path.exists());
    }
}
