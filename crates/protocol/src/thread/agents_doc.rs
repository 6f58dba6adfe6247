//! `thread/agents_doc/*`: instruction files attached to the thread tree.

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
    /// Line endings become LF and nothing else is changed, so that clients can compare hashes.
    /// A text that is there already makes no new version.
    Write ThreadAgentsDocSave = "thread/agents_doc/save" (ThreadAgentsDocSaveParams in workspace_id) -> ThreadAgentsDocSaveResponse;
    /// Archive the explicit file for one root/folder scope.
    Write ThreadAgentsDocArchive = "thread/agents_doc/archive" (ThreadAgentsDocArchiveParams in workspace_id) -> ThreadAgentsDocArchiveResponse;
    /// Resolve the effective file for one concrete thread.
    Read ThreadAgentsDocResolveForThread = "thread/agents_doc/resolve_for_thread" (ThreadAgentsDocResolveForThreadParams in workspace_id) -> ThreadAgentsDocResolveForThreadResponse;
    /// List the versions of a file, newest first, without their texts.
    Read ThreadAgentsDocRevisions = "thread/agents_doc/revisions" (ThreadAgentsDocRevisionsParams in workspace_id) -> ThreadAgentsDocRevisionsResponse;
    /// Read one version of a file, also of an archived one.
    Read ThreadAgentsDocRevisionGet = "thread/agents_doc/revision_get" (ThreadAgentsDocRevisionGetParams in workspace_id) -> ThreadAgentsDocRevisionGetResponse;
    /// Write an old version as a new one.
    ///
    /// An archived file becomes the file of its scope again, unless the scope has another one by now.
    Write ThreadAgentsDocRestore = "thread/agents_doc/restore" (ThreadAgentsDocRestoreParams in workspace_id) -> ThreadAgentsDocRestoreResponse;
    /// Show exactly the section a new turn of a thread would get.
    Read ThreadAgentsDocPreview = "thread/agents_doc/preview" (ThreadAgentsDocPreviewParams in workspace_id) -> ThreadAgentsDocPreviewResponse;
    /// Create the folders and files of a repository's AGENTS.md and CLAUDE.md files, all or nothing.
    ///
    /// A CLAUDE.md counts as the AGENTS.md of its folder when there is none.
    /// Paths mean the folders that export gives them.
    Write ThreadAgentsDocImport = "thread/agents_doc/import" (ThreadAgentsDocImportParams in workspace_id) -> ThreadAgentsDocImportResponse;
    /// Answer the files below a scope the way import takes them.
    Read ThreadAgentsDocExport = "thread/agents_doc/export" (ThreadAgentsDocExportParams in workspace_id) -> ThreadAgentsDocExportResponse;

    /// Propose a change of the file of one root/folder scope, for a person to decide about.
    ///
    /// The same text proposed again by the same author, while it waits, is the same proposal.
    Propose ThreadAgentsDocPropose = "thread/agents_doc/propose" (ThreadAgentsDocProposeParams in workspace_id) -> ThreadAgentsDocProposeResponse;

    notifications {
        /// The file of a scope, or what is in force there, changed: load the scope again.
        "thread/agents_doc/changed" = ThreadAgentsDocChangedNotification;
    }
}

/// The most characters of a text.
pub const MAX_CONTENT_CHARS: usize = 65_536;

/// Whether a file takes part in inheritance.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ThreadAgentsDocStatus {
    /// It exists and is empty: shown, never sent to a model.
    Draft,
    /// It has text and takes part in inheritance.
    Active,
    /// It was deleted from the tree.
    Archived,
}

/// Why a text was saved.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ThreadAgentsDocSaveReason {
    /// The editor saved by itself.
    #[default]
    Autosave,
    /// Somebody asked for it.
    Manual,
}

/// A file with its text.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ThreadAgentsDocPayload {
    /// The document.
    pub id: AgentsDocId,
    /// The workspace that owns it.
    pub workspace_id: WorkspaceId,
    /// The folder; absent for the root file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub folder_id: Option<FolderId>,
    /// Whether it takes part in inheritance.
    pub status: ThreadAgentsDocStatus,
    /// Always `AGENTS.md`.
    pub title: String,
    /// The text.
    pub content: String,
    /// SHA-256 of the text, lower-case hexadecimal.
    pub content_sha256: String,
    /// Grows with every save; the versions of a scope never repeat.
    pub version: i64,
    /// Unix seconds.
    pub created_at: i64,
    /// Unix seconds.
    pub updated_at: i64,
}

/// A file without its text.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ThreadAgentsDocSummary {
    /// The document.
    pub id: AgentsDocId,
    /// The workspace that owns it.
    pub workspace_id: WorkspaceId,
    /// The folder; absent for the root file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub folder_id: Option<FolderId>,
    /// Whether it takes part in inheritance.
    pub status: ThreadAgentsDocStatus,
    /// SHA-256 of the text, lower-case hexadecimal.
    pub content_sha256: String,
    /// The version.
    pub version: i64,
    /// The length of the text in characters.
    pub char_count: u64,
    /// Unix seconds.
    pub updated_at: i64,
}

