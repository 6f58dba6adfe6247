//! All sessions: those of this process, and the records of earlier ones.

mod detached;
mod explain;
mod places;
mod preflight;
mod taken_over;

use std::{
    collections::{BTreeMap, BTreeSet},
    path::PathBuf,
    sync::{
        Arc, Mutex, MutexGuard, Once, PoisonError, Weak,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use company::{Companies, Company, document::Run, layout, policy::Actor};
use protocol::{
    Id as _,
    company::{
        ProjectId, RunId, RunStatus, Text,
        session::{
            CompanySessionCollectResponse, CompanySessionLaunchParams,
            CompanySessionLaunchResponse, CompanySessionLaunchState, CompanySessionListParams,
            CompanySessionRow, CompanySessionState,
        },
    },
};
use serde_json::Map;
use tokio::{
    sync::oneshot,
    time::{sleep, timeout},
};

use self::{
    detached::{reconcile, write_stop_flag},
    places::Queue,
    preflight::{actor, judge},
};
use crate::{
    Error, Options,
    driver::{Driver, ErrorClass, Outcome},
    guard::Verdict,
    lanes::{Strain, Ticket},
    plan::{Extra, Plan},
    process::{self, ProcessId, Reaper},
    record::{self, SessionRecord, SessionRecordTag},
    scribe::Scribe,
    session::{self, Live, NotStarted, STOP_FLAG, Stage, blocking},
};

/// How long a launch waits for the process before it answers: usually a few milliseconds, longer where a large
/// repository is copied first.
const REPLY: Duration = Duration::from_secs(10);
/// Sessions that are over and are still known by their name alone.
const REMEMBERED: usize = 1000;

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
    /// Held while a session is taken over, so that two callers do not both try.
    taking_over: tokio::sync::Mutex<()>,
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

/// A session somebody asks for.
enum Found {
    /// It is one of this process.
    Here(Arc<Known>),
    /// Its record is all there is.
    Recorded(Box<SessionRecord>),
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
                taking_over: tokio::sync::Mutex::default(),
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
        let dir = params.workspace_dir.clone();
        let launched = self.launch_with(params, Extra::default()).await?;
        let known = self.inner.find(Some(&dir), &launched.session_ref);
        if known.is_some_and(|known| known.live.was_not_spawned()) {
            return Err(Error::NotSpawned {
                session_ref: launched.session_ref,
                error: launched.error.unwrap_or_default(),
            });
        }
        Ok(launched)
    }

    /// The same for a job, which reads in the session's record that its program cannot be started.
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
        self.look_at(&inner.companies.at(&params.workspace_dir))
            .await?;
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
        match self.found(workspace_dir, session_ref).await? {
            Found::Here(known) => Ok(self.inner.state(&known)),
            Found::Recorded(record) => Ok(record.state()),
        }
    }

    /// Waits until a session is over and tells what it left.
    pub async fn collect(
        &self,
        workspace_dir: Option<&str>,
        session_ref: &str,
    ) -> Result<CompanySessionCollectResponse, Error> {
        let (company, state) = match self.found(workspace_dir, session_ref).await? {
            Found::Here(known) => {
                let state = known.live.reach(|stage| stage == Stage::Over).await;
                (known.company.clone(), state.record.state())
            }
            Found::Recorded(record) => (
                self.inner.companies.at(&record.workspace_dir),
                record.state(),
            ),
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
        let known = match self.found(workspace_dir, session_ref).await? {
            Found::Here(known) => known,
            Found::Recorded(record) => return self.stop_detached(*record).await,
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
    ) -> Option<(SessionRecord, Option<Outcome>)> {
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
        // A folder without records has none, whatever it is.
        let company = params
            .workspace_dir
            .as_deref()
            .map(|dir| self.inner.companies.at(dir));
        let mut rows = match company {
            None => self.inner.rows(|_| true),
            Some(company) => {
                self.look_at(&company).await?;
                let root = company.root().to_owned();
                let mut rows = self.inner.rows(|known| known.company.root() == root);
                let names: BTreeSet<_> = rows
                    .iter()
                    .map(|row| row.state.session_ref.clone())
                    .collect();
                let found = blocking(move || {
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
        let has_waited = inner.position(&known).is_some();
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
        } else if let Some(refusal) = self
            .spent_meanwhile(&plan, &scribe, &known, has_waited)
            .await
        {
            session::fail(&scribe, &known.live, NotStarted::launch(refusal)).await;
        } else {
            let outcome = session::run(Arc::clone(&plan), Arc::clone(&known.live)).await;
            self.rest_if_strained(&plan, outcome).await;
        }
        inner.leave(&plan.company, ticket);
        inner.remember_less();
    }

    /// Lets a provider rest that said that it was asked too often.
    async fn rest_if_strained(&self, plan: &Plan, outcome: Option<Outcome>) {
        let Some(outcome) = outcome else {
            return;
        };
        if outcome.error_class == Some(ErrorClass::RateLimited) {
            let retry_at = session::retry_at(plan, Some(&outcome));
            let detail = outcome.error.unwrap_or_default();
            let (company, strain) = (&plan.company, Strain::RateLimit);
            self.inner
                .cool_down(company, &plan.provider, strain, &detail, retry_at)
                .await;
        }
    }

    /// A session by its name: one of this process, or what its record says, as things are now.
    async fn found(&self, workspace_dir: Option<&str>, session_ref: &str) -> Result<Found, Error> {
        if let Some(known) = self.inner.find(workspace_dir, session_ref) {
            return Ok(Found::Here(known));
        }
        let Some(workspace_dir) = workspace_dir else {
            return Err(Error::UnknownHere(session_ref.to_owned()));
        };
        let company = self.inner.companies.open(workspace_dir)?;
        self.look_at(&company).await?;
        let record = {
            let (company, name) = (company.clone(), session_ref.to_owned());
            blocking(move || Ok(record::find(&company, &name))).await?
        };
        let record = record.ok_or_else(|| Error::Unknown(session_ref.to_owned()))?;
        if let Some(known) = self.take_over(&company, &record).await? {
            return Ok(Found::Here(known));
        }
        let record = blocking(move || Ok(reconcile(&company, &record))).await?;
        Ok(Found::Recorded(Box::new(record)))
    }
}

impl Inner {
    fn read(
        &self,
        params: &CompanySessionLaunchParams,
        extra: Extra,
    ) -> Result<(Plan, Arc<Run>, Actor), Error> {
        let company = self.companies.open(&params.workspace_dir)?;
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
