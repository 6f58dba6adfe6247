//! All sessions: those of this process, and the records of earlier ones.

mod cancel;
mod detached;
mod explain;
mod known;
mod launch;
mod list;
mod places;
mod preflight;
mod taken_over;

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
    detached::{reconcile, write_stop_flag},
    known::Known,
    places::Queue,
    preflight::judge,
};
use crate::{
    Error, Options,
    briefing::{Brief, Worker},
    driver::{Driver, Outcome},
    guard::Verdict,
    lanes::Strain,
    plan::Extra,
    process::{self, Reaper},
    record::{self, SessionRecord},
    session::{Stage, blocking, open},
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
    /// By company folder and name.
    live: Mutex<BTreeMap<Key, Arc<Known>>>,
    lanes: Mutex<BTreeMap<PathBuf, Queue>>,
    /// Runs that were cancelled by this process, which no launch may start: it may have read them before.
    cancelled: Mutex<BTreeSet<Key>>,
    /// Folders whose old records were looked at.
    looked_at: Mutex<BTreeSet<PathBuf>>,
    /// Folders in which sessions are taken over whose gateway ends.
    watched: Mutex<BTreeMap<PathBuf, Company>>,
    watching: Once,
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

/// A session somebody asks for.
enum Found {
    /// It is one of this process.
    Here(Arc<Known>),
    /// Its record is all there is.
    Recorded(Box<(Company, SessionRecord)>),
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
                cancelled: Mutex::default(),
                looked_at: Mutex::default(),
                watched: Mutex::default(),
                watching: Once::new(),
                taking_over: tokio::sync::Mutex::default(),
                closing: AtomicBool::new(false),
                reaping: Once::new(),
            }),
        }
    }

    /// How sessions run unless a launch says otherwise.
    pub fn options(&self) -> &Options {
        &self.inner.options
    }

    /// What a worker is told, for a job that asks it in its own way.
    pub(crate) async fn brief(&self, worker: Worker) -> Result<Option<Brief>, String> {
        self.inner.options.briefer.brief(worker).await
    }

    /// Where a session stands. Without the right to execute nothing becomes of what an earlier gateway left.
    pub async fn poll(
        &self,
        workspace_dir: Option<&str>,
        session_ref: &str,
        may: Option<MayExec>,
    ) -> Result<CompanySessionState, Error> {
        match self.found(workspace_dir, session_ref, may).await? {
            Found::Here(known) => Ok(self.inner.state(&known)),
            Found::Recorded(found) => Ok(found.1.state()),
        }
    }

    /// Waits until a session is over and tells what it left.
    pub async fn collect(
        &self,
        workspace_dir: Option<&str>,
        session_ref: &str,
        may: Option<MayExec>,
    ) -> Result<CompanySessionCollectResponse, Error> {
        let (company, state) = match self.found(workspace_dir, session_ref, may).await? {
            Found::Here(known) => {
                let state = known.live.reach(|stage| stage == Stage::Over).await;
                (known.company.clone(), state.record.state())
            }
            Found::Recorded(found) => {
                let (company, record) = *found;
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

    /// Stops a session and everything it started; answers where it stands now.
    pub async fn stop(
        &self,
        workspace_dir: Option<&str>,
        session_ref: &str,
        may: MayExec,
    ) -> Result<CompanySessionState, Error> {
        let known = match self.found(workspace_dir, session_ref, Some(may)).await? {
            Found::Here(known) => known,
            Found::Recorded(found) => {
                let (company, record) = *found;
                return self.stop_detached(company, record, may).await;
            }
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
        let known = self.inner.find(Some(workspace_dir), session_ref).await;
        let known = known.ok().flatten()?;
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

    /// The cool-downs of a company folder.
    pub async fn cooldowns(
        &self,
        workspace_dir: &str,
    ) -> Result<Vec<CompanySessionCooldown>, Error> {
        let company = open(&self.inner.companies, workspace_dir).await?;
        let inner = Arc::clone(&self.inner);
        Ok(blocking(move || Ok(inner.cooldowns(&company))).await?)
    }

    /// Ends the cool-down of a provider, or of all; what waited for it starts.
    pub async fn clear_cooldowns(
        &self,
        workspace_dir: &str,
        provider: Option<&str>,
    ) -> Result<Vec<CompanySessionCooldown>, Error> {
        let company = open(&self.inner.companies, workspace_dir).await?;
        self.inner.clear_cooldowns(&company, provider).await
    }

    /// The company folders.
    pub(crate) fn companies(&self) -> &Companies {
        &self.inner.companies
    }

    /// Whether it is being closed.
    pub(crate) fn is_closing(&self) -> bool {
        self.inner.closing.load(Ordering::SeqCst)
    }

    /// Whether this process takes over what an earlier one left.
    pub(crate) fn takes_over(&self) -> bool {
        self.inner.options.takes_over
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
            if let Err(error) = self.stop(Some(&root), &session_ref, known.may).await {
                tracing::warn!(%error, session_ref, "a session cannot be stopped in order");
                known.live.request_stop();
            }
        }
        for known in &open {
            known.live.reach(|stage| stage == Stage::Over).await;
        }
    }

    /// A session by its name: one of this process, or what its record says, as things are now.
    async fn found(
        &self,
        workspace_dir: Option<&str>,
        session_ref: &str,
        may: Option<MayExec>,
    ) -> Result<Found, Error> {
        if let Some(known) = self.inner.find(workspace_dir, session_ref).await? {
            return Ok(Found::Here(known));
        }
        let Some(workspace_dir) = workspace_dir else {
            return Err(Error::UnknownHere(session_ref.to_owned()));
        };
        let company = open(&self.inner.companies, workspace_dir).await?;
        if let Some(may) = may {
            self.look_at(&company, may).await?;
        }
        let record = {
            let (company, name) = (company.clone(), session_ref.to_owned());
            blocking(move || Ok(record::find(&company, &name))).await?
        };
        let record = record.ok_or_else(|| Error::Unknown(session_ref.to_owned()))?;
        if let Some(may) = may
            && let Some(known) = self.take_over(&company, &record, may).await?
        {
            return Ok(Found::Here(known));
        }
        let record = {
            let company = company.clone();
            blocking(move || Ok(reconcile(&company, &record, may))).await?
        };
        if may.is_some() {
            self.collect_instructions(&company).await;
        }
        Ok(Found::Recorded(Box::new((company, record))))
    }
}

impl Inner {
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

async fn on_thread<R: Send + 'static>(
    work: impl FnOnce() -> Result<R, Error> + Send + 'static,
) -> Result<R, Error> {
    match tokio::task::spawn_blocking(work).await {
        Ok(done) => done,
        Err(panic) => Err(company::Error::Refused(format!("a thread failed: {panic}")).into()),
    }
}
