//! The tables of the gateway database: one dated file per step, and the runner that applies them.
//!
//! A step is a list of statements and is never changed after it has been released; the runner refuses a
//! database whose steps differ from ours.

mod runner;
mod steps;

pub use runner::{Error, apply};
