//! Converts database rows to wire types and database errors to RPC failures.

use artifacts::Damage;
use crud::{
    AgentsDocSummary, ArtifactDetail, Error, Proposal, Resolved, Revision, RevisionSummary,
    TrashEntry, TrashKind,
};
use entity::{
    thread, thread_agents_doc, thread_agents_doc_proposal, thread_folder, thread_placement,
    workspace,
};
use protocol::{
    ArtifactId, ArtifactVersionId, DesktopSessionId, FolderId, Id, ThreadId, TurnId, UploadId,
    WorkspaceId,
    artifact::{
        ArtifactPreviewRef, ArtifactRef, ArtifactSummary, ArtifactVersionSummary,
        binding::ArtifactBindingSummary,
    },
    desktop_session::DesktopSession,
    hook::HookRun,
    thread::{
        Thread, ThreadPlacement,
        agents_doc::{
            ThreadAgentsDocPayload, ThreadAgentsDocResolvedPayload, ThreadAgentsDocRevision,
            ThreadAgentsDocRevisionSummary, ThreadAgentsDocSummary,
            proposal::{ThreadAgentsDocProposal, ThreadAgentsDocProposalChangedNotification},
        },
        folder::ThreadFolder,
    },
    trash::{TrashItem, TrashItemKind},
    turn::{Turn, TurnEvent},
    workspace::Workspace,
};
use rpc::{Failure, FailureKind};
use serde::{
    Deserialize, Serialize,
    de::{DeserializeOwned, IntoDeserializer as _, value::Error as WordError},
};

pub(crate) fn workspace(row: workspace::Model) -> Result<Workspace, Failure> {
    Ok(Workspace {
        id: id(&row.id)?,
        name: row.name,
        is_active: row.is_active,
        is_current: row.is_current,
        dir: row.dir,
        created_at: row.created_at,
        updated_at: row.updated_at,
    })
}

pub(crate) fn thread(row: thread::Model) -> Result<Thread, Failure> {
    Ok(Thread {
        workspace_id: id(&row.workspace_id)?,
        id: id(&row.id)?,
        name: row.name,
        preview: row.preview,
        mode: word(&row.mode)?,
        model: row.model,
        model_provider: row.model_provider,
        created_at: row.created_at,
        updated_at: row.updated_at,
        status: word(&row.status)?,
        origin_kind: word(&row.origin_kind)?,
        sidebar_visibility: word(&row.sidebar_visibility)?,
        agent_nickname: row.agent_nickname,
        agent_role: row.agent_role,
        turns: Vec::new(),
    })
}

pub(crate) fn folder(row: thread_folder::Model) -> Result<ThreadFolder, Failure> {
    Ok(ThreadFolder {
        id: id(&row.id)?,
        workspace_id: id(&row.workspace_id)?,
        parent_folder_id: row
            .parent_folder_id
            .as_deref()
            .map(id::<FolderId>)
            .transpose()?,
        name: row.name,
        position: row.position,
        created_at: row.created_at,
        updated_at: row.updated_at,
    })
}

pub(crate) fn placement(row: &thread_placement::Model) -> Result<ThreadPlacement, Failure> {
    Ok(ThreadPlacement {
        thread_id: id(&row.thread_id)?,
        workspace_id: id(&row.workspace_id)?,
        folder_id: row.folder_id.as_deref().map(id).transpose()?,
    })
}

pub(crate) fn agents_doc(row: thread_agents_doc::Model) -> Result<ThreadAgentsDocPayload, Failure> {
    Ok(ThreadAgentsDocPayload {
        id: id(&row.id)?,
        workspace_id: id(&row.workspace_id)?,
        folder_id: row.folder_id.as_deref().map(id).transpose()?,
        status: word(&row.status)?,
        title: row.title,
        content: row.content,
        content_sha256: row.content_sha256,
        version: row.version,
        created_at: row.created_at,
        updated_at: row.updated_at,
    })
}

