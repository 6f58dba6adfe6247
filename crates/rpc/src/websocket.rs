//! WebSocket connections: the server's side on any stream, and the client's side for our own commands.

use std::{io, sync::Arc, time::Duration};

use futures_util::{SinkExt as _, StreamExt as _};
use tokio::{
    io::AsyncRead,
    sync::mpsc,
    time::{Instant, MissedTickBehavior, interval, timeout, timeout_at},
};
use tokio_tungstenite::tungstenite::{
    Message as ClientMessage, client::IntoClientRequest as _, handshake, http::HeaderValue,
};

mod reader;
mod sink;
mod writer;

use crate::{
    Bytes, Client, Closing, Outbox, Service, client, envelope::Rules, lane::Lane, outbox::Outgoing,
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
/// How long the last words may take once a connection is to end.
const GRACE: Duration = Duration::from_secs(2);

/// What a server answers to the key of a client, as `Sec-WebSocket-Accept`.
pub fn accept_key(key: &[u8]) -> String {
    handshake::derive_accept_key(key)
}

/// Serves one client until either side ends the connection. `begun` is what was read of it already.
pub async fn run<S: Service>(
    (reading, writing): (impl AsyncRead + Unpin, impl Sink),
    begun: &[u8],
    service: Arc<S>,
) {
    let (mut reader, mut writer) = (Reader::new(reading, begun), Writer::new(writing));
    let outbox = Arc::clone(service.outbox());
    let lane = Lane::new(Arc::clone(&service), Rules::Socket, crate::MAX_CONCURRENT);
    // One answer to a ping may wait; of several pings the rest need none.
    let (pongs, to_answer) = mpsc::channel(1);
    let reading = async {
        let closing = read(&mut reader, &lane, &*service, &pongs).await;
        outbox.close(closing);
        // The writer ends the connection; until then this half only waits.
        std::future::pending::<()>().await;
    };
    let writing = write(&mut writer, &outbox, to_answer);
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

/// Reads until the connection is to end, and says why.
async fn read<S: Service>(
    reader: &mut Reader<impl AsyncRead + Unpin>,
    lane: &Lane<S>,
    service: &S,
    pongs: &mpsc::Sender<Bytes>,
) -> Closing {
    loop {
        let Ok(received) = timeout(SILENCE, reader.next()).await else {
            return Closing {
                code: 1001,
                reason: "silent",
            };
        };
        match received {
            Ok(Received::Text(text)) => lane.take(&text).await,
            Ok(Received::Binary(frame)) => service.binary(frame).await,
            Ok(Received::Ping(payload)) => {
                let _ = pongs.try_send(payload);
            }
            Ok(Received::Pong) => {}
            // The code of the client is said back to it.
            Ok(Received::Close(Some(code))) => return Closing { code, reason: "" },
            Ok(Received::Close(None)) => return Closing::SILENT,
            Err(end) => return closing_for(end),
        }
    }
}

/// Writes until the connection is to end, then says goodbye.
async fn write(writer: &mut Writer<impl Sink>, outbox: &Outbox, mut pongs: mpsc::Receiver<Bytes>) {
    let mut pings = interval(PING_EVERY);
    pings.set_missed_tick_behavior(MissedTickBehavior::Delay);
    pings.tick().await;
    loop {
        let written = tokio::select! {
            outgoing = outbox.next() => match outgoing {
                Ok(outgoing) => {
                    let frames = outgoing.into_iter().map(Frame::Message);
                    within_grace(outbox, writer.send(frames)).await
                }
                Err(closing) => {
                    let _ = timeout(GRACE, writer.send([Frame::Close(closing)])).await;
                    return;
                }
            },
            Some(payload) = pongs.recv() => {
                within_grace(outbox, writer.send([Frame::Pong(payload)])).await
            }
            _ = pings.tick() => within_grace(outbox, writer.send([Frame::Ping])).await,
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
    let (socket, _) = tokio_tungstenite::connect_async(request)
        .await
        .map_err(|error| unreachable(&error))?;
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
