//! Connections that the gateway closes, and the effect on other connections.

use std::{
    io::{Read as _, Write as _},
    net,
    path::Path,
    process::Command,
    time::{Duration, Instant},
};

use futures_util::{SinkExt as _, StreamExt as _};
use protocol::{
    Method as _, thread::agents_doc::ThreadAgentsDocGet, workspace::WorkspaceChangedNotification,
};
use serde_json::{Value, json};
use testkit::ServeProcess;
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{TcpSocket, TcpStream},
};
use tokio_tungstenite::{
    WebSocketStream,
    tungstenite::{Message, client::IntoClientRequest as _},
};

/// Number of large responses that the client does not read: more than all buffers can hold.
const UNREAD_ANSWERS: usize = 240;
/// Minimum size of each response in bytes.
const ANSWER_BYTES: usize = 64 << 10;
/// More notifications than the queue of one connection can hold.
const CHANGES: usize = 140;
/// The connection limit of the gateway.
const HALF_SENT: usize = 1024;

fn ac() -> Command {
    Command::new(env!("CARGO_BIN_EXE_ac"))
}

/// A connection with a small buffer that exposes frames and close codes.
async fn connect(serving: &ServeProcess, token: &str) -> WebSocketStream<TcpStream> {
    let socket = TcpSocket::new_v4().expect("the system gives sockets");
    let small = socket.set_recv_buffer_size(4096);
    small.expect("buffers can be small");
    let address = serving.address().parse().expect("the address has a port");
    let stream = socket.connect(address).await.expect("it listens");
    let request = serving.url().into_client_request();
    let mut request = request.expect("the url is one");
    let bearer = format!("Bearer {token}").parse();
    let bearer = bearer.expect("a token is a header value");
    request.headers_mut().insert("authorization", bearer);
    let connected = tokio_tungstenite::client_async(request, stream).await;
    connected.expect("the token is valid").0
}

/// Reads to the end. Returns the number of text messages, and the close code with its reason.
async fn read_to_end(mut socket: WebSocketStream<TcpStream>) -> (usize, Option<(u16, String)>) {
    let mut texts = 0;
    while let Some(Ok(message)) = socket.next().await {
        match message {
            Message::Close(frame) => {
                let closing = frame.map(|frame| (frame.code.into(), frame.reason.to_string()));
                return (texts, closing);
            }
            Message::Text(_) => texts += 1,
            Message::Binary(_) | Message::Ping(_) | Message::Pong(_) | Message::Frame(_) => {}
        }
    }
    (texts, None)
}

/// Fetches the metrics page.
async fn metrics(serving: &ServeProcess) -> String {
    let stream = TcpStream::connect(serving.address()).await;
    let mut stream = stream.expect("it listens");
    let request = format!(
        "GET /metrics HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nAuthorization: Bearer {}\r\n\r\n",
        serving.token()
    );
    let written = stream.write_all(request.as_bytes()).await;
    written.expect("it reads");
    let mut page = String::new();
    stream.read_to_string(&mut page).await.expect("it answers");
    page
}

/// Waits until responses are pending and no more are produced, that is, until every buffer is full.
async fn wait_until_stuck(serving: &ServeProcess) {
    let made = format!(
        r#"accord_requests_total{{method="{}",outcome="ok"}} "#,
        ThreadAgentsDocGet::NAME
    );
    let number = |page: &str, name: &str| -> u64 {
        let found = page
            .lines()
            .find_map(|line| line.strip_prefix(name)?.trim().parse().ok());
        found.unwrap_or(0)
    };
    let (mut last, mut unchanged) = (0, 0);
    while unchanged < 50 {
        let page = metrics(serving).await;
        let (now, waiting) = (
            number(&page, &made),
            number(&page, "accord_outgoing_queue_depth "),
        );
        unchanged = if now == last && waiting > 0 {
            unchanged + 1
        } else {
            0
        };
        last = now;
    }
}

