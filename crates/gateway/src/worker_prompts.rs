//! Compiles the prompts of workers with the turn hooks for the folder of their project.
//!
//! Starting a worker only reads, and the reads are cached until the next write. The hidden thread and its turn are
//! written concurrently.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, PoisonError},
};

use agent::{Agent, WorkerBrief, WorkerEnd};
use artifacts::Artifacts;
use crud::{BindTargets, CrudStore, DocScope, ProjectPlace};
use protocol::{
    company::{RunId, RunStatus},
    turn::TurnStatus,
};
use rpc::{Failure, FailureKind};
use serde::{Deserialize, Serialize};
use sessions::{
    BoxFuture, EditOutcome, InstructionsEdit, InstructionsFile, InstructionsService,
    WorkerDescription, WorkerInstructions, WorkerOver,
};
use sources::Sources;
use tokio::task::JoinHandle;

use crate::{
    artifact_notifications::ArtifactNotifications,
    linking::{self, Links},
    notify::Notifier,
    proposals::{self, DocText, ProposalRequest},
    rows,
    run_outputs::{self, RunOutputs},
};

/// The maximum length of a thread title made from a task, in characters.
const TITLE_CHARS: usize = 80;

/// The implementation of [`InstructionsService`] for the worker sessions of this gateway.
pub(crate) struct WorkerPrompts {
    services: Arc<WorkerPromptServices>,
    /// The tasks that record started workers, by run.
    starting: Arc<Mutex<BTreeMap<RunId, JoinHandle<()>>>>,
}

/// The services that [`WorkerPrompts`] uses.
pub(crate) struct WorkerPromptServices {
    pub(crate) store: CrudStore,
    pub(crate) sources: Sources,
    pub(crate) agent: Agent,
    pub(crate) links: Arc<Links>,
    pub(crate) artifacts: Arc<Artifacts>,
    pub(crate) notifier: Notifier,
    pub(crate) notifications: ArtifactNotifications,
}

impl WorkerPrompts {
    pub(crate) fn new(services: WorkerPromptServices) -> Self {
        Self {
            services: Arc::new(services),
            starting: Arc::default(),
        }
    }
}

impl InstructionsService for WorkerPrompts {
    fn instructions_for(
        &self,
        worker: WorkerDescription,
    ) -> BoxFuture<Result<WorkerInstructions, String>> {
        let services = Arc::clone(&self.services);
        Box::pin(async move {
            let place = services.place_of(&worker).await?;
            // The hook performs the same read, so both use the cache.
            let file = services.file_of(&place).await?;
            let compiled = services.agent.brief(&brief(&worker, place)).await;
            let compiled = compiled.map_err(|error| error.to_string())?;
            let manifest = serde_json::to_string_pretty(&compiled.manifest);
            Ok(WorkerInstructions {
                text: compiled.full(),
                manifest: manifest.map_err(|error| error.to_string())?,
                file,
            })
        })
    }

    fn started(&self, worker: WorkerDescription, instructions: WorkerInstructions) {
        let services = Arc::clone(&self.services);
        let run = worker.run.clone();
        let noting = tokio::spawn(async move {
            if let Err(error) = services.note_start(worker, &instructions.manifest).await {
                tracing::warn!(error, "the thread of a worker cannot be recorded");
            }
        });
        let mut starting = self.starting.lock().unwrap_or_else(PoisonError::into_inner);
        starting.insert(run, noting);
    }

    fn edited(&self, edit: InstructionsEdit) -> BoxFuture<EditOutcome> {
        let services = Arc::clone(&self.services);
        Box::pin(async move {
            match services.propose_edit(edit).await {
                Ok(()) => EditOutcome::Proposed,
                Err(failure) => {
                    let passes = matches!(
                        failure.kind(),
                        FailureKind::Internal | FailureKind::Overloaded
                    );
                    let reason = failure.message().to_owned();
                    if passes {
                        EditOutcome::Deferred(reason)
                    } else {
                        EditOutcome::Rejected(reason)
                    }
                }
            }
        })
    }

    fn over(&self, over: WorkerOver) -> BoxFuture<()> {
        let services = Arc::clone(&self.services);
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
            let has_turn = over.had_instructions
                && match services.agent.worker_ended(end).await {
                    Ok(()) => true,
                    // The start of the worker could not be recorded.
                    Err(agent::Error::Store(crud::Error::UnknownTurn(_))) => false,
                    Err(error) => {
                        tracing::warn!(%error, "the end of a worker cannot be recorded");
                        false
                    }
                };
            services.keep_outputs(over.worker, has_turn).await;
        })
    }
}

/// The agents doc and its version that a worker received as a file.
#[derive(Debug, Serialize, Deserialize)]
struct DocOrigin {
    workspace_id: String,
    folder_id: Option<String>,
    version: i64,
}

