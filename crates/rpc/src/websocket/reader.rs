//! Reads WebSocket frames and assembles them into messages (RFC 6455).
//!
//! A large frame is read directly from the socket into a buffer of exactly its size and passed on without copying. A
//! client that sends only small messages costs one small buffer.

use bytes::{Buf as _, BufMut as _, BytesMut};
use tokio::io::{AsyncRead, AsyncReadExt as _};

use crate::{Bytes, Text};

use super::MAX_MESSAGE_BYTES;

/// Read size, in bytes, while the length of the next frame is unknown.
const PIECE: usize = 8 << 10;

/// A message received from the client.
#[derive(Debug, PartialEq)]
pub(super) enum Received {
    Text(Text),
    Binary(Bytes),
    Ping(Bytes),
    Pong,
    /// The close frame, with its code if it has one.
    Close(Option<u16>),
}

/// The reason the reader cannot continue.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum ReadEnd {
    /// The connection is closed, or the client has sent its close frame.
    Gone,
    /// The client violated the WebSocket protocol.
    Protocol,
    TooLarge,
    NotUtf8,
}

/// Reads messages. Cancel safe: dropping a pending read loses no data.
#[derive(Debug)]
pub(super) struct MessageReader<R> {
    stream: R,
    /// Bytes that do not belong to a parsed frame yet.
    buffer: BytesMut,
    /// The frame being read: its header and the payload received so far.
    frame: Option<(FrameHeader, BytesMut)>,
    /// The payload received so far of a fragmented message.
    message: Option<(DataKind, BytesMut)>,
    is_closed: bool,
}

