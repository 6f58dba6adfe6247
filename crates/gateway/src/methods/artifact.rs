//! Handlers of `artifact/*`.

use artifacts::limits;
use base64::{
    Engine as _, engine::general_purpose::STANDARD as BASE64,
    engine::general_purpose::URL_SAFE_NO_PAD,
};
use crud::{ArtifactDetail, ArtifactQuery, BindTargets, NewBinding, RestoredBytes};
use entity::artifact_blob;
use protocol::{
    ArtifactId, BindingId, ThreadId, TurnId, WorkspaceId,
    artifact::{binding::*, *},
};
use rpc::{Failure, FailureKind, Router};

use super::{thread::page_size, turn::explain};
use crate::{Context, artifact_notifications, blocking::blocking_or_incident, rows};

pub(super) mod download;
pub(super) mod upload;

/// The default number of artifacts per page.
const PAGE: usize = 50;
/// The maximum number of artifacts per page.
const MAX_PAGE: usize = 200;

pub(super) fn routes(router: &mut Router<Context>) {
    router
        .on::<ArtifactCapabilities>(capabilities)
        .on::<ArtifactList>(list)
        .on::<ArtifactListForThread>(list_for_thread)
        .on::<ArtifactListForTurn>(list_for_turn)
        .on::<ArtifactListForMessage>(list_for_message)
        .on::<ArtifactGet>(get)
        .on::<ArtifactRead>(read)
        .on::<ArtifactBind>(bind)
        .on::<ArtifactDelete>(delete)
        .on::<ArtifactRestore>(restore)
        .on::<ArtifactVersionsList>(versions_list)
        .on::<ArtifactUsage>(usage);
}

async fn capabilities(
    ctx: Context,
    params: ArtifactCapabilitiesParams,
) -> Result<ArtifactCapabilitiesResponse, Failure> {
    let found = ctx
        .store()
        .workspaces()
        .get(params.workspace_id.as_str())
        .await;
    found.map_err(rows::failure)?;
    Ok(ArtifactCapabilitiesResponse {
        upload: ArtifactUploadCapabilities {
            required_for_local_paths: true,
            recommended_chunk_size_bytes: limits::RECOMMENDED_CHUNK,
            max_chunk_size_bytes: limits::MAX_CHUNK,
            max_file_size_bytes: limits::MAX_UPLOAD,
            max_files_per_turn: limits::MAX_FILES_PER_TURN,
        },
        download: ArtifactDownloadCapabilities {
            recommended_chunk_size_bytes: limits::RECOMMENDED_CHUNK,
            max_chunk_size_bytes: limits::MAX_CHUNK,
            max_concurrent_downloads: limits::MAX_DOWNLOADS,
        },
    })
}

async fn list(ctx: Context, params: ArtifactListParams) -> Result<ArtifactListResponse, Failure> {
    let kinds = params.kinds.unwrap_or_default();
    let wanted = ArtifactQuery {
        workspace_id: params.workspace_id.into(),
        targets: BindTargets {
            thread_id: params.thread_id.map(String::from),
            turn_id: params.turn_id.map(String::from),
            message_id: params.message_id.map(String::from),
            task_id: params.task_id,
            task_run_id: params.task_run_id,
            ..BindTargets::default()
        },
        kinds: kinds
            .into_iter()
            .map(rows::stored)
            .collect::<Result<_, _>>()?,
        include_deleted: params.include_deleted.unwrap_or(false),
        include_run_outputs: ctx.principal().sees_run_outputs(),
        after: params.cursor.as_deref().map(parse_cursor).transpose()?,
        limit: page_size(params.limit, PAGE, MAX_PAGE)?,
    };
    let found = ctx.store().artifacts().list(wanted).await;
    let found = found.map_err(rows::artifact_scope_failure)?;
    Ok(ArtifactListResponse {
        items: found
            .items
            .into_iter()
            .map(rows::artifact_summary)
            .collect::<Result<_, _>>()?,
        next_cursor: found
            .next
            .map(|(time, id)| URL_SAFE_NO_PAD.encode(format!("{time}.{id}"))),
    })
}

