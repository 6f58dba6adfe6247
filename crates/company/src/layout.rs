//! Paths of files and folders in a company folder, relative to that folder and with `/` as the separator.

use std::path::{Component, Path};

use protocol::company::{
    AgentId, ContextPackId, ConversationId, DocumentId, JobId, ProjectId, ReviewId, RunId,
    SharePackId, TaskId, TeamId,
};

/// Directories that every company folder has, in the order in which `workspace.validate` checks them.
pub(crate) const REQUIRED_DIRS: [&str; 11] = [
    "company",
    "company/migrations",
    "org",
    TEAMS,
    AGENTS,
    "work",
    PROJECTS,
    "inbox",
    REVIEWS,
    HELP_REQUESTS,
    LOCAL,
];

/// Files that every company folder has.
pub(crate) const REQUIRED_FILES: [&str; 3] = [COMPANY, POLICY, MACHINE];

/// Folder of the company-wide conversation.
pub(crate) const WORKSPACE_HOME: &str = "inbox/workspace_home";
/// File with the identity of the company.
pub const COMPANY: &str = "company/company.yaml";
/// File with the default visibilities.
pub const POLICY: &str = "company/policy.yaml";
/// Folder of files that are valid on this machine only.
pub const LOCAL: &str = ".local";
/// File that excludes [`LOCAL`] from version control.
pub(crate) const GITIGNORE: &str = ".gitignore";
/// File with the programs and folders of this machine.
pub const MACHINE: &str = ".local/machine.yaml";
/// File with the log of the applied migrations.
pub(crate) const MIGRATIONS: &str = "company/migrations/applied.yaml";
/// Folder of the teams.
pub(crate) const TEAMS: &str = "org/teams";
/// Folder of the agents.
pub const AGENTS: &str = "org/agents";
/// Folder of the projects.
pub const PROJECTS: &str = "work/projects";
/// Folder of the reviews.
pub const REVIEWS: &str = "inbox/reviews";
/// Folder of the help requests.
pub const HELP_REQUESTS: &str = "inbox/help_requests";
/// Folder of the comments.
pub const COMMENTS: &str = "inbox/comments";
/// File with the settings of the heartbeat.
pub const HEARTBEAT_CONFIG: &str = ".local/heartbeat/config.yaml";
/// Folder of the intents: changes of several files that have started but are not complete.
pub(crate) const INTENTS: &str = ".local/intents";
/// Folder of approved actions that have not been executed yet.
pub(crate) const APPROVED_ACTIONS: &str = ".local/approved_actions";
/// Folders that every new project gets.
pub(crate) const PROJECT_DIRS: [&str; 5] =
    ["tasks", "artifacts", "context_packs", "runs", "share_packs"];

/// Returns whether a relative path lies in the outputs of a run.
pub(crate) fn is_output(relative: &str) -> bool {
    relative.starts_with(PROJECTS) && relative.contains("/outputs/")
}

/// Returns whether a relative path lies in [`LOCAL`].
pub(crate) fn is_local(relative: &str) -> bool {
    let below = relative.strip_prefix(LOCAL);
    below.is_some_and(|below| below.is_empty() || below.starts_with('/'))
}

/// The folder of a team.
pub fn team(team: &TeamId) -> String {
    format!("{TEAMS}/{team}")
}

/// The folder of an agent.
pub fn agent(agent: &AgentId) -> String {
    format!("{AGENTS}/{agent}")
}

/// The folder of a project.
pub fn project(project: &ProjectId) -> String {
    format!("{PROJECTS}/{project}")
}

/// The folder of a run.
pub fn run(project: &ProjectId, run: &RunId) -> String {
    format!("{PROJECTS}/{project}/runs/{run}")
}

/// The folder of a run's outputs.
pub fn run_outputs(project: &ProjectId, run: &RunId) -> String {
    format!("{}/outputs", self::run(project, run))
}

/// The folder of a run's inputs.
pub(crate) fn run_inputs(project: &ProjectId, run: &RunId) -> String {
    format!("{}/inputs", self::run(project, run))
}

/// The folder of a context pack.
pub fn context_pack(project: &ProjectId, pack: &ContextPackId) -> String {
    format!("{PROJECTS}/{project}/context_packs/{pack}")
}

/// The folder of a share pack.
pub fn share_pack(project: &ProjectId, pack: &SharePackId) -> String {
    format!("{PROJECTS}/{project}/share_packs/{pack}")
}

/// The file of a task.
pub fn task(project: &ProjectId, task: &TaskId) -> String {
    format!("{PROJECTS}/{project}/tasks/{task}.md")
}

/// The folder of a job.
pub fn job(project: &ProjectId, job: &JobId) -> String {
    format!("{PROJECTS}/{project}/jobs/{job}")
}

/// The file of a document.
pub fn document(project: &ProjectId, document: &DocumentId) -> String {
    format!("{PROJECTS}/{project}/artifacts/{document}.md")
}

/// The folder of a project's documents.
pub fn documents(project: &ProjectId) -> String {
    format!("{PROJECTS}/{project}/artifacts")
}

/// The memory file of a project.
pub fn project_memory(project: &ProjectId) -> String {
    format!("{PROJECTS}/{project}/memory.md")
}

/// The guidance file of an agent.
pub fn agent_guidance(agent: &AgentId) -> String {
    format!("{AGENTS}/{agent}/AGENTS.md")
}

/// The file of a review.
pub fn review(review: &ReviewId) -> String {
    format!("{REVIEWS}/{review}.yaml")
}

/// The folder of a conversation, either of a project or, without one, of the whole company.
pub fn conversation(
    project: Option<&ProjectId>,
    conversation: &ConversationId,
    slug: &str,
) -> String {
    match project {
        Some(project) => format!("{PROJECTS}/{project}/conversations/{conversation}"),
        None if slug == "home" => WORKSPACE_HOME.to_owned(),
        None => format!("inbox/conversations/{conversation}"),
    }
}

/// Returns whether a relative path consists of normal components only, without `..`.
pub(crate) fn stays_below(relative: &str) -> bool {
    let mut parts = Path::new(relative).components().peekable();
    parts.peek().is_some() && parts.all(|part| matches!(part, Component::Normal(_)))
}
