//! Runs one job in this process, from its first attempt to its result.

use std::{convert::Infallible, future::pending, sync::Arc, time::Duration};

use company::{Company, document::Agent, execution::job as files};
use protocol::{
    MayExec,
    company::{
        JobId, JobKind, ProjectId,
        job::{
            HeartbeatReport, JobAttempt, JobError, JobRecord, JobResult, JobResultStatus, JobSpec,
            JobStatus,
        },
    },
};
use serde_json::{Map, Value, json};
use sessions::{Error, RunLog, blocking::blocking, lanes::Strain, program};
use tokio::time::sleep;

use super::{
    Active, ContextPlan, JobPlacement, Jobs, answer,
    attempt::{AnswerTexts, Attempt, AttemptEnd},
    lease, placement,
    prompt::Flaw,
    result, text, worker,
};

/// Maximum number of attempts, not counting those that wait for a rate limit.
const MAX_ATTEMPTS: u32 = 3;
/// Number of rate-limited attempts that are repeated without being counted.
const MAX_WAITS: u32 = 3;
/// Wait after a rate limit if the provider reports no time, in milliseconds.
const DEFAULT_WAIT_MS: i64 = 5 * 60_000;
/// Prefix of the error of an attempt that waits for a rate limit.
pub(super) const WAITS: &str = "rate limited until ";

/// Interval at which the record is checked for a cancellation requested through another process.
const CANCEL_POLL_INTERVAL: Duration = Duration::from_secs(1);

/// When a rate-limited attempt is repeated, in Unix milliseconds; `None` if the attempt is not waiting.
fn waits_until(attempt: &JobAttempt) -> Option<i64> {
    let rest = attempt.error.as_deref()?.strip_prefix(WAITS)?;
    let (until, _) = rest.split_once(": ").unwrap_or((rest, ""));
    company::unix_ms(until)
}

/// A job and everything that is needed to run it.
pub(super) struct Runner {
    pub(super) jobs: Jobs,
    pub(super) company: Company,
    pub(super) project: ProjectId,
    pub(super) job: JobId,
    pub(super) spec: JobSpec,
    pub(super) plan: Option<ContextPlan>,
    pub(super) placement: JobPlacement,
    pub(super) active: Arc<Active>,
    /// Proof that the submitter of the job may execute programs.
    pub(super) may: MayExec,
}

/// The outcome of a job.
struct JobOutcome {
    result: JobResult,
    signals: Vec<(String, Value)>,
    report: Option<HeartbeatReport>,
}

/// Why the work on a job stopped without a result.
enum Stop {
    /// The job was canceled.
    Canceled,
    /// The gateway is shutting down; the next one recovers the job.
    Closing,
    /// An error prevents further work.
    Broken(String),
}

impl From<Error> for Stop {
    fn from(error: Error) -> Self {
        match error {
            Error::Closing => Self::Closing,
            Error::Company(_)
            | Error::AlreadyRunning(_)
            | Error::Unknown(_)
            | Error::UnknownHere(_)
            | Error::Budget(_)
            | Error::Unverified { .. }
            | Error::HasProcess { .. }
            | Error::Launched(_)
            | Error::Over { .. } => Self::Broken(error.to_string()),
        }
    }
}

impl From<company::Error> for Stop {
    fn from(error: company::Error) -> Self {
        Self::Broken(error.to_string())
    }
}

impl Runner {
    /// Works until there is a result and stores it.
    pub(super) async fn run(self) {
        let mut last_run = "none".to_owned();
        let worked = tokio::select! {
            worked = self.work(&mut last_run) => worked,
            never = self.watch_cancellation() => match never {},
        };
        let made = match worked {
            Ok(outcome) => outcome,
            Err(Stop::Closing) => return,
            Err(Stop::Canceled) => self.own_result(
                &last_run,
                JobResultStatus::Canceled,
                "Job was canceled before completion.",
                Vec::new(),
                None,
                [("canceled", json!(true))],
            ),
            Err(Stop::Broken(error)) => self.own_result(
                &last_run,
                JobResultStatus::Failed,
                "Job runner failed before producing a valid result.",
                vec![result::error("job_runner_error", &error)],
                None,
                [("unhandled_error", json!(true))],
            ),
        };
        let (company, project, job) =
            (self.company.clone(), self.project.clone(), self.job.clone());
        let jobs = self.jobs.clone();
        let finished = blocking(move || {
            let JobOutcome {
                result,
                signals,
                report,
            } = made;
            let record = finish(&company, &project, &job, (result, report), signals, |_| {})?;
            jobs.inner.services.job_over(&company, &job, &record);
            Ok(())
        });
        if let Err(error) = finished.await {
            tracing::error!(%error, job = %self.job, "the result of a job cannot be stored");
        }
    }