async fn list_for_thread(
    ctx: Context,
    params: ArtifactListForThreadParams,
) -> Result<ArtifactListResponse, Failure> {
    list(ctx, params.into()).await
}

async fn list_for_turn(
    ctx: Context,
    params: ArtifactListForTurnParams,
) -> Result<ArtifactListResponse, Failure> {
    list(ctx, params.into()).await
}

async fn list_for_message(
    ctx: Context,
    params: ArtifactListForMessageParams,
) -> Result<ArtifactListResponse, Failure> {
    list(ctx, params.into()).await
}

/// Parses a cursor, which is opaque to clients: `<time>.<id>` of the last artifact of the page, in base64.
fn parse_cursor(text: &str) -> Result<(i64, String), Failure> {
    let parsed = URL_SAFE_NO_PAD.decode(text).ok().and_then(|bytes| {
        let text = String::from_utf8(bytes).ok()?;
        let (time, id) = text.split_once('.')?;
        Some((time.parse().ok()?, id.to_owned()))
    });
    parsed.ok_or_else(|| Failure::param("/cursor", "expected a `next_cursor` of this method"))
}

async fn get(ctx: Context, params: ArtifactGetParams) -> Result<ArtifactGetResponse, Failure> {
    let version = params.version_id.as_ref().map(|version| version.as_str());
    let (workspace, artifact) = (params.workspace_id.as_str(), params.artifact_id.as_str());
    let found = ctx.artifact(workspace, artifact, version).await?;
    Ok(ArtifactGetResponse {
        lineage: lineage(&ctx, &found).await?,
        artifact: rows::artifact_summary(found)?,
    })
}

/// Returns the run that created a version, or `None` if no run did. Later bindings do not change it.
async fn lineage(
    ctx: &Context,
    found: &ArtifactDetail,
) -> Result<Option<ArtifactLineage>, Failure> {
    let is_result = matches!(found.artifact.created_by_kind.as_str(), "agent" | "task");
    let bindings = found.bindings.iter().rev().filter(|_| is_result);
    let mut bindings =
        bindings.filter(|binding| binding.artifact_version_id.as_ref() == Some(&found.version.id));
    let Some(made) = bindings.next() else {
        return Ok(None);
    };
    let (thread, turn) = (made.thread_id.as_deref(), made.turn_id.as_deref());
    let mut instructions = Vec::new();
    if let (Some(thread), Some(turn)) = (thread, turn) {
        let turn = ctx.store().turns().get(thread, turn).await;
        let told = explain::explained(ctx, turn.map_err(rows::failure)?).await?;
        instructions.extend(told.pieces.into_iter().filter_map(|piece| piece.document));
    }
    Ok(Some(ArtifactLineage {
        run_id: made.task_run_id.clone(),
        job_id: made.task_id.clone(),
        thread_id: thread.map(rows::thread_id).transpose()?,
        turn_id: turn.map(rows::turn_id).transpose()?,
        instructions,
    }))
}

