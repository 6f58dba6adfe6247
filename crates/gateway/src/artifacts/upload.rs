//! The rules of uploads, independent of the transport: validation, appending of chunks and notifications.

use std::{collections::BTreeSet, sync::Arc};

use crud::{ArtifactDetail, FinishedUpload, NewUpload, UploadStarted};
use entity::artifact_upload_session as session;
use protocol::{
    Notification, ThreadId, UploadId,
    artifact::{
        ArtifactCreatedNotification, ArtifactRef, ArtifactSummary, ArtifactUpdatedNotification,
        ThreadArtifactsChangedNotification, upload::ArtifactUploadStartParams,
    },
};
use rpc::{Audience, Bytes, Failure, FailureKind, Publication};
use tokio::runtime::Handle;

use super::{limits, open::Place, open_bytes};
use crate::{Gateway, peer::outputs_topic, rows};

/// The minimum interval between two extensions of an upload's expiry in the database, in seconds.
const EXTEND_EVERY: i64 = 60;

/// Why a chunk was rejected.
pub(crate) struct Rejection {
    pub(crate) kind: &'static str,
    pub(crate) message: String,
    pub(crate) next_offset: Option<u64>,
}

/// An accepted chunk.
pub(crate) struct Taken {
    pub(crate) received: u64,
    pub(crate) total: u64,
    /// The new expiry of the upload in Unix seconds; `None` if no extension is due.
    pub(crate) extend_to: Option<i64>,
}

/// A chunk and its position in an upload.
pub(crate) struct Chunk<'a> {
    pub(crate) workspace_id: &'a str,
    pub(crate) upload_id: &'a str,
    /// The author name of the principal that must own the upload.
    pub(crate) owner: &'a str,
    pub(crate) offset: u64,
    pub(crate) bytes: Bytes,
    /// The SHA-256 of the bytes, already verified. `None` if the client sent none.
    pub(crate) sha256: Option<&'a str>,
}

/// Starts an upload, or returns the identical upload that is already open.
pub(crate) async fn start(
    gateway: &Arc<Gateway>,
    owner: &str,
    params: ArtifactUploadStartParams,
) -> Result<UploadStarted, Failure> {
    check(&params)?;
    let now = gateway.sources.clock.now();
    let wanted = session::Model {
        id: gateway.sources.id::<UploadId>().into(),
        workspace_id: params.workspace_id.as_str().to_owned(),
        owner: owner.to_owned(),
        client_attachment_id: params.client_attachment_id,
        thread_id: params.thread_id.map(String::from),
        planned_turn_id: params.planned_turn_id.map(String::from),
        file_name: params.file_name,
        mime_type: params.mime_type,
        size_bytes: i64::try_from(params.size_bytes).unwrap_or(i64::MAX),
        sha256: params.sha256,
        source_kind: rows::stored(params.source_kind)?,
        status: "receiving".to_owned(),
        artifact_id: None,
        created_at: now,
        expires_at: now + limits::SESSION_SECONDS,
        version_of: params.artifact_id.map(String::from),
        version_id: None,
    };
    let new = NewUpload {
        session: wanted,
        quota: gateway.artifacts.quota,
    };
    let started = gateway.store.artifacts().start_upload(new).await;
    let mut started = started.map_err(rows::failure)?;
    // Damaged bytes count as absent, so that the upload replaces them.
    if let Some(blob) = &started.present
        && let Err(failure) = open_bytes(gateway, blob).await
    {
        if failure.kind() != FailureKind::NotReady {
            return Err(failure);
        }
        started.present = None;
    }
    Ok(started)
}

/// Validates the params that do not depend on the workspace.
fn check(params: &ArtifactUploadStartParams) -> Result<(), Failure> {
    let names = [
        ("/file_name", &params.file_name),
        ("/client_attachment_id", &params.client_attachment_id),
    ];
    for (path, name) in names {
        let length = name.chars().count();
        if name.trim().is_empty() || length > limits::MAX_NAME_CHARS {
            let message = format!(
                "expected 1 to {} characters, found {length}",
                limits::MAX_NAME_CHARS
            );
            return Err(Failure::param(path, message));
        }
    }
    if params.size_bytes > limits::MAX_UPLOAD {
        let message = format!(
            "expected at most {} bytes, found {}",
            limits::MAX_UPLOAD,
            params.size_bytes
        );
        return Err(Failure::params(FailureKind::TooLarge, message)
            .with("path", "/size_bytes")
            .with("limit", limits::MAX_UPLOAD));
    }
    let is_hash = params.sha256.len() == 64
        && params
            .sha256
            .bytes()
            .all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
    match is_hash {
        true => Ok(()),
        false => Err(Failure::param(
            "/sha256",
            "expected 64 lower-case hexadecimal characters",
        )),
    }
}

