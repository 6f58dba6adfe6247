//! `ac agents-md sync`: compares and synchronises a repository and the thread tree.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use clap::{Args, ValueEnum};
use protocol::{AgentsDocProposalId, FolderId, WorkspaceId, thread::agents_doc::*};
use serde::Serialize;
use serde_json::json;

use super::{
    TreeOptions,
    compare::{self, ComparedScope, ComparisonState, Rewrite},
    files, git,
};
use crate::{command::blocking, failure::Failure, folder, local::Local, terminal};

/// Compare the thread tree with the AGENTS.md and CLAUDE.md files of a repository and synchronise them.
///
/// Without --to, only the state of each file is shown. Nothing is ever deleted: files and documents that exist on one
/// side only are kept.
///
/// In each directory the AGENTS.md is used. A CLAUDE.md that is a link to it or contains only `@AGENTS.md` is in sync;
/// a CLAUDE.md without an AGENTS.md is used instead; a CLAUDE.md with a different text is out of sync: `--to tree` uses
/// the AGENTS.md and leaves the CLAUDE.md unchanged, `--to files` writes the text of the tree to both.
#[derive(Args, Clone, Debug)]
#[command(
    after_help = "Exit codes: 0 in sync, or all changes made; 1 differences remain, or refused; 2 invalid arguments."
)]
pub(super) struct AgentsMdSync {
    #[command(flatten)]
    tree_options: TreeOptions,
    /// Directory, usually a repository.
    #[arg(value_parser = folder::argument())]
    directory: PathBuf,
    /// Side to update with the text of the other side.
    #[arg(long, value_name = "SIDE")]
    to: Option<Side>,
    /// With `--to tree`: propose the changes for a person to approve, instead of saving them.
    ///
    /// New folders cannot be proposed: files whose folder is not in the tree are skipped.
    #[arg(long, requires = "to")]
    propose: bool,
    /// Reason for the proposed changes.
    #[arg(long, value_name = "TEXT", requires = "propose")]
    rationale: Option<String>,
    /// With `--to files`: also replace files with uncommitted changes.
    #[arg(long, requires = "to")]
    force: bool,
    /// Show the changes without making them.
    #[arg(long, requires = "to")]
    dry_run: bool,
    /// Show diffs: the changes of the side named by --to, otherwise from the tree to the files.
    #[arg(long)]
    diff: bool,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

/// The side that is updated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Side {
    /// Save the files as new versions of the documents and create missing folders.
    Tree,
    /// Write the documents to the files, unless these have uncommitted changes.
    Files,
}

/// One line of the report.
#[derive(Debug, Serialize)]
struct ReportRow {
    path: String,
    state: ComparisonState,
    /// The version in the tree.
    #[serde(skip_serializing_if = "Option::is_none")]
    version: Option<i64>,
    /// The action taken, or planned in a dry run. `None` if none was necessary.
    #[serde(skip_serializing_if = "Option::is_none")]
    done: Option<SyncAction>,
    #[serde(skip_serializing_if = "Option::is_none")]
    proposal_id: Option<AgentsDocProposalId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    diff: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
enum SyncAction {
    Saved,
    Proposed,
    Written,
    Left,
}

impl SyncAction {
    fn words(self, dry_run: bool) -> &'static str {
        match (self, dry_run) {
            (Self::Saved, false) => "saved",
            (Self::Saved, true) => "to be saved",
            (Self::Proposed, false) => "proposed",
            (Self::Proposed, true) => "to be proposed",
            (Self::Written, false) => "written",
            (Self::Written, true) => "to be written",
            (Self::Left, _) => "left",
        }
    }
}

/// The actions taken, by file path, with the id of the proposal if one was made.
type SyncActions = BTreeMap<String, (SyncAction, Option<AgentsDocProposalId>)>;

/// The part of the tree that corresponds to the directory.
struct MappedTree {
    workspace_id: WorkspaceId,
    folder_id: Option<FolderId>,
    /// The ids of the subfolders, by relative path.
    folders: BTreeMap<String, FolderId>,
}