async fn read(ctx: Context, params: ArtifactReadParams) -> Result<ArtifactReadResponse, Failure> {
    let (workspace, artifact) = (params.workspace_id.as_str(), params.artifact_id.as_str());
    let version = params.version_id.as_ref().map(|version| version.as_str());
    let artifacts = ctx.store().artifacts();
    let found = ctx.artifact(workspace, artifact, version).await?;
    rows::check_ready(&found)?;
    let (offset, most) = (
        params.offset.unwrap_or(0),
        params
            .max_bytes
            .unwrap_or(limits::MAX_READ)
            .clamp(1, limits::MAX_READ),
    );
    let (sha256, total, content) = match params.projection_kind {
        None => (
            found.blob.sha256.clone(),
            found.blob.size_bytes,
            ReadSource::Blob(found.blob.clone()),
        ),
        Some(kind) => {
            let kind = rows::stored(kind)?;
            let projection = artifacts
                .projection(workspace, artifact, version, &kind)
                .await;
            let projection = projection.map_err(rows::failure)?;
            if projection.status != "ready" {
                let message = format!("the projection `{kind}` is {}", projection.status);
                return Err(Failure::state(FailureKind::NotReady, message)
                    .with("status", projection.status));
            }
            let sha256 = projection.sha256.unwrap_or_default();
            let content = match (projection.text_content, projection.blob_id) {
                (Some(text), _) => ReadSource::Text(text),
                (None, Some(blob)) => {
                    let blob = artifacts.blob(&blob).await;
                    ReadSource::Blob(blob.map_err(rows::failure)?)
                }
                (None, None) => ReadSource::Text(String::new()),
            };
            (sha256, projection.size_bytes.unwrap_or(0), content)
        }
    };
    let total = total.unsigned_abs();
    let offset = offset.min(total);
    let length = most.min(total - offset);
    let bytes = match content {
        ReadSource::Text(text) => {
            let range = usize::try_from(offset).unwrap_or(usize::MAX)
                ..usize::try_from(offset + length).unwrap_or(usize::MAX);
            text.as_bytes().get(range).unwrap_or_default().to_vec()
        }
        ReadSource::Blob(blob) => read_blob(&ctx, &blob, offset, length).await?,
    };
    Ok(ArtifactReadResponse {
        artifact: rows::artifact_ref(&found)?,
        offset,
        len: bytes.len() as u64,
        total_size_bytes: total,
        sha256,
        content_base64: BASE64.encode(&bytes),
        truncated: offset + length < total,
    })
}

/// Rejects an artifact that the caller may not see. Skips the query for callers that may see all artifacts.
async fn check_visible(
    ctx: &Context,
    workspace: &WorkspaceId,
    artifact: &ArtifactId,
) -> Result<(), Failure> {
    if ctx.principal().sees_run_outputs() {
        return Ok(());
    }
    ctx.artifact(workspace.as_str(), artifact.as_str(), None)
        .await
        .map(drop)
}

/// The content from which `artifact/read` returns a range.
enum ReadSource {
    Blob(artifact_blob::Model),
    /// A text projection, which is stored in the database.
    Text(String),
}

/// Reads a range of a blob after verifying its hash.
async fn read_blob(
    ctx: &Context,
    blob: &artifact_blob::Model,
    offset: u64,
    length: u64,
) -> Result<Vec<u8>, Failure> {
    let reader = ctx.services().artifacts.open_bytes(blob).await;
    let reader = reader.map_err(rows::artifact_failure)?;
    let length = usize::try_from(length).unwrap_or(usize::MAX);
    if length == 0 {
        return Ok(Vec::new());
    }
    blocking_or_incident(move || {
        let mut bytes = Vec::new();
        reader
            .append_range(offset, length, &mut bytes)
            .map(|()| bytes)
    })
    .await
}

async fn bind(ctx: Context, params: ArtifactBindParams) -> Result<ArtifactBindResponse, Failure> {
    let targets = BindTargets {
        thread_id: params.thread_id.clone().map(String::from),
        turn_id: params.turn_id.map(String::from),
        message_id: params.message_id.map(String::from),
        turn_item_id: params.turn_item_id,
        tool_call_id: params.tool_call_id,
        task_id: params.task_id,
        task_run_id: params.task_run_id,
    };
    if targets == BindTargets::default() {
        return Err(Failure::param(
            "",
            "expected at least one target, such as `thread_id`",
        ));
    }
    check_visible(&ctx, &params.workspace_id, &params.artifact_id).await?;
    let new = NewBinding {
        id: ctx.new_id::<BindingId>().into(),
        workspace_id: params.workspace_id.as_str().to_owned(),
        artifact_id: params.artifact_id.as_str().to_owned(),
        version_id: params.version_id.map(String::from),
        targets,
        binding_kind: rows::stored(params.binding_kind)?,
        direction: rows::stored(params.direction)?,
        item_index: params.item_index.map(i64::from),
        role: params.role.map(rows::stored).transpose()?,
        now: ctx.now(),
    };
    let row = ctx
        .store()
        .artifacts()
        .bind(new)
        .await
        .map_err(rows::failure)?;
    if let Some(thread) = params.thread_id {
        tell_thread(
            &ctx,
            &params.workspace_id,
            thread,
            params.artifact_id,
            "bind",
        );
    }
    let binding = rows::artifact_binding(row)?;
    Ok(ArtifactBindResponse { binding })
}

