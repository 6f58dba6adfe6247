//! Jobs: a contract, attempts and a result. Each attempt is a run with its own session.
//!
//! A job in progress has exactly one owner, this process or another live one; `lease.rs` records which. Every change of
//! a record is applied to its current version on disk, so a cancellation request is never overwritten.

mod answer;
mod attempt;
mod lease;
mod placement;
mod probe;
mod prompt;
mod result;
mod run;
mod schema;
mod services;
pub(crate) mod worker;

use std::{
    collections::{BTreeMap, BTreeSet},
    path::PathBuf,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use company::{Companies, Company, execution::job as files, org::project};
use protocol::{
    Id as _, MayExec,
    company::{
        Issue, JobId, ProjectId, RunStatus, Text,
        context::ContextRef,
        job::{
            ContextMode, JobCollectResponse, JobListParams, JobPollResponse, JobRecord,
            JobRecordTag, JobResultStatus, JobSpec, JobStatus, JobSubmitResponse,
        },
    },
};
use serde_json::json;
use sessions::{
    Error, Sessions,
    blocking::{blocking, open},
};
use tokio::sync::watch;

pub(crate) use attempt::{answer_texts, close_run, failed};
pub use placement::JobPlacement;
pub(crate) use result::text;
pub use services::{ContextPlan, JobServices, KeptPlan, StandaloneServices};
pub(crate) use worker::kind as kind_of;

/// Default timeout of an attempt; `AC_JOB_ATTEMPT_TIMEOUT_MS` overrides it.
pub(crate) const ATTEMPT: Duration = Duration::from_secs(30 * 60);

/// All jobs of one process. Cheap to clone.
#[derive(Clone)]
pub struct Jobs {
    inner: Arc<Inner>,
}

struct Inner {
    sessions: Sessions,
    services: Arc<dyn JobServices>,
    /// Jobs that this process works on.
    active: Mutex<BTreeMap<Key, Arc<Active>>>,
    /// Company folders whose unfinished jobs were already recovered.
    recovered: Mutex<BTreeSet<PathBuf>>,
    probes: probe::Probes,
    attempt_timeout: Duration,
    closing: watch::Sender<bool>,
}

type Key = (PathBuf, ProjectId, JobId);

/// A job that this process works on.
#[derive(Debug)]
pub(crate) struct Active {
    /// True once cancellation was requested.
    cancel: watch::Sender<bool>,
    over: watch::Sender<bool>,
}

impl Active {
    async fn cancel_wanted(&self) {
        let _ = self.cancel.subscribe().wait_for(|wanted| *wanted).await;
    }

    fn is_cancel_wanted(&self) -> bool {
        *self.cancel.borrow()
    }
}

/// Releases the lease of a job and removes it from the active jobs when dropped, however the work ends.
struct ActiveGuard {
    jobs: Jobs,
    key: Key,
    active: Arc<Active>,
    company: Company,
}

impl Drop for ActiveGuard {
    fn drop(&mut self) {
        lease::release(&self.company, &self.key.1, &self.key.2);
        lock(&self.jobs.inner.active).remove(&self.key);
        self.active.over.send_replace(true);
    }
}

/// How to handle a submission whose job id already exists.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Resubmit {
    /// Reject the submission.
    Refuse,
    /// Replace the old record and its result.
    Forget,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl std::fmt::Debug for Jobs {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("Jobs")
    }
}

impl Jobs {
    /// Creates the registry without active jobs.
    pub fn new(sessions: Sessions, services: Arc<dyn JobServices>) -> Self {
        let configured = std::env::var("AC_JOB_ATTEMPT_TIMEOUT_MS").ok();
        let configured = configured.and_then(|text| text.trim().parse().ok());
        Self {
            inner: Arc::new(Inner {
                sessions,
                services,
                active: Mutex::default(),
                recovered: Mutex::default(),
                probes: probe::Probes::default(),
                attempt_timeout: configured.map_or(ATTEMPT, Duration::from_millis),
                closing: watch::Sender::new(false),
            }),
        }
    }

    pub(crate) fn companies(&self) -> &Companies {
        self.inner.sessions.companies()
    }

    /// Accepts a job and starts it in the background. Returns before anything runs.
    pub async fn submit(
        &self,
        spec: JobSpec,
        again: Resubmit,
        may: MayExec,
    ) -> Result<JobSubmitResponse, Error> {
        self.submit_placed(spec, again, JobPlacement::default(), may)
            .await
    }

