//! Checks the programs that workers need: whether they are installed, their versions, and whether they can be launched.

use std::{process::Stdio, time::Duration};

use protocol::company::adapter::{AdapterMode, AdapterRow};
use tokio::process::Command;

use super::Finding;
use crate::{folder, terminal};

/// Time limit for a program to print its version.
const VERSION_TIMEOUT: Duration = Duration::from_secs(5);

/// The worker programs.
const WORKERS: [&str; 3] = ["codex", "claude", "gemini"];

/// The adapter status in one company folder.
pub(super) struct CompanyAdapters {
    /// The company folder. `None` for a new company folder that does not exist yet.
    pub(super) dir: Option<String>,
    /// Its adapters.
    pub(super) rows: Vec<AdapterRow>,
}

/// Checks git and the worker programs. Uses the adapter status of the company folders, or that of a new company folder
/// if there are none.
pub(super) async fn look(companies: &mut Vec<CompanyAdapters>) -> Vec<Finding> {
    let mut findings = vec![match version("git").await {
        Some(version) => Finding::pass("git", version),
        None => Finding::warn(
            "git",
            "not found",
            "install it: workers need it for their own copies of repositories",
        ),
    }];
    if companies.is_empty() {
        companies.push(CompanyAdapters {
            dir: None,
            rows: gateway::new_company_adapters().await,
        });
    }
    let mut found = 0;
    for program in WORKERS {
        let check = format!("worker {program}");
        findings.push(match version(program).await {
            None => Finding::warn(
                &check,
                "not found",
                "install it if workers should use it, and put it into PATH",
            ),
            Some(version) => {
                found += 1;
                finding(program, &check, &version, companies)
            }
        });
    }
    if found == 0 {
        findings.push(Finding::warn(
            "workers",
            "no worker program is installed, so only commands can run",
            "install codex, claude or gemini, or declare a driver in `config.toml`",
        ));
    }
    findings
}

/// Returns a warning for the first company folder in which a launch of the program is refused, otherwise a pass.
fn finding(program: &str, check: &str, version: &str, companies: &[CompanyAdapters]) -> Finding {
    let is_own = |row: &&AdapterRow| row.mode == AdapterMode::Cli && row.provider == program;
    for company in companies {
        let Some(row) = company.rows.iter().find(is_own) else {
            continue;
        };
        let refusal = match (&row.launch, &row.reason) {
            (Some(launch), _) if launch.ready => continue,
            (Some(launch), _) => launch.reason.as_deref(),
            (None, reason) => reason.as_deref(),
        };
        // The reason of a refusal has the form `reason; remedy`.
        let refusal = refusal.unwrap_or("the reason is unknown");
        let (refusal, remedy) = match refusal.split_once("; ") {
            Some((refusal, remedy)) => (refusal, remedy),
            None => (refusal, "`ac adapters list` shows details"),
        };
        let place = match &company.dir {
            Some(dir) => format!("in `{dir}`"),
            None => "in a new company folder".to_owned(),
        };
        let found = format!(
            "{version}, and a launch {place} is refused: {}",
            terminal::reworded(refusal)
        );
        // Without -C the suggested commands use the only company folder of the home.
        let dir = company.dir.as_deref().filter(|_| companies.len() > 1);
        return Finding::warn(check, found, &with_company(remedy, dir));
    }
    Finding::pass(check, format!("{version}, ready to launch"))
}

/// Adds the company folder to the commands of a suggestion, so that they work from any folder.
fn with_company(remedy: &str, dir: Option<&str>) -> String {
    let Some(dir) = dir else {
        return remedy.to_owned();
    };
    let option = format!("-C {}", folder::quoted(dir));
    let mut pieces: Vec<String> = remedy.split('`').map(str::to_owned).collect();
    for piece in pieces.iter_mut().skip(1).step_by(2) {
        if piece.starts_with("ac adapters ") {
            *piece = format!("{piece} {option}");
        }
    }
    pieces.join("`")
}

/// Returns the first line of the version output of a program. `None` if it cannot be started.
async fn version(program: &str) -> Option<String> {
    let mut command = Command::new(program);
    command
        .arg("--version")
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .kill_on_drop(true);
    let output = tokio::time::timeout(VERSION_TIMEOUT, command.output());
    let output = output.await.ok()?.ok()?;
    let printed = String::from_utf8_lossy(&output.stdout).into_owned();
    let first = printed.lines().next().unwrap_or_default().trim();
    Some(match first {
        "" => format!("{program}, unknown version"),
        first => first.chars().take(80).collect(),
    })
}
