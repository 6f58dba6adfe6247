//! The programs that workers need: whether they are found, which version they have, and whether a launch would start
//! them.

use std::{env, path::PathBuf, process::Stdio, time::Duration};

use protocol::company::adapter::{AdapterMode, AdapterRow};
use tokio::process::Command;

use super::Finding;

/// How long a program may take to answer.
const PATIENCE: Duration = Duration::from_secs(5);

/// A worker program.
struct Worker {
    program: &'static str,
    /// What logs in.
    login: &'static str,
    /// A variable with an API key.
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

/// What the check before a launch says in one company folder.
pub(super) struct CompanyAdapters {
    /// The company folder.
    pub(super) dir: String,
    /// Its adapters.
    pub(super) rows: Vec<AdapterRow>,
}

/// Examines git and the worker programs. With company folders, what a launch there would check decides.
pub(super) async fn look(companies: &[CompanyAdapters]) -> Vec<Finding> {
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
                worker.finding(&check, &version, companies)
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
    fn finding(&self, check: &str, version: &str, companies: &[CompanyAdapters]) -> Finding {
        let is_own =
            |row: &&AdapterRow| row.mode == AdapterMode::Cli && row.provider == self.program;
        let rows = companies.iter().filter_map(|company| {
            let row = company.rows.iter().find(is_own)?;
            Some((company.dir.as_str(), row))
        });
        let mut checked = 0;
        for (dir, row) in rows {
            let refusal = match (&row.launch, &row.reason) {
                (Some(launch), _) if launch.ready => {
                    checked += 1;
                    continue;
                }
                (Some(launch), _) => launch.reason.as_deref(),
                (None, reason) => reason.as_deref(),
            };
            // The sentence of a refusal ends with what to do.
            let refusal = refusal.unwrap_or("the reason is not known");
            let (refusal, remedy) = match refusal.split_once("; ") {
                Some((refusal, remedy)) => (refusal, remedy.to_owned()),
                None => (refusal, "`ac adapters list` tells more".to_owned()),
            };
            return Finding::warn(
                check,
                format!("{version}, and a launch in `{dir}` is refused: {refusal}"),
                &remedy,
            );
        }
        if checked > 0 {
            return Finding::pass(check, format!("{version}, ready to launch"));
        }
        // Without a company folder there is no policy to check: a login is all that can be seen.
        if self.has_login() {
            Finding::pass(check, format!("{version}, logged in"))
        } else if self.has_key() {
            let remedy = format!(
                "in a company folder, `ac adapters use {} --api-key` lets workers use the key; else log in with {}",
                self.program, self.login
            );
            let found = format!("{version}, no login, and {} is set", self.variable);
            Finding::warn(check, found, &remedy)
        } else {
            let remedy = format!("log in with {}, or set {}", self.login, self.variable);
            Finding::warn(
                check,
                format!("{version}, and no login is to be seen"),
                &remedy,
            )
        }
    }

    /// Whether a login left its trace. Whether it still holds, only the program could tell.
    fn has_login(&self) -> bool {
        let home = env::var_os("HOME").map(PathBuf::from);
        home.is_some_and(|home| home.join(self.trace).exists())
    }

    fn has_key(&self) -> bool {
        env::var_os(self.variable).is_some_and(|value| !value.is_empty())
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
