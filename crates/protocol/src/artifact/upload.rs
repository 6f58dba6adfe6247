//! `artifact/upload/*`: from a client to the gateway, in chunks, resumable.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::ArtifactRef;
use crate::{ArtifactId, ThreadId, TurnId, UploadId, WorkspaceId};

crate::methods! {
    Tree family "artifact/upload";

    /// Start an upload, or go on with the one that has the same `client_attachment_id`, size and hash.
    Write ArtifactUploadStart = "artifact/upload/start" (ArtifactUploadStartParams in workspace_id) -> ArtifactUploadStartResponse;
    /// Send a chunk of an upload as base64, for connections without binary frames, such as stdio.
    ///
    /// The rules are those of `ARTU` frames; the answer takes the place of `artifact/upload/chunk_ack`.
    /// A refused chunk changes nothing: `data.rejection` has the `kind` of `artifact/upload/chunk_rejected`, and
    /// `data.next_offset` says where to go on.
    Write ArtifactUploadChunk = "artifact/upload/chunk" (ArtifactUploadChunkParams in workspace_id) -> ArtifactUploadChunkResponse;
    /// Validate and persist a completed upload; twice answers the same artifact.
    Write ArtifactUploadFinish = "artifact/upload/finish" (ArtifactUploadFinishParams in workspace_id) -> ArtifactUploadFinishResponse;
    /// Abort an upload and remove its bytes.
    Write ArtifactUploadAbort = "artifact/upload/abort" (ArtifactUploadAbortParams in workspace_id) -> ArtifactUploadAbortResponse;
    /// Tell how far an upload has come, also after a lost connection or a restart.
    Read ArtifactUploadStatus = "artifact/upload/status" (ArtifactUploadStatusParams in workspace_id) -> ArtifactUploadStatusResponse;

    notifications {
        /// A binary upload chunk was accepted; `next_offset` is where to go on.
        "artifact/upload/chunk_ack" = ArtifactUploadChunkAckNotification;
        /// A binary upload chunk was refused and changed nothing.
        "artifact/upload/chunk_rejected" = ArtifactUploadChunkRejectedNotification;
        /// How far an upload has come, now and then.
        "artifact/upload/progress" = ArtifactUploadProgressNotification;
    }

    types { ArtifactUploadChunkHeader }
}

/// Where an uploaded file comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ArtifactUploadSourceKind {
    /// The composer.
    UserComposer,
    /// It was dropped.
    DragDrop,
    /// It was pasted.
    Paste,
    /// A program.
    Api,
    /// Another place that files are taken over from; the artifact's creator is `import`.
    Import,
    /// A worktree; the artifact's kind is `workspace_file` and its creator `import`.
    Worktree,
    /// A capture of the screen; the kind of a picture is `screenshot`.
    Screenshot,
    /// The list of the files of an uploaded folder; the kind of a JSON file is `directory_manifest` and its creator
    /// `import`.
    FolderManifest,
}

/// Where an upload stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ArtifactUploadSessionStatus {
    /// It takes chunks.
    Receiving,
    /// It is being checked.
    Finalizing,
    /// It is an artifact.
    Completed,
}

/// Params of [`ArtifactUploadStart`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ArtifactUploadStartParams {
    /// The workspace.
    pub workspace_id: WorkspaceId,
    /// The thread it is for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thread_id: Option<ThreadId>,
    /// The turn it is for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub planned_turn_id: Option<TurnId>,
    /// The artifact that gets a new version; a new artifact is made when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub artifact_id: Option<ArtifactId>,
    /// The client's own name for the upload.
    pub client_attachment_id: String,
    /// The name of the file, 255 characters at most.
    pub file_name: String,
    /// The MIME type as the client knows it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mime_type: Option<String>,
    /// The size, 50 MiB at most.
    pub size_bytes: u64,
    /// SHA-256 of the bytes, 64 lower-case hexadecimal characters.
    pub sha256: String,
    /// Where it comes from.
    pub source_kind: ArtifactUploadSourceKind,
}

/// Response of [`ArtifactUploadStart`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ArtifactUploadStartResponse {
    /// The upload.
    pub upload_id: UploadId,
    /// A good size of chunks.
    pub recommended_chunk_size_bytes: u64,
    /// The largest chunk.
    pub max_chunk_size_bytes: u64,
    /// The largest file.
    pub max_size_bytes: u64,
    /// When the upload is forgotten unless a chunk comes, Unix seconds.
    pub expires_at_unix: i64,
    /// Where to go on; absent for a new upload.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_offset: Option<u64>,
    /// `true` when the bytes are there already: finish may follow at once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub already_present: Option<bool>,
}

