//! Where frames are written: a stream that may know a short way for files.

use std::{future::Future, io, os::fd::BorrowedFd};

use tokio::{
    io::{AsyncWrite, AsyncWriteExt as _},
    net::tcp::OwnedWriteHalf,
};

use crate::file_frame::read_exact_at;

/// What is read at once where there is no short way.
const PIECE: usize = 64 << 10;

/// The writing half of a connection. Sockets implement it, and streams in memory for tests; the writer calls it.
pub trait Sink: AsyncWrite + Unpin + Send {
    /// Writes at least one byte of the range of a file; answers how many.
    fn send_file(
        &mut self,
        file: BorrowedFd<'_>,
        offset: u64,
        length: usize,
    ) -> impl Future<Output = io::Result<usize>> + Send {
        // The range was read a moment ago, so this does not wait for a disk.
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
