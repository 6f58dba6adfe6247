//! Handlers of `artifact/upload/*`.

use artifacts::{Chunk, DeclaredHash, Rejection, limits};
use base64::{Engine as _, engine::general_purpose::STANDARD as BASE64};
use entity::artifact_upload_session as session;
use protocol::{UploadId, WorkspaceId, artifact::upload::*};
use rpc::{Failure, FailureKind, Router};

use crate::{Context, artifact_notifications, rows, uploads};

pub(in crate::methods) fn routes(router: &mut Router<Context>) {
    router
        .on::<ArtifactUploadStart>(start)
        .on::<ArtifactUploadChunk>(chunk)
        .on::<ArtifactUploadFinish>(finish)
        .on::<ArtifactUploadAbort>(abort)
        .on::<ArtifactUploadStatus>(status);
}

async fn start(
    ctx: Context,
    params: ArtifactUploadStartParams,
) -> Result<ArtifactUploadStartResponse, Failure> {
    let Some(place) = ctx.peer().starting_upload(limits::MAX_OPEN_UPLOADS) else {
        let message = format!(
            "this connection has {} open uploads",
            limits::MAX_OPEN_UPLOADS
        );
        return Err(Failure::state(FailureKind::Busy, message)
            .with("limit", limits::MAX_OPEN_UPLOADS)
            .hint("finish or abort one of them"));
    };
    let services = ctx.services();
    let started = uploads::start(services, ctx.principal().author(), params).await?;
    let upload_id = rows::upload_id(&started.session.id)?;
    place.opened(&upload_id);
    let next_offset = if started.is_new {
        None
    } else {
        Some(received(&ctx, started.session.clone()).await?)
    };
    Ok(ArtifactUploadStartResponse {
        upload_id,
        recommended_chunk_size_bytes: limits::RECOMMENDED_CHUNK,
        max_chunk_size_bytes: limits::MAX_CHUNK,
        max_size_bytes: limits::MAX_UPLOAD,
        expires_at_unix: started.session.expires_at,
        next_offset,
        already_present: started.present.map(|_| true),
    })
}

async fn chunk(
    ctx: Context,
    params: ArtifactUploadChunkParams,
) -> Result<ArtifactUploadChunkResponse, Failure> {
    // A longer text cannot encode a chunk within the limit, so it is not decoded.
    if params.content_base64.len() as u64 > limits::MAX_CHUNK.div_ceil(3) * 4 {
        let message = format!("expected at most {} bytes", limits::MAX_CHUNK);
        return Err(refused(Rejection::new("chunk_too_large", message)));
    }
    let bytes = BASE64.decode(&params.content_base64).map_err(|error| {
        let message = format!("expected base64 with padding: {error}");
        Failure::param("/content_base64", message)
    })?;
    let length = bytes.len() as u64;
    if let Some(expected) = params.len
        && expected != length
    {
        let message = format!("`len` is {expected}, `content_base64` has {length} bytes");
        return Err(refused(Rejection::new("length_mismatch", message)));
    }
    // Frames sent before this request precede its bytes.
    ctx.peer().frames_settled().await;
    let (upload_id, offset) = (params.upload_id, params.offset);
    let chunk = Chunk {
        workspace_id: params.workspace_id.into(),
        upload_id: upload_id.to_string(),
        owner: ctx.principal().author().into(),
        offset,
        bytes: bytes.into(),
        declared: params.chunk_sha256.map(|sha256| DeclaredHash {
            sha256,
            source: "`chunk_sha256`",
        }),
    };
    let accepted = ctx.services().artifacts.append_chunk(chunk).await;
    let accepted = accepted.map_err(rows::artifact_failure)?;
    let accepted = accepted.map_err(refused)?;
    Ok(ArtifactUploadChunkResponse {
        upload_id,
        offset,
        len: length,
        received_bytes: accepted.received,
        next_offset: accepted.received,
    })
}

