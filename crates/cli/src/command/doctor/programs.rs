//! The programs that workers need: whether they are found, which version they have, and whether a launch would start
//! them.

use std::{process::Stdio, time::Duration};

use protocol::company::adapter::{AdapterMode, AdapterRow};
use tokio::process::Command;

use super::Finding;
use crate::{folder, terminal};

/// How long a program may take to answer.
const PATIENCE: Duration = Duration::from_secs(5);

/// The worker programs.
const WORKERS: [&str; 3] = ["codex", "claude", "gemini"];

/// What the check before a launch says in one company folder.
pub(super) struct CompanyAdapters {
    /// The company folder; none for a company folder that is yet to be made.
    pub(super) dir: Option<String>,
    /// Its adapters.
    pub(super) rows: Vec<AdapterRow>,
}

/// Examines git and the worker programs. What a launch in the company folders would check decides; if there are none,
/// what a launch in a new one would.
pub(super) async fn look(companies: &mut Vec<CompanyAdapters>) -> Vec<Finding> {
    let mut findings = vec![match version("git").await {
        Some(version) => Finding::pass("git", version),
        None => Finding::warn(
            "git",
            "it is not found",
            "install it: workers get their own copies of repositories by it",
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
                "it is not found",
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
            "there is no worker program, so only commands can be run",
            "install codex, claude or gemini, or declare a driver in `config.toml`",
        ));
    }
    findings
}

/// The first company folder in which a launch of the program is refused, or that all of them would start it.
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
        // The sentence of a refusal ends with what to do.
        let refusal = refusal.unwrap_or("the reason is not known");
        let (refusal, remedy) = match refusal.split_once("; ") {
            Some((refusal, remedy)) => (refusal, remedy),
            None => (refusal, "`ac adapters list` tells more"),
        };
        let place = match &company.dir {
            Some(dir) => format!("in `{dir}`"),
            None => "in a new company folder".to_owned(),
        };
        let found = format!(
            "{version}, and a launch {place} is refused: {}",
            terminal::reworded(refusal)
        );
        // Without -C the commands of the advice mean the only company folder of the home.
        let dir = company.dir.as_deref().filter(|_| companies.len() > 1);
        return Finding::warn(check, found, &with_company(remedy, dir));
    }
    Finding::pass(check, format!("{version}, ready to launch"))
}

/// Advice that works from any folder: its commands name the company folder they are about.
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
