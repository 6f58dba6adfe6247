//! `workspace.*`: the life cycle and the contents of company folders.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{AgentId, AgentRole, ConversationId, ProjectId, ProjectStatus, RepoId, TeamId, Text};

crate::methods! {
    Company family "workspace";

    /// Check whether a folder is a valid company folder and register a valid one as a workspace of the gateway.
    Read CompanyWorkspaceOpen = "workspace.open" (CompanyFolderParams in workspace_dir) -> CompanyWorkspaceOpenResponse;
    /// Create a company folder.
    Write CompanyWorkspaceInit = "workspace.init" (CompanyWorkspaceInitParams in workspace_dir only Human) -> CompanyOkResponse;
    /// Get whether a company folder is trusted on this machine, and its machine-specific settings.
    Read CompanyWorkspaceTrustGet = "workspace.trust.get" (CompanyFolderParams in workspace_dir) -> CompanyWorkspaceTrustResponse;
    /// Trust a company folder that was created elsewhere.
    ///
    /// The settings in its `.local` take effect, and the folder can be written and run workers.
    Exec CompanyWorkspaceTrust = "workspace.trust" (CompanyWorkspaceTrustParams in workspace_dir only Human) -> CompanyWorkspaceTrustResponse;
    /// Withdraw the trust in a company folder, which is then read-only.
    ///
    /// The call is rejected while sessions run in the folder.
    Exec CompanyWorkspaceTrustWithdraw = "workspace.trust.withdraw" (CompanyFolderParams in workspace_dir only Human) -> CompanyWorkspaceTrustResponse;
    /// Validate all documents of a company folder.
    Read CompanyWorkspaceValidate = "workspace.validate" (CompanyFolderParams in workspace_dir) -> CompanyWorkspaceValidateResponse;
    /// Check a company folder, its worker programs, repositories, event logs and index, and the leftovers of crashes.
    Read CompanyWorkspaceDoctor = "workspace.doctor" (CompanyWorkspaceDoctorParams in workspace_dir) -> CompanyWorkspaceDoctorResponse;
    /// Write a diagnostics bundle of a company folder for support, with secrets redacted.
    Write CompanyWorkspaceDiagnostics = "workspace.diagnostics" (CompanyWorkspaceDiagnosticsParams only Human) -> CompanyWorkspaceDiagnosticsResponse;
    /// Upgrade old event logs to the current event envelope.
    ///
    /// Logs with invalid hashes are skipped unless `force` is true.
    Write CompanyWorkspaceMigrate = "workspace.migrate" (CompanyWorkspaceMigrateParams in workspace_dir only Human) -> CompanyWorkspaceMigrateResponse;
    /// Copy a company folder to another directory.
    Write CompanyWorkspaceExport = "workspace.export" (CompanyWorkspaceExportParams only Human) -> CompanyWorkspaceExportResponse;
    /// Create a company folder from an exported one.
    Write CompanyWorkspaceImport = "workspace.import" (CompanyWorkspaceImportParams only Human) -> CompanyWorkspaceImportResponse;
    /// List the projects with their progress, newest first.
    Read CompanyWorkspaceProjectsList = "workspace.projects.list" (CompanyFolderParams in workspace_dir) -> CompanyWorkspaceProjectsListResponse;
    /// List the agents, sorted by name.
    Read CompanyWorkspaceAgentsList = "workspace.agents.list" (CompanyWorkspaceAgentsListParams in workspace_dir) -> CompanyWorkspaceAgentsListResponse;
    /// List the teams, sorted by name.
    Read CompanyWorkspaceTeamsList = "workspace.teams.list" (CompanyFolderParams in workspace_dir) -> CompanyWorkspaceTeamsListResponse;
    /// Create a project with its secretary agent and its default conversations.
    Write CompanyWorkspaceProjectCreateWithDefaults = "workspace.project.create_with_defaults" (CompanyWorkspaceProjectCreateWithDefaultsParams in workspace_dir) -> CompanyWorkspaceProjectCreateWithDefaultsResponse;
    /// Link a repository to a project.
    Write CompanyWorkspaceProjectLinkRepo = "workspace.project.link_repo" (CompanyWorkspaceProjectLinkRepoParams in workspace_dir only Human) -> CompanyWorkspaceProjectLinkRepoResponse;
    /// Set the path of a repository on this machine.
    ///
    /// An unusable path fails with -32601, not -32602, for compatibility with existing clients.
    Write CompanyWorkspaceRepoRootSet = "workspace.repo_root.set" (CompanyWorkspaceRepoRootSetParams only Human) -> CompanyWorkspaceRepoRootSetResponse;
    /// Create a complete company with departments, teams, agents, a project and its conversations.
    Write CompanyWorkspaceBootstrapEnterprise = "workspace.bootstrap.enterprise" (CompanyWorkspaceBootstrapEnterpriseParams in workspace_dir only Human) -> CompanyWorkspaceBootstrapEnterpriseResponse;
    /// Get the progress, the runs and the pending decisions of all projects.
    Read CompanyWorkspaceHomeSnapshot = "workspace.home.snapshot" (CompanyFolderParams in workspace_dir) -> CompanyWorkspaceHomeSnapshotResponse;
}

