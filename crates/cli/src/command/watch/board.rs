//! The state of the screen, and how keys change it.

use std::collections::VecDeque;

use protocol::company::{ReviewDecision, session::CompanySessionQueueReason};
use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyEventKind, KeyModifiers};
use rpc::client::Incoming;
use serde::Serialize;

use super::source::CompanySource;
use crate::{command::inbox::DecisionContent, terminal};

/// Maximum number of events that are kept.
const MAX_EVENTS: usize = 200;

/// The state of a company at a point in time.
#[derive(Debug, Default, PartialEq, Serialize)]
pub(super) struct CompanySnapshot {
    /// The active sessions: running ones first, longest first, then queued ones.
    pub(super) sessions: Vec<SessionLine>,
    /// The items that wait for a decision.
    pub(super) inbox: Vec<InboxLine>,
    /// The newest runs.
    pub(super) runs: Vec<RunLine>,
}

#[derive(Debug, PartialEq, Serialize)]
pub(super) struct SessionLine {
    pub(super) session_ref: String,
    pub(super) agent: String,
    pub(super) project: String,
    /// Position in the queue, starting at 1. `None` if the session runs.
    pub(super) queue_position: Option<u64>,
    /// The reason why it waits. `None` if the session runs.
    pub(super) queue_reason: Option<CompanySessionQueueReason>,
    /// Age of the session in seconds.
    pub(super) seconds: i64,
}

#[derive(Debug, PartialEq, Serialize)]
pub(super) struct RunLine {
    pub(super) run_id: String,
    /// The first line of the goal. `None` if it is unknown.
    pub(super) goal: Option<String>,
    pub(super) agent: String,
    pub(super) project: String,
    pub(super) provider: String,
    pub(super) status: String,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub(super) struct InboxLine {
    pub(super) id: String,
    pub(super) kind: String,
    pub(super) title: String,
}

/// A part of the screen that can have the focus.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Pane {
    Sessions,
    Inbox,
    Runs,
}

/// An action requested by the user.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum BoardAction {
    Stop {
        session_ref: String,
        /// The names of its agent and project.
        whose: String,
    },
    /// Show the item and ask for confirmation of the decision.
    Show {
        subject: InboxLine,
        decision: ReviewDecision,
    },
    Decide {
        subject: InboxLine,
        decision: ReviewDecision,
        /// The content that was shown.
        shown: DecisionContent,
    },
    Refresh,
}

/// The result of an action.
#[derive(Debug, PartialEq)]
pub(super) enum ActionOutcome {
    /// The action is done, with a notice for the user.
    Done(String),
    /// The user must confirm this action first.
    Ask(BoardAction),
}

/// The reaction to a key.
#[derive(Debug, PartialEq)]
pub(super) enum KeyReaction {
    Continue,
    Do(BoardAction),
    Quit,
}

pub(super) struct Board {
    pub(super) company: String,
    pub(super) snapshot: CompanySnapshot,
    pub(super) events: VecDeque<String>,
    pub(super) focus: Pane,
    /// Index of the selected line in the focused pane.
    pub(super) selected: usize,
    /// The action that waits for confirmation.
    pub(super) question: Option<BoardAction>,
    /// Scroll offset of the shown item, in lines.
    pub(super) scroll: u16,
    /// Notice about the last action.
    pub(super) notice: String,
}

impl Board {
    pub(super) fn new(company: &str) -> Self {
        Self {
            company: terminal::harmless(company),
            snapshot: CompanySnapshot::default(),
            events: VecDeque::new(),
            focus: Pane::Sessions,
            selected: 0,
            question: None,
            scroll: 0,
            notice: String::new(),
        }
    }

    pub(super) fn set_snapshot(&mut self, snapshot: CompanySnapshot) {
        self.snapshot = snapshot;
        self.selected = self.selected.min(self.lines().saturating_sub(1));
    }

    pub(super) fn add_event(&mut self, notification: &Incoming, source: &CompanySource<'_>) {
        if notification.method != "events.notification" {
            return;
        }
        self.events.push_front(source.line_of(&notification.params));
        self.events.truncate(MAX_EVENTS);
    }

    /// Returns the number of lines of the focused pane.
    fn lines(&self) -> usize {
        match self.focus {
            Pane::Sessions => self.snapshot.sessions.len(),
            Pane::Inbox => self.snapshot.inbox.len(),
            Pane::Runs => self.snapshot.runs.len(),
        }
    }

