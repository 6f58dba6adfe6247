//! The `plain_text` projection: the first mebibyte of a text, with invalid UTF-8 replaced.

use std::io::Read;

use serde_json::{Map, Value};

use super::{ExtractedContent, MAX_TEXT, ProjectionError, cut_text};

pub(super) fn make(input: impl Read) -> Result<ExtractedContent, ProjectionError> {
    let mut bytes = Vec::new();
    input
        .take(MAX_TEXT as u64 + 1)
        .read_to_end(&mut bytes)
        .map_err(|_| ProjectionError::UNAVAILABLE)?;
    let mut truncated = bytes.len() > MAX_TEXT;
    bytes.truncate(MAX_TEXT);
    if truncated {
        // A character split by the size limit is not an error of the file.
        let cut = std::str::from_utf8(&bytes)
            .err()
            .filter(|error| error.error_len().is_none())
            .map(|error| error.valid_up_to());
        bytes.truncate(cut.unwrap_or(MAX_TEXT));
    }
    let decoded = String::from_utf8_lossy(&bytes);
    let lossy = matches!(decoded, std::borrow::Cow::Owned(_)) || decoded.contains('\0');
    // Some databases reject zero bytes in text. A replacement is longer than the byte it replaces.
    let decoded = decoded.replace('\0', "\u{fffd}");
    let text = cut_text(&decoded, MAX_TEXT);
    truncated |= text.len() < decoded.len();
    Ok(ExtractedContent {
        content: text.as_bytes().to_vec(),
        mime: "text/plain",
        metadata: Map::from_iter([
            ("lossy".to_owned(), Value::from(lossy)),
            ("truncated".to_owned(), Value::from(truncated)),
        ]),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(bytes: &[u8], expected: &str, lossy: bool, truncated: bool) {
        let made = make(bytes).unwrap();
        assert!(made.content == expected.as_bytes());
        assert_eq!(made.metadata["lossy"], lossy);
        assert_eq!(made.metadata["truncated"], truncated);
    }

    #[test]
    fn text_is_kept_and_what_is_not_text_replaced() {
        check(b"", "", false, false);
        check("café".as_bytes(), "café", false, false);
        check(b"caf\xe9!", "caf\u{fffd}!", true, false);
        check(b"a\0b", "a\u{fffd}b", true, false);
    }

    #[test]
    fn long_text_is_cut_between_characters() {
        let full = "x".repeat(MAX_TEXT);
        check(full.as_bytes(), &full, false, false);
        let long = format!("x{}", "é".repeat(MAX_TEXT));
        check(long.as_bytes(), &long[..MAX_TEXT - 1], false, true);
        let garbage = vec![0xff; MAX_TEXT];
        check(&garbage, &"\u{fffd}".repeat(MAX_TEXT / 3), true, true);
    }
}
