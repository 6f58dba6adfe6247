//! Restores a backup: verifies the whole archive, extracts it beside the targets and then moves it into place.

use std::{
    fs::{self, DirBuilder, File, OpenOptions},
    io::{self, BufReader},
    os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _},
    path::{Path, PathBuf},
};

use serde::Serialize;
use sources::random_text;

use super::{
    BackupInfo, Error, FORMAT, HOME, INFO,
    archive::{self, ArchiveError, Entry, Manifest},
    parent,
};

/// The maximum size of the first entry of an archive, in bytes.
const MAX_INFO_BYTES: u64 = 1 << 20;

/// The parameters of a restore.
#[derive(Clone, Debug)]
pub struct RestoreRequest<'a> {
    /// The path of the archive.
    pub file: &'a Path,
    /// The path of the home to create.
    pub home: &'a Path,
    /// The directory to restore company folders into; required if the archive contains any. The paths recorded in the
    /// archive are not used, because an untrusted archive could then choose where to write.
    pub companies: Option<&'a Path>,
}

/// The result of a restore.
#[derive(Debug, PartialEq, Serialize)]
pub struct RestoreSummary {
    /// The path of the restored home.
    pub home: PathBuf,
    /// The number of files in the archive.
    pub files: usize,
    /// The restored company folders.
    pub companies: Vec<RestoredFolder>,
}

/// A restored company folder.
#[derive(Debug, PartialEq, Serialize)]
pub struct RestoredFolder {
    /// The path recorded in the archive.
    pub from: String,
    /// The path it was restored to.
    pub to: PathBuf,
}

/// Restores an archive. `now_ms` is the current time in Unix milliseconds. `progress` receives the number of processed
/// bytes and the total, which is twice the size of the archive because every byte is read twice.
pub fn restore(
    request: &RestoreRequest<'_>,
    now_ms: i64,
    progress: &mut dyn FnMut(u64, u64),
) -> Result<RestoreSummary, Error> {
    let failed = |source| Error::File {
        path: request.file.to_owned(),
        source,
    };
    let refused = |refusal| match refusal {
        ArchiveError::Io(source) => failed(source),
        ArchiveError::Damaged(why) => Error::Damaged {
            path: request.file.to_owned(),
            why,
        },
    };
    let length = fs::metadata(request.file).map_err(failed)?.len();
    let mut read = |visit: &mut Visit<'_>, from: u64| {
        let file = File::open(request.file)?;
        let input = ProgressReader {
            input: BufReader::with_capacity(1 << 20, file),
            count: from,
            progress: &mut |count| progress(count, 2 * length),
        };
        archive::read(input, length, visit)
    };
    let (info, manifest) = check(&mut read).map_err(refused)?;
    let targets = RestoreTargets::choose(&info, request)?;
    let mut staged = Vec::new();
    let mut write = || -> Result<(), Error> {
        for target in &targets.0 {
            staged.push(StagedFolder::new(&target.to)?);
        }
        let again = read(
            &mut |path, entry| write_entry(path, entry, &targets, &staged),
            length,
        );
        // Both passes must read the same content.
        if again.map_err(refused)? == manifest {
            Ok(())
        } else {
            Err(refused(ArchiveError::Damaged(
                "it changed while it was read".to_owned(),
            )))
        }
    };
    write()?;
    let database = staged[0].path.join("gateway.db");
    for target in &targets.0[1..] {
        let to = target.to.to_string_lossy();
        if target.from != to {
            crud::move_company_folder(&database, &target.from, &to)?;
        }
    }
    // Clients may have seen sequence numbers that were used after the backup, and they ignore lower ones. Numbers
    // derived from the current time exceed all of these, including those of an earlier restore.
    crud::raise_numbers(&database, numbers_from(now_ms))?;
    // The home is moved last: once it exists, everything else is in place.
    for (staged, target) in staged.iter_mut().zip(&targets.0).rev() {
        staged.move_into_place(&target.to)?;
    }
    let mut targets = targets.0.into_iter();
    let home = targets.next().map_or_else(PathBuf::new, |home| home.to);
    Ok(RestoreSummary {
        home,
        files: manifest.len(),
        companies: targets
            .map(|RestoreTarget { from, to, .. }| RestoredFolder { from, to })
            .collect(),
    })
}

/// Returns the first sequence number of notifications for a home restored at this time. It is higher than any number an
/// earlier gateway can have used, and below the largest safe integer of JavaScript (2^53) until the year 2248.
fn numbers_from(now_ms: i64) -> i64 {
    const PER_MILLISECOND: i64 = 1 << 10;
    now_ms.saturating_mul(PER_MILLISECOND)
}

