//! The state that all connections of one process share.

use std::{ffi::OsString, sync::Arc, time::Duration};

use agent::Agent;
use company::{Companies, Company};
use crud::CrudStore;
use index::{Indexes, SyncWorker};
use protocol::MayExec;
use rpc::{Failure, Hub, Router};

use crate::{
    Context, DesktopSessions, Error, Home, Peer, Principal, Sources, StoredTokens,
    artifacts::{self, Artifacts, inputs::RunInputs},
    briefs::Briefs,
    company_events::CompanyEvents,
    home::Owner,
    janitor,
    job_services::GatewayJobServices,
    linking::Links,
    methods,
    peer::RelativePaths,
    providers::{Config, Providers},
    turns,
    watch::{self, Watch},
};

/// A running gateway, independent of the transports that connect clients to it.
#[derive(Debug)]
pub struct Gateway {
    /// The gateway database.
    pub(crate) store: CrudStore,
    /// Distributes notifications to connections.
    pub(crate) hub: Hub,
    /// The last published state of each workspace, used to detect changes made by other processes.
    pub(crate) watch: Watch,
    /// The clock and the id generator.
    pub(crate) sources: Sources,
    /// Resolves bearer tokens to principals.
    pub(crate) tokens: StoredTokens,
    /// The desktop sessions: browsers that are signed in.
    pub(crate) desktop_sessions: DesktopSessions,
    /// The turn loop.
    pub(crate) agent: Agent,
    /// The model providers.
    pub(crate) providers: Arc<Providers>,
    /// The artifact store and its limits.
    pub(crate) artifacts: Artifacts,
    /// Opens company folders.
    pub(crate) companies: Companies,
    /// The project names of the company folders that this process has linked to workspaces.
    pub(crate) links: Links,
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
    /// The home directory, used to check which other processes are alive.
    pub(crate) home: Home,
    /// The locked file that marks this process as alive for other processes.
    owner: Owner,
    router: Router<Context>,
}

/// Options for [`Gateway::open`].
#[derive(Clone)]
pub struct GatewayOptions {
    /// The clock and the id generator.
    pub sources: Sources,
    /// The options of the database.
    pub database: crud::Options,
    /// The command that renders projections in a child process. With `None` no projections are made.
    pub projection_worker: Option<Vec<OsString>>,
    /// Whether this process takes over worker sessions whose gateway has exited. Short-lived processes set this to
    /// `false`.
    pub takes_over_sessions: bool,
    /// The storage limits for the artifacts of one workspace.
    pub artifact_quota: crud::Quota,
}

impl GatewayOptions {
    /// The default storage limits for the artifacts of one workspace.
    pub const ARTIFACT_QUOTA: crud::Quota = artifacts::limits::QUOTA;

    /// Returns the default options with the system clock and random ids.
    ///
    /// The database calls `on_fatal` when the disk can no longer be trusted; the callback must end the process.
    pub fn system(on_fatal: impl Fn(&str) + Send + Sync + 'static) -> Self {
        let sources = Sources::system();
        let database = crud::Options::new(sources.clock.now(), on_fatal);
        Self {
            sources,
            database,
            projection_worker: None,
            takes_over_sessions: true,
            artifact_quota: Self::ARTIFACT_QUOTA,
        }
    }
}

impl Gateway {
    /// Opens the database of a home, marks turns that an earlier process left unfinished as interrupted, and starts the
    /// background tasks.
    pub async fn open(home: &Home, options: &GatewayOptions) -> Result<Arc<Self>, Error> {
        let config = Config::read(&home.path().join("config.toml"))?;
        let session_options = config.sessions();
        let providers = Arc::new(Providers::open(
            config,
            home.path().join("provider_keys.json"),
        )?);
        let (artifacts, unverified) = Artifacts::open(
            &home.path().join("artifacts"),
            options.artifact_quota,
            options.projection_worker.is_some(),
        )?;
        let owner = home.claim()?;
        let store = CrudStore::open(home.path(), &options.database);
        let store = store.map_err(|source| Error::Database { source })?;
        let token = home.token()?;
        let tokens = StoredTokens::new(token.clone(), home.token_file(), store.clone());
        let desktop_sessions = DesktopSessions::new(&token, store.clone());
        let sources = options.sources.clone();
        let company_events = CompanyEvents::new();
        let indexes = Indexes::new();
        let clock = Arc::clone(&sources.clock);
        let index_worker = SyncWorker::new(indexes.clone(), Arc::new(move || clock.now_ms()));
        let index_worker = Arc::new(index_worker);
        let trust =
            company::Trust::of_home(home.path()).map_err(|source| Error::Trust { source })?;
        let companies = company_events.companies(&sources, trust, &index_worker);
        index_worker.serve(companies.clone());
        let gateway = Arc::new_cyclic(|gateway| {
            let mut session_options = session_options;
            session_options.takes_over = options.takes_over_sessions;
            let (token, keys) = (token.clone(), Arc::clone(&providers));
            session_options.secrets = sessions::GatewaySecrets::new(move || {
                let mut held = keys.keys();
                held.push(token.clone());
                held
            });
            session_options.instructions_source =
                sessions::InstructionsSource::new(Arc::new(Briefs::new(gateway.clone())));
            let sessions = sessions::Sessions::new(companies.clone(), session_options);
            let around = GatewayJobServices {
                indexes: indexes.clone(),
                inputs: RunInputs::new(gateway.clone()),
            };
            let jobs = jobs::Jobs::new(sessions.clone(), Arc::new(around));
            Self {
                agent: turns::agent(
                    gateway.clone(),
                    &store,
                    &sources,
                    Arc::clone(&providers),
                    owner.name().to_owned(),
                ),
                tokens,
                desktop_sessions,
                watch: Watch::new(store.workspaces_at_open()),
                store,
                hub: Hub::default(),
                sources,
                providers,
                artifacts,
                sessions,
                heartbeats: jobs::Heartbeats::new(jobs.clone()),
                jobs,
                companies,
                links: Links::default(),
                indexes,
                index_worker,
                company_events,
                adapters: sessions::Adapters::default(),
                home: home.clone(),
                owner,
                router: methods::router(),
            }
        });
        gateway
            .recover_turns()
            .await
            .map_err(|source| Error::Recovery { source })?;
        tokio::spawn(watch::run(Arc::downgrade(&gateway)));
        tokio::spawn(janitor::run(Arc::downgrade(&gateway)));
        tokio::spawn(artifacts::run_maintenance(Arc::downgrade(&gateway)));
        tokio::spawn(artifacts::run_verification(
            Arc::downgrade(&gateway),
            unverified,
        ));
        tokio::spawn(artifacts::run_projections(
            Arc::downgrade(&gateway),
            options.projection_worker.clone(),
        ));
        Ok(gateway)
    }

