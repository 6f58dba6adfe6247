//! An open company folder. Whatever is below it is reached through its handle, so no link planted in it, and no folder
//! put in its place after it was checked, leads anywhere else.
//!
//! This is a small layer on `rustix` and not `cap-std`: on Linux one `openat2` with `RESOLVE_BENEATH` does the whole way
//! in the kernel, where `cap-std` also offers what we do not need, and links that stay inside keep working. Systems
//! without it go step by step with `O_NOFOLLOW` and follow no link at all.

use std::{
    collections::BTreeSet,
    fs::{self, File},
    io::{self, Write as _},
    os::fd::{AsFd as _, BorrowedFd, OwnedFd},
    path::{Component, Path, PathBuf},
    sync::Arc,
};

use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags, mkdirat, openat, renameat, unlinkat};

use crate::{files, layout};

/// New files can be read by whoever the umask lets.
const USUAL: Mode = Mode::from_raw_mode(0o666);
/// New folders, the same.
const FOLDER: Mode = Mode::from_raw_mode(0o777);
/// New files that are for the owner alone.
const PRIVATE: Mode = Mode::from_raw_mode(0o600);

/// An open folder. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Dir {
    handle: Arc<OwnedFd>,
}

/// Who may read a new file.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Readers {
    /// Whoever the umask lets.
    Usual,
    /// The owner alone.
    Owner,
}

impl Dir {
    /// Opens a folder, and tells where it really is.
    pub fn open(path: &Path) -> io::Result<(Self, PathBuf)> {
        let handle = openat(CWD, path, FOLDER_FLAGS, Mode::empty())?;
        let place = place_of(&handle, path)?;
        let dir = Self {
            handle: Arc::new(handle),
        };
        Ok((dir, place))
    }

    /// Opens a folder below.
    pub(crate) fn folder(&self, relative: &Path) -> io::Result<Self> {
        if relative.as_os_str().is_empty() {
            return Ok(self.clone());
        }
        let handle = self.beneath(relative, FOLDER_FLAGS, Mode::empty())?;
        Ok(Self {
            handle: Arc::new(handle),
        })
    }

    /// Opens a file for reading. A pipe in its place does not hold us.
    pub fn read(&self, relative: &Path) -> io::Result<File> {
        let flags = OFlags::RDONLY | OFlags::NONBLOCK;
        Ok(self.beneath(relative, flags, Mode::empty())?.into())
    }

    /// Opens a file for appending. A link in its place is refused.
    pub(crate) fn append(&self, relative: &Path) -> io::Result<File> {
        let flags = OFlags::RDWR | OFlags::APPEND | OFlags::NOFOLLOW | OFlags::NONBLOCK;
        Ok(self.beneath(relative, flags, Mode::empty())?.into())
    }

    /// Makes a file that is not there yet, for reading and appending.
    pub fn create_new(&self, relative: &Path, readers: Readers) -> io::Result<File> {
        let flags = OFlags::RDWR | OFlags::APPEND | OFlags::CREATE | OFlags::EXCL;
        Ok(self.beneath(relative, flags, readers.mode())?.into())
    }

    /// Makes a file anew, for reading and appending; what was there is gone.
    pub(crate) fn create(&self, relative: &Path, readers: Readers) -> io::Result<File> {
        let (above, name) = split(relative)?;
        let above = self.folder(above)?;
        match unlinkat(&above.handle, name, AtFlags::empty()) {
            Ok(()) | Err(rustix::io::Errno::NOENT) => {}
            Err(error) => return Err(error.into()),
        }
        above.create_new(name, readers)
    }

    /// Opens a file to lock it, made if it is not there. A link in its place is refused.
    pub(crate) fn lockable(&self, relative: &Path) -> io::Result<File> {
        let flags = OFlags::RDWR | OFlags::CREATE | OFlags::NOFOLLOW | OFlags::NONBLOCK;
        Ok(self.beneath(relative, flags, USUAL)?.into())
    }

