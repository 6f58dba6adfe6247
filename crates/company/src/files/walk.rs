//! Walks a folder recursively without following links.

use std::{
    ffi::{OsStr, OsString},
    fs::File,
    io,
    os::{
        fd::{AsFd as _, OwnedFd},
        unix::ffi::OsStringExt as _,
    },
    path::Path,
};

use rustix::{
    fs::{AtFlags, Dir, FileType, Mode, OFlags, openat, readlinkat, statat},
    io::Errno,
};

/// Flags that open a folder without following a link.
pub(crate) const FOLDER: OFlags = OFlags::RDONLY
    .union(OFlags::DIRECTORY)
    .union(OFlags::NOFOLLOW)
    .union(OFlags::CLOEXEC);
// `NONBLOCK`: opening a named pipe in place of a file must not block.
const FILE: OFlags = OFlags::RDONLY
    .union(OFlags::NONBLOCK)
    .union(OFlags::NOFOLLOW)
    .union(OFlags::CLOEXEC);

/// An entry of a walk.
#[derive(Debug)]
pub enum WalkEntry<'a> {
    /// A folder. Its entries follow, and then [`WalkEntry::Left`].
    Folder,
    /// End of a folder.
    Left,
    /// A regular file.
    File(&'a File),
    /// A log that may have grown since it was listed, with its length in bytes at that time. Snapshots report logs;
    /// walks do not.
    Log(&'a File, u64),
    /// A symbolic link with its target.
    Link(&'a Path),
    /// A named pipe, a socket or a device.
    Odd,
}

/// Callback of a walk, called for every entry with its path.
pub type Visit<'a> = dyn FnMut(&Path, WalkEntry<'_>) -> io::Result<()> + 'a;

/// Visits a folder and everything below it, sorted by name. `path` is the name under which the folder is reported;
/// entries for which `is_left_out` returns true are skipped.
pub(crate) fn walk(
    folder: &OwnedFd,
    path: &Path,
    is_left_out: &dyn Fn(&Path, &OsStr) -> bool,
    visit: &mut Visit<'_>,
) -> io::Result<()> {
    visit(path, WalkEntry::Folder)?;
    let mut names = Vec::new();
    for entry in Dir::read_from(folder)? {
        let name = OsString::from_vec(entry?.file_name().to_bytes().to_vec());
        if name != "." && name != ".." {
            names.push(name);
        }
    }
    names.sort_unstable();
    for name in names.iter().filter(|name| !is_left_out(path, name)) {
        let stat = match statat(folder, name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) => stat,
            // Removed since the folder was listed, such as a temporary file of another process.
            Err(Errno::NOENT) => continue,
            Err(error) => return Err(error.into()),
        };
        let entry_path = path.join(name);
        match FileType::from_raw_mode(stat.st_mode) {
            FileType::Directory => {
                let below = openat(folder, name, FOLDER, Mode::empty())?;
                walk(&below, &entry_path, is_left_out, visit)?;
            }
            FileType::RegularFile => {
                let file = File::from(openat(folder, name, FILE, Mode::empty())?);
                visit(&entry_path, WalkEntry::File(&file))?;
            }
            FileType::Symlink => {
                let link = readlinkat(folder.as_fd(), name, Vec::new())?;
                let link = OsString::from_vec(link.into_bytes());
                visit(&entry_path, WalkEntry::Link(Path::new(&link)))?;
            }
            FileType::Fifo
            | FileType::Socket
            | FileType::CharacterDevice
            | FileType::BlockDevice
            | FileType::Unknown => visit(&entry_path, WalkEntry::Odd)?,
        }
    }
    visit(path, WalkEntry::Left)
}

/// Visits a folder given by its path, and everything below it, sorted by name and without the entries for which
/// `is_left_out` returns true. Paths are reported relative to it.
pub fn walk_folder(
    folder: &Path,
    is_left_out: &dyn Fn(&Path, &OsStr) -> bool,
    visit: &mut Visit<'_>,
) -> io::Result<()> {
    let opened = openat(rustix::fs::CWD, folder, FOLDER, Mode::empty())?;
    walk(&opened, Path::new(""), is_left_out, visit)
}
