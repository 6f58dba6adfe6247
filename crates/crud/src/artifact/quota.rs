//! Storage quotas of workspaces.

use sea_orm::DatabaseConnection;

use super::lifecycle::usage;
use crate::{Error, query};

/// The limits of one workspace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Quota {
    /// The maximum size of artifacts that are not deleted, and of their projections, in bytes.
    pub max_bytes: i64,
    /// The maximum number of these files.
    pub max_files: i64,
    /// The maximum size on disk, in bytes. Deleted artifacts that are still kept and the declared sizes of open uploads
    /// count as well.
    pub max_stored_bytes: i64,
}

/// The storage that a workspace uses or has reserved.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Stored {
    /// The size of all blobs, referenced or not, in bytes.
    pub(super) bytes: i64,
    /// The number of blobs.
    pub(super) files: i64,
    /// The total declared size of uploads in progress, in bytes.
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
    /// Fails if the workspace exceeds a limit, including the changes of this transaction. `planned` is what an upload
    /// will add to the artifacts that are not deleted.
    pub(super) fn check(
        &self,
        db: &DatabaseConnection,
        workspace_id: &str,
        planned: PlannedStorage,
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
        // Artifacts that are not deleted are part of the stored total, so the total often suffices without joining all
        // versions.
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

/// The storage that an upload in progress will add to a workspace.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct PlannedStorage {
    pub(super) bytes: i64,
    pub(super) files: i64,
}
