//! The programs that workers need: found, which version, logged in.

use std::{env, path::PathBuf, process::Stdio, time::Duration};

use tokio::process::Command;

use super::Finding;

/// How long a program may take to answer.
const PATIENCE: Duration = Duration::from_secs(5);

/// A worker program.
struct Worker {
    program: &'static str,
    /// What logs in.
    login: &'static str,
    /// A variable that makes a login needless.
    variable: &'static str,
    /// Where a login leaves its trace, below the home folder of the user.
    trace: &'static str,
}

const WORKERS: [Worker; 3] = [
    Worker {
        program: "codex",
        login: "`codex login`",
        variable: "OPENAI_API_KEY",
        trace: ".codex/auth.json",
    },
    Worker {
        program: "claude",
        login: "`claude` and then `/login`",
        variable: "ANTHROPIC_API_KEY",
        trace: ".claude/.credentials.json",
    },
    Worker {
        program: "gemini",
        login: "`gemini`, which asks for it",
        variable: "GEMINI_API_KEY",
        trace: ".gemini/oauth_creds.json",
    },
];

pub(super) async fn look() -> Vec<Finding> {
    let mut findings = vec![match version("git").await {
        Some(version) => Finding::pass("git", version),
        None => Finding::warn(
            "git",
            "it is not found",
            "install it: workers get their own copies of repositories by it",
        ),
    }];
    let mut found = 0;
    for worker in &WORKERS {
        let check = format!("worker {}", worker.program);
        findings.push(match version(worker.program).await {
            None => Finding::warn(
                &check,
                "it is not found",
                "install it if workers should use it, and put it into PATH",
            ),
            Some(version) => {
                found += 1;
                match worker.is_logged_in() {
                    true => Finding::pass(&check, format!("{version}, logged in")),
                    false => Finding::warn(
                        &check,
                        format!("{version}, and no login is to be seen"),
                        &format!("log in with {}, or set {}", worker.login, worker.variable),
                    ),
                }
            }
        });
    }
    if found == 0 {
        findings.push(Finding::warn(
            "workers",
            "there is no worker program, so only commands can be run",
            "install codex, claude or gemini, or declare a driver in `config.toml`",
        ));
    }
    findings
}

impl Worker {
    /// Whether something of a login is there. Whether it still holds, only the program could tell.
    fn is_logged_in(&self) -> bool {
        let is_set = env::var_os(self.variable).is_some_and(|value| !value.is_empty());
        let home = env::var_os("HOME").map(PathBuf::from);
        is_set || home.is_some_and(|home| home.join(self.trace).exists())
    }
}

/// The first line of what a program says it is; none if it cannot be started.
async fn version(program: &str) -> Option<String> {
    let mut command = Command::new(program);
    command
        .arg("--version")
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .kill_on_drop(true);
    let output = tokio::time::timeout(PATIENCE, command.output());
    let output = output.await.ok()?.ok()?;
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    let first = said.lines().next().unwrap_or_default().trim();
    Some(match first {
        "" => format!("{program}, of an unknown version"),
        first => first.chars().take(80).collect(),
    })
}
