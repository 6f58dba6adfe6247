//! `thread/agents_doc/*`: AGENTS.md instruction files attached to the thread tree.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::folder::ThreadFolder;
use crate::{AgentsDocId, FolderId, ThreadId, WorkspaceId};

use proposal::ThreadAgentsDocProposal;

pub mod proposal;

crate::methods! {
    Tree family "thread/agents_doc";

    /// Load the explicit file for one root/folder scope and the effective inherited file.
    Read ThreadAgentsDocGet = "thread/agents_doc/get" (ThreadAgentsDocGetParams in workspace_id) -> ThreadAgentsDocGetResponse;
    /// Create or update the explicit file for one root/folder scope.
    ///
    /// The gateway converts line endings to LF and changes nothing else, so that clients can compare hashes. Saving an
    /// unchanged text creates no new version.
    Write ThreadAgentsDocSave = "thread/agents_doc/save" (ThreadAgentsDocSaveParams in workspace_id) -> ThreadAgentsDocSaveResponse;
    /// Archive the explicit file for one root/folder scope.
    ///
    /// The file moves to the trash, from which `trash/restore` restores it for up to 30 days.
    Write ThreadAgentsDocArchive = "thread/agents_doc/archive" (ThreadAgentsDocArchiveParams in workspace_id) -> ThreadAgentsDocArchiveResponse;
    /// Resolve the effective file for one concrete thread.
    Read ThreadAgentsDocResolveForThread = "thread/agents_doc/resolve_for_thread" (ThreadAgentsDocResolveForThreadParams in workspace_id) -> ThreadAgentsDocResolveForThreadResponse;
    /// List the versions of a file without their texts, newest first.
    Read ThreadAgentsDocRevisions = "thread/agents_doc/revisions" (ThreadAgentsDocRevisionsParams in workspace_id) -> ThreadAgentsDocRevisionsResponse;
    /// Return one version of a file, also of an archived file.
    Read ThreadAgentsDocRevisionGet = "thread/agents_doc/revision_get" (ThreadAgentsDocRevisionGetParams in workspace_id) -> ThreadAgentsDocRevisionGetResponse;
    /// Save an old version of a file as its newest version.
    ///
    /// An archived file becomes the explicit file of its scope again; this fails if the scope has another file.
    Write ThreadAgentsDocRestore = "thread/agents_doc/restore" (ThreadAgentsDocRestoreParams in workspace_id) -> ThreadAgentsDocRestoreResponse;
    /// Return the prompt section that a new turn of a thread would contain.
    Read ThreadAgentsDocPreview = "thread/agents_doc/preview" (ThreadAgentsDocPreviewParams in workspace_id) -> ThreadAgentsDocPreviewResponse;
    /// Import the AGENTS.md and CLAUDE.md files of a repository; either all of them or none.
    ///
    /// Missing folders are created. A CLAUDE.md file is imported as the AGENTS.md of its folder if the folder has no
    /// AGENTS.md. Paths refer to the folder names that `thread/agents_doc/export` returns.
    Write ThreadAgentsDocImport = "thread/agents_doc/import" (ThreadAgentsDocImportParams in workspace_id) -> ThreadAgentsDocImportResponse;
    /// Return the files of a scope and of all folders below it, in the form that import accepts.
    Read ThreadAgentsDocExport = "thread/agents_doc/export" (ThreadAgentsDocExportParams in workspace_id) -> ThreadAgentsDocExportResponse;

    /// Propose a change to the file of one root/folder scope; a person decides about it.
    ///
    /// Proposing the same text again while the author's proposal is pending returns the existing proposal.
    Propose ThreadAgentsDocPropose = "thread/agents_doc/propose" (ThreadAgentsDocProposeParams in workspace_id) -> ThreadAgentsDocProposeResponse;

    notifications {
        /// The explicit or the effective file of a scope changed; clients should reload the scope.
        "thread/agents_doc/changed" = ThreadAgentsDocChangedNotification;
    }
}

/// The maximum length of the text of a file in characters.
pub const MAX_CONTENT_CHARS: usize = 65_536;

/// The status of a file, which determines whether it takes part in inheritance.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ThreadAgentsDocStatus {
    /// The file contains only whitespace. It is displayed but never sent to a model.
    Draft,
    /// The file has text and takes part in inheritance.
    Active,
    /// The file was removed from the tree.
    Archived,
}

/// The reason why a text was saved.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ThreadAgentsDocSaveReason {
    /// The editor saved the text automatically.
    #[default]
    Autosave,
    /// The user saved the text explicitly.
    Manual,
}