/// Returns the number of received bytes of an upload.
pub(crate) async fn received(
    gateway: &Arc<Gateway>,
    session: session::Model,
) -> Result<u64, Failure> {
    let gateway = Arc::clone(gateway);
    let received = tokio::task::spawn_blocking(move || gateway.artifacts.received(&session)).await;
    match received {
        Ok(Ok(received)) => Ok(received),
        Ok(Err(error)) => Err(Failure::incident(&error)),
        Err(error) => Err(Failure::incident(&error)),
    }
}

/// Removes an upload and its bytes. An artifact already created from it is kept.
pub(crate) async fn abort(gateway: &Arc<Gateway>, session: session::Model) -> Result<(), Failure> {
    let (worker, upload_id) = (Arc::clone(gateway), session.id.clone());
    let discarded = tokio::task::spawn_blocking(move || worker.artifacts.discard(&session)).await;
    match discarded {
        Ok(Ok(())) => {}
        Ok(Err(error)) => return Err(Failure::incident(&error)),
        Err(error) => return Err(Failure::incident(&error)),
    }
    let removed = gateway.store.artifacts().remove_upload(&upload_id).await;
    removed.map_err(rows::failure)?;
    gateway.artifacts.discarded(&upload_id);
    Ok(())
}

/// Appends a chunk to an upload in progress. Blocks; `database` runs the database queries.
pub(crate) fn take(
    gateway: &Gateway,
    database: &Handle,
    chunk: &Chunk<'_>,
) -> Result<Taken, Rejection> {
    let place = gateway.artifacts.open.place(chunk.upload_id);
    let taken = check_session(gateway, database, &place, chunk)
        .and_then(|session| append(gateway, &place, &session, chunk));
    if taken.is_err() {
        place.lock().doubt();
        gateway.artifacts.open.give_back(chunk.upload_id, &place);
    }
    taken
}

/// Returns the upload of a chunk, from the cache or from the database.
fn check_session(
    gateway: &Gateway,
    database: &Handle,
    place: &Place,
    chunk: &Chunk<'_>,
) -> Result<Arc<session::Model>, Rejection> {
    let &Chunk {
        workspace_id,
        upload_id,
        owner,
        ..
    } = chunk;
    let now = gateway.sources.clock.now();
    if let Some(session) = place.checked(workspace_id, owner, now) {
        return Ok(session);
    }
    let artifacts = gateway.store.artifacts();
    let found = database.block_on(artifacts.upload(workspace_id, upload_id, owner, now));
    let session = found.map_err(|error| {
        let is_unknown = matches!(
            error,
            crud::Error::UnknownUpload(_) | crud::Error::UnknownWorkspace(_)
        );
        if is_unknown {
            let message = format!("there is no upload `{upload_id}`");
            return reject("unknown_upload", message);
        }
        tracing::error!(%error, "an upload cannot be read");
        reject("internal", "the chunk could not be stored")
    })?;
    match session.status.as_str() {
        "receiving" => Ok(place.note(session)),
        _ => Err(complete(upload_id)),
    }
}

fn complete(upload_id: &str) -> Rejection {
    reject("not_receiving", format!("upload `{upload_id}` is complete"))
}

/// Extends the expiry of an upload if an accepted chunk requires it.
pub(crate) async fn extend(gateway: &Gateway, upload_id: &str, taken: &Taken) {
    if let Some(expires_at) = taken.extend_to {
        let artifacts = gateway.store.artifacts();
        if let Err(error) = artifacts.extend_upload(upload_id, expires_at).await {
            tracing::warn!(%error, "an upload cannot be kept for longer");
        }
    }
}

pub(crate) fn reject(kind: &'static str, message: impl Into<String>) -> Rejection {
    Rejection {
        kind,
        message: message.into(),
        next_offset: None,
    }
}

/// Appends a chunk to the file of its upload, or accepts it as a repetition of bytes already received. Blocks.
fn append(
    gateway: &Gateway,
    place: &Place,
    session: &session::Model,
    chunk: &Chunk<'_>,
) -> Result<Taken, Rejection> {
    let broken = |error: blobs::Error| {
        tracing::error!(%error, "a chunk cannot be stored");
        reject("internal", "the chunk could not be stored")
    };
    let (offset, length) = (chunk.offset, chunk.bytes.len() as u64);
    let mut open = place.lock();
    if open.is_closed {
        return Err(complete(&session.id));
    }
    if length == 0 {
        return Err(reject("empty_chunk", "the chunk has no bytes"));
    }
    if length > limits::MAX_CHUNK {
        let message = format!(
            "expected at most {} bytes, found {length}",
            limits::MAX_CHUNK
        );
        return Err(reject("chunk_too_large", message));
    }
    let upload = open
        .file(gateway.artifacts.blobs(), session)
        .map_err(broken)?;
    let (received, total) = (upload.received(), session.size_bytes.unsigned_abs());
    let taken = |received, extend_to| Taken {
        received,
        total,
        extend_to,
    };
    if offset != received {
        if upload.is_repeat(offset, &chunk.bytes).map_err(broken)? {
            return Ok(taken(received, None));
        }
        return Err(Rejection {
            next_offset: Some(received),
            ..reject(
                "offset_mismatch",
                format!("expected offset {received}, found {offset}"),
            )
        });
    }
    if length > total - received {
        let message = format!("the upload has {total} bytes, and the chunk ends behind them");
        return Err(reject("exceeds_size", message));
    }
    let received = upload
        .append_shared(offset, chunk.bytes.clone())
        .map_err(broken)?;
    if let Some(collected) = &mut open.chunk_hashes
        && !collected.add(length, total, chunk.sha256)
    {
        open.chunk_hashes = None;
    }
    let now = gateway.sources.clock.now();
    let extend_to = (now - open.extended_at >= EXTEND_EVERY).then(|| {
        open.extended_at = now;
        let latest = session.created_at + limits::MAX_SESSION_SECONDS;
        (now + limits::SESSION_SECONDS).min(latest)
    });
    Ok(taken(received, extend_to))
}

