//! Verifies one event: whether its envelope is complete, its hash is correct and it follows the previous event.

use std::fmt;

use serde::{
    Deserialize, Deserializer,
    de::{IgnoredAny, MapAccess, Visitor},
};
use serde_json::value::RawValue;
use sha2::{Digest as _, Sha256};

use super::{EVENT_HASH_MEMBER, hash_of, hex};
use crate::format::ecma_json::{self, Object};

/// Problem of an event, in the order in which the checks run. `Display` is the message on the wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Code {
    /// The event is not an object.
    InvalidShape,
    /// The event has no member with this name.
    MissingKey(&'static str),
    /// `schema_version` is not an integer above 0.
    InvalidSchemaVersion,
    /// `prev_event_hash` is neither a string nor null.
    InvalidPrevHashType,
    /// `event_hash` is not a string or is empty.
    InvalidEventHash,
    /// `event_hash` is not the hash of the event.
    EventHashMismatch,
    /// The first event names a previous event.
    FirstPrevHashNonNull,
    /// The event names another previous event than the one before it.
    PrevHashChainMismatch,
    /// The last event that the run document records is not in the file.
    TruncatedLog,
}

impl Code {
    /// The code on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::InvalidShape => "invalid_shape",
            Self::MissingKey(_) => "missing_key",
            Self::InvalidSchemaVersion => "invalid_schema_version",
            Self::InvalidPrevHashType => "invalid_prev_hash_type",
            Self::InvalidEventHash => "invalid_event_hash",
            Self::EventHashMismatch => "event_hash_mismatch",
            Self::FirstPrevHashNonNull => "first_prev_hash_non_null",
            Self::PrevHashChainMismatch => "prev_hash_chain_mismatch",
            Self::TruncatedLog => "truncated_log",
        }
    }
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::InvalidShape => "Event is not an object.",
            Self::MissingKey(key) => return write!(f, "Missing required key: {key}"),
            Self::InvalidSchemaVersion => "schema_version must be a positive integer.",
            Self::InvalidPrevHashType => "prev_event_hash must be string|null.",
            Self::InvalidEventHash => "event_hash must be a non-empty string.",
            Self::EventHashMismatch => "event_hash does not match the canonical event payload.",
            Self::FirstPrevHashNonNull => "First event must have prev_event_hash = null.",
            Self::PrevHashChainMismatch => {
                "prev_event_hash does not match the previous event_hash."
            }
            Self::TruncatedLog => "The last event recorded for the run is not in the log.",
        })
    }
}

/// The required members of an event, in the order in which missing ones are reported.
const KEYS: [&str; 14] = [
    "schema_version",
    "event_id",
    "correlation_id",
    "causation_id",
    "ts_wallclock",
    "ts_monotonic_ms",
    "run_id",
    "session_ref",
    "actor",
    "visibility",
    "type",
    "payload",
    PREV_EVENT_HASH,
    EVENT_HASH,
];
pub(super) const PREV_EVENT_HASH: &str = "prev_event_hash";
pub(super) const EVENT_HASH: &str = "event_hash";

/// Result of verifying a line on its own, before its position in the chain is checked.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum LineVerification {
    NotAnObject,
    Object {
        /// In the order of [`Code`].
        problems: Vec<Code>,
        prev_event_hash: Link,
        event_hash: Link,
    },
}

/// The value of `event_hash` or `prev_event_hash`, which links events to a chain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Link {
    Null,
    /// A string of the length of a hash, without escapes.
    Hash([u8; 64]),
    /// Any other string as ECMAScript prints it, with its quotes.
    Text(Box<str>),
    /// Any other value, or a missing member.
    Other,
}

impl Link {
    fn of(value: Option<&str>) -> Self {
        let Some(value) = value else {
            return Self::Other;
        };
        match value.as_bytes() {
            b"null" => Self::Null,
            [b'"', text @ .., b'"'] => match <[u8; 64]>::try_from(text) {
                Ok(hash) if !hash.contains(&b'\\') => Self::Hash(hash),
                // Strings with escapes are compared in the form that ECMAScript prints.
                _ => match ecma_json::canonical(value) {
                    Some(printed) if printed.len() == 66 && !printed.contains('\\') => {
                        Self::of(Some(&printed))
                    }
                    Some(printed) => Self::Text(printed.into()),
                    None => Self::Other,
                },
            },
            _ => Self::Other,
        }
    }

