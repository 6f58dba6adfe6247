//! Processes the output of a session: writes it to files and events, and extracts usage, context cycles and the
//! outcome.

use std::{fs::File, io::Write as _};

use company::{event_log::Event, secret};
use drivers::{
    Outcome, Reader,
    codex_app_server::Conversation,
    output::{Decoder, Lines, Stream},
    redaction::Redactor,
    usage::{Cycle, LineFacts, TokenCounts},
};
use protocol::company::Visibility;
use serde_json::{Value, json};
use tokio::sync::mpsc;

use crate::{output::Piece, run_log::RunLog};

/// Receives all output of a session.
pub(crate) struct Sink {
    run_log: RunLog,
    /// Actor of the output events.
    agent: String,
    provider: String,
    stdout: OutputStream,
    stderr: OutputStream,
    reader: Reader,
    facts: LineFacts,
    compactions: u64,
    /// The conversation with an app server, and the channel that sends messages to it. Absent for other programs.
    pub(crate) conversation: Option<(Conversation, mpsc::UnboundedSender<Value>)>,
    /// Length of the output in UTF-16 units.
    chars: u64,
}

/// State of one output stream.
struct OutputStream {
    stream: Stream,
    file: File,
    redactor: Redactor,
    decoder: Decoder,
    lines: Lines,
}

impl OutputStream {
    fn new(stream: Stream, file: File, secrets: &[String]) -> Self {
        Self {
            stream,
            file,
            redactor: Redactor::new(secrets),
            decoder: Decoder::default(),
            lines: Lines::default(),
        }
    }

    /// Writes a piece to the file and returns it as text. The last piece includes what was held back.
    fn take(&mut self, piece: Piece) -> Result<String, company::Error> {
        let bytes = self.redactor.push(piece.bytes);
        let mut text = self.write(&bytes)?;
        if piece.is_last {
            text.push_str(&self.finish()?);
        }
        Ok(text)
    }

    /// Writes the bytes that were held back and returns them as text.
    fn finish(&mut self) -> Result<String, company::Error> {
        let bytes = self.redactor.finish();
        let mut text = self.write(&bytes)?;
        text.push_str(&self.decoder.finish());
        Ok(text)
    }

    /// Writes bytes to the file and returns them as text.
    fn write(&mut self, bytes: &[u8]) -> Result<String, company::Error> {
        self.file
            .write_all(bytes)
            .map_err(|error| company::Error::io("written", self.stream.as_str(), error))?;
        Ok(self.decoder.push(bytes))
    }
}

/// Facts extracted from a batch of output.
#[derive(Debug, Default)]
pub(crate) struct Observations {
    /// Latest usage; absent if the batch contained none.
    pub(crate) usage: Option<TokenCounts>,
    /// Thread id and turn id of an app server, if one of them was assigned.
    pub(crate) named: Option<(Option<String>, Option<String>)>,
    /// Whether the turn of an app server is over.
    pub(crate) completed: bool,
    /// Whether the worker keeps retrying although the provider rejects its credentials.
    pub(crate) hopeless: bool,
}

impl Sink {
    pub(crate) fn new(
        run_log: RunLog,
        agent: String,
        provider: String,
        files: (File, File),
        secrets: &[String],
        reader: Reader,
    ) -> Self {
        Self {
            run_log,
            agent,
            provider,
            stdout: OutputStream::new(Stream::Stdout, files.0, secrets),
            stderr: OutputStream::new(Stream::Stderr, files.1, secrets),
            reader,
            facts: LineFacts::default(),
            compactions: 0,
            conversation: None,
            chars: 0,
        }
    }

    fn stream(&mut self, stream: Stream) -> &mut OutputStream {
        match stream {
            Stream::Stdout => &mut self.stdout,
            Stream::Stderr => &mut self.stderr,
        }
    }

    /// Writes pieces to files and events, in the order of arrival.
    pub(crate) fn take(&mut self, pieces: Vec<Piece>) -> Result<Observations, company::Error> {
        let mut events = Vec::new();
        let mut observed = Observations::default();
        for piece in pieces {
            let Piece { stream, .. } = piece;
            let text = self.stream(stream).take(piece)?;
            self.text(stream, &text, &mut events, &mut observed)?;
        }
        self.run_log.append(&events)?;
        Ok(observed)
    }

    /// Parses output again that an earlier process already wrote to files and events.
    pub(crate) fn recall(&mut self, stream: Stream, bytes: &[u8]) -> Result<(), company::Error> {
        let text = self.stream(stream).decoder.push(bytes);
        self.text(stream, &text, &mut Vec::new(), &mut Observations::default())
    }

    /// Processes what was held back, once the output has ended.
    pub(crate) fn finish(&mut self) -> Result<Observations, company::Error> {
        let mut events = Vec::new();
        let mut observed = Observations::default();
        for stream in [Stream::Stdout, Stream::Stderr] {
            let held = self.stream(stream).finish()?;
            self.text(stream, &held, &mut events, &mut observed)?;
            if let Some(line) = self.stream(stream).lines.finish() {
                self.line(stream, &line, &mut events, &mut observed)?;
            }
        }
        self.run_log.append(&events)?;
        Ok(observed)
    }

