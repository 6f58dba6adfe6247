//! `workspace.export` and `workspace.import`: copy a company folder to another path, completely or not at all.
//!
//! The copy is built next to its target and renamed when it is complete, so that a failure does not destroy existing
//! content. The source is read without following links.

#![allow(
    clippy::disallowed_methods,
    reason = "copies between a company folder and a path chosen by the user, entry by entry"
)]

use std::{
    ffi::OsStr,
    fs::{self, File, OpenOptions},
    io::{self, Read as _, Seek as _, SeekFrom},
    os::unix::{
        ffi::OsStrExt as _,
        fs::{MetadataExt as _, OpenOptionsExt as _, symlink},
    },
    path::{Component, Path, PathBuf},
};

use protocol::company::workspace::{
    CompanyWorkspaceExportParams, CompanyWorkspaceExportResponse, CompanyWorkspaceImportParams,
    CompanyWorkspaceImportResponse, ValidationIssue,
};
use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags, openat, statat};

use crate::{
    Companies, Company, Error,
    document::{Identity, Machine},
    documents::validate::validate,
    files::{
        self,
        walk::{FOLDER, Visit, WalkEntry, walk},
    },
    folder::lock::{LOCK_PATH, QUEUE_PATH, process_is_gone},
    format::yaml,
    layout::{self, LOCAL},
    workspace::init::{self, NonEmpty},
};

/// The folders of a company, in the order in which they are copied.
const ENTRIES: [&str; 4] = ["company", "org", "work", "inbox"];

/// Copies a company folder to another path for storage or transfer.
pub fn export(
    companies: &Companies,
    params: &CompanyWorkspaceExportParams,
) -> Result<CompanyWorkspaceExportResponse, Error> {
    let source = companies.locate(&params.workspace_dir);
    let issues = validate(&source);
    if !issues.is_empty() {
        let sentence = format!(
            "Cannot export invalid workspace ({}). Run workspace:validate first.",
            source.given()
        );
        return Err(Error::FolderInvalid { sentence, issues });
    }
    let local = LocalData::from_param(params.include_local);
    let target = TransferTarget::check(
        companies,
        &source,
        &params.out_dir,
        NonEmpty::from_force(params.force),
    )?;
    let exported_entries = target.replace(LockHandling::Forgotten, |staged| {
        copy(&FolderSnapshot::take(&source, local)?, staged)
    })?;
    Ok(CompanyWorkspaceExportResponse {
        workspace_dir: source.given().to_owned(),
        out_dir: params.out_dir.to_string(),
        include_local: local == LocalData::Copied,
        exported_entries,
    })
}

/// Creates a company folder from an export.
pub fn import(
    companies: &Companies,
    params: &CompanyWorkspaceImportParams,
) -> Result<CompanyWorkspaceImportResponse, Error> {
    let source = companies.locate(&params.src_dir);
    let mut issues = validate(&source);
    issues.retain(|issue| !is_left_out_of_exports(issue));
    if !issues.is_empty() {
        let sentence = format!(
            "Cannot import invalid source workspace ({}).",
            source.given()
        );
        return Err(Error::FolderInvalid { sentence, issues });
    }
    let local = LocalData::from_param(params.include_local);
    let target = TransferTarget::check(
        companies,
        &source,
        &params.workspace_dir,
        NonEmpty::from_force(params.force),
    )?;
    let (imported_entries, issues) = target.replace(LockHandling::Kept, |staged| {
        let entries = copy(&FolderSnapshot::take(&source, local)?, staged)?;
        let machine = staged.join(layout::MACHINE);
        if !machine.exists() {
            files::replace(&machine, yaml::print(&Machine::initial())?.as_bytes())?;
        }
        let ignored = staged.join(layout::GITIGNORE);
        files::replace(&ignored, init::IGNORED.as_bytes())?;
        let issues = validate(&companies.locate(&staged.to_string_lossy()));
        Ok((entries, issues))
    })?;
    match local {
        // The copied settings name programs and a heartbeat, which a person has to review first.
        LocalData::Copied => companies.locate(&params.workspace_dir).distrust()?,
        LocalData::LeftOut => companies.locate(&params.workspace_dir).trust()?,
    }
    Ok(CompanyWorkspaceImportResponse {
        src_dir: source.given().to_owned(),
        workspace_dir: params.workspace_dir.to_string(),
        include_local: local == LocalData::Copied,
        imported_entries,
        validation_ok: issues.is_empty(),
        validation_issues: issues.len() as u64,
    })
}

