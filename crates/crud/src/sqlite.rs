//! How a SQLite connection is opened. Everything that is SQLite's alone is in this file, in `whole.rs` and in the writer.

use std::{fs::OpenOptions, io, path::Path, sync::Arc, time::Duration};

use rusqlite::{Connection, config::DbConfig};
use sea_orm::{
    ConnectionTrait as _, DatabaseConnection, DatabaseConnectionType, DbErr, RuntimeErr, Statement,
};

use crate::{Error, OpenError, store::Options};

/// The least version of SQLite, as it counts versions: 3.51.3. In older ones two connections that write or checkpoint
/// at the same instant can corrupt a database in WAL mode.
const LEAST_VERSION: i32 = 3_051_003;

/// How long SQLite waits for somebody who does not know our lock, such as the sqlite3 shell.
const BUSY_TIMEOUT: Duration = Duration::from_secs(10);

/// The version of SQLite in this program.
pub fn sqlite_version() -> &'static str {
    rusqlite::version()
}

/// Refuses a SQLite that may damage the database. It is bundled, but a build may be told to use that of the system.
pub(crate) fn check_version() -> Result<(), OpenError> {
    if is_safe(rusqlite::version_number()) {
        return Ok(());
    }
    let found = sqlite_version();
    Err(OpenError::OldSqlite(OldSqlite { found }))
}

/// Why a SQLite is refused.
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

/// The one connection of this process that writes.
///
/// Its log is moved into the database file every 16 MiB, four times as rarely as SQLite would do it: pages that change
/// often are moved once then, and who writes waits for the two syncs of a move less often.
pub(crate) fn open_writer(path: &Path, options: &Options) -> Result<DatabaseConnection, Error> {
    let pragmas = "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON; \
                   PRAGMA wal_autocheckpoint = 4000; PRAGMA cache_size = -8000; PRAGMA temp_store = MEMORY;";
    open(path, options, pragmas)
}

/// A connection that cannot write.
pub(crate) fn open_reader(path: &Path, options: &Options) -> Result<DatabaseConnection, Error> {
    let pragmas = "PRAGMA query_only = ON; PRAGMA wal_autocheckpoint = 0; PRAGMA cache_size = -4000; \
                   PRAGMA temp_store = MEMORY;";
    open(path, options, pragmas)
}

/// A connection that is only asked for the data version. It never waits.
pub(crate) fn open_for_version(path: &Path) -> rusqlite::Result<Connection> {
    let pragmas =
        "PRAGMA query_only = ON; PRAGMA wal_autocheckpoint = 0; PRAGMA cache_size = -100;";
    connect(path, Duration::ZERO, pragmas)
}

fn open(path: &Path, options: &Options, pragmas: &str) -> Result<DatabaseConnection, Error> {
    make_private(path).map_err(|error| {
        tracing::error!(%error, "the database file cannot be made");
        DbErr::Conn(RuntimeErr::Internal(
            "the database file cannot be made".to_owned(),
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

/// Makes the file before SQLite does, for its owner alone; the log and the shared memory follow its mode.
///
/// A file that is there is not opened: closing it again would drop the locks of every connection of this process,
/// and then another program that looks at the database takes itself for the last one and removes the log.
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
    // Whoever closes last would checkpoint outside of the write lock.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
    connection.set_prepared_statement_cache_capacity(128);
    connection.execute_batch(pragmas)?;
    Ok(connection)
}

/// A number that changes when another connection has committed.
pub(crate) fn data_version(db: &DatabaseConnection) -> Result<i64, Error> {
    let query = Statement::from_string(db.get_database_backend(), "PRAGMA data_version");
    let row = db.query_one_raw(query)?;
    Ok(row.map_or(Ok(0), |row| row.try_get_by_index(0))?)
}

/// Runs a statement that begins or ends a transaction. They are the same few again and again, so they go through
/// the cache of prepared statements.
pub(crate) fn execute(db: &DatabaseConnection, sql: &'static str) -> Result<(), Error> {
    db.query_one_raw(Statement::from_string(db.get_database_backend(), sql))?;
    Ok(())
}

/// Moves everything from the log into the database file, before the last connection closes.
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
