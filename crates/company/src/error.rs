//! Errors of operations on a company folder.

use std::{io, path::PathBuf};

use protocol::company::{
    ActorRole, Issue, ReviewDecision, TaskId, inbox::InboxFile, workspace::ValidationIssue,
};

use crate::secret::{SecretCounts, SecretFound};

/// Error of an operation on a company folder. Messages show no absolute path that the caller did not give, except
/// [`Error::Io`] and [`Error::FileLocked`].
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The folder has no readable `company/company.yaml`.
    #[error("`{0}` is not a company folder: it has no `company/company.yaml`")]
    NotACompanyFolder(String),
    /// The folder was neither created on this machine nor confirmed as trusted.
    #[error("`{0}` is not trusted on this machine yet, so nothing is changed or started in it")]
    Untrusted(String),
    /// An approval may start a worker, and the caller has no `exec` scope.
    #[error(
        "an approved action is carried out at once and may start a worker, which needs the scope `exec`"
    )]
    NeedsExec,
    /// The caller has no `write` scope.
    #[error("this changes the company folder, which needs the scope `write`")]
    NeedsWrite,
    /// A file does not exist.
    #[error("`{0}` does not exist")]
    Missing(String),
    /// An object with the given id does not exist.
    #[error("{what} not found: {id}")]
    NotFound {
        /// Display name of the kind of object: `Run`.
        what: &'static str,
        /// The requested id.
        id: String,
    },
    /// A file of the folder is malformed.
    #[error("`{path}` is damaged: {}", described(.issues))]
    FileInvalid {
        /// Path of the file, relative to the folder, separated by `/`.
        path: String,
        /// Issues found in the file.
        issues: Vec<Issue>,
    },
    /// The params are well-formed but contradict the content of the folder.
    #[error("{}", described(.0))]
    Params(Vec<Issue>),
    /// Some of the named tasks cannot be changed, so none was changed.
    #[error("no task was changed: {}", reasons(.0))]
    Tasks(Vec<(TaskId, Error)>),
    /// The policy denies the action.
    #[error("Policy denied {action}: {rule_id} ({reason})")]
    Denied {
        /// The denied action.
        action: &'static str,
        /// Id of the rule that denied it.
        rule_id: &'static str,
        /// Reason code.
        reason: &'static str,
        /// The actor that attempted the action.
        actor_id: String,
        /// The resource of the action.
        resource_id: String,
    },
    /// An actor claims a higher role than the company has stored for it.
    #[error("`{actor_id}` claims the role {claimed} but has the role {stored}")]
    ActorMismatch {
        /// The actor.
        actor_id: String,
        /// The claimed role.
        claimed: ActorRole,
        /// The stored role.
        stored: ActorRole,
    },
    /// The text to be stored contains secrets.
    #[error("found {} secret(s) in `{label}`: remove them and try again", counts.total())]
    Secret {
        /// Name of the checked field: `memory_delta.title`.
        label: &'static str,
        /// Number of secrets found of each kind.
        counts: SecretCounts,
    },
    /// The document already has a decision; the first decision is final.
    #[error("`{artifact_id}` was already {decision} by `{actor_id}` in review `{review_id}`")]
    AlreadyDecided {
        /// The document.
        artifact_id: String,
        /// The review that recorded the decision.
        review_id: String,
        /// The decision.
        decision: ReviewDecision,
        /// The actor that decided.
        actor_id: String,
        /// Time of the decision.
        created_at: String,
    },
    /// The basis of a decision differs from the one that was shown to the actor.
    #[error(
        "`{artifact_id}` changed since it was shown: expected SHA-256 `{expected}`, actual SHA-256 `{actual}`"
    )]
    BasisChanged {
        /// The document.
        artifact_id: String,
        /// Hash of the basis that was shown.
        expected: String,
        /// Hash of the current basis.
        actual: String,
        /// Files of the current basis, without their texts.
        files: Vec<InboxFile>,
    },
    /// The operation is invalid in the current state; the text is the complete message.
    #[error("{0}")]
    Refused(String),
    /// A company cannot be created in a folder that is not empty.
    #[error("the folder `{dir}` is not empty{}", company_note(*is_company))]
    FolderNotEmpty {
        /// The folder as the caller wrote it.
        dir: String,
        /// Whether the folder already is a company folder.
        is_company: bool,
    },
    /// The operation is rejected because files of the folder are invalid.
    #[error("{sentence}")]
    FolderInvalid {
        /// The complete message, which names the rejected operation.
        sentence: String,
        /// Issues found in the folder.
        issues: Vec<ValidationIssue>,
    },
    /// Another process did not release the write lock in time.
    #[error("Timed out waiting for workspace write lock: {0}")]
    LockTimeout(String),
    /// Another process did not release the lock of a file of lines in time.
    #[error("timed out waiting for the lock of `{}`", .0.display())]
    FileLocked(PathBuf),
    /// The disk is full.
    #[error("the disk with the company folder is full")]
    DiskFull,
    /// An operating system call failed.
    #[error("`{path}` could not be {verb}")]
    Io {
        /// Past participle of the failed operation: `read`, `written`.
        verb: &'static str,
        /// Path of the file. For the log; the wire gets only the file name.
        path: PathBuf,
        /// Error of the operating system.
        source: io::Error,
    },
}

