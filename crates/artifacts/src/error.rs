//! Errors of the artifact service.

/// Why an operation on artifacts failed.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The database rejected the operation or cannot be used.
    #[error(transparent)]
    Database(#[from] crud::Error),
    /// The blob store cannot be used.
    #[error(transparent)]
    Storage(#[from] blobs::Error),
    /// The blocking part of an operation panicked.
    #[error("a task on a blocking thread failed")]
    Panicked(#[source] tokio::task::JoinError),
    /// The upload was removed while it was being finished.
    #[error("there is no upload `{0}`")]
    UnknownUpload(String),
    /// The upload cannot be finished, because bytes are missing.
    #[error("upload `{upload_id}` has {received} of {size} bytes")]
    Incomplete {
        /// The id of the upload.
        upload_id: String,
        /// The number of received bytes.
        received: u64,
        /// The declared size in bytes.
        size: u64,
    },
    /// The uploaded bytes do not match the declared hash. The upload is aborted.
    #[error("the bytes of upload `{0}` do not have the declared hash")]
    HashMismatch(String),
    /// The stored bytes of an artifact cannot be served.
    #[error("the stored bytes `{sha256}` {}", match damage {
        Damage::Missing => "are missing",
        Damage::Changed => "do not have their hash any more",
    })]
    Unserved {
        /// The expected hash of the bytes.
        sha256: String,
        /// What is wrong with the bytes.
        damage: Damage,
    },
}

/// What is wrong with stored bytes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Damage {
    /// The file does not exist.
    Missing,
    /// The file does not have the hash it is stored under.
    Changed,
}
