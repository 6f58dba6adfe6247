//! What a worker is told besides its task: the instructions of its project, compiled and proved by whoever keeps them.

use std::{fmt, future::Future, pin::Pin, sync::Arc};

use company::Company;
use protocol::company::{JobId, ProjectId, RunId, RunStatus};

/// A worker that is about to start.
#[derive(Clone, Debug)]
pub struct Worker {
    /// The company folder.
    pub company: Company,
    /// The project.
    pub project: ProjectId,
    /// The run.
    pub run: RunId,
    /// The job it works for, if it does.
    pub job: Option<JobId>,
    /// Which agent works.
    pub agent: String,
    /// The driver.
    pub driver: String,
    /// The model, if one was chosen.
    pub model: Option<String>,
    /// What it is asked to do.
    pub task: String,
}

/// What a worker is told.
#[derive(Clone, Debug, PartialEq)]
pub struct Brief {
    /// The instructions, exactly as the worker reads them; empty if there are none.
    pub text: String,
    /// The proof, as JSON; kept with the run.
    pub manifest: String,
    /// The document in force, for a worker that has a worktree to find it in.
    pub file: Option<BriefFile>,
}

impl Brief {
    /// The whole prompt of a worker: its instructions, if there are any, then its task.
    pub(crate) fn before(&self, task: &str) -> String {
        if self.text.is_empty() {
            task.to_owned()
        } else {
            format!("{}\n\n{task}", self.text)
        }
    }
}

/// A document that a worker finds as a file.
#[derive(Clone, Debug, PartialEq)]
pub struct BriefFile {
    /// What it is called where it is kept.
    pub name: String,
    /// The whole text.
    pub content: String,
    /// Which text of which version it is, for whoever keeps it.
    pub origin: String,
}

/// What a worker made of such a file.
#[derive(Clone, Debug)]
pub struct Edited {
    /// The company folder.
    pub company: Company,
    /// The project.
    pub project: ProjectId,
    /// The run.
    pub run: RunId,
    /// Which agent worked.
    pub agent: String,
    /// The name of the file.
    pub file: String,
    /// The origin of the text, as it came with the brief.
    pub origin: String,
    /// The text as the worker left it.
    pub content: String,
}

/// What became of an edit.
#[derive(Clone, Debug, PartialEq)]
pub enum Handed {
    /// It waits for somebody to decide.
    Taken,
    /// It cannot be proposed, now or later; why.
    Refused(String),
    /// It cannot be proposed now; why.
    Later(String),
}

/// How a worker ended.
#[derive(Clone, Debug)]
pub struct WorkerOver {
    /// Which one.
    pub worker: Worker,
    /// Whether it was told anything; a plain command is not.
    pub was_briefed: bool,
    /// How.
    pub status: RunStatus,
    /// Why it did not end well.
    pub error: Option<String>,
    /// Its last words.
    pub text: Option<String>,
}

/// What comes later.
pub type Later<T> = Pin<Box<dyn Future<Output = T> + Send>>;

/// Implemented by the gateway, called by sessions.
pub trait Briefing: Send + Sync + 'static {
    /// What a worker is told. If that cannot be found out, it must not start: the error says why.
    fn brief(&self, worker: Worker) -> Later<Result<Brief, String>>;

    /// Hears that a worker has started with this brief.
    fn started(&self, worker: Worker, brief: Brief);

    /// Hears that a worker has ended, after it heard of its start.
    fn over(&self, over: WorkerOver) -> Later<()>;

    /// Takes what a worker made of the file it found. The same edit may come twice.
    fn edited(&self, edit: Edited) -> Later<Handed>;
}

/// Whoever briefs, or nobody.
#[derive(Clone, Default)]
pub struct Briefer(Option<Arc<dyn Briefing>>);

impl Briefer {
    /// This one.
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
            None => Handed::Later("nobody keeps instructions here".to_owned()),
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
