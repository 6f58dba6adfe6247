//! Reads an events file back: the events as written, the lines that are not JSON, and the result of the chain
//! verification.
//!
//! The file is read in chunks, which several threads parse. Only the requested events are kept in memory.

use std::{
    collections::VecDeque,
    io,
    num::NonZeroUsize,
    panic,
    path::Path,
    thread::{self, available_parallelism},
};

use protocol::company::run::{
    ReplayMode, ReplayParseIssue, ReplayVerificationIssue, ReplayedEvents,
};
use serde_json::value::RawValue;

use crate::{
    Error,
    document::EventsTail,
    event_log::{
        Chunk, Chunks, is_blank,
        verify::{self, ChainVerifier, Code, LineVerification},
    },
};

/// Maximum number of reported lines that are not JSON.
const MAX_PARSE_ISSUES: usize = 1_000;
/// Maximum number of reported verification issues.
const MAX_VERIFICATION_ISSUES: usize = 10_000;
/// Maximum number of bytes that are returned of a line that is not JSON.
const MAX_RAW_BYTES: usize = 4 * 1024;
/// Maximum number of threads. More do not help, because one thread puts the results in order.
const MAX_THREADS: usize = 4;

/// Parameters of [`replay`].
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Whether the events are verified.
    pub mode: ReplayMode,
    /// Returns only the last `tail` events.
    pub tail: Option<NonZeroUsize>,
    /// Returns only events after this one. Events are numbered from 1; lines that are not JSON do not count.
    pub after_seq: u64,
    /// Maximum number of returned events.
    pub limit: Option<NonZeroUsize>,
    /// End of the log as recorded in the run's document. Checked when the end of the file is reached.
    pub events_tail: Option<EventsTail>,
}

/// Result of [`replay`].
#[derive(Debug)]
pub struct Replay {
    /// The requested events and their issues. `tail` does not limit the parse issues. A page contains the parse issues
    /// after its first event and before the first event of the next page; the first page also contains those at the
    /// beginning of the file.
    pub replayed: ReplayedEvents,
    /// Number of issues in events that were read but not returned. They do not affect `deterministic_ok`.
    pub issues_outside: u64,
    /// Number of parse and verification issues that exceeded the limits and are not returned.
    pub issues_left_off: u64,
}

/// Reads the events of a file. [`Error::is_missing`] holds for the error if the file does not exist.
pub fn replay(path: &Path, options: &Options) -> Result<Replay, Error> {
    let mut chunks = Chunks::open(path)?;
    let mut collector = Collector::new(options);
    let threads = available_parallelism().map_or(1, NonZeroUsize::get);
    let threads = threads.min(MAX_THREADS);
    loop {
        let mut round = Vec::with_capacity(threads);
        while round.len() < threads
            && let Some(chunk) = chunks
                .next()
                .map_err(|error: io::Error| Error::io("read", path, error))?
        {
            round.push(chunk);
        }
        if round.is_empty() {
            break;
        }
        let parsed = parse_round(&round, options.mode);
        for (chunk, lines) in round.iter().zip(parsed) {
            if collector.take(chunk, lines).is_break() {
                return Ok(collector.finish());
            }
        }
    }
    collector.reach_end();
    Ok(collector.finish())
}

/// A line of a chunk, parsed independently of the other lines.
struct ParsedLine {
    /// Byte range of the line in the chunk.
    start: usize,
    end: usize,
    content: LineContent,
}

enum LineContent {
    Blank,
    Broken(String),
    Event(Option<LineVerification>),
}

fn parse_round(round: &[Chunk], mode: ReplayMode) -> Vec<Vec<ParsedLine>> {
    let [first, others @ ..] = round else {
        return Vec::new();
    };
    thread::scope(|scope| {
        let others: Vec<_> = others
            .iter()
            .map(|chunk| scope.spawn(move || parse_chunk(chunk, mode)))
            .collect();
        let mut parsed = vec![parse_chunk(first, mode)];
        parsed.extend(others.into_iter().map(|other| {
            other
                .join()
                .unwrap_or_else(|panicked| panic::resume_unwind(panicked))
        }));
        parsed
    })
}

