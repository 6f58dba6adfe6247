//! Things that run. Everything that starts a process is here.

mod adapter;
pub mod heartbeat;

pub use adapter::{Adapters, Driver, UnknownProvider};