/// A file with its text.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ThreadAgentsDocPayload {
    /// The id of the document.
    pub id: AgentsDocId,
    /// The id of the workspace that owns the document.
    pub workspace_id: WorkspaceId,
    /// The id of the folder. Absent for the file of the root.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub folder_id: Option<FolderId>,
    /// The status of the file.
    pub status: ThreadAgentsDocStatus,
    /// The file name; always `AGENTS.md`.
    pub title: String,
    /// The text of the file.
    pub content: String,
    /// The SHA-256 of the text in lower-case hexadecimal.
    pub content_sha256: String,
    /// The version number. It increases with every change; a scope never uses a number twice.
    pub version: i64,
    /// The time of creation in Unix seconds.
    pub created_at: i64,
    /// The time of the last change in Unix seconds.
    pub updated_at: i64,
}

/// A file without its text.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ThreadAgentsDocSummary {
    /// The id of the document.
    pub id: AgentsDocId,
    /// The id of the workspace that owns the document.
    pub workspace_id: WorkspaceId,
    /// The id of the folder. Absent for the file of the root.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub folder_id: Option<FolderId>,
    /// The status of the file.
    pub status: ThreadAgentsDocStatus,
    /// The SHA-256 of the text in lower-case hexadecimal.
    pub content_sha256: String,
    /// The current version number.
    pub version: i64,
    /// The length of the text in characters.
    pub char_count: u64,
    /// The time of the last change in Unix seconds.
    pub updated_at: i64,
}

/// The effective file of a scope or a thread.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ThreadAgentsDocResolvedPayload {
    /// The effective file.
    pub doc: ThreadAgentsDocPayload,
    /// The id of the folder of the file. Absent for the root.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source_folder_id: Option<FolderId>,
    /// The folder names from the root of the tree to the folder of the file. Empty for the root.
    pub source_path: Vec<String>,
    /// Whether the file belongs to a scope above the requested one.
    pub inherited: bool,
    /// The id of the requested folder. Absent for the root.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resolved_for_folder_id: Option<FolderId>,
    /// The time of the resolution in Unix seconds.
    pub resolved_at: i64,
}

/// Params of [`ThreadAgentsDocGet`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ThreadAgentsDocGetParams {
    /// The id of the workspace.
    pub workspace_id: WorkspaceId,
    /// The id of the folder. Absent for the root.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub folder_id: Option<FolderId>,
}

/// Response of [`ThreadAgentsDocGet`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ThreadAgentsDocGetResponse {
    /// The file of the scope itself. Absent if the scope has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub explicit: Option<ThreadAgentsDocPayload>,
    /// The nearest active file of the scope or of a scope above it. Absent if there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub effective: Option<ThreadAgentsDocResolvedPayload>,
}

/// Params of [`ThreadAgentsDocSave`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ThreadAgentsDocSaveParams {
    /// The id of the workspace.
    pub workspace_id: WorkspaceId,
    /// The id of the folder. Absent for the root.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub folder_id: Option<FolderId>,
    /// The whole text, at most 65536 characters.
    pub content: String,
    /// The version that the client last read; 0 if the scope must have no file. The call fails if the version differs.
    /// Absent to save without this check.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expected_version: Option<i64>,
    /// The reason for the save. Default `autosave`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub save_reason: Option<ThreadAgentsDocSaveReason>,
}

/// Response of [`ThreadAgentsDocSave`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ThreadAgentsDocSaveResponse {
    /// The file after the save.
    pub doc: ThreadAgentsDocPayload,
    /// Sentences about problems with the text, for example that a prompt has no room for all of it. Absent if there are
    /// none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub content_warnings: Vec<String>,
}

/// Params of [`ThreadAgentsDocPropose`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ThreadAgentsDocProposeParams {
    /// The id of the workspace.
    pub workspace_id: WorkspaceId,
    /// The id of the folder. Absent for the root.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub folder_id: Option<FolderId>,
    /// The whole proposed text, at most 65536 characters.
    pub content: String,
    /// The reason for the change, 1 to 4096 characters.
    pub rationale: String,
    /// The version that the proposal changes; 0 for a new file. Default: the current version.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base_version: Option<i64>,
}

/// Response of [`ThreadAgentsDocPropose`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ThreadAgentsDocProposeResponse {
    /// The new proposal, or the pending one with the same text.
    pub proposal: ThreadAgentsDocProposal,
}

