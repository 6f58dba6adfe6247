//! What can be wrong with the world when somebody reads or writes the database.

use sea_orm::{DbErr, RuntimeErr};

/// Why an operation did not happen. Nothing was changed.
#[derive(Clone, Debug, thiserror::Error)]
pub enum Error {
    /// There is no active workspace with this id.
    #[error("there is no workspace `{0}`")]
    UnknownWorkspace(String),
    /// The workspace stands for no company folder.
    #[error("workspace `{0}` has no company folder that could be forgotten")]
    NoCompanyFolder(String),
    /// There is no such folder, or it belongs to another workspace.
    #[error("folder `{folder_id}` is not in workspace `{workspace_id}`")]
    UnknownFolder {
        /// The folder.
        folder_id: String,
        /// The workspace the caller named.
        workspace_id: String,
    },
    /// There is no such thread.
    #[error("there is no thread `{0}`")]
    UnknownThread(String),
    /// The thread belongs to another workspace.
    #[error("thread `{thread_id}` is not in workspace `{workspace_id}`")]
    ForeignThread {
        /// The thread.
        thread_id: String,
        /// The workspace the caller named.
        workspace_id: String,
    },
    /// A turn of the thread runs.
    #[error("a turn of thread `{0}` is running")]
    ThreadBusy(String),
    /// There is no such turn on the thread.
    #[error("there is no turn `{0}`")]
    UnknownTurn(String),
    /// The turn was started before, with another input.
    #[error("turn `{0}` was started before with another input")]
    TurnDiffers(String),
    /// There is no such artifact in the workspace.
    #[error("there is no artifact `{0}`")]
    UnknownArtifact(String),
    /// The artifact has no such version.
    #[error("there is no version `{0}` of the artifact")]
    UnknownArtifactVersion(String),
    /// The artifact has no such projection.
    #[error("artifact `{artifact_id}` has no projection `{kind}`")]
    UnknownProjection {
        /// The artifact.
        artifact_id: String,
        /// What it should show.
        kind: String,
    },
    /// The artifact cannot be used as it is.
    #[error("artifact `{artifact_id}` is {status}")]
    ArtifactNotReady {
        /// The artifact.
        artifact_id: String,
        /// Its status.
        status: String,
    },
    /// There is no such upload, or it is somebody else's, or it has expired.
    #[error("there is no upload `{0}`")]
    UnknownUpload(String),
    /// The workspace is full.
    #[error(
        "workspace `{workspace_id}` has no room for more artifacts: `{limit}` is {limit_value}"
    )]
    QuotaExceeded {
        /// Which limit: `max_bytes`, `max_files` or `max_stored_bytes`.
        limit: &'static str,
        /// Its value.
        limit_value: i64,
        /// The workspace.
        workspace_id: String,
    },
    /// There is no such document in the workspace.
    #[error("there is no AGENTS.md document `{0}`")]
    UnknownDoc(String),
    /// The document has no such version.
    #[error("document `{doc_id}` has no version {version}")]
    UnknownRevision {
        /// The document.
        doc_id: String,
        /// The version.
        version: i64,
    },
    /// Somebody else saved in between.
    #[error("expected version {expected}, actual version {actual}")]
    VersionConflict {
        /// What the caller saw.
        expected: i64,
        /// What there is; 0 for nothing.
        actual: i64,
        /// The document as it is.
        current: Option<Box<entity::thread_agents_doc::Model>>,
    },
    /// The scope never had this version.
    #[error("the AGENTS.md of this scope never had version {version}")]
    UnknownScopeVersion {
        /// The version.
        version: i64,
    },
    /// There is no such proposal in the workspace.
    #[error("there is no proposal `{0}`")]
    UnknownProposal(String),
    /// Somebody decided about the proposal before.
    #[error("proposal `{}` is {} already", .0.id, .0.status)]
    ProposalDecided(Box<entity::thread_agents_doc_proposal::Model>),
    /// The proposal has another text than the caller saw.
    #[error("proposal `{}` was rebased in between", .0.id)]
    ProposalChanged(Box<entity::thread_agents_doc_proposal::Model>),
    /// Too many proposals wait.
    #[error("an author can have {limit} proposals that wait at most")]
    TooManyProposals {
        /// The most.
        limit: i64,
    },
    /// A folder would contain itself.
    #[error("folder `{folder_id}` cannot be moved into `{parent_folder_id}`, which is inside it")]
    FolderCycle {
        /// The folder to move.
        folder_id: String,
        /// The folder it would be in.
        parent_folder_id: String,
    },
    /// A folder would be too deep.
    #[error("folders can be nested {limit} deep at most")]
    TooDeep {
        /// The deepest level.
        limit: usize,
    },
    /// The workspace is full of folders.
    #[error("a workspace can have {limit} folders at most")]
    TooManyFolders {
        /// The most folders.
        limit: usize,
    },
    /// The trash of the workspace has no such item.
    #[error("the trash holds no {kind} `{id}`")]
    NotInTrash {
        /// What was looked for.
        kind: &'static str,
        /// Its id.
        id: String,
    },
    /// A thread with this id is in the trash.
    #[error("thread `{0}` is in the trash")]
    ThreadInTrash(String),
    /// The folder of a document is deleted.
    #[error("the folder `{name}` (`{folder_id}`) of this AGENTS.md is deleted")]
    FolderInTrash {
        /// The folder.
        folder_id: String,
        /// Its name at the time.
        name: String,
    },
    /// The scope of a document has another one.
    #[error("{} has an AGENTS.md already", .folder_name.as_ref().map_or_else(|| "the root".to_owned(), |name| format!("the folder `{name}`")))]
    ScopeHasDoc {
        /// The folder; none for the root.
        folder_name: Option<String>,
    },
    /// The disk is full; the operation can be tried again when it is not.
    #[error("the disk of the gateway is full")]
    DiskFull,
    /// More operations wait than the database can do.
    #[error("too many database operations are waiting")]
    Overloaded,
    /// The store is closed, or its thread is gone.
    #[error("the database is closed")]
    Closed,
    /// The operation itself broke.
    #[error("a database operation panicked: {0}")]
    Panicked(String),
    /// Anything else the database said.
    #[error("the database failed")]
    Database(#[source] DbErr),
}

impl From<DbErr> for Error {
    fn from(error: DbErr) -> Self {
        match sqlite_code(&error) {
            Some(rusqlite::ffi::SQLITE_FULL) => Self::DiskFull,
            _ => Self::Database(error),
        }
    }
}

impl Error {
    /// Whether the database can no longer promise that what it acknowledges is on the disk: after a failed
    /// fsync nobody knows what the disk holds, and a second fsync that succeeds proves nothing.
    pub(crate) fn is_fatal(&self) -> bool {
        let Self::Database(error) = self else {
            return false;
        };
        matches!(
            sqlite_code(error),
            Some(rusqlite::ffi::SQLITE_IOERR_FSYNC | rusqlite::ffi::SQLITE_IOERR_DIR_FSYNC)
        )
    }
}

/// The extended result code of SQLite.
fn sqlite_code(error: &DbErr) -> Option<i32> {
    let (DbErr::Conn(RuntimeErr::Rusqlite(error))
    | DbErr::Exec(RuntimeErr::Rusqlite(error))
    | DbErr::Query(RuntimeErr::Rusqlite(error))) = error
    else {
        return None;
    };
    error.sqlite_error().map(|failure| failure.extended_code)
}