impl AgentsMdSync {
    pub(super) async fn run(self) -> Result<(), Failure> {
        let misused = match self.to {
            Some(Side::Files) if self.propose => Some("--propose requires `--to tree`"),
            Some(Side::Tree) if self.force => Some("--force requires `--to files`"),
            Some(_) | None => None,
        };
        if let Some(detail) = misused {
            let detail = detail.to_owned();
            return Err(Failure::Argument { detail });
        }
        let (home, sync) = (self.tree_options.home.clone(), self.clone());
        let rows = Local::with(&home, |local| async move { sync.work(&local).await }).await?;
        self.report(&rows)
    }

    async fn work(self, local: &Local) -> Result<Vec<ReportRow>, Failure> {
        let params = ThreadAgentsDocExportParams {
            workspace_id: local
                .workspace(self.tree_options.workspace.as_deref())
                .await?,
            folder_id: self.tree_options.folder()?,
        };
        let exported = local.client.call::<ThreadAgentsDocExport>(params.clone());
        let mut exported = exported.await?;
        let folders = std::mem::take(&mut exported.folders);
        let tree = MappedTree {
            workspace_id: params.workspace_id,
            folder_id: params.folder_id,
            folders: folders
                .into_iter()
                .map(|folder| (folder.path, folder.folder_id))
                .collect(),
        };
        let directory = self.directory.clone();
        let scopes = blocking(move || compare::scopes(&directory, exported)).await??;
        let mut actions = match self.to {
            None => SyncActions::new(),
            Some(Side::Files) => self.write(&scopes).await?,
            Some(Side::Tree) if self.propose => self.propose(local, &tree, &scopes).await?,
            Some(Side::Tree) => self.save(local, &tree, &scopes).await?,
        };
        let (to, with_diff) = (self.to, self.diff);
        blocking(move || {
            scopes
                .iter()
                .flat_map(|scope| rows(scope, to, with_diff, &mut actions))
                .collect()
        })
        .await
    }

    /// Saves the texts of the files as documents, in one transaction.
    async fn save(
        &self,
        local: &Local,
        tree: &MappedTree,
        scopes: &[ComparedScope],
    ) -> Result<SyncActions, Failure> {
        let files = changed_files(scopes)?;
        let files: Vec<_> = files.into_iter().map(|(_, file)| file).collect();
        let actions = files
            .iter()
            .map(|file| (file.path.clone(), (SyncAction::Saved, None)));
        let actions = actions.collect();
        if self.dry_run || files.is_empty() {
            return Ok(actions);
        }
        let params = ThreadAgentsDocImportParams {
            workspace_id: tree.workspace_id.clone(),
            folder_id: tree.folder_id.clone(),
            files,
            mode: ThreadAgentsDocImportMode::Update,
        };
        match local.client.call::<ThreadAgentsDocImport>(params).await {
            Ok(_) => Ok(actions),
            Err(rpc::client::Error::Rpc { data, .. }) if data["kind"] == "version_conflict" => {
                Err(Failure::InTheWay {
                    detail: format!(
                        "a document changed while it was compared (expected version {}, actual version {}), so nothing was saved: sync again",
                        data["expected"], data["actual"]
                    ),
                })
            }
            Err(other) => Err(other.into()),
        }
    }

    /// Proposes the text of each file separately. Repeating a proposal returns the pending one.
    async fn propose(
        &self,
        local: &Local,
        tree: &MappedTree,
        scopes: &[ComparedScope],
    ) -> Result<SyncActions, Failure> {
        let mut actions = SyncActions::new();
        for (folder, file) in changed_files(scopes)? {
            if file.expected_version == Some(0) && file.content.is_empty() {
                // An empty text for a missing document is no change, so there is nothing to propose.
                continue;
            }
            let folder_id = match folder {
                "" => tree.folder_id.clone(),
                folder => match tree.folders.get(folder) {
                    Some(id) => Some(id.clone()),
                    None => continue,
                },
            };
            let reason = || format!("`{}` of the repository says so", file.path);
            let params = ThreadAgentsDocProposeParams {
                workspace_id: tree.workspace_id.clone(),
                folder_id,
                content: file.content,
                rationale: self.rationale.clone().unwrap_or_else(reason),
                base_version: file.expected_version,
            };
            let id = if self.dry_run {
                None
            } else {
                let proposed = local.client.call::<ThreadAgentsDocPropose>(params).await?;
                Some(proposed.proposal.id)
            };
            actions.insert(file.path, (SyncAction::Proposed, id));
        }
        Ok(actions)
    }

