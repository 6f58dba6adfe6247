//! All sessions: those of this process, and the records of earlier ones.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
    sync::{
        Arc, Mutex, MutexGuard, Once, PoisonError, Weak,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use company::{
    Companies, Company,
    document::{Agent, Run},
    event::Event,
    layout,
    policy::{self, Action, Actor, Decision, Resource},
    unix_ms,
};
use protocol::{
    Id as _,
    company::{
        ActorRole, AgentId, AgentRole, ProjectId, RunId, RunStatus, TaskId, Text, Visibility,
        session::{
            CompanySessionCollectResponse, CompanySessionCommand, CompanySessionExplanation,
            CompanySessionLane, CompanySessionLaunchParams, CompanySessionLaunchResponse,
            CompanySessionLaunchState, CompanySessionListParams, CompanySessionPolicy,
            CompanySessionRow, CompanySessionState,
        },
    },
};
use rustix::process::Signal;
use serde_json::{Map, json};
use tokio::{
    sync::oneshot,
    time::{sleep, timeout},
};

use crate::{
    Error, Options,
    budget::{self, Phase, Spent},
    driver::{Driver, ErrorClass},
    guard::{self, Verdict},
    lanes::{Cooldown, Entry, Lane, Limits, Strain, Ticket},
    plan::{Extra, Plan},
    process::{self, ProcessId, Reaper, Tree},
    record::{self, SessionRecord, SessionRecordTag},
    scribe::{Scribe, cause_of},
    session::{self, Live, NotStarted, STOP_FLAG, Stage, blocking},
};

/// How long a launch waits for the process before it answers.
const REPLY: Duration = Duration::from_millis(800);
/// Sessions that are over and are still known by their name alone.
const REMEMBERED: usize = 1000;
/// Records of sessions that have been over for so long are removed.
const KEPT_MS: i64 = 30 * 24 * 3_600_000;
/// The rests of providers.
const LANES: &str = ".local/lanes.json";

const DETACHED: &str = "Session process is detached from this runtime (possible restart).";
const ORPHANED: &str = "Reconciled orphaned detached session (pid not running).";
const STOPPED: &str = "Reconciled detached stop request after process exit.";
const SIGNALLED: &str = "Stop signal sent to detached session process.";

/// All sessions of one process. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Sessions {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    options: Options,
    companies: Companies,
    /// By company folder and name.
    live: Mutex<BTreeMap<Key, Arc<Known>>>,
    lanes: Mutex<BTreeMap<PathBuf, Queue>>,
    /// Folders whose old records were looked at.
    looked_at: Mutex<BTreeSet<PathBuf>>,
    closing: AtomicBool,
    reaping: Once,
}

type Key = (PathBuf, String);

/// What is known of a worker program before it is started.
#[derive(Debug)]
pub(crate) struct Guarded {
    pub(crate) verdict: Verdict,
    /// What is asked for its version.
    pub(crate) program: String,
    pub(crate) environment: BTreeMap<String, String>,
    pub(crate) driver: Driver,
}

/// A session of this process.
#[derive(Debug)]
struct Known {
    company: Company,
    project: ProjectId,
    run: RunId,
    live: Arc<Live>,
    /// Its place in the lane.
    ticket: Mutex<Option<Ticket>>,
}

