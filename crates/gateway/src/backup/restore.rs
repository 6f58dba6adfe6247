//! A backup put back: read to its end first, then written beside its places, then moved there.

use std::{
    fs::{self, DirBuilder, File, OpenOptions},
    io::{self, BufReader},
    os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _},
    path::{Path, PathBuf},
};

use serde::Serialize;

use super::{
    ABOUT, About, BackupError, FORMAT, HOME,
    archive::{self, Entry, Manifest, Refusal},
    parent,
};
use crate::sources::{Clock as _, SystemClock, random_text};

/// No first entry is longer.
const LONGEST_ABOUT: u64 = 1 << 20;

/// What is wished.
#[derive(Clone, Debug)]
pub struct Restore<'a> {
    /// The archive.
    pub file: &'a Path,
    /// The home to make.
    pub home: &'a Path,
    /// The folder that company folders are put into. Where the archive says they were is not asked: an archive is
    /// somebody's file, and would choose where to write.
    pub companies: Option<&'a Path>,
}

/// What was restored.
#[derive(Debug, PartialEq, Serialize)]
pub struct Restored {
    /// The home.
    pub home: PathBuf,
    /// How many files were written.
    pub files: usize,
    /// The company folders.
    pub companies: Vec<RestoredFolder>,
}

/// A company folder that was restored.
#[derive(Debug, PartialEq, Serialize)]
pub struct RestoredFolder {
    /// Where it was.
    pub from: String,
    /// Where it is.
    pub to: PathBuf,
}

/// Restores an archive. `progress` hears how many bytes of how many were looked at; every byte is looked at twice.
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
        // What was read twice must be the same twice.
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
    // Clients that stayed open have seen numbers that the backup does not know of, and drop what has such a number. The
    // time is above all of them, also those of an earlier restore of the same backup.
    crud::raise_numbers(&database, numbers_from(SystemClock.now_ms()))?;
    // The home last: whoever finds it finds the rest.
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

/// The number from which the notifications of a home that is restored at this time are counted: more than a gateway that
/// was there before can have given, and less than the largest whole number of JavaScript (2^53) until the year 2248.
fn numbers_from(now_ms: i64) -> i64 {
    const PER_MILLISECOND: i64 = 1 << 10;
    now_ms.saturating_mul(PER_MILLISECOND)
}

type Visit<'a> = dyn FnMut(&str, Entry<'_>) -> Result<(), Refusal> + 'a;
type ReadArchive<'a> = dyn FnMut(&mut Visit<'_>, u64) -> Result<Manifest, Refusal> + 'a;

/// Reads the archive through; nothing is written.
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

/// Everything belongs to the home or to one of the company folders.
fn check_place(path: &str, about: &About) -> Result<(), Refusal> {
    let mut parts = path.split('/');
    let is_known = match (parts.next(), parts.next()) {
        (Some("home"), None) | (Some("companies"), None) => true,
        // Nothing else of a home is saved, and which folders are trusted is for this machine alone to say.
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

/// Where each part goes: the home first, then the company folders by number.
struct Places(Vec<Place>);

struct Place {
    /// What its entries begin with.
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

    /// The place of an entry, and where it is in it.
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

/// Whether nothing is there, or an empty folder.
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

/// Writes an entry to its staged place.
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

/// A folder beside its place. What did not get there goes when this does.
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
            // An empty folder makes room, one with something in it does not.
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

/// Makes the names durable, from the bottom up.
fn sync_folders(folder: &Path) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            sync_folders(&entry.path())?;
        }
    }
    File::open(folder)?.sync_all()
}

/// Tells how much was read.
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
