//! Finds the indexed files of a company folder and reads their metadata; this module opens no file.

use std::{collections::BTreeMap, fs, io, os::fd::OwnedFd, path::Path};

use company::{Company, layout};
use rusqlite::Connection;
use rustix::fs::{AtFlags, Mode, OFlags};

/// Kind of an indexed file, determined by its path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FileKind {
    Run,
    Events,
    Artifact,
    Task,
    Job,
    Conversation,
    Messages,
    Review,
    HelpRequest,
    Comment,
    Agent,
}

/// Metadata by which a change of a file is detected.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct FileStamp {
    /// Modification time in nanoseconds, which any writer may set; 0 for a file that was read right after it changed.
    pub(crate) mtime_ns: i64,
    /// Change time of the inode in nanoseconds. Programs cannot set it, so it reveals an edit that keeps size and
    /// modification time.
    pub(crate) ctime_ns: i64,
    pub(crate) size: i64,
    pub(crate) inode: i64,
}

/// A file found by a scan.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Scanned {
    pub(crate) kind: FileKind,
    /// Path relative to the company folder, with `/`.
    pub(crate) path: String,
    pub(crate) stamp: FileStamp,
}

/// The state of a file as recorded in `file_state`.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct RecordedFile {
    pub(crate) stamp: FileStamp,
    /// Number of bytes that are indexed. 0 for a document.
    pub(crate) read_bytes: u64,
    /// Number of lines that are indexed. 0 for a document.
    pub(crate) lines: u64,
    /// Hash of the whole document, or of the end of the indexed part of a JSON Lines file.
    pub(crate) hash: i64,
    /// Id of the row made from the file; `None` if there is no such row.
    pub(crate) row_id: Option<String>,
}

/// The recorded state of all files, by path.
pub(crate) type RecordedFiles = BTreeMap<String, RecordedFile>;

impl FileKind {
    /// The kind of the file at a path; `None` if it is not indexed.
    pub(crate) fn of(path: &str) -> Option<Self> {
        let parts: Vec<&str> = path.split('/').collect();
        match parts.as_slice() {
            ["work", "projects", _, "runs", _, "run.yaml"] => Some(Self::Run),
            ["work", "projects", _, "runs", _, "events.jsonl"] => Some(Self::Events),
            ["work", "projects", _, "artifacts", _] => Some(Self::Artifact),
            ["work", "projects", _, "tasks", _] => Some(Self::Task),
            ["work", "projects", _, "jobs", _, "job.yaml"] => Some(Self::Job),
            ["work", "projects", _, "conversations", _, file]
            | ["inbox", "conversations", _, file]
            | ["inbox", "workspace_home", file] => match *file {
                "conversation.yaml" => Some(Self::Conversation),
                "messages.jsonl" => Some(Self::Messages),
                _ => None,
            },
            ["inbox", "reviews", _] => Some(Self::Review),
            ["inbox", "help_requests", _] => Some(Self::HelpRequest),
            ["inbox", "comments", _] => Some(Self::Comment),
            ["org", "agents", _, "agent.yaml"] => Some(Self::Agent),
            _ => None,
        }
    }
}

/// The name of the project folder that a path is in; empty for a path outside of all projects.
pub(crate) fn project_of(path: &str) -> &str {
    path.strip_prefix("work/projects/")
        .and_then(|rest| rest.split('/').next())
        .unwrap_or_default()
}

/// The document that a JSON Lines file belongs to.
pub(crate) fn owner_of(path: &str) -> Option<String> {
    let (folder, file) = path.rsplit_once('/')?;
    match file {
        "events.jsonl" => Some(format!("{folder}/run.yaml")),
        "messages.jsonl" => Some(format!("{folder}/conversation.yaml")),
        _ => None,
    }
}

/// The JSON Lines file that belongs to a document.
pub(crate) fn lines_of(path: &str) -> Option<String> {
    let (folder, file) = path.rsplit_once('/')?;
    match file {
        "run.yaml" => Some(format!("{folder}/events.jsonl")),
        "conversation.yaml" => Some(format!("{folder}/messages.jsonl")),
        _ => None,
    }
}

