//! `job.*`: delegated work, from its contract to its result.

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

    /// Give a worker something to do. Answers at once; `job.poll` tells how it goes.
    ///
    /// An id that is blank is chosen by the server. An id that is active already is answered with where it stands;
    /// one that is over is refused unless `resubmit` is true, which forgets its result.
    Exec JobSubmit = "job.submit" (JobSubmitParams in job as job.manager_role) -> JobSubmitResponse;
    /// List the jobs of a project: the newest ones, sorted by id.
    Read JobList = "job.list" (JobListParams in workspace_dir as asking.actor_role) -> JobListResponse;
    /// Tell where a job stands.
    Read JobPoll = "job.poll" (JobParams in workspace_dir as asking.actor_role) -> JobPollResponse;
    /// Tell where a job stands and what came of it.
    Read JobCollect = "job.collect" (JobParams in workspace_dir as asking.actor_role) -> JobCollectResponse;
    /// Ask for the end of a job. Its worker is stopped; a job that is over only remembers that somebody asked.
    Exec JobCancel = "job.cancel" (JobParams in workspace_dir as asking.actor_role) -> JobPollResponse;
}

/// The contract of a job, on the wire as in its file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct JobSpec {
    /// 1.
    #[serde(default = "one")]
    #[schemars(range(min = 1))]
    pub schema_version: u32,
    /// `job`.
    #[serde(default)]
    pub r#type: JobTag,
    /// Its id; a blank one is replaced.
    pub job_id: Text,
    /// What it is for.
    #[serde(default = "execution")]
    pub job_kind: JobKind,
    /// How it is decided what the worker knows; planned unless said otherwise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context_mode: Option<ContextMode>,
    /// What runs it.
    pub worker_kind: WorkerKind,
    /// The company folder.
    pub workspace_dir: Text,
    /// The project.
    pub project_id: ProjectId,
    /// What it is to reach.
    pub goal: Text,
    /// What it must keep to.
    pub constraints: Vec<Text>,
    /// What it gives.
    pub deliverables: Vec<Text>,
    /// What it may do.
    pub permission_level: PermissionLevel,
    /// What the worker should know.
    pub context_refs: Vec<ContextRef>,
    /// How much it is given to know.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 200))]
    pub max_context_refs: Option<u32>,
    /// The agent that works; one that fits is chosen otherwise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub worker_agent_id: Option<AgentId>,
    /// The model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<Text>,
    /// Who gives the job.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub manager_actor_id: Option<Text>,
    /// What they are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub manager_role: Option<ActorRole>,
    /// Their team.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub manager_team_id: Option<Text>,
}

impl<'a> From<&'a JobSpec> for Reach<'a> {
    fn from(job: &'a JobSpec) -> Self {
        Self::Company(&job.workspace_dir)
    }
}

/// The word `job`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum JobTag {
    /// The word `job`.
    #[default]
    Job,
}

fn one() -> u32 {
    1
}

fn execution() -> JobKind {
    JobKind::Execution
}

/// How it is decided what a worker knows.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ContextMode {
    /// It is planned.
    Auto,
    /// The caller decides.
    Manual,
}

/// Params of [`JobSubmit`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct JobSubmitParams {
    /// The contract.
    pub job: JobSpec,
    /// Do a job again that is over; its result is forgotten.
    #[serde(default)]
    pub resubmit: Option<bool>,
    /// The repository the worker gets a worktree of. Absent: the one that `context_refs` name, or the only one of the
    /// project; a job without a repository runs in a scratch folder of its run.
    #[serde(default)]
    pub repo_id: Option<RepoId>,
    /// The task the job works on; its budget counts the attempts.
    #[serde(default)]
    pub task_id: Option<TaskId>,
    /// The milestone of that task.
    #[serde(default)]
    pub milestone_id: Option<MilestoneId>,
    /// Run the worker in the repository itself, or in the company folder if there is none, instead of in a folder of
    /// its own. Only a person (`manager_role` is `human`) may ask for it, and the log of each run says so. False if
    /// absent.
    #[serde(default)]
    pub in_place: Option<bool>,
}

/// Response of [`JobSubmit`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct JobSubmitResponse {
    /// The company folder.
    pub workspace_dir: String,
    /// The project.
    pub project_id: ProjectId,
    /// The job.
    pub job_id: JobId,
    /// Where it stands.
    pub status: JobStatus,
    /// Names of the contract that stand for nothing here, in a sentence each; absent if there are none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
}

/// Where a job stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum JobStatus {
    /// It has not begun.
    Queued,
    /// It is being worked on, or waits until its provider can be asked again.
    Running,
    /// There is a result, whatever it says.
    Completed,
    /// Somebody did not want it any more.
    Canceled,
}

