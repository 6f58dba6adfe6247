//! The only crate with queries on the gateway database.
//!
//! [`CrudStore`] owns the connections: one writer thread with group commit, and a few readers. Each group of tables has
//! a repository with the operations the gateway needs, each a fixed number of statements in one transaction.
//! Repositories work with rows, not wire types, and contain nothing specific to SQLite.

mod access_token;
mod artifact;
mod company;
mod desktop_session;
mod error;
mod hook_run;
mod lock;
mod memo;
mod query;
mod reader;
mod spin_wait;
mod sqlite;
mod store;
mod thread;
mod thread_agents_doc;
mod thread_agents_doc_proposal;
mod thread_folder;
mod trash;
mod tree;
mod turn;
mod whole;
mod workspace;
mod writer;

pub use access_token::{AccessTokenRepository, NewAccessToken};
pub use artifact::{
    ArtifactDetail, ArtifactPage, ArtifactQuery, ArtifactRepository, BindTargets, ChunkHashes,
    Deleted, FinishUpload, FinishedUpload, NewArtifact, NewBinding, NewOutput, NewUpload,
    ProjectionResult, ProjectionWork, Quota, RestoredBytes, UploadStarted, Usage, is_run_output,
};
pub use company::{CompanyRepository, LinkCompany, LinkProject, Linked, ProjectPlace};
pub use desktop_session::{DesktopSessionRepository, NewDesktopSession};
pub use entity::{access_token::Model as AccessToken, desktop_session::Model as DesktopSession};
pub use error::Error;
pub use hook_run::{HookRunQuery, HookRunRepository};
pub use sqlite::{OldSqlite, sqlite_version};
pub use store::{CrudStore, OpenError, Options, StatementLog};
pub use thread::{
    DeleteThread, Field, Moved, StartThread, Started, ThreadChange, ThreadCursor, ThreadRepository,
    Updated,
};
pub use thread_agents_doc::{
    AgentsDocSummary, ArchiveDoc, Archived, DocScope, Exported, ExportedFile, ImportFile,
    ImportMode, Imported, Resolved, RestoreDoc, Revision, RevisionSummary, SaveDoc, Saved,
    ScopeDocs, ThreadAgentsDocRepository, ThreadResolution,
};
pub use thread_agents_doc_proposal::{
    BaseText, DecideProposal, DecidedProposal, MAX_PENDING_PROPOSALS, NewProposal, Proposal,
    ProposalCursor, ProposalQuery, ProposalTexts, ProposalVerdict, ProposedText,
    ThreadAgentsDocProposalRepository, decision_sha256,
};
pub use thread_folder::{
    DeleteFolder, FolderChange, FolderDeleted, FolderMoved, MAX_DEPTH, MAX_FOLDERS, NewFolder,
    ThreadFolderRepository,
};
pub use trash::{
    RestoreTrash, TrashCursor, TrashEntry, TrashKey, TrashKind, TrashRepository, TrashRestored,
};
pub use tree::{TreePage, TreeQuery};
pub use turn::{
    FinishTurn, NewTurnEvent, PastItem, StartTurn, TurnFinished, TurnRepository, TurnStarted,
    WorkerTurn,
};
pub use whole::{
    StoredFile, check_database, company_folders, copy_database, move_company_folder, raise_numbers,
    stored_files,
};
pub use workspace::{Created, FIRST_NUMBERS, WorkspaceRepository};

/// The prefix of the log targets of the database layer below this crate.
pub const LAYER_LOG_TARGET: &str = "sea_orm";
