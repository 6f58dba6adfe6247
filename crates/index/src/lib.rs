//! The index of a company folder: one SQLite file, `.local/index.sqlite`, that says nothing the folder does not say.
//!
//! It can be deleted at any time. [`Indexes`] is what callers hold: [`Indexes::rebuild`] reads everything,
//! [`Indexes::sync`] what changed, `snapshot` has the views, [`SyncWorker`] keeps the indexes of folders in use up to
//! date. Everything is blocking. Nothing here writes to the folder but the index itself.

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
pub use indexes::{Freshness, Indexes, State};
pub use search::Query;
pub use snapshot::{Live, LiveSession};
pub use worker::SyncWorker;
