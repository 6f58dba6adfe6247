//! WebSocket connections: the server side on any stream, and the client side used by the commands of `ac`.

use std::{
    collections::VecDeque,
    future::Future,
    io,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use futures_util::{SinkExt as _, StreamExt as _};
use tokio::{
    io::AsyncRead,
    sync::{Notify, mpsc},
    time::{Instant, MissedTickBehavior, interval, timeout, timeout_at},
};
use tokio_tungstenite::tungstenite::{
    Error as WebSocketError, Message as ClientMessage, client::IntoClientRequest as _, handshake,
    http::HeaderValue,
};

mod reader;
mod sink;
mod writer;

use crate::{
    Bytes, Client, Closing, Outbox, Service, Text, client, envelope::Rules, outbox::Outgoing,
    request_queue::RequestQueue,
};
use reader::{End, Reader, Received};
pub use sink::Sink;
use writer::{Frame, Writer};

/// Maximum size of a message, in bytes.
pub const MAX_MESSAGE_BYTES: usize = 16 << 20;
/// Interval between the pings the server sends.
const PING_EVERY: Duration = Duration::from_secs(20);
/// Maximum time a client may send nothing before the connection is closed.
const SILENCE: Duration = Duration::from_secs(60);
/// Maximum number of pings queued for a pong.
const MAX_PONGS: usize = 16;
/// Maximum time for the last writes after a connection starts closing.
const GRACE: Duration = Duration::from_secs(2);

/// Computes the `Sec-WebSocket-Accept` value for the key of a client.
pub fn accept_key(key: &[u8]) -> String {
    handshake::derive_accept_key(key)
}

/// Serves one client until either side closes the connection. `begun` contains bytes already read from the stream.
pub async fn run<S: Service>(
    halves: (impl AsyncRead + Unpin, impl Sink),
    begun: &[u8],
    service: Arc<S>,
) {
    let outbox = Arc::clone(service.outbox());
    let queue = RequestQueue::new(Arc::clone(&service), Rules::Socket, crate::MAX_CONCURRENT);
    converse(halves, begun, &outbox, &Requests { queue, service }).await;
}

/// Returns every message to its sender: the bare transport, for protocol tests and measurements.
pub async fn echo(halves: (impl AsyncRead + Unpin, impl Sink), begun: &[u8]) {
    let outbox = Outbox::default();
    converse(halves, begun, &outbox, &Mirror(&outbox)).await;
}

/// The handling of received messages. [`run`] handles them as requests; [`echo`] sends them back.
trait Inbound: Sync {
    /// Handles a text message, in order of arrival.
    fn text(&self, text: Text) -> impl Future<Output = ()> + Send;
    /// Handles a binary message, in order of arrival.
    fn binary(&self, frame: Bytes) -> impl Future<Output = ()> + Send;
}

struct Requests<S> {
    queue: RequestQueue<S>,
    service: Arc<S>,
}

impl<S: Service> Inbound for Requests<S> {
    async fn text(&self, text: Text) {
        self.queue.take(&text).await;
    }

    async fn binary(&self, frame: Bytes) {
        self.service.binary(frame).await;
    }
}

struct Mirror<'a>(&'a Outbox);

impl Inbound for Mirror<'_> {
    async fn text(&self, text: Text) {
        self.0.respond(text).await;
    }

    async fn binary(&self, frame: Bytes) {
        self.0.respond_binary(frame).await;
    }
}

async fn converse(
    (reading, writing): (impl AsyncRead + Unpin, impl Sink),
    begun: &[u8],
    outbox: &Outbox,
    inbound: &impl Inbound,
) {
    let (mut reader, mut writer) = (Reader::new(reading, begun), Writer::new(writing));
    let pings = Pings::default();
    let reading = async {
        let closing = read(&mut reader, inbound, &pings).await;
        outbox.close(closing);
        // The writer ends the connection; until then this half only waits.
        std::future::pending::<()>().await;
    };
    let writing = write(&mut writer, outbox, &pings);
    // Biased, so that responses produced while reading are written in the same iteration.
    tokio::select! {
        biased;
        () = reading => {}
        () = writing => {}
    }
    // Responses of requests still running are discarded.
    outbox.close(Closing::NORMAL);
    // Wait for the client's close frame, so that neither side sees a connection reset.
    let _ = timeout(GRACE, async { while reader.next().await.is_ok() {} }).await;
}

/// The payloads of pings that wait for their pongs. When the queue is full, the oldest are dropped: RFC 6455, section
/// 5.5.3, allows answering only the most recent ping.
#[derive(Debug, Default)]
struct Pings {
    waiting: Mutex<VecDeque<Bytes>>,
    arrived: Notify,
}

impl Pings {
    fn add(&self, payload: Bytes) {
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        if waiting.len() == MAX_PONGS {
            waiting.pop_front();
        }
        waiting.push_back(payload);
        drop(waiting);
        self.arrived.notify_one();
    }

    /// Waits for pings and returns all queued payloads, oldest first.
    async fn take(&self) -> VecDeque<Bytes> {
        loop {
            let arrived = self.arrived.notified();
            let taken = self.take_now();
            if !taken.is_empty() {
                return taken;
            }
            arrived.await;
        }
    }

    fn take_now(&self) -> VecDeque<Bytes> {
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        std::mem::take(&mut *waiting)
    }
}

