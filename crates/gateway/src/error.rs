//! Why a gateway cannot start.

use std::{io, net::SocketAddr, path::PathBuf};

/// One sentence for the person at the terminal; the source goes to the log.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The home cannot be used.
    #[error("the home `{}` cannot be used: {source}", path.display())]
    Home {
        /// The folder.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// Another `ac serve` runs on it.
    #[error("the home `{}` is already served by process {pid}: stop it first, or choose another home with --home", path.display())]
    AlreadyServed {
        /// The folder.
        path: PathBuf,
        /// The other process.
        pid: String,
    },
    /// A file of settings cannot be used.
    #[error("`{}` cannot be used: {detail}", path.display())]
    Config {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        detail: String,
    },
    /// The folder of artifacts cannot be used.
    #[error("the folder `artifacts` of the home cannot be used: {source}")]
    Blobs {
        /// What the blob store said.
        source: blobs::Error,
    },
    /// Turns that were cut off cannot be marked.
    #[error("the turns of an earlier run cannot be read: {source}")]
    Recovery {
        /// What the turn loop said.
        source: agent::Error,
    },
    /// The token file cannot be used.
    #[error("the token file of the home cannot be used: {source}")]
    Token {
        /// What the system said.
        source: io::Error,
    },
    /// What the home knows of company folders cannot be used.
    #[error(
        "what the home knows of company folders cannot be used: {source}: {}",
        root_cause(source)
    )]
    Trust {
        /// What `company` said.
        source: company::Error,
    },
    /// The database cannot be used.
    #[error("{source}: {}", root_cause(source))]
    Database {
        /// What `crud` said.
        source: crud::OpenError,
    },
    /// No code to sign in with can be stored.
    #[error("a code to sign in to the desktop cannot be stored: {source}")]
    SignIn {
        /// What `crud` said.
        source: crud::Error,
    },
    /// The address cannot be used.
    #[error("cannot listen on {listen}: {source}")]
    Listen {
        /// The address.
        listen: SocketAddr,
        /// What the system said.
        source: io::Error,
    },
    /// The ready file cannot be written.
    #[error("the ready file `{}` cannot be written: {source}", path.display())]
    ReadyFile {
        /// The file.
        path: PathBuf,
        /// What the system said.
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
