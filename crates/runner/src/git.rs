//! Git, by its command line: repositories of people are never read by a second implementation.
//!
//! A [`Tree`] says where git works. In the checkout of a person git finds its folder by itself. In a worktree that a
//! worker may have changed, the git folder and the work tree are named explicitly, because a worker can replace the
//! `.git` file of its worktree by a folder whose settings name programs. Everywhere hooks, the file system monitor and
//! other programs that settings can name are off, and git gets a cleared environment.
//!
//! Filters are programs, too. Those of the person's own settings stay on where git looks at the person's settings, since
//! Git LFS is one of them; those that a repository declares in its own settings, which a worker can write, are off.

#![allow(
    clippy::disallowed_methods,
    reason = "what git keeps in a repository, which is outside of the company folder"
)]

use std::{
    fs::{self, File},
    io,
    path::{Path, PathBuf},
    process::{Output, Stdio},
    time::Duration,
};

use tokio::process::Command;

/// How long one call may take: a large repository takes its time to check out.
const PATIENCE: Duration = Duration::from_secs(300);

/// The variables of the gateway that git gets.
const ENVIRONMENT: [&str; 5] = ["PATH", "HOME", "XDG_CONFIG_HOME", "TMPDIR", "USER"];

/// Settings that would start programs, each turned off.
const SETTINGS: [&str; 8] = [
    "core.fsmonitor=false",
    "core.hooksPath=/dev/null",
    "core.untrackedCache=false",
    "core.pager=cat",
    "core.sshCommand=false",
    "core.askPass=",
    "credential.helper=",
    "protocol.ext.allow=never",
];

/// What git does without looking at the content of files.
const PLAIN: [&str; 4] = ["config", "rev-parse", "branch", "for-each-ref"];

/// Where git works.
#[derive(Clone, Debug)]
pub(crate) struct Tree {
    folder: PathBuf,
    /// Set for a worktree; absent where git may look for its folder by itself.
    git_dir: Option<PathBuf>,
}

impl Tree {
    /// The checkout of a person, or a folder in it.
    pub(crate) fn checkout(folder: &Path) -> Self {
        Self {
            folder: folder.to_owned(),
            git_dir: None,
        }
    }

    /// The worktree of a repository at `folder`. Refused if its `.git` is not the one that git made.
    pub(crate) async fn worktree(repo: &Path, folder: &Path) -> Result<Self, String> {
        let question = ["rev-parse", "--path-format=absolute", "--git-common-dir"];
        let common = Self::checkout(repo).text(&question).await?;
        let folder = folder.to_owned();
        let found = tokio::task::spawn_blocking(move || find(Path::new(&common), &folder)).await;
        found.unwrap_or_else(|panic| Err(panic.to_string()))
    }

    /// The worktree at `folder` whose git folder is known. Refused if the two do not belong together.
    pub(crate) fn known_worktree(git_dir: &Path, folder: &Path) -> Result<Self, String> {
        let is_pair = belongs(git_dir, folder).is_ok_and(|is_pair| is_pair);
        if is_pair {
            Ok(Self {
                folder: folder.to_owned(),
                git_dir: Some(git_dir.to_owned()),
            })
        } else {
            Err(replaced(folder))
        }
    }

    /// The git folder of a worktree.
    pub(crate) fn git_dir(&self) -> Option<&Path> {
        self.git_dir.as_deref()
    }

    /// Runs git and answers what it printed, or why it failed in one line.
    pub(crate) async fn git(&self, arguments: &[&str]) -> Result<Vec<u8>, String> {
        self.run(arguments, Stdio::null()).await
    }

    /// The same as text without its end of line.
    pub(crate) async fn text(&self, arguments: &[&str]) -> Result<String, String> {
        let bytes = self.git(arguments).await?;
        Ok(String::from_utf8_lossy(&bytes).trim_end().to_owned())
    }

    /// Runs git with a locked file that it keeps open: the lock holds until git has ended, even if this process ends
    /// before.
    pub(crate) async fn git_holding(
        &self,
        arguments: &[&str],
        lock: File,
    ) -> Result<Vec<u8>, String> {
        self.run(arguments, lock.into()).await
    }

    /// The changes of tracked files and the names of others, one a line; empty if there are none.
    pub(crate) async fn status(&self) -> Result<Vec<u8>, String> {
        // A nested repository would run programs of its own settings.
        self.git(&["status", "--porcelain=v1", "--ignore-submodules=all"])
            .await
    }

    /// The changes of tracked files since the last commit, as a patch.
    pub(crate) async fn diff(&self) -> Result<Vec<u8>, String> {
        let plain = ["--no-ext-diff", "--no-textconv", "--ignore-submodules=all"];
        self.git(&["diff", plain[0], plain[1], plain[2], "HEAD"])
            .await
    }

