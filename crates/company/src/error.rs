//! What can be wrong with a company folder.

use std::{io, path::PathBuf};

use protocol::company::{
    ActorRole, Issue, ReviewDecision, TaskId, inbox::InboxFile, workspace::ValidationIssue,
};

use crate::secret::SecretCounts;

/// Why a company folder did not do what was asked. No variant shows an absolute path that the caller did not give.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The folder has no readable `company/company.yaml`.
    #[error("`{0}` is not a company folder: it has no `company/company.yaml`")]
    NotACompanyFolder(String),
    /// Nobody made the folder on this machine or said to trust it.
    #[error("`{0}` is not trusted on this machine yet, so nothing is changed or started in it")]
    Untrusted(String),
    /// What is approved may start a worker, and whoever decides may not.
    #[error(
        "what is approved is carried out at once and may start a worker, which needs the scope `exec`"
    )]
    NeedsExec,
    /// Whoever asks may only read.
    #[error("this changes the company folder, which needs the scope `write`")]
    NeedsWrite,
    /// A file is not there.
    #[error("`{0}` is not there")]
    Missing(String),
    /// Something named by an id is not there.
    #[error("{what} not found: {id}")]
    NotFound {
        /// The kind of thing, as people call it: `Run`.
        what: &'static str,
        /// The id that was asked for.
        id: String,
    },
    /// A file of the folder cannot be used as it is.
    #[error("`{path}` is damaged: {}", described(.issues))]
    FileInvalid {
        /// The file, relative to the folder, with `/`.
        path: String,
        /// What is wrong with it.
        issues: Vec<Issue>,
    },
    /// Params that fit by themselves do not fit what is there.
    #[error("{}", described(.0))]
    Params(Vec<Issue>),
    /// Some of the tasks that were named cannot be changed, so none was.
    #[error("no task was changed: {}", reasons(.0))]
    Tasks(Vec<(TaskId, Error)>),
    /// Policy forbids it.
    #[error("Policy denied {action}: {rule_id} ({reason})")]
    Denied {
        /// What was tried.
        action: &'static str,
        /// The rule that decided.
        rule_id: &'static str,
        /// Why.
        reason: &'static str,
        /// Who tried.
        actor_id: String,
        /// To what.
        resource_id: String,
    },
    /// Somebody claims to be more than the company knows them to be.
    #[error("`{actor_id}` claims the role {claimed} and has the role {stored}")]
    ActorMismatch {
        /// Who.
        actor_id: String,
        /// What they claim.
        claimed: ActorRole,
        /// What they are.
        stored: ActorRole,
    },
    /// There are secrets in what was to be stored.
    #[error("found {} secret(s) in `{label}`: remove them and try again", counts.total())]
    Secret {
        /// Where: `memory_delta.title`.
        label: &'static str,
        /// How many of each kind.
        counts: SecretCounts,
    },
    /// Somebody decided before; the first decision is final.
    #[error("`{artifact_id}` was {decision} by `{actor_id}` before, in review `{review_id}`")]
    AlreadyDecided {
        /// About what.
        artifact_id: String,
        /// The review.
        review_id: String,
        /// What was decided.
        decision: ReviewDecision,
        /// Who decided.
        actor_id: String,
        /// When.
        created_at: String,
    },
    /// What a decision rests on is not what was shown to the actor.
    #[error(
        "`{artifact_id}` changed since it was shown: expected SHA-256 `{expected}`, actual SHA-256 `{actual}`"
    )]
    BasisChanged {
        /// About what.
        artifact_id: String,
        /// The hash of what was shown.
        expected: String,
        /// The hash of what is there.
        actual: String,
        /// What is there, without texts.
        files: Vec<InboxFile>,
    },
    /// The state of the folder forbids it.
    #[error("{0}")]
    Refused(String),
    /// A company is to be made in a folder that has something in it.
    #[error("the folder `{dir}` is not empty{}", company_note(*is_company))]
    FolderNotEmpty {
        /// The folder as the caller wrote it.
        dir: String,
        /// Whether it is a company folder already.
        is_company: bool,
    },
    /// What is wrong with the files of the folder forbids it.
    #[error("{sentence}")]
    FolderInvalid {
        /// What is not done.
        sentence: String,
        /// What is wrong.
        issues: Vec<ValidationIssue>,
    },
    /// Another process holds the write lock and does not let go.
    #[error("Timed out waiting for workspace write lock: {0}")]
    LockTimeout(String),
    /// Another process holds the lock of a file of lines and does not let go.
    #[error("timed out waiting for the lock of `{}`", .0.display())]
    FileLocked(PathBuf),
    /// The disk is full.
    #[error("the disk with the company folder is full")]
    DiskFull,
    /// The system did not do what it was told.
    #[error("`{path}` could not be {verb}")]
    Io {
        /// What was tried: `read`, `written`.
        verb: &'static str,
        /// Which file. For the log; the wire gets the file's name alone.
        path: PathBuf,
        /// What the system said.
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

impl Error {
    /// Wraps what the system said about `path`.
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

    /// Whether another process was in the way, so that the same call may succeed later.
    pub fn is_transient(&self) -> bool {
        matches!(self, Self::LockTimeout(_) | Self::FileLocked(_))
    }

    /// Whether the file is simply not there.
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

    /// Says what is missing in the words of whoever asked.
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

/// What a sentence about a folder that is not empty adds.
fn company_note(is_company: bool) -> &'static str {
    if is_company {
        " and holds a company already"
    } else {
        ""
    }
}
