//! Durable file operations that replace a file or folder atomically. [`crate::event_log::log`] appends lines.

#![allow(
    clippy::disallowed_methods,
    reason = "implements the atomic operations that other modules use instead"
)]

pub(crate) mod dir;
pub(crate) mod group_commit;
pub mod walk;

use std::{
    collections::BTreeSet,
    fs::{self, File, OpenOptions, TryLockError},
    io::{self, Read as _, Seek as _, SeekFrom, Write as _},
    path::{Path, PathBuf},
    sync::{
        atomic::{AtomicU64, Ordering},
        mpsc,
    },
    thread,
    time::Duration,
};

use crate::{
    Error,
    files::dir::{Dir, Readers},
};

/// Replaces the content of `path`: writes a temporary file next to it, syncs it, renames it and syncs the folder.
/// Missing parent folders are created.
pub fn replace(path: &Path, bytes: &[u8]) -> Result<(), Error> {
    let parent = parent(path)?;
    make_dir(parent)?;
    write_beside(path, bytes)?;
    sync_dir(parent)
}

/// Removes a file durably; succeeds if it does not exist.
pub fn remove(path: &Path) -> Result<(), Error> {
    match fs::remove_file(path) {
        Ok(()) => sync_dir(parent(path)?),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(Error::io("removed", path, error)),
    }
}

/// Renames a file or folder within its parent folder durably.
pub(crate) fn rename(path: &Path, to: &Path) -> Result<(), Error> {
    fs::rename(path, to).map_err(|error| Error::io("moved", path, error))?;
    sync_dir(parent(path)?)
}

/// Creates the folder `path` with all its content atomically: builds it next to its destination, syncs it, then renames
/// it. `dirs` are created empty; missing parents of `path` are created.
pub fn make_whole(path: &Path, dirs: &[&str], files: &[(&str, String)]) -> Result<(), Error> {
    let above = parent(path)?;
    make_dir(above)?;
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let (dir, place) = Dir::open(above).map_err(|error| Error::io("created", path, error))?;
    let folder = StagedFolder::build(&dir, &place, &name, dirs, files)?;
    sync_staged(std::slice::from_ref(&folder))?;
    folder.put_in_place()
}

/// A folder that is built next to its destination. Dropping it before [`StagedFolder::put_in_place`] removes it.
#[derive(Debug)]
pub(crate) struct StagedFolder {
    /// Parent folder of the destination.
    above: Dir,
    /// Current name in the parent folder.
    temporary: PathBuf,
    /// Final name in the parent folder.
    name: PathBuf,
    /// Destination path, for messages.
    path: PathBuf,
    /// Current path.
    staged: PathBuf,
    /// Paths to sync: the files, then the folders that contain entries.
    synced: Vec<PathBuf>,
}

impl StagedFolder {
    /// Writes the content for the path `relative` below `dir`, whose path is `root`. Does not sync it: [`sync_staged`]
    /// does.
    pub(crate) fn build(
        dir: &Dir,
        root: &Path,
        relative: &str,
        dirs: &[&str],
        files: &[(&str, String)],
    ) -> Result<Self, Error> {
        let path = root.join(relative);
        let failed = |error| Error::io("created", &path, error);
        let relative = Path::new(relative);
        let name = PathBuf::from(relative.file_name().unwrap_or_default());
        let above = dir
            .make_dir(relative.parent().unwrap_or(Path::new("")))
            .map_err(failed)?;
        let temporary = temporary_name(&name).map_err(failed)?;
        let staged = path.with_file_name(&temporary);
        let mut synced: Vec<PathBuf> = files.iter().map(|(name, _)| staged.join(name)).collect();
        // The entries of nested folders have to be durable, too.
        let inside: BTreeSet<_> = files
            .iter()
            .flat_map(|(name, _)| Path::new(*name).ancestors().skip(1))
            .map(|folder| staged.join(folder))
            .collect();
        synced.extend(inside.into_iter().rev());
        let folder = Self {
            above,
            temporary,
            name,
            path: path.clone(),
            staged,
            synced,
        };
        let built = (|| {
            let made = folder.above.make_staged_dir(&folder.temporary)?;
            for dir in dirs {
                made.make_staged_dir(Path::new(dir))?;
            }
            for (name, content) in files {
                let mut file = made.create_new(Path::new(name), Readers::Usual)?;
                file.write_all(content.as_bytes())?;
            }
            Ok(())
        })();
        built.map_err(failed).map(|()| folder)
    }

    /// Renames the folder to its final name durably.
    pub(crate) fn put_in_place(self) -> Result<(), Error> {
        let renamed = self.above.rename_here(&self.temporary, &self.name);
        renamed.map_err(|error| Error::io("created", &self.path, error))
    }
}

