//! Decodes output that arrives in pieces as UTF-8 and splits it into lines.

/// Maximum length of a line in bytes; longer lines are not parsed, but are stored in the output files.
const MAX_LINE_BYTES: usize = 4 << 20;

/// An output stream of a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stream {
    /// Standard output.
    Stdout,
    /// Standard error.
    Stderr,
}

impl Stream {
    /// Name of the stream in events.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Stdout => "stdout",
            Self::Stderr => "stderr",
        }
    }
}

/// Incremental UTF-8 decoder that holds back characters split between pieces.
#[derive(Debug, Default)]
pub struct Decoder {
    held: Vec<u8>,
}

impl Decoder {
    /// Decodes further bytes. Invalid sequences become U+FFFD.
    pub fn push(&mut self, bytes: &[u8]) -> String {
        let joined;
        let bytes = if self.held.is_empty() {
            bytes
        } else {
            self.held.extend_from_slice(bytes);
            joined = std::mem::take(&mut self.held);
            &joined
        };
        let mut text = String::with_capacity(bytes.len());
        let mut chunks = bytes.utf8_chunks().peekable();
        while let Some(chunk) = chunks.next() {
            text.push_str(chunk.valid());
            let invalid = chunk.invalid();
            if invalid.is_empty() {
                continue;
            }
            let is_last = chunks.peek().is_none();
            if is_last && is_beginning(invalid) {
                self.held = invalid.to_vec();
            } else {
                text.push(char::REPLACEMENT_CHARACTER);
            }
        }
        text
    }

    /// Returns U+FFFD if an incomplete character was held back, otherwise an empty text.
    pub fn finish(&mut self) -> String {
        if std::mem::take(&mut self.held).is_empty() {
            String::new()
        } else {
            char::REPLACEMENT_CHARACTER.to_string()
        }
    }
}

/// Whether further bytes could complete these to a character.
fn is_beginning(bytes: &[u8]) -> bool {
    std::str::from_utf8(bytes).is_err_and(|error| error.error_len().is_none())
}

/// Splits text that arrives in pieces into lines. LF and CRLF end a line.
#[derive(Debug, Default)]
pub struct Lines {
    partial: String,
    /// Whether the current line is too long and is skipped.
    skipping: bool,
}

impl Lines {
    /// Calls `take` with each line that is now complete.
    pub fn push(&mut self, text: &str, mut take: impl FnMut(&str)) {
        let mut rest = text;
        while let Some((line, after)) = rest.split_once('\n') {
            rest = after;
            if std::mem::take(&mut self.skipping) {
                self.partial.clear();
            } else if self.partial.is_empty() {
                take(line.strip_suffix('\r').unwrap_or(line));
            } else {
                self.partial.push_str(line);
                let line = std::mem::take(&mut self.partial);
                take(line.strip_suffix('\r').unwrap_or(&line));
            }
        }
        if self.skipping || self.partial.len() + rest.len() > MAX_LINE_BYTES {
            self.skipping = true;
            self.partial = String::new();
        } else {
            self.partial.push_str(rest);
        }
    }

    /// Returns the last line if it has no line end.
    pub fn finish(&mut self) -> Option<String> {
        let line = std::mem::take(&mut self.partial);
        (!line.is_empty() && !self.skipping).then_some(line)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_character_cut_in_two_stays_whole() {
        let mut decoder = Decoder::default();
        let bytes = "a€b".as_bytes();
        assert_eq!(decoder.push(&bytes[..2]), "a");
        assert_eq!(decoder.push(&bytes[2..3]), "");
        assert_eq!(decoder.push(&bytes[3..]), "€b");
        assert_eq!(decoder.finish(), "");
    }

    #[test]
    fn bytes_that_are_no_character_are_shown_as_such() {
        let mut decoder = Decoder::default();
        assert_eq!(decoder.push(b"x\xffy\xe2\x82"), "x\u{fffd}y");
        assert_eq!(decoder.push(b"z"), "\u{fffd}z");
        assert_eq!(decoder.push(b"\xf0\x9f"), "");
        assert_eq!(decoder.finish(), "\u{fffd}");
    }

    #[test]
    fn a_line_without_end_does_not_grow_for_ever() {
        let mut lines = Lines::default();
        let mut found = Vec::new();
        let long = "x".repeat(1 << 20);
        for _ in 0..6 {
            lines.push(&long, |line| found.push(line.to_owned()));
        }
        assert!(lines.partial.capacity() <= MAX_LINE_BYTES + (1 << 20));
        lines.push("tail\nnext\r\nlast", |line| found.push(line.to_owned()));
        assert_eq!(found, ["next"]);
        assert_eq!(lines.finish().as_deref(), Some("last"));
    }

    proptest! {
        #[test]
        fn text_comes_out_as_it_went_in_wherever_it_is_cut(text in ".{0,200}", cuts in prop::collection::vec(0usize..200, 0..6)) {
            let bytes = text.as_bytes();
            let mut cuts: Vec<_> = cuts.into_iter().map(|cut| cut.min(bytes.len())).collect();
            cuts.push(0);
            cuts.push(bytes.len());
            cuts.sort_unstable();
            let (mut decoder, mut out) = (Decoder::default(), String::new());
            for pair in cuts.windows(2) {
                out.push_str(&decoder.push(&bytes[pair[0]..pair[1]]));
            }
            out.push_str(&decoder.finish());
            prop_assert_eq!(out, text);
        }
    }
}
