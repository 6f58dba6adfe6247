//! The rules of RFC 6455, case by case, against an echo server on a real socket.
//!
//! The cases are those of the Autobahn test suite, whose numbers they carry (sections 1 to 7, 9 and 10). The suite itself
//! runs against `examples/websocket_echo.rs`.

mod server;

use std::time::Duration;

use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{TcpListener, TcpStream},
    time::timeout,
};

/// A timeout far above the duration of any case.
const PATIENCE: Duration = Duration::from_secs(60);
const MASK: [u8; 4] = [0x37, 0xfa, 0x21, 0x3d];

const CONTINUATION: u8 = 0;
const TEXT: u8 = 1;
const BINARY: u8 = 2;
const CLOSE: u8 = 8;
const PING: u8 = 9;
const PONG: u8 = 10;
const FIN: u8 = 0x80;

/// Encodes a frame as a client sends it.
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

fn whole(opcode: u8, payload: &[u8]) -> Vec<u8> {
    frame(FIN | opcode, payload)
}

fn close(code: u16, reason: &[u8]) -> Vec<u8> {
    whole(CLOSE, &[&code.to_be_bytes()[..], reason].concat())
}

/// Encodes a message as frames with the given payloads.
fn fragments(opcode: u8, payloads: &[&[u8]]) -> Vec<u8> {
    let last = payloads.len() - 1;
    let frames = payloads.iter().enumerate().map(|(index, payload)| {
        let opcode = if index == 0 { opcode } else { CONTINUATION };
        let fin = if index == last { FIN } else { 0 };
        frame(fin | opcode, payload)
    });
    frames.collect::<Vec<_>>().concat()
}

/// The frames sent by the server, ending with its close frame.
#[derive(Debug, PartialEq)]
struct Answer {
    frames: Vec<(u8, Vec<u8>)>,
    /// The payload of the close frame. `None` if the connection ended without one.
    close: Option<Vec<u8>>,
}

struct Cases {
    address: std::net::SocketAddr,
}

impl Cases {
    async fn new() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let address = listener.local_addr().expect("an address");
        tokio::spawn(server::serve(listener));
        Self { address }
    }

    async fn connect(&self) -> TcpStream {
        let mut stream = TcpStream::connect(self.address).await.expect("the server");
        stream.set_nodelay(true).expect("TCP_NODELAY can be set");
        let request =
            b"GET / HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\
            Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n";
        stream.write_all(request).await.expect("a request");
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            head.push(stream.read_u8().await.expect("an answer"));
        }
        let head = String::from_utf8(head).expect("an answer");
        assert!(head.contains("s3pPLMBiTxaQ9kYGzzhZRbK+xOo="), "{head}");
        stream
    }

    /// Sends bytes in pieces of the given size and reads until the server closes the connection.
    async fn send(&self, sent: &[u8], piece: usize) -> Answer {
        let (mut reading, mut writing) = self.connect().await.into_split();
        let sent = sent.to_vec();
        let writer = tokio::spawn(async move {
            for piece in sent.chunks(piece) {
                // The server may have closed the connection already; the frames it sent before still count.
                if writing.write_all(piece).await.is_err() {
                    break;
                }
                tokio::task::yield_now().await;
            }
            writing
        });
        let mut answer = Answer {
            frames: Vec::new(),
            close: None,
        };
        let read = async {
            while let Ok(first) = reading.read_u8().await {
                assert_eq!(first & 0xf0, FIN, "the server sends whole frames");
                let length = match reading.read_u8().await.expect("a length") {
                    126 => usize::from(reading.read_u16().await.expect("a length")),
                    127 => usize::try_from(reading.read_u64().await.expect("a length"))
                        .expect("a length"),
                    short => usize::from(short),
                };
                let mut payload = vec![0; length];
                reading.read_exact(&mut payload).await.expect("a payload");
                if first & 0x0f == CLOSE {
                    answer.close = Some(payload);
                    break;
                }
                answer.frames.push((first & 0x0f, payload));
            }
        };
        timeout(PATIENCE, read).await.expect("the server ends it");
        drop(writer.await);
        answer
    }

    /// Checks the response to these bytes and the close code; `None` stands for a close frame without code.
    async fn check(&self, name: &str, sent: &[u8], frames: &[(u8, &[u8])], code: Option<u16>) {
        self.check_in_pieces(name, sent, usize::MAX, frames, code)
            .await;
    }

    async fn check_in_pieces(
        &self,
        name: &str,
        sent: &[u8],
        piece: usize,
        frames: &[(u8, &[u8])],
        code: Option<u16>,
    ) {
        let answer = self.send(sent, piece).await;
        assert_eq!(answer.frames.len(), frames.len(), "case {name}");
        for ((opcode, payload), expected) in answer.frames.iter().zip(frames) {
            assert!((*opcode, payload.as_slice()) == *expected, "case {name}");
        }
        let found = answer.close.expect("the server says goodbye");
        let found = found
            .split_first_chunk::<2>()
            .map(|(code, _)| u16::from_be_bytes(*code));
        assert_eq!(found, code, "case {name}");
    }
}

