//! Where blobs are kept: the trait of every backend, and the local one.

use std::{
    fs::File,
    io::{self, Read, Seek, SeekFrom},
    num::NonZeroUsize,
    os::fd::{AsFd, BorrowedFd},
    sync::{Mutex, PoisonError},
    time::SystemTime,
};

use rustix::{buffer::spare_capacity, io::Errno};
use sha2::{Digest as _, Sha256};

pub use crate::local::LocalBlobs;
use crate::{
    Error, Result,
    hashing::hash_file,
    key::{BlobKey, ContentHash, Digest, UploadSegment, WorkspaceSegment},
    stamp::Stamp,
};

/// The longest range one [`BlobStore::read_range`] answers.
pub const MAX_RANGE: u64 = 1024 * 1024;

/// Content-addressed bytes. Implemented by [`LocalBlobs`], later by object stores; called by the artifact service.
///
/// Receiving uploads stay local files with every backend; see [`crate::upload::Upload`].
pub trait BlobStore: Send + Sync {
    /// Turns a fully received upload into a blob and removes the upload.
    ///
    /// A payload of another size or hash stays where it is, for the caller to remove. Calling it again after a crash
    /// between two of its steps ends in the same state: once the blob is in place, the payload may be gone.
    fn commit_upload(
        &self,
        workspace: &WorkspaceSegment,
        upload: &UploadSegment,
        expected_size: u64,
        expected_sha256: ContentHash,
        payload: PayloadHash,
    ) -> Result<Committed>;

    /// Stores bytes we made ourselves, such as a projection.
    fn put(&self, workspace: &WorkspaceSegment, bytes: &[u8]) -> Result<Committed>;

    /// Up to `len` bytes from `offset` on; fewer at the end of the blob, none beyond it. The whole blob is verified
    /// first, like in [`BlobStore::open`].
    fn read_range(&self, key: &BlobKey, offset: u64, len: u64) -> Result<Vec<u8>>;

    /// Opens a blob for streaming; it stays readable when the blob is removed meanwhile.
    ///
    /// A blob that is shortened or changed is [`crate::Error::DamagedBlob`]: its bytes are hashed, unless its file is
    /// unchanged since they were hashed last.
    fn open(&self, key: &BlobKey) -> Result<BlobReader>;

    /// The size of a blob.
    fn size(&self, key: &BlobKey) -> Result<u64>;

    /// When the blob was written, or last found again by content.
    fn touched_at(&self, key: &BlobKey) -> Result<SystemTime>;

    /// Removes a blob; removing one that is not there is no error.
    fn remove(&self, key: &BlobKey) -> Result<Removed>;

    /// Removes a blob unless it was touched since `before`, also while another thread finds it again by content.
    fn remove_untouched_since(&self, key: &BlobKey, before: SystemTime) -> Result<Removed>;

    /// Reads the whole blob and compares it with its key.
    fn verify(&self, key: &BlobKey) -> Result<Verified>;

    /// Verifies a blob and hashes each of its chunks of this many bytes on the way; only an intact one has any.
    fn verify_chunks(
        &self,
        key: &BlobKey,
        chunk: NonZeroUsize,
    ) -> Result<(Verified, Vec<ContentHash>)>;

    /// Takes a damaged blob out of the store and keeps its bytes aside for a human to look at. An intact one stays.
    fn quarantine(&self, key: &BlobKey) -> Result<Removed>;

    /// All blobs of a workspace, in the order of their hashes.
    fn list(&self, workspace: &WorkspaceSegment) -> Result<BlobKeys>;
}

/// What [`BlobStore::list`] walks through.
pub type BlobKeys = Box<dyn Iterator<Item = Result<BlobKey>> + Send>;

/// Whether the payload was hashed while it arrived.
#[derive(Clone, Copy, Debug)]
pub enum PayloadHash {
    /// The answer of [`crate::upload::Upload::finish`].
    Running(Digest),
    /// Nobody watched: read the payload and hash it now.
    Reread,
}

/// A blob that is durable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Committed {
    /// The blob.
    pub key: BlobKey,
    /// Its size.
    pub size: u64,
    /// The workspace had a blob of this key before. Only a blob that was not known may be removed again when
    /// recording it fails.
    pub was_known: bool,
}