/// Returns the author name of an agent, prefixed so that it cannot be confused with the owner or a token.
fn author(agent: &str) -> String {
    if agent.starts_with("agent_") {
        agent.to_owned()
    } else {
        format!("agent_{agent}")
    }
}

impl WorkerPromptServices {
    /// Returns the effective agents doc of a project. Only the nearest document applies, so an edit of the file is an
    /// edit of that document.
    async fn file_of(&self, place: &ProjectPlace) -> Result<Option<InstructionsFile>, String> {
        let scope = DocScope {
            workspace_id: place.workspace_id.clone(),
            folder_id: place.folder_id.clone(),
        };
        let found = self.store.agents_docs().resolve_for_folder(scope).await;
        let Some(found) = found.map_err(|error| error.to_string())? else {
            return Ok(None);
        };
        let origin = DocOrigin {
            workspace_id: found.doc.workspace_id,
            folder_id: found.doc.folder_id,
            version: found.doc.version,
        };
        Ok(Some(InstructionsFile {
            name: if found.source_path.is_empty() {
                "AGENTS.md of the thread tree".to_owned()
            } else {
                format!("AGENTS.md of {}", found.source_path.join("/"))
            },
            content: found.doc.content,
            origin: serde_json::to_string(&origin).map_err(|error| error.to_string())?,
        }))
    }

    /// Creates a proposal from the file that a worker edited.
    async fn propose_edit(&self, edit: InstructionsEdit) -> Result<(), Failure> {
        let origin: DocOrigin = serde_json::from_str(&edit.origin)
            .map_err(|error| Failure::param("/origin", error.to_string()))?;
        // The origin record is stored in the company folder, which is untrusted, so it must not reach another
        // workspace.
        let (dir, project) = (linking::dir(&edit.company), edit.project.as_str());
        let place = self.store.companies().place(&dir, project).await;
        let place = place.map_err(rows::failure)?;
        if place.is_none_or(|place| place.workspace_id != origin.workspace_id) {
            let message = format!(
                "workspace `{}` is not that of the company folder",
                origin.workspace_id
            );
            return Err(Failure::param("/origin", message));
        }
        let request = ProposalRequest {
            scope: DocScope {
                workspace_id: origin.workspace_id,
                folder_id: origin.folder_id,
            },
            text: DocText::checked("/content", &edit.content)?,
            base_version: Some(origin.version),
            rationale: format!(
                "Run `{}` of project `{}` changed `{}` in its worktree.",
                edit.run, edit.project, edit.file
            ),
            author: author(&edit.agent),
        };
        let (proposal, is_new) = proposals::propose(&self.store, &self.sources, request).await?;
        if is_new {
            let publication = proposals::changed(&proposal.row)?;
            self.notifier.publish(&publication).await;
        }
        Ok(())
    }

    /// Returns the folder of the worker's project in the thread tree. Links the company folder first if the project has
    /// no folder yet.
    async fn place_of(&self, worker: &WorkerDescription) -> Result<ProjectPlace, String> {
        let dir = linking::dir(&worker.company);
        let find = async || {
            let companies = self.store.companies();
            let found = companies.place(&dir, worker.project.as_str()).await;
            found.map_err(|error| error.to_string())
        };
        match find().await? {
            Some(place) if place.folder_id.is_some() => Ok(place),
            Some(_) | None => {
                self.links.link(worker.company.clone()).await;
                let place = find().await?;
                place.ok_or_else(|| "the company folder cannot be linked to a workspace".to_owned())
            }
        }
    }

    /// Stores the outputs of a worker as artifacts.
    async fn keep_outputs(&self, worker: WorkerDescription, has_turn: bool) {
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
        run_outputs::keep(&self.artifacts, &self.notifications, outputs).await;
    }

    async fn note_start(&self, worker: WorkerDescription, manifest: &str) -> Result<(), String> {
        let place = self.place_of(&worker).await?;
        let noted = self.agent.worker_started(brief(&worker, place), manifest);
        noted.await.map_err(|error| error.to_string())
    }
}

fn brief(worker: &WorkerDescription, place: ProjectPlace) -> WorkerBrief {
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

/// Returns whether a thread id is reserved for workers. Clients cannot create, use or delete such threads, because they
/// prove which prompt the worker received.
pub(crate) fn is_workers(thread_id: &str) -> bool {
    thread_id.starts_with("thr_run_") || thread_id.starts_with("thr_job_")
}

/// Returns whether a turn id is reserved for workers.
pub(crate) fn is_workers_turn(turn_id: &str) -> bool {
    turn_id.starts_with("trn_run_")
}

/// Returns the id of a worker's hidden thread, derived from its job if it has one, otherwise from its run.
fn thread_id(worker: &WorkerDescription) -> String {
    let of = match &worker.job {
        Some(job) => job.as_str(),
        None => worker.run.as_str(),
    };
    format!("thr_{of}")
}

/// Returns the id of the turn that represents a run.
fn turn_id(run: &RunId) -> String {
    format!("trn_{}", run.as_str())
}