#[tokio::test]
async fn who_does_not_read_is_closed_and_delays_nobody() {
    let home = tempfile::tempdir().unwrap();
    let serving = ServeProcess::start(ac(), home.path());
    let reader = serving.client().await;
    let default = reader.call_raw("workspace/default", json!({})).await;
    default.unwrap();
    let told = reader.wait_for::<WorkspaceChangedNotification>().await;
    told.unwrap();

    let content = "x".repeat(ANSWER_BYTES);
    let document = json!({"workspace_id": "ws_000000000000000000", "content": content});
    let saved = reader.call_raw("thread/agents_doc/save", document).await;
    saved.unwrap();

    let mut slow = connect(&serving, &serving.token()).await;
    for id in 0..UNREAD_ANSWERS {
        let params = json!({"workspace_id": "ws_000000000000000000"});
        let method = ThreadAgentsDocGet::NAME;
        let request = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
        slow.send(Message::text(request.to_string())).await.unwrap();
    }
    wait_until_stuck(&serving).await;

    let mut longest = Duration::ZERO;
    for number in 0..CHANGES {
        let name = format!("Name {number}");
        let rename = json!({"workspace_id": "ws_000000000000000000", "name": name});
        let renamed = reader.call_raw("workspace/update", rename).await;
        renamed.unwrap();
        let answered = Instant::now();
        let told = reader.wait_for::<WorkspaceChangedNotification>().await;
        longest = longest.max(answered.elapsed());
        assert_eq!(told.unwrap().workspace.name, name);
    }
    assert!(
        longest < Duration::from_millis(100),
        "told after {longest:?}"
    );

    let (texts, closing) = read_to_end(slow).await;
    assert_eq!(closing, Some((1013, "slow_consumer".to_owned())));
    assert!(texts <= UNREAD_ANSWERS, "{texts}");
}

/// Runs `ac token …` and returns its output.
fn token(home: &Path, arguments: &[&str]) -> String {
    let mut command = ac();
    command.arg("token").args(arguments).arg("--home").arg(home);
    let output = command.output().expect("the binary can be started");
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).expect("the binary prints text")
}

#[tokio::test]
async fn a_revoked_token_ends_its_connection_and_no_other() {
    let home = tempfile::tempdir().unwrap();
    let serving = ServeProcess::start(ac(), home.path());
    let owner = serving.client().await;
    let [made, kept] = [(); 2].map(|()| {
        let printed = token(home.path(), &["create", "--json"]);
        serde_json::from_str::<Value>(&printed).unwrap()
    });
    let secret = made["token"].as_str().unwrap();
    let connection = connect(&serving, secret).await;
    let other = rpc::websocket::connect(serving.url(), kept["token"].as_str().unwrap()).await;

    token(home.path(), &["revoke", made["id"].as_str().unwrap()]);
    let ended = tokio::time::timeout(Duration::from_secs(5), read_to_end(connection)).await;
    let expected = Some((4401, "access_revoked".to_owned()));
    assert_eq!(ended.unwrap(), (0, expected));
    let refused = rpc::websocket::connect(serving.url(), secret).await;
    assert!(refused.unwrap_err().to_string().contains("401"));
    for client in [owner, other.unwrap()] {
        client.call_raw("workspace/list", json!({})).await.unwrap();
    }
}

/// Opens a connection whose HTTP request is never completed.
fn half_sent(serving: &ServeProcess) -> net::TcpStream {
    let mut stream = net::TcpStream::connect(serving.address()).expect("it listens");
    let written = stream.write_all(b"GET /health HTTP/1.1\r\nHo");
    written.expect("it reads");
    stream
}

/// Opens such connections up to the limit, if this process may open that many files.
fn many_half_sent(serving: &ServeProcess) -> Vec<net::TcpStream> {
    let limit = rustix::process::getrlimit(rustix::process::Resource::Nofile);
    let files = limit.current.map_or(u64::MAX, |files| files - 100);
    let count = HALF_SENT.min(usize::try_from(files).expect("a limit of files is a number"));
    (0..count).map(|_| half_sent(serving)).collect()
}

#[tokio::test]
async fn half_sent_requests_keep_nobody_out() {
    let home = tempfile::tempdir().unwrap();
    let serving = ServeProcess::start(ac(), home.path());
    let connected = serving.client().await;
    let _waiting = many_half_sent(&serving);

    let started = Instant::now();
    let page = metrics(&serving).await;
    assert!(page.starts_with("HTTP/1.1 200"), "{page}");
    let client = serving.client().await;
    for client in [connected, client] {
        client.call_raw("workspace/list", json!({})).await.unwrap();
    }
    let elapsed = started.elapsed();
    assert!(elapsed < Duration::from_secs(1), "{elapsed:?}");
}

#[test]
fn a_request_that_does_not_come_whole_is_ended() {
    let home = tempfile::tempdir().unwrap();
    let serving = ServeProcess::start(ac(), home.path());
    let mut slow = half_sent(&serving);
    slow.set_read_timeout(Some(Duration::from_secs(10)))
        .unwrap();
    let mut answer = String::new();
    slow.read_to_string(&mut answer).unwrap();
    assert_eq!(answer, "");
}

#[test]
fn half_sent_requests_do_not_delay_the_end() {
    let home = tempfile::tempdir().unwrap();
    let mut serving = ServeProcess::start(ac(), home.path());
    let _waiting = many_half_sent(&serving);
    let started = Instant::now();
    serving.signal("INT");
    let (status, complaint) = serving.wait();
    let elapsed = started.elapsed();
    assert_eq!((status.code(), complaint.as_str()), (Some(0), ""));
    assert!(elapsed < Duration::from_secs(2), "{elapsed:?}");
}
