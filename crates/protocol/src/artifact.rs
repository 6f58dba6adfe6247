//! `artifact/*`: files of a workspace, with versions, previews and bindings.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{
    ArtifactId, ArtifactVersionId, BlobId, MessageId, ThreadId, TurnId, WorkspaceId,
    turn::PromptDocument,
};

pub mod binding;
pub mod download;
pub mod upload;

use binding::{ArtifactBindParams, ArtifactBindResponse, ArtifactBindingSummary};

crate::methods! {
    Tree family "artifact";

    /// Read upload and download limits and chunk sizes for a workspace.
    Read ArtifactCapabilities = "artifact/capabilities" (ArtifactCapabilitiesParams in workspace_id) -> ArtifactCapabilitiesResponse;
    /// List workspace artifacts with optional scope filters.
    ///
    /// Newest first: by the newest matching binding if a scope is given, else by the last change.
    Read ArtifactList = "artifact/list" (ArtifactListParams in workspace_id) -> ArtifactListResponse;
    /// List artifacts for one thread.
    Read ArtifactListForThread = "artifact/list/thread" (ArtifactListForThreadParams in workspace_id) -> ArtifactListResponse;
    /// List artifacts for one turn.
    Read ArtifactListForTurn = "artifact/list/turn" (ArtifactListForTurnParams in workspace_id) -> ArtifactListResponse;
    /// List artifacts for one message.
    Read ArtifactListForMessage = "artifact/list/message" (ArtifactListForMessageParams in workspace_id) -> ArtifactListResponse;
    /// Load one artifact summary.
    Read ArtifactGet = "artifact/get" (ArtifactGetParams in workspace_id) -> ArtifactGetResponse;
    /// Read a small range of an artifact or projection as base64 JSON.
    Read ArtifactRead = "artifact/read" (ArtifactReadParams in workspace_id) -> ArtifactReadResponse;
    /// Attach an existing artifact to a thread, turn, message, item, tool or task.
    ///
    /// Repeating the same binding returns the existing one.
    Write ArtifactBind = "artifact/bind" (ArtifactBindParams in workspace_id) -> ArtifactBindResponse;
    /// Soft-delete an artifact; the gateway deletes its bytes after 30 days.
    Write ArtifactDelete = "artifact/delete" (ArtifactDeleteParams in workspace_id) -> ArtifactDeleteResponse;
    /// Restore a soft-deleted artifact.
    Write ArtifactRestore = "artifact/restore" (ArtifactRestoreParams in workspace_id) -> ArtifactRestoreResponse;
    /// List the versions of an artifact, newest first.
    Read ArtifactVersionsList = "artifact/versions/list" (ArtifactVersionsListParams in workspace_id) -> ArtifactVersionsListResponse;
    /// Return the storage that the artifacts of a workspace use, and its limits.
    Read ArtifactUsage = "artifact/usage" (ArtifactUsageParams in workspace_id) -> ArtifactUsageResponse;

    notifications {
        /// An artifact was created and is ready to display.
        "artifact/created" = ArtifactCreatedNotification;
        /// Artifact metadata, status or current version changed.
        "artifact/updated" = ArtifactUpdatedNotification;
        /// An artifact was soft-deleted.
        "artifact/deleted" = ArtifactDeletedNotification;
        /// The list of artifacts of a thread changed.
        "thread/artifacts/changed" = ThreadArtifactsChangedNotification;
        /// A projection, such as a thumbnail, changed state.
        "artifact/projection/updated" = ArtifactProjectionUpdatedNotification;
    }
}

/// The type of an artifact, detected from its content and name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ArtifactKind {
    /// A file of no other kind.
    File,
    /// A text file.
    Text,
    /// An image.
    Image,
    /// An audio file.
    Audio,
    /// A video.
    Video,
    /// A PDF document.
    Pdf,
    /// A spreadsheet.
    Spreadsheet,
    /// An archive, such as a ZIP file.
    Archive,
    /// A JSON file.
    Json,
    /// An image in the answer of a model.
    GeneratedImage,
    /// An image that was uploaded with `source_kind` `screenshot`.
    Screenshot,
    /// A file that was uploaded with `source_kind` `worktree`.
    WorkspaceFile,
    /// A list of the files in an uploaded folder.
    DirectoryManifest,
    /// Not produced: a file whose type cannot be detected has the kind `file`.
    Unknown,
}

