//! The trash: deleted threads, folders and agents docs, until they are restored or purged.
//!
//! A trashed thread keeps its row and its turns (`thread.trashed_at` hides it) but loses its placement and its artifact
//! bindings. A trashed folder is a snapshot in `trash_item`; its former contents moved one level up and are listed in
//! `trash_member`. A trashed document is its archived row, so resolution never uses it; purging keeps that row and its
//! revisions, because prompt manifests refer to them.

use entity::{thread, thread_agents_doc, thread_folder, thread_placement, trash_item};
use sea_orm::{
    ActiveModelTrait as _, ActiveValue::Set, DatabaseConnection, EntityTrait as _,
    FromQueryResult as _, Value,
};

use crate::{
    CrudStore, DocScope, Error, RestoreDoc, Saved, artifact, query,
    thread_agents_doc::{explicit, restore_revision},
    thread_folder::{MAX_FOLDERS, ancestry, check_depth, count, height},
    turn,
    workspace::{active, bump_tree},
};

/// The columns that `artifact_binding` and `trash_binding` have in common.
const BINDING: &str = "id, workspace_id, artifact_id, artifact_version_id, thread_id, turn_id, message_id, \
                       turn_item_id, tool_call_id, task_id, task_run_id, binding_kind, direction, item_index, role, \
                       created_at";

/// The repository of the trash.
#[derive(Debug)]
pub struct TrashRepository<'a>(pub(crate) &'a CrudStore);

/// The kind of a trash item. The order of the variants is the sort order within a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum TrashKind {
    /// An agents doc that was archived individually.
    AgentsDoc,
    /// A folder, with its agents doc.
    Folder,
    /// A thread, with its turns.
    Thread,
}

/// Identifies one trash item.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct TrashKey {
    /// The kind of the item.
    pub kind: TrashKind,
    /// The id of the thread, folder or document.
    pub id: String,
}

/// The cursor of a page of the trash: the last item of the previous page.
#[derive(Clone, Debug, PartialEq)]
pub struct TrashCursor {
    /// The `deleted_at` of that item, in Unix seconds.
    pub deleted_at: i64,
    /// The key of that item.
    pub key: TrashKey,
}

/// One item of the trash.
#[derive(Clone, Debug, PartialEq)]
pub struct TrashEntry {
    /// The row of the item.
    pub row: trash_item::Model,
    /// The kind of the item.
    pub kind: TrashKind,
    /// The number of threads that were directly in the folder; 0 for other kinds.
    pub threads: u64,
    /// The number of folders that were directly in the folder; 0 for other kinds.
    pub folders: u64,
}

/// An item to restore.
#[derive(Clone, Debug)]
pub struct RestoreTrash {
    /// The id of the workspace.
    pub workspace_id: String,
    /// The key of the item.
    pub key: TrashKey,
    /// The id for the revision of the restored agents doc.
    pub revision_id: String,
    /// The principal that restores the item.
    pub author: String,
    /// The current time, in Unix seconds.
    pub now: i64,
}

/// The result of restoring an item.
#[derive(Clone, Debug, PartialEq)]
pub struct TrashRestored {
    /// The item as it was in the trash.
    pub entry: TrashEntry,
    /// The restored thread. Absent for other kinds.
    pub thread: Option<thread::Model>,
    /// The placement of the thread. Absent if it has none.
    pub placement: Option<thread_placement::Model>,
    /// The restored folder. Absent for other kinds.
    pub folder: Option<thread_folder::Model>,
    /// The restored document: the item itself, or that of the folder. Absent if there is none.
    pub saved: Option<Box<Saved>>,
    /// True if the item was restored to the root because its former folder no longer exists.
    pub parent_is_gone: bool,
    /// The number of threads that moved back into the folder.
    pub returned_threads: u64,
    /// The number of folders that moved back into the folder.
    pub returned_folders: u64,
    /// True if the folder belonged to a project that meanwhile has another folder.
    pub project_has_other_folder: bool,
    /// The new version of the tree.
    pub tree_version: u64,
}

