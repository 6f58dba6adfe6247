//! `workspace.*`: the life of a company folder, and what is in it.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{AgentId, AgentRole, ConversationId, ProjectId, ProjectStatus, RepoId, TeamId, Text};

crate::methods! {
    Company family "workspace";

    /// Look at a folder: is it a company folder, and is everything in it well-formed?
    Read CompanyWorkspaceOpen = "workspace.open" (CompanyFolderParams in workspace_dir) -> CompanyWorkspaceOpenResponse;
    /// Make a company folder.
    Write CompanyWorkspaceInit = "workspace.init" (CompanyWorkspaceInitParams in workspace_dir only Human) -> CompanyOkResponse;
    /// Tell whether a company folder counts on this machine, and what it says about this machine.
    Read CompanyWorkspaceTrustGet = "workspace.trust.get" (CompanyFolderParams in workspace_dir) -> CompanyWorkspaceTrustResponse;
    /// Say that you trust a company folder that came from elsewhere: what its `.local` says about this machine counts
    /// from now on, and the folder can be changed and worked in.
    Exec CompanyWorkspaceTrust = "workspace.trust" (CompanyWorkspaceTrustParams in workspace_dir only Human) -> CompanyWorkspaceTrustResponse;
    /// Take that back: the folder can be read and nothing else.
    Exec CompanyWorkspaceTrustWithdraw = "workspace.trust.withdraw" (CompanyFolderParams in workspace_dir only Human) -> CompanyWorkspaceTrustResponse;
    /// Check every document of a company folder.
    Read CompanyWorkspaceValidate = "workspace.validate" (CompanyFolderParams in workspace_dir) -> CompanyWorkspaceValidateResponse;
    /// Check a company folder, the programs it needs, its repositories, its event logs and what crashes left behind.
    Read CompanyWorkspaceDoctor = "workspace.doctor" (CompanyWorkspaceDoctorParams in workspace_dir) -> CompanyWorkspaceDoctorResponse;
    /// Write a bundle of facts about a company folder for somebody who helps; secrets are blacked out.
    Write CompanyWorkspaceDiagnostics = "workspace.diagnostics" (CompanyWorkspaceDiagnosticsParams only Human) -> CompanyWorkspaceDiagnosticsResponse;
    /// Bring old event logs up to the envelope of today. A log with wrong hashes is left alone unless `force`.
    Write CompanyWorkspaceMigrate = "workspace.migrate" (CompanyWorkspaceMigrateParams in workspace_dir only Human) -> CompanyWorkspaceMigrateResponse;
    /// Copy a company folder to another place.
    Write CompanyWorkspaceExport = "workspace.export" (CompanyWorkspaceExportParams only Human) -> CompanyWorkspaceExportResponse;
    /// Copy an exported company folder to a new place.
    Write CompanyWorkspaceImport = "workspace.import" (CompanyWorkspaceImportParams only Human) -> CompanyWorkspaceImportResponse;
    /// List the projects with their progress.
    Read CompanyWorkspaceProjectsList = "workspace.projects.list" (CompanyFolderParams in workspace_dir) -> CompanyWorkspaceProjectsListResponse;
    /// List the agents.
    Read CompanyWorkspaceAgentsList = "workspace.agents.list" (CompanyWorkspaceAgentsListParams in workspace_dir) -> CompanyWorkspaceAgentsListResponse;
    /// List the teams.
    Read CompanyWorkspaceTeamsList = "workspace.teams.list" (CompanyFolderParams in workspace_dir) -> CompanyWorkspaceTeamsListResponse;
    /// Make a project with its secretary and its conversations.
    Write CompanyWorkspaceProjectCreateWithDefaults = "workspace.project.create_with_defaults" (CompanyWorkspaceProjectCreateWithDefaultsParams in workspace_dir) -> CompanyWorkspaceProjectCreateWithDefaultsResponse;
    /// Tie a repository to a project.
    Write CompanyWorkspaceProjectLinkRepo = "workspace.project.link_repo" (CompanyWorkspaceProjectLinkRepoParams in workspace_dir only Human) -> CompanyWorkspaceProjectLinkRepoResponse;
    /// Say where a repository is on this machine.
    /// A path that cannot be used is answered with -32601, as the recorded reference answers it, where the contract has
    /// -32602.
    Write CompanyWorkspaceRepoRootSet = "workspace.repo_root.set" (CompanyWorkspaceRepoRootSetParams only Human) -> CompanyWorkspaceRepoRootSetResponse;
    /// Make a whole company: departments, teams, agents, a project and its conversations.
    Write CompanyWorkspaceBootstrapEnterprise = "workspace.bootstrap.enterprise" (CompanyWorkspaceBootstrapEnterpriseParams in workspace_dir only Human) -> CompanyWorkspaceBootstrapEnterpriseResponse;
    /// Tell how all projects stand.
    Read CompanyWorkspaceHomeSnapshot = "workspace.home.snapshot" (CompanyFolderParams in workspace_dir) -> CompanyWorkspaceHomeSnapshotResponse;
}

