//! Looks at everything below a folder without following any link.

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

/// How a folder is opened so that no link is followed.
pub(crate) const FOLDER: OFlags = OFlags::RDONLY
    .union(OFlags::DIRECTORY)
    .union(OFlags::NOFOLLOW)
    .union(OFlags::CLOEXEC);
// A pipe in the place of a file must not hold us.
const FILE: OFlags = OFlags::RDONLY
    .union(OFlags::NONBLOCK)
    .union(OFlags::NOFOLLOW)
    .union(OFlags::CLOEXEC);

/// What is at a path.
#[derive(Debug)]
pub enum Found<'a> {
    /// A folder. What is in it follows, and then [`Found::Left`].
    Folder,
    /// The end of a folder.
    Left,
    /// A plain file.
    File(&'a File),
    /// A log that may have grown since it was listed, and how long it was. A snapshot shows it, a walk does not.
    Log(&'a File, u64),
    /// A link, and where it leads.
    Link(&'a Path),
    /// A pipe, a socket or a device.
    Odd,
}

/// Hears of everything that is there, by its path.
pub type Visit<'a> = dyn FnMut(&Path, Found<'_>) -> io::Result<()> + 'a;

/// Looks at a folder, called `path`, and everything below it, in the order of the names. What `is_left_out` is not
/// looked at.
pub(crate) fn walk(
    folder: &OwnedFd,
    path: &Path,
    is_left_out: &dyn Fn(&Path, &OsStr) -> bool,
    visit: &mut Visit<'_>,
) -> io::Result<()> {
    visit(path, Found::Folder)?;
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
            // Gone since: a temporary of somebody else.
            Err(Errno::NOENT) => continue,
            Err(error) => return Err(error.into()),
        };
        let place = path.join(name);
        match FileType::from_raw_mode(stat.st_mode) {
            FileType::Directory => {
                let below = openat(folder, name, FOLDER, Mode::empty())?;
                walk(&below, &place, is_left_out, visit)?;
            }
            FileType::RegularFile => {
                let file = File::from(openat(folder, name, FILE, Mode::empty())?);
                visit(&place, Found::File(&file))?;
            }
            FileType::Symlink => {
                let link = readlinkat(folder.as_fd(), name, Vec::new())?;
                let link = OsString::from_vec(link.into_bytes());
                visit(&place, Found::Link(Path::new(&link)))?;
            }
            FileType::Fifo
            | FileType::Socket
            | FileType::CharacterDevice
            | FileType::BlockDevice
            | FileType::Unknown => visit(&place, Found::Odd)?,
        }
    }
    visit(path, Found::Left)
}

/// The same for a folder of which only the path is known.
pub fn walk_folder(
    folder: &Path,
    is_left_out: &dyn Fn(&Path, &OsStr) -> bool,
    visit: &mut Visit<'_>,
) -> io::Result<()> {
    let opened = openat(rustix::fs::CWD, folder, FOLDER, Mode::empty())?;
    walk(&opened, Path::new(""), is_left_out, visit)
}
