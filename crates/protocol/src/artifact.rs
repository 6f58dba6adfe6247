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
    /// The same binding twice is one binding.
    Write ArtifactBind = "artifact/bind" (ArtifactBindParams in workspace_id) -> ArtifactBindResponse;
    /// Soft-delete an artifact; its bytes go after 30 days.
    Write ArtifactDelete = "artifact/delete" (ArtifactDeleteParams in workspace_id) -> ArtifactDeleteResponse;
    /// Restore a soft-deleted artifact.
    Write ArtifactRestore = "artifact/restore" (ArtifactRestoreParams in workspace_id) -> ArtifactRestoreResponse;
    /// List the versions of an artifact, newest first.
    Read ArtifactVersionsList = "artifact/versions/list" (ArtifactVersionsListParams in workspace_id) -> ArtifactVersionsListResponse;
    /// Tell how much room the artifacts of a workspace take.
    Read ArtifactUsage = "artifact/usage" (ArtifactUsageParams in workspace_id) -> ArtifactUsageResponse;

    notifications {
        /// An artifact was created and is ready to display.
        "artifact/created" = ArtifactCreatedNotification;
        /// Artifact metadata, status or current version changed.
        "artifact/updated" = ArtifactUpdatedNotification;
        /// An artifact was soft-deleted.
        "artifact/deleted" = ArtifactDeletedNotification;
        /// A thread's list of artifacts should be refreshed.
        "thread/artifacts/changed" = ThreadArtifactsChangedNotification;
        /// A projection, such as a thumbnail, changed state.
        "artifact/projection/updated" = ArtifactProjectionUpdatedNotification;
    }
}

/// What an artifact is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ArtifactKind {
    /// Any bytes.
    File,
    /// Text.
    Text,
    /// A picture.
    Image,
    /// A sound.
    Audio,
    /// A film.
    Video,
    /// A PDF.
    Pdf,
    /// A table.
    Spreadsheet,
    /// An archive.
    Archive,
    /// JSON.
    Json,
    /// A picture in the answer of a model.
    GeneratedImage,
    /// A picture that was uploaded with `source_kind` `screenshot`.
    Screenshot,
    /// A file that was uploaded with `source_kind` `worktree`.
    WorkspaceFile,
    /// The list of the files of an uploaded folder.
    DirectoryManifest,
    /// Not produced: a file whose content says nothing is a `file`.
    Unknown,
}

/// Whether an artifact can be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ArtifactStatus {
    /// It can.
    Ready,
    /// Not produced: an artifact exists once its bytes are complete and checked.
    Pending,
    /// Its bytes do not have their hash any more, and are not served.
    Quarantined,
    /// It was deleted and can be restored.
    Deleted,
    /// Not produced: bytes are copied, so that an artifact outlives the file it was made from.
    MissingExternalSource,
    /// Its bytes are missing.
    Failed,
}

/// Who made an artifact.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ArtifactCreatedByKind {
    /// A person, by an upload.
    User,
    /// An agent: a result of a worker, or a picture in the answer of a model.
    Agent,
    /// Not produced: the gateway runs no tools of its own.
    Tool,
    /// Version 0.1, for results of workers; these have the creator `agent` since.
    Task,
    /// Not produced: the gateway makes no artifacts of its own accord.
    System,
    /// An upload with `source_kind` `import`, `worktree` or `folder_manifest`.
    Import,
    /// Not produced: agents outside connect with a token, as the person who gave it.
    ExternalAgent,
}

/// What a projection shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ArtifactProjectionKind {
    /// The text.
    PlainText,
    /// A small picture.
    Thumbnail,
    /// The shape of JSON.
    JsonSummary,
    /// The text of a PDF.
    PdfText,
}

/// Whether a projection can be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ArtifactProjectionStatus {
    /// Not yet.
    Pending,
    /// Yes.
    Ready,
    /// It could not be made.
    Failed,
    /// It was made by an older extractor.
    Stale,
}

