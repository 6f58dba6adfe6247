//! Places the instructions of a worker as a file in its worktree, under the name that its program reads by itself.
//!
//! Existing files are never overwritten, the file is excluded from commits, and it is removed when the session is over.
//! Edits by the worker are passed to the [`InstructionsSource`] as proposals and never take effect by themselves.
//!
//! A note beside the session's record states what was written where. The process that holds the lock on the note is
//! responsible for the file. The system releases the lock when that process exits, and the next gateway takes over.

#![allow(
    clippy::disallowed_methods,
    reason = "files of a worktree; anything but regular files is left alone"
)]

use std::{
    ffi::OsStr,
    fs::{self, File},
    io::{self, Read as _, Write as _},
    os::unix::fs::MetadataExt as _,
    path::{Path, PathBuf},
    time::Duration,
};

use company::{Company, files, layout};
use drivers::{Driver, redaction};
use protocol::company::{ProjectId, RunId};
use serde::{Deserialize, Serialize};
use tokio::time::sleep;

use crate::{
    blocking::blocking,
    git::GitTree,
    instructions::{EditOutcome, InstructionsEdit, InstructionsFile, InstructionsSource},
    plan::Plan,
    record::{self, SessionRecord},
    worktree::{self, Worktree},
};

/// Suffix of the names of notes.
const NOTE: &str = "instructions";
/// Configuration of git for a single worktree, and the exclude list that it names.
const SETTINGS: &str = "accord.config";
const EXCLUDED: &str = "accord.exclude";
/// Maximum number of bytes read of an edited file; a larger edit could not be proposed anyway.
const MAX_EDIT_BYTES: u64 = 1 << 20;
/// Number of retries while another process has the configuration of the repository locked.
const CONFIG_RETRIES: u32 = 20;

/// The content of a note: describes a file that was written.
#[derive(Debug, Serialize, Deserialize)]
struct Note {
    project_id: ProjectId,
    run_id: RunId,
    agent: String,
    /// Path of the worktree, relative to the company folder.
    worktree_relpath: String,
    /// Name of the file at the root of the worktree.
    file: String,
    /// The content that was written.
    content: String,
    /// Origin of the text, as the [`InstructionsSource`] identifies it.
    origin: String,
    /// The git directory that all worktrees share.
    common_dir: PathBuf,
    /// Git's name of the worktree.
    git_name: String,
}

/// Holds the lock on the note, and so the responsibility for the file, until it is dropped.
#[derive(Debug)]
pub(crate) struct Placed {
    _lock: File,
}

/// Name of the instruction file that the program of a driver reads by itself.
pub(crate) fn file_name(driver: &Driver) -> &'static str {
    match driver {
        Driver::Claude => "CLAUDE.md",
        Driver::Gemini => "GEMINI.md",
        Driver::Codex | Driver::CodexAppServer | Driver::Declared(..) | Driver::Command => {
            "AGENTS.md"
        }
    }
}

/// Writes the file into a worktree. Returns `None` if the name is taken or writing fails; the prompt contains the
/// instructions as well.
pub(crate) async fn place(
    plan: &Plan,
    repo: &Path,
    worktree: &Worktree,
    root: &Path,
    file: &InstructionsFile,
) -> Option<Placed> {
    let tree = GitTree::worktree(repo, root).await;
    let note = match &tree {
        Ok(tree) => note_of(plan, tree, worktree, root, file).await,
        Err(error) => Err(error.clone()),
    };
    let (tree, note) = match (tree, note) {
        (Ok(tree), Ok(note)) => (tree, note?),
        (Err(error), _) | (_, Err(error)) => {
            tracing::warn!(error, "no instruction file is written into the worktree");
            return None;
        }
    };
    let note_path = note_path(&plan.company, &plan.session_ref);
    let placed = write(&note, &tree, note_path.clone(), root).await;
    match placed {
        Ok(lock) => Some(Placed { _lock: lock }),
        Err(error) => {
            tracing::warn!(error, "no instruction file is written into the worktree");
            forget(&note, note_path).await;
            None
        }
    }
}

