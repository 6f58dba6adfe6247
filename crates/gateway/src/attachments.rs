//! Provides artifacts to the turn loop as text, image or description, and stores images that a model generates.

use std::{future::Future, io::Read as _, pin::Pin, sync::Arc, time::Duration};

use agent::{
    attachment::{
        AttachedContent, AttachedFile, AttachmentError, AttachmentRequest, AttachmentSource,
        GeneratedImage,
    },
    provider::Image,
};
use artifacts::{Artifacts, OutputFile, limits};
use base64::{Engine as _, engine::general_purpose::STANDARD as BASE64};
use blobs::{key::ContentHash, kind};
use crud::{ArtifactDetail, BindTargets, CrudStore};
use entity::artifact_projection;
use protocol::artifact::ArtifactRef;
use rpc::Failure;
use serde_json::{Value, json};

use crate::{
    artifact_notifications::ArtifactNotifications,
    blocking::{blocking, blocking_or_incident},
    rows,
};

/// The time a turn waits for the text of a PDF that is being extracted. The extractor gives up after 20 s.
const PROJECTION_PATIENCE: Duration = Duration::from_secs(25);

/// The implementation of [`AttachmentSource`] for the turns of this gateway.
#[derive(Clone, Debug)]
pub(crate) struct TurnAttachments {
    pub(crate) store: CrudStore,
    pub(crate) artifacts: Arc<Artifacts>,
    pub(crate) notifications: ArtifactNotifications,
}

impl AttachmentSource for TurnAttachments {
    fn read(
        &self,
        request: AttachmentRequest,
    ) -> Pin<Box<dyn Future<Output = Result<AttachedFile, AttachmentError>> + Send + '_>> {
        Box::pin(async move { self.read_artifact(&request).await })
    }

    fn keep(
        &self,
        made: GeneratedImage,
    ) -> Pin<Box<dyn Future<Output = Result<ArtifactRef, AttachmentError>> + Send + '_>> {
        Box::pin(self.keep_image(made))
    }
}

/// Decodes a generated image and describes it as an artifact bound to its message. Blocks.
fn image_file(made: &GeneratedImage) -> Result<OutputFile, AttachmentError> {
    let unkept = |reason: &str| AttachmentError::Unreadable(reason.to_owned());
    let bytes = BASE64
        .decode(&*made.image.base64)
        .map_err(|_| unkept("its data is not base64"))?;
    if bytes.is_empty() || bytes.len() as u64 > limits::MAX_UPLOAD {
        return Err(unkept("it is empty or larger than 50 MiB"));
    }
    let head = &bytes[..bytes.len().min(kind::HEAD_LENGTH)];
    let detected = kind::detect(head, "", Some(&made.image.mime_type));
    let mime = detected.mime.as_deref();
    let id = ContentHash::of(format!("{}/{}", made.turn_id, made.number).as_bytes()).to_string();
    Ok(OutputFile {
        artifact_id: format!("art_{}", &id[..18]),
        kind: Some("generated_image"),
        workspace_id: made.workspace_id.clone(),
        file_name: blobs::name::download_name(&format!("generated-image-{}", made.number), mime),
        bytes,
        detected,
        author: made.provider.clone(),
        metadata: json!({"source_kind": "model_output", "model_provider": made.provider}),
        targets: BindTargets {
            thread_id: Some(made.thread_id.clone()),
            turn_id: Some(made.turn_id.clone()),
            message_id: Some(made.item_id.clone()),
            turn_item_id: Some(made.item_id.clone()),
            ..BindTargets::default()
        },
        binding_kind: "agent_output",
        role: "assistant",
    })
}

impl TurnAttachments {
    /// Stores an image that a model generated as an artifact bound to its message.
    async fn keep_image(&self, made: GeneratedImage) -> Result<ArtifactRef, AttachmentError> {
        let output = blocking(move || image_file(&made)).await;
        let output = output.map_err(|failure| unreadable(&failure))?;
        let kept = self.artifacts.keep_output(output?).await;
        let kept = kept.map_err(|error| unreadable(&rows::artifact_failure(error)))?;
        let artifact = self.notifications.publish_finished(kept).await;
        artifact.map_err(|failure| unreadable(&failure))
    }

