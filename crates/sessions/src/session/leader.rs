//! The first process of a session, started by this gateway or by an earlier one.

use std::{io, process::ExitStatus, time::Duration};

use tokio::{process::Child, time::sleep};

use crate::process::ProcessId;

/// How often the gateway checks whether a process that is not its child is still alive.
const POLL_INTERVAL: Duration = Duration::from_millis(50);

/// The first process of a session.
#[derive(Debug)]
pub(super) enum Leader {
    /// A child of this process.
    Started(Child),
    /// A child of a gateway that has ended. Its exit status cannot be read.
    TakenOver(ProcessId),
}

/// Exit status of a process. `None` if it is unknown, because the process is not a child of this gateway.
pub(super) type Exit = Option<ExitStatus>;

impl Leader {
    /// Waits until the process has ended.
    pub(super) async fn wait(&mut self) -> io::Result<Exit> {
        match self {
            Self::Started(child) => child.wait().await.map(Some),
            Self::TakenOver(process) => {
                while process.is_alive() {
                    sleep(POLL_INTERVAL).await;
                }
                Ok(None)
            }
        }
    }
}
