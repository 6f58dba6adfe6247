//! Why a command ended without doing what it was asked to.

use std::{io, path::PathBuf, process::ExitCode};

use serde_json::Value;

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
    /// The doctor found something.
    #[error("{}", match count { 1 => "one thing is broken".to_owned(), count => format!("{count} things are broken") })]
    Unwell { count: usize },
    /// There is no backup, or it was not restored.
    #[error(transparent)]
    Backup(#[from] gateway::BackupError),
    /// There is no such command.
    #[error("there is no command `{name}`{}", hint.as_ref().map(|hint| format!("; did you mean `ac {hint}`?")).unwrap_or_default())]
    UnknownCommand { name: String, hint: Option<String> },
    /// There is no gateway to talk to.
    #[error("no gateway serves this home: `ac serve` starts one")]
    NotServed,
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
        // Whoever reads has read enough, as `head` does.
        if matches!(self, Self::Output(error) if error.kind() == io::ErrorKind::BrokenPipe) {
            return ExitCode::SUCCESS;
        }
        terminal::complain(&format!("error: {self}"));
        for issue in self.issues() {
            terminal::complain(&format!("  {issue}"));
        }
        if let Some(hint) = self.hint() {
            terminal::complain(&format!("hint: {hint}"));
        }
        let is_misuse = matches!(
            self,
            Self::UnknownCommand { .. } | Self::NoCompany { .. } | Self::Argument { .. }
        );
        match is_misuse {
            true => ExitCode::from(2),
            false => ExitCode::FAILURE,
        }
    }

    /// Every param that does not fit, if the gateway says so.
    fn issues(&self) -> Vec<String> {
        let Self::Call(rpc::client::Error::Rpc { data, .. }) = self else {
            return Vec::new();
        };
        let list = data.as_array().or_else(|| data["issues"].as_array());
        let said = |issue: &Value| {
            let path = issue["path"].as_array().into_iter().flatten();
            let path: Vec<String> = path
                .map(|step| {
                    step.as_str()
                        .map_or_else(|| step.to_string(), str::to_owned)
                })
                .collect();
            Some(format!(
                "{}: {}",
                path.join("."),
                issue["message"].as_str()?
            ))
        };
        list.into_iter().flatten().filter_map(said).collect()
    }

    /// What to do about it, where that does not follow from the sentence.
    fn hint(&self) -> Option<&'static str> {
        matches!(self, Self::UnknownCommand { .. })
            .then_some("`ac --help` shows the commands, `ac methods` those of the protocol")
    }
}
