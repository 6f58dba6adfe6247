//! The company folder: the layout of its files, their contents, and the operations that change them.
//!
//! All operations block and work on files only: no child process, no network, no gateway database. The caller supplies
//! the clock and the id generator, so that tests are deterministic.
//!
//! Layers, from the lowest to the highest: `format`, `layout`, `secret`, `files`, `document`, `event_log`, `folder`,
//! `org`, `policy`, `documents`, `execution`, `decisions`, `memory`, `planning`, `conversation`, `pipeline`, `inbox`,
//! `pm`, `events`, `workspace`. A module uses only lower ones.

pub mod conversation;
pub mod decisions;
pub mod document;
pub mod documents;
mod error;
pub mod event_log;
pub mod events;
pub mod execution;
pub mod files;
pub mod folder;
pub mod format;
pub mod inbox;
pub mod layout;
pub mod memory;
pub mod org;
pub mod pipeline;
pub mod planning;
pub mod pm;
pub mod policy;
pub mod secret;
mod sources;
pub mod workspace;

pub use error::Error;
pub use files::dir::{Dir, Readers};
pub use folder::{BeforeWrite, Companies, Company, OnAppend, Writer, trust::Trust};
pub use sources::{DAY_MS, Now, Sources, iso_time, unix_ms};