    /// Like [`Jobs::submit`], with a placement of the worker.
    pub async fn submit_placed(
        &self,
        spec: JobSpec,
        again: Resubmit,
        placement: JobPlacement,
        may: MayExec,
    ) -> Result<JobSubmitResponse, Error> {
        let this = self.clone();
        on_thread(move || this.submit_here(spec, again, placement, may)).await
    }

    /// Like [`Jobs::submit_placed`], for callers on a blocking thread of the runtime.
    pub fn submit_here(
        &self,
        spec: JobSpec,
        again: Resubmit,
        placement: JobPlacement,
        may: MayExec,
    ) -> Result<JobSubmitResponse, Error> {
        if self.is_closing() {
            return Err(Error::Closing);
        }
        let company = self.companies().open(&spec.workspace_dir)?;
        company.check_trusted()?;
        let (company, spec, plan, job, status) = self.prepare(company, spec, again, &placement)?;
        let response = JobSubmitResponse {
            workspace_dir: company.given().to_owned(),
            project_id: spec.project_id.clone(),
            job_id: job.clone(),
            status: status.unwrap_or(JobStatus::Queued),
            warnings: spec
                .worker_agent_id
                .as_ref()
                .and_then(|agent| sessions::agent_warning(&company, agent.as_str()))
                .into_iter()
                .collect(),
        };
        if status.is_none() {
            self.start(company, spec, job, plan, placement, may);
        }
        Ok(response)
    }

    /// Validates a contract, plans the worker's context and writes the job record. If the job is already in progress,
    /// returns its status instead.
    fn prepare(
        &self,
        company: Company,
        mut spec: JobSpec,
        again: Resubmit,
        placement: &JobPlacement,
    ) -> Result<Prepared, Error> {
        let job = match spec.job_id.trim() {
            "" => company.sources().id(),
            id => JobId::parse(id).map_err(|error| {
                company::Error::Params(vec![Issue::custom("job.job_id", error.to_string())])
            })?,
        };
        let project = spec.project_id.clone();
        project::project(&company, &project)?;
        let key = (company.root().to_owned(), project.clone(), job.clone());
        let is_active = lock(&self.inner.active).contains_key(&key);
        let old = match files::record(&company, &project, &job) {
            Ok(old) => Some(old),
            Err(error) if error.is_missing() => None,
            // An unreadable record is replaced only on an explicit resubmission.
            Err(_) if again == Resubmit::Forget => None,
            Err(error) => return Err(error.into()),
        };
        if let Some(old) = old {
            let is_owned = is_active || lease::is_held(&company, &project, &job);
            if !old.status.is_over() && is_owned {
                return Ok((company, spec, None, job, Some(old.status)));
            }
            if again == Resubmit::Refuse {
                let message = format!(
                    "job `{job}` exists already (status={}); submit it under another id, or with resubmit",
                    json!(old.status).as_str().unwrap_or_default()
                );
                return Err(company::Error::Refused(message).into());
            }
        }
        placement.check(&company, &spec)?;
        spec.job_id = text(job.as_str());
        spec.workspace_dir = text(company.shown_path("").trim_end_matches('/'));
        self.inner
            .services
            .check_refs(&company, &spec.context_refs)?;
        let mode = *spec.context_mode.get_or_insert(ContextMode::Auto);
        let plan = match mode {
            ContextMode::Manual => None,
            ContextMode::Auto => {
                if spec.manager_actor_id.is_none() || spec.manager_role.is_none() {
                    let message = "context_mode=auto requires manager_actor_id and manager_role";
                    return Err(company::Error::Refused(message.to_owned()).into());
                }
                keep_first_of_each(&mut spec.context_refs);
                let plan = self.inner.services.plan_context(&company, &spec)?;
                spec.context_refs.clone_from(&plan.refs);
                Some(plan)
            }
        };
        let now = text(company.sources().now_text());
        let record = JobRecord {
            schema_version: 1,
            r#type: JobRecordTag::JobRecord,
            job: spec.clone(),
            created_at: now.clone(),
            updated_at: now,
            status: JobStatus::Queued,
            cancellation_requested: false,
            current_attempt: 0,
            attempts: Vec::new(),
            final_result_relpath: None,
        };
        company.write(|writer| {
            lease::hold(writer, &project, &job)?;
            placement.keep(writer, &project, &job)?;
            writer.create_job(&project, &job, &record)
        })?;
        Ok((company, spec, plan, job, None))
    }

