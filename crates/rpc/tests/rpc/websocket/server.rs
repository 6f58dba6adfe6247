//! An echo server on the bare transport, behind a socket.

use rpc::websocket;
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{TcpListener, TcpStream},
};

/// Accepts connections until the runtime shuts down.
pub(crate) async fn serve(listener: TcpListener) {
    loop {
        let (stream, _) = listener.accept().await.expect("a client");
        tokio::spawn(converse(stream));
    }
}

async fn converse(mut stream: TcpStream) {
    stream.set_nodelay(true).expect("TCP_NODELAY can be set");
    let mut head = Vec::new();
    let end = loop {
        let end = head.windows(4).position(|window| window == b"\r\n\r\n");
        if let Some(end) = end {
            break end + 4;
        }
        let read = stream.read_buf(&mut head).await;
        if read.is_err() || read.is_ok_and(|read| read == 0) {
            return;
        }
    };
    let lines = String::from_utf8_lossy(&head[..end]).into_owned();
    let key = lines.lines().find_map(|line| {
        let (name, value) = line.split_once(':')?;
        let is_key = name.eq_ignore_ascii_case("sec-websocket-key");
        is_key.then(|| websocket::accept_key(value.trim().as_bytes()))
    });
    let answer = format!(
        "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\
         Sec-WebSocket-Accept: {}\r\n\r\n",
        key.unwrap_or_default()
    );
    if stream.write_all(answer.as_bytes()).await.is_ok() {
        websocket::echo(stream.into_split(), &head[end..]).await;
    }
}
