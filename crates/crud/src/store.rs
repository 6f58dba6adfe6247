//! The store: where the connections live and how the async side reaches them.

use std::{
    fmt,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use sea_orm::DatabaseConnection;
use tokio::sync::{oneshot, watch};

use crate::{
    AccessTokenRepository, ArtifactRepository, CompanyRepository, DesktopSessionRepository,
    DocScope, Error, HookRunRepository, ProjectPlace, Resolved, Scope,
    ThreadAgentsDocProposalRepository, ThreadAgentsDocRepository, ThreadFolderRepository,
    ThreadRepository, ThreadResolution, TrashRepository, TurnRepository, WorkspaceRepository,
    lock::WriteLock,
    memo::{Memo, Versions},
    reader::{ReadJob, Readers},
    sqlite::{self, OldSqlite},
    writer::Writer,
};

/// The gateway database. Cheap to clone; the last clone closes it.
#[derive(Clone)]
pub struct CrudStore {
    inner: Arc<Inner>,
}

struct Inner {
    writer: Writer,
    readers: Readers,
    foreign_changes: watch::Receiver<u64>,
    workspaces_at_open: Vec<entity::workspace::Model>,
    versions: Versions,
    /// What was read of the documents of scopes.
    scopes: Memo<DocScope, Scope>,
    /// What was read of the documents of threads, by workspace and thread.
    threads: Memo<(String, String), ThreadResolution>,
    /// What was read of the places of projects, by company folder and project.
    projects: Memo<(String, String), Option<ProjectPlace>>,
}

/// Sees every statement.
pub type StatementLog = Arc<dyn Fn(&str) + Send + Sync>;

/// How a database is opened.
#[derive(Clone)]
pub struct Options {
    /// The time of the migration records, Unix seconds.
    pub now: i64,
    /// Reader threads.
    pub readers: usize,
    /// How often to look for the writes of other processes.
    pub poll_every: Duration,
    /// Called with a sentence when the disk can no longer be trusted; must end the process.
    pub on_fatal: Arc<dyn Fn(&str) + Send + Sync>,
    /// Sees every statement; for tests that count them.
    pub statement_log: Option<StatementLog>,
}

impl Options {
    /// The usual ones.
    pub fn new(now: i64, on_fatal: impl Fn(&str) + Send + Sync + 'static) -> Self {
        Self {
            now,
            readers: 3,
            poll_every: Duration::from_millis(200),
            on_fatal: Arc::new(on_fatal),
            statement_log: None,
        }
    }
}

impl CrudStore {
    /// Opens the database in `home`, makes it when it is missing and brings it up to date.
    pub fn open(home: &Path, options: &Options) -> Result<Self, OpenError> {
        sqlite::check_version()?;
        let path: PathBuf = home.join("gateway.db");
        let lock = WriteLock::open(&home.join("write.lock")).map_err(OpenError::Lock)?;
        let (told, foreign_changes) = watch::channel(0);
        let (writer, workspaces_at_open) =
            Writer::start(path.clone(), lock, options.clone(), told)?;
        let readers = Readers::start(&path, options).map_err(OpenError::Thread)?;
        let inner = Inner {
            writer,
            readers,
            foreign_changes,
            workspaces_at_open,
            versions: Versions::new(path),
            scopes: Memo::new(Scope::size),
            threads: Memo::new(ThreadResolution::size),
            projects: Memo::new(|_| 256),
        };
        Ok(Self {
            inner: Arc::new(inner),
        })
    }

    /// Workspaces.
    pub fn workspaces(&self) -> WorkspaceRepository<'_> {
        WorkspaceRepository(self)
    }

    /// Threads and where they hang.
    pub fn threads(&self) -> ThreadRepository<'_> {
        ThreadRepository(self)
    }

    /// Folders of the thread tree.
    pub fn folders(&self) -> ThreadFolderRepository<'_> {
        ThreadFolderRepository(self)
    }

    /// The AGENTS.md of each scope.
    pub fn agents_docs(&self) -> ThreadAgentsDocRepository<'_> {
        ThreadAgentsDocRepository(self)
    }

    /// Proposed changes of AGENTS.md documents.
    pub fn agents_doc_proposals(&self) -> ThreadAgentsDocProposalRepository<'_> {
        ThreadAgentsDocProposalRepository(self)
    }

    /// The AGENTS.md in force for a thread.
    pub async fn resolve_thread_agents_doc_for_thread(
        &self,
        workspace_id: &str,
        thread_id: &str,
    ) -> Result<Option<Resolved>, Error> {
        let found = self
            .agents_docs()
            .resolve_for_thread(workspace_id, thread_id)
            .await?;
        Ok(found.effective)
    }

    /// Company folders.
    pub fn companies(&self) -> CompanyRepository<'_> {
        CompanyRepository(self)
    }

    /// Artifacts.
    pub fn artifacts(&self) -> ArtifactRepository<'_> {
        ArtifactRepository(self)
    }

    /// Deleted threads, folders and documents.
    pub fn trash(&self) -> TrashRepository<'_> {
        TrashRepository(self)
    }

    /// Turns.
    pub fn turns(&self) -> TurnRepository<'_> {
        TurnRepository(self)
    }

    /// What hooks did.
    pub fn hook_runs(&self) -> HookRunRepository<'_> {
        HookRunRepository(self)
    }

    /// Tokens.
    pub fn access_tokens(&self) -> AccessTokenRepository<'_> {
        AccessTokenRepository(self)
    }

    /// Browsers that are signed in.
    pub fn desktop_sessions(&self) -> DesktopSessionRepository<'_> {
        DesktopSessionRepository(self)
    }

    /// The workspaces as they were when [`CrudStore::foreign_changes`] began to count.
    pub fn workspaces_at_open(&self) -> &[entity::workspace::Model] {
        &self.inner.workspaces_at_open
    }

    /// Changes its value whenever another process has written.
    pub fn foreign_changes(&self) -> watch::Receiver<u64> {
        self.inner.foreign_changes.clone()
    }

    /// How many operations wait for the writer and for the readers.
    pub fn waiting(&self) -> (usize, usize) {
        (self.inner.writer.waiting(), self.inner.readers.waiting())
    }

    /// Finishes what was written, moves it into the database file and refuses everything after that. Blocks.
    pub fn close(&self) {
        self.inner.writer.close();
    }

    /// Runs `work` on the writing connection. Answers after the commit.
    pub(crate) async fn write<T: Send + 'static>(
        &self,
        work: impl FnOnce(&DatabaseConnection) -> Result<T, Error> + Send + 'static,
    ) -> Result<T, Error> {
        self.inner.writer.write(work).await
    }

    /// Runs `work` on a reading connection.
    pub(crate) async fn read<T: Send + 'static>(
        &self,
        work: impl FnOnce(&DatabaseConnection) -> Result<T, Error> + Send + 'static,
    ) -> Result<T, Error> {
        let (answered, answer) = oneshot::channel();
        self.inner.readers.send(ReadJob::new(work, answered))?;
        answer.await.unwrap_or(Err(Error::Closed))
    }

    /// What is in force in a scope, kept until somebody writes.
    pub(crate) fn scopes(&self) -> &Memo<DocScope, Scope> {
        &self.inner.scopes
    }

    /// What is in force for a thread, kept until somebody writes.
    pub(crate) fn thread_resolutions(&self) -> &Memo<(String, String), ThreadResolution> {
        &self.inner.threads
    }

    /// Where projects are in the tree, kept until somebody writes.
    pub(crate) fn project_places(&self) -> &Memo<(String, String), Option<ProjectPlace>> {
        &self.inner.projects
    }

    /// Runs `work` on a reading connection, unless its answer is known and nobody has written since.
    pub(crate) async fn read_once<K, V>(
        &self,
        memo: &Memo<K, V>,
        key: K,
        work: impl FnOnce(&DatabaseConnection, &K) -> Result<V, Error> + Send + 'static,
    ) -> Result<V, Error>
    where
        K: Clone + Ord + Send + 'static,
        V: Clone + Send + 'static,
    {
        let version = self.inner.versions.current();
        if let Some(known) = version.and_then(|version| memo.get(&key, version)) {
            return Ok(known);
        }
        let asked = key.clone();
        let value = self.read(move |db| work(db, &asked)).await?;
        if let Some(version) = version {
            memo.keep(key, &value, version);
        }
        Ok(value)
    }
}

impl fmt::Debug for CrudStore {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("CrudStore")
    }
}

/// Why a database cannot be opened.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// SQLite is of a version that can damage a database.
    #[error("the database `gateway.db` in the home is not opened")]
    OldSqlite(#[source] OldSqlite),
    /// The lock file cannot be made or locked.
    #[error("the file `write.lock` in the home cannot be locked")]
    Lock(#[source] std::io::Error),
    /// The database file cannot be used.
    #[error("the database `gateway.db` in the home cannot be opened")]
    Database(#[source] Error),
    /// It is not one of ours, or of another version.
    #[error("the database `gateway.db` in the home cannot be brought up to date")]
    Migration(#[source] migration::Error),
    /// The system refuses a thread.
    #[error("a database thread cannot be started")]
    Thread(#[source] std::io::Error),
}
