//! Resolution of the document in effect: the nearest active one on the path from a folder to the root.

use entity::thread_agents_doc::Model;
use sea_orm::{DatabaseConnection, FromQueryResult as _};

use super::{DocScope, ThreadResolution};
use crate::{Error, query, thread_folder, workspace};

/// The documents of one scope.
#[derive(Clone, Debug, PartialEq)]
pub struct ScopeDocs {
    /// The scope's own document. Absent if it has none.
    pub explicit: Option<Model>,
    /// The document in effect. Absent if there is none.
    pub effective: Option<Resolved>,
}

impl ScopeDocs {
    /// Estimates the memory size, in bytes.
    pub(crate) fn size(&self) -> usize {
        let explicit = self.explicit.as_ref().map_or(0, |doc| doc.content.len());
        size_of::<Self>() + explicit + self.effective.as_ref().map_or(0, Resolved::size)
    }
}

/// A document in effect and where it was found.
#[derive(Clone, Debug, PartialEq)]
pub struct Resolved {
    /// The document in effect, with its text.
    pub doc: Model,
    /// The names of the folders from the root down to the document's folder. Empty for the root.
    pub source_path: Vec<String>,
    /// The folder it was resolved for. Absent for the root.
    pub resolved_for_folder_id: Option<String>,
}

impl Resolved {
    /// Returns whether the document belongs to an ancestor of the scope.
    pub fn is_inherited(&self) -> bool {
        self.doc.folder_id != self.resolved_for_folder_id
    }

    /// Estimates the memory size, in bytes.
    pub(crate) fn size(&self) -> usize {
        let names: usize = self.source_path.iter().map(String::len).sum();
        size_of::<Self>() + self.doc.content.len() + names
    }
}

/// A document in effect whose text has not been read.
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
        Ok(Resolved {
            doc: doc.ok_or(Error::UnknownDoc(self.doc_id))?,
            source_path: self.source_path,
            resolved_for_folder_id: self.resolved_for_folder_id,
        })
    }

    /// Returns the id and version that identify the document in effect, to detect changes.
    pub(crate) fn identity(effective: Option<&Self>) -> Option<(&str, i64)> {
        effective.map(|effective| (effective.doc_id.as_str(), effective.version))
    }
}

/// The path from a scope up to the root, with the documents on it.
pub(super) struct FolderPath {
    /// The steps, nearest first; the last one is the root.
    steps: Vec<PathStep>,
    /// The folder the path starts at. Absent for the root.
    folder_id: Option<String>,
    /// The tree version at which the path was read.
    tree_version: i64,
}

struct PathStep {
    /// The name of the folder. Absent for the root.
    name: Option<String>,
    /// The folder's own document, ignoring archived ones.
    doc: Option<Model>,
}

impl FolderPath {
    /// Reads the path in one query regardless of depth. Fails unless the workspace and the folder exist.
    pub(super) fn read(db: &DatabaseConnection, scope: &DocScope) -> Result<Self, Error> {
        const ROOT: i64 = 1_000_000;
        let sql = "WITH RECURSIVE above (id, parent_folder_id, name, distance) AS ( \
                     SELECT id, parent_folder_id, name, 0 FROM thread_folder WHERE id = $2 AND workspace_id = $1 \
                     UNION ALL \
                     SELECT folder.id, folder.parent_folder_id, folder.name, above.distance + 1 \
                     FROM thread_folder folder JOIN above ON folder.id = above.parent_folder_id) \
                   SELECT above.distance AS distance, above.name AS folder_name, NULL AS tree_version, doc.* \
                   FROM above LEFT JOIN thread_agents_doc doc \
                     ON doc.workspace_id = $1 AND doc.folder_id = above.id AND doc.status IN ('draft', 'active') \
                   UNION ALL \
                   SELECT 1000000, NULL, workspace.tree_version, doc.* FROM workspace LEFT JOIN thread_agents_doc doc \
                     ON doc.workspace_id = $1 AND doc.folder_id IS NULL AND doc.status IN ('draft', 'active') \
                   WHERE workspace.id = $1 AND workspace.is_active";
        let (workspace_id, folder_id) = (scope.workspace_id.as_str(), scope.folder_id.as_deref());
        let rows = query::all(db, sql, [workspace_id.into(), folder_id.into()])?;
        let (mut steps, mut tree_version) = (Vec::with_capacity(rows.len()), None);
        for row in &rows {
            let distance: i64 = row.try_get("", "distance")?;
            let doc_id: Option<String> = row.try_get("", "id")?;
            let doc = doc_id.map(|_| Model::from_query_result(row, ""));
            let step = PathStep {
                name: row.try_get("", "folder_name")?,
                doc: doc.transpose()?,
            };
            if distance == ROOT {
                tree_version = row.try_get("", "tree_version")?;
            }
            steps.push((distance, step));
        }
        steps.sort_unstable_by_key(|(distance, _)| *distance);
        let tree_version =
            tree_version.ok_or_else(|| Error::UnknownWorkspace(workspace_id.to_owned()))?;
        match folder_id {
            Some(folder_id) if steps.len() == 1 => {
                Err(thread_folder::unknown(workspace_id, folder_id))
            }
            Some(_) | None => Ok(Self {
                steps: steps.into_iter().map(|(_, step)| step).collect(),
                folder_id: scope.folder_id.clone(),
                tree_version,
            }),
        }
    }

