//! The instructions of a worker as a file of its worktree, under the name its program reads by itself.
//!
//! Nothing that is there is overwritten, no commit takes the file along, and it goes when the worker is over. What the
//! worker changed in it is handed to whoever keeps the instructions, and never simply stays.
//!
//! A note beside the session's record says what was written where. Whoever holds the lock on it answers for the file;
//! the system frees the lock with the process, and then the next gateway does.

#![allow(
    clippy::disallowed_methods,
    reason = "files of a worktree, which are plain files or left alone"
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
use protocol::company::{ProjectId, RunId};
use serde::{Deserialize, Serialize};
use tokio::time::sleep;

use crate::{
    briefing::{BriefFile, Briefer, Edited, Handed},
    driver::Driver,
    git::Tree,
    plan::Plan,
    record::{self, SessionRecord},
    redaction,
    session::blocking,
    worktree::{self, Worktree},
};

/// What the names of notes end in.
const NOTE: &str = "instructions";
/// What git is told for one worktree: its own settings, and the list they name.
const SETTINGS: &str = "accord.config";
const EXCLUDED: &str = "accord.exclude";
/// More is not read: it could not be proposed anyway.
const LARGEST: u64 = 1 << 20;
/// How often the settings of a repository are tried while somebody else changes them.
const TRIES: u32 = 20;

/// A file that was written, as its note has it.
#[derive(Debug, Serialize, Deserialize)]
struct Note {
    project_id: ProjectId,
    run_id: RunId,
    agent: String,
    /// The worktree, below the company folder.
    worktree_relpath: String,
    /// The name of the file at the root of the worktree.
    file: String,
    /// What was written.
    content: String,
    /// Whose text it is, for whoever keeps it.
    origin: String,
    /// The folder of git that all worktrees share.
    common_dir: PathBuf,
    /// What git calls the worktree.
    git_name: String,
}

/// Answers for a file while it lives.
#[derive(Debug)]
pub(crate) struct Placed {
    _lock: File,
}

/// What the program of a driver reads by itself.
pub(crate) fn file_name(driver: &Driver) -> &'static str {
    match driver {
        Driver::Claude => "CLAUDE.md",
        Driver::Gemini => "GEMINI.md",
        Driver::Codex | Driver::CodexAppServer | Driver::Declared(..) | Driver::Command => {
            "AGENTS.md"
        }
    }
}

/// Writes the file into a worktree. Where that cannot be done without touching what is there, it is left: the worker
/// reads its instructions in what it is asked too.
pub(crate) async fn place(
    plan: &Plan,
    repo: &Path,
    worktree: &Worktree,
    root: &Path,
    file: &BriefFile,
) -> Option<Placed> {
    let tree = Tree::worktree(repo, root).await;
    let note = match &tree {
        Ok(tree) => note_of(plan, tree, worktree, root, file).await,
        Err(error) => Err(error.clone()),
    };
    let (tree, note) = match (tree, note) {
        (Ok(tree), Ok(note)) => (tree, note?),
        (Err(error), _) | (_, Err(error)) => {
            tracing::warn!(error, "a worktree gets no file of instructions");
            return None;
        }
    };
    let note_path = note_path(&plan.company, &plan.session_ref);
    let placed = write(&note, &tree, note_path.clone(), root).await;
    match placed {
        Ok(lock) => Some(Placed { _lock: lock }),
        Err(error) => {
            tracing::warn!(error, "a worktree gets no file of instructions");
            forget(&note, note_path).await;
            None
        }
    }
}

