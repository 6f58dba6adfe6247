//! Draws the board, the screen of `ac watch`.

use protocol::company::{
    ReviewDecision,
    session::{CompanySessionQueueReason, CompanySessionQueueReasonCode},
};
use ratatui::{
    Frame,
    layout::{Constraint, Layout, Rect},
    style::{Modifier, Style},
    text::Line,
    widgets::{Block, List, ListState, Paragraph, Wrap},
};

use super::board::{Board, BoardAction, Pane, RunLine, SessionLine};
use crate::terminal;

pub(super) fn draw(frame: &mut Frame<'_>, board: &Board) {
    let [head, middle, foot] = Layout::vertical([
        Constraint::Length(1),
        Constraint::Min(6),
        Constraint::Length(1),
    ])
    .areas(frame.area());
    if let Some(BoardAction::Decide { subject, shown, .. }) = &board.question {
        let block = Block::bordered().title(subject.title.as_str());
        let text = Paragraph::new(shown.text.as_str()).block(block);
        let text = text.wrap(Wrap { trim: false });
        frame.render_widget(text.scroll((board.scroll, 0)), middle);
        frame.render_widget(Paragraph::new(footer(board)), foot);
        return;
    }
    let [left, right] =
        Layout::horizontal([Constraint::Percentage(55), Constraint::Percentage(45)]).areas(middle);
    let [sessions, runs] =
        Layout::vertical([Constraint::Percentage(45), Constraint::Percentage(55)]).areas(left);
    let [inbox, events] =
        Layout::vertical([Constraint::Percentage(45), Constraint::Percentage(55)]).areas(right);
    let snapshot = &board.snapshot;
    let waiting = snapshot.sessions.iter();
    let waiting = waiting.filter(|one| one.queue_position.is_some()).count();
    let running = snapshot.sessions.len() - waiting;
    let title = format!(
        "{}   {running} running   {waiting} in the queue   {} waiting for you",
        board.company,
        snapshot.inbox.len()
    );
    let bold = Style::new().add_modifier(Modifier::BOLD);
    frame.render_widget(Paragraph::new(title).style(bold), head);
    let lines = snapshot.sessions.iter().map(session_line).collect();
    pane(frame, sessions, board, Pane::Sessions, "Sessions", lines);
    let lines = snapshot.inbox.iter();
    let lines = lines
        .map(|one| format!("{}  ({})", one.title, one.kind))
        .collect();
    pane(frame, inbox, board, Pane::Inbox, "Inbox", lines);
    let lines = snapshot.runs.iter().map(run_line).collect();
    pane(frame, runs, board, Pane::Runs, "Runs", lines);
    let lines = board.events.iter().map(|line| Line::raw(line.as_str()));
    let list = List::new(lines).block(Block::bordered().title("Events"));
    frame.render_widget(list, events);
    frame.render_widget(Paragraph::new(footer(board)), foot);
}

fn pane(
    frame: &mut Frame<'_>,
    area: Rect,
    board: &Board,
    pane: Pane,
    title: &str,
    lines: Vec<String>,
) {
    let is_focused = board.focus == pane;
    let mut block = Block::bordered().title(format!("{title} ({})", lines.len()));
    if is_focused {
        block = block.border_style(Style::new().add_modifier(Modifier::BOLD));
    }
    let selected = (is_focused && !lines.is_empty()).then_some(board.selected);
    let list = List::new(lines)
        .block(block)
        .highlight_symbol("> ")
        .highlight_style(Style::new().add_modifier(Modifier::REVERSED));
    let mut state = ListState::default().with_selected(selected);
    frame.render_stateful_widget(list, area, &mut state);
}

fn session_line(session: &SessionLine) -> String {
    let state = match session.queue_position {
        None => "running".to_owned(),
        Some(position) => format!("queued {position}"),
    };
    let (minutes, seconds) = (session.seconds / 60, session.seconds % 60);
    let line = format!(
        "{state:9} {minutes:3}:{seconds:02}  {}  {}",
        session.agent, session.project
    );
    match &session.queue_reason {
        None => line,
        Some(reason) => format!("{line}  ({})", short(reason)),
    }
}

/// Describes in a few words why a session is queued, because the pane is narrow.
fn short(reason: &CompanySessionQueueReason) -> String {
    let subject = terminal::harmless(&reason.subject);
    let limit = reason.limit.unwrap_or_default();
    match reason.reason_code {
        CompanySessionQueueReasonCode::Cooldown => match reason.until.as_deref().map(local_time) {
            Some(until) => format!("{subject} cools down until {until}"),
            None => format!("{subject} cools down"),
        },
        CompanySessionQueueReasonCode::WorkspaceLimit => format!("company limit {limit}"),
        CompanySessionQueueReasonCode::ProviderLimit => format!("{subject} limit {limit}"),
        CompanySessionQueueReasonCode::TeamLimit => format!("team {subject} limit {limit}"),
        CompanySessionQueueReasonCode::Starting => "starting".to_owned(),
    }
}

/// Formats a timestamp as the local time of day. Any other text is returned unchanged.
fn local_time(text: &str) -> String {
    let Ok(time) = text.parse::<jiff::Timestamp>() else {
        return terminal::harmless(text);
    };
    let here = time.to_zoned(jiff::tz::TimeZone::system());
    here.strftime("%H:%M:%S").to_string()
}

fn run_line(run: &RunLine) -> String {
    let RunLine {
        goal,
        agent,
        project,
        provider,
        status,
        ..
    } = run;
    match goal {
        Some(goal) => format!("{status:11} {goal}  ({agent}, {project})"),
        None => format!("{status:11} {agent}  {project}  {provider}"),
    }
}

fn footer(board: &Board) -> String {
    match &board.question {
        Some(BoardAction::Stop { whose, .. }) => format!("Stop the session of {whose}? y/n"),
        Some(BoardAction::Decide {
            subject, decision, ..
        }) => {
            let word = match decision {
                ReviewDecision::Approved => "Approve",
                ReviewDecision::Denied => "Deny",
            };
            format!("{word} `{}`? y/n   ↑↓ scroll", subject.title)
        }
        Some(BoardAction::Refresh | BoardAction::Show { .. }) | None if board.notice.is_empty() => {
            "tab pane   ↑↓ line   s stop   a approve   d deny   r refresh   q quit".to_owned()
        }
        Some(BoardAction::Refresh | BoardAction::Show { .. }) | None => board.notice.clone(),
    }
}