/// Params of methods that need a company folder and nothing else.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CompanyFolderParams {
    /// The company folder.
    pub workspace_dir: Text,
}

/// Response of methods that have nothing to tell but success.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CompanyOkResponse {
    /// True.
    pub ok: bool,
}

/// Params of [`CompanyWorkspaceTrust`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CompanyWorkspaceTrustParams {
    /// The company folder.
    pub workspace_dir: Text,
    /// The `sha256` of [`CompanyWorkspaceTrustGet`] that the person looked at: if what the folder says about this
    /// machine changed since, it stays untrusted. Absent for whatever it says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expected_sha256: Option<String>,
}

/// Response of [`CompanyWorkspaceTrustGet`], [`CompanyWorkspaceTrust`] and [`CompanyWorkspaceTrustWithdraw`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CompanyWorkspaceTrustResponse {
    /// The company folder, as the caller wrote it.
    pub workspace_dir: String,
    /// Whether somebody made it on this machine or said to trust it.
    pub trusted: bool,
    /// The programs that `.local/machine.yaml` wants to use, by provider. They count only in a trusted folder.
    pub programs: BTreeMap<String, String>,
    /// Whether `.local/heartbeat/config.yaml` lets workers be woken without being asked.
    pub heartbeat_enabled: bool,
    /// The value for `expected_sha256`: SHA-256 of one line `<sha256>  <relpath>` and a line feed for
    /// `.local/machine.yaml` and one for `.local/heartbeat/config.yaml`. A file that is not there has `-` for its hash.
    pub sha256: String,
}

/// One thing that is wrong with a company folder.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ValidationIssue {
    /// What kind of thing: `missing_dir`, `missing_file`, `schema_invalid`, `parse_error`, `read_error`,
    /// `frontmatter`, `frontmatter_schema`, `missing_heading`, `contract_incomplete`, `memory_delta_invalid` or
    /// `milestone_report_invalid`.
    pub code: String,
    /// A sentence for people that begins with the file.
    pub message: String,
    /// The file, relative to the company folder.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
}

/// Response of [`CompanyWorkspaceOpen`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CompanyWorkspaceOpenResponse {
    /// The folder as it was given.
    pub workspace_dir: String,
    /// Whether nothing is wrong.
    pub valid: bool,
    /// What is wrong.
    pub issues: Vec<ValidationIssue>,
}

/// Params of [`CompanyWorkspaceInit`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CompanyWorkspaceInitParams {
    /// The folder to make.
    pub workspace_dir: Text,
    /// The name of the company; `AgentCompany` if none is given.
    #[serde(default)]
    #[schemars(length(max = 200))]
    pub company_name: Option<Text>,
    /// Also in a folder that is not empty. An identity and a machine file that are there are kept.
    #[serde(default)]
    pub force: Option<bool>,
}

/// Response of [`CompanyWorkspaceValidate`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CompanyWorkspaceValidateResponse {
    /// Whether nothing is wrong.
    pub ok: bool,
    /// What is wrong.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub issues: Option<Vec<ValidationIssue>>,
}

/// Params of [`CompanyWorkspaceDoctor`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CompanyWorkspaceDoctorParams {
    /// The company folder.
    pub workspace_dir: Text,
    /// Build the index anew.
    #[serde(default)]
    pub rebuild_index: Option<bool>,
    /// Bring the index up to date.
    #[serde(default)]
    pub sync_index: Option<bool>,
}

/// Response of [`CompanyWorkspaceDoctor`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CompanyWorkspaceDoctorResponse {
    /// The folder as it was given.
    pub workspace_dir: String,
    /// Whether no check failed.
    pub ok: bool,
    /// The checks.
    pub checks: Vec<DoctorCheck>,
    /// How many went how.
    pub summary: DoctorSummary,
}

