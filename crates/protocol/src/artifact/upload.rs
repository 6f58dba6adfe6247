//! `artifact/upload/*`: resumable transfers from a client to the gateway in chunks.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::ArtifactRef;
use crate::{ArtifactId, ThreadId, TurnId, UploadId, WorkspaceId};

crate::methods! {
    Tree family "artifact/upload";

    /// Start an upload, or resume the one with the same `client_attachment_id`, size and hash.
    Write ArtifactUploadStart = "artifact/upload/start" (ArtifactUploadStartParams in workspace_id) -> ArtifactUploadStartResponse;
    /// Send a chunk of an upload as base64, for connections without binary frames, such as stdio.
    ///
    /// The rules are those of `ARTU` frames; the response replaces `artifact/upload/chunk_ack`. A rejected chunk has no
    /// effect: `data.rejection` contains the `kind` of `artifact/upload/chunk_rejected`, and `data.next_offset`, if
    /// present, is the offset at which to continue.
    Write ArtifactUploadChunk = "artifact/upload/chunk" (ArtifactUploadChunkParams in workspace_id) -> ArtifactUploadChunkResponse;
    /// Validate and persist a completed upload; repeating the call returns the same artifact.
    Write ArtifactUploadFinish = "artifact/upload/finish" (ArtifactUploadFinishParams in workspace_id) -> ArtifactUploadFinishResponse;
    /// Abort an upload and delete its bytes.
    ///
    /// If the upload is complete, its artifact is kept.
    Write ArtifactUploadAbort = "artifact/upload/abort" (ArtifactUploadAbortParams in workspace_id) -> ArtifactUploadAbortResponse;
    /// Return the progress of an upload, also after a lost connection or a restart.
    Read ArtifactUploadStatus = "artifact/upload/status" (ArtifactUploadStatusParams in workspace_id) -> ArtifactUploadStatusResponse;

    notifications {
        /// A binary upload chunk was accepted; `next_offset` is the offset of the next chunk.
        "artifact/upload/chunk_ack" = ArtifactUploadChunkAckNotification;
        /// A binary upload chunk was rejected and had no effect.
        "artifact/upload/chunk_rejected" = ArtifactUploadChunkRejectedNotification;
        /// The progress of an upload; sent at most every 250 milliseconds.
        "artifact/upload/progress" = ArtifactUploadProgressNotification;
    }

    types { ArtifactUploadChunkHeader }
}

/// The source of an uploaded file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ArtifactUploadSourceKind {
    /// The user selected the file in the message composer.
    UserComposer,
    /// The user dropped the file onto the client.
    DragDrop,
    /// The user pasted the file.
    Paste,
    /// A program uploaded the file.
    Api,
    /// The file was imported from another system. The artifact's creator kind is `import`.
    Import,
    /// The file comes from a worktree. The artifact's kind is `workspace_file` and its creator kind `import`.
    Worktree,
    /// The file is a screenshot. If it is an image, the artifact's kind is `screenshot`.
    Screenshot,
    /// The file lists the files of an uploaded folder. If it is JSON, the artifact's kind is `directory_manifest`; its
    /// creator kind is `import`.
    FolderManifest,
}

/// The status of an upload.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ArtifactUploadSessionStatus {
    /// The upload accepts chunks.
    Receiving,
    /// The gateway is validating the upload. Not produced at present.
    Finalizing,
    /// The upload is complete and its artifact exists.
    Completed,
}

/// Params of [`ArtifactUploadStart`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ArtifactUploadStartParams {
    /// The id of the workspace.
    pub workspace_id: WorkspaceId,
    /// The id of the thread to which the artifact is bound. Absent for no binding.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thread_id: Option<ThreadId>,
    /// The id of the turn for which the file is uploaded; recorded in the binding to the thread and ignored without
    /// `thread_id`. Absent if it is unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub planned_turn_id: Option<TurnId>,
    /// The id of the artifact that gets a new version. Absent to create a new artifact.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub artifact_id: Option<ArtifactId>,
    /// The client's own id for the upload, 1 to 255 characters; used to resume it.
    pub client_attachment_id: String,
    /// The name of the file, 1 to 255 characters.
    pub file_name: String,
    /// The MIME type, if the client knows it. The gateway also inspects the content.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mime_type: Option<String>,
    /// The size of the file in bytes, at most 50 MiB.
    pub size_bytes: u64,
    /// The SHA-256 of the file, 64 lower-case hexadecimal characters.
    pub sha256: String,
    /// The source of the file.
    pub source_kind: ArtifactUploadSourceKind,
}

/// Response of [`ArtifactUploadStart`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ArtifactUploadStartResponse {
    /// The id of the upload.
    pub upload_id: UploadId,
    /// The recommended chunk size in bytes; 256 KiB.
    pub recommended_chunk_size_bytes: u64,
    /// The maximum chunk size in bytes; 1 MiB.
    pub max_chunk_size_bytes: u64,
    /// The maximum file size in bytes; 50 MiB.
    pub max_size_bytes: u64,
    /// The time at which the upload expires, in Unix seconds. Accepted chunks extend it to one hour from then, up to 24
    /// hours after the start.
    pub expires_at_unix: i64,
    /// The offset at which to resume. Absent for a new upload.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_offset: Option<u64>,
    /// `true` if the gateway already stores these bytes, so that the client can finish without sending chunks. Absent
    /// otherwise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub already_present: Option<bool>,
}