pub(crate) fn agents_doc_summary(row: AgentsDocSummary) -> Result<ThreadAgentsDocSummary, Failure> {
    Ok(ThreadAgentsDocSummary {
        id: id(&row.id)?,
        workspace_id: id(&row.workspace_id)?,
        folder_id: row.folder_id.as_deref().map(id).transpose()?,
        status: word(&row.status)?,
        content_sha256: row.content_sha256,
        version: row.version,
        char_count: row.char_count.unsigned_abs(),
        updated_at: row.updated_at,
    })
}

pub(crate) fn resolved(
    found: Resolved,
    now: i64,
) -> Result<ThreadAgentsDocResolvedPayload, Failure> {
    let inherited = found.is_inherited();
    let doc = agents_doc(found.doc)?;
    Ok(ThreadAgentsDocResolvedPayload {
        source_folder_id: doc.folder_id.clone(),
        doc,
        source_path: found.source_path,
        inherited,
        resolved_for_folder_id: found
            .resolved_for_folder_id
            .as_deref()
            .map(id)
            .transpose()?,
        resolved_at: now,
    })
}

pub(crate) fn revision_summary(row: RevisionSummary) -> ThreadAgentsDocRevisionSummary {
    ThreadAgentsDocRevisionSummary {
        version: row.version,
        content_sha256: row.content_sha256,
        char_count: row.char_count.unsigned_abs(),
        saved_at: row.saved_at,
        saved_by: row.saved_by,
        save_reason: row.save_reason,
    }
}

pub(crate) fn revision(row: Revision) -> Result<ThreadAgentsDocRevision, Failure> {
    Ok(ThreadAgentsDocRevision {
        doc_id: id(&row.doc_id)?,
        version: row.version,
        content: row.content,
        content_sha256: row.content_sha256,
        saved_at: row.saved_at,
        saved_by: row.saved_by,
        save_reason: row.save_reason,
    })
}

pub(crate) fn proposal(found: Proposal) -> Result<ThreadAgentsDocProposal, Failure> {
    let Proposal {
        row,
        current_version,
    } = found;
    Ok(ThreadAgentsDocProposal {
        sha256: crud::decision_sha256(&row),
        id: id(&row.id)?,
        workspace_id: id(&row.workspace_id)?,
        folder_id: row.folder_id.as_deref().map(id).transpose()?,
        is_stale: row.status == "pending" && row.base_version != current_version,
        status: word(&row.status)?,
        base_version: row.base_version,
        current_version,
        diff: row.diff,
        content_sha256: row.content_sha256,
        char_count: row.char_count.unsigned_abs(),
        rationale: row.rationale,
        author: row.author,
        decided_by: row.decided_by,
        decided_via: row.decided_via.as_deref().map(word).transpose()?,
        decided_at: row.decided_at,
        note: row.note,
        saved_doc_id: row.saved_doc_id.as_deref().map(id).transpose()?,
        saved_version: row.saved_version,
        created_at: row.created_at,
        updated_at: row.updated_at,
    })
}

pub(crate) fn proposal_changed(
    row: &thread_agents_doc_proposal::Model,
) -> Result<ThreadAgentsDocProposalChangedNotification, Failure> {
    Ok(ThreadAgentsDocProposalChangedNotification {
        workspace_id: id(&row.workspace_id)?,
        proposal_id: id(&row.id)?,
        folder_id: row.folder_id.as_deref().map(id).transpose()?,
        status: word(&row.status)?,
    })
}

/// Converts a trash entry. `purge_at` is `kept_seconds` after the deletion.
pub(crate) fn trash_item(entry: &TrashEntry, kept_seconds: i64) -> Result<TrashItem, Failure> {
    let row = &entry.row;
    Ok(TrashItem {
        kind: match entry.kind {
            TrashKind::AgentsDoc => TrashItemKind::AgentsDoc,
            TrashKind::Folder => TrashItemKind::Folder,
            TrashKind::Thread => TrashItemKind::Thread,
        },
        id: row.subject_id.clone(),
        workspace_id: id(&row.workspace_id)?,
        name: row.name.clone(),
        folder_id: row.folder_id.as_deref().map(id).transpose()?,
        folder_name: row.folder_name.clone(),
        thread_count: entry.threads,
        folder_count: entry.folders,
        has_agents_doc: row.doc_id.is_some(),
        deleted_at: row.deleted_at,
        deleted_by: row.deleted_by.clone(),
        purge_at: row.deleted_at + kept_seconds,
    })
}