/// One check of a company folder.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DoctorCheck {
    /// What was checked.
    pub id: String,
    /// How it went.
    pub status: DoctorStatus,
    /// A sentence for people.
    pub message: String,
    /// What was found, one line each.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub details: Option<Vec<String>>,
}

/// How a check went.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum DoctorStatus {
    /// Fine.
    Pass,
    /// Worth a look.
    Warn,
    /// Broken.
    Fail,
}

/// How many checks went how.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DoctorSummary {
    /// Fine.
    pub pass: u32,
    /// Worth a look.
    pub warn: u32,
    /// Broken.
    pub fail: u32,
}

/// Params of [`CompanyWorkspaceDiagnostics`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CompanyWorkspaceDiagnosticsParams {
    /// The company folder.
    pub workspace_dir: Text,
    /// Where the bundle goes.
    pub out_dir: Text,
    /// Build the index anew.
    #[serde(default)]
    pub rebuild_index: Option<bool>,
    /// Bring the index up to date; true if not given.
    #[serde(default)]
    pub sync_index: Option<bool>,
    /// How many rows of the monitor; 200 if not given.
    #[serde(default)]
    #[schemars(range(min = 1, max = 5000))]
    pub monitor_limit: Option<u32>,
    /// How many pending items; 200 if not given.
    #[serde(default)]
    #[schemars(range(min = 1, max = 5000))]
    pub pending_limit: Option<u32>,
    /// How many decisions; 200 if not given.
    #[serde(default)]
    #[schemars(range(min = 1, max = 5000))]
    pub decisions_limit: Option<u32>,
}

/// Response of [`CompanyWorkspaceDiagnostics`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CompanyWorkspaceDiagnosticsResponse {
    /// The folder as it was given.
    pub workspace_dir: String,
    /// Where the bundle went, as it was given.
    pub out_dir: String,
    /// The bundle.
    pub bundle_dir: String,
    /// When it was made.
    pub generated_at: String,
    /// Its files.
    pub files: DiagnosticsFiles,
}

/// The files of a diagnostics bundle.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DiagnosticsFiles {
    /// What is in the bundle.
    pub manifest: String,
    /// The answer of `workspace.doctor`.
    pub doctor: String,
    /// The answer of `adapter.status`.
    pub adapters: String,
    /// The answer of `session.list`.
    pub sessions: String,
    /// The answer of `monitor.snapshot`.
    pub monitor_snapshot: String,
    /// The answer of `inbox.snapshot`.
    pub review_inbox_snapshot: String,
    /// The answer of `index.stats`, if there is an index.
    pub index_stats: Option<String>,
}

/// Params of [`CompanyWorkspaceMigrate`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CompanyWorkspaceMigrateParams {
    /// The company folder.
    pub workspace_dir: Text,
    /// Only count.
    #[serde(default)]
    pub dry_run: Option<bool>,
    /// Also if it was done before, and also logs with wrong hashes.
    #[serde(default)]
    pub force: Option<bool>,
}

/// Response of [`CompanyWorkspaceMigrate`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CompanyWorkspaceMigrateResponse {
    /// The folder, resolved.
    pub workspace_dir: String,
    /// The migration.
    pub migration_id: String,
    /// Whether it only counted.
    pub dry_run: bool,
    /// Whether it was forced.
    pub forced: bool,
    /// Whether there was nothing to do because it was done before.
    pub already_applied: bool,
    /// Whether it was done now.
    pub applied: bool,
    /// Where it is noted.
    pub state_relpath: String,
    /// How many logs were looked at.
    pub files_scanned: u64,
    /// How many logs changed.
    pub files_updated: u64,
    /// How many events changed.
    pub events_rewritten: u64,
    /// How many lines are not events.
    pub parse_errors: u64,
    /// Logs that were left alone because their hashes are wrong.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub refused_files: Vec<String>,
}

/// Params of [`CompanyWorkspaceExport`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CompanyWorkspaceExportParams {
    /// The company folder.
    pub workspace_dir: Text,
    /// Where the copy goes.
    pub out_dir: Text,
    /// Also what holds on this machine alone.
    #[serde(default)]
    pub include_local: Option<bool>,
    /// Replace a company folder or an earlier export that is there.
    #[serde(default)]
    pub force: Option<bool>,
}

