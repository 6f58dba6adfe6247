//! `comment.*`: what people and agents say about agents, documents and runs.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{ActorRole, CommentId, IsoTime, Issue, ProjectId, RunId, Text, Visibility};

crate::methods! {
    Company family "comment";

    /// Say something about an agent, a document or a run.
    /// At least one target is needed, as in the recorded reference, although the contract calls each of them optional.
    Write CommentAdd = "comment.add" (CommentAddParams in workspace_dir as author_role) -> CommentAddResponse;
    /// List what was said, newest first.
    Read CommentList = "comment.list" (CommentListParams in workspace_dir as actor_role) -> CommentListResponse;
}

/// A comment, on the wire as in its file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Comment {
    /// 1.
    #[schemars(range(min = 1))]
    pub schema_version: u32,
    /// `comment`.
    pub r#type: CommentTag,
    /// Its id.
    pub id: Text,
    /// When it was made.
    pub created_at: IsoTime,
    /// Who made it.
    pub author_id: Text,
    /// What they are.
    pub author_role: ActorRole,
    /// Who may see it.
    pub visibility: Visibility,
    /// What it is about.
    pub target: CommentTarget,
    /// What it says.
    pub body: Text,
}

/// The word `comment`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CommentTag {
    /// The word `comment`.
    #[default]
    Comment,
}

/// What a comment is about: at least one of agent, document and run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CommentTarget {
    /// The project.
    pub project_id: Text,
    /// The agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent_id: Option<Text>,
    /// The document.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub artifact_id: Option<Text>,
    /// The run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run_id: Option<Text>,
}

impl CommentTarget {
    /// What holds between the fields of a target.
    pub fn refine(&self) -> Vec<Issue> {
        let has_one =
            self.agent_id.is_some() || self.artifact_id.is_some() || self.run_id.is_some();
        match has_one {
            true => Vec::new(),
            false => vec![Issue::custom(
                "target",
                "a comment is about an agent, an artifact or a run",
            )],
        }
    }
}

/// Params of [`CommentAdd`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CommentAddParams {
    /// The company folder.
    pub workspace_dir: Text,
    /// The project.
    pub project_id: ProjectId,
    /// Who says it.
    pub author_id: Text,
    /// What they are.
    pub author_role: ActorRole,
    /// What they say.
    #[schemars(length(max = 100_000))]
    pub body: Text,
    /// The agent it is about.
    #[serde(default)]
    pub target_agent_id: Option<Text>,
    /// The document it is about.
    #[serde(default)]
    pub target_artifact_id: Option<Text>,
    /// The run it is about.
    #[serde(default)]
    pub target_run_id: Option<RunId>,
    /// Who may see it; `managers` if not given.
    #[serde(default)]
    pub visibility: Option<Visibility>,
}

/// Response of [`CommentAdd`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CommentAddResponse {
    /// The new comment.
    pub comment_id: CommentId,
    /// What it is.
    pub comment: Comment,
}

/// Params of [`CommentList`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CommentListParams {
    /// The company folder.
    pub workspace_dir: Text,
    /// The project.
    pub project_id: ProjectId,
    /// Only about this agent.
    #[serde(default)]
    pub target_agent_id: Option<Text>,
    /// Only about this document.
    #[serde(default)]
    pub target_artifact_id: Option<Text>,
    /// Only about this run.
    #[serde(default)]
    pub target_run_id: Option<Text>,
    /// How many; 300 if not given.
    #[serde(default)]
    #[schemars(range(min = 1, max = 5000))]
    pub limit: Option<u32>,
    /// Only those older than this one, which is how to page.
    #[serde(default)]
    pub before_comment_id: Option<CommentId>,
    /// Who asks: comments they may not see are left out.
    #[serde(default)]
    pub actor_id: Option<Text>,
    /// What they are.
    #[serde(default)]
    pub actor_role: Option<ActorRole>,
    /// Their team.
    #[serde(default)]
    pub actor_team_id: Option<Text>,
}

/// Response of [`CommentList`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct CommentListResponse(pub Vec<Comment>);
