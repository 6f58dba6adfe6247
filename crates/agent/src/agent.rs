//! The interface of the turn loop: accept, run, cancel and follow turns.

use std::{future::Future, pin::Pin, sync::Arc, time::Duration};

use crud::{CrudStore, FinishTurn, NewTurnEvent, StartTurn, TurnStarted};
use data_encoding::HEXLOWER;
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
    running::{RunningTurn, RunningTurns},
};

/// The time allowed for storing the result of an interrupted turn.
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

/// The dependencies of the turn loop.
pub struct AgentOptions {
    /// The hook runtime that runs the phases of every turn.
    pub hooks: Runtime,
    /// Resolves a provider id.
    pub providers: ProviderFinder,
    /// Receives the progress of all turns.
    pub listener: Arc<dyn TurnListener>,
    /// Reads attached files and stores generated images.
    pub attachments: Arc<dyn AttachmentSource>,
    /// The clock; returns Unix milliseconds.
    pub now_ms: Arc<dyn Fn() -> i64 + Send + Sync>,
    /// Generates a new id with the given prefix.
    pub new_id: Arc<dyn Fn(&str) -> String + Send + Sync>,
    /// The name of this process, unique among the processes that use the home.
    pub owner: String,
}

/// Resolves a provider id; returns `None` if the provider does not exist.
pub type ProviderFinder = Arc<
    dyn Fn(String) -> Pin<Box<dyn Future<Output = Option<Arc<dyn Provider>>> + Send>> + Send + Sync,
>;

/// Receives the progress of turns. The gateway implements it; the turn loop calls it.
pub trait TurnListener: Send + Sync + 'static {
    /// Handles one notice. The notices of a turn arrive in order.
    fn notify(&self, notice: TurnNotice) -> Pin<Box<dyn Future<Output = ()> + Send + '_>>;
}

/// A notice about the progress of a turn.
#[derive(Clone, Debug)]
pub enum TurnNotice {
    /// The turn started to run.
    Started {
        /// The workspace of the thread.
        workspace_id: WorkspaceId,
        /// The thread of the turn.
        thread_id: ThreadId,
        /// The turn, in progress.
        turn: Turn,
    },
    /// An item of the turn started.
    ItemStarted(ItemStartedNotification),
    /// More text of the response arrived.
    Delta(ItemAgentMessageDeltaNotification),
    /// An item of the turn is complete.
    ItemCompleted(ItemCompletedNotification),
    /// The turn completed, failed or was interrupted.
    Ended {
        /// The workspace of the thread.
        workspace_id: WorkspaceId,
        /// The thread of the turn.
        thread_id: ThreadId,
        /// The turn with its final status.
        turn: Box<Turn>,
    },
    /// The thread received a generated title.
    Titled {
        /// The thread with its new title.
        thread: Box<thread::Model>,
        /// The tree version after the change.
        tree_version: u64,
    },
}

/// The parameters of a turn to accept.
#[derive(Clone, Debug)]
pub struct NewTurn {
    /// The id of the thread.
    pub thread_id: ThreadId,
    /// The id of the turn. Accepting the same turn again returns the existing one.
    pub turn_id: TurnId,
    /// The user's input.
    pub input: Vec<UserInput>,
    /// The inputs other than text, in the form in which the user message stores them.
    pub attachments: Vec<serde_json::Value>,
    /// The model; `None` for the thread's model.
    pub model: Option<String>,
    /// The provider id; `None` for the thread's provider.
    pub model_provider: Option<String>,
    /// The mode; `None` for the thread's mode.
    pub mode: Option<String>,
    /// Whether the model, provider and mode also become those of the thread.
    pub remember: bool,
    /// The permission to spend the owner's money on this turn.
    pub may: MaySpend,
}

/// The result of [`Agent::accept`].
pub struct Accepted {
    /// The stored turn.
    pub turn: Turn,
    /// The workspace of the thread.
    pub workspace_id: WorkspaceId,
    /// The new tree version; `None` unless the turn made the thread visible.
    pub tree_version: Option<u64>,
    /// The turn to pass to [`Agent::run`]; `None` if it was accepted before.
    pub run: Option<TurnRun>,
}

/// An accepted turn, to be run by [`Agent::run`].
pub struct TurnRun {
    pub(crate) running: Arc<RunningTurn>,
    pub(crate) input: Vec<UserInput>,
    pub(crate) attachments: Vec<serde_json::Value>,
    pub(crate) row: turn::Model,
    pub(crate) thread: thread::Model,
    pub(crate) mode: String,
    pub(crate) may: MaySpend,
}

/// Why a turn cannot be accepted, read or cancelled.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The database operation failed or rejected the turn.
    #[error(transparent)]
    Store(#[from] crud::Error),
    /// No provider with this id exists.
    #[error("there is no provider `{0}`")]
    UnknownProvider(String),
    /// The turn runs in another process that uses the same home.
    #[error("turn `{0}` runs in another process, which has to cancel it")]
    RunsElsewhere(TurnId),
    /// A stored turn cannot be parsed.
    #[error("a stored turn cannot be read: {0}")]
    Damaged(String),
}

impl Agent {
    /// Creates a turn loop on a database.
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

    /// Stores a new turn. Fails if another turn runs on its thread.
    ///
    /// The turn does not run before [`Agent::run`], so that the caller can send its response first.
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
                let running = Arc::new(RunningTurn::new(
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

    /// Returns the hook runtime.
    pub fn hooks(&self) -> &Runtime {
        &self.inner.options.hooks
    }

    /// Runs an accepted turn in a background task.
    pub fn run(&self, run: TurnRun) {
        let agent = self.clone();
        tokio::spawn(async move { agent.run_to_end(run).await });
    }

    /// Cancels a running turn, waits until it has ended and returns its row. A finished turn is returned unchanged.
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
            // The turn may have ended since it was read.
            let row = turns.get(thread_id.as_str(), turn_id.as_str()).await?;
            return if row.status == "InProgress" && row.owner != self.inner.options.owner {
                Err(Error::RunsElsewhere(turn_id.clone()))
            } else {
                Ok(row)
            };
        };
        running.cancel(reason.unwrap_or_else(|| "cancelled".to_owned()));
        running.end().await;
        Ok(turns.get(thread_id.as_str(), turn_id.as_str()).await?)
    }

    /// Waits for the running turns before the database is closed. Turns that take longer than `patience` are
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

    /// Calls `notify` with the response received so far by the running turn of a thread. No delta is lost or repeated
    /// between this text and the next notice.
    pub async fn catch_up(
        &self,
        thread_id: &ThreadId,
        notify: impl FnOnce(ItemStartedNotification),
    ) {
        let Some(running) = self.inner.running.of_thread(thread_id) else {
            return;
        };
        let answer = running.answer.lock().await;
        if let Some(partial) = &*answer {
            notify(ItemStartedNotification {
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

    /// Marks turns as interrupted whose process has exited. Returns their number.
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

/// Converts a stored turn to its wire form.
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

/// Serializes an event for storage.
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
    // User input consists of strings and numbers, so serialization cannot fail.
    let json = serde_json::to_vec(input).unwrap_or_default();
    HEXLOWER.encode(&Sha256::digest(json))
}
