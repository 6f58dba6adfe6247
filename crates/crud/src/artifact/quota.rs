//! How much a workspace may store.

use sea_orm::DatabaseConnection;

use super::lifecycle::usage;
use crate::{Error, query};

/// The limits of one workspace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Quota {
    /// Bytes of artifacts that are not deleted, and of their projections.
    pub max_bytes: i64,
    /// Files of these.
    pub max_files: i64,
    /// Bytes on the disk: those of deleted artifacts that are still kept and the declared sizes of open uploads count
    /// as well.
    pub max_stored_bytes: i64,
}

/// What a workspace has on the disk, or has reserved there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Stored {
    /// Bytes of all blobs, whatever refers to them.
    pub(super) bytes: i64,
    /// How many blobs there are.
    pub(super) files: i64,
    /// Declared sizes of uploads that still receive.
    pub(super) open_upload_bytes: i64,
}

pub(super) fn stored(db: &DatabaseConnection, workspace_id: &str) -> Result<Stored, Error> {
    let sql = "SELECT CAST(COALESCE(SUM(size_bytes), 0) AS bigint) AS bytes, COUNT(*) AS files, \
                 (SELECT CAST(COALESCE(SUM(size_bytes), 0) AS bigint) FROM artifact_upload_session \
                  WHERE workspace_id = $1 AND status = 'receiving') AS open_upload_bytes \
               FROM artifact_blob WHERE workspace_id = $1";
    let Some(row) = query::one(db, sql, [workspace_id.into()])? else {
        return Ok(Stored::default());
    };
    Ok(Stored {
        bytes: row.try_get("", "bytes")?,
        files: row.try_get("", "files")?,
        open_upload_bytes: row.try_get("", "open_upload_bytes")?,
    })
}

impl Quota {
    /// Refuses what was written in this transaction if the workspace is over a limit with it. `planned` is what an
    /// upload will add to the artifacts that are not deleted.
    pub(super) fn check(
        &self,
        db: &DatabaseConnection,
        workspace_id: &str,
        planned: Planned,
    ) -> Result<(), Error> {
        let exceeded = |limit: &'static str, limit_value: i64| Error::QuotaExceeded {
            workspace_id: workspace_id.to_owned(),
            limit,
            limit_value,
        };
        let stored = stored(db, workspace_id)?;
        if stored.bytes.saturating_add(stored.open_upload_bytes) > self.max_stored_bytes {
            return Err(exceeded("max_stored_bytes", self.max_stored_bytes));
        }
        // What is not deleted is part of what is stored: mostly the sum answers, without joining all versions.
        let is_over = |bytes: i64, files: i64| {
            if bytes.saturating_add(planned.bytes) > self.max_bytes {
                Some(exceeded("max_bytes", self.max_bytes))
            } else if files.saturating_add(planned.files) > self.max_files {
                Some(exceeded("max_files", self.max_files))
            } else {
                None
            }
        };
        if is_over(stored.bytes, stored.files).is_none() {
            return Ok(());
        }
        let used = usage(db, workspace_id)?;
        is_over(used.bytes, used.files).map_or(Ok(()), Err)
    }
}

/// What will be added to a workspace by an upload that has begun.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Planned {
    pub(super) bytes: i64,
    pub(super) files: i64,
}
