//! `ac watch`: a live view of a company in the terminal.
//!
//! `source.rs` talks to the gateway, `board.rs` holds the state and handles keys, `view.rs` draws it.

use std::{
    io::{self, IsTerminal as _},
    thread,
    time::Duration,
};

use clap::Args;
use gateway::{Home, Sources};
use ratatui::crossterm::event::{self, Event};
use serde_json::json;
use tokio::{
    sync::mpsc,
    time::{Instant, sleep_until},
};

use super::{HomeOption, inbox::InboxSources};
use crate::{failure::Failure, folder::CompanyOption, local::Local, terminal};

mod board;
mod source;
#[cfg(test)]
mod tests;
mod view;

use board::{ActionOutcome, Board, KeyReaction};
use source::CompanySource;

/// Interval between refreshes without events.
const REFRESH_INTERVAL: Duration = Duration::from_secs(2);
/// Interval between attempts to reconnect to a gateway.
const RETRY: Duration = Duration::from_millis(500);
/// Delay of a refresh after an event, which bundles several events.
const EVENT_DELAY: Duration = Duration::from_millis(150);

/// Watch runs, sessions, events and the inbox of a company in the terminal, stop sessions and decide.
#[derive(Args, Debug)]
pub(crate) struct WatchCommand {
    #[command(flatten)]
    home: HomeOption,
    #[command(flatten)]
    company: CompanyOption,
    /// Print the current state as JSON and exit.
    #[arg(long)]
    json: bool,
}

impl WatchCommand {
    pub(crate) async fn run(self) -> Result<(), Failure> {
        let is_shown = io::stdout().is_terminal() && io::stdin().is_terminal();
        if !is_shown && !self.json {
            return Err(Failure::Argument {
                detail: "`ac watch` needs a terminal: use `ac watch --json` or `ac status`"
                    .to_owned(),
            });
        }
        let Self {
            home,
            company,
            json: as_json,
        } = self;
        if as_json {
            return Local::with(&home, |local| async move {
                let source = source(&local, &company).await?;
                let snapshot = source.look(Sources::system().clock.now_ms()).await?;
                terminal::answer(&json!(snapshot), true)
            })
            .await;
        }
        shown(&home, &company).await
    }
}

/// Shows the board on the terminal and restores the terminal afterwards, even after a panic.
async fn shown(home: &HomeOption, company: &CompanyOption) -> Result<(), Failure> {
    let mut screen = ratatui::try_init()?;
    let draw = |board: &Board| screen.draw(|frame| view::draw(frame, board)).map(drop);
    let ended = tokio::select! {
        ended = follow(home, company, keys(), draw) => ended,
        () = super::stop_signal() => Ok(()),
    };
    ratatui::restore();
    ended
}

/// Shows a company until the user quits. If the gateway that serves the home stops, the board stays and reconnects to
/// the next gateway of the home.
async fn follow(
    home: &HomeOption,
    company: &CompanyOption,
    mut keys: mpsc::Receiver<Event>,
    mut draw: impl FnMut(&Board) -> io::Result<()>,
) -> Result<(), Failure> {
    let mut board = None;
    loop {
        let (keys, draw, board) = (&mut keys, &mut draw, &mut board);
        let ended = Local::with(home, async |local| {
            let source = source(&local, company).await?;
            let board = board.get_or_insert_with(|| Board::new(&source.company));
            board.notice.clear();
            match live(&source, board, keys, draw).await {
                Err(failure) if local.is_remote() && is_lost(&failure) => Ok(ViewEnd::Lost),
                ended => ended,
            }
        })
        .await;
        let Some(board) = board else {
            // The first connection failed.
            return ended.map(drop);
        };
        match ended {
            Ok(ViewEnd::Quit) => return Ok(()),
            Ok(ViewEnd::Lost) => {}
            Err(failure) if is_lost(&failure) => {}
            Err(failure) => return Err(failure),
        }
        board.notice = "The connection to the gateway ended. Reconnecting…   q quit".to_owned();
        if gateway_is_back(home, board, keys, draw).await? == ViewEnd::Quit {
            return Ok(());
        }
    }
}

