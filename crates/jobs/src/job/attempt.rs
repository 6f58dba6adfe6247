//! One attempt of a job: creates a run, provides the context, checks the program, runs the session, reads the answer.

use std::sync::Arc;

use company::{Company, document::Agent, execution::run as runs, layout};
use drivers::{Driver, ErrorClass, Outcome, RetryHint};
use protocol::{
    Id as _,
    company::{
        ActorRole, AgentId, JobKind, ProjectId, RunId, RunStatus, Text, Visibility,
        context::ContextRef,
        job::{ContextMode, JobAttempt},
        session::CompanySessionLaunchParams,
    },
};
use serde_json::{Value, json};
use sessions::{
    Error, Extra, ProgramCheck, RunLog, SessionRecord, WorkerDescription, blocking::blocking,
    lanes::Strain, missing_program, program, retry_at_of,
};

use super::{
    answer,
    prompt::{self, Flaw, Situation},
    run::Runner,
    schema, text, worker,
};

/// Maximum number of bytes read from an output file.
const READ_BYTES: u64 = 8 << 20;

/// An attempt that is about to run.
pub(super) struct Attempt<'a> {
    pub(super) runner: &'a Runner,
    pub(super) number: u32,
    pub(super) agent: &'a Arc<Agent>,
    pub(super) flaw: Option<&'a Flaw>,
    pub(super) reformats: bool,
}

/// How an attempt ended.
pub(super) enum AttemptEnd {
    /// The worker gave an answer.
    Answered(AnswerTexts),
    /// The worker failed before it gave an answer.
    Failed(Failed),
    /// The execution policy does not allow the program to run; carries the message.
    Blocked(String),
    /// The program is not installed; carries its name.
    NotInstalled(String),
    /// The job was canceled or its session was stopped.
    Canceled,
    /// The gateway is shutting down.
    Closing,
}

/// The output of a worker in which the answer is searched.
pub(crate) struct AnswerTexts {
    /// The structured answer, if the program returned one.
    pub(super) structured: Option<Value>,
    /// Texts that may contain the answer, the most likely first.
    pub(super) texts: Vec<String>,
    /// Text that a repair prompt quotes if the answer cannot be parsed.
    pub(crate) output: String,
}

/// Why an attempt failed.
pub(crate) struct Failed {
    pub(crate) error: String,
    /// Reason for a cool-down of the provider; absent if none is needed.
    pub(super) strain: Option<Strain>,
    pub(super) retry_at_ms: Option<i64>,
}

