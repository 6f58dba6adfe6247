//! Saving and archiving of documents. Version numbers of a scope never repeat, and every version is recorded.

use entity::thread_agents_doc::Model;
use sea_orm::{DatabaseConnection, Value};

use super::{
    DocScope, check, explicit,
    resolve::{Effective, FolderPath, Resolved, effective_in},
};
use crate::{
    Error, query, trash,
    workspace::{bump_tree, bump_tree_from},
};

/// A text to save.
#[derive(Clone, Debug)]
pub struct SaveDoc {
    /// The scope of the document.
    pub scope: DocScope,
    /// The id for the document if it is new.
    pub new_id: String,
    /// The id for the revision.
    pub revision_id: String,
    /// The normalised text.
    pub content: String,
    /// SHA-256 of the text, lower-case hexadecimal.
    pub content_sha256: String,
    /// The length of the text, in characters.
    pub char_count: i64,
    /// The version the caller expects. 0 requires that there is no document; absent skips the check.
    pub expected_version: Option<i64>,
    /// The reason of the save: `autosave`, `manual`, `restore` or `proposal`.
    pub reason: String,
    /// The principal that saves.
    pub author: String,
    /// The current time, in Unix seconds.
    pub now: i64,
}

/// A document to archive.
#[derive(Clone, Debug)]
pub struct ArchiveDoc {
    /// The scope of the document.
    pub scope: DocScope,
    /// The id for the revision.
    pub revision_id: String,
    /// The version the caller expects. Absent to skip the check.
    pub expected_version: Option<i64>,
    /// The principal that archives.
    pub author: String,
    /// The current time, in Unix seconds.
    pub now: i64,
}

/// The result of a save.
#[derive(Clone, Debug, PartialEq)]
pub struct Saved {
    /// The document after the save.
    pub doc: Model,
    /// The document in effect in its scope. Absent if there is none.
    pub effective: Option<Resolved>,
    /// True if another document or version is in effect than before.
    pub effective_changed: bool,
    /// The new version of the tree. Absent if nothing changed.
    pub tree_version: Option<u64>,
}

/// The result of archiving a document.
#[derive(Clone, Debug, PartialEq)]
pub struct Archived {
    /// The archived document. Absent if there was none.
    pub doc: Option<Model>,
    /// The document now in effect in the scope. Absent if there is none.
    pub effective: Option<Resolved>,
    /// True if another document is in effect than before.
    pub effective_changed: bool,
    /// The new version of the tree. Absent if nothing changed.
    pub tree_version: Option<u64>,
}

pub(crate) fn save(db: &DatabaseConnection, save: &SaveDoc) -> Result<Saved, Error> {
    let mut way = FolderPath::read(db, &save.scope)?;
    check_version(way.explicit(), save.expected_version)?;
    let status = save.status();
    let is_same =
        |stored: &&Model| stored.content_sha256 == save.content_sha256 && stored.status == status;
    if let Some(doc) = way.explicit().filter(is_same) {
        return Ok(Saved {
            effective: way.resolved(),
            doc: doc.clone(),
            effective_changed: false,
            tree_version: None,
        });
    }

    let before = way.identity();
    let doc = match way.explicit() {
        Some(stored) => update(db, stored, status, save)?,
        None => insert(db, save)?,
    };
    record(db, &save.revision_id, &doc, &save.reason, &save.author)?;
    way.set_explicit(doc.clone());
    let tree_version = bump_tree_from(db, &save.scope.workspace_id, way.tree_version())?;
    Ok(Saved {
        effective_changed: before != way.identity(),
        effective: way.resolved(),
        tree_version: Some(tree_version),
        doc,
    })
}