/// Whether an artifact can be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ArtifactStatus {
    /// The artifact can be used.
    Ready,
    /// Not produced: an artifact is created only after its bytes are complete and verified.
    Pending,
    /// The stored bytes no longer match their hash; the gateway does not serve them.
    Quarantined,
    /// The artifact was soft-deleted and can be restored.
    Deleted,
    /// Not produced: the gateway copies the bytes, so an artifact does not depend on the original file.
    MissingExternalSource,
    /// The stored bytes are missing.
    Failed,
}

/// The kind of creator of an artifact.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ArtifactCreatedByKind {
    /// A person uploaded the artifact.
    User,
    /// An agent created it: the output of a worker, or an image in the answer of a model.
    Agent,
    /// Not produced: the gateway runs no tools of its own.
    Tool,
    /// The output of a worker, recorded by version 0.1. Later versions record `agent`.
    Task,
    /// Not produced: the gateway creates no artifacts on its own.
    System,
    /// An upload with `source_kind` `import`, `worktree` or `folder_manifest`.
    Import,
    /// Not produced: external agents connect with a token and count as the person who issued it.
    ExternalAgent,
}

/// The kind of a projection, which is data derived from an artifact.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ArtifactProjectionKind {
    /// The text of the artifact.
    PlainText,
    /// A reduced image.
    Thumbnail,
    /// A summary of the structure of a JSON file.
    JsonSummary,
    /// The text of a PDF document.
    PdfText,
}

/// The status of a projection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ArtifactProjectionStatus {
    /// The projection has not been created yet.
    Pending,
    /// The projection can be read.
    Ready,
    /// The projection could not be created.
    Failed,
    /// An older extractor created the projection; the gateway will create it again.
    Stale,
}

/// A short description of an artifact version.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ArtifactRef {
    /// The id of the artifact.
    pub artifact_id: ArtifactId,
    /// The id of the described version. The gateway always sends it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version_id: Option<ArtifactVersionId>,
    /// The name to display, usually the file name.
    pub display_name: String,
    /// The type of the artifact.
    pub kind: ArtifactKind,
    /// The MIME type of the version. Absent if it is unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mime_type: Option<String>,
    /// The size of the version in bytes. The gateway always sends it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub size_bytes: Option<u64>,
    /// The SHA-256 of the bytes in lower-case hexadecimal. The gateway always sends it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sha256: Option<String>,
    /// Whether the artifact can be used.
    pub status: ArtifactStatus,
    /// The projection to display as a preview. Absent if the version has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub preview: Option<ArtifactPreviewRef>,
}

/// A projection that clients can display as a preview.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ArtifactPreviewRef {
    /// The kind of the projection.
    pub projection_kind: ArtifactProjectionKind,
    /// Whether the projection can be read.
    pub status: ArtifactProjectionStatus,
    /// The id of the artifact.
    pub artifact_id: ArtifactId,
    /// The id of the version from which the projection was created.
    pub version_id: ArtifactVersionId,
    /// The id of the stored bytes of the projection. Absent for text projections and for projections that are not
    /// ready.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub blob_id: Option<BlobId>,
    /// The MIME type of the projection. Absent if it is not ready.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mime_type: Option<String>,
    /// The size of the projection in bytes. Absent if it is not ready.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub size_bytes: Option<u64>,
    /// The SHA-256 of the projection in lower-case hexadecimal. Absent if it is not ready.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sha256: Option<String>,
}

/// An artifact with its creator and its bindings.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ArtifactSummary {
    /// The artifact and one of its versions.
    pub artifact: ArtifactRef,
    /// The id of the workspace that owns the artifact.
    pub workspace_id: WorkspaceId,
    /// The id of the thread for which the artifact was created. Absent if there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub primary_thread_id: Option<ThreadId>,
    /// The kind of creator.
    pub created_by_kind: ArtifactCreatedByKind,
    /// The creator: `owner`, the id of a token, the id of an agent, or the id of a model provider. Absent if it is
    /// unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub created_by_actor_id: Option<String>,
    /// The time of creation in Unix seconds.
    pub created_at: i64,
    /// The time of the last change in Unix seconds.
    pub updated_at: i64,
    /// The bindings of the artifact, newest first.
    pub bindings: Vec<ArtifactBindingSummary>,
    /// Additional properties, for example `source_kind`. Default: empty.
    #[serde(default)]
    pub metadata: BTreeMap<String, Value>,
}

/// Params of [`ArtifactCapabilities`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ArtifactCapabilitiesParams {
    /// The id of the workspace.
    pub workspace_id: WorkspaceId,
}

/// Response of [`ArtifactCapabilities`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ArtifactCapabilitiesResponse {
    /// The limits of uploads.
    pub upload: ArtifactUploadCapabilities,
    /// The limits of downloads.
    pub download: ArtifactDownloadCapabilities,
}

