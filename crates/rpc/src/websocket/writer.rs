//! Writes messages to a client, one frame each. Large payloads are written without copying.

use std::{
    collections::VecDeque,
    io::{self, IoSlice},
};

use bytes::{Buf as _, BufMut as _, BytesMut};
use tokio::io::AsyncWriteExt as _;

use super::Sink;
use crate::{Bytes, Closing, FileFrame, outbox::Outgoing};

/// Payloads up to this size, in bytes, are copied into one buffer, which is cheaper than a separate I/O slice each.
const SMALL: usize = 4 << 10;
/// Maximum number of buffers per vectored write.
const PARTS: usize = 32;
/// Size, in bytes, at which a buffer of small messages is complete.
const PART: usize = 64 << 10;

const TEXT: u8 = 1;
const BINARY: u8 = 2;
const CLOSE: u8 = 8;
const PING: u8 = 9;
const PONG: u8 = 10;

/// A data message or a control frame.
#[derive(Debug)]
pub(super) enum Frame {
    Message(Outgoing),
    Ping,
    Pong(Bytes),
    Close(Closing),
}

/// Writes frames to a stream.
#[derive(Debug)]
pub(super) struct FrameWriter<W> {
    stream: W,
}

/// A unit of output: a buffer or a file range.
#[derive(Debug)]
enum Part {
    Bytes(Bytes),
    /// The range of a file. Its head is in the preceding buffer.
    File(FileFrame),
}

impl<W: Sink> FrameWriter<W> {
    pub(super) fn new(stream: W) -> Self {
        Self { stream }
    }

    /// Writes frames in order. Not cancel safe: after a dropped send the connection is unusable.
    pub(super) async fn send(&mut self, frames: impl IntoIterator<Item = Frame>) -> io::Result<()> {
        let mut parts = assemble(frames);
        while let Some(first) = parts.front() {
            let written = match first {
                Part::File(FileFrame {
                    file,
                    offset,
                    length,
                    ..
                }) => {
                    let file = (**file).as_fd();
                    self.stream.send_file(file, *offset, *length).await?
                }
                Part::Bytes(_) => {
                    let mut slices = [IoSlice::new(&[]); PARTS];
                    let mut count = 0;
                    for (slice, part) in slices.iter_mut().zip(&parts) {
                        let Part::Bytes(bytes) = part else { break };
                        *slice = IoSlice::new(bytes);
                        count += 1;
                    }
                    self.stream.write_vectored(&slices[..count]).await?
                }
            };
            if written == 0 {
                return Err(io::ErrorKind::WriteZero.into());
            }
            advance(&mut parts, written);
        }
        self.stream.flush().await
    }
}

/// Encodes frames into buffers and file ranges, in wire order.
fn assemble(frames: impl IntoIterator<Item = Frame>) -> VecDeque<Part> {
    let mut parts = VecDeque::new();
    let mut small = BytesMut::new();
    for frame in frames {
        let (opcode, payload) = match frame {
            Frame::Message(Outgoing::Text(text)) => (TEXT, Bytes::from(text)),
            Frame::Message(Outgoing::Binary(bytes)) => (BINARY, bytes),
            Frame::Message(Outgoing::File(file)) => {
                put_header(&mut small, BINARY, file.len());
                small.put_slice(&file.head);
                parts.push_back(Part::Bytes(small.split().freeze()));
                parts.push_back(Part::File(file));
                continue;
            }
            Frame::Ping => (PING, Bytes::new()),
            Frame::Pong(payload) => (PONG, payload),
            Frame::Close(closing) => (CLOSE, close_payload(closing)),
        };
        put_header(&mut small, opcode, payload.len());
        if payload.len() <= SMALL {
            small.put_slice(&payload);
            if small.len() >= PART {
                parts.push_back(Part::Bytes(small.split().freeze()));
            }
        } else {
            parts.push_back(Part::Bytes(small.split().freeze()));
            parts.push_back(Part::Bytes(payload));
        }
    }
    if !small.is_empty() {
        parts.push_back(Part::Bytes(small.freeze()));
    }
    parts
}