    /// Works on a job in the background.
    fn start(
        &self,
        company: Company,
        spec: JobSpec,
        job: JobId,
        plan: Option<ContextPlan>,
        placement: JobPlacement,
        may: MayExec,
    ) {
        let key = (
            company.root().to_owned(),
            spec.project_id.clone(),
            job.clone(),
        );
        let active = Arc::new(Active {
            cancel: watch::Sender::new(false),
            over: watch::Sender::new(false),
        });
        {
            let mut all = lock(&self.inner.active);
            if all.contains_key(&key) {
                return;
            }
            all.insert(key.clone(), Arc::clone(&active));
        }
        let guard = ActiveGuard {
            jobs: self.clone(),
            key,
            active: Arc::clone(&active),
            company: company.clone(),
        };
        let jobs = self.clone();
        tokio::spawn(async move {
            let _guard = guard;
            let runner = run::Runner {
                jobs,
                company,
                project: spec.project_id.clone(),
                job,
                spec,
                plan,
                placement,
                active,
                may,
            };
            runner.run().await;
        });
    }

    /// Returns the status of a job.
    pub async fn poll(
        &self,
        workspace_dir: &str,
        project: &ProjectId,
        job: &JobId,
        may: Option<MayExec>,
    ) -> Result<JobPollResponse, Error> {
        let (company, record) = self.record(workspace_dir, project, job, may).await?;
        let polled = response(&company, job, &record);
        Ok(blocking(move || Ok(with_result_status(&company, polled))).await?)
    }

    /// Returns the status of a job with its result, digest and heartbeat report, as far as they exist.
    pub async fn collect(
        &self,
        workspace_dir: &str,
        project: &ProjectId,
        job: &JobId,
        may: Option<MayExec>,
    ) -> Result<JobCollectResponse, Error> {
        let (company, record) = self.record(workspace_dir, project, job, may).await?;
        let (project, name) = (project.clone(), job.clone());
        let folder = company.clone();
        let left = blocking(move || Ok(files::left(&folder, &project, &name))).await?;
        Ok(JobCollectResponse {
            job: JobPollResponse {
                result_status: left.result.as_ref().map(|result| result.status),
                ..response(&company, job, &record)
            },
            result: left.result,
            manager_digest: left.digest,
            heartbeat_report: left.report,
        })
    }

    /// Requests the cancellation of a job.
    pub async fn cancel(
        &self,
        workspace_dir: &str,
        project: &ProjectId,
        job: &JobId,
        may: MayExec,
    ) -> Result<JobPollResponse, Error> {
        let (company, _) = self.record(workspace_dir, project, job, Some(may)).await?;
        let record = {
            let (company, project, job) = (company.clone(), project.clone(), job.clone());
            blocking(move || {
                company.write(|writer| {
                    writer.change_job(&project, &job, |record| {
                        record.cancellation_requested = true
                    })
                })
            })
            .await?
        };
        let key = (company.root().to_owned(), project.clone(), job.clone());
        let active = lock(&self.inner.active).get(&key).cloned();
        let record = match active {
            Some(active) => {
                active.cancel.send_replace(true);
                record
            }
            // Without an owner on this machine the job is ended immediately.
            None if !record.status.is_over()
                && self.adopts(&company)
                && !self.is_owned(&company, project, job) =>
            {
                self.adopt(&company, project, job, &record, may).await?;
                let (company, project, job) = (company.clone(), project.clone(), job.clone());
                let ended = blocking(move || files::record(&company, &project, &job)).await?;
                JobRecord::clone(&ended)
            }
            None => record,
        };
        let canceled = response(&company, job, &record);
        Ok(blocking(move || Ok(with_result_status(&company, canceled))).await?)
    }

    /// Returns the newest jobs of a project, sorted by id; at most 200 unless the request sets a limit.
    pub async fn list(
        &self,
        params: JobListParams,
        may: Option<MayExec>,
    ) -> Result<Vec<JobPollResponse>, Error> {
        let company = open(self.companies(), &params.workspace_dir).await?;
        if let Some(may) = may {
            self.recover_once(&company, may).await?;
        }
        let rows = blocking(move || {
            let mut records = files::records(&company, &params.project_id)?;
            records
                .retain(|(_, record)| params.status.is_none_or(|wanted| record.status == wanted));
            let limit = params.limit.unwrap_or(200) as usize;
            if records.len() > limit {
                let mut times: Vec<_> = records
                    .iter()
                    .map(|(job, record)| (record.created_at.clone(), job.clone()))
                    .collect();
                times.sort_unstable();
                let newest: BTreeSet<_> = times
                    .split_off(times.len() - limit)
                    .into_iter()
                    .map(|(_, job)| job)
                    .collect();
                records.retain(|(job, _)| newest.contains(job));
            }
            Ok(records
                .iter()
                .map(|(job, record)| with_result_status(&company, response(&company, job, record)))
                .collect())
        });
        Ok(rows.await?)
    }

