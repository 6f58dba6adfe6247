//! The AGENTS.md of each scope: one document per root or folder, every version kept.

use entity::thread_agents_doc::Model;
use sea_orm::{DatabaseConnection, FromQueryResult};

use crate::{CrudStore, Error, query, thread_folder, workspace};

mod files;
mod resolve;
mod revision;
mod save;

pub use files::{Exported, ExportedFile, ImportFile, ImportMode, Imported};
pub use resolve::{Resolved, Scope};
pub use revision::{RestoreDoc, Revision, RevisionSummary};
pub use save::{ArchiveDoc, Archived, SaveDoc, Saved};

pub(crate) use resolve::{Effective, effective_in};
pub(crate) use revision::restore as restore_revision;
pub(crate) use save::{archive_with_folder, save};

/// The operations on AGENTS.md documents.
#[derive(Debug)]
pub struct ThreadAgentsDocRepository<'a>(pub(crate) &'a CrudStore);

/// A document without its text.
#[derive(Clone, Debug, PartialEq, FromQueryResult)]
pub struct AgentsDocSummary {
    /// The document.
    pub id: String,
    /// The workspace.
    pub workspace_id: String,
    /// The folder; none for the root.
    pub folder_id: Option<String>,
    /// `draft` or `active`.
    pub status: String,
    /// SHA-256 of the text.
    pub content_sha256: String,
    /// The version.
    pub version: i64,
    /// The length of the text.
    pub char_count: i64,
    /// Unix seconds.
    pub updated_at: i64,
}

/// Where a document is: a workspace and a folder of it, or its root.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct DocScope {
    /// The workspace.
    pub workspace_id: String,
    /// The folder; none for the root.
    pub folder_id: Option<String>,
}

impl ThreadAgentsDocRepository<'_> {
    /// The document of one scope and the one that is in force there.
    pub async fn get(&self, scope: DocScope) -> Result<Scope, Error> {
        self.0
            .read_once(self.0.scopes(), scope, resolve::scope)
            .await
    }

    /// The document in force in a scope.
    pub async fn resolve_for_folder(&self, scope: DocScope) -> Result<Option<Resolved>, Error> {
        let found = self.get(scope).await?;
        Ok(found.effective)
    }

    /// The document in force for a thread; a thread without a place is at the root.
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

    /// Takes the document of a scope out of the tree. Answers no document where there is none.
    pub async fn archive(&self, archive: ArchiveDoc) -> Result<Archived, Error> {
        self.0.write(move |db| save::archive(db, &archive)).await
    }

    /// What was said in the versions of a document, newest first, without the texts.
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

    /// One version with its text.
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

    /// Writes an old version as a new one.
    pub async fn restore(&self, restore: RestoreDoc) -> Result<Saved, Error> {
        self.0.write(move |db| revision::restore(db, restore)).await
    }

    /// Creates the folders and documents of a repository's instruction files, all or nothing.
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

    /// The documents below a scope as files.
    pub async fn export(&self, scope: DocScope) -> Result<Exported, Error> {
        self.0.read(move |db| files::export(db, &scope)).await
    }
}

/// What [`ThreadAgentsDocRepository::resolve_for_thread`] found.
#[derive(Clone, Debug, PartialEq)]
pub struct ThreadResolution {
    /// Where the thread hangs; none for the root.
    pub folder_id: Option<String>,
    /// The document in force.
    pub effective: Option<Resolved>,
}

impl ThreadResolution {
    /// About how many bytes it takes.
    pub(crate) fn size(&self) -> usize {
        size_of::<Self>() + self.effective.as_ref().map_or(0, Resolved::size)
    }
}

/// Every document of a workspace that is not archived, without its text: the root's first, then by folder.
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

/// The document of exactly this scope, archived ones aside.
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

/// Fails unless workspace and folder are there.
pub(crate) fn check(db: &DatabaseConnection, scope: &DocScope) -> Result<(), Error> {
    workspace::active(db, &scope.workspace_id)?;
    if let Some(folder_id) = &scope.folder_id {
        thread_folder::find(db, &scope.workspace_id, folder_id)?;
    }
    Ok(())
}