fn is_left_out_of_exports(issue: &ValidationIssue) -> bool {
    matches!(issue.code.as_str(), "missing_dir" | "missing_file")
        && matches!(issue.path.as_deref(), Some(LOCAL | layout::MACHINE))
}

/// Whether the machine-specific folder `.local` is copied.
#[derive(Clone, Copy, PartialEq)]
enum LocalData {
    Copied,
    LeftOut,
}

impl LocalData {
    fn from_param(include_local: Option<bool>) -> Self {
        match include_local {
            Some(true) => Self::Copied,
            Some(false) | None => Self::LeftOut,
        }
    }
}

/// Returns whether an entry of `.local` belongs to running processes of this machine. Such entries are never copied.
fn is_never_copied(name: &OsStr) -> bool {
    let name = name.as_bytes();
    matches!(name, b"locks" | b"sessions" | b"worktrees") || name.starts_with(b"index.sqlite")
}

/// A consistent view of a company folder that can be read while other processes continue to write.
///
/// The write lock is held only while the entries are listed. Documents are replaced by rename, so a hard link preserves
/// the listed version. Logs only grow, so their length is sufficient. Files that cannot be hard-linked are copied.
struct FolderSnapshot {
    source: PathBuf,
    /// Existing top-level folders of the company.
    entries: Vec<String>,
    /// Entries in the order of [`walk`].
    listed: Vec<(PathBuf, SnapshotEntry)>,
    /// Folder of the hard links; absent if the source has no write lock and is read in place.
    kept: Option<LinkFolder>,
}

/// An entry of a snapshot.
enum SnapshotEntry {
    Folder,
    Left,
    /// A file that is read in place.
    InPlace,
    /// A file that is preserved under this number in the folder of hard links.
    Kept(usize),
    /// A log with its length in bytes.
    Log(u64),
    Link(PathBuf),
    Odd,
}

/// A folder of hard links. Dropping it removes the folder; doctor removes the folders of dead processes.
struct LinkFolder(PathBuf);

impl Drop for LinkFolder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

impl FolderSnapshot {
    /// Path prefix of the hard-link folder. It is on the file system of the company folder, and `locks` is never
    /// copied.
    const KEPT: &str = ".local/locks/snapshot";

    fn take(source: &Company, local: LocalData) -> Result<Self, Error> {
        // No process of this machine writes to an untrusted folder.
        if !source.is_trusted() || !source.path(LOCAL).is_dir() {
            return Self::list(source, local, None);
        }
        match source.write(|_| {
            let path = files::make_staging(&source.path(Self::KEPT))?;
            Self::list(source, local, Some(LinkFolder(path)))
        }) {
            // A read-only file system has no writers.
            Err(Error::Io { source: error, .. })
                if matches!(
                    error.kind(),
                    io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem
                ) =>
            {
                Self::list(source, local, None)
            }
            taken => taken,
        }
    }

    fn list(source: &Company, local: LocalData, kept: Option<LinkFolder>) -> Result<Self, Error> {
        let mut listed = Vec::new();
        let root = source.root();
        let entries = contents(root, local, &mut |path, found| {
            let found = match (found, &kept) {
                (WalkEntry::Folder, _) => SnapshotEntry::Folder,
                (WalkEntry::Left, _) => SnapshotEntry::Left,
                (WalkEntry::Link(link), _) => SnapshotEntry::Link(link.to_owned()),
                (WalkEntry::Odd, _) => SnapshotEntry::Odd,
                (WalkEntry::File(_) | WalkEntry::Log(..), None) => SnapshotEntry::InPlace,
                (WalkEntry::Log(_, length), Some(_)) => SnapshotEntry::Log(length),
                (WalkEntry::File(file), Some(_)) if is_log(path) => {
                    SnapshotEntry::Log(file.metadata()?.len())
                }
                (WalkEntry::File(file), Some(kept)) => {
                    let number = listed.len();
                    keep(file, &root.join(path), &kept.0.join(number.to_string()))?;
                    SnapshotEntry::Kept(number)
                }
            };
            listed.push((path.to_owned(), found));
            Ok(())
        })?;
        Ok(Self {
            source: root.to_owned(),
            entries,
            listed,
            kept,
        })
    }

