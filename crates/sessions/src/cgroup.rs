//! The cgroup of a session. Processes stay in it even if they fork twice, begin a session of their own or clear their
//! environment.
//!
//! Requires cgroup v2 and a cgroup folder that this account may write to, as systemd delegates to the services of a
//! user. Elsewhere a session has no cgroup, and its processes are found as described in `process.rs`.

#![allow(clippy::disallowed_methods, reason = "files of the kernel")]

use std::{
    fs::{self, OpenOptions},
    io::{self, Write as _},
    path::{Path, PathBuf},
};

use crate::process::ProcessId;

/// Prefix of the cgroup names of sessions; the process id and the start time of the leader follow.
const PREFIX: &str = "accord-";

/// A cgroup of a session. The folder is removed when this is dropped, if no process is left in it.
#[derive(Debug)]
pub(crate) struct Cgroup {
    path: PathBuf,
}

impl Cgroup {
    /// Creates the cgroup of a session and moves its leader there. `None` if the system does not permit it.
    pub(crate) fn make(leader: ProcessId) -> Option<Self> {
        let parent = folder_of("self")?;
        remove_old(&parent);
        let path = parent.join(name(leader)?);
        fs::create_dir(&path).ok()?;
        let cgroup = Self { path };
        match cgroup.add(leader) {
            Ok(()) => Some(cgroup),
            Err(error) => {
                tracing::debug!(%error, "a session cannot have a cgroup");
                None
            }
        }
    }

    /// Finds the cgroup that an earlier gateway created for a session.
    pub(crate) fn find(leader: ProcessId) -> Option<Self> {
        let name = name(leader)?;
        let of_leader = folder_of(&leader.pid.to_string());
        let of_leader = of_leader.filter(|path| path.ends_with(&name));
        // The leader may have ended. The earlier gateway may have run in the same cgroup as this one, so the session's
        // cgroup is then looked for below it.
        let path = of_leader.or_else(|| Some(folder_of("self")?.join(&name)))?;
        path.is_dir().then_some(Self { path })
    }

    /// Moves a process into the cgroup. Its future child processes are in the cgroup as well.
    pub(crate) fn add(&self, process: ProcessId) -> io::Result<()> {
        self.write("cgroup.procs", &process.pid.to_string())
    }

    /// Ids of the processes in the cgroup.
    pub(crate) fn processes(&self) -> Vec<i32> {
        let text = fs::read_to_string(self.path.join("cgroup.procs")).unwrap_or_default();
        text.lines().filter_map(|pid| pid.parse().ok()).collect()
    }

    /// Kills all processes at once, so that none can fork in between. Has no effect on kernels before 5.14.
    pub(crate) fn kill(&self) {
        if let Err(error) = self.write("cgroup.kill", "1") {
            tracing::debug!(%error, "a cgroup cannot be killed");
        }
    }

    fn write(&self, file: &str, text: &str) -> io::Result<()> {
        let mut file = OpenOptions::new().write(true).open(self.path.join(file))?;
        file.write_all(text.as_bytes())
    }
}

impl Drop for Cgroup {
    fn drop(&mut self) {
        let _ = fs::remove_dir(&self.path);
    }
}

/// Whether a process is in the same cgroup as the gateway, and so in no cgroup of a session.
pub(crate) fn is_beside_us(process: ProcessId) -> bool {
    folder_of(&process.pid.to_string()) == folder_of("self")
}

fn name(leader: ProcessId) -> Option<String> {
    let start_ticks = leader.start_ticks?;
    Some(format!("{PREFIX}{}-{start_ticks}", leader.pid))
}

/// Removes the cgroups of sessions that ended while no gateway ran.
fn remove_old(parent: &Path) {
    let leader = |name: &str| {
        let (pid, start_ticks) = name.strip_prefix(PREFIX)?.split_once('-')?;
        Some(ProcessId {
            pid: pid.parse().ok()?,
            start_ticks: Some(start_ticks.parse().ok()?),
        })
    };
    for entry in fs::read_dir(parent).into_iter().flatten().flatten() {
        let leader = entry.file_name().to_str().and_then(leader);
        if leader.is_some_and(|leader| !leader.is_alive()) {
            // The kernel does not remove a cgroup that still has processes.
            let _ = fs::remove_dir(entry.path());
        }
    }
}

/// The cgroup folder of a process.
fn folder_of(process: &str) -> Option<PathBuf> {
    let cgroups = fs::read_to_string(format!("/proc/{process}/cgroup")).ok()?;
    let mounts = fs::read_to_string("/proc/self/mountinfo").ok()?;
    folder(&cgroups, &mounts)
}

fn folder(cgroups: &str, mounts: &str) -> Option<PathBuf> {
    let own = cgroups.lines().find_map(|line| line.strip_prefix("0::"))?;
    let mount = mounts.lines().find(|line| line.contains(" - cgroup2 "))?;
    let mut fields = mount.split(' ').skip(3);
    let (root, place) = (fields.next()?, fields.next()?);
    let below = Path::new(own).strip_prefix(root).ok()?;
    Some(Path::new(place).join(below))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_folder_is_found_below_the_mount() {
        let check = |own: &str, mount: &str, expected: Option<&str>| {
            let cgroups = format!("4:memory:/x\n0::{own}\n");
            let mounts = format!("24 1 0:5 / /proc rw - proc proc rw\n41 31 0:38 {mount} rw\n");
            assert_eq!(folder(&cgroups, &mounts), expected.map(PathBuf::from));
        };
        check(
            "/",
            "/ /sys/fs/cgroup rw - cgroup2 cgroup2",
            Some("/sys/fs/cgroup"),
        );
        check(
            "/user.slice/a.service",
            "/ /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2",
            Some("/sys/fs/cgroup/user.slice/a.service"),
        );
        check(
            "/docker/1/a",
            "/docker/1 /sys/fs/cgroup rw - cgroup2 cgroup2",
            Some("/sys/fs/cgroup/a"),
        );
        check(
            "/elsewhere",
            "/docker/1 /sys/fs/cgroup rw - cgroup2 cgroup2",
            None,
        );
        check("/", "/ /sys/fs/cgroup/memory rw - cgroup cgroup", None);
    }
}
