//! Structured logs on standard error, filtered by `ACCORD_LOG`.

use std::{env, io, io::IsTerminal as _};

use tracing::{Level, Metadata};
use tracing_subscriber::{
    filter::{Targets, filter_fn},
    layer::SubscriberExt as _,
    util::SubscriberInitExt as _,
};

use crate::failure::Failure;

/// The log level used when `ACCORD_LOG` is not set.
#[derive(Clone, Copy, Debug)]
pub(crate) enum DefaultLogLevel {
    /// Warnings and errors. For processes that serve clients, whose operator sees only the log.
    Warnings,
    /// Nothing. For commands, which print their errors themselves.
    Silent,
}

/// Starts logging to standard error. Standard output is reserved for results.
pub(crate) fn start(default_level: DefaultLogLevel) -> Result<(), Failure> {
    let configured = env::var("ACCORD_LOG")
        .ok()
        .filter(|value| !value.trim().is_empty());
    let default = match default_level {
        DefaultLogLevel::Warnings => "warn",
        DefaultLogLevel::Silent => "off",
    };
    let value = configured.unwrap_or_else(|| default.to_owned());
    let Ok(targets) = value.parse::<Targets>() else {
        return Err(Failure::LogLevel { value });
    };
    let lines = tracing_subscriber::fmt::layer()
        .with_writer(io::stderr)
        .with_ansi(io::stderr().is_terminal());
    tracing_subscriber::registry()
        .with(targets)
        .with(filter_fn(is_loggable))
        .with(lines)
        .init();
    Ok(())
}

/// Rejects records of the database layer below `info`, regardless of `ACCORD_LOG`: they contain statements with their
/// values, which are private texts, and formatting a statement that uses a value twice panics.
fn is_loggable(metadata: &Metadata<'_>) -> bool {
    !metadata.target().starts_with(crud::LAYER_LOG_TARGET) || *metadata.level() <= Level::INFO
}
