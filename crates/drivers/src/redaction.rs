//! Redacts secret values from the output of a session before it is parsed or stored.

use company::secret;

/// Replacement for a redacted value.
const MARK: &str = "[redacted]";

/// Returns a value in its JSON-escaped form, if that differs, and verbatim. Empty for values too short to be
/// distinguished from other text.
pub fn printed_forms(value: &str) -> Vec<String> {
    const SHORTEST: usize = 6;
    if value.len() < SHORTEST {
        return Vec::new();
    }
    let quoted = serde_json::Value::from(value).to_string();
    let escaped = &quoted[1..quoted.len() - 1];
    let escaped = (escaped != value).then(|| escaped.to_owned());
    escaped.into_iter().chain([value.to_owned()]).collect()
}

/// Redacts values from a stream that arrives in pieces. Of several values that start at the same byte the longest is
/// redacted, so bytes that may become a longer value are held back until they are decided.
#[derive(Debug, Default)]
pub struct Redactor {
    /// Sorted by descending length.
    secrets: Vec<Vec<u8>>,
    held: Vec<u8>,
}

/// Whether more bytes may follow those at hand.
#[derive(Clone, Copy, PartialEq)]
enum Rest {
    MayFollow,
    Ended,
}

impl Redactor {
    /// Creates a redactor for these values.
    pub fn new(secrets: &[String]) -> Self {
        let secrets = secrets.iter().filter(|secret| !secret.is_empty());
        let mut secrets: Vec<_> = secrets.map(|secret| secret.clone().into_bytes()).collect();
        secrets.sort_by_key(|secret| std::cmp::Reverse(secret.len()));
        Self {
            secrets,
            held: Vec::new(),
        }
    }

    /// Takes the next bytes and returns those that are decided, redacted.
    pub fn push(&mut self, bytes: Vec<u8>) -> Vec<u8> {
        if self.secrets.is_empty() {
            return bytes;
        }
        let bytes = if self.held.is_empty() {
            bytes
        } else {
            [std::mem::take(&mut self.held), bytes].concat()
        };
        self.redact(bytes, Rest::MayFollow)
    }

    /// Ends the stream and returns the bytes that were held back, redacted.
    pub fn finish(&mut self) -> Vec<u8> {
        let held = std::mem::take(&mut self.held);
        self.redact(held, Rest::Ended)
    }

    fn redact(&mut self, mut bytes: Vec<u8>, rest: Rest) -> Vec<u8> {
        let mut starts = [false; 256];
        for secret in &self.secrets {
            starts[usize::from(secret[0])] = true;
        }
        let mut clean = Vec::with_capacity(bytes.len());
        let mut decided = 0;
        while let Some(length) = bytes[decided..]
            .iter()
            .position(|byte| starts[usize::from(*byte)])
        {
            clean.extend_from_slice(&bytes[decided..decided + length]);
            decided += length;
            let ahead = &bytes[decided..];
            let may_grow =
                |secret: &Vec<u8>| secret.len() > ahead.len() && secret.starts_with(ahead);
            if rest == Rest::MayFollow && self.secrets.iter().any(may_grow) {
                self.held = bytes.split_off(decided);
                return clean;
            }
            match self.secrets.iter().find(|secret| ahead.starts_with(secret)) {
                Some(secret) => {
                    clean.extend_from_slice(MARK.as_bytes());
                    decided += secret.len();
                }
                None => {
                    clean.push(ahead[0]);
                    decided += 1;
                }
            }
        }
        clean.extend_from_slice(&bytes[decided..]);
        clean
    }
}

/// Redacts the given values and everything that looks like a secret from a text. The values come first, because a
/// pattern may match only a part of one.
pub fn redacted(text: &str, secrets: &[String]) -> String {
    let text = without_values(text, secrets);
    let (text, _) = secret::redact(&text);
    text.into_owned()
}

/// Redacts the given values from a text.
pub fn without_values(text: &str, secrets: &[String]) -> String {
    let mut redactor = Redactor::new(secrets);
    let mut clean = redactor.push(text.as_bytes().to_vec());
    clean.extend(redactor.finish());
    String::from_utf8(clean).expect("whole values are replaced, so what is left is UTF-8")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(secrets: &[&str], pieces: &[&str], expected: &str) {
        let secrets: Vec<_> = secrets.iter().map(|secret| (*secret).to_owned()).collect();
        let mut redactor = Redactor::new(&secrets);
        let mut found = Vec::new();
        for piece in pieces {
            found.extend(redactor.push(piece.as_bytes().to_vec()));
        }
        found.extend(redactor.finish());
        assert_eq!(String::from_utf8(found).unwrap(), expected);
    }

    #[test]
    fn a_value_is_taken_out_wherever_it_is_cut() {
        let text = "a hunter22 b hunter22";
        for place in 0..=text.len() {
            let (left, right) = text.split_at(place);
            check(&["hunter22"], &[left, right], "a [redacted] b [redacted]");
        }
        let letters: Vec<_> = text.split("").collect();
        check(&["hunter22"], &letters, "a [redacted] b [redacted]");
    }

    #[test]
    fn what_only_begins_like_a_value_is_kept() {
        check(&["hunter22"], &["hunter", "2", " hunt"], "hunter2 hunt");
        check(&[], &["as", " it is"], "as it is");
    }

    #[test]
    fn a_value_that_contains_another_is_taken_out_whole() {
        check(&["secret", "my secret key"], &["my secret key"], MARK);
        let secrets = ["hunter", "hunter22"].map(str::to_owned);
        assert_eq!(
            without_values("hunter22 hunter", &secrets),
            "[redacted] [redacted]"
        );
    }

    #[test]
    fn a_value_that_begins_like_a_longer_one_is_taken_out_wherever_it_is_cut() {
        for place in 0..=8 {
            let (left, right) = "hunter22".split_at(place);
            check(&["hunter", "hunter22"], &[left, right], MARK);
        }
        check(&["hunter", "hunter22"], &["hunter"], MARK);
        check(
            &["secret", "my secret key"],
            &["my secret"],
            "my [redacted]",
        );
    }
}
