//! Things that run. Everything that starts a process is here.
//!
//! [`Sessions`] is what the gateway holds. A session waits in a lane ([`lanes`]), is checked against policy and
//! budgets ([`budget`]), gets its command from a [`driver`], runs as a process with everything it starts
//! (`process.rs`), and is read piece by piece (`output.rs`, [`usage`]) until its run is over (`session.rs`).

mod adapter;
pub mod budget;
pub mod driver;
pub mod lanes;
mod output;
pub mod usage;

pub use adapter::{Adapters, Program, UnknownProvider};