impl JobStatus {
    /// Whether nothing more will happen.
    pub fn is_over(self) -> bool {
        match self {
            Self::Queued | Self::Running => false,
            Self::Completed | Self::Canceled => true,
        }
    }
}

/// A job as its file has it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct JobRecord {
    /// 1.
    #[schemars(range(min = 1))]
    pub schema_version: u32,
    /// `job_record`.
    pub r#type: JobRecordTag,
    /// The contract.
    pub job: JobSpec,
    /// When it was submitted.
    pub created_at: Text,
    /// When this was written.
    pub updated_at: Text,
    /// Where it stands.
    pub status: JobStatus,
    /// Whether somebody asked for its end.
    pub cancellation_requested: bool,
    /// The last attempt; 0 before the first.
    pub current_attempt: u32,
    /// All attempts.
    pub attempts: Vec<JobAttempt>,
    /// Its result, below the project's folder.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub final_result_relpath: Option<Text>,
}

/// The word `job_record`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum JobRecordTag {
    /// The word `job_record`.
    #[default]
    JobRecord,
}

/// One try of a job, which is a run of its own.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct JobAttempt {
    /// Its number, from 1.
    #[schemars(range(min = 1))]
    pub attempt: u32,
    /// Its run.
    pub run_id: Text,
    /// What the run was given to know.
    pub context_pack_id: Text,
    /// Its session.
    pub session_ref: Text,
    /// What runs it.
    pub worker_kind: WorkerKind,
    /// The agent that works.
    pub worker_agent_id: Text,
    /// The provider of that agent.
    pub provider: Text,
    /// The program.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub provider_bin: Option<Text>,
    /// What the program says it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub provider_version: Option<Text>,
    /// The hash of how the program explains itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub provider_help_hash: Option<Text>,
    /// How the program prints.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output_format: Option<Text>,
    /// What was planned for it to know.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context_plan_relpath: Option<Text>,
    /// The hash of that file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context_plan_hash: Option<Text>,
    /// When it began.
    pub started_at: Text,
    /// When it was over.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended_at: Option<Text>,
    /// Where it stands.
    pub status: super::RunStatus,
    /// What went wrong.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

/// Params of [`JobList`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct JobListParams {
    /// The company folder.
    pub workspace_dir: Text,
    /// The project.
    pub project_id: ProjectId,
    /// Only jobs that stand there.
    #[serde(default)]
    pub status: Option<JobStatus>,
    /// At most so many; 200 if not given.
    #[serde(default)]
    #[schemars(range(min = 1, max = 5000))]
    pub limit: Option<u32>,
    /// Who asks.
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
    /// The company folder.
    pub workspace_dir: Text,
    /// The project.
    pub project_id: ProjectId,
    /// The job.
    pub job_id: JobId,
    /// Who asks.
    #[serde(flatten)]
    pub asking: Asking,
}

/// Response of [`JobPoll`] and [`JobCancel`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct JobPollResponse {
    /// The company folder.
    pub workspace_dir: String,
    /// The project.
    pub project_id: ProjectId,
    /// The job.
    pub job_id: JobId,
    /// Where it stands.
    pub status: JobStatus,
    /// Whether somebody asked for its end.
    pub cancellation_requested: bool,
    /// The last attempt; 0 before the first.
    pub current_attempt: u32,
    /// All attempts, also one that runs.
    pub attempts: Vec<JobAttempt>,
    /// Its result, below the project's folder.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub final_result_relpath: Option<String>,
    /// The goal of its contract.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub goal: Option<String>,
    /// The status of its result. A `completed` job may have a result that says `blocked` or `needs_input`. Absent
    /// while there is no result.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result_status: Option<JobResultStatus>,
}

/// Response of [`JobCollect`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct JobCollectResponse {
    /// Where it stands.
    #[serde(flatten)]
    pub job: JobPollResponse,
    /// What came of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result: Option<JobResult>,
    /// That, in short.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub manager_digest: Option<ManagerDigest>,
    /// What a woken worker reported.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub heartbeat_report: Option<HeartbeatReport>,
}

/// What came of a job.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct JobResult {
    /// 1.
    #[schemars(range(min = 1))]
    pub schema_version: u32,
    /// `result`.
    pub r#type: JobResultTag,
    /// The job.
    pub job_id: Text,
    /// The run it comes from; `none` if there was no attempt.
    pub attempt_run_id: Text,
    /// How it went.
    pub status: JobResultStatus,
    /// What happened, in words.
    pub summary: Text,
    /// Files that are different now.
    pub files_changed: Vec<ChangedFile>,
    /// Commands the worker ran.
    pub commands_run: Vec<CommandRun>,
    /// What it made.
    pub artifacts: Vec<ProducedFile>,
    /// What should happen next.
    pub next_actions: Vec<NextAction>,
    /// What went wrong.
    pub errors: Vec<JobError>,
}

