//! Handlers of `thread/agents_doc/*`.

use std::collections::BTreeMap;

use crud::{ArchiveDoc, DocScope, ImportFile, ImportMode, Resolved, RestoreDoc, SaveDoc, Saved};
use protocol::{AgentsDocId, FolderId, Method, Name, WorkspaceId, thread::agents_doc::*};
use rpc::{Failure, FailureKind, Router};

use super::page_size;
use crate::{Context, proposals::DocText, rows};

pub(in crate::methods) mod proposal;

/// The default number of versions per page.
const PAGE: usize = 100;
/// The maximum number of versions per page.
const MAX_PAGE: usize = 500;
/// The maximum number of files per import.
const MAX_FILES: usize = 5_000;

pub(in crate::methods) fn routes(router: &mut Router<Context>) {
    router
        .on::<ThreadAgentsDocGet>(get)
        .on::<ThreadAgentsDocSave>(save)
        .on::<ThreadAgentsDocArchive>(archive)
        .on::<ThreadAgentsDocResolveForThread>(resolve_for_thread)
        .on::<ThreadAgentsDocRevisions>(revisions)
        .on::<ThreadAgentsDocRevisionGet>(revision_get)
        .on::<ThreadAgentsDocRestore>(restore)
        .on::<ThreadAgentsDocPreview>(preview)
        .on::<ThreadAgentsDocImport>(import)
        .on::<ThreadAgentsDocExport>(export);
}

async fn get(
    ctx: Context,
    params: ThreadAgentsDocGetParams,
) -> Result<ThreadAgentsDocGetResponse, Failure> {
    let docs = ctx.store().agents_docs();
    let found = docs
        .get(scope(&params.workspace_id, params.folder_id.as_ref()))
        .await;
    let found = found.map_err(failure::<ThreadAgentsDocGet>)?;
    Ok(ThreadAgentsDocGetResponse {
        explicit: found.explicit.map(rows::agents_doc).transpose()?,
        effective: resolved(&ctx, found.effective)?,
    })
}

async fn save(
    ctx: Context,
    params: ThreadAgentsDocSaveParams,
) -> Result<ThreadAgentsDocSaveResponse, Failure> {
    let text = DocText::checked("/content", &params.content)?;
    let save = SaveDoc {
        scope: scope(&params.workspace_id, params.folder_id.as_ref()),
        new_id: ctx.new_id::<AgentsDocId>().into(),
        revision_id: ctx.new_text_id("agr_"),
        content: text.content,
        content_sha256: text.sha256,
        char_count: text.char_count,
        expected_version: params.expected_version,
        reason: rows::stored(params.save_reason.unwrap_or_default())?,
        author: ctx.principal().author().to_owned(),
        now: ctx.now(),
    };
    let saved = ctx.store().agents_docs().save(save).await;
    let saved = saved.map_err(failure::<ThreadAgentsDocSave>)?;
    Ok(ThreadAgentsDocSaveResponse {
        content_warnings: warnings(&saved),
        doc: announce(&ctx, saved, ThreadAgentsDocSave::NAME)?,
    })
}

async fn archive(
    ctx: Context,
    params: ThreadAgentsDocArchiveParams,
) -> Result<ThreadAgentsDocArchiveResponse, Failure> {
    let archive = ArchiveDoc {
        scope: scope(&params.workspace_id, params.folder_id.as_ref()),
        revision_id: ctx.new_text_id("agr_"),
        expected_version: params.expected_version,
        author: ctx.principal().author().to_owned(),
        now: ctx.now(),
    };
    let archived = ctx.store().agents_docs().archive(archive).await;
    let archived = archived.map_err(failure::<ThreadAgentsDocArchive>)?;
    let effective = resolved(&ctx, archived.effective)?;
    let was_there = archived.doc.is_some();
    if let Some(doc) = archived.doc {
        ctx.agents_doc_changed(&ThreadAgentsDocChangedNotification {
            workspace_id: params.workspace_id.clone(),
            folder_id: params.folder_id,
            doc: Some(rows::agents_doc(doc)?),
            effective: effective.clone(),
            effective_changed: archived.effective_changed,
        });
    }
    if let Some(tree_version) = archived.tree_version {
        ctx.tree_changed(
            &params.workspace_id,
            tree_version,
            ThreadAgentsDocArchive::NAME,
        );
    }
    Ok(ThreadAgentsDocArchiveResponse {
        archived: was_there,
        effective,
    })
}

