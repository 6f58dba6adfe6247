//! Whether this process belongs to the session of a worker. Decisions are for people, so commands that decide refuse
//! there.
//!
//! This is a guard rail and no wall: a worker runs as the same account, and a process that leaves its session and its
//! environment behind is not found. `docs/security.md` says what that means.

use crate::failure::Failure;

/// Refuses to decide in the session of a worker.
pub(crate) fn refuse_decision() -> Result<(), Failure> {
    if is_here() {
        Err(Failure::WorkerSession)
    } else {
        Ok(())
    }
}

/// Whether this process, or one that started it, has the variable of a session.
fn is_here() -> bool {
    std::env::var_os(gateway::SESSION_MARK).is_some() || is_above()
}

#[cfg(target_os = "linux")]
fn is_above() -> bool {
    use std::fs;

    /// No shell in a shell goes deeper.
    const MAX_ANCESTORS: usize = 64;

    let begins = format!("{}=", gateway::SESSION_MARK);
    // The name of the program may hold anything, so its last bracket is where the other fields begin.
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
fn is_above() -> bool {
    false
}