    /// The keys of all filters that the repository declares in its own settings.
    async fn own_filters(&self) -> Result<Vec<String>, String> {
        let question = [
            "config",
            "--show-scope",
            "-z",
            "--name-only",
            "--get-regexp",
            "^filter[.]",
        ];
        let output = self.output(self.command(&question), Stdio::null()).await?;
        let told = match output.status.code() {
            // There is none.
            Some(1) => return Ok(Vec::new()),
            Some(0) => output.stdout,
            _ => return Err(failure("config", &output)),
        };
        // The scope and the key, each with a zero byte at its end.
        let told = String::from_utf8_lossy(&told).into_owned();
        let words: Vec<&str> = told.split_terminator('\0').collect();
        let own = words
            .chunks_exact(2)
            .filter(|words| matches!(words[0], "local" | "worktree"));
        Ok(own.map(|words| words[1].to_owned()).collect())
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new("git");
        command.env_clear();
        for name in ENVIRONMENT {
            if let Some(value) = std::env::var_os(name) {
                command.env(name, value);
            }
        }
        command
            .env("GIT_TERMINAL_PROMPT", "0")
            .env("GIT_OPTIONAL_LOCKS", "0")
            .env("LC_ALL", "C")
            .arg("-C")
            .arg(&self.folder);
        for setting in SETTINGS {
            command.args(["-c", setting]);
        }
        if let Some(git_dir) = &self.git_dir {
            // Filters of the person's settings would run on files of the worker.
            command
                .env("GIT_CONFIG_NOSYSTEM", "1")
                .env("GIT_CONFIG_GLOBAL", "/dev/null")
                .arg("--git-dir")
                .arg(git_dir)
                .arg("--work-tree")
                .arg(&self.folder);
        }
        command.args(arguments);
        command
    }

    async fn run(&self, arguments: &[&str], stdin: Stdio) -> Result<Vec<u8>, String> {
        let mut command = self.command(arguments);
        let verb = arguments.first().copied().unwrap_or_default();
        if !PLAIN.contains(&verb) {
            // As variables, because a key on the command line ends at its first `=`.
            let filters = self.own_filters().await?;
            command.env("GIT_CONFIG_COUNT", filters.len().to_string());
            for (number, key) in filters.iter().enumerate() {
                let off = if key.ends_with(".required") {
                    "false"
                } else {
                    ""
                };
                command
                    .env(format!("GIT_CONFIG_KEY_{number}"), key)
                    .env(format!("GIT_CONFIG_VALUE_{number}"), off);
            }
        }
        let output = self.output(command, stdin).await;
        let output = output.map_err(|error| format!("git {verb}: {error}"))?;
        if output.status.success() {
            return Ok(output.stdout);
        }
        Err(failure(verb, &output))
    }

    async fn output(&self, mut command: Command, stdin: Stdio) -> Result<Output, String> {
        command.stdin(stdin).kill_on_drop(true);
        match tokio::time::timeout(PATIENCE, command.output()).await {
            Ok(Ok(output)) => Ok(output),
            Ok(Err(error)) => Err(format!("git cannot be run: {error}")),
            Err(_) => Err("git did not end in time".to_owned()),
        }
    }
}

/// Why git failed, in one line.
fn failure(verb: &str, output: &Output) -> String {
    let said = String::from_utf8_lossy(&output.stderr);
    let line = said
        .lines()
        .find(|line| line.starts_with("fatal:") || line.starts_with("error:"))
        .or(said.lines().next())
        .unwrap_or("it failed");
    format!("git {verb}: {line}")
}

/// Finds the git folder of a worktree among those of its repository.
fn find(common: &Path, folder: &Path) -> Result<Tree, String> {
    let entries = fs::read_dir(common.join("worktrees"));
    let of_folder = entries
        .into_iter()
        .flatten()
        .flatten()
        .map(|entry| entry.path())
        .find(|git_dir| work_tree_of(git_dir).is_ok_and(|work_tree| is_same(&work_tree, folder)));
    match of_folder {
        Some(git_dir) => Tree::known_worktree(&git_dir, folder),
        None => Err(format!(
            "`{}` is no worktree of its repository",
            folder.display()
        )),
    }
}

fn replaced(folder: &Path) -> String {
    format!(
        "`.git` of the worktree `{}` is not the one that git made",
        folder.display()
    )
}

/// Whether a git folder and a work tree name each other.
fn belongs(git_dir: &Path, folder: &Path) -> io::Result<bool> {
    let link = folder.join(".git");
    if !fs::symlink_metadata(&link)?.is_file() {
        return Ok(false);
    }
    let text = fs::read_to_string(&link)?;
    let Some(named) = text.trim_end().strip_prefix("gitdir: ") else {
        return Ok(false);
    };
    Ok(is_same(&folder.join(named), git_dir) && is_same(&work_tree_of(git_dir)?, folder))
}

/// The work tree that a git folder of a worktree names.
fn work_tree_of(git_dir: &Path) -> io::Result<PathBuf> {
    let text = fs::read_to_string(git_dir.join("gitdir"))?;
    let link = git_dir.join(text.trim_end());
    Ok(link.parent().unwrap_or(&link).to_owned())
}

fn is_same(left: &Path, right: &Path) -> bool {
    match (left.canonicalize(), right.canonicalize()) {
        (Ok(left), Ok(right)) => left == right,
        _ => false,
    }
}