/// Restores an archived document with the next version of its scope, which must have no other document. It keeps its
/// id, so that its earlier versions remain its history.
pub(super) fn unarchive(
    db: &DatabaseConnection,
    archived: &Model,
    save: &SaveDoc,
) -> Result<Saved, Error> {
    let mut way = FolderPath::read(db, &save.scope)?;
    check_version(way.explicit(), Some(0))?;
    let before = way.identity();
    let sql = format!(
        "UPDATE thread_agents_doc SET status = $4, content = $5, content_sha256 = $6, char_count = $7, \
           version = {NEXT_VERSION}, archived_at = NULL, updated_at = $8, updated_by = $9 \
         WHERE id = $1 RETURNING *"
    );
    let found = query::find(db, &sql, save.values(&archived.id))?;
    let doc: Model = found.ok_or_else(|| Error::UnknownDoc(archived.id.clone()))?;
    record(db, &save.revision_id, &doc, &save.reason, &save.author)?;
    way.set_explicit(doc.clone());
    let tree_version = bump_tree_from(db, &save.scope.workspace_id, way.tree_version())?;
    Ok(Saved {
        effective_changed: before != way.identity(),
        effective: way.resolved(),
        tree_version: Some(tree_version),
        doc,
    })
}

pub(super) fn archive(db: &DatabaseConnection, archive: &ArchiveDoc) -> Result<Archived, Error> {
    check(db, &archive.scope)?;
    let Some(stored) = explicit(db, &archive.scope)? else {
        let effective = effective_in(db, &archive.scope)?;
        return Ok(Archived {
            doc: None,
            effective: effective.map(|effective| effective.load(db)).transpose()?,
            effective_changed: false,
            tree_version: None,
        });
    };
    check_version(Some(&stored), archive.expected_version)?;
    let before = effective_in(db, &archive.scope)?;
    let doc = put_away(
        db,
        &stored,
        &archive.revision_id,
        &archive.author,
        archive.now,
    )?;
    trash::put_doc(db, &doc, &archive.author)?;
    let after = effective_in(db, &archive.scope)?;
    Ok(Archived {
        doc: Some(doc),
        effective_changed: Effective::identity(before.as_ref())
            != Effective::identity(after.as_ref()),
        effective: after.map(|after| after.load(db)).transpose()?,
        tree_version: Some(bump_tree(db, &archive.scope.workspace_id)?),
    })
}

/// Archives the document of a folder that is being deleted. The caller increments the tree version.
pub(crate) fn archive_with_folder(
    db: &DatabaseConnection,
    scope: &DocScope,
    revision_id: &str,
    author: &str,
    now: i64,
) -> Result<Option<Model>, Error> {
    let Some(stored) = explicit(db, scope)? else {
        return Ok(None);
    };
    put_away(db, &stored, revision_id, author, now).map(Some)
}

/// Checks the expected version. `None` matches any version; 0 matches only a missing document.
pub(super) fn check_version(stored: Option<&Model>, expected: Option<i64>) -> Result<(), Error> {
    let actual = stored.map_or(0, |stored| stored.version);
    match expected {
        Some(expected) if expected != actual => Err(Error::VersionConflict {
            expected,
            actual,
            current: stored.map(|stored| Box::new(stored.clone())),
        }),
        Some(_) | None => Ok(()),
    }
}

/// SQL for the version after all versions ever used in the scope `$2`, `$3`.
const NEXT_VERSION: &str = "1 + COALESCE((SELECT MAX(version) FROM thread_agents_doc old WHERE old.workspace_id = $2 \
                              AND (old.folder_id = $3 OR (old.folder_id IS NULL AND CAST($3 AS text) IS NULL))), 0)";

fn insert(db: &DatabaseConnection, save: &SaveDoc) -> Result<Model, Error> {
    let sql = format!(
        "INSERT INTO thread_agents_doc (id, workspace_id, folder_id, status, title, content, content_sha256, \
           char_count, version, created_at, updated_at, created_by, updated_by) \
         SELECT $1, $2, $3, $4, 'AGENTS.md', $5, $6, $7, {NEXT_VERSION}, $8, $8, $9, $9 \
         RETURNING *"
    );
    query::find(db, &sql, save.values(&save.new_id))?
        .ok_or_else(|| Error::UnknownDoc(save.new_id.clone()))
}