/// Converts a rejected chunk to an RPC failure.
fn refused(rejection: Rejection) -> Failure {
    let failure = match rejection.kind {
        "hash_mismatch" => Failure::state(FailureKind::HashMismatch, rejection.message),
        "unknown_upload" => Failure::params(FailureKind::UnknownUpload, rejection.message)
            .with("path", "/upload_id"),
        "not_receiving" => {
            Failure::state(FailureKind::NotReady, rejection.message).with("status", "completed")
        }
        "chunk_too_large" => Failure::params(FailureKind::TooLarge, rejection.message)
            .with("path", "/content_base64")
            .with("limit", limits::MAX_CHUNK),
        "offset_mismatch" => Failure::param("/offset", rejection.message),
        "internal" => Failure::incident(&std::io::Error::other(rejection.message)),
        _ => Failure::param("/content_base64", rejection.message),
    };
    let failure = failure.with("rejection", rejection.kind);
    match rejection.next_offset {
        Some(next_offset) => failure.with("next_offset", next_offset),
        None => failure,
    }
}

async fn finish(
    ctx: Context,
    params: ArtifactUploadFinishParams,
) -> Result<ArtifactUploadFinishResponse, Failure> {
    // Frames sent before this request belong to the upload.
    ctx.peer().frames_settled().await;
    let session = find(&ctx, &params.workspace_id, &params.upload_id)
        .await
        .map_err(rows::failure)?;
    let artifacts = &ctx.services().artifacts;
    let author = ctx.principal().author();
    let finished = artifacts.finish_upload(session, author).await;
    let finished = finished.map_err(rows::artifact_failure)?;
    ctx.peer().upload_closed(&params.upload_id);
    let (artifact, publications) = artifact_notifications::announce(ctx.now(), finished)?;
    for publication in publications {
        ctx.publish(publication);
    }
    Ok(ArtifactUploadFinishResponse {
        upload_id: params.upload_id,
        artifact,
    })
}

async fn abort(
    ctx: Context,
    params: ArtifactUploadAbortParams,
) -> Result<ArtifactUploadAbortResponse, Failure> {
    ctx.peer().frames_settled().await;
    let found = find(&ctx, &params.workspace_id, &params.upload_id).await;
    let session = found.map_err(unknown_is_params)?;
    let aborted = ctx.services().artifacts.abort_upload(session).await;
    aborted.map_err(rows::artifact_failure)?;
    ctx.peer().upload_closed(&params.upload_id);
    Ok(ArtifactUploadAbortResponse {
        upload_id: params.upload_id,
        status: ArtifactUploadAbortStatus::Aborted,
    })
}

async fn status(
    ctx: Context,
    params: ArtifactUploadStatusParams,
) -> Result<ArtifactUploadStatusResponse, Failure> {
    ctx.peer().frames_settled().await;
    let found = find(&ctx, &params.workspace_id, &params.upload_id).await;
    let session = found.map_err(unknown_is_params)?;
    let (status, received, artifact) = match &session.artifact_id {
        None => (
            ArtifactUploadSessionStatus::Receiving,
            received(&ctx, session.clone()).await?,
            None,
        ),
        Some(artifact_id) => {
            let detail = ctx
                .store()
                .artifacts()
                .get(
                    params.workspace_id.as_str(),
                    artifact_id,
                    session.version_id.as_deref(),
                )
                .await;
            let artifact = rows::artifact_ref(&detail.map_err(rows::failure)?)?;
            let size = session.size_bytes.unsigned_abs();
            (ArtifactUploadSessionStatus::Completed, size, Some(artifact))
        }
    };
    Ok(ArtifactUploadStatusResponse {
        upload_id: params.upload_id,
        status,
        received_bytes: received,
        next_offset: received,
        expires_at_unix: session.expires_at,
        artifact,
    })
}

async fn received(ctx: &Context, session: session::Model) -> Result<u64, Failure> {
    let received = ctx.services().artifacts.received(session).await;
    received.map_err(rows::artifact_failure)
}

async fn find(
    ctx: &Context,
    workspace: &WorkspaceId,
    upload: &UploadId,
) -> Result<session::Model, crud::Error> {
    let (owner, now) = (ctx.principal().author(), ctx.now());
    let artifacts = ctx.store().artifacts();
    artifacts
        .upload(workspace.as_str(), upload.as_str(), owner, now)
        .await
}

fn unknown_is_params(error: crud::Error) -> Failure {
    let crud::Error::UnknownUpload(_) = error else {
        return rows::failure(error);
    };
    Failure::params(FailureKind::UnknownUpload, error.to_string()).with("path", "/upload_id")
}
