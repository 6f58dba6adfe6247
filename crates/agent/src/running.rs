//! The turns that this process is running.

use std::{collections::BTreeMap, sync::Arc};

use parking_lot::{Mutex, MutexGuard};
use protocol::{ThreadId, TurnId, WorkspaceId};
use tokio::sync::watch;

/// A running turn.
#[derive(Debug)]
pub(crate) struct RunningTurn {
    pub(crate) workspace_id: WorkspaceId,
    pub(crate) thread_id: ThreadId,
    pub(crate) turn_id: TurnId,
    /// The reason for the cancellation; `None` until the turn is cancelled.
    cancelled: watch::Sender<Option<String>>,
    ended: watch::Sender<bool>,
    /// The response received so far. The lock is held while a delta is sent, so that a joining client misses none.
    pub(crate) answer: tokio::sync::Mutex<Option<PartialAnswer>>,
}

/// A response that is not complete yet.
#[derive(Clone, Debug, Default)]
pub(crate) struct PartialAnswer {
    pub(crate) item_id: String,
    pub(crate) text: String,
    pub(crate) next_seq: u64,
}

impl RunningTurn {
    pub(crate) fn new(workspace_id: WorkspaceId, thread_id: ThreadId, turn_id: TurnId) -> Self {
        Self {
            workspace_id,
            thread_id,
            turn_id,
            cancelled: watch::Sender::new(None),
            ended: watch::Sender::new(false),
            answer: tokio::sync::Mutex::new(None),
        }
    }

    /// Requests cancellation. Only the first reason is kept.
    pub(crate) fn cancel(&self, reason: String) {
        self.cancelled.send_if_modified(|current| {
            let is_first = current.is_none();
            if is_first {
                *current = Some(reason);
            }
            is_first
        });
    }

    /// Waits for a cancellation request and returns its reason.
    pub(crate) async fn cancellation(&self) -> String {
        let mut cancelled = self.cancelled.subscribe();
        let found = cancelled.wait_for(Option::is_some).await;
        let reason = found.ok().and_then(|reason| reason.clone());
        match reason {
            Some(reason) => reason,
            // Unreachable: `self` owns the sender.
            None => std::future::pending().await,
        }
    }

    /// Waits until the turn has ended.
    pub(crate) async fn end(&self) {
        let _ = self.ended.subscribe().wait_for(|ended| *ended).await;
    }
}

/// The running turns by turn id.
#[derive(Debug, Default)]
pub(crate) struct RunningTurns(Mutex<BTreeMap<TurnId, Arc<RunningTurn>>>);

impl RunningTurns {
    pub(crate) fn add(&self, running: Arc<RunningTurn>) {
        self.turns().insert(running.turn_id.clone(), running);
    }

    /// Removes a turn and wakes the tasks that wait for its end.
    pub(crate) fn remove(&self, running: &RunningTurn) {
        self.turns().remove(&running.turn_id);
        running.ended.send_replace(true);
    }

    pub(crate) fn get(&self, turn_id: &TurnId) -> Option<Arc<RunningTurn>> {
        self.turns().get(turn_id).cloned()
    }

    pub(crate) fn all(&self) -> Vec<Arc<RunningTurn>> {
        self.turns().values().cloned().collect()
    }

    pub(crate) fn of_thread(&self, thread_id: &ThreadId) -> Option<Arc<RunningTurn>> {
        let turns = self.turns();
        turns
            .values()
            .find(|running| running.thread_id == *thread_id)
            .cloned()
    }

    fn turns(&self) -> MutexGuard<'_, BTreeMap<TurnId, Arc<RunningTurn>>> {
        self.0.lock()
    }
}