    /// Waits until a job of this process is over. Returns at once if this process does not work on it.
    pub async fn over(&self, company: &Company, project: &ProjectId, job: &JobId) {
        let key = (company.root().to_owned(), project.clone(), job.clone());
        let active = lock(&self.inner.active).get(&key).cloned();
        if let Some(active) = active {
            let _ = active.over.subscribe().wait_for(|over| *over).await;
        }
    }

    /// Waits until this process has no active job.
    pub async fn settle(&self) {
        loop {
            let active = lock(&self.inner.active).values().next().cloned();
            let Some(active) = active else {
                return;
            };
            let _ = active.over.subscribe().wait_for(|over| *over).await;
        }
    }

    /// Stops the work on all jobs. The next process recovers those that are not over.
    pub async fn close(&self) {
        self.inner.closing.send_replace(true);
        self.inner.sessions.close().await;
        self.settle().await;
    }

    pub(crate) fn is_closing(&self) -> bool {
        *self.inner.closing.borrow() || self.inner.sessions.is_closing()
    }

    /// Waits until the gateway stops.
    pub(crate) async fn closed(&self) {
        let _ = self
            .inner
            .closing
            .subscribe()
            .wait_for(|closing| *closing)
            .await;
    }

    /// Returns the record of a job. A job that lost its owner is adopted first, if the caller may execute.
    async fn record(
        &self,
        workspace_dir: &str,
        project: &ProjectId,
        job: &JobId,
        may: Option<MayExec>,
    ) -> Result<(Company, Arc<JobRecord>), Error> {
        let company = open(self.companies(), workspace_dir).await?;
        if let Some(may) = may {
            self.recover_once(&company, may).await?;
        }
        let record = {
            let (company, project, job) = (company.clone(), project.clone(), job.clone());
            blocking(move || files::record(&company, &project, &job)).await?
        };
        let is_left = !record.status.is_over() && self.is_left(&company, project, job);
        let Some(may) = may.filter(|_| is_left && self.adopts(&company)) else {
            return Ok((company, record));
        };
        self.adopt(&company, project, job, &record, may).await?;
        let record = {
            let (company, project, job) = (company.clone(), project.clone(), job.clone());
            blocking(move || files::record(&company, &project, &job)).await?
        };
        Ok((company, record))
    }

    fn is_owned(&self, company: &Company, project: &ProjectId, job: &JobId) -> bool {
        let key = (company.root().to_owned(), project.clone(), job.clone());
        lock(&self.inner.active).contains_key(&key) || lease::is_held(company, project, job)
    }

    /// Whether an earlier process of this machine left the job unfinished.
    fn is_left(&self, company: &Company, project: &ProjectId, job: &JobId) -> bool {
        let key = (company.root().to_owned(), project.clone(), job.clone());
        !lock(&self.inner.active).contains_key(&key) && lease::is_left(company, project, job)
    }

    /// Whether this process adopts unfinished jobs of a folder. Folders that are not trusted are excluded, because this
    /// machine never ran jobs there.
    fn adopts(&self, company: &Company) -> bool {
        self.inner.sessions.takes_over() && company.is_trusted()
    }

    /// Recovers jobs that an earlier process left unfinished, once per folder. Short-lived processes leave them to a
    /// gateway.
    pub async fn recover_once(&self, company: &Company, may: MayExec) -> Result<(), Error> {
        if !self.adopts(company) {
            return Ok(());
        }
        if !lock(&self.inner.recovered).insert(company.root().to_owned()) {
            return Ok(());
        }
        let left = {
            let company = company.clone();
            blocking(move || {
                let mut left = Vec::new();
                for project in project::project_ids(&company)? {
                    let records = files::records(&company, &project)?;
                    let open = records
                        .into_iter()
                        .filter(|(_, record)| !record.status.is_over());
                    left.extend(open.map(|(job, record)| (project.clone(), job, record)));
                }
                Ok(left)
            })
            .await?
        };
        for (project, job, record) in left {
            if self.is_left(company, &project, &job) {
                self.adopt(company, &project, &job, &record, may).await?;
            }
        }
        Ok(())
    }