pub(crate) fn turn(row: entity::turn::Model) -> Result<Turn, Failure> {
    agent::turn_to_wire(row).map_err(agent_failure)
}

pub(crate) fn turn_event(row: &entity::turn_event::Model) -> Result<TurnEvent, Failure> {
    Ok(TurnEvent {
        turn_id: id(&row.turn_id)?,
        sequence: row.sequence.unsigned_abs(),
        created_at: row.created_at_ms,
        payload: json(&row.payload)?,
    })
}

pub(crate) fn hook_run(row: entity::hook_run::Model) -> Result<HookRun, Failure> {
    let attempts: Vec<serde_json::Value> = json(&row.attempts)?;
    let diagnostics: Vec<serde_json::Value> = json(&row.diagnostics)?;
    let contribution_hashes: Vec<String> = json(&row.contribution_hashes)?;
    let previews = diagnostics.iter().filter_map(|one| one["message"].as_str());
    Ok(HookRun {
        id: row.id,
        subscription_id: row.subscription_id,
        hook_id: row.hook_id,
        phase: row.phase,
        status: word(&row.status)?,
        thread_id: row.thread_id,
        turn_id: row.turn_id,
        attempt_count: attempts.len() as u64,
        contribution_count: contribution_hashes.len() as u64,
        diagnostic_count: diagnostics.len() as u64,
        contribution_hashes,
        diagnostic_previews: previews.map(ToOwned::to_owned).collect(),
        error: row.error.as_deref().map(json).transpose()?,
        queued_at_ms: row.queued_at_ms,
        started_at_ms: row.started_at_ms,
        completed_at_ms: row.completed_at_ms,
    })
}

pub(crate) fn artifact_summary(detail: ArtifactDetail) -> Result<ArtifactSummary, Failure> {
    let artifact = artifact_ref(&detail)?;
    let row = detail.artifact;
    Ok(ArtifactSummary {
        artifact,
        workspace_id: id(&row.workspace_id)?,
        primary_thread_id: row.primary_thread_id.as_deref().map(id).transpose()?,
        created_by_kind: word(&row.created_by_kind)?,
        created_by_actor_id: row.created_by_actor_id,
        created_at: row.created_at,
        updated_at: row.updated_at,
        bindings: detail
            .bindings
            .into_iter()
            .map(artifact_binding)
            .collect::<Result<_, _>>()?,
        metadata: json(&row.metadata)?,
    })
}

pub(crate) fn artifact_ref(detail: &ArtifactDetail) -> Result<ArtifactRef, Failure> {
    let (row, version, blob) = (&detail.artifact, &detail.version, &detail.blob);
    let preview = detail.preview.as_ref().map(|projection| {
        Ok::<_, Failure>(ArtifactPreviewRef {
            projection_kind: word(&projection.projection_kind)?,
            status: word(&projection.status)?,
            artifact_id: id(&row.id)?,
            version_id: id(&version.id)?,
            blob_id: projection.blob_id.as_deref().map(id).transpose()?,
            mime_type: projection.mime_type.clone(),
            size_bytes: projection.size_bytes.map(i64::unsigned_abs),
            sha256: projection.sha256.clone(),
        })
    });
    Ok(ArtifactRef {
        artifact_id: id(&row.id)?,
        version_id: Some(id(&version.id)?),
        display_name: row.display_name.clone(),
        kind: word(&row.kind)?,
        mime_type: version.mime_type.clone(),
        size_bytes: Some(blob.size_bytes.unsigned_abs()),
        sha256: Some(blob.sha256.clone()),
        status: word(&row.status)?,
        preview: preview.transpose()?,
    })
}