    /// Whether the output has the format of the driver.
    pub(crate) fn is_recognised(&self) -> bool {
        self.reader.is_recognised() || self.conversation.is_some()
    }

    /// Usage as the provider reported it.
    pub(crate) fn usage(&self) -> Option<TokenCounts> {
        if self.reader.is_recognised() {
            self.reader.usage().cloned()
        } else {
            self.facts.largest().cloned()
        }
    }

    /// The largest count found besides the final one, for sessions that end before the final count.
    pub(crate) fn largest_usage(&self) -> Option<TokenCounts> {
        self.facts.largest().cloned()
    }

    /// Length of the output in UTF-16 units.
    pub(crate) fn chars(&self) -> u64 {
        self.chars
    }

    /// Detected context cycles.
    pub(crate) fn context_cycles(&self) -> company::document::ContextCycles {
        self.facts.context_cycles()
    }

    /// Returns the outcome; `None` if the output was not recognised.
    pub(crate) fn outcome(&mut self, exit_code: Option<i32>) -> Option<Outcome> {
        if let Some((conversation, _)) = self.conversation.take() {
            return Some(conversation.finish());
        }
        let reader = std::mem::replace(&mut self.reader, Reader::Nothing);
        let was_recognised = reader.is_recognised();
        let is_known = !matches!(reader, Reader::Nothing);
        let outcome = reader.finish(exit_code);
        // A single object over many lines is only recognised at its end.
        (is_known && (was_recognised || outcome.session_id.is_some())).then_some(outcome)
    }

    fn text(
        &mut self,
        stream: Stream,
        text: &str,
        events: &mut Vec<Event>,
        observed: &mut Observations,
    ) -> Result<(), company::Error> {
        if text.is_empty() {
            return Ok(());
        }
        self.chars += text
            .chars()
            .map(|char| char.len_utf16() as u64)
            .sum::<u64>();
        let (chunk, _) = secret::redact(text);
        let payload = json!({"stream": stream.as_str(), "chunk": chunk});
        events.push(self.run_log.event_by(
            &self.agent,
            Visibility::Team,
            "provider.raw",
            &payload,
        )?);
        let mut lines = Vec::new();
        let state = self.stream(stream);
        state.lines.push(text, |line| lines.push(line.to_owned()));
        for line in lines {
            self.line(stream, &line, events, observed)?;
        }
        Ok(())
    }

    fn line(
        &mut self,
        stream: Stream,
        line: &str,
        events: &mut Vec<Event>,
        observed: &mut Observations,
    ) -> Result<(), company::Error> {
        let mut usage = Vec::new();
        let mut cycles = Vec::new();
        if let Some((conversation, server)) = &mut self.conversation {
            if stream == Stream::Stdout {
                let reaction = conversation.line(line);
                for message in reaction.send {
                    // Sending fails if the server exited, which ends the session anyway.
                    let _ = server.send(message);
                }
                usage.extend(reaction.usage);
                cycles.extend(
                    reaction
                        .cycles
                        .into_iter()
                        .filter(|cycle| self.facts.note(cycle)),
                );
                if reaction.named {
                    observed.named =
                        Some((conversation.thread_id.clone(), conversation.turn_id.clone()));
                }
                observed.completed |= conversation.completion.is_some();
            }
            observed.usage = usage.last().cloned().or(observed.usage.take());
        } else {
            let is_new = self.reader.line(stream, line);
            if self.reader.is_recognised() {
                if is_new {
                    usage.extend(self.reader.usage().cloned());
                    observed.usage = usage.last().cloned();
                } else if stream == Stream::Stdout
                    && ["_tokens\"", "TokenCount\""]
                        .iter()
                        .any(|word| line.contains(word))
                    && let Ok(value) = serde_json::from_str::<Value>(line)
                {
                    // Counts of single requests are used if the session ends before the final count.
                    self.facts.usage(&value);
                }
                let compactions = self.reader.compactions();
                if compactions > self.compactions {
                    self.compactions = compactions;
                    let cycle = Cycle {
                        count: compactions,
                        signal_type: "compaction".to_owned(),
                        source: "provider_jsonl",
                    };
                    self.facts.note(&cycle);
                    cycles.push(cycle);
                }
                observed.hopeless |= self.reader.is_hopeless();
            } else if line.starts_with(['{', '['])
                && let Ok(value) = serde_json::from_str::<Value>(line)
            {
                usage = self.facts.usage(&value);
                cycles = self.facts.cycles(&value);
                if !usage.is_empty() {
                    observed.usage = self.facts.largest().cloned();
                }
            }
        }
        for counts in usage {
            let payload = json!(counts.reported(&self.provider));
            events.push(self.run_log.event("usage.reported", &payload)?);
        }
        for Cycle {
            count,
            signal_type,
            source,
        } in cycles
        {
            let payload = json!({"count": count, "signal_type": signal_type, "source": source});
            events.push(self.run_log.event("context.cycle.detected", &payload)?);
        }
        Ok(())
    }
}
