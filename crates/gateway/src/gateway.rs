//! The state that all connections of one process share.

use std::{ffi::OsString, sync::Arc, time::Duration};

use artifacts::{ArtifactOptions, Artifacts};
use blobs::store::LocalBlobs;
use crud::CrudStore;
use index::{Indexes, SyncWorker};
use protocol::MayExec;
use rpc::{Hub, Router};
use sources::Sources;

use crate::{
    Context, Dispatch, Error, Home, Principal,
    artifact_notifications::ArtifactNotifications,
    attachments::TurnAttachments,
    auth::{DesktopSessions, StoredTokens},
    company_events::CompanyEvents,
    janitor::{self, Janitor},
    job_services::GatewayJobServices,
    linking::Links,
    methods,
    notify::Notifier,
    peer::{Peer, RelativePaths},
    providers::{Config, Providers},
    run_inputs::RunInputs,
    services::Services,
    turns::{self, TurnNotifications},
    watch::{self, Watch, WatchServices},
    worker_prompts::{WorkerPromptServices, WorkerPrompts},
};

/// A running gateway, independent of the transports that connect clients to it.
#[derive(Debug)]
pub struct Gateway {
    /// The services that all connections share.
    pub(crate) services: Arc<Services>,
    /// The dispatch table of all methods.
    router: Arc<Router<Context>>,
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
        let mut session_options = config.sessions();
        let providers = Arc::new(Providers::open(
            config,
            home.path().join("provider_keys.json"),
        )?);
        let blobs = LocalBlobs::open(&home.path().join("artifacts"))
            .map_err(|source| Error::Blobs { source })?;
        let owner = home.claim()?;
        let store = CrudStore::open(home.path(), &options.database);
        let store = store.map_err(|source| Error::Database { source })?;
        let token = home.token()?;
        let tokens = StoredTokens::new(token.clone(), home.token_file(), store.clone());
        let desktop_sessions = Arc::new(DesktopSessions::new(&token, store.clone()));
        let sources = options.sources.clone();
        let hub = Arc::new(Hub::default());
        let notifier = Notifier::new(store.clone(), Arc::clone(&hub));
        let watch = WatchServices {
            store: store.clone(),
            hub: Arc::clone(&hub),
            notifier: notifier.clone(),
            desktop_sessions: Arc::clone(&desktop_sessions),
            clock: Arc::clone(&sources.clock),
        };
        let watch = Arc::new(Watch::new(watch, store.workspaces_at_open()));
        let notifications =
            ArtifactNotifications::new(notifier.clone(), Arc::clone(&sources.clock));
        let artifact_options = ArtifactOptions {
            store: store.clone(),
            blobs,
            sources: sources.clone(),
            listener: Arc::new(notifications.clone()),
            quota: options.artifact_quota,
            makes_projections: options.projection_worker.is_some(),
        };
        let (artifacts, unverified) = Artifacts::new(artifact_options);
        let agent = turns::agent(
            &store,
            &sources,
            Arc::clone(&providers),
            TurnNotifications {
                notifier: notifier.clone(),
                watch: Arc::clone(&watch),
            },
            TurnAttachments {
                store: store.clone(),
                artifacts: Arc::clone(&artifacts),
                notifications: notifications.clone(),
            },
            owner.name().to_owned(),
        );
        let links = Arc::new(Links::new(
            store.clone(),
            sources.clone(),
            notifier.clone(),
            Arc::clone(&watch),
        ));
        let company_events = CompanyEvents::new();
        let indexes = Indexes::new();
        let clock = Arc::clone(&sources.clock);
        let index_worker = SyncWorker::new(indexes.clone(), Arc::new(move || clock.now_ms()));
        let index_worker = Arc::new(index_worker);
        let trust =
            company::Trust::of_home(home.path()).map_err(|source| Error::Trust { source })?;
        let companies = company_events.companies(&sources, trust, &index_worker);
        index_worker.serve(companies.clone());
        session_options.takes_over = options.takes_over_sessions;
        let keys = Arc::clone(&providers);
        session_options.secrets = sessions::GatewaySecrets::new(move || {
            let mut held = keys.keys();
            held.push(token.clone());
            held
        });
        let worker_prompts = WorkerPrompts::new(WorkerPromptServices {
            store: store.clone(),
            sources: sources.clone(),
            agent: agent.clone(),
            links: Arc::clone(&links),
            artifacts: Arc::clone(&artifacts),
            notifier: notifier.clone(),
            notifications,
        });
        session_options.instructions_source =
            sessions::InstructionsSource::new(Arc::new(worker_prompts));
        let sessions = sessions::Sessions::new(companies.clone(), session_options);
        let job_services = GatewayJobServices {
            indexes: indexes.clone(),
            inputs: RunInputs {
                store: store.clone(),
                sources: sources.clone(),
                artifacts: Arc::clone(&artifacts),
            },
        };
        let jobs = jobs::Jobs::new(sessions.clone(), Arc::new(job_services));
        let janitor = Arc::new(Janitor {
            store: store.clone(),
            notifier: notifier.clone(),
            watch: Arc::clone(&watch),
            desktop_sessions: Arc::clone(&desktop_sessions),
            agent: agent.clone(),
            clock: Arc::clone(&sources.clock),
            home: home.clone(),
        });
        let services = Arc::new(Services {
            store,
            hub,
            notifier,
            watch,
            janitor,
            sources,
            tokens,
            desktop_sessions,
            agent,
            providers,
            artifacts,
            companies,
            links,
            sessions,
            heartbeats: jobs::Heartbeats::new(jobs.clone()),
            jobs,
            adapters: sessions::Adapters::default(),
            indexes,
            index_worker,
            company_events,
            owner,
        });
        let recovered = services.janitor.recover_turns().await;
        recovered.map_err(|source| Error::Recovery { source })?;
        tokio::spawn(watch::run(Arc::downgrade(&services.watch)));
        tokio::spawn(janitor::run(Arc::downgrade(&services.janitor)));
        let artifacts = Arc::downgrade(&services.artifacts);
        tokio::spawn(artifacts::run_maintenance(artifacts.clone()));
        tokio::spawn(artifacts::run_verification(artifacts.clone(), unverified));
        tokio::spawn(artifacts::run_projections(
            artifacts,
            options.projection_worker.clone(),
        ));
        Ok(Arc::new(Self {
            services,
            router: Arc::new(methods::router()),
        }))
    }

    /// Permanently deletes items that have been in the trash for 30 days.
    pub async fn purge_trash(&self) {
        self.services.janitor.purge_trash().await;
    }

    /// Extends the desktop sessions that are in use, deletes those that have expired and closes their connections.
    pub async fn tend_desktop_sessions(&self) {
        self.services.janitor.tend_desktop_sessions().await;
    }

    /// Takes over the worker sessions of linked company folders whose gateway has exited. Until then the output of
    /// these workers is not read.
    #[expect(
        clippy::disallowed_methods,
        reason = "the process that starts the gateway owns the sessions of its home"
    )]
    pub async fn take_over_sessions(&self) {
        let may = MayExec::granted();
        let linked = match self.services.store.workspaces().list().await {
            Ok(linked) => linked,
            Err(error) => {
                tracing::warn!(%error, "the company folders cannot be listed");
                return;
            }
        };
        for dir in linked.into_iter().filter_map(|workspace| workspace.dir) {
            let Ok(company) = self.services.folder_at(&dir).await else {
                continue;
            };
            if let Err(error) = self.services.sessions.recover_once(&company, may).await {
                tracing::warn!(%error, dir, "sessions of an earlier gateway cannot be taken over");
            }
        }
    }

    /// Returns the gateway database.
    pub fn store(&self) -> &CrudStore {
        &self.services.store
    }

    /// Returns the resolver of bearer tokens.
    pub fn tokens(&self) -> &StoredTokens {
        &self.services.tokens
    }

    /// Returns the desktop sessions.
    pub fn desktop_sessions(&self) -> &DesktopSessions {
        &self.services.desktop_sessions
    }

    /// Starts to stop the worker sessions in the background, so that requests waiting for the end of a session are
    /// answered. [`Gateway::close`] waits until the sessions have stopped.
    pub fn stop_sessions(&self) {
        let sessions = self.services.sessions.clone();
        tokio::spawn(async move { sessions.close().await });
    }

    /// Waits until no job is in progress and no worker session is running.
    pub async fn sessions_over(&self) {
        self.services.jobs.settle().await;
        self.services.sessions.settle().await;
    }

    /// Stops the jobs and worker sessions, waits at most `patience` for running turns, and closes the index worker and
    /// the database.
    pub async fn close(&self, patience: Duration) {
        self.services.jobs.close().await;
        self.services.agent.settle(patience).await;
        let worker = Arc::clone(&self.services.index_worker);
        let _ = tokio::task::spawn_blocking(move || worker.close()).await;
        let store = self.services.store.clone();
        let _ = tokio::task::spawn_blocking(move || store.close()).await;
        self.services.owner.release();
    }

    /// Returns the dispatch table of all methods.
    pub fn router(&self) -> &Router<Context> {
        &self.router
    }

    /// Creates a connection for `principal`. Relative paths of company folders are rejected on it.
    pub fn connect(&self, principal: Principal) -> Arc<Dispatch> {
        self.dispatch(principal, RelativePaths::Refused)
    }

    /// Creates a connection for the client that started this process. Relative paths are resolved against the current
    /// directory, which this process inherited from that client.
    pub(crate) fn connect_parent(&self, principal: Principal) -> Arc<Dispatch> {
        self.dispatch(principal, RelativePaths::FromCurrentFolder)
    }

    fn dispatch(&self, principal: Principal, relative_paths: RelativePaths) -> Arc<Dispatch> {
        let peer = Peer::new(Arc::clone(&self.services), principal, relative_paths);
        Dispatch::new(peer, Arc::clone(&self.router))
    }
}

impl std::fmt::Debug for GatewayOptions {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("GatewayOptions")
    }
}
