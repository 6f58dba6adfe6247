//! The tables of the gateway database: one dated file per migration step, and the runner that applies them.
//!
//! A step is a list of statements and is never changed after its release. The runner rejects a database whose applied
//! steps differ from these.

mod runner;
mod steps;

pub use runner::{Error, apply};
