//! Things that run. Everything that starts a process is here.

mod adapter;
mod evaluate;

pub use adapter::{Adapters, Driver, UnknownProvider};
pub use evaluate::evaluate;
