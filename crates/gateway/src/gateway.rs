//! What all connections of one process share.

use std::sync::Arc;

use crud::CrudStore;
use rpc::{Hub, Router};

use crate::{
    Context, Error, Home, Peer, Principal, Sources, StoredTokens, janitor, methods,
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
    router: Router<Context>,
}

/// How a gateway is opened.
#[derive(Clone)]
pub struct GatewayOptions {
    /// Times and ids.
    pub sources: Sources,
    /// How the database is opened.
    pub database: crud::Options,
}

impl GatewayOptions {
    /// The usual ones. `on_fatal` is called when the disk can no longer be trusted, and must end the process.
    pub fn system(on_fatal: impl Fn(&str) + Send + Sync + 'static) -> Self {
        let sources = Sources::system();
        let database = crud::Options::new(sources.clock.now(), on_fatal);
        Self { sources, database }
    }
}

impl Gateway {
    /// Opens the database of a home and starts what runs in the background.
    pub fn open(home: &Home, options: &GatewayOptions) -> Result<Arc<Self>, Error> {
        let store = CrudStore::open(home.path(), &options.database);
        let store = store.map_err(|source| Error::Database { source })?;
        let gateway = Arc::new(Self {
            tokens: StoredTokens::new(home.token()?, store.clone()),
            watch: Watch::new(store.workspaces_at_open()),
            store,
            hub: Hub::default(),
            sources: options.sources.clone(),
            router: methods::router(),
        });
        tokio::spawn(watch::run(Arc::downgrade(&gateway)));
        tokio::spawn(janitor::run(Arc::downgrade(&gateway)));
        Ok(gateway)
    }

    /// The database.
    pub fn store(&self) -> &CrudStore {
        &self.store
    }

    /// Who a token belongs to.
    pub fn tokens(&self) -> &StoredTokens {
        &self.tokens
    }

    /// The dispatch table.
    pub fn router(&self) -> &Router<Context> {
        &self.router
    }

    /// A new connection of `principal`.
    pub fn connect(self: &Arc<Self>, principal: Principal) -> Arc<Peer> {
        Peer::new(Arc::clone(self), principal)
    }
}

impl std::fmt::Debug for GatewayOptions {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("GatewayOptions")
    }
}
