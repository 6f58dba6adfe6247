//! The company folder: where its files are, what they hold, and how they change.
//!
//! Everything here is blocking and works on files alone: no child process, no network, no gateway database. A
//! caller reads the clock and makes ids, so that tests are exact.

mod error;
pub mod files;

pub use error::Error;
