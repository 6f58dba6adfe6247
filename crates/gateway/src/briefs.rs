//! What workers are told: the prompt that the hooks of a turn make for the folder of their project.
//!
//! A start costs reads alone, which are remembered until somebody writes. The hidden thread and its turn are written
//! beside the start.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, PoisonError, Weak},
};

use agent::{WorkerBrief, WorkerEnd};
use crud::{BindTargets, ProjectPlace};
use prompt::CompiledPrompt;
use protocol::{
    company::{RunId, RunStatus},
    turn::TurnStatus,
};
use runner::{Brief, Briefing, Later, Worker, WorkerOver};
use tokio::task::JoinHandle;

use crate::{
    Gateway,
    artifacts::outputs::{self, RunOutputs},
    linking,
};

/// How many characters of a task are the title of its thread.
const TITLE_CHARS: usize = 80;

/// The gateway, as its sessions see it.
pub(crate) struct Briefs {
    gateway: Weak<Gateway>,
    /// The starts that are being written down.
    starting: Arc<Mutex<BTreeMap<RunId, JoinHandle<()>>>>,
}

impl Briefs {
    pub(crate) fn new(gateway: Weak<Gateway>) -> Self {
        Self {
            gateway,
            starting: Arc::default(),
        }
    }
}

impl Briefing for Briefs {
    fn brief(&self, worker: Worker) -> Later<Result<Brief, String>> {
        let gateway = self.gateway.upgrade();
        Box::pin(async move {
            let gateway = gateway.ok_or("the gateway stops")?;
            let compiled = gateway.compile_for(&worker).await?;
            let manifest = serde_json::to_string_pretty(&compiled.manifest);
            Ok(Brief {
                text: compiled.full(),
                manifest: manifest.map_err(|error| error.to_string())?,
            })
        })
    }

    fn started(&self, worker: Worker, brief: Brief) {
        let Some(gateway) = self.gateway.upgrade() else {
            return;
        };
        let run = worker.run.clone();
        let noting = tokio::spawn(async move {
            if let Err(error) = gateway.note_start(worker, &brief.manifest).await {
                tracing::warn!(error, "the thread of a worker cannot be written down");
            }
        });
        let mut starting = self.starting.lock().unwrap_or_else(PoisonError::into_inner);
        starting.insert(run, noting);
    }

    fn over(&self, over: WorkerOver) -> Later<()> {
        let gateway = self.gateway.upgrade();
        let mut starting = self.starting.lock().unwrap_or_else(PoisonError::into_inner);
        let noting = starting.remove(&over.worker.run);
        drop(starting);
        let end = WorkerEnd {
            turn_id: turn_id(&over.worker.run),
            status: match over.status {
                RunStatus::Ended => TurnStatus::Completed,
                RunStatus::Stopped => TurnStatus::Interrupted,
                RunStatus::Failed | RunStatus::Running => TurnStatus::Failed,
            },
            error: match over.status {
                RunStatus::Stopped => Some(over.error.unwrap_or_else(|| "stopped".to_owned())),
                RunStatus::Ended | RunStatus::Failed | RunStatus::Running => over.error,
            },
            text: over.text,
        };
        Box::pin(async move {
            if let Some(noting) = noting {
                let _ = noting.await;
            }
            let Some(gateway) = gateway else {
                return;
            };
            let has_turn = over.was_briefed
                && match gateway.agent.worker_ended(end).await {
                    Ok(()) => true,
                    // Nobody could write down its start.
                    Err(agent::Error::Store(crud::Error::UnknownTurn(_))) => false,
                    Err(error) => {
                        tracing::warn!(%error, "the end of a worker cannot be written down");
                        false
                    }
                };
            gateway.keep_outputs(over.worker, has_turn).await;
        })
    }
}

impl Gateway {
    async fn compile_for(self: &Arc<Self>, worker: &Worker) -> Result<CompiledPrompt, String> {
        let place = self.place_of(worker).await?;
        let compiled = self.agent.brief(&brief(worker, place)).await;
        compiled.map_err(|error| error.to_string())
    }

    /// Where the project of a worker is in the tree; its company folder is linked if nobody has opened it yet.
    async fn place_of(self: &Arc<Self>, worker: &Worker) -> Result<ProjectPlace, String> {
        let dir = linking::dir(&worker.company);
        let find = async || {
            let companies = self.store.companies();
            let found = companies.place(&dir, worker.project.as_str()).await;
            found.map_err(|error| error.to_string())
        };
        match find().await? {
            Some(place) if place.folder_id.is_some() => Ok(place),
            Some(_) | None => {
                self.link(worker.company.clone()).await;
                let place = find().await?;
                place.ok_or_else(|| "the company folder cannot be linked to a workspace".to_owned())
            }
        }
    }

    /// Makes artifacts of what a worker left behind.
    async fn keep_outputs(self: &Arc<Self>, worker: Worker, has_turn: bool) {
        let place = match self.place_of(&worker).await {
            Ok(place) => place,
            Err(error) => {
                tracing::warn!(error, run = %worker.run, "the results of a run are not artifacts");
                return;
            }
        };
        let thread = has_turn.then(|| thread_id(&worker));
        let turn = has_turn.then(|| turn_id(&worker.run));
        let outputs = RunOutputs {
            workspace_id: place.workspace_id,
            targets: BindTargets {
                thread_id: thread,
                turn_id: turn,
                task_id: worker.job.as_ref().map(ToString::to_string),
                task_run_id: Some(worker.run.to_string()),
                ..BindTargets::default()
            },
            company: worker.company,
            project: worker.project,
            run: worker.run,
            agent: worker.agent,
        };
        outputs::keep(self, outputs).await;
    }

    async fn note_start(self: &Arc<Self>, worker: Worker, manifest: &str) -> Result<(), String> {
        let place = self.place_of(&worker).await?;
        let noted = self.agent.worker_started(brief(&worker, place), manifest);
        noted.await.map_err(|error| error.to_string())
    }
}

fn brief(worker: &Worker, place: ProjectPlace) -> WorkerBrief {
    let title: String = worker
        .task
        .lines()
        .find(|line| !line.trim().is_empty() && !line.starts_with('#'))
        .unwrap_or_default()
        .chars()
        .take(TITLE_CHARS)
        .collect();
    WorkerBrief {
        workspace_id: place.workspace_id,
        folder_id: place.folder_id,
        thread_id: thread_id(worker),
        turn_id: turn_id(&worker.run),
        name: title,
        agent_id: Some(worker.agent.clone()),
        text: worker.task.clone(),
        driver: worker.driver.clone(),
        model: worker.model.clone().unwrap_or_default(),
    }
}

/// Whether an id is one that only a worker's thread can have: nobody else can make, ask or delete it, because it proves
/// what the worker was told.
pub(crate) fn is_workers(thread_id: &str) -> bool {
    thread_id.starts_with("thr_run_") || thread_id.starts_with("thr_job_")
}

/// Whether an id is one that only the turn of a worker can have.
pub(crate) fn is_workers_turn(turn_id: &str) -> bool {
    turn_id.starts_with("trn_run_")
}

/// The hidden thread of a worker: that of its job, if it has one.
fn thread_id(worker: &Worker) -> String {
    let of = match &worker.job {
        Some(job) => job.as_str(),
        None => worker.run.as_str(),
    };
    format!("thr_{of}")
}

/// The turn that a run is.
fn turn_id(run: &RunId) -> String {
    format!("trn_{}", run.as_str())
}
