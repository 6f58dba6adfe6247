//! The instructions of workers: the documents of their project that workers get besides their task. The gateway compiles
//! and keeps the instructions; this module only defines the interface to it.

use std::{fmt, future::Future, pin::Pin, sync::Arc};

use company::Company;
use protocol::company::{JobId, ProjectId, RunId, RunStatus};

/// The description of a worker that is about to start.
#[derive(Clone, Debug)]
pub struct WorkerDescription {
    /// The company folder.
    pub company: Company,
    /// The project.
    pub project: ProjectId,
    /// The run.
    pub run: RunId,
    /// The job that the worker works for. `None` for a session without a job.
    pub job: Option<JobId>,
    /// Id of the agent that works.
    pub agent: String,
    /// Name of the driver.
    pub driver: String,
    /// The chosen model. `None` if the worker program chooses it.
    pub model: Option<String>,
    /// The task of the worker, without the instructions.
    pub task: String,
}

/// The instructions of a worker.
#[derive(Clone, Debug, PartialEq)]
pub struct WorkerInstructions {
    /// The instructions, exactly as the worker reads them. Empty if there are none.
    pub text: String,
    /// The record of which instructions the worker got, as JSON. It is stored among the outputs of the run.
    pub manifest: String,
    /// The effective document, to be placed as a file if the worker has a worktree. `None` if there is no document.
    pub file: Option<InstructionsFile>,
}

impl WorkerInstructions {
    /// The whole prompt of a worker: the instructions, if there are any, then the task.
    pub fn prepend_to(&self, task: &str) -> String {
        if self.text.is_empty() {
            task.to_owned()
        } else {
            format!("{}\n\n{task}", self.text)
        }
    }
}

/// A document that is placed as a file into the worktree of a worker.
#[derive(Clone, Debug, PartialEq)]
pub struct InstructionsFile {
    /// Name of the document in the gateway.
    pub name: String,
    /// The whole text.
    pub content: String,
    /// Identifies the document and its version for the gateway. Opaque to sessions.
    pub origin: String,
}

/// An edit that a worker made to the file of its instructions.
#[derive(Clone, Debug)]
pub struct InstructionsEdit {
    /// The company folder.
    pub company: Company,
    /// The project.
    pub project: ProjectId,
    /// The run.
    pub run: RunId,
    /// Id of the agent that worked.
    pub agent: String,
    /// Name of the file in the worktree.
    pub file: String,
    /// The origin of the text, from [`InstructionsFile::origin`].
    pub origin: String,
    /// The text as the worker left it.
    pub content: String,
}

/// The result of handing an edit to the gateway.
#[derive(Clone, Debug, PartialEq)]
pub enum EditOutcome {
    /// The edit is proposed and waits for a decision.
    Proposed,
    /// The edit can never be proposed; the reason.
    Rejected(String),
    /// The edit cannot be proposed now, so a later attempt may succeed; the reason.
    Deferred(String),
}

/// The end of a worker.
#[derive(Clone, Debug)]
pub struct WorkerOver {
    /// The worker that ended.
    pub worker: WorkerDescription,
    /// Whether the worker got instructions. A plain command gets none.
    pub had_instructions: bool,
    /// Final status of the run.
    pub status: RunStatus,
    /// The error of the session. `None` if there was none.
    pub error: Option<String>,
    /// Final message of the worker. `None` if its output has none.
    pub text: Option<String>,
}

/// A boxed future, as the methods of [`InstructionsService`] return it.
pub type BoxFuture<T> = Pin<Box<dyn Future<Output = T> + Send>>;

/// Source of the instructions of workers. Implemented by the gateway, called by sessions.
pub trait InstructionsService: Send + Sync + 'static {
    /// Returns the instructions of a worker. On an error the worker must not start; the error states the reason.
    fn instructions_for(
        &self,
        worker: WorkerDescription,
    ) -> BoxFuture<Result<WorkerInstructions, String>>;

    /// Notifies the gateway that a worker starts with these instructions.
    fn started(&self, worker: WorkerDescription, instructions: WorkerInstructions);

    /// Notifies the gateway that a worker has ended. Called after [`InstructionsService::started`].
    fn over(&self, over: WorkerOver) -> BoxFuture<()>;

    /// Proposes the edit that a worker made to the file of its instructions. The same edit may be passed twice.
    fn edited(&self, edit: InstructionsEdit) -> BoxFuture<EditOutcome>;
}

/// The source of the instructions in a process. By default there is none, and workers get no instructions.
#[derive(Clone, Default)]
pub struct InstructionsSource(Option<Arc<dyn InstructionsService>>);

impl InstructionsSource {
    /// Uses an implementation of [`InstructionsService`].
    pub fn new(service: Arc<dyn InstructionsService>) -> Self {
        Self(Some(service))
    }

    pub(crate) async fn instructions_for(
        &self,
        worker: WorkerDescription,
    ) -> Result<Option<WorkerInstructions>, String> {
        match &self.0 {
            Some(service) => service.instructions_for(worker).await.map(Some),
            None => Ok(None),
        }
    }

    pub(crate) fn started(&self, worker: WorkerDescription, instructions: WorkerInstructions) {
        if let Some(service) = &self.0 {
            service.started(worker, instructions);
        }
    }

    pub(crate) async fn edited(&self, edit: InstructionsEdit) -> EditOutcome {
        match &self.0 {
            Some(service) => service.edited(edit).await,
            None => EditOutcome::Deferred("this process keeps no instructions".to_owned()),
        }
    }

    pub(crate) async fn over(&self, over: WorkerOver) {
        if let Some(service) = &self.0 {
            service.over(over).await;
        }
    }
}

impl fmt::Debug for InstructionsSource {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("InstructionsSource")
    }
}