    fn is_string(&self) -> bool {
        matches!(self, Self::Hash(_) | Self::Text(_))
    }

    /// Whether the value is valid as an `event_hash`.
    fn is_non_empty_string(&self) -> bool {
        match self {
            Self::Hash(_) => true,
            Self::Text(text) => &**text != "\"\"",
            Self::Null | Self::Other => false,
        }
    }

    /// Whether the value is the given string.
    pub(crate) fn is(&self, text: &str) -> bool {
        match self {
            Self::Hash(hash) => hash == text.as_bytes(),
            Self::Text(quoted) => quoted[1..quoted.len() - 1] == *text,
            Self::Null | Self::Other => false,
        }
    }
}

/// Verifies the chain of the events of a file, in order.
pub(crate) struct ChainVerifier {
    previous: Link,
    first: bool,
}

impl ChainVerifier {
    pub(crate) fn new() -> Self {
        Self {
            previous: Link::Null,
            first: true,
        }
    }

    /// Checks the next event and reports its problems to `found`. The stored hash of the previous event is used, even
    /// if it is wrong.
    pub(crate) fn follow(&mut self, facts: LineVerification, mut found: impl FnMut(Code)) {
        let first = std::mem::replace(&mut self.first, false);
        match facts {
            LineVerification::NotAnObject => found(Code::InvalidShape),
            LineVerification::Object {
                problems,
                prev_event_hash,
                event_hash,
            } => {
                problems.into_iter().for_each(&mut found);
                if first && prev_event_hash != Link::Null {
                    found(Code::FirstPrevHashNonNull);
                }
                if !first && prev_event_hash != self.previous {
                    found(Code::PrevHashChainMismatch);
                }
                self.previous = if event_hash.is_non_empty_string() {
                    event_hash
                } else {
                    Link::Null
                };
            }
        }
    }
}

/// Verifies a line on its own. The error states why it is not JSON.
pub(crate) fn judge(line: &str) -> Result<LineVerification, String> {
    check_json_depth(line)?;
    if !line.trim_start().starts_with('{') {
        return check_json(line).map(|()| LineVerification::NotAnObject);
    }
    match serde_json::from_str::<Envelope<'_>>(line) {
        Ok(envelope) if !envelope.doubled => Ok(envelope.judge(line)),
        // A key is duplicated or is not valid Unicode; `Object` applies the rules of ECMAScript for both.
        Ok(_) | Err(_) => match Object::parse(line) {
            Some(object) => Ok(judge_object(&object)),
            None => Err(check_json(line).err().unwrap_or_default()),
        },
    }
}

/// Checks that a line is JSON. The error states why it is not.
pub(crate) fn check(line: &str) -> Result<(), String> {
    check_json_depth(line)?;
    check_json(line)
}

fn check_json(line: &str) -> Result<(), String> {
    match serde_json::from_str::<IgnoredAny>(line) {
        Ok(IgnoredAny) => Ok(()),
        Err(error) => {
            let text = error.to_string();
            let what = text.split(" at line ").next().unwrap_or_default();
            Err(format!("{what} at column {}", error.column()))
        }
    }
}

fn check_json_depth(line: &str) -> Result<(), String> {
    if ecma_json::nested_too_deep(line) {
        Err(format!(
            "nested deeper than {} levels",
            ecma_json::MAX_DEPTH
        ))
    } else {
        Ok(())
    }
}

/// The stored hash of a line as JSON text; `None` if it is not an event with a non-empty hash.
pub(crate) fn stored_hash(line: &[u8]) -> Option<String> {
    let line = str::from_utf8(line).ok()?;
    let object = Object::parse(line)?;
    let hash = object.get(EVENT_HASH)?;
    (hash.starts_with('"') && hash.len() > 2).then(|| hash.to_owned())
}

/// The members of an event that are verified; the others are skipped without building a tree.
#[derive(Default)]
struct Envelope<'a> {
    /// One bit for each of [`KEYS`] that occurs.
    seen: u16,
    /// One of [`KEYS`] occurs more than once.
    doubled: bool,
    schema_version: Option<&'a RawValue>,
    prev_event_hash: Option<&'a RawValue>,
    event_hash: Option<&'a RawValue>,
}

