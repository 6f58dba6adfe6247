//! Workspaces.

use entity::workspace::{ActiveModel, Column, Entity, Model};
use sea_orm::{
    ActiveModelTrait as _, ActiveValue::Set, ColumnTrait as _, DatabaseConnection,
    EntityTrait as _, PaginatorTrait as _, QueryFilter as _, QueryOrder as _, sea_query::Expr,
    sea_query::ExprTrait as _,
};

use crate::{CrudStore, Error, query};

/// The repository of workspaces.
#[derive(Debug)]
pub struct WorkspaceRepository<'a>(pub(crate) &'a CrudStore);

/// The number of notification numbers reserved with a new workspace, so that announcing it needs no second write.
pub const FIRST_NUMBERS: i64 = 1024;

/// The result of a request to create an object.
#[derive(Clone, Debug, PartialEq)]
pub enum Created<T> {
    /// The object was created.
    New(T),
    /// The object already existed and was not changed.
    Existing(T),
}

impl WorkspaceRepository<'_> {
    /// Returns all workspaces, oldest first.
    pub async fn list(&self) -> Result<Vec<Model>, Error> {
        let oldest_first = Entity::find()
            .order_by_asc(Column::CreatedAt)
            .order_by_asc(Column::Id);
        self.0.read(move |db| Ok(oldest_first.all(db)?)).await
    }

    /// Returns one active workspace.
    pub async fn get(&self, id: &str) -> Result<Model, Error> {
        let id = id.to_owned();
        self.0.read(move |db| active(db, &id)).await
    }

    /// Returns the workspace to start in: the current one, else the first active one.
    pub async fn first(&self) -> Result<Option<Model>, Error> {
        self.0.read(first).await
    }

    /// Returns the workspace to start in, and creates it if there is none.
    pub async fn first_or_create(
        &self,
        id: &str,
        name: &str,
        now: i64,
    ) -> Result<Created<Model>, Error> {
        let (id, name) = (id.to_owned(), name.to_owned());
        let work = move |db: &DatabaseConnection| match first(db)? {
            Some(workspace) => Ok(Created::Existing(workspace)),
            None => insert(db, &id, Some(name), now),
        };
        self.0.write(work).await
    }

    /// Creates a workspace. An existing workspace with this id is not changed.
    pub async fn create(
        &self,
        id: &str,
        name: Option<String>,
        now: i64,
    ) -> Result<Created<Model>, Error> {
        let id = id.to_owned();
        self.0.write(move |db| insert(db, &id, name, now)).await
    }

    /// Makes one workspace the only current one. Returns it and all rows that changed, the chosen one last.
    pub async fn make_current(&self, id: &str, now: i64) -> Result<(Model, Vec<Model>), Error> {
        let id = id.to_owned();
        let work = move |db: &DatabaseConnection| {
            let chosen = active(db, &id)?;
            if chosen.is_current {
                return Ok((chosen, Vec::new()));
            }
            let mut changed = Vec::new();
            let previous = Entity::find().filter(Column::IsCurrent.eq(true)).all(db)?;
            for (row, is_current) in previous
                .into_iter()
                .map(|row| (row, false))
                .chain([(chosen, true)])
            {
                let mut row = ActiveModel::from(row);
                row.is_current = Set(is_current);
                row.updated_at = Set(now);
                changed.push(row.update(db)?);
            }
            let chosen = changed.last().cloned().ok_or(Error::UnknownWorkspace(id))?;
            Ok((chosen, changed))
        };
        self.0.write(work).await
    }

    /// Renames a workspace.
    pub async fn rename(&self, id: &str, name: String, now: i64) -> Result<Model, Error> {
        let id = id.to_owned();
        let work = move |db: &DatabaseConnection| {
            let mut row = ActiveModel::from(active(db, &id)?);
            row.name = Set(name);
            row.updated_at = Set(now);
            Ok(row.update(db)?)
        };
        self.0.write(work).await
    }

    /// Deactivates the workspace of a company folder. Opening the folder again reactivates it.
    pub async fn forget(&self, id: &str, now: i64) -> Result<Model, Error> {
        let id = id.to_owned();
        let work = move |db: &DatabaseConnection| {
            let row = active(db, &id)?;
            if row.dir.is_none() {
                return Err(Error::NoCompanyFolder(id));
            }
            let mut row = ActiveModel::from(row);
            row.is_active = Set(false);
            row.is_current = Set(false);
            row.updated_at = Set(now);
            Ok(row.update(db)?)
        };
        self.0.write(work).await
    }

    /// Reserves `count` notification numbers of a workspace exclusively. Returns the first.
    pub async fn reserve_numbers(&self, id: &str, count: i64) -> Result<i64, Error> {
        let id = id.to_owned();
        let work = move |db: &DatabaseConnection| {
            let rows = Entity::update_many()
                .col_expr(
                    Column::ReservedSeq,
                    Expr::col(Column::ReservedSeq).add(count),
                )
                .filter(Column::Id.eq(id.as_str()))
                .exec_with_returning(db)?;
            let row = rows.into_iter().next().ok_or(Error::UnknownWorkspace(id))?;
            Ok(row.reserved_seq - count + 1)
        };
        self.0.write(work).await
    }
}

