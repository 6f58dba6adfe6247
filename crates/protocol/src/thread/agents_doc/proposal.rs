//! `thread/agents_doc/proposal/*`: proposed changes to AGENTS.md files that a person decides about.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{AgentsDocId, AgentsDocProposalId, FolderId, WorkspaceId, company::Presence};

crate::methods! {
    Tree family "thread/agents_doc/proposal";

    /// List the proposals of a workspace: pending ones first, then closed ones, each newest first.
    Read ThreadAgentsDocProposalList = "thread/agents_doc/proposal/list" (ThreadAgentsDocProposalListParams in workspace_id) -> ThreadAgentsDocProposalListResponse;
    /// Return one proposal with its whole text.
    Read ThreadAgentsDocProposalGet = "thread/agents_doc/proposal/get" (ThreadAgentsDocProposalGetParams in workspace_id) -> ThreadAgentsDocProposalGetResponse;
    /// Approve or deny a proposal.
    ///
    /// The first decision is final; repeating the same decision has no effect and returns the same result. An approved
    /// text is saved with the approving principal as its author. A proposal whose base version is outdated cannot be
    /// approved and must be rebased first.
    Write ThreadAgentsDocProposalDecide = "thread/agents_doc/proposal/decide" (ThreadAgentsDocProposalDecideParams in workspace_id only Human) -> ThreadAgentsDocProposalDecideResponse;
    /// Rebase a proposal onto the current version of the file.
    ///
    /// Only the author of the proposal and principals with role `human` may call it. Lines that only one side changed
    /// are taken from that side. If both sides changed the same lines, the call fails with an error that contains all
    /// texts, and a person must supply the merged text.
    Propose ThreadAgentsDocProposalRebase = "thread/agents_doc/proposal/rebase" (ThreadAgentsDocProposalRebaseParams in workspace_id) -> ThreadAgentsDocProposalRebaseResponse;
    /// Withdraw a proposal; only its author may do so.
    Propose ThreadAgentsDocProposalWithdraw = "thread/agents_doc/proposal/withdraw" (ThreadAgentsDocProposalWithdrawParams in workspace_id) -> ThreadAgentsDocProposalWithdrawResponse;

    notifications {
        /// A proposal was created, rebased, decided or withdrawn.
        "thread/agents_doc/proposal/changed" = ThreadAgentsDocProposalChangedNotification;
    }
}

/// The maximum length of a rationale or a note in characters.
pub const MAX_RATIONALE_CHARS: usize = 4_096;

/// The status of a proposal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ThreadAgentsDocProposalStatus {
    /// The proposal waits for a decision.
    Pending,
    /// The proposal was approved and its text was saved.
    Approved,
    /// The proposal was denied; the file did not change.
    Denied,
    /// The author withdrew the proposal, or its folder was deleted.
    Withdrawn,
}

/// A decision about a proposal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ThreadAgentsDocDecision {
    /// Save the proposed text.
    Approve,
    /// Reject the proposal; the file stays unchanged.
    Deny,
}

/// A proposal without its whole text.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ThreadAgentsDocProposal {
    /// The id of the proposal.
    pub id: AgentsDocProposalId,
    /// The id of the workspace.
    pub workspace_id: WorkspaceId,
    /// The id of the folder whose file the proposal changes. Absent for the file of the root.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub folder_id: Option<FolderId>,
    /// The status of the proposal.
    pub status: ThreadAgentsDocProposalStatus,
    /// The version that the proposal changes; 0 if it creates the file.
    pub base_version: i64,
    /// The current version of the file; 0 if there is none.
    pub current_version: i64,
    /// Whether the proposal is pending and its base version is not the current version.
    pub is_stale: bool,
    /// The change as a unified diff against the base version.
    pub diff: String,
    /// The SHA-256 of the proposed text in lower-case hexadecimal.
    pub content_sha256: String,
    /// The SHA-256 to send as `expected_sha256`, in lower-case hexadecimal. It depends on the id of the proposal, its
    /// base version and its text.
    pub sha256: String,
    /// The length of the proposed text in characters.
    pub char_count: u64,
    /// The reason for the change.
    pub rationale: String,
    /// The author of the proposal: `owner`, the id of a token, or the id of an agent.
    pub author: String,
    /// The principal that decided about or withdrew the proposal. Absent while it is pending.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decided_by: Option<String>,
    /// The type of connection through which the decision was made. Absent while the proposal is pending.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decided_via: Option<Presence>,
    /// The time of the decision in Unix seconds. Absent while the proposal is pending.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decided_at: Option<i64>,
    /// The comment on the decision. Absent if there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// The id of the document in which the approved text was saved. Absent unless the proposal is approved.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub saved_doc_id: Option<AgentsDocId>,
    /// The version number under which the approved text was saved. Absent unless the proposal is approved.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub saved_version: Option<i64>,
    /// The time of creation in Unix seconds.
    pub created_at: i64,
    /// The time of the last change in Unix seconds.
    pub updated_at: i64,
}

