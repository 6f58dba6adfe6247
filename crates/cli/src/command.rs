//! The commands of `ac`, one file each.

use std::{ffi::OsString, path::PathBuf, process::ExitCode};

use clap::{Args, CommandFactory as _, Parser, Subcommand};

use protocol::company::ReviewDecision;

use crate::{failure::Failure, folder, log::DefaultLogLevel};

pub(crate) use method::command_name;

mod adapters;
mod agents_md;
mod artifact;
mod ask;
mod backup;
mod company;
mod completions;
mod cooldown;
mod demo;
mod desktop_session;
mod doc;
mod doctor;
mod inbox;
mod method;
mod open;
mod pm;
mod projection_worker;
mod restore;
mod search;
mod serve;
mod server_start;
mod service;
mod status;
mod token;
mod trash;
mod tree;
mod trust;
mod watch;

/// A local-first gateway for a company of AI agents.
///
/// Every method of the protocol is a command, too, such as `ac workspace:init DIR` or `ac thread/tree`. `ac methods`
/// lists them.
#[derive(Debug, Parser)]
#[command(
    name = "ac",
    version,
    after_help = "Exit codes: 0 success, 1 refused, failed, or problems found, 2 invalid arguments, 70 the disk can no longer be trusted."
)]
pub(crate) struct Command {
    #[command(flatten)]
    home: HomeOption,
    #[command(subcommand)]
    action: Option<CommandAction>,
}

#[derive(Debug, Subcommand)]
enum CommandAction {
    /// Serve HTTP and WebSocket clients on one port.
    Serve(serve::ServeCommand),
    /// Create a small demo company and serve it.
    Demo(demo::DemoCommand),
    /// Serve one client on standard input and output, one JSON object per line.
    #[command(name = "server:start")]
    ServerStart(server_start::ServerStartCommand),
    /// Show the status of the home, its gateway and the current company.
    Status(status::StatusCommand),
    /// Remove company folders from the home, such as deleted ones.
    Company(company::CompanyCommand),
    /// Trust a company folder that was copied, cloned or restored.
    Trust(trust::TrustCommand),
    /// Watch runs, sessions, events and the inbox of a company in the terminal.
    Watch(watch::WatchCommand),
    /// List the worker programs of this machine and choose how they are billed.
    Adapters(adapters::AdaptersCommand),
    /// List and clear cool-downs of providers, which hold sessions in the queue.
    Cooldown(cooldown::CooldownCommand),
    /// Open the web desktop in a browser, signed in.
    Open(open::OpenCommand),
    /// List items that wait for a decision, or show one of them.
    Inbox(inbox::InboxCommand),
    /// Approve an item that waits for a decision.
    Approve(inbox::DecideCommand),
    /// Deny an item that waits for a decision.
    Deny(inbox::DecideCommand),
    /// Print the thread tree of a workspace.
    Tree(tree::TreeCommand),
    /// List, restore and purge items that were deleted from the thread tree.
    Trash(trash::TrashCommand),
    /// Show and change the AGENTS.md of a folder of the thread tree.
    Doc(doc::DocCommand),
    /// Ask a model, with the AGENTS.md of the thread's folder in the prompt.
    Ask(ask::AskCommand),
    /// Search the documents, messages, comments, tasks and events of a company.
    Search(search::SearchCommand),
    /// Import, export and synchronise AGENTS.md files of a repository and the thread tree.
    #[command(name = "agents-md")]
    AgentsMd(agents_md::AgentsMdCommand),
    /// Upload, download and list files of a workspace.
    Artifact(artifact::ArtifactCommand),
    /// Draw or export the plan of a project.
    Pm(pm::PmCommand),
    /// Create, list and revoke tokens for other clients.
    Token(token::TokenCommand),
    /// List the browsers that are signed in to the desktop and sign them out.
    #[command(name = "desktop-session")]
    DesktopSession(desktop_session::DesktopSessionCommand),
    /// Check the home and its company folders and suggest repairs.
    Doctor(doctor::DoctorCommand),
    /// Back up a home and its company folders to one file, even while the gateway runs.
    Backup(backup::BackupCommand),
    /// Restore a home and its company folders from a backup.
    Restore(restore::RestoreCommand),
    /// Print a service file that starts the gateway at login.
    Service(service::ServiceCommand),
    /// Print a completion script for a shell.
    Completions(completions::CompletionsCommand),
    /// List the methods of the protocol, each of which is a command.
    Methods(method::MethodsCommand),
    /// Call a method with JSON params.
    #[command(name = "rpc:call")]
    RpcCall(method::RpcCallCommand),
    #[command(external_subcommand)]
    Method(Vec<OsString>),
    #[command(name = "projection-worker", hide = true)]
    ProjectionWorker(projection_worker::ProjectionWorkerCommand),
}

/// The `--home` option: the folder where the gateway keeps its data.
#[derive(Args, Clone, Debug)]
pub(crate) struct HomeOption {
    /// Home folder [default: $ACCORD_HOME, else `accord` in the data folder of the platform]
    #[arg(long, value_name = "DIR", global = true, value_parser = folder::argument())]
    home: Option<PathBuf>,
}

