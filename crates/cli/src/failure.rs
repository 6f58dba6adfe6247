//! Why a command ended without doing what it was asked to.

use std::{io, path::PathBuf, process::ExitCode};

use crate::terminal;

/// One sentence for the person at the terminal.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Failure {
    /// `ACCORD_LOG` makes no sense.
    #[error(
        "ACCORD_LOG is `{value}`: expected a level such as `info`, or levels by target such as `warn,rpc=debug`"
    )]
    LogLevel { value: String },
    /// The system gives no threads.
    #[error("the runtime cannot be started: {source}")]
    Runtime { source: io::Error },
    /// Nobody said where the home is.
    #[error("there is no home folder: set HOME, or name one with --home")]
    NoHome,
    /// The gateway says why.
    #[error(transparent)]
    Gateway(#[from] gateway::Error),
    /// The database says why.
    #[error("the database of the home cannot be used: {0}")]
    Database(#[from] crud::Error),
    /// What was asked for is no token.
    #[error(transparent)]
    Token(#[from] gateway::InvalidToken),
    /// There is nothing to revoke.
    #[error("there is no valid token `{id}`: `ac token list` shows them")]
    UnknownToken { id: String },
    /// There is no such command.
    #[error("there is no command `{name}`{}", hint.as_ref().map(|hint| format!("; did you mean `ac {hint}`?")).unwrap_or_default())]
    UnknownCommand { name: String, hint: Option<String> },
    /// No folder was named, and there is none around here.
    #[error("`{}` is in no company folder: name one, or make one with `ac workspace:init DIR`", here.display())]
    NoCompany { here: PathBuf },
    /// An argument makes no sense.
    #[error("{detail}")]
    Argument { detail: String },
    /// An id makes no sense.
    #[error(transparent)]
    Id(#[from] protocol::InvalidId),
    /// A file cannot be read or written.
    #[error("`{}` cannot be used: {source}", path.display())]
    File { path: PathBuf, source: io::Error },
    /// What came is not what was sent.
    #[error("the bytes of `{name}` do not have their hash: try again")]
    Damaged { name: String },
    /// The gateway refused.
    #[error(transparent)]
    Call(#[from] rpc::client::Error),
    /// The terminal is gone.
    #[error("cannot write to standard output: {0}")]
    Output(#[from] io::Error),
}

impl Failure {
    /// Tells the person and answers the exit code.
    pub(crate) fn report(&self) -> ExitCode {
        tracing::debug!(error = ?self, "the command failed");
        terminal::complain(&format!("error: {self}"));
        if let Some(hint) = self.hint() {
            terminal::complain(&format!("hint: {hint}"));
        }
        match self {
            Self::UnknownCommand { .. } | Self::NoCompany { .. } | Self::Argument { .. } => {
                ExitCode::from(2)
            }
            _ => ExitCode::FAILURE,
        }
    }

    /// What to do about it, where that does not follow from the sentence.
    fn hint(&self) -> Option<&'static str> {
        match self {
            Self::UnknownCommand { .. } => {
                Some("`ac --help` shows the commands, `ac methods` those of the protocol")
            }
            _ => None,
        }
    }
}