/// An artifact in short.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ArtifactRef {
    /// The artifact.
    pub artifact_id: ArtifactId,
    /// The version.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version_id: Option<ArtifactVersionId>,
    /// What to call it.
    pub display_name: String,
    /// What it is.
    pub kind: ArtifactKind,
    /// Its MIME type.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mime_type: Option<String>,
    /// Its size.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub size_bytes: Option<u64>,
    /// SHA-256 of its bytes, lower-case hexadecimal.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sha256: Option<String>,
    /// Whether it can be used.
    pub status: ArtifactStatus,
    /// Something to show for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub preview: Option<ArtifactPreviewRef>,
}

/// Something to show for an artifact.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ArtifactPreviewRef {
    /// What it shows.
    pub projection_kind: ArtifactProjectionKind,
    /// Whether it can be read.
    pub status: ArtifactProjectionStatus,
    /// The artifact.
    pub artifact_id: ArtifactId,
    /// The version.
    pub version_id: ArtifactVersionId,
    /// Its bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub blob_id: Option<BlobId>,
    /// Its MIME type.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mime_type: Option<String>,
    /// Its size.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub size_bytes: Option<u64>,
    /// SHA-256 of its bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sha256: Option<String>,
}

/// An artifact and what it is bound to.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ArtifactSummary {
    /// The artifact.
    pub artifact: ArtifactRef,
    /// The workspace.
    pub workspace_id: WorkspaceId,
    /// The thread it came from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub primary_thread_id: Option<ThreadId>,
    /// Who made it.
    pub created_by_kind: ArtifactCreatedByKind,
    /// Which one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub created_by_actor_id: Option<String>,
    /// Unix seconds.
    pub created_at: i64,
    /// Unix seconds.
    pub updated_at: i64,
    /// What it is bound to, newest first.
    pub bindings: Vec<ArtifactBindingSummary>,
    /// Anything else.
    #[serde(default)]
    pub metadata: BTreeMap<String, Value>,
}

/// Params of [`ArtifactCapabilities`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ArtifactCapabilitiesParams {
    /// The workspace.
    pub workspace_id: WorkspaceId,
}

/// Response of [`ArtifactCapabilities`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ArtifactCapabilitiesResponse {
    /// For uploads.
    pub upload: ArtifactUploadCapabilities,
    /// For downloads.
    pub download: ArtifactDownloadCapabilities,
}

/// Limits of uploads.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ArtifactUploadCapabilities {
    /// Whether local files must be uploaded before a turn can name them.
    pub required_for_local_paths: bool,
    /// A good size of chunks.
    pub recommended_chunk_size_bytes: u64,
    /// The largest chunk.
    pub max_chunk_size_bytes: u64,
    /// The largest file.
    pub max_file_size_bytes: u64,
    /// The most artifacts of one turn.
    pub max_files_per_turn: u32,
}

/// Limits of downloads.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ArtifactDownloadCapabilities {
    /// A good size of chunks.
    pub recommended_chunk_size_bytes: u64,
    /// The largest chunk.
    pub max_chunk_size_bytes: u64,
    /// The most downloads of one connection and workspace at a time.
    pub max_concurrent_downloads: u32,
}

/// Params of [`ArtifactList`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ArtifactListParams {
    /// The workspace.
    pub workspace_id: WorkspaceId,
    /// Only artifacts bound to this thread.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thread_id: Option<ThreadId>,
    /// Only artifacts bound to this turn.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turn_id: Option<TurnId>,
    /// Only artifacts bound to this message.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message_id: Option<MessageId>,
    /// Only artifacts bound to this task.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task_id: Option<String>,
    /// Only artifacts bound to this run of a task.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task_run_id: Option<String>,
    /// Only artifacts of these kinds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kinds: Option<Vec<ArtifactKind>>,
    /// Whether deleted ones are listed too; `false` when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub include_deleted: Option<bool>,
    /// The `next_cursor` of the page before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cursor: Option<String>,
    /// The most artifacts to answer: 50 when absent, 200 at most.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<u32>,
}

/// Params of [`ArtifactListForThread`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ArtifactListForThreadParams {
    /// The workspace.
    pub workspace_id: WorkspaceId,
    /// The thread.
    pub thread_id: ThreadId,
    /// Only artifacts of these kinds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kinds: Option<Vec<ArtifactKind>>,
    /// Whether deleted ones are listed too; `false` when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub include_deleted: Option<bool>,
    /// The `next_cursor` of the page before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cursor: Option<String>,
    /// The most artifacts to answer: 50 when absent, 200 at most.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<u32>,
}

