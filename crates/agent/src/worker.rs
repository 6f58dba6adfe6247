//! Turns run by worker programs: same hooks, prompt and manifest, but no model call by the gateway.

use crud::{FinishTurn, WorkerTurn};
use data_encoding::HEXLOWER;
use hooks::{Actor, HookContext, PhaseError, TreePlace};
use prompt::{CompiledPrompt, PromptReader};
use protocol::turn::{TurnEventPayload, TurnItem, TurnStatus};
use sha2::{Digest as _, Sha256};

use crate::{Agent, Error, agent::event};

/// The description of a worker that is about to start.
#[derive(Clone, Debug)]
pub struct WorkerBrief {
    /// The workspace of the company folder.
    pub workspace_id: String,
    /// The tree folder of the project; `None` for the root of the tree.
    pub folder_id: Option<String>,
    /// The hidden thread of the worker.
    pub thread_id: String,
    /// The turn that records this start.
    pub turn_id: String,
    /// The name of the thread.
    pub name: String,
    /// The agent that the worker runs as; `None` if no agent is assigned.
    pub agent_id: Option<String>,
    /// The task given to the worker.
    pub text: String,
    /// The driver that launches the worker, such as `codex`.
    pub driver: String,
    /// The model; empty for the worker program's default.
    pub model: String,
}

/// The result of a worker.
#[derive(Clone, Debug)]
pub struct WorkerEnd {
    /// The turn that recorded the start.
    pub turn_id: String,
    /// The final status of the turn.
    pub status: TurnStatus,
    /// Why the worker failed; `None` if it completed.
    pub error: Option<String>,
    /// The final message of the worker; `None` if it produced none.
    pub text: Option<String>,
}

/// Why the instructions of a worker cannot be compiled; the worker must not start.
#[derive(Debug, thiserror::Error)]
pub enum BriefError {
    /// A required hook failed.
    #[error("{0}")]
    Hook(#[from] PhaseError),
    /// Storage failed. The text of the database goes to the log only.
    #[error("the instructions of the worker cannot be stored")]
    Store(#[from] Error),
}

impl Agent {
    /// Compiles the instructions that a worker receives besides its task. Writes nothing.
    pub async fn brief(&self, brief: &WorkerBrief) -> Result<CompiledPrompt, BriefError> {
        let context = self.worker_context(brief);
        let (compiled, _) = self.compile_prompt(&context, PromptReader::Worker).await?;
        Ok(compiled)
    }

    /// Stores the start of a worker and its prompt manifest. Repeating the call has no effect.
    pub async fn worker_started(&self, brief: WorkerBrief, manifest: &str) -> Result<(), Error> {
        let message = TurnItem::UserMessage {
            id: format!("user_{}", brief.turn_id),
            text: brief.text.clone(),
            attachments: Vec::new(),
        };
        let events = [
            TurnEventPayload::ItemStarted {
                item: message.clone(),
            },
            TurnEventPayload::ItemCompleted { item: message },
        ];
        let turn = WorkerTurn {
            id: brief.turn_id,
            thread_id: brief.thread_id,
            workspace_id: brief.workspace_id,
            folder_id: brief.folder_id,
            name: brief.name,
            agent_nickname: brief.agent_id,
            input_sha256: HEXLOWER.encode(&Sha256::digest(brief.text.as_bytes())),
            events: events.iter().map(event).collect::<Result<_, _>>()?,
            manifest: manifest.to_owned(),
            model: brief.model,
            driver: brief.driver,
            owner: self.inner.options.owner.clone(),
            now_ms: (self.inner.options.now_ms)(),
        };
        Ok(self.inner.store.turns().record(turn).await?)
    }

    /// Stores the result of a worker.
    pub async fn worker_ended(&self, end: WorkerEnd) -> Result<(), Error> {
        let mut events = Vec::new();
        if let Some(text) = end.text {
            let item = TurnItem::AgentMessage {
                id: format!("answer_{}", end.turn_id),
                text,
            };
            events.push(event(&TurnEventPayload::ItemCompleted { item })?);
        }
        let last = match (end.status, &end.error) {
            (TurnStatus::Completed, _) => TurnEventPayload::TurnCompleted { usage: None },
            (status, error) => TurnEventPayload::TurnFailed {
                status,
                error: error
                    .clone()
                    .unwrap_or_else(|| "the worker failed".to_owned()),
            },
        };
        events.push(event(&last)?);
        let now_ms = (self.inner.options.now_ms)();
        let finish = FinishTurn {
            id: end.turn_id,
            status: match end.status {
                TurnStatus::Completed => "Completed",
                TurnStatus::Interrupted => "Interrupted",
                TurnStatus::Failed | TurnStatus::InProgress => "Failed",
            }
            .to_owned(),
            error: end.error,
            events,
            title: None,
            now: now_ms / 1000,
            now_ms,
        };
        self.inner.store.turns().finish(finish).await?;
        Ok(())
    }

    fn worker_context(&self, brief: &WorkerBrief) -> HookContext {
        HookContext {
            workspace_id: Some(brief.workspace_id.clone()),
            thread_id: Some(brief.thread_id.clone()),
            place: Some(TreePlace {
                folder_id: brief.folder_id.clone(),
            }),
            turn_id: Some(brief.turn_id.clone()),
            agent_id: brief.agent_id.clone(),
            mode: Some("task".to_owned()),
            origin_kind: Some("task_run".to_owned()),
            model_provider: Some(brief.driver.clone()),
            actor: Some(Actor {
                kind: "agent".to_owned(),
                id: brief.agent_id.clone(),
            }),
            now_unix: (self.inner.options.now_ms)() / 1000,
            ..HookContext::default()
        }
    }
}
