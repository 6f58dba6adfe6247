//! The company family: `workspace.…`, `run.…`, `job.…`. Its calls name a company folder by `workspace_dir`.

pub mod adapter;
pub mod agent;
pub mod artifact;
mod budget;
pub mod comment;
pub mod context;
pub mod conversation;
pub mod events;
mod id;
pub mod inbox;
mod issue;
pub mod memory;
pub mod milestone;
pub mod run;
mod shape;
pub mod sharepack;
pub mod system;
pub mod task;
mod text;
pub mod ui;
mod word;
pub mod workspace;

pub use budget::Budget;
pub(crate) use id::checked_id;
pub use id::{
    AgentId, CommentId, CompanyId, ContextPackId, ConversationId, ConversationMessageId,
    DocumentId, EventId, HelpRequestId, JobId, MilestoneId, ProjectId, RepoId, ReviewId, RunId,
    SharePackId, TaskId, TeamId,
};
pub use issue::Issue;
pub use shape::Shape;
pub(crate) use text::is_iso_time;
pub use text::{IsoTime, Text};
pub use word::{
    ActorRole, AgentRole, CompanyScope, ConversationKind, MemoryScopeKind, MessageKind,
    MilestoneKind, MilestoneStatus, ProjectStatus, ReviewDecision, RunStatus, Sensitivity,
    TaskStatus, Visibility,
};
