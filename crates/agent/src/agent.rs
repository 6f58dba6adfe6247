//! What the gateway asks of the turn loop: accept, run, cancel, catch up.

use std::{future::Future, pin::Pin, sync::Arc, time::Duration};

use crud::{CrudStore, FinishTurn, NewTurnEvent, StartTurn, TurnStarted};
use entity::{thread, turn};
use hooks::Runtime;
use protocol::{
    Id as _, MaySpend, ThreadId, TurnId, WorkspaceId,
    turn::{
        ItemAgentMessageDeltaNotification, ItemCompletedNotification, ItemStartedNotification,
        Turn, TurnEventPayload, TurnItem, TurnStatus, UserInput,
    },
};
use sha2::{Digest as _, Sha256};

use crate::{
    attachment::AttachmentSource,
    conversation,
    provider::Provider,
    running::{Running, RunningTurns},
};

/// How long an interrupted turn may take to be written down.
const LAST_WORDS: Duration = Duration::from_secs(2);

/// The turn loop. Cheap to clone.
#[derive(Clone)]
pub struct Agent {
    pub(crate) inner: Arc<Inner>,
}

pub(crate) struct Inner {
    pub(crate) store: CrudStore,
    pub(crate) options: AgentOptions,
    pub(crate) running: RunningTurns,
}

/// What the turn loop needs from outside.
pub struct AgentOptions {
    /// The hooks of every turn.
    pub hooks: Runtime,
    /// Finds a provider by its id.
    pub providers: ProviderFinder,
    /// Who is told.
    pub listener: Arc<dyn TurnListener>,
    /// Reads the files attached to turns.
    pub attachments: Arc<dyn AttachmentSource>,
    /// Unix milliseconds.
    pub now_ms: Arc<dyn Fn() -> i64 + Send + Sync>,
    /// Makes ids from a prefix.
    pub new_id: Arc<dyn Fn(&str) -> String + Send + Sync>,
    /// The name of this process among all that use the home.
    pub owner: String,
}

/// Finds a provider by its id.
pub type ProviderFinder = Arc<
    dyn Fn(String) -> Pin<Box<dyn Future<Output = Option<Arc<dyn Provider>>> + Send>> + Send + Sync,
>;

/// Whoever is told what happens in turns. The gateway implements it.
pub trait TurnListener: Send + Sync + 'static {
    /// Tells one thing; things of one turn come in order.
    fn tell(&self, notice: TurnNotice) -> Pin<Box<dyn Future<Output = ()> + Send + '_>>;
}

/// One thing that happens in a turn.
#[derive(Clone, Debug)]
pub enum TurnNotice {
    /// It runs.
    Started {
        /// The workspace.
        workspace_id: WorkspaceId,
        /// The thread.
        thread_id: ThreadId,
        /// The turn.
        turn: Turn,
    },
    /// An item begins.
    ItemStarted(ItemStartedNotification),
    /// More text of an answer.
    Delta(ItemAgentMessageDeltaNotification),
    /// An item is complete.
    ItemCompleted(ItemCompletedNotification),
    /// The turn ended.
    Ended {
        /// The workspace.
        workspace_id: WorkspaceId,
        /// The thread.
        thread_id: ThreadId,
        /// The turn.
        turn: Box<Turn>,
    },
    /// The thread got a title.
    Titled {
        /// The thread.
        thread: Box<thread::Model>,
        /// The new version of the tree.
        tree_version: u64,
    },
}

/// A turn somebody wants to start.
#[derive(Clone, Debug)]
pub struct NewTurn {
    /// The thread.
    pub thread_id: ThreadId,
    /// The turn.
    pub turn_id: TurnId,
    /// What the user says.
    pub input: Vec<UserInput>,
    /// Everything in it that is not text, as the user's message shows it.
    pub attachments: Vec<serde_json::Value>,
    /// The model; none for the thread's.
    pub model: Option<String>,
    /// The provider; none for the thread's.
    pub model_provider: Option<String>,
    /// The mode; none for the thread's.
    pub mode: Option<String>,
    /// Whether these become the thread's.
    pub remember: bool,
    /// That whoever starts it may spend the owner's money.
    pub may: MaySpend,
}

/// A turn that was accepted.
pub struct Accepted {
    /// The turn.
    pub turn: Turn,
    /// The workspace of its thread.
    pub workspace_id: WorkspaceId,
    /// The new version of the tree, if the thread became visible by it.
    pub tree_version: Option<u64>,
    /// What is to be done; none when the turn was started before.
    pub run: Option<TurnRun>,
}