/// A normal close frame.
fn bye() -> Vec<u8> {
    close(1000, b"")
}

#[tokio::test]
async fn messages_of_every_size_come_back() {
    let cases = Cases::new().await;
    for (section, opcode, byte) in [("1.1", TEXT, b'*'), ("1.2", BINARY, 0xfe)] {
        for size in [0, 125, 126, 127, 128, 65_535, 65_536] {
            let payload = vec![byte; size];
            let sent = [whole(opcode, &payload), bye()].concat();
            let name = format!("{section} of {size}");
            cases
                .check(&name, &sent, &[(opcode, &payload)], Some(1000))
                .await;
            cases
                .check_in_pieces(&name, &sent, 997, &[(opcode, &payload)], Some(1000))
                .await;
        }
    }
    // 9: large messages, whole and in frames; 10.1: many small frames.
    let large = vec![b'*'; 4 << 20];
    for (opcode, size) in [(TEXT, 64 << 10), (BINARY, 64 << 10), (TEXT, 1300)] {
        let payloads: Vec<&[u8]> = large.chunks(size).collect();
        let sent = [fragments(opcode, &payloads), bye()].concat();
        cases
            .check("9, 10", &sent, &[(opcode, &large)], Some(1000))
            .await;
    }
    let largest = vec![7; rpc::websocket::MAX_MESSAGE_BYTES];
    let sent = [whole(BINARY, &largest), bye()].concat();
    cases
        .check("9.2.6", &sent, &[(BINARY, &largest)], Some(1000))
        .await;
}

#[tokio::test]
async fn pings_are_answered_with_their_payload() {
    let cases = Cases::new().await;
    let longest = [0xfe; 125];
    for (name, payload) in [
        ("2.1", &b""[..]),
        ("2.2", b"Hello, world!"),
        ("2.3", b"\x00\xff\xfe\xfd\xfc\xfb\x00\xff"),
        ("2.4, 2.6", &longest),
    ] {
        let sent = [whole(PING, payload), bye()].concat();
        for piece in [usize::MAX, 1] {
            cases
                .check_in_pieces(name, &sent, piece, &[(PONG, payload)], Some(1000))
                .await;
        }
    }
    let too_long = whole(PING, &[0; 126]);
    cases.check("2.5", &too_long, &[], Some(1002)).await;
    let sent = [whole(PONG, b""), whole(PONG, b"unsolicited"), bye()].concat();
    cases.check("2.7, 2.8", &sent, &[], Some(1000)).await;
    // Ten pings at once are all answered, in their order.
    let payloads: Vec<_> = (0..10).map(|number| format!("payload-{number}")).collect();
    let pings = payloads
        .iter()
        .map(|payload| whole(PING, payload.as_bytes()));
    let sent = pings.chain([bye()]).collect::<Vec<_>>().concat();
    let expected: Vec<_> = payloads
        .iter()
        .map(|payload| (PONG, payload.as_bytes()))
        .collect();
    for piece in [usize::MAX, 1] {
        cases
            .check_in_pieces("2.10, 2.11", &sent, piece, &expected, Some(1000))
            .await;
    }
}

