//! Handler of `turn/explain`.

use std::collections::BTreeMap;

use entity::turn;
use prompt::agents_doc::document_of;
use protocol::{AgentsDocId, Id as _, turn::*};
use rpc::Failure;

use super::follow;
use crate::{Context, rows};

pub(super) async fn explain(
    ctx: Context,
    params: TurnExplainParams,
) -> Result<TurnExplainResponse, Failure> {
    let turns = ctx.store().turns();
    let thread_id = params.thread_id.as_str();
    let row = turns.get(thread_id, params.turn_id.as_str()).await;
    let row = row.map_err(rows::failure)?;
    let workspace_id = follow(&ctx, &row.workspace_id)?;
    let compared = match &params.compare_turn_id {
        None => None,
        Some(other) => {
            let thread = params.compare_thread_id.as_ref();
            let thread = thread.map_or(thread_id, |thread| thread.as_str());
            let other = turns.get(thread, other.as_str()).await;
            let other = other.map_err(rows::failure)?;
            if other.workspace_id != row.workspace_id {
                return Err(Failure::param(
                    "/compare_thread_id",
                    "expected a thread of the same workspace",
                ));
            }
            Some(explained(&ctx, other).await?)
        }
    };
    let prompt = explained(&ctx, row).await?;
    Ok(TurnExplainResponse {
        workspace_id,
        thread_id: params.thread_id,
        changes: compared
            .as_ref()
            .map_or_else(Vec::new, |other| changes(other, &prompt)),
        prompt,
        compared,
    })
}

pub(in crate::methods) async fn explained(
    ctx: &Context,
    row: turn::Model,
) -> Result<ExplainedPrompt, Failure> {
    let workspace_id = row.workspace_id.clone();
    let turn = rows::turn(row)?;
    let mut pieces = Vec::new();
    if let Some(manifest) = &turn.prompt_manifest {
        for section in &manifest.section_ids {
            let mut brought = Vec::new();
            for source in &manifest.hook_sources {
                if source.section_id.as_ref() == Some(section) {
                    brought.push(source);
                }
            }
            if brought.is_empty() {
                pieces.push(base(section));
            }
            for source in brought {
                pieces.push(piece(ctx, &workspace_id, section, source).await?);
            }
        }
    }
    let manifest = turn.prompt_manifest;
    Ok(ExplainedPrompt {
        turn_id: turn.id,
        status: turn.status,
        compiler_version: manifest.as_ref().map(|one| one.compiler_version.clone()),
        fingerprint_full: manifest.map(|one| one.fingerprint_full),
        pieces,
    })
}

/// Returns a section that is part of every prompt.
fn base(section: &str) -> PromptPiece {
    PromptPiece {
        section_id: section.to_owned(),
        hook_id: None,
        contribution_id: None,
        contribution_hash: None,
        document: None,
        truncation: PromptTruncation::None,
    }
}

async fn piece(
    ctx: &Context,
    workspace_id: &str,
    section: &str,
    brought: &PromptManifestHookSource,
) -> Result<PromptPiece, Failure> {
    let source = &brought.source;
    let document = match source.contribution_id.as_deref().and_then(document_of) {
        Some((doc_id, version)) => document(ctx, workspace_id, doc_id, version).await?,
        None => None,
    };
    Ok(PromptPiece {
        section_id: section.to_owned(),
        hook_id: Some(source.hook_id.clone()),
        contribution_id: source.contribution_id.clone(),
        contribution_hash: source.contribution_hash.clone(),
        document,
        truncation: brought.truncation,
    })
}

async fn document(
    ctx: &Context,
    workspace_id: &str,
    doc_id: &str,
    version: i64,
) -> Result<Option<PromptDocument>, Failure> {
    let Ok(id) = AgentsDocId::parse(doc_id) else {
        return Ok(None);
    };
    let docs = ctx.store().agents_docs();
    let kept = match docs.revision(workspace_id, doc_id, version).await {
        Ok(revision) => Some(revision),
        // The prompt contained the document although it no longer exists.
        Err(crud::Error::UnknownDoc(_) | crud::Error::UnknownRevision { .. }) => None,
        Err(error) => return Err(rows::failure(error)),
    };
    Ok(Some(PromptDocument {
        doc_id: id,
        version,
        char_count: kept
            .as_ref()
            .map(|kept| kept.content.chars().count() as u64),
        saved_at: kept.as_ref().map(|kept| kept.saved_at),
        saved_by: kept.as_ref().and_then(|kept| kept.saved_by.clone()),
        content_sha256: kept.map(|kept| kept.content_sha256),
    }))
}

/// Compares two prompts by section: the sections of the newer prompt in their order, then the removed ones.
fn changes(before: &ExplainedPrompt, after: &ExplainedPrompt) -> Vec<PromptChange> {
    let (was, is) = (sections(before), sections(after));
    let mut order: Vec<&str> = Vec::new();
    for piece in after.pieces.iter().chain(&before.pieces) {
        if !order.contains(&piece.section_id.as_str()) {
            order.push(&piece.section_id);
        }
    }
    let change = |section: &str| match (was.get(section), is.get(section)) {
        (Some(was), Some(is)) if was == is => PromptChangeKind::Same,
        (Some(_), Some(_)) => PromptChangeKind::Changed,
        (None, _) => PromptChangeKind::Added,
        (Some(_), None) => PromptChangeKind::Removed,
    };
    order
        .into_iter()
        .map(|section| PromptChange {
            section_id: section.to_owned(),
            change: change(section),
        })
        .collect()
}

/// Returns the content hashes of each section.
fn sections(prompt: &ExplainedPrompt) -> BTreeMap<&str, Vec<Option<&str>>> {
    let mut found: BTreeMap<&str, Vec<Option<&str>>> = BTreeMap::new();
    for piece in &prompt.pieces {
        let hashes = found.entry(piece.section_id.as_str()).or_default();
        hashes.push(piece.contribution_hash.as_deref());
    }
    found
}
