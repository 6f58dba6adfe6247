//! The company folder: the layout of its files, their contents, and the operations that change them.
//!
//! All operations block and work on files only: no child process, no network, no gateway database. The caller supplies
//! the clock and the id generator, so that tests are deterministic.

pub mod basis;
pub mod bootstrap;
pub mod collation;
pub mod comment;
mod company;
pub mod context_plan;
pub mod conversation;
pub mod defaults;
mod dir;
pub mod doctor;
pub mod document;
pub mod documents;
pub mod ecma_json;
mod error;
pub mod event;
pub mod files;
pub mod front_matter;
mod group;
pub mod guidance;
pub mod heartbeat;
pub mod home;
pub mod inbox;
pub mod init;
mod intent;
pub mod job;
pub mod layout;
mod lock;
pub mod machine;
pub mod memory;
pub mod migrate;
pub mod milestone;
pub mod mistake;
pub mod org;
pub mod pipeline;
pub mod plan;
pub mod pm;
pub mod policy;
pub mod project;
pub mod replay;
pub mod resources;
pub mod review;
pub mod run;
pub mod secret;
pub mod share_pack;
mod sources;
pub mod task;
pub mod transfer;
pub mod trust;
pub mod validate;
pub mod walk;
mod yaml;

pub use company::{BeforeWrite, Companies, Company, OnAppend, Writer};
pub use dir::{Dir, Readers};
pub use error::Error;
pub use sources::{Now, Sources, iso_time, unix_ms};
pub use trust::Trust;
