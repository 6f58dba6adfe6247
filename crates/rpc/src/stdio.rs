//! Newline-delimited JSON on standard input and output.
//!
//! Two blocking threads read and write, because tokio's own stdio costs a thread hop per line. Bounded channels connect
//! them to the request handling, so that a client's input is read no faster than its requests are answered.

use std::{
    io::{self, BufRead, Write},
    sync::Arc,
    time::Duration,
};

use tokio::{runtime::Handle, sync::mpsc};

use crate::{
    Closing, Outbox, Service, envelope::Rules, outbox::Outgoing, request_queue::RequestQueue,
};

/// Maximum time that running requests get to finish after `stop` resolves.
const GRACE: Duration = Duration::from_secs(5);

/// Limits for one stdio client.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// Number of requests that run concurrently. With 1, responses keep the order of the requests.
    pub concurrency: usize,
    /// Maximum length of a line, in bytes. Longer lines are rejected.
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

/// Serves one client until its input ends, its output is closed, or `stop` resolves.
///
/// Every request read before the end of input is answered before this returns. After `stop`, requests get a grace
/// period of five seconds.
pub async fn run<S: Service>(
    service: Arc<S>,
    options: Options,
    input: impl BufRead + Send + 'static,
    output: impl Write + Send + 'static,
    stop: impl Future<Output = ()>,
) {
    let queue = RequestQueue::new(service, Rules::Stdio, options.concurrency);
    let outbox = Arc::clone(queue.outbox());
    outbox.carry_text_only();
    let (lines_in, mut lines) = mpsc::channel::<Line>(options.concurrency);
    // The reading thread is not joined: it may be blocked in a read that never returns.
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
            Some(Line::Text(text)) => queue.take_in_turn(&text).await,
            Some(Line::TooLong) => queue.refuse_oversized(options.max_line_bytes).await,
            None => break,
        }
    }
    if stopped {
        let _ = tokio::time::timeout(GRACE, queue.finish()).await;
    } else {
        queue.finish().await;
    }
    outbox.close(Closing::NORMAL);
    let _ = tokio::task::spawn_blocking(move || writing.join()).await;
}

enum Line {
    Text(String),
    TooLong,
}

/// Sends every non-blank line until the input ends or the receiver is dropped.
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

/// Reads up to the next line end. The content of a line longer than `longest` is discarded.
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

/// Writes queued messages and flushes after each batch.
fn write_texts(handle: &Handle, outbox: &Outbox, mut output: impl Write) {
    while let Ok(outgoing) = handle.block_on(outbox.next()) {
        let written = outgoing.iter().try_for_each(|one| {
            // Lines cannot carry binary frames; handlers check `Outbox::carries_frames` and respond with text instead.
            let Outgoing::Text(text) = one else {
                return Ok(());
            };
            output.write_all(text.as_bytes())?;
            output.write_all(b"\n")
        });
        if let Err(error) = written.and_then(|()| output.flush()) {
            tracing::debug!(%error, "standard output is closed");
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
