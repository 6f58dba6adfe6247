//! An upload in progress: a file that grows at its end, and its running hash.
//!
//! An acknowledged chunk survives the end of the process, including `kill -9`, because it is in the page cache. Only
//! [`crate::store::BlobStore::commit_upload`] waits for the disk, so after a power failure a payload may be shorter
//! than its acknowledged part; [`Upload::truncate`] then returns [`Error::PayloadTooShort`].

use std::{
    fs::File,
    os::unix::fs::{FileExt, MetadataExt as _},
    sync::Arc,
};

use crate::{
    Error, Result,
    error::io_error,
    hashing::{Hashers, RunningHash},
    key::{Digest, UploadSegment, WorkspaceSegment},
    local::is_same_file,
    store::LocalBlobs,
};

const COMPARED_PIECE: usize = 64 * 1024;

/// An upload in progress. Dropping it keeps the file; [`LocalBlobs::remove_upload`] removes it.
#[derive(Debug)]
pub struct Upload {
    file: File,
    received: u64,
    /// The file length after the last write, in bytes. A chunk that failed part-way may leave bytes beyond `received`.
    length: u64,
    hash: Arc<RunningHash>,
    hashers: Hashers,
}

impl Upload {
    /// Starts an upload. Fails with [`Error::UploadExists`] if it already has a payload.
    pub fn create(
        store: &LocalBlobs,
        workspace: &WorkspaceSegment,
        upload: &UploadSegment,
    ) -> Result<Upload> {
        let file = store.create_payload(workspace, upload)?;
        Upload::of_file(store, file)
    }

    /// Continues an upload with all bytes its file contains; another thread computes their hash.
    ///
    /// The file may contain more than was acknowledged; the caller must [`Upload::truncate`] it to the recorded offset.
    pub fn resume(
        store: &LocalBlobs,
        workspace: &WorkspaceSegment,
        upload: &UploadSegment,
    ) -> Result<Upload> {
        let (_, file) = store
            .open_payload(workspace, upload)?
            .ok_or(Error::MissingUpload)?;
        Upload::of_file(store, file)
    }

    fn of_file(store: &LocalBlobs, file: File) -> Result<Upload> {
        let received = file
            .metadata()
            .map_err(io_error("read the metadata of an upload"))?
            .len();
        let for_hash = file
            .try_clone()
            .map_err(io_error("duplicate the handle of an upload"))?;
        let upload = Upload {
            file,
            received,
            length: received,
            hash: RunningHash::new(for_hash, received, store.hashers()),
            hashers: store.hashers().clone(),
        };
        upload.hashers.wake(&upload.hash);
        Ok(upload)
    }

    /// Returns the number of bytes received, which is the offset of the next chunk.
    pub fn received(&self) -> u64 {
        self.received
    }

    /// Returns whether the file is unchanged since the last write. Another process may have continued or removed it.
    pub fn is_current(&self) -> bool {
        self.file
            .metadata()
            .is_ok_and(|found| found.len() == self.length && found.nlink() > 0)
    }

    /// Writes a chunk at the end and returns the total number of bytes received.
    ///
    /// If the write fails part-way, the chunk does not count, and the next one overwrites it.
    pub fn append(&mut self, offset: u64, bytes: &[u8]) -> Result<u64> {
        self.write(offset, bytes)?;
        Ok(self.count(bytes.len()))
    }

    /// Like [`Upload::append`], but keeps the bytes in memory for hashing, within the limit of the hashers.
    pub fn append_shared(
        &mut self,
        offset: u64,
        bytes: impl AsRef<[u8]> + Send + 'static,
    ) -> Result<u64> {
        let length = bytes.as_ref().len();
        self.write(offset, bytes.as_ref())?;
        self.hash.lend(offset, Box::new(bytes));
        Ok(self.count(length))
    }

    fn write(&mut self, offset: u64, bytes: &[u8]) -> Result<()> {
        if offset != self.received {
            return Err(Error::OffsetMismatch {
                expected: self.received,
                actual: offset,
            });
        }
        self.file.write_all_at(bytes, offset).map_err(|error| {
            let length = self.file.metadata().map(|found| found.len());
            self.length = length.unwrap_or(self.length);
            io_error("write an upload")(error)
        })
    }

    fn count(&mut self, length: usize) -> u64 {
        self.received += length as u64;
        self.length = self.length.max(self.received);
        self.hash.set_received(self.received);
        self.hashers.wake(&self.hash);
        self.received
    }

    /// Returns whether the chunk repeats received data: it is inside the received range and has identical bytes.
    pub fn is_repeat(&self, offset: u64, bytes: &[u8]) -> Result<bool> {
        let end = offset.checked_add(bytes.len() as u64);
        if end.is_none_or(|end| end > self.received) {
            return Ok(false);
        }
        let mut position = offset;
        let mut kept = [0; COMPARED_PIECE];
        for piece in bytes.chunks(COMPARED_PIECE) {
            let kept = &mut kept[..piece.len()];
            self.file
                .read_exact_at(kept, position)
                .map_err(io_error("read back an upload"))?;
            if kept != piece {
                return Ok(false);
            }
            position += piece.len() as u64;
        }
        Ok(true)
    }

    /// Returns whether `file` is the file of this upload.
    pub(crate) fn is_of(&self, file: &File) -> Result<bool> {
        is_same_file(&self.file, file)
    }

    /// Truncates the file to the acknowledged size, which drops a chunk that was written but not acknowledged.
    pub fn truncate(&mut self, received: u64) -> Result<()> {
        if received > self.received {
            return Err(Error::PayloadTooShort {
                acknowledged: received,
                actual: self.received,
            });
        }
        // The hash is cut first: no thread may read beyond the cut once the file is shorter.
        self.hash.cut(received);
        self.received = received;
        self.file
            .set_len(received)
            .map_err(io_error("truncate an upload"))?;
        self.length = received;
        self.hashers.wake(&self.hash);
        Ok(())
    }

    /// Returns the hash and size of all received bytes, for [`crate::store::PayloadHash::Running`].
    pub fn finish(&mut self) -> Result<Digest> {
        // A chunk that failed part-way may have left bytes beyond the end.
        self.file
            .set_len(self.received)
            .map_err(io_error("truncate an upload"))?;
        self.length = self.received;
        self.hash.finish()
    }
}
