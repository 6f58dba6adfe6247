//! One event of a run: its envelope, its line in `events.jsonl`, and the hash that links it to the previous line.
//!
//! [`log`] appends lines, [`verify`] verifies them, [`upgrade`] rewrites the files of older writers, and
//! [`crate::events::replay`] reads whole files.

mod lines;
pub mod log;
pub mod upgrade;
pub mod verify;

pub(crate) use lines::{Chunk, Chunks, is_blank};

use data_encoding::HEXLOWER;
use protocol::company::{EventId, RunId, Visibility};
use serde::Serialize;
use sha2::{Digest as _, Sha256};

use crate::{Error, format::ecma_json};

/// `schema_version` of new events.
pub(crate) const SCHEMA_VERSION: u32 = 1;

/// Maximum length of an event line, for writing and for reading.
pub const MAX_LINE_BYTES: usize = 64 * 1024 * 1024;

/// An event to be appended. The caller provides the times and the id.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    /// Creation time: ISO 8601 with milliseconds, UTC.
    pub ts_wallclock: String,
    /// The run of the event.
    pub run_id: RunId,
    /// The session that wrote the event; `local_<run_id>` if there is none.
    pub session_ref: String,
    /// The acting party: `system`, `human` or the id of an agent.
    pub actor: String,
    /// Who may see the event in a share pack.
    pub visibility: Visibility,
    /// Event type, such as `run.started`; named `type` on the wire and on disk.
    pub event_type: String,
    /// Data of the event; its members depend on the type.
    pub payload: Payload,
    /// Id of the event: `evt_` and a ULID.
    pub event_id: EventId,
    /// Groups related events; usually the session.
    pub correlation_id: Option<String>,
    /// The event that caused this one; absent if it is not known.
    pub causation_id: Option<EventId>,
    /// Milliseconds since the start of the writing process. Not ordered within a file.
    pub ts_monotonic_ms: u64,
}

/// The first line of a new log, with its LF.
pub fn first_line(event: &Event) -> String {
    first_lines(std::slice::from_ref(event)).0
}

/// The lines of a new log that starts with these events, and the hash of the last event; empty if there are no events.
pub(crate) fn first_lines(events: &[Event]) -> (String, String) {
    let (mut lines, mut last) = (String::new(), String::new());
    for event in events {
        let previous = (!last.is_empty()).then(|| format!("\"{last}\""));
        let (line, hash) = PreparedEvent::new(event).seal(previous.as_deref());
        lines.push_str(&line);
        lines.push('\n');
        last = hash;
    }
    (lines, last)
}

/// The line of an event outside of any hash chain, without LF.
pub(crate) fn loose_line(event: &Event) -> String {
    let mut line = PreparedEvent::new(event).head;
    line.truncate(line.len() - PREVIOUS_HASH_MEMBER.len());
    line.push('}');
    line
}

/// Text before the value of `prev_event_hash` in a line.
const PREVIOUS_HASH_MEMBER: &str = ",\"prev_event_hash\":";

/// The payload of an event, printed as it appears in the line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Payload(String);

impl Payload {
    /// Prints a value in the order of its fields, as ECMAScript does. Rejects payloads that are too large or nested too
    /// deep.
    pub fn new(value: &impl Serialize) -> Result<Self, Error> {
        let unprintable = |detail| Error::Refused(format!("the payload of an event {detail}"));
        let text = serde_json::to_string(value)
            .map_err(|error| unprintable(format!("cannot be printed as JSON: {error}")))?;
        if text.len() > MAX_LINE_BYTES / 2 {
            return Err(unprintable(format!(
                "is too large: expected at most {} bytes, found {}",
                MAX_LINE_BYTES / 2,
                text.len()
            )));
        }
        // The line adds one level of nesting.
        let max_depth = ecma_json::MAX_DEPTH - 1;
        match ecma_json::canonical_within(&text, max_depth) {
            Some(text) => Ok(Self(text)),
            None => Err(unprintable(format!(
                "is nested deeper than {max_depth} levels"
            ))),
        }
    }

