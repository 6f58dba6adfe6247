//! Runs the `git` command. No library implementation is used, so users' repositories are accessed by their own git
//! only.
//!
//! A [`GitTree`] selects where git works. In a user's checkout git discovers its git directory itself. In a worktree that
//! a worker may have changed, the git directory and the work tree are passed explicitly, because a worker can replace
//! the `.git` file of its worktree with a directory whose configuration names programs. Hooks, the file system monitor
//! and other programs that the configuration can name are always disabled, and git gets a cleared environment.
//!
//! Filters are programs, too. Filters of the user's own configuration stay enabled where git reads that configuration,
//! because Git LFS is one of them. Filters that a repository declares in its own configuration, which a worker can
//! write, are disabled.

#![allow(
    clippy::disallowed_methods,
    reason = "git metadata of a repository, which is outside of the company folder"
)]

use std::{
    fs::{self, File},
    io,
    path::{Path, PathBuf},
    process::{Output, Stdio},
    time::Duration,
};

use tokio::process::Command;

/// Timeout of one git command; checking out a large repository is slow.
const GIT_TIMEOUT: Duration = Duration::from_secs(300);

/// Environment variables of the gateway that git inherits.
const ENVIRONMENT: [&str; 5] = ["PATH", "HOME", "XDG_CONFIG_HOME", "TMPDIR", "USER"];

/// Configuration that disables every setting by which git would start another program.
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

/// Git commands that do not read the content of files and therefore run no filters.
const WITHOUT_FILTERS: [&str; 4] = ["config", "rev-parse", "branch", "for-each-ref"];

/// The folder in which git works.
#[derive(Clone, Debug)]
pub(crate) struct GitTree {
    folder: PathBuf,
    /// Git directory of a worktree; absent where git discovers its directory itself.
    git_dir: Option<PathBuf>,
}

impl GitTree {
    /// A user's checkout, or a folder in it.
    pub(crate) fn checkout(folder: &Path) -> Self {
        Self {
            folder: folder.to_owned(),
            git_dir: None,
        }
    }

    /// The worktree of `repo` at `folder`. Fails if its `.git` is not the one that git created.
    pub(crate) async fn worktree(repo: &Path, folder: &Path) -> Result<Self, String> {
        let question = ["rev-parse", "--path-format=absolute", "--git-common-dir"];
        let common = Self::checkout(repo).text(&question).await?;
        let folder = folder.to_owned();
        let found = tokio::task::spawn_blocking(move || find(Path::new(&common), &folder)).await;
        found.unwrap_or_else(|panic| Err(panic.to_string()))
    }

    /// The worktree at `folder` whose git directory is known. Fails if the two do not refer to each other.
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

    /// Git directory of a worktree; `None` for a checkout.
    pub(crate) fn git_dir(&self) -> Option<&Path> {
        self.git_dir.as_deref()
    }

    /// Runs git and returns its standard output, or a one-line error.
    pub(crate) async fn git(&self, arguments: &[&str]) -> Result<Vec<u8>, String> {
        self.run(arguments, Stdio::null()).await
    }

    /// Runs git and returns its output as text without trailing white space.
    pub(crate) async fn text(&self, arguments: &[&str]) -> Result<String, String> {
        let bytes = self.git(arguments).await?;
        Ok(String::from_utf8_lossy(&bytes).trim_end().to_owned())
    }

    /// Runs git with a locked file as its standard input, so that the lock is held until git exits, even if this
    /// process exits first.
    pub(crate) async fn git_holding(
        &self,
        arguments: &[&str],
        lock: File,
    ) -> Result<Vec<u8>, String> {
        self.run(arguments, lock.into()).await
    }

    /// Changed tracked files and untracked files, one per line; empty if there are none.
    pub(crate) async fn status(&self) -> Result<Vec<u8>, String> {
        // Submodules are ignored because git would run programs that their configuration names.
        self.git(&["status", "--porcelain=v1", "--ignore-submodules=all"])
            .await
    }

    /// Changes of tracked files since the last commit, as a patch.
    pub(crate) async fn diff(&self) -> Result<Vec<u8>, String> {
        let plain = ["--no-ext-diff", "--no-textconv", "--ignore-submodules=all"];
        self.git(&["diff", plain[0], plain[1], plain[2], "HEAD"])
            .await
    }

    /// Keys of all filters that the repository declares in its own configuration.
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
        let listed = match output.status.code() {
            // No key matches.
            Some(1) => return Ok(Vec::new()),
            Some(0) => output.stdout,
            _ => return Err(failure("config", &output)),
        };
        // The output alternates scope and key, each terminated by a zero byte.
        let listed = String::from_utf8_lossy(&listed).into_owned();
        let words: Vec<&str> = listed.split_terminator('\0').collect();
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
            // Filters of the user's configuration would run on files of the worker.
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
        if !WITHOUT_FILTERS.contains(&verb) {
            // Passed as variables, because `-c` would end a key at its first `=`.
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
        match tokio::time::timeout(GIT_TIMEOUT, command.output()).await {
            Ok(Ok(output)) => Ok(output),
            Ok(Err(error)) => Err(format!("git could not be started: {error}")),
            Err(_) => Err("git did not finish in time".to_owned()),
        }
    }
}

/// Extracts a one-line error from the output of a failed command.
fn failure(verb: &str, output: &Output) -> String {
    let stderr = String::from_utf8_lossy(&output.stderr);
    let line = stderr
        .lines()
        .find(|line| line.starts_with("fatal:") || line.starts_with("error:"))
        .or(stderr.lines().next())
        .unwrap_or("failed without an error message");
    format!("git {verb}: {line}")
}

/// Finds the git directory of a worktree among those of its repository.
fn find(common: &Path, folder: &Path) -> Result<GitTree, String> {
    let entries = fs::read_dir(common.join("worktrees"));
    let of_folder = entries
        .into_iter()
        .flatten()
        .flatten()
        .map(|entry| entry.path())
        .find(|git_dir| work_tree_of(git_dir).is_ok_and(|work_tree| is_same(&work_tree, folder)));
    match of_folder {
        Some(git_dir) => GitTree::known_worktree(&git_dir, folder),
        None => Err(format!(
            "`{}` is not a worktree of its repository",
            folder.display()
        )),
    }
}

fn replaced(folder: &Path) -> String {
    format!(
        "`.git` of the worktree `{}` is not the one that git created",
        folder.display()
    )
}

/// Whether a git directory and a work tree refer to each other.
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

/// The work tree that the git directory of a worktree refers to.
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