fn described(issues: &[Issue]) -> String {
    let mut text = issues
        .iter()
        .take(3)
        .map(ToString::to_string)
        .collect::<Vec<_>>()
        .join("; ");
    if issues.len() > 3 {
        text.push_str(&format!(" and {} more", issues.len() - 3));
    }
    text
}

fn reasons(failing: &[(TaskId, Error)]) -> String {
    let reasons: Vec<_> = failing
        .iter()
        .map(|(task, error)| format!("`{task}`: {error}"))
        .collect();
    reasons.join("; ")
}

impl From<SecretFound> for Error {
    fn from(SecretFound { label, counts }: SecretFound) -> Self {
        Self::Secret { label, counts }
    }
}

impl Error {
    /// Wraps an operating system error about `path`; a full disk becomes [`Error::DiskFull`].
    pub fn io(verb: &'static str, path: impl Into<PathBuf>, source: io::Error) -> Self {
        let is_full = matches!(
            source.kind(),
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded
        );
        if is_full {
            return Self::DiskFull;
        }
        Self::Io {
            verb,
            path: path.into(),
            source,
        }
    }

    /// Whether another process held a lock, so that a retry may succeed.
    pub fn is_transient(&self) -> bool {
        matches!(self, Self::LockTimeout(_) | Self::FileLocked(_))
    }

    /// Whether the file or object does not exist.
    pub fn is_missing(&self) -> bool {
        match self {
            Self::Missing(_) | Self::NotFound { .. } => true,
            Self::Io { source, .. } => source.kind() == io::ErrorKind::NotFound,
            Self::NotACompanyFolder(_)
            | Self::Untrusted(_)
            | Self::NeedsExec
            | Self::NeedsWrite
            | Self::FileInvalid { .. }
            | Self::Params(_)
            | Self::Tasks(_)
            | Self::Denied { .. }
            | Self::ActorMismatch { .. }
            | Self::Secret { .. }
            | Self::AlreadyDecided { .. }
            | Self::BasisChanged { .. }
            | Self::Refused(_)
            | Self::FolderNotEmpty { .. }
            | Self::FolderInvalid { .. }
            | Self::LockTimeout(_)
            | Self::FileLocked(_)
            | Self::DiskFull => false,
        }
    }

    /// Converts a missing file to [`Error::NotFound`] with the kind and id of the requested object. Other errors are
    /// returned unchanged.
    #[must_use]
    pub fn or_not_found(self, what: &'static str, id: impl Into<String>) -> Self {
        if self.is_missing() {
            Self::NotFound {
                what,
                id: id.into(),
            }
        } else {
            self
        }
    }
}

/// Suffix of the message about a folder that is not empty.
fn company_note(is_company: bool) -> &'static str {
    if is_company {
        " and already holds a company"
    } else {
        ""
    }
}
