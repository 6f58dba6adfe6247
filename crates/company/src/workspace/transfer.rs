//! `workspace.export` and `workspace.import`: a company folder copied to another place, whole or not at all.
//!
//! The copy is made beside its place and renamed when it is complete, so nothing that was there is lost by a failure.
//! The source is read without following any link.

#![allow(
    clippy::disallowed_methods,
    reason = "copies between a folder and a place that a person names, link by link"
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
        walk::{FOLDER, Found, Visit, walk},
    },
    folder::lock::{LOCK_PATH, QUEUE_PATH, process_is_gone},
    format::yaml,
    layout::{self, LOCAL},
    workspace::init::{self, NonEmpty},
};

/// What a company consists of, in the order in which it is copied.
const ENTRIES: [&str; 4] = ["company", "org", "work", "inbox"];

/// Copies a company folder to a place where it can be kept or sent from.
pub fn export(
    companies: &Companies,
    params: &CompanyWorkspaceExportParams,
) -> Result<CompanyWorkspaceExportResponse, Error> {
    let source = companies.at(&params.workspace_dir);
    let issues = validate(&source);
    if !issues.is_empty() {
        let sentence = format!(
            "Cannot export invalid workspace ({}). Run workspace:validate first.",
            source.given()
        );
        return Err(Error::FolderInvalid { sentence, issues });
    }
    let local = Local::from_param(params.include_local);
    let target = Target::check(
        companies,
        &source,
        &params.out_dir,
        NonEmpty::from_force(params.force),
    )?;
    let exported_entries = target.replace(Lock::Forgotten, |staged| {
        copy(&Snapshot::take(&source, local)?, staged)
    })?;
    Ok(CompanyWorkspaceExportResponse {
        workspace_dir: source.given().to_owned(),
        out_dir: params.out_dir.to_string(),
        include_local: local == Local::Copied,
        exported_entries,
    })
}

/// Makes a company folder from an export.
pub fn import(
    companies: &Companies,
    params: &CompanyWorkspaceImportParams,
) -> Result<CompanyWorkspaceImportResponse, Error> {
    let source = companies.at(&params.src_dir);
    let mut issues = validate(&source);
    issues.retain(|issue| !is_left_out_of_exports(issue));
    if !issues.is_empty() {
        let sentence = format!(
            "Cannot import invalid source workspace ({}).",
            source.given()
        );
        return Err(Error::FolderInvalid { sentence, issues });
    }
    let local = Local::from_param(params.include_local);
    let target = Target::check(
        companies,
        &source,
        &params.workspace_dir,
        NonEmpty::from_force(params.force),
    )?;
    let (imported_entries, issues) = target.replace(Lock::Kept, |staged| {
        let entries = copy(&Snapshot::take(&source, local)?, staged)?;
        let machine = staged.join(layout::MACHINE);
        if !machine.exists() {
            files::replace(&machine, yaml::print(&Machine::initial())?.as_bytes())?;
        }
        let ignored = staged.join(layout::GITIGNORE);
        files::replace(&ignored, init::IGNORED.as_bytes())?;
        let issues = validate(&companies.at(&staged.to_string_lossy()));
        Ok((entries, issues))
    })?;
    match local {
        // Programs and a heartbeat came along, which a person has to see first.
        Local::Copied => companies.at(&params.workspace_dir).distrust()?,
        Local::LeftOut => companies.at(&params.workspace_dir).trust()?,
    }
    Ok(CompanyWorkspaceImportResponse {
        src_dir: source.given().to_owned(),
        workspace_dir: params.workspace_dir.to_string(),
        include_local: local == Local::Copied,
        imported_entries,
        validation_ok: issues.is_empty(),
        validation_issues: issues.len() as u64,
    })
}

fn is_left_out_of_exports(issue: &ValidationIssue) -> bool {
    matches!(issue.code.as_str(), "missing_dir" | "missing_file")
        && matches!(issue.path.as_deref(), Some(LOCAL | layout::MACHINE))
}

/// Whether what holds on this machine alone is copied, too.
#[derive(Clone, Copy, PartialEq)]
enum Local {
    Copied,
    LeftOut,
}

impl Local {
    fn from_param(include_local: Option<bool>) -> Self {
        match include_local {
            Some(true) => Self::Copied,
            Some(false) | None => Self::LeftOut,
        }
    }
}

/// What belongs to processes of this machine and this moment: it is never copied.
fn is_never_copied(name: &OsStr) -> bool {
    let name = name.as_bytes();
    matches!(name, b"locks" | b"sessions" | b"worktrees") || name.starts_with(b"index.sqlite")
}

/// A company folder at one moment, to be read while others go on writing.
///
/// Only the list is made under the write lock. Documents are replaced by rename, so a second name keeps each of them as
/// it was. Logs only grow: how long they were is enough. What cannot get a second name is copied.
struct Snapshot {
    source: PathBuf,
    /// The parts of a company that are there.
    entries: Vec<String>,
    /// In the order of [`walk`].
    listed: Vec<(PathBuf, Listed)>,
    /// Where the second names are; absent when the source has no write lock and is read where it is.
    kept: Option<Kept>,
}

