//! The store: owns the database connections and gives async code access to them.

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
    DocScope, Error, HookRunRepository, ProjectPlace, Resolved, ScopeDocs,
    ThreadAgentsDocProposalRepository, ThreadAgentsDocRepository, ThreadFolderRepository,
    ThreadRepository, ThreadResolution, TrashRepository, TurnRepository, WorkspaceRepository,
    lock::DatabaseLock,
    memo::{Memo, Versions},
    reader::{ReadJob, ReaderPool},
    sqlite::{self, OldSqlite},
    writer::DatabaseWriter,
};

/// The gateway database. Cheap to clone; dropping the last clone closes it.
#[derive(Clone)]
pub struct CrudStore {
    inner: Arc<Inner>,
}

struct Inner {
    writer: DatabaseWriter,
    readers: ReaderPool,
    foreign_changes: watch::Receiver<u64>,
    workspaces_at_open: Vec<entity::workspace::Model>,
    versions: Versions,
    /// Cached documents of scopes.
    scopes: Memo<DocScope, ScopeDocs>,
    /// Cached agents doc resolutions, by workspace id and thread id.
    threads: Memo<(String, String), ThreadResolution>,
    /// Cached placements of projects, by company folder and project id.
    projects: Memo<(String, String), Option<ProjectPlace>>,
}

/// A callback that receives the text of every statement.
pub type StatementLog = Arc<dyn Fn(&str) + Send + Sync>;

/// The settings for opening a database.
#[derive(Clone)]
pub struct Options {
    /// The timestamp of the migration records, in Unix seconds.
    pub now: i64,
    /// The number of reader threads. Default 3, at least 1.
    pub readers: usize,
    /// The interval at which the store checks for writes of other processes. Default 200 ms.
    pub poll_every: Duration,
    /// Called with a message when durability can no longer be guaranteed; must end the process.
    pub on_fatal: Arc<dyn Fn(&str) + Send + Sync>,
    /// Receives every statement, for tests that count them. Default none.
    pub statement_log: Option<StatementLog>,
}

impl Options {
    /// Returns the default settings.
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
    /// Opens the database in `home`, creates it if it is missing, and applies pending migrations.
    pub fn open(home: &Path, options: &Options) -> Result<Self, OpenError> {
        sqlite::check_version()?;
        let path: PathBuf = home.join("gateway.db");
        let lock = DatabaseLock::open(&home.join("write.lock")).map_err(OpenError::Lock)?;
        let (told, foreign_changes) = watch::channel(0);
        let (writer, workspaces_at_open) =
            DatabaseWriter::start(path.clone(), lock, options.clone(), told)?;
        let readers = ReaderPool::start(&path, options).map_err(OpenError::Thread)?;
        let inner = Inner {
            writer,
            readers,
            foreign_changes,
            workspaces_at_open,
            versions: Versions::new(path),
            scopes: Memo::new(ScopeDocs::size),
            threads: Memo::new(ThreadResolution::size),
            projects: Memo::new(|_| 256),
        };
        Ok(Self {
            inner: Arc::new(inner),
        })
    }