#[tokio::test]
async fn after_a_flood_of_pings_the_last_one_is_answered() {
    let cases = Cases::new().await;
    let (mut reading, mut writing) = cases.connect().await.into_split();
    // The server cannot write while the client does not read: the echo of a large message fills the socket.
    let blocking = vec![0; 8 << 20];
    let blocked = whole(BINARY, &blocking);
    let mut flood = Vec::new();
    const PINGS: u32 = 100_000;
    for number in 0..PINGS {
        flood.extend(whole(PING, &number.to_be_bytes()));
    }
    let written = async {
        writing.write_all(&blocked).await.expect("the server reads");
        writing.write_all(&flood).await.expect("the server reads");
    };
    // All pings have been sent before the first byte is read.
    timeout(PATIENCE, written).await.expect("the server reads");
    let read = async {
        let mut answered = 0;
        loop {
            let first = reading.read_u8().await.expect("a frame");
            let length = match reading.read_u8().await.expect("a length") {
                127 => {
                    usize::try_from(reading.read_u64().await.expect("a length")).expect("a length")
                }
                short => usize::from(short),
            };
            let mut payload = vec![0; length];
            reading.read_exact(&mut payload).await.expect("a payload");
            if first == FIN | PONG {
                answered += 1;
                let number: [u8; 4] = payload.try_into().expect("a number");
                if u32::from_be_bytes(number) == PINGS - 1 {
                    return answered;
                }
            }
        }
    };
    let answered = timeout(PATIENCE, read).await;
    let answered = answered.expect("the last ping is answered");
    assert!(
        answered < PINGS,
        "not every ping of a flood needs an answer"
    );
}

#[tokio::test]
async fn reserved_bits_and_opcodes_end_the_connection() {
    let cases = Cases::new().await;
    let hello = whole(TEXT, b"Hello, world!");
    let echo: (u8, &[u8]) = (TEXT, b"Hello, world!");
    for bits in 1..8u8 {
        for opcode in [TEXT, BINARY, PING, PONG, CLOSE] {
            let first = FIN | bits << 4 | opcode;
            let name = format!("3: bits {bits:03b}, opcode {opcode}");
            cases
                .check(&name, &frame(first, b""), &[], Some(1002))
                .await;
            let sent = [hello.clone(), frame(first, b"x")].concat();
            cases.check(&name, &sent, &[echo], Some(1002)).await;
        }
    }
    for opcode in (3..8).chain(11..16) {
        let name = format!("4: opcode {opcode}");
        for payload in [&b""[..], b"reserved"] {
            let sent = whole(opcode, payload);
            cases.check(&name, &sent, &[], Some(1002)).await;
            let sent = [hello.clone(), sent, hello.clone()].concat();
            cases.check(&name, &sent, &[echo], Some(1002)).await;
        }
    }
    // A client must mask.
    let unmasked = [FIN | TEXT, 1, b'x'];
    cases
        .check("5.1 of the RFC", &unmasked, &[], Some(1002))
        .await;
}

