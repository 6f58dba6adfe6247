//! Company folders as workspaces, with a folder of the thread tree for each project.

use std::collections::BTreeMap;

use entity::{company_project, thread_folder, workspace};
use sea_orm::{
    ActiveModelTrait as _, ActiveValue::Set, ColumnTrait as _, DatabaseConnection,
    EntityTrait as _, QueryFilter as _, QueryOrder as _,
};

use crate::{
    Created, CrudStore, Error, query,
    workspace::{FIRST_NUMBERS, bump_tree},
};

/// The repository of company folders.
#[derive(Debug)]
pub struct CompanyRepository<'a>(pub(crate) &'a CrudStore);

/// A company folder to be linked to a workspace.
#[derive(Clone, Debug)]
pub struct LinkCompany {
    /// The path of the company folder.
    pub dir: String,
    /// The name of the company.
    pub name: String,
    /// The id for the workspace if it does not exist yet.
    pub new_id: String,
    /// The projects of the company folder.
    pub projects: Vec<LinkProject>,
    /// The current time, in Unix seconds.
    pub now: i64,
}

/// A project of a company folder.
#[derive(Clone, Debug)]
pub struct LinkProject {
    /// The id of the project.
    pub project_id: String,
    /// The name of the project.
    pub name: String,
    /// The id for the folder of the project if it does not exist yet.
    pub new_folder_id: String,
}

/// The result of linking a company folder.
#[derive(Clone, Debug, PartialEq)]
pub struct Linked {
    /// The workspace of the company folder.
    pub workspace: Created<workspace::Model>,
    /// True if the workspace was inactive before.
    pub is_reactivated: bool,
    /// The new version of the tree. Absent if no folder was created, removed or renamed.
    pub tree_version: Option<u64>,
}

/// The placement of a project in the thread tree.
#[derive(Clone, Debug, PartialEq)]
pub struct ProjectPlace {
    /// The id of the workspace of the company folder.
    pub workspace_id: String,
    /// The id of the project's folder. Absent if it has none; the root is used then.
    pub folder_id: Option<String>,
}

impl CompanyRepository<'_> {
    /// Creates or reactivates the workspace of a company folder and synchronizes its folders with the projects.
    ///
    /// Changes by users are kept: a renamed folder keeps its name, a moved folder stays in place, and the folder of a
    /// removed project is deleted only if it is empty.
    pub async fn link(&self, link: LinkCompany) -> Result<Linked, Error> {
        self.0.write(move |db| self::link(db, &link)).await
    }

    /// Returns the id of the workspace of a company folder, or `None`.
    pub async fn workspace(&self, dir: &str) -> Result<Option<String>, Error> {
        let place = self.place(dir, "").await?;
        Ok(place.map(|place| place.workspace_id))
    }

    /// Returns the placement of a project. Uses one indexed read, or the cache while no write has happened.
    pub async fn place(&self, dir: &str, project_id: &str) -> Result<Option<ProjectPlace>, Error> {
        let key = (dir.to_owned(), project_id.to_owned());
        let work = |db: &DatabaseConnection, (dir, project_id): &(String, String)| {
            place(db, dir, project_id)
        };
        self.0.read_once(self.0.project_places(), key, work).await
    }
}

fn place(
    db: &DatabaseConnection,
    dir: &str,
    project_id: &str,
) -> Result<Option<ProjectPlace>, Error> {
    let sql = "SELECT workspace.id AS workspace_id, project.folder_id AS folder_id FROM workspace \
               LEFT JOIN company_project project ON project.workspace_id = workspace.id AND project.project_id = $2 \
               WHERE workspace.dir = $1 AND workspace.is_active";
    let Some(row) = query::one(db, sql, [dir.into(), project_id.into()])? else {
        return Ok(None);
    };
    Ok(Some(ProjectPlace {
        workspace_id: row.try_get("", "workspace_id")?,
        folder_id: row.try_get("", "folder_id")?,
    }))
}

fn link(db: &DatabaseConnection, link: &LinkCompany) -> Result<Linked, Error> {
    let found = workspace::Entity::find().filter(workspace::Column::Dir.eq(link.dir.as_str()));
    let mut is_reactivated = false;
    let workspace = match found.one(db)? {
        Some(workspace) if workspace.is_active => Created::Existing(workspace),
        // The company folder was forgotten and is opened again.
        Some(workspace) => {
            let mut row = workspace::ActiveModel::from(workspace);
            is_reactivated = true;
            row.is_active = Set(true);
            row.updated_at = Set(link.now);
            Created::Existing(row.update(db)?)
        }
        None => Created::New(insert(db, link)?),
    };
    let (Created::New(row) | Created::Existing(row)) = &workspace;
    let is_changed = sync(db, &row.id, link)?;
    let tree_version = is_changed.then(|| bump_tree(db, &row.id)).transpose()?;
    Ok(Linked {
        workspace,
        is_reactivated,
        tree_version,
    })
}

