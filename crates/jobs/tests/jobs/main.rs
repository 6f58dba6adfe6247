//! Tests of jobs, heartbeats and planning packages with workers that are small scripts.

mod checkout;
mod fill;
mod fixture;
mod heartbeat;
mod isolation;
mod job;
