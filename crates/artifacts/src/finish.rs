//! Makes artifacts: from complete uploads, and from files that were made here.

use std::sync::Arc;

use blobs::{
    key::WorkspaceSegment,
    kind::{self, ContentKind, Detected},
    name,
    store::{BlobStore as _, PayloadHash},
};
use crud::{
    ArtifactDetail, BindTargets, ChunkHashes, FinishUpload, FinishedUpload, NewArtifact, NewOutput,
};
use entity::artifact_upload_session as session;
use serde_json::json;

use super::{Artifacts, Error, blocking::blocking, key, limits, segments};

/// A file that was made here and becomes an artifact, such as the output of a run.
#[derive(Clone, Debug)]
pub struct OutputFile {
    /// The id of the artifact. It is derived from the origin of the file, so that no file is stored twice.
    pub artifact_id: String,
    /// The kind of the artifact; `None` to derive it from the content.
    pub kind: Option<&'static str>,
    /// The id of the workspace.
    pub workspace_id: String,
    /// The name of the file.
    pub file_name: String,
    /// The content.
    pub bytes: Vec<u8>,
    /// The detected content type of the bytes.
    pub detected: Detected,
    /// The name of the agent or provider that made the file.
    pub author: String,
    /// The metadata of the artifact, a JSON object.
    pub metadata: serde_json::Value,
    /// The thread, turn, job and run that the artifact is bound to.
    pub targets: BindTargets,
    /// The purpose of the binding: `task_result` or `agent_output`.
    pub binding_kind: &'static str,
    /// The role of the binding: `task` or `assistant`.
    pub role: &'static str,
}

impl Artifacts {
    /// Creates an artifact from a complete upload. A repeated call returns the same artifact.
    pub async fn finish_upload(
        self: &Arc<Self>,
        session: session::Model,
        author: &str,
    ) -> Result<FinishedUpload, Error> {
        if let Some(artifact_id) = &session.artifact_id {
            let artifacts = self.store.artifacts();
            let version = session.version_id.as_deref();
            let detail = artifacts.get(&session.workspace_id, artifact_id, version);
            return Ok(FinishedUpload {
                detail: detail.await?,
                is_new: false,
                healed: Vec::new(),
            });
        }
        let (artifacts, placing) = (Arc::clone(self), session.clone());
        let placed = blocking(move || artifacts.put_in_place(&placing)).await?;
        if let Err(Error::HashMismatch(_)) = &placed {
            // Bytes with a wrong hash cannot be repaired, so the upload is aborted.
            self.abort_upload(session.clone()).await?;
        }
        let finished = self.record(&session, placed?, author).await?;
        self.open.forget(&session.id);
        Ok(finished)
    }

    /// Verifies the uploaded bytes, moves them to their final location and detects their content type. Blocks.
    fn put_in_place(&self, session: &session::Model) -> Result<StoredUpload, Error> {
        let blob = key(&session.workspace_id, &session.sha256)?;
        let size = session.size_bytes.unsigned_abs();
        let entry = self.open.entry(&session.id);
        // A concurrent call for the same upload waits here and then finds the blob in place.
        let mut open = entry.lock();
        // `keep` protects the blob from collection until it is recorded and verifies its hash. Damaged bytes are
        // replaced by those of the upload.
        let is_present = self.blobs.keep(&blob, size).unwrap_or(false);
        let (workspace, segment) = segments(session)?;
        let mut chunk_hashes = None;
        if !is_present {
            if open.is_closed {
                return Err(Error::UnknownUpload(session.id.clone()));
            }
            let upload = match size {
                // Empty uploads receive no chunk, so their file does not exist yet.
                0 => Some(open.file(&self.blobs, session)?),
                _ => open.existing(&self.blobs, session)?,
            };
            let received = upload.as_ref().map_or(0, |upload| upload.received());
            let Some(upload) = upload.filter(|_| received == size) else {
                return Err(Error::Incomplete {
                    upload_id: session.id.clone(),
                    received,
                    size,
                });
            };
            let digest = upload.finish()?;
            let committed = self.blobs.commit_upload(
                &workspace,
                &segment,
                size,
                blob.sha256(),
                PayloadHash::Running(digest),
            );
            match committed {
                // Another process may have stored different bytes than those the chunk hashes were computed from.
                Ok(_) if digest.sha256 == blob.sha256() => chunk_hashes = open.chunk_hashes.take(),
                Ok(_) => {}
                Err(blobs::Error::HashMismatch { .. } | blobs::Error::SizeMismatch { .. }) => {
                    return Err(Error::HashMismatch(session.id.clone()));
                }
                Err(error) => return Err(error.into()),
            }
        }
        open.close();
        drop(open);
        self.blobs.remove_upload(&workspace, &segment)?;
        let start = self.blobs.read_range(&blob, 0, kind::HEAD_LENGTH as u64)?;
        Ok(StoredUpload {
            detected: kind::detect(&start, &session.file_name, session.mime_type.as_deref()),
            chunk_hashes: chunk_hashes.and_then(|collected| collected.of_all(size)),
        })
    }

