//! Visibility, decisions and their atomicity.

mod context;
mod decisions;
mod faults;
mod guidance;
mod policy;