impl SaveDoc {
    /// Returns the status of the text; a text of only white space is a draft.
    fn status(&self) -> &'static str {
        if self.content.trim().is_empty() {
            "draft"
        } else {
            "active"
        }
    }

    /// Returns the values `$1` to `$9` of a statement: document id, scope, status, text, time and author.
    fn values(&self, id: &str) -> [Value; 9] {
        [
            id.into(),
            self.scope.workspace_id.as_str().into(),
            self.scope.folder_id.clone().into(),
            self.status().into(),
            self.content.as_str().into(),
            self.content_sha256.as_str().into(),
            self.char_count.into(),
            self.now.into(),
            self.author.as_str().into(),
        ]
    }
}

/// Saves the next version of an existing document.
fn update(
    db: &DatabaseConnection,
    stored: &Model,
    status: &str,
    save: &SaveDoc,
) -> Result<Model, Error> {
    let doc = Model {
        id: stored.id.clone(),
        workspace_id: stored.workspace_id.clone(),
        folder_id: stored.folder_id.clone(),
        status: status.to_owned(),
        title: stored.title.clone(),
        content: save.content.clone(),
        content_sha256: save.content_sha256.clone(),
        char_count: save.char_count,
        version: stored.version + 1,
        created_at: stored.created_at,
        updated_at: save.now,
        archived_at: None,
        created_by: stored.created_by.clone(),
        updated_by: Some(save.author.clone()),
    };
    // Indexes depend on the status, so it is only written when it changes.
    if stored.status != status {
        let sql = "UPDATE thread_agents_doc SET status = $2 WHERE id = $1";
        query::run(db, sql, [doc.id.as_str().into(), status.into()])?;
    }
    let sql = "UPDATE thread_agents_doc SET content = $2, content_sha256 = $3, char_count = $4, version = $5, \
                 updated_at = $6, updated_by = $7 \
               WHERE id = $1";
    let values: [Value; 7] = [
        doc.id.as_str().into(),
        doc.content.as_str().into(),
        doc.content_sha256.as_str().into(),
        doc.char_count.into(),
        doc.version.into(),
        doc.updated_at.into(),
        save.author.as_str().into(),
    ];
    query::run(db, sql, values)?;
    Ok(doc)
}

fn put_away(
    db: &DatabaseConnection,
    stored: &Model,
    revision_id: &str,
    author: &str,
    now: i64,
) -> Result<Model, Error> {
    let sql = "UPDATE thread_agents_doc SET status = 'archived', version = version + 1, archived_at = $2, \
                 updated_at = $2, updated_by = $3 \
               WHERE id = $1 RETURNING *";
    let doc: Option<Model> = query::find(
        db,
        sql,
        [stored.id.as_str().into(), now.into(), author.into()],
    )?;
    let doc = doc.ok_or_else(|| Error::UnknownDoc(stored.id.clone()))?;
    record(db, revision_id, &doc, "archive", author)?;
    Ok(doc)
}

/// Records a version in the history.
fn record(
    db: &DatabaseConnection,
    id: &str,
    doc: &Model,
    reason: &str,
    author: &str,
) -> Result<(), Error> {
    let sql = "INSERT INTO thread_agents_doc_revision \
                 (id, doc_id, version, content_sha256, content, char_count, saved_at, saved_by, save_reason) \
               VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)";
    let values: [Value; 9] = [
        id.into(),
        doc.id.as_str().into(),
        doc.version.into(),
        doc.content_sha256.as_str().into(),
        doc.content.as_str().into(),
        doc.char_count.into(),
        doc.updated_at.into(),
        author.into(),
        reason.into(),
    ];
    query::run(db, sql, values)
}
