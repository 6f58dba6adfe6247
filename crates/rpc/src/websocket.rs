//! WebSocket connections: the server's side on axum's socket, and the client's side for our own commands.

use std::{sync::Arc, time::Duration};

use axum::extract::ws::{CloseFrame, Message, Utf8Bytes, WebSocket};
use futures_util::{
    Sink, SinkExt as _, StreamExt as _,
    stream::{SplitSink, SplitStream},
};
use tokio::{
    sync::mpsc,
    time::{Instant, MissedTickBehavior, interval, timeout, timeout_at},
};
use tokio_tungstenite::tungstenite::{
    Error as SocketError, Message as ClientMessage, client::IntoClientRequest as _,
    http::HeaderValue,
};

use crate::{
    Client, Closing, Outbox, Service, client, envelope::Rules, lane::Lane, outbox::Outgoing,
};

/// The largest message and the largest frame.
pub const MAX_MESSAGE_BYTES: usize = 16 << 20;
/// What the socket reads at once; every connection keeps a buffer of this size.
pub const READ_BUFFER_BYTES: usize = 16 << 10;
/// How often we ask whether the client is there.
const PING_EVERY: Duration = Duration::from_secs(20);
/// How long a client may be silent.
const SILENCE: Duration = Duration::from_secs(60);
/// How long the last words may take once a connection is to end.
const GRACE: Duration = Duration::from_secs(2);

/// Serves one client until either side ends the connection.
pub async fn run<S: Service>(socket: WebSocket, service: Arc<S>) {
    let (mut sink, mut stream) = socket.split();
    let outbox = Arc::clone(service.outbox());
    let lane = Lane::new(Arc::clone(&service), Rules::Socket, crate::MAX_CONCURRENT);
    let reading = async {
        let closing = read(&mut stream, &lane, &*service).await;
        outbox.close(closing);
        // The writer ends the connection; until then this half only waits.
        std::future::pending::<()>().await;
    };
    let writing = write(&mut sink, &outbox);
    tokio::select! {
        () = reading => {}
        () = writing => {}
    }
    // Answers that are still being made go nowhere.
    outbox.close(Closing::NORMAL);
    // Let the client's own close frame arrive, so that neither side sees a reset.
    let _ = timeout(GRACE, async {
        while let Some(Ok(_)) = stream.next().await {}
    })
    .await;
}

/// Reads until the connection is to end, and says why.
async fn read<S: Service>(
    stream: &mut SplitStream<WebSocket>,
    lane: &Lane<S>,
    service: &S,
) -> Closing {
    loop {
        let Ok(received) = timeout(SILENCE, stream.next()).await else {
            return Closing {
                code: 1001,
                reason: "silent",
            };
        };
        match received {
            Some(Ok(Message::Text(text))) => lane.take(&text).await,
            Some(Ok(Message::Binary(frame))) => service.binary(frame).await,
            // The socket answers pings by itself.
            Some(Ok(Message::Ping(_) | Message::Pong(_))) => {}
            Some(Ok(Message::Close(_))) | None => return Closing::NORMAL,
            Some(Err(error)) => return closing_for(error),
        }
    }
}

/// Writes until the connection is to end, then says goodbye.
async fn write(sink: &mut SplitSink<WebSocket, Message>, outbox: &Outbox) {
    let mut pings = interval(PING_EVERY);
    pings.set_missed_tick_behavior(MissedTickBehavior::Delay);
    pings.tick().await;
    loop {
        let texts = tokio::select! {
            texts = outbox.next() => texts,
            _ = pings.tick() => {
                if !within_grace(outbox, sink.send(Message::Ping(Vec::new().into()))).await {
                    return;
                }
                continue;
            }
        };
        match texts {
            Ok(texts) => {
                if !within_grace(outbox, send_all(sink, texts)).await {
                    return;
                }
            }
            Err(Closing { code, reason }) => {
                let reason = Utf8Bytes::from_static(reason);
                let frame = Message::Close(Some(CloseFrame { code, reason }));
                let _ = timeout(GRACE, sink.send(frame)).await;
                return;
            }
        }
    }
}

async fn send_all(
    sink: &mut (impl Sink<Message, Error = axum::Error> + Unpin),
    outgoing: Vec<Outgoing>,
) -> Result<(), axum::Error> {
    for one in outgoing {
        let message = match one {
            Outgoing::Text(text) => Message::Text(text),
            Outgoing::Binary(bytes) => Message::Binary(bytes),
        };
        sink.feed(message).await?;
    }
    sink.flush().await
}

/// Waits for a write for as long as it takes while the connection lives, and for the grace period afterwards.
/// Answers whether it was written.
async fn within_grace(
    outbox: &Outbox,
    write: impl Future<Output = Result<(), axum::Error>>,
) -> bool {
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
fn closing_for(error: axum::Error) -> Closing {
    let Ok(error) = error.into_inner().downcast::<SocketError>() else {
        return Closing::NORMAL;
    };
    match *error {
        SocketError::Capacity(_) => Closing {
            code: 1009,
            reason: "too_large",
        },
        SocketError::Utf8(_) => Closing {
            code: 1007,
            reason: "not_utf8",
        },
        SocketError::Protocol(_) | SocketError::AttackAttempt => Closing {
            code: 1002,
            reason: "protocol",
        },
        SocketError::ConnectionClosed
        | SocketError::AlreadyClosed
        | SocketError::Io(_)
        | SocketError::Tls(_)
        | SocketError::WriteBufferFull(_)
        | SocketError::Url(_)
        | SocketError::Http(_)
        | SocketError::HttpFormat(_) => Closing::NORMAL,
    }
}

/// Connects to a gateway by its WebSocket URL.
pub async fn connect(url: &str, token: &str) -> Result<Client, client::Error> {
    let unexpected = |error: &dyn std::fmt::Display| client::Error::Unexpected(error.to_string());
    let mut request = url
        .into_client_request()
        .map_err(|error| unexpected(&error))?;
    let bearer =
        HeaderValue::try_from(format!("Bearer {token}")).map_err(|error| unexpected(&error))?;
    request.headers_mut().insert("authorization", bearer);
    let (socket, _) = tokio_tungstenite::connect_async(request)
        .await
        .map_err(|error| unexpected(&error))?;
    let (mut sink, mut stream) = socket.split();
    let (outgoing, mut to_send) = mpsc::channel::<Outgoing>(64);
    let (received, incoming) = mpsc::channel::<Outgoing>(64);
    tokio::spawn(async move {
        while let Some(one) = to_send.recv().await {
            let message = match one {
                Outgoing::Text(text) => ClientMessage::text(text.as_str()),
                Outgoing::Binary(bytes) => ClientMessage::Binary(bytes),
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
