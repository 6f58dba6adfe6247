//! What a document said before.

use entity::thread_agents_doc::Model;
use sea_orm::{DatabaseConnection, FromQueryResult};

use super::{
    DocScope,
    save::{SaveDoc, Saved, check_version, save},
};
use crate::{Error, query, trash, workspace};

/// One version without its text.
#[derive(Clone, Debug, PartialEq, FromQueryResult)]
pub struct RevisionSummary {
    /// The version.
    pub version: i64,
    /// SHA-256 of the text.
    pub content_sha256: String,
    /// The length of the text.
    pub char_count: i64,
    /// Unix seconds.
    pub saved_at: i64,
    /// Who saved it.
    pub saved_by: Option<String>,
    /// Why.
    pub save_reason: String,
}

/// One version with its text.
#[derive(Clone, Debug, PartialEq, FromQueryResult)]
pub struct Revision {
    /// The document.
    pub doc_id: String,
    /// The version.
    pub version: i64,
    /// The text.
    pub content: String,
    /// SHA-256 of the text.
    pub content_sha256: String,
    /// The length of the text.
    pub char_count: i64,
    /// Unix seconds.
    pub saved_at: i64,
    /// Who saved it.
    pub saved_by: Option<String>,
    /// Why.
    pub save_reason: String,
}

/// An old version to write as a new one.
#[derive(Clone, Debug)]
pub struct RestoreDoc {
    /// The workspace.
    pub workspace_id: String,
    /// The document.
    pub doc_id: String,
    /// The version; none for the one before the last.
    pub version: Option<i64>,
    /// The version the caller saw.
    pub expected_version: Option<i64>,
    /// The id of the document, if the old one is archived.
    pub new_id: String,
    /// The id of the revision.
    pub revision_id: String,
    /// Who restores.
    pub author: String,
    /// Unix seconds.
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

pub(crate) fn restore(db: &DatabaseConnection, restore: RestoreDoc) -> Result<Saved, Error> {
    let doc = owned(db, &restore.workspace_id, &restore.doc_id)?;
    if doc.status == "archived" {
        trash::take_doc(db, &doc.id)?;
    } else {
        check_version(Some(&doc), restore.expected_version)?;
    }
    let version = restore.version.unwrap_or(doc.version - 1);
    let old = get(db, &restore.workspace_id, &restore.doc_id, version)?;
    let save_doc = SaveDoc {
        scope: DocScope {
            workspace_id: doc.workspace_id,
            folder_id: doc.folder_id,
        },
        new_id: restore.new_id,
        revision_id: restore.revision_id,
        content: old.content,
        content_sha256: old.content_sha256,
        char_count: old.char_count,
        // An archived document comes back as a new one, which must not be there yet.
        expected_version: match doc.status.as_str() {
            "archived" => Some(0),
            _ => restore.expected_version,
        },
        reason: "restore".to_owned(),
        author: restore.author,
        now: restore.now,
    };
    save(db, &save_doc)
}

/// A document of the workspace, archived or not.
fn owned(db: &DatabaseConnection, workspace_id: &str, doc_id: &str) -> Result<Model, Error> {
    workspace::active(db, workspace_id)?;
    let sql = "SELECT * FROM thread_agents_doc WHERE id = $1";
    let found: Option<Model> = query::find(db, sql, [doc_id.into()])?;
    found
        .filter(|doc| doc.workspace_id == workspace_id)
        .ok_or_else(|| Error::UnknownDoc(doc_id.to_owned()))
}