/// Returns the reference of a completed artifact, and the notifications for a new artifact, a new version and healed
/// artifacts.
///
/// All subscribers of the workspace receive them, because file lists are shown outside of the thread too.
pub(crate) fn announce(
    gateway: &Gateway,
    finished: FinishedUpload,
) -> Result<(ArtifactRef, Vec<Publication>), Failure> {
    let is_first = finished.detail.version.version_number == 1;
    let thread = finished.detail.artifact.primary_thread_id.clone();
    let bindings = finished.detail.bindings.iter();
    let reason = bindings
        .map(|binding| binding.binding_kind.as_str())
        .find(|kind| ["task_result", "agent_output"].contains(kind))
        .unwrap_or("user_upload")
        .to_owned();
    let is_output = crud::is_run_output(&finished.detail.artifact);
    let summary = rows::artifact_summary(finished.detail)?;
    let artifact = summary.artifact.clone();
    if !finished.is_new {
        return Ok((artifact, Vec::new()));
    }
    let mut publications = Vec::new();
    if is_first {
        let workspace_id = summary.workspace_id.clone();
        let created = ArtifactCreatedNotification {
            workspace_id: workspace_id.clone(),
            artifact: summary,
        };
        publications.push(about(workspace_id.as_str(), is_output, &created));
        if let Some(thread) = thread {
            let thread_id = rows::thread_id(&thread)?;
            let changed = changed(gateway, &created.artifact, thread_id, &reason);
            publications.push(changed);
        }
    } else {
        publications.extend(updates(gateway, summary, is_output, "new_version"));
    }
    for healed in finished.healed {
        publications.extend(updated(gateway, healed, "healed")?);
    }
    Ok((artifact, publications))
}

/// Returns the notifications of a changed artifact: for itself and for the lists of the threads it is bound to.
pub(crate) fn updated(
    gateway: &Gateway,
    detail: ArtifactDetail,
    reason: &str,
) -> Result<Vec<Publication>, Failure> {
    let is_output = crud::is_run_output(&detail.artifact);
    let summary = rows::artifact_summary(detail)?;
    Ok(updates(gateway, summary, is_output, reason))
}

/// A notification about an artifact, for those who may see it.
pub(crate) fn about<N: Notification>(workspace: &str, is_output: bool, payload: &N) -> Publication {
    let publication = Publication::new(workspace, payload);
    if is_output {
        publication.to(Audience::Topic(outputs_topic(workspace)))
    } else {
        publication
    }
}

fn updates(
    gateway: &Gateway,
    summary: ArtifactSummary,
    is_output: bool,
    reason: &str,
) -> Vec<Publication> {
    let bound = summary.bindings.iter();
    let bound: BTreeSet<ThreadId> = bound.filter_map(|bound| bound.thread_id.clone()).collect();
    let workspace_id = summary.workspace_id.clone();
    let updated = ArtifactUpdatedNotification {
        workspace_id: workspace_id.clone(),
        artifact: summary,
    };
    let mut publications = vec![about(workspace_id.as_str(), is_output, &updated)];
    for thread in bound {
        publications.push(changed(gateway, &updated.artifact, thread, reason));
    }
    publications
}

/// Returns the notification that an artifact changed the list of a thread.
fn changed(
    gateway: &Gateway,
    summary: &ArtifactSummary,
    thread_id: ThreadId,
    reason: &str,
) -> Publication {
    let changed = ThreadArtifactsChangedNotification {
        workspace_id: summary.workspace_id.clone(),
        thread_id,
        artifact_ids: vec![summary.artifact.artifact_id.clone()],
        reason: reason.to_owned(),
        generated_at: gateway.sources.clock.now(),
    };
    Publication::new(summary.workspace_id.as_str(), &changed)
}
