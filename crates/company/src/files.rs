//! Durable file operations: a document is replaced whole or not at all, a line is appended and on the disk.

use std::{
    collections::BTreeSet,
    fs::{self, File, OpenOptions, TryLockError},
    io::{self, Read as _, Seek as _, SeekFrom, Write as _},
    path::Path,
    sync::atomic::{AtomicU64, Ordering},
    time::{Duration, Instant},
};

use crate::Error;

/// Replaces `path` by `bytes`: a temporary file beside it, fsync, rename, fsync of the folder. Parents are made.
pub fn replace(path: &Path, bytes: &[u8]) -> Result<(), Error> {
    let parent = parent(path)?;
    make_dir(parent)?;
    write_beside(path, bytes)?;
    sync_dir(parent)
}

/// Removes a file, durably; one that is not there is removed.
pub fn remove(path: &Path) -> Result<(), Error> {
    match fs::remove_file(path) {
        Ok(()) => sync_dir(parent(path)?),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(Error::io("removed", path, error)),
    }
}

/// Makes the folder `path` with everything in it: built beside its place, synced, then renamed. `dirs` are made
/// empty; the parents of `path` are made as needed.
pub fn make_whole(path: &Path, dirs: &[&str], files: &[(&str, String)]) -> Result<(), Error> {
    let parent = parent(path)?;
    make_dir(parent)?;
    let staged = temporary_beside(path)?;
    let built = (|| {
        fs::create_dir(&staged)?;
        for dir in dirs {
            fs::create_dir_all(staged.join(dir))?;
        }
        for (name, content) in files {
            let mut file = File::create_new(staged.join(name))?;
            file.write_all(content.as_bytes())?;
            file.sync_all()?;
        }
        // The names of files in folders inside have to last, too.
        let inside: BTreeSet<_> = files
            .iter()
            .flat_map(|(name, _)| Path::new(*name).ancestors().skip(1))
            .filter(|folder| !folder.as_os_str().is_empty())
            .collect();
        for folder in inside {
            File::open(staged.join(folder))?.sync_all()?;
        }
        File::open(&staged)?.sync_all()?;
        fs::rename(&staged, path)
    })();
    if let Err(error) = built {
        // The error that matters is the first one.
        let _ = fs::remove_dir_all(&staged);
        return Err(Error::io("made", path, error));
    }
    sync_dir(parent)
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
        // The error that matters is the first one.
        let _ = fs::remove_file(&temporary);
        Error::io("written", path, error)
    })
}

/// Appends one line to a file of lines, whoever else appends: a torn last line gets its end first. The file is made
/// if it is not there, its folder is not.
pub fn append_line(path: &Path, line: &str) -> Result<(), Error> {
    let is_new = !path.exists();
    let mut options = OpenOptions::new();
    let opened = options.read(true).append(true).create(true).open(path);
    let mut file = opened.map_err(|error| Error::io("written", path, error))?;
    lock(&file, path)?;
    let mut append = || -> io::Result<()> {
        let length = file.metadata()?.len();
        let mut text = String::with_capacity(line.len() + 2);
        if length > 0 {
            let mut last = [0u8];
            file.seek(SeekFrom::Start(length - 1))?;
            file.read_exact(&mut last)?;
            if last != *b"\n" {
                text.push('\n');
            }
        }
        text.push_str(line);
        text.push('\n');
        let written = file
            .write_all(text.as_bytes())
            .and_then(|()| file.sync_data());
        if written.is_err() {
            // Half a line is worse than none; what the system says first is what matters.
            let _ = file.set_len(length);
        }
        written
    };
    append().map_err(|error| Error::io("written", path, error))?;
    match is_new {
        true => sync_dir(parent(path)?),
        false => Ok(()),
    }
}

/// Waits for the lock of a file of lines, but not for ever: whoever holds it longer than any append takes has stopped.
pub(crate) fn lock(file: &File, path: &Path) -> Result<(), Error> {
    const POLL: Duration = Duration::from_millis(2);
    const PATIENCE: Duration = Duration::from_secs(10);
    let deadline = Instant::now() + PATIENCE;
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(()),
            Err(TryLockError::Error(error)) => return Err(Error::io("locked", path, error)),
            Err(TryLockError::WouldBlock) if Instant::now() >= deadline => {
                return Err(Error::FileLocked(path.to_owned()));
            }
            Err(TryLockError::WouldBlock) => std::thread::sleep(POLL),
        }
    }
}

/// Where in a file of lines [`last_lines`] begins to look, going backwards.
pub enum LookFrom<'a, T> {
    /// At the end.
    End,
    /// Before the line for which this holds; if there is none, nothing is before it.
    Before(&'a dyn Fn(&T) -> bool),
}

/// The last lines of a file of lines that satisfy `wanted`, oldest first, read from the end.
pub fn last_lines<T>(
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
            // The first line of a window that begins in the middle of the file is not whole.
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

/// Makes an empty folder beside `path`, on the same file system.
pub(crate) fn make_staging(path: &Path) -> Result<std::path::PathBuf, Error> {
    make_dir(parent(path)?)?;
    let staged = temporary_beside(path)?;
    fs::create_dir(&staged).map_err(|error| Error::io("made", &staged, error))?;
    Ok(staged)
}

/// Makes a folder and its parents, durably.
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
        Err(error) => Err(Error::io("made", path, error)),
    }
}

/// Makes the names in a folder durable. File systems that cannot do it are taken as they are.
pub fn sync_dir(path: &Path) -> Result<(), Error> {
    let synced = File::open(path).and_then(|folder| folder.sync_all());
    match synced {
        Ok(()) => Ok(()),
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
        Err(error) => Err(Error::io("written", path, error)),
    }
}

/// What the temporary files of [`replace`] are called: `.<name>.tmp-<pid>-<n>`. Doctor removes those of the dead.
pub const TEMPORARY_MARK: &str = ".tmp-";

/// A name for something that will be renamed to `path` when it is whole.
pub(crate) fn temporary_beside(path: &Path) -> Result<std::path::PathBuf, Error> {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let process = std::process::id();
    let mut random = [0u8; 4];
    getrandom::fill(&mut random)
        .map_err(|error| Error::io("written", path, io::Error::other(error.to_string())))?;
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    let random = u32::from_be_bytes(random);
    Ok(path.with_file_name(format!(
        ".{name}{TEMPORARY_MARK}{process}-{count}-{random:08x}"
    )))
}

/// The process that made a temporary of this name, if it is the name of one.
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
