//! Newline-delimited JSON on standard input and output.
//!
//! Two blocking threads do the reading and the writing, because tokio's own stdio costs a thread hop per line.
//! They meet the requests through bounded channels, so a client that floods us is read no faster than it is
//! answered.

use std::{
    io::{self, BufRead, Write},
    sync::Arc,
    time::Duration,
};

use tokio::{runtime::Handle, sync::mpsc};

use crate::{Closing, Outbox, Service, envelope::Rules, lane::Lane, outbox::Outgoing};

/// How long requests may take once the process is to end.
const GRACE: Duration = Duration::from_secs(5);

/// How the lines of a client are taken.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// Requests that run at the same time; 1 answers in the order of arrival.
    pub concurrency: usize,
    /// The longest line in bytes.
    pub max_line_bytes: usize,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            concurrency: crate::MAX_CONCURRENT,
            max_line_bytes: 64 << 20,
        }
    }
}

/// Serves one client until the end of its input, until its output is gone, or until `stop` resolves.
///
/// Everything read before the end is answered before this returns, within the grace period once stopped.
pub async fn run<S: Service>(
    service: Arc<S>,
    options: Options,
    input: impl BufRead + Send + 'static,
    output: impl Write + Send + 'static,
    stop: impl Future<Output = ()>,
) {
    let lane = Lane::new(service, Rules::Stdio, options.concurrency);
    let outbox = Arc::clone(lane.outbox());
    outbox.carry_text_only();
    let (lines_in, mut lines) = mpsc::channel::<Line>(options.concurrency);
    // Nobody joins the reading thread: it may sit in a read that never returns.
    std::thread::spawn(move || read_lines(input, options.max_line_bytes, &lines_in));
    let handle = Handle::current();
    let writing = std::thread::spawn({
        let outbox = Arc::clone(&outbox);
        move || write_texts(&handle, &outbox, output)
    });

    tokio::pin!(stop);
    let mut stopped = false;
    loop {
        let line = tokio::select! {
            line = lines.recv() => line,
            _ = outbox.closed() => None,
            () = &mut stop => {
                stopped = true;
                None
            }
        };
        match line {
            Some(Line::Text(text)) => lane.take_in_turn(&text).await,
            Some(Line::TooLong) => lane.refuse_oversized(options.max_line_bytes).await,
            None => break,
        }
    }
    if stopped {
        let _ = tokio::time::timeout(GRACE, lane.finish()).await;
    } else {
        lane.finish().await;
    }
    outbox.close(Closing::NORMAL);
    let _ = tokio::task::spawn_blocking(move || writing.join()).await;
}

enum Line {
    Text(String),
    TooLong,
}

/// Sends every line that is not blank, until the input ends or nobody listens.
fn read_lines(mut input: impl BufRead, longest: usize, lines: &mpsc::Sender<Line>) {
    let mut line = Vec::new();
    loop {
        line.clear();
        let read = match read_line(&mut input, longest, &mut line) {
            Ok(read) => read,
            Err(error) => {
                tracing::warn!(%error, "standard input cannot be read");
                return;
            }
        };
        let message = match read {
            Read::Line => {
                // Invalid UTF-8 inside a string is replaced, not fatal.
                let text = String::from_utf8_lossy(&line);
                let text = text.trim_matches(|character: char| {
                    character.is_whitespace() || character == '\u{feff}'
                });
                if text.is_empty() {
                    continue;
                }
                Line::Text(text.to_owned())
            }
            Read::TooLong => Line::TooLong,
            Read::End => return,
        };
        if lines.blocking_send(message).is_err() {
            return;
        }
    }
}

#[derive(Debug, PartialEq)]
enum Read {
    Line,
    TooLong,
    End,
}

/// Reads up to the next line end; of a line that is too long nothing is kept.
fn read_line(input: &mut impl BufRead, longest: usize, line: &mut Vec<u8>) -> io::Result<Read> {
    let mut too_long = false;
    let mut any = false;
    loop {
        let available = match input.fill_buf() {
            Ok(available) => available,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        let end = available.iter().position(|byte| *byte == b'\n');
        let taken = end.map_or(available.len(), |end| end + 1);
        any |= taken > 0;
        too_long |= line.len() + end.unwrap_or(taken) > longest;
        if too_long {
            line.clear();
        } else {
            line.extend_from_slice(&available[..end.unwrap_or(taken)]);
        }
        input.consume(taken);
        if end.is_some() || taken == 0 {
            return Ok(match (too_long, any) {
                (true, _) => Read::TooLong,
                (false, true) => Read::Line,
                (false, false) => Read::End,
            });
        }
    }
}

/// Writes whatever waits, and flushes when nothing more does.
fn write_texts(handle: &Handle, outbox: &Outbox, mut output: impl Write) {
    while let Ok(outgoing) = handle.block_on(outbox.next()) {
        let written = outgoing.iter().try_for_each(|one| {
            // Lines cannot carry binary frames; handlers ask `Outbox::carries_frames` and answer in text instead.
            let Outgoing::Text(text) = one else {
                return Ok(());
            };
            output.write_all(text.as_bytes())?;
            output.write_all(b"\n")
        });
        if let Err(error) = written.and_then(|()| output.flush()) {
            tracing::debug!(%error, "standard output is gone");
            outbox.close(Closing::NORMAL);
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(input: &[u8], longest: usize) -> Vec<String> {
        let mut input = io::BufReader::with_capacity(3, input);
        let (mut line, mut seen) = (Vec::new(), Vec::new());
        loop {
            line.clear();
            match read_line(&mut input, longest, &mut line).unwrap() {
                Read::Line => seen.push(String::from_utf8_lossy(&line).into_owned()),
                Read::TooLong => seen.push("too long".into()),
                Read::End => return seen,
            }
        }
    }

    #[test]
    fn a_last_line_without_end_counts() {
        assert_eq!(lines(b"one\n\ntwo", 10), ["one", "", "two"]);
    }

    #[test]
    fn a_line_that_is_too_long_is_skipped_to_its_end() {
        assert_eq!(
            lines(b"0123456789\n01234567890\nok\n", 10),
            ["0123456789", "too long", "ok"]
        );
    }
}