/// The lane of one company folder, and who waits for a place.
#[derive(Debug, Default)]
struct Queue {
    lane: Lane,
    grants: BTreeMap<Ticket, oneshot::Sender<()>>,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Sessions {
    /// Starts with none.
    pub fn new(companies: Companies, options: Options) -> Self {
        Self {
            inner: Arc::new(Inner {
                options,
                companies,
                live: Mutex::default(),
                lanes: Mutex::default(),
                looked_at: Mutex::default(),
                closing: AtomicBool::new(false),
                reaping: Once::new(),
            }),
        }
    }

    /// Starts a session, lets it wait, or tells why not.
    pub async fn launch(
        &self,
        params: CompanySessionLaunchParams,
    ) -> Result<CompanySessionLaunchResponse, Error> {
        self.launch_with(params, Extra::default()).await
    }

    /// The same for a job.
    pub(crate) async fn launch_with(
        &self,
        params: CompanySessionLaunchParams,
        extra: Extra,
    ) -> Result<CompanySessionLaunchResponse, Error> {
        let inner = &self.inner;
        if inner.closing.load(Ordering::SeqCst) {
            return Err(Error::Closing);
        }
        let explains = params.explain.unwrap_or(false);
        let params = Arc::new(params);
        let (plan, run, actor) = {
            let (inner, params) = (Arc::clone(inner), Arc::clone(&params));
            on_thread(move || inner.read(&params, extra)).await?
        };
        let scribe = Scribe {
            company: plan.company.clone(),
            project: plan.project.clone(),
            run: plan.run.clone(),
            session_ref: plan.session_ref.clone(),
        };
        if explains {
            return self.explain(&params, &plan, &run, &actor).await;
        }
        let known = inner.claim(&plan, &run)?;
        let not_running =
            (run.status != RunStatus::Running).then(|| session::not_running(run.status));
        if let Some(error) = not_running {
            let mut record = known.live.state().record;
            record.status = RunStatus::Failed;
            record.error = Some(error.clone());
            record.ended_at_ms = Some(record.started_at_ms);
            let saved = {
                let (company, record) = (plan.company.clone(), record.clone());
                blocking(move || record.save(&company)).await
            };
            known.live.end(record);
            saved?;
            return Ok(launched(&known, None));
        }
        if let Err(error) = self
            .preflight(&params, &plan, &scribe, &actor, &known)
            .await
        {
            inner.forget(&known);
            return Err(error);
        }
        {
            let (company, record) = (plan.company.clone(), known.live.state().record);
            if let Err(error) = blocking(move || record.save(&company)).await {
                session::fail(&scribe, &known.live, NotStarted::launch(error.to_string())).await;
                return Err(error.into());
            }
        }

        let plan = Arc::new(plan);
        let (ticket, granted) = inner.enter(&plan, &params, actor.role);
        *lock(&known.ticket) = Some(ticket);
        let queue_timeout = params.queue_timeout_ms.map(Duration::from_millis);
        let (this, task_known) = (self.clone(), Arc::clone(&known));
        tokio::spawn(async move {
            this.live_on(plan, scribe, task_known, ticket, granted, queue_timeout)
                .await;
        });
        let position = inner.position(&known);
        if position.is_none() {
            let started = known
                .live
                .reach(|stage| matches!(stage, Stage::Running | Stage::Over));
            let _ = timeout(REPLY, started).await;
        }
        Ok(launched(&known, inner.position(&known)))
    }

    /// Where a session stands.
    pub async fn poll(
        &self,
        workspace_dir: Option<&str>,
        session_ref: &str,
    ) -> Result<CompanySessionState, Error> {
        if let Some(known) = self.inner.find(workspace_dir, session_ref) {
            return Ok(self.inner.state(&known));
        }
        let record = self.recorded(workspace_dir, session_ref).await?;
        Ok(record.state())
    }

    /// Waits until a session is over and tells what it left.
    pub async fn collect(
        &self,
        workspace_dir: Option<&str>,
        session_ref: &str,
    ) -> Result<CompanySessionCollectResponse, Error> {
        let (company, state) = match self.inner.find(workspace_dir, session_ref) {
            Some(known) => {
                let state = known.live.reach(|stage| stage == Stage::Over).await;
                (known.company.clone(), state.record.state())
            }
            None => {
                let record = self.recorded(workspace_dir, session_ref).await?;
                (
                    self.inner.companies.at(&record.workspace_dir),
                    record.state(),
                )
            }
        };
        let outputs = {
            let (project, run) = (state.project_id.clone(), state.run_id.clone());
            blocking(move || {
                let (Ok(project), Ok(run)) = (ProjectId::parse(&project), RunId::parse(&run))
                else {
                    return Ok(Vec::new());
                };
                let names = company.names(&format!("{}/outputs", layout::run(&project, &run)))?;
                Ok(names
                    .iter()
                    .map(|name| format!("runs/{run}/outputs/{name}"))
                    .collect())
            })
            .await?
        };
        Ok(CompanySessionCollectResponse {
            events_relpath: format!("runs/{}/events.jsonl", state.run_id),
            output_relpaths: outputs,
            state,
        })
    }

    /// Stops a session and everything it started; answers where it stands now.
    pub async fn stop(
        &self,
        workspace_dir: Option<&str>,
        session_ref: &str,
    ) -> Result<CompanySessionState, Error> {
        let Some(known) = self.inner.find(workspace_dir, session_ref) else {
            let record = self.recorded(workspace_dir, session_ref).await?;
            return self.stop_detached(record).await;
        };
        if !known.live.is_over() {
            let (company, project, run) = (
                known.company.clone(),
                known.project.clone(),
                known.run.clone(),
            );
            let session_ref = session_ref.to_owned();
            if known.live.state().stage != Stage::Queued {
                blocking(move || write_stop_flag(&company, &project, &run, &session_ref)).await?;
            }
            known.live.request_stop();
        }
        Ok(self.inner.state(&known))
    }

    /// Waits until a session of this process is over: its record, and what its program said.
    pub(crate) async fn over(
        &self,
        workspace_dir: &str,
        session_ref: &str,
    ) -> Option<(SessionRecord, Option<crate::driver::Outcome>)> {
        let known = self.inner.find(Some(workspace_dir), session_ref)?;
        let state = known.live.reach(|stage| stage == Stage::Over).await;
        Some((state.record, known.live.outcome()))
    }

    /// Looks at the worker program of a launch before it happens: who it is, and whether it may run.
    pub(crate) async fn guard(&self, params: CompanySessionLaunchParams) -> Result<Guarded, Error> {
        let inner = Arc::clone(&self.inner);
        let (plan, _, _) = on_thread(move || inner.read(&params, Extra::default())).await?;
        Ok(Guarded {
            verdict: judge(&plan).await,
            program: plan.bin(),
            environment: plan.environment(&BTreeMap::new()),
            driver: plan.driver,
        })
    }

    /// Lets a provider rest, because a job found that it needs to.
    pub(crate) async fn rest(
        &self,
        company: &Company,
        provider: &str,
        strain: Strain,
        detail: &str,
        retry_at_ms: Option<i64>,
    ) {
        let inner = &self.inner;
        inner
            .cool_down(company, provider, strain, detail, retry_at_ms)
            .await;
    }

    /// The company folders.
    pub(crate) fn companies(&self) -> &Companies {
        &self.inner.companies
    }

    /// Whether it is being closed.
    pub(crate) fn is_closing(&self) -> bool {
        self.inner.closing.load(Ordering::SeqCst)
    }

    /// Sessions, newest first: of a company folder, or those of this process.
    pub async fn list(
        &self,
        params: CompanySessionListParams,
    ) -> Result<Vec<CompanySessionRow>, Error> {
        let company = params
            .workspace_dir
            .as_deref()
            .map(|dir| self.inner.companies.open(dir))
            .transpose()?;
        let mut rows = match company {
            None => self.inner.rows(|_| true),
            Some(company) => {
                let root = company.root().to_owned();
                let mut rows = self.inner.rows(|known| known.company.root() == root);
                let names: BTreeSet<_> = rows
                    .iter()
                    .map(|row| row.state.session_ref.clone())
                    .collect();
                let inner = Arc::clone(&self.inner);
                let found = blocking(move || {
                    inner.prune(&company);
                    let records = record::all(&company)?;
                    let others = records
                        .iter()
                        .filter(|record| !names.contains(record.session_ref.as_str()));
                    Ok(others
                        .map(|record| reconcile(&company, record).row())
                        .collect::<Vec<_>>())
                });
                rows.extend(found.await?);
                rows
            }
        };
        let fits = |wanted: &Option<Text>, found: &str| {
            wanted.as_ref().is_none_or(|wanted| **wanted == *found)
        };
        rows.retain(|row| {
            fits(&params.project_id, &row.state.project_id)
                && fits(&params.run_id, &row.state.run_id)
                && params
                    .status
                    .is_none_or(|status| status == row.state.status)
        });
        rows.sort_by(|left, right| {
            (right.started_at_ms, &left.state.session_ref)
                .cmp(&(left.started_at_ms, &right.state.session_ref))
        });
        Ok(rows)
    }

    /// Waits until no session runs or waits.
    pub async fn settle(&self) {
        loop {
            let open: Vec<_> = self.inner.open();
            let Some(known) = open.first() else {
                return;
            };
            known.live.reach(|stage| stage == Stage::Over).await;
        }
    }

    /// Stops all sessions, those that wait first, and waits until their ends are written down.
    pub async fn close(&self) {
        self.inner.closing.store(true, Ordering::SeqCst);
        let mut open = self.inner.open();
        open.sort_by_key(|known| {
            (
                known.live.state().stage != Stage::Queued,
                known.live.state().record.started_at_ms,
            )
        });
        for known in &open {
            let session_ref = known.live.state().record.session_ref.to_string();
            let root = known.company.root().display().to_string();
            if let Err(error) = self.stop(Some(&root), &session_ref).await {
                tracing::warn!(%error, session_ref, "a session cannot be stopped in order");
                known.live.request_stop();
            }
        }
        for known in &open {
            known.live.reach(|stage| stage == Stage::Over).await;
        }
    }

    /// Policy, guard and budgets, with their events. What does not pass fails the run.
    async fn preflight(
        &self,
        params: &CompanySessionLaunchParams,
        plan: &Plan,
        scribe: &Scribe,
        actor: &Actor,
        known: &Arc<Known>,
    ) -> Result<(), Error> {
        let scribe = scribe.preflight();
        let decision = decide(plan, actor);
        let guarded = match decision.allowed && applies_guard(params, plan) {
            true => Some(judge(plan).await),
            false => None,
        };
        let (inner, plan, known, actor) = (
            Arc::clone(&self.inner),
            plan.clone(),
            Arc::clone(known),
            actor.clone(),
        );
        on_thread(move || {
            let mut events = policy_events(&scribe, &plan, &actor, decision)?;
            let refuse = |mut events: Vec<Event>, error: Error, reason: &str, cause: &str| {
                let payload = json!({
                    "exit_code": null,
                    "signal": null,
                    "stopped": false,
                    "preflight": true,
                    "reason": reason,
                    "error": error.to_string(),
                    "budget_exceeded": reason == "budget_preflight_exceeded",
                });
                let mut failed = scribe.event("run.failed", &payload)?;
                failed.causation_id = cause_of(&events, cause);
                events.push(failed);
                scribe.end(&events, RunStatus::Failed, |_| {}, &[], None)?;
                Err(error)
            };
            if !decision.allowed {
                let error = company::Error::Denied {
                    action: Action::Launch.as_str(),
                    rule_id: decision.rule_id,
                    reason: decision.reason,
                    actor_id: actor.id,
                };
                return refuse(events, error.into(), "policy_denied", "policy.denied");
            }
            let managers = |event_type: &str, payload| {
                scribe.event_by("system", Visibility::Managers, event_type, &payload)
            };
            match guarded {
                None => {}
                Some(Verdict::Passed { payload }) => {
                    events.push(managers("worker.subscription_check.passed", payload)?);
                }
                Some(Verdict::Failed {
                    payload,
                    reason,
                    message,
                }) => {
                    events.push(managers("worker.subscription_check.failed", payload)?);
                    let error = Error::Unverified { reason, message };
                    return refuse(
                        events,
                        error,
                        "subscription_unverified",
                        "worker.subscription_check.failed",
                    );
                }
            }
            let checks = inner.budget_checks(&plan, &known)?;
            for (event_type, payload) in budget::events(&checks, Phase::Preflight) {
                events.push(scribe.event(event_type, &payload)?);
            }
            if budget::is_exceeded(&checks) {
                let error = Error::Budget(budget::refusal(&checks));
                return refuse(
                    events,
                    error,
                    "budget_preflight_exceeded",
                    "budget.exceeded",
                );
            }
            scribe.append(&events)?;
            if let Some(budget) = plan.budgets.run() {
                known.live.reserve(Spent {
                    tokens: budget.hard_tokens.unwrap_or(0),
                    cost_usd: budget.hard_cost_usd.unwrap_or(0.0),
                });
            }
            Ok(())
        })
        .await
    }

    /// Waits for the place and runs.
    async fn live_on(
        &self,
        plan: Arc<Plan>,
        scribe: Scribe,
        known: Arc<Known>,
        ticket: Ticket,
        granted: oneshot::Receiver<()>,
        queue_timeout: Option<Duration>,
    ) {
        let inner = &self.inner;
        inner.start_reaping();
        let waited = async {
            match queue_timeout {
                Some(limit) => sleep(limit).await,
                None => std::future::pending().await,
            }
        };
        let may_run = tokio::select! {
            biased;
            granted = granted => granted.is_ok(),
            () = known.live.stop_wanted() => false,
            () = waited => {
                let error = NotStarted::launch("waited too long for a free place");
                session::fail(&scribe, &known.live, error).await;
                false
            }
        };
        let was_queued = known.live.state().stage == Stage::Queued;
        if !may_run || (was_queued && known.live.stop_requested()) {
            if !known.live.is_over() {
                session::stop_unstarted(&scribe, &known.live).await;
            }
        } else {
            let outcome = session::run(Arc::clone(&plan), Arc::clone(&known.live)).await;
            let strained = outcome.as_ref().and_then(|outcome| outcome.error_class)
                == Some(ErrorClass::RateLimited);
            if strained {
                let retry_at = session::retry_at(&plan, outcome.as_ref());
                let detail = outcome
                    .and_then(|outcome| outcome.error)
                    .unwrap_or_default();
                let strain = Strain::RateLimit;
                let company = &plan.company;
                inner
                    .cool_down(company, &plan.provider, strain, &detail, retry_at)
                    .await;
            }
        }
        inner.leave(&plan.company, ticket);
        inner.remember_less();
    }

    async fn explain(
        &self,
        params: &CompanySessionLaunchParams,
        plan: &Plan,
        run: &Run,
        actor: &Actor,
    ) -> Result<CompanySessionLaunchResponse, Error> {
        let decision = decide(plan, actor);
        let mut refusal = None;
        let mut refuse = |reason: String| {
            refusal.get_or_insert(reason);
        };
        if let Some(known) = self.inner.busy(plan, run) {
            refuse(Error::AlreadyRunning(known).to_string());
        }
        if run.status != RunStatus::Running {
            refuse(session::not_running(run.status));
        }
        if !decision.allowed {
            refuse(format!(
                "Policy denied launch: {} ({})",
                decision.rule_id, decision.reason
            ));
        } else if applies_guard(params, plan) {
            if let Verdict::Failed { message, .. } = judge(plan).await {
                refuse(message);
            }
        }
        let (checks, command) = {
            let (inner, plan) = (Arc::clone(&self.inner), plan.clone());
            blocking(move || {
                let checks = inner.budget_checks_but(&plan, None)?;
                let command = plan.place().and_then(|place| {
                    let base = plan.base(&place);
                    let cwd = plan.workdir(&base)?;
                    Ok((place, plan.command(&cwd), cwd))
                });
                Ok((checks, command))
            })
            .await?
        };
        if budget::is_exceeded(&checks) {
            refuse(budget::refusal(&checks));
        }
        let secrets_of = |environment| crate::environment::secrets(environment);
        let (instructions, command) = match command {
            Err(error) => {
                refuse(error);
                (Vec::new(), None)
            }
            Ok((place, command, cwd)) => {
                let secrets = secrets_of(&command.environment);
                let argv = command.line.argv.iter();
                let argv: Vec<_> = argv
                    .map(|argument| crate::sink::redacted(argument, &secrets))
                    .collect();
                if let Some(error) = crate::driver::command::refusal(&argv) {
                    refuse(error.to_owned());
                }
                let worktree = place.worktree.as_ref();
                let cwd = match worktree {
                    Some(worktree) => plan.company.path(&worktree.relpath),
                    None => cwd,
                };
                let millis =
                    |length: Duration| u64::try_from(length.as_millis()).unwrap_or(u64::MAX);
                let shown = CompanySessionCommand {
                    driver: plan.driver.as_str().to_owned(),
                    argv,
                    cwd: cwd.display().to_string(),
                    env: command.environment.keys().cloned().collect(),
                    stdin_chars: command
                        .line
                        .stdin
                        .as_ref()
                        .map_or(0, |text| text.chars().count() as u64),
                    worktree_relpath: worktree.map(|worktree| worktree.relpath.clone()),
                    worktree_branch: worktree.map(|worktree| worktree.branch.clone()),
                    stop_signal: plan.driver.stop_signal().as_str().to_owned(),
                    timeout_ms: millis(plan.timeout),
                    idle_timeout_ms: millis(plan.idle_timeout),
                };
                (command.instructions, Some(shown))
            }
        };
        let explanation = CompanySessionExplanation {
            would_launch: refusal.is_none(),
            refusal,
            policy: CompanySessionPolicy {
                allowed: decision.allowed,
                rule_id: decision.rule_id.to_owned(),
                reason: decision.reason.to_owned(),
            },
            lane: self.inner.lane_for(plan, params, actor.role),
            budget: checks.iter().map(budget::Check::row).collect(),
            instructions,
            command,
        };
        Ok(CompanySessionLaunchResponse {
            session_ref: plan.session_ref.clone(),
            state: CompanySessionLaunchState::Explained,
            queue_position: None,
            error: None,
            explain: Some(Box::new(explanation)),
        })
    }

    /// The record of a session that is not one of this process, as things are now.
    async fn recorded(
        &self,
        workspace_dir: Option<&str>,
        session_ref: &str,
    ) -> Result<SessionRecord, Error> {
        let Some(workspace_dir) = workspace_dir else {
            return Err(Error::UnknownHere(session_ref.to_owned()));
        };
        let company = self.inner.companies.open(workspace_dir)?;
        let name = session_ref.to_owned();
        let found = blocking(move || {
            Ok(record::find(&company, &name).map(|record| reconcile(&company, &record)))
        });
        found
            .await?
            .ok_or_else(|| Error::Unknown(session_ref.to_owned()))
    }

    /// Stops a process that an earlier gateway started.
    async fn stop_detached(&self, mut record: SessionRecord) -> Result<CompanySessionState, Error> {
        let Some(process) = record.process().filter(|_| !record.is_over()) else {
            return Ok(record.state());
        };
        if !process.is_alive() {
            return Ok(record.state());
        }
        let company = self.inner.companies.open(&record.workspace_dir)?;
        let (Ok(project), Ok(run)) = (
            ProjectId::parse(&record.project_id),
            RunId::parse(&record.run_id),
        ) else {
            return Ok(record.state());
        };
        let session_ref = record.session_ref.to_string();
        let folder = company
            .path(&layout::run(&project, &run))
            .display()
            .to_string();
        blocking(move || write_stop_flag(&company, &project, &run, &session_ref)).await?;
        tokio::spawn(async move {
            let mut tree = Tree::new(process, format!("{}={folder}", crate::environment::MARK));
            tree.look_everywhere();
            process.signal_group(Signal::TERM);
            process.signal(Signal::TERM);
            for _ in 0..75 {
                sleep(Duration::from_millis(20)).await;
                if !process.is_alive() {
                    break;
                }
            }
            tree.look_everywhere();
            process.signal_group(Signal::KILL);
            process.signal(Signal::KILL);
            tree.end_left(Duration::from_millis(300)).await;
        });
        record.error = Some(SIGNALLED.to_owned());
        Ok(record.state())
    }
}

impl Inner {
    fn read(
        &self,
        params: &CompanySessionLaunchParams,
        extra: Extra,
    ) -> Result<(Plan, Arc<Run>, Actor), Error> {
        let company = self.companies.open(&params.workspace_dir)?;
        self.prune(&company);
        let path = format!(
            "{}/run.yaml",
            layout::run(&params.project_id, &params.run_id)
        );
        let run: Arc<Run> = company
            .read(&path)
            .map_err(|error| error.or_not_found("Run", params.run_id.as_str()))?;
        let actor = actor(&company, params)?;
        let plan = Plan::new(company, params, &run, &self.options, extra);
        Ok((plan, run, actor))
    }