/// Response of [`CompanyWorkspaceExport`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CompanyWorkspaceExportResponse {
    /// The folder as it was given.
    pub workspace_dir: String,
    /// Where the copy is, as it was given.
    pub out_dir: String,
    /// Whether it has what holds on this machine alone.
    pub include_local: bool,
    /// What was copied.
    pub exported_entries: Vec<String>,
}

/// Params of [`CompanyWorkspaceImport`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CompanyWorkspaceImportParams {
    /// The exported folder.
    pub src_dir: Text,
    /// Where it goes.
    pub workspace_dir: Text,
    /// Also what holds on this machine alone.
    #[serde(default)]
    pub include_local: Option<bool>,
    /// Replace a company folder that is there.
    #[serde(default)]
    pub force: Option<bool>,
}

/// Response of [`CompanyWorkspaceImport`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CompanyWorkspaceImportResponse {
    /// The exported folder as it was given.
    pub src_dir: String,
    /// The new folder as it was given.
    pub workspace_dir: String,
    /// Whether it has what holds on this machine alone.
    pub include_local: bool,
    /// What was copied.
    pub imported_entries: Vec<String>,
    /// Whether the new folder is well-formed.
    pub validation_ok: bool,
    /// How many things are wrong with it.
    pub validation_issues: u64,
}

/// A repository of a project.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RepoLink {
    /// The name the company gives it.
    pub repo_id: Text,
    /// What it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label: Option<Text>,
}

/// Response of [`CompanyWorkspaceProjectsList`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CompanyWorkspaceProjectsListResponse {
    /// The folder as it was given.
    pub workspace_dir: String,
    /// The projects, newest first.
    pub projects: Vec<ProjectRow>,
}

/// A project with its progress.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ProjectRow {
    /// Its id.
    pub project_id: String,
    /// Its name.
    pub name: String,
    /// Whether it is worked on.
    pub status: ProjectStatus,
    /// When it was made.
    pub created_at: String,
    /// Its repositories.
    pub repo_links: Vec<RepoLink>,
    /// What waits for a decision.
    pub pending_reviews: u64,
    /// What runs.
    pub active_runs: u64,
    /// How many tasks it has.
    pub task_count: u64,
    /// How far it is, from 0 to 100.
    pub progress_pct: f64,
    /// Tasks that wait for something.
    pub blocked_tasks: u64,
    /// What deserves attention.
    pub risk_flags: Vec<String>,
}

/// Params of [`CompanyWorkspaceAgentsList`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CompanyWorkspaceAgentsListParams {
    /// The company folder.
    pub workspace_dir: Text,
    /// Only agents of this role.
    #[serde(default)]
    pub role: Option<AgentRole>,
    /// Only agents of this team.
    #[serde(default)]
    pub team_id: Option<Text>,
}

/// Response of [`CompanyWorkspaceAgentsList`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct CompanyWorkspaceAgentsListResponse(pub Vec<AgentRow>);

/// An agent.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct AgentRow {
    /// Its id.
    pub agent_id: String,
    /// Its name.
    pub name: String,
    /// What it is called in the company.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub display_title: Option<String>,
    /// Its picture.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub avatar: Option<String>,
    /// What it is.
    pub role: AgentRole,
    /// What runs it.
    pub provider: String,
    /// Which model suits it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model_hint: Option<String>,
    /// Its team.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub team_id: Option<String>,
    /// When it was made.
    pub created_at: String,
}

/// Response of [`CompanyWorkspaceTeamsList`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct CompanyWorkspaceTeamsListResponse(pub Vec<TeamRow>);

/// A team.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TeamRow {
    /// Its id.
    pub team_id: String,
    /// Its name.
    pub name: String,
    /// The department it is, by key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub department_key: Option<String>,
    /// The department it is, by name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub department_label: Option<String>,
    /// What it is for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub charter: Option<String>,
    /// When it was made.
    pub created_at: String,
}

/// Params of [`CompanyWorkspaceProjectCreateWithDefaults`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CompanyWorkspaceProjectCreateWithDefaultsParams {
    /// The company folder.
    pub workspace_dir: Text,
    /// The name of the project.
    #[schemars(length(max = 200))]
    pub name: Text,
    /// Who leads the company; `human_ceo` if not given.
    #[serde(default)]
    pub ceo_actor_id: Option<Text>,
    /// Who leads the work.
    #[serde(default)]
    pub executive_manager_agent_id: Option<AgentId>,
    /// Repositories to tie to it.
    #[serde(default)]
    pub repo_ids: Option<Vec<String>>,
}