impl TrashKind {
    /// Returns the name stored in the database.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::AgentsDoc => "agents_doc",
            Self::Folder => "folder",
            Self::Thread => "thread",
        }
    }

    fn parse(word: &str) -> Result<Self, Error> {
        let all = [Self::AgentsDoc, Self::Folder, Self::Thread];
        let found = all.into_iter().find(|kind| kind.as_str() == word);
        found.ok_or_else(|| {
            let detail = format!("`{word}` is not a kind of trash item");
            Error::Database(sea_orm::DbErr::Type(detail))
        })
    }
}

impl TrashRepository<'_> {
    /// Lists the items of a workspace, most recently deleted first.
    pub async fn list(
        &self,
        workspace_id: &str,
        after: Option<TrashCursor>,
        limit: u64,
    ) -> Result<Vec<TrashEntry>, Error> {
        let workspace_id = workspace_id.to_owned();
        self.0
            .read(move |db| list(db, &workspace_id, after.as_ref(), limit))
            .await
    }

    /// Restores an item.
    pub async fn restore(&self, restore: RestoreTrash) -> Result<TrashRestored, Error> {
        self.0.write(move |db| self::restore(db, &restore)).await
    }

    /// Permanently deletes these items, all or none. Returns the new version of the tree.
    pub async fn purge(&self, workspace_id: &str, keys: Vec<TrashKey>) -> Result<u64, Error> {
        let workspace_id = workspace_id.to_owned();
        let work = move |db: &DatabaseConnection| {
            active(db, &workspace_id)?;
            for key in &keys {
                let entry = find(db, &workspace_id, key)?;
                purge(db, &entry)?;
            }
            bump_tree(db, &workspace_id)
        };
        self.0.write(work).await
    }

    /// Permanently deletes up to `limit` items that were deleted before `before`. Returns their number, and the
    /// affected workspaces with the new versions of their trees.
    pub async fn purge_expired(
        &self,
        before: i64,
        limit: u64,
    ) -> Result<(u64, Vec<(String, u64)>), Error> {
        let work = move |db: &DatabaseConnection| {
            let limit = i64::try_from(limit).unwrap_or(i64::MAX);
            let sql = "SELECT * FROM trash_item WHERE deleted_at < $1 ORDER BY deleted_at LIMIT $2";
            let rows: Vec<trash_item::Model> = query::list(db, sql, [before.into(), limit.into()])?;
            let count = rows.len() as u64;
            let mut workspaces: Vec<String> = Vec::new();
            for row in rows {
                if !workspaces.contains(&row.workspace_id) {
                    workspaces.push(row.workspace_id.clone());
                }
                // Purging an earlier row may already have removed this one.
                purge(db, &entry(db, row)?)?;
            }
            let changed = workspaces.into_iter().map(|workspace| {
                let version = bump_tree(db, &workspace)?;
                Ok((workspace, version))
            });
            Ok((count, changed.collect::<Result<_, Error>>()?))
        };
        self.0.write(work).await
    }
}

/// Moves a thread without a running turn into the trash. The caller increments the tree version.
pub(crate) fn put_thread(
    db: &DatabaseConnection,
    thread: thread::Model,
    author: &str,
    now: i64,
) -> Result<(), Error> {
    let sql = "DELETE FROM thread_placement WHERE thread_id = $1 RETURNING folder_id";
    let placed = query::one(db, sql, [thread.id.as_str().into()])?;
    let folder_id: Option<String> = placed.map_or(Ok(None), |row| row.try_get("", "folder_id"))?;
    let name = match &thread.name {
        Some(name) => name.clone(),
        None => thread.preview.chars().take(200).collect(),
    };
    let item = trash_item::ActiveModel {
        kind: Set(TrashKind::Thread.as_str().to_owned()),
        subject_id: Set(thread.id.clone()),
        workspace_id: Set(thread.workspace_id.clone()),
        name: Set(name),
        folder_name: Set(folder_name(db, folder_id.as_deref())?),
        folder_id: Set(folder_id),
        promoted_to: Set(None),
        position: Set(None),
        created_at: Set(thread.created_at),
        doc_id: Set(None),
        project_id: Set(None),
        project_name: Set(None),
        deleted_at: Set(now),
        deleted_by: Set(author.to_owned()),
    };
    item.insert(db)?;
    let sql = format!(
        "INSERT INTO trash_binding ({BINDING}) SELECT {BINDING} FROM artifact_binding WHERE thread_id = $1"
    );
    query::run(db, &sql, [thread.id.as_str().into()])?;
    artifact::unbind_thread(db, &thread.id)?;
    let mut row = thread::ActiveModel::from(thread);
    row.trashed_at = Set(Some(now));
    row.update(db)?;
    Ok(())
}

