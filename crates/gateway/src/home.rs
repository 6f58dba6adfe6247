//! The home of a gateway: the directory with the database, the token and the locks.

use std::{
    env,
    fs::{self, File, OpenOptions, TryLockError},
    io::{self, Read as _, Write as _},
    path::{Path, PathBuf},
    time::Duration,
};

use sources::random_text;

use crate::Error;

/// The age below which an unlocked process file is kept, because its process may not have locked it yet.
const NEW: Duration = Duration::from_secs(60);
/// The minimum length of the owner's token. Generated tokens have 43 characters.
const MIN_TOKEN_CHARS: usize = 32;

/// The home directory, which exists and is readable.
#[derive(Clone, Debug)]
pub struct Home {
    path: PathBuf,
}

/// The exclusive lock that makes this process the only `ac serve` of a home. Released when dropped.
#[derive(Debug)]
pub(crate) struct ServeLock {
    _file: File,
}

/// The name of this process among the processes that use a home, marked as alive by a locked file.
#[derive(Debug)]
pub(crate) struct Owner {
    name: String,
    path: PathBuf,
    _file: File,
}

impl Owner {
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// Removes the process file, so that other processes treat this process as ended.
    pub(crate) fn release(&self) {
        let _ = fs::remove_file(&self.path);
    }
}

impl Drop for Owner {
    fn drop(&mut self) {
        self.release();
    }
}

impl Home {
    /// Opens the home and creates the directory with mode 0700 if it is missing.
    pub fn open(path: &Path) -> Result<Self, Error> {
        let failed = |source| Error::Home {
            path: path.to_owned(),
            source,
        };
        private_folder(path).map_err(failed)?;
        let path = path.canonicalize().map_err(failed)?;
        // Fails here if the directory is not readable, instead of later with a message about one of its files.
        fs::read_dir(&path).map_err(failed)?;
        Ok(Self { path })
    }

    /// Returns the canonical path of the home.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the path of the file with the owner's token.
    pub fn token_file(&self) -> PathBuf {
        self.path.join("token")
    }