    /// Adopts a job without an owner. A job that had not started, or was waiting for its provider, continues; a job
    /// that was interrupted during an attempt fails, or is canceled if that was requested.
    async fn adopt(
        &self,
        company: &Company,
        project: &ProjectId,
        job: &JobId,
        record: &JobRecord,
        may: MayExec,
    ) -> Result<(), Error> {
        let claimed = {
            let (company, project, job) = (company.clone(), project.clone(), job.clone());
            // Two processes may find the job at the same time; only one obtains the lease.
            blocking(move || company.write(|writer| lease::claim(writer, &project, &job))).await?
        };
        if !claimed {
            return Ok(());
        }
        let last = record.attempts.last();
        let waits = last.is_none_or(|attempt| {
            attempt.status == RunStatus::Failed
                && attempt
                    .error
                    .as_deref()
                    .is_some_and(|error| error.starts_with(run::WAITS))
        });
        if waits && !record.cancellation_requested {
            let mut spec = record.job.clone();
            let planned = {
                let (this, company) = (self.clone(), company.clone());
                let plans = spec.context_mode == Some(ContextMode::Auto);
                let seeds = spec.clone();
                blocking(move || {
                    if plans {
                        this.inner.services.plan_context(&company, &seeds).map(Some)
                    } else {
                        Ok(None)
                    }
                })
                .await?
            };
            if let Some(plan) = &planned {
                spec.context_refs.clone_from(&plan.refs);
            }
            let placement = {
                let (company, project, job) = (company.clone(), project.clone(), job.clone());
                blocking(move || JobPlacement::of(&company, &project, &job)).await?
            };
            self.start(company.clone(), spec, job.clone(), planned, placement, may);
            return Ok(());
        }
        if let Some(attempt) = last {
            // The process of the attempt may still run although no process reads its output.
            let dir = company.root().display().to_string();
            let stopped = self
                .inner
                .sessions
                .stop(Some(&dir), &attempt.session_ref, may)
                .await;
            if let Err(error) = stopped {
                tracing::debug!(%error, "the session of an interrupted attempt is gone");
            }
        }
        let (status, code, message) = if record.cancellation_requested {
            (
                JobResultStatus::Canceled,
                "canceled",
                "Somebody asked for its end",
            )
        } else {
            (
                JobResultStatus::Failed,
                "orphaned",
                "The process that worked on this job ended before the job did",
            )
        };
        let run_id = last
            .map_or("none", |attempt| attempt.run_id.as_str())
            .to_owned();
        let made = result::own_result(
            job,
            &run_id,
            status,
            message,
            vec![result::error(code, message)],
            Some(("Submit the job again.", "nothing of its answer was kept")),
        );
        let (company, project, job) = (company.clone(), project.clone(), job.clone());
        blocking(move || {
            run::finish(
                &company,
                &project,
                &job,
                (made, None),
                [("orphaned", json!(true))],
                |record| {
                    let now = text(company.sources().now_text());
                    for attempt in &mut record.attempts {
                        if attempt.status == RunStatus::Running {
                            attempt.status = RunStatus::Failed;
                            attempt.error = Some("orphaned".to_owned());
                            attempt.ended_at = Some(now.clone());
                        }
                    }
                },
            )
        })
        .await?;
        Ok(())
    }
}

type Prepared = (
    Company,
    JobSpec,
    Option<ContextPlan>,
    JobId,
    Option<JobStatus>,
);

fn response(company: &Company, job: &JobId, record: &JobRecord) -> JobPollResponse {
    JobPollResponse {
        workspace_dir: company.given().to_owned(),
        project_id: record.job.project_id.clone(),
        job_id: job.clone(),
        status: record.status,
        cancellation_requested: record.cancellation_requested,
        current_attempt: record.current_attempt,
        attempts: record.attempts.clone(),
        final_result_relpath: record.final_result_relpath.as_ref().map(Text::to_string),
        goal: Some(record.job.goal.to_string()),
        result_status: None,
    }
}

/// Adds the status of the result, which is stored in a separate file. Blocks.
fn with_result_status(company: &Company, mut response: JobPollResponse) -> JobPollResponse {
    if response.final_result_relpath.is_some() {
        let JobPollResponse {
            project_id, job_id, ..
        } = &response;
        response.result_status = files::result_status(company, project_id, job_id);
    }
    response
}

async fn on_thread<R: Send + 'static>(
    work: impl FnOnce() -> Result<R, Error> + Send + 'static,
) -> Result<R, Error> {
    match tokio::task::spawn_blocking(work).await {
        Ok(done) => done,
        Err(panic) => Err(company::Error::Refused(format!("a thread failed: {panic}")).into()),
    }
}

/// Path of the result of a job, relative to the project folder.
fn result_relpath(job: &JobId) -> String {
    format!("jobs/{job}/{}", files::RESULT)
}

/// Removes references that repeat the kind and value of an earlier one.
fn keep_first_of_each(refs: &mut Vec<ContextRef>) {
    let mut seen = BTreeSet::new();
    refs.retain(|reference| seen.insert((reference.kind.as_str(), reference.value.clone())));
}