/// Records a folder that is about to be deleted, before its contents move.
pub(crate) fn put_folder(
    db: &DatabaseConnection,
    folder: &thread_folder::Model,
    doc_id: Option<String>,
    author: &str,
    now: i64,
) -> Result<(), Error> {
    let id = folder.id.as_str();
    let sql = "SELECT project_id, name FROM company_project WHERE folder_id = $1";
    let (project_id, project_name) = match query::one(db, sql, [id.into()])? {
        None => (None, None),
        Some(row) => (
            Some(row.try_get("", "project_id")?),
            Some(row.try_get("", "name")?),
        ),
    };
    let item = trash_item::ActiveModel {
        kind: Set(TrashKind::Folder.as_str().to_owned()),
        subject_id: Set(folder.id.clone()),
        workspace_id: Set(folder.workspace_id.clone()),
        name: Set(folder.name.clone()),
        folder_id: Set(folder.parent_folder_id.clone()),
        folder_name: Set(folder_name(db, folder.parent_folder_id.as_deref())?),
        promoted_to: Set(folder.parent_folder_id.clone()),
        position: Set(folder.position),
        created_at: Set(folder.created_at),
        doc_id: Set(doc_id),
        project_id: Set(project_id),
        project_name: Set(project_name),
        deleted_at: Set(now),
        deleted_by: Set(author.to_owned()),
    };
    item.insert(db)?;
    let sql = "INSERT INTO trash_member (folder_id, kind, member_id) \
               SELECT parent_folder_id, 'folder', id FROM thread_folder WHERE parent_folder_id = $1 \
               UNION ALL \
               SELECT folder_id, 'thread', thread_id FROM thread_placement WHERE folder_id = $1";
    query::run(db, sql, [id.into()])?;
    // Former contents of other trashed folders in this folder move along with the rest.
    let sql = "UPDATE trash_item SET promoted_to = $2 WHERE workspace_id = $3 AND promoted_to = $1";
    let values: [Value; 3] = [
        id.into(),
        folder.parent_folder_id.clone().into(),
        folder.workspace_id.as_str().into(),
    ];
    query::run(db, sql, values)
}

/// Adds an archived document to the trash, unless it has no text to restore.
pub(crate) fn put_doc(
    db: &DatabaseConnection,
    doc: &thread_agents_doc::Model,
    author: &str,
) -> Result<(), Error> {
    if doc.content.trim().is_empty() {
        return Ok(());
    }
    let item = trash_item::ActiveModel {
        kind: Set(TrashKind::AgentsDoc.as_str().to_owned()),
        subject_id: Set(doc.id.clone()),
        workspace_id: Set(doc.workspace_id.clone()),
        name: Set(doc.title.clone()),
        folder_name: Set(folder_name(db, doc.folder_id.as_deref())?),
        folder_id: Set(doc.folder_id.clone()),
        promoted_to: Set(None),
        position: Set(None),
        created_at: Set(doc.created_at),
        doc_id: Set(None),
        project_id: Set(None),
        project_name: Set(None),
        deleted_at: Set(doc.updated_at),
        deleted_by: Set(author.to_owned()),
    };
    item.insert(db)?;
    Ok(())
}

/// Removes the trash item of a document that was restored by other means.
pub(crate) fn take_doc(db: &DatabaseConnection, doc_id: &str) -> Result<(), Error> {
    forget(db, TrashKind::AgentsDoc, doc_id)
}

fn forget(db: &DatabaseConnection, kind: TrashKind, id: &str) -> Result<(), Error> {
    let sql = "DELETE FROM trash_item WHERE kind = $1 AND subject_id = $2";
    query::run(db, sql, [kind.as_str().into(), id.into()])
}