/// Whether a removal found something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Removed {
    /// The blob is gone now.
    Removed,
    /// The blob stays: it was touched too recently, or is intact.
    Kept,
    /// There was no such blob.
    Missing,
}

/// The answer of a verification.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verified {
    /// The bytes have the hash of the key.
    Intact,
    /// The bytes have another hash, or something that is no file has the place of the blob.
    Damaged,
    /// There is no such blob.
    Missing,
}

/// Small enough to be still in the processor's cache when it is hashed.
const PIECE: usize = 64 * 1024;

/// An open blob.
#[derive(Debug)]
pub struct BlobReader {
    size: u64,
    file: File,
    key: BlobKey,
    /// The file as it was when its bytes were last known to be good.
    stamp: Mutex<Stamp>,
}

impl BlobReader {
    pub(crate) fn new(file: File, size: u64, key: BlobKey, stamp: Stamp) -> BlobReader {
        BlobReader {
            size,
            file,
            key,
            stamp: Mutex::new(stamp),
        }
    }

    /// Whether the file is as it was when its bytes were last verified. Asks the system for its times only.
    pub fn is_unchanged(&self) -> bool {
        let known = *self.stamp.lock().unwrap_or_else(PoisonError::into_inner);
        matches!(Stamp::of(&self.file), Ok(stamp) if stamp == known)
    }

    /// Hashes the whole blob again after [`BlobReader::is_unchanged`] said no: it may have been damaged, or only
    /// marked as used. Blocks.
    pub fn verify_again(&self) -> Result<()> {
        let stamp = Stamp::of(&self.file)?;
        if hash_file(&self.file)?.sha256 != self.key.sha256() {
            return Err(Error::DamagedBlob(self.key.clone()));
        }
        *self.stamp.lock().unwrap_or_else(PoisonError::into_inner) = stamp;
        Ok(())
    }

    /// The number of bytes in the blob.
    pub fn size(&self) -> u64 {
        self.size
    }

    /// Appends a range of the blob, all of it, to a buffer. Several threads may read at once.
    pub fn append_range(&self, offset: u64, length: usize, buffer: &mut Vec<u8>) -> io::Result<()> {
        // Into memory that nobody had to fill before.
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

    /// The hash of a range of the blob, all of it. Several threads may read at once.
    pub fn hash_range(&self, offset: u64, length: usize) -> io::Result<ContentHash> {
        let mut hasher = Sha256::new();
        self.pieces(offset, length, |piece| hasher.update(piece))?;
        Ok(ContentHash::from_hasher(hasher))
    }

    /// Reads a range of the blob, all of it, so that nobody waits for the disk who sends it from the file next.
    pub fn read_ahead(&self, offset: u64, length: usize) -> io::Result<()> {
        self.pieces(offset, length, |_| ())
    }

    /// Whether a range of the blob, all of it, is in memory: then whoever sends it from the file waits for no disk.
    #[cfg(target_os = "linux")]
    pub fn is_in_memory(&self, offset: u64, length: usize) -> bool {
        use rustix::io::{ReadWriteFlags, preadv2};
        let mut piece = vec![0; length.min(PIECE)];
        let mut begin = 0;
        while begin < length {
            let wanted = PIECE.min(length - begin);
            let mut buffer = [io::IoSliceMut::new(&mut piece[..wanted])];
            let at = offset + begin as u64;
            match preadv2(&self.file, &mut buffer, at, ReadWriteFlags::NOWAIT) {
                Ok(read) if read > 0 => begin += read,
                // `EAGAIN` for what is on the disk only; a file system that cannot tell says so too.
                Ok(_) | Err(_) => return false,
            }
        }
        true
    }

    /// Whether a range of the blob is in memory; other systems do not tell.
    #[cfg(not(target_os = "linux"))]
    pub fn is_in_memory(&self, _offset: u64, _length: usize) -> bool {
        false
    }

    fn pieces(&self, offset: u64, length: usize, mut take: impl FnMut(&[u8])) -> io::Result<()> {
        let mut piece = Vec::with_capacity(length.min(PIECE));
        for begin in (0..length).step_by(PIECE) {
            piece.clear();
            self.append_range(offset + begin as u64, PIECE.min(length - begin), &mut piece)?;
            take(&piece);
        }
        Ok(())
    }

    /// The blob as a file, read only: for a child's standard input.
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