    async fn read_artifact(
        &self,
        request: &AttachmentRequest,
    ) -> Result<AttachedFile, AttachmentError> {
        let found = self
            .store
            .artifacts()
            .get(
                &request.workspace_id,
                &request.artifact_id,
                request.version_id.as_deref(),
            )
            .await;
        let found = match found {
            Ok(found) if found.artifact.status == "deleted" => {
                return Err(AttachmentError::Deleted);
            }
            Ok(found) => found,
            Err(crud::Error::UnknownArtifact(_) | crud::Error::UnknownArtifactVersion(_)) => {
                return Err(AttachmentError::Deleted);
            }
            Err(error) => return Err(unreadable(&rows::failure(error))),
        };
        rows::check_ready(&found).map_err(|failure| unreadable(&failure))?;
        let artifact = rows::artifact_ref(&found).map_err(|failure| unreadable(&failure))?;
        let content = self.content(&found, request).await?;
        Ok(AttachedFile { artifact, content })
    }

    async fn content(
        &self,
        found: &ArtifactDetail,
        request: &AttachmentRequest,
    ) -> Result<AttachedContent, AttachmentError> {
        let mime = found.version.mime_type.as_deref().unwrap_or_default();
        if mime.starts_with("image/") {
            return self.image(found, mime, request).await;
        }
        for kind in ["plain_text", "pdf_text"] {
            let projection = self.projection(found, kind).await?;
            let Some(projection) = projection else {
                continue;
            };
            if request.max_chars == 0 {
                let reason = "the files of this request are over their limit".to_owned();
                return Ok(AttachedContent::Omitted { reason });
            }
            return self.text(found, projection).await;
        }
        let reason = "the file is neither text nor a picture".to_owned();
        Ok(AttachedContent::Description { reason })
    }

    async fn image(
        &self,
        found: &ArtifactDetail,
        mime: &str,
        request: &AttachmentRequest,
    ) -> Result<AttachedContent, AttachmentError> {
        if !request.image_types.contains(&mime) {
            let reason = "the model provider takes no pictures of this type".to_owned();
            return Ok(AttachedContent::Description { reason });
        }
        let size = found.blob.size_bytes.unsigned_abs();
        if size > request.max_image_bytes {
            let reason = format!(
                "the picture has {size} bytes, and {} are allowed",
                request.max_image_bytes
            );
            return Ok(AttachedContent::Omitted { reason });
        }
        let mut reader = self
            .artifacts
            .open_bytes(&found.blob)
            .await
            .map_err(|error| unreadable(&rows::artifact_failure(error)))?;
        let encoded = blocking_or_incident(move || {
            let mut bytes = Vec::new();
            reader.read_to_end(&mut bytes)?;
            Ok::<_, std::io::Error>(BASE64.encode(bytes))
        });
        let encoded = encoded.await.map_err(|failure| unreadable(&failure))?;
        Ok(AttachedContent::Image(Image {
            mime_type: mime.to_owned(),
            base64: encoded.into(),
        }))
    }

    /// Returns the text of a file that has, or will have, a text projection.
    async fn text(
        &self,
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
        let reader = self
            .artifacts
            .open_bytes(&found.blob)
            .await
            .map_err(|error| unreadable(&rows::artifact_failure(error)))?;
        let decoded = blocking_or_incident(move || blobs::projection::decode_text(reader)).await;
        let decoded = decoded.map_err(|failure| unreadable(&failure))?;
        Ok(AttachedContent::Text {
            text: decoded.text,
            is_complete: !decoded.is_truncated,
        })
    }

    /// Returns a text projection of a version, or `None` if it has none. Waits while the text of a PDF is being extracted.
    async fn projection(
        &self,
        found: &ArtifactDetail,
        kind: &str,
    ) -> Result<Option<artifact_projection::Model>, AttachmentError> {
        let projection = if kind == "pdf_text" {
            // If the projection is still pending then, the model receives a description with that status.
            self.artifacts
                .awaited_projection(found, kind, PROJECTION_PATIENCE)
                .await
        } else {
            let (row, version) = (&found.artifact, Some(found.version.id.as_str()));
            let artifacts = self.store.artifacts();
            artifacts
                .projection(&row.workspace_id, &row.id, version, kind)
                .await
        };
        match projection {
            Ok(projection) => Ok(Some(projection)),
            Err(crud::Error::UnknownProjection { .. }) => Ok(None),
            Err(error) => Err(unreadable(&rows::failure(error))),
        }
    }
}

fn unreadable(failure: &Failure) -> AttachmentError {
    AttachmentError::Unreadable(failure.message().to_owned())
}