/// Params of [`ThreadAgentsDocProposalList`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ThreadAgentsDocProposalListParams {
    /// The id of the workspace.
    pub workspace_id: WorkspaceId,
    /// Return only proposals of this scope. Absent for all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scope: Option<ThreadAgentsDocProposalScope>,
    /// Return only proposals with this status. Absent for all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<ThreadAgentsDocProposalStatus>,
    /// The `next_cursor` of the previous page. Absent for the first page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cursor: Option<String>,
    /// The maximum number of proposals to return. Default 20, maximum 50.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<u32>,
}

/// One scope of the thread tree: a folder or the root.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ThreadAgentsDocProposalScope {
    /// The id of the folder. Absent for the root.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub folder_id: Option<FolderId>,
}

/// Response of [`ThreadAgentsDocProposalList`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ThreadAgentsDocProposalListResponse {
    /// The proposals: pending ones first, then closed ones, each newest first.
    pub items: Vec<ThreadAgentsDocProposal>,
    /// The cursor of the next page. Absent on the last page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
}

/// Params of [`ThreadAgentsDocProposalGet`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ThreadAgentsDocProposalGetParams {
    /// The id of the workspace.
    pub workspace_id: WorkspaceId,
    /// The id of the proposal.
    pub proposal_id: AgentsDocProposalId,
}

/// Response of [`ThreadAgentsDocProposalGet`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ThreadAgentsDocProposalGetResponse {
    /// The requested proposal.
    pub proposal: ThreadAgentsDocProposal,
    /// The whole proposed text.
    pub content: String,
    /// The text of the base version; empty if the proposal creates the file.
    pub base_content: String,
    /// The current text of the file; empty if there is none.
    pub current_content: String,
}

/// Params of [`ThreadAgentsDocProposalDecide`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ThreadAgentsDocProposalDecideParams {
    /// The id of the workspace.
    pub workspace_id: WorkspaceId,
    /// The id of the proposal.
    pub proposal_id: AgentsDocProposalId,
    /// The decision.
    pub decision: ThreadAgentsDocDecision,
    /// A comment on the decision, at most 4096 characters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// The `sha256` of the proposal that was reviewed. The call fails if the proposal was rebased since. Absent to
    /// decide without this check.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expected_sha256: Option<String>,
}

/// Response of [`ThreadAgentsDocProposalDecide`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ThreadAgentsDocProposalDecideResponse {
    /// The proposal after the decision.
    pub proposal: ThreadAgentsDocProposal,
}

/// Params of [`ThreadAgentsDocProposalRebase`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ThreadAgentsDocProposalRebaseParams {
    /// The id of the workspace.
    pub workspace_id: WorkspaceId,
    /// The id of the proposal.
    pub proposal_id: AgentsDocProposalId,
    /// The text merged by a person, for lines that both sides changed. Requires `current_version` and role `human`.
    /// Absent for an automatic merge.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content: Option<String>,
    /// The version of the file with which the text was merged. The call fails if it is not the current version. Absent
    /// to use the current version.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub current_version: Option<i64>,
}

/// Response of [`ThreadAgentsDocProposalRebase`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ThreadAgentsDocProposalRebaseResponse {
    /// The proposal after the rebase.
    pub proposal: ThreadAgentsDocProposal,
}

/// Params of [`ThreadAgentsDocProposalWithdraw`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ThreadAgentsDocProposalWithdrawParams {
    /// The id of the workspace.
    pub workspace_id: WorkspaceId,
    /// The id of the proposal.
    pub proposal_id: AgentsDocProposalId,
}

/// Response of [`ThreadAgentsDocProposalWithdraw`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ThreadAgentsDocProposalWithdrawResponse {
    /// The proposal after the withdrawal.
    pub proposal: ThreadAgentsDocProposal,
}

/// Payload of `thread/agents_doc/proposal/changed`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ThreadAgentsDocProposalChangedNotification {
    /// The id of the workspace.
    pub workspace_id: WorkspaceId,
    /// The id of the proposal.
    pub proposal_id: AgentsDocProposalId,
    /// The id of the folder whose file the proposal changes. Absent for the file of the root.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub folder_id: Option<FolderId>,
    /// The status of the proposal after the change.
    pub status: ThreadAgentsDocProposalStatus,
}