    async fn record(
        &self,
        session: &session::Model,
        placed: StoredUpload,
        author: &str,
    ) -> Result<FinishedUpload, Error> {
        let StoredUpload {
            detected,
            chunk_hashes,
        } = placed;
        let metadata = json!({
            "client_attachment_id": session.client_attachment_id,
            "upload_id": session.id,
            "source_kind": session.source_kind,
            "declared_mime_type": session.mime_type,
            "detected_mime_type": detected.detected,
            "mime_mismatch": detected.mismatch,
        });
        let size = session.size_bytes.unsigned_abs();
        let has_chunk_hashes = chunk_hashes.is_some();
        let (kind, created_by_kind) = produced(&session.source_kind, detected.kind);
        let new = self.new_artifact(detected, size, &session.file_name, author, &metadata);
        let finish = FinishUpload {
            upload_id: session.id.clone(),
            created_by_kind,
            new: NewArtifact {
                chunk_hashes,
                kind: kind.to_owned(),
                ..new
            },
            quota: self.quota,
        };
        let finished = self.store.artifacts().finish_upload(finish).await?;
        if finished.is_new {
            self.added(&finished.detail, has_chunk_hashes);
        }
        Ok(finished)
    }

    /// Stores a file that was made here as an artifact.
    pub async fn keep_output(
        self: &Arc<Self>,
        output: OutputFile,
    ) -> Result<FinishedUpload, Error> {
        let artifacts = Arc::clone(self);
        let output = blocking(move || artifacts.put_output(output)).await??;
        let kept = self.store.artifacts().keep_output(output).await?;
        if kept.is_new {
            self.added(&kept.detail, false);
        }
        Ok(kept)
    }

    /// Stores the bytes of an output in the blob store. Blocks.
    fn put_output(&self, output: OutputFile) -> Result<NewOutput, blobs::Error> {
        let workspace = WorkspaceSegment::new(&output.workspace_id)?;
        let committed = self.blobs.put(&workspace, &output.bytes)?;
        let new = self.new_artifact(
            output.detected,
            committed.size,
            &output.file_name,
            &output.author,
            &output.metadata,
        );
        Ok(NewOutput {
            workspace_id: output.workspace_id,
            sha256: committed.key.sha256().to_string(),
            size_bytes: i64::try_from(committed.size).unwrap_or(i64::MAX),
            targets: output.targets,
            binding_kind: output.binding_kind,
            role: output.role,
            new: NewArtifact {
                artifact_id: output.artifact_id,
                kind: output.kind.map_or(new.kind, str::to_owned),
                ..new
            },
            quota: self.quota,
        })
    }

    /// Builds the new artifact, with new ids, for a blob that is in place.
    fn new_artifact(
        &self,
        detected: Detected,
        size: u64,
        file_name: &str,
        author: &str,
        metadata: &serde_json::Value,
    ) -> NewArtifact {
        let new_id = |prefix: &str| format!("{prefix}{}", self.sources.ids.suffix());
        let projections = blobs::projection::wanted(detected.kind, detected.mime.as_deref(), size);
        NewArtifact {
            artifact_id: new_id("art_"),
            version_id: new_id("av_"),
            blob_id: new_id("abl_"),
            binding_id: new_id("abn_"),
            display_name: name::display_name(file_name),
            kind: detected.kind.as_str().to_owned(),
            mime_type: detected.mime,
            author: author.to_owned(),
            metadata: metadata.to_string(),
            projections: projections
                .iter()
                .map(|kind| (new_id("apj_"), kind.as_str().to_owned()))
                .collect(),
            chunk_hashes: None,
            now: self.sources.clock.now(),
        }
    }

    /// Wakes the background tasks that process a newly recorded artifact.
    fn added(&self, artifact: &ArtifactDetail, has_chunk_hashes: bool) {
        self.projections.notify_one();
        let has_chunks = artifact.blob.size_bytes.unsigned_abs() > limits::RECOMMENDED_CHUNK;
        if has_chunks && !has_chunk_hashes {
            // If the queue is full, the periodic search finds this blob later.
            let _ = self.unverified.try_send(artifact.blob.clone());
        }
    }
}

/// A blob that is stored at its final location.
struct StoredUpload {
    detected: Detected,
    chunk_hashes: Option<ChunkHashes>,
}

/// Returns the artifact kind and the creator kind of an uploaded file, derived from its source and its content.
fn produced(source_kind: &str, content: ContentKind) -> (&'static str, &'static str) {
    let kind = match (source_kind, content) {
        ("screenshot", ContentKind::Image) => "screenshot",
        ("worktree", _) => "workspace_file",
        ("folder_manifest", ContentKind::Json) => "directory_manifest",
        (_, content) => content.as_str(),
    };
    let creator = match source_kind {
        "import" | "worktree" | "folder_manifest" => "import",
        _ => "user",
    };
    (kind, creator)
}
