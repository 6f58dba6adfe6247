//! `job.*`: delegated units of work, with a contract, up to three attempts and a result.

use std::{borrow::Cow, collections::BTreeMap};

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use serde_json::Value;

use super::{
    ActorRole, AgentId, Asking, Issue, JobId, JobKind, MilestoneId, PermissionLevel, ProjectId,
    RepoId, TaskId, Text, WorkerKind, context::ContextRef, heartbeat::ProposedAction,
};
use crate::Reach;

crate::methods! {
    Company family "job";

    /// Submit a job to a worker. Returns as soon as the job is queued; `job.poll` reports its progress.
    ///
    /// If `job_id` is blank, the gateway generates an id. If a gateway process is already working on the id, the
    /// response contains its current status and nothing is started. Any other id that already exists is rejected unless
    /// `resubmit` is true, which discards the earlier result.
    Exec JobSubmit = "job.submit" (JobSubmitParams in job as job.manager_role) -> JobSubmitResponse;
    /// List the newest jobs of a project, sorted by job id.
    Read JobList = "job.list" (JobListParams in workspace_dir as asking.actor_role) -> JobListResponse;
    /// Get the status and the attempts of a job.
    Read JobPoll = "job.poll" (JobParams in workspace_dir as asking.actor_role) -> JobPollResponse;
    /// Get the status, the attempts and, if available, the result of a job. Does not wait for the job to finish.
    Read JobCollect = "job.collect" (JobParams in workspace_dir as asking.actor_role) -> JobCollectResponse;
    /// Request the cancellation of a job and stop its worker.
    ///
    /// The returned status may still be `running`. For a finished job, the gateway only sets `cancellation_requested`.
    Exec JobCancel = "job.cancel" (JobParams in workspace_dir as asking.actor_role) -> JobPollResponse;
}

/// The contract of a job, in requests and in `job.yaml`. Unknown fields are rejected.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct JobSpec {
    /// The schema version of the contract. Default 1.
    #[serde(default = "one")]
    #[schemars(range(min = 1))]
    pub schema_version: u32,
    /// The document type, always `job`.
    #[serde(default)]
    pub r#type: JobTag,
    /// The id of the job. If it contains only whitespace, the gateway generates an id.
    pub job_id: Text,
    /// Whether the job does work or prepares a heartbeat report. Default `execution`.
    #[serde(default = "execution")]
    pub job_kind: JobKind,
    /// How the context of the worker is selected. Default `auto`, which requires `manager_actor_id` and `manager_role`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context_mode: Option<ContextMode>,
    /// The kind of worker program that runs the job.
    pub worker_kind: WorkerKind,
    /// Absolute path of the company folder.
    pub workspace_dir: Text,
    /// The id of the project the job belongs to.
    pub project_id: ProjectId,
    /// The goal of the job, as given to the worker.
    pub goal: Text,
    /// The constraints the worker must respect, one per item. May be empty.
    pub constraints: Vec<Text>,
    /// The deliverables the worker must produce, one per item. May be empty.
    pub deliverables: Vec<Text>,
    /// The permissions of the worker.
    pub permission_level: PermissionLevel,
    /// References to context for the worker. In mode `auto` they are the seeds of the context plan, and the stored
    /// contract lists the planned references instead.
    pub context_refs: Vec<ContextRef>,
    /// The maximum number of references in the context plan. Default 32 for `execution` jobs and 8 for `heartbeat`
    /// jobs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 200))]
    pub max_context_refs: Option<u32>,
    /// The id of the agent that does the work; its provider must match `worker_kind`. If absent, the gateway chooses
    /// the first agent by name with role worker or manager and a matching provider.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub worker_agent_id: Option<AgentId>,
    /// The model the worker program is asked to use. If absent, the `model_hint` of the agent applies.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<Text>,
    /// The id of the actor that delegates the job. Required in context mode `auto`; otherwise `manager` if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub manager_actor_id: Option<Text>,
    /// The role of the delegating actor. Required in context mode `auto`; otherwise `manager` if absent, or the role of
    /// the caller's token if that is lower.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub manager_role: Option<ActorRole>,
    /// The id of the delegating actor's team. Absent if unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub manager_team_id: Option<Text>,
}