/// Params of methods that need only a company folder.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CompanyFolderParams {
    /// Absolute path of the company folder.
    pub workspace_dir: Text,
}

/// Response of methods that return no data.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CompanyOkResponse {
    /// Always true.
    pub ok: bool,
}

/// Params of [`CompanyWorkspaceTrust`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CompanyWorkspaceTrustParams {
    /// Absolute path of the company folder.
    pub workspace_dir: Text,
    /// The `sha256` returned by [`CompanyWorkspaceTrustGet`]. If the machine-specific settings have changed since, the
    /// call fails and the folder stays untrusted. If absent, the current settings are not compared.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expected_sha256: Option<String>,
}

/// Response of [`CompanyWorkspaceTrustGet`], [`CompanyWorkspaceTrust`] and [`CompanyWorkspaceTrustWithdraw`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CompanyWorkspaceTrustResponse {
    /// The company folder, as given in the request.
    pub workspace_dir: String,
    /// True if the folder was created or trusted on this machine.
    pub trusted: bool,
    /// The worker programs configured in `.local/machine.yaml`, by provider. They take effect only in a trusted folder.
    pub programs: BTreeMap<String, String>,
    /// True if `.local/heartbeat/config.yaml` enables the heartbeat, which starts workers on its own.
    pub heartbeat_enabled: bool,
    /// The value for `expected_sha256`: SHA-256 of two lines `<sha256>  <relpath>`, each ending with a line feed, for
    /// `.local/machine.yaml` and `.local/heartbeat/config.yaml`. The hash of a missing file is `-`.
    pub sha256: String,
}

/// A problem of a company folder.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ValidationIssue {
    /// The issue code: `missing_dir`, `missing_file`, `schema_invalid`, `parse_error`, `read_error`, `frontmatter`,
    /// `frontmatter_schema`, `missing_heading`, `contract_incomplete`, `memory_delta_invalid` or
    /// `milestone_report_invalid`.
    pub code: String,
    /// A description of the issue, which names the file.
    pub message: String,
    /// The path of the file, relative to the company folder. Absent if the issue belongs to no file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
}

/// Response of [`CompanyWorkspaceOpen`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CompanyWorkspaceOpenResponse {
    /// The company folder, as given in the request.
    pub workspace_dir: String,
    /// True if there are no issues.
    pub valid: bool,
    /// The issues of the folder. Empty if it is valid.
    pub issues: Vec<ValidationIssue>,
}

/// Params of [`CompanyWorkspaceInit`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CompanyWorkspaceInitParams {
    /// Absolute path of the folder to create.
    pub workspace_dir: Text,
    /// The name of the company, at most 200 characters. Default `AgentCompany`.
    #[serde(default)]
    #[schemars(length(max = 200))]
    pub company_name: Option<Text>,
    /// If true, also uses a folder that is not empty. Its company identity and machine file are kept if they are valid.
    /// Default false.
    #[serde(default)]
    pub force: Option<bool>,
}

/// Response of [`CompanyWorkspaceValidate`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CompanyWorkspaceValidateResponse {
    /// True if there are no issues.
    pub ok: bool,
    /// The issues of the folder. Absent if there are none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub issues: Option<Vec<ValidationIssue>>,
}

/// Params of [`CompanyWorkspaceDoctor`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CompanyWorkspaceDoctorParams {
    /// Absolute path of the company folder.
    pub workspace_dir: Text,
    /// If true, rebuilds the index. Default false.
    #[serde(default)]
    pub rebuild_index: Option<bool>,
    /// If true, syncs the index. Default false.
    #[serde(default)]
    pub sync_index: Option<bool>,
}

