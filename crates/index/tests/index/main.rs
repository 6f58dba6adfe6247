//! Tests of the public interface: the index, the views read from it and its worker.

mod folder;
mod processes;
mod search;
mod snapshots;
mod sync;
mod worker;