    /// Makes a folder and those above it, durably, and opens it.
    pub fn make_dir(&self, relative: &Path) -> io::Result<Self> {
        self.make_dir_then(relative, Self::sync)
    }

    /// The same without making it durable, in a folder that is synced as a whole later.
    pub(crate) fn make_staged_dir(&self, relative: &Path) -> io::Result<Self> {
        self.make_dir_then(relative, |_| Ok(()))
    }

    fn make_dir_then(
        &self,
        relative: &Path,
        then: fn(&Self) -> io::Result<()>,
    ) -> io::Result<Self> {
        match self.folder(relative) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            opened => return opened,
        }
        let (above, name) = split(relative)?;
        let above = self.make_dir_then(above, then)?;
        match mkdirat(&above.handle, name, FOLDER) {
            Ok(()) => then(&above)?,
            Err(rustix::io::Errno::EXIST) => {}
            Err(error) => return Err(error.into()),
        }
        self.folder(relative)
    }

    /// Gives a folder in this one another name, durably.
    pub(crate) fn rename_here(&self, name: &Path, to: &Path) -> io::Result<()> {
        renameat(&self.handle, name, &self.handle, to)?;
        self.sync()
    }

    /// Replaces a file by a temporary one beside it: whole or not at all, durably. The folders above are made.
    pub fn replace(&self, relative: &Path, bytes: &[u8], readers: Readers) -> io::Result<()> {
        let staged = self.stage(relative, bytes, readers)?;
        staged.file.sync_all()?;
        let above = staged.put_in_place()?;
        above.sync()
    }

    /// Writes a file beside its place, without syncing it.
    pub(crate) fn stage(
        &self,
        relative: &Path,
        bytes: &[u8],
        readers: Readers,
    ) -> io::Result<Staged> {
        let (above, name) = split(relative)?;
        let above = self.make_dir(above)?;
        let temporary = files::temporary_name(name)?;
        let mut file = above.create_new(&temporary, readers)?;
        let staged = |file| Staged {
            above: above.clone(),
            temporary: temporary.clone(),
            name: name.to_owned(),
            file,
        };
        match file.write_all(bytes) {
            Ok(()) => Ok(staged(file)),
            Err(error) => {
                drop(staged(file));
                Err(error)
            }
        }
    }

    /// Removes a file, durably; one that is not there is removed.
    pub fn remove(&self, relative: &Path) -> io::Result<()> {
        let (above, name) = split(relative)?;
        let removed = self
            .folder(above)
            .and_then(|above| Ok(unlinkat(&above.handle, name, AtFlags::empty()).map(|()| above)?));
        match removed {
            Ok(above) => above.sync(),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            Err(error) => Err(error),
        }
    }

    /// Removes a folder that is empty.
    pub(crate) fn remove_dir(&self, relative: &Path) -> io::Result<()> {
        let (above, name) = split(relative)?;
        let above = self.folder(above)?;
        Ok(unlinkat(&above.handle, name, AtFlags::REMOVEDIR)?)
    }

    /// Removes a folder and everything below it; links are removed, not followed.
    pub(crate) fn remove_tree(&self, relative: &Path) -> io::Result<()> {
        let handle = self.beneath(relative, FOLDER_FLAGS | OFlags::NOFOLLOW, Mode::empty())?;
        let folder = Self {
            handle: Arc::new(handle),
        };
        for (name, kind) in folder.entries(Path::new(""))? {
            let name = Path::new(&name);
            let is_folder = kind == FileType::Directory
                || kind == FileType::Unknown && folder.link_metadata(name)?.is_dir();
            if is_folder {
                folder.remove_tree(name)?;
            } else {
                unlinkat(&folder.handle, name, AtFlags::empty())?;
            }
        }
        self.remove_dir(relative)
    }

    /// Gives a file or folder another name in its folder, durably.
    pub(crate) fn rename(&self, relative: &Path, name: &Path) -> io::Result<()> {
        let (above, old) = split(relative)?;
        let above = self.folder(above)?;
        renameat(&above.handle, old, &above.handle, name)?;
        above.sync()
    }

    /// What is at a path; a link that stays inside is followed.
    pub fn metadata(&self, relative: &Path) -> io::Result<fs::Metadata> {
        let handle = self.beneath(relative, OFlags::PATH, Mode::empty())?;
        File::from(handle).metadata()
    }

    /// What is at a path, be it a link.
    pub(crate) fn link_metadata(&self, relative: &Path) -> io::Result<fs::Metadata> {
        let flags = OFlags::PATH | OFlags::NOFOLLOW;
        File::from(self.beneath(relative, flags, Mode::empty())?).metadata()
    }

    /// The names in a folder, with what they are if the file system says it.
    pub fn entries(&self, relative: &Path) -> io::Result<Vec<(String, FileType)>> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY;
        let relative = if relative.as_os_str().is_empty() {
            Path::new(".")
        } else {
            relative
        };
        let folder = self.beneath(relative, flags, Mode::empty())?;
        let mut entries = Vec::new();
        for entry in rustix::fs::Dir::new(folder)? {
            let entry = entry?;
            let Ok(name) = entry.file_name().to_str() else {
                continue;
            };
            if !matches!(name, "." | "..") {
                entries.push((name.to_owned(), entry.file_type()));
            }
        }
        Ok(entries)
    }

    /// Makes the names in the folder durable. File systems that cannot do it are taken as they are.
    pub(crate) fn sync(&self) -> io::Result<()> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let opened = openat(&self.handle, c".", flags, Mode::empty())?;
        files::synced(File::from(opened).sync_all())
    }

    fn beneath(&self, relative: &Path, flags: OFlags, mode: Mode) -> io::Result<OwnedFd> {
        let flags = flags | OFlags::CLOEXEC;
        let mode = if flags.contains(OFlags::CREATE) {
            mode
        } else {
            Mode::empty()
        };
        #[cfg(target_os = "linux")]
        {
            use rustix::{
                fs::{ResolveFlags, openat2},
                io::Errno,
            };
            let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_MAGICLINKS;
            loop {
                match openat2(&self.handle, relative, flags, mode, resolve) {
                    Ok(opened) => return Ok(opened),
                    // Something on the way was moved while the kernel followed it.
                    Err(Errno::AGAIN) => {}
                    Err(Errno::XDEV) => return Err(leads_out()),
                    // Kernels and sandboxes without it.
                    Err(Errno::NOSYS | Errno::PERM) => break,
                    Err(error) => return Err(error.into()),
                }
            }
        }
        step_by_step(self.handle.as_fd(), relative, flags, mode)
    }
}

