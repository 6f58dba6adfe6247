//! The agents doc of each scope: one document per root or folder, with all its versions.

use entity::thread_agents_doc::Model;
use sea_orm::{DatabaseConnection, FromQueryResult};

use crate::{CrudStore, Error, query, thread_folder, workspace};

mod files;
mod resolve;
mod revision;
mod save;

pub use files::{Exported, ExportedFile, ImportFile, ImportMode, Imported};
pub use resolve::{Resolved, ScopeDocs};
pub use revision::{RestoreDoc, Revision, RevisionSummary};
pub use save::{ArchiveDoc, Archived, SaveDoc, Saved};

pub(crate) use resolve::{Effective, effective_in};
pub(crate) use revision::restore as restore_revision;
pub(crate) use save::{archive_with_folder, save};

/// The repository of agents docs.
#[derive(Debug)]
pub struct ThreadAgentsDocRepository<'a>(pub(crate) &'a CrudStore);

/// A document without its text.
#[derive(Clone, Debug, PartialEq, FromQueryResult)]
pub struct AgentsDocSummary {
    /// The id of the document.
    pub id: String,
    /// The id of the workspace.
    pub workspace_id: String,
    /// The id of the folder. Absent for the root.
    pub folder_id: Option<String>,
    /// The status: `draft` or `active`.
    pub status: String,
    /// SHA-256 of the text, lower-case hexadecimal.
    pub content_sha256: String,
    /// The current version.
    pub version: i64,
    /// The length of the text, in characters.
    pub char_count: i64,
    /// The time of the last change, in Unix seconds.
    pub updated_at: i64,
}

/// The scope of a document: a folder or the root of a workspace.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct DocScope {
    /// The id of the workspace.
    pub workspace_id: String,
    /// The id of the folder. Absent for the root.
    pub folder_id: Option<String>,
}

impl ThreadAgentsDocRepository<'_> {
    /// Returns the document of one scope and the one in effect there.
    pub async fn get(&self, scope: DocScope) -> Result<ScopeDocs, Error> {
        self.0
            .read_once(self.0.scopes(), scope, resolve::scope)
            .await
    }

    /// Returns the document in effect in a scope, or `None`.
    pub async fn resolve_for_folder(&self, scope: DocScope) -> Result<Option<Resolved>, Error> {
        let found = self.get(scope).await?;
        Ok(found.effective)
    }

    /// Returns the document in effect for a thread. A thread without a placement uses the root.
    pub async fn resolve_for_thread(
        &self,
        workspace_id: &str,
        thread_id: &str,
    ) -> Result<ThreadResolution, Error> {
        let key = (workspace_id.to_owned(), thread_id.to_owned());
        let work = |db: &DatabaseConnection, (workspace_id, thread_id): &(String, String)| {
            resolve::for_thread(db, workspace_id, thread_id)
        };
        self.0
            .read_once(self.0.thread_resolutions(), key, work)
            .await
    }

    /// Creates or changes the document of a scope.
    pub async fn save(&self, save: SaveDoc) -> Result<Saved, Error> {
        self.0.write(move |db| save::save(db, &save)).await
    }

    /// Archives the document of a scope. The result contains no document if there was none.
    pub async fn archive(&self, archive: ArchiveDoc) -> Result<Archived, Error> {
        self.0.write(move |db| save::archive(db, &archive)).await
    }

    /// Lists the versions of a document, newest first, without their texts.
    pub async fn revisions(
        &self,
        workspace_id: &str,
        doc_id: &str,
        before_version: Option<i64>,
        limit: u64,
    ) -> Result<Vec<RevisionSummary>, Error> {
        let (workspace_id, doc_id) = (workspace_id.to_owned(), doc_id.to_owned());
        self.0
            .read(move |db| revision::list(db, &workspace_id, &doc_id, before_version, limit))
            .await
    }

    /// Returns one version with its text.
    pub async fn revision(
        &self,
        workspace_id: &str,
        doc_id: &str,
        version: i64,
    ) -> Result<Revision, Error> {
        let (workspace_id, doc_id) = (workspace_id.to_owned(), doc_id.to_owned());
        self.0
            .read(move |db| revision::get(db, &workspace_id, &doc_id, version))
            .await
    }

    /// Saves an old version as a new one.
    pub async fn restore(&self, restore: RestoreDoc) -> Result<Saved, Error> {
        self.0.write(move |db| revision::restore(db, restore)).await
    }

    /// Creates the folders and documents for the instruction files of a repository, all or none.
    pub async fn import(
        &self,
        scope: DocScope,
        files: Vec<ImportFile>,
        mode: ImportMode,
        author: String,
        ids: Vec<String>,
        now: i64,
    ) -> Result<Imported, Error> {
        self.0
            .write(move |db| files::import(db, &scope, files, mode, &author, ids, now))
            .await
    }

    /// Returns the documents at and below a scope as files.
    pub async fn export(&self, scope: DocScope) -> Result<Exported, Error> {
        self.0.read(move |db| files::export(db, &scope)).await
    }
}

/// The result of [`ThreadAgentsDocRepository::resolve_for_thread`].
#[derive(Clone, Debug, PartialEq)]
pub struct ThreadResolution {
    /// The folder of the thread. Absent for the root.
    pub folder_id: Option<String>,
    /// The document in effect. Absent if there is none.
    pub effective: Option<Resolved>,
}

impl ThreadResolution {
    /// Estimates the memory size, in bytes.
    pub(crate) fn size(&self) -> usize {
        size_of::<Self>() + self.effective.as_ref().map_or(0, Resolved::size)
    }
}

/// Lists the documents of a workspace that are not archived, without their texts: the root's first, then by folder.
pub(crate) fn summaries(
    db: &DatabaseConnection,
    workspace_id: &str,
) -> Result<Vec<AgentsDocSummary>, Error> {
    query::list(
        db,
        "SELECT id, workspace_id, folder_id, status, content_sha256, version, char_count, updated_at \
         FROM thread_agents_doc WHERE workspace_id = $1 AND status IN ('draft', 'active') \
         ORDER BY folder_id IS NOT NULL, folder_id, updated_at",
        [workspace_id.into()],
    )
}

/// Returns the document of exactly this scope, ignoring archived ones.
pub(crate) fn explicit(db: &DatabaseConnection, scope: &DocScope) -> Result<Option<Model>, Error> {
    let workspace_id = scope.workspace_id.as_str();
    match scope.folder_id.as_deref() {
        None => query::find(
            db,
            "SELECT * FROM thread_agents_doc \
             WHERE workspace_id = $1 AND folder_id IS NULL AND status IN ('draft', 'active')",
            [workspace_id.into()],
        ),
        Some(folder_id) => query::find(
            db,
            "SELECT * FROM thread_agents_doc \
             WHERE workspace_id = $1 AND folder_id = $2 AND status IN ('draft', 'active')",
            [workspace_id.into(), folder_id.into()],
        ),
    }
}

/// Fails unless the workspace and the folder exist.
pub(crate) fn check(db: &DatabaseConnection, scope: &DocScope) -> Result<(), Error> {
    workspace::active(db, &scope.workspace_id)?;
    if let Some(folder_id) = &scope.folder_id {
        thread_folder::find(db, &scope.workspace_id, folder_id)?;
    }
    Ok(())
}
