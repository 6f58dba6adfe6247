//! The write half of a connection, with an optional fast path for sending files.

use std::{future::Future, io, os::fd::BorrowedFd};

use tokio::{
    io::{AsyncWrite, AsyncWriteExt as _},
    net::tcp::OwnedWriteHalf,
};

use crate::file_frame::read_exact_at;

/// Read size, in bytes, when the fast path is not available.
const PIECE: usize = 64 << 10;

/// The write half of a connection. Sockets and in-memory test streams implement it; the writer calls it.
pub trait Sink: AsyncWrite + Unpin + Send {
    /// Writes at least one byte of a file range and returns the number of bytes written.
    fn send_file(
        &mut self,
        file: BorrowedFd<'_>,
        offset: u64,
        length: usize,
    ) -> impl Future<Output = io::Result<usize>> + Send {
        // The range was read recently and is in the page cache, so this does not block on the disk.
        let mut piece = vec![0; length.min(PIECE)];
        let read = read_exact_at(file, &mut piece, offset);
        async move {
            read?;
            self.write(&piece).await
        }
    }
}

#[cfg(target_os = "linux")]
impl Sink for OwnedWriteHalf {
    async fn send_file(
        &mut self,
        file: BorrowedFd<'_>,
        offset: u64,
        length: usize,
    ) -> io::Result<usize> {
        let socket: &tokio::net::TcpStream = self.as_ref();
        let send = || {
            let mut offset = offset;
            let sent = rustix::fs::sendfile(socket, file, Some(&mut offset), length);
            sent.map_err(io::Error::from)
        };
        socket.async_io(tokio::io::Interest::WRITABLE, send).await
    }
}

#[cfg(not(target_os = "linux"))]
impl Sink for OwnedWriteHalf {}

impl Sink for tokio::io::DuplexStream {}