/// Response of [`CompanyWorkspaceProjectCreateWithDefaults`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CompanyWorkspaceProjectCreateWithDefaultsResponse {
    /// The new project.
    pub project_id: ProjectId,
    /// Who assists the whole company.
    pub global_manager_agent_id: AgentId,
    /// Who assists the project.
    pub project_secretary_agent_id: AgentId,
    /// The conversations of the project.
    pub conversation_ids: Vec<ConversationId>,
    /// Its repositories.
    pub repo_links: Vec<RepoLink>,
}

/// Params of [`CompanyWorkspaceProjectLinkRepo`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CompanyWorkspaceProjectLinkRepoParams {
    /// The company folder.
    pub workspace_dir: Text,
    /// The project.
    pub project_id: ProjectId,
    /// The name the company gives the repository.
    pub repo_id: RepoId,
    /// What it is.
    #[serde(default)]
    pub label: Option<Text>,
}

/// Response of [`CompanyWorkspaceProjectLinkRepo`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CompanyWorkspaceProjectLinkRepoResponse {
    /// The folder as it was given.
    pub workspace_dir: String,
    /// The project.
    pub project_id: ProjectId,
    /// Its repositories, sorted.
    pub repos: Vec<RepoLink>,
}

/// Params of [`CompanyWorkspaceRepoRootSet`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CompanyWorkspaceRepoRootSetParams {
    /// The company folder.
    pub workspace_dir: Text,
    /// The repository.
    pub repo_id: RepoId,
    /// Where it is: an absolute path.
    pub repo_path: Text,
    /// Whether it must be a Git repository; true if not given.
    #[serde(default)]
    pub require_git: Option<bool>,
}

/// Response of [`CompanyWorkspaceRepoRootSet`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CompanyWorkspaceRepoRootSetResponse {
    /// The folder as it was given.
    pub workspace_dir: String,
    /// The repository.
    pub repo_id: RepoId,
    /// Where it is.
    pub repo_path: String,
}

/// How a company is built.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum OrgMode {
    /// An executive manager leads departments.
    Enterprise,
    /// A director leads departments.
    Standard,
}

/// Params of [`CompanyWorkspaceBootstrapEnterprise`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CompanyWorkspaceBootstrapEnterpriseParams {
    /// The folder to make.
    pub workspace_dir: Text,
    /// The name of the company; `AgentCompany` if not given.
    #[serde(default)]
    #[schemars(length(max = 200))]
    pub company_name: Option<Text>,
    /// The name of the first project; `AgentCompany Ops` if not given.
    #[serde(default)]
    #[schemars(length(max = 200))]
    pub project_name: Option<Text>,
    /// How it is built; `enterprise` if not given.
    #[serde(default)]
    pub org_mode: Option<OrgMode>,
    /// The name of the executive manager.
    #[serde(default)]
    pub executive_manager_name: Option<Text>,
    /// The departments, by key.
    #[serde(default)]
    pub departments: Option<Vec<Text>>,
    /// How many workers each department has; 1 if not given.
    #[serde(default)]
    #[schemars(range(min = 1, max = 20))]
    pub workers_per_dept: Option<u32>,
    /// Whether an agent is the head of the company; true if not given.
    #[serde(default)]
    pub include_ceo: Option<bool>,
    /// Whether a director leads the departments of a standard company; true if not given.
    #[serde(default)]
    pub include_director: Option<bool>,
    /// Replace a company that is there. The old one is kept beside the new one.
    #[serde(default)]
    pub force: Option<bool>,
}

/// Response of [`CompanyWorkspaceBootstrapEnterprise`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CompanyWorkspaceBootstrapEnterpriseResponse {
    /// The folder as it was given.
    pub workspace_dir: String,
    /// The name of the company.
    pub company_name: String,
    /// The first project.
    pub project_id: ProjectId,
    /// How it is built.
    pub org_mode: OrgMode,
    /// The departments.
    pub departments: Vec<DepartmentRow>,
    /// Who leads.
    pub agents: LeadingAgents,
    /// Whom a person would talk to first.
    pub default_session: DefaultSession,
    /// Where the company that was there is now.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub backup_relpath: Option<String>,
}

