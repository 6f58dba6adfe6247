//! Threads and their placements.

use entity::{
    thread::{ActiveModel, Column, Entity, Model},
    thread_placement,
};
use sea_orm::{
    ActiveModelTrait as _,
    ActiveValue::{self, Set},
    ColumnTrait as _, DatabaseConnection, EntityTrait as _, QueryFilter as _,
};

use crate::{
    CrudStore, Error, TreePage, TreeQuery, artifact, thread_folder, trash, tree,
    workspace::{active, bump_tree},
};

/// The repository of threads.
#[derive(Debug)]
pub struct ThreadRepository<'a>(pub(crate) &'a CrudStore);

/// The cursor of a tree page: the last thread of the previous page.
#[derive(Clone, Debug, PartialEq)]
pub struct ThreadCursor {
    /// The `updated_at` of that thread, in Unix seconds.
    pub updated_at: i64,
    /// The id of that thread.
    pub id: String,
}

/// A thread to create or open. Absent fields keep the stored value or take the default.
#[derive(Clone, Debug)]
pub struct StartThread {
    /// The id of the thread.
    pub id: String,
    /// The id of the workspace.
    pub workspace_id: String,
    /// The connection that sees the thread while it is a draft.
    pub draft_owner: String,
    /// The title. Absent to keep the stored one.
    pub name: Option<String>,
    /// The name of the model.
    pub model: Field<String>,
    /// The id of the model provider.
    pub model_provider: Field<String>,
    /// The mode of the thread.
    pub mode: Field<String>,
    /// The origin of a new thread; a stored thread keeps its own.
    pub origin_kind: String,
    /// The visibility in the tree: `visible` or another value, which hides the thread.
    pub sidebar_visibility: Field<String>,
    /// The name of the agent. Absent to keep the stored one.
    pub agent_nickname: Option<String>,
    /// The role of the agent. Absent to keep the stored one.
    pub agent_role: Option<String>,
    /// The current time, in Unix seconds.
    pub now: i64,
}

/// A value for a column, either given by the caller or a default.
#[derive(Clone, Debug, PartialEq)]
pub enum Field<T> {
    /// Given by the caller; also replaces the stored value.
    Given(T),
    /// A default, used only for a new row.
    Default(T),
}

/// The result of [`ThreadRepository::start`].
#[derive(Clone, Debug, PartialEq)]
pub enum Started {
    /// A new draft was created.
    Created(Model),
    /// An existing thread was opened.
    Opened(Updated),
}

/// The changes of an update. Absent fields stay unchanged.
#[derive(Clone, Debug, Default)]
pub struct ThreadChange {
    /// The new title.
    pub name: Option<String>,
    /// True to archive the thread, false to unarchive it.
    pub archived: Option<bool>,
    /// The new visibility in the tree.
    pub sidebar_visibility: Option<String>,
}

/// A thread after an update.
#[derive(Clone, Debug, PartialEq)]
pub struct Updated {
    /// The updated thread.
    pub thread: Model,
    /// The placement of the thread. Absent if it has none.
    pub placement: Option<thread_placement::Model>,
    /// The new version of the tree. Absent if the tree did not change visibly.
    pub tree_version: Option<u64>,
}

/// A thread to delete.
#[derive(Clone, Debug)]
pub struct DeleteThread {
    /// The id of the workspace.
    pub workspace_id: String,
    /// The id of the thread.
    pub thread_id: String,
    /// The principal that deletes the thread.
    pub author: String,
    /// The current time, in Unix seconds.
    pub now: i64,
}

/// The result of a move.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Moved {
    /// The object was already there.
    Unchanged,
    /// The object was moved. Contains the new version of the tree.
    Changed(u64),
}