/// Params of [`ArtifactListForTurn`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ArtifactListForTurnParams {
    /// The workspace.
    pub workspace_id: WorkspaceId,
    /// The turn.
    pub turn_id: TurnId,
    /// Only artifacts of these kinds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kinds: Option<Vec<ArtifactKind>>,
    /// Whether deleted ones are listed too; `false` when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub include_deleted: Option<bool>,
    /// The `next_cursor` of the page before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cursor: Option<String>,
    /// The most artifacts to answer: 50 when absent, 200 at most.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<u32>,
}

/// Params of [`ArtifactListForMessage`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ArtifactListForMessageParams {
    /// The workspace.
    pub workspace_id: WorkspaceId,
    /// The message.
    pub message_id: MessageId,
    /// Only artifacts of these kinds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kinds: Option<Vec<ArtifactKind>>,
    /// Whether deleted ones are listed too; `false` when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub include_deleted: Option<bool>,
    /// The `next_cursor` of the page before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cursor: Option<String>,
    /// The most artifacts to answer: 50 when absent, 200 at most.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<u32>,
}

impl ArtifactListParams {
    /// Everything that is not deleted.
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

/// Response of the lists.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ArtifactListResponse {
    /// The artifacts.
    pub items: Vec<ArtifactSummary>,
    /// Where the next page begins; `null` on the last one.
    #[serde(default)]
    pub next_cursor: Option<String>,
}

/// Params of [`ArtifactGet`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ArtifactGetParams {
    /// The workspace.
    pub workspace_id: WorkspaceId,
    /// The artifact.
    pub artifact_id: ArtifactId,
    /// The version; the newest when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version_id: Option<ArtifactVersionId>,
}

/// Response of [`ArtifactGet`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ArtifactGetResponse {
    /// The artifact.
    pub artifact: ArtifactSummary,
    /// Where it comes from, if a turn or a run made it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lineage: Option<ArtifactLineage>,
}

/// What made an artifact.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ArtifactLineage {
    /// The run of a company folder.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run_id: Option<String>,
    /// The job it worked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub job_id: Option<String>,
    /// The thread.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thread_id: Option<ThreadId>,
    /// The turn; `turn/explain` tells all it was told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turn_id: Option<TurnId>,
    /// The instructions that were in force, in the versions that were.
    pub instructions: Vec<PromptDocument>,
}

/// Params of [`ArtifactRead`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ArtifactReadParams {
    /// The workspace.
    pub workspace_id: WorkspaceId,
    /// The artifact.
    pub artifact_id: ArtifactId,
    /// The version; the newest when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version_id: Option<ArtifactVersionId>,
    /// Read this projection instead of the bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub projection_kind: Option<ArtifactProjectionKind>,
    /// Where to begin; 0 when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub offset: Option<u64>,
    /// The most bytes; 1 MiB when absent and at most.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_bytes: Option<u64>,
}

/// Response of [`ArtifactRead`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ArtifactReadResponse {
    /// The artifact.
    pub artifact: ArtifactRef,
    /// Where the bytes begin.
    pub offset: u64,
    /// How many there are.
    pub len: u64,
    /// The size of the whole.
    pub total_size_bytes: u64,
    /// SHA-256 of the whole.
    pub sha256: String,
    /// The bytes.
    pub content_base64: String,
    /// Whether more bytes follow.
    pub truncated: bool,
}

/// Params of [`ArtifactDelete`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ArtifactDeleteParams {
    /// The workspace.
    pub workspace_id: WorkspaceId,
    /// The artifact.
    pub artifact_id: ArtifactId,
}

/// Response of [`ArtifactDelete`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ArtifactDeleteResponse {
    /// The artifact.
    pub artifact_id: ArtifactId,
    /// Its status now.
    pub status: ArtifactStatus,
}