/// Returns the workspace if it exists and is active.
pub(crate) fn active(db: &DatabaseConnection, id: &str) -> Result<Model, Error> {
    let found = Entity::find_by_id(id).one(db)?;
    found
        .filter(|workspace| workspace.is_active)
        .ok_or_else(|| Error::UnknownWorkspace(id.to_owned()))
}

/// Increments a tree version that was read in the same transaction. Returns the new version.
pub(crate) fn bump_tree_from(
    db: &DatabaseConnection,
    id: &str,
    version: i64,
) -> Result<u64, Error> {
    let next = version + 1;
    let sql = "UPDATE workspace SET tree_version = $2 WHERE id = $1";
    query::run(db, sql, [id.into(), next.into()])?;
    Ok(next.unsigned_abs())
}

/// Increments the tree version. Returns the new version.
pub(crate) fn bump_tree(db: &DatabaseConnection, id: &str) -> Result<u64, Error> {
    let sql =
        "UPDATE workspace SET tree_version = tree_version + 1 WHERE id = $1 RETURNING tree_version";
    let row = query::one(db, sql, [id.into()])?;
    let row = row.ok_or_else(|| Error::UnknownWorkspace(id.to_owned()))?;
    let version: i64 = row.try_get_by_index(0)?;
    Ok(version.unsigned_abs())
}

fn first(db: &DatabaseConnection) -> Result<Option<Model>, Error> {
    let found = Entity::find()
        .filter(Column::IsActive.eq(true))
        .order_by_desc(Column::IsCurrent)
        .order_by_asc(Column::CreatedAt)
        .order_by_asc(Column::Id);
    Ok(found.one(db)?)
}

fn insert(
    db: &DatabaseConnection,
    id: &str,
    name: Option<String>,
    now: i64,
) -> Result<Created<Model>, Error> {
    if let Some(existing) = Entity::find_by_id(id).one(db)? {
        return Ok(Created::Existing(existing));
    }
    let name = match name {
        Some(name) => name,
        None => format!("Workspace {}", Entity::find().count(db)? + 1),
    };
    let current = Entity::find()
        .filter(Column::IsActive.eq(true))
        .filter(Column::IsCurrent.eq(true));
    let row = ActiveModel {
        id: Set(id.to_owned()),
        name: Set(name),
        is_active: Set(true),
        is_current: Set(current.one(db)?.is_none()),
        tree_version: Set(0),
        reserved_seq: Set(FIRST_NUMBERS),
        created_at: Set(now),
        updated_at: Set(now),
        dir: Set(None),
    };
    Ok(Created::New(row.insert(db)?))
}