type Visit<'a> = dyn FnMut(&str, Entry<'_>) -> Result<(), ArchiveError> + 'a;
type ReadArchive<'a> = dyn FnMut(&mut Visit<'_>, u64) -> Result<Manifest, ArchiveError> + 'a;

/// Reads and verifies the archive without writing anything.
fn check(read: &mut ReadArchive<'_>) -> Result<(BackupInfo, Manifest), ArchiveError> {
    let mut info: Option<BackupInfo> = None;
    let manifest = read(
        &mut |path, entry| {
            match &info {
                None => info = Some(read_info(path, entry)?),
                Some(info) => check_entry_path(path, info)?,
            }
            Ok(())
        },
        0,
    )?;
    let info = info.ok_or_else(|| ArchiveError::Damaged("it is empty".to_owned()))?;
    if manifest.contains_key("home/gateway.db") {
        Ok((info, manifest))
    } else {
        Err(ArchiveError::Damaged("it has no database".to_owned()))
    }
}

fn read_info(path: &str, entry: Entry<'_>) -> Result<BackupInfo, ArchiveError> {
    let Entry::File { content, .. } = entry else {
        return Err(ArchiveError::Damaged(
            "it does not start with the description of a backup".to_owned(),
        ));
    };
    let mut text = String::new();
    let mut content = io::Read::take(content, MAX_INFO_BYTES);
    let read = io::Read::read_to_string(&mut content, &mut text);
    let info = read.ok().and_then(|_| serde_json::from_str(&text).ok());
    let info: BackupInfo = info.filter(|_| path == INFO).ok_or_else(|| {
        ArchiveError::Damaged("it does not start with the description of a backup".to_owned())
    })?;
    let is_absolute = |dir: &String| Path::new(dir).is_absolute();
    if info.format == FORMAT && info.companies.iter().all(is_absolute) {
        Ok(info)
    } else {
        Err(ArchiveError::Damaged(format!(
            "it was made by Accord {}, in a format that this version does not support",
            info.version.escape_debug()
        )))
    }
}

/// Rejects a path that belongs neither to the home nor to one of the company folders.
fn check_entry_path(path: &str, info: &BackupInfo) -> Result<(), ArchiveError> {
    let mut parts = path.split('/');
    let is_known = match (parts.next(), parts.next()) {
        (Some("home"), None) | (Some("companies"), None) => true,
        // Backups contain no other files of a home. In particular, an archive cannot decide which folders this machine
        // trusts.
        (Some("home"), Some(name)) => HOME.contains(&name),
        (Some("companies"), Some(number)) => {
            let found = number.parse::<usize>().ok();
            found.is_some_and(|found| found < info.companies.len() && found.to_string() == number)
        }
        _ => false,
    };
    if is_known {
        Ok(())
    } else {
        Err(ArchiveError::Damaged(format!(
            "it contains the path `{}`, which is not allowed",
            path.escape_debug()
        )))
    }
}

/// The restore targets: the home first, then the company folders by number.
struct RestoreTargets(Vec<RestoreTarget>);

struct RestoreTarget {
    /// The path prefix of its entries in the archive.
    entry: String,
    from: String,
    to: PathBuf,
}

impl RestoreTargets {
    fn choose(info: &BackupInfo, request: &RestoreRequest<'_>) -> Result<Self, Error> {
        let whole = |path: &Path| {
            let made = std::path::absolute(path);
            made.map_err(|source| Error::File {
                path: path.to_owned(),
                source,
            })
        };
        let mut targets = vec![RestoreTarget {
            entry: "home".to_owned(),
            from: String::new(),
            to: whole(request.home)?,
        }];
        for (number, from) in info.companies.iter().enumerate() {
            let Some(folder) = request.companies else {
                return Err(Error::NoCompaniesFolder {
                    companies: info.companies.clone(),
                });
            };
            let folder = whole(folder)?;
            let name = Path::new(from).file_name().and_then(|name| name.to_str());
            let name = name.unwrap_or("company");
            let mut to = folder.join(name);
            let mut count = 1;
            while targets.iter().any(|target| target.to == to) {
                count += 1;
                to = folder.join(format!("{name}-{count}"));
            }
            targets.push(RestoreTarget {
                entry: format!("companies/{number}"),
                from: from.clone(),
                to,
            });
        }
        for (index, target) in targets.iter().enumerate() {
            let hint = match index {
                0 => "name a new home with --home",
                _ => "name another folder with --companies",
            };
            if !is_free(&target.to)? {
                let path = target.to.clone();
                return Err(Error::Occupied { path, hint });
            }
        }
        for target in &targets {
            let holds =
                |other: &&RestoreTarget| other.to != target.to && target.to.starts_with(&other.to);
            if let Some(other) = targets.iter().find(holds) {
                return Err(Error::Inside {
                    path: target.to.clone(),
                    folder: other.to.clone(),
                });
            }
        }
        Ok(Self(targets))
    }