    /// Takes the name and the run for a session, unless another one has them.
    fn claim(&self, plan: &Plan, run: &Run) -> Result<Arc<Known>, Error> {
        if let Some(other) = self.detached(plan, run) {
            return Err(Error::AlreadyRunning(other));
        }
        let mut live = lock(&self.live);
        let root = plan.company.root();
        let other = live.values().find(|known| {
            known.company.root() == root
                && !known.live.is_over()
                && (known.run == plan.run
                    || *known.live.state().record.session_ref == *plan.session_ref)
        });
        if let Some(other) = other {
            return Err(Error::AlreadyRunning(
                other.live.state().record.session_ref.to_string(),
            ));
        }
        let text = |value: &str| Text::new(value).expect("a name that was checked");
        let record = SessionRecord {
            schema_version: 1,
            r#type: SessionRecordTag::It,
            session_ref: text(&plan.session_ref),
            workspace_dir: text(plan.company.given()),
            project_id: text(plan.project.as_str()),
            run_id: text(plan.run.as_str()),
            status: RunStatus::Running,
            exit_code: None,
            signal: None,
            error: None,
            started_at_ms: plan.company.sources().now_ms(),
            ended_at_ms: None,
            mode: plan.mode,
            pid: None,
            pid_claimed_at_ms: None,
            pid_start_ticks: None,
            stop_marker_relpath: Some(plan.output(STOP_FLAG).1),
            protocol_thread_id: None,
            protocol_turn_id: None,
            rest: Map::new(),
        };
        let known = Arc::new(Known {
            company: plan.company.clone(),
            project: plan.project.clone(),
            run: plan.run.clone(),
            live: Arc::new(Live::new(record, Stage::Queued, plan.task.clone())),
            ticket: Mutex::default(),
        });
        live.insert(
            (root.to_owned(), plan.session_ref.clone()),
            Arc::clone(&known),
        );
        Ok(known)
    }