fn insert(db: &DatabaseConnection, link: &LinkCompany) -> Result<workspace::Model, Error> {
    let current = workspace::Entity::find().filter(workspace::Column::IsCurrent.eq(true));
    let row = workspace::ActiveModel {
        id: Set(link.new_id.clone()),
        name: Set(link.name.clone()),
        is_active: Set(true),
        is_current: Set(current.one(db)?.is_none()),
        tree_version: Set(0),
        reserved_seq: Set(FIRST_NUMBERS),
        created_at: Set(link.now),
        updated_at: Set(link.now),
        dir: Set(Some(link.dir.clone())),
    };
    Ok(row.insert(db)?)
}

/// Synchronizes the folders with the projects. Returns whether anything changed.
fn sync(db: &DatabaseConnection, workspace_id: &str, link: &LinkCompany) -> Result<bool, Error> {
    let known = company_project::Entity::find()
        .filter(company_project::Column::WorkspaceId.eq(workspace_id))
        .order_by_asc(company_project::Column::ProjectId)
        .all(db)?;
    let mut known: BTreeMap<_, _> = known
        .into_iter()
        .map(|row| (row.project_id.clone(), row))
        .collect();
    let mut is_changed = false;
    for project in &link.projects {
        is_changed |= match known.remove(&project.project_id) {
            None => {
                add(db, workspace_id, project, link.now)?;
                true
            }
            Some(row) if row.name != project.name => rename(db, row, project, link.now)?,
            Some(_) => false,
        };
    }
    for (_, gone) in known {
        is_changed |= remove(db, &gone)?;
    }
    Ok(is_changed)
}

fn add(
    db: &DatabaseConnection,
    workspace_id: &str,
    project: &LinkProject,
    now: i64,
) -> Result<(), Error> {
    let folder = thread_folder::ActiveModel {
        id: Set(project.new_folder_id.clone()),
        workspace_id: Set(workspace_id.to_owned()),
        parent_folder_id: Set(None),
        name: Set(project.name.clone()),
        position: Set(None),
        created_at: Set(now),
        updated_at: Set(now),
    };
    folder.insert(db)?;
    let row = company_project::ActiveModel {
        workspace_id: Set(workspace_id.to_owned()),
        project_id: Set(project.project_id.clone()),
        folder_id: Set(project.new_folder_id.clone()),
        name: Set(project.name.clone()),
    };
    row.insert(db)?;
    Ok(())
}

/// Renames the folder to the new name of its project, unless a user has renamed it. Returns whether it was renamed.
fn rename(
    db: &DatabaseConnection,
    row: company_project::Model,
    project: &LinkProject,
    now: i64,
) -> Result<bool, Error> {
    let folder = thread_folder::Entity::find_by_id(row.folder_id.as_str()).one(db)?;
    let is_ours = folder.filter(|folder| folder.name == row.name);
    let is_changed = is_ours.is_some();
    if let Some(folder) = is_ours {
        let mut folder = thread_folder::ActiveModel::from(folder);
        folder.name = Set(project.name.clone());
        folder.updated_at = Set(now);
        folder.update(db)?;
    }
    let mut row = company_project::ActiveModel::from(row);
    row.name = Set(project.name.clone());
    row.update(db)?;
    Ok(is_changed)
}

/// Forgets a removed project and deletes its folder if it is empty. Returns whether a folder was deleted.
fn remove(db: &DatabaseConnection, gone: &company_project::Model) -> Result<bool, Error> {
    let key = (gone.workspace_id.clone(), gone.project_id.clone());
    company_project::Entity::delete_by_id(key).exec(db)?;
    let sql = "DELETE FROM thread_folder WHERE id = $1 \
                 AND NOT EXISTS (SELECT 1 FROM thread_folder child WHERE child.parent_folder_id = $1) \
                 AND NOT EXISTS (SELECT 1 FROM thread_placement placed WHERE placed.folder_id = $1) \
                 AND NOT EXISTS (SELECT 1 FROM thread_agents_doc doc WHERE doc.folder_id = $1) \
                 AND NOT EXISTS (SELECT 1 FROM thread_agents_doc_proposal proposed WHERE proposed.folder_id = $1) \
               RETURNING id";
    Ok(query::one(db, sql, [gone.folder_id.as_str().into()])?.is_some())
}
