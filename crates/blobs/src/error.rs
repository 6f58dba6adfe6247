//! The errors of the blob store.

use std::io;

use crate::key::{BlobKey, ContentHash};

/// The result type of this crate.
pub type Result<T> = std::result::Result<T, Error>;

/// An error of the blob store.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The text is not a valid workspace segment.
    #[error("a workspace segment is 1 to 64 of `A-Z a-z 0-9 _ -`")]
    InvalidWorkspace,
    /// The text is not a valid upload segment.
    #[error("an upload segment is 1 to 64 of `A-Z a-z 0-9 _ -`")]
    InvalidUpload,
    /// The text is not a SHA-256 hash in lower-case hexadecimal.
    #[error("a content hash is 64 lower-case hexadecimal characters")]
    InvalidHash,
    /// The text is not a storage key.
    #[error("a storage key is `sha256/<first two>/<next two>/<hash>`")]
    InvalidStorageKey,
    /// No blob exists for this key.
    #[error("blob `{0}` is missing")]
    MissingBlob(BlobKey),
    /// The bytes stored for this key do not have its hash.
    #[error("blob `{0}` is damaged: its bytes do not have its hash")]
    DamagedBlob(BlobKey),
    /// The upload has no payload file.
    #[error("the upload has no payload")]
    MissingUpload,
    /// An upload with this id already exists.
    #[error("the upload exists already")]
    UploadExists,
    /// The payload is shorter than the acknowledged part of the upload, for example after a power failure.
    #[error("the payload has {actual} bytes, {acknowledged} were acknowledged")]
    PayloadTooShort {
        /// The number of bytes acknowledged to the client.
        acknowledged: u64,
        /// The number of bytes in the payload file.
        actual: u64,
    },
    /// A chunk does not start at the end of the received bytes.
    #[error("the chunk begins at {actual}, expected {expected}")]
    OffsetMismatch {
        /// The offset at which the next chunk must start, in bytes.
        expected: u64,
        /// The offset of the rejected chunk, in bytes.
        actual: u64,
    },
    /// The payload does not have the declared size.
    #[error("the payload has {actual} bytes, expected {expected}")]
    SizeMismatch {
        /// The declared size, in bytes.
        expected: u64,
        /// The size of the payload, in bytes.
        actual: u64,
    },
    /// The payload does not have the declared hash.
    #[error("the payload has hash {actual}, expected {expected}")]
    HashMismatch {
        /// The declared hash.
        expected: ContentHash,
        /// The hash of the payload.
        actual: ContentHash,
    },
    /// The requested range exceeds the maximum length of one read.
    #[error("a range of {len} bytes is longer than {max}")]
    RangeTooLong {
        /// The requested length, in bytes.
        len: u64,
        /// The maximum length, in bytes.
        max: u64,
    },
    /// A symbolic link, device or other special file was found where a regular file or directory belongs. It was not
    /// followed.
    #[error("`{name}` is not a plain file or folder")]
    NotPlain {
        /// The path component that was opened.
        name: String,
    },
    /// An operation of the operating system failed.
    #[error("cannot {doing}")]
    Io {
        /// The operation that failed, as a verb phrase.
        doing: &'static str,
        /// The cause reported by the operating system.
        source: io::Error,
    },
}

/// Wraps an operating system error with the operation that failed.
pub(crate) fn io_error<E: Into<io::Error>>(doing: &'static str) -> impl FnOnce(E) -> Error {
    move |source| Error::Io {
        doing,
        source: source.into(),
    }
}
