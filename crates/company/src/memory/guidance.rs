//! Guidance of agents: rules learned from repeated mistakes, and the index of files that an agent should read.

mod context_index;
mod self_improve;

pub use context_index::{Refreshed, refresh_context};
pub use self_improve::{Cycle, Ended, Evaluation, self_improve};
