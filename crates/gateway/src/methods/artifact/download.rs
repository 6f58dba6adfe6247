//! Handlers of `artifact/download/*`.

use std::sync::Arc;

use artifacts::{chunk_hashes, limits};
use base64::{Engine as _, engine::general_purpose::STANDARD as BASE64};
use protocol::{DownloadId, artifact::download::*};
use rpc::{Failure, FailureKind, Router};

use crate::{
    Context,
    blocking::{blocking, blocking_or_incident},
    frames,
    peer::Download,
    rows, sha256_hex,
};

pub(in crate::methods) fn routes(router: &mut Router<Context>) {
    router
        .on::<ArtifactDownloadStart>(start)
        .on::<ArtifactDownloadChunk>(chunk)
        .on::<ArtifactDownloadFinish>(finish)
        .on::<ArtifactDownloadAbort>(abort);
}

async fn start(
    ctx: Context,
    params: ArtifactDownloadStartParams,
) -> Result<ArtifactDownloadStartResponse, Failure> {
    let version = params.version_id.as_ref().map(|version| version.as_str());
    let (workspace, artifact) = (params.workspace_id.as_str(), params.artifact_id.as_str());
    let found = ctx.artifact(workspace, artifact, version).await?;
    rows::check_ready(&found)?;
    let artifact = rows::artifact_ref(&found)?;
    let chunk_hashes = ctx.store().artifacts().chunk_hashes(&found.blob.id).await;
    let reader = ctx.services().artifacts.open_bytes(&found.blob).await;
    let reader = reader.map_err(rows::artifact_failure)?;
    let checked_at = ctx.now();
    let expires_at = checked_at + limits::SESSION_SECONDS;
    let download = Download {
        workspace_id: params.workspace_id,
        artifact_id: params.artifact_id,
        version_id: rows::version_id(&found.version.id)?,
        size: reader.size(),
        blob: Arc::new(reader),
        blob_row: found.blob.clone(),
        chunk_hashes: chunk_hashes.map_err(rows::failure)?.map(Arc::new),
        checked_at,
        expires_at,
        progress: Arc::default(),
    };
    let download_id: DownloadId = ctx.new_id();
    if !ctx
        .peer()
        .download_opened(&download_id, download, ctx.now())
    {
        let message = format!(
            "{} downloads of this workspace are open on this connection",
            limits::MAX_DOWNLOADS
        );
        return Err(Failure::state(FailureKind::Busy, message)
            .with("limit", limits::MAX_DOWNLOADS)
            .hint("finish or abort one of them"));
    }
    let preferred = params
        .preferred_chunk_size_bytes
        .unwrap_or(limits::RECOMMENDED_CHUNK);
    Ok(ArtifactDownloadStartResponse {
        download_id,
        file_name: blobs::name::download_name(
            &artifact.display_name,
            artifact.mime_type.as_deref(),
        ),
        artifact,
        size_bytes: found.blob.size_bytes.unsigned_abs(),
        sha256: found.blob.sha256,
        recommended_chunk_size_bytes: preferred.clamp(1, limits::MAX_CHUNK),
        max_chunk_size_bytes: limits::MAX_CHUNK,
        expires_at_unix: expires_at,
    })
}

async fn chunk(
    ctx: Context,
    params: ArtifactDownloadChunkParams,
) -> Result<ArtifactDownloadChunkResponse, Failure> {
    let download = find(&ctx, &params.workspace_id, &params.download_id).await?;
    let (offset, length, size) = (params.offset, params.len, download.size);
    let end = offset.checked_add(length);
    if length == 0 || length > limits::MAX_CHUNK || end.is_none_or(|end| end > size) {
        let message = format!(
            "expected a range of 1 to {} bytes within {size}, found {length} at {offset}",
            limits::MAX_CHUNK
        );
        return Err(Failure::param("/len", message));
    }
    check_unchanged(&ctx, &download).await?;
    let is_last = end == Some(size);
    let mut answer = ArtifactDownloadChunkResponse {
        download_id: params.download_id.clone(),
        offset,
        len: length,
        queued: true,
        content_base64: None,
        chunk_sha256: None,
        final_chunk: None,
    };
    if ctx.peer().outbox().carries_frames() {
        let header = ArtifactDownloadChunkHeader {
            workspace_id: params.workspace_id,
            download_id: params.download_id.clone(),
            artifact_id: download.artifact_id.clone(),
            version_id: download.version_id.clone(),
            offset,
            len: length,
            total_size_bytes: size,
            chunk_sha256: hash_of(&download, offset, length).await?,
            final_chunk: is_last,
        };
        let frame = frames::download_frame(&header, &download.blob);
        ctx.frame_before_answer(frame.map_err(|error| Failure::incident(&error))?);
    } else {
        let bytes = read(&download, offset, length).await?;
        answer.queued = false;
        answer.chunk_sha256 = Some(sha256_hex(&bytes));
        answer.content_base64 = Some(BASE64.encode(&bytes));
        answer.final_chunk = Some(is_last);
    }
    if let Some(sent) = download.progress.sent(length, size) {
        ctx.tell_droppable(&ArtifactDownloadProgressNotification {
            workspace_id: download.workspace_id,
            download_id: params.download_id.clone(),
            artifact_id: download.artifact_id,
            received_bytes: sent,
            total_size_bytes: size,
        });
    }
    Ok(answer)
}

