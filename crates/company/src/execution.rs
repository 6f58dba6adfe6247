//! Records of what runs in a company: runs, jobs, heartbeats, the settings of this machine and resource totals.

pub mod heartbeat;
pub mod job;
pub mod machine;
pub mod resources;
pub mod run;