/// Returns the note of the file to write; `None` if the name is taken.
async fn note_of(
    plan: &Plan,
    tree: &GitTree,
    worktree: &Worktree,
    root: &Path,
    file: &InstructionsFile,
) -> Result<Option<Note>, String> {
    let name = file_name(&plan.driver);
    let is_there = fs::symlink_metadata(root.join(name)).is_ok();
    if is_there || is_tracked(tree, name).await? {
        return Ok(None);
    }
    let unknown = || "the worktree does not belong to its repository".to_owned();
    let git_dir = tree.git_dir().ok_or_else(unknown)?;
    let git_name = git_dir.file_name().and_then(OsStr::to_str);
    let git_name = git_name.filter(|name| is_plain(name)).ok_or_else(unknown)?;
    // `<common>/worktrees/<name>`
    let common_dir = git_dir.ancestors().nth(2).ok_or_else(unknown)?;
    Ok(Some(Note {
        project_id: plan.project.clone(),
        run_id: plan.run.clone(),
        agent: plan.agent.clone(),
        worktree_relpath: worktree.relpath.clone(),
        file: name.to_owned(),
        content: file.content.clone(),
        origin: file.origin.clone(),
        common_dir: common_dir.to_owned(),
        git_name: git_name.to_owned(),
    }))
}

/// Writes the note first, then the exclude list, then the file, so that the note states what to remove whenever the
/// process exits.
async fn write(note: &Note, tree: &GitTree, path: PathBuf, root: &Path) -> Result<File, String> {
    let text = serde_json::to_string(note).map_err(|error| error.to_string())?;
    let lock = on_disk(move || {
        let mut file = File::create_new(&path)?;
        file.try_lock()?;
        file.write_all(text.as_bytes())?;
        file.sync_all()?;
        Ok(file)
    })
    .await?;
    exclude(note, tree).await?;
    let (path, content) = (root.join(&note.file), note.content.clone());
    on_disk(move || File::create_new(path)?.write_all(content.as_bytes())).await?;
    Ok(lock)
}

/// Excludes the file from commits in this worktree only. The exclude list that worktrees share would also hide such a
/// file in the repository itself, so the worktree gets its own list, which includes the user's list.
async fn exclude(note: &Note, tree: &GitTree) -> Result<(), String> {
    let question = ["config", "--type=path", "--get", "core.excludesFile"];
    // Git does not read the user's configuration in the worktree, so it runs in the repository.
    let own = GitTree::checkout(&note.common_dir).text(&question).await;
    let own = own.ok().map(PathBuf::from).or_else(usual_excludes);
    let folder = note.git_folder();
    let (list, line) = (folder.join(EXCLUDED), format!("/{}\n", note.file));
    let listed = list.clone();
    on_disk(move || {
        let mut text = own
            .and_then(|own| fs::read_to_string(own).ok())
            .unwrap_or_default();
        if !text.is_empty() && !text.ends_with('\n') {
            text.push('\n');
        }
        text.push_str(&line);
        File::create(&listed)?.write_all(text.as_bytes())
    })
    .await?;
    let settings = folder.join(SETTINGS).display().to_string();
    let list = list.display().to_string();
    let set = ["config", "--file", &settings, "core.excludesFile", &list];
    tree.git(&set).await?;
    let relative = format!("worktrees/{}/{SETTINGS}", note.git_name);
    let key = format!("{}.path", note.section());
    configure(note, &[&key, &relative]).await
}

/// Default path of the user's exclude list.
fn usual_excludes() -> Option<PathBuf> {
    let folder = std::env::var_os("XDG_CONFIG_HOME").map(PathBuf::from);
    let home = || std::env::var_os("HOME").map(|home| PathBuf::from(home).join(".config"));
    Some(folder.or_else(home)?.join("git/ignore"))
}