#[tokio::test]
async fn fragments_are_put_together_and_their_order_is_checked() {
    let cases = Cases::new().await;
    for (name, opcode) in [("5.1", PING), ("5.2", PONG)] {
        let sent = fragments(opcode, &[b"frag", b"ment"]);
        cases.check(name, &sent, &[], Some(1002)).await;
    }
    let parts: [&[u8]; 2] = [b"fragment1", b"fragment2"];
    let echo: (u8, &[u8]) = (TEXT, b"fragment1fragment2");
    let sent = [fragments(TEXT, &parts), bye()].concat();
    for piece in [usize::MAX, 3, 1] {
        cases
            .check_in_pieces("5.3 to 5.5", &sent, piece, &[echo], Some(1000))
            .await;
    }
    for (name, sent) in [
        ("5.9", fragments(CONTINUATION, &[b"no", b"start"])),
        ("5.10", whole(CONTINUATION, b"no start")),
        ("5.12", frame(CONTINUATION, b"no start")),
        ("5.18", [frame(TEXT, b"one"), whole(TEXT, b"two")].concat()),
        (
            "5.18",
            [frame(TEXT, b"one"), frame(BINARY, b"two")].concat(),
        ),
    ] {
        cases.check(name, &sent, &[], Some(1002)).await;
        let sent = [whole(TEXT, b"Hello"), sent, whole(TEXT, b"Hello")].concat();
        cases
            .check(name, &sent, &[(TEXT, b"Hello")], Some(1002))
            .await;
    }
    let sent = [fragments(TEXT, &parts), whole(CONTINUATION, b"late")].concat();
    cases.check("5.15", &sent, &[echo], Some(1002)).await;
    // Empty frames count as frames.
    let sent = [fragments(TEXT, &[b"", b"", b""]), bye()].concat();
    cases
        .check("6.1.2", &sent, &[(TEXT, b"")], Some(1000))
        .await;
    let sent = [fragments(TEXT, &[b"", b"middle", b""]), bye()].concat();
    cases
        .check("6.1.3", &sent, &[(TEXT, b"middle")], Some(1000))
        .await;
    // A ping within a message is answered before the message.
    let sent = [
        frame(TEXT, b"fragment1"),
        whole(PING, b"within"),
        whole(CONTINUATION, b"fragment2"),
        bye(),
    ]
    .concat();
    for piece in [usize::MAX, 1] {
        let expected = [(PONG, &b"within"[..]), echo];
        cases
            .check_in_pieces("5.6, 5.7, 5.19, 5.20", &sent, piece, &expected, Some(1000))
            .await;
    }
}

#[tokio::test]
async fn only_utf_8_is_text() {
    let cases = Cases::new().await;
    let valid: [&[u8]; 12] = [
        "Hello-µ@ßöäüàá-UTF-8!!".as_bytes(),
        "κόσμε".as_bytes(),
        b"\0",
        b"\x7f",
        b"\xc2\x80",
        b"\xdf\xbf",
        b"\xe0\xa0\x80",
        b"\xed\x9f\xbf",
        b"\xef\xbf\xbf",
        b"\xf0\x90\x80\x80",
        b"\xf4\x8f\xbf\xbf",
        b"\xef\xbb\xbf",
    ];
    for text in valid {
        let name = format!("6: {text:x?}");
        let sent = [whole(TEXT, text), bye()].concat();
        cases.check(&name, &sent, &[(TEXT, text)], Some(1000)).await;
        // A frame may end within a character.
        let bytes: Vec<&[u8]> = text.chunks(1).collect();
        let sent = [fragments(TEXT, &bytes), bye()].concat();
        cases.check(&name, &sent, &[(TEXT, text)], Some(1000)).await;
        cases
            .check_in_pieces(&name, &sent, 1, &[(TEXT, text)], Some(1000))
            .await;
    }
    let invalid: [&[u8]; 22] = [
        b"\xce\xba\xe1\xbd\xb9\xcf\x83\xce\xbc\xce\xb5\xed\xa0\x80\x65\x64\x69\x74\x65\x64",
        b"\xce\xba\xe1\xbd\xb9\xcf\x83\xce\xbc\xce\xb5\xf4\x90\x80\x80\x65\x64\x69\x74\x65\x64",
        b"\x80",
        b"\xbf",
        b"\x80\xbf",
        b"\xc0 \xc1 ",
        b"\xe0 \xef ",
        b"\xf0 \xf7 ",
        b"\xc0",
        b"\xe0\x80",
        b"\xf0\x80\x80",
        b"\xfe",
        b"\xff",
        b"\xc0\xaf",
        b"\xe0\x80\xaf",
        b"\xf0\x80\x80\xaf",
        b"\xc1\xbf",
        b"\xed\xa0\x80",
        b"\xed\xbf\xbf",
        b"\xed\xa0\x80\xed\xb0\x80",
        b"\xf8\x88\x80\x80\x80",
        b"\xf5\x80\x80\x80",
    ];
    for text in invalid {
        let name = format!("6: {text:x?}");
        cases
            .check(&name, &whole(TEXT, text), &[], Some(1007))
            .await;
        let bytes: Vec<&[u8]> = text.chunks(1).collect();
        let sent = fragments(TEXT, &bytes);
        cases.check(&name, &sent, &[], Some(1007)).await;
        // The same bytes are a valid binary message.
        let sent = [whole(BINARY, text), bye()].concat();
        cases
            .check(&name, &sent, &[(BINARY, text)], Some(1000))
            .await;
    }
}

