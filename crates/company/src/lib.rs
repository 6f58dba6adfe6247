//! The company folder: where its files are, what they hold, and how they change.
//!
//! Everything here is blocking and works on files alone: no child process, no network, no gateway database. A
//! caller reads the clock and makes ids, so that tests are exact.

pub mod collation;
mod company;
pub mod defaults;
pub mod document;
pub mod ecma_json;
mod error;
pub mod event;
pub mod files;
pub mod front_matter;
pub mod home;
pub mod layout;
mod lock;
pub mod org;
pub mod plan;
pub mod pm;
pub mod policy;
pub mod project;
pub mod replay;
pub mod run;
mod sources;
pub mod task;
mod yaml;

pub use company::{Companies, Company, OnAppend, Writer};
pub use error::Error;
pub use sources::{Now, Sources, iso_time, unix_ms};