    /// Visits every entry as it was when the snapshot was taken.
    fn visit(&self, visit: &mut Visit<'_>) -> Result<(), Error> {
        for (path, listed) in &self.listed {
            let source_path = self.source.join(path);
            let visited = match listed {
                SnapshotEntry::Folder => visit(path, WalkEntry::Folder),
                SnapshotEntry::Left => visit(path, WalkEntry::Left),
                SnapshotEntry::Link(link) => visit(path, WalkEntry::Link(link)),
                SnapshotEntry::Odd => visit(path, WalkEntry::Odd),
                SnapshotEntry::InPlace => {
                    open_plain(&source_path).and_then(|file| visit(path, WalkEntry::File(&file)))
                }
                SnapshotEntry::Kept(number) => {
                    let kept = self.kept.as_ref().map(|kept| &kept.0);
                    let name =
                        kept.map_or(source_path.clone(), |kept| kept.join(number.to_string()));
                    open_plain(&name).and_then(|file| visit(path, WalkEntry::File(&file)))
                }
                SnapshotEntry::Log(length) => match open_plain(&source_path) {
                    // The log was removed since the snapshot was taken.
                    Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
                    opened => opened.and_then(|file| visit(path, WalkEntry::Log(&file, *length))),
                },
            };
            visited.map_err(|error| Error::io("copied", &source_path, error))?;
        }
        Ok(())
    }
}

/// Preserves an open file by a hard link; if the system refuses, the file is copied.
fn keep(file: &File, original: &Path, name: &Path) -> io::Result<()> {
    let identity = |metadata: fs::Metadata| (metadata.dev(), metadata.ino());
    if fs::hard_link(original, name).is_ok() {
        if identity(fs::symlink_metadata(name)?) == identity(file.metadata()?) {
            return Ok(());
        }
        // Another program replaced the file in the meantime.
        fs::remove_file(name)?;
    }
    let metadata = file.metadata()?;
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    let mut copy = options.mode(metadata.mode() & 0o777).open(name)?;
    let mut reader = file;
    io::copy(&mut reader, &mut copy).map(drop)
}

/// Opens a regular file for reading. A named pipe in its place does not block.
fn open_plain(path: &Path) -> io::Result<File> {
    let flags = (OFlags::NOFOLLOW | OFlags::NONBLOCK).bits();
    let flags = i32::try_from(flags).map_err(io::Error::other)?;
    OpenOptions::new().read(true).custom_flags(flags).open(path)
}

/// Returns whether lines are appended to a file without the write lock.
fn is_log(path: &Path) -> bool {
    path.extension().is_some_and(|ending| ending == "jsonl")
}

/// Validated target of an export or import.
struct TransferTarget<'a> {
    companies: &'a Companies,
    given: &'a str,
    /// Absolute path without links.
    path: PathBuf,
    non_empty: NonEmpty,
}

/// Whether the copy becomes a working company folder.
#[derive(Clone, Copy, PartialEq)]
enum LockHandling {
    /// An import: the copy takes over the write lock of the folder that it replaces.
    Kept,
    /// An export: the copy needs no write lock.
    Forgotten,
}

/// Current content of the target.
#[derive(Clone, Copy, PartialEq)]
enum Existing {
    NothingOrEmpty,
    CompanyFolder,
}

impl<'a> TransferTarget<'a> {
    fn check(
        companies: &'a Companies,
        source: &Company,
        given: &'a str,
        non_empty: NonEmpty,
    ) -> Result<Self, Error> {
        let path = resolved_path(given)?;
        let refuse = |why: &str| {
            Err(Error::Refused(format!(
                "Refusing to write to `{given}`: {why}"
            )))
        };
        if path.parent().is_none() {
            return refuse("it is the root of the file system");
        }
        if is_below(source.root(), &path) || is_below(&path, source.root()) {
            return refuse("it is the source, contains it or lies inside it");
        }
        let home = std::env::home_dir().and_then(|home| home.canonicalize().ok());
        if home.is_some_and(|home| is_below(&home, &path)) {
            return refuse("it is the home folder or contains it");
        }
        let target = Self {
            companies,
            given,
            path,
            non_empty,
        };
        target.existing()?;
        Ok(target)
    }