#[derive(Clone, Copy, Debug)]
struct FrameHeader {
    is_last: bool,
    opcode: Opcode,
    mask: [u8; 4],
    length: usize,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Opcode {
    Continuation,
    Data(DataKind),
    Close,
    Ping,
    Pong,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum DataKind {
    Text,
    Binary,
}

impl<R: AsyncRead + Unpin> MessageReader<R> {
    /// Creates a reader. `begun` contains the bytes received after the upgrade request.
    pub(super) fn new(stream: R, begun: &[u8]) -> Self {
        Self {
            stream,
            buffer: BytesMut::from(begun),
            frame: None,
            message: None,
            is_closed: false,
        }
    }

    /// Returns the next message.
    pub(super) async fn next(&mut self) -> Result<Received, ReadEnd> {
        if self.is_closed {
            return Err(ReadEnd::Gone);
        }
        loop {
            let (header, payload) = self.next_frame().await?;
            let received = match header.opcode {
                Opcode::Ping => Some(Received::Ping(payload.freeze())),
                Opcode::Pong => Some(Received::Pong),
                Opcode::Close => {
                    self.is_closed = true;
                    Some(Received::Close(close_code(&payload)?))
                }
                Opcode::Data(kind) => self.begin(kind, header.is_last, payload)?,
                Opcode::Continuation => self.continue_message(header.is_last, &payload)?,
            };
            if let Some(received) = received {
                return Ok(received);
            }
        }
    }

    fn begin(
        &mut self,
        kind: DataKind,
        is_last: bool,
        payload: BytesMut,
    ) -> Result<Option<Received>, ReadEnd> {
        if self.message.is_some() {
            return Err(ReadEnd::Protocol);
        }
        if is_last {
            return complete(kind, payload).map(Some);
        }
        self.message = Some((kind, payload));
        Ok(None)
    }

    fn continue_message(
        &mut self,
        is_last: bool,
        payload: &[u8],
    ) -> Result<Option<Received>, ReadEnd> {
        let (kind, mut message) = self.message.take().ok_or(ReadEnd::Protocol)?;
        message.extend_from_slice(payload);
        if is_last {
            return complete(kind, message).map(Some);
        }
        self.message = Some((kind, message));
        Ok(None)
    }

    async fn next_frame(&mut self) -> Result<(FrameHeader, BytesMut), ReadEnd> {
        while self.frame.is_none() {
            match parse(&mut self.buffer)? {
                Some(header) => self.accept(header)?,
                None => {
                    self.buffer.reserve(PIECE);
                    let read = self.stream.read_buf(&mut self.buffer).await;
                    at_least_one(&read)?;
                }
            }
        }
        loop {
            let (header, payload) = self.frame.as_mut().ok_or(ReadEnd::Gone)?;
            let missing = header.length - payload.len();
            if missing == 0 {
                break;
            }
            let read = self.stream.read_buf(&mut payload.limit(missing)).await;
            at_least_one(&read)?;
        }
        let (header, mut payload) = self.frame.take().ok_or(ReadEnd::Gone)?;
        unmask(&mut payload, header.mask);
        Ok((header, payload))
    }

    /// Allocates the payload of a frame and moves the bytes that are already buffered into it. Rejects a message that
    /// exceeds the limit.
    fn accept(&mut self, header: FrameHeader) -> Result<(), ReadEnd> {
        let begun = match (header.opcode, &self.message) {
            (Opcode::Continuation, Some((_, message))) => message.len(),
            _ => 0,
        };
        if header.length > MAX_MESSAGE_BYTES - begun {
            return Err(ReadEnd::TooLarge);
        }
        let payload = if self.buffer.len() >= header.length {
            self.buffer.split_to(header.length)
        } else {
            let mut payload = BytesMut::with_capacity(header.length);
            payload.extend_from_slice(&self.buffer);
            self.buffer.clear();
            payload
        };
        self.frame = Some((header, payload));
        Ok(())
    }
}

fn at_least_one(read: &std::io::Result<usize>) -> Result<(), ReadEnd> {
    match read {
        Ok(0) | Err(_) => Err(ReadEnd::Gone),
        Ok(_) => Ok(()),
    }
}

/// Parses and removes the frame header at the start of the buffer. Returns `None` if it is incomplete.
fn parse(buffer: &mut BytesMut) -> Result<Option<FrameHeader>, ReadEnd> {
    let &[first, second, ..] = &buffer[..] else {
        return Ok(None);
    };
    let opcode = match first & 0x0f {
        0 => Opcode::Continuation,
        1 => Opcode::Data(DataKind::Text),
        2 => Opcode::Data(DataKind::Binary),
        8 => Opcode::Close,
        9 => Opcode::Ping,
        10 => Opcode::Pong,
        _ => return Err(ReadEnd::Protocol),
    };
    let (is_last, is_extended) = (first & 0x80 != 0, first & 0x70 != 0);
    let (is_masked, short) = (second & 0x80 != 0, second & 0x7f);
    let is_control = matches!(opcode, Opcode::Close | Opcode::Ping | Opcode::Pong);
    // No extension is negotiated, clients must mask, and control frames must be short and unfragmented.
    if is_extended || !is_masked || (is_control && (short > 125 || !is_last)) {
        return Err(ReadEnd::Protocol);
    }
    let mask_at = match short {
        126 => 4,
        127 => 10,
        _ => 2,
    };
    if buffer.len() < mask_at + 4 {
        return Ok(None);
    }
    let mut numbers = &buffer[2..mask_at];
    let length = match short {
        126 => u64::from(numbers.get_u16()),
        127 => numbers.get_u64(),
        short => u64::from(short),
    };
    let mut mask = [0; 4];
    mask.copy_from_slice(&buffer[mask_at..mask_at + 4]);
    buffer.advance(mask_at + 4);
    Ok(Some(FrameHeader {
        is_last,
        opcode,
        mask,
        // A length that does not fit into `usize` is rejected as too large.
        length: usize::try_from(length).unwrap_or(usize::MAX),
    }))
}

fn unmask(payload: &mut [u8], mask: [u8; 4]) {
    let wide = u64::from_ne_bytes([
        mask[0], mask[1], mask[2], mask[3], mask[0], mask[1], mask[2], mask[3],
    ]);
    let mut words = payload.chunks_exact_mut(8);
    for word in &mut words {
        let mut number = [0; 8];
        number.copy_from_slice(word);
        word.copy_from_slice(&(u64::from_ne_bytes(number) ^ wide).to_ne_bytes());
    }
    for (byte, mask) in words.into_remainder().iter_mut().zip(mask.iter().cycle()) {
        *byte ^= mask;
    }
}

fn complete(kind: DataKind, payload: BytesMut) -> Result<Received, ReadEnd> {
    let payload = payload.freeze();
    match kind {
        DataKind::Binary => Ok(Received::Binary(payload)),
        DataKind::Text => Text::try_from(payload)
            .map(Received::Text)
            .map_err(|_| ReadEnd::NotUtf8),
    }
}

fn close_code(payload: &[u8]) -> Result<Option<u16>, ReadEnd> {
    let Some((code, reason)) = payload.split_first_chunk::<2>() else {
        return if payload.is_empty() {
            Ok(None)
        } else {
            Err(ReadEnd::Protocol)
        };
    };
    let code = u16::from_be_bytes(*code);
    // All other codes are reserved or must not appear on the wire.
    if !matches!(code, 1000..=1003 | 1007..=1014 | 3000..=4999) {
        return Err(ReadEnd::Protocol);
    }
    str::from_utf8(reason).map_err(|_| ReadEnd::NotUtf8)?;
    Ok(Some(code))
}

#[cfg(test)]
mod tests {
    use std::{
        pin::Pin,
        task::{Context, Poll},
    };

    use tokio::io::ReadBuf;

    use super::*;

    const MASK: [u8; 4] = [1, 2, 3, 250];

    fn frame(first: u8, payload: &[u8]) -> Vec<u8> {
        let mut frame = vec![first];
        match payload.len() {
            length @ 0..126 => frame.push(0x80 | length as u8),
            length @ 126..65536 => {
                frame.push(0x80 | 126);
                frame.extend((length as u16).to_be_bytes());
            }
            length => {
                frame.push(0x80 | 127);
                frame.extend((length as u64).to_be_bytes());
            }
        }
        frame.extend(MASK);
        let masked = payload.iter().zip(MASK.iter().cycle());
        frame.extend(masked.map(|(byte, mask)| byte ^ mask));
        frame
    }

    /// Returns at most the given number of bytes per read.
    struct Drip<'a>(&'a [u8], usize);

    impl AsyncRead for Drip<'_> {
        fn poll_read(
            mut self: Pin<&mut Self>,
            _: &mut Context<'_>,
            buffer: &mut ReadBuf<'_>,
        ) -> Poll<std::io::Result<()>> {
            let length = self.1.min(buffer.remaining()).min(self.0.len());
            let (now, later) = self.0.split_at(length);
            buffer.put_slice(now);
            self.0 = later;
            Poll::Ready(Ok(()))
        }
    }

