//! What a process prints on its way into the sink, and what has to be done about it.

use std::{fs::File, sync::Arc};

use serde_json::Value;
use tokio::{
    io::AsyncWriteExt as _,
    process::ChildStdin,
    sync::{mpsc, watch},
    time::Instant,
};

use crate::{
    driver::codex_app_server::Conversation,
    output::{self, Piece, Stream},
    pipes::Pipes,
    sink::{Heard, Sink},
    usage,
};

/// Pieces of output that wait to be written.
const WAITING_PIECES: usize = 8;
/// So much is written at once.
pub(super) const BATCH_BYTES: usize = 256 << 10;

/// What the output says that has to be acted upon.
#[derive(Debug)]
pub(super) enum Sign {
    /// The turn of an app server is over.
    Completed,
    /// The thread and the turn have names.
    Named(Option<String>, Option<String>, Box<Conversation>),
    /// The app server was answered.
    Answered,
    /// So much was used.
    Used(usage::TokenCounts),
    /// The worker tries in vain.
    Hopeless,
    /// It cannot be written down.
    Unwritable(String),
}

/// What a process prints, as it is read.
pub(super) struct Printed {
    pub(super) waiting: mpsc::Receiver<Piece>,
    pub(super) read_at: Arc<watch::Sender<Instant>>,
    pub(super) stop_reading: watch::Sender<bool>,
    /// The lock on the pipes.
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

/// Writes output down as it comes. After an error it goes on reading, so that the process can end.
pub(super) async fn pump(
    mut sink: Sink,
    mut waiting: mpsc::Receiver<Piece>,
    tell: mpsc::UnboundedSender<Sign>,
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
            let heard = sink.take(pieces);
            (sink, heard)
        });
        let heard;
        (sink, heard) = taken.await.expect("nothing in a sink panics");
        match heard {
            Ok(heard) => signs(&sink, heard, &tell),
            Err(error) => {
                let _ = tell.send(Sign::Unwritable(error.to_string()));
                failure = Some(error);
            }
        }
    }
    if failure.is_none() {
        let finished = tokio::task::spawn_blocking(move || {
            let heard = sink.finish();
            (sink, heard)
        });
        let heard;
        (sink, heard) = finished.await.expect("nothing in a sink panics");
        match heard {
            Ok(heard) => signs(&sink, heard, &tell),
            Err(error) => failure = Some(error),
        }
    }
    (sink, failure)
}

fn signs(sink: &Sink, heard: Heard, tell: &mpsc::UnboundedSender<Sign>) {
    let mut signs = Vec::new();
    if let (Some((thread, turn)), Some((conversation, _))) = (heard.named, &sink.conversation) {
        signs.push(Sign::Named(thread, turn, Box::new(conversation.clone())));
    }
    if sink
        .conversation
        .as_ref()
        .is_some_and(|(conversation, _)| !conversation.is_waiting())
    {
        signs.push(Sign::Answered);
    }
    signs.extend(heard.usage.map(Sign::Used));
    if heard.hopeless {
        signs.push(Sign::Hopeless);
    }
    if heard.completed {
        signs.push(Sign::Completed);
    }
    for sign in signs {
        // Nobody listens any more once the process has ended.
        let _ = tell.send(sign);
    }
}

/// Writes messages to an app server. `null` is the last one: then its input is closed, which ends it.
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
