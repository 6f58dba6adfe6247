//! Takes the values of secrets out of what a session prints, before anybody reads it or writes it down.

use std::{fmt, sync::Arc};

use company::secret;

use crate::environment;

/// What stands where a value was.
const MARK: &str = "[redacted]";

/// The secrets that the gateway itself holds. They are asked for at every launch, because keys come and go.
#[derive(Clone)]
pub struct GatewaySecrets(Arc<dyn Fn() -> Vec<String> + Send + Sync>);

impl GatewaySecrets {
    /// Takes whoever knows the tokens and stored keys. Those in the environment are known without it.
    pub fn new(held: impl Fn() -> Vec<String> + Send + Sync + 'static) -> Self {
        Self(Arc::new(held))
    }

    /// All of them, in every form in which they may be printed.
    pub(crate) fn values(&self) -> Vec<String> {
        let mut values = environment::gateway_secrets();
        values.extend((self.0)().iter().flat_map(|value| printed_forms(value)));
        values.sort_unstable();
        values.dedup();
        values
    }
}

impl Default for GatewaySecrets {
    fn default() -> Self {
        Self::new(Vec::new)
    }
}

impl fmt::Debug for GatewaySecrets {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("GatewaySecrets")
    }
}

/// A value as JSON has it, if that is different, and as it is. None for one too short to be told from other text.
pub(crate) fn printed_forms(value: &str) -> Vec<String> {
    const SHORTEST: usize = 6;
    if value.len() < SHORTEST {
        return Vec::new();
    }
    let quoted = serde_json::Value::from(value).to_string();
    let escaped = &quoted[1..quoted.len() - 1];
    let escaped = (escaped != value).then(|| escaped.to_owned());
    escaped.into_iter().chain([value.to_owned()]).collect()
}

/// Takes values out of a stream that comes in pieces. What may be the beginning of one is held back until it is known.
#[derive(Debug, Default)]
pub(crate) struct Redactor {
    /// Longer ones first, so that one that contains another is taken out whole.
    secrets: Vec<Vec<u8>>,
    held: Vec<u8>,
}

impl Redactor {
    pub(crate) fn new(secrets: &[String]) -> Self {
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

    /// The next bytes, without the values.
    pub(crate) fn push(&mut self, bytes: Vec<u8>) -> Vec<u8> {
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

    /// What was held back and is no secret after all.
    pub(crate) fn finish(&mut self) -> Vec<u8> {
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

/// How many of the last bytes are the first ones of the secret.
fn beginning_at_the_end(bytes: &[u8], secret: &[u8]) -> usize {
    let longest = bytes.len().min(secret.len() - 1);
    (1..=longest)
        .rev()
        .find(|length| bytes.ends_with(&secret[..*length]))
        .unwrap_or(0)
}

/// A text without secrets: values the session was given, and what looks like one.
pub(crate) fn redacted(text: &str, secrets: &[String]) -> String {
    let (text, _) = secret::redact(text);
    without_values(&text, secrets)
}

/// A text without values the session was given.
pub(crate) fn without_values(text: &str, secrets: &[String]) -> String {
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