fn parse_chunk(chunk: &Chunk, mode: ReplayMode) -> Vec<ParsedLine> {
    let mut lines = Vec::with_capacity(chunk.bytes.len() / 256);
    let mut start = 0;
    for line in chunk.bytes.split_inclusive(|&byte| byte == b'\n') {
        let text = line.strip_suffix(b"\n").unwrap_or(line);
        let content = if chunk.oversized {
            LineContent::Broken("the line exceeds the maximum length".to_owned())
        } else {
            parse_line(text, mode)
        };
        lines.push(ParsedLine {
            start,
            end: start + text.len(),
            content,
        });
        start += line.len();
    }
    lines
}

fn parse_line(line: &[u8], mode: ReplayMode) -> LineContent {
    if is_blank(line) {
        return LineContent::Blank;
    }
    let parsed = match str::from_utf8(line) {
        Ok(text) if mode == ReplayMode::Raw => verify::check(text).map(|()| None),
        Ok(text) => verify::judge(text).map(Some),
        Err(error) => Err(format!("not UTF-8 at byte {}", error.valid_up_to() + 1)),
    };
    match parsed {
        Ok(facts) => LineContent::Event(facts),
        Err(error) => LineContent::Broken(error),
    }
}

/// Receives parsed lines in file order and keeps the requested events and issues.
struct Collector<'a> {
    options: &'a Options,
    chain: ChainVerifier,
    /// Number of lines of any kind so far.
    line: u64,
    /// Number of lines that are not blank.
    seq: u64,
    /// Number of lines that are JSON.
    events: u64,
    kept: VecDeque<(u64, Box<RawValue>)>,
    issues: VecDeque<ReplayVerificationIssue>,
    /// Whether the event that the run's document records as the last one was found with the recorded hash.
    tail_seen: bool,
    parse_issues: Vec<ReplayParseIssue>,
    next_cursor: Option<u64>,
    issues_outside: u64,
    issues_left_off: u64,
}

impl<'a> Collector<'a> {
    fn new(options: &'a Options) -> Self {
        Self {
            options,
            chain: ChainVerifier::new(),
            line: 0,
            seq: 0,
            events: 0,
            kept: VecDeque::new(),
            issues: VecDeque::new(),
            tail_seen: false,
            parse_issues: Vec::new(),
            next_cursor: None,
            issues_outside: 0,
            issues_left_off: 0,
        }
    }

    /// Processes the next lines. Breaks when the page is full and another event follows.
    fn take(&mut self, chunk: &Chunk, lines: Vec<ParsedLine>) -> std::ops::ControlFlow<()> {
        let is_event = |line: &&ParsedLine| matches!(line.content, LineContent::Event(_));
        let mut ahead = lines.iter().filter(is_event).count();
        for line in lines {
            self.line += 1;
            let bytes = &chunk.bytes[line.start..line.end];
            match line.content {
                LineContent::Blank => {}
                LineContent::Broken(error) => {
                    self.seq += 1;
                    self.parse_issue(error, bytes);
                }
                LineContent::Event(facts) => {
                    let is_full = |limit: NonZeroUsize| self.kept.len() == limit.get();
                    if self.options.tail.is_none() && self.options.limit.is_some_and(is_full) {
                        self.next_cursor = Some(self.events);
                        return std::ops::ControlFlow::Break(());
                    }
                    self.seq += 1;
                    self.events += 1;
                    ahead -= 1;
                    self.event(facts, bytes, ahead);
                }
            }
        }
        std::ops::ControlFlow::Continue(())
    }