const FOLDER_FLAGS: OFlags = OFlags::PATH.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);

impl Readers {
    /// What a worker printed or was asked is for the owner alone, and shown by the gateway to those who may see the
    /// run.
    pub(crate) fn of(relative: &str) -> Self {
        if layout::is_output(relative) {
            Self::Owner
        } else {
            Self::Usual
        }
    }

    fn mode(self) -> Mode {
        match self {
            Self::Usual => USUAL,
            Self::Owner => PRIVATE,
        }
    }
}

/// A file that is written beside its place. It is removed if it is dropped before it was put there.
#[derive(Debug)]
pub(crate) struct Staged {
    above: Dir,
    temporary: PathBuf,
    name: PathBuf,
    pub(crate) file: File,
}

impl Staged {
    /// Gives the file its name; the folder it is in has to be synced.
    pub(crate) fn put_in_place(self) -> io::Result<Dir> {
        let above = &self.above.handle;
        renameat(above, &self.temporary, above, &self.name)?;
        Ok(self.above.clone())
    }
}

impl Drop for Staged {
    fn drop(&mut self) {
        // After it was put in place there is nothing of this name.
        let _ = unlinkat(&self.above.handle, &self.temporary, AtFlags::empty());
    }
}

/// Makes staged files durable. From a few on, one sync of the file system replaces a sync of each.
pub(crate) fn sync_together(staged: &[Staged]) -> io::Result<()> {
    #[cfg(target_os = "linux")]
    {
        use std::os::unix::fs::MetadataExt as _;
        const FEW: usize = 3;
        let devices = staged.iter().map(|one| Ok(one.file.metadata()?.dev()));
        if let Some(first) = staged.first().filter(|_| staged.len() > FEW) {
            let devices = devices.collect::<io::Result<BTreeSet<_>>>()?;
            if devices.len() == 1 {
                match rustix::fs::syncfs(&first.file) {
                    Ok(()) => return Ok(()),
                    Err(rustix::io::Errno::NOSYS | rustix::io::Errno::PERM) => {}
                    Err(error) => return Err(error.into()),
                }
            }
        }
    }
    staged.iter().try_for_each(|one| one.file.sync_all())
}