async fn resolve_for_thread(
    ctx: Context,
    params: ThreadAgentsDocResolveForThreadParams,
) -> Result<ThreadAgentsDocResolveForThreadResponse, Failure> {
    let docs = ctx.store().agents_docs();
    let found = docs
        .resolve_for_thread(params.workspace_id.as_str(), params.thread_id.as_str())
        .await;
    let found = found.map_err(failure::<ThreadAgentsDocResolveForThread>)?;
    let effective = resolved(&ctx, found.effective)?;
    Ok(ThreadAgentsDocResolveForThreadResponse { effective })
}

async fn revisions(
    ctx: Context,
    params: ThreadAgentsDocRevisionsParams,
) -> Result<ThreadAgentsDocRevisionsResponse, Failure> {
    let limit = page_size(params.limit, PAGE, MAX_PAGE)?;
    let cursor = params.cursor.as_deref().map(str::parse::<i64>).transpose();
    let before =
        cursor.map_err(|_| Failure::param("/cursor", "expected a `next_cursor` of this method"))?;
    let docs = ctx.store().agents_docs();
    let found = docs
        .revisions(
            params.workspace_id.as_str(),
            params.doc_id.as_str(),
            before,
            limit + 1,
        )
        .await;
    let mut found = found.map_err(failure::<ThreadAgentsDocRevisions>)?;
    let has_more = found.len() as u64 > limit;
    found.truncate(usize::try_from(limit).unwrap_or(usize::MAX));
    Ok(ThreadAgentsDocRevisionsResponse {
        next_cursor: found
            .last()
            .filter(|_| has_more)
            .map(|last| last.version.to_string()),
        items: found.into_iter().map(rows::revision_summary).collect(),
    })
}

async fn revision_get(
    ctx: Context,
    params: ThreadAgentsDocRevisionGetParams,
) -> Result<ThreadAgentsDocRevisionGetResponse, Failure> {
    let docs = ctx.store().agents_docs();
    let found = docs
        .revision(
            params.workspace_id.as_str(),
            params.doc_id.as_str(),
            params.version,
        )
        .await;
    let revision = rows::revision(found.map_err(failure::<ThreadAgentsDocRevisionGet>)?)?;
    Ok(ThreadAgentsDocRevisionGetResponse { revision })
}

async fn restore(
    ctx: Context,
    params: ThreadAgentsDocRestoreParams,
) -> Result<ThreadAgentsDocRestoreResponse, Failure> {
    let restore = RestoreDoc {
        workspace_id: params.workspace_id.into(),
        doc_id: params.doc_id.into(),
        version: params.version,
        expected_version: params.expected_version,
        revision_id: ctx.new_text_id("agr_"),
        author: ctx.principal().author().to_owned(),
        now: ctx.now(),
    };
    let saved = ctx.store().agents_docs().restore(restore).await;
    let saved = saved.map_err(failure::<ThreadAgentsDocRestore>)?;
    Ok(ThreadAgentsDocRestoreResponse {
        content_warnings: warnings(&saved),
        doc: announce(&ctx, saved, ThreadAgentsDocRestore::NAME)?,
    })
}

async fn preview(
    ctx: Context,
    params: ThreadAgentsDocPreviewParams,
) -> Result<ThreadAgentsDocPreviewResponse, Failure> {
    let docs = ctx.store().agents_docs();
    let found = docs
        .resolve_for_thread(params.workspace_id.as_str(), params.thread_id.as_str())
        .await;
    let Some(found) = found.map_err(failure::<ThreadAgentsDocPreview>)?.effective else {
        return Ok(ThreadAgentsDocPreviewResponse {
            text: String::new(),
            char_count: 0,
            truncated: false,
            doc_id: None,
            version: None,
            source_path: Vec::new(),
        });
    };
    let rendered = prompt::agents_doc::preview(&found.source_path, &found.doc.content);
    let doc = rows::agents_doc(found.doc)?;
    Ok(ThreadAgentsDocPreviewResponse {
        char_count: rendered.text.chars().count() as u64,
        text: rendered.text,
        truncated: rendered.truncated,
        doc_id: Some(doc.id),
        version: Some(doc.version),
        source_path: found.source_path,
    })
}