/// Changes the configuration of the repository, retrying while another process has it locked.
async fn configure(note: &Note, what: &[&str]) -> Result<(), String> {
    let config = note.common_dir.join("config").display().to_string();
    let mut arguments = vec!["config", "--file", &config];
    arguments.extend(what);
    let mut tries = 0;
    loop {
        match GitTree::checkout(Path::new("/")).git(&arguments).await {
            Err(error) if error.contains("could not lock") && tries < CONFIG_RETRIES => tries += 1,
            done => return done.map(|_| ()),
        }
        sleep(Duration::from_millis(25)).await;
    }
}

/// Removes the file of the session of a plan and proposes the worker's edits of it.
pub(crate) async fn collect_of(plan: &Plan) {
    collect(
        &plan.company,
        &plan.instructions_source,
        plan.gateway_secrets(),
        &plan.session_ref,
    )
    .await;
}

/// Removes the file of a session that is over and proposes the worker's edits of it.
async fn collect(
    company: &Company,
    instructions_source: &InstructionsSource,
    hidden: &[String],
    session_ref: &str,
) {
    let path = note_path(company, session_ref);
    let taken = {
        let path = path.clone();
        on_disk(move || claim(&path)).await
    };
    let (note, _lock) = match taken {
        Ok(Some(taken)) => taken,
        // There is no note, or another process is responsible for it.
        Ok(None) => return,
        Err(error) => {
            tracing::warn!(error, "the note of an instruction file cannot be read");
            return;
        }
    };
    match propose_edit(company, instructions_source, hidden, &note).await {
        Ok(()) => forget(&note, path).await,
        // The note remains, so the next gateway tries again.
        Err(error) => tracing::warn!(error, "an edit of instructions cannot be proposed yet"),
    }
}

/// Collects the files of sessions whose worker and gateway have both exited.
pub(crate) async fn collect_left(
    company: &Company,
    instructions_source: &InstructionsSource,
    hidden: &[String],
) {
    let found = {
        let company = company.clone();
        blocking(move || Ok(abandoned_sessions(&company))).await
    };
    for session_ref in found.unwrap_or_default() {
        collect(company, instructions_source, hidden, &session_ref).await;
    }
}

/// Sessions that have a note and whose process does not run any more.
fn abandoned_sessions(company: &Company) -> Vec<String> {
    let names = company.names(record::FOLDER).unwrap_or_default();
    let noted = names
        .iter()
        .filter_map(|name| name.strip_suffix(&format!(".{NOTE}")));
    let records = noted.filter_map(|name| {
        let record = company.read::<SessionRecord>(&format!("{}/{name}.yaml", record::FOLDER));
        record.ok()
    });
    let runs = |record: &SessionRecord| {
        let process = record.process();
        !record.is_over() && process.is_some_and(|process| process.is_alive())
    };
    records
        .filter(|record| !runs(record))
        .map(|record| record.session_ref.to_string())
        .collect()
}

/// Proposes the worker's edit, if there is one, and then removes the file.
async fn propose_edit(
    company: &Company,
    instructions_source: &InstructionsSource,
    hidden: &[String],
    note: &Note,
) -> Result<(), String> {
    let Ok(root) = worktree::inside(company, &note.worktree_relpath) else {
        // The worktree was removed.
        return Ok(());
    };
    let tree = {
        let (git_dir, root) = (note.git_folder(), root.clone());
        let known = tokio::task::spawn_blocking(move || GitTree::known_worktree(&git_dir, &root));
        known.await.map_err(|panic| panic.to_string())??
    };
    if !is_plain(&note.file) || is_tracked(&tree, &note.file).await? {
        // The worker added the file to the repository, where it is reviewed like any other change.
        return Ok(());
    }
    let path = root.join(&note.file);
    let found = {
        let path = path.clone();
        on_disk(move || edited(&path)).await?
    };
    if let Some(content) = found.filter(|content| *content != note.content) {
        let content = redaction::without_values(&content, hidden);
        let edit = InstructionsEdit {
            company: company.clone(),
            project: note.project_id.clone(),
            run: note.run_id.clone(),
            agent: note.agent.clone(),
            file: note.file.clone(),
            origin: note.origin.clone(),
            content: content.clone(),
        };
        match instructions_source.edited(edit).await {
            EditOutcome::Proposed => {}
            EditOutcome::Deferred(reason) => return Err(reason),
            EditOutcome::Rejected(reason) => {
                tracing::warn!(reason, run = %note.run_id, "an edit of instructions cannot be proposed");
                let outputs = layout::run_outputs(&note.project_id, &note.run_id);
                let copy = format!("{outputs}/refused_{}", note.file);
                let company = company.clone();
                blocking(move || company.replace(&copy, content.as_bytes()))
                    .await
                    .map_err(|error| error.to_string())?;
            }
        }
    }
    on_disk(move || match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        Ok(()) | Err(_) => Ok(()),
    })
    .await
}