/// Response of [`CompanyWorkspaceDoctor`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CompanyWorkspaceDoctorResponse {
    /// The company folder, as given in the request.
    pub workspace_dir: String,
    /// True if no check failed. Warnings are allowed.
    pub ok: bool,
    /// The results of the checks.
    pub checks: Vec<DoctorCheck>,
    /// The number of checks by status.
    pub summary: DoctorSummary,
}

/// The result of one check of a company folder.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DoctorCheck {
    /// The id of the check, such as `workspace.schema`.
    pub id: String,
    /// The outcome of the check.
    pub status: DoctorStatus,
    /// A description of the outcome.
    pub message: String,
    /// The individual findings, one per item. Absent if there are none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub details: Option<Vec<String>>,
}

/// The outcome of a check.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum DoctorStatus {
    /// The check passed.
    Pass,
    /// The check found something that may need attention.
    Warn,
    /// The check failed.
    Fail,
}

/// The number of checks by outcome.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DoctorSummary {
    /// The number of checks that passed.
    pub pass: u32,
    /// The number of checks with a warning.
    pub warn: u32,
    /// The number of checks that failed.
    pub fail: u32,
}

/// Params of [`CompanyWorkspaceDiagnostics`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CompanyWorkspaceDiagnosticsParams {
    /// Absolute path of the company folder.
    pub workspace_dir: Text,
    /// Absolute path of the directory in which the bundle is created.
    pub out_dir: Text,
    /// If true, rebuilds the index first. Default false.
    #[serde(default)]
    pub rebuild_index: Option<bool>,
    /// If true, syncs the index first. Default true.
    #[serde(default)]
    pub sync_index: Option<bool>,
    /// The maximum number of runs in the monitor snapshot. Default 200.
    #[serde(default)]
    #[schemars(range(min = 1, max = 5000))]
    pub monitor_limit: Option<u32>,
    /// The maximum number of pending documents in the inbox snapshot. Default 200.
    #[serde(default)]
    #[schemars(range(min = 1, max = 5000))]
    pub pending_limit: Option<u32>,
    /// The maximum number of decisions in the inbox snapshot. Default 200.
    #[serde(default)]
    #[schemars(range(min = 1, max = 5000))]
    pub decisions_limit: Option<u32>,
}

/// Response of [`CompanyWorkspaceDiagnostics`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CompanyWorkspaceDiagnosticsResponse {
    /// The company folder, as given in the request.
    pub workspace_dir: String,
    /// The output directory, as given in the request.
    pub out_dir: String,
    /// The path of the bundle: a new folder in `out_dir`.
    pub bundle_dir: String,
    /// The time the bundle was generated, in ISO-8601.
    pub generated_at: String,
    /// The names of the files in the bundle.
    pub files: DiagnosticsFiles,
}

/// The names of the files in a diagnostics bundle, relative to `bundle_dir`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DiagnosticsFiles {
    /// The file name of the manifest.
    pub manifest: String,
    /// The file name of the response of `workspace.doctor`.
    pub doctor: String,
    /// The file name of the response of `adapter.status`.
    pub adapters: String,
    /// The file name of the response of `session.list`.
    pub sessions: String,
    /// The file name of the response of `monitor.snapshot`.
    pub monitor_snapshot: String,
    /// The file name of the response of `inbox.snapshot`.
    pub review_inbox_snapshot: String,
    /// The file name of the response of `index.stats`. `null` if there is no readable index.
    pub index_stats: Option<String>,
}

/// Params of [`CompanyWorkspaceMigrate`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CompanyWorkspaceMigrateParams {
    /// Absolute path of the company folder.
    pub workspace_dir: Text,
    /// If true, reports what would change and writes nothing. Default false.
    #[serde(default)]
    pub dry_run: Option<bool>,
    /// If true, repeats a migration that was already applied and also rewrites logs with invalid hashes. Default false.
    #[serde(default)]
    pub force: Option<bool>,
}