impl Attempt<'_> {
    /// Runs the attempt. However it ends, its run and the job record state the result.
    pub(super) async fn run(&self, last_run: &mut String) -> Result<AttemptEnd, Error> {
        let runner = self.runner;
        let (company, spec) = (&runner.company, &runner.spec);
        // Errors that can be detected without a run are reported before one is created.
        worker::template(self.agent, "", None, "").map_err(company::Error::Refused)?;
        let agent_id = AgentId::parse(&self.agent.id)
            .map_err(|error| company::Error::Refused(error.to_string()))?;
        let made = {
            let (company, project) = (company.clone(), runner.project.clone());
            let provider = self.agent.provider.to_string();
            blocking(move || runs::create(&company, &project, &agent_id, &provider)).await?
        };
        made.run_id.as_str().clone_into(last_run);
        let session_ref = format!("job_{}_attempt_{}_{}", runner.job, self.number, made.run_id);
        let run_log = RunLog {
            company: company.clone(),
            project: runner.project.clone(),
            run: made.run_id.clone(),
            session_ref: session_ref.clone(),
        };
        let attempt = JobAttempt {
            attempt: self.number,
            run_id: text(made.run_id.as_str()),
            context_pack_id: text(made.context_pack_id.as_str()),
            session_ref: text(session_ref.as_str()),
            worker_kind: worker::kind(self.agent),
            worker_agent_id: self.agent.id.clone(),
            provider: self.agent.provider.clone(),
            provider_bin: None,
            provider_version: None,
            provider_help_hash: None,
            output_format: None,
            context_plan_relpath: None,
            context_plan_hash: None,
            started_at: text(company.sources().now_text()),
            ended_at: None,
            status: RunStatus::Running,
            error: None,
        };
        let number = self.number;
        runner
            .change(move |record| {
                record.current_attempt = number;
                record.attempts.push(attempt);
            })
            .await?;
        let plan = runner.plan.as_ref().and_then(|plan| plan.plan.clone());
        if let (Some(plan), Some(ContextMode::Auto)) = (plan, spec.context_mode) {
            let (jobs, company, spec) = (runner.jobs.clone(), company.clone(), spec.clone());
            let (run, pack) = (made.run_id.clone(), made.context_pack_id.clone());
            let name = session_ref.clone();
            let kept = blocking(move || {
                let run = (&run, &pack, name.as_str());
                jobs.inner.services.keep_plan(&company, &spec, &plan, run)
            });
            if let Some(kept) = kept.await? {
                self.update(move |attempt| {
                    attempt.context_plan_relpath = Text::new(kept.relpath);
                    attempt.context_plan_hash = Text::new(kept.hash);
                })
                .await?;
            }
        }
        let done = self.execute(&run_log).await;
        // An attempt that failed with an error is over as well, and so is its run.
        let (status, error) = match &done {
            Ok(ExecutedAttempt {
                record: Some(record),
                ended,
            }) => (
                record.status,
                match ended {
                    AttemptEnd::Canceled => Some("Attempt canceled by caller".to_owned()),
                    AttemptEnd::Closing => Some("the gateway stopped".to_owned()),
                    AttemptEnd::Failed(failed) => {
                        record.error.clone().or_else(|| Some(failed.error.clone()))
                    }
                    AttemptEnd::Answered(_)
                    | AttemptEnd::Blocked(_)
                    | AttemptEnd::NotInstalled(_) => record.error.clone(),
                },
            ),
            Ok(ExecutedAttempt {
                record: None,
                ended,
            }) => (
                RunStatus::Failed,
                match ended {
                    AttemptEnd::Blocked(message) => Some(message.clone()),
                    AttemptEnd::NotInstalled(program) => Some(program::not_installed(program)),
                    AttemptEnd::Failed(failed) => Some(failed.error.clone()),
                    AttemptEnd::Answered(_) => None,
                    AttemptEnd::Canceled => Some("Attempt canceled by caller".to_owned()),
                    AttemptEnd::Closing => Some("the gateway stopped".to_owned()),
                },
            ),
            Err(error) => (RunStatus::Failed, Some(error.to_string())),
        };
        if let Err(error) = &done {
            let (run_log, error) = (run_log.clone(), error.to_string());
            let closed = blocking(move || close_run(&run_log, "launch_failed", &error));
            if let Err(error) = closed.await {
                tracing::warn!(%error, "the run of an attempt cannot be closed");
            }
        }
        let now = text(company.sources().now_text());
        self.update(move |attempt| {
            attempt.status = status;
            attempt.error = error;
            attempt.ended_at = Some(now);
        })
        .await?;
        done.map(|done| done.ended)
    }

    /// Copies the referenced context to where the worker can read it and returns the references for the prompt.
    async fn hand_over(&self, run_log: &RunLog) -> Result<Vec<ContextRef>, Error> {
        let runner = self.runner;
        let (jobs, company) = (runner.jobs.clone(), runner.company.clone());
        let refs = runner.spec.context_refs.clone();
        let (project, run) = (runner.project.clone(), run_log.run.clone());
        let job = runner.job.clone();
        let handed = blocking(move || {
            let services = &jobs.inner.services;
            services.hand_over(&company, &refs, (&project, &run, &job))
        });
        Ok(handed.await?)
    }

    /// Compiles the prompt, checks the program and runs the session to its end.
    async fn execute(&self, run_log: &RunLog) -> Result<ExecutedAttempt, Error> {
        let runner = self.runner;
        let sessions = &runner.jobs.inner.sessions;
        let (company, spec) = (&runner.company, &runner.spec);
        let refs = self.hand_over(run_log).await?;
        let situation = Situation {
            job: spec,
            refs: &refs,
            run: run_log.run.as_str(),
            folder: &spec.workspace_dir,
        };
        let task = prompt::compile(&situation, self.flaw, self.reformats);
        let model = spec.model.as_deref().or(self.agent.model_hint.as_deref());
        let instructions = sessions
            .instructions_for(WorkerDescription {
                company: company.clone(),
                project: runner.project.clone(),
                run: run_log.run.clone(),
                job: Some(runner.job.clone()),
                agent: self.agent.id.to_string(),
                driver: worker::kind(self.agent).as_str().to_owned(),
                model: model.map(ToOwned::to_owned),
                task: task.clone(),
            })
            .await
            .map_err(company::Error::Refused)?;
        let prompt = match &instructions {
            Some(instructions) => instructions.prepend_to(&task),
            None => task,
        };
        let permission = match self.flaw {
            // A repair only reformats the answer.
            Some(_) => protocol::company::PermissionLevel::ReadOnly,
            None => spec.permission_level,
        };
        let mut params = self.params(run_log)?;
        params.model = model.and_then(Text::new);
        let is_template = worker::set_prompt(&mut params, self.agent, prompt, permission)?;
        let params = {
            let (company, refs) = (company.clone(), spec.context_refs.clone());
            let placement = runner.placement.clone();
            blocking(move || {
                placement.apply(&mut params, &company, &refs);
                Ok(params)
            })
            .await?
        };

        let guarded = sessions.guard(params.clone()).await?;
        let bin = guarded.program.clone();
        let format = match (&guarded.driver, is_template) {
            (_, true) => Some("json"),
            (Driver::Claude | Driver::Gemini, false) => Some("stream-json"),
            (
                Driver::Codex | Driver::CodexAppServer | Driver::Command | Driver::Declared(..),
                false,
            ) => None,
        };
        {
            let bin = bin.clone();
            self.update(move |attempt| {
                attempt.provider_bin = Text::new(bin);
                attempt.output_format = format.and_then(Text::new);
            })
            .await?;
        }
        let managers = |event_type: &str, payload: &Value| {
            run_log.event_by("system", Visibility::Managers, event_type, payload)
        };
        match guarded.check {
            ProgramCheck::Failed {
                payload,
                reason,
                message,
            } => {
                let events = vec![managers("worker.subscription_check.failed", &payload)?];
                let failed = managers(
                    "run.failed",
                    &json!({
                        "preflight": true,
                        "reason": reason,
                        "exit_code": null,
                        "signal": null,
                        "stopped": false,
                    }),
                )?;
                let (run_log, events) = (run_log.clone(), [events, vec![failed]].concat());
                blocking(move || run_log.end(&events, RunStatus::Failed, |_| {}, &[], None))
                    .await?;
                Ok(ExecutedAttempt {
                    record: None,
                    ended: AttemptEnd::Blocked(message),
                })
            }
            ProgramCheck::Passed { payload } => {
                let probe = &runner.jobs.inner.probes;
                let probe = probe.of(&bin, &guarded.driver, &guarded.environment).await;
                let provenance = json!({
                    "provider": self.agent.provider,
                    "provider_bin": bin,
                    "provider_version": probe.version,
                    "provider_help_hash": probe.help_hash,
                    "output_format": format,
                });
                let events = [
                    managers("worker.subscription_check.passed", &payload)?,
                    managers("worker.cli.provenance", &provenance)?,
                ];
                let writer = run_log.clone();
                blocking(move || writer.append(&events)).await?;
                let takes_schema = probe.takes_schema && !is_template;
                self.update(move |attempt| {
                    attempt.provider_version = probe.version.and_then(Text::new);
                    attempt.provider_help_hash = probe.help_hash.and_then(Text::new);
                })
                .await?;
                let extra = Extra {
                    is_worker: true,
                    // Repairs and heartbeat reports only request a text, so their sessions are never resumed.
                    is_one_shot: self.flaw.is_some() || spec.job_kind == JobKind::Heartbeat,
                    schema: takes_schema.then(|| schema::of(spec, run_log.run.as_str())),
                    allowed_tools: worker::allowed_tools(self.agent),
                    job: Some(runner.job.clone()),
                    instructions,
                };
                self.launch(run_log, params, extra).await
            }
        }
    }

    async fn launch(
        &self,
        run_log: &RunLog,
        params: CompanySessionLaunchParams,
        extra: Extra,
    ) -> Result<ExecutedAttempt, Error> {
        let runner = self.runner;
        let sessions = &runner.jobs.inner.sessions;
        let dir = params.workspace_dir.clone();
        sessions.launch_with(params, extra, self.runner.may).await?;
        let over = sessions.over(&dir, &run_log.session_ref);
        tokio::pin!(over);
        let (over, canceled) = tokio::select! {
            over = &mut over => (over, false),
            () = runner.active.cancel_wanted() => {
                sessions.stop(Some(&dir), &run_log.session_ref, self.runner.may).await?;
                (over.await, true)
            }
        };
        let Some((record, outcome)) = over else {
            return Err(Error::Unknown(run_log.session_ref.clone()));
        };
        let ended = match record.status {
            RunStatus::Stopped if canceled || runner.active.is_cancel_wanted() => {
                AttemptEnd::Canceled
            }
            RunStatus::Stopped if runner.jobs.is_closing() => AttemptEnd::Closing,
            // A user stopped the session; another attempt would start a worker against that decision.
            RunStatus::Stopped => AttemptEnd::Canceled,
            RunStatus::Ended => {
                let (company, project, run) = (
                    run_log.company.clone(),
                    run_log.project.clone(),
                    run_log.run.clone(),
                );
                blocking(move || {
                    Ok(AttemptEnd::Answered(answer_texts(
                        &company, &project, &run, outcome,
                    )))
                })
                .await?
            }
            RunStatus::Failed | RunStatus::Running
                if let Some(program) = record.error.as_deref().and_then(missing_program) =>
            {
                AttemptEnd::NotInstalled(program.to_owned())
            }
            RunStatus::Failed | RunStatus::Running => {
                let (company, project, run) = (
                    run_log.company.clone(),
                    run_log.project.clone(),
                    run_log.run.clone(),
                );
                let copy = record.clone();
                blocking(move || {
                    Ok(AttemptEnd::Failed(failed(
                        &company,
                        &project,
                        &run,
                        &copy,
                        outcome.as_ref(),
                    )))
                })
                .await?
            }
        };
        Ok(ExecutedAttempt {
            record: Some(record),
            ended,
        })
    }

    /// Returns the launch parameters of this attempt's session.
    fn params(&self, run_log: &RunLog) -> Result<CompanySessionLaunchParams, Error> {
        let spec = &self.runner.spec;
        let timeout = self.runner.jobs.inner.attempt_timeout;
        let timeout = u64::try_from(timeout.as_millis()).unwrap_or(u64::MAX);
        let params = json!({
            "workspace_dir": spec.workspace_dir,
            "project_id": self.runner.project,
            "run_id": run_log.run,
            "session_ref": run_log.session_ref,
            "actor_id": spec.manager_actor_id.as_deref().unwrap_or("manager"),
            "actor_role": spec.manager_role.unwrap_or(ActorRole::Manager),
            "actor_team_id": spec.manager_team_id,
            "timeout_ms": timeout.max(1),
            "apply_guard": false,
        });
        serde_json::from_value(params)
            .map_err(|error| company::Error::Refused(error.to_string()).into())
    }

    /// Changes this attempt in the job record.
    async fn update(
        &self,
        change: impl FnOnce(&mut JobAttempt) + Send + 'static,
    ) -> Result<(), company::Error> {
        let number = self.number;
        self.runner
            .change(move |record| {
                let own = record
                    .attempts
                    .iter_mut()
                    .find(|attempt| attempt.attempt == number);
                if let Some(own) = own {
                    change(own);
                }
            })
            .await?;
        Ok(())
    }
}

