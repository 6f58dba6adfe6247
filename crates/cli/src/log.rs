//! Structured logs on standard error, as loud as `ACCORD_LOG` says.

use std::{env, io, io::IsTerminal as _};

use tracing::{Level, Metadata};
use tracing_subscriber::{
    filter::{Targets, filter_fn},
    layer::SubscriberExt as _,
    util::SubscriberInitExt as _,
};

use crate::failure::Failure;

/// How much is logged unless `ACCORD_LOG` says otherwise.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Loudness {
    /// Of a process that serves clients: its log is all that its operator sees.
    Warnings,
    /// Of a command: it prints what went wrong itself, in one sentence.
    Silent,
}

/// Starts logging. Standard output is left to answers.
pub(crate) fn start(loudness: Loudness) -> Result<(), Failure> {
    let wanted = env::var("ACCORD_LOG")
        .ok()
        .filter(|value| !value.trim().is_empty());
    let usual = match loudness {
        Loudness::Warnings => "warn",
        Loudness::Silent => "off",
    };
    let value = wanted.unwrap_or_else(|| usual.to_owned());
    let Ok(targets) = value.parse::<Targets>() else {
        return Err(Failure::LogLevel { value });
    };
    let lines = tracing_subscriber::fmt::layer()
        .with_writer(io::stderr)
        .with_ansi(io::stderr().is_terminal());
    tracing_subscriber::registry()
        .with(targets)
        .with(filter_fn(is_fit_to_print))
        .with(lines)
        .init();
    Ok(())
}

/// The database layer prints every statement with its values below `info`, which are other people's texts; and it
/// panics at a statement that names a value twice. It is quiet, however loud the rest is.
fn is_fit_to_print(metadata: &Metadata<'_>) -> bool {
    !metadata.target().starts_with(crud::LAYER_LOG_TARGET) || *metadata.level() <= Level::INFO
}
