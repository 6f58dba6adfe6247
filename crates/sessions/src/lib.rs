//! Runs worker sessions and jobs; the only crate of the gateway that starts worker processes.
//!
//! The gateway holds one [`Sessions`]. A session waits in a lane ([`lanes`]), is checked against policy and budgets
//! ([`budget`]), gets its command line from a [`driver`], and runs as a process tree (`process.rs`) whose output is
//! read in pieces (`output.rs`, [`usage`]) until its run is over (`session.rs`).

mod adapter;
mod briefing;
pub mod budget;
mod cgroup;
pub mod driver;
mod environment;
mod error;
mod fill;
mod git;
mod guard;
pub mod heartbeat;
mod instructions;
mod job;
pub mod lanes;
mod names;
mod options;
mod output;
mod pipes;
mod plan;
mod process;
mod record;
mod redaction;
mod scribe;
mod session;
mod sessions;
mod sink;
mod snapshot;
mod threads;
pub mod usage;
mod working_folder;
pub mod worktree;

pub use adapter::{Adapters, Program, UnknownProvider};
pub use briefing::{
    Brief, BriefFile, Briefer, Briefing, Edited, Handed, Later, Worker, WorkerOver,
};
pub use environment::MARK as SESSION_MARK;
pub use error::Error;
pub use fill::fill;
pub use heartbeat::{Carried, Heartbeats, Tick};
pub use job::{Alone, ContextPlan, JobPlacement, Jobs, KeptPlan, Resubmit, Surroundings};
pub use names::{agent_warning, provider_warning};
pub use options::{Config, Options};
pub use output::Stream;
pub use process::ProcessId;
pub use record::{SessionRecord, SessionRecordTag, all as session_records, session_ref_fits};
pub use redaction::GatewaySecrets;
pub use session::is_result;
pub use sessions::{Cancellation, Sessions};
