//! `artifact/download/*`: from the gateway to a client, in chunks, each with its hash.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::ArtifactRef;
use crate::{ArtifactId, ArtifactVersionId, DownloadId, WorkspaceId};

crate::methods! {
    Tree family "artifact/download";

    /// Start a download; the bytes stay the same until it ends, whatever happens to the artifact.
    Read ArtifactDownloadStart = "artifact/download/start" (ArtifactDownloadStartParams in workspace_id) -> ArtifactDownloadStartResponse;
    /// Request a chunk, which comes as a binary `ARTD` frame before this answer.
    ///
    /// On a connection without binary frames, such as stdio, the answer carries the bytes itself.
    Read ArtifactDownloadChunk = "artifact/download/chunk" (ArtifactDownloadChunkParams in workspace_id) -> ArtifactDownloadChunkResponse;
    /// Finish a download.
    Read ArtifactDownloadFinish = "artifact/download/finish" (ArtifactDownloadFinishParams in workspace_id) -> ArtifactDownloadFinishResponse;
    /// Abort a download.
    Read ArtifactDownloadAbort = "artifact/download/abort" (ArtifactDownloadAbortParams in workspace_id) -> ArtifactDownloadAbortResponse;

    notifications {
        /// How far a download has come, now and then.
        "artifact/download/progress" = ArtifactDownloadProgressNotification;
    }

    types { ArtifactDownloadChunkHeader }
}

/// Params of [`ArtifactDownloadStart`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ArtifactDownloadStartParams {
    /// The workspace.
    pub workspace_id: WorkspaceId,
    /// The artifact.
    pub artifact_id: ArtifactId,
    /// The version; the newest when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version_id: Option<ArtifactVersionId>,
    /// The size of chunks the client would like.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub preferred_chunk_size_bytes: Option<u64>,
}

/// Response of [`ArtifactDownloadStart`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ArtifactDownloadStartResponse {
    /// The download.
    pub download_id: DownloadId,
    /// The artifact.
    pub artifact: ArtifactRef,
    /// A good name for the file.
    pub file_name: String,
    /// Its size.
    pub size_bytes: u64,
    /// SHA-256 of its bytes.
    pub sha256: String,
    /// The size of chunks to ask for.
    pub recommended_chunk_size_bytes: u64,
    /// The largest chunk.
    pub max_chunk_size_bytes: u64,
    /// When the download ends by itself, Unix seconds.
    pub expires_at_unix: i64,
}

/// Params of [`ArtifactDownloadChunk`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ArtifactDownloadChunkParams {
    /// The workspace.
    pub workspace_id: WorkspaceId,
    /// The download.
    pub download_id: DownloadId,
    /// Where to begin.
    pub offset: u64,
    /// How many bytes, 1 MiB at most.
    pub len: u64,
}

/// Response of [`ArtifactDownloadChunk`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ArtifactDownloadChunkResponse {
    /// The download.
    pub download_id: DownloadId,
    /// Where the bytes begin.
    pub offset: u64,
    /// How many there are.
    pub len: u64,
    /// `true` when the bytes came as a binary frame before this answer, `false` when they are in `content_base64`.
    pub queued: bool,
    /// The bytes in base64, on connections without binary frames.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content_base64: Option<String>,
    /// SHA-256 of the bytes in `content_base64`, lower-case hexadecimal.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub chunk_sha256: Option<String>,
    /// Whether the bytes in `content_base64` are the last ones.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub final_chunk: Option<bool>,
}

/// Params of [`ArtifactDownloadFinish`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ArtifactDownloadFinishParams {
    /// The workspace.
    pub workspace_id: WorkspaceId,
    /// The download.
    pub download_id: DownloadId,
}

/// Response of [`ArtifactDownloadFinish`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ArtifactDownloadFinishResponse {
    /// The download.
    pub download_id: DownloadId,
    /// Always `finished`.
    pub status: ArtifactDownloadEndStatus,
}

/// Params of [`ArtifactDownloadAbort`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ArtifactDownloadAbortParams {
    /// The workspace.
    pub workspace_id: WorkspaceId,
    /// The download.
    pub download_id: DownloadId,
}

/// Response of [`ArtifactDownloadAbort`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ArtifactDownloadAbortResponse {
    /// The download.
    pub download_id: DownloadId,
    /// Always `aborted`.
    pub status: ArtifactDownloadEndStatus,
}

/// How a download ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ArtifactDownloadEndStatus {
    /// The client has it all.
    Finished,
    /// The client did not want the rest.
    Aborted,
}

/// The JSON header of an `ARTD` frame: magic, big-endian u32 header length, header, bytes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ArtifactDownloadChunkHeader {
    /// The workspace.
    pub workspace_id: WorkspaceId,
    /// The download.
    pub download_id: DownloadId,
    /// The artifact.
    pub artifact_id: ArtifactId,
    /// The version.
    pub version_id: ArtifactVersionId,
    /// Where the bytes begin.
    pub offset: u64,
    /// How many there are.
    pub len: u64,
    /// The size of the whole.
    pub total_size_bytes: u64,
    /// SHA-256 of the bytes.
    pub chunk_sha256: String,
    /// Whether these are the last bytes.
    pub final_chunk: bool,
}

/// Payload of `artifact/download/progress`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ArtifactDownloadProgressNotification {
    /// The workspace.
    pub workspace_id: WorkspaceId,
    /// The download.
    pub download_id: DownloadId,
    /// The artifact.
    pub artifact_id: ArtifactId,
    /// Bytes sent so far.
    pub received_bytes: u64,
    /// The size of the whole.
    pub total_size_bytes: u64,
}