    fn parse_issue(&mut self, error: String, bytes: &[u8]) {
        // The previous page already contains the issues before the first event of this page.
        if self.options.after_seq > 0 && self.events <= self.options.after_seq {
            return;
        }
        if self.parse_issues.len() == MAX_PARSE_ISSUES {
            self.issues_left_off += 1;
            return;
        }
        let shown = &bytes[..bytes.len().min(MAX_RAW_BYTES)];
        self.parse_issues.push(ReplayParseIssue {
            seq: self.seq,
            line: self.line,
            error,
            raw: String::from_utf8_lossy(shown).into_owned(),
        });
    }

    /// Processes an event that at least `ahead` more events follow.
    fn event(&mut self, facts: Option<LineVerification>, bytes: &[u8], ahead: usize) {
        let wanted = self.events > self.options.after_seq;
        if let Some(facts) = facts {
            self.look_for_tail(&facts);
            let (seq, line) = (self.events, self.line);
            self.chain.follow(facts, |code| {
                if !wanted {
                    self.issues_outside += 1;
                } else if self.issues.len() == MAX_VERIFICATION_ISSUES {
                    self.issues_left_off += 1;
                } else {
                    self.issues.push_back(issue(seq, line, code));
                }
            });
        }
        if !wanted {
            return;
        }
        if self.options.tail.is_none_or(|tail| ahead < tail.get()) {
            let text = String::from_utf8_lossy(bytes).into_owned();
            let event = RawValue::from_string(text).expect("the line was parsed as JSON");
            self.kept.push_back((self.events, event));
        }
        if let Some(tail) = self.options.tail {
            let first = (self.events + 1).saturating_sub(tail.get() as u64);
            while self.kept.front().is_some_and(|kept| kept.0 < first) {
                self.kept.pop_front();
            }
            while self.issues.front().is_some_and(|issue| issue.seq < first) {
                self.issues.pop_front();
                self.issues_outside += 1;
            }
        }
    }

    fn look_for_tail(&mut self, facts: &LineVerification) {
        if let Some(tail) = &self.options.events_tail
            && tail.count == self.events
            && let LineVerification::Object { event_hash, .. } = facts
        {
            self.tail_seen = event_hash.is(&tail.event_hash);
        }
    }

    /// Checks the recorded end of the log after the end of the file is reached.
    fn reach_end(&mut self) {
        let Some(tail) = &self.options.events_tail else {
            return;
        };
        if self.options.mode != ReplayMode::Raw && tail.count > 0 && !self.tail_seen {
            let seq = tail.count.min(self.events + 1);
            self.issues
                .push_back(issue(seq, self.line, Code::TruncatedLog));
        }
    }

    fn finish(mut self) -> Replay {
        if let Some(limit) = self.options.limit
            && self.kept.len() > limit.get()
        {
            // First page of a tail: the limit keeps its oldest events.
            self.kept.truncate(limit.get());
            let last = self.kept.back().map_or(0, |kept| kept.0);
            self.next_cursor = Some(last);
            let before = self.issues.len();
            self.issues.retain(|issue| issue.seq <= last);
            self.issues_outside += (before - self.issues.len()) as u64;
        }
        let verified = self.options.mode != ReplayMode::Raw;
        Replay {
            replayed: ReplayedEvents {
                deterministic_ok: verified
                    && self.parse_issues.is_empty()
                    && self.issues.is_empty(),
                events: self.kept.into_iter().map(|(_, event)| event).collect(),
                parse_issues: self.parse_issues,
                verification_issues: self.issues.into(),
                next_cursor: self.next_cursor,
            },
            issues_outside: self.issues_outside,
            issues_left_off: self.issues_left_off,
        }
    }
}

fn issue(seq: u64, line: u64, code: Code) -> ReplayVerificationIssue {
    ReplayVerificationIssue {
        seq,
        line,
        code: code.as_str().to_owned(),
        message: code.to_string(),
    }
}

#[cfg(test)]
mod tests;
