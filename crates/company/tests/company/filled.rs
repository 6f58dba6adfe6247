//! A company folder with at least one document of every kind, and its handles.

mod folder;

use std::{
    fs,
    path::{Path, PathBuf},
};

use company::{Companies, Company};
use tempfile::TempDir;

pub(crate) use folder::put;

/// The folder and its handles.
pub(crate) struct Filled {
    /// Deleted on drop.
    pub(crate) folder: TempDir,
    pub(crate) companies: Companies,
    pub(crate) company: Company,
}

/// Creates and fills a new folder.
pub(crate) fn filled() -> Filled {
    let (folder, companies, company) = folder::new_folder();
    Filled {
        folder,
        companies,
        company,
    }
}

/// All entries below a folder, with their content, sorted by path. Links are listed, not followed.
pub(crate) fn tree(root: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let mut found = Vec::new();
    let mut open = vec![root.to_owned()];
    while let Some(folder) = open.pop() {
        for entry in fs::read_dir(&folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            let relative = path.strip_prefix(root).expect("below").to_owned();
            let kind = fs::symlink_metadata(&path).expect("metadata").file_type();
            if kind.is_dir() {
                found.push((relative, b"folder".to_vec()));
                open.push(path);
            } else if kind.is_symlink() {
                found.push((relative, b"link".to_vec()));
            } else {
                found.push((relative, fs::read(&path).expect("a file")));
            }
        }
    }
    found.sort();
    found
}
