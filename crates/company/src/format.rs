//! Text formats of the files in a company folder.

pub mod collation;
pub mod ecma_json;
pub mod front_matter;
pub(crate) mod yaml;