impl HomeOption {
    pub(crate) fn is_named(&self) -> bool {
        self.home.is_some()
    }

    pub(crate) fn path(&self) -> Result<PathBuf, Failure> {
        let named = self.home.clone().or_else(gateway::default_home);
        // `ACCORD_HOME` may begin with `~` too.
        folder::expanded(&named.ok_or(Failure::NoHome)?)
    }
}

impl Command {
    /// Runs a command that must run before logging and the async runtime are started, and returns its exit code. `None`
    /// for all other commands.
    pub(crate) fn run_alone(&self) -> Option<ExitCode> {
        if let Some(CommandAction::ProjectionWorker(worker)) = &self.action {
            return Some(worker.run());
        }
        None
    }

    /// Returns the default log level: warnings for commands that serve clients, otherwise nothing.
    pub(crate) fn default_log_level(&self) -> DefaultLogLevel {
        let serves = matches!(
            self.action,
            Some(CommandAction::Serve(_) | CommandAction::ServerStart(_) | CommandAction::Demo(_))
        );
        if serves {
            DefaultLogLevel::Warnings
        } else {
            DefaultLogLevel::Silent
        }
    }

    pub(crate) async fn run(self) -> Result<(), Failure> {
        let Some(action) = self.action else {
            return Err(Failure::NoCommand);
        };
        match action {
            CommandAction::Serve(serve) => serve.run().await,
            CommandAction::Demo(demo) => demo.run().await,
            CommandAction::ServerStart(server_start) => server_start.run().await,
            CommandAction::AgentsMd(agents_md) => agents_md.run().await,
            CommandAction::Artifact(artifact) => artifact.run().await,
            CommandAction::Pm(pm) => pm.run().await,
            CommandAction::Token(token) => token.run().await,
            CommandAction::DesktopSession(session) => session.run().await,
            CommandAction::Doctor(doctor) => doctor.run().await,
            CommandAction::Backup(backup) => backup.run().await,
            CommandAction::Restore(restore) => restore.run().await,
            CommandAction::Status(status) => status.run().await,
            CommandAction::Company(company) => company.run().await,
            CommandAction::Watch(watch) => watch.run().await,
            CommandAction::Trust(trust) => trust.run().await,
            CommandAction::Adapters(adapters) => adapters.run().await,
            CommandAction::Cooldown(cooldown) => cooldown.run().await,
            CommandAction::Open(open) => open.run().await,
            CommandAction::Inbox(inbox) => inbox.run().await,
            CommandAction::Approve(decide) => decide.run(ReviewDecision::Approved).await,
            CommandAction::Deny(decide) => decide.run(ReviewDecision::Denied).await,
            CommandAction::Tree(tree) => tree.run().await,
            CommandAction::Trash(trash) => trash.run().await,
            CommandAction::Doc(doc) => doc.run().await,
            CommandAction::Ask(ask) => ask.run().await,
            CommandAction::Search(search) => search.run().await,
            CommandAction::Service(service) => service.run(),
            CommandAction::Completions(completions) => {
                completions.run();
                Ok(())
            }
            CommandAction::Methods(methods) => methods.run(),
            CommandAction::RpcCall(call) => call.run().await,
            CommandAction::Method(arguments) => method::run(arguments, self.home, &names()).await,
            // Handled by `run_alone`.
            CommandAction::ProjectionWorker(_) => Ok(()),
        }
    }
}

/// Returns the names of the commands that are not methods.
fn names() -> Vec<String> {
    let command = Command::command();
    let visible = command.get_subcommands().filter(|one| !one.is_hide_set());
    visible.map(|one| one.get_name().to_owned()).collect()
}

/// Returns the options of every gateway that this program opens.
pub(crate) fn gateway_options() -> gateway::GatewayOptions {
    let mut options = gateway::GatewayOptions::system(|sentence| {
        crate::terminal::complain(&format!("error: {sentence}"));
        // The state in memory can no longer be trusted, so exit without any cleanup.
        std::process::exit(70);
    });
    // If the path of this program is unknown, the gateway works without previews.
    let program = std::env::current_exe().ok();
    options.projection_worker =
        program.map(|program| vec![program.into_os_string(), "projection-worker".into()]);
    options
}

/// Runs blocking work, such as disk access, on a thread of its own.
pub(crate) async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, Failure> {
    let done = tokio::task::spawn_blocking(work).await;
    done.map_err(|panic| Failure::Runtime {
        source: std::io::Error::other(panic),
    })
}

/// Resolves when the process receives SIGTERM or SIGINT. The handlers are installed by the call itself, not by the first
/// poll, so that a signal that arrives before the future is awaited is not lost.
pub(crate) fn stop_signal() -> impl Future<Output = ()> {
    use tokio::signal::unix::{SignalKind, signal};
    let handlers = (
        signal(SignalKind::terminate()),
        signal(SignalKind::interrupt()),
    );
    async {
        let (Ok(mut terminate), Ok(mut interrupt)) = handlers else {
            // Without handlers the signals end the process by themselves.
            return std::future::pending().await;
        };
        tokio::select! {
            _ = terminate.recv() => {}
            _ = interrupt.recv() => {}
        }
    }
}