    /// The name of a session that has the run or the name already.
    fn busy(&self, plan: &Plan, run: &Run) -> Option<String> {
        let live = lock(&self.live);
        let other = live.values().find(|known| {
            known.company.root() == plan.company.root()
                && !known.live.is_over()
                && (known.run == plan.run
                    || *known.live.state().record.session_ref == *plan.session_ref)
        });
        let other = other.map(|other| other.live.state().record.session_ref.to_string());
        drop(live);
        other.or_else(|| self.detached(plan, run))
    }

    /// A process of an earlier gateway that still runs for this run. Only a run that was started before can have one.
    fn detached(&self, plan: &Plan, run: &Run) -> Option<String> {
        if run.spec.is_none() || run.status != RunStatus::Running {
            return None;
        }
        let records = record::all(&plan.company).unwrap_or_default();
        let other = records.iter().find(|record| {
            !record.is_over()
                && *record.run_id == *plan.run.as_str()
                && record.process().is_some_and(ProcessId::is_alive)
        })?;
        Some(other.session_ref.to_string())
    }

    fn forget(&self, known: &Arc<Known>) {
        let record = known.live.state().record;
        // Whoever waits for it must not wait for ever.
        let mut over = record.clone();
        over.status = RunStatus::Failed;
        known.live.end(over);
        let key = (
            known.company.root().to_owned(),
            record.session_ref.to_string(),
        );
        lock(&self.live).remove(&key);
    }