impl ThreadRepository<'_> {
    /// Returns one thread by id.
    pub async fn get(&self, id: &str) -> Result<Model, Error> {
        let id = id.to_owned();
        let work = move |db: &DatabaseConnection| {
            let found = Entity::find_by_id(id.as_str()).one(db)?;
            found
                .filter(|thread| thread.trashed_at.is_none())
                .ok_or(Error::UnknownThread(id))
        };
        self.0.read(work).await
    }

    /// Creates a draft, or opens the thread with this id and applies the given values.
    pub async fn start(&self, start: StartThread) -> Result<Started, Error> {
        let work = move |db: &DatabaseConnection| {
            active(db, &start.workspace_id)?;
            match Entity::find_by_id(start.id.as_str()).one(db)? {
                None => Ok(Started::Created(insert(db, start)?)),
                Some(stored)
                    if stored.workspace_id == start.workspace_id && stored.trashed_at.is_some() =>
                {
                    Err(Error::ThreadInTrash(start.id))
                }
                Some(stored) if stored.workspace_id == start.workspace_id => {
                    open(db, stored, start).map(Started::Opened)
                }
                Some(_) => Err(Error::ForeignThread {
                    thread_id: start.id,
                    workspace_id: start.workspace_id,
                }),
            }
        };
        self.0.write(work).await
    }

    /// Returns everything `thread/tree` shows.
    pub async fn tree(&self, query: TreeQuery) -> Result<TreePage, Error> {
        self.0.read(move |db| tree::read(db, &query)).await
    }

    /// Moves a thread into a folder or to the root.
    pub async fn move_to(
        &self,
        workspace_id: &str,
        thread_id: &str,
        folder_id: Option<&str>,
        now: i64,
    ) -> Result<Moved, Error> {
        let (workspace_id, thread_id) = (workspace_id.to_owned(), thread_id.to_owned());
        let folder_id = folder_id.map(ToOwned::to_owned);
        let work = move |db: &DatabaseConnection| {
            active(db, &workspace_id)?;
            let thread = owned(db, &workspace_id, &thread_id)?;
            if let Some(folder_id) = &folder_id {
                thread_folder::find(db, &workspace_id, folder_id)?;
            }
            match placement(db, &thread_id)? {
                Some(placement) if placement.folder_id == folder_id => return Ok(Moved::Unchanged),
                Some(placement) => {
                    let mut row = thread_placement::ActiveModel::from(placement);
                    row.folder_id = Set(folder_id);
                    row.updated_at = Set(now);
                    row.update(db)?;
                }
                None => {
                    let row = thread_placement::ActiveModel {
                        thread_id: Set(thread_id),
                        workspace_id: Set(workspace_id.clone()),
                        folder_id: Set(folder_id),
                        created_at: Set(now),
                        updated_at: Set(now),
                    };
                    row.insert(db)?;
                }
            }
            if !thread.materialized {
                let mut row = ActiveModel::from(thread);
                row.materialized = Set(true);
                row.draft_owner = Set(None);
                row.update(db)?;
            }
            bump_tree(db, &workspace_id).map(Moved::Changed)
        };
        self.0.write(work).await
    }

    /// Renames, archives, shows or hides a thread.
    pub async fn update(
        &self,
        workspace_id: &str,
        thread_id: &str,
        update: ThreadChange,
        now: i64,
    ) -> Result<Updated, Error> {
        let (workspace_id, thread_id) = (workspace_id.to_owned(), thread_id.to_owned());
        let work = move |db: &DatabaseConnection| {
            active(db, &workspace_id)?;
            let mut row = ActiveModel::from(owned(db, &workspace_id, &thread_id)?);
            if let Some(name) = update.name {
                row.name = Set(Some(name));
            }
            if let Some(archived) = update.archived {
                row.archived_at = Set(archived.then_some(now));
            }
            if let Some(visibility) = update.sidebar_visibility {
                row.sidebar_visibility = Set(visibility);
            }
            store(db, row)
        };
        self.0.write(work).await
    }

    /// Moves a thread with its turns into the trash; deletes a draft permanently. Returns the new version of the tree,
    /// or `None` if the thread does not exist.
    pub async fn delete(&self, delete: DeleteThread) -> Result<Option<u64>, Error> {
        let work = move |db: &DatabaseConnection| {
            active(db, &delete.workspace_id)?;
            let thread = match owned(db, &delete.workspace_id, &delete.thread_id) {
                Err(Error::UnknownThread(_)) => return Ok(None),
                found => found?,
            };
            if thread.status == "Active" {
                return Err(Error::ThreadBusy(delete.thread_id));
            }
            if thread.materialized {
                trash::put_thread(db, thread, &delete.author, delete.now)?;
            } else {
                artifact::unbind_thread(db, &delete.thread_id)?;
                Entity::delete_by_id(delete.thread_id).exec(db)?;
            }
            bump_tree(db, &delete.workspace_id).map(Some)
        };
        self.0.write(work).await
    }

    /// Deletes the drafts created before `before`. Returns their number.
    pub async fn purge_drafts(&self, before: i64) -> Result<u64, Error> {
        let work = move |db: &DatabaseConnection| {
            let purged = Entity::delete_many()
                .filter(Column::Materialized.eq(false))
                .filter(Column::CreatedAt.lt(before))
                .exec(db)?;
            Ok(purged.rows_affected)
        };
        self.0.write(work).await
    }
}

