//! The trait of blob storage backends, and readers of stored blobs.

use std::{
    fs::File,
    io::{self, Read, Seek, SeekFrom},
    num::NonZeroUsize,
    os::fd::{AsFd, BorrowedFd},
    time::SystemTime,
};

use parking_lot::Mutex;
use rustix::{buffer::spare_capacity, io::Errno};
use sha2::{Digest as _, Sha256};

pub use crate::local::LocalBlobs;
use crate::{
    Error, Result,
    hashing::{READ_BYTES, hash_file},
    key::{BlobKey, ContentHash, Digest, UploadSegment, WorkspaceSegment},
    stamp::BlobStamp,
};

/// The maximum length of one [`BlobStore::read_range`], in bytes.
pub const MAX_RANGE: u64 = 1024 * 1024;

/// Content-addressed storage. [`LocalBlobs`] implements it; the artifact service calls it.
///
/// Uploads in progress are local files with every backend; see [`crate::upload::Upload`].
pub trait BlobStore: Send + Sync {
    /// Turns a fully received upload into a blob and removes the upload.
    ///
    /// If the payload has a different size or hash, the upload is left in place for the caller to remove. The operation
    /// is idempotent: after a crash between two steps, repeating it leads to the same state, even if the payload has
    /// already become the blob.
    fn commit_upload(
        &self,
        workspace: &WorkspaceSegment,
        upload: &UploadSegment,
        expected_size: u64,
        expected_sha256: ContentHash,
        payload: PayloadHash,
    ) -> Result<Committed>;

    /// Stores bytes produced by the gateway itself, such as a projection.
    fn put(&self, workspace: &WorkspaceSegment, bytes: &[u8]) -> Result<Committed>;

    /// Reads up to `len` bytes starting at `offset`; fewer at the end of the blob, none beyond it. Verifies the whole
    /// blob first, like [`BlobStore::open`].
    fn read_range(&self, key: &BlobKey, offset: u64, len: u64) -> Result<Vec<u8>>;

    /// Opens a blob for streaming. It stays readable if the blob is removed meanwhile.
    ///
    /// Returns [`crate::Error::DamagedBlob`] if the bytes do not match the key. The bytes are hashed unless the file is
    /// unchanged since it was last hashed.
    fn open(&self, key: &BlobKey) -> Result<BlobReader>;

    /// Returns the size of a blob, in bytes.
    fn size(&self, key: &BlobKey) -> Result<u64>;

    /// Returns when the blob was last touched: when it was written, or when the same content was committed again.
    fn touched_at(&self, key: &BlobKey) -> Result<SystemTime>;

    /// Removes a blob. A missing blob is not an error.
    fn remove(&self, key: &BlobKey) -> Result<Removed>;

    /// Removes a blob unless it was touched at or after `before`. Safe against a concurrent commit of the same content.
    fn remove_untouched_since(&self, key: &BlobKey, before: SystemTime) -> Result<Removed>;

    /// Reads the whole blob and compares its hash with the key.
    fn verify(&self, key: &BlobKey) -> Result<Verified>;

    /// Verifies a blob and also hashes each of its chunks of `chunk` bytes. The hashes are empty unless the blob is
    /// intact.
    fn verify_chunks(
        &self,
        key: &BlobKey,
        chunk: NonZeroUsize,
    ) -> Result<(Verified, Vec<ContentHash>)>;

    /// Moves a damaged blob out of the store and keeps its bytes for inspection. An intact blob is kept.
    fn quarantine(&self, key: &BlobKey) -> Result<Removed>;

    /// Lists all blobs of a workspace, ordered by hash.
    fn list(&self, workspace: &WorkspaceSegment) -> Result<BlobKeys>;
}

/// The iterator returned by [`BlobStore::list`].
pub type BlobKeys = Box<dyn Iterator<Item = Result<BlobKey>> + Send>;

/// The source of the payload's hash in [`BlobStore::commit_upload`].
#[derive(Clone, Copy, Debug)]
pub enum PayloadHash {
    /// The digest returned by [`crate::upload::Upload::finish`].
    Running(Digest),
    /// No running hash exists: read the payload and hash it now.
    Reread,
}

/// A blob that has been stored durably.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Committed {
    /// The key of the blob.
    pub key: BlobKey,
    /// The size of the blob, in bytes.
    pub size: u64,
    /// True if the workspace already had this blob. If recording the blob fails, the caller may remove it only if this
    /// is false.
    pub was_known: bool,
}

/// The result of a removal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Removed {
    /// The blob was removed.
    Removed,
    /// The blob was kept because it was touched too recently or is intact.
    Kept,
    /// The blob does not exist.
    Missing,
}

/// The result of a verification.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verified {
    /// The bytes have the hash of the key.
    Intact,
    /// The bytes have another hash, or the entry is not a regular file.
    Damaged,
    /// The blob does not exist.
    Missing,
}

