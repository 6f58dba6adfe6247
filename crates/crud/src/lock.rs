//! The lock that serializes writers of several processes.
//!
//! SQLite has its own locks. This one also covers checkpoints, which in the bundled version must not run concurrently
//! with another connection's write.

use std::{
    fs::{File, OpenOptions},
    io,
    path::Path,
};

/// The file `write.lock` next to the database.
#[derive(Debug)]
pub(crate) struct DatabaseLock {
    file: File,
}

/// Holds the write lock until dropped.
pub(crate) struct WriteGuard<'a> {
    file: &'a File,
}

impl DatabaseLock {
    pub(crate) fn open(path: &Path) -> io::Result<Self> {
        let mut options = OpenOptions::new();
        options.create(true).truncate(false).write(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let file = options.open(path)?;
        Ok(Self { file })
    }

    /// Acquires the lock, waiting for other processes. The operating system releases the lock of a process that ends.
    pub(crate) fn hold(&self) -> io::Result<WriteGuard<'_>> {
        self.file.lock()?;
        Ok(WriteGuard { file: &self.file })
    }
}

impl Drop for WriteGuard<'_> {
    fn drop(&mut self) {
        if let Err(error) = self.file.unlock() {
            tracing::error!(%error, "the write lock cannot be released");
        }
    }
}
