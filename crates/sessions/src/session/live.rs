//! The shared handle of a session: its current state and the request to stop it.

use std::sync::{Mutex, PoisonError};

use drivers::Outcome;
use protocol::company::TaskId;
use tokio::sync::watch;

use crate::{budget::Spent, record::SessionRecord};

/// Handle of a session of this process. The task that runs the session updates it; requests read it.
#[derive(Debug)]
pub(crate) struct Live {
    /// The record and stage.
    state: watch::Sender<State>,
    /// Whether a stop has been requested.
    stop: watch::Sender<bool>,
    /// The part of the budgets that is reserved for this session, so that other launches cannot use it. Zero once the
    /// session is over.
    reserved: Mutex<Spent>,
    /// The outcome of the worker program. `None` until the session is over, and if the output was not recognised.
    outcome: Mutex<Option<Outcome>>,
    /// The task that the run works on. `None` if the run names no task.
    pub(crate) task: Option<TaskId>,
}

/// The current state of a session of this process.
#[derive(Clone, Debug)]
pub(crate) struct State {
    pub(crate) record: SessionRecord,
    pub(crate) stage: Stage,
}

/// The stage of a session, in the order of the variants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stage {
    /// The session waits in its lane.
    Queued,
    /// The lane has started the session; it has no process yet.
    Starting,
    /// The process runs.
    Running,
    /// The session and its run are over.
    Over,
}

impl Live {
    pub(crate) fn new(record: SessionRecord, stage: Stage, task: Option<TaskId>) -> Self {
        Self {
            state: watch::Sender::new(State { record, stage }),
            stop: watch::Sender::new(false),
            reserved: Mutex::default(),
            outcome: Mutex::default(),
            task,
        }
    }

    pub(crate) fn state(&self) -> State {
        self.state.borrow().clone()
    }

    pub(crate) fn is_over(&self) -> bool {
        self.state.borrow().stage == Stage::Over
    }

    pub(crate) fn request_stop(&self) {
        self.stop.send_replace(true);
    }

    pub(crate) fn stop_requested(&self) -> bool {
        *self.stop.borrow()
    }

    pub(crate) async fn stop_wanted(&self) {
        let _ = self.stop.subscribe().wait_for(|stop| *stop).await;
    }

    /// Waits until the stage satisfies a condition.
    pub(crate) async fn reach(&self, wanted: impl Fn(Stage) -> bool) -> State {
        let mut state = self.state.subscribe();
        let reached = state.wait_for(|state| wanted(state.stage)).await;
        match reached {
            Ok(state) => state.clone(),
            Err(_) => self.state(),
        }
    }

    pub(crate) fn advance(&self, stage: Stage) {
        self.state.send_modify(|state| state.stage = stage);
    }

    pub(crate) fn update(&self, change: impl FnOnce(&mut SessionRecord)) {
        self.state.send_modify(|state| change(&mut state.record));
    }

    pub(crate) fn end(&self, record: SessionRecord) {
        *self.reserved.lock().unwrap_or_else(PoisonError::into_inner) = Spent::default();
        self.state.send_replace(State {
            record,
            stage: Stage::Over,
        });
    }

    /// The outcome of the worker program. It is set before the stage becomes [`Stage::Over`].
    pub(crate) fn outcome(&self) -> Option<Outcome> {
        self.outcome
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    pub(super) fn set_outcome(&self, outcome: Option<Outcome>) {
        *self.outcome.lock().unwrap_or_else(PoisonError::into_inner) = outcome;
    }

    pub(crate) fn reserved(&self) -> Spent {
        *self.reserved.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn reserve(&self, spent: Spent) {
        *self.reserved.lock().unwrap_or_else(PoisonError::into_inner) = spent;
    }
}