pub(crate) fn artifact_binding(
    row: entity::artifact_binding::Model,
) -> Result<ArtifactBindingSummary, Failure> {
    Ok(ArtifactBindingSummary {
        binding_id: id(&row.id)?,
        workspace_id: id(&row.workspace_id)?,
        thread_id: row.thread_id.as_deref().map(id).transpose()?,
        turn_id: row.turn_id.as_deref().map(id).transpose()?,
        message_id: row.message_id.as_deref().map(id).transpose()?,
        turn_item_id: row.turn_item_id,
        tool_call_id: row.tool_call_id,
        task_id: row.task_id,
        task_run_id: row.task_run_id,
        binding_kind: word(&row.binding_kind)?,
        direction: word(&row.direction)?,
        item_index: row.item_index.and_then(|index| u32::try_from(index).ok()),
        role: row.role.as_deref().map(word).transpose()?,
        created_at: row.created_at,
    })
}

pub(crate) fn artifact_version(
    (version, blob): (
        entity::artifact_version::Model,
        entity::artifact_blob::Model,
    ),
) -> Result<ArtifactVersionSummary, Failure> {
    Ok(ArtifactVersionSummary {
        version_id: id(&version.id)?,
        version_number: version.version_number.unsigned_abs(),
        size_bytes: blob.size_bytes.unsigned_abs(),
        sha256: blob.sha256,
        mime_type: version.mime_type,
        created_at: version.created_at,
    })
}

/// Rejects artifacts that are not ready, because their bytes are not served.
pub(crate) fn check_ready(detail: &ArtifactDetail) -> Result<(), Failure> {
    let status = match (detail.artifact.status.as_str(), detail.blob.status.as_str()) {
        ("ready", "ready") => return Ok(()),
        // An older version may be damaged although the newest is not.
        ("ready", "missing") => "failed",
        ("ready", of_version) => of_version,
        (status, _) => status,
    };
    Err(failure(Error::ArtifactNotReady {
        artifact_id: detail.artifact.id.clone(),
        status: status.to_owned(),
    }))
}

/// Converts an error of the artifact service to an RPC failure.
pub(crate) fn artifact_failure(error: artifacts::Error) -> Failure {
    let message = error.to_string();
    match error {
        artifacts::Error::Database(error) => failure(error),
        artifacts::Error::Storage(error) => Failure::incident(&error),
        artifacts::Error::Panicked(error) => Failure::incident(&error),
        artifacts::Error::UnknownUpload(_) => Failure::state(FailureKind::UnknownUpload, message),
        artifacts::Error::Incomplete { received, .. } => {
            Failure::state(FailureKind::NotReady, message)
                .with("status", "receiving")
                .with("next_offset", received)
        }
        artifacts::Error::HashMismatch(_) => Failure::state(FailureKind::HashMismatch, message),
        artifacts::Error::Unserved { sha256, damage } => {
            let status = match damage {
                Damage::Missing => "failed",
                Damage::Changed => "quarantined",
            };
            Failure::state(FailureKind::NotReady, message)
                .with("status", status)
                .with("sha256", sha256)
                .hint("upload the file again: good bytes replace damaged ones")
        }
    }
}

/// Converts an error about the scope of a list, which is part of the params.
pub(crate) fn artifact_scope_failure(error: Error) -> Failure {
    let Error::UnknownThread(_) = error else {
        return failure(error);
    };
    Failure::params(FailureKind::UnknownThread, error.to_string()).with("path", "/thread_id")
}

/// Parses the id of a stored thread.
pub(crate) fn thread_id(text: &str) -> Result<ThreadId, Failure> {
    id(text)
}

/// Converts a desktop session. `current` is the session of the caller, if it has one.
pub(crate) fn desktop_session(
    row: entity::desktop_session::Model,
    current: Option<&DesktopSessionId>,
) -> Result<DesktopSession, Failure> {
    let id = id(&row.id)?;
    Ok(DesktopSession {
        is_current: current == Some(&id),
        id,
        user_agent: row.user_agent,
        created_at: row.created_at,
        last_used_at: row.last_used_at,
        expires_at: row.expires_at,
    })
}

