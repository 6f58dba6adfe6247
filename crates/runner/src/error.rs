//! Why a session is not what was asked for.

use protocol::company::{RunId, RunStatus};

/// What is wrong.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The company folder did not do what was asked.
    #[error(transparent)]
    Company(#[from] company::Error),
    /// A session of this name, or of this run, is not over.
    #[error("Session already running: {0}")]
    AlreadyRunning(String),
    /// There is no such session.
    #[error("Unknown session_ref: {0}")]
    Unknown(String),
    /// There is no such session in this process, and nobody said where else to look.
    #[error("Unknown session_ref: {0}. Provide workspace_dir for persisted lookup.")]
    UnknownHere(String),
    /// A budget does not allow it.
    #[error("{0}")]
    Budget(String),
    /// The worker program is not what the rules of this machine ask for.
    #[error("{message}")]
    Unverified {
        /// `unapproved_worker_binary`, `auth_probe_failed`, `api_key_present`, `unknown_proof_strategy`.
        reason: &'static str,
        /// A sentence.
        message: String,
    },
    /// A run cannot be cancelled, because its process has to be stopped.
    #[error(
        "run `{run}` has a process and cannot be cancelled: stop its session `{session_ref}` instead"
    )]
    HasProcess {
        /// The run.
        run: RunId,
        /// Its session.
        session_ref: String,
    },
    /// A run cannot be cancelled, because it was launched and its process is gone.
    #[error(
        "run `{0}` was launched before and cannot be cancelled: `session.list` tells what became of it"
    )]
    Launched(RunId),
    /// A run is over and stays as it is.
    #[error("run `{run}` is {status} already: expected one that is not over")]
    Over {
        /// The run.
        run: RunId,
        /// How it ended.
        status: RunStatus,
    },
    /// The gateway is being stopped.
    #[error("the gateway is stopping")]
    Closing,
}