    /// Polls the record for a cancellation that was requested through another process.
    async fn watch_cancellation(&self) -> Infallible {
        loop {
            sleep(CANCEL_POLL_INTERVAL).await;
            let (company, project, job) =
                (self.company.clone(), self.project.clone(), self.job.clone());
            let record = blocking(move || files::record(&company, &project, &job)).await;
            if record.is_ok_and(|record| record.cancellation_requested) {
                self.active.cancel.send_replace(true);
                return pending().await;
            }
        }
    }

    async fn work(&self, last_run: &mut String) -> Result<JobOutcome, Stop> {
        let begun = self
            .change(|record| record.status = JobStatus::Running)
            .await?;
        let chosen = {
            let (company, spec) = (self.company.clone(), self.spec.clone());
            blocking(move || worker::choose(&company, &spec)).await?
        };
        let Some(chosen) = chosen else {
            return Ok(self.unavailable());
        };
        if let Some(attempt) = begun.attempts.last() {
            attempt.run_id.as_str().clone_into(last_run);
        }
        if let Some(until_ms) = begun.attempts.last().and_then(waits_until) {
            // The job was adopted while it waited for a rate limit; that wait still applies.
            self.sleep_until(until_ms).await?;
        }
        let mut number = u32::try_from(begun.attempts.len()).unwrap_or(u32::MAX);
        let (mut counted, mut waited) = (0, 0);
        let mut flaw: Option<Flaw> = None;
        let mut errors: Vec<JobError> = Vec::new();
        while counted < MAX_ATTEMPTS {
            if self.active.is_cancel_wanted() || begun.cancellation_requested {
                return Err(Stop::Canceled);
            }
            if self.jobs.is_closing() {
                return Err(Stop::Closing);
            }
            number += 1;
            let is_last = counted + 1 == MAX_ATTEMPTS;
            let agent = if is_last && flaw.is_some() {
                let (company, chosen) = (self.company.clone(), Arc::clone(&chosen));
                blocking(move || worker::formatter(&company, &chosen)).await?
            } else {
                Arc::clone(&chosen)
            };
            let attempt = Attempt {
                runner: self,
                number,
                agent: &agent,
                flaw: flaw.as_ref(),
                // A heartbeat report is short, so it is requested again instead of reformatted.
                reformats: is_last && self.spec.job_kind == JobKind::Execution,
            };
            match attempt.run(last_run).await? {
                AttemptEnd::Canceled => return Err(Stop::Canceled),
                AttemptEnd::Closing => return Err(Stop::Closing),
                AttemptEnd::Blocked(message) => return Ok(self.blocked(last_run, &agent, &message)),
                AttemptEnd::NotInstalled(program) => {
                    return Ok(self.not_installed(last_run, &agent, &program));
                }
                AttemptEnd::Failed(failed) => {
                    errors = vec![result::error("worker_attempt_failed", &failed.error)];
                    if let (Some(Strain::RateLimit), true) = (failed.strain, waited < MAX_WAITS) {
                        waited += 1;
                        self.wait(&agent, last_run, failed.retry_at_ms, &failed.error)
                            .await?;
                        continue;
                    }
                    if let Some(strain @ (Strain::Transient | Strain::Interactive)) = failed.strain
                    {
                        let sessions = &self.jobs.inner.sessions;
                        sessions
                            .cool_down(&self.company, &agent.provider, strain, &failed.error, None)
                            .await;
                    }
                    // Without an answer there is nothing to repair, so the full prompt is sent again.
                    flaw = None;
                }
                AttemptEnd::Answered(answer) => {
                    match self.parse_answer(&answer, last_run, counted).await {
                        Ok(outcome) => return Ok(outcome),
                        Err(found) => {
                            flaw = Some(Flaw {
                                errors: found.clone(),
                                output: answer.output,
                            });
                            errors = found;
                        }
                    }
                }
            }
            counted += 1;
        }
        Ok(self.exhausted(last_run, errors))
    }

