//! Import and export of documents as the AGENTS.md files of a repository.

use std::collections::{BTreeMap, BTreeSet};

use entity::thread_folder;
use sea_orm::{
    ActiveModelTrait as _, ActiveValue::Set, ColumnTrait as _, DatabaseConnection,
    EntityTrait as _, QueryFilter as _, QueryOrder as _,
};

use super::{
    DocScope, check, explicit,
    save::{SaveDoc, Saved, check_version, save},
};
use crate::{
    Error, MAX_DEPTH, MAX_FOLDERS, query,
    thread_folder::{ancestry, count},
};

/// One instruction file to import.
#[derive(Clone, Debug, PartialEq)]
pub struct ImportFile {
    /// The names of its folders, from the scope downwards.
    pub folders: Vec<String>,
    /// The normalised text.
    pub content: String,
    /// SHA-256 of the text, lower-case hexadecimal.
    pub content_sha256: String,
    /// The length of the text, in characters.
    pub char_count: i64,
    /// The version the caller expects. 0 requires that there is no document; absent skips the check.
    pub expected_version: Option<i64>,
}

/// The treatment of existing documents during an import.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ImportMode {
    /// Existing documents are not changed.
    Create,
    /// Existing documents get the text of the file.
    Update,
}

/// The result of an import.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Imported {
    /// The documents that were created or changed.
    pub docs: Vec<Saved>,
    /// The folders that were created.
    pub folders: Vec<thread_folder::Model>,
    /// The new version of the tree. Absent if nothing changed.
    pub tree_version: Option<u64>,
}

/// The documents and folders at and below a scope, with repository paths.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Exported {
    /// The documents, by path.
    pub files: Vec<ExportedFile>,
    /// The ids of all folders by path. Path components are valid file names.
    pub folders: BTreeMap<Vec<String>, String>,
}

/// One document as a file.
#[derive(Clone, Debug, PartialEq)]
pub struct ExportedFile {
    /// The names of its folders, from the scope downwards, as valid file names.
    pub folders: Vec<String>,
    /// The text of the document.
    pub content: String,
    /// SHA-256 of the text, lower-case hexadecimal.
    pub content_sha256: String,
    /// The version of the document.
    pub version: i64,
}

pub(super) fn import(
    db: &DatabaseConnection,
    scope: &DocScope,
    files: Vec<ImportFile>,
    mode: ImportMode,
    author: &str,
    ids: Vec<String>,
    now: i64,
) -> Result<Imported, Error> {
    check(db, scope)?;
    let base = scope.folder_id.as_deref().map_or(Ok(0), |folder| {
        ancestry(db, folder).map(|above| above.len())
    })?;
    let mut ids = ids.into_iter();
    let mut next_id = |prefix: &str| {
        let suffix = ids.next().ok_or(Error::Closed)?;
        Ok::<_, Error>(format!("{prefix}{suffix}"))
    };
    let mut imported = Imported::default();
    // Siblings may share a name. Import uses the same unique names as export.
    let mut known: BTreeMap<(Option<String>, String), String> = BTreeMap::new();
    let mut taken: BTreeMap<Option<String>, BTreeSet<String>> = BTreeMap::new();
    for folder in folders(db, &scope.workspace_id)? {
        let siblings = taken.entry(folder.parent_folder_id.clone()).or_default();
        let name = unique_name(&folder.name, siblings);
        known.insert((folder.parent_folder_id, name), folder.id);
    }
    for file in files {
        if base + file.folders.len() > MAX_DEPTH {
            return Err(Error::TooDeep { limit: MAX_DEPTH });
        }
        let mut parent = scope.folder_id.clone();
        for name in file.folders {
            let key = (parent.clone(), name.clone());
            let id = match known.get(&key) {
                Some(id) => id.clone(),
                None => {
                    if count(db, &scope.workspace_id)? >= MAX_FOLDERS as u64 {
                        return Err(Error::TooManyFolders { limit: MAX_FOLDERS });
                    }
                    let row = thread_folder::ActiveModel {
                        id: Set(next_id("fld_")?),
                        workspace_id: Set(scope.workspace_id.clone()),
                        parent_folder_id: Set(parent),
                        name: Set(name),
                        position: Set(None),
                        created_at: Set(now),
                        updated_at: Set(now),
                    };
                    let row = row.insert(db)?;
                    known.insert(key, row.id.clone());
                    imported.folders.push(row.clone());
                    row.id
                }
            };
            parent = Some(id);
        }
        let target = DocScope {
            workspace_id: scope.workspace_id.clone(),
            folder_id: parent,
        };
        if mode == ImportMode::Create
            && let Some(stored) = explicit(db, &target)?
        {
            check_version(Some(&stored), file.expected_version)?;
            continue;
        }
        let saved = save(
            db,
            &SaveDoc {
                scope: target,
                new_id: next_id("agd_")?,
                revision_id: next_id("agr_")?,
                content: file.content,
                content_sha256: file.content_sha256,
                char_count: file.char_count,
                expected_version: file.expected_version,
                reason: "manual".to_owned(),
                author: author.to_owned(),
                now,
            },
        )?;
        if saved.tree_version.is_some() {
            imported.docs.push(saved);
        }
    }
    let changed = !imported.folders.is_empty() || !imported.docs.is_empty();
    if changed {
        imported.tree_version = Some(crate::workspace::bump_tree(db, &scope.workspace_id)?);
    }
    Ok(imported)
}

