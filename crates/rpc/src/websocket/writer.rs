//! Messages to a client, each in one frame. Large ones are written from where they are.

use std::{
    collections::VecDeque,
    io::{self, IoSlice},
};

use bytes::{Buf as _, BufMut as _, BytesMut};
use tokio::io::{AsyncWrite, AsyncWriteExt as _};

use crate::{Bytes, Closing, outbox::Outgoing};

/// Messages up to this size are copied together, which is cheaper than naming each to the system.
const SMALL: usize = 4 << 10;
/// Parts named to the system at once.
const PARTS: usize = 32;
/// How many small messages are put into one part.
const PART: usize = 64 << 10;

const TEXT: u8 = 1;
const BINARY: u8 = 2;
const CLOSE: u8 = 8;
const PING: u8 = 9;
const PONG: u8 = 10;

/// A message of the protocol itself, or of its users.
#[derive(Debug)]
pub(super) enum Frame {
    Message(Outgoing),
    Ping,
    Pong(Bytes),
    Close(Closing),
}

/// Writes frames.
#[derive(Debug)]
pub(super) struct Writer<W> {
    stream: W,
}

impl<W: AsyncWrite + Unpin> Writer<W> {
    pub(super) fn new(stream: W) -> Self {
        Self { stream }
    }

    /// Writes frames in their order. Dropped half-way, the connection is of no more use.
    pub(super) async fn send(&mut self, frames: impl IntoIterator<Item = Frame>) -> io::Result<()> {
        let mut parts = assemble(frames);
        while !parts.is_empty() {
            let mut slices = [IoSlice::new(&[]); PARTS];
            for (slice, part) in slices.iter_mut().zip(&parts) {
                *slice = IoSlice::new(part);
            }
            let count = parts.len().min(PARTS);
            let written = self.stream.write_vectored(&slices[..count]).await?;
            if written == 0 {
                return Err(io::ErrorKind::WriteZero.into());
            }
            advance(&mut parts, written);
        }
        self.stream.flush().await
    }
}

/// The frames as they go over the wire.
fn assemble(frames: impl IntoIterator<Item = Frame>) -> VecDeque<Bytes> {
    let mut parts = VecDeque::new();
    let mut small = BytesMut::new();
    for frame in frames {
        let (opcode, payload) = match frame {
            Frame::Message(Outgoing::Text(text)) => (TEXT, Bytes::from(text)),
            Frame::Message(Outgoing::Binary(bytes)) => (BINARY, bytes),
            Frame::Ping => (PING, Bytes::new()),
            Frame::Pong(payload) => (PONG, payload),
            Frame::Close(closing) => (CLOSE, close_payload(closing)),
        };
        small.put_u8(0x80 | opcode);
        match payload.len() {
            length @ 0..126 => small.put_u8(u8::try_from(length).unwrap_or_default()),
            length => match u16::try_from(length) {
                Ok(length) => {
                    small.put_u8(126);
                    small.put_u16(length);
                }
                Err(_) => {
                    small.put_u8(127);
                    small.put_u64(length as u64);
                }
            },
        }
        if payload.len() <= SMALL {
            small.put_slice(&payload);
            if small.len() >= PART {
                parts.push_back(small.split().freeze());
            }
        } else {
            parts.push_back(small.split().freeze());
            parts.push_back(payload);
        }
    }
    if !small.is_empty() {
        parts.push_back(small.freeze());
    }
    parts
}

fn close_payload(closing: Closing) -> Bytes {
    if closing == Closing::SILENT {
        return Bytes::new();
    }
    let mut payload = BytesMut::new();
    payload.put_u16(closing.code);
    payload.put_slice(closing.reason.as_bytes());
    payload.freeze()
}

/// Drops what was written.
fn advance(parts: &mut VecDeque<Bytes>, mut written: usize) {
    while let Some(part) = parts.front_mut() {
        if written < part.len() {
            part.advance(written);
            return;
        }
        written -= part.len();
        parts.pop_front();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wire(frames: Vec<Frame>) -> Vec<u8> {
        assemble(frames).into_iter().flatten().collect()
    }

    #[test]
    fn lengths_are_written_as_short_as_can_be() {
        let check = |length: usize, expected: &[u8]| {
            let payload = Bytes::from(vec![7; length]);
            let wire = wire(vec![Frame::Message(Outgoing::Binary(payload))]);
            assert_eq!(&wire[..expected.len()], expected);
            assert_eq!(wire.len(), expected.len() + length);
        };
        check(0, &[0x82, 0]);
        check(125, &[0x82, 125]);
        check(126, &[0x82, 126, 0, 126]);
        check(65_535, &[0x82, 126, 255, 255]);
        check(65_536, &[0x82, 127, 0, 0, 0, 0, 0, 1, 0, 0]);
    }

    #[test]
    fn a_goodbye_has_its_code_and_reason() {
        let close = |closing| wire(vec![Frame::Close(closing)]);
        assert_eq!(close(Closing::NORMAL), [0x88, 2, 3, 232]);
        assert_eq!(close(Closing::GOING_AWAY), b"\x88\x0a\x03\xe9shutdown");
        assert_eq!(close(Closing::SILENT), [0x88, 0]);
    }

    #[test]
    fn a_large_message_is_not_copied() {
        let large = Bytes::from(vec![7; SMALL + 1]);
        let text = |text: &str| Frame::Message(Outgoing::Text(text.to_owned().into()));
        let frames = vec![
            text("a"),
            Frame::Message(Outgoing::Binary(large.clone())),
            text("b"),
            text("c"),
        ];
        let parts = assemble(frames);
        assert_eq!(parts.len(), 3);
        assert_eq!(parts[1].as_ptr(), large.as_ptr());
        assert_eq!(&parts[0][..3], b"\x81\x01a");
        assert_eq!(&parts[2][..], b"\x81\x01b\x81\x01c");
    }

    #[tokio::test]
    async fn everything_is_written_however_little_is_taken_at_once() {
        let (client, server) = tokio::io::duplex(5);
        let mut writer = Writer::new(server);
        let message = |number: u8| Frame::Message(Outgoing::Binary(vec![number; 5000].into()));
        let frames: Vec<Frame> = (0..40).map(message).collect();
        let expected = wire((0..40).map(message).collect());
        let reading = async {
            use tokio::io::AsyncReadExt as _;
            let mut found = vec![0; expected.len()];
            let (mut client, _rest) = tokio::io::split(client);
            client.read_exact(&mut found).await.unwrap();
            found
        };
        let (sent, found) = tokio::join!(writer.send(frames), reading);
        sent.unwrap();
        assert!(found == expected);
    }
}
