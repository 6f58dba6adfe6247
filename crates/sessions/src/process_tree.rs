//! Process trees: finds, signals and reaps a process and everything that it started.
//!
//! Worker programs run their tools in separate sessions and process groups, so a signal to the group is not enough. On
//! Linux this process is a child subreaper: a tool whose parent exits becomes a child of this process, and `/proc`
//! shows to which session it belonged, unless it also cleared its environment. Where the system permits it, a session
//! also has a cgroup, which no process can leave. On other Unix systems only the process group is signalled, and a tool
//! that left it survives.

#![allow(clippy::disallowed_methods, reason = "files of `/proc`")]

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    time::Duration,
};

use drivers::environment;
use rustix::process::{Pid, Signal, WaitOptions};

use crate::{
    cgroup::{self, Cgroup},
    process::{ProcessId, children, environment_of, stat},
};

/// Makes this process adopt orphans of its children. Does nothing on systems other than Linux.
pub(crate) fn become_subreaper() {
    #[cfg(target_os = "linux")]
    if let Err(error) = rustix::process::set_child_subreaper(Some(rustix::process::getpid())) {
        tracing::warn!(%error, "tools that outlive their worker cannot be found");
    }
}

/// The processes of a session: the leader, its descendants, and orphans of it that this process adopted.
#[derive(Debug)]
pub(crate) struct ProcessTree {
    leader: ProcessId,
    /// Environment variable of the session's processes, as `NAME=value`.
    mark: String,
    /// Every process that was found so far, except those that were reaped.
    seen: BTreeSet<ProcessId>,
    /// Absent where the system does not permit a cgroup.
    cgroup: Option<Cgroup>,
}

impl ProcessTree {
    /// Tracks the processes of a session that has just started.
    pub(crate) fn begin(leader: ProcessId, mark: String) -> Self {
        let mut tree = Self::with(leader, mark, Cgroup::make(leader));
        tree.catch_up();
        tree
    }

    /// Moves processes into the cgroup that the leader started before it was moved there itself.
    fn catch_up(&mut self) {
        /// Each round finds the few processes that were forked during the previous one.
        const ROUNDS: usize = 20;
        for _ in 0..ROUNDS {
            self.add_descendants(self.leader.pid);
            let Some(cgroup) = &self.cgroup else {
                return;
            };
            self.seen.extend(self.hidden_orphans());
            let late = self.seen.iter().filter(|one| cgroup::is_beside_us(**one));
            // Processes that exited in the meantime cannot be added and are skipped.
            if late.filter(|one| cgroup.add(**one).is_ok()).count() == 0 {
                return;
            }
        }
    }

    /// Finds the processes of a session that an earlier gateway started.
    pub(crate) fn find(leader: ProcessId, mark: String) -> Self {
        let mut tree = Self::with(leader, mark, Cgroup::find(leader));
        tree.look_everywhere();
        tree
    }

    fn with(leader: ProcessId, mark: String, cgroup: Option<Cgroup>) -> Self {
        Self {
            leader,
            mark,
            seen: BTreeSet::new(),
            cgroup,
        }
    }

    pub(crate) fn leader(&self) -> ProcessId {
        self.leader
    }

    /// Searches for new processes of the session. Cheap while the leader lives and has few children.
    pub(crate) fn look(&mut self) {
        self.add_descendants(self.leader.pid);
        let contained = self.cgroup.iter().flat_map(Cgroup::processes);
        self.seen.extend(contained.map(ProcessId::of));
        for known in self.seen.clone() {
            if known.is_alive() {
                self.add_descendants(known.pid);
            }
        }
        // Orphans are children of this process.
        let own = i32::try_from(std::process::id()).unwrap_or(0);
        for pid in children(own) {
            if pid != self.leader.pid && self.is_ours(pid) {
                self.seen.insert(ProcessId::of(pid));
                self.add_descendants(pid);
            }
        }
    }

    /// Searches all processes of the system, for a session whose orphans are not children of this process.
    pub(crate) fn look_everywhere(&mut self) {
        self.look();
        let Ok(entries) = fs::read_dir("/proc") else {
            return;
        };
        for entry in entries.flatten() {
            let pid = entry
                .file_name()
                .to_str()
                .and_then(|name| name.parse::<i32>().ok());
            if let Some(pid) = pid
                && pid != self.leader.pid
                && self.is_ours(pid)
            {
                self.seen.insert(ProcessId::of(pid));
            }
        }
    }

    /// The processes that still run, without the leader.
    pub(crate) fn left(&self) -> Vec<ProcessId> {
        let left = self.seen.iter().filter(|process| process.is_alive());
        left.copied()
            .filter(|process| process.pid != self.leader.pid)
            .collect()
    }

    /// Reaps ended processes that are children of this one, and forgets processes that are gone.
    pub(crate) fn reap(&mut self) {
        self.seen.retain(|process| {
            let Some(pid) = Pid::from_raw(process.pid) else {
                return false;
            };
            let is_zombie = stat(process.pid).is_some_and(|stat| {
                stat.state == 'Z'
                    && process
                        .start_ticks
                        .is_none_or(|ticks| ticks == stat.start_ticks)
            });
            if is_zombie {
                // Fails if the process is not a child of this one; its parent reaps it then.
                let _ = rustix::process::waitpid(Some(pid), WaitOptions::NOHANG);
            }
            is_zombie || process.is_alive()
        });
    }

