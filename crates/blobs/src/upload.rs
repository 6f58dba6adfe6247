//! One upload while it is received: a file that grows at its end, and its hash.
//!
//! An acknowledged chunk survives the end of our process, also by `kill -9`: it is in the page cache, which belongs to
//! the system. Only [`crate::store::BlobStore::commit_upload`] waits for the disk, so after a power cut a payload may
//! be shorter than what was acknowledged; [`Upload::truncate`] then says so.

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

/// A receiving upload. Dropping it keeps the file; [`LocalBlobs::remove_upload`] removes it.
#[derive(Debug)]
pub struct Upload {
    file: File,
    received: u64,
    /// How long we left the file: a chunk that failed half-way may have left bytes behind what counts.
    length: u64,
    hash: Arc<RunningHash>,
    hashers: Hashers,
}

impl Upload {
    /// Begins an upload.
    pub fn create(
        store: &LocalBlobs,
        workspace: &WorkspaceSegment,
        upload: &UploadSegment,
    ) -> Result<Upload> {
        let file = store.create_payload(workspace, upload)?;
        Upload::of_file(store, file)
    }

    /// Continues an upload with all bytes its file has; its hash is read back on another thread.
    ///
    /// The file may hold more than was acknowledged: [`Upload::truncate`] it to what the database knows.
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
            .map_err(io_error("look at an upload"))?
            .len();
        let for_hash = file.try_clone().map_err(io_error("keep an upload open"))?;
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

    /// How many bytes have arrived; the next chunk begins here.
    pub fn received(&self) -> u64 {
        self.received
    }

    /// Whether the file is as we left it: another process may have gone on with it, or removed it.
    pub fn is_current(&self) -> bool {
        self.file
            .metadata()
            .is_ok_and(|found| found.len() == self.length && found.nlink() > 0)
    }

    /// Writes a chunk at the end. Returns how many bytes have arrived now.
    ///
    /// When writing fails half-way, nothing of the chunk counts, and the next one overwrites what was written.
    pub fn append(&mut self, offset: u64, bytes: &[u8]) -> Result<u64> {
        self.write(offset, bytes)?;
        Ok(self.count(bytes.len()))
    }

    /// Like [`Upload::append`], with bytes that may stay in memory until they are hashed.
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

    /// Whether this chunk arrived before: it lies inside the received range, with identical bytes.
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

    /// Whether this is our file.
    pub(crate) fn is_of(&self, file: &File) -> Result<bool> {
        is_same_file(&self.file, file)
    }

    /// Cuts the file to what was acknowledged, dropping a chunk that was written but never answered.
    pub fn truncate(&mut self, received: u64) -> Result<()> {
        if received > self.received {
            return Err(Error::PayloadTooShort {
                acknowledged: received,
                actual: self.received,
            });
        }
        // The hash first: no thread may read beyond the cut once the file is shorter.
        self.hash.cut(received);
        self.received = received;
        self.file
            .set_len(received)
            .map_err(io_error("cut an upload"))?;
        self.length = received;
        self.hashers.wake(&self.hash);
        Ok(())
    }

    /// The hash and size of everything received, for [`crate::store::PayloadHash::Running`].
    pub fn finish(&mut self) -> Result<Digest> {
        // A chunk that failed half-way may have left bytes behind the end.
        self.file
            .set_len(self.received)
            .map_err(io_error("cut an upload"))?;
        self.length = self.received;
        self.hash.finish()
    }
}