async fn delete(
    ctx: Context,
    params: ArtifactDeleteParams,
) -> Result<ArtifactDeleteResponse, Failure> {
    check_visible(&ctx, &params.workspace_id, &params.artifact_id).await?;
    let artifacts = ctx.store().artifacts();
    let deleted = artifacts
        .delete(
            params.workspace_id.as_str(),
            params.artifact_id.as_str(),
            ctx.now(),
        )
        .await;
    let deleted = deleted.map_err(rows::failure)?;
    if deleted.is_new {
        ctx.tell_workspace(
            &params.workspace_id,
            &ArtifactDeletedNotification {
                workspace_id: params.workspace_id.clone(),
                artifact_id: params.artifact_id.clone(),
                status: ArtifactStatus::Deleted,
                deleted_at: deleted.artifact.deleted_at.unwrap_or_default(),
            },
        );
        tell_threads(
            &ctx,
            &params.workspace_id,
            &deleted.thread_ids,
            &params.artifact_id,
            "delete",
        )?;
    }
    Ok(ArtifactDeleteResponse {
        artifact_id: params.artifact_id,
        status: ArtifactStatus::Deleted,
    })
}

async fn restore(
    ctx: Context,
    params: ArtifactRestoreParams,
) -> Result<ArtifactRestoreResponse, Failure> {
    let (workspace, artifact) = (params.workspace_id.as_str(), params.artifact_id.as_str());
    let artifacts = ctx.store().artifacts();
    let found = ctx.artifact(workspace, artifact, None).await?;
    let stored = &ctx.services().artifacts;
    let opened = stored.find_bytes(workspace, &found.blob.sha256).await;
    let bytes = match opened.map_err(rows::artifact_failure)? {
        Ok(_) => RestoredBytes::Intact,
        Err(blobs::Error::DamagedBlob(_) | blobs::Error::NotPlain { .. }) => RestoredBytes::Damaged,
        Err(blobs::Error::MissingBlob(_)) => RestoredBytes::Missing,
        Err(error) => return Err(Failure::incident(&error)),
    };
    let restored = artifacts
        .restore(workspace, artifact, bytes, stored.quota(), ctx.now())
        .await;
    let restored = restored.map_err(rows::failure)?;
    let detail = artifacts
        .get(workspace, artifact, None)
        .await
        .map_err(rows::failure)?;
    let is_output = crud::is_run_output(&detail.artifact);
    let summary = rows::artifact_summary(detail)?;
    let status = summary.artifact.status;
    let updated = ArtifactUpdatedNotification {
        workspace_id: params.workspace_id.clone(),
        artifact: summary,
    };
    ctx.publish(artifact_notifications::about(
        workspace, is_output, &updated,
    ));
    tell_threads(
        &ctx,
        &params.workspace_id,
        &restored.thread_ids,
        &params.artifact_id,
        "restore",
    )?;
    Ok(ArtifactRestoreResponse {
        artifact_id: params.artifact_id,
        status,
    })
}