    fn existing(&self) -> Result<Existing, Error> {
        let given = self.given;
        let failed = |error| Error::io("read", &self.path, error);
        match fs::symlink_metadata(&self.path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                init::check_new(&self.path, given)?;
                return Ok(Existing::NothingOrEmpty);
            }
            Err(error) => return Err(failed(error)),
            Ok(metadata) if !metadata.is_dir() => {
                return Err(Error::Refused(format!("`{given}` is not a folder")));
            }
            Ok(_) => {}
        }
        let mut names = Vec::new();
        for entry in fs::read_dir(&self.path).map_err(failed)? {
            names.push(entry.map_err(failed)?.file_name());
        }
        if names.is_empty() {
            return Ok(Existing::NothingOrEmpty);
        }
        if self.non_empty == NonEmpty::Refuse {
            return Err(Error::Refused(format!(
                "Refusing to write into non-empty directory ({given}). Use --force to replace contents."
            )));
        }
        let is_company = self.company().read::<Identity>(layout::COMPANY).is_ok();
        if !is_company {
            return Err(Error::Refused(format!(
                "Refusing to replace `{given}`: it is neither a company folder nor an export of one"
            )));
        }
        names.sort_unstable();
        let stranger = names.iter().find(|name| !is_of_a_company(name));
        match stranger {
            None => Ok(Existing::CompanyFolder),
            Some(stranger) => Err(Error::Refused(format!(
                "Refusing to replace `{given}`: `{}` in it is not part of a company folder",
                stranger.to_string_lossy()
            ))),
        }
    }

    fn company(&self) -> Company {
        self.companies.locate(&self.path.to_string_lossy())
    }

    /// Builds the new content next to the target and then moves it into place.
    fn replace<R>(
        &self,
        lock: LockHandling,
        build: impl FnOnce(&Path) -> Result<R, Error>,
    ) -> Result<R, Error> {
        let parent = self.path.parent().unwrap_or(Path::new("/"));
        files::make_dir(parent)?;
        self.remove_left_behind(parent);
        let staged = files::temporary_beside(&self.path)?;
        let built = fs::create_dir(&staged)
            .map_err(|error| Error::io("made", &staged, error))
            .and_then(|()| build(&staged))
            .and_then(|built| files::sync_dir(&staged).map(|()| built))
            .and_then(|built| self.put_in_place(&staged, lock).map(|()| built));
        let built = match built {
            Ok(built) => built,
            Err(error) => {
                // The first error is reported; a failed clean-up is not.
                let _ = fs::remove_dir_all(&staged);
                return Err(error);
            }
        };
        files::sync_dir(parent)?;
        // After the exchange, the staged path contains the previous folder.
        if let Err(error) = fs::remove_dir_all(&staged)
            && error.kind() != io::ErrorKind::NotFound
        {
            tracing::warn!(path = %staged.display(), %error, "the replaced company folder cannot be removed");
        }
        Ok(built)
    }

    fn put_in_place(&self, staged: &Path, lock: LockHandling) -> Result<(), Error> {
        let failed = |error| Error::io("replaced", &self.path, error);
        if self.existing()? == Existing::NothingOrEmpty {
            return fs::rename(staged, &self.path).map_err(failed);
        }
        let company = self.company();
        // No process of this machine writes to an untrusted folder.
        if !company.is_trusted() || !self.path.join(LOCAL).is_dir() {
            return exchange(staged, &self.path).map_err(failed);
        }
        company.write(|_| {
            if lock == LockHandling::Kept {
                // Both names refer to the same files, so that other processes stay locked out of the new folder until
                // the lock is released.
                for name in [LOCK_PATH, QUEUE_PATH] {
                    let linked = staged.join(name);
                    if let Some(folder) = linked.parent() {
                        files::make_dir(folder)?;
                    }
                    fs::hard_link(self.path.join(name), linked).map_err(failed)?;
                }
            }
            self.existing()?;
            exchange(staged, &self.path).map_err(failed)
        })
    }

    /// Removes incomplete copies to this target that crashed processes left behind.
    fn remove_left_behind(&self, parent: &Path) {
        let name = self.path.file_name().unwrap_or_default().to_string_lossy();
        let begin = format!(".{name}{}", files::TEMPORARY_MARK);
        for entry in fs::read_dir(parent).into_iter().flatten().flatten() {
            let found = entry.file_name();
            let found = found.to_string_lossy();
            let Ok(metadata) = entry.metadata() else {
                continue;
            };
            let owner = files::temporary_owner(&found).filter(|_| found.starts_with(&begin));
            if owner.is_some_and(|pid| process_is_gone(pid, metadata.mtime())) {
                let _ = fs::remove_dir_all(entry.path());
            }
        }
    }
}

