//! Backs up a home and its linked company folders into one archive while they are in use, and restores such an archive.
//! A restore creates the home last, so a restored home is always complete. All functions block.
//!
//! ```text
//! accord-backup.json     the format, and the paths of the company folders
//! home/gateway.db        a snapshot of the database
//! home/config.toml
//! home/artifacts/…       the bytes of artifacts and of unfinished uploads
//! companies/<number>/…   a snapshot of a company folder
//! MANIFEST.json          the SHA-256 of each file
//! SHA256                 the SHA-256 of everything before it
//! ```
//!
//! The owner's token and the provider keys are included only on request. The artifact bytes are read after the
//! database, so every artifact that the snapshot lists as ready is included.

mod archive;
mod restore;

use std::{
    collections::BTreeMap,
    ffi::OsStr,
    fs::{self, DirBuilder, File, OpenOptions},
    io::{self, BufWriter, Read as _, Seek as _, SeekFrom},
    os::unix::fs::{DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _},
    path::{Path, PathBuf},
    sync::Arc,
    thread,
    time::Duration,
};

use company::{
    Companies, Company, Trust,
    files::walk::{WalkEntry, walk_folder},
    workspace::transfer,
};
use serde::{Deserialize, Serialize};
use sources::{Sources, random_text};

use archive::{Manifest, Writer};

pub use restore::{RestoreRequest, RestoreSummary, RestoredFolder, restore};

/// The name of the first entry of an archive.
const INFO: &str = "accord-backup.json";
/// The version of the archive layout.
const FORMAT: u32 = 1;
/// The files and directories of a home that an archive may contain.
const HOME: [&str; 5] = [
    "gateway.db",
    "config.toml",
    "artifacts",
    SECRETS[0],
    SECRETS[1],
];
/// The files of a home that contain credentials.
const SECRETS: [&str; 2] = ["token", "provider_keys.json"];

/// Why a backup or a restore failed.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The directory has no gateway database.
    #[error("`{}` is not the home of a gateway: `ac status` shows where yours is", path.display())]
    NoHome {
        /// The given directory.
        path: PathBuf,
    },
    /// A file or directory cannot be read or written.
    #[error("`{}` cannot be used: {source}", path.display())]
    File {
        /// The path of the file or directory.
        path: PathBuf,
        /// The error of the operating system.
        source: io::Error,
    },
    /// The database cannot be opened.
    #[error(transparent)]
    Database(#[from] crud::OpenError),
    /// A company folder cannot be read.
    #[error("the company folder `{}` cannot be saved: {source}", path.display())]
    Company {
        /// The path of the company folder.
        path: PathBuf,
        /// The error of the `company` crate.
        source: Box<company::Error>,
    },
    /// The archive is incomplete, changed or not a backup.
    #[error("`{}` is damaged or not a backup: {why}; nothing was restored", path.display())]
    Damaged {
        /// The path of the archive.
        path: PathBuf,
        /// The check that failed.
        why: String,
    },
    /// The archive would be inside a directory that it saves, or a restore target would be inside another one.
    #[error("`{}` is inside `{}`: choose a path outside of it", path.display(), folder.display())]
    Inside {
        /// The inner path.
        path: PathBuf,
        /// The home or company folder that contains it.
        folder: PathBuf,
    },
    /// The archive contains company folders, and no directory to restore them into was given.
    #[error(
        "the backup has {} ({}): name the folder to put them into with --companies DIR",
        match companies.len() { 1 => "a company folder".to_owned(), count => format!("{count} company folders") },
        companies.iter().map(|dir| format!("`{}`", dir.escape_debug())).collect::<Vec<_>>().join(", ")
    )]
    NoCompaniesFolder {
        /// The original paths of the company folders.
        companies: Vec<String>,
    },
    /// A restore target already exists and is not empty.
    #[error("`{}` is not empty: {hint}", path.display())]
    Occupied {
        /// The path of the target.
        path: PathBuf,
        /// How to resolve the problem.
        hint: &'static str,
    },
}

