//! Single processes: identifies, inspects and signals them.

#![allow(clippy::disallowed_methods, reason = "files of `/proc`")]

use std::{collections::BTreeMap, fs, io, path::Path, time::Duration};

use rustix::process::{Pid, Signal};
use serde::{Deserialize, Serialize};

/// Identifies a process by id and start time, because the system reuses ids.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct ProcessId {
    /// Process id.
    pub pid: i32,
    /// Start time in clock ticks since boot. Absent where the system does not report it.
    pub start_ticks: Option<u64>,
}

/// Fields of `/proc/<pid>/stat`.
pub(crate) struct Stat {
    pub(crate) state: char,
    pub(crate) parent: i32,
    pub(crate) group: i32,
    pub(crate) session: i32,
    pub(crate) start_ticks: u64,
}

/// Reads the state of a process from `/proc`; `None` if there is no such process.
pub(crate) fn stat(pid: i32) -> Option<Stat> {
    let text = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name of the program may contain parentheses.
    let (_, fields) = text.rsplit_once(") ")?;
    let mut fields = fields.split(' ');
    let state = fields.next()?.chars().next()?;
    let mut number = || fields.next()?.parse::<i32>().ok();
    let (parent, group, session) = (number()?, number()?, number()?);
    let start_ticks = fields.nth(15)?.parse().ok()?;
    Some(Stat {
        state,
        parent,
        group,
        session,
        start_ticks,
    })
}

impl ProcessId {
    /// This process.
    pub fn own() -> Self {
        Self::of(i32::try_from(std::process::id()).unwrap_or(0))
    }

    /// The process that currently has this id.
    pub fn of(pid: i32) -> Self {
        Self {
            pid,
            start_ticks: stat(pid).map(|stat| stat.start_ticks),
        }
    }

    /// Whether this process still runs. Zombies count as ended.
    pub fn is_alive(self) -> bool {
        let Some(pid) = Pid::from_raw(self.pid).filter(|_| self.pid > 0) else {
            return false;
        };
        if rustix::process::test_kill_process(pid) == Err(rustix::io::Errno::SRCH) {
            return false;
        }
        match stat(self.pid) {
            Some(stat) => {
                let is_same = self
                    .start_ticks
                    .is_none_or(|ticks| ticks == stat.start_ticks);
                is_same && !matches!(stat.state, 'Z' | 'X')
            }
            // Without `/proc` the result of `kill` is trusted.
            None => !Path::new("/proc/self/stat").exists(),
        }
    }

    /// Age of the process, by the monotonic uptime. `None` where the system does not report it.
    pub fn age(self) -> Option<Duration> {
        /// Clock ticks per second in `/proc` (`USER_HZ`), the same on every supported architecture.
        const TICKS_PER_SECOND: u64 = 100;
        let uptime = fs::read_to_string("/proc/uptime").ok()?;
        let uptime: f64 = uptime.split_whitespace().next()?.parse().ok()?;
        let began = Duration::from_millis(self.start_ticks? * 1000 / TICKS_PER_SECOND);
        Some(
            Duration::try_from_secs_f64(uptime)
                .ok()?
                .saturating_sub(began),
        )
    }

    /// Sends a signal if this process still runs.
    pub fn signal(self, signal: Signal) {
        if self.is_alive()
            && let Some(pid) = Pid::from_raw(self.pid)
        {
            // The process may have exited in the meantime.
            let _ = rustix::process::kill_process(pid, signal);
        }
    }

    /// Sends a signal to the process group that this process leads.
    pub fn signal_group(self, signal: Signal) {
        if let Some(pid) = Pid::from_raw(self.pid).filter(|_| self.pid > 1) {
            let _ = rustix::process::kill_process_group(pid, signal);
        }
    }
}

