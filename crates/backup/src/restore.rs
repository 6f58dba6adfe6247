//! Restores a backup: verifies the whole archive, extracts it beside the targets and then moves it into place.

use std::{
    fs::{self, DirBuilder, File, OpenOptions},
    io::{self, BufReader},
    os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _},
    path::{Path, PathBuf},
};

use serde::Serialize;
use sources::{Clock as _, SystemClock, random_text};

use super::{
    ABOUT, About, BackupError, FORMAT, HOME,
    archive::{self, Entry, Manifest, Refusal},
    parent,
};

/// The maximum size of the first entry, in bytes.
const LONGEST_ABOUT: u64 = 1 << 20;

/// The parameters of a restore.
#[derive(Clone, Debug)]
pub struct Restore<'a> {
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
pub struct Restored {
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

/// Restores an archive. `progress` receives the number of processed bytes and the total; every byte is read twice.
pub fn restore(
    wish: &Restore<'_>,
    progress: &mut dyn FnMut(u64, u64),
) -> Result<Restored, BackupError> {
    let failed = |source| BackupError::File {
        path: wish.file.to_owned(),
        source,
    };
    let refused = |refusal| match refusal {
        Refusal::Io(source) => failed(source),
        Refusal::Damaged(why) => BackupError::Damaged {
            path: wish.file.to_owned(),
            why,
        },
    };
    let length = fs::metadata(wish.file).map_err(failed)?.len();
    let mut read = |visit: &mut Visit<'_>, from: u64| {
        let file = File::open(wish.file)?;
        let input = Counted {
            input: BufReader::with_capacity(1 << 20, file),
            count: from,
            progress: &mut |count| progress(count, 2 * length),
        };
        archive::read(input, length, visit)
    };
    let (about, manifest) = check(&mut read).map_err(refused)?;
    let places = Places::choose(&about, wish)?;
    let mut staged = Vec::new();
    let mut write = || -> Result<(), BackupError> {
        for place in &places.0 {
            staged.push(Staged::new(&place.to)?);
        }
        let again = read(
            &mut |path, entry| put(path, entry, &places, &staged),
            length,
        );
        // Both passes must read the same content.
        match again.map_err(refused)? == manifest {
            true => Ok(()),
            false => Err(refused(Refusal::Damaged("it changes".to_owned()))),
        }
    };
    write()?;
    let database = staged[0].path.join("gateway.db");
    for place in &places.0[1..] {
        let to = place.to.to_string_lossy();
        if place.from != to {
            crud::move_company_folder(&database, &place.from, &to)?;
        }
    }
    // Clients that stayed connected have seen sequence numbers the backup does not contain, and they ignore lower ones.
    // Numbers derived from the current time exceed all of these, including those of an earlier restore.
    crud::raise_numbers(&database, numbers_from(SystemClock.now_ms()))?;
    // The home is moved last: once it exists, everything else is in place.
    for (staged, place) in staged.iter_mut().zip(&places.0).rev() {
        staged.put_in_place(&place.to)?;
    }
    let mut places = places.0.into_iter();
    let home = places.next().map_or_else(PathBuf::new, |home| home.to);
    Ok(Restored {
        home,
        files: manifest.len(),
        companies: places
            .map(|Place { from, to, .. }| RestoredFolder { from, to })
            .collect(),
    })
}

/// Returns the first sequence number of notifications for a home restored at this time. It is higher than any number an
/// earlier gateway can have used, and below the largest safe integer of JavaScript (2^53) until the year 2248.
fn numbers_from(now_ms: i64) -> i64 {
    const PER_MILLISECOND: i64 = 1 << 10;
    now_ms.saturating_mul(PER_MILLISECOND)
}

type Visit<'a> = dyn FnMut(&str, Entry<'_>) -> Result<(), Refusal> + 'a;
type ReadArchive<'a> = dyn FnMut(&mut Visit<'_>, u64) -> Result<Manifest, Refusal> + 'a;

/// Reads and verifies the archive without writing anything.
fn check(read: &mut ReadArchive<'_>) -> Result<(About, Manifest), Refusal> {
    let mut about: Option<About> = None;
    let manifest = read(
        &mut |path, entry| {
            match &about {
                None => about = Some(read_about(path, entry)?),
                Some(about) => check_place(path, about)?,
            }
            Ok(())
        },
        0,
    )?;
    let about = about.ok_or_else(|| Refusal::Damaged("it is empty".to_owned()))?;
    match manifest.contains_key("home/gateway.db") {
        true => Ok((about, manifest)),
        false => Err(Refusal::Damaged("it has no database".to_owned())),
    }
}

fn read_about(path: &str, entry: Entry<'_>) -> Result<About, Refusal> {
    let Entry::File { content, .. } = entry else {
        return Err(Refusal::Damaged(
            "it does not begin like a backup".to_owned(),
        ));
    };
    let mut text = String::new();
    let mut content = io::Read::take(content, LONGEST_ABOUT);
    let read = io::Read::read_to_string(&mut content, &mut text);
    let about = read.ok().and_then(|_| serde_json::from_str(&text).ok());
    let about: About = about
        .filter(|_| path == ABOUT)
        .ok_or_else(|| Refusal::Damaged("it does not begin like a backup".to_owned()))?;
    let is_absolute = |dir: &String| Path::new(dir).is_absolute();
    match about.format == FORMAT && about.companies.iter().all(is_absolute) {
        true => Ok(about),
        false => Err(Refusal::Damaged(format!(
            "it was made by Accord {}, in a form this one does not know",
            about.version.escape_debug()
        ))),
    }
}