/// A turn that waits to be run by [`Agent::run`].
pub struct TurnRun {
    pub(crate) running: Arc<Running>,
    pub(crate) input: Vec<UserInput>,
    pub(crate) attachments: Vec<serde_json::Value>,
    pub(crate) row: turn::Model,
    pub(crate) thread: thread::Model,
    pub(crate) mode: String,
    pub(crate) may: MaySpend,
}

/// Why a turn cannot be started, read or ended.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The database says why.
    #[error(transparent)]
    Store(#[from] crud::Error),
    /// There is no such provider.
    #[error("there is no provider `{0}`")]
    UnknownProvider(String),
    /// The turn runs in another process of the home.
    #[error("turn `{0}` runs in another process, which has to cancel it")]
    RunsElsewhere(TurnId),
    /// What is stored is not what we store.
    #[error("a stored turn cannot be read: {0}")]
    Damaged(String),
}

impl Agent {
    /// A turn loop on a database.
    pub fn new(store: CrudStore, options: AgentOptions) -> Self {
        let inner = Inner {
            store,
            options,
            running: RunningTurns::default(),
        };
        Self {
            inner: Arc::new(inner),
        }
    }

    /// Stores a turn, unless one runs on its thread. It does not run before [`Agent::run`], so that whoever asked
    /// can be answered first.
    pub async fn accept(&self, new: NewTurn) -> Result<Accepted, Error> {
        if let Some(provider) = &new.model_provider
            && (self.inner.options.providers)(provider.clone())
                .await
                .is_none()
        {
            return Err(Error::UnknownProvider(provider.clone()));
        }
        let now_ms = (self.inner.options.now_ms)();
        let text = conversation::text(&new.input);
        let started = TurnEventPayload::TurnStarted {
            input: new.input.clone(),
        };
        let start = StartTurn {
            id: new.turn_id.as_str().to_owned(),
            thread_id: new.thread_id.as_str().to_owned(),
            input_sha256: hash(&new.input),
            event: event(&started)?,
            preview: conversation::preview(&text),
            model: new.model,
            model_provider: new.model_provider,
            mode: new.mode,
            remember: new.remember,
            owner: self.inner.options.owner.clone(),
            now: now_ms / 1000,
            now_ms,
        };
        match self.inner.store.turns().start(start).await? {
            TurnStarted::Existing(row) => Ok(Accepted {
                workspace_id: workspace(&row.workspace_id)?,
                turn: wire(row)?,
                tree_version: None,
                run: None,
            }),
            TurnStarted::New {
                turn: row,
                thread,
                mode,
                tree_version,
            } => {
                let workspace_id = workspace(&row.workspace_id)?;
                let running = Arc::new(Running::new(
                    workspace_id.clone(),
                    new.thread_id,
                    new.turn_id,
                ));
                self.inner.running.add(Arc::clone(&running));
                Ok(Accepted {
                    turn: wire(row.clone())?,
                    workspace_id,
                    tree_version,
                    run: Some(TurnRun {
                        running,
                        input: new.input,
                        attachments: new.attachments,
                        row,
                        thread: *thread,
                        mode,
                        may: new.may,
                    }),
                })
            }
        }
    }

    /// The hooks of every turn.
    pub fn hooks(&self) -> &Runtime {
        &self.inner.options.hooks
    }

    /// Runs an accepted turn in the background.
    pub fn run(&self, run: TurnRun) {
        let agent = self.clone();
        tokio::spawn(async move { agent.run_to_end(run).await });
    }

    /// Ends a running turn and waits until it has ended. A finished one stays as it is.
    pub async fn cancel(
        &self,
        thread_id: &ThreadId,
        turn_id: &TurnId,
        reason: Option<String>,
    ) -> Result<turn::Model, Error> {
        let turns = self.inner.store.turns();
        let row = turns.get(thread_id.as_str(), turn_id.as_str()).await?;
        if row.status != "InProgress" {
            return Ok(row);
        }
        let Some(running) = self.inner.running.get(turn_id) else {
            // It may have ended since it was read.
            let row = turns.get(thread_id.as_str(), turn_id.as_str()).await?;
            return match row.status == "InProgress" && row.owner != self.inner.options.owner {
                true => Err(Error::RunsElsewhere(turn_id.clone())),
                false => Ok(row),
            };
        };
        running.cancel(reason.unwrap_or_else(|| "cancelled".to_owned()));
        running.end().await;
        Ok(turns.get(thread_id.as_str(), turn_id.as_str()).await?)
    }