    /// Orphans that cannot be attributed to a session: they left the session of their worker, cleared their environment
    /// and are in no cgroup of a session. This session may have started them.
    fn hidden_orphans(&self) -> Vec<ProcessId> {
        let own = ProcessId::own();
        let own_session = stat(own.pid).map(|stat| stat.session);
        let is_hidden = |process: &ProcessId| {
            stat(process.pid).is_some_and(|stat| {
                // Processes that the gateway started itself are in its own session.
                Some(stat.session) != own_session
                    && stat.state != 'Z'
                    && self.leader.start_ticks <= Some(stat.start_ticks)
                    && cgroup::is_beside_us(*process)
                    && !environment_of(*process).contains_key(environment::MARK)
            })
        };
        let orphans = children(own.pid).into_iter().map(ProcessId::of);
        orphans.filter(is_hidden).collect()
    }

    /// Ends the remaining processes: `SIGTERM`, a grace period, then `SIGKILL`. Returns those that may still run.
    pub(crate) async fn end_left(&mut self, grace: Duration) -> Vec<ProcessId> {
        self.end_known(grace).await;
        let mut survivors = self.left();
        survivors.extend(self.hidden_orphans());
        if !survivors.is_empty() {
            tracing::warn!(?survivors, "processes of a session may still run");
        }
        survivors
    }

    async fn end_known(&mut self, grace: Duration) {
        self.look();
        let mut left = self.left();
        if left.is_empty() {
            self.reap();
            return;
        }
        for process in &left {
            process.signal(Signal::TERM);
        }
        let deadline = tokio::time::Instant::now() + grace;
        loop {
            tokio::time::sleep(Duration::from_millis(10)).await;
            self.reap();
            self.look();
            left = self.left();
            if left.is_empty() {
                self.reap();
                return;
            }
            if tokio::time::Instant::now() >= deadline {
                break;
            }
        }
        // Children forked during a round are found in the next one.
        for _ in 0..100 {
            if let Some(cgroup) = &self.cgroup {
                cgroup.kill();
            }
            for process in &left {
                process.signal(Signal::KILL);
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
            self.reap();
            self.look();
            left = self.left();
            if left.is_empty() {
                self.reap();
                return;
            }
        }
    }

    fn add_descendants(&mut self, pid: i32) {
        let mut pids = children(pid);
        while let Some(pid) = pids.pop() {
            let process = ProcessId::of(pid);
            if process.start_ticks.is_some() && self.seen.insert(process) {
                pids.extend(children(pid));
            }
        }
    }

    fn is_ours(&self, pid: i32) -> bool {
        let Some(stat) = stat(pid) else {
            return false;
        };
        let process = ProcessId {
            pid,
            start_ticks: Some(stat.start_ticks),
        };
        if self.seen.contains(&process) {
            return true;
        }
        let began_later = self
            .leader
            .start_ticks
            .is_none_or(|ticks| ticks <= stat.start_ticks);
        if !began_later || stat.state == 'Z' {
            return false;
        }
        stat.group == self.leader.pid
            || stat.session == self.leader.pid
            || has_mark(pid, &self.mark)
    }
}

/// Whether the environment of a process contains the variable `mark`, given as `NAME=value`.
fn has_mark(pid: i32, mark: &str) -> bool {
    let Ok(environment) = fs::read(format!("/proc/{pid}/environ")) else {
        return false;
    };
    environment
        .split(|byte| *byte == 0)
        .any(|variable| variable == mark.as_bytes())
}

/// Reaps adopted children that ended: orphans of sessions that are over.
///
/// Other code in this process starts children, too, and waits for them at once. Therefore only children that are
/// zombies in two successive calls, seconds apart, are reaped.
#[derive(Debug, Default)]
pub(crate) struct Reaper {
    zombies: BTreeMap<i32, u64>,
}

impl Reaper {
    pub(crate) fn look(&mut self, leaders: &BTreeSet<i32>) {
        let own = i32::try_from(std::process::id()).unwrap_or(0);
        let mut zombies = BTreeMap::new();
        for pid in children(own) {
            let Some(stat) = stat(pid).filter(|stat| stat.state == 'Z' && stat.parent == own)
            else {
                continue;
            };
            if leaders.contains(&pid) {
                continue;
            }
            match (self.zombies.get(&pid), Pid::from_raw(pid)) {
                (Some(ticks), Some(id)) if *ticks == stat.start_ticks => {
                    let _ = rustix::process::waitpid(Some(id), WaitOptions::NOHANG);
                }
                _ => {
                    zombies.insert(pid, stat.start_ticks);
                }
            }
        }
        self.zombies = zombies;
    }
}

#[cfg(test)]
#[cfg(target_os = "linux")]
mod tests {
    use super::*;

    #[test]
    fn without_a_cgroup_an_orphan_that_hides_is_found_but_not_whose_it_is() {
        become_subreaper();
        let folder = tempfile::tempdir().unwrap();
        let pid_file = folder.path().join("pid");
        let script = format!(
            "echo $$ > {0}.new; mv {0}.new {0}; exec sleep 1000",
            pid_file.display()
        );
        let mut leader = std::process::Command::new("env")
            .args(["-i", "setsid", "-f", "/bin/sh", "-c", &script])
            .spawn()
            .unwrap();
        let tree = ProcessTree::with(
            ProcessId::of(i32::try_from(leader.id()).unwrap()),
            format!("{}=/run", environment::MARK),
            None,
        );
        leader.wait().unwrap();
        while !pid_file.exists() {
            std::thread::yield_now();
        }
        let pid = fs::read_to_string(&pid_file).unwrap();
        let orphan = ProcessId::of(pid.trim().parse().unwrap());
        let hidden = tree.hidden_orphans();
        orphan.signal(Signal::KILL);
        assert!(hidden.contains(&orphan), "{hidden:?}");
        assert_eq!(tree.left(), []);
    }
}
