//! What agents learn from their mistakes, and what they are to read.

mod context_index;
mod self_improve;

pub use context_index::{Refreshed, refresh_context};
pub use self_improve::{Cycle, Ended, Evaluation, self_improve};
