//! Why a command ended without doing what it was asked to.

use std::{
    io,
    path::{Path, PathBuf},
    process::ExitCode,
};

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
    /// There is nothing to sign out.
    #[error("no browser is signed in with a session `{id}`: `ac desktop-session list` shows them")]
    UnknownDesktopSession { id: String },
    /// The doctor found something.
    #[error("{}", match count { 1 => "one thing is broken".to_owned(), count => format!("{count} things are broken") })]
    Unwell { count: usize },
    /// There is no backup, or it was not restored.
    #[error(transparent)]
    Backup(#[from] backup::Error),
    /// Somebody decided otherwise before.
    #[error("{sentence}, which is final")]
    Decided { sentence: String },
    /// What is decided about is not what was shown.
    #[error(
        "nothing was decided, because `{id}` changed since it was shown: `ac inbox {id}` shows it as it is now"
    )]
    Changed { id: String },
    /// A worker is not a person.
    #[error(
        "decisions are for people, and this command runs in the session of a worker: decide in a terminal of your own or on the desktop"
    )]
    WorkerSession,
    /// The answer says that something is wrong.
    #[error("{detail}")]
    Unsound { detail: String },
    /// Something there would be lost.
    #[error("{detail}")]
    InTheWay { detail: String },
    /// Files of a repository and documents of the tree say different things.
    #[error("{}", match count { 1 => "one file is not in step with the tree".to_owned(), count => format!("{count} files are not in step with the tree") })]
    Drift { count: usize },
    /// The arguments make no sense, or help was asked for.
    #[error("{}", sentence(_0))]
    Usage(#[from] clap::Error),
    /// No command was given.
    #[error("no command was given")]
    NoCommand,
    /// There is no such command.
    #[error("there is no command `{name}`{}", hint.as_ref().map(|hint| format!("; did you mean `ac {hint}`?")).unwrap_or_default())]
    UnknownCommand { name: String, hint: Option<String> },
    /// Only the beginning of a command was given.
    #[error("`ac {name}` is no command by itself; these begin with it:\n{commands}")]
    CommandGroup { name: String, commands: String },
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
    #[error("`{}` {}", path.display(), cause(path, source))]
    File { path: PathBuf, source: io::Error },
    /// What came is not what was sent.
    #[error(
        "the bytes of `{name}` do not have their hash: they were damaged on their way or where they are kept"
    )]
    Damaged { name: String },
    /// The gateway refused.
    #[error("{}", terminal::reworded(&_0.to_string()))]
    Call(#[from] rpc::client::Error),
    /// The terminal is gone.
    #[error("cannot write to standard output: {0}")]
    Output(#[from] io::Error),
}

impl Failure {
    /// A company folder has no such project.
    pub(crate) fn no_project(id: &str) -> Self {
        Self::Unsound {
            detail: format!(
                "there is no project `{}` in this company folder: `ac workspace:projects:list` shows them",
                terminal::harmless(id)
            ),
        }
    }

    /// Tells the person and answers the exit code.
    pub(crate) fn report(&self) -> ExitCode {
        tracing::debug!(error = ?self, "the command failed");
        if let Self::Usage(asked) = self
            && !asked.use_stderr()
        {
            // Help and version, which is what was asked for.
            return match asked.print() {
                Ok(()) => ExitCode::SUCCESS,
                Err(_) => ExitCode::FAILURE,
            };
        }
        // Whoever reads has read enough, as `head` does.
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

    /// Whether the arguments are wrong, and not what was found.
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
            let message = terminal::harmless(&terminal::reworded(issue["message"].as_str()?));
            Some(if path.is_empty() {
                message
            } else {
                format!("{}: {message}", path.join("."))
            })
        };
        list.into_iter().flatten().filter_map(said).collect()
    }

    /// What to do about it, where that does not follow from the sentence.
    fn hint(&self) -> Option<String> {
        #[expect(
            clippy::wildcard_enum_match_arm,
            reason = "most sentences need no hint"
        )]
        let hint = match self {
            Self::UnknownCommand { .. } => {
                "`ac --help` shows the commands, `ac methods` those of the protocol"
            }
            Self::NoCommand => "`ac demo` shows everything at work, `ac --help` lists the commands",
            Self::Usage(misuse) if is_group(misuse) => return None,
            Self::Usage(misuse) => return Some(tip(misuse)),
            // The log of a command is silent unless it is asked for.
            Self::Call(rpc::client::Error::Rpc { data, .. }) if data["incident_id"].is_string() => {
                "the log is what `ac serve` prints; without a gateway, run the command again with ACCORD_LOG=error"
            }
            // The gateway says it itself.
            Self::Call(rpc::client::Error::Rpc { data, .. }) => {
                let hint = data["hint"].as_str()?;
                return Some(terminal::harmless(&terminal::reworded(hint)));
            }
            Self::File { source, .. } | Self::Gateway(gateway::Error::Home { source, .. })
                if source.kind() == io::ErrorKind::PermissionDenied =>
            {
                "it belongs to another account: name another one, or let its owner give you access"
            }
            Self::Gateway(gateway::Error::Database { .. }) | Self::Database(_) => {
                "`ac doctor` tells what is wrong with the database and how to mend it"
            }
            _ => return None,
        };
        Some(hint.to_owned())
    }
}

/// Why the system refuses a file, as the end of a sentence.
fn cause(path: &Path, error: &io::Error) -> String {
    use io::ErrorKind;
    let folder = path
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty());
    if error.kind() == ErrorKind::NotFound && folder.is_some_and(|folder| !folder.is_dir()) {
        return "cannot be used: its folder is not there".to_owned();
    }
    if error.kind() == ErrorKind::NotADirectory && path.is_file() {
        return "is a file, not a folder".to_owned();
    }
    let causes = [
        (ErrorKind::NotFound, "is not there"),
        (ErrorKind::IsADirectory, "is a folder"),
        (
            ErrorKind::NotADirectory,
            "is below something that is not a folder",
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

/// Whether the gateway found fault with the request itself: an unknown method, or params that do not fit.
fn is_bad_request(code: i64, data: &Value) -> bool {
    const INVALID_PARAMS: i64 = -32602;
    // The company family answers params that do not fit together with the code of an unknown method, as it does for
    // things that are missing.
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

/// Whether only the beginning of a command was given, such as `ac doc`.
fn is_group(misuse: &clap::Error) -> bool {
    misuse.kind() == clap::error::ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand
}

/// The commands that begin with what was given, from the help that clap has for it.
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
    format!("`{name}` is no command by itself; these begin with it:\n{table}")
}

/// What clap has to say, in one line, or the commands to choose from.
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

/// What clap suggests, or where to look.
fn tip(misuse: &clap::Error) -> String {
    let text = misuse.to_string();
    let mut lines = text.lines().map(str::trim);
    let tip = lines.find_map(|line| line.strip_prefix("tip: ").map(str::to_owned));
    let usage = text.lines().find_map(|line| line.strip_prefix("Usage: "));
    tip.or_else(|| usage.map(|usage| format!("usage: {usage}")))
        .unwrap_or_else(|| "`ac --help` shows the commands".to_owned())
}