/// Params of [`ThreadAgentsDocArchive`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ThreadAgentsDocArchiveParams {
    /// The id of the workspace.
    pub workspace_id: WorkspaceId,
    /// The id of the folder. Absent for the root.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub folder_id: Option<FolderId>,
    /// The version that the client last read. The call fails if the version differs. Absent to archive without this
    /// check.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expected_version: Option<i64>,
}

/// Response of [`ThreadAgentsDocArchive`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ThreadAgentsDocArchiveResponse {
    /// Whether the scope had a file.
    pub archived: bool,
    /// The effective file of the scope after the call. Absent if there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub effective: Option<ThreadAgentsDocResolvedPayload>,
}

/// Params of [`ThreadAgentsDocResolveForThread`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ThreadAgentsDocResolveForThreadParams {
    /// The id of the workspace that owns the thread.
    pub workspace_id: WorkspaceId,
    /// The id of the thread.
    pub thread_id: ThreadId,
}

/// Response of [`ThreadAgentsDocResolveForThread`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ThreadAgentsDocResolveForThreadResponse {
    /// The effective file of the thread. Absent if there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub effective: Option<ThreadAgentsDocResolvedPayload>,
}

/// Params of [`ThreadAgentsDocRevisions`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ThreadAgentsDocRevisionsParams {
    /// The id of the workspace that owns the document.
    pub workspace_id: WorkspaceId,
    /// The id of the document.
    pub doc_id: AgentsDocId,
    /// The `next_cursor` of the previous page. Absent for the first page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cursor: Option<String>,
    /// The maximum number of versions to return. Default 100, maximum 500.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<u32>,
}

/// Response of [`ThreadAgentsDocRevisions`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ThreadAgentsDocRevisionsResponse {
    /// The versions, newest first.
    pub items: Vec<ThreadAgentsDocRevisionSummary>,
    /// The cursor of the next page. Absent on the last page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
}

/// One version of a file without its text.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ThreadAgentsDocRevisionSummary {
    /// The version number.
    pub version: i64,
    /// The SHA-256 of the text in lower-case hexadecimal.
    pub content_sha256: String,
    /// The length of the text in characters.
    pub char_count: u64,
    /// The time at which the version was saved, in Unix seconds.
    pub saved_at: i64,
    /// The principal that saved the version: `owner` or the id of a token. Absent if it is unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub saved_by: Option<String>,
    /// The reason for the save: `autosave`, `manual`, `restore`, `archive` or `proposal`.
    pub save_reason: String,
}

/// Params of [`ThreadAgentsDocRevisionGet`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ThreadAgentsDocRevisionGetParams {
    /// The id of the workspace that owns the document.
    pub workspace_id: WorkspaceId,
    /// The id of the document.
    pub doc_id: AgentsDocId,
    /// The version number to return.
    pub version: i64,
}

/// Response of [`ThreadAgentsDocRevisionGet`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ThreadAgentsDocRevisionGetResponse {
    /// The requested version.
    pub revision: ThreadAgentsDocRevision,
}

/// One version of a file with its text.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ThreadAgentsDocRevision {
    /// The id of the document.
    pub doc_id: AgentsDocId,
    /// The version number.
    pub version: i64,
    /// The text of the version.
    pub content: String,
    /// The SHA-256 of the text in lower-case hexadecimal.
    pub content_sha256: String,
    /// The time at which the version was saved, in Unix seconds.
    pub saved_at: i64,
    /// The principal that saved the version: `owner` or the id of a token. Absent if it is unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub saved_by: Option<String>,
    /// The reason for the save: `autosave`, `manual`, `restore`, `archive` or `proposal`.
    pub save_reason: String,
}

/// Params of [`ThreadAgentsDocRestore`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ThreadAgentsDocRestoreParams {
    /// The id of the workspace that owns the document.
    pub workspace_id: WorkspaceId,
    /// The id of the document.
    pub doc_id: AgentsDocId,
    /// The version number to restore. Default: the number before the current one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<i64>,
    /// The version that the client last read. The call fails if the version differs. Absent to restore without this
    /// check; ignored for archived files.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expected_version: Option<i64>,
}

/// Response of [`ThreadAgentsDocRestore`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ThreadAgentsDocRestoreResponse {
    /// The file after the restore.
    pub doc: ThreadAgentsDocPayload,
    /// Sentences about problems with the text, for example that a prompt has no room for all of it. Absent if there are
    /// none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub content_warnings: Vec<String>,
}

