//! The binary `ac` from the outside: its commands, and the processes that it starts and serves.

mod agents_md;
mod approvals;
mod backup;
mod commands;
mod connections;
mod demo;
mod desktop_session;
mod durability;
mod faults;
mod guide;
mod heartbeat;
mod launches;
mod processes;
mod proposals;
mod secrets;
mod serve;
mod sessions;
mod trash;
mod uploads;
mod worker_files;
