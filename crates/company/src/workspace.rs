//! The company folder as a whole: create, check, migrate, export and import it.

pub mod bootstrap;
pub mod doctor;
pub mod init;
pub mod migrate;
pub mod transfer;
pub mod trust;