/// The limits of uploads.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ArtifactUploadCapabilities {
    /// Whether clients must upload local files before a turn can refer to them; always `true`.
    pub required_for_local_paths: bool,
    /// The recommended chunk size in bytes; 256 KiB.
    pub recommended_chunk_size_bytes: u64,
    /// The maximum chunk size in bytes; 1 MiB.
    pub max_chunk_size_bytes: u64,
    /// The maximum file size in bytes; 50 MiB.
    pub max_file_size_bytes: u64,
    /// The maximum number of artifacts in the input of one turn; 32.
    pub max_files_per_turn: u32,
}

/// The limits of downloads.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ArtifactDownloadCapabilities {
    /// The recommended chunk size in bytes; 256 KiB.
    pub recommended_chunk_size_bytes: u64,
    /// The maximum chunk size in bytes; 1 MiB.
    pub max_chunk_size_bytes: u64,
    /// The maximum number of open downloads per connection and workspace; 2.
    pub max_concurrent_downloads: u32,
}

/// Params of [`ArtifactList`]. One binding must match all scope filters that are present.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ArtifactListParams {
    /// The id of the workspace.
    pub workspace_id: WorkspaceId,
    /// Return only artifacts that are bound to the thread with this id. Absent for all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thread_id: Option<ThreadId>,
    /// Return only artifacts that are bound to the turn with this id. Absent for all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turn_id: Option<TurnId>,
    /// Return only artifacts that are bound to the message with this id. Absent for all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message_id: Option<MessageId>,
    /// Return only artifacts that are bound to the task with this id, which is the id of a job. Absent for all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task_id: Option<String>,
    /// Return only artifacts that are bound to the task run with this id, which is the id of a run. Absent for all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task_run_id: Option<String>,
    /// Return only artifacts of these kinds. Absent or empty for all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kinds: Option<Vec<ArtifactKind>>,
    /// Whether to include soft-deleted artifacts. Default `false`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub include_deleted: Option<bool>,
    /// The `next_cursor` of the previous page. Absent for the first page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cursor: Option<String>,
    /// The maximum number of artifacts to return. Default 50, maximum 200.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<u32>,
}

/// Params of [`ArtifactListForThread`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ArtifactListForThreadParams {
    /// The id of the workspace.
    pub workspace_id: WorkspaceId,
    /// The id of the thread.
    pub thread_id: ThreadId,
    /// Return only artifacts of these kinds. Absent or empty for all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kinds: Option<Vec<ArtifactKind>>,
    /// Whether to include soft-deleted artifacts. Default `false`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub include_deleted: Option<bool>,
    /// The `next_cursor` of the previous page. Absent for the first page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cursor: Option<String>,
    /// The maximum number of artifacts to return. Default 50, maximum 200.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<u32>,
}

/// Params of [`ArtifactListForTurn`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ArtifactListForTurnParams {
    /// The id of the workspace.
    pub workspace_id: WorkspaceId,
    /// The id of the turn.
    pub turn_id: TurnId,
    /// Return only artifacts of these kinds. Absent or empty for all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kinds: Option<Vec<ArtifactKind>>,
    /// Whether to include soft-deleted artifacts. Default `false`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub include_deleted: Option<bool>,
    /// The `next_cursor` of the previous page. Absent for the first page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cursor: Option<String>,
    /// The maximum number of artifacts to return. Default 50, maximum 200.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<u32>,
}

/// Params of [`ArtifactListForMessage`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ArtifactListForMessageParams {
    /// The id of the workspace.
    pub workspace_id: WorkspaceId,
    /// The id of the message.
    pub message_id: MessageId,
    /// Return only artifacts of these kinds. Absent or empty for all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kinds: Option<Vec<ArtifactKind>>,
    /// Whether to include soft-deleted artifacts. Default `false`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub include_deleted: Option<bool>,
    /// The `next_cursor` of the previous page. Absent for the first page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cursor: Option<String>,
    /// The maximum number of artifacts to return. Default 50, maximum 200.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<u32>,
}

impl ArtifactListParams {
    /// Creates params that list all artifacts of a workspace that are not deleted.
    pub fn all(workspace_id: WorkspaceId) -> Self {
        Self {
            workspace_id,
            thread_id: None,
            turn_id: None,
            message_id: None,
            task_id: None,
            task_run_id: None,
            kinds: None,
            include_deleted: None,
            cursor: None,
            limit: None,
        }
    }
}

