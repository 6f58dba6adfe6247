//! A binary frame whose payload is a range of a file, sent to the socket without a copy in user memory.

use std::{
    fmt, io,
    os::fd::{AsFd, BorrowedFd},
    sync::Arc,
};

use crate::Bytes;

/// A binary frame that consists of a header in memory and a range of a file.
#[derive(Clone)]
pub struct FileFrame {
    /// The bytes sent before the file range.
    pub head: Bytes,
    /// The file. Its content must not change while the frame is queued.
    pub file: Arc<dyn AsFd + Send + Sync>,
    /// The start of the range in the file, in bytes.
    pub offset: u64,
    /// The length of the range, in bytes.
    pub length: usize,
}

impl FileFrame {
    /// Returns the total length of the frame in bytes, including the head.
    pub(crate) fn len(&self) -> usize {
        self.head.len() + self.length
    }

    /// Reads the whole frame into memory, for transports that cannot send from a file. Blocks.
    pub(crate) fn read(&self) -> io::Result<Bytes> {
        let mut bytes = self.head.to_vec();
        bytes.resize(self.len(), 0);
        read_exact_at(
            (*self.file).as_fd(),
            &mut bytes[self.head.len()..],
            self.offset,
        )?;
        Ok(bytes.into())
    }
}

/// Fills the buffer from `offset` in the file. Fails with `UnexpectedEof` if the file is too short.
pub(crate) fn read_exact_at(
    file: BorrowedFd<'_>,
    mut buffer: &mut [u8],
    mut offset: u64,
) -> io::Result<()> {
    while !buffer.is_empty() {
        match rustix::io::retry_on_intr(|| rustix::io::pread(file, &mut *buffer, offset))? {
            0 => return Err(io::ErrorKind::UnexpectedEof.into()),
            read => {
                buffer = &mut buffer[read..];
                offset += read as u64;
            }
        }
    }
    Ok(())
}

impl fmt::Debug for FileFrame {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("FileFrame")
            .field("offset", &self.offset)
            .field("length", &self.length)
            .finish_non_exhaustive()
    }
}

impl PartialEq for FileFrame {
    fn eq(&self, other: &Self) -> bool {
        let same_file = Arc::ptr_eq(&self.file, &other.file);
        same_file && (self.offset, self.length) == (other.offset, other.length)
    }
}
