//! The interface between a transport and the service that answers a connection.

use std::{
    future::Future,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use crate::{Bytes, Outbox, Request};

/// Identifies one connection within this process. Ids are never reused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ConnectionId(u64);

impl ConnectionId {
    /// Returns an id that no other connection of this process has.
    pub fn next() -> Self {
        static LAST: AtomicU64 = AtomicU64::new(0);
        Self(LAST.fetch_add(1, Ordering::Relaxed) + 1)
    }
}

impl std::fmt::Display for ConnectionId {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "{}", self.0)
    }
}

/// The service side of one connection. The gateway implements it and the transports call it.
pub trait Service: Send + Sync + 'static {
    /// Returns the queue of outgoing responses and notifications of this connection.
    fn outbox(&self) -> &Arc<Outbox>;

    /// Handles one request: queues the response first, then the notifications that the request caused.
    fn serve(self: Arc<Self>, request: Request) -> impl Future<Output = ()> + Send;

    /// Handles a binary frame. Frames arrive in order; the returned future applies backpressure to the sender.
    fn binary(&self, frame: Bytes) -> impl Future<Output = ()> + Send;
}
