//! A directory handle below which no symbolic link is followed.
//!
//! Every path component is opened separately, relative to the handle of its parent and without following links. A link
//! planted below the root, even during an operation, has no effect.

use std::{fs::File, path::Path};

use rustix::{
    fd::OwnedFd,
    fs::{AtFlags, Dir, FileType, FlockOperation, Mode, OFlags, RenameFlags},
    io::Errno,
};

use crate::{Error, Result, error::io_error};

const FOLDER_MODE: Mode = Mode::RWXU;
const FILE_MODE: Mode = Mode::RUSR.union(Mode::WUSR);

/// A handle of a directory at or below the root of the store.
#[derive(Debug)]
pub(crate) struct BlobFolder(OwnedFd);

/// The result of a rename that does not replace.
pub(crate) enum RenameResult {
    /// The file was moved.
    Moved,
    /// The new name already exists; the file was not moved.
    TargetExists,
}

impl BlobFolder {
    /// Opens the root itself. Links in the path of the root are the owner's choice and are followed.
    pub(crate) fn open_root(path: &Path) -> Result<BlobFolder> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        rustix::fs::open(path, flags, Mode::empty())
            .map(BlobFolder)
            .map_err(io_error("open the artifact folder"))
    }

    /// Duplicates the handle.
    pub(crate) fn try_clone(&self) -> Result<BlobFolder> {
        self.0
            .try_clone()
            .map(BlobFolder)
            .map_err(io_error("duplicate a directory handle"))
    }

    /// Opens a subdirectory. Returns `None` if it does not exist.
    pub(crate) fn child(&self, name: &str) -> Result<Option<BlobFolder>> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        match rustix::fs::openat(&self.0, name, flags, Mode::empty()) {
            Ok(fd) => Ok(Some(BlobFolder(fd))),
            Err(Errno::NOENT) => Ok(None),
            Err(errno) => Err(open_error(name, errno)),
        }
    }

    /// Opens a directory several levels below. Returns `None` if it does not exist.
    pub(crate) fn descend(&self, names: &[&str]) -> Result<Option<BlobFolder>> {
        let mut folder = self.try_clone()?;
        for name in names {
            match folder.child(name)? {
                Some(child) => folder = child,
                None => return Ok(None),
            }
        }
        Ok(Some(folder))
    }

    /// Opens a directory several levels below and durably creates missing levels.
    pub(crate) fn descend_or_create(&self, names: &[&str]) -> Result<BlobFolder> {
        let mut folder = self.try_clone()?;
        for name in names {
            folder = folder.child_or_create(name)?;
        }
        Ok(folder)
    }

    fn child_or_create(&self, name: &str) -> Result<BlobFolder> {
        loop {
            if let Some(child) = self.child(name)? {
                return Ok(child);
            }
            match rustix::fs::mkdirat(&self.0, name, FOLDER_MODE) {
                Ok(()) => self.sync()?,
                Err(Errno::EXIST) => {}
                Err(errno) => return Err(io_error("create a folder")(errno)),
            }
        }
    }

    /// Creates a subdirectory. Returns false if the name exists.
    pub(crate) fn create_child(&self, name: &str) -> Result<bool> {
        match rustix::fs::mkdirat(&self.0, name, FOLDER_MODE) {
            Ok(()) => Ok(true),
            Err(Errno::EXIST) => Ok(false),
            Err(errno) => Err(io_error("create a folder")(errno)),
        }
    }

    /// Opens a regular file for reading. Returns `None` if it does not exist.
    pub(crate) fn open_file(&self, name: &str) -> Result<Option<File>> {
        self.open_plain(name, OFlags::RDONLY)
    }

    /// Opens a regular file for reading and writing. Returns `None` if it does not exist.
    pub(crate) fn open_file_for_writing(&self, name: &str) -> Result<Option<File>> {
        self.open_plain(name, OFlags::RDWR)
    }

    fn open_plain(&self, name: &str, access: OFlags) -> Result<Option<File>> {
        // Without NONBLOCK, opening a planted named pipe would block until its other end is opened.
        let flags = access | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let fd = match rustix::fs::openat(&self.0, name, flags, Mode::empty()) {
            Ok(fd) => fd,
            Err(Errno::NOENT) => return Ok(None),
            Err(errno) => return Err(open_error(name, errno)),
        };
        let stat = rustix::fs::fstat(&fd).map_err(io_error("read the metadata of a file"))?;
        if FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile {
            Ok(Some(File::from(fd)))
        } else {
            Err(not_plain(name))
        }
    }

    /// Creates a file. Returns `None` if the name exists.
    pub(crate) fn create_file(&self, name: &str) -> Result<Option<File>> {
        let flags =
            OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        match rustix::fs::openat(&self.0, name, flags, FILE_MODE) {
            Ok(fd) => Ok(Some(File::from(fd))),
            Err(Errno::EXIST) => Ok(None),
            Err(errno) => Err(io_error("create a file")(errno)),
        }
    }

    /// Moves a file into another directory unless the name exists there.
    pub(crate) fn move_new(
        &self,
        name: &str,
        to: &BlobFolder,
        new_name: &str,
    ) -> Result<RenameResult> {
        match rustix::fs::renameat_with(&self.0, name, &to.0, new_name, RenameFlags::NOREPLACE) {
            Ok(()) => Ok(RenameResult::Moved),
            Err(Errno::EXIST) => Ok(RenameResult::TargetExists),
            // Some file systems do not support this flag. The caller has checked before, and a concurrent writer has
            // equal content.
            Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) => {
                self.move_over(name, to, new_name)?;
                Ok(RenameResult::Moved)
            }
            Err(errno) => Err(io_error("move a file into place")(errno)),
        }
    }

    /// Moves a file into another directory and replaces an existing entry. Links are moved, not followed.
    pub(crate) fn move_over(&self, name: &str, to: &BlobFolder, new_name: &str) -> Result<()> {
        rustix::fs::renameat(&self.0, name, &to.0, new_name)
            .map_err(io_error("move a file into place"))
    }

    /// Removes a file or link. Returns false if it does not exist.
    pub(crate) fn remove_file(&self, name: &str) -> Result<bool> {
        match rustix::fs::unlinkat(&self.0, name, AtFlags::empty()) {
            Ok(()) => Ok(true),
            Err(Errno::NOENT) => Ok(false),
            Err(errno) => Err(io_error("remove a file")(errno)),
        }
    }

    /// Removes an empty subdirectory. Does nothing if it does not exist.
    pub(crate) fn remove_child(&self, name: &str) -> Result<()> {
        match rustix::fs::unlinkat(&self.0, name, AtFlags::REMOVEDIR) {
            Ok(()) | Err(Errno::NOENT) => Ok(()),
            Err(errno) => Err(io_error("remove a folder")(errno)),
        }
    }

    /// Lists the entry names, sorted. Names that are not UTF-8 are skipped, because the store never creates them.
    pub(crate) fn names(&self) -> Result<Vec<String>> {
        let doing = "list a folder";
        let mut names = Vec::new();
        for entry in Dir::read_from(&self.0).map_err(io_error(doing))? {
            let entry = entry.map_err(io_error(doing))?;
            match entry.file_name().to_str() {
                Ok("." | "..") | Err(_) => {}
                Ok(name) => names.push(name.to_owned()),
            }
        }
        names.sort();
        Ok(names)
    }

    /// Locks the directory exclusively against all other handles of this or another process. Blocks until it is free.
    pub(crate) fn lock(&self) -> Result<()> {
        rustix::io::retry_on_intr(|| rustix::fs::flock(&self.0, FlockOperation::LockExclusive))
            .map_err(io_error("lock the artifact folder"))
    }

    /// Releases the lock. Errors are ignored, because closing the handle releases it as well.
    pub(crate) fn unlock(&self) {
        let _ = rustix::fs::flock(&self.0, FlockOperation::Unlock);
    }

    /// Makes the entries of this directory durable.
    pub(crate) fn sync(&self) -> Result<()> {
        rustix::fs::fsync(&self.0).map_err(io_error("make a folder durable"))
    }
}

fn open_error(name: &str, errno: Errno) -> Error {
    match errno {
        Errno::LOOP | Errno::NOTDIR | Errno::ISDIR | Errno::NXIO => not_plain(name),
        errno => io_error("open a file or folder")(errno),
    }
}

fn not_plain(name: &str) -> Error {
    Error::NotPlain {
        name: name.to_owned(),
    }
}
