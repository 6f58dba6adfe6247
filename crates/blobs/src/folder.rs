//! A folder held open, below which no symbolic link is ever followed.
//!
//! Every component is opened by itself, relative to the folder above it and without following links, so a link that
//! is planted below the root, even while we work, leads nowhere.

use std::{fs::File, path::Path};

use rustix::{
    fd::OwnedFd,
    fs::{AtFlags, Dir, FileType, FlockOperation, Mode, OFlags, RenameFlags},
    io::Errno,
};

use crate::{Error, Result, error::io_error};

const FOLDER_MODE: Mode = Mode::RWXU;
const FILE_MODE: Mode = Mode::RUSR.union(Mode::WUSR);

/// A folder at or below the root of the store.
#[derive(Debug)]
pub(crate) struct Folder(OwnedFd);

/// What a rename that never replaces came to.
pub(crate) enum Moved {
    /// The file is in its new place.
    Moved,
    /// Something has the new name already; the file stayed.
    TargetExists,
}

impl Folder {
    /// Opens the root itself; links above and at the root are the owner's choice and are followed.
    pub(crate) fn open_root(path: &Path) -> Result<Folder> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        rustix::fs::open(path, flags, Mode::empty())
            .map(Folder)
            .map_err(io_error("open the artifact folder"))
    }

    /// Another handle on the same folder.
    pub(crate) fn try_clone(&self) -> Result<Folder> {
        self.0
            .try_clone()
            .map(Folder)
            .map_err(io_error("keep a folder open"))
    }

    /// The folder below, if there is one.
    pub(crate) fn child(&self, name: &str) -> Result<Option<Folder>> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        match rustix::fs::openat(&self.0, name, flags, Mode::empty()) {
            Ok(fd) => Ok(Some(Folder(fd))),
            Err(Errno::NOENT) => Ok(None),
            Err(errno) => Err(open_error(name, errno)),
        }
    }

    /// The folder several levels below, if there is one.
    pub(crate) fn descend(&self, names: &[&str]) -> Result<Option<Folder>> {
        let mut folder = self.try_clone()?;
        for name in names {
            match folder.child(name)? {
                Some(child) => folder = child,
                None => return Ok(None),
            }
        }
        Ok(Some(folder))
    }

    /// The folder several levels below, made durably where it is missing.
    pub(crate) fn descend_or_create(&self, names: &[&str]) -> Result<Folder> {
        let mut folder = self.try_clone()?;
        for name in names {
            folder = folder.child_or_create(name)?;
        }
        Ok(folder)
    }

    fn child_or_create(&self, name: &str) -> Result<Folder> {
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

    /// Makes a new folder; false if the name is taken.
    pub(crate) fn create_child(&self, name: &str) -> Result<bool> {
        match rustix::fs::mkdirat(&self.0, name, FOLDER_MODE) {
            Ok(()) => Ok(true),
            Err(Errno::EXIST) => Ok(false),
            Err(errno) => Err(io_error("create a folder")(errno)),
        }
    }

    /// Opens a plain file for reading, if there is one.
    pub(crate) fn open_file(&self, name: &str) -> Result<Option<File>> {
        self.open_plain(name, OFlags::RDONLY)
    }

    /// Opens a plain file for reading and writing, if there is one.
    pub(crate) fn open_file_for_writing(&self, name: &str) -> Result<Option<File>> {
        self.open_plain(name, OFlags::RDWR)
    }

    fn open_plain(&self, name: &str, access: OFlags) -> Result<Option<File>> {
        // Without NONBLOCK, opening a planted named pipe would wait for its other end.
        let flags = access | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let fd = match rustix::fs::openat(&self.0, name, flags, Mode::empty()) {
            Ok(fd) => fd,
            Err(Errno::NOENT) => return Ok(None),
            Err(errno) => return Err(open_error(name, errno)),
        };
        let stat = rustix::fs::fstat(&fd).map_err(io_error("look at a file"))?;
        if FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile {
            Ok(Some(File::from(fd)))
        } else {
            Err(not_plain(name))
        }
    }

    /// Makes a new file; none if the name is taken.
    pub(crate) fn create_file(&self, name: &str) -> Result<Option<File>> {
        let flags =
            OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        match rustix::fs::openat(&self.0, name, flags, FILE_MODE) {
            Ok(fd) => Ok(Some(File::from(fd))),
            Err(Errno::EXIST) => Ok(None),
            Err(errno) => Err(io_error("create a file")(errno)),
        }
    }

    /// Moves a file into another folder unless its name is taken there.
    pub(crate) fn move_new(&self, name: &str, to: &Folder, new_name: &str) -> Result<Moved> {
        match rustix::fs::renameat_with(&self.0, name, &to.0, new_name, RenameFlags::NOREPLACE) {
            Ok(()) => Ok(Moved::Moved),
            Err(Errno::EXIST) => Ok(Moved::TargetExists),
            // Some file systems cannot promise this. The caller looked before, and what races here has equal content.
            Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) => {
                self.move_over(name, to, new_name)?;
                Ok(Moved::Moved)
            }
            Err(errno) => Err(io_error("move a file into place")(errno)),
        }
    }

    /// Moves a file into another folder, replacing what has its name there; links are moved, not followed.
    pub(crate) fn move_over(&self, name: &str, to: &Folder, new_name: &str) -> Result<()> {
        rustix::fs::renameat(&self.0, name, &to.0, new_name)
            .map_err(io_error("move a file into place"))
    }

    /// Removes a file (or the link itself); false if there is none.
    pub(crate) fn remove_file(&self, name: &str) -> Result<bool> {
        match rustix::fs::unlinkat(&self.0, name, AtFlags::empty()) {
            Ok(()) => Ok(true),
            Err(Errno::NOENT) => Ok(false),
            Err(errno) => Err(io_error("remove a file")(errno)),
        }
    }

    /// Removes an empty folder; nothing happens if there is none.
    pub(crate) fn remove_child(&self, name: &str) -> Result<()> {
        match rustix::fs::unlinkat(&self.0, name, AtFlags::REMOVEDIR) {
            Ok(()) | Err(Errno::NOENT) => Ok(()),
            Err(errno) => Err(io_error("remove a folder")(errno)),
        }
    }

    /// The names in this folder, sorted; names that are not UTF-8 are none of ours and are left out.
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

    /// Waits until no other handle, of this process or another, has this folder locked, and locks it.
    pub(crate) fn lock(&self) -> Result<()> {
        rustix::io::retry_on_intr(|| rustix::fs::flock(&self.0, FlockOperation::LockExclusive))
            .map_err(io_error("lock the artifact folder"))
    }

    /// Unlocks it. Closing the handle does so too, so this need not succeed.
    pub(crate) fn unlock(&self) {
        let _ = rustix::fs::flock(&self.0, FlockOperation::Unlock);
    }

    /// Makes the names in this folder durable.
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
