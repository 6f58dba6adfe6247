//! Reads the output of a process in pieces.

use std::{sync::Arc, time::Duration};

use drivers::output::Stream;
use tokio::{
    io::{AsyncRead, AsyncReadExt as _},
    sync::{mpsc, watch},
    time::Instant,
};

/// Maximum size of a piece.
const PIECE_BYTES: usize = 64 << 10;
/// How long a piece collects further bytes, so that a program that prints single characters does not cause an event for
/// each.
const COLLECT_DELAY: Duration = Duration::from_millis(20);

/// Consecutive bytes of a stream.
#[derive(Debug)]
pub(crate) struct Piece {
    /// The stream.
    pub stream: Stream,
    /// The bytes.
    pub bytes: Vec<u8>,
    /// Whether the stream ends with these bytes.
    pub is_last: bool,
}

/// Reads a stream until its end, or until `stop` is true, and sends it in pieces. A full channel blocks the process, so
/// nothing is lost and memory is bounded. `read_at` receives the time of every read.
pub(crate) async fn read(
    stream: Stream,
    mut source: impl AsyncRead + Unpin,
    pieces: mpsc::Sender<Piece>,
    mut stop: watch::Receiver<bool>,
    read_at: Arc<watch::Sender<Instant>>,
) {
    let mut bytes = Vec::new();
    let mut send_at: Option<Instant> = None;
    loop {
        bytes.reserve(PIECE_BYTES - bytes.len());
        let due = send_at;
        let ended = tokio::select! {
            biased;
            read = source.read_buf(&mut bytes) => match read {
                Ok(0) | Err(_) => true,
                Ok(_) => {
                    read_at.send_replace(Instant::now());
                    send_at.get_or_insert_with(|| Instant::now() + COLLECT_DELAY);
                    false
                }
            },
            () = async { tokio::time::sleep_until(due.unwrap_or_else(Instant::now)).await }, if due.is_some() => false,
            _ = stop.wait_for(|stop| *stop) => true,
        };
        let is_due = send_at.is_some_and(|at| at <= Instant::now());
        if !bytes.is_empty() && (ended || is_due || bytes.len() >= PIECE_BYTES) {
            send_at = None;
            let piece = Piece {
                stream,
                bytes: std::mem::take(&mut bytes),
                is_last: ended,
            };
            if pieces.send(piece).await.is_err() {
                return;
            }
        }
        if ended {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_stream_is_sent_in_bounded_pieces_and_nothing_is_lost() {
        let (sender, mut pieces) = mpsc::channel(1);
        let (_stop, stopped) = watch::channel(false);
        let bytes = vec![b'x'; 3 * PIECE_BYTES + 5];
        let read_at = Arc::new(watch::Sender::new(Instant::now()));
        let reading = tokio::spawn(read(
            Stream::Stdout,
            std::io::Cursor::new(bytes),
            sender,
            stopped,
            read_at,
        ));
        let mut total = 0;
        while let Some(piece) = pieces.recv().await {
            assert!(piece.bytes.len() <= PIECE_BYTES);
            total += piece.bytes.len();
        }
        assert_eq!(total, 3 * PIECE_BYTES + 5);
        reading.await.unwrap();
    }
}