/// Response of [`CompanyWorkspaceMigrate`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CompanyWorkspaceMigrateResponse {
    /// Absolute path of the company folder, with links resolved.
    pub workspace_dir: String,
    /// The id of the migration.
    pub migration_id: String,
    /// True if the call was a dry run.
    pub dry_run: bool,
    /// True if the call was forced.
    pub forced: bool,
    /// True if the migration had been applied before and nothing was done.
    pub already_applied: bool,
    /// True if this call ran the migration. False in a dry run.
    pub applied: bool,
    /// The path of the file that records applied migrations, relative to the company folder.
    pub state_relpath: String,
    /// The number of event logs that were checked.
    pub files_scanned: u64,
    /// The number of event logs that were rewritten, or would be in a dry run.
    pub files_updated: u64,
    /// The number of events that were rewritten, or would be in a dry run.
    pub events_rewritten: u64,
    /// The number of lines that are not JSON objects.
    pub parse_errors: u64,
    /// The paths of event logs that were skipped because of invalid hashes, relative to the company folder. Absent if
    /// there are none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub refused_files: Vec<String>,
}

/// Params of [`CompanyWorkspaceExport`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CompanyWorkspaceExportParams {
    /// Absolute path of the company folder.
    pub workspace_dir: Text,
    /// Absolute path of the copy.
    pub out_dir: Text,
    /// If true, also copies `.local`, the machine-specific data. Default false.
    #[serde(default)]
    pub include_local: Option<bool>,
    /// If true, replaces an existing company folder or export at `out_dir`. Default false.
    #[serde(default)]
    pub force: Option<bool>,
}

/// Response of [`CompanyWorkspaceExport`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CompanyWorkspaceExportResponse {
    /// The company folder, as given in the request.
    pub workspace_dir: String,
    /// The path of the copy, as given in the request.
    pub out_dir: String,
    /// True if `.local` was requested.
    pub include_local: bool,
    /// The names of the copied top-level folders.
    pub exported_entries: Vec<String>,
}

/// Params of [`CompanyWorkspaceImport`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CompanyWorkspaceImportParams {
    /// Absolute path of the exported folder.
    pub src_dir: Text,
    /// Absolute path of the company folder to create.
    pub workspace_dir: Text,
    /// If true, also copies `.local`, the machine-specific data; the new folder is then not trusted. Default false.
    #[serde(default)]
    pub include_local: Option<bool>,
    /// If true, replaces an existing company folder at `workspace_dir`. Default false.
    #[serde(default)]
    pub force: Option<bool>,
}

/// Response of [`CompanyWorkspaceImport`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CompanyWorkspaceImportResponse {
    /// The exported folder, as given in the request.
    pub src_dir: String,
    /// The new company folder, as given in the request.
    pub workspace_dir: String,
    /// True if `.local` was requested.
    pub include_local: bool,
    /// The names of the copied top-level folders.
    pub imported_entries: Vec<String>,
    /// True if the new folder is valid.
    pub validation_ok: bool,
    /// The number of validation issues of the new folder.
    pub validation_issues: u64,
}

/// A repository linked to a project.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RepoLink {
    /// The id of the repository within the company.
    pub repo_id: Text,
    /// A label for people. Absent if there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label: Option<Text>,
}

/// Response of [`CompanyWorkspaceProjectsList`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CompanyWorkspaceProjectsListResponse {
    /// The company folder, as given in the request.
    pub workspace_dir: String,
    /// The projects, newest first.
    pub projects: Vec<ProjectRow>,
}

/// A project with its progress.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ProjectRow {
    /// The id of the project.
    pub project_id: String,
    /// The name of the project.
    pub name: String,
    /// The status of the project.
    pub status: ProjectStatus,
    /// The time the project was created, in ISO-8601.
    pub created_at: String,
    /// The repositories linked to the project.
    pub repo_links: Vec<RepoLink>,
    /// The number of documents that wait for a decision.
    pub pending_reviews: u64,
    /// The number of runs that were launched and have not ended. Runs older than 24 hours count only if their session
    /// is known to be live.
    pub active_runs: u64,
    /// The number of tasks.
    pub task_count: u64,
    /// The mean progress of the tasks in percent, from 0 to 100 with one decimal.
    pub progress_pct: f64,
    /// The number of tasks with status `blocked`.
    pub blocked_tasks: u64,
    /// The risks of the project: `blocked_tasks`, `pending_reviews` and `dependency_cycle`, as far as they apply.
    pub risk_flags: Vec<String>,
}

