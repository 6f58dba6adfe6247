//! Operations on the database file as a whole: copying, inspection and relocation. All functions block.

use std::{path::Path, sync::Arc, time::Duration};

use rusqlite::Connection;
use sea_orm::{DbErr, RuntimeErr};

use crate::{OpenError, sqlite};

/// Maximum time to wait for another program that locks out readers.
const PATIENCE: Duration = Duration::from_secs(10);

/// Copies a consistent snapshot of the database of a home to a new file. Other connections may write meanwhile.
pub fn copy_database(home: &Path, to: &Path) -> Result<(), OpenError> {
    let connection = open(&home.join("gateway.db"))?;
    let target = to.to_string_lossy();
    let copied = connection.execute("VACUUM INTO ?1", [target.as_ref()]);
    copied.map(drop).map_err(failed)
}

/// Returns the company folders recorded in a database file.
pub fn company_folders(database: &Path) -> Result<Vec<String>, OpenError> {
    let connection = open(database)?;
    let sql = "SELECT dir FROM workspace WHERE dir IS NOT NULL ORDER BY dir";
    let mut statement = connection.prepare(sql).map_err(failed)?;
    let rows = statement.query_map([], |row| row.get(0)).map_err(failed)?;
    rows.collect::<Result<_, _>>().map_err(failed)
}

/// The stored bytes of one version of an artifact.
#[derive(Clone, Debug, PartialEq)]
pub struct StoredFile {
    /// The id of the workspace.
    pub workspace_id: String,
    /// The SHA-256 hash of the bytes, which is also their file name.
    pub sha256: String,
    /// The id of the artifact.
    pub artifact_id: String,
    /// The display name of the artifact.
    pub display_name: String,
}

/// Returns the stored bytes that the artifacts in a database file need.
pub fn stored_files(database: &Path) -> Result<Vec<StoredFile>, OpenError> {
    let connection = open(database)?;
    let sql = "SELECT blob.workspace_id, blob.sha256, artifact.id, artifact.display_name FROM artifact_version version \
               JOIN artifact_blob blob ON blob.id = version.blob_id \
               JOIN artifact ON artifact.id = version.artifact_id \
               ORDER BY artifact.display_name, artifact.id, version.version_number";
    let mut statement = connection.prepare(sql).map_err(failed)?;
    let rows = statement.query_map([], |row| {
        Ok(StoredFile {
            workspace_id: row.get(0)?,
            sha256: row.get(1)?,
            artifact_id: row.get(2)?,
            display_name: row.get(3)?,
        })
    });
    rows.map_err(failed)?
        .collect::<Result<_, _>>()
        .map_err(failed)
}

/// Changes the recorded path of a company folder. The database file must not be open elsewhere.
pub fn move_company_folder(database: &Path, from: &str, to: &str) -> Result<(), OpenError> {
    let connection = open(database)?;
    let sql = "UPDATE workspace SET dir = ?2 WHERE dir = ?1";
    let moved = connection.execute(sql, [from, to]);
    moved.map(drop).map_err(failed)
}

/// Raises the reserved notification numbers of every workspace to at least `least`. The database file must not be open
/// elsewhere.
pub fn raise_numbers(database: &Path, least: i64) -> Result<(), OpenError> {
    let connection = open(database)?;
    let sql = "UPDATE workspace SET reserved_seq = max(reserved_seq, ?1)";
    let raised = connection.execute(sql, [least]);
    raised.map(drop).map_err(failed)
}

/// Checks the integrity of the database of a home. Returns the problems found; empty if there are none.
pub fn check_database(home: &Path) -> Result<Vec<String>, OpenError> {
    let connection = open(&home.join("gateway.db"))?;
    let mut found = Vec::new();
    for sql in ["PRAGMA integrity_check(20)", "PRAGMA foreign_key_check"] {
        let mut statement = connection.prepare(sql).map_err(failed)?;
        let rows = statement.query_map([], |row| row.get::<_, String>(0));
        for row in rows.map_err(failed)? {
            found.push(row.map_err(failed)?);
        }
    }
    found.retain(|line| line != "ok");
    Ok(found)
}

/// Opens an existing database file.
fn open(path: &Path) -> Result<Connection, OpenError> {
    if !path.is_file() {
        let missing = format!("there is no file `{}`", path.display());
        return Err(OpenError::Database(
            DbErr::Conn(RuntimeErr::Internal(missing)).into(),
        ));
    }
    let pragmas = "PRAGMA wal_autocheckpoint = 0; PRAGMA cache_size = -4000;";
    sqlite::connect(path, PATIENCE, pragmas).map_err(failed)
}

fn failed(error: rusqlite::Error) -> OpenError {
    let error = DbErr::Conn(RuntimeErr::Rusqlite(Arc::new(error)));
    OpenError::Database(error.into())
}