impl<'a> From<&'a JobSpec> for Reach<'a> {
    fn from(job: &'a JobSpec) -> Self {
        Self::Company(&job.workspace_dir)
    }
}

/// The document type of a job contract.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum JobTag {
    /// The literal `job`.
    #[default]
    Job,
}

fn one() -> u32 {
    1
}

fn execution() -> JobKind {
    JobKind::Execution
}

/// How the context of a worker is selected.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ContextMode {
    /// The gateway plans the context, starting from `context_refs`.
    Auto,
    /// The worker receives exactly the `context_refs` of the contract.
    Manual,
}

/// Params of [`JobSubmit`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct JobSubmitParams {
    /// The contract of the job.
    pub job: JobSpec,
    /// If true, replaces an existing job of the same id and discards its result. Default false.
    #[serde(default)]
    pub resubmit: Option<bool>,
    /// The id of the repository the worker gets a worktree of. If absent, the repository named by `context_refs` is
    /// used, or else the only repository linked to the project. Without a repository the job runs in a scratch folder
    /// of its run.
    #[serde(default)]
    pub repo_id: Option<RepoId>,
    /// The id of the task the job works on; attempts count against the budget of this task. Absent if the job belongs
    /// to no task.
    #[serde(default)]
    pub task_id: Option<TaskId>,
    /// The id of the milestone the job works on. Requires `task_id`.
    #[serde(default)]
    pub milestone_id: Option<MilestoneId>,
    /// If true, the worker runs in the repository itself, or in the company folder if no repository applies, instead of
    /// in a folder of its own. Requires `manager_role` `human`, and each run logs it. Default false.
    #[serde(default)]
    pub in_place: Option<bool>,
}

/// Response of [`JobSubmit`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct JobSubmitResponse {
    /// Absolute path of the company folder.
    pub workspace_dir: String,
    /// The id of the project.
    pub project_id: ProjectId,
    /// The id of the job.
    pub job_id: JobId,
    /// `queued` for a new job, or the current status of a job that is already active.
    pub status: JobStatus,
    /// Warnings about names in the contract that do not exist in this company, such as an unknown agent. One sentence
    /// each; absent if there are none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
}

/// The status of a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum JobStatus {
    /// The job is accepted and has not started.
    Queued,
    /// A worker runs, or the job waits until its provider accepts requests again.
    Running,
    /// The job has a result. The outcome is in the `status` of the result, which may also be `failed` or `blocked`.
    Completed,
    /// The job was canceled before it had another result.
    Canceled,
}

impl JobStatus {
    /// Returns true if the status is final.
    pub fn is_over(self) -> bool {
        match self {
            Self::Queued | Self::Running => false,
            Self::Completed | Self::Canceled => true,
        }
    }
}

/// The contents of `job.yaml`: a job with its contract, status and attempts.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct JobRecord {
    /// The schema version of the record, currently 1.
    #[schemars(range(min = 1))]
    pub schema_version: u32,
    /// The document type, always `job_record`.
    pub r#type: JobRecordTag,
    /// The contract of the job.
    pub job: JobSpec,
    /// The time the job was submitted, in ISO-8601.
    pub created_at: Text,
    /// The time of the last change of the record, in ISO-8601.
    pub updated_at: Text,
    /// The current status of the job.
    pub status: JobStatus,
    /// True once `job.cancel` was called for the job.
    pub cancellation_requested: bool,
    /// The number of the latest attempt. 0 before the first one.
    pub current_attempt: u32,
    /// All attempts, in order.
    pub attempts: Vec<JobAttempt>,
    /// The path of `result.json`, relative to the project folder. Absent until the job is finished.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub final_result_relpath: Option<Text>,
}

/// The document type of a job record.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum JobRecordTag {
    /// The literal `job_record`.
    #[default]
    JobRecord,
}

