//! What can be wrong with stored bytes.

use std::io;

use crate::key::{BlobKey, ContentHash};

/// The result of this crate.
pub type Result<T> = std::result::Result<T, Error>;

/// What is wrong, named after the state of the world.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The text is not a workspace segment.
    #[error("a workspace segment is 1 to 64 of `A-Z a-z 0-9 _ -`")]
    InvalidWorkspace,
    /// The text is not an upload segment.
    #[error("an upload segment is 1 to 64 of `A-Z a-z 0-9 _ -`")]
    InvalidUpload,
    /// The text is not a SHA-256 hash.
    #[error("a content hash is 64 lower-case hexadecimal characters")]
    InvalidHash,
    /// The text is not a storage key.
    #[error("a storage key is `sha256/<first two>/<next two>/<hash>`")]
    InvalidStorageKey,
    /// No blob has this key.
    #[error("blob `{0}` is missing")]
    MissingBlob(BlobKey),
    /// The file of this key holds other bytes.
    #[error("blob `{0}` is damaged: its bytes do not have its hash")]
    DamagedBlob(BlobKey),
    /// There is no file for this upload.
    #[error("the upload has no payload")]
    MissingUpload,
    /// The upload was already begun.
    #[error("the upload exists already")]
    UploadExists,
    /// The payload is shorter than what was acknowledged to the client.
    #[error("the payload has {actual} bytes, {acknowledged} were acknowledged")]
    PayloadTooShort {
        /// What the client was told has arrived.
        acknowledged: u64,
        /// What the file holds.
        actual: u64,
    },
    /// A chunk does not begin where the received bytes end.
    #[error("the chunk begins at {actual}, expected {expected}")]
    OffsetMismatch {
        /// Where the next chunk must begin.
        expected: u64,
        /// Where the chunk begins.
        actual: u64,
    },
    /// The payload has another size than declared.
    #[error("the payload has {actual} bytes, expected {expected}")]
    SizeMismatch {
        /// The declared size.
        expected: u64,
        /// The size of the payload.
        actual: u64,
    },
    /// The payload has another hash than declared.
    #[error("the payload has hash {actual}, expected {expected}")]
    HashMismatch {
        /// The declared hash.
        expected: ContentHash,
        /// The hash of the payload.
        actual: ContentHash,
    },
    /// A range is longer than one read may be.
    #[error("a range of {len} bytes is longer than {max}")]
    RangeTooLong {
        /// The asked length.
        len: u64,
        /// The longest allowed length.
        max: u64,
    },
    /// A symbolic link, device or other thing lies where a plain file or folder belongs; it was not followed.
    #[error("`{name}` is not a plain file or folder")]
    NotPlain {
        /// The last component that was opened.
        name: String,
    },
    /// The operating system refused.
    #[error("cannot {doing}")]
    Io {
        /// What was being done.
        doing: &'static str,
        /// Why it failed.
        source: io::Error,
    },
}

/// Wraps an operating system error with what was being done.
pub(crate) fn io_error<E: Into<io::Error>>(doing: &'static str) -> impl FnOnce(E) -> Error {
    move |source| Error::Io {
        doing,
        source: source.into(),
    }
}