    /// Returns the repository of workspaces.
    pub fn workspaces(&self) -> WorkspaceRepository<'_> {
        WorkspaceRepository(self)
    }

    /// Returns the repository of threads and their placements.
    pub fn threads(&self) -> ThreadRepository<'_> {
        ThreadRepository(self)
    }

    /// Returns the repository of folders of the thread tree.
    pub fn folders(&self) -> ThreadFolderRepository<'_> {
        ThreadFolderRepository(self)
    }

    /// Returns the repository of agents docs.
    pub fn agents_docs(&self) -> ThreadAgentsDocRepository<'_> {
        ThreadAgentsDocRepository(self)
    }

    /// Returns the repository of proposed changes to agents docs.
    pub fn agents_doc_proposals(&self) -> ThreadAgentsDocProposalRepository<'_> {
        ThreadAgentsDocProposalRepository(self)
    }

    /// Returns the agents doc in effect for a thread, or `None`.
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

    /// Returns the repository of company folders.
    pub fn companies(&self) -> CompanyRepository<'_> {
        CompanyRepository(self)
    }

    /// Returns the repository of artifacts.
    pub fn artifacts(&self) -> ArtifactRepository<'_> {
        ArtifactRepository(self)
    }

    /// Returns the repository of deleted threads, folders and documents.
    pub fn trash(&self) -> TrashRepository<'_> {
        TrashRepository(self)
    }

    /// Returns the repository of turns.
    pub fn turns(&self) -> TurnRepository<'_> {
        TurnRepository(self)
    }

    /// Returns the repository of hook runs.
    pub fn hook_runs(&self) -> HookRunRepository<'_> {
        HookRunRepository(self)
    }

    /// Returns the repository of access tokens.
    pub fn access_tokens(&self) -> AccessTokenRepository<'_> {
        AccessTokenRepository(self)
    }

    /// Returns the repository of desktop sessions.
    pub fn desktop_sessions(&self) -> DesktopSessionRepository<'_> {
        DesktopSessionRepository(self)
    }

    /// Returns the workspaces as they were when [`CrudStore::foreign_changes`] started to count.
    pub fn workspaces_at_open(&self) -> &[entity::workspace::Model] {
        &self.inner.workspaces_at_open
    }

    /// Returns a counter that changes whenever another process has written.
    pub fn foreign_changes(&self) -> watch::Receiver<u64> {
        self.inner.foreign_changes.clone()
    }

    /// Returns the number of operations queued for the writer and for the readers.
    pub fn waiting(&self) -> (usize, usize) {
        (self.inner.writer.waiting(), self.inner.readers.waiting())
    }

    /// Completes pending writes, checkpoints the log into the database file and rejects all further writes. Blocks.
    pub fn close(&self) {
        self.inner.writer.close();
    }

    /// Runs `work` on the writer connection. Returns after the commit.
    pub(crate) async fn write<T: Send + 'static>(
        &self,
        work: impl FnOnce(&DatabaseConnection) -> Result<T, Error> + Send + 'static,
    ) -> Result<T, Error> {
        self.inner.writer.write(work).await
    }

    /// Runs `work` on a reader connection.
    pub(crate) async fn read<T: Send + 'static>(
        &self,
        work: impl FnOnce(&DatabaseConnection) -> Result<T, Error> + Send + 'static,
    ) -> Result<T, Error> {
        let (answered, answer) = oneshot::channel();
        self.inner.readers.send(ReadJob::new(work, answered))?;
        answer.await.unwrap_or(Err(Error::Closed))
    }

    /// Returns the cache of agents docs by scope.
    pub(crate) fn scopes(&self) -> &Memo<DocScope, ScopeDocs> {
        &self.inner.scopes
    }

    /// Returns the cache of agents doc resolutions by thread.
    pub(crate) fn thread_resolutions(&self) -> &Memo<(String, String), ThreadResolution> {
        &self.inner.threads
    }

    /// Returns the cache of project placements.
    pub(crate) fn project_places(&self) -> &Memo<(String, String), Option<ProjectPlace>> {
        &self.inner.projects
    }

    /// Returns the cached result for `key` if no write happened since, and otherwise runs `work` on a reader
    /// connection.
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

/// The reason a database cannot be opened.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// The linked SQLite version can corrupt a database.
    #[error("the database `gateway.db` in the home cannot be opened with this version of SQLite")]
    OldSqlite(#[source] OldSqlite),
    /// The lock file cannot be created or locked.
    #[error("the file `write.lock` in the home cannot be locked")]
    Lock(#[source] std::io::Error),
    /// The database file cannot be opened or read.
    #[error("the database `gateway.db` in the home cannot be opened")]
    Database(#[source] Error),
    /// The database was not created by this program, or by an incompatible version of it.
    #[error("the database `gateway.db` in the home cannot be migrated")]
    Migration(#[source] migration::Error),
    /// A database thread cannot be started.
    #[error("a database thread cannot be started")]
    Thread(#[source] std::io::Error),
}