/// One attempt at a job. Each attempt has its own run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct JobAttempt {
    /// The number of the attempt, starting at 1.
    #[schemars(range(min = 1))]
    pub attempt: u32,
    /// The id of the run of this attempt.
    pub run_id: Text,
    /// The id of the context pack of the run.
    pub context_pack_id: Text,
    /// The reference of the session of this attempt.
    pub session_ref: Text,
    /// The kind of worker program that ran the attempt.
    pub worker_kind: WorkerKind,
    /// The id of the agent that worked on the attempt.
    pub worker_agent_id: Text,
    /// The provider of that agent.
    pub provider: Text,
    /// The worker program. Absent until the program is resolved.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub provider_bin: Option<Text>,
    /// The first line the program prints for `--version`. Absent if unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub provider_version: Option<Text>,
    /// SHA-256 of the text the program prints for `--help`. Absent if unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub provider_help_hash: Option<Text>,
    /// The output format the program is asked for, such as `json` or `stream-json`. Absent if the driver uses none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output_format: Option<Text>,
    /// The path of the stored context plan, relative to the company folder. Absent in context mode `manual`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context_plan_relpath: Option<Text>,
    /// SHA-256 of the stored context plan. Absent in context mode `manual`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context_plan_hash: Option<Text>,
    /// The time the attempt started, in ISO-8601.
    pub started_at: Text,
    /// The time the attempt ended, in ISO-8601. Absent while it runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended_at: Option<Text>,
    /// The status of the attempt.
    pub status: super::RunStatus,
    /// Why the attempt failed, was stopped, or waits for its provider. Absent if there was no error.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

/// Params of [`JobList`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct JobListParams {
    /// Absolute path of the company folder.
    pub workspace_dir: Text,
    /// The id of the project.
    pub project_id: ProjectId,
    /// Return only jobs with this status. All if absent.
    #[serde(default)]
    pub status: Option<JobStatus>,
    /// The maximum number of jobs to return. Default 200.
    #[serde(default)]
    #[schemars(range(min = 1, max = 5000))]
    pub limit: Option<u32>,
    /// The actor whose visibility applies to the response.
    #[serde(flatten)]
    pub asking: Asking,
}

/// Response of [`JobList`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct JobListResponse(pub Vec<JobPollResponse>);

/// Params of [`JobPoll`], [`JobCollect`] and [`JobCancel`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct JobParams {
    /// Absolute path of the company folder.
    pub workspace_dir: Text,
    /// The id of the project.
    pub project_id: ProjectId,
    /// The id of the job.
    pub job_id: JobId,
    /// The actor whose visibility applies to the request.
    #[serde(flatten)]
    pub asking: Asking,
}

/// Response of [`JobPoll`] and [`JobCancel`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct JobPollResponse {
    /// Absolute path of the company folder.
    pub workspace_dir: String,
    /// The id of the project.
    pub project_id: ProjectId,
    /// The id of the job.
    pub job_id: JobId,
    /// The current status of the job.
    pub status: JobStatus,
    /// True once `job.cancel` was called for the job.
    pub cancellation_requested: bool,
    /// The number of the latest attempt. 0 before the first one.
    pub current_attempt: u32,
    /// All attempts in order, including one that is running.
    pub attempts: Vec<JobAttempt>,
    /// The path of `result.json`, relative to the project folder. Absent until the job is finished.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub final_result_relpath: Option<String>,
    /// The goal in the contract of the job.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub goal: Option<String>,
    /// The status of the result; a `completed` job may have a result with status `blocked` or `needs_input`. Absent
    /// until the job has a result.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result_status: Option<JobResultStatus>,
}

/// Response of [`JobCollect`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct JobCollectResponse {
    /// The status and the attempts of the job.
    #[serde(flatten)]
    pub job: JobPollResponse,
    /// The result of the job. Absent until the job is finished.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result: Option<JobResult>,
    /// A shortened form of the result for managers. Absent until the job is finished.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub manager_digest: Option<ManagerDigest>,
    /// The report of the worker. Present only for finished `heartbeat` jobs with a valid report.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub heartbeat_report: Option<HeartbeatReport>,
}

