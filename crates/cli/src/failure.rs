//! The errors of commands, their hints and exit codes.

use std::{
    io,
    path::{Path, PathBuf},
    process::ExitCode,
};

use serde_json::Value;

use crate::terminal;

/// An error of a command. `Display` is one sentence for the user.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Failure {
    /// `ACCORD_LOG` cannot be parsed.
    #[error(
        "ACCORD_LOG is `{value}`: expected a level such as `info`, or levels by target such as `warn,rpc=debug`"
    )]
    LogLevel { value: String },
    /// The async runtime cannot be started, or a background task panicked.
    #[error("the runtime cannot be started: {source}")]
    Runtime { source: io::Error },
    /// The location of the home is unknown.
    #[error("there is no home folder: set HOME, or name one with --home")]
    NoHome,
    /// The gateway cannot be opened or served.
    #[error(transparent)]
    Gateway(#[from] gateway::Error),
    /// A database operation failed.
    #[error("the database of the home cannot be used: {0}")]
    Database(#[from] crud::Error),
    /// The requested token is invalid.
    #[error(transparent)]
    Token(#[from] gateway::InvalidToken),
    /// The token to revoke does not exist or is already revoked.
    #[error("there is no valid token `{id}`: `ac token list` lists the tokens")]
    UnknownToken { id: String },
    /// The desktop session to end does not exist.
    #[error("there is no desktop session `{id}`: `ac desktop-session list` lists the sessions")]
    UnknownDesktopSession { id: String },
    /// `ac doctor` found failed checks.
    #[error("{}", match count { 1 => "one check failed".to_owned(), count => format!("{count} checks failed") })]
    Unwell { count: usize },
    /// A backup or restore failed.
    #[error(transparent)]
    Backup(#[from] backup::Error),
    /// The item already has the opposite decision.
    #[error("{sentence}, which is final")]
    Decided { sentence: String },
    /// The item changed after it was shown.
    #[error(
        "nothing was decided, because `{id}` changed since it was shown: `ac inbox {id}` shows it as it is now"
    )]
    Changed { id: String },
    /// A deciding command runs in a worker session.
    #[error(
        "only people may decide, but this command runs in a worker session: decide in your own terminal or on the desktop"
    )]
    WorkerSession,
    /// The operation ended with a problem, which `detail` describes.
    #[error("{detail}")]
    Unsound { detail: String },
    /// The operation would overwrite or lose data.
    #[error("{detail}")]
    InTheWay { detail: String },
    /// Files of a repository differ from the documents of the tree.
    #[error("{}", match count { 1 => "one file is out of sync with the tree".to_owned(), count => format!("{count} files are out of sync with the tree") })]
    Drift { count: usize },
    /// The arguments are invalid, or help or the version was requested.
    #[error("{}", sentence(_0))]
    Usage(#[from] clap::Error),
    /// No command was given.
    #[error("no command was given")]
    NoCommand,
    /// The command does not exist.
    #[error("there is no command `{name}`{}", hint.as_ref().map(|hint| format!("; did you mean `ac {hint}`?")).unwrap_or_default())]
    UnknownCommand { name: String, hint: Option<String> },
    /// Only the prefix of commands was given.
    #[error("`ac {name}` is not a command by itself; commands that start with it:\n{commands}")]
    CommandGroup { name: String, commands: String },
    /// The command needs a running gateway.
    #[error("no gateway serves this home: `ac serve` starts one")]
    NotServed,
    /// No company folder was given, and the current folder is not in one.
    #[error("`{}` is not in a company folder: name one, or create one with `ac workspace:init DIR`", here.display())]
    NoCompany { here: PathBuf },
    /// An argument is invalid.
    #[error("{detail}")]
    Argument { detail: String },
    /// An id is malformed.
    #[error(transparent)]
    Id(#[from] protocol::InvalidId),
    /// A file cannot be read or written.
    #[error("`{}` {}", path.display(), cause(path, source))]
    File { path: PathBuf, source: io::Error },
    /// Downloaded content does not match its hash.
    #[error(
        "the content of `{name}` does not match its SHA-256: it was damaged in transit or in storage"
    )]
    Damaged { name: String },
    /// The gateway rejected the call, or the connection failed.
    #[error("{}", terminal::reworded(&_0.to_string()))]
    Call(#[from] rpc::client::Error),
    /// Standard output cannot be written.
    #[error("cannot write to standard output: {0}")]
    Output(#[from] io::Error),
}

impl Failure {
    /// Returns the error for a project that the company folder does not have.
    pub(crate) fn no_project(id: &str) -> Self {
        Self::Unsound {
            detail: format!(
                "there is no project `{}` in this company folder: `ac workspace:projects:list` lists the projects",
                terminal::harmless(id)
            ),
        }
    }

    /// Prints the error to standard error and returns the exit code.
    pub(crate) fn report(&self) -> ExitCode {
        tracing::debug!(error = ?self, "the command failed");
        if let Self::Usage(asked) = self
            && !asked.use_stderr()
        {
            // Help and version were requested, so they are no errors.
            return match asked.print() {
                Ok(()) => ExitCode::SUCCESS,
                Err(_) => ExitCode::FAILURE,
            };
        }
        // The reader closed the pipe on purpose, as `head` does.
        if matches!(self, Self::Output(error) if error.kind() == io::ErrorKind::BrokenPipe) {
            return ExitCode::SUCCESS;
        }
        let sentence = terminal::plain(&self.to_string());
        terminal::complain(&format!("error: {sentence}"));
        for issue in self.issues() {
            terminal::complain(&format!("  {issue}"));
        }
        if let Some(hint) = self.hint() {
            terminal::complain(&format!("hint: {hint}"));
        }
        if self.is_misuse() {
            ExitCode::from(2)
        } else {
            ExitCode::FAILURE
        }
    }

    /// Returns whether the arguments are wrong, in which case the exit code is 2.
    fn is_misuse(&self) -> bool {
        match self {
            Self::UnknownCommand { .. }
            | Self::NoCompany { .. }
            | Self::Argument { .. }
            | Self::Usage(_)
            | Self::CommandGroup { .. }
            | Self::NoCommand
            | Self::Id(_)
            | Self::Token(_) => true,
            Self::Call(rpc::client::Error::Rpc { code, data, .. }) => is_bad_request(*code, data),
            Self::LogLevel { .. }
            | Self::Runtime { .. }
            | Self::NoHome
            | Self::Gateway(_)
            | Self::Database(_)
            | Self::UnknownToken { .. }
            | Self::UnknownDesktopSession { .. }
            | Self::Unwell { .. }
            | Self::Backup(_)
            | Self::Decided { .. }
            | Self::Unsound { .. }
            | Self::InTheWay { .. }
            | Self::Drift { .. }
            | Self::NotServed
            | Self::File { .. }
            | Self::Damaged { .. }
            | Self::Call(_)
            | Self::Changed { .. }
            | Self::WorkerSession
            | Self::Output(_) => false,
        }
    }

    /// Returns the invalid params that the gateway reported, one line each.
    fn issues(&self) -> Vec<String> {
        let Self::Call(rpc::client::Error::Rpc { data, .. }) = self else {
            return Vec::new();
        };
        let list = data.as_array().or_else(|| data["issues"].as_array());
        let line = |issue: &Value| {
            let path = issue["path"].as_array().into_iter().flatten();
            let path: Vec<String> = path
                .map(|step| {
                    step.as_str()
                        .map_or_else(|| step.to_string(), str::to_owned)
                })
                .collect();
            let message = terminal::harmless(&terminal::reworded(issue["message"].as_str()?));
            Some(if path.is_empty() {
                message
            } else {
                format!("{}: {message}", path.join("."))
            })
        };
        list.into_iter().flatten().filter_map(line).collect()
    }

    /// Returns the next step, where the error message does not already contain it.
    fn hint(&self) -> Option<String> {
        #[expect(clippy::wildcard_enum_match_arm, reason = "most errors need no hint")]
        let hint = match self {
            Self::UnknownCommand { .. } => {
                "`ac --help` lists the commands, `ac methods` lists those of the protocol"
            }
            Self::NoCommand => "`ac demo` starts a demo, `ac --help` lists the commands",
            Self::Usage(misuse) if is_group(misuse) => return None,
            Self::Usage(misuse) => return Some(tip(misuse)),
            // Commands log nothing unless `ACCORD_LOG` is set.
            Self::Call(rpc::client::Error::Rpc { data, .. }) if data["incident_id"].is_string() => {
                "the log is what `ac serve` prints; without a gateway, run the command again with ACCORD_LOG=error"
            }
            // The gateway sends its own hint.
            Self::Call(rpc::client::Error::Rpc { data, .. }) => {
                let hint = data["hint"].as_str()?;
                return Some(terminal::harmless(&terminal::reworded(hint)));
            }
            Self::File { source, .. } | Self::Gateway(gateway::Error::Home { source, .. })
                if source.kind() == io::ErrorKind::PermissionDenied =>
            {
                "it belongs to another account: name another path, or ask its owner for access"
            }
            Self::Gateway(gateway::Error::Database { .. }) | Self::Database(_) => {
                "`ac doctor` shows what is wrong with the database and how to repair it"
            }
            _ => return None,
        };
        Some(hint.to_owned())
    }
}

/// Describes why a file cannot be used, as the end of a sentence.
fn cause(path: &Path, error: &io::Error) -> String {
    use io::ErrorKind;
    let folder = path
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty());
    if error.kind() == ErrorKind::NotFound && folder.is_some_and(|folder| !folder.is_dir()) {
        return "cannot be used: its folder does not exist".to_owned();
    }
    if error.kind() == ErrorKind::NotADirectory && path.is_file() {
        return "is a file, not a folder".to_owned();
    }
    let causes = [
        (ErrorKind::NotFound, "does not exist"),
        (ErrorKind::IsADirectory, "is a folder"),
        (
            ErrorKind::NotADirectory,
            "is below a path that is not a folder",
        ),
        (
            ErrorKind::StorageFull,
            "cannot be written: the disk is full",
        ),
        (ErrorKind::InvalidData, "is not text in UTF-8"),
    ];
    let cause = causes.iter().find(|(kind, _)| *kind == error.kind());
    cause.map_or_else(
        || format!("cannot be used: {error}"),
        |(_, cause)| (*cause).to_owned(),
    )
}

