//! Black-box tests of the hook runtime with scripted handlers, a store in memory and the paused clock of tokio.

mod background;
mod failure;
mod order;
mod records;
mod registration;
mod support;