#[tokio::test]
async fn a_goodbye_is_answered_with_its_code_and_nothing_follows_it() {
    let cases = Cases::new().await;
    let hello = whole(TEXT, b"Hello");
    let echo: (u8, &[u8]) = (TEXT, b"Hello");
    let sent = [hello.clone(), bye()].concat();
    cases.check("7.1.1", &sent, &[echo], Some(1000)).await;
    for (name, after) in [
        ("7.1.2", bye()),
        ("7.1.3", whole(PING, b"late")),
        ("7.1.4", hello.clone()),
        ("7.1.6", whole(TEXT, &[b'*'; 256 << 10])),
    ] {
        cases
            .check(name, &[bye(), after].concat(), &[], Some(1000))
            .await;
    }
    let sent = [
        frame(TEXT, b"fragment1"),
        bye(),
        whole(CONTINUATION, b"fragment2"),
    ]
    .concat();
    cases.check("7.1.5", &sent, &[], Some(1000)).await;
    cases.check("7.3.1", &whole(CLOSE, b""), &[], None).await;
    cases
        .check("7.3.2", &whole(CLOSE, b"a"), &[], Some(1002))
        .await;
    cases.check("7.3.3", &bye(), &[], Some(1000)).await;
    cases
        .check("7.3.4", &close(1000, b"Hello World!"), &[], Some(1000))
        .await;
    cases
        .check("7.3.5", &close(1000, &[b'*'; 123]), &[], Some(1000))
        .await;
    cases
        .check("7.3.6", &close(1000, &[b'*'; 124]), &[], Some(1002))
        .await;
    let reason = b"\xce\xba\xed\xa0\x80";
    cases
        .check("7.5.1", &close(1000, reason), &[], Some(1007))
        .await;
    for code in [
        1000, 1001, 1002, 1003, 1007, 1008, 1009, 1010, 1011, 3000, 3999, 4000, 4999,
    ] {
        let name = format!("7.7: {code}");
        cases.check(&name, &close(code, b""), &[], Some(code)).await;
    }
    for code in [
        0, 999, 1004, 1005, 1006, 1016, 1100, 2000, 2999, 5000, 65_535,
    ] {
        let name = format!("7.9: {code}");
        cases.check(&name, &close(code, b""), &[], Some(1002)).await;
    }
    let mut too_large = vec![FIN | BINARY, 0x80 | 127];
    too_large.extend((rpc::websocket::MAX_MESSAGE_BYTES as u64 + 1).to_be_bytes());
    too_large.extend(MASK);
    cases.check("too large", &too_large, &[], Some(1009)).await;
}
