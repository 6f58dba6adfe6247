//! Errors of the index.

/// Reasons why an index operation fails.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The index does not exist yet. Carries its path.
    #[error("Index database not found: {0}. Run index.rebuild first.")]
    NotBuilt(String),
    /// The company folder itself could not be read.
    #[error(transparent)]
    Folder(company::Error),
    /// The search query contains no word.
    #[error("`query` has no words to look for")]
    NoWords,
    /// SQLite reported an error.
    #[error("the index could not be used")]
    Database(#[source] rusqlite::Error),
    /// The index file was created by another version of this program, or by another program.
    #[error("the index has schema version {found}, expected version {expected}")]
    OtherVersion {
        /// Schema version recorded in the file.
        found: i64,
        /// Schema version this program reads and writes.
        expected: i64,
    },
    /// The operating system refused to read the company folder or to write the index file.
    #[error("the index could not be written")]
    Io(#[source] std::io::Error),
}

impl From<company::Error> for Error {
    fn from(error: company::Error) -> Self {
        Self::Folder(error)
    }
}

impl From<rusqlite::Error> for Error {
    fn from(error: rusqlite::Error) -> Self {
        Self::Database(error)
    }
}

impl Error {
    /// Whether rebuilding the index would help: the file is damaged, has another version, or stays locked by another
    /// process.
    pub(crate) fn is_mended_by_rebuild(&self) -> bool {
        match self {
            Self::OtherVersion { .. } => true,
            Self::Database(error) => match error.sqlite_error_code() {
                Some(code) => !matches!(
                    code,
                    rusqlite::ErrorCode::DiskFull | rusqlite::ErrorCode::OutOfMemory
                ),
                // A row does not have the shape this program writes.
                None => true,
            },
            Self::NotBuilt(_) | Self::Folder(_) | Self::NoWords | Self::Io(_) => false,
        }
    }
}