    /// Returns the owner's token and creates it on first use.
    pub fn token(&self) -> Result<String, Error> {
        let failed = |source| Error::Token { source };
        let path = self.token_file();
        if let Some(token) = read_token(&path).map_err(failed)? {
            return Ok(token);
        }
        // Another process may create the token concurrently. The first hard link wins, and both processes read that
        // file.
        let token = random_text(43);
        let staged = self.path.join(format!(".token-{}", random_text(8)));
        let mut file = private().create_new(true).open(&staged).map_err(failed)?;
        let written = file
            .write_all(token.as_bytes())
            .and_then(|()| file.sync_all());
        let linked = written.and_then(|()| match fs::hard_link(&staged, &path) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
            linked => linked,
        });
        let removed = fs::remove_file(&staged);
        linked.and(removed).map_err(failed)?;
        let found = read_token(&path).map_err(failed)?;
        found.ok_or_else(|| {
            failed(io::Error::new(
                io::ErrorKind::InvalidData,
                format!(
                    "it is empty; remove the file `{}` to create a new token",
                    path.display()
                ),
            ))
        })
    }

    /// Creates the file that names this process and locks it. The operating system releases the lock when the process
    /// ends, also after a crash.
    pub(crate) fn claim(&self) -> Result<Owner, Error> {
        let failed = |source| Error::Home {
            path: self.path.clone(),
            source,
        };
        let folder = self.path.join("processes");
        private_folder(&folder).map_err(failed)?;
        self.forget_dead(&folder);
        let name = format!("prc_{}", random_text(18));
        let path = folder.join(&name);
        let file = private().create_new(true).open(&path).map_err(failed)?;
        file.try_lock().map_err(|error| failed(error.into()))?;
        Ok(Owner {
            name,
            path,
            _file: file,
        })
    }

    /// Removes the files of processes that were killed. Recent files are kept, because their process may be about to
    /// lock them.
    fn forget_dead(&self, folder: &Path) {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            let age = entry.metadata().and_then(|found| found.modified());
            let is_old = age.is_ok_and(|made| made.elapsed().is_ok_and(|age| age > NEW));
            if let (true, Ok(name)) = (is_old, entry.file_name().into_string()) {
                self.is_alive(&name);
            }
        }
    }

    /// Returns whether the process with this name is alive. Removes the file of a process that is not.
    pub(crate) fn is_alive(&self, name: &str) -> bool {
        let is_name = name
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
        let path = self.path.join("processes").join(name);
        let Some(file) = is_name.then(|| File::open(&path).ok()).flatten() else {
            return false;
        };
        match file.try_lock() {
            Err(TryLockError::WouldBlock) => true,
            Ok(()) | Err(TryLockError::Error(_)) => {
                let _ = fs::remove_file(&path);
                false
            }
        }
    }

    /// Returns the WebSocket URL of the gateway that serves this home, or `None` if no gateway serves it.
    pub fn served_at(&self) -> Option<String> {
        let lock = File::open(self.path.join("serve.lock")).ok()?;
        let is_served = matches!(lock.try_lock_shared(), Err(TryLockError::WouldBlock));
        let text = is_served.then(|| fs::read_to_string(self.serving_file()).ok())??;
        let serving: serde_json::Value = serde_json::from_str(&text).ok()?;
        Some(serving["url"].as_str()?.to_owned())
    }

    /// Returns the path of the file in which a serving gateway publishes its addresses.
    pub(crate) fn serving_file(&self) -> PathBuf {
        self.path.join("serving.json")
    }

    /// Locks the home for serving, or fails with the process id of the gateway that already serves it.
    pub(crate) fn lock_for_serving(&self) -> Result<ServeLock, Error> {
        let failed = |source| Error::Home {
            path: self.path.clone(),
            source,
        };
        let path = self.path.join("serve.lock");
        let mut file = private()
            .create(true)
            .read(true)
            .open(&path)
            .map_err(failed)?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                let mut pid = String::new();
                let _ = file.read_to_string(&mut pid);
                return Err(Error::AlreadyServed {
                    path: self.path.clone(),
                    pid: pid.trim().to_owned(),
                });
            }
            Err(TryLockError::Error(source)) => return Err(failed(source)),
        }
        file.set_len(0).map_err(failed)?;
        file.write_all(std::process::id().to_string().as_bytes())
            .map_err(failed)?;
        Ok(ServeLock { _file: file })
    }
}

/// Returns the default home: `ACCORD_HOME`, otherwise `accord` in the data directory of the platform. `None` if no
/// variable names a directory.
pub fn default_home() -> Option<PathBuf> {
    let set = |name| {
        env::var_os(name)
            .filter(|value| !value.is_empty())
            .map(PathBuf::from)
    };
    if let Some(home) = set("ACCORD_HOME") {
        return Some(home);
    }
    let data = if cfg!(target_os = "macos") {
        set("HOME")?.join("Library/Application Support")
    } else {
        set("XDG_DATA_HOME")
            .filter(|path| path.is_absolute())
            .or_else(|| set("HOME").map(|home| home.join(".local/share")))?
    };
    Some(data.join("accord"))
}

/// Replaces a file atomically and durably: readers see the old or the new content, also after a crash.
pub fn replace_file(path: &Path, content: &[u8]) -> io::Result<()> {
    let folder = path
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty());
    let folder = folder.unwrap_or(Path::new("."));
    let staged = folder.join(format!(".staged-{}", random_text(8)));
    let mut file = private().create_new(true).open(&staged)?;
    let written = file
        .write_all(content)
        .and_then(|()| file.sync_all())
        .and_then(|()| fs::rename(&staged, path));
    if written.is_err() {
        let _ = fs::remove_file(&staged);
        return written;
    }
    File::open(folder)?.sync_all()
}

/// Creates a directory, with its parents, that only its owner can access.
fn private_folder(path: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(path)
}

/// Returns options that create files only their owner can access.
fn private() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.write(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options
}

