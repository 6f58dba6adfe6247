//! Opening of SQLite connections. Only this file, `whole.rs` and the writer contain code specific to SQLite.

use std::{fs::OpenOptions, io, path::Path, sync::Arc, time::Duration};

use rusqlite::{Connection, config::DbConfig};
use sea_orm::{
    ConnectionTrait as _, DatabaseConnection, DatabaseConnectionType, DbErr, RuntimeErr, Statement,
};

use crate::{Error, OpenError, store::Options};

/// The minimum SQLite version, 3.51.3, as a version number. In older versions, two connections that write or checkpoint
/// concurrently can corrupt a database in WAL mode.
const LEAST_VERSION: i32 = 3_051_003;

/// The time SQLite waits for programs that do not use the write lock, such as the sqlite3 shell.
const BUSY_TIMEOUT: Duration = Duration::from_secs(10);

/// Returns the version of the linked SQLite library.
pub fn sqlite_version() -> &'static str {
    rusqlite::version()
}

/// Rejects a SQLite version that may corrupt the database. SQLite is bundled, but a build can link the system library.
pub(crate) fn check_version() -> Result<(), OpenError> {
    if is_safe(rusqlite::version_number()) {
        return Ok(());
    }
    let found = sqlite_version();
    Err(OpenError::OldSqlite(OldSqlite { found }))
}

/// The linked SQLite version is too old.
#[derive(Debug, thiserror::Error)]
#[error(
    "`ac` was built with SQLite {found}, which can damage a database; 3.51.3 or newer is needed"
)]
pub struct OldSqlite {
    found: &'static str,
}

fn is_safe(version: i32) -> bool {
    version >= LEAST_VERSION
}

/// Opens the only writing connection of this process.
///
/// The WAL is checkpointed every 16 MiB, four times less often than SQLite's default: pages that change often are
/// copied once, and writers wait less often for the two syncs of a checkpoint.
pub(crate) fn open_writer(path: &Path, options: &Options) -> Result<DatabaseConnection, Error> {
    let pragmas = "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON; \
                   PRAGMA wal_autocheckpoint = 4000; PRAGMA cache_size = -8000; PRAGMA temp_store = MEMORY;";
    open(path, options, pragmas)
}

/// Opens a read-only connection.
pub(crate) fn open_reader(path: &Path, options: &Options) -> Result<DatabaseConnection, Error> {
    let pragmas = "PRAGMA query_only = ON; PRAGMA wal_autocheckpoint = 0; PRAGMA cache_size = -4000; \
                   PRAGMA temp_store = MEMORY;";
    open(path, options, pragmas)
}

/// Opens a connection that is only used to read the data version. It never waits for locks.
pub(crate) fn open_for_version(path: &Path) -> rusqlite::Result<Connection> {
    let pragmas =
        "PRAGMA query_only = ON; PRAGMA wal_autocheckpoint = 0; PRAGMA cache_size = -100;";
    connect(path, Duration::ZERO, pragmas)
}

fn open(path: &Path, options: &Options, pragmas: &str) -> Result<DatabaseConnection, Error> {
    make_private(path).map_err(|error| {
        tracing::error!(%error, "the database file cannot be created");
        DbErr::Conn(RuntimeErr::Internal(
            "the database file cannot be created".to_owned(),
        ))
    })?;
    let connection = connect(path, BUSY_TIMEOUT, pragmas)
        .map_err(|error| DbErr::Conn(RuntimeErr::Rusqlite(Arc::new(error))))?;
    let mut db = DatabaseConnection::from(DatabaseConnectionType::RusqliteSharedConnection(
        connection.into(),
    ));
    if let Some(log) = options.statement_log.clone() {
        db.set_metric_callback(move |info| log(&info.statement.sql));
    }
    Ok(db)
}

/// Creates the file before SQLite does, readable only by its owner; the WAL and the shared memory inherit its mode.
///
/// An existing file is not opened: closing it again would release the locks of every connection of this process, and
/// another program that opens the database would then consider itself the last user and remove the WAL.
fn make_private(path: &Path) -> io::Result<()> {
    let mut options = OpenOptions::new();
    options.create_new(true).write(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    match options.open(path) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        made => made.map(drop),
    }
}

pub(crate) fn connect(
    path: &Path,
    busy_timeout: Duration,
    pragmas: &str,
) -> rusqlite::Result<Connection> {
    let connection = Connection::open(path)?;
    connection.busy_timeout(busy_timeout)?;
    // Without this, the last connection to close would checkpoint without holding the write lock.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
    connection.set_prepared_statement_cache_capacity(128);
    connection.execute_batch(pragmas)?;
    Ok(connection)
}

/// Returns a number that changes when another connection has committed.
pub(crate) fn data_version(db: &DatabaseConnection) -> Result<i64, Error> {
    let query = Statement::from_string(db.get_database_backend(), "PRAGMA data_version");
    let row = db.query_one_raw(query)?;
    Ok(row.map_or(Ok(0), |row| row.try_get_by_index(0))?)
}

/// Runs a statement that starts or ends a transaction, using the prepared-statement cache.
pub(crate) fn execute(db: &DatabaseConnection, sql: &'static str) -> Result<(), Error> {
    db.query_one_raw(Statement::from_string(db.get_database_backend(), sql))?;
    Ok(())
}

/// Checkpoints the whole WAL into the database file, before the last connection closes.
pub(crate) fn checkpoint(db: &DatabaseConnection) -> Result<(), Error> {
    let query =
        Statement::from_string(db.get_database_backend(), "PRAGMA wal_checkpoint(TRUNCATE)");
    db.query_one_raw(query)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sqlite_is_one_that_does_not_lose_what_is_in_its_log() {
        check_version().unwrap();
        assert!(!is_safe(3_051_002));
        assert!(is_safe(LEAST_VERSION));
        let refusal = OldSqlite { found: "3.51.2" };
        assert_eq!(
            refusal.to_string(),
            "`ac` was built with SQLite 3.51.2, which can damage a database; 3.51.3 or newer is needed"
        );
    }
}
