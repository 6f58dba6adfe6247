//! The lock that keeps the writers of several processes apart.
//!
//! SQLite has its own locks; this one also covers checkpoints, which in the bundled version must not run at the
//! same instant as another connection's write.

use std::{
    fs::{File, OpenOptions},
    io,
    path::Path,
};

/// `write.lock` beside the database.
#[derive(Debug)]
pub(crate) struct WriteLock {
    file: File,
}

/// The right to write, until dropped.
pub(crate) struct WriteGuard<'a> {
    file: &'a File,
}

impl WriteLock {
    pub(crate) fn open(path: &Path) -> io::Result<Self> {
        let mut options = OpenOptions::new();
        options.create(true).truncate(false).write(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let file = options.open(path)?;
        Ok(Self { file })
    }

    /// Waits for the other processes. The system frees the lock of a process that dies.
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
