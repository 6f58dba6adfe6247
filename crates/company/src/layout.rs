//! Where things are in a company folder, as paths relative to it with `/`.

use protocol::company::{
    AgentId, ContextPackId, ConversationId, DocumentId, JobId, ProjectId, ReviewId, RunId,
    SharePackId, TaskId, TeamId,
};

/// Directories every company folder has, in the order `workspace.validate` looks for them.
pub const REQUIRED_DIRS: [&str; 11] = [
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

/// Files every company folder has.
pub const REQUIRED_FILES: [&str; 3] = [COMPANY, POLICY, MACHINE];

/// The conversation of the whole company.
pub const WORKSPACE_HOME: &str = "inbox/workspace_home";
/// The company's identity.
pub const COMPANY: &str = "company/company.yaml";
/// Who sees what by default.
pub const POLICY: &str = "company/policy.yaml";
/// Everything that holds on this machine alone.
pub const LOCAL: &str = ".local";
/// Keeps it out of repositories.
pub const GITIGNORE: &str = ".gitignore";
/// Which programs and folders of this machine are used.
pub const MACHINE: &str = ".local/machine.yaml";
/// Which migrations were made.
pub const MIGRATIONS: &str = "company/migrations/applied.yaml";
/// The teams.
pub const TEAMS: &str = "org/teams";
/// The agents.
pub const AGENTS: &str = "org/agents";
/// The projects.
pub const PROJECTS: &str = "work/projects";
/// The reviews.
pub const REVIEWS: &str = "inbox/reviews";
/// The help requests.
pub const HELP_REQUESTS: &str = "inbox/help_requests";
/// The comments.
pub const COMMENTS: &str = "inbox/comments";
/// How the heartbeat is set.
pub const HEARTBEAT_CONFIG: &str = ".local/heartbeat/config.yaml";
/// What was begun and is not finished.
pub const INTENTS: &str = ".local/intents";
/// Approved actions that are not carried out yet.
pub const APPROVED_ACTIONS: &str = ".local/approved_actions";
/// The folders of a new project.
pub const PROJECT_DIRS: [&str; 5] = ["tasks", "artifacts", "context_packs", "runs", "share_packs"];

/// Whether a relative path names something in the outputs of a run.
pub(crate) fn is_output(relative: &str) -> bool {
    relative.starts_with(PROJECTS) && relative.contains("/outputs/")
}

/// Whether a relative path names something that holds on one machine alone.
pub(crate) fn is_local(relative: &str) -> bool {
    let rest = relative.strip_prefix(LOCAL);
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
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

/// What a run left behind.
pub fn run_outputs(project: &ProjectId, run: &RunId) -> String {
    format!("{}/outputs", self::run(project, run))
}

/// What a run was given.
pub fn run_inputs(project: &ProjectId, run: &RunId) -> String {
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

/// The documents of a project.
pub fn documents(project: &ProjectId) -> String {
    format!("{PROJECTS}/{project}/artifacts")
}

/// The memory of a project.
pub fn project_memory(project: &ProjectId) -> String {
    format!("{PROJECTS}/{project}/memory.md")
}

/// The guidance of an agent.
pub fn agent_guidance(agent: &AgentId) -> String {
    format!("{AGENTS}/{agent}/AGENTS.md")
}

/// The file of a review.
pub fn review(review: &ReviewId) -> String {
    format!("{REVIEWS}/{review}.yaml")
}

/// The folder of a conversation: of a project, or of the whole company.
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