/// Verifies the bytes of a download again if the file was changed since it was opened, and rejects damaged bytes.
async fn check_unchanged(ctx: &Context, download: &Download) -> Result<(), Failure> {
    if download.blob.is_unchanged() {
        return Ok(());
    }
    let blob = Arc::clone(&download.blob);
    match blocking(move || blob.verify_again()).await? {
        Ok(()) => Ok(()),
        Err(error) => {
            let artifacts = &ctx.services().artifacts;
            let error = artifacts.not_served(&download.blob_row, error).await;
            Err(rows::artifact_failure(error))
        }
    }
}

async fn read(download: &Download, offset: u64, length: u64) -> Result<Vec<u8>, Failure> {
    let blob = Arc::clone(&download.blob);
    let length = usize::try_from(length).unwrap_or(usize::MAX);
    blocking_or_incident(move || {
        let mut bytes = Vec::new();
        blob.append_range(offset, length, &mut bytes)
            .map(|()| bytes)
    })
    .await
}

/// Returns the hash of a range of a download, stored or computed. In both cases the bytes are in the page cache
/// afterwards, so that sending them does not wait for the disk.
async fn hash_of(download: &Download, offset: u64, length: u64) -> Result<String, Failure> {
    let known = match &download.chunk_hashes {
        _ if length == download.size => Some(download.blob_row.sha256.clone()),
        Some(chunks) => chunk_hashes::of_range(chunks, download.size, offset, length),
        None => None,
    };
    // Checking longer ranges for presence in memory would take too long.
    let is_short = length <= limits::RECOMMENDED_CHUNK;
    let length = usize::try_from(length).unwrap_or(usize::MAX);
    if let Some(known) = &known
        && is_short
        && download.blob.is_in_memory(offset, length)
    {
        return Ok(known.clone());
    }
    let blob = Arc::clone(&download.blob);
    blocking_or_incident(move || match known {
        Some(known) => blob.read_ahead(offset, length).map(|()| known),
        None => Ok(blob.hash_range(offset, length)?.to_string()),
    })
    .await
}

async fn finish(
    ctx: Context,
    params: ArtifactDownloadFinishParams,
) -> Result<ArtifactDownloadFinishResponse, Failure> {
    find(&ctx, &params.workspace_id, &params.download_id).await?;
    ctx.peer().download_closed(&params.download_id);
    Ok(ArtifactDownloadFinishResponse {
        download_id: params.download_id,
        status: ArtifactDownloadEndStatus::Finished,
    })
}

async fn abort(
    ctx: Context,
    params: ArtifactDownloadAbortParams,
) -> Result<ArtifactDownloadAbortResponse, Failure> {
    find(&ctx, &params.workspace_id, &params.download_id).await?;
    ctx.peer().download_closed(&params.download_id);
    Ok(ArtifactDownloadAbortResponse {
        download_id: params.download_id,
        status: ArtifactDownloadEndStatus::Aborted,
    })
}

/// Returns a download of this connection and workspace that has not expired.
async fn find(
    ctx: &Context,
    workspace: &protocol::WorkspaceId,
    download: &DownloadId,
) -> Result<Download, Failure> {
    let now = ctx.now();
    let found = ctx.peer().download(download, now);
    let found = found.filter(|found| found.workspace_id == *workspace);
    // The workspace is checked in the database at most once per second.
    if found.as_ref().map(|found| found.checked_at) != Some(now) {
        let known = ctx.store().workspaces().get(workspace.as_str()).await;
        known.map_err(rows::failure)?;
        if found.is_some() {
            ctx.peer().download_checked(download, now);
        }
    }
    found.ok_or_else(|| {
        let message = format!("there is no download `{download}`");
        Failure::params(FailureKind::UnknownDownload, message).with("path", "/download_id")
    })
}