    /// Extracts the result from a worker's output, or returns the validation errors.
    async fn parse_answer(
        &self,
        answer: &AnswerTexts,
        run: &str,
        retries: u32,
    ) -> Result<JobOutcome, Vec<JobError>> {
        let mut signals = vec![("retries_used".to_owned(), json!(retries))];
        let normalization = match self.spec.job_kind {
            JobKind::Execution => "schema_valid",
            JobKind::Heartbeat => "heartbeat_report_valid",
        };
        signals.push(("normalization".to_owned(), json!(normalization)));
        match self.spec.job_kind {
            JobKind::Execution => {
                let found = find(answer, answer::is_result).await;
                let found = found.ok_or_else(|| {
                    vec![result::error(
                        "result_unparseable",
                        "No JSON object found in worker output",
                    )]
                })?;
                let (result, notes) = result::of_answer(found, &self.job, run)?;
                if !notes.is_empty() {
                    signals.push(("normalization_notes".to_owned(), json!(notes)));
                }
                Ok(JobOutcome {
                    result,
                    signals,
                    report: None,
                })
            }
            JobKind::Heartbeat => {
                let found = find(answer, answer::is_report).await;
                let found = found.ok_or_else(|| {
                    let message = "No JSON object found in worker output";
                    vec![result::error("heartbeat_report_unparseable", message)]
                })?;
                let report = result::report_of_answer(found)?;
                signals.push(("heartbeat_status".to_owned(), json!(report.status)));
                Ok(JobOutcome {
                    result: result::of_report(&self.job, run, &report),
                    signals,
                    report: Some(report),
                })
            }
        }
    }

    /// Waits until the rate limit of the provider ends; fails if the job is canceled or the gateway shuts down.
    async fn wait(
        &self,
        agent: &Agent,
        run: &str,
        retry_at_ms: Option<i64>,
        detail: &str,
    ) -> Result<(), Stop> {
        let now_ms = self.company.sources().now_ms();
        let until_ms = retry_at_ms
            .filter(|at| *at > now_ms)
            .unwrap_or(now_ms + DEFAULT_WAIT_MS);
        let until = company::iso_time(until_ms);
        let sessions = &self.jobs.inner.sessions;
        let strain = Strain::RateLimit;
        sessions
            .cool_down(
                &self.company,
                &agent.provider,
                strain,
                detail,
                Some(until_ms),
            )
            .await;
        let payload =
            json!({"provider": agent.provider, "reason": strain.as_str(), "until": until});
        self.append_event(run, "worker.backoff", &payload).await?;
        let error = format!("{WAITS}{until}: {detail}");
        self.change(move |record| {
            if let Some(attempt) = record.attempts.last_mut() {
                attempt.error = Some(error);
            }
        })
        .await?;
        self.sleep_until(until_ms).await
    }

    async fn sleep_until(&self, until_ms: i64) -> Result<(), Stop> {
        let left_ms = until_ms - self.company.sources().now_ms();
        let length = Duration::from_millis(u64::try_from(left_ms).unwrap_or(0));
        tokio::select! {
            () = sleep(length) => Ok(()),
            () = self.active.cancel_wanted() => Err(Stop::Canceled),
            () = self.jobs.closed() => Err(Stop::Closing),
        }
    }

    /// Appends an event to the log of a run.
    async fn append_event(
        &self,
        run: &str,
        event_type: &'static str,
        payload: &Value,
    ) -> Result<(), Stop> {
        use protocol::Id as _;
        let Ok(run) = protocol::company::RunId::parse(run) else {
            return Ok(());
        };
        let run_log = RunLog {
            company: self.company.clone(),
            project: self.project.clone(),
            session_ref: format!("local_{run}"),
            run,
        };
        let payload = payload.clone();
        blocking(move || {
            let managers = protocol::company::Visibility::Managers;
            let event = run_log.event_by("system", managers, event_type, &payload)?;
            run_log.append(&[event])
        })
        .await?;
        Ok(())
    }

    /// Changes the current version of the record on disk.
    pub(super) async fn change(
        &self,
        change: impl FnOnce(&mut JobRecord) + Send + 'static,
    ) -> Result<JobRecord, company::Error> {
        let (company, project, job) =
            (self.company.clone(), self.project.clone(), self.job.clone());
        blocking(move || company.write(|writer| writer.change_job(&project, &job, change))).await
    }

    fn unavailable(&self) -> JobOutcome {
        let kind = self.spec.worker_kind;
        let message = format!("No worker found for worker_kind={kind}");
        self.own_result(
            "none",
            JobResultStatus::Blocked,
            &format!("No eligible {kind} worker agent found for this job."),
            vec![result::error("worker_unavailable", &message)],
            Some((
                &format!("Create or configure a {kind} worker agent in workspace org/agents."),
                "job routing failed",
            )),
            [("reason", json!("worker_unavailable"))],
        )
    }

