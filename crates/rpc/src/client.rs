//! The typed client: one generic `call` for every method, over any connection.

use std::{
    collections::BTreeMap,
    fmt,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use parking_lot::Mutex;
use protocol::{Method, Notification};
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::sync::{mpsc, oneshot};

use crate::{Bytes, outbox::Outgoing};

type Pending = Arc<Mutex<Option<BTreeMap<u64, oneshot::Sender<Value>>>>>;

/// A connected client. Dropping it closes the connection.
#[derive(Debug)]
pub struct Client {
    outgoing: mpsc::Sender<Outgoing>,
    /// Requests without a response, by id. `None` after the connection has ended.
    pending: Pending,
    last_id: AtomicU64,
    notifications: tokio::sync::Mutex<mpsc::Receiver<Incoming>>,
    frames: tokio::sync::Mutex<mpsc::Receiver<Bytes>>,
}

/// A notification received from the gateway, not yet decoded.
#[derive(Clone, Debug, Deserialize, PartialEq)]
pub struct Incoming {
    /// The wire name of the notification.
    pub method: String,
    /// The payload, still untyped.
    pub params: Value,
    /// The sequence number within the workspace. Absent for notifications that are not numbered.
    #[serde(default)]
    pub seq: Option<u64>,
}

/// The reason a call has no result.
#[derive(Clone, Debug, PartialEq)]
pub enum Error {
    /// The gateway returned a JSON-RPC error.
    Rpc {
        /// The JSON-RPC error code.
        code: i64,
        /// The human-readable error message.
        message: String,
        /// The machine-readable `data` member of the error; null if absent.
        data: Value,
    },
    /// The connection ended before the response arrived.
    Closed,
    /// The connection could not be established. Contains the cause.
    Unreachable(String),
    /// The params could not be serialized or the result could not be decoded. Contains the cause.
    Unexpected(String),
}

impl fmt::Display for Error {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Rpc { message, .. } => formatter.write_str(message),
            Self::Closed => formatter.write_str("the connection to the gateway ended"),
            Self::Unreachable(detail) => {
                write!(formatter, "the gateway cannot be reached: {detail}")
            }
            Self::Unexpected(detail) => write!(formatter, "unexpected response: {detail}"),
        }
    }
}

impl std::error::Error for Error {}

/// Maximum number of unread notifications; when it is reached, the client stops reading the connection.
const MAX_UNREAD: usize = 4096;
/// Maximum number of unread binary frames; when it is reached, the client stops reading the connection.
const MAX_FRAMES: usize = 16;

impl Client {
    /// Creates a client on top of a pair of message queues.
    pub(crate) fn new(
        outgoing: mpsc::Sender<Outgoing>,
        mut incoming: mpsc::Receiver<Outgoing>,
    ) -> Self {
        let pending: Pending = Arc::new(Mutex::new(Some(BTreeMap::new())));
        let (unread, notifications) = mpsc::channel(MAX_UNREAD);
        let (arrived, frames) = mpsc::channel(MAX_FRAMES);
        let answered = Arc::clone(&pending);
        tokio::spawn(async move {
            while let Some(one) = incoming.recv().await {
                let text = match one {
                    Outgoing::Text(text) => text,
                    Outgoing::Binary(bytes) => {
                        let _ = arrived.send(bytes).await;
                        continue;
                    }
                    // Transports deliver file frames as binary messages.
                    Outgoing::File(_) => continue,
                };
                let Ok(message) = serde_json::from_str::<Value>(&text) else {
                    continue;
                };
                let waiting = message["id"].as_u64().and_then(|id| {
                    let mut pending = answered.lock();
                    pending.as_mut()?.remove(&id)
                });
                if let Some(waiting) = waiting {
                    let _ = waiting.send(message);
                } else if let Ok(notification) = serde_json::from_value(message) {
                    let _ = unread.send(notification).await;
                }
            }
            *answered.lock() = None;
        });
        Self {
            outgoing,
            pending,
            last_id: AtomicU64::new(0),
            notifications: tokio::sync::Mutex::new(notifications),
            frames: tokio::sync::Mutex::new(frames),
        }
    }

    /// Calls a method and waits for its typed result.
    pub async fn call<M: Method>(&self, params: M::Params) -> Result<M::Response, Error> {
        let params =
            serde_json::to_value(params).map_err(|error| Error::Unexpected(error.to_string()))?;
        let result = self.call_raw(M::NAME, params).await?;
        serde_json::from_value(result).map_err(|error| Error::Unexpected(error.to_string()))
    }

    /// Calls a method by name with untyped params and returns the untyped result.
    pub async fn call_raw(&self, method: &str, params: Value) -> Result<Value, Error> {
        let id = self.last_id.fetch_add(1, Ordering::Relaxed) + 1;
        let (answered, answer) = oneshot::channel();
        {
            let mut pending = self.pending.lock();
            pending.as_mut().ok_or(Error::Closed)?.insert(id, answered);
        }
        let request = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
        let text = Outgoing::Text(request.to_string().into());
        let sent = self.outgoing.send(text).await;
        sent.map_err(|_| Error::Closed)?;
        let mut message = answer.await.map_err(|_| Error::Closed)?;
        match message.get_mut("error") {
            None => Ok(message["result"].take()),
            Some(error) => Err(Error::Rpc {
                code: error["code"].as_i64().unwrap_or_default(),
                message: error["message"].as_str().unwrap_or_default().to_owned(),
                data: error["data"].take(),
            }),
        }
    }

    /// Sends a raw text message, for tests of messages that `call` cannot express.
    pub async fn send_raw(&self, text: &str) -> Result<(), Error> {
        let sent = self
            .outgoing
            .send(Outgoing::Text(text.to_owned().into()))
            .await;
        sent.map_err(|_| Error::Closed)
    }

    /// Sends a binary frame.
    pub async fn send_binary(&self, frame: Bytes) -> Result<(), Error> {
        let sent = self.outgoing.send(Outgoing::Binary(frame)).await;
        sent.map_err(|_| Error::Closed)
    }

    /// Returns the next binary frame, or `None` after the connection has ended.
    pub async fn frame(&self) -> Option<Bytes> {
        self.frames.lock().await.recv().await
    }

    /// Returns the next notification in order of arrival, or `None` after the connection has ended.
    pub async fn notification(&self) -> Option<Incoming> {
        self.notifications.lock().await.recv().await
    }

    /// Waits for the next notification of type `N` and discards the others. Returns `None` if the connection ends or
    /// the payload does not decode.
    pub async fn wait_for<N: Notification>(&self) -> Option<N> {
        while let Some(notification) = self.notification().await {
            if notification.method == N::NAME {
                return serde_json::from_value(notification.params).ok();
            }
        }
        None
    }

    /// Returns the notifications that have arrived but were not read, without waiting.
    pub async fn unread(&self) -> Vec<Incoming> {
        let mut notifications = self.notifications.lock().await;
        let mut unread = Vec::new();
        while let Ok(notification) = notifications.try_recv() {
            unread.push(notification);
        }
        unread
    }
}
