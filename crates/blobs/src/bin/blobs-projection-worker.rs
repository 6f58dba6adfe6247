//! The projection worker as a separate program, for the tests of this crate. `ac` includes it as a hidden command.

use std::{io, process::ExitCode};

use blobs::projection::{ProjectionKind, run_child};

fn main() -> ExitCode {
    let kind = std::env::args().nth(1);
    match kind.as_deref().and_then(ProjectionKind::parse) {
        Some(kind) => run_child(kind, io::stdin().lock(), io::stdout().lock()),
        None => ExitCode::FAILURE,
    }
}
