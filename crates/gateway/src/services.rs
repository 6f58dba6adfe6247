//! The services that all connections of one process share.

use std::sync::Arc;

use agent::Agent;
use artifacts::Artifacts;
use company::{Companies, Company};
use crud::CrudStore;
use index::{Indexes, SyncWorker};
use rpc::{Failure, Hub};
use sources::Sources;

use crate::{
    auth::{DesktopSessions, StoredTokens},
    blocking::blocking,
    company_events::CompanyEvents,
    home::Owner,
    janitor::Janitor,
    linking::Links,
    notify::Notifier,
    providers::Providers,
    watch::Watch,
};

/// The services of a gateway. The handlers of a request reach them through its context.
#[derive(Debug)]
pub(crate) struct Services {
    /// The gateway database.
    pub(crate) store: CrudStore,
    /// Distributes notifications to connections.
    pub(crate) hub: Arc<Hub>,
    /// Publishes notifications with sequence numbers.
    pub(crate) notifier: Notifier,
    /// The last published state of each workspace, used to detect changes made by other processes.
    pub(crate) watch: Arc<Watch>,
    /// The periodic maintenance of the database.
    pub(crate) janitor: Arc<Janitor>,
    /// The clock and the id generator.
    pub(crate) sources: Sources,
    /// Resolves bearer tokens to principals.
    pub(crate) tokens: StoredTokens,
    /// The desktop sessions: browsers that are signed in.
    pub(crate) desktop_sessions: Arc<DesktopSessions>,
    /// The turn loop.
    pub(crate) agent: Agent,
    /// The model providers.
    pub(crate) providers: Arc<Providers>,
    /// The artifacts: their rows, their bytes and their limits.
    pub(crate) artifacts: Arc<Artifacts>,
    /// Opens company folders.
    pub(crate) companies: Companies,
    /// Links company folders to workspaces.
    pub(crate) links: Arc<Links>,
    /// The worker sessions.
    pub(crate) sessions: sessions::Sessions,
    /// The jobs of workers.
    pub(crate) jobs: jobs::Jobs,
    /// The heartbeats of company folders.
    pub(crate) heartbeats: jobs::Heartbeats,
    /// The adapters of worker programs.
    pub(crate) adapters: sessions::Adapters,
    /// The indexes of company folders.
    pub(crate) indexes: Indexes,
    /// The background worker that keeps the indexes up to date.
    pub(crate) index_worker: Arc<SyncWorker>,
    /// The subscriptions to the events of company folders.
    pub(crate) company_events: Arc<CompanyEvents>,
    /// The locked file that marks this process as alive for other processes. It stays locked while a connection uses
    /// the services.
    pub(crate) owner: Owner,
}

impl Services {
    /// Opens the company folder at a path without checking that it is one.
    ///
    /// Resolves the path on a blocking thread, because it may be on a network file system.
    pub(crate) async fn folder_at(&self, dir: &str) -> Result<Company, Failure> {
        let (companies, dir) = (self.companies.clone(), dir.to_owned());
        blocking(move || companies.locate(&dir)).await
    }
}