fn folder_name(db: &DatabaseConnection, folder_id: Option<&str>) -> Result<Option<String>, Error> {
    let Some(folder_id) = folder_id else {
        return Ok(None);
    };
    let folder = thread_folder::Entity::find_by_id(folder_id).one(db)?;
    Ok(folder.map(|folder| folder.name))
}

/// Selects items with the number of their former members.
const COUNTED: &str = "SELECT item.*, \
      (SELECT COUNT(*) FROM trash_member member \
       WHERE item.kind = 'folder' AND member.folder_id = item.subject_id AND member.kind = 'thread') AS threads, \
      (SELECT COUNT(*) FROM trash_member member \
       WHERE item.kind = 'folder' AND member.folder_id = item.subject_id AND member.kind = 'folder') AS folders \
    FROM trash_item item";

fn counted(row: &sea_orm::QueryResult) -> Result<TrashEntry, Error> {
    let count = |column: &str| -> Result<u64, Error> {
        let count: i64 = row.try_get("", column)?;
        Ok(count.unsigned_abs())
    };
    let item = trash_item::Model::from_query_result(row, "")?;
    Ok(TrashEntry {
        kind: TrashKind::parse(&item.kind)?,
        row: item,
        threads: count("threads")?,
        folders: count("folders")?,
    })
}

fn entry(db: &DatabaseConnection, row: trash_item::Model) -> Result<TrashEntry, Error> {
    let sql = format!("{COUNTED} WHERE item.kind = $1 AND item.subject_id = $2");
    let values = [row.kind.as_str().into(), row.subject_id.as_str().into()];
    match query::one(db, &sql, values)? {
        Some(found) => counted(&found),
        None => Ok(TrashEntry {
            kind: TrashKind::parse(&row.kind)?,
            row,
            threads: 0,
            folders: 0,
        }),
    }
}

fn find(db: &DatabaseConnection, workspace_id: &str, key: &TrashKey) -> Result<TrashEntry, Error> {
    let sql = format!(
        "{COUNTED} WHERE item.kind = $1 AND item.subject_id = $2 AND item.workspace_id = $3"
    );
    let values = [
        key.kind.as_str().into(),
        key.id.as_str().into(),
        workspace_id.into(),
    ];
    match query::one(db, &sql, values)? {
        Some(row) => counted(&row),
        None => Err(Error::NotInTrash {
            kind: key.kind.as_str(),
            id: key.id.clone(),
        }),
    }
}

fn list(
    db: &DatabaseConnection,
    workspace_id: &str,
    after: Option<&TrashCursor>,
    limit: u64,
) -> Result<Vec<TrashEntry>, Error> {
    active(db, workspace_id)?;
    let limit = i64::try_from(limit).unwrap_or(i64::MAX);
    const ORDER: &str = "ORDER BY item.deleted_at DESC, item.kind, item.subject_id";
    let rows = match after {
        None => {
            let sql = format!("{COUNTED} WHERE item.workspace_id = $1 {ORDER} LIMIT $2");
            query::all(db, &sql, [workspace_id.into(), limit.into()])?
        }
        Some(after) => {
            let sql = format!(
                "{COUNTED} WHERE item.workspace_id = $1 AND (item.deleted_at < $3 OR (item.deleted_at = $3 \
                   AND (item.kind > $4 OR (item.kind = $4 AND item.subject_id > $5)))) {ORDER} LIMIT $2"
            );
            let values: [Value; 5] = [
                workspace_id.into(),
                limit.into(),
                after.deleted_at.into(),
                after.key.kind.as_str().into(),
                after.key.id.as_str().into(),
            ];
            query::all(db, &sql, values)?
        }
    };
    rows.iter().map(counted).collect()
}

fn restore(db: &DatabaseConnection, restore: &RestoreTrash) -> Result<TrashRestored, Error> {
    active(db, &restore.workspace_id)?;
    let entry = find(db, &restore.workspace_id, &restore.key)?;
    let mut restored = TrashRestored {
        thread: None,
        placement: None,
        folder: None,
        saved: None,
        parent_is_gone: false,
        returned_threads: 0,
        returned_folders: 0,
        project_has_other_folder: false,
        tree_version: 0,
        entry,
    };
    match restored.entry.kind {
        TrashKind::Thread => restore_thread(db, restore, &mut restored)?,
        TrashKind::Folder => restore_folder(db, restore, &mut restored)?,
        TrashKind::AgentsDoc => restore_doc(db, restore, &mut restored)?,
    }
    forget(db, restored.entry.kind, &restore.key.id)?;
    restored.tree_version = bump_tree(db, &restore.workspace_id)?;
    Ok(restored)
}

