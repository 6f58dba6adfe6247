//! `artifact/download/*`: transfers from the gateway to a client in hashed chunks.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::ArtifactRef;
use crate::{ArtifactId, ArtifactVersionId, DownloadId, WorkspaceId};

crate::methods! {
    Tree family "artifact/download";

    /// Start a download of an artifact version.
    ///
    /// The bytes stay available until the download ends or expires, even if the artifact is changed or deleted.
    Read ArtifactDownloadStart = "artifact/download/start" (ArtifactDownloadStartParams in workspace_id) -> ArtifactDownloadStartResponse;
    /// Request a chunk, which the gateway sends as a binary `ARTD` frame before this response.
    ///
    /// On a connection without binary frames, such as stdio, the response contains the bytes.
    Read ArtifactDownloadChunk = "artifact/download/chunk" (ArtifactDownloadChunkParams in workspace_id) -> ArtifactDownloadChunkResponse;
    /// Finish a download.
    Read ArtifactDownloadFinish = "artifact/download/finish" (ArtifactDownloadFinishParams in workspace_id) -> ArtifactDownloadFinishResponse;
    /// Abort a download.
    Read ArtifactDownloadAbort = "artifact/download/abort" (ArtifactDownloadAbortParams in workspace_id) -> ArtifactDownloadAbortResponse;

    notifications {
        /// The progress of a download; sent at most every 250 milliseconds.
        "artifact/download/progress" = ArtifactDownloadProgressNotification;
    }

    types { ArtifactDownloadChunkHeader }
}

/// Params of [`ArtifactDownloadStart`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ArtifactDownloadStartParams {
    /// The id of the workspace that owns the artifact.
    pub workspace_id: WorkspaceId,
    /// The id of the artifact.
    pub artifact_id: ArtifactId,
    /// The id of the version. Default: the newest version.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version_id: Option<ArtifactVersionId>,
    /// The chunk size in bytes that the client prefers, limited to 1 MiB. Default 256 KiB.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub preferred_chunk_size_bytes: Option<u64>,
}

/// Response of [`ArtifactDownloadStart`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ArtifactDownloadStartResponse {
    /// The id of the download, valid on this connection.
    pub download_id: DownloadId,
    /// The artifact and the version to download.
    pub artifact: ArtifactRef,
    /// The suggested file name, which is safe to use on the client.
    pub file_name: String,
    /// The size of the file in bytes.
    pub size_bytes: u64,
    /// The SHA-256 of the whole file in lower-case hexadecimal.
    pub sha256: String,
    /// The chunk size in bytes that the client should request.
    pub recommended_chunk_size_bytes: u64,
    /// The maximum chunk size in bytes; 1 MiB.
    pub max_chunk_size_bytes: u64,
    /// The time at which the download expires, in Unix seconds; one hour after its start.
    pub expires_at_unix: i64,
}

/// Params of [`ArtifactDownloadChunk`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ArtifactDownloadChunkParams {
    /// The id of the workspace that owns the artifact.
    pub workspace_id: WorkspaceId,
    /// The id of the download.
    pub download_id: DownloadId,
    /// The offset of the first byte.
    pub offset: u64,
    /// The number of bytes, 1 to 1048576. The range must not exceed the file.
    pub len: u64,
}

/// Response of [`ArtifactDownloadChunk`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ArtifactDownloadChunkResponse {
    /// The id of the download.
    pub download_id: DownloadId,
    /// The offset of the first byte.
    pub offset: u64,
    /// The number of bytes.
    pub len: u64,
    /// `true` if the gateway sent the bytes as a binary frame before this response, `false` if they are in
    /// `content_base64`.
    pub queued: bool,
    /// The bytes, encoded as base64. Absent if `queued` is `true`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content_base64: Option<String>,
    /// The SHA-256 of the bytes in `content_base64`, in lower-case hexadecimal. Absent if `queued` is `true`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub chunk_sha256: Option<String>,
    /// Whether the chunk ends at the end of the file. Absent if `queued` is `true`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub final_chunk: Option<bool>,
}

/// Params of [`ArtifactDownloadFinish`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ArtifactDownloadFinishParams {
    /// The id of the workspace that owns the artifact.
    pub workspace_id: WorkspaceId,
    /// The id of the download.
    pub download_id: DownloadId,
}

/// Response of [`ArtifactDownloadFinish`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ArtifactDownloadFinishResponse {
    /// The id of the download.
    pub download_id: DownloadId,
    /// The final status; always `finished`.
    pub status: ArtifactDownloadEndStatus,
}

/// Params of [`ArtifactDownloadAbort`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ArtifactDownloadAbortParams {
    /// The id of the workspace that owns the artifact.
    pub workspace_id: WorkspaceId,
    /// The id of the download.
    pub download_id: DownloadId,
}

/// Response of [`ArtifactDownloadAbort`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ArtifactDownloadAbortResponse {
    /// The id of the download.
    pub download_id: DownloadId,
    /// The final status; always `aborted`.
    pub status: ArtifactDownloadEndStatus,
}

/// The final status of a download.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ArtifactDownloadEndStatus {
    /// The client finished the download.
    Finished,
    /// The client aborted the download.
    Aborted,
}

/// The JSON header of an `ARTD` frame.
///
/// A frame consists of the magic `ARTD`, the length of the header as a big-endian u32, the header, and the bytes of the
/// chunk.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ArtifactDownloadChunkHeader {
    /// The id of the workspace that owns the artifact.
    pub workspace_id: WorkspaceId,
    /// The id of the download.
    pub download_id: DownloadId,
    /// The id of the artifact.
    pub artifact_id: ArtifactId,
    /// The id of the version.
    pub version_id: ArtifactVersionId,
    /// The offset of the first byte in the file.
    pub offset: u64,
    /// The number of bytes.
    pub len: u64,
    /// The size of the whole file in bytes.
    pub total_size_bytes: u64,
    /// The SHA-256 of the bytes of the chunk in lower-case hexadecimal.
    pub chunk_sha256: String,
    /// Whether the chunk ends at the end of the file.
    pub final_chunk: bool,
}

/// Payload of `artifact/download/progress`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ArtifactDownloadProgressNotification {
    /// The id of the workspace that owns the artifact.
    pub workspace_id: WorkspaceId,
    /// The id of the download.
    pub download_id: DownloadId,
    /// The id of the artifact.
    pub artifact_id: ArtifactId,
    /// The number of bytes that the gateway has sent so far.
    pub received_bytes: u64,
    /// The size of the whole file in bytes.
    pub total_size_bytes: u64,
}