impl From<ArtifactListForThreadParams> for ArtifactListParams {
    fn from(params: ArtifactListForThreadParams) -> Self {
        Self {
            thread_id: Some(params.thread_id),
            kinds: params.kinds,
            include_deleted: params.include_deleted,
            cursor: params.cursor,
            limit: params.limit,
            ..Self::all(params.workspace_id)
        }
    }
}

impl From<ArtifactListForTurnParams> for ArtifactListParams {
    fn from(params: ArtifactListForTurnParams) -> Self {
        Self {
            turn_id: Some(params.turn_id),
            kinds: params.kinds,
            include_deleted: params.include_deleted,
            cursor: params.cursor,
            limit: params.limit,
            ..Self::all(params.workspace_id)
        }
    }
}

impl From<ArtifactListForMessageParams> for ArtifactListParams {
    fn from(params: ArtifactListForMessageParams) -> Self {
        Self {
            message_id: Some(params.message_id),
            kinds: params.kinds,
            include_deleted: params.include_deleted,
            cursor: params.cursor,
            limit: params.limit,
            ..Self::all(params.workspace_id)
        }
    }
}

/// Response of the `artifact/list` methods.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ArtifactListResponse {
    /// The artifacts, newest first.
    pub items: Vec<ArtifactSummary>,
    /// The cursor of the next page; `null` on the last page.
    #[serde(default)]
    pub next_cursor: Option<String>,
}

/// Params of [`ArtifactGet`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ArtifactGetParams {
    /// The id of the workspace that owns the artifact.
    pub workspace_id: WorkspaceId,
    /// The id of the artifact.
    pub artifact_id: ArtifactId,
    /// The id of the version. Default: the newest version.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version_id: Option<ArtifactVersionId>,
}

/// Response of [`ArtifactGet`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ArtifactGetResponse {
    /// The requested artifact.
    pub artifact: ArtifactSummary,
    /// The origin of the version. Absent unless an agent created it in a turn or a run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lineage: Option<ArtifactLineage>,
}

/// The turn or run that created an artifact version.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ArtifactLineage {
    /// The id of the run in a company folder. Absent if no run created the version.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run_id: Option<String>,
    /// The id of the job to which the run belongs. Absent if there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub job_id: Option<String>,
    /// The id of the thread. Absent if there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thread_id: Option<ThreadId>,
    /// The id of the turn, whose prompt `turn/explain` describes. Absent if there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turn_id: Option<TurnId>,
    /// The AGENTS.md documents in the prompt of the turn, with their versions. Empty if there is no turn.
    pub instructions: Vec<PromptDocument>,
}

/// Params of [`ArtifactRead`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ArtifactReadParams {
    /// The id of the workspace that owns the artifact.
    pub workspace_id: WorkspaceId,
    /// The id of the artifact.
    pub artifact_id: ArtifactId,
    /// The id of the version. Default: the newest version.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version_id: Option<ArtifactVersionId>,
    /// The projection to read. Absent to read the artifact itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub projection_kind: Option<ArtifactProjectionKind>,
    /// The offset of the first byte to read. Default 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub offset: Option<u64>,
    /// The maximum number of bytes to return. Default and maximum 1 MiB.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_bytes: Option<u64>,
}

/// Response of [`ArtifactRead`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ArtifactReadResponse {
    /// The artifact and the version that was read.
    pub artifact: ArtifactRef,
    /// The offset of the first byte returned.
    pub offset: u64,
    /// The number of bytes returned.
    pub len: u64,
    /// The size of the whole artifact version or projection in bytes.
    pub total_size_bytes: u64,
    /// The SHA-256 of the whole artifact version or projection in lower-case hexadecimal.
    pub sha256: String,
    /// The bytes, encoded as base64.
    pub content_base64: String,
    /// Whether more bytes follow the returned range.
    pub truncated: bool,
}

/// Params of [`ArtifactDelete`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ArtifactDeleteParams {
    /// The id of the workspace that owns the artifact.
    pub workspace_id: WorkspaceId,
    /// The id of the artifact.
    pub artifact_id: ArtifactId,
}

/// Response of [`ArtifactDelete`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ArtifactDeleteResponse {
    /// The id of the artifact.
    pub artifact_id: ArtifactId,
    /// The status after the call; always `deleted`.
    pub status: ArtifactStatus,
}

/// Params of [`ArtifactRestore`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ArtifactRestoreParams {
    /// The id of the workspace that owns the artifact.
    pub workspace_id: WorkspaceId,
    /// The id of the artifact.
    pub artifact_id: ArtifactId,
}

