//! Earlier versions of documents, and their restoration.

use entity::thread_agents_doc::Model;
use sea_orm::{DatabaseConnection, FromQueryResult};

use super::{
    DocScope,
    save::{SaveDoc, Saved, save, unarchive},
};
use crate::{Error, query, trash, workspace};

/// One version without its text.
#[derive(Clone, Debug, PartialEq, FromQueryResult)]
pub struct RevisionSummary {
    /// The number of the version.
    pub version: i64,
    /// SHA-256 of the text, lower-case hexadecimal.
    pub content_sha256: String,
    /// The length of the text, in characters.
    pub char_count: i64,
    /// The time of the save, in Unix seconds.
    pub saved_at: i64,
    /// The principal that saved it, if recorded.
    pub saved_by: Option<String>,
    /// The reason of the save.
    pub save_reason: String,
}

/// One version with its text.
#[derive(Clone, Debug, PartialEq, FromQueryResult)]
pub struct Revision {
    /// The id of the document.
    pub doc_id: String,
    /// The number of the version.
    pub version: i64,
    /// The text of the version.
    pub content: String,
    /// SHA-256 of the text, lower-case hexadecimal.
    pub content_sha256: String,
    /// The length of the text, in characters.
    pub char_count: i64,
    /// The time of the save, in Unix seconds.
    pub saved_at: i64,
    /// The principal that saved it, if recorded.
    pub saved_by: Option<String>,
    /// The reason of the save.
    pub save_reason: String,
}

/// An old version to be saved as a new one.
#[derive(Clone, Debug)]
pub struct RestoreDoc {
    /// The id of the workspace.
    pub workspace_id: String,
    /// The id of the document.
    pub doc_id: String,
    /// The version to restore. Absent for the one before the last.
    pub version: Option<i64>,
    /// The current version the caller expects. Absent to skip the check.
    pub expected_version: Option<i64>,
    /// The id for the new revision.
    pub revision_id: String,
    /// The principal that restores the version.
    pub author: String,
    /// The current time, in Unix seconds.
    pub now: i64,
}

pub(super) fn list(
    db: &DatabaseConnection,
    workspace_id: &str,
    doc_id: &str,
    before_version: Option<i64>,
    limit: u64,
) -> Result<Vec<RevisionSummary>, Error> {
    owned(db, workspace_id, doc_id)?;
    query::list(
        db,
        "SELECT version, content_sha256, char_count, saved_at, saved_by, save_reason \
         FROM thread_agents_doc_revision WHERE doc_id = $1 AND version < $2 ORDER BY version DESC LIMIT $3",
        [
            doc_id.into(),
            before_version.unwrap_or(i64::MAX).into(),
            i64::try_from(limit).unwrap_or(i64::MAX).into(),
        ],
    )
}

pub(super) fn get(
    db: &DatabaseConnection,
    workspace_id: &str,
    doc_id: &str,
    version: i64,
) -> Result<Revision, Error> {
    owned(db, workspace_id, doc_id)?;
    let found: Option<Revision> = query::find(
        db,
        "SELECT * FROM thread_agents_doc_revision WHERE doc_id = $1 AND version = $2",
        [doc_id.into(), version.into()],
    )?;
    found.ok_or_else(|| Error::UnknownRevision {
        doc_id: doc_id.to_owned(),
        version,
    })
}

/// Saves an old version as the newest one. An archived document becomes the document of its scope again, unless the
/// scope has another one by now.
pub(crate) fn restore(db: &DatabaseConnection, restore: RestoreDoc) -> Result<Saved, Error> {
    let doc = owned(db, &restore.workspace_id, &restore.doc_id)?;
    let version = restore.version.unwrap_or(doc.version - 1);
    let old = get(db, &restore.workspace_id, &restore.doc_id, version)?;
    let save_doc = SaveDoc {
        scope: DocScope {
            workspace_id: doc.workspace_id.clone(),
            folder_id: doc.folder_id.clone(),
        },
        new_id: doc.id.clone(),
        revision_id: restore.revision_id,
        content: old.content,
        content_sha256: old.content_sha256,
        char_count: old.char_count,
        expected_version: restore.expected_version,
        reason: "restore".to_owned(),
        author: restore.author,
        now: restore.now,
    };
    if doc.status == "archived" {
        trash::take_doc(db, &doc.id)?;
        unarchive(db, &doc, &save_doc)
    } else {
        save(db, &save_doc)
    }
}

/// Returns a document of the workspace, archived or not, or fails.
fn owned(db: &DatabaseConnection, workspace_id: &str, doc_id: &str) -> Result<Model, Error> {
    workspace::active(db, workspace_id)?;
    let sql = "SELECT * FROM thread_agents_doc WHERE id = $1";
    let found: Option<Model> = query::find(db, sql, [doc_id.into()])?;
    found
        .filter(|doc| doc.workspace_id == workspace_id)
        .ok_or_else(|| Error::UnknownDoc(doc_id.to_owned()))
}
