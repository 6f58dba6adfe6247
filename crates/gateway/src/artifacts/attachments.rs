//! Provides artifacts to the turn loop as text, image or description, and stores images that a model generates.

use std::{
    future::Future,
    io::Read as _,
    pin::Pin,
    sync::{Arc, Weak},
    time::Duration,
};

use agent::{
    attachment::{
        AttachedContent, AttachedFile, AttachmentError, AttachmentRequest, AttachmentSource,
        GeneratedImage,
    },
    provider::Image,
};
use base64::{Engine as _, engine::general_purpose::STANDARD as BASE64};
use blobs::{
    key::{ContentHash, WorkspaceSegment},
    kind,
    store::BlobStore as _,
};
use crud::{ArtifactDetail, BindTargets, NewArtifact, NewOutput};
use entity::artifact_projection;
use protocol::artifact::ArtifactRef;
use rpc::Failure;
use serde_json::{Value, json};

use super::{limits, new_artifact, open_bytes, upload};
use crate::{Gateway, notify, rows};

/// The time a turn waits for the text of a PDF that is being extracted. The extractor gives up after 20 s.
const PROJECTION_PATIENCE: Duration = Duration::from_secs(25);

/// The implementation of [`AttachmentSource`] for the turns of this gateway.
#[derive(Clone, Debug)]
pub(crate) struct TurnAttachments(Weak<Gateway>);

impl TurnAttachments {
    pub(crate) fn new(gateway: Weak<Gateway>) -> Self {
        Self(gateway)
    }
}

impl AttachmentSource for TurnAttachments {
    fn read(
        &self,
        wanted: AttachmentRequest,
    ) -> Pin<Box<dyn Future<Output = Result<AttachedFile, AttachmentError>> + Send + '_>> {
        Box::pin(async move {
            let gateway = self.0.upgrade();
            let gateway = gateway
                .ok_or_else(|| AttachmentError::Unreadable("the gateway stops".to_owned()))?;
            read(&gateway, &wanted).await
        })
    }

    fn keep(
        &self,
        made: GeneratedImage,
    ) -> Pin<Box<dyn Future<Output = Result<ArtifactRef, AttachmentError>> + Send + '_>> {
        Box::pin(async move {
            let gateway = self.0.upgrade();
            let gateway = gateway
                .ok_or_else(|| AttachmentError::Unreadable("the gateway stops".to_owned()))?;
            keep(&gateway, made).await
        })
    }
}

/// Stores an image that a model generated as an artifact bound to its message.
async fn keep(
    gateway: &Arc<Gateway>,
    made: GeneratedImage,
) -> Result<ArtifactRef, AttachmentError> {
    let unkept = |reason: String| AttachmentError::Unreadable(reason);
    let worker = Arc::clone(gateway);
    let output = tokio::task::spawn_blocking(move || place(&worker, &made)).await;
    let output = output.map_err(|error| unreadable(&Failure::incident(&error)))?;
    let kept = gateway.store.artifacts().keep_output(output?).await;
    let kept = kept.map_err(|error| unreadable(&rows::failure(error)))?;
    if kept.is_new {
        gateway.artifacts.added(&kept.detail, false);
    }
    let (artifact, publications) =
        upload::announce(gateway, kept).map_err(|failure| unkept(failure.message().to_owned()))?;
    for publication in publications {
        notify::publish(gateway, &publication).await;
    }
    Ok(artifact)
}