/// Params of [`ThreadAgentsDocPreview`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ThreadAgentsDocPreviewParams {
    /// The id of the workspace that owns the thread.
    pub workspace_id: WorkspaceId,
    /// The id of the thread.
    pub thread_id: ThreadId,
}

/// Response of [`ThreadAgentsDocPreview`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ThreadAgentsDocPreviewResponse {
    /// The exact text of the prompt section. Empty if the thread has no effective file.
    pub text: String,
    /// The length of `text` in characters.
    pub char_count: u64,
    /// Whether the section contains only the beginning of the file.
    pub truncated: bool,
    /// The id of the effective document. Absent if there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub doc_id: Option<AgentsDocId>,
    /// The version number of the effective document. Absent if there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<i64>,
    /// The folder names from the root of the tree to the folder of the file. Empty for the root.
    pub source_path: Vec<String>,
}

/// Params of [`ThreadAgentsDocImport`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ThreadAgentsDocImportParams {
    /// The id of the workspace.
    pub workspace_id: WorkspaceId,
    /// The id of the folder that corresponds to the root of the repository. Absent for the root of the tree.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub folder_id: Option<FolderId>,
    /// The files to import, at most 5000.
    pub files: Vec<ThreadAgentsDocFile>,
    /// The treatment of files that already exist in the tree.
    pub mode: ThreadAgentsDocImportMode,
}

/// One instruction file of a repository.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ThreadAgentsDocFile {
    /// The path in the repository, separated by `/` and ending in `AGENTS.md` or `CLAUDE.md`.
    pub path: String,
    /// The text of the file, at most 65536 characters.
    pub content: String,
    /// The version of the file in the tree that the client last read; 0 if the scope must have no file. The whole
    /// import fails if the version differs. Absent to import without this check.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expected_version: Option<i64>,
}

impl ThreadAgentsDocFile {
    /// Returns whether the file is a CLAUDE.md that only refers to the AGENTS.md beside it. Import skips such files.
    pub fn is_pointer(&self) -> bool {
        self.path.ends_with("CLAUDE.md")
            && matches!(self.content.trim(), "@AGENTS.md" | "@./AGENTS.md")
    }
}

/// The treatment of files that already exist in the tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ThreadAgentsDocImportMode {
    /// Existing files stay unchanged; only missing ones are created.
    Create,
    /// Existing files get the imported text.
    Update,
}

/// Response of [`ThreadAgentsDocImport`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ThreadAgentsDocImportResponse {
    /// The files that were created or changed.
    pub docs: Vec<ThreadAgentsDocPayload>,
    /// The folders that were created.
    pub folders: Vec<ThreadFolder>,
}

/// Params of [`ThreadAgentsDocExport`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ThreadAgentsDocExportParams {
    /// The id of the workspace.
    pub workspace_id: WorkspaceId,
    /// The id of the folder to start at. Absent for the root.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub folder_id: Option<FolderId>,
}

/// Response of [`ThreadAgentsDocExport`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ThreadAgentsDocExportResponse {
    /// The files, ordered by path.
    pub files: Vec<ThreadAgentsDocExportedFile>,
    /// All folders below the scope, including those without a file, ordered by path.
    pub folders: Vec<ThreadAgentsDocExportedFolder>,
}

/// One file of the tree in the form of a repository file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ThreadAgentsDocExportedFile {
    /// The path relative to the exported scope, separated by `/` and ending in `AGENTS.md`.
    pub path: String,
    /// The text of the file.
    pub content: String,
    /// The SHA-256 of the text in lower-case hexadecimal.
    pub content_sha256: String,
    /// The current version number of the file.
    pub version: i64,
}

/// One folder of the tree in the form of a repository directory.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ThreadAgentsDocExportedFolder {
    /// The path relative to the exported scope, separated by `/`. Characters that are not allowed in a path become `_`,
    /// and duplicate names get a number.
    pub path: String,
    /// The id of the folder.
    pub folder_id: FolderId,
}

/// Payload of `thread/agents_doc/changed`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ThreadAgentsDocChangedNotification {
    /// The id of the workspace.
    pub workspace_id: WorkspaceId,
    /// The id of the folder. Absent for the root.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub folder_id: Option<FolderId>,
    /// The explicit file of the scope after the change. Absent if the file itself did not change, for example when its
    /// folder was moved.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub doc: Option<ThreadAgentsDocPayload>,
    /// The effective file of the scope after the change. Absent if there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub effective: Option<ThreadAgentsDocResolvedPayload>,
    /// Whether the effective file or its version differs from the one before the change.
    pub effective_changed: bool,
}
