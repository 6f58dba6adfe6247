//! Folders of the thread tree.

use entity::{
    thread_agents_doc, thread_agents_doc_proposal,
    thread_folder::{ActiveModel, Column, Entity, Model},
    thread_placement,
};
use sea_orm::{
    ActiveModelTrait as _, ActiveValue::Set, ColumnTrait as _, DatabaseConnection,
    EntityTrait as _, PaginatorTrait as _, QueryFilter as _, sea_query::Expr,
};

use crate::{
    CrudStore, DocScope, Error, Resolved, query,
    thread_agents_doc::{Effective, archive_with_folder, effective_in},
    thread_agents_doc_proposal::withdraw_with_folder,
    trash,
    workspace::{active, bump_tree},
};

/// The maximum depth of a folder; a folder at the root has depth 1.
pub const MAX_DEPTH: usize = 64;
/// The maximum number of folders per workspace.
pub const MAX_FOLDERS: usize = 10_000;

/// The repository of folders.
#[derive(Debug)]
pub struct ThreadFolderRepository<'a>(pub(crate) &'a CrudStore);

/// A folder to create.
#[derive(Clone, Debug)]
pub struct NewFolder {
    /// The id of the folder.
    pub id: String,
    /// The id of the workspace.
    pub workspace_id: String,
    /// The id of the parent folder. Absent for the root.
    pub parent_folder_id: Option<String>,
    /// The name of the folder.
    pub name: String,
    /// The current time, in Unix seconds.
    pub now: i64,
}

/// The changes of an update. Absent fields stay unchanged.
#[derive(Clone, Debug, Default)]
pub struct FolderChange {
    /// The new name.
    pub name: Option<String>,
    /// The new position among its siblings.
    pub position: Option<i64>,
}

/// The result of [`ThreadFolderRepository::move_to`].
#[derive(Clone, Debug, PartialEq)]
pub enum FolderMoved {
    /// The folder was already there.
    Unchanged,
    /// The folder was moved.
    Changed {
        /// The new version of the tree.
        tree_version: u64,
        /// The agents doc now in effect in the folder. Absent if there is none.
        effective: Option<Box<Resolved>>,
        /// True if another document is in effect than before.
        effective_changed: bool,
    },
}

/// The result of deleting a folder.
#[derive(Clone, Debug, PartialEq)]
pub struct FolderDeleted {
    /// The new version of the tree.
    pub tree_version: u64,
    /// The agents doc of the folder, which was archived. Absent if it had none.
    pub archived: Option<thread_agents_doc::Model>,
    /// The pending proposals for the folder, which were withdrawn.
    pub withdrawn: Vec<thread_agents_doc_proposal::Model>,
    /// True if that document was in effect.
    pub effective_changed: bool,
}

/// A folder to delete.
#[derive(Clone, Debug)]
pub struct DeleteFolder {
    /// The id of the workspace.
    pub workspace_id: String,
    /// The id of the folder.
    pub folder_id: String,
    /// The id for the revision that archives its agents doc.
    pub revision_id: String,
    /// The principal that deletes the folder.
    pub author: String,
    /// The current time, in Unix seconds.
    pub now: i64,
}