/// What is at a path of a snapshot.
enum Listed {
    Folder,
    Left,
    /// A file that is read where it is.
    InPlace,
    /// A file with a second name, this number.
    Kept(usize),
    /// A log, and how long it was.
    Log(u64),
    Link(PathBuf),
    Odd,
}

/// A folder of second names. It is removed when dropped; doctor removes those of dead processes.
struct Kept(PathBuf);

impl Drop for Kept {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

impl Snapshot {
    /// Where second names are made, on the file system of the folder. The folder `locks` is never copied.
    const KEPT: &str = ".local/locks/snapshot";

    fn take(source: &Company, local: Local) -> Result<Self, Error> {
        // Nobody of this machine writes to a folder that is not trusted.
        if !source.is_trusted() || !source.path(LOCAL).is_dir() {
            return Self::list(source, local, None);
        }
        match source.write(|_| {
            let path = files::make_staging(&source.path(Self::KEPT))?;
            Self::list(source, local, Some(Kept(path)))
        }) {
            // A disk that cannot be written has no writers.
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

    fn list(source: &Company, local: Local, kept: Option<Kept>) -> Result<Self, Error> {
        let mut listed = Vec::new();
        let root = source.root();
        let entries = contents(root, local, &mut |path, found| {
            let found = match (found, &kept) {
                (Found::Folder, _) => Listed::Folder,
                (Found::Left, _) => Listed::Left,
                (Found::Link(link), _) => Listed::Link(link.to_owned()),
                (Found::Odd, _) => Listed::Odd,
                (Found::File(_) | Found::Log(..), None) => Listed::InPlace,
                (Found::Log(_, length), Some(_)) => Listed::Log(length),
                (Found::File(file), Some(_)) if is_log(path) => Listed::Log(file.metadata()?.len()),
                (Found::File(file), Some(kept)) => {
                    let number = listed.len();
                    keep(file, &root.join(path), &kept.0.join(number.to_string()))?;
                    Listed::Kept(number)
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

    /// Shows everything as it was.
    fn visit(&self, visit: &mut Visit<'_>) -> Result<(), Error> {
        for (path, listed) in &self.listed {
            let place = self.source.join(path);
            let visited = match listed {
                Listed::Folder => visit(path, Found::Folder),
                Listed::Left => visit(path, Found::Left),
                Listed::Link(link) => visit(path, Found::Link(link)),
                Listed::Odd => visit(path, Found::Odd),
                Listed::InPlace => {
                    open_plain(&place).and_then(|file| visit(path, Found::File(&file)))
                }
                Listed::Kept(number) => {
                    let kept = self.kept.as_ref().map(|kept| &kept.0);
                    let name = kept.map_or(place.clone(), |kept| kept.join(number.to_string()));
                    open_plain(&name).and_then(|file| visit(path, Found::File(&file)))
                }
                Listed::Log(length) => match open_plain(&place) {
                    // Removed since, with all that was in it.
                    Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
                    opened => opened.and_then(|file| visit(path, Found::Log(&file, *length))),
                },
            };
            visited.map_err(|error| Error::io("copied", &place, error))?;
        }
        Ok(())
    }
}

/// Gives a file that is open a second name. Where the system refuses, the file is copied.
fn keep(file: &File, place: &Path, name: &Path) -> io::Result<()> {
    let identity = |metadata: fs::Metadata| (metadata.dev(), metadata.ino());
    if fs::hard_link(place, name).is_ok() {
        if identity(fs::symlink_metadata(name)?) == identity(file.metadata()?) {
            return Ok(());
        }
        // Another program put something else there in between.
        fs::remove_file(name)?;
    }
    let metadata = file.metadata()?;
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    let mut copy = options.mode(metadata.mode() & 0o777).open(name)?;
    let mut reader = file;
    io::copy(&mut reader, &mut copy).map(drop)
}

/// Opens a plain file for reading. A pipe in its place does not hold us.
fn open_plain(path: &Path) -> io::Result<File> {
    let flags = (OFlags::NOFOLLOW | OFlags::NONBLOCK).bits();
    let flags = i32::try_from(flags).map_err(io::Error::other)?;
    OpenOptions::new().read(true).custom_flags(flags).open(path)
}

/// Whether lines are appended to a file without the write lock.
fn is_log(path: &Path) -> bool {
    path.extension().is_some_and(|ending| ending == "jsonl")
}

/// A place that may be written.
struct Target<'a> {
    companies: &'a Companies,
    given: &'a str,
    /// Absolute and without links.
    path: PathBuf,
    non_empty: NonEmpty,
}

/// Whether the copy is worked on as soon as it is there.
#[derive(Clone, Copy, PartialEq)]
enum Lock {
    /// It is: the write lock of what it replaces goes over to it.
    Kept,
    /// It is not.
    Forgotten,
}

/// What is at the place now.
#[derive(Clone, Copy, PartialEq)]
enum Existing {
    NothingOrEmpty,
    CompanyFolder,
}

impl<'a> Target<'a> {
    fn check(
        companies: &'a Companies,
        source: &Company,
        given: &'a str,
        non_empty: NonEmpty,
    ) -> Result<Self, Error> {
        let path = real_place(given)?;
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
        self.companies.at(&self.path.to_string_lossy())
    }

    /// Builds what will be here beside it, then puts it here.
    fn replace<R>(
        &self,
        lock: Lock,
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
                // The error that matters is the first one.
                let _ = fs::remove_dir_all(&staged);
                return Err(error);
            }
        };
        files::sync_dir(parent)?;
        // What was here before is now there.
        if let Err(error) = fs::remove_dir_all(&staged)
            && error.kind() != io::ErrorKind::NotFound
        {
            tracing::warn!(path = %staged.display(), %error, "an old company folder is left");
        }
        Ok(built)
    }

    fn put_in_place(&self, staged: &Path, lock: Lock) -> Result<(), Error> {
        let failed = |error| Error::io("replaced", &self.path, error);
        if self.existing()? == Existing::NothingOrEmpty {
            return fs::rename(staged, &self.path).map_err(failed);
        }
        let company = self.company();
        // Nobody of this machine writes to a folder that is not trusted.
        if !company.is_trusted() || !self.path.join(LOCAL).is_dir() {
            return exchange(staged, &self.path).map_err(failed);
        }
        company.write(|_| {
            if lock == Lock::Kept {
                // The same files under the same names: until the lock is released they keep other processes out of
                // the new folder, too.
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

    /// Removes copies to this place that a crash left half done.
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

/// Where a path leads, links resolved as far as there is something.
fn real_place(given: &str) -> Result<PathBuf, Error> {
    let refuse = |why: &str| {
        Err(Error::Refused(format!(
            "Refusing to write to `{given}`: {why}"
        )))
    };
    let absolute = std::path::absolute(given).map_err(|error| Error::io("found", given, error))?;
    let mut there = absolute.as_path();
    let mut rest: Vec<&OsStr> = Vec::new();
    loop {
        match there.canonicalize() {
            Ok(mut real) => {
                real.extend(rest.iter().rev());
                return Ok(real);
            }
            Err(error) if error.kind() == io::ErrorKind::NotADirectory => {
                init::check_new(&absolute, given)?;
                return Err(Error::io("found", there, error));
            }
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                return Err(Error::io("found", there, error));
            }
            Err(_) if there.is_symlink() => return refuse("a link in it leads nowhere"),
            Err(_) => match (there.file_name(), there.parent()) {
                (Some(name), Some(parent)) => {
                    rest.push(name);
                    there = parent;
                }
                _ => return refuse("`..` follows a folder that is not there"),
            },
        }
    }
}

/// Whether `inner` is `outer` or lies inside it, also where one folder has two names.
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

/// Lets two folders change places.
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

/// Shows everything a company consists of at one moment, also what holds on this machine alone. Writers wait only while
/// the list is made.
pub fn visit(company: &Company, visit: &mut Visit<'_>) -> Result<(), Error> {
    Snapshot::take(company, Local::Copied)?.visit(visit)
}

/// Copies the parts of a company that are there, and names them.
fn copy(source: &Snapshot, staged: &Path) -> Result<Vec<String>, Error> {
    source.visit(&mut |path, found| {
        let place = staged.join(path);
        match found {
            Found::Folder => fs::create_dir(place),
            Found::Left => File::open(place)?.sync_all(),
            Found::File(file) => copy_file(file, file.metadata()?.len(), &place),
            Found::Log(file, length) => copy_file(file, length, &place),
            Found::Link(link) => {
                let depth = path.components().count() - 1;
                if link_stays_inside(link, depth) {
                    symlink(link, place)
                } else {
                    tracing::warn!(?path, "a link that leads outside is not copied");
                    Ok(())
                }
            }
            Found::Odd => {
                tracing::warn!(?path, "what is no file is not copied");
                Ok(())
            }
        }
    })?;
    Ok(source.entries.clone())
}

/// Shows the parts of a company that are there, and names them.
fn contents(source: &Path, local: Local, visit: &mut Visit<'_>) -> Result<Vec<String>, Error> {
    let failed = |path: &Path| {
        let path = path.to_owned();
        move |error: rustix::io::Errno| Error::io("read", path, error.into())
    };
    let root = openat(CWD, source, FOLDER, Mode::empty()).map_err(failed(source))?;
    let mut seen = Vec::new();
    let entries = ENTRIES.into_iter().chain([LOCAL]);
    for entry in entries.filter(|entry| local == Local::Copied || *entry != LOCAL) {
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

/// Whether a link in a folder `depth` below the root can only lead to something below the root: up at its begin,
/// then down. Links on its way down obey the same rule.
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
        // Lines are appended without the lock: what came in the middle of one is cut.
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