    /// Returns the tree version at which the path was read.
    pub(super) fn tree_version(&self) -> i64 {
        self.tree_version
    }

    /// Returns the scope's own document.
    pub(super) fn explicit(&self) -> Option<&Model> {
        self.steps[0].doc.as_ref()
    }

    /// Replaces the scope's own document.
    pub(super) fn set_explicit(&mut self, doc: Model) {
        self.steps[0].doc = Some(doc);
    }

    /// Returns the nearest active document.
    pub(super) fn resolved(&self) -> Option<Resolved> {
        let (doc, source) = self.source()?;
        Some(Resolved {
            doc: doc.clone(),
            // Folders below the source are not part of its path.
            source_path: source
                .iter()
                .rev()
                .filter_map(|step| step.name.clone())
                .collect(),
            resolved_for_folder_id: self.folder_id.clone(),
        })
    }

    /// Returns the id and version that identify the document in effect, to detect changes.
    pub(super) fn identity(&self) -> Option<(String, i64)> {
        let (doc, _) = self.source()?;
        Some((doc.id.clone(), doc.version))
    }

    /// Returns the document in effect, and the path from it upwards.
    fn source(&self) -> Option<(&Model, &[PathStep])> {
        (0..self.steps.len()).find_map(|index| {
            let doc = self.steps[index].doc.as_ref();
            let active = doc.filter(|doc| doc.status == "active")?;
            Some((active, &self.steps[index..]))
        })
    }
}

pub(super) fn scope(db: &DatabaseConnection, scope: &DocScope) -> Result<ScopeDocs, Error> {
    let way = FolderPath::read(db, scope)?;
    Ok(ScopeDocs {
        explicit: way.explicit().cloned(),
        effective: way.resolved(),
    })
}

/// Returns the document in effect in an existing scope, in one query regardless of depth.
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
            // Folders below the source are not part of its path.
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

pub(super) fn for_thread(
    db: &DatabaseConnection,
    workspace_id: &str,
    thread_id: &str,
) -> Result<ThreadResolution, Error> {
    let sql = "SELECT thread.workspace_id AS workspace_id, placement.folder_id AS folder_id \
               FROM thread LEFT JOIN thread_placement placement ON placement.thread_id = thread.id \
               WHERE thread.id = $1 AND thread.trashed_at IS NULL";
    let Some(row) = query::one(db, sql, [thread_id.into()])? else {
        workspace::active(db, workspace_id)?;
        return Err(Error::UnknownThread(thread_id.to_owned()));
    };
    let owner: String = row.try_get("", "workspace_id")?;
    if owner != workspace_id {
        workspace::active(db, workspace_id)?;
        return Err(Error::ForeignThread {
            thread_id: thread_id.to_owned(),
            workspace_id: workspace_id.to_owned(),
        });
    }
    let scope = DocScope {
        workspace_id: owner,
        folder_id: row.try_get("", "folder_id")?,
    };
    Ok(ThreadResolution {
        effective: FolderPath::read(db, &scope)?.resolved(),
        folder_id: scope.folder_id,
    })
}