/// Reads the token from the file, or returns `None` if the file is missing or empty. Restores mode 0600 if other users
/// had access.
fn read_token(path: &Path) -> io::Result<Option<String>> {
    let file = match File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    };
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        if file.metadata()?.permissions().mode() & 0o077 != 0 {
            tracing::warn!(
                "the token file was readable by other users; it is private again, revoke it if it may have leaked"
            );
            file.set_permissions(fs::Permissions::from_mode(0o600))?;
        }
    }
    let mut text = String::new();
    file.take(4096).read_to_string(&mut text)?;
    let token = text.trim();
    if !token.is_empty() && token.chars().count() < MIN_TOKEN_CHARS {
        let sentence = format!(
            "it has {} characters, expected at least {MIN_TOKEN_CHARS}; remove the file `{}` to create a new token",
            token.chars().count(),
            path.display()
        );
        return Err(io::Error::new(io::ErrorKind::InvalidData, sentence));
    }
    Ok((!token.is_empty()).then(|| token.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everyone_gets_the_same_token() {
        let folder = tempfile::tempdir().unwrap();
        let home = Home::open(&folder.path().join("deep/home")).unwrap();
        let tokens: Vec<_> = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..8)
                .map(|_| scope.spawn(|| home.token().unwrap()))
                .collect();
            threads
                .into_iter()
                .map(|thread| thread.join().unwrap())
                .collect()
        });
        assert!(
            tokens
                .iter()
                .all(|token| *token == tokens[0] && token.len() == 43)
        );
        assert_eq!(
            fs::read_dir(home.path()).unwrap().count(),
            1,
            "nothing else is left"
        );
    }

    #[test]
    fn a_token_file_with_a_short_text_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let home = Home::open(folder.path()).unwrap();
        for text in ["secret", &"x".repeat(MIN_TOKEN_CHARS - 1)] {
            replace_file(&home.token_file(), text.as_bytes()).unwrap();
            let refused = home.token().unwrap_err().to_string();
            let count = format!("it has {} characters, expected at least 32", text.len());
            assert!(refused.contains(&count), "{refused}");
            assert!(!refused.contains(text), "{refused}");
        }
        replace_file(&home.token_file(), "x".repeat(MIN_TOKEN_CHARS).as_bytes()).unwrap();
        assert_eq!(home.token().unwrap().len(), MIN_TOKEN_CHARS);
    }

    #[test]
    fn a_process_is_alive_until_it_ends() {
        let folder = tempfile::tempdir().unwrap();
        let home = Home::open(folder.path()).unwrap();
        let owner = home.claim().unwrap();
        let name = owner.name().to_owned();
        assert!(home.is_alive(&name));
        drop(owner);
        assert!(!home.is_alive(&name));
        assert!(!home.is_alive("../token"));
    }

    #[test]
    fn what_killed_processes_left_is_removed_by_the_next_one() {
        let folder = tempfile::tempdir().unwrap();
        let home = Home::open(folder.path()).unwrap();
        let processes = folder.path().join("processes");
        let living = home.claim().unwrap();
        let long_ago = std::time::UNIX_EPOCH;
        File::create(processes.join("prc_new")).unwrap();
        File::create(processes.join("prc_old"))
            .and_then(|file| file.set_modified(long_ago))
            .unwrap();
        let file = OpenOptions::new().write(true).open(&living.path);
        file.and_then(|file| file.set_modified(long_ago)).unwrap();

        let next = home.claim().unwrap();
        let mut found: Vec<_> = fs::read_dir(&processes)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        found.sort();
        let mut expected = [living.name(), next.name(), "prc_new"];
        expected.sort();
        assert_eq!(found, expected);
    }

    #[test]
    fn a_home_is_served_once() {
        let folder = tempfile::tempdir().unwrap();
        let home = Home::open(folder.path()).unwrap();
        let lock = home.lock_for_serving().unwrap();
        let error = home.lock_for_serving().unwrap_err().to_string();
        assert!(error.contains(&std::process::id().to_string()), "{error}");
        drop(lock);
        home.lock_for_serving().unwrap();
    }

    #[test]
    fn a_replaced_file_is_whole_and_leaves_nothing_behind() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("ready.json");
        for content in ["one", "two"] {
            replace_file(&path, content.as_bytes()).unwrap();
            assert_eq!(fs::read_to_string(&path).unwrap(), content);
        }
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }
}
