//! Tests of sessions with real processes, including misbehaving ones.

#![expect(
    clippy::unwrap_used,
    reason = "helpers of these tests are part of them"
)]

mod budget;
mod ending;
mod fixture;
mod launch;
mod output;
mod queue;
mod recovery;
mod worktree;
