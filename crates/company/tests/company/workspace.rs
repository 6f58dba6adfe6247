//! Validation, repair, export and import of a company folder.

mod doctor;
mod transfer;
mod validate;