/// Stores the bytes of a generated image. Blocks.
fn place(gateway: &Gateway, made: &GeneratedImage) -> Result<NewOutput, AttachmentError> {
    let unkept = |reason: &str| AttachmentError::Unreadable(reason.to_owned());
    let bytes = BASE64
        .decode(&*made.image.base64)
        .map_err(|_| unkept("its data is not base64"))?;
    if bytes.is_empty() || bytes.len() as u64 > limits::MAX_UPLOAD {
        return Err(unkept("it is empty or larger than 50 MiB"));
    }
    let workspace = WorkspaceSegment::new(&made.workspace_id);
    let committed = workspace
        .and_then(|workspace| gateway.artifacts.blobs().put(&workspace, &bytes))
        .map_err(|error| unreadable(&Failure::incident(&error)))?;
    let head = &bytes[..bytes.len().min(kind::HEAD_LENGTH)];
    let detected = kind::detect(head, "", Some(&made.image.mime_type));
    let mime = detected.mime.as_deref();
    let name = blobs::name::download_name(&format!("generated-image-{}", made.number), mime);
    let metadata = json!({"source_kind": "model_output", "model_provider": made.provider});
    let new = new_artifact(
        gateway,
        detected,
        committed.size,
        &name,
        &made.provider,
        &metadata,
    );
    let id = ContentHash::of(format!("{}/{}", made.turn_id, made.number).as_bytes()).to_string();
    Ok(NewOutput {
        workspace_id: made.workspace_id.clone(),
        sha256: committed.key.sha256().to_string(),
        size_bytes: i64::try_from(committed.size).unwrap_or(i64::MAX),
        targets: BindTargets {
            thread_id: Some(made.thread_id.clone()),
            turn_id: Some(made.turn_id.clone()),
            message_id: Some(made.item_id.clone()),
            turn_item_id: Some(made.item_id.clone()),
            ..BindTargets::default()
        },
        binding_kind: "agent_output",
        role: "assistant",
        new: NewArtifact {
            artifact_id: format!("art_{}", &id[..18]),
            kind: "generated_image".to_owned(),
            ..new
        },
        quota: gateway.artifacts.quota,
    })
}

async fn read(
    gateway: &Arc<Gateway>,
    wanted: &AttachmentRequest,
) -> Result<AttachedFile, AttachmentError> {
    let found = gateway
        .store
        .artifacts()
        .get(
            &wanted.workspace_id,
            &wanted.artifact_id,
            wanted.version_id.as_deref(),
        )
        .await;
    let found = match found {
        Ok(found) if found.artifact.status == "deleted" => return Err(AttachmentError::Deleted),
        Ok(found) => found,
        Err(crud::Error::UnknownArtifact(_) | crud::Error::UnknownArtifactVersion(_)) => {
            return Err(AttachmentError::Deleted);
        }
        Err(error) => return Err(unreadable(&rows::failure(error))),
    };
    rows::check_ready(&found).map_err(|failure| unreadable(&failure))?;
    let artifact = rows::artifact_ref(&found).map_err(|failure| unreadable(&failure))?;
    let content = content(gateway, &found, wanted).await?;
    Ok(AttachedFile { artifact, content })
}

async fn content(
    gateway: &Arc<Gateway>,
    found: &ArtifactDetail,
    wanted: &AttachmentRequest,
) -> Result<AttachedContent, AttachmentError> {
    let mime = found.version.mime_type.as_deref().unwrap_or_default();
    if mime.starts_with("image/") {
        return image(gateway, found, mime, wanted).await;
    }
    for kind in ["plain_text", "pdf_text"] {
        let projection = projection(gateway, found, kind).await?;
        let Some(projection) = projection else {
            continue;
        };
        if wanted.max_chars == 0 {
            let reason = "the files of this request are over their limit".to_owned();
            return Ok(AttachedContent::Omitted { reason });
        }
        return text(gateway, found, projection).await;
    }
    let reason = "the file is neither text nor a picture".to_owned();
    Ok(AttachedContent::Description { reason })
}

