//! `desktop.*`: the data a desktop shows when it opens, in one response.

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

    /// Return everything a desktop shows when it opens. The call creates and changes nothing.
    /// A missing `project_id` or `conversation_id` fails with -32601, not -32602, for compatibility with existing clients.
    Read DesktopBootstrapSnapshot = "desktop.bootstrap.snapshot" (DesktopBootstrapSnapshotParams in workspace_dir) -> DesktopBootstrapSnapshotResponse;
}

/// The main view of the desktop.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum DesktopView {
    /// The state of all projects.
    Home,
    /// Runs, pending decisions and usage.
    Activities,
    /// Agents, providers, models and their usage.
    Resources,
    /// The messages of one conversation.
    Conversation,
}

/// Params of [`DesktopBootstrapSnapshot`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DesktopBootstrapSnapshotParams {
    /// Path of the company folder.
    pub workspace_dir: Text,
    /// Id of the person or agent that reads. Its role is that of the caller's token.
    pub actor_id: Text,
    /// Whether to show the company (`workspace`) or one project.
    pub scope: CompanyScope,
    /// Id of the project. Required for the scope `project`; ignored otherwise.
    #[serde(default)]
    pub project_id: Option<ProjectId>,
    /// The main view to fill `view_data` for.
    pub view: DesktopView,
    /// Id of the conversation. Required for the view `conversation`.
    #[serde(default)]
    pub conversation_id: Option<ConversationId>,
}

/// Response of [`DesktopBootstrapSnapshot`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DesktopBootstrapSnapshotResponse {
    /// Path of the company folder as the request named it.
    pub workspace_dir: String,
    /// The actor id of the request.
    pub actor_id: String,
    /// The scope of the request.
    pub scope: CompanyScope,
    /// Id of the project. Absent for the scope `workspace`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project_id: Option<ProjectId>,
    /// The view of the request.
    pub view: DesktopView,
    /// The conversation id of the request. Absent if none was given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub conversation_id: Option<ConversationId>,
    /// All projects, as `workspace.projects.list` returns them.
    pub projects: Vec<ProjectRow>,
    /// All agents, as `workspace.agents.list` returns them.
    pub agents: Vec<AgentRow>,
    /// All teams, as `workspace.teams.list` returns them.
    pub teams: Vec<TeamRow>,
    /// The conversations of the scope, as `conversation.list` returns them.
    pub conversations: Vec<Conversation>,
    /// The data of the requested view.
    pub view_data: DesktopViewData,
    /// Totals of agents, runs, tokens and cost in the scope.
    pub resources_summary: ResourceTotals,
    /// Counts of the view `activities`. All zero for other views.
    pub activity_summary: ActivitySummary,
    /// Progress and counts over all projects.
    pub pm_summary: PortfolioSummary,
    /// Time of the response, ISO-8601 in UTC.
    pub sync_ts: String,
}

/// The data of a desktop view. The shape depends on the requested view.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum DesktopViewData {
    /// Data of the view `home`.
    Home(Box<DesktopHome>),
    /// Data of the view `activities`.
    Activities {
        /// The response of `ui.snapshot`.
        ui: Box<UiSnapshotResponse>,
    },
    /// Data of the view `resources`.
    Resources {
        /// The response of `resources.snapshot`.
        resources: ResourcesSnapshotResponse,
    },
    /// Data of the view `conversation`.
    Conversation {
        /// The newest messages of the conversation, at most 3000, oldest first.
        messages: Vec<ConversationMessage>,
    },
}

/// Data of the desktop view `home`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DesktopHome {
    /// State of all projects, as `workspace.home.snapshot` returns it.
    pub workspace_home: HomeSnapshot,
    /// The response of `pm.snapshot` for the scope.
    pub pm: PmSnapshotResponse,
    /// The response of `resources.snapshot` for the scope.
    pub resources: ResourcesSnapshotResponse,
    /// Recommended allocations of the project's tasks. Empty for the scope `workspace`.
    pub recommendations: Vec<DesktopRecommendation>,
}

/// The recommended allocation of a task.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DesktopRecommendation {
    /// The recommendation, as `pm.recommend_allocations` returns it.
    #[serde(flatten)]
    pub recommendation: Recommendation,
    /// Why the allocation is recommended, in one sentence.
    pub reason: String,
}

/// Counts of the view `activities`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ActivitySummary {
    /// Number of documents that wait for a decision, at most 200.
    pub pending_reviews: u64,
    /// Number of recent decisions, at most 200.
    pub recent_decisions: u64,
    /// Number of runs in the monitor, at most 200.
    pub monitor_rows: u64,
}