/// The result of a job, in responses and in `result.json`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct JobResult {
    /// The schema version of the result, currently 1.
    #[schemars(range(min = 1))]
    pub schema_version: u32,
    /// The document type, always `result`.
    pub r#type: JobResultTag,
    /// The id of the job.
    pub job_id: Text,
    /// The id of the run that produced the result. `none` if there was no attempt.
    pub attempt_run_id: Text,
    /// The outcome of the job.
    pub status: JobResultStatus,
    /// A summary of the outcome, as prose.
    pub summary: Text,
    /// The files the worker reports as changed.
    pub files_changed: Vec<ChangedFile>,
    /// The commands the worker reports to have run.
    pub commands_run: Vec<CommandRun>,
    /// The files the worker reports to have produced.
    pub artifacts: Vec<ProducedFile>,
    /// The follow-up actions the worker recommends.
    pub next_actions: Vec<NextAction>,
    /// The errors reported by the worker or by the gateway.
    pub errors: Vec<JobError>,
}

/// The document type of a job result.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum JobResultTag {
    /// The literal `result`.
    #[default]
    Result,
}

/// The outcome of a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum JobResultStatus {
    /// The worker reached the goal.
    Succeeded,
    /// The job needs input from a person or a manager, also when no attempt returned a valid result.
    NeedsInput,
    /// The job cannot proceed, for example because no worker is available or its checks failed.
    Blocked,
    /// The job failed.
    Failed,
    /// The job was canceled.
    Canceled,
}

/// A file changed by a worker.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ChangedFile {
    /// The path of the file, as reported by the worker.
    pub path: Text,
    /// The kind of change. Absent if not reported.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub change_type: Option<ChangeType>,
    /// A description of the change. Absent if not reported.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub summary: Option<String>,
}

/// The kind of change to a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ChangeType {
    /// The file was created.
    Added,
    /// The content of the file was changed.
    Modified,
    /// The file was deleted.
    Deleted,
    /// The file was renamed.
    Renamed,
}

/// A command run by a worker.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CommandRun {
    /// The command line.
    pub command: Text,
    /// The exit code of the command. Absent if not reported.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<i64>,
    /// A description of the outcome. Absent if not reported.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub summary: Option<String>,
}

/// A file produced by a worker.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ProducedFile {
    /// The relative path of the file, as reported by the worker.
    pub relpath: Text,
    /// The id of the document stored in the file. Absent if it is not a document.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub artifact_id: Option<Text>,
    /// The kind of the file, as named by the worker. Absent if not reported.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<Text>,
    /// SHA-256 of the file. Absent if not reported.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sha256: Option<Text>,
}

/// A follow-up action recommended by a worker.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NextAction {
    /// The recommended action.
    pub action: Text,
    /// Why the action is recommended. Absent if not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rationale: Option<String>,
}

/// An error of a job.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct JobError {
    /// The error code, such as `worker_unavailable` or `result_unparseable`.
    pub code: Text,
    /// The error message.
    pub message: Text,
    /// Further data about the error. Absent if there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub details: Option<Value>,
}

/// A shortened job result for managers, in responses and in `manager_digest.json`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ManagerDigest {
    /// The id of the job.
    pub job_id: Text,
    /// The id of the run that produced the result. `none` if there was no attempt.
    pub attempt_run_id: Text,
    /// The outcome of the job.
    pub status: JobResultStatus,
    /// The summary of the result, cut to 1200 characters.
    pub summary: String,
    /// The first 20 changed files, with summaries cut to 180 characters.
    pub files_changed: Vec<ChangedFile>,
    /// The first 20 commands, cut to 220 characters, with summaries cut to 180 characters.
    pub commands_run: Vec<CommandRun>,
    /// All produced files.
    pub artifacts: Vec<ProducedFile>,
    /// The first 20 recommended actions, with both fields cut to 220 characters.
    pub next_actions: Vec<NextAction>,
    /// The first 20 errors.
    pub errors: Vec<JobError>,
    /// How the gateway obtained the result, such as `retries_used`, `normalization` and `normalization_notes`.
    pub signals: Signals,
}