async fn import(
    ctx: Context,
    params: ThreadAgentsDocImportParams,
) -> Result<ThreadAgentsDocImportResponse, Failure> {
    let files = import_files(&params.files)?;
    let mode = match params.mode {
        ThreadAgentsDocImportMode::Create => ImportMode::Create,
        ThreadAgentsDocImportMode::Update => ImportMode::Update,
    };
    // Each file needs at most ids for a document, a revision and the folders of its path.
    let needed: usize = files.iter().map(|file| 2 + file.folders.len()).sum();
    let ids = (0..needed).map(|_| ctx.new_text_id("")).collect();
    let target = scope(&params.workspace_id, params.folder_id.as_ref());
    let author = ctx.principal().author().to_owned();
    let docs = ctx.store().agents_docs();
    let imported = docs
        .import(target, files, mode, author, ids, ctx.now())
        .await;
    let imported = imported.map_err(failure::<ThreadAgentsDocImport>)?;
    let mut saved = Vec::new();
    for doc in imported.docs {
        saved.push(announce_doc(&ctx, doc)?);
    }
    if let Some(tree_version) = imported.tree_version {
        ctx.tree_changed(
            &params.workspace_id,
            tree_version,
            ThreadAgentsDocImport::NAME,
        );
    }
    Ok(ThreadAgentsDocImportResponse {
        docs: saved,
        folders: imported
            .folders
            .into_iter()
            .map(rows::folder)
            .collect::<Result<_, _>>()?,
    })
}

async fn export(
    ctx: Context,
    params: ThreadAgentsDocExportParams,
) -> Result<ThreadAgentsDocExportResponse, Failure> {
    let docs = ctx.store().agents_docs();
    let found = docs
        .export(scope(&params.workspace_id, params.folder_id.as_ref()))
        .await;
    let found = found.map_err(failure::<ThreadAgentsDocExport>)?;
    let files = found.files.into_iter().map(|file| {
        let names = file.folders.iter().map(String::as_str).chain(["AGENTS.md"]);
        ThreadAgentsDocExportedFile {
            path: names.collect::<Vec<_>>().join("/"),
            content: file.content,
            content_sha256: file.content_sha256,
            version: file.version,
        }
    });
    let folders = found.folders.into_iter().map(|(names, id)| {
        Ok(ThreadAgentsDocExportedFolder {
            path: names.join("/"),
            folder_id: rows::folder_id(&id)?,
        })
    });
    Ok(ThreadAgentsDocExportResponse {
        files: files.collect(),
        folders: folders.collect::<Result<_, Failure>>()?,
    })
}

fn scope(workspace: &WorkspaceId, folder: Option<&FolderId>) -> DocScope {
    DocScope {
        workspace_id: workspace.as_str().to_owned(),
        folder_id: folder.map(|folder| folder.as_str().to_owned()),
    }
}

fn resolved(
    ctx: &Context,
    found: Option<Resolved>,
) -> Result<Option<ThreadAgentsDocResolvedPayload>, Failure> {
    found
        .map(|found| rows::resolved(found, ctx.now()))
        .transpose()
}

/// Notifies the subscribers of a save: first of the document, then of the tree. A save without changes does not change
/// the tree.
fn announce(ctx: &Context, saved: Saved, reason: &str) -> Result<ThreadAgentsDocPayload, Failure> {
    let tree_version = saved.tree_version;
    let doc = announce_doc(ctx, saved)?;
    if let Some(tree_version) = tree_version {
        ctx.tree_changed(&doc.workspace_id, tree_version, reason);
    }
    Ok(doc)
}

fn announce_doc(ctx: &Context, saved: Saved) -> Result<ThreadAgentsDocPayload, Failure> {
    let doc = rows::agents_doc(saved.doc)?;
    ctx.agents_doc_changed(&ThreadAgentsDocChangedNotification {
        workspace_id: doc.workspace_id.clone(),
        folder_id: doc.folder_id.clone(),
        doc: Some(doc.clone()),
        effective: resolved(ctx, saved.effective)?,
        effective_changed: saved.effective_changed,
    });
    Ok(doc)
}

/// Converts a database error: in this family unknown scopes are invalid params, and a version conflict names its
/// method.
#[expect(
    clippy::wildcard_enum_match_arm,
    reason = "other failures are mapped as elsewhere"
)]
fn failure<M: Method>(error: crud::Error) -> Failure {
    let message = error.to_string();
    match error {
        crud::Error::UnknownFolder { .. } => {
            Failure::params(FailureKind::UnknownFolder, message).with("path", "/folder_id")
        }
        crud::Error::UnknownThread(_) => {
            Failure::params(FailureKind::UnknownThread, message).with("path", "/thread_id")
        }
        crud::Error::UnknownDoc(_) => {
            Failure::params(FailureKind::UnknownAgentsDoc, message).with("path", "/doc_id")
        }
        crud::Error::UnknownRevision { .. } => {
            Failure::params(FailureKind::UnknownRevision, message).with("path", "/version")
        }
        crud::Error::VersionConflict {
            expected,
            actual,
            current,
        } => {
            let message = format!(
                "version conflict in `{}`: expected version {expected}, actual version {actual}",
                M::NAME
            );
            rows::version_conflict(message, (expected, actual), current)
        }
        other => rows::failure(other),
    }
}