/// The word `result`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum JobResultTag {
    /// The word `result`.
    #[default]
    Result,
}

/// How a job went.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum JobResultStatus {
    /// Well.
    Succeeded,
    /// Somebody has to say something first.
    NeedsInput,
    /// Something stands in the way.
    Blocked,
    /// Badly.
    Failed,
    /// Somebody did not want it any more.
    Canceled,
}

/// A file that is different now.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ChangedFile {
    /// Which one.
    pub path: Text,
    /// How.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub change_type: Option<ChangeType>,
    /// In words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub summary: Option<String>,
}

/// How a file is different.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ChangeType {
    /// It is new.
    Added,
    /// It has another content.
    Modified,
    /// It is gone.
    Deleted,
    /// It has another name.
    Renamed,
}

/// A command a worker ran.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CommandRun {
    /// The command.
    pub command: Text,
    /// How it ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<i64>,
    /// In words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub summary: Option<String>,
}

/// A file a worker made.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ProducedFile {
    /// Where it is.
    pub relpath: Text,
    /// The document it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub artifact_id: Option<Text>,
    /// What it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<Text>,
    /// Its hash.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sha256: Option<Text>,
}

/// Something that should happen next.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NextAction {
    /// What.
    pub action: Text,
    /// Why.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rationale: Option<String>,
}

/// Something that went wrong in a job.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct JobError {
    /// The kind of it.
    pub code: Text,
    /// In words.
    pub message: Text,
    /// Whatever else is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub details: Option<Value>,
}

/// What a manager needs to know of a result.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ManagerDigest {
    /// The job.
    pub job_id: Text,
    /// The run it comes from.
    pub attempt_run_id: Text,
    /// How it went.
    pub status: JobResultStatus,
    /// What happened, shortened.
    pub summary: String,
    /// At most 20 files.
    pub files_changed: Vec<ChangedFile>,
    /// At most 20 commands.
    pub commands_run: Vec<CommandRun>,
    /// All files it made.
    pub artifacts: Vec<ProducedFile>,
    /// At most 20.
    pub next_actions: Vec<NextAction>,
    /// At most 20.
    pub errors: Vec<JobError>,
    /// How the result came about: `retries_used`, `normalization`, `normalization_notes`, ….
    pub signals: Signals,
}

/// Named values in the order they were found.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Signals(pub Vec<(String, Value)>);

impl Signals {
    /// The value of this name.
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

/// What a woken worker reports, as it prints it and as it is kept.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HeartbeatReport {
    /// 1.
    #[serde(default = "one")]
    #[schemars(range(min = 1))]
    pub schema_version: u32,
    /// `heartbeat_worker_report`.
    #[serde(default)]
    pub r#type: HeartbeatReportTag,
    /// Whether there is something to do.
    pub status: super::heartbeat::HeartbeatReportStatus,
    /// `HEARTBEAT_OK` when there is nothing to do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub token: Option<HeartbeatToken>,
    /// In words.
    pub summary: Text,
    /// What is to be done.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub actions: Option<Vec<ProposedAction>>,
}

impl HeartbeatReport {
    /// What is to be done.
    pub fn actions(&self) -> &[ProposedAction] {
        self.actions.as_deref().unwrap_or_default()
    }

    /// What holds between the fields of a report.
    pub fn refine(&self) -> Vec<Issue> {
        use super::heartbeat::HeartbeatReportStatus as Status;
        let mut issues = match self.status {
            Status::Ok if self.token.is_none() => {
                vec![Issue::custom("token", "expected `HEARTBEAT_OK`")]
            }
            Status::Ok if !self.actions().is_empty() => {
                vec![Issue::custom("actions", "there are none when all is ok")]
            }
            Status::Actions if self.actions().is_empty() => {
                vec![Issue::custom("actions", "expected at least one")]
            }
            Status::Actions if self.token.is_some() => {
                vec![Issue::custom("token", "only for a report that all is ok")]
            }
            Status::Ok | Status::Actions => Vec::new(),
        };
        for (place, action) in self.actions().iter().enumerate() {
            issues.extend(action.refine(&format!("actions.{place}")));
        }
        issues
    }
}

/// The word `heartbeat_worker_report`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum HeartbeatReportTag {
    /// The word `heartbeat_worker_report`.
    #[default]
    HeartbeatWorkerReport,
}

/// The word by which a worker says that all is well.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub enum HeartbeatToken {
    /// The word `HEARTBEAT_OK`.
    #[default]
    #[serde(rename = "HEARTBEAT_OK")]
    HeartbeatOk,
}