    /// Keeps only so many sessions that are over; their records tell of the others.
    fn remember_less(&self) {
        let mut live = lock(&self.live);
        let over: Vec<_> = live
            .iter()
            .filter(|(_, known)| known.live.is_over())
            .map(|(key, known)| (known.live.state().record.ended_at_ms, key.clone()))
            .collect();
        if over.len() > REMEMBERED {
            let mut over = over;
            over.sort();
            for (_, key) in &over[..over.len() - REMEMBERED] {
                live.remove(key);
            }
        }
    }

    fn find(&self, workspace_dir: Option<&str>, session_ref: &str) -> Option<Arc<Known>> {
        let live = lock(&self.live);
        match workspace_dir {
            Some(dir) => {
                let root = self.companies.at(dir).root().to_owned();
                live.get(&(root, session_ref.to_owned())).cloned()
            }
            // The newest of that name, whatever folder it is in.
            None => live
                .iter()
                .filter(|((_, name), _)| name == session_ref)
                .max_by_key(|(_, known)| known.live.state().record.started_at_ms)
                .map(|(_, known)| Arc::clone(known)),
        }
    }

    fn open(&self) -> Vec<Arc<Known>> {
        let live = lock(&self.live);
        live.values()
            .filter(|known| !known.live.is_over())
            .cloned()
            .collect()
    }