/// Params of [`ArtifactUploadChunk`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ArtifactUploadChunkParams {
    /// The id of the workspace.
    pub workspace_id: WorkspaceId,
    /// The id of the upload.
    pub upload_id: UploadId,
    /// The offset of the first byte in the file, which must be the number of bytes received so far. Repeating a chunk
    /// that was already received is accepted.
    pub offset: u64,
    /// The number of bytes. The chunk is rejected if `content_base64` has another length. Absent to skip this check.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub len: Option<u64>,
    /// The SHA-256 of the bytes in lower-case hexadecimal. The chunk is rejected if it differs. Absent to skip this
    /// check.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub chunk_sha256: Option<String>,
    /// The bytes, 1 to 1048576, encoded as base64 with padding.
    pub content_base64: String,
}

/// Response of [`ArtifactUploadChunk`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ArtifactUploadChunkResponse {
    /// The id of the upload.
    pub upload_id: UploadId,
    /// The offset of the chunk in the file.
    pub offset: u64,
    /// The number of bytes in the chunk.
    pub len: u64,
    /// The number of bytes received so far.
    pub received_bytes: u64,
    /// The offset of the next chunk.
    pub next_offset: u64,
}

/// Params of [`ArtifactUploadFinish`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ArtifactUploadFinishParams {
    /// The id of the workspace.
    pub workspace_id: WorkspaceId,
    /// The id of the upload.
    pub upload_id: UploadId,
}

/// Response of [`ArtifactUploadFinish`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ArtifactUploadFinishResponse {
    /// The id of the upload.
    pub upload_id: UploadId,
    /// The artifact with the uploaded version.
    pub artifact: ArtifactRef,
}

/// Params of [`ArtifactUploadAbort`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ArtifactUploadAbortParams {
    /// The id of the workspace.
    pub workspace_id: WorkspaceId,
    /// The id of the upload.
    pub upload_id: UploadId,
}

/// Response of [`ArtifactUploadAbort`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ArtifactUploadAbortResponse {
    /// The id of the upload.
    pub upload_id: UploadId,
    /// The final status; always `aborted`.
    pub status: ArtifactUploadAbortStatus,
}

/// The final status of an aborted upload.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ArtifactUploadAbortStatus {
    /// The upload and its bytes were deleted.
    Aborted,
}

/// Params of [`ArtifactUploadStatus`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ArtifactUploadStatusParams {
    /// The id of the workspace.
    pub workspace_id: WorkspaceId,
    /// The id of the upload.
    pub upload_id: UploadId,
}

/// Response of [`ArtifactUploadStatus`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ArtifactUploadStatusResponse {
    /// The id of the upload.
    pub upload_id: UploadId,
    /// The status of the upload.
    pub status: ArtifactUploadSessionStatus,
    /// The number of bytes received so far.
    pub received_bytes: u64,
    /// The offset of the next chunk.
    pub next_offset: u64,
    /// The time at which the upload expires, in Unix seconds.
    pub expires_at_unix: i64,
    /// The artifact with the uploaded version. Absent until the upload is complete.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub artifact: Option<ArtifactRef>,
}

/// The JSON header of an `ARTU` frame.
///
/// A frame consists of the magic `ARTU`, the length of the header as a big-endian u32, the header, and the bytes of the
/// chunk.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ArtifactUploadChunkHeader {
    /// The id of the workspace.
    pub workspace_id: WorkspaceId,
    /// The id of the upload.
    pub upload_id: UploadId,
    /// The offset of the first byte in the file.
    pub offset: u64,
    /// The number of bytes in the frame after the header.
    pub len: u64,
    /// The SHA-256 of the bytes in lower-case hexadecimal. The chunk is rejected if it differs. Absent to skip this
    /// check.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub chunk_sha256: Option<String>,
}

/// Payload of `artifact/upload/chunk_ack`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ArtifactUploadChunkAckNotification {
    /// The id of the workspace.
    pub workspace_id: WorkspaceId,
    /// The id of the upload.
    pub upload_id: UploadId,
    /// The offset of the chunk in the file.
    pub offset: u64,
    /// The number of bytes in the chunk.
    pub len: u64,
    /// The number of bytes received so far.
    pub received_bytes: u64,
    /// The offset of the next chunk.
    pub next_offset: u64,
}

/// Payload of `artifact/upload/chunk_rejected`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ArtifactUploadChunkRejectedNotification {
    /// The id of the workspace in the frame's header. Absent if the header could not be parsed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workspace_id: Option<String>,
    /// The id of the upload in the frame's header. Absent if the header could not be parsed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub upload_id: Option<String>,
    /// The offset in the frame's header. Absent if the header could not be parsed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub offset: Option<u64>,
    /// The reason as a stable snake_case name: `malformed_frame`, `length_mismatch`, `hash_mismatch`, `unknown_upload`,
    /// `not_receiving`, `chunk_too_large`, `empty_chunk`, `offset_mismatch`, `exceeds_size` or `internal`.
    pub kind: String,
    /// A one-sentence description of the reason.
    pub message: String,
    /// The offset that the gateway expects. Present only if `kind` is `offset_mismatch`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_offset: Option<u64>,
}

/// Payload of `artifact/upload/progress`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ArtifactUploadProgressNotification {
    /// The id of the workspace.
    pub workspace_id: WorkspaceId,
    /// The id of the upload.
    pub upload_id: UploadId,
    /// The number of bytes received so far.
    pub received_bytes: u64,
    /// The declared size of the file in bytes.
    pub total_size_bytes: u64,
    /// The offset of the next chunk.
    pub next_offset: u64,
}
