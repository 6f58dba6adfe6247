//! Git, by its command line: repositories of people are never read by a second implementation.

use std::{fs::File, path::Path, process::Stdio, time::Duration};

use tokio::process::Command;

/// How long one call may take: a large repository takes its time to check out.
const PATIENCE: Duration = Duration::from_secs(300);

/// Runs git in a folder and answers what it printed, or why it failed in one line.
pub(crate) async fn git(folder: &Path, arguments: &[&str]) -> Result<Vec<u8>, String> {
    git_reading(folder, arguments, Stdio::null()).await
}

/// The same, with a locked file that git keeps open: the lock holds until git has ended, even if this process ends
/// before.
pub(crate) async fn git_holding(
    folder: &Path,
    arguments: &[&str],
    lock: File,
) -> Result<Vec<u8>, String> {
    git_reading(folder, arguments, lock.into()).await
}

async fn git_reading(folder: &Path, arguments: &[&str], stdin: Stdio) -> Result<Vec<u8>, String> {
    let mut command = Command::new("git");
    command
        .arg("-C")
        .arg(folder)
        .args(arguments)
        .env("GIT_TERMINAL_PROMPT", "0")
        .env("GIT_OPTIONAL_LOCKS", "0")
        .env("LC_ALL", "C")
        .stdin(stdin)
        .kill_on_drop(true);
    for variable in [
        "GIT_DIR",
        "GIT_WORK_TREE",
        "GIT_INDEX_FILE",
        "GIT_CEILING_DIRECTORIES",
    ] {
        command.env_remove(variable);
    }
    let verb = arguments.first().copied().unwrap_or_default();
    let output = match tokio::time::timeout(PATIENCE, command.output()).await {
        Ok(Ok(output)) => output,
        Ok(Err(error)) => return Err(format!("git cannot be run: {error}")),
        Err(_) => return Err(format!("git {verb} did not end in time")),
    };
    if output.status.success() {
        return Ok(output.stdout);
    }
    let said = String::from_utf8_lossy(&output.stderr);
    let line = said
        .lines()
        .find(|line| line.starts_with("fatal:") || line.starts_with("error:"))
        .or(said.lines().next())
        .unwrap_or("it failed");
    Err(format!("git {verb}: {line}"))
}

/// The same as text without its end of line.
pub(crate) async fn git_text(folder: &Path, arguments: &[&str]) -> Result<String, String> {
    let bytes = git(folder, arguments).await?;
    Ok(String::from_utf8_lossy(&bytes).trim_end().to_owned())
}
