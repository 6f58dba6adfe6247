//! The examples of the published documents, by the family of their methods.

mod artifact;
mod thread;