async fn image(
    gateway: &Arc<Gateway>,
    found: &ArtifactDetail,
    mime: &str,
    wanted: &AttachmentRequest,
) -> Result<AttachedContent, AttachmentError> {
    if !wanted.image_types.contains(&mime) {
        let reason = "the model provider takes no pictures of this type".to_owned();
        return Ok(AttachedContent::Description { reason });
    }
    let size = found.blob.size_bytes.unsigned_abs();
    if size > wanted.max_image_bytes {
        let reason = format!(
            "the picture has {size} bytes, and {} are allowed",
            wanted.max_image_bytes
        );
        return Ok(AttachedContent::Omitted { reason });
    }
    let mut reader = open_bytes(gateway, &found.blob)
        .await
        .map_err(|failure| unreadable(&failure))?;
    let encoded = tokio::task::spawn_blocking(move || {
        let mut bytes = Vec::new();
        reader.read_to_end(&mut bytes)?;
        Ok::<_, std::io::Error>(BASE64.encode(bytes))
    });
    let encoded = match encoded.await {
        Ok(Ok(encoded)) => encoded,
        Ok(Err(error)) => return Err(unreadable(&Failure::incident(&error))),
        Err(error) => return Err(unreadable(&Failure::incident(&error))),
    };
    Ok(AttachedContent::Image(Image {
        mime_type: mime.to_owned(),
        base64: encoded.into(),
    }))
}

/// Returns the text of a file that has, or will have, a text projection.
async fn text(
    gateway: &Arc<Gateway>,
    found: &ArtifactDetail,
    projection: artifact_projection::Model,
) -> Result<AttachedContent, AttachmentError> {
    if projection.status == "ready"
        && let Some(text) = projection.text_content
    {
        let metadata: Value = serde_json::from_str(&projection.metadata).unwrap_or_default();
        return Ok(AttachedContent::Text {
            text,
            is_complete: metadata["truncated"] != true,
        });
    }
    if projection.projection_kind != "plain_text" {
        let why = projection
            .error_class
            .unwrap_or_else(|| projection.status.clone());
        let reason = format!("its text could not be extracted: {why}");
        return Ok(AttachedContent::Description { reason });
    }
    // The projection may not be rendered yet, so its text is decoded from the file.
    let reader = open_bytes(gateway, &found.blob)
        .await
        .map_err(|failure| unreadable(&failure))?;
    let decoded = tokio::task::spawn_blocking(move || blobs::projection::decode_text(reader)).await;
    match decoded {
        Ok(Ok(decoded)) => Ok(AttachedContent::Text {
            text: decoded.text,
            is_complete: !decoded.is_truncated,
        }),
        Ok(Err(error)) => Err(unreadable(&Failure::incident(&error))),
        Err(error) => Err(unreadable(&Failure::incident(&error))),
    }
}

/// Returns a text projection of a version, or `None` if it has none. Waits while the text of a PDF is being extracted.
async fn projection(
    gateway: &Arc<Gateway>,
    found: &ArtifactDetail,
    kind: &str,
) -> Result<Option<artifact_projection::Model>, AttachmentError> {
    let find = || async {
        let artifacts = gateway.store.artifacts();
        let projection = artifacts
            .projection(
                &found.artifact.workspace_id,
                &found.artifact.id,
                Some(&found.version.id),
                kind,
            )
            .await;
        match projection {
            Ok(projection) => Ok(Some(projection)),
            Err(crud::Error::UnknownProjection { .. }) => Ok(None),
            Err(error) => Err(unreadable(&rows::failure(error))),
        }
    };
    let is_waited_for = kind == "pdf_text" && gateway.artifacts.makes_projections;
    let waiting = async {
        loop {
            // Registers before the query, so that no completion is missed in between.
            let projected = gateway.artifacts.projected.notified();
            let projection = find().await?;
            match &projection {
                Some(one) if is_waited_for && one.status == "pending" => projected.await,
                Some(_) | None => return Ok(projection),
            }
        }
    };
    match tokio::time::timeout(PROJECTION_PATIENCE, waiting).await {
        Ok(projection) => projection,
        // The projection is still pending; the model receives a description with that status.
        Err(_) => find().await,
    }
}

fn unreadable(failure: &Failure) -> AttachmentError {
    AttachmentError::Unreadable(failure.message().to_owned())
}
