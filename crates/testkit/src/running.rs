//! A gateway inside the test, on a home of its own.

use std::sync::{Arc, Mutex};

use gateway::{Gateway, GatewayOptions, Home, Principal, Sources};
use rpc::Client;
use tempfile::TempDir;

use crate::{CountingIds, TickingClock};

/// A gateway with exact times and ids. The home goes when it does.
#[derive(Debug)]
pub struct TestGateway {
    /// The gateway itself.
    pub gateway: Arc<Gateway>,
    /// Every statement the database was asked to run.
    pub statements: Statements,
    home: TempDir,
}

/// A record of SQL statements.
#[derive(Clone, Debug, Default)]
pub struct Statements(Arc<Mutex<Vec<String>>>);

impl Statements {
    /// What was recorded since the last call.
    pub fn take(&self) -> Vec<String> {
        std::mem::take(&mut *self.0.lock().expect("nobody panics while recording"))
    }
}

/// Starts a gateway.
pub async fn gateway() -> TestGateway {
    let home = tempfile::tempdir().expect("a temporary folder can be made");
    let statements = Statements::default();
    let sources = Sources {
        clock: Arc::new(TickingClock::default()),
        ids: Arc::new(CountingIds::default()),
    };
    let mut database = crud::Options::new(crate::FIRST_TIME, |sentence| panic!("{sentence}"));
    let record = statements.clone();
    database.statement_log = Some(Arc::new(move |sql| {
        let mut recorded = record.0.lock().expect("nobody panics while recording");
        recorded.push(sql.to_owned());
    }));
    let options = GatewayOptions { sources, database };
    let opened = Home::open(home.path()).expect("a temporary folder can be a home");
    let opened = Gateway::open(&opened, &options).await;
    TestGateway {
        gateway: opened.expect("a gateway starts on an empty home"),
        statements,
        home,
    }
}

impl TestGateway {
    /// A new connection of the owner.
    pub fn client(&self) -> Client {
        self.client_of(Principal::owner())
    }

    /// A new connection of somebody else.
    pub fn client_of(&self, principal: Principal) -> Client {
        rpc::memory::connect(self.gateway.connect(principal))
    }

    /// The home of the gateway.
    pub fn home(&self) -> &std::path::Path {
        self.home.path()
    }
}