/// An open blob.
#[derive(Debug)]
pub struct BlobReader {
    size: u64,
    file: File,
    key: BlobKey,
    /// The stamp of the file when its bytes were last verified.
    stamp: Mutex<BlobStamp>,
}

impl BlobReader {
    pub(crate) fn new(file: File, size: u64, key: BlobKey, stamp: BlobStamp) -> BlobReader {
        BlobReader {
            size,
            file,
            key,
            stamp: Mutex::new(stamp),
        }
    }

    /// Returns whether the file is unchanged since it was last verified. Reads only its metadata.
    pub fn is_unchanged(&self) -> bool {
        let known = *self.stamp.lock();
        matches!(BlobStamp::of(&self.file), Ok(stamp) if stamp == known)
    }

    /// Hashes the whole blob again after [`BlobReader::is_unchanged`] returned false, which happens for a damaged blob
    /// and for one that was only touched. Blocks.
    pub fn verify_again(&self) -> Result<()> {
        let stamp = BlobStamp::of(&self.file)?;
        if hash_file(&self.file)?.sha256 != self.key.sha256() {
            return Err(Error::DamagedBlob(self.key.clone()));
        }
        *self.stamp.lock() = stamp;
        Ok(())
    }

    /// Returns the size of the blob, in bytes.
    pub fn size(&self) -> u64 {
        self.size
    }

    /// Appends a range of the blob to a buffer, and fails if the blob ends before the range does. Several threads may
    /// read concurrently.
    pub fn append_range(&self, offset: u64, length: usize, buffer: &mut Vec<u8>) -> io::Result<()> {
        // Read into spare capacity, which needs no initialization.
        buffer.reserve_exact(length);
        let (begin, end) = (buffer.len(), buffer.len() + length);
        while buffer.len() < end {
            let position = offset + (buffer.len() - begin) as u64;
            match rustix::io::pread(&self.file, spare_capacity(buffer), position) {
                Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
                Ok(_) | Err(Errno::INTR) => {}
                Err(errno) => return Err(errno.into()),
            }
        }
        buffer.truncate(end);
        Ok(())
    }

    /// Returns the hash of a range of the blob, and fails if the blob ends before the range does. Several threads may
    /// read concurrently.
    pub fn hash_range(&self, offset: u64, length: usize) -> io::Result<ContentHash> {
        let mut hasher = Sha256::new();
        self.pieces(offset, length, |piece| hasher.update(piece))?;
        Ok(ContentHash::from_hasher(hasher))
    }

    /// Reads a range of the blob into the page cache, so that sending it from the file does not block on the disk.
    pub fn read_ahead(&self, offset: u64, length: usize) -> io::Result<()> {
        self.pieces(offset, length, |_| ())
    }

    /// Returns whether a whole range of the blob is in the page cache, so that sending it does not block on the
    /// disk.
    #[cfg(target_os = "linux")]
    pub fn is_in_memory(&self, offset: u64, length: usize) -> bool {
        use rustix::io::{ReadWriteFlags, preadv2};
        let mut piece = vec![0; length.min(READ_BYTES)];
        let mut begin = 0;
        while begin < length {
            let wanted = READ_BYTES.min(length - begin);
            let mut buffer = [io::IoSliceMut::new(&mut piece[..wanted])];
            let at = offset + begin as u64;
            match preadv2(&self.file, &mut buffer, at, ReadWriteFlags::NOWAIT) {
                Ok(read) if read > 0 => begin += read,
                // `EAGAIN` for data that is only on disk; file systems without support return an error as well.
                Ok(_) | Err(_) => return false,
            }
        }
        true
    }

    /// Returns false: only Linux can report whether a range is in the page cache.
    #[cfg(not(target_os = "linux"))]
    pub fn is_in_memory(&self, _offset: u64, _length: usize) -> bool {
        false
    }

    fn pieces(&self, offset: u64, length: usize, mut take: impl FnMut(&[u8])) -> io::Result<()> {
        let mut piece = Vec::with_capacity(length.min(READ_BYTES));
        for begin in (0..length).step_by(READ_BYTES) {
            piece.clear();
            self.append_range(
                offset + begin as u64,
                READ_BYTES.min(length - begin),
                &mut piece,
            )?;
            take(&piece);
        }
        Ok(())
    }

    /// Returns the blob as a read-only file, for the standard input of a child process.
    pub fn into_file(self) -> File {
        self.file
    }
}

impl AsFd for BlobReader {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }
}

impl Read for BlobReader {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.file.read(buffer)
    }
}

impl Seek for BlobReader {
    fn seek(&mut self, position: SeekFrom) -> io::Result<u64> {
        self.file.seek(position)
    }
}