/// The content of the first entry of an archive.
#[derive(Debug, Serialize, Deserialize)]
struct BackupInfo {
    format: u32,
    version: String,
    /// When the backup was made, in Unix seconds.
    created_at: i64,
    /// The original paths of the company folders, in the order of their numbers.
    companies: Vec<String>,
}

/// Whether a backup includes credentials.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Secrets {
    /// Includes the owner's token and the provider keys.
    Saved,
    /// Leaves them out; a restored home gets a new token.
    LeftOut,
}

/// The result of a backup.
#[derive(Debug, PartialEq, Serialize)]
pub struct BackupSummary {
    /// The path of the archive.
    pub file: PathBuf,
    /// The size of the archive in bytes.
    pub bytes: u64,
    /// The number of files in the archive.
    pub files: usize,
    /// The paths of the saved company folders.
    pub companies: Vec<String>,
    /// The paths that were left out, each with the reason.
    pub left_out: Vec<String>,
    /// The artifacts whose bytes are missing or damaged in the home, and therefore in the archive.
    pub damaged: Vec<String>,
}

/// Saves a home and its company folders into a new file. `progress` receives the number of bytes written so far.
pub fn create(
    home: &Path,
    file: &Path,
    secrets: Secrets,
    sources: &Sources,
    progress: &mut dyn FnMut(u64),
) -> Result<BackupSummary, Error> {
    if !home.join("gateway.db").is_file() {
        return Err(Error::NoHome {
            path: home.to_owned(),
        });
    }
    check_outside(file, home)?;
    let staged = StagedArchive::new(file)?;
    let copy = staged.path.join("gateway.db");
    crud::copy_database(home, &copy)?;
    let known = crud::company_folders(&copy)?;
    for dir in &known {
        check_outside(file, Path::new(dir))?;
    }
    let (companies, gone): (Vec<_>, Vec<_>) =
        known.into_iter().partition(|dir| Path::new(dir).is_dir());
    let mut builder = ArchiveBuilder {
        writer: Writer::new(
            BufWriter::with_capacity(1 << 20, staged.create_archive()?),
            sources.clock.now(),
        ),
        left_out: gone
            .into_iter()
            .map(|dir| format!("{dir}: it does not exist"))
            .collect(),
        progress,
    };
    let failed = |source| Error::File {
        path: file.to_owned(),
        source,
    };
    let info = BackupInfo {
        format: FORMAT,
        version: env!("CARGO_PKG_VERSION").to_owned(),
        created_at: sources.clock.now(),
        companies: companies.clone(),
    };
    let info = serde_json::to_vec_pretty(&info).map_err(|error| failed(error.into()))?;
    let written = builder
        .writer
        .file(INFO, 0o600, info.len() as u64, info.as_slice());
    written.map_err(failed)?;
    builder.home(home, &copy, secrets).map_err(failed)?;
    let folders = open_companies(home, sources)?;
    for (number, dir) in companies.iter().enumerate() {
        builder.company(number, &folders.locate(dir))?;
    }
    let ArchiveBuilder {
        writer, left_out, ..
    } = builder;
    let files = writer.files();
    let damaged = damaged(writer.manifest(), &copy)?;
    let archive = writer.finish().map_err(failed)?;
    let archive = archive.into_inner().map_err(|error| failed(error.into()))?;
    archive.sync_all().map_err(failed)?;
    let bytes = archive.metadata().map_err(failed)?.len();
    staged.move_into_place(file).map_err(failed)?;
    Ok(BackupSummary {
        file: file.to_owned(),
        bytes,
        files,
        companies,
        left_out,
        damaged,
    })
}

