//! `ac projection-worker`: creates one projection within strict limits. Started by the gateway, not by users.

use std::{io, process::ExitCode};

use blobs::projection::{ProjectionKind, run_child};
use clap::Args;

#[derive(Args, Debug)]
pub(crate) struct ProjectionWorkerCommand {
    /// Kind of projection.
    kind: String,
}

impl ProjectionWorkerCommand {
    /// Reads the artifact from standard input and writes the projection to standard output. Restricts the process
    /// first, so nothing else may have been started in it.
    pub(crate) fn run(&self) -> ExitCode {
        match ProjectionKind::parse(&self.kind) {
            Some(kind) => run_child(kind, io::stdin().lock(), io::stdout().lock()),
            None => ExitCode::FAILURE,
        }
    }
}