    /// Marks the turns of processes that have exited as interrupted and returns their number.
    pub(crate) async fn recover_turns(&self) -> Result<usize, agent::Error> {
        self.agent.recover(|owner| self.home.is_alive(owner)).await
    }

    /// Opens the company folder at a path without checking that it is one.
    ///
    /// Resolves the path on a blocking thread, because it may be on a network file system.
    pub(crate) async fn folder_at(&self, dir: &str) -> Result<Company, Failure> {
        let (companies, dir) = (self.companies.clone(), dir.to_owned());
        let found = tokio::task::spawn_blocking(move || companies.at(&dir)).await;
        found.map_err(|panic| Failure::incident(&panic))
    }

    /// Takes over the worker sessions of linked company folders whose gateway has exited. Until then the output of
    /// these workers is not read.
    #[expect(
        clippy::disallowed_methods,
        reason = "the process that starts the gateway owns the sessions of its home"
    )]
    pub async fn take_over_sessions(&self) {
        let may = MayExec::granted();
        let linked = match self.store.workspaces().list().await {
            Ok(linked) => linked,
            Err(error) => {
                tracing::warn!(%error, "the company folders cannot be listed");
                return;
            }
        };
        for dir in linked.into_iter().filter_map(|workspace| workspace.dir) {
            let Ok(company) = self.folder_at(&dir).await else {
                continue;
            };
            if let Err(error) = self.sessions.recover_once(&company, may).await {
                tracing::warn!(%error, dir, "sessions of an earlier gateway cannot be taken over");
            }
        }
    }

    /// Returns the gateway database.
    pub fn store(&self) -> &CrudStore {
        &self.store
    }

    /// Returns the resolver of bearer tokens.
    pub fn tokens(&self) -> &StoredTokens {
        &self.tokens
    }

    /// Returns the desktop sessions.
    pub fn desktop_sessions(&self) -> &DesktopSessions {
        &self.desktop_sessions
    }

    /// Starts to stop the worker sessions in the background, so that requests waiting for the end of a session are
    /// answered. [`Gateway::close`] waits until the sessions have stopped.
    pub fn stop_sessions(&self) {
        let sessions = self.sessions.clone();
        tokio::spawn(async move { sessions.close().await });
    }

    /// Waits until no job is in progress and no worker session is running.
    pub async fn sessions_over(&self) {
        self.jobs.settle().await;
        self.sessions.settle().await;
    }

    /// Stops the jobs and worker sessions, waits at most `patience` for running turns, and closes the index worker and
    /// the database.
    pub async fn close(&self, patience: Duration) {
        self.jobs.close().await;
        self.agent.settle(patience).await;
        let worker = Arc::clone(&self.index_worker);
        let _ = tokio::task::spawn_blocking(move || worker.close()).await;
        let store = self.store.clone();
        let _ = tokio::task::spawn_blocking(move || store.close()).await;
        self.owner.release();
    }

    /// Returns the dispatch table of all methods.
    pub fn router(&self) -> &Router<Context> {
        &self.router
    }

    /// Creates a connection for `principal`. Relative paths of company folders are rejected on it.
    pub fn connect(self: &Arc<Self>, principal: Principal) -> Arc<Peer> {
        Peer::new(Arc::clone(self), principal, RelativePaths::Refused)
    }

    /// Creates a connection for the client that started this process. Relative paths are resolved against the current
    /// directory, which this process inherited from that client.
    pub(crate) fn connect_parent(self: &Arc<Self>, principal: Principal) -> Arc<Peer> {
        let relative_paths = RelativePaths::FromCurrentFolder;
        Peer::new(Arc::clone(self), principal, relative_paths)
    }
}

impl std::fmt::Debug for GatewayOptions {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("GatewayOptions")
    }
}
