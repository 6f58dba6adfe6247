//! Things that run. Everything that starts a process is here.

mod adapter;

pub use adapter::{Adapters, Driver, UnknownProvider};