/// Params of [`ArtifactRestore`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ArtifactRestoreParams {
    /// The workspace.
    pub workspace_id: WorkspaceId,
    /// The artifact.
    pub artifact_id: ArtifactId,
}

/// Response of [`ArtifactRestore`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ArtifactRestoreResponse {
    /// The artifact.
    pub artifact_id: ArtifactId,
    /// Its status now.
    pub status: ArtifactStatus,
}

/// Params of [`ArtifactVersionsList`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ArtifactVersionsListParams {
    /// The workspace.
    pub workspace_id: WorkspaceId,
    /// The artifact.
    pub artifact_id: ArtifactId,
    /// The `next_cursor` of the page before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cursor: Option<String>,
    /// The most versions to answer: 50 when absent, 200 at most.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<u32>,
}

/// Response of [`ArtifactVersionsList`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ArtifactVersionsListResponse {
    /// The versions.
    pub items: Vec<ArtifactVersionSummary>,
    /// Where the next page begins; `null` on the last one.
    #[serde(default)]
    pub next_cursor: Option<String>,
}

/// One version of an artifact.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ArtifactVersionSummary {
    /// The version.
    pub version_id: ArtifactVersionId,
    /// Its number, from 1.
    pub version_number: u64,
    /// Its size.
    pub size_bytes: u64,
    /// SHA-256 of its bytes.
    pub sha256: String,
    /// Its MIME type.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mime_type: Option<String>,
    /// Unix seconds.
    pub created_at: i64,
}

/// Params of [`ArtifactUsage`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ArtifactUsageParams {
    /// The workspace.
    pub workspace_id: WorkspaceId,
}

/// Response of [`ArtifactUsage`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ArtifactUsageResponse {
    /// Distinct bytes of artifacts that are not deleted, and of their projections.
    pub bytes: u64,
    /// Distinct files of these.
    pub files: u64,
    /// The most bytes.
    pub max_bytes: u64,
    /// The most files.
    pub max_files: u64,
    /// Bytes that only deleted artifacts hold.
    pub reclaimable_bytes: u64,
    /// Bytes on the disk, those that only deleted artifacts hold included.
    pub stored_bytes: u64,
    /// Declared sizes of the uploads that are open.
    pub open_upload_bytes: u64,
    /// The most `stored_bytes` and `open_upload_bytes` together.
    pub max_stored_bytes: u64,
}

/// Payload of `artifact/created`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ArtifactCreatedNotification {
    /// The workspace.
    pub workspace_id: WorkspaceId,
    /// The artifact.
    pub artifact: ArtifactSummary,
}

/// Payload of `artifact/updated`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ArtifactUpdatedNotification {
    /// The workspace.
    pub workspace_id: WorkspaceId,
    /// The artifact.
    pub artifact: ArtifactSummary,
}

/// Payload of `artifact/deleted`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ArtifactDeletedNotification {
    /// The workspace.
    pub workspace_id: WorkspaceId,
    /// The artifact.
    pub artifact_id: ArtifactId,
    /// Always `deleted`.
    pub status: ArtifactStatus,
    /// Unix seconds.
    pub deleted_at: i64,
}

/// Payload of `thread/artifacts/changed`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ThreadArtifactsChangedNotification {
    /// The workspace.
    pub workspace_id: WorkspaceId,
    /// The thread.
    pub thread_id: ThreadId,
    /// The artifacts it is about.
    pub artifact_ids: Vec<ArtifactId>,
    /// Why: `user_upload`, `new_version`, `user_input_binding`, `agent_output`, `task_result`, `bind`, `delete`,
    /// `restore`, `damaged` or `healed`.
    pub reason: String,
    /// Unix seconds.
    pub generated_at: i64,
}

/// Payload of `artifact/projection/updated`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ArtifactProjectionUpdatedNotification {
    /// The workspace.
    pub workspace_id: WorkspaceId,
    /// The artifact.
    pub artifact_id: ArtifactId,
    /// The version.
    pub version_id: ArtifactVersionId,
    /// What it shows.
    pub projection_kind: ArtifactProjectionKind,
    /// Whether it can be read.
    pub status: ArtifactProjectionStatus,
    /// Unix seconds.
    pub updated_at: i64,
}