fn is_of_a_company(name: &OsStr) -> bool {
    let name = name.to_string_lossy();
    ENTRIES.contains(&name.as_ref())
        || name == LOCAL
        || name == layout::GITIGNORE
        || name == ".DS_Store"
        || name.starts_with(".local-backup-")
        || files::temporary_owner(&name).is_some()
}

/// Resolves the links of a path, as far as its components exist.
fn resolved_path(given: &str) -> Result<PathBuf, Error> {
    let refuse = |why: &str| {
        Err(Error::Refused(format!(
            "Refusing to write to `{given}`: {why}"
        )))
    };
    let absolute = std::path::absolute(given).map_err(|error| Error::io("found", given, error))?;
    let mut existing = absolute.as_path();
    let mut missing: Vec<&OsStr> = Vec::new();
    loop {
        match existing.canonicalize() {
            Ok(mut real) => {
                real.extend(missing.iter().rev());
                return Ok(real);
            }
            Err(error) if error.kind() == io::ErrorKind::NotADirectory => {
                init::check_new(&absolute, given)?;
                return Err(Error::io("found", existing, error));
            }
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                return Err(Error::io("found", existing, error));
            }
            Err(_) if existing.is_symlink() => return refuse("it contains a broken link"),
            Err(_) => match (existing.file_name(), existing.parent()) {
                (Some(name), Some(parent)) => {
                    missing.push(name);
                    existing = parent;
                }
                _ => return refuse("`..` follows a folder that does not exist"),
            },
        }
    }
}

/// Returns whether `inner` is `outer` or lies inside it. Folders are compared by identity, too, since one folder may
/// have two names.
fn is_below(inner: &Path, outer: &Path) -> bool {
    let identity = |path: &Path| {
        let metadata = fs::metadata(path).ok()?;
        Some((metadata.dev(), metadata.ino()))
    };
    let outer_identity = identity(outer);
    inner.ancestors().any(|above| {
        above == outer || (outer_identity.is_some() && identity(above) == outer_identity)
    })
}

/// Exchanges two folders.
fn exchange(staged: &Path, target: &Path) -> io::Result<()> {
    #[cfg(any(target_os = "linux", target_vendor = "apple"))]
    {
        use rustix::{fs::RenameFlags, io::Errno};
        match rustix::fs::renameat_with(CWD, staged, CWD, target, RenameFlags::EXCHANGE) {
            Ok(()) => return Ok(()),
            Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) => {}
            Err(error) => return Err(error.into()),
        }
    }
    let aside = staged.with_extension("old");
    fs::rename(target, &aside)?;
    if let Err(error) = fs::rename(staged, target) {
        fs::rename(&aside, target)?;
        return Err(error);
    }
    fs::rename(&aside, staged)
}

/// Visits a consistent snapshot of a company folder, including `.local`. Writers wait only while the entries are
/// listed.
pub fn visit(company: &Company, visit: &mut Visit<'_>) -> Result<(), Error> {
    FolderSnapshot::take(company, LocalData::Copied)?.visit(visit)
}

/// Copies the existing folders of a company and returns their names.
fn copy(source: &FolderSnapshot, staged: &Path) -> Result<Vec<String>, Error> {
    source.visit(&mut |path, found| {
        let copied = staged.join(path);
        match found {
            WalkEntry::Folder => fs::create_dir(copied),
            WalkEntry::Left => File::open(copied)?.sync_all(),
            WalkEntry::File(file) => copy_file(file, file.metadata()?.len(), &copied),
            WalkEntry::Log(file, length) => copy_file(file, length, &copied),
            WalkEntry::Link(link) => {
                let depth = path.components().count() - 1;
                if link_stays_inside(link, depth) {
                    symlink(link, copied)
                } else {
                    tracing::warn!(
                        ?path,
                        "a link that leads out of the company folder is skipped"
                    );
                    Ok(())
                }
            }
            WalkEntry::Odd => {
                tracing::warn!(?path, "a special file is skipped");
                Ok(())
            }
        }
    })?;
    Ok(source.entries.clone())
}