/// Params of [`CompanyWorkspaceAgentsList`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CompanyWorkspaceAgentsListParams {
    /// Absolute path of the company folder.
    pub workspace_dir: Text,
    /// Return only agents with this role. All roles if absent.
    #[serde(default)]
    pub role: Option<AgentRole>,
    /// Return only agents of this team. All teams if absent.
    #[serde(default)]
    pub team_id: Option<Text>,
}

/// Response of [`CompanyWorkspaceAgentsList`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct CompanyWorkspaceAgentsListResponse(pub Vec<AgentRow>);

/// An agent in a list.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct AgentRow {
    /// The id of the agent.
    pub agent_id: String,
    /// The name of the agent.
    pub name: String,
    /// The job title of the agent. Absent if there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub display_title: Option<String>,
    /// The avatar of the agent. Absent if there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub avatar: Option<String>,
    /// The role of the agent.
    pub role: AgentRole,
    /// The provider that runs the agent.
    pub provider: String,
    /// The preferred model of the agent. Absent if there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model_hint: Option<String>,
    /// The id of the agent's team. Absent if it has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub team_id: Option<String>,
    /// The time the agent was created, in ISO-8601.
    pub created_at: String,
}

/// Response of [`CompanyWorkspaceTeamsList`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct CompanyWorkspaceTeamsListResponse(pub Vec<TeamRow>);

/// A team in a list.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TeamRow {
    /// The id of the team.
    pub team_id: String,
    /// The name of the team.
    pub name: String,
    /// The key of the department the team represents. Absent if there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub department_key: Option<String>,
    /// The name of that department. Absent if there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub department_label: Option<String>,
    /// The purpose of the team. Absent if there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub charter: Option<String>,
    /// The time the team was created, in ISO-8601.
    pub created_at: String,
}

/// Params of [`CompanyWorkspaceProjectCreateWithDefaults`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CompanyWorkspaceProjectCreateWithDefaultsParams {
    /// Absolute path of the company folder.
    pub workspace_dir: Text,
    /// The name of the project, at most 200 characters.
    #[schemars(length(max = 200))]
    pub name: Text,
    /// The id of the actor that acts as CEO. Default `human_ceo`.
    #[serde(default)]
    pub ceo_actor_id: Option<Text>,
    /// The id of the executive manager. If absent, the first agent with role manager and title `Executive Manager`, or
    /// else the general manager.
    #[serde(default)]
    pub executive_manager_agent_id: Option<AgentId>,
    /// The ids of repositories to link to the project; blank ids are ignored. Default empty.
    #[serde(default)]
    pub repo_ids: Option<Vec<String>>,
}

/// Response of [`CompanyWorkspaceProjectCreateWithDefaults`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CompanyWorkspaceProjectCreateWithDefaultsResponse {
    /// The id of the new project.
    pub project_id: ProjectId,
    /// The id of the general manager of the company.
    pub global_manager_agent_id: AgentId,
    /// The id of the secretary of the project.
    pub project_secretary_agent_id: AgentId,
    /// The ids of the default conversations of the project.
    pub conversation_ids: Vec<ConversationId>,
    /// The repositories linked to the project.
    pub repo_links: Vec<RepoLink>,
}

/// Params of [`CompanyWorkspaceProjectLinkRepo`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CompanyWorkspaceProjectLinkRepoParams {
    /// Absolute path of the company folder.
    pub workspace_dir: Text,
    /// The id of the project.
    pub project_id: ProjectId,
    /// The id of the repository within the company. An existing link with this id is replaced.
    pub repo_id: RepoId,
    /// A label that is shown to people. Optional.
    #[serde(default)]
    pub label: Option<Text>,
}

/// Response of [`CompanyWorkspaceProjectLinkRepo`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CompanyWorkspaceProjectLinkRepoResponse {
    /// The company folder, as given in the request.
    pub workspace_dir: String,
    /// The id of the project.
    pub project_id: ProjectId,
    /// All repositories linked to the project, sorted by id.
    pub repos: Vec<RepoLink>,
}

/// Params of [`CompanyWorkspaceRepoRootSet`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CompanyWorkspaceRepoRootSetParams {
    /// Absolute path of the company folder.
    pub workspace_dir: Text,
    /// The id of the repository within the company.
    pub repo_id: RepoId,
    /// Absolute path of the repository on this machine. It must be an existing directory.
    pub repo_path: Text,
    /// If true, rejects a directory without `.git`. Default true.
    #[serde(default)]
    pub require_git: Option<bool>,
}

