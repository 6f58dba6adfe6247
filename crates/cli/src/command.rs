//! The commands, one file each.

use std::{path::PathBuf, process::ExitCode};

use clap::{Args, Parser, Subcommand};

use crate::failure::Failure;

mod agents_md;
mod artifact;
mod pm;
mod projection_worker;
mod serve;
mod server_start;
mod token;

/// A local-first gateway for a company of AI agents.
#[derive(Debug, Parser)]
#[command(name = "ac", version, arg_required_else_help = true)]
pub(crate) struct Command {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Serve HTTP and WebSocket clients on one port.
    Serve(serve::Serve),
    /// Serve one client on standard input and output, one JSON object a line.
    #[command(name = "server:start")]
    ServerStart(server_start::ServerStart),
    /// Take AGENTS.md files into the thread tree, or write them out.
    #[command(name = "agents-md")]
    AgentsMd(agents_md::AgentsMd),
    /// Upload, download and list files of a workspace.
    Artifact(artifact::Artifact),
    /// Draw or print the plan of a project.
    Pm(pm::Pm),
    /// Make, list and revoke tokens for other clients.
    Token(token::Token),
    #[command(name = "projection-worker", hide = true)]
    ProjectionWorker(projection_worker::ProjectionWorker),
}

/// Where the gateway keeps its things.
#[derive(Args, Clone, Debug)]
pub(crate) struct HomeOption {
    /// The home folder [default: $ACCORD_HOME, else `accord` in the data folder of the platform]
    #[arg(long, value_name = "DIR")]
    home: Option<PathBuf>,
}

impl HomeOption {
    pub(crate) fn path(&self) -> Result<PathBuf, Failure> {
        let named = self.home.clone().or_else(gateway::default_home);
        named.ok_or(Failure::NoHome)
    }
}

impl Command {
    /// The exit code of a command that must run before anything else is started.
    pub(crate) fn run_alone(&self) -> Option<ExitCode> {
        match &self.action {
            Action::ProjectionWorker(worker) => Some(worker.run()),
            Action::Serve(_)
            | Action::ServerStart(_)
            | Action::AgentsMd(_)
            | Action::Artifact(_)
            | Action::Pm(_)
            | Action::Token(_) => None,
        }
    }

    pub(crate) async fn run(self) -> Result<(), Failure> {
        match self.action {
            Action::Serve(serve) => serve.run().await,
            Action::ServerStart(server_start) => server_start.run().await,
            Action::AgentsMd(agents_md) => agents_md.run().await,
            Action::Artifact(artifact) => artifact.run().await,
            Action::Pm(pm) => pm.run().await,
            Action::Token(token) => token.run().await,
            // It has run alone.
            Action::ProjectionWorker(_) => Ok(()),
        }
    }
}

/// The options of every gateway this binary opens.
pub(crate) fn gateway_options() -> gateway::GatewayOptions {
    let mut options = gateway::GatewayOptions::system(|sentence| {
        crate::terminal::complain(&format!("error: {sentence}"));
        // What is in memory cannot be trusted any more, so nothing is tidied up.
        std::process::exit(70);
    });
    // Without its own path the gateway works, and makes no previews.
    let program = std::env::current_exe().ok();
    options.projection_worker =
        program.map(|program| vec![program.into_os_string(), "projection-worker".into()]);
    options
}

/// Resolves when somebody wants the process to end.
async fn stop_signal() {
    use tokio::signal::unix::{SignalKind, signal};
    let (Ok(mut terminate), Ok(mut interrupt)) = (
        signal(SignalKind::terminate()),
        signal(SignalKind::interrupt()),
    ) else {
        // Without handlers the signals end the process by themselves.
        return std::future::pending().await;
    };
    tokio::select! {
        _ = terminate.recv() => {}
        _ = interrupt.recv() => {}
    }
}
