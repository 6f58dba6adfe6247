//! The hook runtime from the outside: scripted handlers, a store in memory, and a clock that stands still until
//! something waits.

mod background;
mod failure;
mod order;
mod records;
mod registration;
mod support;