/// Response of [`CompanyWorkspaceRepoRootSet`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CompanyWorkspaceRepoRootSetResponse {
    /// The company folder, as given in the request.
    pub workspace_dir: String,
    /// The id of the repository.
    pub repo_id: RepoId,
    /// The stored absolute path, without `.` and `..`.
    pub repo_path: String,
}

/// The organization of a new company.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum OrgMode {
    /// An executive manager leads the departments.
    Enterprise,
    /// A director leads the departments.
    Standard,
}

/// Params of [`CompanyWorkspaceBootstrapEnterprise`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CompanyWorkspaceBootstrapEnterpriseParams {
    /// Absolute path of the folder to create.
    pub workspace_dir: Text,
    /// The name of the company, at most 200 characters. Default `AgentCompany`.
    #[serde(default)]
    #[schemars(length(max = 200))]
    pub company_name: Option<Text>,
    /// The name of the first project, at most 200 characters. Default `AgentCompany Ops`.
    #[serde(default)]
    #[schemars(length(max = 200))]
    pub project_name: Option<Text>,
    /// The organization of the company. Default `enterprise`.
    #[serde(default)]
    pub org_mode: Option<OrgMode>,
    /// The name of the executive manager, in mode `enterprise`. Default `Executive Manager`.
    #[serde(default)]
    pub executive_manager_name: Option<Text>,
    /// The keys of the departments; unknown keys are ignored. If absent, `frontend`, `backend`, `agent_resources`,
    /// `marketing`, `infra` and `data` in mode `enterprise`, `engineering` and `product` in mode `standard`.
    #[serde(default)]
    pub departments: Option<Vec<Text>>,
    /// The number of workers per department. Default 1.
    #[serde(default)]
    #[schemars(range(min = 1, max = 20))]
    pub workers_per_dept: Option<u32>,
    /// Whether to create an agent with role CEO. Default true.
    #[serde(default)]
    pub include_ceo: Option<bool>,
    /// Whether to create a director above the departments, in mode `standard`. Default true.
    #[serde(default)]
    pub include_director: Option<bool>,
    /// If true, also uses a folder that is not empty. An existing company is moved to `backup_relpath`. Default false.
    #[serde(default)]
    pub force: Option<bool>,
}

/// Response of [`CompanyWorkspaceBootstrapEnterprise`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CompanyWorkspaceBootstrapEnterpriseResponse {
    /// The company folder, as given in the request.
    pub workspace_dir: String,
    /// The name of the company.
    pub company_name: String,
    /// The id of the first project.
    pub project_id: ProjectId,
    /// The organization of the company.
    pub org_mode: OrgMode,
    /// The created departments.
    pub departments: Vec<DepartmentRow>,
    /// The ids of the leading agents.
    pub agents: LeadingAgents,
    /// The project and the agent a client should open first.
    pub default_session: DefaultSession,
    /// The path of the replaced company, relative to the company folder. Absent if none was replaced.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub backup_relpath: Option<String>,
}

/// A department of a new company.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DepartmentRow {
    /// The key of the department.
    pub department_key: String,
    /// The name of the department.
    pub department_label: String,
    /// The id of the department's team.
    pub team_id: TeamId,
    /// The id of the director of the department.
    pub director_agent_id: AgentId,
    /// The ids of the workers of the department.
    pub worker_agent_ids: Vec<AgentId>,
}

/// The leading agents of a new company.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LeadingAgents {
    /// The id of the CEO. Absent if none was created.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ceo_agent_id: Option<AgentId>,
    /// The id of the director above the departments. Absent in mode `enterprise`, or if none was created.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub director_agent_id: Option<AgentId>,
    /// The id of the executive manager. Absent in mode `standard`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub executive_manager_agent_id: Option<AgentId>,
}

/// The project and the agent a client should open first.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DefaultSession {
    /// The id of the project.
    pub project_id: ProjectId,
    /// The id of the agent.
    pub actor_id: AgentId,
    /// The role of the agent.
    pub actor_role: AgentRole,
    /// The id of the team of the first department.
    pub actor_team_id: Option<TeamId>,
}

