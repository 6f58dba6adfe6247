//! The first process of a session: one that we started, or one that an earlier gateway did.

use std::{io, process::ExitStatus, time::Duration};

use tokio::{process::Child, time::sleep};

use crate::process::ProcessId;

/// How often it is looked whether a process is still there that is not our child.
const LOOK: Duration = Duration::from_millis(50);

/// The first process of a session.
#[derive(Debug)]
pub(super) enum Leader {
    /// Our child.
    Started(Child),
    /// The child of a gateway that is gone. Nobody can tell how it ends.
    TakenOver(ProcessId),
}

/// How a process ended; none if nobody can tell.
pub(super) type Exit = Option<ExitStatus>;

impl Leader {
    /// Waits until it has ended.
    pub(super) async fn wait(&mut self) -> io::Result<Exit> {
        match self {
            Self::Started(child) => child.wait().await.map(Some),
            Self::TakenOver(process) => {
                while process.is_alive() {
                    sleep(LOOK).await;
                }
                Ok(None)
            }
        }
    }
}
