//! All sessions: those of this process and the recorded ones of earlier processes. The lifecycle of a single session is
//! in `session`.

mod cancel;
mod explain;
mod launch;
mod list;
mod preflight;
mod queue;
mod recovery;
mod registry;
mod remote;

pub use cancel::Cancellation;

use std::{
    collections::{BTreeMap, BTreeSet},
    path::PathBuf,
    sync::{
        Arc, Mutex, MutexGuard, Once, PoisonError, Weak,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use company::{Companies, Company, layout};
use drivers::{Driver, Outcome};
use protocol::{
    Id as _, MayExec,
    company::{
        ProjectId, RunId,
        session::{
            CompanySessionCollectResponse, CompanySessionCooldown, CompanySessionLaunchParams,
            CompanySessionState,
        },
    },
};
use tokio::time::sleep;

use self::{
    preflight::check_program,
    queue::Queue,
    registry::RegisteredSession,
    remote::{reconcile, write_stop_flag},
};
use crate::{
    Error, Options,
    blocking::{blocking, on_thread, open},
    guard::ProgramCheck,
    instructions::{WorkerDescription, WorkerInstructions},
    lanes::Strain,
    plan::Extra,
    process_tree::{self, Reaper},
    record::{self, SessionRecord},
    session::Stage,
};

/// All sessions of one process. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Sessions {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    options: Options,
    companies: Companies,
    /// Sessions of this process, including the latest ones that are over, by company folder and session name.
    live: Mutex<BTreeMap<Key, Arc<RegisteredSession>>>,
    /// The lane of each company folder.
    lanes: Mutex<BTreeMap<PathBuf, Queue>>,
    /// Runs that this process cancelled, by company folder and run id. A launch that read a run before it was cancelled
    /// checks this set and does not start it.
    cancelled: Mutex<BTreeSet<Key>>,
    /// Company folders whose records of earlier processes have been processed.
    recovered: Mutex<BTreeSet<PathBuf>>,
    /// Company folders in which this process takes over sessions whose gateway ends.
    watched: Mutex<BTreeMap<PathBuf, Company>>,
    /// Starts the task that watches the folders in `watched`.
    watching: Once,
    /// Held while a session is taken over, so that two callers do not take over the same one.
    taking_over: tokio::sync::Mutex<()>,
    /// Whether [`Sessions::close`] was called. New launches are rejected then.
    closing: AtomicBool,
    /// Starts the task that reaps orphaned processes.
    reaping: Once,
}

type Key = (PathBuf, String);

/// The worker program of a launch, with the result of its check, before it is started.
#[derive(Debug)]
pub struct Guarded {
    /// Result of the check.
    pub check: ProgramCheck,
    /// The program whose version can be queried.
    pub program: String,
    /// Environment in which the program runs.
    pub environment: BTreeMap<String, String>,
    /// Driver of the program.
    pub driver: Driver,
}

/// Result of the lookup of a session by its name.
enum SessionLookup {
    /// A session of this process.
    Here(Arc<RegisteredSession>),
    /// A session of another process, of which only the record is available.
    Recorded(Box<(Company, SessionRecord)>),
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Sessions {
    /// Creates a registry without sessions.
    pub fn new(companies: Companies, options: Options) -> Self {
        Self {
            inner: Arc::new(Inner {
                options,
                companies,
                live: Mutex::default(),
                lanes: Mutex::default(),
                cancelled: Mutex::default(),
                recovered: Mutex::default(),
                watched: Mutex::default(),
                watching: Once::new(),
                taking_over: tokio::sync::Mutex::default(),
                closing: AtomicBool::new(false),
                reaping: Once::new(),
            }),
        }
    }

    /// The default options of sessions. A launch may override some of them.
    pub fn options(&self) -> &Options {
        &self.inner.options
    }

    /// The instructions of a worker, for a job that builds the prompt itself.
    pub async fn instructions_for(
        &self,
        worker: WorkerDescription,
    ) -> Result<Option<WorkerInstructions>, String> {
        self.inner
            .options
            .instructions_source
            .instructions_for(worker)
            .await
    }

    /// Returns the state of a session. Without the permission to execute, sessions of an earlier gateway are neither
    /// taken over nor marked as ended.
    pub async fn poll(
        &self,
        workspace_dir: Option<&str>,
        session_ref: &str,
        may: Option<MayExec>,
    ) -> Result<CompanySessionState, Error> {
        match self.find_session(workspace_dir, session_ref, may).await? {
            SessionLookup::Here(session) => Ok(self.inner.state(&session)),
            SessionLookup::Recorded(recorded) => Ok(recorded.1.state()),
        }
    }

    /// Waits until a session of this process is over, then returns its state and the paths of its outputs. A session
    /// that only has a record is returned without waiting.
    pub async fn collect(
        &self,
        workspace_dir: Option<&str>,
        session_ref: &str,
        may: Option<MayExec>,
    ) -> Result<CompanySessionCollectResponse, Error> {
        let (company, state) = match self.find_session(workspace_dir, session_ref, may).await? {
            SessionLookup::Here(session) => {
                let state = session.live.reach(|stage| stage == Stage::Over).await;
                (session.company.clone(), state.record.state())
            }
            SessionLookup::Recorded(recorded) => {
                let (company, record) = *recorded;
                let state = record.state();
                (company, state)
            }
        };
        let outputs = {
            let (project, run) = (state.project_id.clone(), state.run_id.clone());
            blocking(move || {
                let (Ok(project), Ok(run)) = (ProjectId::parse(&project), RunId::parse(&run))
                else {
                    return Ok(Vec::new());
                };
                let names = company.names(&layout::run_outputs(&project, &run))?;
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

    /// Requests the stop of a session and all its processes, and returns the current state without waiting for the end.
    pub async fn stop(
        &self,
        workspace_dir: Option<&str>,
        session_ref: &str,
        may: MayExec,
    ) -> Result<CompanySessionState, Error> {
        let session = match self
            .find_session(workspace_dir, session_ref, Some(may))
            .await?
        {
            SessionLookup::Here(session) => session,
            SessionLookup::Recorded(recorded) => {
                let (company, record) = *recorded;
                return self.stop_detached(company, record, may).await;
            }
        };
        if !session.live.is_over() {
            let (company, project, run) = (
                session.company.clone(),
                session.project.clone(),
                session.run.clone(),
            );
            let session_ref = session_ref.to_owned();
            if session.live.state().stage != Stage::Queued {
                blocking(move || write_stop_flag(&company, &project, &run, &session_ref)).await?;
            }
            session.live.request_stop();
        }
        Ok(self.inner.state(&session))
    }

    /// Waits until a session of this process is over, and returns its record and the outcome of its program. `None` if
    /// this process has no such session.
    pub async fn over(
        &self,
        workspace_dir: &str,
        session_ref: &str,
    ) -> Option<(SessionRecord, Option<Outcome>)> {
        let session = self.inner.find(Some(workspace_dir), session_ref).await;
        let session = session.ok().flatten()?;
        let state = session.live.reach(|stage| stage == Stage::Over).await;
        Some((state.record, session.live.outcome()))
    }

    /// Checks the worker program of a launch without launching it: which program it is, and whether it may run.
    pub async fn guard(&self, params: CompanySessionLaunchParams) -> Result<Guarded, Error> {
        let inner = Arc::clone(&self.inner);
        let (plan, _, _) = on_thread(move || inner.read(&params, Extra::default())).await?;
        Ok(Guarded {
            check: check_program(&plan).await,
            program: plan.bin(),
            environment: plan.environment(&BTreeMap::new()),
            driver: plan.driver,
        })
    }

    /// Starts a cool-down of a provider on behalf of a job.
    pub async fn cool_down(
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

    /// Lists the active cool-downs of a company folder.
    pub async fn cooldowns(
        &self,
        workspace_dir: &str,
    ) -> Result<Vec<CompanySessionCooldown>, Error> {
        let company = open(&self.inner.companies, workspace_dir).await?;
        let inner = Arc::clone(&self.inner);
        Ok(blocking(move || Ok(inner.cooldowns(&company))).await?)
    }

    /// Ends the cool-down of a provider, or all cool-downs, and returns those that ended. Sessions that waited for them
    /// may start.
    pub async fn clear_cooldowns(
        &self,
        workspace_dir: &str,
        provider: Option<&str>,
    ) -> Result<Vec<CompanySessionCooldown>, Error> {
        let company = open(&self.inner.companies, workspace_dir).await?;
        self.inner.clear_cooldowns(&company, provider).await
    }

    /// The company folders.
    pub fn companies(&self) -> &Companies {
        &self.inner.companies
    }

    /// Whether [`Sessions::close`] was called.
    pub fn is_closing(&self) -> bool {
        self.inner.closing.load(Ordering::SeqCst)
    }

    /// Whether this process takes over sessions that an earlier one left.
    pub fn takes_over(&self) -> bool {
        self.inner.options.takes_over
    }

    /// Waits until no session is queued or running.
    pub async fn settle(&self) {
        loop {
            let open: Vec<_> = self.inner.open();
            let Some(session) = open.first() else {
                return;
            };
            session.live.reach(|stage| stage == Stage::Over).await;
        }
    }

    /// Stops all sessions, the queued ones first, and waits until their ends are recorded.
    pub async fn close(&self) {
        self.inner.closing.store(true, Ordering::SeqCst);
        let mut open = self.inner.open();
        open.sort_by_key(|session| {
            (
                session.live.state().stage != Stage::Queued,
                session.live.state().record.started_at_ms,
            )
        });
        for session in &open {
            let session_ref = session.live.state().record.session_ref.to_string();
            let root = session.company.root().display().to_string();
            if let Err(error) = self.stop(Some(&root), &session_ref, session.may).await {
                tracing::warn!(%error, session_ref, "the stop of a session cannot be recorded");
                session.live.request_stop();
            }
        }
        for session in &open {
            session.live.reach(|stage| stage == Stage::Over).await;
        }
    }

    /// Finds a session by its name: a session of this process, or a record that is reconciled with the state of its
    /// process and run. With the permission to execute, an orphaned session is taken over.
    async fn find_session(
        &self,
        workspace_dir: Option<&str>,
        session_ref: &str,
        may: Option<MayExec>,
    ) -> Result<SessionLookup, Error> {
        if let Some(session) = self.inner.find(workspace_dir, session_ref).await? {
            return Ok(SessionLookup::Here(session));
        }
        let Some(workspace_dir) = workspace_dir else {
            return Err(Error::UnknownHere(session_ref.to_owned()));
        };
        let company = open(&self.inner.companies, workspace_dir).await?;
        if let Some(may) = may {
            self.recover_once(&company, may).await?;
        }
        let record = {
            let (company, name) = (company.clone(), session_ref.to_owned());
            blocking(move || Ok(record::find(&company, &name))).await?
        };
        let record = record.ok_or_else(|| Error::Unknown(session_ref.to_owned()))?;
        if let Some(may) = may
            && let Some(session) = self.take_over(&company, &record, may).await?
        {
            return Ok(SessionLookup::Here(session));
        }
        let record = {
            let company = company.clone();
            blocking(move || Ok(reconcile(&company, &record, may))).await?
        };
        if may.is_some() {
            self.collect_instructions(&company).await;
        }
        Ok(SessionLookup::Recorded(Box::new((company, record))))
    }
}

impl Inner {
    fn start_reaping(self: &Arc<Self>) {
        self.reaping.call_once(|| {
            process_tree::become_subreaper();
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
                        .filter_map(|session| session.live.state().record.pid)
                        .collect();
                    let looked = tokio::task::spawn_blocking(move || {
                        reaper.look(&leaders);
                        reaper
                    });
                    reaper = looked.await.unwrap_or_default();
                }
            });
        });
    }
}
