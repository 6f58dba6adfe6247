//! An in-process gateway with its own temporary home.

use std::{
    io::{Cursor, Write},
    sync::{Arc, Mutex},
};

use gateway::{
    Authenticator as _, Clock, Credential, Gateway, GatewayOptions, Home, IdSource, NewToken,
    Principal, Sources,
};
use rpc::Client;
use tempfile::TempDir;

use crate::{CountingIds, TickingClock};

/// A gateway with deterministic times and ids. The home is deleted with the last handle.
#[derive(Debug)]
pub struct TestGateway {
    /// The gateway under test.
    pub gateway: Arc<Gateway>,
    /// All statements run by the database.
    pub statements: Statements,
    home: Arc<TempDir>,
    sources: Sources,
    clock: Arc<TickingClock>,
    quota: crud::Quota,
}

/// A record of SQL statements.
#[derive(Clone, Debug, Default)]
pub struct Statements(Arc<Mutex<Vec<String>>>);

impl Statements {
    /// Returns and clears the statements recorded so far.
    pub fn take(&self) -> Vec<String> {
        std::mem::take(&mut *self.0.lock().expect("no thread panics while recording"))
    }
}

/// Starts a gateway.
pub async fn gateway() -> TestGateway {
    gateway_with_config("").await
}

/// Starts a gateway with this artifact quota per workspace.
pub async fn gateway_with_quota(quota: crud::Quota) -> TestGateway {
    gateway_with("", quota).await
}

/// Starts a gateway whose home has this `config.toml`.
pub async fn gateway_with_config(config: &str) -> TestGateway {
    gateway_with(config, GatewayOptions::ARTIFACT_QUOTA).await
}

async fn gateway_with(config: &str, quota: crud::Quota) -> TestGateway {
    let home = tempfile::tempdir().expect("a temporary folder can be made");
    let file = std::fs::File::create(home.path().join("config.toml"));
    let written = file.and_then(|mut file| file.write_all(config.as_bytes()));
    written.expect("a file can be made in it");
    let clock = Arc::new(TickingClock::default());
    TestGateway::start(
        Arc::new(home),
        clock,
        Arc::new(CountingIds::default()),
        quota,
    )
    .await
}

impl TestGateway {
    async fn start(
        home: Arc<TempDir>,
        clock: Arc<TickingClock>,
        ids: Arc<dyn IdSource>,
        quota: crud::Quota,
    ) -> Self {
        let sources = Sources {
            clock: Arc::clone(&clock) as Arc<dyn Clock>,
            ids,
        };
        let statements = Statements::default();
        let mut database = crud::Options::new(crate::FIRST_TIME, |sentence| panic!("{sentence}"));
        let record = statements.clone();
        database.statement_log = Some(Arc::new(move |sql| {
            let mut recorded = record.0.lock().expect("no thread panics while recording");
            recorded.push(sql.to_owned());
        }));
        let options = GatewayOptions {
            sources: sources.clone(),
            database,
            projection_worker: None,
            takes_over_sessions: true,
            artifact_quota: quota,
        };
        let folder = Home::open(home.path()).expect("a temporary folder can be a home");
        let opened = Gateway::open(&folder, &options).await;
        Self {
            gateway: opened.expect("a gateway starts on its own home"),
            statements,
            home,
            sources,
            clock,
            quota,
        }
    }

    /// Starts a second gateway on the same home, as another process would.
    #[must_use]
    pub async fn neighbour(&self) -> Self {
        let (clock, ids) = (Arc::clone(&self.clock), Arc::clone(&self.sources.ids));
        Self::start(Arc::clone(&self.home), clock, ids, self.quota).await
    }

    /// Advances the clock of the gateway by a number of seconds.
    pub fn advance(&self, seconds: i64) {
        self.clock.advance(seconds);
    }

    /// Opens a new connection as the owner.
    pub fn client(&self) -> Client {
        self.client_of(Principal::owner())
    }

    /// Opens a new connection as the given principal.
    pub fn client_of(&self, principal: Principal) -> Client {
        rpc::memory::connect(self.gateway.connect(principal))
    }

    /// Opens a new connection with a worker token of these scopes and workspaces; no workspaces means all.
    pub async fn client_with_token(&self, scopes: &[&str], workspaces: &[&str]) -> Client {
        self.client_with_role("worker", scopes, workspaces).await
    }

    /// Like [`TestGateway::client_with_token`], with a token of this role.
    pub async fn client_with_role(
        &self,
        role: &str,
        scopes: &[&str],
        workspaces: &[&str],
    ) -> Client {
        let owned = |words: &[&str]| words.iter().map(ToString::to_string).collect::<Vec<_>>();
        let token = NewToken::new("test", role, &owned(scopes), &owned(workspaces))
            .expect("the test names scopes and workspaces that can be");
        // Uses system ids and times, so that the token does not shift those of the test.
        let created = token.create(self.gateway.store(), &Sources::system()).await;
        let (_, secret) = created.expect("a token can be stored");
        let found = self
            .gateway
            .tokens()
            .authenticate(&Credential::new(secret))
            .await;
        let principal = found
            .expect("tokens can be read")
            .expect("the token is valid");
        self.client_of(principal)
    }

    /// Returns all lines sent to the owner on one connection when these calls are made one after the other.
    pub async fn transcript(&self, calls: &[(&str, serde_json::Value)]) -> String {
        let mut input = String::new();
        for (index, (method, params)) in calls.iter().enumerate() {
            let id = index + 1;
            let call =
                serde_json::json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
            input.push_str(&format!("{call}\n"));
        }
        let options = rpc::stdio::Options {
            concurrency: 1,
            ..rpc::stdio::Options::default()
        };
        let output = Output::default();
        let peer = Paced(self.gateway.connect(Principal::owner()));
        let never = std::future::pending();
        let input = Cursor::new(input);
        rpc::stdio::run(Arc::new(peer), options, input, output.clone(), never).await;
        let written = output
            .0
            .lock()
            .expect("no thread panics while writing")
            .clone();
        String::from_utf8(written).expect("what is sent is text")
    }

    /// Returns the home of the gateway.
    pub fn home(&self) -> &std::path::Path {
        self.home.path()
    }
}

/// A connection without coalescing: each request waits until all messages of the previous one are sent.
struct Paced(Arc<gateway::Dispatch>);

impl rpc::Service for Paced {
    fn outbox(&self) -> &Arc<rpc::Outbox> {
        self.0.outbox()
    }

    async fn serve(self: Arc<Self>, request: rpc::Request) {
        Arc::clone(&self.0).serve(request).await;
        while self.outbox().depth() > 0 {
            tokio::task::yield_now().await;
        }
    }

    async fn binary(&self, frame: rpc::Bytes) {
        self.0.binary(frame).await;
    }
}

/// A writer that records its output.
#[derive(Clone, Default)]
struct Output(Arc<Mutex<Vec<u8>>>);

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        let mut written = self.0.lock().expect("no thread panics while writing");
        written.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// Creates the company Acme with its project Alpha in a temporary directory. Returns the directory and the project id.
pub async fn company(client: &Client) -> (tempfile::TempDir, String) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let init = serde_json::json!({"workspace_dir": folder.path(), "company_name": "Acme"});
    let made = client.call_raw("workspace.init", init).await;
    made.expect("a company");
    let create = serde_json::json!({"workspace_dir": folder.path(), "name": "Alpha"});
    let made = client
        .call_raw("workspace.project.create_with_defaults", create)
        .await;
    let project = made.expect("a project")["project_id"]
        .as_str()
        .expect("an id")
        .to_owned();
    (folder, project)
}