impl ThreadFolderRepository<'_> {
    /// Creates a folder. Returns it and the new version of the tree.
    pub async fn create(&self, folder: NewFolder) -> Result<(Model, u64), Error> {
        let work = move |db: &DatabaseConnection| {
            active(db, &folder.workspace_id)?;
            if let Some(parent) = &folder.parent_folder_id {
                find(db, &folder.workspace_id, parent)?;
                check_depth(ancestry(db, parent)?.len() + 1)?;
            }
            let siblings =
                Entity::find().filter(Column::WorkspaceId.eq(folder.workspace_id.as_str()));
            if siblings.count(db)? >= MAX_FOLDERS as u64 {
                return Err(Error::TooManyFolders { limit: MAX_FOLDERS });
            }
            let row = ActiveModel {
                id: Set(folder.id),
                workspace_id: Set(folder.workspace_id.clone()),
                parent_folder_id: Set(folder.parent_folder_id),
                name: Set(folder.name),
                position: Set(None),
                created_at: Set(folder.now),
                updated_at: Set(folder.now),
            };
            let row = row.insert(db)?;
            Ok((row, bump_tree(db, &folder.workspace_id)?))
        };
        self.0.write(work).await
    }

    /// Moves a folder into another one or to the root.
    pub async fn move_to(
        &self,
        workspace_id: &str,
        folder_id: &str,
        parent_folder_id: Option<&str>,
        now: i64,
    ) -> Result<FolderMoved, Error> {
        let (workspace_id, folder_id) = (workspace_id.to_owned(), folder_id.to_owned());
        let parent_folder_id = parent_folder_id.map(ToOwned::to_owned);
        let work = move |db: &DatabaseConnection| {
            active(db, &workspace_id)?;
            let folder = find(db, &workspace_id, &folder_id)?;
            if let Some(parent) = &parent_folder_id {
                find(db, &workspace_id, parent)?;
                let above = ancestry(db, parent)?;
                if above.contains(&folder_id) {
                    return Err(Error::FolderCycle {
                        folder_id,
                        parent_folder_id: parent.clone(),
                    });
                }
                check_depth(above.len() + height(db, &folder_id)?)?;
            }
            if folder.parent_folder_id == parent_folder_id {
                return Ok(FolderMoved::Unchanged);
            }
            let scope = DocScope {
                workspace_id,
                folder_id: Some(folder_id),
            };
            let before = effective_in(db, &scope)?;
            let mut row = ActiveModel::from(folder);
            row.parent_folder_id = Set(parent_folder_id);
            row.updated_at = Set(now);
            row.update(db)?;
            let after = effective_in(db, &scope)?;
            Ok(FolderMoved::Changed {
                effective_changed: Effective::identity(before.as_ref())
                    != Effective::identity(after.as_ref()),
                effective: after
                    .map(|after| after.load(db).map(Box::new))
                    .transpose()?,
                tree_version: bump_tree(db, &scope.workspace_id)?,
            })
        };
        self.0.write(work).await
    }

    /// Renames a folder or changes its position. Returns it and the new version of the tree.
    pub async fn update(
        &self,
        workspace_id: &str,
        folder_id: &str,
        update: FolderChange,
        now: i64,
    ) -> Result<(Model, u64), Error> {
        let (workspace_id, folder_id) = (workspace_id.to_owned(), folder_id.to_owned());
        let work = move |db: &DatabaseConnection| {
            active(db, &workspace_id)?;
            let mut row = ActiveModel::from(find(db, &workspace_id, &folder_id)?);
            if let Some(name) = update.name {
                row.name = Set(name);
            }
            if let Some(position) = update.position {
                row.position = Set(Some(position));
            }
            row.updated_at = Set(now);
            let row = row.update(db)?;
            Ok((row, bump_tree(db, &workspace_id)?))
        };
        self.0.write(work).await
    }

    /// Moves a folder into the trash: its contents move one level up and its agents doc is archived. Returns `None` if
    /// the folder does not exist.
    pub async fn delete(&self, delete: DeleteFolder) -> Result<Option<FolderDeleted>, Error> {
        self.0.write(move |db| self::delete(db, &delete)).await
    }
}