/// The folder of a relative path, and the name in it.
fn split(relative: &Path) -> io::Result<(&Path, &Path)> {
    let mut parts = relative.components();
    match parts.next_back() {
        Some(Component::Normal(name)) => Ok((parts.as_path(), Path::new(name))),
        _ => Err(io::Error::new(
            io::ErrorKind::InvalidInput,
            format!("`{}` names nothing in the folder", relative.display()),
        )),
    }
}

/// Without help of the kernel: no link is followed, and nothing but names may be on the way.
fn step_by_step(
    from: BorrowedFd<'_>,
    relative: &Path,
    flags: OFlags,
    mode: Mode,
) -> io::Result<OwnedFd> {
    let mut at = openat(from, c".", FOLDER_FLAGS, Mode::empty())?;
    let mut parts = relative.components().peekable();
    while let Some(part) = parts.next() {
        let name = match part {
            Component::Normal(name) => name,
            Component::CurDir => continue,
            Component::ParentDir | Component::RootDir | Component::Prefix(_) => {
                return Err(leads_out());
            }
        };
        if parts.peek().is_none() {
            return Ok(openat(&at, name, flags | OFlags::NOFOLLOW, mode)?);
        }
        at = openat(&at, name, FOLDER_FLAGS | OFlags::NOFOLLOW, Mode::empty())?;
    }
    Ok(openat(&at, c".", flags, mode)?)
}

fn leads_out() -> io::Error {
    io::Error::new(
        io::ErrorKind::PermissionDenied,
        "it leads out of the company folder",
    )
}