    /// Writes the texts of the documents to the files. Checks all files before writing any of them.
    async fn write(&self, scopes: &[ComparedScope]) -> Result<SyncActions, Failure> {
        let rewrites: Vec<_> = scopes.iter().flat_map(ComparedScope::rewrites).collect();
        let actions = rewrites
            .iter()
            .map(|one| (one.path.clone(), (SyncAction::Written, None)));
        let actions = actions.collect();
        let (directory, force, dry_run) = (self.directory.clone(), self.force, self.dry_run);
        blocking(move || {
            for rewrite in &rewrites {
                files::check_place(&directory, &rewrite.path)?;
            }
            if !force {
                check_recoverable(&directory, &rewrites)?;
            }
            for rewrite in &rewrites {
                check_unchanged(&directory, rewrite)?;
            }
            for rewrite in rewrites.iter().filter(|_| !dry_run) {
                files::write(&directory, &rewrite.path, &rewrite.after)?;
            }
            Ok(actions)
        })
        .await?
    }

    fn report(&self, rows: &[ReportRow]) -> Result<(), Failure> {
        let is_left = |row: &&ReportRow| match row.done {
            Some(done) => done == SyncAction::Left,
            None => self.to.is_none() && row.state != ComparisonState::Same,
        };
        let left = rows.iter().filter(is_left).count();
        if self.json {
            terminal::answer(&json!({"rows": rows, "left": left}), true)?;
        } else {
            terminal::print(&self.shown(rows))?;
        }
        match left {
            0 => Ok(()),
            count => Err(Failure::Drift { count }),
        }
    }

    fn shown(&self, rows: &[ReportRow]) -> String {
        let mut titles = vec!["PATH", "STATE", "VERSION"];
        titles.extend(self.to.map(|_| "DONE"));
        let done = |row: &ReportRow| row.done.map_or("-", |done| done.words(self.dry_run));
        let cells: Vec<Vec<String>> = rows
            .iter()
            .map(|row| {
                let version = row.version.map_or("-".to_owned(), |one| one.to_string());
                let mut cells = vec![
                    terminal::harmless(&row.path),
                    row.state.words().to_owned(),
                    version,
                ];
                cells.extend(self.to.map(|_| done(row).to_owned()));
                cells
            })
            .collect();
        let diffs = rows.iter().filter_map(|row| row.diff.as_deref());
        let diffs = diffs.map(|diff| format!("\n{}", terminal::harmless_lines(diff)));
        let mut counts: BTreeMap<_, usize> = BTreeMap::new();
        for row in rows {
            let word = match row.done {
                Some(done) => done.words(self.dry_run),
                None => row.state.words(),
            };
            *counts
                .entry((row.done, row.state == ComparisonState::Same, word))
                .or_default() += 1;
        }
        let counts = counts
            .iter()
            .map(|((.., word), count)| format!("{count} {word}"));
        let summary = match rows {
            [] => "There are no documents and no files.".to_owned(),
            _ => counts.collect::<Vec<_>>().join(", "),
        };
        let mut lines = Vec::new();
        if !rows.is_empty() {
            lines.push(terminal::table(&titles, &cells));
        }
        lines.extend(diffs);
        if lines.len() > 1 {
            lines.push(String::new());
        }
        lines.push(summary);
        lines.join("\n")
    }
}

/// Returns the files that differ from the tree, each with its folder and the version it was compared with.
fn changed_files(scopes: &[ComparedScope]) -> Result<Vec<(&str, ThreadAgentsDocFile)>, Failure> {
    let mut changed = Vec::new();
    for scope in scopes
        .iter()
        .filter(|one| one.state() != ComparisonState::Same)
    {
        let (path, Some(text)) = scope.file() else {
            continue;
        };
        let length = text.chars().count();
        if length > MAX_CONTENT_CHARS {
            return Err(Failure::InTheWay {
                detail: format!(
                    "`{path}` has {length} characters: a document has at most {MAX_CONTENT_CHARS}"
                ),
            });
        }
        let file = ThreadAgentsDocFile {
            path,
            content: text.to_owned(),
            expected_version: Some(scope.doc.as_ref().map_or(0, |doc| doc.version)),
        };
        changed.push((scope.folder.as_str(), file));
    }
    Ok(changed)
}

