//! `desktop.*`: everything a desktop shows when it opens, in one answer.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    CompanyScope, ConversationId, ProjectId, Text,
    conversation::{Conversation, ConversationMessage},
    pm::{PmSnapshotResponse, Recommendation},
    resources::{ResourceTotals, ResourcesSnapshotResponse},
    ui::UiSnapshotResponse,
    workspace::{AgentRow, HomeSnapshot, PortfolioSummary, ProjectRow, TeamRow},
};

crate::methods! {
    Company family "desktop";

    /// Tell everything a desktop shows when it opens. Nothing is made or changed.
    /// A missing `project_id` or `conversation_id` is answered with -32601, as the recorded reference answers it, where
    /// the contract has -32602.
    Read DesktopBootstrapSnapshot = "desktop.bootstrap.snapshot" (DesktopBootstrapSnapshotParams in workspace_dir) -> DesktopBootstrapSnapshotResponse;
}

/// What is in the middle of the desktop.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum DesktopView {
    /// How everything stands.
    Home,
    /// What happens.
    Activities,
    /// What is used.
    Resources,
    /// One conversation.
    Conversation,
}

/// Params of [`DesktopBootstrapSnapshot`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DesktopBootstrapSnapshotParams {
    /// The company folder.
    pub workspace_dir: Text,
    /// Who looks.
    pub actor_id: Text,
    /// What they look at.
    pub scope: CompanyScope,
    /// The project; needed for the scope `project`.
    #[serde(default)]
    pub project_id: Option<ProjectId>,
    /// What is in the middle.
    pub view: DesktopView,
    /// The conversation; needed for the view `conversation`.
    #[serde(default)]
    pub conversation_id: Option<ConversationId>,
}

/// Response of [`DesktopBootstrapSnapshot`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DesktopBootstrapSnapshotResponse {
    /// The folder as it was given.
    pub workspace_dir: String,
    /// Who looks.
    pub actor_id: String,
    /// What they look at.
    pub scope: CompanyScope,
    /// The project.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project_id: Option<ProjectId>,
    /// What is in the middle.
    pub view: DesktopView,
    /// The conversation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub conversation_id: Option<ConversationId>,
    /// As `workspace.projects.list` tells them.
    pub projects: Vec<ProjectRow>,
    /// As `workspace.agents.list` tells them.
    pub agents: Vec<AgentRow>,
    /// As `workspace.teams.list` tells them.
    pub teams: Vec<TeamRow>,
    /// As `conversation.list` tells them.
    pub conversations: Vec<Conversation>,
    /// What is in the middle.
    pub view_data: DesktopViewData,
    /// What is used, in short.
    pub resources_summary: ResourceTotals,
    /// What happens, in short; counted for the view `activities` alone.
    pub activity_summary: ActivitySummary,
    /// How all projects stand, in short.
    pub pm_summary: PortfolioSummary,
    /// When it was looked at.
    pub sync_ts: String,
}

/// What is in the middle of the desktop.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum DesktopViewData {
    /// How everything stands.
    Home(Box<DesktopHome>),
    /// What happens.
    Activities {
        /// As `ui.snapshot` tells it.
        ui: Box<UiSnapshotResponse>,
    },
    /// What is used.
    Resources {
        /// As `resources.snapshot` tells it.
        resources: ResourcesSnapshotResponse,
    },
    /// One conversation.
    Conversation {
        /// Its last messages, oldest first.
        messages: Vec<ConversationMessage>,
    },
}

/// How everything stands.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DesktopHome {
    /// All projects.
    pub workspace_home: HomeSnapshot,
    /// As `pm.snapshot` tells it.
    pub pm: PmSnapshotResponse,
    /// As `resources.snapshot` tells it.
    pub resources: ResourcesSnapshotResponse,
    /// Who should do what in the project.
    pub recommendations: Vec<DesktopRecommendation>,
}

/// Who should do a task.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DesktopRecommendation {
    /// As `pm.recommend_allocations` tells it.
    #[serde(flatten)]
    pub recommendation: Recommendation,
    /// Why, in one sentence.
    pub reason: String,
}

/// What happens, in short.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ActivitySummary {
    /// What waits for a decision.
    pub pending_reviews: u64,
    /// What was decided.
    pub recent_decisions: u64,
    /// Runs that are watched.
    pub monitor_rows: u64,
}