/// Returns the artifacts whose bytes are missing from an archive or do not match their hash.
fn damaged(manifest: &Manifest, database: &Path) -> Result<Vec<String>, Error> {
    // The path of a blob is `home/artifacts/workspaces/<workspace>/…/<hash>`.
    let saved: BTreeMap<(&str, &str), &str> = manifest
        .iter()
        .filter_map(|(path, listed)| {
            let below = path.strip_prefix("home/artifacts/workspaces/")?;
            let (workspace, rest) = below.split_once('/')?;
            let name = rest.rsplit('/').next()?;
            Some(((workspace, name), listed.sha256.as_str()))
        })
        .collect();
    let mut damaged = Vec::new();
    for file in crud::stored_files(database)? {
        let found = saved.get(&(file.workspace_id.as_str(), file.sha256.as_str()));
        let what = match found {
            Some(hash) if **hash == file.sha256 => continue,
            Some(_) => "damaged",
            None => "missing",
        };
        damaged.push(format!(
            "{} ({}): its bytes are {what}",
            file.display_name, file.artifact_id
        ));
    }
    damaged.dedup();
    Ok(damaged)
}

/// Rejects an archive path inside a directory that is saved.
fn check_outside(file: &Path, folder: &Path) -> Result<(), Error> {
    let (Ok(target), Ok(saved)) = (parent(file).canonicalize(), folder.canonicalize()) else {
        // A missing directory contains nothing; it is reported where it is used.
        return Ok(());
    };
    if target.starts_with(&saved) {
        Err(Error::Inside {
            path: file.to_owned(),
            folder: folder.to_owned(),
        })
    } else {
        Ok(())
    }
}

/// A temporary directory beside the archive. Dropping it removes the directory.
struct StagedArchive {
    path: PathBuf,
}

impl StagedArchive {
    fn new(file: &Path) -> Result<Self, Error> {
        let folder = parent(file);
        let path = folder.join(format!(".accord-backup-{}", random_text(8)));
        let made = DirBuilder::new().mode(0o700).create(&path);
        made.map_err(|source| Error::File {
            path: folder,
            source,
        })?;
        Ok(Self { path })
    }

    fn archive(&self) -> PathBuf {
        self.path.join("archive")
    }

    fn create_archive(&self) -> Result<File, Error> {
        let path = self.archive();
        let mut options = OpenOptions::new();
        options.read(true).write(true).create_new(true).mode(0o600);
        let made = options.open(&path);
        made.map_err(|source| Error::File { path, source })
    }

    fn move_into_place(&self, file: &Path) -> io::Result<()> {
        fs::rename(self.archive(), file)?;
        File::open(parent(file))?.sync_all()
    }
}

impl Drop for StagedArchive {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.path);
    }
}

/// Returns the directory of a file.
fn parent(file: &Path) -> PathBuf {
    let parent = file.parent().filter(|path| !path.as_os_str().is_empty());
    parent.unwrap_or(Path::new(".")).to_owned()
}

struct ArchiveBuilder<'a> {
    writer: Writer<BufWriter<File>>,
    left_out: Vec<String>,
    progress: &'a mut dyn FnMut(u64),
}

/// Opens the company folders of a home for reading.
fn open_companies(home: &Path, sources: &Sources) -> Result<Companies, Error> {
    let clock = Arc::clone(&sources.clock);
    let times = company::Sources::new(Arc::new(move || clock.now_ms()));
    let trust = Trust::of_home(home).map_err(|source| Error::Company {
        path: home.to_owned(),
        source: Box::new(source),
    })?;
    // The backup appends no events, so the callback for appended events does nothing.
    Ok(Companies::new(times, trust, Arc::new(|_, _| {})))
}