    /// Handles a key while there is no gateway. Actions are ignored, because no gateway could perform them.
    pub(super) fn key_while_lost(&mut self, key: KeyEvent) -> KeyReaction {
        let notice = self.notice.clone();
        let next = self.key(key);
        self.question = None;
        self.notice = notice;
        match next {
            KeyReaction::Quit => KeyReaction::Quit,
            KeyReaction::Continue | KeyReaction::Do(_) => KeyReaction::Continue,
        }
    }

    pub(super) fn key(&mut self, key: KeyEvent) -> KeyReaction {
        if key.kind == KeyEventKind::Release {
            return KeyReaction::Continue;
        }
        let is_interrupt =
            key.code == KeyCode::Char('c') && key.modifiers.contains(KeyModifiers::CONTROL);
        if is_interrupt {
            return KeyReaction::Quit;
        }
        if matches!(self.question, Some(BoardAction::Decide { .. })) && self.scrolls(key.code) {
            return KeyReaction::Continue;
        }
        if let Some(wish) = self.question.take() {
            let is_yes = matches!(key.code, KeyCode::Char('y') | KeyCode::Enter);
            return if is_yes {
                KeyReaction::Do(wish)
            } else {
                KeyReaction::Continue
            };
        }
        self.notice.clear();
        #[expect(
            clippy::wildcard_enum_match_arm,
            reason = "a keyboard has more keys than we use"
        )]
        match key.code {
            KeyCode::Char('q') | KeyCode::Esc => return KeyReaction::Quit,
            KeyCode::Char('r') => return KeyReaction::Do(BoardAction::Refresh),
            KeyCode::Tab | KeyCode::Right => self.turn_to(match self.focus {
                Pane::Sessions => Pane::Inbox,
                Pane::Inbox => Pane::Runs,
                Pane::Runs => Pane::Sessions,
            }),
            KeyCode::BackTab | KeyCode::Left => self.turn_to(match self.focus {
                Pane::Sessions => Pane::Runs,
                Pane::Inbox => Pane::Sessions,
                Pane::Runs => Pane::Inbox,
            }),
            KeyCode::Down | KeyCode::Char('j') => {
                self.selected = (self.selected + 1).min(self.lines().saturating_sub(1));
            }
            KeyCode::Up | KeyCode::Char('k') => self.selected = self.selected.saturating_sub(1),
            KeyCode::Char('s') => self.question = self.stop(),
            KeyCode::Char('a') => return self.decide(ReviewDecision::Approved),
            KeyCode::Char('d') => return self.decide(ReviewDecision::Denied),
            _ => {}
        }
        KeyReaction::Continue
    }

    fn turn_to(&mut self, pane: Pane) {
        self.focus = pane;
        self.selected = 0;
    }

    fn stop(&mut self) -> Option<BoardAction> {
        if self.focus != Pane::Sessions {
            self.turn_to(Pane::Sessions);
            return None;
        }
        let session = self.snapshot.sessions.get(self.selected)?;
        Some(BoardAction::Stop {
            session_ref: session.session_ref.clone(),
            whose: format!("{} ({})", session.agent, session.project),
        })
    }

    fn decide(&mut self, decision: ReviewDecision) -> KeyReaction {
        if self.focus != Pane::Inbox {
            self.turn_to(Pane::Inbox);
            return KeyReaction::Continue;
        }
        let subject = self.snapshot.inbox.get(self.selected).cloned();
        subject.map_or(KeyReaction::Continue, |subject| {
            KeyReaction::Do(BoardAction::Show { subject, decision })
        })
    }

    /// Applies the result of an action.
    pub(super) fn done(&mut self, outcome: ActionOutcome) {
        match outcome {
            ActionOutcome::Done(notice) => self.notice = notice,
            ActionOutcome::Ask(question) => {
                self.question = Some(question);
                self.scroll = 0;
            }
        }
    }

    /// Scrolls the shown item. Returns whether the key is a scroll key.
    fn scrolls(&mut self, code: KeyCode) -> bool {
        #[expect(
            clippy::wildcard_enum_match_arm,
            reason = "a keyboard has more keys than we use"
        )]
        match code {
            KeyCode::Down | KeyCode::Char('j') => self.scroll = self.scroll.saturating_add(1),
            KeyCode::Up | KeyCode::Char('k') => self.scroll = self.scroll.saturating_sub(1),
            _ => return false,
        }
        true
    }
}
