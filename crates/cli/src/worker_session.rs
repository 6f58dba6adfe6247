//! Detects whether this process belongs to a worker session. Decisions are reserved for people, so deciding commands
//! fail there.
//!
//! This is a safeguard, not a security boundary: a worker runs under the same account, and a process that detaches from
//! its session and clears its environment is not detected. See `docs/security.md`.

use crate::failure::Failure;

/// Returns an error if this process runs in a worker session.
pub(crate) fn refuse_decision() -> Result<(), Failure> {
    if in_worker_session() {
        Err(Failure::WorkerSession)
    } else {
        Ok(())
    }
}

/// Returns whether this process or one of its ancestors has the environment variable of a session.
fn in_worker_session() -> bool {
    std::env::var_os(gateway::SESSION_MARK).is_some() || ancestor_has_mark()
}

#[cfg(target_os = "linux")]
fn ancestor_has_mark() -> bool {
    use std::fs;

    /// Upper limit of the search; real process trees are less deep.
    const MAX_ANCESTORS: usize = 64;

    let begins = format!("{}=", gateway::SESSION_MARK);
    // The program name may contain any character, so the other fields start after the last closing bracket.
    let parent = |process: &str| {
        let stat = fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
        let (_, fields) = stat.rsplit_once(") ")?;
        let parent = fields.split(' ').nth(1)?;
        (parent != "0").then(|| parent.to_owned())
    };
    let has_mark = |process: &String| {
        let environment = fs::read(format!("/proc/{process}/environ")).unwrap_or_default();
        let mut variables = environment.split(|byte| *byte == 0);
        variables.any(|variable| variable.starts_with(begins.as_bytes()))
    };
    let ancestors = std::iter::successors(parent("self"), |process| parent(process));
    ancestors
        .take(MAX_ANCESTORS)
        .any(|process| has_mark(&process))
}

#[cfg(not(target_os = "linux"))]
fn ancestor_has_mark() -> bool {
    false
}
