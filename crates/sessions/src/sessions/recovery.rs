//! Takes over sessions whose gateway has ended and whose workers still run: this gateway then reads their output,
//! enforces their limits and records their end.

use std::{
    sync::{Arc, Weak, atomic::Ordering},
    time::Duration,
};

use company::{Company, document::Run, layout};
use protocol::{
    Id as _, MayExec,
    company::{
        ActorRole, ProjectId, RunId, RunStatus,
        session::{CompanySessionLaunchParams, CompanySessionMode},
    },
};
use serde_json::json;
use tokio::time::sleep;

use super::{Sessions, lock, registry::RegisteredSession, remote::reconcile};
use crate::{
    Error,
    blocking::blocking,
    instruction_file,
    pipes::{self, PipeState, Pipes},
    plan::{Extra, Plan},
    process::ProcessId,
    record::{self, SessionRecord},
    session::{self, Live, Stage},
};

/// How often watched folders are searched for sessions whose gateway has ended.
const WATCH_INTERVAL: Duration = Duration::from_secs(2);

/// Retention of the records of sessions that are over, in milliseconds.
const RETENTION_MS: i64 = 30 * 24 * 3_600_000;

/// The `error` of a session that was taken over, while it runs.
const TAKEN_OVER: &str =
    "Session was started by an earlier gateway process; its exit code will not be session.";

/// A session without a gateway, with everything that is needed to continue it.
struct OrphanedSession {
    plan: Plan,
    params: CompanySessionLaunchParams,
    process: ProcessId,
    pipes: Pipes,
}

impl Sessions {
    /// Processes the records of a company folder, once per process: removes old ones and takes over sessions whose
    /// gateway has ended. A folder that is not trusted is skipped.
    ///
    /// From then on the folder is watched, so that a session whose gateway ends later is taken over as well.
    pub async fn recover_once(&self, company: &Company, may: MayExec) -> Result<(), Error> {
        // This machine starts no sessions in a folder that is not trusted.
        if !company.is_trusted() {
            return Ok(());
        }
        self.watch(company, may);
        if lock(&self.inner.recovered).contains(company.root()) {
            return Ok(());
        }
        let open = {
            let company = company.clone();
            blocking(move || Ok(prune(&company))).await?
        };
        let Some(open) = open else {
            return Ok(());
        };
        for record in open {
            self.take_over(company, &record, may).await?;
        }
        self.collect_instructions(company).await;
        lock(&self.inner.recovered).insert(company.root().to_owned());
        Ok(())
    }

    /// Adds a folder to those that are searched every [`WATCH_INTERVAL`] for sessions whose gateway has ended.
    fn watch(&self, company: &Company, may: MayExec) {
        let inner = &self.inner;
        if !inner.options.takes_over {
            return;
        }
        lock(&inner.watched).insert(company.root().to_owned(), company.clone());
        inner.watching.call_once(|| {
            let weak = Arc::downgrade(inner);
            tokio::spawn(async move {
                loop {
                    sleep(WATCH_INTERVAL).await;
                    let Some(inner) = Weak::upgrade(&weak) else {
                        return;
                    };
                    if inner.closing.load(Ordering::SeqCst) {
                        return;
                    }
                    Self { inner }.take_over_left(may).await;
                }
            });
        });
    }

    /// Takes over the sessions in the watched folders whose gateways have ended, and records the end of those whose
    /// worker has ended as well.
    async fn take_over_left(&self, may: MayExec) {
        let watched: Vec<_> = lock(&self.inner.watched).values().cloned().collect();
        for company in watched {
            let left = {
                let (inner, company) = (Arc::clone(&self.inner), company.clone());
                blocking(move || {
                    let unread = unread(&company);
                    let is_ours = |name: &str| inner.get(&company, name).is_some();
                    Ok(unread
                        .into_iter()
                        .filter(|record| !is_ours(&record.session_ref))
                        .collect::<Vec<_>>())
                })
                .await
            };
            for record in left.unwrap_or_default() {
                match self.take_over(&company, &record, may).await {
                    Ok(Some(_)) => {}
                    Ok(None) => {
                        let (company, record) = (company.clone(), Arc::clone(&record));
                        let ended =
                            blocking(move || Ok(reconcile(&company, &record, Some(may)))).await;
                        if let Err(error) = ended {
                            tracing::warn!(%error, "an orphaned session cannot be reconciled");
                        }
                    }
                    Err(error) => tracing::warn!(
                        %error,
                        session_ref = %record.session_ref,
                        "a session of a gateway that has ended cannot be taken over"
                    ),
                }
            }
        }
    }

    /// Removes the instructions files of sessions that are over and whose gateway has ended.
    pub(super) async fn collect_instructions(&self, company: &Company) {
        let options = &self.inner.options;
        if options.takes_over {
            instruction_file::collect_left(
                company,
                &options.instructions_source,
                &options.secrets.values(),
            )
            .await;
        }
    }