/// Response of [`ArtifactRestore`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ArtifactRestoreResponse {
    /// The id of the artifact.
    pub artifact_id: ArtifactId,
    /// The status after the call: `ready`, `quarantined` if the bytes are damaged, or `failed` if they are missing.
    pub status: ArtifactStatus,
}

/// Params of [`ArtifactVersionsList`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ArtifactVersionsListParams {
    /// The id of the workspace that owns the artifact.
    pub workspace_id: WorkspaceId,
    /// The id of the artifact.
    pub artifact_id: ArtifactId,
    /// The `next_cursor` of the previous page. Absent for the first page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cursor: Option<String>,
    /// The maximum number of versions to return. Default 50, maximum 200.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<u32>,
}

/// Response of [`ArtifactVersionsList`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ArtifactVersionsListResponse {
    /// The versions, newest first.
    pub items: Vec<ArtifactVersionSummary>,
    /// The cursor of the next page; `null` on the last page.
    #[serde(default)]
    pub next_cursor: Option<String>,
}

/// One version of an artifact.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ArtifactVersionSummary {
    /// The id of the version.
    pub version_id: ArtifactVersionId,
    /// The number of the version, from 1.
    pub version_number: u64,
    /// The size of the version in bytes.
    pub size_bytes: u64,
    /// The SHA-256 of the bytes in lower-case hexadecimal.
    pub sha256: String,
    /// The MIME type of the version. Absent if it is unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mime_type: Option<String>,
    /// The time of creation in Unix seconds.
    pub created_at: i64,
}

/// Params of [`ArtifactUsage`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ArtifactUsageParams {
    /// The id of the workspace.
    pub workspace_id: WorkspaceId,
}

/// Response of [`ArtifactUsage`]. Identical content counts once.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ArtifactUsageResponse {
    /// The bytes used by artifacts that are not deleted, including their projections.
    pub bytes: u64,
    /// The number of distinct stored files of these artifacts and projections.
    pub files: u64,
    /// The limit of `bytes`. Default 10 GiB.
    pub max_bytes: u64,
    /// The limit of `files`. Default 100000.
    pub max_files: u64,
    /// The stored bytes that only deleted artifacts use.
    pub reclaimable_bytes: u64,
    /// All stored bytes, including those that only deleted artifacts use.
    pub stored_bytes: u64,
    /// The sum of the declared sizes of open uploads, in bytes.
    pub open_upload_bytes: u64,
    /// The limit of the sum of `stored_bytes` and `open_upload_bytes`. Default 20 GiB.
    pub max_stored_bytes: u64,
}

/// Payload of `artifact/created`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ArtifactCreatedNotification {
    /// The id of the workspace.
    pub workspace_id: WorkspaceId,
    /// The new artifact.
    pub artifact: ArtifactSummary,
}

/// Payload of `artifact/updated`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ArtifactUpdatedNotification {
    /// The id of the workspace.
    pub workspace_id: WorkspaceId,
    /// The artifact after the change.
    pub artifact: ArtifactSummary,
}

/// Payload of `artifact/deleted`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ArtifactDeletedNotification {
    /// The id of the workspace.
    pub workspace_id: WorkspaceId,
    /// The id of the artifact.
    pub artifact_id: ArtifactId,
    /// The status of the artifact; always `deleted`.
    pub status: ArtifactStatus,
    /// The time of deletion in Unix seconds.
    pub deleted_at: i64,
}

/// Payload of `thread/artifacts/changed`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ThreadArtifactsChangedNotification {
    /// The id of the workspace.
    pub workspace_id: WorkspaceId,
    /// The id of the thread.
    pub thread_id: ThreadId,
    /// The ids of the artifacts that changed.
    pub artifact_ids: Vec<ArtifactId>,
    /// The reason: `user_upload`, `new_version`, `user_input_binding`, `agent_output`, `task_result`, `bind`, `delete`,
    /// `restore`, `damaged` or `healed`.
    pub reason: String,
    /// The time of the change in Unix seconds.
    pub generated_at: i64,
}

/// Payload of `artifact/projection/updated`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ArtifactProjectionUpdatedNotification {
    /// The id of the workspace.
    pub workspace_id: WorkspaceId,
    /// The id of the artifact.
    pub artifact_id: ArtifactId,
    /// The id of the version from which the projection was created.
    pub version_id: ArtifactVersionId,
    /// The kind of the projection.
    pub projection_kind: ArtifactProjectionKind,
    /// The status of the projection after the change.
    pub status: ArtifactProjectionStatus,
    /// The time of the change in Unix seconds.
    pub updated_at: i64,
}