    fn state(&self, known: &Known) -> CompanySessionState {
        let position = self.position(known);
        CompanySessionState {
            queued: position.map(|_| true),
            queue_position: position,
            ..known.live.state().record.state()
        }
    }

    fn rows(&self, wanted: impl Fn(&Known) -> bool) -> Vec<CompanySessionRow> {
        let known: Vec<_> = lock(&self.live)
            .values()
            .filter(|known| wanted(known))
            .cloned()
            .collect();
        known
            .iter()
            .map(|known| CompanySessionRow {
                state: self.state(known),
                ..known.live.state().record.row()
            })
            .collect()
    }

    /// What other sessions of the project, or of the task, may still spend.
    fn reserved(&self, plan: &Plan, own: Option<&Arc<Known>>, task: Option<&TaskId>) -> Spent {
        let live = lock(&self.live);
        live.values()
            .filter(|known| {
                known.company.root() == plan.company.root() && known.project == plan.project
            })
            .filter(|known| own.is_none_or(|own| !Arc::ptr_eq(own, known)))
            .filter(|known| task.is_none() || known.live.task.as_ref() == task)
            .fold(Spent::default(), |sum, known| {
                sum.plus(known.live.reserved())
            })
    }

    fn budget_checks(
        &self,
        plan: &Plan,
        own: &Arc<Known>,
    ) -> Result<Vec<budget::Check>, company::Error> {
        self.budget_checks_but(plan, Some(own))
    }

    fn budget_checks_but(
        &self,
        plan: &Plan,
        own: Option<&Arc<Known>>,
    ) -> Result<Vec<budget::Check>, company::Error> {
        let reserved = |task: Option<&TaskId>| self.reserved(plan, own, task);
        plan.budgets
            .checks(&plan.company, &plan.project, Spent::default(), &reserved)
    }

    fn entry(&self, plan: &Plan, params: &CompanySessionLaunchParams, role: ActorRole) -> Entry {
        let limits = self.options.limits;
        // Everybody may ask for less, people and the head of the company also for more.
        let limit = |wanted: Option<u64>, usual: u64| match (wanted, role) {
            (Some(wanted), ActorRole::Human | ActorRole::Ceo) => wanted,
            (Some(wanted), ActorRole::Director | ActorRole::Manager | ActorRole::Worker) => {
                wanted.min(usual)
            }
            (None, _) => usual,
        };
        Entry {
            provider: plan.provider.clone(),
            team: plan.team.clone().unwrap_or_default(),
            priority: params.lane_priority.unwrap_or_default(),
            limits: Limits {
                workspace: limit(params.lane_workspace_limit, limits.workspace),
                provider: limit(params.lane_provider_limit, limits.provider),
                team: limit(params.lane_team_limit, limits.team),
            },
        }
    }

    fn enter(
        self: &Arc<Self>,
        plan: &Plan,
        params: &CompanySessionLaunchParams,
        role: ActorRole,
    ) -> (Ticket, oneshot::Receiver<()>) {
        let entry = self.entry(plan, params, role);
        let now_ms = plan.company.sources().now_ms();
        let (grant, granted) = oneshot::channel();
        let ticket = {
            let mut lanes = lock(&self.lanes);
            let queue = queue(&mut lanes, &plan.company);
            let ticket = queue.lane.enter(entry, now_ms);
            queue.grants.insert(ticket, grant);
            ticket
        };
        self.give_places(&plan.company);
        (ticket, granted)
    }

    fn leave(self: &Arc<Self>, company: &Company, ticket: Ticket) {
        {
            let mut lanes = lock(&self.lanes);
            let queue = queue(&mut lanes, company);
            queue.lane.leave(ticket);
            queue.grants.remove(&ticket);
        }
        self.give_places(company);
    }

    /// Lets those start whose time has come, and looks again when a provider has rested.
    fn give_places(self: &Arc<Self>, company: &Company) {
        let now_ms = company.sources().now_ms();
        let wake_at = {
            let mut lanes = lock(&self.lanes);
            let queue = queue(&mut lanes, company);
            for ticket in queue.lane.start_ready(now_ms) {
                if let Some(grant) = queue.grants.remove(&ticket) {
                    // One that is gone leaves its place by itself.
                    let _ = grant.send(());
                }
            }
            queue.lane.wake_at(now_ms)
        };
        if let Some(wake_at) = wake_at {
            let (this, company) = (Arc::downgrade(self), company.clone());
            let wait = Duration::from_millis(u64::try_from(wake_at - now_ms).unwrap_or(0) + 1);
            tokio::spawn(async move {
                sleep(wait).await;
                if let Some(this) = Weak::upgrade(&this) {
                    this.give_places(&company);
                }
            });
        }
    }

    fn position(&self, known: &Known) -> Option<u64> {
        let ticket = (*lock(&known.ticket))?;
        let mut lanes = lock(&self.lanes);
        let now_ms = known.company.sources().now_ms();
        queue(&mut lanes, &known.company)
            .lane
            .position(ticket, now_ms)
    }

    fn lane_for(
        &self,
        plan: &Plan,
        params: &CompanySessionLaunchParams,
        role: ActorRole,
    ) -> CompanySessionLane {
        let entry = self.entry(plan, params, role);
        let now_ms = plan.company.sources().now_ms();
        let mut lanes = lock(&self.lanes);
        let lane = &queue(&mut lanes, &plan.company).lane;
        CompanySessionLane {
            priority: entry.priority,
            provider: entry.provider.clone(),
            team_id: plan.team.clone(),
            workspace_limit: entry.limits.workspace,
            provider_limit: entry.limits.provider,
            team_limit: entry.limits.team,
            running: lane.running(),
            cooldown_until: lane
                .cooldown(&entry.provider, now_ms)
                .map(|cooldown| company::iso_time(cooldown.until_ms)),
            queue_position: lane.position_of_new(entry, now_ms),
        }
    }