/// Parses the id of a stored folder.
pub(crate) fn folder_id(text: &str) -> Result<FolderId, Failure> {
    id(text)
}

/// Parses the id of a stored turn.
pub(crate) fn turn_id(text: &str) -> Result<TurnId, Failure> {
    id(text)
}

/// Parses the id of a stored upload.
pub(crate) fn upload_id(text: &str) -> Result<UploadId, Failure> {
    id(text)
}

/// Parses the id of a stored artifact.
pub(crate) fn artifact_id(text: &str) -> Result<ArtifactId, Failure> {
    id(text)
}

/// Parses a wire enum from its stored string.
pub(crate) fn parsed<T: DeserializeOwned>(text: &str) -> Result<T, Failure> {
    word(text)
}

/// Parses the id of a stored artifact version.
pub(crate) fn version_id(text: &str) -> Result<ArtifactVersionId, Failure> {
    id(text)
}

/// Converts an error of the turn loop to an RPC failure.
pub(crate) fn agent_failure(error: agent::Error) -> Failure {
    let message = error.to_string();
    match error {
        agent::Error::Store(error) => failure(error),
        agent::Error::UnknownProvider(_) => Failure::state(FailureKind::UnknownProvider, message)
            .with("path", "/model_provider")
            .hint("`provider/list` names them"),
        agent::Error::RunsElsewhere(_) => Failure::state(FailureKind::Busy, message),
        agent::Error::Damaged(_) => Failure::incident(&error),
    }
}

/// Parses the id of a stored workspace.
pub(crate) fn workspace_id(text: &str) -> Result<WorkspaceId, Failure> {
    id(text)
}

/// Builds a version conflict failure with both versions and, if it exists, the current document.
pub(crate) fn version_conflict(
    message: String,
    (expected, actual): (i64, i64),
    current: Option<Box<entity::thread_agents_doc::Model>>,
) -> Failure {
    let failure = Failure::state(FailureKind::VersionConflict, message)
        .with("expected", expected)
        .with("actual", actual);
    match current {
        None => failure,
        Some(doc) => failure
            .with("doc_id", doc.id)
            .with("content_sha256", doc.content_sha256)
            .with("updated_at", doc.updated_at),
    }
}