fn delete(db: &DatabaseConnection, delete: &DeleteFolder) -> Result<Option<FolderDeleted>, Error> {
    let (workspace_id, folder_id) = (delete.workspace_id.as_str(), delete.folder_id.as_str());
    active(db, workspace_id)?;
    let Some(folder) = Entity::find_by_id(folder_id).one(db)? else {
        return Ok(None);
    };
    if folder.workspace_id != workspace_id {
        return Err(unknown(workspace_id, folder_id));
    }
    let scope = DocScope {
        workspace_id: workspace_id.to_owned(),
        folder_id: Some(folder_id.to_owned()),
    };
    let before = effective_in(db, &scope)?;
    let archived =
        archive_with_folder(db, &scope, &delete.revision_id, &delete.author, delete.now)?;
    let withdrawn = withdraw_with_folder(db, &scope, &delete.author, delete.now)?;
    let effective_changed = Effective::identity(before.as_ref())
        != Effective::identity(effective_in(db, &scope)?.as_ref());
    let doc_id = archived.as_ref().map(|doc| doc.id.clone());
    trash::put_folder(db, &folder, doc_id, &delete.author, delete.now)?;
    let parent = Expr::value(folder.parent_folder_id);
    Entity::update_many()
        .col_expr(Column::ParentFolderId, parent.clone())
        .col_expr(Column::UpdatedAt, delete.now.into())
        .filter(Column::ParentFolderId.eq(folder_id))
        .exec(db)?;
    thread_placement::Entity::update_many()
        .col_expr(thread_placement::Column::FolderId, parent)
        .col_expr(thread_placement::Column::UpdatedAt, delete.now.into())
        .filter(thread_placement::Column::FolderId.eq(folder_id))
        .exec(db)?;
    Entity::delete_by_id(folder_id).exec(db)?;
    Ok(Some(FolderDeleted {
        tree_version: bump_tree(db, workspace_id)?,
        archived,
        withdrawn,
        effective_changed,
    }))
}

/// Returns a folder of the workspace, or fails.
pub(crate) fn find(
    db: &DatabaseConnection,
    workspace_id: &str,
    folder_id: &str,
) -> Result<Model, Error> {
    let found = Entity::find_by_id(folder_id).one(db)?;
    found
        .filter(|folder| folder.workspace_id == workspace_id)
        .ok_or_else(|| unknown(workspace_id, folder_id))
}

pub(crate) fn unknown(workspace_id: &str, folder_id: &str) -> Error {
    Error::UnknownFolder {
        folder_id: folder_id.to_owned(),
        workspace_id: workspace_id.to_owned(),
    }
}

pub(crate) fn check_depth(depth: usize) -> Result<(), Error> {
    if depth <= MAX_DEPTH {
        Ok(())
    } else {
        Err(Error::TooDeep { limit: MAX_DEPTH })
    }
}

/// Returns the number of folders of a workspace.
pub(crate) fn count(db: &DatabaseConnection, workspace_id: &str) -> Result<u64, Error> {
    let all = Entity::find().filter(Column::WorkspaceId.eq(workspace_id));
    Ok(all.count(db)?)
}

/// Returns the folder and all its ancestors, in one query regardless of depth.
pub(crate) fn ancestry(db: &DatabaseConnection, folder_id: &str) -> Result<Vec<String>, Error> {
    let sql = "WITH RECURSIVE above (id, parent_folder_id) AS ( \
                 SELECT id, parent_folder_id FROM thread_folder WHERE id = $1 \
                 UNION ALL \
                 SELECT folder.id, folder.parent_folder_id FROM thread_folder folder \
                 JOIN above ON folder.id = above.parent_folder_id) \
               SELECT id FROM above";
    let rows = query::all(db, sql, [folder_id.into()])?;
    let ids: Result<_, sea_orm::DbErr> = rows.iter().map(|row| row.try_get("", "id")).collect();
    Ok(ids?)
}

/// Returns the number of levels of a folder including itself, in one query.
pub(crate) fn height(db: &DatabaseConnection, folder_id: &str) -> Result<usize, Error> {
    let sql = "WITH RECURSIVE below (id, level) AS ( \
                 SELECT id, 1 FROM thread_folder WHERE id = $1 \
                 UNION ALL \
                 SELECT folder.id, below.level + 1 FROM thread_folder folder \
                 JOIN below ON folder.parent_folder_id = below.id) \
               SELECT CAST(MAX(level) AS bigint) AS height FROM below";
    let row = query::one(db, sql, [folder_id.into()])?;
    let levels: Option<i64> = row.map_or(Ok(None), |row| row.try_get("", "height"))?;
    Ok(usize::try_from(levels.unwrap_or(1)).unwrap_or(usize::MAX))
}
