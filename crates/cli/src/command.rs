//! The commands, one file each.

use std::{ffi::OsString, path::PathBuf, process::ExitCode};

use clap::{Args, CommandFactory as _, Parser, Subcommand};

use protocol::company::ReviewDecision;

use crate::{failure::Failure, folder, log::Loudness};

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
/// Every method is a command too, such as `ac workspace:init DIR` or `ac thread/tree`: `ac methods` lists them.
#[derive(Debug, Parser)]
#[command(
    name = "ac",
    version,
    after_help = "Exit codes: 0 done, 1 refused, failed, or found something broken or out of step, 2 wrong arguments, 70 the disk cannot be trusted."
)]
pub(crate) struct Command {
    #[command(flatten)]
    home: HomeOption,
    #[command(subcommand)]
    action: Option<Action>,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Serve HTTP and WebSocket clients on one port.
    Serve(serve::Serve),
    /// Make a small company to look around in, and serve it.
    Demo(demo::Demo),
    /// Serve one client on standard input and output, one JSON object a line.
    #[command(name = "server:start")]
    ServerStart(server_start::ServerStart),
    /// Tell how the home, its gateway and the company around here stand.
    Status(status::Status),
    /// Forget company folders that are gone.
    Company(company::Company),
    /// Say that you trust a company folder that came from elsewhere.
    Trust(trust::Trust),
    /// Watch runs, sessions, events and the inbox of a company in the terminal.
    Watch(watch::Watch),
    /// Show the worker programs of this machine, and choose how they are paid for.
    Adapters(adapters::Adapters),
    /// List and end the cool-downs of providers, which keep sessions in the queue.
    Cooldown(cooldown::Cooldown),
    /// Open the web desktop in a browser, signed in.
    Open(open::Open),
    /// Show what waits for a decision.
    Inbox(inbox::Inbox),
    /// Approve something that waits for a decision.
    Approve(inbox::Decide),
    /// Deny something that waits for a decision.
    Deny(inbox::Decide),
    /// Draw the thread tree of a workspace.
    Tree(tree::Tree),
    /// List, restore and delete for good what was deleted from the thread tree.
    Trash(trash::Trash),
    /// Read and change the AGENTS.md of a folder of the thread tree.
    Doc(doc::Doc),
    /// Ask a model; the AGENTS.md of the thread's folder is part of the prompt.
    Ask(ask::Ask),
    /// Find words in documents, messages, comments, tasks and events of a company.
    Search(search::Search),
    /// Take AGENTS.md files into the thread tree, write them out, or keep both in step.
    #[command(name = "agents-md")]
    AgentsMd(agents_md::AgentsMd),
    /// Upload, download and list files of a workspace.
    Artifact(artifact::Artifact),
    /// Draw or print the plan of a project.
    Pm(pm::Pm),
    /// Make, list and revoke tokens for other clients.
    Token(token::Token),
    /// List the browsers that are signed in to the desktop, and sign them out.
    #[command(name = "desktop-session")]
    DesktopSession(desktop_session::DesktopSessionCommand),
    /// Look whether everything is well, and say what to do where it is not.
    Doctor(doctor::Doctor),
    /// Save a home and its company folders in one file, while the gateway runs.
    Backup(backup::Backup),
    /// Make a home and its company folders from a backup.
    Restore(restore::Restore),
    /// Let the system start the gateway when you log in.
    Service(service::Service),
    /// Print a script that lets a shell complete `ac`.
    Completions(completions::Completions),
    /// List every method, each of which is a command.
    Methods(method::Methods),
    /// Call any method with JSON.
    #[command(name = "rpc:call")]
    RpcCall(method::RpcCall),
    #[command(external_subcommand)]
    Method(Vec<OsString>),
    #[command(name = "projection-worker", hide = true)]
    ProjectionWorker(projection_worker::ProjectionWorker),
}

/// Where the gateway keeps its things.
#[derive(Args, Clone, Debug)]
pub(crate) struct HomeOption {
    /// The home folder [default: $ACCORD_HOME, else `accord` in the data folder of the platform]
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
    /// The exit code of a command that must run before anything else is started.
    pub(crate) fn run_alone(&self) -> Option<ExitCode> {
        if let Some(Action::ProjectionWorker(worker)) = &self.action {
            return Some(worker.run());
        }
        None
    }

    /// How much the command logs. What serves clients logs warnings.
    pub(crate) fn loudness(&self) -> Loudness {
        let serves = matches!(
            self.action,
            Some(Action::Serve(_) | Action::ServerStart(_) | Action::Demo(_))
        );
        if serves {
            Loudness::Warnings
        } else {
            Loudness::Silent
        }
    }

    pub(crate) async fn run(self) -> Result<(), Failure> {
        let Some(action) = self.action else {
            return Err(Failure::NoCommand);
        };
        match action {
            Action::Serve(serve) => serve.run().await,
            Action::Demo(demo) => demo.run().await,
            Action::ServerStart(server_start) => server_start.run().await,
            Action::AgentsMd(agents_md) => agents_md.run().await,
            Action::Artifact(artifact) => artifact.run().await,
            Action::Pm(pm) => pm.run().await,
            Action::Token(token) => token.run().await,
            Action::DesktopSession(session) => session.run().await,
            Action::Doctor(doctor) => doctor.run().await,
            Action::Backup(backup) => backup.run().await,
            Action::Restore(restore) => restore.run().await,
            Action::Status(status) => status.run().await,
            Action::Company(company) => company.run().await,
            Action::Watch(watch) => watch.run().await,
            Action::Trust(trust) => trust.run().await,
            Action::Adapters(adapters) => adapters.run().await,
            Action::Cooldown(cooldown) => cooldown.run().await,
            Action::Open(open) => open.run().await,
            Action::Inbox(inbox) => inbox.run().await,
            Action::Approve(decide) => decide.run(ReviewDecision::Approved).await,
            Action::Deny(decide) => decide.run(ReviewDecision::Denied).await,
            Action::Tree(tree) => tree.run().await,
            Action::Trash(trash) => trash.run().await,
            Action::Doc(doc) => doc.run().await,
            Action::Ask(ask) => ask.run().await,
            Action::Search(search) => search.run().await,
            Action::Service(service) => service.run(),
            Action::Completions(completions) => {
                completions.run();
                Ok(())
            }
            Action::Methods(methods) => methods.run(),
            Action::RpcCall(call) => call.run().await,
            Action::Method(arguments) => method::run(arguments, self.home, &names()).await,
            // It has run alone.
            Action::ProjectionWorker(_) => Ok(()),
        }
    }
}

/// The commands that are no methods.
fn names() -> Vec<String> {
    let command = Command::command();
    let visible = command.get_subcommands().filter(|one| !one.is_hide_set());
    visible.map(|one| one.get_name().to_owned()).collect()
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

/// Work that waits for disks, beside the runtime.
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
