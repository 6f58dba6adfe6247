//! The crate from outside: the store, uploads, collection and projections.

mod collect;
mod links;

mod store;
mod support;
mod upload;