/// Fails if git could not recover the current text of a file.
fn check_recoverable(directory: &Path, rewrites: &[Rewrite]) -> Result<(), Failure> {
    let mut replaced = rewrites
        .iter()
        .filter(|one| one.before.is_some())
        .peekable();
    let Some(first) = replaced.peek() else {
        return Ok(());
    };
    let Some(clean) = git::clean_files(directory) else {
        return Err(Failure::InTheWay {
            detail: format!(
                "`{}` is not in a git repository, so `{}` could not be recovered: use --force to replace it",
                directory.display(),
                first.path
            ),
        });
    };
    match replaced.find(|one| !clean.contains(&one.path)) {
        None => Ok(()),
        Some(lost) => Err(Failure::InTheWay {
            detail: format!(
                "`{}` has uncommitted changes: commit them, or use --force to replace it",
                lost.path
            ),
        }),
    }
}

/// Fails if a file changed after it was compared.
fn check_unchanged(directory: &Path, rewrite: &Rewrite) -> Result<(), Failure> {
    let now = files::read_one(directory, &rewrite.path)?;
    if now.map(|file| file.content) == rewrite.before {
        Ok(())
    } else {
        Err(Failure::InTheWay {
            detail: format!(
                "`{}` changed while it was compared, so nothing was written: sync again",
                rewrite.path
            ),
        })
    }
}

/// Returns the rows of a scope: one for its file, and one for a CLAUDE.md that differs or was written as well.
fn rows(
    scope: &ComparedScope,
    to: Option<Side>,
    with_diff: bool,
    actions: &mut SyncActions,
) -> Vec<ReportRow> {
    let (path, text) = scope.file();
    let text = text.unwrap_or_default();
    let doc = scope.doc.as_ref();
    let version = doc.map(|doc| doc.version);
    let in_tree = Named::new("tree", &path, doc.map_or("", |doc| doc.content.as_str()));
    let in_file = Named::new("files", &path, text);
    let beside = scope.beside();
    let beside = beside.filter(|(path, _, state)| {
        *state == ComparisonState::ClaudeDiffers || actions.contains_key(path)
    });
    let beside = beside.map(|(path, text, state)| {
        let counts = match (to, doc) {
            (Some(Side::Files), Some(_)) => in_tree.clone(),
            (Some(_) | None, _) => in_file.clone(),
        };
        let claude = Named::new("files", &path, text);
        (path, state, None, [counts, claude])
    });
    let file = (path, scope.state(), version, [in_tree, in_file]);
    let mut rows = Vec::new();
    for (path, state, version, [counts, other]) in std::iter::once(file).chain(beside) {
        let (done, proposal_id) = match actions.remove(&path) {
            Some((done, proposal)) => (Some(done), proposal),
            None => {
                let is_settled =
                    state == ComparisonState::Same || to == Some(Side::Files) && doc.is_some();
                let is_left = to.is_some() && !is_settled;
                (is_left.then_some(SyncAction::Left), None)
            }
        };
        let [before, after] = match to {
            Some(Side::Files) => [other, counts],
            Some(Side::Tree) | None => [counts, other],
        };
        let diff = (with_diff && before.text != after.text).then(|| before.diff(&after));
        rows.push(ReportRow {
            path,
            state,
            version,
            done,
            proposal_id,
            diff,
        });
    }
    rows
}

/// A text with its name in a diff.
#[derive(Clone)]
struct Named {
    name: String,
    text: String,
}

impl Named {
    fn new(side: &str, path: &str, text: &str) -> Self {
        Self {
            name: format!("{side}/{path}"),
            text: gateway::with_lf(text),
        }
    }

    fn diff(&self, after: &Self) -> String {
        let names = [self.name.as_str(), after.name.as_str()];
        let diff = gateway::unified_diff(names, &self.text, &after.text);
        // The changes are already made, so texts that are too long to compare must not fail the command.
        diff.unwrap_or_else(|refused| {
            let [before, after] = names;
            format!("--- {before}\n+++ {after}\n{}\n", refused.message())
        })
    }
}
