//! The company family: `workspace.…`, `run.…`, `job.…`.
//!
//! Most of its methods name a company folder by `workspace_dir`.

pub mod adapter;
pub mod agent;
pub mod artifact;
mod asking;
mod budget;
pub mod comment;
pub mod context;
mod contract;
pub mod conversation;
pub mod desktop;
pub mod events;
pub mod heartbeat;
mod id;
pub mod inbox;
pub mod index;
mod issue;
pub mod job;
pub mod memory;
pub mod milestone;
pub mod monitor;
pub mod pipeline;
pub mod pm;
pub mod resources;
pub mod run;
pub mod session;
mod shape;
pub mod sharepack;
pub mod system;
pub mod task;
mod text;
pub mod ui;
pub mod usage;
mod word;
pub mod workspace;
pub mod worktree;

pub use asking::Asking;
pub use budget::Budget;
pub use contract::extensions;
pub(crate) use id::checked_id;
pub use id::{
    AgentId, CommentId, CompanyId, ContextPackId, ConversationId, ConversationMessageId,
    DocumentId, EventId, HelpRequestId, JobId, MilestoneId, ProjectId, RepoId, ReviewId, RunId,
    SharePackId, TaskId, TeamId,
};
pub use issue::Issue;
pub use shape::Shape;
pub use text::{IsoDate, IsoTime, Text};
pub(crate) use text::{is_iso_date, is_iso_time};
pub use word::{
    ActorRole, AgentRole, CompanyScope, ConversationKind, JobKind, MemoryScopeKind, MessageKind,
    MilestoneKind, MilestoneStatus, PermissionLevel, Presence, ProjectStatus, ReviewDecision,
    RunStatus, Sensitivity, TaskStatus, Visibility, WorkerKind,
};
