//! Starts the projection workers: a limited number of processes at a time, each with a deadline.

use std::{
    ffi::OsString,
    io::Read,
    os::unix::process::ExitStatusExt,
    path::PathBuf,
    process::{Child, Command, Stdio},
    sync::mpsc,
    thread,
    time::Duration,
};

use parking_lot::{Condvar, Mutex};
use rustix::process::Signal;

use super::{Projection, ProjectionError, ProjectionKind, child::ChildHeader};
use crate::store::BlobReader;

const AT_ONCE: usize = 2;
const MAX_OUTPUT: u64 = 2 * 1024 * 1024;

/// Starts workers: the gateway's own program with the arguments of its hidden worker command, followed by the kind.
#[derive(Debug)]
pub struct Workers {
    program: PathBuf,
    arguments: Vec<OsString>,
    /// Replaces the deadline of every kind, if set.
    deadline: Option<Duration>,
    free: Mutex<usize>,
    freed: Condvar,
}

impl Workers {
    /// Configures workers that run `program arguments… <kind>`.
    pub fn new(program: impl Into<PathBuf>, arguments: &[&str]) -> Workers {
        Workers {
            program: program.into(),
            arguments: arguments.iter().map(OsString::from).collect(),
            deadline: None,
            free: Mutex::new(AT_ONCE),
            freed: Condvar::new(),
        }
    }

    /// Sets one deadline for every kind.
    pub fn with_deadline(self, deadline: Duration) -> Workers {
        Workers {
            deadline: Some(deadline),
            ..self
        }
    }

    /// Creates a projection. Waits for a free worker slot first; the deadline counts from the start of the process.
    pub fn run(
        &self,
        kind: ProjectionKind,
        blob: BlobReader,
    ) -> Result<Projection, ProjectionError> {
        let _slot = self.take_slot();
        let mut child = Command::new(&self.program)
            .args(&self.arguments)
            .arg(kind.as_str())
            // The decoder must not see any secret of the gateway.
            .env_clear()
            // An allocator that reserves a gibibyte in advance would exceed the worker's own limit.
            .env("MIMALLOC_ARENA_RESERVE", "65536")
            .current_dir("/")
            .stdin(Stdio::from(blob.into_file()))
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .map_err(|_| ProjectionError::UNAVAILABLE)?;
        let answered = read_answer(&mut child, self.deadline.unwrap_or(kind.deadline()));
        // The response is complete or never will be. Killing a worker that has already exited does not change its
        // status.
        let _ = child.kill();
        let status = child.wait().map_err(|_| ProjectionError::CRASHED)?;
        let ran_out_of_time = status.signal() == Some(Signal::XCPU.as_raw());
        match answered.and_then(|output| parse_answer(kind, output)) {
            Err(ProjectionError::CRASHED) if ran_out_of_time => Err(ProjectionError::TIMEOUT),
            result => result,
        }
    }

    fn take_slot(&self) -> WorkerSlot<'_> {
        let mut free = self.free.lock();
        self.freed.wait_while(&mut free, |free| *free == 0);
        *free -= 1;
        WorkerSlot(self)
    }
}

/// A slot for one running worker, released on drop.
struct WorkerSlot<'a>(&'a Workers);

impl Drop for WorkerSlot<'_> {
    fn drop(&mut self) {
        *self.0.free.lock() += 1;
        self.0.freed.notify_one();
    }
}

/// Reads the worker's output until it is closed. Fails if that exceeds the deadline or the size limit.
fn read_answer(child: &mut Child, deadline: Duration) -> Result<Vec<u8>, ProjectionError> {
    let pipe = child.stdout.take().ok_or(ProjectionError::UNAVAILABLE)?;
    let (sender, receiver) = mpsc::channel();
    // The thread ends with the worker: the pipe closes at the latest when the worker is killed.
    thread::Builder::new()
        .name("projection-output".to_owned())
        .spawn(move || {
            let mut output = Vec::new();
            let read = pipe.take(MAX_OUTPUT + 1).read_to_end(&mut output);
            // The receiver is gone if the deadline has passed.
            let _ = sender.send(read.map(|_| output));
        })
        .map_err(|_| ProjectionError::UNAVAILABLE)?;
    let output = receiver
        .recv_timeout(deadline)
        .map_err(|_| ProjectionError::TIMEOUT)?
        .map_err(|_| ProjectionError::CRASHED)?;
    if output.len() as u64 > MAX_OUTPUT {
        return Err(ProjectionError::TOO_LARGE);
    }
    Ok(output)
}

fn parse_answer(kind: ProjectionKind, mut output: Vec<u8>) -> Result<Projection, ProjectionError> {
    // The worker decoded an untrusted file, so its output is validated like any external input.
    let end = output
        .iter()
        .position(|byte| *byte == b'\n')
        .ok_or(ProjectionError::CRASHED)?;
    let content = output.split_off(end + 1);
    let header = serde_json::from_slice(&output).map_err(|_| ProjectionError::CRASHED)?;
    let (mime, metadata) = match header {
        ChildHeader::Ready {
            mime,
            len,
            metadata,
        } if len == content.len() as u64 => (mime, metadata),
        ChildHeader::Ready { .. } => return Err(ProjectionError::CRASHED),
        ChildHeader::Failed { class } => {
            let known = ProjectionError::CLASSES
                .into_iter()
                .find(|known| known.class == class);
            return Err(known.unwrap_or(ProjectionError::CRASHED));
        }
    };
    let (text, bytes) = match kind {
        ProjectionKind::Thumbnail => (None, Some(content)),
        ProjectionKind::PlainText | ProjectionKind::JsonSummary | ProjectionKind::PdfText => {
            let text = String::from_utf8(content).map_err(|_| ProjectionError::CRASHED)?;
            (Some(text), None)
        }
    };
    Ok(Projection {
        text,
        bytes,
        mime,
        metadata,
    })
}