fn put_header(buffer: &mut BytesMut, opcode: u8, length: usize) {
    buffer.put_u8(0x80 | opcode);
    match (u8::try_from(length), u16::try_from(length)) {
        (Ok(length @ 0..126), _) => buffer.put_u8(length),
        (_, Ok(length)) => {
            buffer.put_u8(126);
            buffer.put_u16(length);
        }
        _ => {
            buffer.put_u8(127);
            buffer.put_u64(length as u64);
        }
    }
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

/// Removes the first `written` bytes.
fn advance(parts: &mut VecDeque<Part>, mut written: usize) {
    while let Some(part) = parts.front_mut() {
        let length = match part {
            Part::Bytes(bytes) => bytes.len(),
            Part::File(file) => file.length,
        };
        if written >= length {
            written -= length;
            parts.pop_front();
            continue;
        }
        match part {
            Part::Bytes(bytes) => bytes.advance(written),
            Part::File(file) => {
                file.offset += written as u64;
                file.length -= written;
            }
        }
        return;
    }
}

#[cfg(test)]
mod tests {
    use std::{io::Write as _, sync::Arc};

    use tokio::{
        io::{AsyncRead, AsyncReadExt as _},
        net::{TcpListener, TcpStream},
    };

    use super::*;

    fn wire(frames: Vec<Frame>) -> Vec<u8> {
        let bytes = |part| match part {
            Part::Bytes(bytes) => bytes,
            Part::File(file) => file.read().unwrap().split_off(file.head.len()),
        };
        assemble(frames).into_iter().flat_map(bytes).collect()
    }

    fn file(content: &[u8], offset: u64, length: usize) -> Frame {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(content).unwrap();
        Frame::Message(Outgoing::File(FileFrame {
            head: Bytes::from_static(b"head"),
            file: Arc::new(file),
            offset,
            length,
        }))
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
        let parts: Vec<Bytes> = parts
            .into_iter()
            .map(|part| match part {
                Part::Bytes(bytes) => bytes,
                Part::File(file) => panic!("{file:?}"),
            })
            .collect();
        assert_eq!(parts.len(), 3);
        assert_eq!(parts[1].as_ptr(), large.as_ptr());
        assert_eq!(&parts[0][..3], b"\x81\x01a");
        assert_eq!(&parts[2][..], b"\x81\x01b\x81\x01c");
    }

    #[tokio::test]
    async fn a_range_of_a_file_goes_out_between_other_messages() {
        let content: Vec<u8> = (0..1_000_000u32).map(|number| (number / 7) as u8).collect();
        let frames = || {
            let text = || Frame::Message(Outgoing::Text("text".to_owned().into()));
            [text(), file(&content, 17, 900_000), text()]
        };
        let expected = wire(frames().into());
        let range = &content[17..900_017];
        assert!(expected.windows(range.len()).any(|window| window == range));
        // Once through a socket, which supports `sendfile`, and once through an in-memory stream, which does not.
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let (client, server) = tokio::join!(TcpStream::connect(address), listener.accept());
        let (_reading, writing) = server.unwrap().0.into_split();
        let found = transfer(client.unwrap(), writing, frames(), expected.len()).await;
        assert!(found == expected);
        let (client, server) = tokio::io::duplex(1000);
        let found = transfer(client, server, frames(), expected.len()).await;
        assert!(found == expected);
    }

    #[tokio::test]
    async fn a_file_that_is_too_short_ends_the_connection() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let (_client, server) = tokio::join!(TcpStream::connect(address), listener.accept());
        let (_reading, writing) = server.unwrap().0.into_split();
        let sent = FrameWriter::new(writing).send([file(b"short", 0, 6)]).await;
        assert_eq!(sent.unwrap_err().kind(), io::ErrorKind::WriteZero);
    }

    async fn transfer(
        mut client: impl AsyncRead + Unpin,
        server: impl Sink,
        frames: impl IntoIterator<Item = Frame>,
        length: usize,
    ) -> Vec<u8> {
        let mut found = vec![0; length];
        let mut writer = FrameWriter::new(server);
        let (sent, read) = tokio::join!(writer.send(frames), client.read_exact(&mut found));
        sent.unwrap();
        read.unwrap();
        found
    }

    #[tokio::test]
    async fn everything_is_written_however_little_is_taken_at_once() {
        let (client, server) = tokio::io::duplex(5);
        let message = |number: u8| Frame::Message(Outgoing::Binary(vec![number; 5000].into()));
        let expected = wire((0..40).map(message).collect());
        let found = transfer(client, server, (0..40).map(message), expected.len()).await;
        assert!(found == expected);
    }
}
