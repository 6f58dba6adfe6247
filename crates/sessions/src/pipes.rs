//! The pipes that receive the output of a worker. They are named pipes, so that they outlive the gateway: a worker
//! whose gateway exited continues, blocks when a pipe is full, and the next gateway resumes reading.
//!
//! The reader holds a lock on the pipe, which the system releases when the process exits, so no gateway takes a session
//! from another live gateway. Where a folder does not support named pipes, anonymous pipes are used, which end with the
//! gateway.

#![allow(
    clippy::disallowed_methods,
    reason = "named pipes, whose file type is checked before they are read"
)]

use std::{
    fs::{self, File, OpenOptions},
    io,
    os::unix::fs::{FileTypeExt as _, OpenOptionsExt as _},
    path::{Path, PathBuf},
    process::Stdio,
};

use company::Company;
use tokio::net::unix::pipe::Receiver;

use crate::record;

/// The gateway's ends of the pipes.
#[derive(Debug)]
pub(crate) struct Pipes {
    pub(crate) stdout: Receiver,
    pub(crate) stderr: Receiver,
    /// Holds the lock after the pipes were read to their end, until the end of the session is stored. Absent for
    /// anonymous pipes.
    pub(crate) lock: Option<File>,
}

/// The worker's ends of the pipes.
#[derive(Debug)]
pub(crate) struct Ends {
    pub(crate) stdout: Stdio,
    pub(crate) stderr: Stdio,
}

/// Whether a process reads the pipes of a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PipeState {
    /// A live gateway reads them.
    Read,
    /// No process reads them any more.
    Unread,
    /// The session has no named pipes.
    Missing,
}

fn paths(company: &Company, session_ref: &str) -> [PathBuf; 2] {
    ["stdout", "stderr"].map(|stream| company.path(&record::pipe_relpath(session_ref, stream)))
}

/// Creates the pipes of a session. Must be called within the runtime.
pub(crate) fn make(company: &Company, session_ref: &str) -> io::Result<(Pipes, Ends)> {
    remove(company, session_ref);
    let [stdout, stderr] = paths(company, session_ref);
    let (stdout, stdout_end, lock) = make_one(&stdout)?;
    let (stderr, stderr_end, _) = make_one(&stderr)?;
    let pipes = Pipes {
        stdout,
        stderr,
        lock,
    };
    let ends = Ends {
        stdout: stdout_end,
        stderr: stderr_end,
    };
    Ok((pipes, ends))
}

fn make_one(path: &Path) -> io::Result<(Receiver, Stdio, Option<File>)> {
    match make_named(path) {
        Ok((ours, theirs)) => {
            let lock = ours.try_clone()?;
            Ok((Receiver::from_file(ours)?, theirs.into(), Some(lock)))
        }
        Err(error) => {
            tracing::debug!(%error, path = %path.display(), "a pipe has no name");
            let (ours, theirs) = io::pipe()?;
            Ok((Receiver::from_owned_fd(ours.into())?, theirs.into(), None))
        }
    }
}

/// Creates a named pipe. The worker's end is opened for reading as well, so that writes block instead of failing when
/// the gateway has exited.
fn make_named(path: &Path) -> io::Result<(File, File)> {
    #[cfg(target_os = "linux")]
    {
        use rustix::fs::{CWD, Mode, mkfifoat};
        mkfifoat(CWD, path, Mode::RUSR | Mode::WUSR)?;
        let theirs = OpenOptions::new().read(true).write(true).open(path)?;
        let ours = reader(path)?;
        if let Err(error) = ours.try_lock() {
            // A gateway that searches for sessions to take over holds the lock briefly. A named pipe without a lock
            // would look like one of a gateway that exited, so an anonymous pipe is used instead.
            fs::remove_file(path)?;
            return Err(error.into());
        }
        Ok((ours, theirs))
    }
    #[cfg(not(target_os = "linux"))]
    {
        let _ = (path, reader);
        Err(io::ErrorKind::Unsupported.into())
    }
}

fn reader(path: &Path) -> io::Result<File> {
    let nonblocking = i32::try_from(rustix::fs::OFlags::NONBLOCK.bits()).unwrap_or(0);
    let file = OpenOptions::new()
        .read(true)
        .custom_flags(nonblocking)
        .open(path)?;
    if file.metadata()?.file_type().is_fifo() {
        Ok(file)
    } else {
        Err(io::ErrorKind::InvalidInput.into())
    }
}

/// Determines whether a process reads the pipes of a session.
pub(crate) fn state(company: &Company, session_ref: &str) -> PipeState {
    let [stdout, _] = paths(company, session_ref);
    match reader(&stdout) {
        Err(_) => PipeState::Missing,
        Ok(file) => match file.try_lock() {
            Ok(()) => PipeState::Unread,
            Err(_) => PipeState::Read,
        },
    }
}

/// Takes over the pipes of a session that no process reads. Must be called within the runtime.
pub(crate) fn take_over(company: &Company, session_ref: &str) -> Option<Pipes> {
    let [stdout, stderr] = paths(company, session_ref);
    let stdout = reader(&stdout).ok()?;
    stdout.try_lock().ok()?;
    Some(Pipes {
        lock: Some(stdout.try_clone().ok()?),
        stdout: Receiver::from_file(stdout).ok()?,
        stderr: Receiver::from_file(reader(&stderr).ok()?).ok()?,
    })
}

/// Removes the named pipes of a session.
pub(crate) fn remove(company: &Company, session_ref: &str) {
    for path in paths(company, session_ref) {
        // They may not exist.
        let _ = fs::remove_file(path);
    }
}
