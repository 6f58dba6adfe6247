//! How each worker program is started and read: command lines, output, usage, redaction and environment.
//!
//! This crate transforms values only. It starts no process and reads or writes no file; `sessions` does both.

mod driver;
pub mod environment;
mod names;
pub mod output;
pub mod redaction;
pub mod threads;
pub mod usage;

pub use driver::{
    CommandLine, CommandRequest, DeclaredDriver, DeclaredOutput, DeclaredPrompt, Driver,
    ErrorClass, Outcome, Reader, RetryHint, StopSignal, codex_app_server, command,
};
pub use names::provider_warning;