impl<T> Field<T> {
    fn or_default(self) -> T {
        match self {
            Self::Given(value) | Self::Default(value) => value,
        }
    }
}

/// Returns a thread of the workspace, or fails.
pub(crate) fn owned(
    db: &DatabaseConnection,
    workspace_id: &str,
    thread_id: &str,
) -> Result<Model, Error> {
    let found = Entity::find_by_id(thread_id).one(db)?;
    let found = found.filter(|thread| thread.trashed_at.is_none());
    let thread = found.ok_or_else(|| Error::UnknownThread(thread_id.to_owned()))?;
    if thread.workspace_id == workspace_id {
        Ok(thread)
    } else {
        Err(Error::ForeignThread {
            thread_id: thread_id.to_owned(),
            workspace_id: workspace_id.to_owned(),
        })
    }
}

fn placement(
    db: &DatabaseConnection,
    thread_id: &str,
) -> Result<Option<thread_placement::Model>, Error> {
    Ok(thread_placement::Entity::find_by_id(thread_id).one(db)?)
}

fn insert(db: &DatabaseConnection, start: StartThread) -> Result<Model, Error> {
    let row = ActiveModel {
        id: Set(start.id),
        workspace_id: Set(start.workspace_id),
        name: Set(start.name),
        preview: Set(String::new()),
        mode: Set(start.mode.or_default()),
        model: Set(start.model.or_default()),
        model_provider: Set(start.model_provider.or_default()),
        status: Set("Idle".to_owned()),
        origin_kind: Set(start.origin_kind),
        sidebar_visibility: Set(start.sidebar_visibility.or_default()),
        agent_nickname: Set(start.agent_nickname),
        agent_role: Set(start.agent_role),
        materialized: Set(false),
        draft_owner: Set(Some(start.draft_owner)),
        archived_at: Set(None),
        created_at: Set(start.now),
        updated_at: Set(start.now),
        trashed_at: Set(None),
    };
    Ok(row.insert(db)?)
}

fn open(db: &DatabaseConnection, stored: Model, start: StartThread) -> Result<Updated, Error> {
    let is_draft = !stored.materialized;
    let mut row = ActiveModel::from(stored);
    if let Some(name) = start.name {
        row.name = Set(Some(name));
    }
    if let Some(nickname) = start.agent_nickname {
        row.agent_nickname = Set(Some(nickname));
    }
    if let Some(role) = start.agent_role {
        row.agent_role = Set(Some(role));
    }
    change(&mut row.model, start.model);
    change(&mut row.model_provider, start.model_provider);
    change(&mut row.mode, start.mode);
    change(&mut row.sidebar_visibility, start.sidebar_visibility);
    if is_draft {
        // A client that reconnects finds its draft again.
        row.draft_owner = Set(Some(start.draft_owner));
    }
    store(db, row)
}

fn change(column: &mut ActiveValue<String>, change: Field<String>) {
    if let Field::Given(value) = change {
        *column = Set(value);
    }
}

/// Stores a changed thread, and increments the tree version if the change is visible to others.
fn store(db: &DatabaseConnection, changed: ActiveModel) -> Result<Updated, Error> {
    let looks = [
        changed.name.is_set(),
        changed.archived_at.is_set(),
        changed.sidebar_visibility.is_set(),
    ];
    let thread = if changed.is_changed() {
        changed.update(db)?
    } else {
        Model::try_from(changed)?
    };
    let tree_version = if thread.materialized && looks.contains(&true) {
        Some(bump_tree(db, &thread.workspace_id)?)
    } else {
        None
    };
    Ok(Updated {
        placement: placement(db, &thread.id)?,
        thread,
        tree_version,
    })
}
