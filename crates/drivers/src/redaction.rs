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

/// Redacts values from a stream that arrives in pieces. Bytes that may start a value are held back until they are
/// decided.
#[derive(Debug, Default)]
pub struct Redactor {
    /// Sorted by descending length, so that a value that contains another one is redacted as a whole.
    secrets: Vec<Vec<u8>>,
    held: Vec<u8>,
}

impl Redactor {
    /// Creates a redactor for these values.
    pub fn new(secrets: &[String]) -> Self {
        let mut secrets: Vec<_> = secrets
            .iter()
            .map(|secret| secret.clone().into_bytes())
            .collect();
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
        let mut bytes = if self.held.is_empty() {
            bytes
        } else {
            [std::mem::take(&mut self.held), bytes].concat()
        };
        for secret in &self.secrets {
            bytes = without(bytes, secret);
        }
        let held = self
            .secrets
            .iter()
            .map(|secret| beginning_at_the_end(&bytes, secret))
            .max()
            .unwrap_or(0);
        self.held = bytes.split_off(bytes.len() - held);
        bytes
    }

    /// Returns the bytes that were held back and turned out to be no secret.
    pub fn finish(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.held)
    }
}

fn without(bytes: Vec<u8>, secret: &[u8]) -> Vec<u8> {
    let find = |from: usize| {
        let place = bytes[from..]
            .windows(secret.len())
            .position(|window| window == secret);
        place.map(|place| from + place)
    };
    let Some(first) = find(0) else {
        return bytes;
    };
    let mut clean = Vec::with_capacity(bytes.len());
    let (mut at, mut next) = (0, Some(first));
    while let Some(found) = next {
        clean.extend_from_slice(&bytes[at..found]);
        clean.extend_from_slice(MARK.as_bytes());
        at = found + secret.len();
        next = find(at);
    }
    clean.extend_from_slice(&bytes[at..]);
    clean
}

/// Length of the longest proper prefix of the secret that the bytes end with.
fn beginning_at_the_end(bytes: &[u8], secret: &[u8]) -> usize {
    let longest = bytes.len().min(secret.len() - 1);
    (1..=longest)
        .rev()
        .find(|length| bytes.ends_with(&secret[..*length]))
        .unwrap_or(0)
}

/// Redacts the given values and everything that looks like a secret from a text.
pub fn redacted(text: &str, secrets: &[String]) -> String {
    let (text, _) = secret::redact(text);
    without_values(&text, secrets)
}

/// Redacts the given values from a text.
pub fn without_values(text: &str, secrets: &[String]) -> String {
    let mut text = text.to_owned();
    for secret in secrets {
        if text.contains(secret.as_str()) {
            text = text.replace(secret.as_str(), MARK);
        }
    }
    text
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
    }
}
