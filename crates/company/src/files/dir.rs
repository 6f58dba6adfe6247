//! An open folder. All files below it are accessed through its handle, so neither a planted link nor a folder that
//! replaces it after the check can redirect an access.
//!
//! This is a small layer on `rustix` instead of `cap-std`: on Linux, one `openat2` with `RESOLVE_BENEATH` resolves the
//! whole path in the kernel, and links that stay inside the folder keep working; `cap-std` offers much that is not
//! needed here. Systems without `openat2` resolve the path component by component with `O_NOFOLLOW` and follow no link
//! at all.

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

/// Mode of new files; the umask restricts it.
const USUAL: Mode = Mode::from_raw_mode(0o666);
/// Mode of new folders; the umask restricts it.
const FOLDER: Mode = Mode::from_raw_mode(0o777);
/// Mode of new files that only the owner may read.
const PRIVATE: Mode = Mode::from_raw_mode(0o600);

/// An open folder. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Dir {
    handle: Arc<OwnedFd>,
}

/// Who may read a new file.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Readers {
    /// Everyone whom the umask permits.
    Usual,
    /// Only the owner.
    Owner,
}

impl Dir {
    /// Opens a folder and returns it with its real path, symbolic links resolved.
    pub fn open(path: &Path) -> io::Result<(Self, PathBuf)> {
        let handle = openat(CWD, path, FOLDER_FLAGS, Mode::empty())?;
        let place = real_path(&handle, path)?;
        let dir = Self {
            handle: Arc::new(handle),
        };
        Ok((dir, place))
    }

    /// Opens a folder below this one; an empty path gives this folder.
    pub(crate) fn folder(&self, relative: &Path) -> io::Result<Self> {
        if relative.as_os_str().is_empty() {
            return Ok(self.clone());
        }
        let handle = self.open_beneath(relative, FOLDER_FLAGS, Mode::empty())?;
        Ok(Self {
            handle: Arc::new(handle),
        })
    }

    /// Opens a file for reading. Opening a named pipe does not block.
    pub fn read(&self, relative: &Path) -> io::Result<File> {
        let flags = OFlags::RDONLY | OFlags::NONBLOCK;
        Ok(self.open_beneath(relative, flags, Mode::empty())?.into())
    }

    /// Opens an existing file for appending. A link is rejected.
    pub(crate) fn append(&self, relative: &Path) -> io::Result<File> {
        let flags = OFlags::RDWR | OFlags::APPEND | OFlags::NOFOLLOW | OFlags::NONBLOCK;
        Ok(self.open_beneath(relative, flags, Mode::empty())?.into())
    }

    /// Creates a file for reading and appending; fails if it exists.
    pub fn create_new(&self, relative: &Path, readers: Readers) -> io::Result<File> {
        let flags = OFlags::RDWR | OFlags::APPEND | OFlags::CREATE | OFlags::EXCL;
        Ok(self.open_beneath(relative, flags, readers.mode())?.into())
    }

    /// Creates a file for reading and appending; an existing file is removed first.
    pub(crate) fn create(&self, relative: &Path, readers: Readers) -> io::Result<File> {
        let (above, name) = split(relative)?;
        let above = self.folder(above)?;
        match unlinkat(&above.handle, name, AtFlags::empty()) {
            Ok(()) | Err(rustix::io::Errno::NOENT) => {}
            Err(error) => return Err(error.into()),
        }
        above.create_new(name, readers)
    }

    /// Opens a file for locking; creates it if it does not exist. A link is rejected.
    pub(crate) fn lockable(&self, relative: &Path) -> io::Result<File> {
        let flags = OFlags::RDWR | OFlags::CREATE | OFlags::NOFOLLOW | OFlags::NONBLOCK;
        Ok(self.open_beneath(relative, flags, USUAL)?.into())
    }

    /// Creates a folder and its parents durably, and opens it.
    pub fn make_dir(&self, relative: &Path) -> io::Result<Self> {
        self.make_dir_then(relative, Self::sync)
    }

    /// Like [`Self::make_dir`] without syncing, for a staging folder that is synced as a whole later.
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

    /// Renames an entry of this folder durably.
    pub(crate) fn rename_here(&self, name: &Path, to: &Path) -> io::Result<()> {
        renameat(&self.handle, name, &self.handle, to)?;
        self.sync()
    }

    /// Replaces a file atomically and durably by means of a temporary file in the same folder. Missing parent folders
    /// are created.
    pub fn replace(&self, relative: &Path, bytes: &[u8], readers: Readers) -> io::Result<()> {
        let staged = self.stage(relative, bytes, readers)?;
        staged.file.sync_all()?;
        let above = staged.put_in_place()?;
        above.sync()
    }

    /// Writes a temporary file next to its destination, without syncing it.
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

    /// Removes a file durably; succeeds if it does not exist.
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

    /// Removes an empty folder.
    pub(crate) fn remove_dir(&self, relative: &Path) -> io::Result<()> {
        let (above, name) = split(relative)?;
        let above = self.folder(above)?;
        Ok(unlinkat(&above.handle, name, AtFlags::REMOVEDIR)?)
    }

