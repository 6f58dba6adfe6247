//! `ac`, the command-line program of Accord. Each command is a file under `command/`.

mod command;
mod failure;
mod folder;
mod local;
mod log;
mod names;
mod privacy;
mod terminal;
mod worker_session;

use std::{num::NonZero, process::ExitCode, thread};

use clap::Parser as _;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    privacy::close_memory();
    let command = match command::Command::try_parse() {
        Ok(command) => command,
        Err(misuse) => return failure::Failure::from(misuse).report(),
    };
    if let Some(code) = command.run_alone() {
        return code;
    }
    if let Err(failure) = log::start(command.default_log_level()) {
        return failure.report();
    }
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .thread_name("ac")
        .worker_threads(workers())
        .enable_all()
        .build();
    let ended = match runtime {
        Ok(runtime) => {
            let ended = runtime.block_on(command.run());
            // A thread may be blocked in a read of standard input that never returns, so do not wait for it.
            runtime.shutdown_background();
            ended
        }
        Err(source) => Err(failure::Failure::Runtime { source }),
    };
    match ended {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => failure.report(),
    }
}

/// Returns the number of runtime threads: half of the processors. Database, hashing and agents use their own threads
/// and processes, and idle runtime threads would only wake each other for every message.
fn workers() -> usize {
    thread::available_parallelism()
        .map_or(1, NonZero::get)
        .div_ceil(2)
}
