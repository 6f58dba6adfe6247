//! `ac watch`: what happens in a company, live, in the terminal.
//!
//! `source.rs` asks the gateway, `board.rs` is what is known and what keys do to it, `view.rs` draws it.

use std::{
    io::{self, IsTerminal as _},
    thread,
    time::Duration,
};

use clap::Args;
use gateway::Sources;
use ratatui::{
    DefaultTerminal,
    crossterm::event::{self, Event},
};
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

use board::{Board, Next};
use source::Source;

/// How often to look, whatever happens.
const EVERY: Duration = Duration::from_secs(2);
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
        Local::with(&home, |local| async move {
            let dir = local.company(&company).await?;
            let tray = Tray::of(&local, &company).await?;
            let source = Source::new(&local.client, dir, tray).await?;
            match as_json {
                true => {
                    let snapshot = source.look(Sources::system().clock.now_ms()).await?;
                    terminal::answer(&json!(snapshot), true)
                }
                false => shown(&source).await,
            }
        })
        .await
    }
}

/// Gives the terminal to the board, and back whatever happens: also a panic restores it.
async fn shown(source: &Source<'_>) -> Result<(), Failure> {
    let mut screen = ratatui::try_init()?;
    let ended = tokio::select! {
        ended = live(source, &mut screen) => ended,
        () = super::stop_signal() => Ok(()),
    };
    ratatui::restore();
    ended
}

async fn live(source: &Source<'_>, screen: &mut DefaultTerminal) -> Result<(), Failure> {
    let mut keys = keys();
    let clock = Sources::system().clock;
    let mut board = Board::new(&source.company);
    source.subscribe().await?;
    let mut next_look = Instant::now();
    loop {
        tokio::select! {
            biased;
            key = keys.recv() => match key {
                None => return Ok(()),
                Some(Event::Key(key)) => match board.key(key) {
                    Next::Go => {}
                    Next::Quit => return Ok(()),
                    Next::Do(wish) => {
                        board.notice = match source.perform(&wish).await {
                            Ok(done) => done,
                            Err(failure) => failure.to_string(),
                        };
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
        screen.draw(|frame| view::draw(frame, &board))?;
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
