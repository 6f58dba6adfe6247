//! An HTTP server on a real socket that records requests and sends scripted replies.

use std::{collections::BTreeMap, time::Duration};

use agent::provider::{
    ApiKey, FailureClass, Message, ModelEvent, ModelRequest, ModelStream, ProviderError, Role,
    Stage, Timeouts,
    http::{BaseUrl, HttpClient},
};
use futures_util::StreamExt;
use protocol::MaySpend;
use serde_json::Value;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
    sync::mpsc,
    time::timeout,
};

/// The API key used by the tests.
pub(crate) const KEY: &str = "sk-test-0123456789abcdef";

/// A timeout that no passing test reaches.
const PATIENCE: Duration = Duration::from_secs(20);

/// The running test server.
pub(crate) struct Server {
    /// The base URL of the server.
    pub(crate) base: BaseUrl,
    requests: mpsc::UnboundedReceiver<Request>,
    closed: mpsc::UnboundedReceiver<()>,
}

/// A recorded request.
#[derive(Debug)]
pub(crate) struct Request {
    /// The method and path, such as `GET /models`.
    pub(crate) line: String,
    /// The headers by lower-case name.
    pub(crate) headers: BTreeMap<String, String>,
    /// The parsed JSON body; null if there is none.
    pub(crate) body: Value,
}

/// The scripted reply of one connection.
pub(crate) struct Reply {
    head: String,
    steps: Vec<Step>,
}

enum Step {
    /// Sends a chunk of the body.
    Chunk(Vec<u8>),
    /// Sends nothing more until the client disconnects, then reports the disconnection to the test.
    Hold,
    /// Closes the connection before the response is complete.
    Cut,
}

impl Reply {
    /// Creates a reply with the given status.
    pub(crate) fn status(status: u16) -> Self {
        Self {
            head: format!(
                "HTTP/1.1 {status} Status\r\ntransfer-encoding: chunked\r\nconnection: close\r\n"
            ),
            steps: Vec::new(),
        }
    }

    /// Creates an event stream reply.
    pub(crate) fn stream() -> Self {
        Self::status(200).header("content-type", "text/event-stream")
    }

    /// Creates a reply that never sends a response.
    pub(crate) fn silence() -> Self {
        Self {
            head: String::new(),
            steps: vec![Step::Hold],
        }
    }

    /// Creates a reply that closes the connection after reading the request.
    pub(crate) fn hang_up() -> Self {
        Self {
            head: String::new(),
            steps: vec![Step::Cut],
        }
    }

    /// Creates a JSON reply.
    pub(crate) fn json(status: u16, body: &Value) -> Self {
        Self::status(status)
            .header("content-type", "application/json")
            .chunk(body.to_string())
    }

    pub(crate) fn header(mut self, name: &str, value: &str) -> Self {
        self.head.push_str(&format!("{name}: {value}\r\n"));
        self
    }

    pub(crate) fn chunk(mut self, bytes: impl Into<Vec<u8>>) -> Self {
        self.steps.push(Step::Chunk(bytes.into()));
        self
    }

    /// Adds one event per value, all in one chunk.
    pub(crate) fn events(self, events: &[Value]) -> Self {
        let text: String = events
            .iter()
            .map(|event| format!("data: {event}\n\n"))
            .collect();
        self.chunk(text)
    }

    /// Adds a text in chunks small enough to split its multi-byte characters.
    pub(crate) fn crumbs(self, text: &str, size: usize) -> Self {
        text.as_bytes().chunks(size).fold(self, Self::chunk)
    }

    pub(crate) fn hold(mut self) -> Self {
        self.steps.push(Step::Hold);
        self
    }

    pub(crate) fn cut(mut self) -> Self {
        self.steps.push(Step::Cut);
        self
    }
}

impl Server {
    /// Starts the server. It handles connections one after the other, with one reply each.
    pub(crate) async fn start(replies: impl IntoIterator<Item = Reply>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0")
            .await
            .expect("a free port of the loopback");
        let address = listener.local_addr().expect("a bound socket");
        let (tell_request, requests) = mpsc::unbounded_channel();
        let (tell_closed, closed) = mpsc::unbounded_channel();
        let replies: Vec<_> = replies.into_iter().collect();
        tokio::spawn(async move {
            for reply in replies {
                let (mut socket, _) = listener.accept().await.expect("a connection");
                let Some(request) = read_request(&mut socket).await else {
                    continue;
                };
                // Fails if the test has already finished, which is not an error.
                let _ = tell_request.send(request);
                play(&mut socket, reply, &tell_closed).await;
            }
        });
        Self {
            base: BaseUrl::parse(&format!("http://{address}/")).expect("a URL"),
            requests,
            closed,
        }
    }

    /// Returns the next recorded request.
    pub(crate) async fn request(&mut self) -> Request {
        let request = timeout(PATIENCE, self.requests.recv()).await;
        request.expect("a request in time").expect("a request")
    }

    /// Waits until a client disconnects from a held reply.
    pub(crate) async fn closed(&mut self) {
        let closed = timeout(PATIENCE, self.closed.recv()).await;
        closed.expect("the client left in time").expect("it left");
    }
}