    /// Waits for the running turns, before the database closes. Those that take longer than `patience` are
    /// interrupted.
    pub async fn settle(&self, patience: Duration) {
        let running = self.inner.running.all();
        let ended = async {
            for turn in &running {
                turn.end().await;
            }
        };
        if tokio::time::timeout(patience, ended).await.is_ok() {
            return;
        }
        for turn in self.inner.running.all() {
            turn.cancel("the gateway stopped".to_owned());
            let _ = tokio::time::timeout(LAST_WORDS, turn.end()).await;
        }
    }

    /// Lets `tell` hear the answer of a thread's running turn as far as it has come, with no piece lost or
    /// repeated between that and the next one.
    pub async fn catch_up(&self, thread_id: &ThreadId, tell: impl FnOnce(ItemStartedNotification)) {
        let Some(running) = self.inner.running.of_thread(thread_id) else {
            return;
        };
        let answer = running.answer.lock().await;
        if let Some(partial) = &*answer {
            tell(ItemStartedNotification {
                workspace_id: running.workspace_id.clone(),
                thread_id: running.thread_id.clone(),
                turn_id: running.turn_id.clone(),
                item: TurnItem::AgentMessage {
                    id: partial.item_id.clone(),
                    text: partial.text.clone(),
                },
            });
        }
    }

    /// Marks turns as interrupted that ran in a process that is gone. Answers how many there were.
    pub async fn recover(&self, is_alive: impl Fn(&str) -> bool) -> Result<usize, Error> {
        let mut recovered = 0;
        for row in self.inner.store.turns().in_progress().await? {
            if row.owner == self.inner.options.owner || is_alive(&row.owner) {
                continue;
            }
            let now_ms = (self.inner.options.now_ms)();
            let reason = "the gateway stopped while the turn was running".to_owned();
            let failed = TurnEventPayload::TurnFailed {
                status: TurnStatus::Interrupted,
                error: reason.clone(),
            };
            let finish = FinishTurn {
                id: row.id,
                status: "Interrupted".to_owned(),
                error: Some(reason),
                events: vec![event(&failed)?],
                title: None,
                now: now_ms / 1000,
                now_ms,
            };
            self.inner.store.turns().finish(finish).await?;
            recovered += 1;
        }
        Ok(recovered)
    }
}

impl std::fmt::Debug for Agent {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("Agent")
    }
}

/// A turn as it is told.
pub fn wire(row: turn::Model) -> Result<Turn, Error> {
    let damaged = |detail: String| Error::Damaged(detail);
    let status =
        serde_json::from_value(row.status.into()).map_err(|error| damaged(error.to_string()))?;
    let manifest = row
        .prompt_manifest
        .as_deref()
        .map(serde_json::from_str)
        .transpose();
    Ok(Turn {
        id: TurnId::parse(&row.id).map_err(|error| damaged(error.to_string()))?,
        status,
        error: row.error,
        prompt_manifest: manifest.map_err(|error| damaged(error.to_string()))?,
    })
}

/// An event as it is stored.
pub(crate) fn event(payload: &TurnEventPayload) -> Result<NewTurnEvent, Error> {
    let kind = match payload {
        TurnEventPayload::TurnStarted { .. } => "turnStarted",
        TurnEventPayload::ItemStarted { .. } => "itemStarted",
        TurnEventPayload::ItemCompleted { .. } => "itemCompleted",
        TurnEventPayload::TurnCompleted { .. } => "turnCompleted",
        TurnEventPayload::TurnFailed { .. } => "turnFailed",
    };
    let payload =
        serde_json::to_string(payload).map_err(|error| Error::Damaged(error.to_string()))?;
    Ok(NewTurnEvent {
        kind: kind.to_owned(),
        payload,
    })
}

fn workspace(id: &str) -> Result<WorkspaceId, Error> {
    WorkspaceId::parse(id).map_err(|error| Error::Damaged(error.to_string()))
}

fn hash(input: &[UserInput]) -> String {
    // An input is a tree of strings and numbers: it cannot fail to serialise.
    let json = serde_json::to_vec(input).unwrap_or_default();
    Sha256::digest(json)
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect()
}