pub(super) fn export(db: &DatabaseConnection, scope: &DocScope) -> Result<Exported, Error> {
    check(db, scope)?;
    let folders = folders(db, &scope.workspace_id)?;
    let mut children: BTreeMap<Option<&str>, Vec<&thread_folder::Model>> = BTreeMap::new();
    for folder in &folders {
        children
            .entry(folder.parent_folder_id.as_deref())
            .or_default()
            .push(folder);
    }
    let docs: Vec<entity::thread_agents_doc::Model> = query::list(
        db,
        "SELECT * FROM thread_agents_doc WHERE workspace_id = $1 AND status IN ('draft', 'active')",
        [scope.workspace_id.as_str().into()],
    )?;
    let mut docs: BTreeMap<Option<String>, _> = docs
        .into_iter()
        .map(|doc| (doc.folder_id.clone(), doc))
        .collect();
    let mut exported = Exported::default();
    let mut open: Vec<(Option<String>, Vec<String>)> = vec![(scope.folder_id.clone(), Vec::new())];
    while let Some((folder_id, path)) = open.pop() {
        let mut taken = BTreeSet::new();
        for child in children.get(&folder_id.as_deref()).into_iter().flatten() {
            let name = unique_name(&child.name, &mut taken);
            let below: Vec<_> = path.iter().cloned().chain([name]).collect();
            exported.folders.insert(below.clone(), child.id.clone());
            open.push((Some(child.id.clone()), below));
        }
        if let Some(doc) = docs.remove(&folder_id) {
            exported.files.push(ExportedFile {
                folders: path,
                content: doc.content,
                content_sha256: doc.content_sha256,
                version: doc.version,
            });
        }
    }
    let files = &mut exported.files;
    files.sort_by(|left, right| left.folders.cmp(&right.folders));
    Ok(exported)
}

/// Returns a valid directory name that no sibling has. Path separators become `_`.
fn unique_name(name: &str, taken: &mut BTreeSet<String>) -> String {
    let safe: String = name
        .chars()
        .map(|character| match character {
            '/' | '\\' | '\0' => '_',
            other => other,
        })
        .collect();
    let safe = match safe.as_str() {
        "." | ".." => "_".to_owned(),
        _ => safe,
    };
    let numbered = (2..).map(|number| format!("{safe} ({number})"));
    let chosen = std::iter::once(safe.clone())
        .chain(numbered)
        .find(|candidate| !taken.contains(candidate))
        .unwrap_or(safe);
    taken.insert(chosen.clone());
    chosen
}

fn folders(
    db: &DatabaseConnection,
    workspace_id: &str,
) -> Result<Vec<thread_folder::Model>, Error> {
    let all = thread_folder::Entity::find()
        .filter(thread_folder::Column::WorkspaceId.eq(workspace_id))
        .order_by_asc(thread_folder::Column::Name)
        // Among siblings with the same name the newest is last, so that it does not rename the others.
        .order_by_asc(thread_folder::Column::CreatedAt)
        .order_by_asc(thread_folder::Column::Id);
    Ok(all.all(db)?)
}