    /// Removes a folder and everything below it; links are removed, not followed.
    pub(crate) fn remove_tree(&self, relative: &Path) -> io::Result<()> {
        let handle = self.open_beneath(relative, FOLDER_FLAGS | OFlags::NOFOLLOW, Mode::empty())?;
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

    /// Renames a file or folder within its parent folder durably.
    pub(crate) fn rename(&self, relative: &Path, name: &Path) -> io::Result<()> {
        let (above, old) = split(relative)?;
        let above = self.folder(above)?;
        renameat(&above.handle, old, &above.handle, name)?;
        above.sync()
    }

    /// Metadata of the entry at a path; a link that stays inside the folder is followed.
    pub fn metadata(&self, relative: &Path) -> io::Result<fs::Metadata> {
        let handle = self.open_beneath(relative, OFlags::PATH, Mode::empty())?;
        File::from(handle).metadata()
    }

    /// Metadata of the entry at a path, without following a link.
    pub(crate) fn link_metadata(&self, relative: &Path) -> io::Result<fs::Metadata> {
        let flags = OFlags::PATH | OFlags::NOFOLLOW;
        File::from(self.open_beneath(relative, flags, Mode::empty())?).metadata()
    }

    /// Names and types of the entries of a folder; the type is `Unknown` where the file system does not report it.
    /// Names that are not UTF-8 are skipped.
    pub fn entries(&self, relative: &Path) -> io::Result<Vec<(String, FileType)>> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY;
        let relative = if relative.as_os_str().is_empty() {
            Path::new(".")
        } else {
            relative
        };
        let folder = self.open_beneath(relative, flags, Mode::empty())?;
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

    /// Makes the entries of the folder durable. Succeeds on file systems that cannot sync folders.
    pub(crate) fn sync(&self) -> io::Result<()> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let opened = openat(&self.handle, c".", flags, Mode::empty())?;
        files::synced(File::from(opened).sync_all())
    }

    fn open_beneath(&self, relative: &Path, flags: OFlags, mode: Mode) -> io::Result<OwnedFd> {
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
                    // A path component was moved during resolution; retry.
                    Err(Errno::AGAIN) => {}
                    Err(Errno::XDEV) => return Err(leads_out()),
                    // Kernels and sandboxes without `openat2`.
                    Err(Errno::NOSYS | Errno::PERM) => break,
                    Err(error) => return Err(error.into()),
                }
            }
        }
        open_by_component(self.handle.as_fd(), relative, flags, mode)
    }
}

const FOLDER_FLAGS: OFlags = OFlags::PATH.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);

impl Readers {
    /// Outputs and prompts of a worker are readable by the owner only; the gateway shows them to actors who may see the
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

/// A temporary file next to its destination. Dropping it before [`Staged::put_in_place`] removes it.
#[derive(Debug)]
pub(crate) struct Staged {
    above: Dir,
    temporary: PathBuf,
    name: PathBuf,
    pub(crate) file: File,
}

impl Staged {
    /// Renames the file to its final name and returns its folder, which the caller has to sync.
    pub(crate) fn put_in_place(self) -> io::Result<Dir> {
        let above = &self.above.handle;
        renameat(above, &self.temporary, above, &self.name)?;
        Ok(self.above.clone())
    }
}

impl Drop for Staged {
    fn drop(&mut self) {
        // After a successful rename the temporary name no longer exists, so this does nothing.
        let _ = unlinkat(&self.above.handle, &self.temporary, AtFlags::empty());
    }
}

/// Number of paths that are synced one by one. For more paths, one sync of the whole file system is faster.
#[cfg(target_os = "linux")]
pub(super) const MAX_SINGLE_SYNCS: usize = 3;

/// Makes staged files durable. For more than three files on one file system, a single sync of the file system replaces
/// one sync per file.
pub(crate) fn sync_together(staged: &[Staged]) -> io::Result<()> {
    #[cfg(target_os = "linux")]
    {
        use std::os::unix::fs::MetadataExt as _;
        let devices = staged.iter().map(|one| Ok(one.file.metadata()?.dev()));
        if let Some(first) = staged.first().filter(|_| staged.len() > MAX_SINGLE_SYNCS) {
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

/// Splits a relative path into its parent folder and the name in it.
fn split(relative: &Path) -> io::Result<(&Path, &Path)> {
    let mut parts = relative.components();
    match parts.next_back() {
        Some(Component::Normal(name)) => Ok((parts.as_path(), Path::new(name))),
        _ => Err(io::Error::new(
            io::ErrorKind::InvalidInput,
            format!(
                "`{}` does not name an entry of the folder",
                relative.display()
            ),
        )),
    }
}

/// Resolves a path component by component without `openat2`: no link is followed, and `..` is rejected.
fn open_by_component(
    from: BorrowedFd<'_>,
    relative: &Path,
    flags: OFlags,
    mode: Mode,
) -> io::Result<OwnedFd> {
    let mut current = openat(from, c".", FOLDER_FLAGS, Mode::empty())?;
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
            return Ok(openat(&current, name, flags | OFlags::NOFOLLOW, mode)?);
        }
        current = openat(
            &current,
            name,
            FOLDER_FLAGS | OFlags::NOFOLLOW,
            Mode::empty(),
        )?;
    }
    Ok(openat(&current, c".", flags, mode)?)
}

fn leads_out() -> io::Error {
    io::Error::new(
        io::ErrorKind::PermissionDenied,
        "it leads out of the company folder",
    )
}

/// The real path of an open folder, symbolic links resolved.
fn real_path(handle: &OwnedFd, path: &Path) -> io::Result<PathBuf> {
    #[cfg(target_os = "linux")]
    {
        use std::os::fd::AsRawFd as _;
        let place = fs::read_link(format!("/proc/self/fd/{}", handle.as_raw_fd()));
        if let Ok(place) = place {
            return Ok(place);
        }
    }
    let place = path.canonicalize()?;
    // The folder at that path must still be the open one.
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
            open_by_component(handle, Path::new(path), OFlags::RDONLY, Mode::empty())
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