impl FileStamp {
    pub(crate) fn of(metadata: &fs::Metadata) -> Self {
        use std::os::unix::fs::MetadataExt as _;
        Self {
            mtime_ns: metadata.mtime().wrapping_mul(1_000_000_000) + metadata.mtime_nsec(),
            ctime_ns: metadata.ctime().wrapping_mul(1_000_000_000) + metadata.ctime_nsec(),
            size: i64::try_from(metadata.size()).unwrap_or(i64::MAX),
            // Inode numbers are only compared for equality, so the sign does not matter.
            inode: metadata.ino().cast_signed(),
        }
    }
}

/// Lists all indexed files. A document comes right before its JSON Lines file.
pub(crate) fn scan(company: &Company) -> io::Result<Vec<Scanned>> {
    let mut scan = Scan {
        root: company.root(),
        found: Vec::with_capacity(256),
    };
    scan.flat(layout::REVIEWS, ".yaml", FileKind::Review)?;
    scan.flat(layout::HELP_REQUESTS, ".md", FileKind::HelpRequest)?;
    scan.flat(layout::COMMENTS, ".yaml", FileKind::Comment)?;
    scan.nested(layout::AGENTS, &[("agent.yaml", FileKind::Agent)])?;
    let conversation = [
        ("conversation.yaml", FileKind::Conversation),
        ("messages.jsonl", FileKind::Messages),
    ];
    scan.named("inbox", &["workspace_home"], &conversation)?;
    scan.nested("inbox/conversations", &conversation)?;
    for project in company::org::project::project_ids(company).unwrap_or_default() {
        let folder = layout::project(&project);
        scan.flat(&format!("{folder}/artifacts"), ".md", FileKind::Artifact)?;
        scan.flat(&format!("{folder}/tasks"), ".md", FileKind::Task)?;
        scan.nested(&format!("{folder}/jobs"), &[("job.yaml", FileKind::Job)])?;
        scan.nested(&format!("{folder}/conversations"), &conversation)?;
        let run = [
            ("run.yaml", FileKind::Run),
            ("events.jsonl", FileKind::Events),
        ];
        scan.nested(&format!("{folder}/runs"), &run)?;
    }
    Ok(scan.found)
}

struct Scan<'a> {
    root: &'a Path,
    found: Vec<Scanned>,
}

impl Scan<'_> {
    /// Adds the files of a folder whose names have an ending.
    fn flat(&mut self, folder: &str, ending: &str, kind: FileKind) -> io::Result<()> {
        let Some((handle, names)) = self.open(folder)? else {
            return Ok(());
        };
        for name in names.iter().filter(|name| name.ends_with(ending)) {
            if let Some(stamp) = stamp(&handle, name) {
                self.found.push(Scanned {
                    kind,
                    path: format!("{folder}/{name}"),
                    stamp,
                });
            }
        }
        Ok(())
    }

    /// Adds the files of these names in every subfolder of a folder.
    fn nested(&mut self, folder: &str, files: &[(&str, FileKind)]) -> io::Result<()> {
        let Some((handle, names)) = self.open(folder)? else {
            return Ok(());
        };
        self.within(folder, &handle, &names, files);
        Ok(())
    }

    /// Adds the files of these names in the given subfolders of a folder.
    fn named(
        &mut self,
        folder: &str,
        names: &[&str],
        files: &[(&str, FileKind)],
    ) -> io::Result<()> {
        let Some((handle, _)) = self.open(folder)? else {
            return Ok(());
        };
        let names: Vec<String> = names.iter().map(ToString::to_string).collect();
        self.within(folder, &handle, &names, files);
        Ok(())
    }

    /// The first file is the document; without it the other files are ignored.
    fn within(
        &mut self,
        folder: &str,
        handle: &OwnedFd,
        names: &[String],
        files: &[(&str, FileKind)],
    ) {
        let mut short = String::new();
        for name in names {
            for (file, kind) in files {
                short.clear();
                short.push_str(name);
                short.push('/');
                short.push_str(file);
                let Some(stamp) = stamp(handle, &short) else {
                    break;
                };
                let mut path = String::with_capacity(folder.len() + 1 + short.len());
                path.push_str(folder);
                path.push('/');
                path.push_str(&short);
                let kind = *kind;
                self.found.push(Scanned { kind, path, stamp });
            }
        }
    }

    /// Opens a folder and lists its entries that are not hidden; `None` if the folder does not exist.
    fn open(&self, folder: &str) -> io::Result<Option<(OwnedFd, Vec<String>)>> {
        let path = self.root.join(folder);
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let handle = match rustix::fs::open(&path, flags, Mode::empty()) {
            Ok(handle) => handle,
            Err(rustix::io::Errno::NOENT | rustix::io::Errno::NOTDIR) => return Ok(None),
            Err(error) => return Err(error.into()),
        };
        let mut names = Vec::new();
        for entry in rustix::fs::Dir::read_from(&handle)? {
            let entry = entry?;
            if let Ok(name) = entry.file_name().to_str()
                && !name.starts_with('.')
            {
                names.push(name.to_owned());
            }
        }
        names.sort_unstable();
        Ok(Some((handle, names)))
    }
}