/// Result of [`Attempt::execute`].
struct ExecutedAttempt {
    /// Record of the session; absent if none was launched.
    record: Option<SessionRecord>,
    ended: AttemptEnd,
}

/// Marks a run without a session as failed. A run that is already over is left unchanged.
pub(crate) fn close_run(run_log: &RunLog, reason: &str, error: &str) -> Result<(), company::Error> {
    let run = run_log
        .company
        .read::<company::document::Run>(&run_log.run_path())?;
    if run.status != RunStatus::Running {
        return Ok(());
    }
    let payload = json!({
        "preflight": true,
        "reason": reason,
        "error": error,
        "exit_code": null,
        "signal": null,
        "stopped": false,
    });
    let event = run_log.event_by("system", Visibility::Managers, "run.failed", &payload)?;
    run_log.end(&[event], RunStatus::Failed, |_| {}, &[], None)
}

/// Returns the first [`READ_BYTES`] of an output file of a run; `None` if it is missing or blank.
fn output(company: &Company, project: &ProjectId, run: &RunId, name: &str) -> Option<String> {
    use std::io::Read as _;
    let path = format!("{}/{name}", layout::run_outputs(project, run));
    let mut bytes = Vec::new();
    company
        .open(&path)
        .ok()?
        .take(READ_BYTES)
        .read_to_end(&mut bytes)
        .ok()?;
    let text = String::from_utf8_lossy(&bytes).into_owned();
    (!text.trim().is_empty()).then_some(text)
}

