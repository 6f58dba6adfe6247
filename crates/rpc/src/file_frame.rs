//! A binary frame whose bytes are part of a file: they go from there to the socket without a stop in our memory.

use std::{
    fmt, io,
    os::fd::{AsFd, BorrowedFd},
    sync::Arc,
};

use crate::Bytes;

/// A frame of a few bytes of our own and a range of a file.
#[derive(Clone)]
pub struct FileFrame {
    /// What comes first.
    pub head: Bytes,
    /// The file, whose bytes must not change any more.
    pub file: Arc<dyn AsFd + Send + Sync>,
    /// Where the range begins.
    pub offset: u64,
    /// How long it is.
    pub length: usize,
}

impl FileFrame {
    /// The length of the frame.
    pub(crate) fn len(&self) -> usize {
        self.head.len() + self.length
    }

    /// The frame in memory, for transports that know no better. Blocks.
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

/// Fills a buffer from a place in a file.
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
