//! Errors of requests about sessions and runs.

use protocol::company::{RunId, RunStatus};

/// Why a request about a session or run failed.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// An operation on the company folder failed.
    #[error(transparent)]
    Company(#[from] company::Error),
    /// Another session with this name or run is not over.
    #[error("Session already running: {0}")]
    AlreadyRunning(String),
    /// The company folder has no session with this name.
    #[error("Unknown session_ref: {0}")]
    Unknown(String),
    /// This process has no session with this name, and the request names no company folder to search.
    #[error("Unknown session_ref: {0}. Provide workspace_dir for persisted lookup.")]
    UnknownHere(String),
    /// A budget is exceeded.
    #[error("{0}")]
    Budget(String),
    /// The worker program failed the check of this machine's execution policy.
    #[error("{message}")]
    Unverified {
        /// `unapproved_worker_binary`, `auth_probe_failed`, `api_key_present`, `unknown_proof_strategy`.
        reason: &'static str,
        /// Explanation of the failed check, as a sentence.
        message: String,
    },
    /// The run cannot be cancelled because it has a process. Stopping the session ends it.
    #[error(
        "run `{run}` has a process and cannot be cancelled: stop its session `{session_ref}` instead"
    )]
    HasProcess {
        /// The run.
        run: RunId,
        /// Name of the session to stop.
        session_ref: String,
    },
    /// The run cannot be cancelled because it was launched before and has no live process.
    #[error(
        "run `{0}` was launched before and cannot be cancelled: `session.list` shows its session"
    )]
    Launched(RunId),
    /// The run is over and cannot be changed.
    #[error("run `{run}` is already {status}: expected a run that is not over")]
    Over {
        /// The run.
        run: RunId,
        /// Final status of the run.
        status: RunStatus,
    },
    /// The gateway is shutting down and accepts no launches.
    #[error("the gateway is stopping")]
    Closing,
}