/// Returns the folder an item is restored to: its former folder, or `None` if that no longer exists.
fn parent(db: &DatabaseConnection, restored: &mut TrashRestored) -> Result<Option<String>, Error> {
    let Some(folder_id) = restored.entry.row.folder_id.clone() else {
        return Ok(None);
    };
    let is_there = thread_folder::Entity::find_by_id(folder_id.as_str())
        .one(db)?
        .is_some();
    restored.parent_is_gone = !is_there;
    Ok(is_there.then_some(folder_id))
}

fn restore_thread(
    db: &DatabaseConnection,
    restore: &RestoreTrash,
    restored: &mut TrashRestored,
) -> Result<(), Error> {
    let thread_id = restore.key.id.as_str();
    let thread = thread::Entity::find_by_id(thread_id).one(db)?;
    let thread = thread.ok_or_else(|| Error::UnknownThread(thread_id.to_owned()))?;
    let mut row = thread::ActiveModel::from(thread);
    row.trashed_at = Set(None);
    restored.thread = Some(row.update(db)?);
    if let Some(folder_id) = parent(db, restored)? {
        let placement = thread_placement::ActiveModel {
            thread_id: Set(thread_id.to_owned()),
            workspace_id: Set(restore.workspace_id.clone()),
            folder_id: Set(Some(folder_id)),
            created_at: Set(restore.now),
            updated_at: Set(restore.now),
        };
        restored.placement = Some(placement.insert(db)?);
    }
    // An artifact may have been purged meanwhile.
    let sql = format!(
        "INSERT INTO artifact_binding ({BINDING}) SELECT {BINDING} FROM trash_binding binding \
         WHERE thread_id = $1 AND EXISTS (SELECT 1 FROM artifact WHERE artifact.id = binding.artifact_id)"
    );
    query::run(db, &sql, [thread_id.into()])?;
    let sql = "DELETE FROM trash_binding WHERE thread_id = $1";
    query::run(db, sql, [thread_id.into()])
}

fn restore_folder(
    db: &DatabaseConnection,
    restore: &RestoreTrash,
    restored: &mut TrashRestored,
) -> Result<(), Error> {
    let item = restored.entry.row.clone();
    if count(db, &restore.workspace_id)? >= MAX_FOLDERS as u64 {
        return Err(Error::TooManyFolders { limit: MAX_FOLDERS });
    }
    let parent_folder_id = parent(db, restored)?;
    let folder = thread_folder::ActiveModel {
        id: Set(item.subject_id.clone()),
        workspace_id: Set(restore.workspace_id.clone()),
        parent_folder_id: Set(parent_folder_id.clone()),
        name: Set(item.name.clone()),
        position: Set(item.position),
        created_at: Set(item.created_at),
        updated_at: Set(restore.now),
    };
    restored.folder = Some(folder.insert(db)?);

    // Objects that were moved elsewhere since the folder was deleted stay where they are.
    let folder_id = item.subject_id.as_str();
    let values: [Value; 3] = [
        folder_id.into(),
        item.promoted_to.clone().into(),
        restore.now.into(),
    ];
    let sql = "UPDATE thread_folder SET parent_folder_id = $1, updated_at = $3 \
               WHERE parent_folder_id IS NOT DISTINCT FROM $2 AND id IN ( \
                 SELECT member_id FROM trash_member WHERE folder_id = $1 AND kind = 'folder') RETURNING id";
    restored.returned_folders = query::all(db, sql, values.clone())?.len() as u64;
    let sql = "UPDATE thread_placement SET folder_id = $1, updated_at = $3 \
               WHERE folder_id IS NOT DISTINCT FROM $2 AND thread_id IN ( \
                 SELECT member_id FROM trash_member WHERE folder_id = $1 AND kind = 'thread') RETURNING thread_id";
    restored.returned_threads = query::all(db, sql, values)?.len() as u64;
    let above = match &parent_folder_id {
        None => 0,
        Some(parent) => ancestry(db, parent)?.len(),
    };
    check_depth(above + height(db, folder_id)?)?;
    forget_members(db, folder_id)?;
    // The contents of folders that were deleted inside this one moved back with it.
    let sql = "UPDATE trash_item SET promoted_to = $1 \
               WHERE workspace_id = $2 AND kind = 'folder' AND folder_id = $1";
    let values = [folder_id.into(), restore.workspace_id.as_str().into()];
    query::run(db, sql, values)?;

    if let (Some(project_id), Some(name)) = (&item.project_id, &item.project_name) {
        let sql = "INSERT INTO company_project (workspace_id, project_id, folder_id, name) VALUES ($1, $2, $3, $4) \
                   ON CONFLICT (workspace_id, project_id) DO NOTHING RETURNING project_id";
        let values: [Value; 4] = [
            restore.workspace_id.as_str().into(),
            project_id.as_str().into(),
            folder_id.into(),
            name.as_str().into(),
        ];
        restored.project_has_other_folder = query::one(db, sql, values)?.is_none();
    }
    if let Some(doc_id) = &item.doc_id {
        restored.saved = Some(Box::new(bring_back_doc(db, restore, doc_id)?));
    }
    Ok(())
}

