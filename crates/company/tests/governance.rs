//! Visibility, decisions and their atomicity.

#[path = "governance/context.rs"]
mod context;
#[path = "governance/decisions.rs"]
mod decisions;
#[path = "governance/faults.rs"]
mod faults;
#[path = "governance/guidance.rs"]
mod guidance;
#[path = "governance/place.rs"]
mod place;
#[path = "governance/policy.rs"]
mod policy;