    /// Returns the index of the target of an entry and the path below it.
    fn find<'p>(&self, path: &'p str) -> Option<(usize, &'p str)> {
        self.0.iter().enumerate().find_map(|(index, target)| {
            let rest = path.strip_prefix(&target.entry)?;
            if rest.is_empty() {
                Some((index, ""))
            } else {
                Some((index, rest.strip_prefix('/')?))
            }
        })
    }
}

/// Returns whether the path does not exist or is an empty directory.
fn is_free(path: &Path) -> Result<bool, Error> {
    let failed = |source| Error::File {
        path: path.to_owned(),
        source,
    };
    match fs::symlink_metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(true),
        Err(error) => Err(failed(error)),
        Ok(found) if !found.is_dir() => Ok(false),
        Ok(_) => Ok(fs::read_dir(path).map_err(failed)?.next().is_none()),
    }
}

/// Writes an entry to its staging directory.
fn write_entry(
    path: &str,
    entry: Entry<'_>,
    targets: &RestoreTargets,
    staged: &[StagedFolder],
) -> Result<(), ArchiveError> {
    let Some((index, below)) = targets.find(path) else {
        return Ok(());
    };
    let to = if below.is_empty() {
        return Ok(());
    } else {
        staged[index].path.join(below)
    };
    match entry {
        Entry::Folder => DirBuilder::new().mode(0o700).create(&to)?,
        Entry::File { mode, content } => {
            let mut options = OpenOptions::new();
            options.write(true).create_new(true).mode(mode & 0o700);
            let mut file = options.open(&to)?;
            io::copy(content, &mut file)?;
            file.sync_all()?;
        }
    }
    Ok(())
}

/// A staging directory beside its target. Dropping it removes the directory unless it was moved into place.
struct StagedFolder {
    path: PathBuf,
    is_placed: bool,
}

impl StagedFolder {
    fn new(target: &Path) -> Result<Self, Error> {
        let folder = parent(target);
        let path = folder.join(format!(".accord-restore-{}", random_text(8)));
        let made = DirBuilder::new().recursive(true).mode(0o700).create(&path);
        made.map_err(|source| Error::File {
            path: target.to_owned(),
            source,
        })?;
        Ok(Self {
            path,
            is_placed: false,
        })
    }

    fn move_into_place(&mut self, target: &Path) -> Result<(), Error> {
        let placed = sync_folders(&self.path)
            // The rename replaces an empty directory and fails on any other.
            .and_then(|()| fs::rename(&self.path, target))
            .and_then(|()| File::open(parent(target))?.sync_all());
        placed.map_err(|source| Error::File {
            path: target.to_owned(),
            source,
        })?;
        self.is_placed = true;
        Ok(())
    }
}

impl Drop for StagedFolder {
    fn drop(&mut self) {
        if !self.is_placed {
            let _ = fs::remove_dir_all(&self.path);
        }
    }
}

/// Syncs the directories bottom-up, so that their entries are durable.
fn sync_folders(folder: &Path) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            sync_folders(&entry.path())?;
        }
    }
    File::open(folder)?.sync_all()
}

/// A reader that reports the number of bytes read.
struct ProgressReader<'a, R> {
    input: R,
    count: u64,
    progress: &'a mut dyn FnMut(u64),
}

impl<R: io::Read> io::Read for ProgressReader<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.input.read(buffer)?;
        self.count += count as u64;
        (self.progress)(self.count);
        Ok(count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_archive_adds_nothing_to_a_home_that_a_backup_does_not_save() {
        let info = BackupInfo {
            format: FORMAT,
            version: "0.1.0".to_owned(),
            created_at: 0,
            companies: vec!["/acme".to_owned()],
        };
        for path in [
            "home/trusted_folders.json",
            "home/folder_key",
            "home/open.html",
            "elsewhere/file",
            "companies/1/file",
        ] {
            assert!(check_entry_path(path, &info).is_err(), "{path}");
        }
        for path in [
            "home",
            "home/gateway.db",
            "home/config.toml",
            "home/token",
            "home/artifacts/workspaces/ws_a",
            "companies/0/company/company.yaml",
        ] {
            assert!(check_entry_path(path, &info).is_ok(), "{path}");
        }
    }
}