fn restore_doc(
    db: &DatabaseConnection,
    restore: &RestoreTrash,
    restored: &mut TrashRestored,
) -> Result<(), Error> {
    let item = &restored.entry.row;
    if let Some(folder_id) = &item.folder_id {
        let folder = thread_folder::Entity::find_by_id(folder_id.as_str()).one(db)?;
        // At the root it would apply to the whole workspace, which was not requested.
        if folder.is_none() {
            return Err(Error::FolderInTrash {
                folder_id: folder_id.clone(),
                name: item.folder_name.clone().unwrap_or_default(),
            });
        }
    }
    let scope = DocScope {
        workspace_id: restore.workspace_id.clone(),
        folder_id: item.folder_id.clone(),
    };
    if explicit(db, &scope)?.is_some() {
        return Err(Error::ScopeHasDoc {
            folder_name: item.folder_name.clone(),
        });
    }
    restored.saved = Some(Box::new(bring_back_doc(db, restore, &restore.key.id)?));
    Ok(())
}

/// Makes an archived document the document of its scope again, with its former text.
fn bring_back_doc(
    db: &DatabaseConnection,
    restore: &RestoreTrash,
    doc_id: &str,
) -> Result<Saved, Error> {
    let restore = RestoreDoc {
        workspace_id: restore.workspace_id.clone(),
        doc_id: doc_id.to_owned(),
        version: None,
        expected_version: None,
        revision_id: restore.revision_id.clone(),
        author: restore.author.clone(),
        now: restore.now,
    };
    restore_revision(db, restore)
}

fn purge(db: &DatabaseConnection, entry: &TrashEntry) -> Result<(), Error> {
    let id = entry.row.subject_id.as_str();
    match entry.kind {
        TrashKind::Thread => {
            query::run(
                db,
                "DELETE FROM trash_binding WHERE thread_id = $1",
                [id.into()],
            )?;
            turn::forget(db, id)?;
            query::run(
                db,
                "DELETE FROM thread WHERE id = $1 AND trashed_at IS NOT NULL",
                [id.into()],
            )?;
        }
        TrashKind::Folder => {
            forget_members(db, id)?;
            // Documents that were archived in the folder before it was deleted can no longer be restored.
            let sql = "DELETE FROM trash_item WHERE kind = 'agents_doc' AND folder_id = $1";
            query::run(db, sql, [id.into()])?;
        }
        TrashKind::AgentsDoc => {}
    }
    forget(db, entry.kind, id)
}

fn forget_members(db: &DatabaseConnection, folder_id: &str) -> Result<(), Error> {
    let sql = "DELETE FROM trash_member WHERE folder_id = $1";
    query::run(db, sql, [folder_id.into()])
}
