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

use serde_json::value::RawValue;

use crate::{
    Error,
    event::{
        Chunk, Chunks, is_blank,
        verify::{self, Chain, Code, Facts, Link, VerificationIssue},
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

/// How far a replay trusts the file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mode {
    /// The lines as they are.
    #[default]
    Raw,
    /// Every event and the chain are verified.
    Verified,
    /// As [`Mode::Verified`].
    Deterministic,
    /// As [`Mode::Verified`]; the caller adds the session that is running.
    Live,
}

/// What is wanted of a file.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// How far the file is trusted.
    pub mode: Mode,
    /// Only the last so many events.
    pub tail: Option<NonZeroUsize>,
    /// Only events behind this one. Events are numbered from 1 among the lines that are JSON.
    pub after_seq: u64,
    /// At most so many events.
    pub limit: Option<NonZeroUsize>,
    /// How the log ended, as the run's document says. Looked at where the end of the file is read.
    pub events_tail: Option<EventsTail>,
}

/// How the log of a run ended when the run did. More may have been appended since.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EventsTail {
    /// How many events there were.
    pub count: u64,
    /// The hash of the last of them.
    pub event_hash: Option<String>,
}

/// What was found.
#[derive(Debug, Default)]
pub struct Replay {
    /// The events wanted, each the text of its line.
    pub events: Vec<Box<RawValue>>,
    /// Lines that are no JSON. `tail` does not limit them; of pages each has those behind its first event and
    /// before the first event of the next one, the first page also those at the beginning of the file.
    pub parse_issues: Vec<ParseIssue>,
    /// What is wrong with the events wanted.
    pub verification_issues: Vec<VerificationIssue>,
    /// Verified, and nothing of the above is wrong.
    pub deterministic_ok: bool,
    /// `after_seq` of the next page, when there is one.
    pub next_cursor: Option<u64>,
    /// How many problems were found in events that were read but not wanted. They do not touch `deterministic_ok`.
    pub issues_outside: u64,
    /// How many issues of either kind were left off because there are too many.
    pub issues_left_off: u64,
}

/// A line that is no JSON.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParseIssue {
    /// The number of the line, from 1, among those that are not blank.
    pub seq: u64,
    /// The number of the line in the file, from 1.
    pub line: u64,
    /// Why it is none.
    pub error: String,
    /// Its beginning.
    pub raw: String,
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

fn judge_round(round: &[Chunk], mode: Mode) -> Vec<Vec<Line>> {
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

fn judge_chunk(chunk: &Chunk, mode: Mode) -> Vec<Line> {
    let mut lines = Vec::with_capacity(chunk.bytes.len() / 256);
    let mut start = 0;
    for line in chunk.bytes.split_inclusive(|&byte| byte == b'\n') {
        let text = line.strip_suffix(b"\n").unwrap_or(line);
        let verdict = match chunk.oversized {
            true => Verdict::Broken("longer than a line may be".to_owned()),
            false => judge_line(text, mode),
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

fn judge_line(line: &[u8], mode: Mode) -> Verdict {
    if is_blank(line) {
        return Verdict::Blank;
    }
    let judged = match str::from_utf8(line) {
        Ok(text) if mode == Mode::Raw => verify::check(text).map(|()| None),
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
    issues: VecDeque<VerificationIssue>,
    /// The event that the run's document calls the last one has that hash.
    tail_seen: bool,
    replay: Replay,
    any_parse_issue: bool,
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
            replay: Replay::default(),
            any_parse_issue: false,
        }
    }

    /// Takes the next lines. Breaks when a page is full and another event follows it.
    fn take(&mut self, chunk: &Chunk, lines: Vec<Line>) -> std::ops::ControlFlow<()> {
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
                        self.replay.next_cursor = Some(self.events);
                        return std::ops::ControlFlow::Break(());
                    }
                    self.seq += 1;
                    self.events += 1;
                    self.event(facts, bytes);
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
        self.any_parse_issue = true;
        if self.replay.parse_issues.len() == MAX_PARSE_ISSUES {
            self.replay.issues_left_off += 1;
            return;
        }
        let shown = &bytes[..bytes.len().min(MAX_RAW_BYTES)];
        self.replay.parse_issues.push(ParseIssue {
            seq: self.seq,
            line: self.line,
            error,
            raw: String::from_utf8_lossy(shown).into_owned(),
        });
    }

    fn event(&mut self, facts: Option<Facts>, bytes: &[u8]) {
        let wanted = self.events > self.options.after_seq;
        if let Some(facts) = facts {
            self.look_for_tail(&facts);
            let (seq, line) = (self.events, self.line);
            let (issues, replay) = (&mut self.issues, &mut self.replay);
            self.chain.follow(facts, |code| {
                if !wanted {
                    replay.issues_outside += 1;
                } else if issues.len() == MAX_VERIFICATION_ISSUES {
                    replay.issues_left_off += 1;
                } else {
                    issues.push_back(VerificationIssue { seq, line, code });
                }
            });
        }
        if !wanted {
            return;
        }
        let text = String::from_utf8_lossy(bytes).into_owned();
        let event = RawValue::from_string(text).expect("the line was judged to be JSON");
        self.kept.push_back((self.events, event));
        if let Some(tail) = self.options.tail {
            let first = (self.events + 1).saturating_sub(tail.get() as u64);
            while self.kept.front().is_some_and(|kept| kept.0 < first) {
                self.kept.pop_front();
            }
            while self.issues.front().is_some_and(|issue| issue.seq < first) {
                self.issues.pop_front();
                self.replay.issues_outside += 1;
            }
        }
    }

    fn look_for_tail(&mut self, facts: &Facts) {
        if let Some(tail) = &self.options.events_tail
            && tail.count == self.events
            && let Facts::Object { event_hash, .. } = facts
        {
            self.tail_seen = match &tail.event_hash {
                Some(hash) => event_hash.is(hash),
                None => !matches!(event_hash, Link::Hash(_)),
            };
        }
    }

    /// The end of the file was reached.
    fn reach_end(&mut self) {
        let Some(tail) = &self.options.events_tail else {
            return;
        };
        if self.options.mode != Mode::Raw && tail.count > 0 && !self.tail_seen {
            self.issues.push_back(VerificationIssue {
                seq: tail.count.min(self.events + 1),
                line: self.line,
                code: Code::TruncatedLog,
            });
        }
    }

    fn finish(mut self) -> Replay {
        if let Some(limit) = self.options.limit
            && self.kept.len() > limit.get()
        {
            // The first page of a tail.
            self.kept.truncate(limit.get());
            let last = self.kept.back().map_or(0, |kept| kept.0);
            self.replay.next_cursor = Some(last);
            let before = self.issues.len();
            self.issues.retain(|issue| issue.seq <= last);
            self.replay.issues_outside += (before - self.issues.len()) as u64;
        }
        let mut replay = self.replay;
        replay.events = self.kept.into_iter().map(|(_, event)| event).collect();
        replay.verification_issues = self.issues.into();
        replay.deterministic_ok = self.options.mode != Mode::Raw
            && !self.any_parse_issue
            && replay.verification_issues.is_empty();
        replay
    }
}

#[cfg(test)]
mod tests;