impl Drop for StagedFolder {
    fn drop(&mut self) {
        // After a successful rename the temporary name no longer exists, so this does nothing.
        let _ = fs::remove_dir_all(&self.staged);
    }
}

/// Makes the content of staged folders durable.
pub(crate) fn sync_staged(folders: &[StagedFolder]) -> Result<(), Error> {
    let paths = folders.iter().flat_map(|folder| &folder.synced);
    sync_all(paths.map(PathBuf::as_path), "created")
}

/// Makes files and folders durable. For more than three paths, a single sync of the file system replaces one sync per
/// path. It can take long while other programs write, so the caller should not hold a contended lock meanwhile.
fn sync_all<'a>(
    paths: impl Iterator<Item = &'a Path> + Clone,
    verb: &'static str,
) -> Result<(), Error> {
    #[cfg(target_os = "linux")]
    {
        if paths.clone().nth(dir::MAX_SINGLE_SYNCS).is_some()
            && sync_file_system(paths.clone(), verb)?
        {
            return Ok(());
        }
    }
    for path in paths {
        File::open(path)
            .and_then(|file| file.sync_all())
            .map_err(|error| Error::io(verb, path, error))?;
    }
    Ok(())
}

/// Syncs the file system that contains all paths. Returns `false` if they are on several file systems or the operating
/// system does not support it.
#[cfg(target_os = "linux")]
fn sync_file_system<'a>(
    mut paths: impl Iterator<Item = &'a Path>,
    verb: &'static str,
) -> Result<bool, Error> {
    use std::os::unix::fs::MetadataExt as _;
    let Some(first) = paths.next() else {
        return Ok(true);
    };
    let failed = |error: io::Error| Error::io(verb, first, error);
    let opened = File::open(first).map_err(failed)?;
    let device = opened.metadata().map_err(failed)?.dev();
    let is_same = |path: &Path| fs::metadata(path).is_ok_and(|found| found.dev() == device);
    if !paths.all(is_same) {
        return Ok(false);
    }
    match rustix::fs::syncfs(&opened) {
        Ok(()) => Ok(true),
        Err(rustix::io::Errno::NOSYS | rustix::io::Errno::PERM) => Ok(false),
        Err(error) => Err(failed(error.into())),
    }
}

fn write_beside(path: &Path, bytes: &[u8]) -> Result<(), Error> {
    let temporary = temporary_beside(path)?;
    let written = (|| {
        let mut file = OpenOptions::new()
            .write(true)
            .create_new(true)
            .open(&temporary)?;
        file.write_all(bytes)?;
        file.sync_all()?;
        fs::rename(&temporary, path)
    })();
    written.map_err(|error| {
        // Report the original error; doctor removes leftover temporary files.
        let _ = fs::remove_file(&temporary);
        Error::io("written", path, error)
    })
}

/// Acquires the system lock of a file, waiting at most `patience` for another process to release it.
///
/// A separate thread waits in a blocking system call: polling would starve against a process that acquires the lock
/// again right after releasing it.
pub(crate) fn lock(file: &File, path: &Path, patience: Duration) -> Result<(), Error> {
    let failed = |error| Error::io("locked", path, error);
    match file.try_lock() {
        Ok(()) => return Ok(()),
        Err(TryLockError::Error(error)) => return Err(failed(error)),
        Err(TryLockError::WouldBlock) => {}
    }
    let waiting = file.try_clone().map_err(failed)?;
    // A channel without capacity: sending fails if the caller no longer waits.
    let (answer, answered) = mpsc::sync_channel(0);
    thread::Builder::new()
        .name("lock-waiter".to_owned())
        .spawn(move || {
            let locked = waiting.lock();
            if answer.send(locked).is_err() {
                // The caller timed out; its descriptor shares this lock, so it has to be released here.
                let _ = waiting.unlock();
            }
        })
        .map_err(failed)?;
    match answered.recv_timeout(patience) {
        Ok(locked) => locked.map_err(failed),
        Err(_) => Err(Error::FileLocked(path.to_owned())),
    }
}

/// Start position of [`last_lines`], which reads backwards.
pub enum LookFrom<'a, T> {
    /// The end of the file.
    End,
    /// Before the line that matches; if no line matches, the result is empty.
    Before(&'a dyn Fn(&T) -> bool),
}