/// Converts a database error to the default RPC failure.
pub(crate) fn failure(error: Error) -> Failure {
    let message = error.to_string();
    match error {
        Error::UnknownWorkspace(_) => {
            Failure::params(FailureKind::UnknownWorkspace, message).with("path", "/workspace_id")
        }
        Error::NoCompanyFolder(_) => {
            Failure::params(FailureKind::InvalidParams, message).with("path", "/workspace_id")
        }
        Error::UnknownFolder { .. } => Failure::state(FailureKind::UnknownFolder, message),
        Error::UnknownThread(_) => Failure::state(FailureKind::UnknownThread, message),
        Error::ForeignThread { .. } => {
            Failure::params(FailureKind::UnknownThread, message).with("path", "/thread_id")
        }
        Error::ThreadBusy(_) => {
            Failure::state(FailureKind::Busy, message).hint("cancel the turn or wait for its end")
        }
        Error::FolderCycle { .. } => Failure::state(FailureKind::Cycle, message),
        Error::TooDeep { limit } | Error::TooManyFolders { limit } => {
            Failure::state(FailureKind::TooLarge, message).with("limit", limit)
        }
        Error::NotInTrash { .. } => Failure::state(FailureKind::NotInTrash, message),
        Error::ThreadInTrash(_) => Failure::state(FailureKind::InTrash, message)
            .hint("restore it with `trash/restore`, or choose another thread id"),
        Error::FolderInTrash { folder_id, .. } => Failure::state(FailureKind::InTrash, message)
            .with("folder_id", folder_id)
            .hint("restore the folder first, if it is still in the trash"),
        Error::ScopeHasDoc { .. } => Failure::state(FailureKind::Refused, message).hint(
            "archive that one first, or read the old text by `thread/agents_doc/revision_get`",
        ),
        Error::DiskFull => Failure::state(FailureKind::QuotaExceeded, message)
            .hint("free some space and try again"),
        Error::UnknownTurn(_) => Failure::state(FailureKind::UnknownTurn, message),
        Error::TurnDiffers(_) => {
            Failure::state(FailureKind::Duplicate, message).hint("use a new turn_id")
        }
        Error::UnknownArtifact(_) => Failure::state(FailureKind::UnknownArtifact, message),
        Error::UnknownArtifactVersion(_) => Failure::state(FailureKind::UnknownRevision, message),
        Error::UnknownProjection { .. } => {
            Failure::state(FailureKind::NotReady, message).with("status", "failed")
        }
        Error::ArtifactNotReady { status, .. } => {
            Failure::state(FailureKind::NotReady, message).with("status", status)
        }
        Error::UnknownUpload(_) => Failure::state(FailureKind::UnknownUpload, message),
        Error::QuotaExceeded {
            limit, limit_value, ..
        } => {
            let hint = if limit == "max_stored_bytes" {
                "finish or abort open uploads; deleted artifacts free their room after 30 days"
            } else {
                "delete items that are not needed"
            };
            Failure::state(FailureKind::QuotaExceeded, message)
                .with("limit_name", limit)
                .with("limit", limit_value)
                .hint(hint)
        }
        Error::UnknownDoc(_) => Failure::state(FailureKind::UnknownAgentsDoc, message),
        Error::UnknownRevision { .. } => Failure::state(FailureKind::UnknownRevision, message),
        Error::UnknownScopeVersion { .. } => Failure::state(FailureKind::UnknownRevision, message),
        Error::UnknownProposal(_) => {
            Failure::params(FailureKind::UnknownProposal, message).with("path", "/proposal_id")
        }
        Error::ProposalDecided(row) => Failure::state(FailureKind::AlreadyDecided, message)
            .with("proposal_id", row.id)
            .with("status", row.status)
            .with("decided_by", row.decided_by)
            .with("decided_at", row.decided_at)
            .with("note", row.note),
        Error::ProposalChanged(row) => Failure::state(FailureKind::VersionConflict, message)
            .with("actual_sha256", crud::decision_sha256(&row))
            .with("proposal_id", row.id)
            .with("base_version", row.base_version)
            .with("content_sha256", row.content_sha256)
            .hint("read it again"),
        Error::TooManyProposals { limit } => Failure::state(FailureKind::QuotaExceeded, message)
            .with("limit", limit)
            .hint("decide about some of the proposals first"),
        Error::VersionConflict { .. } => Failure::state(
            FailureKind::VersionConflict,
            format!("version conflict: {message}"),
        ),
        Error::Overloaded => Failure::overloaded(),
        Error::Closed | Error::Panicked(_) | Error::Database(_) => Failure::incident(&error),
    }
}

/// Returns the string as which a wire enum is stored.
pub(crate) fn stored<T: Serialize>(value: T) -> Result<String, Failure> {
    match serde_json::to_value(value) {
        Ok(serde_json::Value::String(word)) => Ok(word),
        Ok(_) => Err(Failure::incident(&NotAWord)),
        Err(error) => Err(Failure::incident(&error)),
    }
}

#[derive(Debug, thiserror::Error)]
#[error("a stored value is not a word")]
struct NotAWord;

fn json<T: DeserializeOwned>(text: &str) -> Result<T, Failure> {
    serde_json::from_str(text).map_err(|error| Failure::incident(&error))
}

fn id<I: Id>(text: &str) -> Result<I, Failure> {
    I::parse(text).map_err(|error| Failure::incident(&error))
}

fn word<'de, T: Deserialize<'de>>(text: &'de str) -> Result<T, Failure> {
    T::deserialize(text.into_deserializer()).map_err(|error: WordError| Failure::incident(&error))
}
