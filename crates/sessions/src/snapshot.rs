//! Snapshot of a repository at the start of a run: its commit and its uncommitted changes.

use std::sync::Arc;

use company::{
    Company, Error,
    document::{ContextPack, RepoSnapshot},
    layout,
};
use protocol::{
    Id as _,
    company::{ContextPackId, DocumentId, ProjectId, Text},
};
use serde_json::{Value, json};

use crate::git::GitTree;

/// Takes a snapshot and returns the events about it, as type and payload. A failure is reported as an event, too.
pub(crate) async fn take(
    company: &Company,
    project: &ProjectId,
    context_pack: &str,
    repo_id: &str,
    tree: Result<GitTree, String>,
) -> Vec<(&'static str, Value)> {
    let taken = match tree {
        Ok(tree) => read_state(&tree).await,
        Err(error) => Err(error),
    };
    let failed = |error: &str| {
        let payload = json!({"context_pack_id": context_pack, "repo_id": repo_id, "error": error});
        vec![("context_pack.snapshot_failed", payload)]
    };
    let (head, patch) = match taken {
        Ok(taken) => taken,
        Err(error) => return failed(&error),
    };
    let written = {
        let (company, project, context_pack, repo_id) = (
            company.clone(),
            project.clone(),
            context_pack.to_owned(),
            repo_id.to_owned(),
        );
        tokio::task::spawn_blocking(move || {
            write(
                &company,
                &project,
                &context_pack,
                &repo_id,
                &head,
                patch.as_deref(),
            )
        })
    };
    match written.await {
        Ok(Ok(events)) => events,
        Ok(Err(error)) => failed(&error.to_string()),
        Err(panic) => failed(&panic.to_string()),
    }
}

/// Returns the commit, and a patch if there are changes. The patch does not contain untracked files.
async fn read_state(tree: &GitTree) -> Result<(String, Option<Vec<u8>>), String> {
    let head = tree.text(&["rev-parse", "HEAD"]).await?;
    let patch = if tree.status().await?.is_empty() {
        None
    } else {
        Some(tree.diff().await?)
    };
    Ok((head, patch))
}

fn write(
    company: &Company,
    project: &ProjectId,
    context_pack: &str,
    repo_id: &str,
    head: &str,
    patch: Option<&[u8]>,
) -> Result<Vec<(&'static str, Value)>, Error> {
    let mut events = Vec::new();
    let pack = ContextPackId::parse(context_pack).map_err(|_| Error::NotFound {
        what: "Context pack",
        id: context_pack.to_owned(),
    })?;
    let manifest_path = format!("{}/manifest.yaml", layout::context_pack(project, &pack));
    let patch_id: Option<DocumentId> = patch.map(|_| company.sources().id());
    if let (Some(patch), Some(id)) = (patch, &patch_id) {
        let relpath = format!("{}/artifacts/{id}.patch", layout::project(project));
        company.replace(&relpath, patch)?;
        events.push((
            "artifact.produced",
            json!({"artifact_id": id, "relpath": relpath, "kind": "repo_dirty_patch", "repo_id": repo_id}),
        ));
    }
    company.write(|writer| {
        let manifest: Arc<ContextPack> = company.read(&manifest_path)?;
        let mut manifest = ContextPack::clone(&manifest);
        manifest.repo_snapshot = Some(RepoSnapshot {
            repo_id: text(repo_id)?,
            head_sha: text(head)?,
            dirty: patch.is_some(),
            dirty_patch_artifact_id: patch_id.as_ref().and_then(|id| Text::new(id.as_str())),
        });
        writer.put(&manifest_path, &manifest)
    })?;
    events.push((
        "context_pack.snapshot_written",
        json!({
            "context_pack_id": context_pack,
            "repo_id": repo_id,
            "head_sha": head,
            "dirty": patch.is_some(),
            "dirty_patch_artifact_id": patch_id,
        }),
    ));
    Ok(events)
}

fn text(value: &str) -> Result<Text, Error> {
    Text::new(value).ok_or_else(|| Error::Refused("git returned no commit".to_owned()))
}
