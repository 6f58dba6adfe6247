//! JSON-RPC 2.0: envelope, connections, router, notification fan-out, typed client.
//!
//! A request travels downwards: a transport (`stdio`, `websocket`, `memory`) reads a text, the [`lane`] of the
//! connection parses and schedules it, a [`Service`] answers it through the [`Router`] and puts the answer into
//! the connection's [`Outbox`]. No method names and no storage here.

pub mod client;
mod connection;
mod envelope;
mod failure;
mod file_frame;
mod hub;
mod lane;
pub mod memory;
pub mod metrics;
mod outbox;
mod router;
pub mod stdio;
pub mod websocket;

pub use client::Client;
pub use connection::{ConnectionId, Service};
pub use envelope::{Request, notification};
pub use failure::{Failure, Kind};
pub use file_frame::FileFrame;
pub use hub::{Audience, Hub, MAX_RETAINED, NeedsNumbers, Publication, Resumption};
pub use lane::{MAX_CONCURRENT, MAX_WAITING};
pub use outbox::{Bytes, Closing, Outbox, Text, Waiting};
pub use router::{Admit, Answer, Call, Handler, Router};
