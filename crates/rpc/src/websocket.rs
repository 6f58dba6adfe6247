//! WebSocket connections: the server's side on any stream, and the client's side for our own commands.

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
    Bytes, Client, Closing, Outbox, Service, Text, client, envelope::Rules, lane::Lane,
    outbox::Outgoing,
};
use reader::{End, Reader, Received};
pub use sink::Sink;
use writer::{Frame, Writer};

/// The largest message.
pub const MAX_MESSAGE_BYTES: usize = 16 << 20;
/// How often we ask whether the client is there.
const PING_EVERY: Duration = Duration::from_secs(20);
/// How long a client may be silent.
const SILENCE: Duration = Duration::from_secs(60);
/// Answers to pings that may wait.
const MAX_PONGS: usize = 16;
/// How long the last words may take once a connection is to end.
const GRACE: Duration = Duration::from_secs(2);

/// What a server answers to the key of a client, as `Sec-WebSocket-Accept`.
pub fn accept_key(key: &[u8]) -> String {
    handshake::derive_accept_key(key)
}

/// Serves one client until either side ends the connection. `begun` is what was read of it already.
pub async fn run<S: Service>(
    halves: (impl AsyncRead + Unpin, impl Sink),
    begun: &[u8],
    service: Arc<S>,
) {
    let outbox = Arc::clone(service.outbox());
    let lane = Lane::new(Arc::clone(&service), Rules::Socket, crate::MAX_CONCURRENT);
    converse(halves, begun, &outbox, &Requests { lane, service }).await;
}

/// Answers every message with the same message: the transport alone, for tests of the protocol and measurements.
pub async fn echo(halves: (impl AsyncRead + Unpin, impl Sink), begun: &[u8]) {
    let outbox = Outbox::default();
    converse(halves, begun, &outbox, &Mirror(&outbox)).await;
}

/// What a connection does with the messages of its client. [`run`] makes requests of them, [`echo`] sends them back.
trait Inbound: Sync {
    /// Takes a text, in the order of arrival.
    fn text(&self, text: Text) -> impl Future<Output = ()> + Send;
    /// Takes a binary message, in the order of arrival.
    fn binary(&self, frame: Bytes) -> impl Future<Output = ()> + Send;
}

struct Requests<S> {
    lane: Lane<S>,
    service: Arc<S>,
}

impl<S: Service> Inbound for Requests<S> {
    async fn text(&self, text: Text) {
        self.lane.take(&text).await;
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
    // What was answered while reading is written in the same go.
    tokio::select! {
        biased;
        () = reading => {}
        () = writing => {}
    }
    // Answers that are still being made go nowhere.
    outbox.close(Closing::NORMAL);
    // Let the client's own close frame arrive, so that neither side sees a reset.
    let _ = timeout(GRACE, async { while reader.next().await.is_ok() {} }).await;
}

/// The payloads of pings that wait for their pongs. Of too many the oldest are dropped: RFC 6455, section 5.5.3, lets an
/// endpoint answer the most recent ping alone.
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

    /// Waits for pings and takes all that wait, oldest first.
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

/// Reads until the connection is to end, and says why.
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
            // The code of the client is said back to it.
            Ok(Received::Close(Some(code))) => return Closing { code, reason: "" },
            Ok(Received::Close(None)) => return Closing::SILENT,
            Err(end) => return closing_for(end),
        }
    }
}

/// Writes until the connection is to end, then says goodbye.
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

/// Waits for a write for as long as it takes while the connection lives, and for the grace period afterwards.
/// Answers whether it was written.
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

/// The close code that tells the client what it did wrong.
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

/// Connects to a gateway by its WebSocket URL.
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
        // The gateway says why in a sentence, such as that the token is not valid.
        Err(WebSocketError::Http(response)) => {
            let body = response.body().as_deref().unwrap_or_default();
            let sentence = String::from_utf8_lossy(body);
            let answer = format!("it answered {}: {}", response.status(), sentence.trim());
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
                // Clients send what they have in memory.
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