    /// Lets a provider rest, also after a restart.
    async fn cool_down(
        &self,
        company: &Company,
        provider: &str,
        strain: Strain,
        detail: &str,
        retry_at_ms: Option<i64>,
    ) {
        let now_ms = company.sources().now_ms();
        let detail: String = detail.chars().take(200).collect();
        let cooldowns = {
            let mut lanes = lock(&self.lanes);
            let lane = &mut queue(&mut lanes, company).lane;
            lane.cool_down(provider, strain, &detail, retry_at_ms, now_ms, jitter());
            lane.cooldowns(now_ms)
        };
        let company = company.clone();
        let saved = blocking(move || {
            let text = format!(
                "{:#}\n",
                json!({"schema_version": 1, "cooldowns": cooldowns})
            );
            company.write(|writer| writer.put_text(LANES, &text))
        });
        if let Err(error) = saved.await {
            tracing::warn!(%error, "the rest of a provider cannot be written down");
        }
    }

    /// Removes records nobody will ask for, once per folder.
    fn prune(&self, company: &Company) {
        if !lock(&self.looked_at).insert(company.root().to_owned()) {
            return;
        }
        let oldest = company.sources().now_ms() - KEPT_MS;
        for record in record::all(company).unwrap_or_default() {
            if record.is_over() && record.ended_at_ms.is_some_and(|ended| ended < oldest) {
                // The next process tries again.
                let _ = fs::remove_file(company.path(&record::relpath(&record.session_ref)));
            }
        }
    }

    fn start_reaping(self: &Arc<Self>) {
        self.reaping.call_once(|| {
            process::become_subreaper();
            let this = Arc::downgrade(self);
            tokio::spawn(async move {
                let mut reaper = Reaper::default();
                loop {
                    sleep(Duration::from_secs(2)).await;
                    let Some(this) = Weak::upgrade(&this) else {
                        return;
                    };
                    let leaders = this
                        .open()
                        .iter()
                        .filter_map(|known| known.live.state().record.pid)
                        .collect();
                    reaper.look(&leaders);
                }
            });
        });
    }
}

/// The lane of a company folder. What rests, rests after a restart, too.
fn queue<'a>(lanes: &'a mut BTreeMap<PathBuf, Queue>, company: &Company) -> &'a mut Queue {
    lanes.entry(company.root().to_owned()).or_insert_with(|| {
        #[derive(serde::Deserialize)]
        struct Saved {
            cooldowns: BTreeMap<String, Cooldown>,
        }
        let saved = company
            .read_text(LANES)
            .ok()
            .and_then(|text| serde_json::from_str::<Saved>(&text).ok());
        Queue {
            lane: Lane::with_cooldowns(saved.map(|saved| saved.cooldowns).unwrap_or_default()),
            grants: BTreeMap::new(),
        }
    })
}

/// Between -1 and 1.
fn jitter() -> f64 {
    let mut byte = [0];
    // Without randomness all come back at the same moment.
    let _ = getrandom::fill(&mut byte);
    f64::from(byte[0]) / 127.5 - 1.0
}

async fn on_thread<R: Send + 'static>(
    work: impl FnOnce() -> Result<R, Error> + Send + 'static,
) -> Result<R, Error> {
    match tokio::task::spawn_blocking(work).await {
        Ok(done) => done,
        Err(panic) => Err(company::Error::Refused(format!("a thread failed: {panic}")).into()),
    }
}

fn launched(known: &Known, position: Option<u64>) -> CompanySessionLaunchResponse {
    let state = known.live.state();
    CompanySessionLaunchResponse {
        session_ref: state.record.session_ref.to_string(),
        state: match state.record.status {
            RunStatus::Running if position.is_some() => CompanySessionLaunchState::Queued,
            RunStatus::Running => CompanySessionLaunchState::Running,
            RunStatus::Ended => CompanySessionLaunchState::Ended,
            RunStatus::Failed => CompanySessionLaunchState::Failed,
            RunStatus::Stopped => CompanySessionLaunchState::Stopped,
        },
        queue_position: position,
        error: state.record.error,
        explain: None,
    }
}

/// Who launches. An agent of the company is what its document says, at most.
fn actor(company: &Company, params: &CompanySessionLaunchParams) -> Result<Actor, Error> {
    let id = params
        .actor_id
        .as_deref()
        .map_or("human", str::trim)
        .to_owned();
    let claimed = params.actor_role.unwrap_or(ActorRole::Human);
    let agent: Option<Arc<Agent>> = AgentId::parse(&id).ok().and_then(|id| {
        company
            .read(&format!("{}/agent.yaml", layout::agent(&id)))
            .ok()
    });
    let mut team_id = params.actor_team_id.as_ref().map(ToString::to_string);
    if let Some(agent) = agent {
        let rank = |role: ActorRole| match role {
            ActorRole::Human => 0,
            ActorRole::Ceo => 1,
            ActorRole::Director => 2,
            ActorRole::Manager => 3,
            ActorRole::Worker => 4,
        };
        let stored = match agent.role {
            AgentRole::Ceo => ActorRole::Ceo,
            AgentRole::Director => ActorRole::Director,
            AgentRole::Manager => ActorRole::Manager,
            AgentRole::Worker => ActorRole::Worker,
        };
        if rank(claimed) < rank(stored) {
            return Err(Error::ActorMismatch {
                actor: id,
                stored: stored.to_string(),
                claimed: claimed.to_string(),
            });
        }
        team_id = team_id.or_else(|| agent.team_id.clone());
    }
    Ok(Actor {
        id,
        role: claimed,
        team_id,
    })
}