/// Response of [`CompanyWorkspaceHomeSnapshot`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CompanyWorkspaceHomeSnapshotResponse {
    /// The projects and their totals.
    #[serde(flatten)]
    pub home: HomeSnapshot,
    /// The projects and their totals for planning.
    pub pm: PortfolioSnapshot,
}

/// The projects of a company and their totals.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct HomeSnapshot {
    /// The company folder, as given in the request.
    pub workspace_dir: String,
    /// The time the snapshot was generated, in ISO-8601.
    pub generated_at: String,
    /// The projects, newest first.
    pub projects: Vec<HomeProject>,
    /// Totals over all projects.
    pub summary: HomeSummary,
}

/// A project in a [`HomeSnapshot`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct HomeProject {
    /// The id of the project.
    pub project_id: String,
    /// The name of the project.
    pub name: String,
    /// The status of the project.
    pub status: ProjectStatus,
    /// The time the project was created, in ISO-8601.
    pub created_at: String,
    /// The ids of the repositories linked to the project.
    pub repo_ids: Vec<String>,
    /// The number of documents that wait for a decision.
    pub pending_reviews: u64,
    /// The number of runs that were launched and have not ended. Runs older than 24 hours count only if their session
    /// is known to be live.
    pub active_runs: u64,
    /// The number of runs with status `running` that were never launched.
    pub idle_runs: u64,
    /// The number of tasks.
    pub task_count: u64,
    /// The mean progress of the tasks in percent, from 0 to 100 with one decimal.
    pub progress_pct: f64,
    /// The number of tasks with status `blocked`.
    pub blocked_tasks: u64,
    /// The risks of the project: `pending_reviews` and `blocked_tasks`, as far as they apply.
    pub risk_flags: Vec<String>,
}

/// Totals over all projects of a [`HomeSnapshot`].
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct HomeSummary {
    /// The number of projects.
    pub project_count: u64,
    /// The number of documents that wait for a decision.
    pub pending_reviews: u64,
    /// The number of runs that were launched and have not ended. Runs older than 24 hours count only if their session
    /// is known to be live.
    pub active_runs: u64,
    /// The number of runs with status `running` that were never launched.
    pub idle_runs: u64,
    /// The number of tasks.
    pub task_count: u64,
    /// The mean progress of the projects in percent, from 0 to 100 with one decimal.
    pub progress_pct: f64,
    /// The number of projects with at least one blocked task.
    pub blocked_projects: u64,
}

/// The projects of a company and their totals, for planning.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PortfolioSnapshot {
    /// Totals over all projects.
    pub summary: PortfolioSummary,
    /// The projects, newest first.
    pub projects: Vec<PortfolioProject>,
}

/// Totals over all projects of a [`PortfolioSnapshot`].
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PortfolioSummary {
    /// The number of projects.
    pub project_count: u64,
    /// The number of runs that were launched and have not ended. Runs older than 24 hours count only if their session
    /// is known to be live.
    pub active_runs: u64,
    /// The number of launched runs older than 24 hours that have not ended and have no known live session.
    #[serde(default)]
    pub stale_runs: u64,
    /// The number of documents that wait for a decision.
    pub pending_reviews: u64,
    /// The total number of tokens of all runs.
    pub total_tokens: u64,
    /// The mean progress of the projects in percent, from 0 to 100 with one decimal.
    pub progress_pct: f64,
    /// The number of projects with at least one blocked task.
    pub blocked_projects: u64,
}

/// A project in a [`PortfolioSnapshot`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PortfolioProject {
    /// The id of the project.
    pub project_id: String,
    /// The name of the project.
    pub name: String,
    /// The number of tasks.
    pub task_count: u64,
    /// The mean progress of the tasks in percent, from 0 to 100 with one decimal.
    pub progress_pct: f64,
    /// The number of tasks with status `blocked`.
    pub blocked_tasks: u64,
    /// The number of runs that were launched and have not ended. Runs older than 24 hours count only if their session
    /// is known to be live.
    pub active_runs: u64,
    /// The number of launched runs older than 24 hours that have not ended and have no known live session.
    #[serde(default)]
    pub stale_runs: u64,
    /// The number of documents that wait for a decision.
    pub pending_reviews: u64,
    /// The risks of the project: `blocked_tasks`, `pending_reviews` and `dependency_cycle`, as far as they apply.
    pub risk_flags: Vec<String>,
}
