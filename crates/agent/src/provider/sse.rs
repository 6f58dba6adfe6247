//! An incremental decoder for server-sent events.
//!
//! A network chunk may end anywhere, also inside a character, so bytes are decoded only when their line is complete.
//! The fields `id` and `retry` are ignored, because a response cannot be resumed.

/// The maximum length of a line and of the data of one event, in bytes. Events may contain a generated image in base64;
/// a provider that exceeds the limit is considered faulty.
pub(super) const LONGEST: usize = 16 * 1024 * 1024;

/// One decoded event.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct SseEvent {
    /// The `event` field; empty if the event has none.
    pub(super) name: String,
    /// The `data` lines, joined by line feeds.
    pub(super) data: String,
}

/// A line or an event is longer than [`LONGEST`].
#[derive(Debug, PartialEq)]
pub(super) struct TooLong;

/// The decoder state between two network chunks.
#[derive(Debug, Default)]
pub(super) struct SseDecoder {
    /// The bytes of the incomplete line.
    line: Vec<u8>,
    /// Whether the previous chunk ended with a carriage return whose line feed may follow.
    after_return: bool,
    /// Whether the first line was read; a byte order mark is removed only from the first line.
    started: bool,
    /// The incomplete event.
    event: SseEvent,
    /// Whether the event has a `data` field, which may be empty.
    has_data: bool,
}

impl SseDecoder {
    /// Decodes bytes and appends the events that they complete.
    pub(super) fn push(&mut self, bytes: &[u8], events: &mut Vec<SseEvent>) -> Result<(), TooLong> {
        let mut rest = bytes;
        if self.after_return
            && let Some(first) = rest.first()
        {
            self.after_return = false;
            if *first == b'\n' {
                rest = &rest[1..];
            }
        }
        while let Some(end) = rest.iter().position(|byte| matches!(byte, b'\n' | b'\r')) {
            self.extend_line(&rest[..end])?;
            self.end_line(events)?;
            let is_pair = rest[end..].starts_with(b"\r\n");
            self.after_return = rest[end] == b'\r' && end + 1 == rest.len();
            rest = &rest[end + if is_pair { 2 } else { 1 }..];
        }
        self.extend_line(rest)
    }

    /// Ends the input and appends a final event that is not terminated by an empty line, because some services omit it.
    pub(super) fn finish(&mut self, events: &mut Vec<SseEvent>) -> Result<(), TooLong> {
        self.end_line(events)?;
        self.end_line(events)
    }

    fn extend_line(&mut self, bytes: &[u8]) -> Result<(), TooLong> {
        if self.line.len() + bytes.len() > LONGEST {
            return Err(TooLong);
        }
        self.line.extend_from_slice(bytes);
        Ok(())
    }

    fn end_line(&mut self, events: &mut Vec<SseEvent>) -> Result<(), TooLong> {
        let line = std::mem::take(&mut self.line);
        let line = String::from_utf8_lossy(&line);
        let line = if self.started {
            line.as_ref()
        } else {
            self.started = true;
            line.strip_prefix('\u{feff}').unwrap_or(line.as_ref())
        };
        if line.is_empty() {
            let event = std::mem::take(&mut self.event);
            if std::mem::take(&mut self.has_data) {
                events.push(event);
            }
            return Ok(());
        }
        let (field, value) = line.split_once(':').unwrap_or((line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match field {
            "data" => {
                if self.event.data.len() + value.len() >= LONGEST {
                    return Err(TooLong);
                }
                if self.has_data {
                    self.event.data.push('\n');
                }
                self.event.data.push_str(value);
                self.has_data = true;
            }
            "event" => value.clone_into(&mut self.event.name),
            // Ignores comments, whose field name is empty, and unknown fields.
            _ => {}
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Decodes the text in chunks of every size and compares `name=data` of the events; the chunk size must not matter.
    fn check(text: &str, expected: &[&str]) {
        for size in 1..=text.len() {
            let mut decoder = SseDecoder::default();
            let mut events = Vec::new();
            for piece in text.as_bytes().chunks(size) {
                decoder.push(piece, &mut events).unwrap();
            }
            let events: Vec<_> = events
                .iter()
                .map(|event| format!("{}={}", event.name, event.data))
                .collect();
            assert_eq!(events, expected, "in pieces of {size} bytes");
        }
    }

    #[test]
    fn an_event_ends_at_the_empty_line() {
        check("data: a\n\ndata:b\n\ndata: unfinished\n", &["=a", "=b"]);
    }

    #[test]
    fn every_line_ending_counts() {
        check(
            "event: x\r\ndata: a\r\n\r\ndata: b\r\rdata: c\n\r\n",
            &["x=a", "=b", "=c"],
        );
    }

    #[test]
    fn data_lines_are_joined() {
        check("data: a\ndata:\ndata:  b\n\n", &["=a\n\n b"]);
    }

    #[test]
    fn comments_and_unknown_fields_are_left_out() {
        check(": ping\n\nid: 7\nretry: 1\nnonsense\n\ndata\n\n", &["="]);
    }

    #[test]
    fn a_name_does_not_outlive_its_event() {
        check("event: x\n\ndata: a\n\n", &["=a"]);
    }

    #[test]
    fn a_character_may_be_cut_anywhere() {
        check("\u{feff}data: Ä 😀 漢\n\n", &["=Ä 😀 漢"]);
    }

    #[test]
    fn an_event_at_the_end_needs_no_empty_line() {
        for text in ["data: a", "data: a\n", "data: a\n\n"] {
            let mut decoder = SseDecoder::default();
            let mut events = Vec::new();
            decoder.push(text.as_bytes(), &mut events).unwrap();
            decoder.finish(&mut events).unwrap();
            assert_eq!(events.len(), 1, "{text:?}");
        }
    }

    #[test]
    fn an_endless_line_is_refused() {
        let mut decoder = SseDecoder::default();
        let mut events = Vec::new();
        let piece = vec![b'a'; LONGEST / 2];
        decoder.push(&piece, &mut events).unwrap();
        decoder.push(&piece, &mut events).unwrap();
        assert_eq!(decoder.push(b"a", &mut events), Err(TooLong));
    }

    #[test]
    fn an_endless_event_is_refused() {
        let mut decoder = SseDecoder::default();
        let mut events = Vec::new();
        let line = format!("data: {}\n", "a".repeat(LONGEST / 4));
        let refused = (0..5).any(|_| decoder.push(line.as_bytes(), &mut events).is_err());
        assert!(refused && events.is_empty());
    }
}