/// Visits the existing folders of a company and returns their names.
fn contents(source: &Path, local: LocalData, visit: &mut Visit<'_>) -> Result<Vec<String>, Error> {
    let failed = |path: &Path| {
        let path = path.to_owned();
        move |error: rustix::io::Errno| Error::io("read", path, error.into())
    };
    let root = openat(CWD, source, FOLDER, Mode::empty()).map_err(failed(source))?;
    let mut seen = Vec::new();
    let entries = ENTRIES.into_iter().chain([LOCAL]);
    for entry in entries.filter(|entry| local == LocalData::Copied || *entry != LOCAL) {
        match statat(&root, entry, AtFlags::SYMLINK_NOFOLLOW) {
            Err(rustix::io::Errno::NOENT) => continue,
            Err(error) => return Err(failed(&source.join(entry))(error)),
            Ok(stat) => {
                if FileType::from_raw_mode(stat.st_mode) != FileType::Directory {
                    return Err(Error::Refused(format!("`{entry}` is not a folder")));
                }
            }
        }
        let from =
            openat(&root, entry, FOLDER, Mode::empty()).map_err(failed(&source.join(entry)))?;
        let is_left_out = |folder: &Path, name: &OsStr| {
            files::temporary_owner(&name.to_string_lossy()).is_some()
                || (folder == Path::new(LOCAL) && is_never_copied(name))
        };
        walk(&from, Path::new(entry), &is_left_out, visit)
            .map_err(|error| Error::io("copied", source.join(entry), error))?;
        seen.push(entry.to_owned());
    }
    Ok(seen)
}

/// Returns whether a link in a folder `depth` levels below the root can only lead to a path below the root: `..` is
/// allowed at its beginning only. Links on the way down obey the same rule.
fn link_stays_inside(link: &Path, depth: usize) -> bool {
    let mut up = 0;
    let mut is_down = false;
    for part in link.components() {
        match part {
            Component::ParentDir if !is_down => up += 1,
            Component::Normal(_) => is_down = true,
            Component::CurDir => {}
            Component::ParentDir | Component::RootDir | Component::Prefix(_) => return false,
        }
    }
    up <= depth
}

/// Copies the first `length` bytes of a file.
fn copy_file(from: &File, length: u64, to: &Path) -> io::Result<()> {
    let metadata = from.metadata()?;
    if !metadata.is_file() {
        return Ok(());
    }
    let mut copy = OpenOptions::new()
        .read(true)
        .write(true)
        .create_new(true)
        .mode(metadata.mode() & 0o777)
        .open(to)?;
    io::copy(&mut from.take(length), &mut copy)?;
    if is_log(to) && from.metadata()?.len() > length {
        // Lines are appended without the lock, so the length may lie within a line; the incomplete line is removed.
        cut_after_last_line(&mut copy, length)?;
    }
    copy.sync_all()
}

fn cut_after_last_line(file: &mut File, length: u64) -> io::Result<()> {
    const BLOCK: u64 = 64 << 10;
    let mut end = length;
    while end > 0 {
        let start = end.saturating_sub(BLOCK);
        file.seek(SeekFrom::Start(start))?;
        let mut block = Vec::new();
        (&*file).take(end - start).read_to_end(&mut block)?;
        if let Some(at) = block.iter().rposition(|byte| *byte == b'\n') {
            return file.set_len(start + at as u64 + 1);
        }
        end = start;
    }
    file.set_len(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_goes_up_to_the_root_at_most() {
        for (link, depth, stays) in [
            ("x.md", 1, true),
            ("../x.md", 1, true),
            ("../../x.md", 1, false),
            ("./../a/b", 2, true),
            ("a/../b", 2, false),
            ("/etc/passwd", 2, false),
        ] {
            assert_eq!(link_stays_inside(Path::new(link), depth), stays, "{link}");
        }
    }

    #[test]
    fn half_a_line_is_cut() {
        for (text, expected) in [("a\nb\nc", "a\nb\n"), ("abc", ""), ("a\n", "a\n")] {
            let mut file = tempfile::tempfile().unwrap();
            io::Write::write_all(&mut file, text.as_bytes()).unwrap();
            cut_after_last_line(&mut file, text.len() as u64).unwrap();
            file.rewind().unwrap();
            assert_eq!(io::read_to_string(&file).unwrap(), expected);
        }
    }
}
