//! What all connections of one process share.

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
    linking::Links,
    methods,
    peer::RelativePaths,
    providers::{Config, Providers},
    surroundings::Around,
    turns,
    watch::{self, Watch},
};

/// A running gateway, whatever transports lead to it.
#[derive(Debug)]
pub struct Gateway {
    /// The database.
    pub(crate) store: CrudStore,
    /// Who is told what.
    pub(crate) hub: Hub,
    /// What is known of other processes' doings.
    pub(crate) watch: Watch,
    /// Times and ids.
    pub(crate) sources: Sources,
    /// Who a token belongs to.
    pub(crate) tokens: StoredTokens,
    /// Which browsers are signed in.
    pub(crate) desktop_sessions: DesktopSessions,
    /// The turn loop.
    pub(crate) agent: Agent,
    /// The model providers.
    pub(crate) providers: Arc<Providers>,
    /// The bytes of artifacts.
    pub(crate) artifacts: Artifacts,
    /// The company folders.
    pub(crate) companies: Companies,
    /// Which of them are linked to workspaces.
    pub(crate) links: Links,
    /// The worker sessions.
    pub(crate) sessions: runner::Sessions,
    /// The jobs of workers.
    pub(crate) jobs: runner::Jobs,
    /// The heartbeats of company folders.
    pub(crate) heartbeats: runner::Heartbeats,
    /// The worker programs.
    pub(crate) adapters: runner::Adapters,
    /// Their indexes.
    pub(crate) indexes: Indexes,
    /// What keeps their indexes up to date.
    pub(crate) index_worker: Arc<SyncWorker>,
    /// Who hears of their events.
    pub(crate) company_events: Arc<CompanyEvents>,
    /// The home, to see which other processes live.
    pub(crate) home: Home,
    /// Tells other processes that this one lives.
    owner: Owner,
    router: Router<Context>,
}

/// How a gateway is opened.
#[derive(Clone)]
pub struct GatewayOptions {
    /// Times and ids.
    pub sources: Sources,
    /// How the database is opened.
    pub database: crud::Options,
    /// The command that makes projections in a process of its own; none makes none.
    pub projection_worker: Option<Vec<OsString>>,
    /// Whether this process lives long enough to go on with sessions whose gateway is gone.
    pub takes_over_sessions: bool,
    /// What the artifacts of one workspace may take.
    pub artifact_quota: crud::Quota,
}

impl GatewayOptions {
    /// The usual limits of the artifacts of one workspace.
    pub const ARTIFACT_QUOTA: crud::Quota = artifacts::limits::QUOTA;

    /// The usual ones. `on_fatal` is called when the disk can no longer be trusted, and must end the process.
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
    /// Opens the database of a home, marks what an earlier process left unfinished and starts what runs in the
    /// background.
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
            session_options.secrets = runner::GatewaySecrets::new(move || {
                let mut held = keys.keys();
                held.push(token.clone());
                held
            });
            session_options.briefer = runner::Briefer::new(Arc::new(Briefs::new(gateway.clone())));
            let sessions = runner::Sessions::new(companies.clone(), session_options);
            let around = Around {
                indexes: indexes.clone(),
                inputs: RunInputs::new(gateway.clone()),
            };
            let jobs = runner::Jobs::new(sessions.clone(), Arc::new(around));
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
                heartbeats: runner::Heartbeats::new(jobs.clone()),
                jobs,
                companies,
                links: Links::default(),
                indexes,
                index_worker,
                company_events,
                adapters: runner::Adapters::default(),
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

    /// Marks turns as interrupted whose process is gone.
    pub(crate) async fn recover_turns(&self) -> Result<usize, agent::Error> {
        self.agent.recover(|owner| self.home.is_alive(owner)).await
    }

    /// The folder at a path, whatever it is. The path may lead over a network, so it is followed on a thread that may
    /// wait.
    pub(crate) async fn folder_at(&self, dir: &str) -> Result<Company, Failure> {
        let (companies, dir) = (self.companies.clone(), dir.to_owned());
        let found = tokio::task::spawn_blocking(move || companies.at(&dir)).await;
        found.map_err(|panic| Failure::incident(&panic))
    }

    /// Goes on with the worker sessions of linked company folders whose gateway is gone: they wait for somebody who
    /// reads what they print.
    #[expect(
        clippy::disallowed_methods,
        reason = "whoever starts the gateway owns the sessions of its home"
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
            if let Err(error) = self.sessions.look_at(&company, may).await {
                tracing::warn!(%error, dir, "sessions of an earlier gateway cannot be taken over");
            }
        }
    }

    /// The database.
    pub fn store(&self) -> &CrudStore {
        &self.store
    }

    /// Who a token belongs to.
    pub fn tokens(&self) -> &StoredTokens {
        &self.tokens
    }

    /// Which browsers are signed in.
    pub fn desktop_sessions(&self) -> &DesktopSessions {
        &self.desktop_sessions
    }

    /// Begins to stop the worker sessions, so that whoever waits for their end is answered. [`Gateway::close`] waits
    /// for it.
    pub fn stop_sessions(&self) {
        let sessions = self.sessions.clone();
        tokio::spawn(async move { sessions.close().await });
    }

    /// Waits until no job is worked on and no worker session runs.
    pub async fn sessions_over(&self) {
        self.jobs.settle().await;
        self.sessions.settle().await;
    }

    /// Ends what runs, worker sessions first, waiting for turns at most `patience`, and closes the database.
    pub async fn close(&self, patience: Duration) {
        self.jobs.close().await;
        self.agent.settle(patience).await;
        let worker = Arc::clone(&self.index_worker);
        let _ = tokio::task::spawn_blocking(move || worker.close()).await;
        let store = self.store.clone();
        let _ = tokio::task::spawn_blocking(move || store.close()).await;
        self.owner.release();
    }

    /// The dispatch table.
    pub fn router(&self) -> &Router<Context> {
        &self.router
    }

    /// A new connection of `principal`.
    pub fn connect(self: &Arc<Self>, principal: Principal) -> Arc<Peer> {
        Peer::new(Arc::clone(self), principal, RelativePaths::Refused)
    }

    /// A connection of the client that started this process, in whose current folder it runs.
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
