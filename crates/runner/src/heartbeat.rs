//! Who is woken, and what becomes of what they want. Decisions are pure ([`triage`], [`arbitration`]); this file and
//! its children read the world and act.

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

pub use act::Carried;
pub use beat::Heartbeats;
pub use forecast::forecast;
pub use tick::Tick;