    fn blocked(&self, run: &str, agent: &Agent, message: &str) -> JobOutcome {
        self.own_result(
            run,
            JobResultStatus::Blocked,
            "Worker preflight policy checks failed; run blocked before execution.",
            vec![result::error("subscription_unverified", message)],
            Some((
                "Fix provider policy/auth configuration and retry.",
                "fail-closed preflight policy",
            )),
            [
                ("blocked_reason", json!("subscription_unverified")),
                ("provider", json!(agent.provider)),
            ],
        )
    }

    fn not_installed(&self, run: &str, agent: &Agent, program: &str) -> JobOutcome {
        let message = program::not_installed(program);
        self.own_result(
            run,
            JobResultStatus::Blocked,
            &format!("The worker program could not be started: {message}."),
            vec![result::error("worker_unavailable", &message)],
            Some((
                &format!(
                    "Install {program}, or set its path in provider_bins of .local/machine.yaml."
                ),
                "the worker program is missing",
            )),
            [
                ("blocked_reason", json!("worker_unavailable")),
                ("provider", json!(agent.provider)),
            ],
        )
    }

    fn exhausted(&self, run: &str, errors: Vec<JobError>) -> JobOutcome {
        let summary = match self.spec.job_kind {
            JobKind::Execution => {
                "Worker output could not be normalized into ResultSpec after deterministic repair retries."
            }
            JobKind::Heartbeat => {
                "Worker output could not be normalized into a heartbeat report after deterministic repair retries."
            }
        };
        let last: Vec<_> = errors
            .iter()
            .map(|error| format!("{}: {}", error.code, error.message))
            .collect();
        self.own_result(
            run,
            JobResultStatus::NeedsInput,
            summary,
            errors,
            Some((
                "Provide clearer worker instructions or manually supply a valid ResultSpec JSON payload.",
                "Normalization retries exhausted",
            )),
            [
                ("retries_used", json!(MAX_ATTEMPTS - 1)),
                ("normalization", json!("fallback_needs_input")),
                ("last_validation_error", json!(last.join("; "))),
            ],
        )
    }

    /// Creates an outcome on behalf of the gateway, without an answer of a worker.
    fn own_result<const N: usize>(
        &self,
        run: &str,
        status: JobResultStatus,
        summary: &str,
        errors: Vec<JobError>,
        next: Option<(&str, &str)>,
        signals: [(&str, Value); N],
    ) -> JobOutcome {
        JobOutcome {
            result: result::own_result(&self.job, run, status, summary, errors, next),
            signals: signals.map(|(name, value)| (name.to_owned(), value)).into(),
            report: None,
        }
    }
}

/// Stores the result of a job and closes its record in one step, then releases the lease.
pub(super) fn finish<S: Into<String>>(
    company: &Company,
    project: &ProjectId,
    job: &JobId,
    (made, report): (JobResult, Option<HeartbeatReport>),
    signals: impl IntoIterator<Item = (S, Value)>,
    change: impl FnOnce(&mut JobRecord),
) -> Result<JobRecord, company::Error> {
    let signals = signals
        .into_iter()
        .map(|(name, value)| (name.into(), value))
        .collect();
    let status = match made.status {
        JobResultStatus::Canceled => JobStatus::Canceled,
        JobResultStatus::Succeeded
        | JobResultStatus::NeedsInput
        | JobResultStatus::Blocked
        | JobResultStatus::Failed => JobStatus::Completed,
    };
    let left = files::Left {
        digest: Some(result::digest(&made, signals)),
        result: Some(made),
        report,
    };
    let record = company.write(|writer| {
        let record = writer.finish_job(project, job, &left, |record| {
            change(record);
            record.status = status;
            record.final_result_relpath = Some(text(super::result_relpath(job)));
        })?;
        placement::forget(writer, project, job)?;
        Ok(record)
    })?;
    lease::release(company, project, job);
    Ok(record)
}

/// Finds the requested object in a worker's output. Runs on a blocking thread, because the output is untrusted and may
/// be large.
async fn find(
    answer: &AnswerTexts,
    is_it: fn(&Map<String, Value>) -> bool,
) -> Option<Map<String, Value>> {
    let (structured, texts) = (answer.structured.clone(), answer.texts.clone());
    let found = blocking(move || Ok(answer::find(structured.as_ref(), &texts, is_it))).await;
    found.unwrap_or_else(|error| {
        tracing::error!(%error, "the output of a worker cannot be searched for its answer");
        None
    })
}
