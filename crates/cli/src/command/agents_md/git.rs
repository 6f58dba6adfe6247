//! Queries git for the state of instruction files, through its command line.

use std::{
    collections::BTreeSet,
    path::Path,
    process::{Command, Stdio},
};

/// Returns the instruction files below a directory that git can recover: tracked, and identical in the working tree,
/// the index and the last commit. `None` if the directory is not in a repository.
pub(super) fn clean_files(directory: &Path) -> Option<BTreeSet<String>> {
    // `H` marks an ordinary tracked file; other letters mark unmerged files or files that `git diff` ignores.
    let tracked = names(directory, &["ls-files", "-v", "-z"])?;
    let tracked = tracked.iter().filter_map(|line| line.strip_prefix("H "));
    let mut clean: BTreeSet<String> = tracked.map(str::to_owned).collect();
    let diff = ["diff", "--name-only", "--relative", "--no-renames", "-z"];
    let in_index = [&diff[..], &["--cached"]].concat();
    for changed in [&diff[..], &in_index] {
        for name in names(directory, changed)? {
            clean.remove(&name);
        }
    }
    Some(clean)
}

/// Runs a git command and returns the file names it lists, relative to the directory.
fn names(directory: &Path, arguments: &[&str]) -> Option<Vec<String>> {
    let mut command = Command::new("git");
    command
        .arg("-C")
        .arg(directory)
        .args(arguments)
        .args(["--", ":(glob)**/AGENTS.md", ":(glob)**/CLAUDE.md"])
        .env("GIT_OPTIONAL_LOCKS", "0")
        .env("LC_ALL", "C")
        .stdin(Stdio::null())
        .stderr(Stdio::null());
    // A git hook may set these variables for another repository.
    for variable in ["GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_PREFIX"] {
        command.env_remove(variable);
    }
    let output = command.output().ok().filter(|one| one.status.success())?;
    let listed = output.stdout.split(|byte| *byte == 0);
    let texts = listed.map(|name| String::from_utf8_lossy(name).into_owned());
    Some(texts.filter(|name| !name.is_empty()).collect())
}
