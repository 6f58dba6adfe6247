//! `comment.*`: comments of people and agents on agents, documents and runs.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{ActorRole, CommentId, IsoTime, Issue, ProjectId, RunId, Text, Visibility};

crate::methods! {
    Company family "comment";

    /// Add a comment on an agent, a document or a run.
    /// Each target is optional, but at least one is required.
    Write CommentAdd = "comment.add" (CommentAddParams in workspace_dir as author_role) -> CommentAddResponse;
    /// List the comments of a project, newest first.
    Read CommentList = "comment.list" (CommentListParams in workspace_dir as actor_role) -> CommentListResponse;
}

/// A comment, on the wire as in its file `inbox/comments/<id>.yaml`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Comment {
    /// Schema version of the document. The gateway writes 1.
    #[schemars(range(min = 1))]
    pub schema_version: u32,
    /// Document type: always `comment`.
    pub r#type: CommentTag,
    /// Id of the comment.
    pub id: Text,
    /// Time the comment was added, ISO-8601.
    pub created_at: IsoTime,
    /// Id of the person or agent that wrote the comment.
    pub author_id: Text,
    /// Role of the author.
    pub author_role: ActorRole,
    /// Who may read the comment.
    pub visibility: Visibility,
    /// Target of the comment: a project, and at least one agent, document or run of it.
    pub target: CommentTarget,
    /// Text of the comment.
    pub body: Text,
}

/// The document type `comment`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CommentTag {
    /// The only value.
    #[default]
    Comment,
}

/// Target of a comment: a project, and at least one agent, document or run of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CommentTarget {
    /// Id of the project.
    pub project_id: Text,
    /// Id of the agent. Absent if the comment does not refer to an agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent_id: Option<Text>,
    /// Id of the document. Absent if the comment does not refer to a document.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub artifact_id: Option<Text>,
    /// Id of the run. Absent if the comment does not refer to a run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run_id: Option<Text>,
}

impl CommentTarget {
    /// Returns an issue if the target names neither an agent nor a document nor a run.
    pub fn refine(&self) -> Vec<Issue> {
        let has_one =
            self.agent_id.is_some() || self.artifact_id.is_some() || self.run_id.is_some();
        if has_one {
            Vec::new()
        } else {
            vec![Issue::custom(
                "target",
                "expected at least one of `agent_id`, `artifact_id` and `run_id`",
            )]
        }
    }
}

/// Params of [`CommentAdd`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CommentAddParams {
    /// Path of the company folder.
    pub workspace_dir: Text,
    /// Id of the project.
    pub project_id: ProjectId,
    /// Id of the person or agent that writes the comment.
    pub author_id: Text,
    /// Role of the author.
    pub author_role: ActorRole,
    /// Text of the comment. Surrounding white space is removed; text with a secret is rejected.
    #[schemars(length(max = 100_000))]
    pub body: Text,
    /// Id of the agent that the comment refers to.
    #[serde(default)]
    pub target_agent_id: Option<Text>,
    /// Id of the document that the comment refers to.
    #[serde(default)]
    pub target_artifact_id: Option<Text>,
    /// Id of the run that the comment refers to. The event `comment.added` is appended to its log.
    #[serde(default)]
    pub target_run_id: Option<RunId>,
    /// Who may read the comment. Default: `managers`.
    #[serde(default)]
    pub visibility: Option<Visibility>,
}

/// Response of [`CommentAdd`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CommentAddResponse {
    /// Id of the new comment.
    pub comment_id: CommentId,
    /// The new comment.
    pub comment: Comment,
}

/// Params of [`CommentList`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CommentListParams {
    /// Path of the company folder.
    pub workspace_dir: Text,
    /// Id of the project.
    pub project_id: ProjectId,
    /// List only comments on this agent.
    #[serde(default)]
    pub target_agent_id: Option<Text>,
    /// List only comments on this document.
    #[serde(default)]
    pub target_artifact_id: Option<Text>,
    /// List only comments on this run.
    #[serde(default)]
    pub target_run_id: Option<Text>,
    /// Maximum number of comments. Default: 300.
    #[serde(default)]
    #[schemars(range(min = 1, max = 5000))]
    pub limit: Option<u32>,
    /// Cursor: list only comments older than this one. An unknown id returns an empty list.
    #[serde(default)]
    pub before_comment_id: Option<CommentId>,
    /// Id of the person or agent that reads; comments it may not read are omitted. Default: the caller's own id.
    #[serde(default)]
    pub actor_id: Option<Text>,
    /// Role of that actor, at most the role of the caller's token. Default: the role of the token.
    #[serde(default)]
    pub actor_role: Option<ActorRole>,
    /// Team id of that actor. Default: the team in the agent's `agent.yaml`; none for people.
    #[serde(default)]
    pub actor_team_id: Option<Text>,
}

/// Response of [`CommentList`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct CommentListResponse(pub Vec<Comment>);