/// Params of [`ArtifactUploadChunk`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ArtifactUploadChunkParams {
    /// The workspace.
    pub workspace_id: WorkspaceId,
    /// The upload.
    pub upload_id: UploadId,
    /// Where the bytes belong: the number of bytes received so far.
    pub offset: u64,
    /// The number of bytes; compared with `content_base64` when given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub len: Option<u64>,
    /// SHA-256 of the bytes, lower-case hexadecimal; compared with them when given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub chunk_sha256: Option<String>,
    /// The bytes in base64, 1 to 1048576 of them.
    pub content_base64: String,
}

/// Response of [`ArtifactUploadChunk`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ArtifactUploadChunkResponse {
    /// The upload.
    pub upload_id: UploadId,
    /// Where the bytes belong.
    pub offset: u64,
    /// How many there were.
    pub len: u64,
    /// Bytes received so far.
    pub received_bytes: u64,
    /// Where to go on.
    pub next_offset: u64,
}

/// Params of [`ArtifactUploadFinish`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ArtifactUploadFinishParams {
    /// The workspace.
    pub workspace_id: WorkspaceId,
    /// The upload.
    pub upload_id: UploadId,
}

/// Response of [`ArtifactUploadFinish`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ArtifactUploadFinishResponse {
    /// The upload.
    pub upload_id: UploadId,
    /// The artifact.
    pub artifact: ArtifactRef,
}

/// Params of [`ArtifactUploadAbort`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ArtifactUploadAbortParams {
    /// The workspace.
    pub workspace_id: WorkspaceId,
    /// The upload.
    pub upload_id: UploadId,
}

/// Response of [`ArtifactUploadAbort`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ArtifactUploadAbortResponse {
    /// The upload.
    pub upload_id: UploadId,
    /// Always `aborted`.
    pub status: ArtifactUploadAbortStatus,
}

/// What became of an aborted upload.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ArtifactUploadAbortStatus {
    /// It is gone.
    Aborted,
}

/// Params of [`ArtifactUploadStatus`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ArtifactUploadStatusParams {
    /// The workspace.
    pub workspace_id: WorkspaceId,
    /// The upload.
    pub upload_id: UploadId,
}

/// Response of [`ArtifactUploadStatus`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ArtifactUploadStatusResponse {
    /// The upload.
    pub upload_id: UploadId,
    /// Where it stands.
    pub status: ArtifactUploadSessionStatus,
    /// Bytes received so far.
    pub received_bytes: u64,
    /// Where to go on.
    pub next_offset: u64,
    /// When it is forgotten, Unix seconds.
    pub expires_at_unix: i64,
    /// The artifact it became.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub artifact: Option<ArtifactRef>,
}

/// The JSON header of an `ARTU` frame: magic, big-endian u32 header length, header, bytes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ArtifactUploadChunkHeader {
    /// The workspace.
    pub workspace_id: WorkspaceId,
    /// The upload.
    pub upload_id: UploadId,
    /// Where the bytes belong.
    pub offset: u64,
    /// How many there are.
    pub len: u64,
    /// SHA-256 of the bytes, to be checked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub chunk_sha256: Option<String>,
}

/// Payload of `artifact/upload/chunk_ack`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ArtifactUploadChunkAckNotification {
    /// The workspace.
    pub workspace_id: WorkspaceId,
    /// The upload.
    pub upload_id: UploadId,
    /// Where the bytes belong.
    pub offset: u64,
    /// How many there were.
    pub len: u64,
    /// Bytes received so far.
    pub received_bytes: u64,
    /// Where to go on.
    pub next_offset: u64,
}

/// Payload of `artifact/upload/chunk_rejected`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ArtifactUploadChunkRejectedNotification {
    /// The workspace the frame named.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workspace_id: Option<String>,
    /// The upload the frame named.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub upload_id: Option<String>,
    /// The offset the frame named.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub offset: Option<u64>,
    /// Why, in stable snake_case: `malformed_frame`, `length_mismatch`, `hash_mismatch`, `unknown_upload`, `not_receiving`, `chunk_too_large`, `empty_chunk`, `offset_mismatch`, `exceeds_size` or `internal`.
    pub kind: String,
    /// One sentence.
    pub message: String,
    /// Where to go on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_offset: Option<u64>,
}

/// Payload of `artifact/upload/progress`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ArtifactUploadProgressNotification {
    /// The workspace.
    pub workspace_id: WorkspaceId,
    /// The upload.
    pub upload_id: UploadId,
    /// Bytes received so far.
    pub received_bytes: u64,
    /// The size of the whole.
    pub total_size_bytes: u64,
    /// Where to go on.
    pub next_offset: u64,
}