/// A department of a new company.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DepartmentRow {
    /// Its key.
    pub department_key: String,
    /// Its name.
    pub department_label: String,
    /// Its team.
    pub team_id: TeamId,
    /// Who leads it.
    pub director_agent_id: AgentId,
    /// Who works in it.
    pub worker_agent_ids: Vec<AgentId>,
}

/// Who leads a new company.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LeadingAgents {
    /// The head.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ceo_agent_id: Option<AgentId>,
    /// The director of a standard company.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub director_agent_id: Option<AgentId>,
    /// The executive manager of an enterprise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub executive_manager_agent_id: Option<AgentId>,
}

/// Whom a person would talk to first.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DefaultSession {
    /// The project.
    pub project_id: ProjectId,
    /// The agent.
    pub actor_id: AgentId,
    /// What it is.
    pub actor_role: AgentRole,
    /// Its team.
    pub actor_team_id: Option<TeamId>,
}

/// Response of [`CompanyWorkspaceHomeSnapshot`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CompanyWorkspaceHomeSnapshotResponse {
    /// How all projects stand.
    #[serde(flatten)]
    pub home: HomeSnapshot,
    /// The same for planning.
    pub pm: PortfolioSnapshot,
}

/// How all projects stand.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct HomeSnapshot {
    /// The folder as it was given.
    pub workspace_dir: String,
    /// When it was looked at.
    pub generated_at: String,
    /// The projects, newest first.
    pub projects: Vec<HomeProject>,
    /// All of them together.
    pub summary: HomeSummary,
}

/// A project of a [`HomeSnapshot`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct HomeProject {
    /// Its id.
    pub project_id: String,
    /// Its name.
    pub name: String,
    /// Whether it is worked on.
    pub status: ProjectStatus,
    /// When it was made.
    pub created_at: String,
    /// Its repositories.
    pub repo_ids: Vec<String>,
    /// What waits for a decision.
    pub pending_reviews: u64,
    /// What runs.
    pub active_runs: u64,
    /// Runs that were made and never started.
    pub idle_runs: u64,
    /// How many tasks it has.
    pub task_count: u64,
    /// How far it is, from 0 to 100.
    pub progress_pct: f64,
    /// Tasks that wait for something.
    pub blocked_tasks: u64,
    /// What deserves attention.
    pub risk_flags: Vec<String>,
}

/// All projects of a [`HomeSnapshot`] together.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct HomeSummary {
    /// How many projects.
    pub project_count: u64,
    /// What waits for a decision.
    pub pending_reviews: u64,
    /// What runs.
    pub active_runs: u64,
    /// Runs that were made and never started.
    pub idle_runs: u64,
    /// How many tasks.
    pub task_count: u64,
    /// How far they are, from 0 to 100.
    pub progress_pct: f64,
    /// Projects with tasks that wait for something.
    pub blocked_projects: u64,
}

/// All projects for planning.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PortfolioSnapshot {
    /// All of them together.
    pub summary: PortfolioSummary,
    /// Each of them.
    pub projects: Vec<PortfolioProject>,
}

/// All projects of a [`PortfolioSnapshot`] together.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PortfolioSummary {
    /// How many projects.
    pub project_count: u64,
    /// What runs.
    pub active_runs: u64,
    /// Runs that were started more than a day ago and of which nothing is heard any more.
    #[serde(default)]
    pub stale_runs: u64,
    /// What waits for a decision.
    pub pending_reviews: u64,
    /// What the agents used.
    pub total_tokens: u64,
    /// How far they are, from 0 to 100.
    pub progress_pct: f64,
    /// Projects with tasks that wait for something.
    pub blocked_projects: u64,
}

/// A project of a [`PortfolioSnapshot`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PortfolioProject {
    /// Its id.
    pub project_id: String,
    /// Its name.
    pub name: String,
    /// How many tasks it has.
    pub task_count: u64,
    /// How far it is, from 0 to 100.
    pub progress_pct: f64,
    /// Tasks that wait for something.
    pub blocked_tasks: u64,
    /// What runs.
    pub active_runs: u64,
    /// Runs that were started more than a day ago and of which nothing is heard any more.
    #[serde(default)]
    pub stale_runs: u64,
    /// What waits for a decision.
    pub pending_reviews: u64,
    /// What deserves attention.
    pub risk_flags: Vec<String>,
}
