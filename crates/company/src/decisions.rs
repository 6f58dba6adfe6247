//! Recorded decisions, and the files that a decision rests on.

pub mod basis;
pub mod review;
