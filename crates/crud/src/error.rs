//! The errors of database operations.

use sea_orm::{DbErr, RuntimeErr};

/// The reason an operation failed. A failed operation changes nothing.
#[derive(Clone, Debug, thiserror::Error)]
pub enum Error {
    /// No active workspace has this id.
    #[error("there is no workspace `{0}`")]
    UnknownWorkspace(String),
    /// The workspace is not linked to a company folder.
    #[error("workspace `{0}` has no company folder")]
    NoCompanyFolder(String),
    /// The folder does not exist or belongs to another workspace.
    #[error("folder `{folder_id}` is not in workspace `{workspace_id}`")]
    UnknownFolder {
        /// The id of the folder.
        folder_id: String,
        /// The id of the workspace the caller named.
        workspace_id: String,
    },
    /// The thread does not exist.
    #[error("there is no thread `{0}`")]
    UnknownThread(String),
    /// The thread belongs to another workspace.
    #[error("thread `{thread_id}` is not in workspace `{workspace_id}`")]
    ForeignThread {
        /// The id of the thread.
        thread_id: String,
        /// The id of the workspace the caller named.
        workspace_id: String,
    },
    /// A turn of the thread is running.
    #[error("a turn of thread `{0}` is running")]
    ThreadBusy(String),
    /// The turn does not exist on the thread.
    #[error("there is no turn `{0}`")]
    UnknownTurn(String),
    /// The turn was already started with a different input.
    #[error("turn `{0}` was started before with another input")]
    TurnDiffers(String),
    /// The artifact does not exist in the workspace.
    #[error("there is no artifact `{0}`")]
    UnknownArtifact(String),
    /// The artifact has no such version.
    #[error("there is no version `{0}` of the artifact")]
    UnknownArtifactVersion(String),
    /// The artifact has no such projection.
    #[error("artifact `{artifact_id}` has no projection `{kind}`")]
    UnknownProjection {
        /// The id of the artifact.
        artifact_id: String,
        /// The requested kind of projection.
        kind: String,
    },
    /// The status of the artifact does not permit the operation.
    #[error("artifact `{artifact_id}` is {status}")]
    ArtifactNotReady {
        /// The id of the artifact.
        artifact_id: String,
        /// The current status of the artifact.
        status: String,
    },
    /// The upload does not exist, belongs to another principal, or has expired.
    #[error("there is no upload `{0}`")]
    UnknownUpload(String),
    /// A quota of the workspace is exhausted.
    #[error(
        "workspace `{workspace_id}` has no room for more artifacts: `{limit}` is {limit_value}"
    )]
    QuotaExceeded {
        /// The exceeded limit: `max_bytes`, `max_files` or `max_stored_bytes`.
        limit: &'static str,
        /// The value of the limit, in bytes or files.
        limit_value: i64,
        /// The id of the workspace.
        workspace_id: String,
    },
    /// The agents doc does not exist in the workspace.
    #[error("there is no AGENTS.md document `{0}`")]
    UnknownDoc(String),
    /// The document has no such version.
    #[error("document `{doc_id}` has no version {version}")]
    UnknownRevision {
        /// The id of the document.
        doc_id: String,
        /// The requested version.
        version: i64,
    },
    /// Another caller saved the document first.
    #[error("expected version {expected}, actual version {actual}")]
    VersionConflict {
        /// The version the caller expected.
        expected: i64,
        /// The current version; 0 if there is no document.
        actual: i64,
        /// The current document. Absent if there is none.
        current: Option<Box<entity::thread_agents_doc::Model>>,
    },
    /// The scope never had a document of this version.
    #[error("the AGENTS.md of this scope never had version {version}")]
    UnknownScopeVersion {
        /// The requested version.
        version: i64,
    },
    /// The proposal does not exist in the workspace.
    #[error("there is no proposal `{0}`")]
    UnknownProposal(String),
    /// The proposal has already been decided. Contains its current row.
    #[error("proposal `{}` is {} already", .0.id, .0.status)]
    ProposalDecided(Box<entity::thread_agents_doc_proposal::Model>),
    /// The text of the proposal differs from the one the caller saw. Contains its current row.
    #[error("proposal `{}` was rebased meanwhile", .0.id)]
    ProposalChanged(Box<entity::thread_agents_doc_proposal::Model>),
    /// The author has too many pending proposals.
    #[error("an author can have at most {limit} pending proposals")]
    TooManyProposals {
        /// The maximum number of pending proposals per author.
        limit: i64,
    },
    /// A folder cannot be moved into one of its descendants.
    #[error("folder `{folder_id}` cannot be moved into `{parent_folder_id}`, which is inside it")]
    FolderCycle {
        /// The id of the folder to move.
        folder_id: String,
        /// The id of the requested parent folder.
        parent_folder_id: String,
    },
    /// The folder would exceed the maximum depth.
    #[error("folders can be nested {limit} deep at most")]
    TooDeep {
        /// The maximum depth.
        limit: usize,
    },
    /// The workspace has too many folders.
    #[error("a workspace can have at most {limit} folders")]
    TooManyFolders {
        /// The maximum number of folders per workspace.
        limit: usize,
    },
    /// The trash of the workspace does not contain the item.
    #[error("the trash holds no {kind} `{id}`")]
    NotInTrash {
        /// The kind of the item.
        kind: &'static str,
        /// The id of the item.
        id: String,
    },
    /// A thread with this id is in the trash.
    #[error("thread `{0}` is in the trash")]
    ThreadInTrash(String),
    /// The folder of a document to be restored is deleted.
    #[error("the folder `{name}` (`{folder_id}`) of this AGENTS.md is deleted")]
    FolderInTrash {
        /// The id of the folder.
        folder_id: String,
        /// The name of the folder when it was deleted.
        name: String,
    },
    /// The scope of a document to be restored already has another one.
    #[error("{} has an AGENTS.md already", .folder_name.as_ref().map_or_else(|| "the root".to_owned(), |name| format!("the folder `{name}`")))]
    ScopeHasDoc {
        /// The name of the folder. Absent for the root.
        folder_name: Option<String>,
    },
    /// The disk is full. The operation can be retried once there is space.
    #[error("the disk of the gateway is full")]
    DiskFull,
    /// Too many database operations are queued.
    #[error("too many database operations are waiting")]
    Overloaded,
    /// The store is closed, or its thread has ended.
    #[error("the database is closed")]
    Closed,
    /// The operation panicked. Contains the panic message.
    #[error("a database operation panicked: {0}")]
    Panicked(String),
    /// Any other database error.
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
    /// Returns whether the database can no longer guarantee durability. After a failed fsync the content of the disk is
    /// unknown, and a later successful fsync proves nothing.
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

/// Returns the extended result code of SQLite, if the error has one.
fn sqlite_code(error: &DbErr) -> Option<i32> {
    let (DbErr::Conn(RuntimeErr::Rusqlite(error))
    | DbErr::Exec(RuntimeErr::Rusqlite(error))
    | DbErr::Query(RuntimeErr::Rusqlite(error))) = error
    else {
        return None;
    };
    error.sqlite_error().map(|failure| failure.extended_code)
}
