//! Work that starts sessions by itself: jobs, the heartbeat that decides which agents to wake, and the filling of
//! planning packages. One run of a worker program is the business of [`sessions`].

mod fill;
pub mod heartbeat;
mod job;

pub use fill::fill;
pub use heartbeat::{ActionTotals, Heartbeats, Tick};
pub use job::{
    ContextPlan, JobPlacement, JobServices, Jobs, KeptPlan, Resubmit, StandaloneServices,
};