/// Collects the texts of a run that may contain the answer.
pub(crate) fn answer_texts(
    company: &Company,
    project: &ProjectId,
    run: &RunId,
    outcome: Option<Outcome>,
) -> AnswerTexts {
    let read = |name: &str| output(company, project, run, name);
    let outcome = outcome.unwrap_or_default();
    let mut texts: Vec<String> = [outcome.text, read("last_message.md")]
        .into_iter()
        .flatten()
        .collect();
    if texts.is_empty() && outcome.structured.is_none() {
        // The output format is unknown, so the answer may be anywhere in the output.
        let stdout = read("stdout.txt");
        texts.extend(stdout.clone());
        texts.extend(stdout.as_deref().and_then(answer::words));
        texts.extend(read("stderr.txt").filter(|_| stdout.is_none()));
    }
    AnswerTexts {
        output: texts.first().cloned().unwrap_or_default(),
        structured: outcome.structured,
        texts,
    }
}

/// Determines why an attempt failed. Only messages of the program itself are evaluated, never output of its model.
pub(crate) fn failed(
    company: &Company,
    project: &ProjectId,
    run: &RunId,
    record: &SessionRecord,
    outcome: Option<&Outcome>,
) -> Failed {
    let status = match (record.exit_code, &record.signal) {
        (Some(code), _) => format!("worker exited with code {code}"),
        (None, Some(signal)) => format!("worker was ended by {signal}"),
        (None, None) => "worker ended without an exit code or signal".to_owned(),
    };
    let known = outcome.and_then(|outcome| outcome.error_class);
    let own = outcome.and_then(|outcome| outcome.error.clone());
    let error = own.or_else(|| record.error.clone()).unwrap_or(status);
    let printed = {
        let stderr = output(company, project, run, "stderr.txt").unwrap_or_default();
        let is_silent = outcome.is_none_or(|outcome| outcome.text.is_none());
        let stdout = output(company, project, run, "stdout.txt").filter(|_| is_silent);
        let stdout: String = stdout.unwrap_or_default().chars().take(2000).collect();
        format!("{error}\n{stderr}\n{stdout}")
    };
    let strain = match known {
        Some(ErrorClass::RateLimited) => Some(Strain::RateLimit),
        Some(ErrorClass::Auth) => Some(Strain::Auth),
        Some(ErrorClass::ContextExceeded | ErrorClass::Billing) => None,
        Some(ErrorClass::Other) => strain_of(&error),
        None => strain_of(&printed),
    };
    let reported = outcome.and_then(|outcome| retry_at_of(company, outcome));
    let retry_at_ms = reported.or_else(|| {
        let hint = RetryHint::of_text(&printed)?;
        hint.at_ms(company.sources().now_ms(), &jiff::tz::TimeZone::system())
    });
    Failed {
        error,
        strain,
        retry_at_ms,
    }
}

/// Classifies the text of a failure as a reason for a cool-down; `None` if it is none.
fn strain_of(text: &str) -> Option<Strain> {
    let text = text.to_lowercase();
    let has = |words: &[&str]| words.iter().any(|word| text.contains(word));
    if has(&[
        "rate limit",
        "too many requests",
        "429",
        "quota exceeded",
        "usage limit",
        "backoff",
    ]) {
        Some(Strain::RateLimit)
    } else if has(&[
        "not logged in",
        "authentication",
        "unauthorized",
        "forbidden",
    ]) {
        Some(Strain::Auth)
    } else if has(&["waiting for approval", "permission prompt", "interactive"]) {
        Some(Strain::Interactive)
    } else if has(&["econnreset", "etimedout", "network", "socket hang up"]) {
        Some(Strain::Transient)
    } else {
        None
    }
}
