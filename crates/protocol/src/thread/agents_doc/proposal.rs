//! `thread/agents_doc/proposal/*`: changes of instruction files that wait for a decision.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{AgentsDocId, AgentsDocProposalId, FolderId, WorkspaceId, company::Presence};

crate::methods! {
    Tree family "thread/agents_doc/proposal";

    /// List the proposals of a workspace: those that wait first, then those that are over, each newest first.
    Read ThreadAgentsDocProposalList = "thread/agents_doc/proposal/list" (ThreadAgentsDocProposalListParams in workspace_id) -> ThreadAgentsDocProposalListResponse;
    /// Read one proposal with its whole text.
    Read ThreadAgentsDocProposalGet = "thread/agents_doc/proposal/get" (ThreadAgentsDocProposalGetParams in workspace_id) -> ThreadAgentsDocProposalGetResponse;
    /// Approve or deny a proposal. The first decision is final; the same again is answered the same.
    ///
    /// An approved text is saved with whoever approves as its author.
    /// A proposal against an old version cannot be approved: rebase it first.
    Write ThreadAgentsDocProposalDecide = "thread/agents_doc/proposal/decide" (ThreadAgentsDocProposalDecideParams in workspace_id only Human) -> ThreadAgentsDocProposalDecideResponse;
    /// Put a proposal on the current version, for whoever made it or may decide about it.
    ///
    /// Lines that only one side changed are taken from that side.
    /// Where both changed the same lines the answer is an error with all texts, and the caller gives the merged one.
    Propose ThreadAgentsDocProposalRebase = "thread/agents_doc/proposal/rebase" (ThreadAgentsDocProposalRebaseParams in workspace_id) -> ThreadAgentsDocProposalRebaseResponse;
    /// Take a proposal back, for whoever made it.
    Propose ThreadAgentsDocProposalWithdraw = "thread/agents_doc/proposal/withdraw" (ThreadAgentsDocProposalWithdrawParams in workspace_id) -> ThreadAgentsDocProposalWithdrawResponse;

    notifications {
        /// A proposal was made, rebased, decided or taken back.
        "thread/agents_doc/proposal/changed" = ThreadAgentsDocProposalChangedNotification;
    }
}

/// The most characters of a rationale or a note.
pub const MAX_RATIONALE_CHARS: usize = 4_096;

/// What became of a proposal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ThreadAgentsDocProposalStatus {
    /// It waits for a decision.
    Pending,
    /// Its text was saved.
    Approved,
    /// Nothing was changed.
    Denied,
    /// Whoever made it took it back, or its folder was deleted.
    Withdrawn,
}

/// What a person says to a proposal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ThreadAgentsDocDecision {
    /// Save it.
    Approve,
    /// Leave everything as it is.
    Deny,
}

/// A proposal without its whole text.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ThreadAgentsDocProposal {
    /// The proposal.
    pub id: AgentsDocProposalId,
    /// The workspace.
    pub workspace_id: WorkspaceId,
    /// The folder whose file it changes; absent for the root file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub folder_id: Option<FolderId>,
    /// What became of it.
    pub status: ThreadAgentsDocProposalStatus,
    /// The version it changes; 0 means that it makes a new file.
    pub base_version: i64,
    /// The version of the file now; 0 if there is none.
    pub current_version: i64,
    /// Whether it waits for a decision and the file has another version by now.
    pub is_stale: bool,
    /// The change as a unified diff against the version it changes.
    pub diff: String,
    /// SHA-256 of the proposed text, lower-case hexadecimal.
    pub content_sha256: String,
    /// The value for `expected_sha256`: it changes with the version the proposal changes and with the proposed text.
    pub sha256: String,
    /// The length of the proposed text in characters.
    pub char_count: u64,
    /// Why it should be changed.
    pub rationale: String,
    /// Who proposes it: `owner`, a token or an agent.
    pub author: String,
    /// Who decided or took it back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decided_by: Option<String>,
    /// How they were present.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decided_via: Option<Presence>,
    /// When that was, in Unix seconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decided_at: Option<i64>,
    /// What they said about it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// The file an approved text was saved in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub saved_doc_id: Option<AgentsDocId>,
    /// The version it was saved as.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub saved_version: Option<i64>,
    /// Unix seconds.
    pub created_at: i64,
    /// Unix seconds.
    pub updated_at: i64,
}

