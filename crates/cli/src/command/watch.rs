//! `ac watch`: what happens in a company, live, in the terminal.
//!
//! `source.rs` asks the gateway, `board.rs` is what is known and what keys do to it, `view.rs` draws it.

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

use super::{HomeOption, inbox::Tray};
use crate::{failure::Failure, folder::CompanyOption, local::Local, terminal};

mod board;
mod source;
#[cfg(test)]
mod tests;
mod view;

use board::{Board, Next, Outcome};
use source::Source;

/// How often to look, whatever happens.
const EVERY: Duration = Duration::from_secs(2);
/// How often to look for a gateway when the last one is gone.
const RETRY: Duration = Duration::from_millis(500);
/// How soon to look when something happened.
const SOON: Duration = Duration::from_millis(150);

/// Watch runs, sessions, events and the inbox of a company in the terminal; stop and decide from there.
#[derive(Args, Debug)]
pub(crate) struct Watch {
    #[command(flatten)]
    home: HomeOption,
    #[command(flatten)]
    company: CompanyOption,
    /// Print what would be shown as JSON, once.
    #[arg(long)]
    json: bool,
}

impl Watch {
    pub(crate) async fn run(self) -> Result<(), Failure> {
        let is_shown = io::stdout().is_terminal() && io::stdin().is_terminal();
        if !is_shown && !self.json {
            return Err(Failure::Argument {
                detail: "`ac watch` needs a terminal: `ac watch --json` and `ac status` do not"
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

/// Gives the terminal to the board, and back whatever happens: also a panic restores it.
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

/// Shows a company until the person quits. When the gateway that serves the home goes away, the board stays, and goes
/// on with the next gateway of the home.
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
                Err(failure) if local.is_remote() && is_lost(&failure) => Ok(Ended::Lost),
                ended => ended,
            }
        })
        .await;
        let Some(board) = board else {
            // There has been no connection yet.
            return ended.map(drop);
        };
        match ended {
            Ok(Ended::Quit) => return Ok(()),
            Ok(Ended::Lost) => {}
            Err(failure) if is_lost(&failure) => {}
            Err(failure) => return Err(failure),
        }
        board.notice = "The connection to the gateway ended. Reconnecting…   q quit".to_owned();
        if gateway_is_back(home, board, keys, draw).await? == Ended::Quit {
            return Ok(());
        }
    }
}

/// Why the board is not shown any more.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Ended {
    /// The person quits.
    Quit,
    /// The gateway is gone, or one is back.
    Lost,
}

/// Whether the gateway is gone, rather than refusing something.
fn is_lost(failure: &Failure) -> bool {
    use rpc::client::Error;
    matches!(
        failure,
        Failure::Call(Error::Closed | Error::Unreachable(_))
    )
}

/// Waits until a gateway serves the home, or the person quits.
async fn gateway_is_back(
    home: &HomeOption,
    board: &mut Board,
    keys: &mut mpsc::Receiver<Event>,
    draw: &mut impl FnMut(&Board) -> io::Result<()>,
) -> Result<Ended, Failure> {
    loop {
        draw(board)?;
        tokio::select! {
            biased;
            key = keys.recv() => match key {
                None => return Ok(Ended::Quit),
                Some(Event::Key(key)) if board.key_while_lost(key) == Next::Quit => {
                    return Ok(Ended::Quit);
                }
                Some(_) => {}
            },
            () = tokio::time::sleep(RETRY) => {
                let path = home.path()?;
                let served_at = super::blocking(move || Ok(Home::open(&path)?.served_at()));
                let served_at: Result<_, gateway::Error> = served_at.await?;
                if served_at?.is_some() {
                    return Ok(Ended::Lost);
                }
            }
        }
    }
}

/// The company folder behind a connection.
async fn source<'a>(local: &'a Local, company: &CompanyOption) -> Result<Source<'a>, Failure> {
    let dir = local.company(company).await?;
    let tray = Tray::of(local, company).await?;
    Source::new(&local.client, dir, tray).await
}

/// Shows what happens until the person quits or a call fails.
async fn live(
    source: &Source<'_>,
    board: &mut Board,
    keys: &mut mpsc::Receiver<Event>,
    draw: &mut impl FnMut(&Board) -> io::Result<()>,
) -> Result<Ended, Failure> {
    let clock = Sources::system().clock;
    source.subscribe().await?;
    let mut next_look = Instant::now();
    loop {
        tokio::select! {
            biased;
            key = keys.recv() => match key {
                None => return Ok(Ended::Quit),
                Some(Event::Key(key)) => match board.key(key) {
                    Next::Go => {}
                    Next::Quit => return Ok(Ended::Quit),
                    Next::Do(wish) => {
                        board.done(match source.perform(&wish).await {
                            Ok(done) => done,
                            Err(failure) => Outcome::Done(failure.to_string()),
                        });
                        next_look = Instant::now();
                    }
                },
                Some(_) => {}
            },
            told = source.notification() => match told {
                None => return Err(Failure::Call(rpc::client::Error::Closed)),
                Some(told) => {
                    board.told(&told, source);
                    next_look = next_look.min(Instant::now() + SOON);
                }
            },
            () = sleep_until(next_look) => {
                board.seen(source.look(clock.now_ms()).await?);
                next_look = Instant::now() + EVERY;
            }
        }
        draw(board)?;
    }
}

/// What is typed, read by a thread of its own. It ends when nobody listens.
fn keys() -> mpsc::Receiver<Event> {
    const LOOK: Duration = Duration::from_millis(100);
    let (typed, keys) = mpsc::channel(64);
    thread::spawn(move || {
        while !typed.is_closed() {
            match event::poll(LOOK) {
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
