//! Reading an events file back: the events as they stand, what is no JSON, and whether the chain holds.
//!
//! A file is read in pieces and judged on several threads; what is kept in memory is what was asked for.

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
    event::{
        Chunk, Chunks, is_blank,
        verify::{self, Chain, Code, Facts},
    },
};

/// How many lines that are no JSON are shown.
const MAX_PARSE_ISSUES: usize = 1_000;
/// How many problems of events are shown.
const MAX_VERIFICATION_ISSUES: usize = 10_000;
/// How much of a line that is no JSON is shown.
const MAX_RAW_BYTES: usize = 4 * 1024;
/// More threads than these do not help: one has to put their findings in order.
const MAX_THREADS: usize = 4;

/// What is wanted of a file.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// How far the file is trusted.
    pub mode: ReplayMode,
    /// Only the last so many events.
    pub tail: Option<NonZeroUsize>,
    /// Only events behind this one. Events are numbered from 1 among the lines that are JSON.
    pub after_seq: u64,
    /// At most so many events.
    pub limit: Option<NonZeroUsize>,
    /// How the log ended, as the run's document says. Looked at where the end of the file is read.
    pub events_tail: Option<EventsTail>,
}

/// What was found.
#[derive(Debug)]
pub struct Replay {
    /// The events wanted and what is wrong with them. `tail` does not limit the lines that are no JSON; of pages
    /// each has those behind its first event and before the first event of the next one, the first page also those
    /// at the beginning of the file.
    pub replayed: ReplayedEvents,
    /// How many problems were found in events that were read but not wanted. They do not touch `deterministic_ok`.
    pub issues_outside: u64,
    /// How many issues of either kind were left off because there are too many.
    pub issues_left_off: u64,
}

/// Reads the events of a file. A file that is not there is an error for which [`Error::is_missing`] holds.
pub fn replay(path: &Path, options: &Options) -> Result<Replay, Error> {
    let mut chunks = Chunks::open(path)?;
    let mut reading = Reading::new(options);
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
        let judged = judge_round(&round, options.mode);
        for (chunk, lines) in round.iter().zip(judged) {
            if reading.take(chunk, lines).is_break() {
                return Ok(reading.finish());
            }
        }
    }
    reading.reach_end();
    Ok(reading.finish())
}

/// A line of a chunk, judged for itself.
struct Line {
    /// Where it is in the chunk.
    start: usize,
    end: usize,
    verdict: Verdict,
}

enum Verdict {
    Blank,
    Broken(String),
    Event(Option<Facts>),
}

fn judge_round(round: &[Chunk], mode: ReplayMode) -> Vec<Vec<Line>> {
    let [first, others @ ..] = round else {
        return Vec::new();
    };
    thread::scope(|scope| {
        let others: Vec<_> = others
            .iter()
            .map(|chunk| scope.spawn(move || judge_chunk(chunk, mode)))
            .collect();
        let mut judged = vec![judge_chunk(first, mode)];
        judged.extend(others.into_iter().map(|other| {
            other
                .join()
                .unwrap_or_else(|panicked| panic::resume_unwind(panicked))
        }));
        judged
    })
}

fn judge_chunk(chunk: &Chunk, mode: ReplayMode) -> Vec<Line> {
    let mut lines = Vec::with_capacity(chunk.bytes.len() / 256);
    let mut start = 0;
    for line in chunk.bytes.split_inclusive(|&byte| byte == b'\n') {
        let text = line.strip_suffix(b"\n").unwrap_or(line);
        let verdict = if chunk.oversized {
            Verdict::Broken("longer than a line may be".to_owned())
        } else {
            judge_line(text, mode)
        };
        lines.push(Line {
            start,
            end: start + text.len(),
            verdict,
        });
        start += line.len();
    }
    lines
}

fn judge_line(line: &[u8], mode: ReplayMode) -> Verdict {
    if is_blank(line) {
        return Verdict::Blank;
    }
    let judged = match str::from_utf8(line) {
        Ok(text) if mode == ReplayMode::Raw => verify::check(text).map(|()| None),
        Ok(text) => verify::judge(text).map(Some),
        Err(error) => Err(format!("not UTF-8 at byte {}", error.valid_up_to() + 1)),
    };
    match judged {
        Ok(facts) => Verdict::Event(facts),
        Err(error) => Verdict::Broken(error),
    }
}

/// Puts judged lines in order and keeps what is wanted.
struct Reading<'a> {
    options: &'a Options,
    chain: Chain,
    /// Lines of any kind so far.
    line: u64,
    /// Lines that are not blank.
    seq: u64,
    /// Lines that are JSON.
    events: u64,
    kept: VecDeque<(u64, Box<RawValue>)>,
    issues: VecDeque<ReplayVerificationIssue>,
    /// The event that the run's document calls the last one has that hash.
    tail_seen: bool,
    parse_issues: Vec<ReplayParseIssue>,
    next_cursor: Option<u64>,
    issues_outside: u64,
    issues_left_off: u64,
}

impl<'a> Reading<'a> {
    fn new(options: &'a Options) -> Self {
        Self {
            options,
            chain: Chain::new(),
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

    /// Takes the next lines. Breaks when a page is full and another event follows it.
    fn take(&mut self, chunk: &Chunk, lines: Vec<Line>) -> std::ops::ControlFlow<()> {
        let is_event = |line: &&Line| matches!(line.verdict, Verdict::Event(_));
        let mut ahead = lines.iter().filter(is_event).count();
        for line in lines {
            self.line += 1;
            let bytes = &chunk.bytes[line.start..line.end];
            match line.verdict {
                Verdict::Blank => {}
                Verdict::Broken(error) => {
                    self.seq += 1;
                    self.parse_issue(error, bytes);
                }
                Verdict::Event(facts) => {
                    let full = |limit: NonZeroUsize| self.kept.len() == limit.get();
                    if self.options.tail.is_none() && self.options.limit.is_some_and(full) {
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
        // What stands before the first event of a page was told with the page before.
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

    /// Takes an event behind which at least `ahead` more will come.
    fn event(&mut self, facts: Option<Facts>, bytes: &[u8], ahead: usize) {
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
            let event = RawValue::from_string(text).expect("the line was judged to be JSON");
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

    fn look_for_tail(&mut self, facts: &Facts) {
        if let Some(tail) = &self.options.events_tail
            && tail.count == self.events
            && let Facts::Object { event_hash, .. } = facts
        {
            self.tail_seen = event_hash.is(&tail.event_hash);
        }
    }

    /// The end of the file was reached.
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
            // The first page of a tail.
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
