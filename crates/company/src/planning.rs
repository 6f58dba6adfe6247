//! Tasks, milestones, and the arithmetic of a plan.

pub mod milestone;
pub mod plan;
pub mod task;
