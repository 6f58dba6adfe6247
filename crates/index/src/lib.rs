//! The index of a company folder: one SQLite file, `.local/index.sqlite`, derived entirely from the files of the
//! folder.
//!
//! It can be deleted at any time. Callers hold [`Indexes`]: [`Indexes::rebuild`] reads every file, [`Indexes::sync`]
//! only the changed ones, `snapshot` contains the views, and [`SyncWorker`] keeps the indexes of folders in use up to
//! date. All calls block. The index file is the only file that this crate writes.

mod counters;
mod documents;
mod error;
mod events;
mod indexes;
mod lists;
mod rebuild;
mod relevance;
mod scan;
mod schema;
mod search;
pub mod snapshot;
mod sync;
mod worker;

pub use error::Error;
pub use indexes::{Freshness, IndexRefresh, Indexes};
pub use search::Query;
pub use snapshot::{LiveSession, LiveSessions};
pub use worker::SyncWorker;