/// The file in force for a scope or a thread.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ThreadAgentsDocResolvedPayload {
    /// The file.
    pub doc: ThreadAgentsDocPayload,
    /// Its folder; absent for the root.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source_folder_id: Option<FolderId>,
    /// The names of the folders from the root of the tree down to the file's folder.
    pub source_path: Vec<String>,
    /// Whether it comes from above the requested scope.
    pub inherited: bool,
    /// The requested folder; absent for the root.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resolved_for_folder_id: Option<FolderId>,
    /// Unix seconds.
    pub resolved_at: i64,
}

/// Params of [`ThreadAgentsDocGet`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ThreadAgentsDocGetParams {
    /// The workspace.
    pub workspace_id: WorkspaceId,
    /// The folder; absent for the root.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub folder_id: Option<FolderId>,
}

/// Response of [`ThreadAgentsDocGet`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ThreadAgentsDocGetResponse {
    /// The file of the scope itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub explicit: Option<ThreadAgentsDocPayload>,
    /// The file in force.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub effective: Option<ThreadAgentsDocResolvedPayload>,
}

/// Params of [`ThreadAgentsDocSave`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ThreadAgentsDocSaveParams {
    /// The workspace.
    pub workspace_id: WorkspaceId,
    /// The folder; absent for the root.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub folder_id: Option<FolderId>,
    /// The whole text, 65536 characters at most.
    pub content: String,
    /// The version the client saw last; 0 means that there must be no file yet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expected_version: Option<i64>,
    /// Why; `autosave` when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub save_reason: Option<ThreadAgentsDocSaveReason>,
}

/// Response of [`ThreadAgentsDocSave`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ThreadAgentsDocSaveResponse {
    /// The file as it is now.
    pub doc: ThreadAgentsDocPayload,
    /// What to know about the text, such as that it is longer than a prompt can take.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub content_warnings: Vec<String>,
}

/// Params of [`ThreadAgentsDocPropose`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ThreadAgentsDocProposeParams {
    /// The workspace.
    pub workspace_id: WorkspaceId,
    /// The folder; absent for the root.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub folder_id: Option<FolderId>,
    /// The whole text as it should be, 65536 characters at most.
    pub content: String,
    /// Why, 4096 characters at most.
    pub rationale: String,
    /// The version that was changed: the current one when absent, 0 for no file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base_version: Option<i64>,
}

/// Response of [`ThreadAgentsDocPropose`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ThreadAgentsDocProposeResponse {
    /// The proposal.
    pub proposal: ThreadAgentsDocProposal,
}

/// Params of [`ThreadAgentsDocArchive`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ThreadAgentsDocArchiveParams {
    /// The workspace.
    pub workspace_id: WorkspaceId,
    /// The folder; absent for the root.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub folder_id: Option<FolderId>,
    /// The version the client saw last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expected_version: Option<i64>,
}

/// Response of [`ThreadAgentsDocArchive`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ThreadAgentsDocArchiveResponse {
    /// Whether there was a file.
    pub archived: bool,
    /// The file in force now.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub effective: Option<ThreadAgentsDocResolvedPayload>,
}

/// Params of [`ThreadAgentsDocResolveForThread`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ThreadAgentsDocResolveForThreadParams {
    /// The workspace.
    pub workspace_id: WorkspaceId,
    /// The thread.
    pub thread_id: ThreadId,
}

/// Response of [`ThreadAgentsDocResolveForThread`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ThreadAgentsDocResolveForThreadResponse {
    /// The file in force.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub effective: Option<ThreadAgentsDocResolvedPayload>,
}

/// Params of [`ThreadAgentsDocRevisions`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ThreadAgentsDocRevisionsParams {
    /// The workspace.
    pub workspace_id: WorkspaceId,
    /// The document.
    pub doc_id: AgentsDocId,
    /// The `next_cursor` of the page before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cursor: Option<String>,
    /// The most versions to answer: 100 when absent, 500 at most.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<u32>,
}

/// Response of [`ThreadAgentsDocRevisions`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ThreadAgentsDocRevisionsResponse {
    /// The versions, newest first.
    pub items: Vec<ThreadAgentsDocRevisionSummary>,
    /// Where the next page begins; absent on the last one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
}

/// One version of a file without its text.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ThreadAgentsDocRevisionSummary {
    /// The version.
    pub version: i64,
    /// SHA-256 of the text.
    pub content_sha256: String,
    /// The length of the text in characters.
    pub char_count: u64,
    /// Unix seconds.
    pub saved_at: i64,
    /// Who saved it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub saved_by: Option<String>,
    /// `autosave`, `manual`, `restore`, `archive` or `proposal`.
    pub save_reason: String,
}

/// Params of [`ThreadAgentsDocRevisionGet`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ThreadAgentsDocRevisionGetParams {
    /// The workspace.
    pub workspace_id: WorkspaceId,
    /// The document.
    pub doc_id: AgentsDocId,
    /// The version.
    pub version: i64,
}

