//! The write lock of a company folder: one writer at a time, in this process and among all others.
//!
//! The lock is the file `.local/locks/workspace.write.lock` with the holder's process id, as other programs expect
//! it. While we hold it we also hold a lock of the operating system on that file, so that breaking the lock of a
//! dead process cannot race with a new holder.

use std::{
    collections::BTreeMap,
    fs::{self, File, OpenOptions},
    io::{self, Write as _},
    os::unix::fs::MetadataExt as _,
    path::{Path, PathBuf},
    sync::{Arc, Condvar, Mutex, PoisonError},
    time::{Duration, Instant},
};

use serde::Deserialize;

use crate::{Error, files};

const POLL: Duration = Duration::from_millis(25);
const PATIENCE: Duration = Duration::from_secs(5);

/// Below the folder.
pub(crate) const LOCK_PATH: &str = ".local/locks/workspace.write.lock";

/// Held while documents change; let go when dropped.
#[derive(Debug)]
pub(crate) struct WriteLock {
    path: PathBuf,
    /// Dropped after the file is gone.
    _file: File,
    _turn: Turn,
}

impl WriteLock {
    /// Waits for the lock of the folder at `root` (canonical), at most five seconds.
    pub(crate) fn acquire(root: &Path, acquired_at: &str) -> Result<Self, Error> {
        let deadline = Instant::now() + PATIENCE;
        let path = root.join(LOCK_PATH);
        let turn = Turn::take(root, deadline).ok_or_else(|| timeout(root))?;
        let content = format!(
            "{{\"pid\":{},\"acquired_at\":\"{acquired_at}\"}}\n",
            std::process::id()
        );
        if let Some(parent) = path.parent() {
            files::make_dir(parent)?;
        }
        loop {
            match OpenOptions::new().write(true).create_new(true).open(&path) {
                Ok(mut file) => {
                    let written = file
                        .lock()
                        .and_then(|()| file.write_all(content.as_bytes()));
                    if let Err(error) = written {
                        let _ = fs::remove_file(&path);
                        return Err(Error::io("written", &path, error));
                    }
                    return Ok(Self {
                        path,
                        _file: file,
                        _turn: turn,
                    });
                }
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                    if break_if_dead(&path) {
                        continue;
                    }
                    if Instant::now() >= deadline {
                        return Err(timeout(root));
                    }
                    std::thread::sleep(POLL);
                }
                Err(error) => return Err(Error::io("written", &path, error)),
            }
        }
    }
}

impl Drop for WriteLock {
    fn drop(&mut self) {
        // If it cannot be removed, the next writer sees that it is ours and not in use.
        let _ = fs::remove_file(&self.path);
    }
}

fn timeout(root: &Path) -> Error {
    Error::LockTimeout(root.join(LOCK_PATH).display().to_string())
}

/// Whether a lock file was left behind by a process that is gone.
pub(crate) fn is_stale(path: &Path) -> bool {
    File::open(path).is_ok_and(|file| holder_is_gone(&file))
}

/// Removes a lock whose holder is gone. Only whoever holds the system's lock on the very file may remove it.
fn break_if_dead(path: &Path) -> bool {
    let file = match File::open(path) {
        Ok(file) => file,
        // Let go in the meantime.
        Err(error) => return error.kind() == io::ErrorKind::NotFound,
    };
    if file.try_lock().is_err() || !holder_is_gone(&file) {
        return false;
    }
    let is_same = match (file.metadata(), fs::metadata(path)) {
        (Ok(held), Ok(named)) => held.ino() == named.ino() && held.dev() == named.dev(),
        _ => false,
    };
    is_same && fs::remove_file(path).is_ok()
}

fn holder_is_gone(file: &File) -> bool {
    #[derive(Deserialize)]
    struct Content {
        pid: i32,
    }
    let Ok(metadata) = file.metadata() else {
        return false;
    };
    let Ok(content) = serde_json::from_reader::<_, Content>(file) else {
        // Being written at this moment, or by a process that died while it wrote.
        const SETTLED: Duration = Duration::from_secs(2);
        let age = metadata.modified().ok().and_then(|at| at.elapsed().ok());
        return age.is_some_and(|age| age > SETTLED);
    };
    // We are in line for our own lock, so a lock with our id is not ours: the id is used again.
    if u32::try_from(content.pid) == Ok(std::process::id()) {
        return true;
    }
    process_is_gone(content.pid, metadata.mtime())
}