/// Named values that keep their order of insertion.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Signals(pub Vec<(String, Value)>);

impl Signals {
    /// Returns the value with this name, or `None` if there is none.
    pub fn get(&self, name: &str) -> Option<&Value> {
        let mut pairs = self.0.iter();
        pairs.find_map(|(known, value)| (known == name).then_some(value))
    }
}

impl FromIterator<(String, Value)> for Signals {
    fn from_iter<I: IntoIterator<Item = (String, Value)>>(pairs: I) -> Self {
        Self(pairs.into_iter().collect())
    }
}

impl Serialize for Signals {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(name, value)| (name, value)))
    }
}

impl<'de> Deserialize<'de> for Signals {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Members;
        impl<'de> de::Visitor<'de> for Members {
            type Value = Signals;

            fn expecting(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                formatter.write_str("an object")
            }

            fn visit_map<A: de::MapAccess<'de>>(self, mut map: A) -> Result<Signals, A::Error> {
                let mut pairs = Vec::new();
                while let Some(pair) = map.next_entry()? {
                    pairs.push(pair);
                }
                Ok(Signals(pairs))
            }
        }
        deserializer.deserialize_map(Members)
    }
}

impl JsonSchema for Signals {
    fn schema_name() -> Cow<'static, str> {
        "Signals".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        <BTreeMap<String, Value>>::json_schema(generator)
    }
}

/// The report of a heartbeat job, as printed by the worker and as stored in `heartbeat_report.json`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HeartbeatReport {
    /// The schema version of the report. Default 1.
    #[serde(default = "one")]
    #[schemars(range(min = 1))]
    pub schema_version: u32,
    /// The document type, always `heartbeat_worker_report`.
    #[serde(default)]
    pub r#type: HeartbeatReportTag,
    /// `ok` if the worker has nothing to do, `actions` if it proposes actions.
    pub status: super::heartbeat::HeartbeatReportStatus,
    /// `HEARTBEAT_OK`. Required for status `ok` and absent for status `actions`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub token: Option<HeartbeatToken>,
    /// A summary of what the worker found.
    pub summary: Text,
    /// The proposed actions. At least one for status `actions`; empty or absent for status `ok`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub actions: Option<Vec<ProposedAction>>,
}

impl HeartbeatReport {
    /// Returns the proposed actions, or an empty slice if the field is absent.
    pub fn actions(&self) -> &[ProposedAction] {
        self.actions.as_deref().unwrap_or_default()
    }

    /// Returns the violations of rules that span several fields of the report.
    pub fn refine(&self) -> Vec<Issue> {
        use super::heartbeat::HeartbeatReportStatus as Status;
        let mut issues = match self.status {
            Status::Ok if self.token.is_none() => {
                vec![Issue::custom(
                    "token",
                    "expected `HEARTBEAT_OK` when status is `ok`",
                )]
            }
            Status::Ok if !self.actions().is_empty() => {
                vec![Issue::custom(
                    "actions",
                    "expected no actions when status is `ok`",
                )]
            }
            Status::Actions if self.actions().is_empty() => {
                vec![Issue::custom(
                    "actions",
                    "expected at least one action when status is `actions`",
                )]
            }
            Status::Actions if self.token.is_some() => {
                vec![Issue::custom(
                    "token",
                    "expected no token when status is `actions`",
                )]
            }
            Status::Ok | Status::Actions => Vec::new(),
        };
        for (place, action) in self.actions().iter().enumerate() {
            issues.extend(action.refine(&format!("actions.{place}")));
        }
        issues
    }
}

/// The document type of a heartbeat report.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum HeartbeatReportTag {
    /// The literal `heartbeat_worker_report`.
    #[default]
    HeartbeatWorkerReport,
}

/// The token a worker prints if it has nothing to do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub enum HeartbeatToken {
    /// The literal `HEARTBEAT_OK`.
    #[default]
    #[serde(rename = "HEARTBEAT_OK")]
    HeartbeatOk,
}
