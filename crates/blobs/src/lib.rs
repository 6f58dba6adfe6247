//! Artifact bytes: the content-addressed store, receiving uploads, kinds, and projections.
//!
//! This crate knows bytes and files. It has no database (who owns a blob, what is live, how much of an upload was
//! acknowledged), no wire types and no async runtime: every function blocks, and async callers run it on a blocking
//! thread.

pub mod collect;
mod error;
mod folder;
mod hashing;
pub mod key;
pub mod kind;
mod local;
pub mod name;
pub mod projection;
mod stamp;
pub mod store;
pub mod upload;

pub use error::{Error, Result};