async fn versions_list(
    ctx: Context,
    params: ArtifactVersionsListParams,
) -> Result<ArtifactVersionsListResponse, Failure> {
    let limit = page_size(params.limit, PAGE, MAX_PAGE)?;
    let cursor = params.cursor.as_deref().map(str::parse::<i64>).transpose();
    let before =
        cursor.map_err(|_| Failure::param("/cursor", "expected a `next_cursor` of this method"))?;
    check_visible(&ctx, &params.workspace_id, &params.artifact_id).await?;
    let artifacts = ctx.store().artifacts();
    let found = artifacts
        .versions(
            params.workspace_id.as_str(),
            params.artifact_id.as_str(),
            before,
            limit + 1,
        )
        .await;
    let mut found = found.map_err(rows::failure)?;
    let has_more = found.len() as u64 > limit;
    found.truncate(usize::try_from(limit).unwrap_or(usize::MAX));
    Ok(ArtifactVersionsListResponse {
        next_cursor: found
            .last()
            .filter(|_| has_more)
            .map(|(last, _)| last.version_number.to_string()),
        items: found
            .into_iter()
            .map(rows::artifact_version)
            .collect::<Result<_, _>>()?,
    })
}

async fn usage(
    ctx: Context,
    params: ArtifactUsageParams,
) -> Result<ArtifactUsageResponse, Failure> {
    let used = ctx
        .store()
        .artifacts()
        .usage(params.workspace_id.as_str())
        .await;
    let used = used.map_err(rows::failure)?;
    let quota = ctx.services().artifacts.quota();
    Ok(ArtifactUsageResponse {
        bytes: used.bytes.unsigned_abs(),
        files: used.files.unsigned_abs(),
        max_bytes: quota.max_bytes.unsigned_abs(),
        max_files: quota.max_files.unsigned_abs(),
        reclaimable_bytes: used.reclaimable_bytes.unsigned_abs(),
        stored_bytes: used.stored_bytes.unsigned_abs(),
        open_upload_bytes: used.open_upload_bytes.unsigned_abs(),
        max_stored_bytes: quota.max_stored_bytes.unsigned_abs(),
    })
}

/// Binds the artifacts of a turn's input to its user message and notifies the subscribers. The turn is already
/// accepted, so a binding that cannot be stored is only logged.
pub(super) async fn bind_input(
    ctx: &Context,
    workspace: &WorkspaceId,
    thread: &ThreadId,
    turn: &TurnId,
    inputs: Vec<(usize, ArtifactId, Option<String>)>,
) {
    let message = format!("user_{turn}");
    for (index, artifact, version) in inputs {
        let new = NewBinding {
            id: ctx.new_id::<BindingId>().into(),
            workspace_id: workspace.as_str().to_owned(),
            artifact_id: artifact.as_str().to_owned(),
            version_id: version,
            targets: BindTargets {
                thread_id: Some(thread.as_str().to_owned()),
                turn_id: Some(turn.as_str().to_owned()),
                message_id: Some(message.clone()),
                turn_item_id: Some(message.clone()),
                ..BindTargets::default()
            },
            binding_kind: "user_input".to_owned(),
            direction: "input".to_owned(),
            item_index: i64::try_from(index).ok(),
            role: Some("user".to_owned()),
            now: ctx.now(),
        };
        match ctx.store().artifacts().bind(new).await {
            Ok(_) => tell_thread(
                ctx,
                workspace,
                thread.clone(),
                artifact,
                "user_input_binding",
            ),
            Err(error) => {
                tracing::error!(%artifact, %turn, %error, "an artifact cannot be bound to its turn")
            }
        }
    }
}

fn tell_threads(
    ctx: &Context,
    workspace: &WorkspaceId,
    threads: &[String],
    artifact: &ArtifactId,
    reason: &str,
) -> Result<(), Failure> {
    for thread in threads {
        tell_thread(
            ctx,
            workspace,
            rows::thread_id(thread)?,
            artifact.clone(),
            reason,
        );
    }
    Ok(())
}

/// Notifies the subscribers of the workspace that the artifact list of a thread has changed. A client can show the list
/// without being subscribed to the thread.
fn tell_thread(
    ctx: &Context,
    workspace: &WorkspaceId,
    thread: ThreadId,
    artifact: ArtifactId,
    reason: &str,
) {
    let payload = ThreadArtifactsChangedNotification {
        workspace_id: workspace.clone(),
        thread_id: thread,
        artifact_ids: vec![artifact],
        reason: reason.to_owned(),
        generated_at: ctx.now(),
    };
    ctx.tell_workspace(workspace, &payload);
}
