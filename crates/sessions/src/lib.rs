//! One run of a worker program: where it waits, how it is launched, read, limited and ended, and how a session of an
//! earlier gateway is recovered. The only crate that starts worker processes.
//!
//! The gateway holds one [`Sessions`]. A session waits in a lane ([`lanes`]), is checked against policy and budgets
//! ([`budget`]), gets its command line from a driver ([`drivers`]), and runs as a process tree (`process_tree.rs`) whose
//! output is read in pieces (`output.rs`, `sink.rs`) until its run is over (`session.rs`).

mod adapter;
pub mod blocking;
pub mod budget;
mod cgroup;
mod error;
mod gateway_environment;
mod git;
mod guard;
mod instruction_file;
mod instructions;
pub mod lanes;
mod names;
mod options;
mod output;
mod pipes;
mod plan;
mod process;
mod process_tree;
pub mod program;
mod record;
mod run_log;
mod session;
mod sessions;
mod sink;
mod snapshot;
mod threads;
mod working_folder;
pub mod worktree;

pub use adapter::Adapters;
pub use drivers::environment::MARK as SESSION_MARK;
pub use error::Error;
pub use gateway_environment::GatewaySecrets;
pub use guard::ProgramCheck;
pub use instructions::{
    BoxFuture, EditOutcome, InstructionsEdit, InstructionsFile, InstructionsService,
    InstructionsSource, WorkerDescription, WorkerInstructions, WorkerOver,
};
pub use names::agent_warning;
pub use options::{Config, Options};
pub use plan::Extra;
pub use process::{ProcessId, missing_program};
pub use record::{SessionRecord, SessionRecordTag, all as session_records, session_ref_fits};
pub use run_log::RunLog;
pub use session::{is_result, retry_at_of};
pub use sessions::{Cancellation, Guarded, Sessions};
pub use working_folder::InPlace;