/// Response of [`ThreadAgentsDocRevisionGet`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ThreadAgentsDocRevisionGetResponse {
    /// The version.
    pub revision: ThreadAgentsDocRevision,
}

/// One version of a file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ThreadAgentsDocRevision {
    /// The document.
    pub doc_id: AgentsDocId,
    /// The version.
    pub version: i64,
    /// The text.
    pub content: String,
    /// SHA-256 of the text.
    pub content_sha256: String,
    /// Unix seconds.
    pub saved_at: i64,
    /// Who saved it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub saved_by: Option<String>,
    /// `autosave`, `manual`, `restore` or `archive`.
    pub save_reason: String,
}

/// Params of [`ThreadAgentsDocRestore`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ThreadAgentsDocRestoreParams {
    /// The workspace.
    pub workspace_id: WorkspaceId,
    /// The document.
    pub doc_id: AgentsDocId,
    /// The version to write again; the one before the last when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<i64>,
    /// The version the client saw last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expected_version: Option<i64>,
}

/// Response of [`ThreadAgentsDocRestore`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ThreadAgentsDocRestoreResponse {
    /// The file as it is now.
    pub doc: ThreadAgentsDocPayload,
    /// What to know about the text.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub content_warnings: Vec<String>,
}

/// Params of [`ThreadAgentsDocPreview`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ThreadAgentsDocPreviewParams {
    /// The workspace.
    pub workspace_id: WorkspaceId,
    /// The thread.
    pub thread_id: ThreadId,
}

/// Response of [`ThreadAgentsDocPreview`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ThreadAgentsDocPreviewResponse {
    /// Exactly the section a new turn would get; empty when nothing applies.
    pub text: String,
    /// Its length in characters.
    pub char_count: u64,
    /// Whether the file is longer than what is shown.
    pub truncated: bool,
    /// The document.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub doc_id: Option<AgentsDocId>,
    /// Its version.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<i64>,
    /// The names of the folders from the root down to the file's folder.
    pub source_path: Vec<String>,
}

/// Params of [`ThreadAgentsDocImport`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ThreadAgentsDocImportParams {
    /// The workspace.
    pub workspace_id: WorkspaceId,
    /// The folder that stands for the root of the repository; absent for the root of the tree.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub folder_id: Option<FolderId>,
    /// The files.
    pub files: Vec<ThreadAgentsDocFile>,
    /// What happens to files that are there.
    pub mode: ThreadAgentsDocImportMode,
}

/// One instruction file of a repository.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ThreadAgentsDocFile {
    /// The path in the repository with `/`, ending in `AGENTS.md` or `CLAUDE.md`.
    pub path: String,
    /// The text.
    pub content: String,
    /// The version of the scope's file the client saw last, 0 for none: if there is another, nothing is imported.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expected_version: Option<i64>,
}

impl ThreadAgentsDocFile {
    /// Whether it is a CLAUDE.md that only says where the text is.
    pub fn is_pointer(&self) -> bool {
        self.path.ends_with("CLAUDE.md")
            && matches!(self.content.trim(), "@AGENTS.md" | "@./AGENTS.md")
    }
}

/// What an import does to files that are there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ThreadAgentsDocImportMode {
    /// They stay as they are.
    Create,
    /// They get the new text.
    Update,
}

/// Response of [`ThreadAgentsDocImport`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ThreadAgentsDocImportResponse {
    /// The files that were created or changed.
    pub docs: Vec<ThreadAgentsDocPayload>,
    /// The folders that were made.
    pub folders: Vec<ThreadFolder>,
}

/// Params of [`ThreadAgentsDocExport`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ThreadAgentsDocExportParams {
    /// The workspace.
    pub workspace_id: WorkspaceId,
    /// The folder to begin at; absent for the root.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub folder_id: Option<FolderId>,
}

/// Response of [`ThreadAgentsDocExport`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ThreadAgentsDocExportResponse {
    /// The files, by path.
    pub files: Vec<ThreadAgentsDocExportedFile>,
    /// Every folder below the scope, by path, also those without a file.
    pub folders: Vec<ThreadAgentsDocExportedFolder>,
}

/// One file of the tree as a file of a repository.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ThreadAgentsDocExportedFile {
    /// The path with `/`, ending in `AGENTS.md`.
    pub path: String,
    /// The text.
    pub content: String,
    /// SHA-256 of the text.
    pub content_sha256: String,
    /// The version.
    pub version: i64,
}

/// One folder of the tree as a directory of a repository.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ThreadAgentsDocExportedFolder {
    /// The path with `/`.
    pub path: String,
    /// The folder.
    pub folder_id: FolderId,
}

/// Payload of `thread/agents_doc/changed`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ThreadAgentsDocChangedNotification {
    /// The workspace.
    pub workspace_id: WorkspaceId,
    /// The scope; absent for the root.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub folder_id: Option<FolderId>,
    /// The file, if it was the file that changed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub doc: Option<ThreadAgentsDocPayload>,
    /// What is in force in the scope now.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub effective: Option<ThreadAgentsDocResolvedPayload>,
    /// Whether another file, or another version, is in force than before.
    pub effective_changed: bool,
}
