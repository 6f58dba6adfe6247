//! The path of a process's output from the pipes into the sink, and the signs in it that the session acts on.

use std::{fs::File, sync::Arc};

use drivers::{codex_app_server::Conversation, output::Stream, usage};
use serde_json::Value;
use tokio::{
    io::AsyncWriteExt as _,
    process::ChildStdin,
    sync::{mpsc, watch},
    time::Instant,
};

use crate::{
    output::{self, Piece},
    pipes::Pipes,
    sink::{Observations, Sink},
};

/// Capacity of the queue of output pieces that wait to be written.
const WAITING_PIECES: usize = 8;
/// Size at which a batch of output is full and is written, in bytes.
pub(super) const BATCH_BYTES: usize = 256 << 10;

/// A fact in the output that the session has to act on.
#[derive(Debug)]
pub(super) enum Sign {
    /// The turn of an app server is over.
    Completed,
    /// The app server has named the thread and the turn; the third value is the conversation at that time.
    Named(Option<String>, Option<String>, Box<Conversation>),
    /// The app server has answered all requests that precede the turn.
    Answered,
    /// The worker reported its token usage so far.
    Used(usage::TokenCounts),
    /// The worker retries although the provider will keep rejecting its key.
    Hopeless,
    /// The output cannot be written to the files or the event log.
    Unwritable(String),
}

/// The output of a process while it is read.
pub(super) struct Printed {
    /// Pieces that were read and are not yet written.
    pub(super) waiting: mpsc::Receiver<Piece>,
    /// Time of the last read that returned output.
    pub(super) read_at: Arc<watch::Sender<Instant>>,
    /// Set to true to stop reading before the pipes are closed.
    pub(super) stop_reading: watch::Sender<bool>,
    /// The lock on the pipes. `None` if the pipes have no names.
    pub(super) lock: Option<File>,
}

impl Printed {
    pub(super) fn read(pipes: Pipes) -> Self {
        let (pieces, waiting) = mpsc::channel(WAITING_PIECES);
        let (stop_reading, stopped) = watch::channel(false);
        let read_at = Arc::new(watch::Sender::new(Instant::now()));
        for (stream, pipe) in [
            (Stream::Stdout, pipes.stdout),
            (Stream::Stderr, pipes.stderr),
        ] {
            tokio::spawn(output::read(
                stream,
                pipe,
                pieces.clone(),
                stopped.clone(),
                Arc::clone(&read_at),
            ));
        }
        Self {
            waiting,
            read_at,
            stop_reading,
            lock: pipes.lock,
        }
    }
}

/// Writes output into the sink as it arrives. After an error it continues to read and discards the output, so that the
/// process does not block on a full pipe.
pub(super) async fn pump(
    mut sink: Sink,
    mut waiting: mpsc::Receiver<Piece>,
    sign_sender: mpsc::UnboundedSender<Sign>,
) -> (Sink, Option<company::Error>) {
    let mut failure = None;
    while let Some(piece) = waiting.recv().await {
        if failure.is_some() {
            continue;
        }
        let mut bytes = piece.bytes.len();
        let mut pieces = vec![piece];
        while bytes < BATCH_BYTES
            && let Ok(piece) = waiting.try_recv()
        {
            bytes += piece.bytes.len();
            pieces.push(piece);
        }
        let taken = tokio::task::spawn_blocking(move || {
            let observed = sink.take(pieces);
            (sink, observed)
        });
        let observed;
        (sink, observed) = taken.await.expect("nothing in a sink panics");
        match observed {
            Ok(observed) => send_signs(&sink, observed, &sign_sender),
            Err(error) => {
                let _ = sign_sender.send(Sign::Unwritable(error.to_string()));
                failure = Some(error);
            }
        }
    }
    if failure.is_none() {
        let finished = tokio::task::spawn_blocking(move || {
            let observed = sink.finish();
            (sink, observed)
        });
        let observed;
        (sink, observed) = finished.await.expect("nothing in a sink panics");
        match observed {
            Ok(observed) => send_signs(&sink, observed, &sign_sender),
            Err(error) => failure = Some(error),
        }
    }
    (sink, failure)
}

fn send_signs(sink: &Sink, observed: Observations, sign_sender: &mpsc::UnboundedSender<Sign>) {
    let mut signs = Vec::new();
    if let (Some((thread, turn)), Some((conversation, _))) = (observed.named, &sink.conversation) {
        signs.push(Sign::Named(thread, turn, Box::new(conversation.clone())));
    }
    if sink
        .conversation
        .as_ref()
        .is_some_and(|(conversation, _)| !conversation.is_waiting())
    {
        signs.push(Sign::Answered);
    }
    signs.extend(observed.usage.map(Sign::Used));
    if observed.hopeless {
        signs.push(Sign::Hopeless);
    }
    if observed.completed {
        signs.push(Sign::Completed);
    }
    for sign in signs {
        // The receiver is closed once the process has ended.
        let _ = sign_sender.send(sign);
    }
}

/// Writes messages to an app server. A `null` message closes its input, which makes the server exit.
pub(super) async fn converse(mut pipe: ChildStdin, mut messages: mpsc::UnboundedReceiver<Value>) {
    while let Some(message) = messages.recv().await.filter(|message| !message.is_null()) {
        if pipe
            .write_all(format!("{message}\n").as_bytes())
            .await
            .is_err()
        {
            return;
        }
    }
}