/// Params of [`ThreadAgentsDocProposalList`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ThreadAgentsDocProposalListParams {
    /// The workspace.
    pub workspace_id: WorkspaceId,
    /// Only those of this scope; absent for all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scope: Option<ThreadAgentsDocProposalScope>,
    /// Only those with this status; absent for all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<ThreadAgentsDocProposalStatus>,
    /// The `next_cursor` of the page before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cursor: Option<String>,
    /// The most proposals to answer: 20 when absent, 50 at most.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<u32>,
}

/// One scope of the tree.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ThreadAgentsDocProposalScope {
    /// The folder; absent for the root.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub folder_id: Option<FolderId>,
}

/// Response of [`ThreadAgentsDocProposalList`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ThreadAgentsDocProposalListResponse {
    /// The proposals.
    pub items: Vec<ThreadAgentsDocProposal>,
    /// Where the next page begins; absent on the last one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
}

/// Params of [`ThreadAgentsDocProposalGet`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ThreadAgentsDocProposalGetParams {
    /// The workspace.
    pub workspace_id: WorkspaceId,
    /// The proposal.
    pub proposal_id: AgentsDocProposalId,
}

/// Response of [`ThreadAgentsDocProposalGet`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ThreadAgentsDocProposalGetResponse {
    /// The proposal.
    pub proposal: ThreadAgentsDocProposal,
    /// The whole proposed text.
    pub content: String,
    /// The text it changes; empty if it makes a new file.
    pub base_content: String,
    /// The text of the file now; empty if there is none.
    pub current_content: String,
}

/// Params of [`ThreadAgentsDocProposalDecide`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ThreadAgentsDocProposalDecideParams {
    /// The workspace.
    pub workspace_id: WorkspaceId,
    /// The proposal.
    pub proposal_id: AgentsDocProposalId,
    /// What is decided.
    pub decision: ThreadAgentsDocDecision,
    /// What to say about it, 4096 characters at most.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// The `sha256` of the proposal that was looked at: if it was rebased since, nothing is decided. Absent for whatever
    /// is there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expected_sha256: Option<String>,
}

/// Response of [`ThreadAgentsDocProposalDecide`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ThreadAgentsDocProposalDecideResponse {
    /// The proposal as it is now.
    pub proposal: ThreadAgentsDocProposal,
}

/// Params of [`ThreadAgentsDocProposalRebase`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ThreadAgentsDocProposalRebaseParams {
    /// The workspace.
    pub workspace_id: WorkspaceId,
    /// The proposal.
    pub proposal_id: AgentsDocProposalId,
    /// The merged text, for lines that both sides changed; needs `current_version`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content: Option<String>,
    /// The version of the file that the text was merged with; absent for whichever there is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub current_version: Option<i64>,
}

/// Response of [`ThreadAgentsDocProposalRebase`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ThreadAgentsDocProposalRebaseResponse {
    /// The proposal as it is now.
    pub proposal: ThreadAgentsDocProposal,
}

/// Params of [`ThreadAgentsDocProposalWithdraw`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ThreadAgentsDocProposalWithdrawParams {
    /// The workspace.
    pub workspace_id: WorkspaceId,
    /// The proposal.
    pub proposal_id: AgentsDocProposalId,
}

/// Response of [`ThreadAgentsDocProposalWithdraw`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ThreadAgentsDocProposalWithdrawResponse {
    /// The proposal as it is now.
    pub proposal: ThreadAgentsDocProposal,
}

/// Payload of `thread/agents_doc/proposal/changed`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ThreadAgentsDocProposalChangedNotification {
    /// The workspace.
    pub workspace_id: WorkspaceId,
    /// The proposal.
    pub proposal_id: AgentsDocProposalId,
    /// The folder whose file it changes; absent for the root file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub folder_id: Option<FolderId>,
    /// What became of it.
    pub status: ThreadAgentsDocProposalStatus,
}