impl ArchiveBuilder<'_> {
    fn home(&mut self, home: &Path, database: &Path, secrets: Secrets) -> io::Result<()> {
        self.writer.folder("home")?;
        let database = File::open(database)?;
        self.file("home/gateway.db", &database, database.metadata()?.len())?;
        let names = match secrets {
            Secrets::Saved => &SECRETS[..],
            Secrets::LeftOut => &[],
        };
        for name in ["config.toml"].iter().chain(names) {
            match File::open(home.join(name)) {
                Ok(file) => self.file(&format!("home/{name}"), &file, file.metadata()?.len())?,
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => return Err(error),
            }
        }
        let is_left_out = |folder: &Path, name: &OsStr| is_temporary(folder, name);
        let mut visit =
            |path: &Path, found: WalkEntry<'_>| self.add("home/artifacts", path, &found);
        match walk_folder(&home.join("artifacts"), &is_left_out, &mut visit) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            walked => walked,
        }
    }

    fn company(&mut self, number: usize, company: &Company) -> Result<(), Error> {
        let prefix = format!("companies/{number}");
        let dir = company.given();
        let begun = match number {
            0 => self.writer.folder("companies"),
            _ => Ok(()),
        };
        let begun = begun.and_then(|()| self.writer.folder(&prefix));
        begun.map_err(|source| Error::File {
            path: PathBuf::from(dir),
            source,
        })?;
        let saved = transfer::visit(company, &mut |path, found| self.add(&prefix, path, &found));
        saved.map_err(|source| Error::Company {
            path: PathBuf::from(dir),
            source: Box::new(source),
        })
    }

    fn add(&mut self, prefix: &str, path: &Path, found: &WalkEntry<'_>) -> io::Result<()> {
        let Some(name) = path.to_str() else {
            let shown = path.display();
            self.left_out
                .push(format!("{prefix}/{shown}: its name is not UTF-8"));
            return Ok(());
        };
        let entry = if name.is_empty() {
            prefix.to_owned()
        } else {
            format!("{prefix}/{name}")
        };
        match found {
            WalkEntry::Folder => self.writer.folder(&entry),
            WalkEntry::Left => Ok(()),
            WalkEntry::File(file) => self.file(&entry, file, file.metadata()?.len()),
            WalkEntry::Log(file, length) => self.file(&entry, file, *length),
            WalkEntry::Link(_) => {
                self.left_out.push(format!("{entry}: it is a link"));
                Ok(())
            }
            WalkEntry::Odd => {
                self.left_out
                    .push(format!("{entry}: it is not a regular file"));
                Ok(())
            }
        }
    }

    /// Adds the first `length` bytes of a file; for a log, the complete lines among them.
    fn file(&mut self, entry: &str, file: &File, length: u64) -> io::Result<()> {
        let mode = match file.metadata()?.mode() & 0o100 {
            0 => 0o600,
            _ => 0o700,
        };
        let size = if entry.ends_with(".jsonl") {
            whole_lines(file, length)?
        } else {
            length
        };
        self.writer.file(entry, mode, size, file)?;
        (self.progress)(self.writer.written());
        Ok(())
    }
}

/// Returns whether a directory is one for temporary bytes, which were never acknowledged to a client.
fn is_temporary(folder: &Path, name: &OsStr) -> bool {
    name == "tmp" && folder.parent() == Some(Path::new("workspaces"))
}

/// Returns how many of the first `length` bytes of a log to save. Lines are appended without the write lock, so the
/// last line may be incomplete: it is left out if it is still being written, and saved if it was torn earlier.
fn whole_lines(file: &File, length: u64) -> io::Result<u64> {
    const WRITING: Duration = Duration::from_millis(50);
    const BLOCK: u64 = 64 << 10;
    let mut reader = file;
    // A log that was rewritten meanwhile may be shorter.
    let length = length.min(file.metadata()?.len());
    let mut end = length;
    let mut whole = 0;
    while end > 0 {
        let start = end.saturating_sub(BLOCK);
        reader.seek(SeekFrom::Start(start))?;
        let mut block = Vec::new();
        reader.take(end - start).read_to_end(&mut block)?;
        if let Some(at) = block.iter().rposition(|byte| *byte == b'\n') {
            whole = start + at as u64 + 1;
            break;
        }
        end = start;
    }
    reader.rewind()?;
    if whole == length {
        return Ok(length);
    }
    if file.metadata()?.len() == length {
        thread::sleep(WRITING);
    }
    if file.metadata()?.len() > length {
        Ok(whole)
    } else {
        Ok(length)
    }
}
