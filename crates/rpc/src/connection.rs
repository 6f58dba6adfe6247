//! What a transport needs to know of whoever answers a connection.

use std::{
    future::Future,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use crate::{Bytes, Outbox, Request};

/// One client of this process, for as long as it is connected.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ConnectionId(u64);

impl ConnectionId {
    /// A number no other connection of this process has.
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

/// The answering side of one connection. The gateway implements it, the transports call it.
pub trait Service: Send + Sync + 'static {
    /// Where answers and notifications for this connection wait.
    fn outbox(&self) -> &Arc<Outbox>;

    /// Answers one request: puts the response into the outbox, then whatever the request caused.
    fn serve(self: Arc<Self>, request: Request) -> impl Future<Output = ()> + Send;

    /// Takes a binary frame, in the order of arrival; whoever sends too many waits.
    fn binary(&self, frame: Bytes) -> impl Future<Output = ()> + Send;
}