/// Ids of the children of a process.
pub(crate) fn children(pid: i32) -> Vec<i32> {
    let Ok(threads) = fs::read_dir(format!("/proc/{pid}/task")) else {
        return Vec::new();
    };
    let mut found = Vec::new();
    for thread in threads.flatten() {
        let text = fs::read_to_string(thread.path().join("children")).unwrap_or_default();
        found.extend(
            text.split_whitespace()
                .filter_map(|pid| pid.parse::<i32>().ok()),
        );
    }
    found
}

/// The environment with which a process was started; empty if the system does not permit to read it.
pub(crate) fn environment_of(process: ProcessId) -> BTreeMap<String, String> {
    let bytes = fs::read(format!("/proc/{}/environ", process.pid)).unwrap_or_default();
    let text = String::from_utf8_lossy(&bytes);
    text.split('\0')
        .filter_map(|variable| variable.split_once('='))
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .collect()
}

/// Name of a signal, such as `SIGTERM`.
pub(crate) fn signal_name(signal: i32) -> String {
    const NAMES: [(Signal, &str); 16] = [
        (Signal::HUP, "SIGHUP"),
        (Signal::INT, "SIGINT"),
        (Signal::QUIT, "SIGQUIT"),
        (Signal::ILL, "SIGILL"),
        (Signal::TRAP, "SIGTRAP"),
        (Signal::ABORT, "SIGABRT"),
        (Signal::BUS, "SIGBUS"),
        (Signal::FPE, "SIGFPE"),
        (Signal::KILL, "SIGKILL"),
        (Signal::USR1, "SIGUSR1"),
        (Signal::SEGV, "SIGSEGV"),
        (Signal::USR2, "SIGUSR2"),
        (Signal::PIPE, "SIGPIPE"),
        (Signal::ALARM, "SIGALRM"),
        (Signal::TERM, "SIGTERM"),
        (Signal::XCPU, "SIGXCPU"),
    ];
    NAMES
        .iter()
        .find(|(known, _)| known.as_raw() == signal)
        .map_or_else(|| format!("SIG{signal}"), |(_, name)| (*name).to_owned())
}

/// Returns the program if a message of [`spawn_error`] states that it does not exist.
pub fn missing_program(message: &str) -> Option<&str> {
    message.strip_prefix("spawn ")?.strip_suffix(" ENOENT")
}

/// Error message for a program that could not be started, in the format of the company protocol.
pub(crate) fn spawn_error(program: &str, error: &io::Error) -> String {
    let is = |kind: io::ErrorKind| error.kind() == kind;
    let word = if is(io::ErrorKind::NotFound) {
        "ENOENT"
    } else if is(io::ErrorKind::PermissionDenied) {
        "EACCES"
    } else if is(io::ErrorKind::ArgumentListTooLong) {
        "E2BIG"
    } else {
        "failed"
    };
    format!("spawn {program} {word}")
}

#[cfg(test)]
#[cfg(target_os = "linux")]
mod tests {
    use super::*;

    #[test]
    fn a_process_is_told_from_a_later_one_of_the_same_id() {
        let own = ProcessId::of(i32::try_from(std::process::id()).unwrap());
        assert!(own.is_alive());
        let other = ProcessId {
            start_ticks: own.start_ticks.map(|ticks| ticks + 1),
            ..own
        };
        assert!(!other.is_alive());
        assert!(!ProcessId::of(999_999_999).is_alive());
    }

    #[test]
    fn a_process_that_nobody_waited_for_is_dead() {
        let mut child = std::process::Command::new("true").spawn().unwrap();
        let process = ProcessId::of(i32::try_from(child.id()).unwrap());
        // Wait for the zombie state itself, because that is what this test is about.
        while stat(process.pid).is_some_and(|stat| stat.state != 'Z') {
            std::thread::yield_now();
        }
        assert!(!process.is_alive());
        child.wait().unwrap();
    }

    #[test]
    fn signals_have_their_usual_names() {
        assert_eq!(signal_name(15), "SIGTERM");
        assert_eq!(signal_name(9), "SIGKILL");
        assert_eq!(signal_name(64), "SIG64");
    }
}