/// The last `limit` lines of a file for which `wanted` returns a value, oldest first, read from the end.
pub(crate) fn last_lines<T>(
    path: &Path,
    limit: usize,
    from: &LookFrom<'_, T>,
    wanted: impl Fn(&str) -> Option<T>,
) -> Result<Vec<T>, Error> {
    let is_after = |line: &T| match from {
        LookFrom::End => false,
        LookFrom::Before(is_mark) => !is_mark(line),
    };
    let mark = match from {
        LookFrom::End => 0,
        LookFrom::Before(_) => 1,
    };
    let read = || -> io::Result<Vec<T>> {
        let mut file = File::open(path)?;
        let length = file.metadata()?.len();
        let mut window = 64 << 10;
        loop {
            let start = length.saturating_sub(window);
            file.seek(SeekFrom::Start(start))?;
            let mut bytes = Vec::new();
            (&mut file).take(length - start).read_to_end(&mut bytes)?;
            let text = String::from_utf8_lossy(&bytes);
            // The first line of a window that starts within the file is incomplete.
            let whole = match start {
                0 => &*text,
                _ => text.split_once('\n').map_or("", |(_, rest)| rest),
            };
            let mut found: Vec<T> = whole
                .lines()
                .rev()
                .filter_map(&wanted)
                .skip_while(is_after)
                .skip(mark)
                .take(limit)
                .collect();
            if found.len() >= limit || start == 0 {
                found.reverse();
                return Ok(found);
            }
            window *= 8;
        }
    };
    read().map_err(|error| Error::io("read", path, error))
}

/// Creates an empty staging folder next to `path`, on the same file system.
pub(crate) fn make_staging(path: &Path) -> Result<std::path::PathBuf, Error> {
    make_dir(parent(path)?)?;
    let staged = temporary_beside(path)?;
    fs::create_dir(&staged).map_err(|error| Error::io("created", &staged, error))?;
    Ok(staged)
}

/// Creates a folder and its parents durably.
pub fn make_dir(path: &Path) -> Result<(), Error> {
    if path.is_dir() {
        return Ok(());
    }
    if let Some(parent) = path
        .parent()
        .filter(|parent| !parent.as_os_str().is_empty())
    {
        make_dir(parent)?;
    }
    match fs::create_dir(path) {
        Ok(()) => sync_dir(parent(path)?),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists && path.is_dir() => Ok(()),
        Err(error) => Err(Error::io("created", path, error)),
    }
}

/// Makes the entries of a folder durable. Succeeds on file systems that cannot sync folders.
pub(crate) fn sync_dir(path: &Path) -> Result<(), Error> {
    let opened = File::open(path);
    synced(opened.and_then(|folder| folder.sync_all()))
        .map_err(|error| Error::io("written", path, error))
}

/// Converts the errors of file systems that cannot sync folders to success.
pub(crate) fn synced(synced: io::Result<()>) -> io::Result<()> {
    match synced {
        Err(error)
            if matches!(
                error.kind(),
                io::ErrorKind::InvalidInput
                    | io::ErrorKind::Unsupported
                    | io::ErrorKind::PermissionDenied
            ) =>
        {
            Ok(())
        }
        other => other,
    }
}

/// Part of the name of temporary files: `.<name>.tmp-<pid>-<count>-<random>`. Doctor removes those of ended processes.
pub const TEMPORARY_MARK: &str = ".tmp-";

/// A temporary path next to `path`, for content that is renamed to `path` when it is complete.
pub(crate) fn temporary_beside(path: &Path) -> Result<PathBuf, Error> {
    let name = Path::new(path.file_name().unwrap_or_default());
    let temporary = temporary_name(name).map_err(|error| Error::io("written", path, error))?;
    Ok(path.with_file_name(temporary))
}

/// A temporary name for content that is renamed to `name` when it is complete.
pub(crate) fn temporary_name(name: &Path) -> io::Result<PathBuf> {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let name = name.to_string_lossy();
    let process = std::process::id();
    let mut random = [0u8; 4];
    getrandom::fill(&mut random).map_err(|error| io::Error::other(error.to_string()))?;
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    let random = u32::from_be_bytes(random);
    let name = format!(".{name}{TEMPORARY_MARK}{process}-{count}-{random:08x}");
    Ok(PathBuf::from(name))
}

/// The id of the process that created a temporary file with this name; `None` for any other name.
pub(crate) fn temporary_owner(name: &str) -> Option<i32> {
    let (_, rest) = name.strip_prefix('.')?.rsplit_once(TEMPORARY_MARK)?;
    rest.split_once('-')?.0.parse().ok()
}

fn parent(path: &Path) -> Result<&Path, Error> {
    match path.parent() {
        Some(parent) if parent.as_os_str().is_empty() => Ok(Path::new(".")),
        Some(parent) => Ok(parent),
        None => Err(Error::Refused(format!(
            "`{}` is not a file",
            path.display()
        ))),
    }
}