/// Reads until the connection must end and returns the reason.
async fn read(
    reader: &mut Reader<impl AsyncRead + Unpin>,
    inbound: &impl Inbound,
    pings: &Pings,
) -> Closing {
    loop {
        let Ok(received) = timeout(SILENCE, reader.next()).await else {
            return Closing {
                code: 1001,
                reason: "silent",
            };
        };
        match received {
            Ok(Received::Text(text)) => inbound.text(text).await,
            Ok(Received::Binary(frame)) => inbound.binary(frame).await,
            Ok(Received::Ping(payload)) => pings.add(payload),
            Ok(Received::Pong) => {}
            // The server echoes the client's close code.
            Ok(Received::Close(Some(code))) => return Closing { code, reason: "" },
            Ok(Received::Close(None)) => return Closing::SILENT,
            Err(end) => return closing_for(end),
        }
    }
}

/// Writes until the connection must end, then sends the close frame.
async fn write(writer: &mut Writer<impl Sink>, outbox: &Outbox, pings: &Pings) {
    let mut due = interval(PING_EVERY);
    due.set_missed_tick_behavior(MissedTickBehavior::Delay);
    due.tick().await;
    loop {
        let written = tokio::select! {
            outgoing = outbox.next() => match outgoing {
                // A ping within a message is answered before the message (Autobahn, case 5.6).
                Ok(outgoing) => {
                    let pongs = pings.take_now().into_iter().map(Frame::Pong);
                    let frames = pongs.chain(outgoing.into_iter().map(Frame::Message));
                    within_grace(outbox, writer.send(frames)).await
                }
                Err(closing) => {
                    let pongs = pings.take_now().into_iter().map(Frame::Pong);
                    let frames = pongs.chain([Frame::Close(closing)]);
                    let _ = timeout(GRACE, writer.send(frames)).await;
                    return;
                }
            },
            payloads = pings.take() => {
                let pongs = payloads.into_iter().map(Frame::Pong);
                within_grace(outbox, writer.send(pongs)).await
            }
            _ = due.tick() => within_grace(outbox, writer.send([Frame::Ping])).await,
        };
        if !written {
            return;
        }
    }
}

/// Waits for a write without limit while the connection is open, and for the grace period afterwards. Returns whether
/// the write succeeded.
async fn within_grace(outbox: &Outbox, write: impl Future<Output = io::Result<()>>) -> bool {
    tokio::pin!(write);
    let deadline = async {
        outbox.closed().await;
        Instant::now() + GRACE
    };
    tokio::select! {
        biased;
        written = &mut write => written.is_ok(),
        deadline = deadline => matches!(timeout_at(deadline, write).await, Ok(Ok(()))),
    }
}

/// Returns the close code for a read error.
fn closing_for(end: End) -> Closing {
    match end {
        End::TooLarge => Closing {
            code: 1009,
            reason: "too_large",
        },
        End::NotUtf8 => Closing {
            code: 1007,
            reason: "not_utf8",
        },
        End::Protocol => Closing {
            code: 1002,
            reason: "protocol",
        },
        End::Gone => Closing::NORMAL,
    }
}

/// Connects to a gateway by its WebSocket URL, with `token` as bearer token.
pub async fn connect(url: &str, token: &str) -> Result<Client, client::Error> {
    let unreachable = |error: &dyn std::fmt::Display| client::Error::Unreachable(error.to_string());
    let mut request = url
        .into_client_request()
        .map_err(|error| unreachable(&error))?;
    let bearer =
        HeaderValue::try_from(format!("Bearer {token}")).map_err(|error| unreachable(&error))?;
    request.headers_mut().insert("authorization", bearer);
    let (socket, _) = match tokio_tungstenite::connect_async(request).await {
        Ok(connected) => connected,
        // The body of the response explains the rejection, for example an invalid token.
        Err(WebSocketError::Http(response)) => {
            let body = response.body().as_deref().unwrap_or_default();
            let sentence = String::from_utf8_lossy(body);
            let answer = format!(
                "the server responded with {}: {}",
                response.status(),
                sentence.trim()
            );
            return Err(unreachable(&answer));
        }
        Err(error) => return Err(unreachable(&error)),
    };
    let (mut sink, mut stream) = socket.split();
    let (outgoing, mut to_send) = mpsc::channel::<Outgoing>(64);
    let (received, incoming) = mpsc::channel::<Outgoing>(64);
    tokio::spawn(async move {
        while let Some(one) = to_send.recv().await {
            let message = match one {
                Outgoing::Text(text) => ClientMessage::text(text.as_str()),
                Outgoing::Binary(bytes) => ClientMessage::Binary(bytes),
                // Clients never send file frames.
                Outgoing::File(_) => continue,
            };
            if sink.send(message).await.is_err() {
                return;
            }
        }
        let _ = sink.send(ClientMessage::Close(None)).await;
    });
    tokio::spawn(async move {
        while let Some(Ok(message)) = stream.next().await {
            let one = match message {
                ClientMessage::Text(text) => Outgoing::Text(text.as_str().to_owned().into()),
                ClientMessage::Binary(bytes) => Outgoing::Binary(bytes),
                ClientMessage::Ping(_)
                | ClientMessage::Pong(_)
                | ClientMessage::Close(_)
                | ClientMessage::Frame(_) => continue,
            };
            if received.send(one).await.is_err() {
                return;
            }
        }
    });
    Ok(Client::new(outgoing, incoming))
}
