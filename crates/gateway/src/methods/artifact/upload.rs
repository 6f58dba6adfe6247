//! `artifact/upload/*`

use std::sync::Arc;

use crud::NewUpload;
use entity::artifact_upload_session as session;
use protocol::{
    UploadId, WorkspaceId,
    artifact::{ArtifactCreatedNotification, upload::*},
};
use rpc::{Failure, Kind, Router};

use super::tell_thread;
use crate::{Context, artifacts, artifacts::limits, rows};

pub(in crate::methods) fn routes(router: &mut Router<Context>) {
    router
        .on::<ArtifactUploadStart>(start)
        .on::<ArtifactUploadFinish>(finish)
        .on::<ArtifactUploadAbort>(abort)
        .on::<ArtifactUploadStatus>(status);
}

async fn start(
    ctx: Context,
    params: ArtifactUploadStartParams,
) -> Result<ArtifactUploadStartResponse, Failure> {
    check(&params)?;
    if ctx.peer().open_uploads() >= limits::MAX_OPEN_UPLOADS {
        let message = format!(
            "this connection has {} open uploads",
            limits::MAX_OPEN_UPLOADS
        );
        return Err(Failure::state(Kind::Busy, message)
            .with("limit", limits::MAX_OPEN_UPLOADS)
            .hint("finish or abort one of them"));
    }
    let now = ctx.now();
    let wanted = session::Model {
        id: ctx.new_id::<UploadId>().into(),
        workspace_id: params.workspace_id.as_str().to_owned(),
        owner: ctx.principal().author().to_owned(),
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
    };
    let new = NewUpload {
        session: wanted,
        max_bytes: limits::MAX_BYTES,
        max_files: limits::MAX_FILES,
    };
    let started = ctx
        .store()
        .artifacts()
        .start_upload(new)
        .await
        .map_err(rows::failure)?;
    let upload_id = rows::upload_id(&started.session.id)?;
    ctx.peer().upload_opened(&upload_id);
    let next_offset = match started.is_new {
        true => None,
        false => Some(received(&ctx, started.session.clone()).await?),
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

async fn finish(
    ctx: Context,
    params: ArtifactUploadFinishParams,
) -> Result<ArtifactUploadFinishResponse, Failure> {
    // Frames sent before this request belong to the upload.
    ctx.peer().frames_settled().await;
    let session = find(&ctx, &params.workspace_id, &params.upload_id)
        .await
        .map_err(rows::failure)?;
    let finished =
        artifacts::finish(&ctx.peer().gateway, session, ctx.principal().author()).await?;
    ctx.peer().upload_closed(&params.upload_id);
    let thread = finished.detail.artifact.primary_thread_id.clone();
    let summary = rows::artifact_summary(finished.detail)?;
    let artifact = summary.artifact.clone();
    if finished.is_new {
        let created = ArtifactCreatedNotification {
            workspace_id: params.workspace_id.clone(),
            artifact: summary,
        };
        match thread {
            None => ctx.tell_workspace(&params.workspace_id, &created),
            Some(thread) => {
                let thread = rows::thread_id(&thread)?;
                ctx.tell_thread(&params.workspace_id, &thread, &created);
                let id = artifact.artifact_id.clone();
                tell_thread(&ctx, &params.workspace_id, thread, id, "user_upload");
            }
        }
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
    let gateway = Arc::clone(&ctx.peer().gateway);
    let discarded = tokio::task::spawn_blocking(move || gateway.artifacts.discard(&session)).await;
    match discarded {
        Ok(Ok(())) => {}
        Ok(Err(error)) => return Err(Failure::incident(&error)),
        Err(error) => return Err(Failure::incident(&error)),
    }
    let removed = ctx
        .store()
        .artifacts()
        .remove_upload(params.upload_id.as_str())
        .await;
    removed.map_err(rows::failure)?;
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
                .get(params.workspace_id.as_str(), artifact_id, None)
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

async fn received(ctx: &Context, session: session::Model) -> Result<u64, Failure> {
    let gateway = Arc::clone(&ctx.peer().gateway);
    let received = tokio::task::spawn_blocking(move || gateway.artifacts.received(&session)).await;
    match received {
        Ok(Ok(received)) => Ok(received),
        Ok(Err(error)) => Err(Failure::incident(&error)),
        Err(error) => Err(Failure::incident(&error)),
    }
}

fn unknown_is_params(error: crud::Error) -> Failure {
    let crud::Error::UnknownUpload(_) = error else {
        return rows::failure(error);
    };
    Failure::params(Kind::UnknownUpload, error.to_string()).with("path", "/upload_id")
}

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
        return Err(Failure::params(Kind::TooLarge, message)
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
