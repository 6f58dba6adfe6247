//! Recorded decisions, and the files that a decision rests on.

pub mod basis;
pub(crate) mod evidence;
pub(crate) mod memory_delta;
pub mod plan_approval;
pub mod review;
