//! The heartbeat of a company: wakes workers that have something to do, and executes or queues the actions they
//! propose. The decisions are pure functions ([`triage`], [`arbitration`]); the other modules read files and act.

mod act;
pub mod arbitration;
mod beat;
mod facts;
mod forecast;
#[cfg(test)]
mod month;
mod pending;
mod tick;
pub mod triage;

pub use act::ActionTotals;
pub use beat::Heartbeats;
pub use forecast::forecast;
pub use tick::Tick;
