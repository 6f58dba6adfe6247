//! The briefing of workers: the instructions of their project that workers get besides their task. The gateway compiles
//! and keeps the instructions; this module only defines the interface to it.

use std::{fmt, future::Future, pin::Pin, sync::Arc};

use company::Company;
use protocol::company::{JobId, ProjectId, RunId, RunStatus};

/// The description of a worker that is about to start.
#[derive(Clone, Debug)]
pub struct Worker {
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
    /// The task of the worker, without the briefing.
    pub task: String,
}

/// The briefing of a worker.
#[derive(Clone, Debug, PartialEq)]
pub struct Brief {
    /// The instructions, exactly as the worker reads them. Empty if there are none.
    pub text: String,
    /// The record of which instructions the worker got, as JSON. It is stored among the outputs of the run.
    pub manifest: String,
    /// The effective document, to be placed as a file if the worker has a worktree. `None` if there is no document.
    pub file: Option<BriefFile>,
}

impl Brief {
    /// The whole prompt of a worker: the instructions, if there are any, then the task.
    pub fn before(&self, task: &str) -> String {
        if self.text.is_empty() {
            task.to_owned()
        } else {
            format!("{}\n\n{task}", self.text)
        }
    }
}

/// A document that is placed as a file into the worktree of a worker.
#[derive(Clone, Debug, PartialEq)]
pub struct BriefFile {
    /// Name of the document in the gateway.
    pub name: String,
    /// The whole text.
    pub content: String,
    /// Identifies the document and its version for the gateway. Opaque to sessions.
    pub origin: String,
}

/// An edit that a worker made to the file of its instructions.
#[derive(Clone, Debug)]
pub struct Edited {
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
    /// The origin of the text, from [`BriefFile::origin`].
    pub origin: String,
    /// The text as the worker left it.
    pub content: String,
}

/// The result of handing an edit to the gateway.
#[derive(Clone, Debug, PartialEq)]
pub enum Handed {
    /// The edit is proposed and waits for a decision.
    Taken,
    /// The edit can never be proposed; the reason.
    Refused(String),
    /// The edit cannot be proposed now, so a later attempt may succeed; the reason.
    Later(String),
}

/// The end of a worker.
#[derive(Clone, Debug)]
pub struct WorkerOver {
    /// The worker that ended.
    pub worker: Worker,
    /// Whether the worker got a briefing. A plain command gets none.
    pub was_briefed: bool,
    /// Final status of the run.
    pub status: RunStatus,
    /// The error of the session. `None` if there was none.
    pub error: Option<String>,
    /// Final message of the worker. `None` if its output has none.
    pub text: Option<String>,
}

/// A boxed future, as the methods of [`Briefing`] return it.
pub type Later<T> = Pin<Box<dyn Future<Output = T> + Send>>;

/// Source of the instructions of workers. Implemented by the gateway, called by sessions.
pub trait Briefing: Send + Sync + 'static {
    /// Returns the briefing of a worker. On an error the worker must not start; the error states the reason.
    fn brief(&self, worker: Worker) -> Later<Result<Brief, String>>;

    /// Notifies the gateway that a worker starts with this briefing.
    fn started(&self, worker: Worker, brief: Brief);

    /// Notifies the gateway that a worker has ended. Called after [`Briefing::started`].
    fn over(&self, over: WorkerOver) -> Later<()>;

    /// Proposes the edit that a worker made to the file of its instructions. The same edit may be passed twice.
    fn edited(&self, edit: Edited) -> Later<Handed>;
}

/// The source of briefings of a process. By default there is none, and workers get no briefing.
#[derive(Clone, Default)]
pub struct Briefer(Option<Arc<dyn Briefing>>);

impl Briefer {
    /// Uses an implementation of [`Briefing`].
    pub fn new(briefing: Arc<dyn Briefing>) -> Self {
        Self(Some(briefing))
    }

    pub(crate) async fn brief(&self, worker: Worker) -> Result<Option<Brief>, String> {
        match &self.0 {
            Some(briefing) => briefing.brief(worker).await.map(Some),
            None => Ok(None),
        }
    }

    pub(crate) fn started(&self, worker: Worker, brief: Brief) {
        if let Some(briefing) = &self.0 {
            briefing.started(worker, brief);
        }
    }

    pub(crate) async fn edited(&self, edit: Edited) -> Handed {
        match &self.0 {
            Some(briefing) => briefing.edited(edit).await,
            None => Handed::Later("this process keeps no instructions".to_owned()),
        }
    }

    pub(crate) async fn over(&self, over: WorkerOver) {
        if let Some(briefing) = &self.0 {
            briefing.over(over).await;
        }
    }
}

impl fmt::Debug for Briefer {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Briefer")
    }
}