fn stamp(folder: &OwnedFd, name: &str) -> Option<FileStamp> {
    let found = rustix::fs::statat(folder, name, AtFlags::empty()).ok()?;
    let is_file =
        rustix::fs::FileType::from_raw_mode(found.st_mode) == rustix::fs::FileType::RegularFile;
    is_file.then(|| FileStamp {
        mtime_ns: found.st_mtime.wrapping_mul(1_000_000_000)
            + i64::try_from(found.st_mtime_nsec).unwrap_or(0),
        ctime_ns: found.st_ctime.wrapping_mul(1_000_000_000)
            + i64::try_from(found.st_ctime_nsec).unwrap_or(0),
        size: found.st_size,
        inode: found.st_ino.cast_signed(),
    })
}

/// Reads the recorded state of all files.
pub(crate) fn recorded_files(db: &Connection) -> rusqlite::Result<RecordedFiles> {
    let mut statement = db.prepare_cached(
        "SELECT path, mtime_ns, size, inode, read_bytes, lines, hash, row_id, ctime_ns FROM file_state",
    )?;
    let mut rows = statement.query([])?;
    let mut known = RecordedFiles::new();
    while let Some(row) = rows.next()? {
        let stamp = FileStamp {
            mtime_ns: row.get(1)?,
            size: row.get(2)?,
            inode: row.get(3)?,
            ctime_ns: row.get(8)?,
        };
        known.insert(
            row.get(0)?,
            RecordedFile {
                stamp,
                read_bytes: row.get(4)?,
                lines: row.get(5)?,
                hash: row.get(6)?,
                row_id: row.get(7)?,
            },
        );
    }
    Ok(known)
}

/// Notes what was read of a file.
pub(crate) fn remember(db: &Connection, path: &str, known: &RecordedFile) -> rusqlite::Result<()> {
    db.prepare_cached(
        "INSERT OR REPLACE INTO file_state VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
    )?
    .execute(rusqlite::params![
        path,
        known.stamp.mtime_ns,
        known.stamp.size,
        known.stamp.inode,
        known.read_bytes,
        known.lines,
        known.hash,
        known.row_id,
        known.stamp.ctime_ns,
    ])
    .map(drop)
}

/// Forgets a file.
pub(crate) fn forget(db: &Connection, path: &str) -> rusqlite::Result<()> {
    db.prepare_cached("DELETE FROM file_state WHERE path = ?1")?
        .execute([path])
        .map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_tells_what_the_file_is() {
        for (path, kind) in [
            ("work/projects/p/runs/r/run.yaml", Some(FileKind::Run)),
            (
                "work/projects/p/runs/r/events.jsonl",
                Some(FileKind::Events),
            ),
            (
                "inbox/workspace_home/messages.jsonl",
                Some(FileKind::Messages),
            ),
            (
                "inbox/conversations/c/conversation.yaml",
                Some(FileKind::Conversation),
            ),
            ("work/projects/p/conversations/c/other", None),
            ("work/projects/p/project.yaml", None),
        ] {
            assert_eq!(FileKind::of(path), kind, "{path}");
        }
        assert_eq!(project_of("work/projects/p/tasks/t.md"), "p");
        assert_eq!(project_of("inbox/reviews/r.yaml"), "");
        assert_eq!(owner_of("a/events.jsonl").as_deref(), Some("a/run.yaml"));
        assert_eq!(
            lines_of("a/conversation.yaml").as_deref(),
            Some("a/messages.jsonl")
        );
    }
}