/// Whether no process of this id runs that could have written something at `written_at` (Unix seconds).
pub(crate) fn process_is_gone(pid: i32, written_at: i64) -> bool {
    // A file may say anything; no process has an id below one.
    let Some(id) = rustix::process::Pid::from_raw(pid.max(0)) else {
        return true;
    };
    if rustix::process::test_kill_process(id) == Err(rustix::io::Errno::SRCH) {
        return true;
    }
    // Where the system tells: a zombie holds nothing, a process that began later is another one.
    let Ok(stat) = fs::read_to_string(format!("/proc/{pid}/stat")) else {
        return false;
    };
    let Some((_, fields)) = stat.rsplit_once(") ") else {
        return false;
    };
    let fields: Vec<_> = fields.split(' ').collect();
    if matches!(fields.first(), Some(&"Z" | &"X")) {
        return true;
    }
    const START_TIME: usize = 19;
    const TICKS_PER_SECOND: i64 = 100;
    const MARGIN_SECONDS: i64 = 2;
    let started = fields
        .get(START_TIME)
        .and_then(|ticks| ticks.parse::<i64>().ok());
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

/// A place in the line of this process for one folder. Whoever asks first is served first.
#[derive(Debug)]
struct Turn {
    line: Arc<Line>,
}

#[derive(Debug, Default)]
struct Line {
    numbers: Mutex<Numbers>,
    moved: Condvar,
}

#[derive(Debug, Default)]
struct Numbers {
    next: u64,
    /// Who waits or holds, in order of arrival; the first one holds.
    waiting: std::collections::VecDeque<u64>,
}

impl Turn {
    fn take(root: &Path, deadline: Instant) -> Option<Self> {
        static LINES: Mutex<BTreeMap<PathBuf, Arc<Line>>> = Mutex::new(BTreeMap::new());
        let line = {
            let mut lines = LINES.lock().unwrap_or_else(PoisonError::into_inner);
            // Lines nobody stands in are forgotten, so that the map does not grow with every folder ever seen.
            lines.retain(|_, line| Arc::strong_count(line) > 1);
            Arc::clone(lines.entry(root.to_owned()).or_default())
        };
        {
            let mut numbers = line.numbers.lock().unwrap_or_else(PoisonError::into_inner);
            let mine = numbers.next;
            numbers.next += 1;
            numbers.waiting.push_back(mine);
            while numbers.waiting.front() != Some(&mine) {
                let left = deadline.saturating_duration_since(Instant::now());
                if left.is_zero() {
                    numbers.waiting.retain(|number| *number != mine);
                    return None;
                }
                numbers = line
                    .moved
                    .wait_timeout(numbers, left)
                    .unwrap_or_else(PoisonError::into_inner)
                    .0;
            }
        }
        Some(Self { line })
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        let mut numbers = self
            .line
            .numbers
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        numbers.waiting.pop_front();
        self.line.moved.notify_all();
    }
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "these tests plant lock files")]
mod tests {
    use super::*;

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
                        let lock = WriteLock::acquire(&root, TIME).unwrap();
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
        let lock = WriteLock::acquire(&root, TIME).unwrap();
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

    #[test]
    fn the_lock_of_a_living_process_is_respected() {
        let (_folder, root) = folder();
        // The parent of a test lives as long as the test.
        let pid = rustix::process::getppid().unwrap().as_raw_nonzero();
        fs::write(
            root.join(LOCK_PATH),
            format!("{{\"pid\":{pid},\"acquired_at\":\"{TIME}\"}}\n"),
        )
        .unwrap();
        assert!(!break_if_dead(&root.join(LOCK_PATH)));
        assert!(root.join(LOCK_PATH).exists());
    }
}
