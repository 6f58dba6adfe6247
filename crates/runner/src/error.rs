//! Why a session is not what was asked for.

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
    /// The program of a session cannot be started. Its run has failed.
    #[error("{error}")]
    NotSpawned {
        /// What the session is called; its record says the same.
        session_ref: String,
        /// What the system said: `spawn <program> ENOENT`.
        error: String,
    },
    /// The gateway is being stopped.
    #[error("the gateway is stopping")]
    Closing,
}