/// Returns whether the request itself was invalid: an unknown method or invalid params.
fn is_bad_request(code: i64, data: &Value) -> bool {
    const INVALID_PARAMS: i64 = -32602;
    // The company family reports inconsistent params and missing objects with the code of an unknown method, so the
    // reason decides.
    const REASONS: [&str; 4] = [
        "METHOD_NOT_FOUND",
        "INVALID_PATH",
        "MISSING_PROJECT_ID",
        "MISSING_CONVERSATION_ID",
    ];
    let reason = data["reason_code"].as_str().or(data["kind"].as_str());
    code == INVALID_PARAMS
        || reason.is_some_and(|reason| REASONS.contains(&reason.to_ascii_uppercase().as_str()))
}

/// Returns whether only the prefix of a command was given, such as `ac doc`.
fn is_group(misuse: &clap::Error) -> bool {
    misuse.kind() == clap::error::ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand
}

/// Lists the subcommands, taken from the help text of clap.
fn group(misuse: &clap::Error) -> String {
    let help = misuse.to_string();
    let usage = help.lines().find_map(|line| line.strip_prefix("Usage: "));
    let name = usage
        .unwrap_or_default()
        .split(" [")
        .next()
        .unwrap_or_default();
    let name = name.split(" <").next().unwrap_or_default();
    let commands = help.lines().skip_while(|line| *line != "Commands:").skip(1);
    let commands = commands.take_while(|line| !line.is_empty());
    let rows: Vec<_> = commands
        .filter_map(|line| line.trim().split_once(' '))
        .filter(|(command, _)| *command != "help")
        .map(|(command, purpose)| vec![format!("{name} {command}"), purpose.trim().to_owned()])
        .collect();
    let table = terminal::table(&["COMMAND", "PURPOSE"], &rows);
    format!("`{name}` is not a command by itself; commands that start with it:\n{table}")
}

/// Returns the message of clap in one line, or the list of subcommands.
fn sentence(misuse: &clap::Error) -> String {
    if is_group(misuse) {
        return group(misuse);
    }
    let text = misuse.to_string();
    let lines = text.lines().take_while(|line| !line.trim().is_empty());
    let joined = lines.map(str::trim).collect::<Vec<_>>().join(" ");
    let joined = joined.strip_prefix("error: ").unwrap_or(&joined).to_owned();
    joined.trim_end_matches(':').to_owned()
}

/// Returns the suggestion of clap, otherwise the usage line.
fn tip(misuse: &clap::Error) -> String {
    let text = misuse.to_string();
    let mut lines = text.lines().map(str::trim);
    let tip = lines.find_map(|line| line.strip_prefix("tip: ").map(str::to_owned));
    let usage = text.lines().find_map(|line| line.strip_prefix("Usage: "));
    tip.or_else(|| usage.map(|usage| format!("usage: {usage}")))
        .unwrap_or_else(|| "`ac --help` lists the commands".to_owned())
}
