//! A model service on a real socket that implements chat completions with responses scripted by the test.
//!
//! The service does nothing by itself: a test takes a request and sends the response piece by piece, which makes the
//! timing deterministic without sleeping.

use std::{collections::BTreeMap, net::SocketAddr, time::Duration};

use serde_json::{Value, json};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{TcpListener, TcpStream},
    sync::mpsc,
    time::timeout,
};

/// A timeout far above the duration of any step; reaching it fails the test.
const PATIENCE: Duration = Duration::from_secs(20);

/// The running service.
#[derive(Debug)]
pub struct ModelServer {
    address: SocketAddr,
    questions: mpsc::UnboundedReceiver<Question>,
}

/// A request that waits for its response.
#[derive(Debug)]
pub struct Question {
    /// Method and path, for example `GET /models`.
    pub line: String,
    /// The headers of the request, with lower-case names.
    pub headers: BTreeMap<String, String>,
    /// The JSON body. Null if there is none.
    pub body: Value,
    socket: TcpStream,
}

/// Starts a service on a free loopback port.
pub async fn model_server() -> ModelServer {
    let listener = TcpListener::bind("127.0.0.1:0").await;
    let listener = listener.expect("the loopback has a free port");
    let address = listener
        .local_addr()
        .expect("a bound socket has an address");
    let (ask, questions) = mpsc::unbounded_channel();
    tokio::spawn(async move {
        while let Ok((socket, _)) = listener.accept().await {
            let ask = ask.clone();
            tokio::spawn(async move {
                if let Some(question) = read(socket).await {
                    let _ = ask.send(question);
                }
            });
        }
    });
    ModelServer { address, questions }
}

impl ModelServer {
    /// Returns a `config.toml` that configures this service as the provider `openai`, with an API key.
    pub fn config(&self, api_key: &str) -> String {
        self.config_of("openai", api_key)
    }

    /// Returns a `config.toml` that configures this service as the given provider, with an API key.
    pub fn config_of(&self, provider: &str, api_key: &str) -> String {
        let address = self.address;
        format!(
            "[providers.{provider}]\nbase_url = \"http://{address}\"\napi_key = \"{api_key}\"\n"
        )
    }

    /// Waits for the next request.
    pub async fn question(&mut self) -> Question {
        let question = timeout(PATIENCE, self.questions.recv()).await;
        let question = question.expect("the model is asked in time");
        question.expect("the service runs as long as this")
    }

    /// Returns whether a request has arrived that was not taken yet.
    pub fn was_asked(&self) -> bool {
        !self.questions.is_empty()
    }
}

impl Question {
    /// Returns the system prompt of the request.
    pub fn system(&self) -> &str {
        let first = &self.body["messages"][0];
        assert_eq!(first["role"], "system");
        first["content"].as_str().expect("a message is text")
    }

    /// Starts a streaming response.
    pub async fn begin(&mut self) {
        self.head(200, &[("content-type", "text/event-stream")])
            .await;
    }

    /// Sends one piece of text of the response.
    pub async fn send_text(&mut self, text: &str) {
        self.send_delta(&json!({"content": text})).await;
    }

    /// Sends one delta of the response, given as JSON.
    pub async fn send_delta(&mut self, delta: &Value) {
        let event = json!({"choices": [{"index": 0, "delta": delta, "finish_reason": null}]});
        self.chunk(&format!("data: {event}\n\n")).await;
    }

    /// Ends the response normally.
    pub async fn finish(mut self) {
        let last = json!({"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]});
        let usage = json!({"choices": [], "usage": {"prompt_tokens": 7, "completion_tokens": 3}});
        let text = format!("data: {last}\n\ndata: {usage}\n\ndata: [DONE]\n\n");
        self.chunk(&text).await;
        self.send(b"0\r\n\r\n").await;
    }

    /// Sends a complete response with this text.
    pub async fn answer(mut self, text: &str) {
        self.begin().await;
        self.send_text(text).await;
        self.finish().await;
    }

    /// Closes the connection in the middle of the response.
    pub fn cut(self) {
        drop(self);
    }

    /// Sends a JSON response with a status.
    pub async fn reply(mut self, status: u16, headers: &[(&str, &str)], body: &Value) {
        let mut all = vec![("content-type", "application/json")];
        all.extend(headers);
        self.head(status, &all).await;
        self.chunk(&body.to_string()).await;
        self.send(b"0\r\n\r\n").await;
    }

    /// Waits until the client has closed the connection.
    pub async fn hung_up(mut self) {
        // Both zero bytes and a reset mean that it is closed.
        let end = async {
            while self
                .socket
                .read(&mut [0; 64])
                .await
                .is_ok_and(|count| count > 0)
            {}
        };
        let ended = timeout(PATIENCE, end).await;
        ended.expect("the connection is closed in time");
    }

    async fn head(&mut self, status: u16, headers: &[(&str, &str)]) {
        let mut head = format!(
            "HTTP/1.1 {status} Status\r\ntransfer-encoding: chunked\r\nconnection: close\r\n"
        );
        for (name, value) in headers {
            head.push_str(&format!("{name}: {value}\r\n"));
        }
        head.push_str("\r\n");
        self.send(head.as_bytes()).await;
    }

    async fn chunk(&mut self, text: &str) {
        let chunk = format!("{:x}\r\n{text}\r\n", text.len());
        self.send(chunk.as_bytes()).await;
    }

    /// Sends bytes. Errors are ignored, because some tests make the client disconnect.
    async fn send(&mut self, bytes: &[u8]) {
        let _ = self.socket.write_all(bytes).await;
    }
}

/// Reads one request. Returns `None` if the connection is closed before it is complete.
async fn read(mut socket: TcpStream) -> Option<Question> {
    let mut read = Vec::new();
    let head_end = loop {
        if let Some(end) = read.windows(4).position(|window| window == b"\r\n\r\n") {
            break end;
        }
        if socket.read_buf(&mut read).await.ok()? == 0 {
            return None;
        }
    };
    let head = String::from_utf8_lossy(&read[..head_end]).into_owned();
    let mut lines = head.split("\r\n");
    let line = lines.next()?.trim_end_matches(" HTTP/1.1").to_owned();
    let headers: BTreeMap<_, _> = lines
        .filter_map(|line| line.split_once(": "))
        .map(|(name, value)| (name.to_ascii_lowercase(), value.to_owned()))
        .collect();
    let length = headers
        .get("content-length")
        .and_then(|length| length.parse().ok());
    let mut body = read.split_off(head_end + 4);
    while body.len() < length.unwrap_or(0) {
        if socket.read_buf(&mut body).await.ok()? == 0 {
            return None;
        }
    }
    Some(Question {
        line,
        headers,
        body: serde_json::from_slice(&body).unwrap_or(Value::Null),
        socket,
    })
}