/// Where an open folder really is, links resolved.
fn place_of(handle: &OwnedFd, path: &Path) -> io::Result<PathBuf> {
    #[cfg(target_os = "linux")]
    {
        use std::os::fd::AsRawFd as _;
        let place = fs::read_link(format!("/proc/self/fd/{}", handle.as_raw_fd()));
        if let Ok(place) = place {
            return Ok(place);
        }
    }
    let place = path.canonicalize()?;
    // The folder at that place now has to be the open one.
    let again = openat(CWD, &place, FOLDER_FLAGS | OFlags::NOFOLLOW, Mode::empty())?;
    let identity =
        |handle: &OwnedFd| rustix::fs::fstat(handle).map(|stat| (stat.st_dev, stat.st_ino));
    if identity(&again)? == identity(handle)? {
        Ok(place)
    } else {
        Err(io::Error::other("the folder was moved while it was opened"))
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    use super::*;

    struct Folders {
        _root: tempfile::TempDir,
        inside: PathBuf,
        outside: PathBuf,
        dir: Dir,
    }

    fn folders() -> Folders {
        let root = tempfile::tempdir().unwrap();
        let [inside, outside] = ["inside", "outside"].map(|name| root.path().join(name));
        fs::create_dir(&inside).unwrap();
        fs::create_dir(&outside).unwrap();
        let (dir, place) = Dir::open(&inside).unwrap();
        assert_eq!(place, inside.canonicalize().unwrap());
        Folders {
            _root: root,
            inside,
            outside,
            dir,
        }
    }

    #[test]
    fn nothing_below_a_linked_folder_is_read_written_or_removed() {
        let folders = folders();
        symlink(&folders.outside, folders.inside.join("linked")).unwrap();
        fs::File::create(folders.outside.join("kept")).unwrap();
        let linked = Path::new("linked/kept");
        assert!(folders.dir.read(linked).is_err());
        assert!(folders.dir.append(linked).is_err());
        assert!(folders.dir.replace(linked, b"new", Readers::Usual).is_err());
        assert!(folders.dir.remove(linked).is_err());
        assert!(folders.dir.make_dir(Path::new("linked/made")).is_err());
        assert!(folders.dir.entries(Path::new("linked")).is_err());
        let names: Vec<_> = fs::read_dir(&folders.outside).unwrap().collect();
        assert_eq!(names.len(), 1);
        assert_eq!(fs::read(folders.outside.join("kept")).unwrap(), b"");
    }

    #[test]
    fn a_linked_file_is_not_appended_to_and_is_replaced_by_a_file() {
        let folders = folders();
        let target = folders.outside.join("target");
        fs::File::create(&target).unwrap();
        symlink(&target, folders.inside.join("log")).unwrap();
        assert!(folders.dir.append(Path::new("log")).is_err());
        let path = Path::new("log");
        folders.dir.replace(path, b"own", Readers::Usual).unwrap();
        assert_eq!(fs::read(&target).unwrap(), b"");
        assert_eq!(fs::read(folders.inside.join("log")).unwrap(), b"own");
    }

    #[test]
    fn no_relative_path_leads_out() {
        let folders = folders();
        fs::File::create(folders.outside.join("secret")).unwrap();
        for path in ["../outside/secret", "a/../../outside/secret", "/etc/passwd"] {
            assert!(folders.dir.read(Path::new(path)).is_err(), "{path}");
            let replaced = folders.dir.replace(Path::new(path), b"x", Readers::Usual);
            assert!(replaced.is_err(), "{path}");
        }
    }

    #[test]
    fn the_open_folder_stays_the_same_when_another_takes_its_place() {
        let folders = folders();
        let path = Path::new("note");
        folders.dir.replace(path, b"mine", Readers::Usual).unwrap();
        fs::rename(&folders.inside, folders.inside.with_file_name("moved")).unwrap();
        symlink(&folders.outside, &folders.inside).unwrap();
        folders.dir.replace(path, b"again", Readers::Usual).unwrap();
        assert!(!folders.outside.join("note").exists());
        let moved = folders.inside.with_file_name("moved").join("note");
        assert_eq!(fs::read(moved).unwrap(), b"again");
    }

    #[test]
    fn without_the_kernels_help_no_link_is_followed() {
        let folders = folders();
        fs::create_dir(folders.inside.join("real")).unwrap();
        fs::File::create(folders.inside.join("real/file")).unwrap();
        symlink("real", folders.inside.join("alias")).unwrap();
        let open = |path: &str| {
            let handle = folders.dir.handle.as_fd();
            step_by_step(handle, Path::new(path), OFlags::RDONLY, Mode::empty())
        };
        assert!(open("real/file").is_ok());
        assert!(open("./real/file").is_ok());
        assert!(open("alias/file").is_err());
        assert!(open("../outside").is_err());
    }

    #[test]
    fn a_private_file_is_for_its_owner_alone() {
        let folders = folders();
        let path = Path::new("outputs/stdout.txt");
        folders.dir.replace(path, b"said", Readers::Owner).unwrap();
        let metadata = fs::metadata(folders.inside.join(path)).unwrap();
        assert_eq!(metadata.permissions().mode() & 0o777, 0o600);
    }
}
