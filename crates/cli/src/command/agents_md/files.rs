//! Reads and writes the AGENTS.md and CLAUDE.md files of a directory. Links are never followed.

use std::{
    fs, io,
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
};

use protocol::thread::agents_doc::ThreadAgentsDocFile;

use crate::{failure::Failure, terminal};

/// Folders with generated content, which are skipped.
const SKIPPED: &[&str] = &["node_modules", "target"];
/// Maximum number of files; usual repositories have a few.
const MAX_FILES: usize = 5_000;
/// Maximum size of a file in bytes.
const MAX_BYTES: u64 = 1 << 20;

/// Reads every AGENTS.md and CLAUDE.md below a directory, ordered by path. Hidden folders are skipped.
pub(super) fn read_all(directory: &Path) -> Result<Vec<ThreadAgentsDocFile>, Failure> {
    let mut files = Vec::new();
    let mut open = vec![(directory.to_owned(), String::new())];
    while let Some((folder, prefix)) = open.pop() {
        let failed = |source| Failure::File {
            path: folder.clone(),
            source,
        };
        for entry in fs::read_dir(&folder).map_err(failed)? {
            let entry = entry.map_err(failed)?;
            let (kind, path) = (entry.file_type().map_err(failed)?, entry.path());
            let Some(name) = entry.file_name().to_str().map(ToOwned::to_owned) else {
                continue;
            };
            let below = format!("{prefix}{name}");
            if kind.is_dir() && !name.starts_with('.') && !SKIPPED.contains(&name.as_str()) {
                open.push((path, format!("{below}/")));
            } else if kind.is_file() && (name == "AGENTS.md" || name == "CLAUDE.md") {
                files.push(read(&path, below)?);
            }
        }
        if files.len() > MAX_FILES {
            return Err(Failure::Argument {
                detail: format!(
                    "`{}` has more than {MAX_FILES} instruction files",
                    directory.display()
                ),
            });
        }
    }
    files.sort_by(|left, right| left.path.cmp(&right.path));
    Ok(files)
}

/// Reads one file. `None` if it does not exist or its path contains a link.
pub(super) fn read_one(
    directory: &Path,
    below: &str,
) -> Result<Option<ThreadAgentsDocFile>, Failure> {
    let path = directory.join(below);
    let is_file = fs::symlink_metadata(&path).is_ok_and(|found| found.is_file());
    if is_file && check_place(directory, below).is_ok() {
        read(&path, below.to_owned()).map(Some)
    } else {
        Ok(None)
    }
}

fn read(path: &Path, below: String) -> Result<ThreadAgentsDocFile, Failure> {
    let failed = |source| Failure::File {
        path: path.to_owned(),
        source,
    };
    if fs::metadata(path).map_err(failed)?.len() > MAX_BYTES {
        return Err(Failure::Argument {
            detail: format!(
                "`{}` is larger than {}",
                path.display(),
                terminal::bytes(MAX_BYTES)
            ),
        });
    }
    Ok(ThreadAgentsDocFile {
        path: below,
        content: fs::read_to_string(path).map_err(failed)?,
        expected_version: None,
    })
}

/// Checks that a file can be written at this path: no part of it is a link, belongs to git or has the wrong type.
pub(super) fn check_place(directory: &Path, below: &str) -> Result<(), Failure> {
    let mut path = directory.to_owned();
    let mut parts = Path::new(below).iter().peekable();
    while let Some(part) = parts.next() {
        path.push(part);
        let refused = |why: &str| Failure::InTheWay {
            detail: format!("`{}` {why}", path.display()),
        };
        if part.eq_ignore_ascii_case(".git") {
            return Err(refused("belongs to git"));
        }
        let Ok(found) = fs::symlink_metadata(&path) else {
            continue;
        };
        match parts.peek() {
            _ if found.is_symlink() => return Err(refused("is a link and could lead elsewhere")),
            Some(_) if !found.is_dir() => return Err(refused("exists and is not a directory")),
            None if !found.is_file() => return Err(refused("exists and is not a file")),
            Some(_) | None => {}
        }
    }
    Ok(())
}

/// Writes a file, creates missing folders and returns the path of the file.
pub(super) fn write(directory: &Path, below: &str, content: &str) -> Result<PathBuf, Failure> {
    let path = directory.join(below);
    let written = || -> io::Result<()> {
        let folder = path.parent().unwrap_or(directory);
        fs::create_dir_all(folder)?;
        // `replace_file` creates private files. Files of a repository get the read permissions of their folder instead.
        let mode = match fs::metadata(&path) {
            Ok(old) => old.permissions().mode(),
            Err(_) => fs::metadata(folder)?.permissions().mode() & 0o666,
        };
        gateway::replace_file(&path, content.as_bytes())?;
        fs::set_permissions(&path, fs::Permissions::from_mode(mode))
    };
    match written() {
        Ok(()) => Ok(path),
        Err(source) => Err(Failure::File { path, source }),
    }
}
