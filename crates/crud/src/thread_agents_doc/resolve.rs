//! Which document is in force: the nearest active one on the way from a folder to the root.

use entity::thread_agents_doc::Model;
use sea_orm::DatabaseConnection;

use super::{DocScope, ThreadResolution, check, explicit};
use crate::{Error, query, workspace};

/// What one scope has and what is in force there.
#[derive(Clone, Debug, PartialEq)]
pub struct Scope {
    /// Its own document.
    pub explicit: Option<Model>,
    /// The document in force.
    pub effective: Option<Resolved>,
}

/// A document in force and where it was found.
#[derive(Clone, Debug, PartialEq)]
pub struct Resolved {
    /// The document.
    pub doc: Model,
    /// The names of the folders from the root down to the document's folder; empty for the root.
    pub source_path: Vec<String>,
    /// The folder it was resolved for; none for the root.
    pub resolved_for_folder_id: Option<String>,
}

impl Resolved {
    /// Whether it comes from above.
    pub fn is_inherited(&self) -> bool {
        self.doc.folder_id != self.resolved_for_folder_id
    }
}

/// A document in force before its text is read.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Effective {
    pub(crate) doc_id: String,
    pub(crate) version: i64,
    source_path: Vec<String>,
    resolved_for_folder_id: Option<String>,
}

impl Effective {
    /// Reads the document.
    pub(crate) fn load(self, db: &DatabaseConnection) -> Result<Resolved, Error> {
        let sql = "SELECT * FROM thread_agents_doc WHERE id = $1";
        let doc: Option<Model> = query::find(db, sql, [self.doc_id.as_str().into()])?;
        let doc = doc.ok_or(Error::UnknownDoc(self.doc_id.clone()))?;
        Ok(self.with(doc))
    }

    fn with(self, doc: Model) -> Resolved {
        Resolved {
            doc,
            source_path: self.source_path,
            resolved_for_folder_id: self.resolved_for_folder_id,
        }
    }

    /// What must be the same for nothing to have changed.
    pub(crate) fn identity(effective: Option<&Self>) -> Option<(&str, i64)> {
        effective.map(|effective| (effective.doc_id.as_str(), effective.version))
    }
}

pub(super) fn scope(db: &DatabaseConnection, scope: &DocScope) -> Result<Scope, Error> {
    check(db, scope)?;
    let explicit = explicit(db, scope)?;
    let effective = effective_of(db, scope, explicit.as_ref())?;
    Ok(Scope {
        explicit,
        effective,
    })
}

/// The document in force, given the scope's own one.
pub(super) fn effective_of(
    db: &DatabaseConnection,
    scope: &DocScope,
    explicit: Option<&Model>,
) -> Result<Option<Resolved>, Error> {
    if let Some(doc) = explicit.filter(|doc| doc.status == "active") {
        return Ok(Some(Resolved {
            doc: doc.clone(),
            source_path: path(db, scope)?,
            resolved_for_folder_id: scope.folder_id.clone(),
        }));
    }
    let effective = effective_in(db, scope)?;
    effective.map(|effective| effective.load(db)).transpose()
}

pub(super) fn effective(
    db: &DatabaseConnection,
    scope: &DocScope,
) -> Result<Option<Effective>, Error> {
    check(db, scope)?;
    effective_in(db, scope)
}

/// The document in force in a scope that exists: one query whatever the depth.
pub(crate) fn effective_in(
    db: &DatabaseConnection,
    scope: &DocScope,
) -> Result<Option<Effective>, Error> {
    let sql = "WITH RECURSIVE above (id, parent_folder_id, name, distance) AS ( \
                 SELECT id, parent_folder_id, name, 0 FROM thread_folder WHERE id = $2 \
                 UNION ALL \
                 SELECT folder.id, folder.parent_folder_id, folder.name, above.distance + 1 \
                 FROM thread_folder folder JOIN above ON folder.id = above.parent_folder_id) \
               SELECT above.name AS name, doc.id AS doc_id, doc.version AS version, above.distance AS distance \
               FROM above LEFT JOIN thread_agents_doc doc \
                 ON doc.workspace_id = $1 AND doc.folder_id = above.id AND doc.status = 'active' \
               UNION ALL \
               SELECT NULL, doc.id, doc.version, 1000000 FROM thread_agents_doc doc \
               WHERE doc.workspace_id = $1 AND doc.folder_id IS NULL AND doc.status = 'active' \
               ORDER BY distance";
    let folder_id = scope.folder_id.clone();
    let rows = query::all(
        db,
        sql,
        [scope.workspace_id.as_str().into(), folder_id.clone().into()],
    )?;
    let mut found = None;
    let mut names: Vec<String> = Vec::new();
    for row in &rows {
        let name: Option<String> = row.try_get("", "name")?;
        let doc_id: Option<String> = row.try_get("", "doc_id")?;
        if let (None, Some(doc_id)) = (&found, doc_id) {
            let version: i64 = row.try_get("", "version")?;
            found = Some((doc_id, version));
            // What was passed on the way is not part of the source's path.
            names.clear();
        }
        names.extend(name);
    }
    Ok(found.map(|(doc_id, version)| {
        names.reverse();
        Effective {
            doc_id,
            version,
            source_path: names,
            resolved_for_folder_id: folder_id,
        }
    }))
}

/// The names of the folders from the root down to the scope.
fn path(db: &DatabaseConnection, scope: &DocScope) -> Result<Vec<String>, Error> {
    let Some(folder_id) = scope.folder_id.as_deref() else {
        return Ok(Vec::new());
    };
    let sql = "WITH RECURSIVE above (id, parent_folder_id, name, distance) AS ( \
                 SELECT id, parent_folder_id, name, 0 FROM thread_folder WHERE id = $1 \
                 UNION ALL \
                 SELECT folder.id, folder.parent_folder_id, folder.name, above.distance + 1 \
                 FROM thread_folder folder JOIN above ON folder.id = above.parent_folder_id) \
               SELECT name FROM above ORDER BY distance DESC";
    let rows = query::all(db, sql, [folder_id.into()])?;
    let names: Result<_, sea_orm::DbErr> = rows.iter().map(|row| row.try_get("", "name")).collect();
    Ok(names?)
}

/// The root's document has no folder, so its path has no names.
pub(super) fn for_thread(
    db: &DatabaseConnection,
    workspace_id: &str,
    thread_id: &str,
) -> Result<ThreadResolution, Error> {
    workspace::active(db, workspace_id)?;
    let sql = "SELECT thread.workspace_id AS workspace_id, placement.folder_id AS folder_id \
               FROM thread LEFT JOIN thread_placement placement ON placement.thread_id = thread.id \
               WHERE thread.id = $1";
    let row = query::one(db, sql, [thread_id.into()])?;
    let row = row.ok_or_else(|| Error::UnknownThread(thread_id.to_owned()))?;
    let owner: String = row.try_get("", "workspace_id")?;
    if owner != workspace_id {
        return Err(Error::ForeignThread {
            thread_id: thread_id.to_owned(),
            workspace_id: workspace_id.to_owned(),
        });
    }
    let folder_id: Option<String> = row.try_get("", "folder_id")?;
    let scope = DocScope {
        workspace_id: owner,
        folder_id: folder_id.clone(),
    };
    let effective = effective_in(db, &scope)?;
    let effective = effective.map(|effective| effective.load(db)).transpose()?;
    Ok(ThreadResolution {
        folder_id,
        effective,
    })
}
