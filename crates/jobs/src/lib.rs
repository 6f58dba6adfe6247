//! Work that starts sessions by itself: jobs, the heartbeat that decides which agents to wake, and the filling of
//! planning packages. One run of a worker program is the business of [`sessions`].

mod fill;
pub mod heartbeat;
mod job;

pub use fill::fill;
pub use heartbeat::{Carried, Heartbeats, Tick};
pub use job::{Alone, ContextPlan, JobPlacement, Jobs, KeptPlan, Resubmit, Surroundings};
