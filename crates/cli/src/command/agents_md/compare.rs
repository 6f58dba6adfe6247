//! Compares the documents of the tree with the files of a directory, one scope per directory.

use std::{collections::BTreeMap, path::Path};

use gateway::with_lf;
use protocol::thread::agents_doc::{ThreadAgentsDocExportResponse, ThreadAgentsDocFile};
use serde::Serialize;

use super::files;
use crate::failure::Failure;

/// The result of comparing a file with its document.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum ComparisonState {
    Same,
    OnlyInTree,
    OnlyInFiles,
    Differs,
    /// A CLAUDE.md differs from the AGENTS.md in the same directory.
    ClaudeDiffers,
}

impl ComparisonState {
    pub(super) fn words(self) -> &'static str {
        match self {
            Self::Same => "same",
            Self::OnlyInTree => "only in the tree",
            Self::OnlyInFiles => "only in files",
            Self::Differs => "differs",
            Self::ClaudeDiffers => "differs from AGENTS.md",
        }
    }
}

/// One directory and the corresponding folder of the tree.
#[derive(Debug, Default)]
pub(super) struct ComparedScope {
    /// The relative path, separated by `/`. Empty for the root.
    pub(super) folder: String,
    pub(super) doc: Option<TreeDoc>,
    /// The text of the AGENTS.md.
    agents: Option<String>,
    /// The text of the CLAUDE.md. `None` if there is no file or it only refers to the AGENTS.md.
    claude: Option<String>,
}

/// The document of the tree.
#[derive(Debug)]
pub(super) struct TreeDoc {
    pub(super) content: String,
    pub(super) version: i64,
}

/// A file whose text is to be replaced.
#[derive(Debug)]
pub(super) struct Rewrite {
    pub(super) path: String,
    /// The current text. `None` if the file does not exist.
    pub(super) before: Option<String>,
    pub(super) after: String,
}

impl ComparedScope {
    /// Returns the file that corresponds to the document, with its text if it exists.
    pub(super) fn file(&self) -> (String, Option<&str>) {
        match (&self.agents, &self.claude) {
            (Some(agents), _) => (self.path("AGENTS.md"), Some(agents)),
            (None, Some(claude)) => (self.path("CLAUDE.md"), Some(claude)),
            (None, None) => (self.path("AGENTS.md"), None),
        }
    }

    /// Returns the CLAUDE.md next to an AGENTS.md if it has its own text, with its state.
    pub(super) fn beside(&self) -> Option<(String, &str, ComparisonState)> {
        let (agents, claude) = (self.agents.as_deref()?, self.claude.as_deref()?);
        let state = if with_lf(agents) == with_lf(claude) {
            self.state()
        } else {
            ComparisonState::ClaudeDiffers
        };
        Some((self.path("CLAUDE.md"), claude, state))
    }

    pub(super) fn state(&self) -> ComparisonState {
        match (&self.doc, self.file().1) {
            (Some(doc), Some(text)) if with_lf(text) == doc.content => ComparisonState::Same,
            (Some(_), Some(_)) => ComparisonState::Differs,
            (Some(_), None) => ComparisonState::OnlyInTree,
            (None, _) => ComparisonState::OnlyInFiles,
        }
    }

    /// Returns the files whose text differs from the document.
    pub(super) fn rewrites(&self) -> Vec<Rewrite> {
        let Some(doc) = &self.doc else {
            return Vec::new();
        };
        let beside = self.beside().map(|(path, text, _)| (path, Some(text)));
        let differs = |text: &str| with_lf(text) != doc.content;
        [Some(self.file()), beside]
            .into_iter()
            .flatten()
            .filter(|(_, text)| text.is_none_or(differs))
            .map(|(path, text)| Rewrite {
                path,
                before: text.map(str::to_owned),
                after: doc.content.clone(),
            })
            .collect()
    }

    fn path(&self, name: &str) -> String {
        match self.folder.as_str() {
            "" => name.to_owned(),
            folder => format!("{folder}/{name}"),
        }
    }

    fn take(&mut self, name: &str, text: String) {
        match name {
            "AGENTS.md" => self.agents = Some(text),
            _ => self.claude = Some(text),
        }
    }
}

/// Returns all scopes that have a document or a file, ordered by path.
pub(super) fn scopes(
    directory: &Path,
    exported: ThreadAgentsDocExportResponse,
) -> Result<Vec<ComparedScope>, Failure> {
    let mut found: BTreeMap<String, ComparedScope> = BTreeMap::new();
    for file in files::read_all(directory)? {
        put(&mut found, file);
    }
    for file in exported.files {
        let (folder, _) = split(&file.path);
        if !folder.is_empty() && !found.contains_key(folder) {
            // `read_all` skips some folders that the tree may contain.
            for path in [file.path.clone(), format!("{folder}/CLAUDE.md")] {
                if let Some(file) = files::read_one(directory, &path)? {
                    put(&mut found, file);
                }
            }
        }
        let scope = found.entry(folder.to_owned()).or_default();
        scope.doc = Some(TreeDoc {
            content: file.content,
            version: file.version,
        });
    }
    let scopes = found
        .into_iter()
        .map(|(folder, scope)| ComparedScope { folder, ..scope });
    // Skip scopes whose only file is a CLAUDE.md that refers to a missing AGENTS.md.
    let scopes = scopes.filter(|scope| scope.doc.is_some() || scope.file().1.is_some());
    Ok(scopes.collect())
}

fn put(found: &mut BTreeMap<String, ComparedScope>, file: ThreadAgentsDocFile) {
    let (folder, name) = split(&file.path);
    let scope = found.entry(folder.to_owned()).or_default();
    if !file.is_pointer() {
        scope.take(name, file.content);
    }
}

/// Splits a path into folder and file name.
fn split(path: &str) -> (&str, &str) {
    path.rsplit_once('/').unwrap_or(("", path))
}
