//! What can be wrong with an index.

/// Why there is no answer from an index.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Nobody has built it yet.
    #[error("Index database not found: {0}. Run index.rebuild first.")]
    NotBuilt(String),
    /// Something is wrong with the company folder itself.
    #[error(transparent)]
    Folder(company::Error),
    /// The query has no words to look for.
    #[error("`query` has no words to look for")]
    NoWords,
    /// The database did not do what it was told.
    #[error("the index could not be used")]
    Database(#[source] rusqlite::Error),
    /// The file of the index was made by another version, or by another program.
    #[error("the index has version {found}, and {expected} is needed")]
    OtherVersion {
        /// What the file says.
        found: i64,
        /// What we read and write.
        expected: i64,
    },
    /// The system did not let us make the file.
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
    /// Whether a new index would help: the old one is damaged, of another version, or held by somebody for good.
    pub(crate) fn is_mended_by_rebuild(&self) -> bool {
        match self {
            Self::OtherVersion { .. } => true,
            Self::Database(error) => match error.sqlite_error_code() {
                Some(code) => !matches!(
                    code,
                    rusqlite::ErrorCode::DiskFull | rusqlite::ErrorCode::OutOfMemory
                ),
                // A row that is not what we write.
                None => true,
            },
            Self::NotBuilt(_) | Self::Folder(_) | Self::NoWords | Self::Io(_) => false,
        }
    }
}