/// What is to be written; nothing if the name is taken.
async fn note_of(
    plan: &Plan,
    tree: &Tree,
    worktree: &Worktree,
    root: &Path,
    file: &BriefFile,
) -> Result<Option<Note>, String> {
    let name = file_name(&plan.driver);
    let is_there = fs::symlink_metadata(root.join(name)).is_ok();
    if is_there || is_tracked(tree, name).await? {
        return Ok(None);
    }
    let unknown = || "the worktree is none of its repository".to_owned();
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

/// The note first, then what keeps the file out of commits, then the file: whenever the process ends, the note says
/// what to remove.
async fn write(note: &Note, tree: &Tree, path: PathBuf, root: &Path) -> Result<File, String> {
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

/// Keeps the file out of commits of this worktree alone. The list that worktrees share would hide such a file of the
/// repository itself, so the worktree gets a list of its own, with what the user's has.
async fn exclude(note: &Note, tree: &Tree) -> Result<(), String> {
    let question = ["config", "--type=path", "--get", "core.excludesFile"];
    // The settings of the person are not read in the worktree, so the repository is asked.
    let own = Tree::checkout(&note.common_dir).text(&question).await;
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

/// Where git looks for what it should never see.
fn usual_excludes() -> Option<PathBuf> {
    let folder = std::env::var_os("XDG_CONFIG_HOME").map(PathBuf::from);
    let home = || std::env::var_os("HOME").map(|home| PathBuf::from(home).join(".config"));
    Some(folder.or_else(home)?.join("git/ignore"))
}

/// Changes the settings of the repository, once nobody else does.
async fn configure(note: &Note, what: &[&str]) -> Result<(), String> {
    let config = note.common_dir.join("config").display().to_string();
    let mut arguments = vec!["config", "--file", &config];
    arguments.extend(what);
    let mut tries = 0;
    loop {
        match Tree::checkout(Path::new("/")).git(&arguments).await {
            Err(error) if error.contains("could not lock") && tries < TRIES => tries += 1,
            done => return done.map(|_| ()),
        }
        sleep(Duration::from_millis(25)).await;
    }
}

/// Removes the file of a session that is over, and hands on what its worker made of it.
pub(crate) async fn collect(
    company: &Company,
    briefer: &Briefer,
    hidden: &[String],
    session_ref: &str,
) {
    let path = note_path(company, session_ref);
    let taken = {
        let path = path.clone();
        on_disk(move || take(&path)).await
    };
    let (note, _lock) = match taken {
        Ok(Some(taken)) => taken,
        // There is none, or somebody else answers for it.
        Ok(None) => return,
        Err(error) => {
            tracing::warn!(error, "the note of a file of instructions cannot be read");
            return;
        }
    };
    match hand_on(company, briefer, hidden, &note).await {
        Ok(()) => forget(&note, path).await,
        // The next gateway tries again.
        Err(error) => tracing::warn!(error, "an edit of instructions cannot be proposed yet"),
    }
}

/// Files of sessions whose worker is gone and whose gateway is too.
pub(crate) async fn collect_left(company: &Company, briefer: &Briefer, hidden: &[String]) {
    let found = {
        let company = company.clone();
        blocking(move || Ok(left(&company))).await
    };
    for session_ref in found.unwrap_or_default() {
        collect(company, briefer, hidden, &session_ref).await;
    }
}

fn left(company: &Company) -> Vec<String> {
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

/// Whatever there is to say about an edit is said; then the file may go.
async fn hand_on(
    company: &Company,
    briefer: &Briefer,
    hidden: &[String],
    note: &Note,
) -> Result<(), String> {
    let Ok(root) = worktree::inside(company, &note.worktree_relpath) else {
        // Somebody removed the worktree.
        return Ok(());
    };
    let tree = {
        let (git_dir, root) = (note.git_folder(), root.clone());
        let known = tokio::task::spawn_blocking(move || Tree::known_worktree(&git_dir, &root));
        known.await.map_err(|panic| panic.to_string())??
    };
    if !is_plain(&note.file) || is_tracked(&tree, &note.file).await? {
        // The worker made it part of the repository, where it is seen like any other change.
        return Ok(());
    }
    let path = root.join(&note.file);
    let found = {
        let path = path.clone();
        on_disk(move || edited(&path)).await?
    };
    if let Some(content) = found.filter(|content| *content != note.content) {
        let content = redaction::without_values(&content, hidden);
        let edit = Edited {
            company: company.clone(),
            project: note.project_id.clone(),
            run: note.run_id.clone(),
            agent: note.agent.clone(),
            file: note.file.clone(),
            origin: note.origin.clone(),
            content: content.clone(),
        };
        match briefer.edited(edit).await {
            Handed::Taken => {}
            Handed::Later(reason) => return Err(reason),
            Handed::Refused(reason) => {
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

/// What is in the file now; nothing if it is gone or has become something else.
fn edited(path: &Path) -> io::Result<Option<String>> {
    let is_file = fs::symlink_metadata(path).is_ok_and(|found| found.is_file());
    if !is_file {
        return Ok(None);
    }
    let mut bytes = Vec::new();
    File::open(path)?.take(LARGEST).read_to_end(&mut bytes)?;
    Ok(Some(String::from_utf8_lossy(&bytes).into_owned()))
}

/// The note, if nobody else answers for the file.
fn take(path: &Path) -> io::Result<Option<(Note, File)>> {
    let mut file = match File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    };
    if file.try_lock().is_err() {
        return Ok(None);
    }
    // Whoever had the lock before may have removed it.
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
        // Its process ended before it was written, and so before anything else was.
        Err(_) => fs::remove_file(path).map(|()| None),
    }
}

/// Takes back what git was told, and the note last.
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
        tracing::warn!(%error, "the note of a file of instructions cannot be removed");
    }
}

impl Note {
    /// What belongs to this worktree alone in git.
    fn git_folder(&self) -> PathBuf {
        self.common_dir.join("worktrees").join(&self.git_name)
    }

    /// The section of the repository's settings that counts for this worktree alone.
    fn section(&self) -> String {
        format!("includeIf.gitdir:worktrees/{}", self.git_name)
    }
}

fn note_path(company: &Company, session_ref: &str) -> PathBuf {
    company.path(&record::pipe_relpath(session_ref, NOTE))
}

async fn is_tracked(tree: &Tree, name: &str) -> Result<bool, String> {
    let listed = tree.git(&["ls-files", "--", name]).await?;
    Ok(!listed.is_empty())
}

/// Whether a name is one part of a path, and nothing that git would read as a pattern.
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