/// The reason why the live view ended.
#[derive(Clone, Copy, Debug, PartialEq)]
enum ViewEnd {
    /// The user quits.
    Quit,
    /// The connection to the gateway was lost, or a gateway is available again.
    Lost,
}

/// Returns whether the connection was lost, as opposed to a rejected call.
fn is_lost(failure: &Failure) -> bool {
    use rpc::client::Error;
    matches!(
        failure,
        Failure::Call(Error::Closed | Error::Unreachable(_))
    )
}

/// Waits until a gateway serves the home or the user quits.
async fn gateway_is_back(
    home: &HomeOption,
    board: &mut Board,
    keys: &mut mpsc::Receiver<Event>,
    draw: &mut impl FnMut(&Board) -> io::Result<()>,
) -> Result<ViewEnd, Failure> {
    loop {
        draw(board)?;
        tokio::select! {
            biased;
            key = keys.recv() => match key {
                None => return Ok(ViewEnd::Quit),
                Some(Event::Key(key)) if board.key_while_lost(key) == KeyReaction::Quit => {
                    return Ok(ViewEnd::Quit);
                }
                Some(_) => {}
            },
            () = tokio::time::sleep(RETRY) => {
                let path = home.path()?;
                let served_at = super::blocking(move || Ok(Home::open(&path)?.served_at()));
                let served_at: Result<_, gateway::Error> = served_at.await?;
                if served_at?.is_some() {
                    return Ok(ViewEnd::Lost);
                }
            }
        }
    }
}

/// Creates the source for the company folder of a connection.
async fn source<'a>(
    local: &'a Local,
    company: &CompanyOption,
) -> Result<CompanySource<'a>, Failure> {
    let dir = local.company(company).await?;
    let inbox_sources = InboxSources::of(local, company).await?;
    CompanySource::new(&local.client, dir, inbox_sources).await
}

/// Updates the board until the user quits or a call fails.
async fn live(
    source: &CompanySource<'_>,
    board: &mut Board,
    keys: &mut mpsc::Receiver<Event>,
    draw: &mut impl FnMut(&Board) -> io::Result<()>,
) -> Result<ViewEnd, Failure> {
    let clock = Sources::system().clock;
    source.subscribe().await?;
    let mut next_look = Instant::now();
    loop {
        tokio::select! {
            biased;
            key = keys.recv() => match key {
                None => return Ok(ViewEnd::Quit),
                Some(Event::Key(key)) => match board.key(key) {
                    KeyReaction::Continue => {}
                    KeyReaction::Quit => return Ok(ViewEnd::Quit),
                    KeyReaction::Do(wish) => {
                        board.done(match source.perform(&wish).await {
                            Ok(done) => done,
                            Err(failure) => ActionOutcome::Done(failure.to_string()),
                        });
                        next_look = Instant::now();
                    }
                },
                Some(_) => {}
            },
            notification = source.notification() => match notification {
                None => return Err(Failure::Call(rpc::client::Error::Closed)),
                Some(notification) => {
                    board.add_event(&notification, source);
                    next_look = next_look.min(Instant::now() + EVENT_DELAY);
                }
            },
            () = sleep_until(next_look) => {
                board.set_snapshot(source.look(clock.now_ms()).await?);
                next_look = Instant::now() + REFRESH_INTERVAL;
            }
        }
        draw(board)?;
    }
}

/// Reads terminal events in a separate thread, which ends when the receiver is dropped.
fn keys() -> mpsc::Receiver<Event> {
    const POLL_INTERVAL: Duration = Duration::from_millis(100);
    let (typed, keys) = mpsc::channel(64);
    thread::spawn(move || {
        while !typed.is_closed() {
            match event::poll(POLL_INTERVAL) {
                Ok(false) => {}
                Ok(true) => {
                    let Ok(event) = event::read() else { return };
                    if typed.blocking_send(event).is_err() {
                        return;
                    }
                }
                Err(_) => return,
            }
        }
    });
    keys
}
