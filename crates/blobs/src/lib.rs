//! Artifact bytes: the content-addressed store, uploads in progress, type detection and projections.
//!
//! This crate handles bytes and files. It has no database (ownership, liveness and acknowledged upload offsets are
//! stored elsewhere), no wire types and no async runtime: every function blocks, and async callers run it on a blocking
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