/// Rejects a path that belongs neither to the home nor to one of the company folders.
fn check_place(path: &str, about: &About) -> Result<(), Refusal> {
    let mut parts = path.split('/');
    let is_known = match (parts.next(), parts.next()) {
        (Some("home"), None) | (Some("companies"), None) => true,
        // Backups contain no other files of a home. In particular, an archive cannot decide which folders this machine
        // trusts.
        (Some("home"), Some(name)) => HOME.contains(&name),
        (Some("companies"), Some(number)) => {
            let found = number.parse::<usize>().ok();
            found.is_some_and(|found| found < about.companies.len() && found.to_string() == number)
        }
        _ => false,
    };
    match is_known {
        true => Ok(()),
        false => Err(Refusal::Damaged(format!(
            "it has the path `{}`",
            path.escape_debug()
        ))),
    }
}

/// The restore targets: the home first, then the company folders by number.
struct Places(Vec<Place>);

struct Place {
    /// The path prefix of its entries in the archive.
    entry: String,
    from: String,
    to: PathBuf,
}

impl Places {
    fn choose(about: &About, wish: &Restore<'_>) -> Result<Self, BackupError> {
        let whole = |path: &Path| {
            let made = std::path::absolute(path);
            made.map_err(|source| BackupError::File {
                path: path.to_owned(),
                source,
            })
        };
        let mut places = vec![Place {
            entry: "home".to_owned(),
            from: String::new(),
            to: whole(wish.home)?,
        }];
        for (number, from) in about.companies.iter().enumerate() {
            let Some(folder) = wish.companies else {
                return Err(BackupError::NoPlace {
                    companies: about.companies.clone(),
                });
            };
            let folder = whole(folder)?;
            let name = Path::new(from).file_name().and_then(|name| name.to_str());
            let name = name.unwrap_or("company");
            let mut to = folder.join(name);
            let mut count = 1;
            while places.iter().any(|place| place.to == to) {
                count += 1;
                to = folder.join(format!("{name}-{count}"));
            }
            places.push(Place {
                entry: format!("companies/{number}"),
                from: from.clone(),
                to,
            });
        }
        for (index, place) in places.iter().enumerate() {
            let hint = match index {
                0 => "name a new home with --home",
                _ => "name another folder with --companies",
            };
            if !is_free(&place.to)? {
                let path = place.to.clone();
                return Err(BackupError::Occupied { path, hint });
            }
        }
        for place in &places {
            let holds = |other: &&Place| other.to != place.to && place.to.starts_with(&other.to);
            if let Some(other) = places.iter().find(holds) {
                return Err(BackupError::Inside {
                    path: place.to.clone(),
                    folder: other.to.clone(),
                });
            }
        }
        Ok(Self(places))
    }

    /// Returns the index of the target of an entry and the path below it.
    fn find<'p>(&self, path: &'p str) -> Option<(usize, &'p str)> {
        self.0.iter().enumerate().find_map(|(index, place)| {
            let rest = path.strip_prefix(&place.entry)?;
            match rest.is_empty() {
                true => Some((index, "")),
                false => Some((index, rest.strip_prefix('/')?)),
            }
        })
    }
}

/// Returns whether the path does not exist or is an empty directory.
fn is_free(path: &Path) -> Result<bool, BackupError> {
    let failed = |source| BackupError::File {
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
fn put(path: &str, entry: Entry<'_>, places: &Places, staged: &[Staged]) -> Result<(), Refusal> {
    let Some((index, below)) = places.find(path) else {
        return Ok(());
    };
    let to = match below.is_empty() {
        true => return Ok(()),
        false => staged[index].path.join(below),
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
struct Staged {
    path: PathBuf,
    is_placed: bool,
}

impl Staged {
    fn new(target: &Path) -> Result<Self, BackupError> {
        let folder = parent(target);
        let path = folder.join(format!(".accord-restore-{}", random_text(8)));
        let made = DirBuilder::new().recursive(true).mode(0o700).create(&path);
        made.map_err(|source| BackupError::File {
            path: target.to_owned(),
            source,
        })?;
        Ok(Self {
            path,
            is_placed: false,
        })
    }

    fn put_in_place(&mut self, target: &Path) -> Result<(), BackupError> {
        let placed = sync_folders(&self.path)
            // The rename replaces an empty directory and fails on any other.
            .and_then(|()| fs::rename(&self.path, target))
            .and_then(|()| File::open(parent(target))?.sync_all());
        placed.map_err(|source| BackupError::File {
            path: target.to_owned(),
            source,
        })?;
        self.is_placed = true;
        Ok(())
    }
}

impl Drop for Staged {
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
struct Counted<'a, R> {
    input: R,
    count: u64,
    progress: &'a mut dyn FnMut(u64),
}

impl<R: io::Read> io::Read for Counted<'_, R> {
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
        let about = About {
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
            assert!(check_place(path, &about).is_err(), "{path}");
        }
        for path in [
            "home",
            "home/gateway.db",
            "home/config.toml",
            "home/token",
            "home/artifacts/workspaces/ws_a",
            "companies/0/company/company.yaml",
        ] {
            assert!(check_place(path, &about).is_ok(), "{path}");
        }
    }
}