/// Reads a request. Returns `None` if the client disconnects first, which a short timeout may cause on a busy machine.
async fn read_request(socket: &mut TcpStream) -> Option<Request> {
    let mut bytes = Vec::new();
    let end = loop {
        if let Some(end) = bytes.windows(4).position(|four| four == b"\r\n\r\n") {
            break end;
        }
        if socket.read_buf(&mut bytes).await.unwrap_or(0) == 0 {
            return None;
        }
    };
    let head = String::from_utf8(bytes[..end].to_vec()).expect("a head is text");
    let mut lines = head.lines();
    let line = lines.next().expect("a request line");
    let headers: BTreeMap<_, _> = lines
        .map(|line| line.split_once(": ").expect("a header"))
        .map(|(name, value)| (name.to_lowercase(), value.to_owned()))
        .collect();
    let length = headers
        .get("content-length")
        .map_or(0, |length| length.parse().expect("a length"));
    let mut body = bytes.split_off(end + 4);
    while body.len() < length {
        if socket.read_buf(&mut body).await.unwrap_or(0) == 0 {
            return None;
        }
    }
    Some(Request {
        line: line.trim_end_matches(" HTTP/1.1").to_owned(),
        headers,
        body: serde_json::from_slice(&body).unwrap_or(Value::Null),
    })
}

async fn play(socket: &mut TcpStream, reply: Reply, closed: &mpsc::UnboundedSender<()>) {
    // Writing fails if the client has disconnected, which some tests provoke.
    if !reply.head.is_empty() {
        let _ = socket.write_all((reply.head + "\r\n").as_bytes()).await;
    }
    for step in reply.steps {
        match step {
            Step::Chunk(bytes) => {
                let mut chunk = format!("{:x}\r\n", bytes.len()).into_bytes();
                chunk.extend(bytes);
                chunk.extend(b"\r\n");
                let _ = socket.write_all(&chunk).await;
            }
            Step::Hold => {
                // Ends with zero bytes or a reset; both mean that the client disconnected.
                while socket.read(&mut [0; 64]).await.is_ok_and(|count| count > 0) {}
                let _ = closed.send(());
                return;
            }
            Step::Cut => return,
        }
    }
    let _ = socket.write_all(b"0\r\n\r\n").await;
}

/// Returns [`KEY`] as an API key.
pub(crate) fn key() -> Option<ApiKey> {
    Some(ApiKey::new(KEY))
}

/// Returns timeouts that no passing test reaches.
pub(crate) fn patient() -> Timeouts {
    Timeouts {
        connect: PATIENCE,
        first_chunk: PATIENCE,
        idle: PATIENCE,
        whole: PATIENCE,
    }
}

/// The timeout for tests that expect one.
pub(crate) const SHORT: Duration = Duration::from_millis(40);

/// Creates an HTTP client.
pub(crate) fn client() -> HttpClient {
    HttpClient::new(&patient()).expect("a client")
}

/// The spending permission; the test server costs nothing.
#[expect(clippy::disallowed_methods, reason = "no real service is called")]
pub(crate) const MAY: MaySpend = MaySpend::granted();

/// Returns a request that sets every field.
pub(crate) fn question() -> ModelRequest {
    let message = |role, text: &str| Message {
        role,
        text: text.to_owned(),
        images: Vec::new(),
    };
    ModelRequest {
        model: "some-model".to_owned(),
        system_stable: "Be kind.".to_owned(),
        system_dynamic: "Today is Friday.".to_owned(),
        messages: vec![
            message(Role::User, "Hello"),
            message(Role::Assistant, "Hi!"),
            message(Role::User, "Grüße 😀\nbye"),
        ],
        max_output_tokens: Some(99),
        may: MAY,
    }
}

/// Collects a stream: its events and the error at its end.
pub(crate) async fn all(stream: ModelStream) -> (Vec<ModelEvent>, Option<ProviderError>) {
    let items: Vec<_> = timeout(PATIENCE, stream.collect())
        .await
        .expect("an end in time");
    let mut events = Vec::new();
    let mut errors = Vec::new();
    for item in items {
        assert!(errors.is_empty(), "nothing follows an error");
        match item {
            Ok(event) => events.push(event),
            Err(error) => errors.push(error),
        }
    }
    (events, errors.pop())
}

/// Returns the error of a stream that contains no events.
pub(crate) async fn failure(stream: ModelStream) -> ProviderError {
    let (events, error) = all(stream).await;
    assert_eq!(events, []);
    error.expect("an error")
}

/// Compares an error, except for its retry delay.
pub(crate) fn check(error: &ProviderError, class: FailureClass, stage: Stage, message: &str) {
    assert_eq!(
        (error.class, error.stage, error.message.as_str()),
        (class, stage, message)
    );
}

/// Creates a text event.
pub(crate) fn text(text: &str) -> ModelEvent {
    ModelEvent::Text(text.to_owned())
}

/// Creates a reasoning event.
pub(crate) fn reasoning(text: &str) -> ModelEvent {
    ModelEvent::Reasoning(text.to_owned())
}