/// Returns a warning if the text is longer than the prompt section can hold.
fn warnings(saved: &Saved) -> Vec<String> {
    // A text that is not blank is effective in its own scope, so this is the path of its own folder.
    let path = saved.effective.as_ref().map(|found| &*found.source_path);
    let section = prompt::agents_doc::preview(path.unwrap_or_default(), &saved.doc.content);
    if section.truncated {
        vec![format!(
            "the text has {} characters, which is more than a prompt takes: the end will not reach the model",
            saved.doc.char_count
        )]
    } else {
        Vec::new()
    }
}

/// Validates the paths, skips files that only refer to an AGENTS.md, and prefers an AGENTS.md over a CLAUDE.md in the
/// same folder.
fn import_files(files: &[ThreadAgentsDocFile]) -> Result<Vec<ImportFile>, Failure> {
    if files.len() > MAX_FILES {
        let message = format!("expected at most {MAX_FILES} files, found {}", files.len());
        return Err(Failure::params(FailureKind::TooLarge, message)
            .with("path", "/files")
            .with("limit", MAX_FILES));
    }
    let mut chosen: BTreeMap<Vec<String>, (&str, ImportFile)> = BTreeMap::new();
    for (index, file) in files.iter().enumerate() {
        let at = |member: &str| format!("/files/{index}/{member}");
        let (folders, name) =
            parse_path(&file.path).map_err(|message| Failure::param(at("path"), message))?;
        if file.is_pointer() {
            continue;
        }
        let text = DocText::checked(&at("content"), &file.content)?;
        let import = ImportFile {
            folders: folders.clone(),
            content: text.content,
            content_sha256: text.sha256,
            char_count: text.char_count,
            expected_version: file.expected_version,
        };
        match chosen.get(&folders) {
            Some((known, _)) if *known == name => {
                return Err(Failure::param(
                    at("path"),
                    format!("`{}` is there twice", file.path),
                ));
            }
            Some(("AGENTS.md", _)) => {}
            Some(_) | None => {
                chosen.insert(folders, (name, import));
            }
        }
    }
    Ok(chosen.into_values().map(|(_, file)| file).collect())
}

/// Returns the folders of a path and its file name.
fn parse_path(path: &str) -> Result<(Vec<String>, &str), String> {
    let (folders, name) = path
        .rsplit_once('/')
        .map_or((None, path), |(folders, name)| (Some(folders), name));
    if name != "AGENTS.md" && name != "CLAUDE.md" {
        return Err(format!("`{path}` does not end in AGENTS.md or CLAUDE.md"));
    }
    let names = folders
        .into_iter()
        .flat_map(|folders| folders.split('/'))
        .map(|folder| {
            let is_plain = folder != "." && folder != ".." && !folder.contains('\\');
            match Name::parse(folder) {
                Ok(name) if is_plain && name.as_str() == folder => Ok(String::from(name)),
                Ok(_) | Err(_) => Err(format!("`{path}` has a part that is not a folder name")),
            }
        });
    Ok((names.collect::<Result<_, _>>()?, name))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(path: &str) -> ThreadAgentsDocFile {
        ThreadAgentsDocFile {
            path: path.to_owned(),
            content: path.to_owned(),
            expected_version: None,
        }
    }

    #[test]
    fn an_agents_file_wins_over_a_claude_file_in_either_order() {
        for paths in [
            ["a/AGENTS.md", "a/CLAUDE.md"],
            ["a/CLAUDE.md", "a/AGENTS.md"],
        ] {
            let files = import_files(&paths.map(file)).unwrap();
            assert_eq!(files.len(), 1);
            assert_eq!(files[0].content, "a/AGENTS.md");
        }
    }

    #[test]
    fn paths_that_lead_elsewhere_are_refused() {
        for path in [
            "../AGENTS.md",
            "/AGENTS.md",
            "a//AGENTS.md",
            "a/./AGENTS.md",
            "a\\b/AGENTS.md",
            "README.md",
            "",
            " a/AGENTS.md",
        ] {
            assert!(import_files(&[file(path)]).is_err(), "{path}");
        }
        assert!(
            import_files(&[file("AGENTS.md"), file("AGENTS.md")]).is_err(),
            "twice"
        );
    }
}
