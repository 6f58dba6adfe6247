//! Starts uploads, for all transports: validates the params and creates the session.

use artifacts::limits;
use crud::UploadStarted;
use entity::artifact_upload_session as session;
use protocol::{UploadId, artifact::upload::ArtifactUploadStartParams};
use rpc::{Failure, FailureKind};

use crate::{rows, services::Services};

/// Starts an upload, or returns the identical upload that is already open.
pub(crate) async fn start(
    services: &Services,
    owner: &str,
    params: ArtifactUploadStartParams,
) -> Result<UploadStarted, Failure> {
    check(&params)?;
    let now = services.sources.clock.now();
    let session = session::Model {
        id: services.sources.id::<UploadId>().into(),
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
    let started = services.artifacts.start_upload(session).await;
    started.map_err(rows::artifact_failure)
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
    if is_hash {
        Ok(())
    } else {
        Err(Failure::param(
            "/sha256",
            "expected 64 lower-case hexadecimal characters",
        ))
    }
}