impl Envelope<'_> {
    fn judge(&self, line: &str) -> LineVerification {
        let [schema_version, prev_event_hash, event_hash] =
            [self.schema_version, self.prev_event_hash, self.event_hash]
                .map(|value| value.map(RawValue::get));
        judge_members(
            |key| self.seen & 1 << key != 0,
            schema_version,
            Link::of(prev_event_hash),
            Link::of(event_hash),
            |stored| {
                sealed_text_fits(line, stored)
                    || Object::parse(line).is_some_and(|object| object_fits(&object, stored))
            },
        )
    }
}

fn judge_object(object: &Object) -> LineVerification {
    judge_members(
        |key| object.get(KEYS[key]).is_some(),
        object.get("schema_version"),
        Link::of(object.get(PREV_EVENT_HASH)),
        Link::of(object.get(EVENT_HASH)),
        |stored| object_fits(object, stored),
    )
}

fn judge_members(
    has: impl Fn(usize) -> bool,
    schema_version: Option<&str>,
    prev_event_hash: Link,
    event_hash: Link,
    hash_fits: impl FnOnce(&Link) -> bool,
) -> LineVerification {
    let missing = (0..KEYS.len()).filter(|&key| !has(key));
    let mut problems: Vec<Code> = missing.map(|key| Code::MissingKey(KEYS[key])).collect();
    if !schema_version.is_some_and(is_positive_integer) {
        problems.push(Code::InvalidSchemaVersion);
    }
    if prev_event_hash != Link::Null && !prev_event_hash.is_string() {
        problems.push(Code::InvalidPrevHashType);
    }
    if !event_hash.is_non_empty_string() {
        problems.push(Code::InvalidEventHash);
    } else if !hash_fits(&event_hash) {
        problems.push(Code::EventHashMismatch);
    }
    LineVerification::Object {
        problems,
        prev_event_hash,
        event_hash,
    }
}

/// Fast path: whether the line ends with its hash, and the text before it has that hash. This holds for every line that
/// this crate or the reference implementation wrote.
fn sealed_text_fits(line: &str, stored: &Link) -> bool {
    let Link::Hash(hash) = stored else {
        return false;
    };
    let body = line
        .strip_suffix("\"}")
        .and_then(|line| line.as_bytes().strip_suffix(hash))
        .and_then(|line| line.strip_suffix(EVENT_HASH_MEMBER.as_bytes()));
    body.is_some_and(|body| {
        let digest = Sha256::new_with_prefix(body).chain_update("}").finalize();
        hex(&digest).as_bytes() == hash
    })
}

pub(super) fn object_fits(object: &Object, stored: &Link) -> bool {
    stored.is(&hash_of(&object.text_without(EVENT_HASH)))
}

/// Whether JSON text is a positive integer.
pub(super) fn is_positive_integer(value: &str) -> bool {
    value == "1"
        || value.starts_with(|first: char| first.is_ascii_digit())
            && value
                .parse::<f64>()
                .is_ok_and(|number| number > 0.0 && number.is_finite() && number.fract() == 0.0)
}

impl<'de> Deserialize<'de> for Envelope<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Members;

        impl<'de> Visitor<'de> for Members {
            type Value = Envelope<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut envelope = Envelope::default();
                while let Some(Key(key)) = map.next_key()? {
                    let Some(key) = key else {
                        map.next_value::<IgnoredAny>()?;
                        continue;
                    };
                    envelope.doubled |= envelope.seen & 1 << key != 0;
                    envelope.seen |= 1 << key;
                    match KEYS[key] {
                        "schema_version" => envelope.schema_version = Some(map.next_value()?),
                        PREV_EVENT_HASH => envelope.prev_event_hash = Some(map.next_value()?),
                        EVENT_HASH => envelope.event_hash = Some(map.next_value()?),
                        _ => {
                            map.next_value::<IgnoredAny>()?;
                        }
                    }
                }
                Ok(envelope)
            }
        }

        deserializer.deserialize_map(Members)
    }
}

/// A key as its index in [`KEYS`]; `None` for other keys.
struct Key(Option<usize>);

impl<'de> Deserialize<'de> for Key {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Name;

        impl Visitor<'_> for Name {
            type Value = Key;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a key")
            }

            fn visit_str<E>(self, name: &str) -> Result<Key, E> {
                Ok(Key(KEYS.iter().position(|key| *key == name)))
            }
        }

        deserializer.deserialize_str(Name)
    }
}