    /// Continues a session whose gateway has ended, if its worker still runs. Returns `None` if the session cannot be
    /// taken over.
    pub(super) async fn take_over(
        &self,
        company: &Company,
        record: &Arc<SessionRecord>,
        may: MayExec,
    ) -> Result<Option<Arc<RegisteredSession>>, Error> {
        let inner = &self.inner;
        if record.is_over() || self.is_closing() || !inner.options.takes_over {
            return Ok(None);
        }
        let _alone = inner.taking_over.lock().await;
        if let Some(session) = inner.get(company, &record.session_ref) {
            return Ok(Some(session));
        }
        let orphan = {
            let (inner, company, record) = (Arc::clone(inner), company.clone(), record.clone());
            blocking(move || Ok(find_orphan(&company, &record, &inner.options))).await?
        };
        let Some(OrphanedSession {
            plan,
            params,
            process,
            pipes,
        }) = orphan
        else {
            return Ok(None);
        };
        tracing::info!(session_ref = %record.session_ref, pid = process.pid, "a session is taken over");
        let plan = Arc::new(plan);
        let mut own = SessionRecord::clone(record);
        own.error = Some(TAKEN_OVER.to_owned());
        let live = Live::new(own, Stage::Running, plan.task.clone());
        // The session already runs. Its limits are unlimited, so that the lane counts it as running at once.
        let (ticket, _) = inner.enter(&plan, &params, ActorRole::Human);
        let session = Arc::new(RegisteredSession {
            company: plan.company.clone(),
            project: plan.project.clone(),
            run: plan.run.clone(),
            may,
            live: Arc::new(live),
            warnings: Vec::new(),
            ticket: Some(ticket).into(),
        });
        let key = (plan.company.root().to_owned(), plan.session_ref.clone());
        lock(&inner.live).insert(key, Arc::clone(&session));
        inner.start_reaping();
        let (this, task_session) = (self.clone(), Arc::clone(&session));
        tokio::spawn(async move {
            let live = Arc::clone(&task_session.live);
            let outcome = session::take_over(Arc::clone(&plan), live, process, pipes).await;
            this.cool_down_if_limited(&plan, outcome).await;
            this.inner.leave(&plan.company, ticket);
            this.inner.remember_less();
        });
        Ok(Some(session))
    }
}

/// The sessions that are not over and whose pipes no process reads.
fn unread(company: &Company) -> Vec<Arc<SessionRecord>> {
    let names = company.names(record::FOLDER).unwrap_or_default();
    names
        .iter()
        .filter_map(|name| name.strip_suffix(".stdout"))
        .filter_map(|name| {
            let path = format!("{}/{name}.yaml", record::FOLDER);
            company.read::<SessionRecord>(&path).ok()
        })
        .filter(|record| !record.is_over())
        .filter(|record| pipes::state(company, &record.session_ref) == PipeState::Unread)
        .collect()
}

/// Removes expired records and returns those of sessions that are not over. `None` if the folder has no records.
fn prune(company: &Company) -> Option<Vec<Arc<SessionRecord>>> {
    if !company.path(record::FOLDER).is_dir() {
        return None;
    }
    let oldest = company.sources().now_ms() - RETENTION_MS;
    let mut open = record::all(company).unwrap_or_default();
    for record in &open {
        if record.is_over() && record.ended_at_ms.is_some_and(|ended| ended < oldest) {
            // Failures are ignored: the next process tries again.
            for path in [record::relpath, record::seal_relpath] {
                let _ = company.remove(&path(&record.session_ref));
            }
        }
    }
    open.retain(|record| !record.is_over());
    Some(open)
}

/// Returns a session whose process runs and whose pipes no gateway reads. App servers are excluded: they end by
/// themselves once the input from their gateway is closed.
fn find_orphan(
    company: &Company,
    record: &SessionRecord,
    options: &crate::Options,
) -> Option<OrphanedSession> {
    let process = record.own_process(company);
    let process = process.filter(|process| process.is_alive())?;
    let project = ProjectId::parse(&record.project_id).ok()?;
    let run_id = RunId::parse(&record.run_id).ok()?;
    let path = format!("{}/run.yaml", layout::run(&project, &run_id));
    let run = company.read::<Run>(&path).ok()?;
    if run.status != RunStatus::Running || record.mode != CompanySessionMode::Command {
        return None;
    }
    let spec = json!(run.spec);
    let params = json!({
        "workspace_dir": company.given(),
        "project_id": project,
        "run_id": run_id,
        "session_ref": record.session_ref,
        "argv": spec["argv"],
        "repo_id": spec["repo_id"],
        "task_id": spec["task_id"],
        "milestone_id": spec["milestone_id"],
        "budget": spec["budget"],
        "timeout_ms": record.timeout_ms,
        "idle_timeout_ms": record.idle_timeout_ms,
        "lane_workspace_limit": u64::MAX,
        "lane_provider_limit": u64::MAX,
        "lane_team_limit": u64::MAX,
    });
    let params: CompanySessionLaunchParams = serde_json::from_value(params).ok()?;
    let pipes = pipes::take_over(company, &record.session_ref)?;
    let mut plan = Plan::new(
        company.clone(),
        &params,
        &run,
        options,
        None,
        Extra::default(),
    );
    // The age of the process is preferred, because the wall clock may have been changed since the start.
    let ran = process.age().unwrap_or_else(|| {
        let ran = company.sources().now_ms() - record.started_at_ms;
        Duration::from_millis(u64::try_from(ran).unwrap_or(0))
    });
    plan.timeout = plan.timeout.saturating_sub(ran);
    Some(OrphanedSession {
        plan,
        params,
        process,
        pipes,
    })
}
