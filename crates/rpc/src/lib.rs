//! JSON-RPC 2.0: envelope, connections, router, notification fan-out and typed client.
//!
//! A transport (`stdio`, `websocket`, `memory`) reads a message, the connection's [`request_queue`] parses and schedules it, and
//! a [`Service`] dispatches it through the [`Router`] and queues the response in the connection's [`Outbox`]. This
//! crate contains no method names and no storage.

pub mod client;
mod connection;
mod envelope;
mod failure;
mod file_frame;
mod hub;
pub mod memory;
pub mod metrics;
mod outbox;
mod request_queue;
mod router;
pub mod stdio;
pub mod websocket;

pub use client::Client;
pub use connection::{ConnectionId, Service};
pub use envelope::{Request, notification};
pub use failure::{Failure, Kind};
pub use file_frame::FileFrame;
pub use hub::{Audience, Hub, MAX_RETAINED, NeedsNumbers, Publication, Resumption};
pub use outbox::{Bytes, Closing, Outbox, Text, Waiting};
pub use request_queue::{MAX_CONCURRENT, MAX_WAITING};
pub use router::{Admit, Answer, Call, Handler, Router};
