//! The turn loop and the model providers.
//!
//! [`Agent`] accepts a turn, compiles its prompt through the hook runtime, streams the provider's response and stores
//! every event of the turn. It reports progress to a [`TurnListener`]; the crate contains no wire handling.

mod agent;
pub mod attachment;
mod conversation;
mod hook_runs;
pub mod provider;
mod running;
mod turn;
mod worker;

pub use agent::{
    Accepted, Agent, AgentOptions, Error, NewTurn, ProviderFinder, TurnListener, TurnNotice,
    TurnRun, wire as turn_to_wire,
};
pub use hook_runs::HookRuns;
pub use worker::{BriefError, WorkerBrief, WorkerEnd};