    /// Reads all messages, and checks that the result does not depend on how the bytes are split.
    async fn read(bytes: &[u8]) -> (Vec<Received>, ReadEnd) {
        let mut readings = Vec::new();
        for at_once in [1, 3, 7, usize::MAX] {
            let mut reader = MessageReader::new(Drip(bytes, at_once), b"");
            let mut found = Vec::new();
            let end = loop {
                match reader.next().await {
                    Ok(received) => found.push(received),
                    Err(end) => break end,
                }
            };
            readings.push((found, end));
        }
        let last = readings.pop().unwrap();
        assert!(readings.iter().all(|other| *other == last));
        last
    }

    #[tokio::test]
    async fn messages_come_whole_however_the_bytes_are_cut() {
        let text = Received::Text("hé".to_owned().into());
        let binary = Received::Binary(Bytes::from_static(b"abcdefghijk"));
        let ping = Received::Ping(Bytes::from_static(b"p"));
        let sent = [
            frame(0x81, "hé".as_bytes()),
            frame(0x02, b"abc"),
            frame(0x89, b"p"),
            frame(0x00, b"defgh"),
            frame(0x80, b"ijk"),
            frame(0x8a, b""),
            frame(0x88, &1000u16.to_be_bytes()),
        ]
        .concat();
        let mut reader = MessageReader::new(&sent[..], b"");
        for expected in [
            text,
            ping,
            binary,
            Received::Pong,
            Received::Close(Some(1000)),
        ] {
            assert_eq!(reader.next().await, Ok(expected));
        }
        assert_eq!(reader.next().await, Err(ReadEnd::Gone));
    }

    #[tokio::test]
    async fn a_frame_is_unmasked_wherever_it_was_cut() {
        let payload: Vec<u8> = (0..100_000u32).map(|number| number as u8).collect();
        let sent = [frame(0x82, &payload), frame(0x82, b"after")].concat();
        for begun in [0, 1, 5, 14, 20, 9000, 100_014, sent.len()] {
            let mut reader = MessageReader::new(&sent[begun..], &sent[..begun]);
            let expected = Received::Binary(Bytes::from(payload.clone()));
            assert_eq!(reader.next().await, Ok(expected));
            let after = Received::Binary(Bytes::from_static(b"after"));
            assert_eq!(reader.next().await, Ok(after));
            assert_eq!(reader.next().await, Err(ReadEnd::Gone));
        }
    }

    #[tokio::test]
    async fn what_breaks_the_rules_is_named() {
        let check = async |bytes: &[u8], expected: ReadEnd| {
            assert_eq!(read(bytes).await, (vec![], expected), "{bytes:?}");
        };
        // A reserved bit, an unknown opcode, no mask, an oversized ping, a fragmented ping.
        check(&frame(0xc1, b"x"), ReadEnd::Protocol).await;
        check(&frame(0x83, b"x"), ReadEnd::Protocol).await;
        check(&[0x81, 1, b'x'], ReadEnd::Protocol).await;
        check(&frame(0x89, &[0; 126]), ReadEnd::Protocol).await;
        check(&frame(0x09, b""), ReadEnd::Protocol).await;
        // A continuation without a start, and a start within a fragmented message.
        check(&frame(0x80, b"x"), ReadEnd::Protocol).await;
        check(
            &[frame(0x01, b"x"), frame(0x81, b"y")].concat(),
            ReadEnd::Protocol,
        )
        .await;
        check(&frame(0x88, &[3]), ReadEnd::Protocol).await;
        check(&frame(0x88, &1005u16.to_be_bytes()), ReadEnd::Protocol).await;
        check(&frame(0x81, &[0xff]), ReadEnd::NotUtf8).await;
        let mut huge = vec![0x82, 0x80 | 127];
        huge.extend(u64::MAX.to_be_bytes());
        huge.extend(MASK);
        check(&huge, ReadEnd::TooLarge).await;
        let mut growing = frame(0x02, b"x");
        growing.extend([0x80, 0x80 | 127]);
        growing.extend((MAX_MESSAGE_BYTES as u64).to_be_bytes());
        growing.extend(MASK);
        check(&growing, ReadEnd::TooLarge).await;
        check(&frame(0x81, b"cut")[..5], ReadEnd::Gone).await;
    }
}