    /// The JSON text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// An event whose line and hash are computed as far as possible before the hash of the previous line is known.
pub(crate) struct PreparedEvent {
    /// The line up to the value of `prev_event_hash`.
    head: String,
    /// Hash state after the head.
    hasher: Sha256,
}

impl PreparedEvent {
    pub(crate) fn new(event: &Event) -> Self {
        // The field order determines the order in the line.
        #[derive(Serialize)]
        struct LineFields<'a> {
            schema_version: u32,
            ts_wallclock: &'a str,
            run_id: &'a RunId,
            session_ref: &'a str,
            actor: &'a str,
            visibility: Visibility,
            r#type: &'a str,
        }
        #[derive(Serialize)]
        struct Rest<'a> {
            event_id: &'a EventId,
            correlation_id: Option<&'a str>,
            causation_id: Option<&'a EventId>,
            ts_monotonic_ms: u64,
        }
        let printed = |value: serde_json::Result<String>| {
            value.expect("strings and numbers always print as JSON")
        };
        let mut head = printed(serde_json::to_string(&LineFields {
            schema_version: SCHEMA_VERSION,
            ts_wallclock: &event.ts_wallclock,
            run_id: &event.run_id,
            session_ref: &event.session_ref,
            actor: &event.actor,
            visibility: event.visibility,
            r#type: &event.event_type,
        }));
        head.pop();
        head.push_str(",\"payload\":");
        head.push_str(&event.payload.0);
        let rest = printed(serde_json::to_string(&Rest {
            event_id: &event.event_id,
            correlation_id: event.correlation_id.as_deref(),
            causation_id: event.causation_id.as_ref(),
            ts_monotonic_ms: event.ts_monotonic_ms,
        }));
        head.push(',');
        head.push_str(&rest[1..rest.len() - 1]);
        head.push_str(PREVIOUS_HASH_MEMBER);
        let hasher = Sha256::new_with_prefix(&head);
        Self { head, hasher }
    }

    /// Approximate length of the finished line in bytes.
    pub(crate) fn len(&self) -> usize {
        self.head.len() + 180
    }

    /// Completes the line with the hash of the previous line, given as JSON text. Returns the line and its own hash.
    pub(crate) fn seal(self, previous: Option<&str>) -> (String, String) {
        let Self {
            head: mut line,
            mut hasher,
        } = self;
        let previous = previous.unwrap_or("null");
        hasher.update(previous);
        hasher.update("}");
        let hash = hex(&hasher.finalize());
        line.reserve(previous.len() + hash.len() + EVENT_HASH_MEMBER.len() + 2);
        line.push_str(previous);
        line.push_str(EVENT_HASH_MEMBER);
        line.push_str(&hash);
        line.push_str("\"}");
        (line, hash)
    }
}

/// Text between the body of a sealed line and its hash.
pub(crate) const EVENT_HASH_MEMBER: &str = ",\"event_hash\":\"";

/// SHA-256 of a text in lower-case hexadecimal.
pub(crate) fn hash_of(text: &str) -> String {
    hex(&Sha256::digest(text))
}

pub(crate) fn hex(bytes: &[u8]) -> String {
    HEXLOWER.encode(bytes)
}

#[cfg(test)]
mod tests {
    use protocol::Id as _;
    use serde_json::json;

    use super::*;

    #[derive(Serialize)]
    struct Raw<'a> {
        stream: &'a str,
        chunk: &'a str,
    }

    #[test]
    fn a_line_and_its_hash_are_those_of_the_golden_chain() {
        let event = Event {
            ts_wallclock: "2024-07-01T12:00:02.002Z".to_owned(),
            run_id: RunId::parse("run_golden").unwrap(),
            session_ref: "local_run_golden".to_owned(),
            actor: "agent_w".to_owned(),
            visibility: Visibility::Team,
            event_type: "provider.raw".to_owned(),
            payload: Payload::new(&Raw {
                stream: "stdout",
                chunk: "line one\nline \"two\"\ttabbed \\ back / slash\n",
            })
            .unwrap(),
            event_id: EventId::parse("evt_run_golden_2").unwrap(),
            correlation_id: Some("local_run_golden".to_owned()),
            causation_id: None,
            ts_monotonic_ms: 1002,
        };
        let previous = "\"73c5677a8281c13f4d77dd70f6848280e7e574db65ffa5b1103381e794a39cf0\"";
        let (line, hash) = PreparedEvent::new(&event).seal(Some(previous));
        assert_eq!(
            hash,
            "895dffe9d1b95e15037c87eb49bca9a50a33fe383ab21369eb633c1960efc570"
        );
        assert_eq!(
            Some(line.as_str()),
            include_str!("event_log/golden.jsonl").lines().nth(1)
        );
    }

    #[test]
    fn a_payload_stands_in_the_line_as_ecmascript_prints_it() {
        let payload = Payload::new(&json!({"b": 1.0, "10": 1e30, "9": "\u{7f}\u{1}"})).unwrap();
        assert_eq!(
            payload.as_str(),
            "{\"9\":\"\u{7f}\\u0001\",\"10\":1e+30,\"b\":1}"
        );
    }

    #[test]
    fn a_payload_nested_too_deep_is_refused() {
        let mut value = json!(1);
        for _ in 1..ecma_json::MAX_DEPTH {
            value = json!([value]);
        }
        assert!(Payload::new(&value).is_ok());
        let error = Payload::new(&json!([value])).unwrap_err();
        assert_eq!(
            error.to_string(),
            "the payload of an event is nested deeper than 511 levels"
        );
    }
}