/// Reads the current content of the file; `None` if it is gone or is not a regular file any more.
fn edited(path: &Path) -> io::Result<Option<String>> {
    let is_file = fs::symlink_metadata(path).is_ok_and(|found| found.is_file());
    if !is_file {
        return Ok(None);
    }
    let mut bytes = Vec::new();
    File::open(path)?
        .take(MAX_EDIT_BYTES)
        .read_to_end(&mut bytes)?;
    Ok(Some(String::from_utf8_lossy(&bytes).into_owned()))
}

/// Locks and reads the note; `None` if there is none or another process holds the lock.
fn claim(path: &Path) -> io::Result<Option<(Note, File)>> {
    let mut file = match File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    };
    if file.try_lock().is_err() {
        return Ok(None);
    }
    // The previous holder of the lock may have removed the note after this process opened it.
    let is_there = fs::metadata(path).is_ok_and(|found| {
        file.metadata()
            .is_ok_and(|locked| locked.ino() == found.ino())
    });
    if !is_there {
        return Ok(None);
    }
    let mut text = String::new();
    file.read_to_string(&mut text)?;
    match serde_json::from_str(&text) {
        Ok(note) => Ok(Some((note, file))),
        // The process exited before the note was complete, and therefore before it wrote anything else.
        Err(_) => fs::remove_file(path).map(|()| None),
    }
}

/// Removes the configuration of the worktree, and the note last.
async fn forget(note: &Note, path: PathBuf) {
    if is_plain(&note.git_name) {
        let section = note.section();
        let undone = configure(note, &["--remove-section", &section]).await;
        if let Err(error) = undone {
            tracing::debug!(error, "a worktree had no settings of its own");
        }
        for name in [SETTINGS, EXCLUDED] {
            let _ = fs::remove_file(note.git_folder().join(name));
        }
    }
    if let Err(error) = blocking(move || files::remove(&path)).await {
        tracing::warn!(%error, "the note of an instruction file cannot be removed");
    }
}

impl Note {
    /// The git directory of this worktree.
    fn git_folder(&self) -> PathBuf {
        self.common_dir.join("worktrees").join(&self.git_name)
    }

    /// Section of the repository's configuration that applies to this worktree only.
    fn section(&self) -> String {
        format!("includeIf.gitdir:worktrees/{}", self.git_name)
    }
}

fn note_path(company: &Company, session_ref: &str) -> PathBuf {
    company.path(&record::pipe_relpath(session_ref, NOTE))
}

async fn is_tracked(tree: &GitTree, name: &str) -> Result<bool, String> {
    let listed = tree.git(&["ls-files", "--", name]).await?;
    Ok(!listed.is_empty())
}

/// Whether a name is a single path component without characters that git interprets as a pattern.
fn is_plain(name: &str) -> bool {
    let is_safe = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
    !name.is_empty() && !name.starts_with('.') && name.bytes().all(is_safe)
}

async fn on_disk<R: Send + 'static>(
    work: impl FnOnce() -> io::Result<R> + Send + 'static,
) -> Result<R, String> {
    match tokio::task::spawn_blocking(work).await {
        Ok(done) => done.map_err(|error| error.to_string()),
        Err(panic) => Err(panic.to_string()),
    }
}
