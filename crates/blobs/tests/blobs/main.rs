//! Tests of the public interface: the store, uploads, collection and projections.

mod collect;
mod links;
mod pictures;
mod projection;
mod store;
mod support;
mod upload;
