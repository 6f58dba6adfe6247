//! Errors that prevent a gateway from starting.

use std::{io, net::SocketAddr, path::PathBuf};

/// A startup failure, displayed as one sentence on the terminal.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The home directory cannot be created, resolved, read or locked.
    #[error("the home `{}` cannot be used: {source}", path.display())]
    Home {
        /// The path of the home.
        path: PathBuf,
        /// The error of the operating system.
        source: io::Error,
    },
    /// Another `ac serve` process holds the lock of this home.
    #[error("the home `{}` is already served by process {pid}: stop it first, or choose another home with --home", path.display())]
    AlreadyServed {
        /// The path of the home.
        path: PathBuf,
        /// The process id found in the lock file; empty if it could not be read.
        pid: String,
    },
    /// A configuration file cannot be read or contains an invalid value.
    #[error("`{}` cannot be used: {detail}", path.display())]
    Config {
        /// The path of the configuration file.
        path: PathBuf,
        /// What is wrong with the file.
        detail: String,
    },
    /// The directory `artifacts` of the home cannot be opened as a blob store.
    #[error("the folder `artifacts` of the home cannot be used: {source}")]
    Blobs {
        /// The error of the blob store.
        source: blobs::Error,
    },
    /// Turns left unfinished by an earlier process cannot be marked as interrupted.
    #[error("the turns of an earlier run cannot be read: {source}")]
    Recovery {
        /// The error of the turn loop.
        source: agent::Error,
    },
    /// The token file cannot be read or created, or the token in it is empty or too short.
    #[error("the token file of the home cannot be used: {source}")]
    Token {
        /// The error of the operating system, or `InvalidData` for an unusable token.
        source: io::Error,
    },
    /// The record of trusted company folders in the home cannot be read.
    #[error(
        "the list of trusted company folders in the home cannot be used: {source}: {}",
        root_cause(source)
    )]
    Trust {
        /// The error of the `company` crate.
        source: company::Error,
    },
    /// The database cannot be opened.
    #[error("{source}: {}", root_cause(source))]
    Database {
        /// The error of the `crud` crate.
        source: crud::OpenError,
    },
    /// The one-time sign-in code for the desktop cannot be stored in the database.
    #[error("a code to sign in to the desktop cannot be stored: {source}")]
    SignIn {
        /// The error of the `crud` crate.
        source: crud::Error,
    },
    /// The listen address cannot be bound.
    #[error("cannot listen on {listen}: {source}")]
    Listen {
        /// The requested address.
        listen: SocketAddr,
        /// The error of the operating system.
        source: io::Error,
    },
    /// The ready file, or the file `serving.json` of the home, cannot be written.
    #[error("the ready file `{}` cannot be written: {source}", path.display())]
    ReadyFile {
        /// The path of the file.
        path: PathBuf,
        /// The error of the operating system.
        source: io::Error,
    },
}

fn root_cause(error: &dyn std::error::Error) -> String {
    let mut cause = error;
    while let Some(source) = cause.source() {
        cause = source;
    }
    cause.to_string()
}