fn decide(plan: &Plan, actor: &Actor) -> Decision {
    let resource = Resource {
        visibility: visibility(plan),
        team_id: plan.team.as_deref(),
        producing_actor_id: Some(&plan.agent),
        kind: Some("run"),
        sensitivity: None,
    };
    policy::decide(actor, Action::Launch, &resource)
}

fn visibility(plan: &Plan) -> Visibility {
    match plan.team {
        Some(_) => Visibility::Team,
        None => Visibility::Org,
    }
}

fn policy_events(
    scribe: &Scribe,
    plan: &Plan,
    actor: &Actor,
    decision: Decision,
) -> Result<Vec<Event>, company::Error> {
    let Decision {
        allowed,
        rule_id,
        reason,
    } = decision;
    let about = |event_type: &str, payload| {
        scribe.event_by(&actor.id, Visibility::Managers, event_type, &payload)
    };
    let mut events = vec![about(
        "policy.decision",
        json!({
            "allowed": allowed,
            "rule_id": rule_id,
            "reason": reason,
            "action": Action::Launch.as_str(),
            "resource_id": plan.run,
            "resource_kind": "run",
            "resource_visibility": visibility(plan),
        }),
    )?];
    if !allowed {
        let mut denied = about(
            "policy.denied",
            json!({
                "action": Action::Launch.as_str(),
                "resource_id": plan.run,
                "resource_kind": "run",
                "resource_visibility": visibility(plan),
                "policy": {"allowed": false, "rule_id": rule_id, "reason": reason},
            }),
        )?;
        denied.causation_id = cause_of(&events, "policy.decision");
        events.push(denied);
    }
    Ok(events)
}

/// Whether the worker program is looked at: when somebody says so, else when its name is that of a known one.
fn applies_guard(params: &CompanySessionLaunchParams, plan: &Plan) -> bool {
    let is_known = match (&plan.driver, plan.argv.first()) {
        (_, Some(program)) => Driver::of_program(program).is_some(),
        (Driver::Codex | Driver::Claude | Driver::Gemini, None) => plan.prompt.is_some(),
        (Driver::Command | Driver::CodexAppServer | Driver::Declared(..), None) => false,
    };
    params.apply_guard.unwrap_or(is_known)
}

async fn judge(plan: &Plan) -> Verdict {
    // The rules are those of the program, whatever the run says its provider is.
    let program = plan.program();
    let known = Driver::of_program(&program);
    let provider = match (
        &known,
        Driver::of_provider(&plan.provider, &BTreeMap::new()),
    ) {
        (Some(driver), Driver::Command) => driver.as_str().to_owned(),
        _ => plan.provider.clone(),
    };
    let environment = plan.environment(&BTreeMap::new());
    guard::judge(plan.machine.as_deref(), &provider, &program, &environment).await
}

fn stop_flag(company: &Company, project: &ProjectId, run: &RunId) -> PathBuf {
    company.path(&format!(
        "{}/outputs/{STOP_FLAG}",
        layout::run(project, run)
    ))
}

fn write_stop_flag(
    company: &Company,
    project: &ProjectId,
    run: &RunId,
    session_ref: &str,
) -> Result<(), company::Error> {
    let text = format!("{}\n", json!({"session_ref": session_ref}));
    company::files::replace(&stop_flag(company, project, run), text.as_bytes())
}

/// Whether somebody wanted this session stopped. A flag that names another session does not count.
fn has_stop_flag(path: &Path, session_ref: &str) -> bool {
    #[derive(serde::Deserialize)]
    struct Flag {
        session_ref: String,
    }
    match fs::read_to_string(path) {
        Ok(text) => match serde_json::from_str::<Flag>(&text) {
            Ok(flag) => flag.session_ref == session_ref,
            Err(_) => true,
        },
        Err(_) => false,
    }
}

/// A record of an earlier process, as things are now: a process that is gone has ended, whatever the record says.
fn reconcile(company: &Company, record: &Arc<SessionRecord>) -> SessionRecord {
    let mut record = SessionRecord::clone(record);
    if record.is_over() {
        return record;
    }
    let (Ok(project), Ok(run_id)) = (
        ProjectId::parse(&record.project_id),
        RunId::parse(&record.run_id),
    ) else {
        return record;
    };
    let path = format!("{}/run.yaml", layout::run(&project, &run_id));
    let Ok(run) = company.read::<Run>(&path) else {
        return record;
    };
    if run.status != RunStatus::Running {
        record.status = run.status;
        record.ended_at_ms = run.ended_at.as_ref().and_then(|time| unix_ms(time));
        return record;
    }
    let flag = has_stop_flag(&stop_flag(company, &project, &run_id), &record.session_ref);
    match record.process() {
        Some(process) if !process.is_alive() => {
            let (status, event_type, error) = match flag {
                true => (RunStatus::Stopped, "run.stopped", STOPPED),
                false => (RunStatus::Failed, "run.failed", ORPHANED),
            };
            record.status = status;
            record.error = Some(error.to_owned());
            record.ended_at_ms = Some(company.sources().now_ms());
            let scribe = Scribe {
                company: company.clone(),
                project,
                run: run_id,
                session_ref: record.session_ref.to_string(),
            };
            let payload =
                json!({"exit_code": null, "signal": null, "stopped": flag, "orphaned": true});
            let ended = scribe
                .event(event_type, &payload)
                .and_then(|event| scribe.end(&[event], status, |_| {}, &[], Some(&record)));
            if let Err(error) = ended {
                tracing::warn!(%error, "the end of an orphaned session cannot be written down");
            }
        }
        Some(_) | None => record.error = Some(DETACHED.to_owned()),
    }
    record
}
