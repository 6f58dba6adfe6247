//! A session seen from outside: where it stands, and the wish that it stops.

use std::sync::{Mutex, PoisonError};

use protocol::company::TaskId;
use tokio::sync::watch;

use crate::{budget::Spent, driver::Outcome, record::SessionRecord};

/// A session of this process, seen from outside.
#[derive(Debug)]
pub(crate) struct Live {
    /// What is known of it.
    state: watch::Sender<State>,
    /// Whether somebody wants it stopped.
    stop: watch::Sender<bool>,
    /// What it may still spend, so that others do not.
    reserved: Mutex<Spent>,
    /// What its program said, once it is over.
    outcome: Mutex<Option<Outcome>>,
    /// The task that the run works on, if it names one.
    pub(crate) task: Option<TaskId>,
}

/// Where a session of this process stands.
#[derive(Clone, Debug)]
pub(crate) struct State {
    pub(crate) record: SessionRecord,
    pub(crate) stage: Stage,
}

/// How far a session is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stage {
    /// It waits for a place.
    Queued,
    /// It has a place, and no process yet.
    Starting,
    /// It runs.
    Running,
    /// Its run is over, and so is it.
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

    /// Waits until it is as far as this.
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

    /// What its program said. Known before anybody hears that it is over.
    pub(crate) fn outcome(&self) -> Option<Outcome> {
        self.outcome
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    pub(super) fn say(&self, outcome: Option<Outcome>) {
        *self.outcome.lock().unwrap_or_else(PoisonError::into_inner) = outcome;
    }

    pub(crate) fn reserved(&self) -> Spent {
        *self.reserved.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn reserve(&self, spent: Spent) {
        *self.reserved.lock().unwrap_or_else(PoisonError::into_inner) = spent;
    }
}
