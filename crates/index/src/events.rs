//! JSON Lines files: the events of a run and the messages of a conversation, read from where the last sync stopped.

use std::{
    fs::File,
    io::{self, Read as _, Seek as _, SeekFrom},
};

use company::{Company, event_log::MAX_LINE_BYTES, format::ecma_json};
use protocol::company::{
    conversation::ConversationMessage,
    index::IndexSyncResponse,
    monitor::{MonitorBudgetDecision, MonitorEvent, MonitorPolicyDecision, MonitorPolicyDenied},
};
use rusqlite::{Connection, OptionalExtension as _, params, types::Null};
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use serde_json::{Value, value::RawValue};

use crate::{
    documents::hash_of,
    scan::{FileStamp, RecordedFile},
    search,
};

/// Number of bytes read at once.
const CHUNK_BYTES: usize = 256 << 10;
/// Number of bytes before the end of the indexed part that must be unchanged for reading to continue there.
const TAIL_BYTES: u64 = 4096;
/// Number of bytes kept of a line that is longer than `MAX_LINE_BYTES`.
const OVERSIZED_KEPT_BYTES: usize = 8 << 10;

/// A JSON Lines file, positioned at the first unread line.
pub(crate) struct LineReader {
    file: File,
    /// Metadata of the file when it was opened. Lines appended later are left to the next sync.
    pub(crate) stamp: FileStamp,
    /// Offset in bytes of the first unread line.
    offset: u64,
    /// Number of lines before `offset` that are not blank.
    pub(crate) lines: u64,
    buffer: Vec<u8>,
    /// Number of bytes of the buffer that were already passed to the caller.
    taken: usize,
    /// Offset in the file of the end of the buffer.
    buffered_to: u64,
    /// Number of bytes dropped from the line in the buffer because the line is too long.
    left_out: u64,
}

/// How to read a JSON Lines file.
pub(crate) enum LineReading {
    /// Nothing to read: neither its metadata nor its content changed.
    Same,
    /// Its indexed part changed: delete the indexed lines and read from the beginning.
    Afresh(LineReader),
    /// Its indexed part is unchanged: read on from there.
    Onward(LineReader),
}

/// Opens a JSON Lines file and decides where to start reading.
pub(crate) fn open(
    company: &Company,
    path: &str,
    known: Option<&RecordedFile>,
) -> Result<LineReading, company::Error> {
    let mut file = company.open(path)?;
    let read = |file: &mut File| -> io::Result<(FileStamp, bool)> {
        let metadata = file.metadata()?;
        if !metadata.is_file() {
            return Err(io::Error::new(io::ErrorKind::InvalidData, "not a file"));
        }
        let stamp = FileStamp::of(&metadata);
        let Some(known) = known else {
            return Ok((stamp, false));
        };
        let size = u64::try_from(stamp.size).unwrap_or(0);
        let is_same_file = known.stamp.inode == stamp.inode && size >= known.read_bytes;
        // Same size but other times: the file was overwritten in place.
        let times = |stamp: &FileStamp| (stamp.mtime_ns, stamp.ctime_ns);
        let is_rewritten = known.stamp.size == stamp.size && times(&known.stamp) != times(&stamp);
        let goes_on =
            is_same_file && !is_rewritten && tail_hash(file, known.read_bytes)? == known.hash;
        Ok((stamp, goes_on))
    };
    let opened = read(&mut file);
    let (stamp, goes_on) = opened.map_err(|error| company::Error::io("read", path, error))?;
    let reader = |file, offset, lines| LineReader {
        file,
        stamp,
        offset,
        lines,
        buffer: Vec::new(),
        taken: 0,
        buffered_to: offset,
        left_out: 0,
    };
    Ok(match known {
        Some(known) if goes_on && known.stamp == stamp => LineReading::Same,
        Some(known) if goes_on => LineReading::Onward(reader(file, known.read_bytes, known.lines)),
        Some(_) => LineReading::Afresh(reader(file, 0, 0)),
        None => LineReading::Onward(reader(file, 0, 0)),
    })
}

fn tail_hash(file: &mut File, end: u64) -> io::Result<i64> {
    let start = end.saturating_sub(TAIL_BYTES);
    file.seek(SeekFrom::Start(start))?;
    let mut bytes = Vec::new();
    file.take(end - start).read_to_end(&mut bytes)?;
    Ok(hash_of(&bytes))
}

impl LineReader {
    /// Passes the next complete lines to `line`, each with its number, and returns whether there were any. A last line
    /// without a line feed is still being written and is left to a later sync.
    pub(crate) fn next(&mut self, mut line: impl FnMut(u64, &[u8])) -> io::Result<bool> {
        let end = u64::try_from(self.stamp.size).unwrap_or(0);
        self.buffer.drain(..self.taken);
        self.taken = 0;
        while self.buffered_to < end {
            let wanted = usize::try_from(end - self.buffered_to).unwrap_or(CHUNK_BYTES);
            let begin = self.buffer.len();
            self.file.seek(SeekFrom::Start(self.buffered_to))?;
            let count = (&self.file)
                .take(wanted.min(CHUNK_BYTES) as u64)
                .read_to_end(&mut self.buffer)?;
            if count == 0 {
                // The file was truncated while it was read; the next sync notices that.
                return Ok(false);
            }
            self.buffered_to += count as u64;
            if self.buffer[begin..].contains(&b'\n') {
                break;
            }
            if self.buffer.len() > MAX_LINE_BYTES {
                // No writer of events produces such a line. Keep only its beginning, and go on looking for its end.
                self.left_out += (self.buffer.len() - OVERSIZED_KEPT_BYTES) as u64;
                self.buffer.truncate(OVERSIZED_KEPT_BYTES);
            }
        }
        let Some(last) = self.buffer.iter().rposition(|byte| *byte == b'\n') else {
            return Ok(false);
        };
        for text in self.buffer[..last].split(|byte| *byte == b'\n') {
            if !is_blank(text) {
                self.lines += 1;
                line(self.lines, text);
            }
        }
        self.taken = last + 1;
        self.offset += self.taken as u64 + std::mem::take(&mut self.left_out);
        Ok(true)
    }

    /// The state of the file to record in `file_state`.
    pub(crate) fn known(mut self, row_id: String) -> io::Result<RecordedFile> {
        Ok(RecordedFile {
            stamp: self.stamp,
            read_bytes: self.offset,
            lines: self.lines,
            hash: tail_hash(&mut self.file, self.offset)?,
            row_id: Some(row_id),
        })
    }
}

/// Whether ECMAScript's `trim` leaves nothing of a line.
fn is_blank(line: &[u8]) -> bool {
    if line.first().is_some_and(|byte| (b'!'..0x80).contains(byte)) {
        return false;
    }
    let blank = |character: char| {
        character == '\u{feff}' || character.is_whitespace() && character != '\u{85}'
    };
    str::from_utf8(line).is_ok_and(|text| text.chars().all(blank))
}

/// A line of an event log.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum EventLine {
    /// A JSON value; usually an event.
    Event(Box<EventRow>),
    /// A line that is not JSON.
    Broken {
        seq: u64,
        error: String,
        raw_line: String,
    },
}

/// A row of `events`.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct EventRow {
    pub(crate) seq: u64,
    pub(crate) kind: String,
    pub(crate) ts_wallclock: Option<String>,
    pub(crate) ts_monotonic_ms: Option<serde_json::Number>,
    pub(crate) actor: Option<String>,
    pub(crate) session_ref: Option<String>,
    pub(crate) visibility: Option<String>,
    pub(crate) payload_json: String,
    pub(crate) raw_json: String,
}

impl EventLine {
    /// Parses a line.
    pub(crate) fn parse(seq: u64, line: &[u8]) -> Self {
        let text = String::from_utf8_lossy(line);
        match parse(seq, &text) {
            Ok(row) => Self::Event(Box::new(row)),
            Err(error) => Self::Broken {
                seq,
                error: error.to_string(),
                raw_line: text.into_owned(),
            },
        }
    }
}

fn parse(seq: u64, text: &str) -> serde_json::Result<EventRow> {
    use std::borrow::Cow;
    #[derive(Deserialize)]
    struct IndexedFields<'a> {
        #[serde(borrow, rename = "type")]
        kind: Cow<'a, str>,
        #[serde(borrow)]
        ts_wallclock: Option<Cow<'a, str>>,
        ts_monotonic_ms: Option<serde_json::Number>,
        #[serde(borrow)]
        actor: Option<Cow<'a, str>>,
        #[serde(borrow)]
        session_ref: Option<Cow<'a, str>>,
        #[serde(borrow)]
        visibility: Option<Cow<'a, str>>,
        #[serde(borrow)]
        payload: Option<&'a RawValue>,
    }
    if let Ok(line) = serde_json::from_str::<IndexedFields<'_>>(text) {
        let owned = |text: Option<Cow<'_, str>>| text.map(Cow::into_owned);
        return Ok(EventRow {
            seq,
            kind: line.kind.into_owned(),
            ts_wallclock: owned(line.ts_wallclock),
            ts_monotonic_ms: line.ts_monotonic_ms,
            actor: owned(line.actor),
            session_ref: owned(line.session_ref),
            visibility: owned(line.visibility),
            payload_json: line
                .payload
                .map_or_else(|| "null".to_owned(), |raw| compact(raw.get())),
            raw_json: text.to_owned(),
        });
    }
    // Duplicate members, or members of other types: the last duplicate counts, and members that are not strings are
    // treated as absent.
    let value: Value = serde_json::from_str(text)?;
    let string = |name: &str| {
        value
            .get(name)
            .and_then(Value::as_str)
            .map(ToOwned::to_owned)
    };
    Ok(EventRow {
        seq,
        kind: string("type").unwrap_or_else(|| "unknown".to_owned()),
        ts_wallclock: string("ts_wallclock"),
        ts_monotonic_ms: value
            .get("ts_monotonic_ms")
            .and_then(|number| number.as_number().cloned()),
        actor: string("actor"),
        session_ref: string("session_ref"),
        visibility: string("visibility"),
        payload_json: value
            .get("payload")
            .map_or_else(|| "null".to_owned(), Value::to_string),
        raw_json: text.to_owned(),
    })
}

/// The JSON text without whitespace between its tokens.
fn compact(json: &str) -> String {
    let (mut in_string, mut is_escaped, mut has_blanks) = (false, false, false);
    for byte in json.bytes() {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' if in_string => is_escaped = true,
            b'"' => in_string = !in_string,
            b' ' | b'\t' | b'\r' | b'\n' if !in_string => {
                has_blanks = true;
                break;
            }
            _ => {}
        }
    }
    if has_blanks {
        ecma_json::canonical(json).unwrap_or_else(|| json.to_owned())
    } else {
        json.to_owned()
    }
}

/// Summary of the events of a run. It is stored beside the row of the run, so that a view of many runs reads no events.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct EventSummary {
    pub(crate) last_event: Option<MonitorEvent>,
    pub(crate) parse_errors: u64,
    pub(crate) policy_decisions: u64,
    pub(crate) policy_denied: u64,
    pub(crate) budget_decisions: u64,
    pub(crate) budget_alerts: u64,
    pub(crate) budget_exceeded: u64,
    pub(crate) latest_policy_decision: Option<MonitorPolicyDecision>,
    pub(crate) latest_policy_denied: Option<MonitorPolicyDenied>,
    pub(crate) latest_budget_decision: Option<MonitorBudgetDecision>,
}

impl EventSummary {
    /// Counts a line of the log.
    pub(crate) fn see(&mut self, line: &EventLine) {
        match line {
            EventLine::Broken { .. } => self.parse_errors += 1,
            EventLine::Event(row) => {
                self.see_decision(&row.kind, &row.payload_json);
                self.last_event = Some(MonitorEvent {
                    seq: row.seq,
                    r#type: row.kind.clone(),
                    ts_wallclock: row.ts_wallclock.clone(),
                    actor: row.actor.clone(),
                    visibility: row.visibility.clone(),
                });
            }
        }
    }

    /// Counts a policy or budget decision; events of other types are ignored.
    pub(crate) fn see_decision(&mut self, kind: &str, payload: &str) {
        let payload = || serde_json::from_str::<Value>(payload).unwrap_or_default();
        match kind {
            "policy.decision" => {
                self.policy_decisions += 1;
                let payload = payload();
                self.latest_policy_decision = Some(MonitorPolicyDecision {
                    allowed: payload["allowed"].as_bool(),
                    rule_id: text(&payload["rule_id"]),
                    reason: text(&payload["reason"]),
                    action: text(&payload["action"]),
                });
            }
            "policy.denied" => {
                self.policy_denied += 1;
                let payload = payload();
                let policy = &payload["policy"];
                self.latest_policy_denied = Some(MonitorPolicyDenied {
                    rule_id: text(&policy["rule_id"]).or_else(|| text(&payload["rule_id"])),
                    reason: text(&policy["reason"]).or_else(|| text(&payload["reason"])),
                    action: text(&payload["action"]),
                });
            }
            "budget.decision" => {
                self.budget_decisions += 1;
                let payload = payload();
                self.latest_budget_decision = Some(MonitorBudgetDecision {
                    scope: text(&payload["scope"]),
                    metric: text(&payload["metric"]),
                    severity: text(&payload["severity"]),
                    result: text(&payload["result"]),
                    actual: payload["actual"].as_f64(),
                    threshold: payload["threshold"].as_f64(),
                });
            }
            "budget.alert" => self.budget_alerts += 1,
            "budget.exceeded" => self.budget_exceeded += 1,
            _ => {}
        }
    }

    /// Loads the summary of a run; the default if none is stored.
    pub(crate) fn load(db: &Connection, project: &str, run: &str) -> rusqlite::Result<Self> {
        let mut statement = db.prepare_cached(
            "SELECT last_event_json, parse_error_count, policy_decision_count, policy_denied_count,
                    budget_decision_count, budget_alert_count, budget_exceeded_count,
                    latest_policy_decision_json, latest_policy_denied_json, latest_budget_decision_json
             FROM run_activity WHERE project_id = ?1 AND run_id = ?2",
        )?;
        let found = statement.query_row([project, run], |row| Self::of_row(row, 0));
        Ok(found.optional()?.unwrap_or_default())
    }

    /// Reads the summary from the ten columns of a row that start at `first`.
    pub(crate) fn of_row(row: &rusqlite::Row<'_>, first: usize) -> rusqlite::Result<Self> {
        fn json<T: DeserializeOwned>(
            row: &rusqlite::Row<'_>,
            column: usize,
        ) -> rusqlite::Result<Option<T>> {
            let text = row.get_ref(column)?.as_str_or_null()?;
            Ok(text.and_then(|text| serde_json::from_str(text).ok()))
        }
        let count = |column: usize| {
            row.get::<_, Option<u64>>(first + column)
                .map(Option::unwrap_or_default)
        };
        Ok(Self {
            last_event: json(row, first)?,
            parse_errors: count(1)?,
            policy_decisions: count(2)?,
            policy_denied: count(3)?,
            budget_decisions: count(4)?,
            budget_alerts: count(5)?,
            budget_exceeded: count(6)?,
            latest_policy_decision: json(row, first + 7)?,
            latest_policy_denied: json(row, first + 8)?,
            latest_budget_decision: json(row, first + 9)?,
        })
    }

    /// Stores the summary of a run.
    pub(crate) fn save(&self, db: &Connection, project: &str, run: &str) -> rusqlite::Result<()> {
        fn json<T: Serialize>(value: &Option<T>) -> Option<String> {
            value
                .as_ref()
                .and_then(|value| serde_json::to_string(value).ok())
        }
        db.prepare_cached(
            "INSERT OR REPLACE INTO run_activity VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)",
        )?
        .execute(params![
            project,
            run,
            json(&self.last_event),
            self.parse_errors,
            self.policy_decisions,
            self.policy_denied,
            self.budget_decisions,
            self.budget_alerts,
            self.budget_exceeded,
            json(&self.latest_policy_decision),
            json(&self.latest_policy_denied),
            json(&self.latest_budget_decision),
        ])
        .map(drop)
    }
}

fn text(value: &Value) -> Option<String> {
    value.as_str().map(ToOwned::to_owned)
}

/// Inserts lines of the event log of a run.
pub(crate) fn insert(
    db: &Connection,
    project: &str,
    run: &str,
    lines: &[EventLine],
    counts: &mut IndexSyncResponse,
) -> rusqlite::Result<()> {
    let mut statement = db.prepare_cached(
        "INSERT INTO events VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)",
    )?;
    // The project and the run are the same for all rows, so they are bound once.
    statement.raw_bind_parameter(1, project)?;
    statement.raw_bind_parameter(2, run)?;
    for line in lines {
        match line {
            EventLine::Event(row) => {
                statement.raw_bind_parameter(3, row.seq)?;
                statement.raw_bind_parameter(4, &row.kind)?;
                statement.raw_bind_parameter(5, &row.ts_wallclock)?;
                match &row.ts_monotonic_ms {
                    Some(number) => match number.as_i64() {
                        Some(whole) => statement.raw_bind_parameter(6, whole)?,
                        None => statement.raw_bind_parameter(6, number.as_f64())?,
                    },
                    None => statement.raw_bind_parameter(6, Null)?,
                }
                statement.raw_bind_parameter(7, &row.actor)?;
                statement.raw_bind_parameter(8, &row.session_ref)?;
                statement.raw_bind_parameter(9, &row.visibility)?;
                statement.raw_bind_parameter(10, &row.payload_json)?;
                statement.raw_bind_parameter(11, &row.raw_json)?;
                statement.raw_execute()?;
                counts.events_indexed += 1;
            }
            EventLine::Broken {
                seq,
                error,
                raw_line,
            } => {
                db.prepare_cached(
                    "INSERT OR REPLACE INTO event_parse_errors VALUES (?1, ?2, ?3, ?4, ?5)",
                )?
                .execute(params![project, run, seq, error, raw_line])?;
                counts.event_parse_errors_indexed += 1;
            }
        }
    }
    Ok(())
}

/// Deletes all rows that come from the event log of a run.
pub(crate) fn delete(
    db: &Connection,
    project: &str,
    run: &str,
    counts: &mut IndexSyncResponse,
) -> rusqlite::Result<()> {
    search::forget_events(db, project, run)?;
    let deleted = db
        .prepare_cached("DELETE FROM events WHERE project_id = ?1 AND run_id = ?2")?
        .execute([project, run])?;
    counts.events_deleted += deleted as u64;
    search::events_deleted(db)?;
    let deleted = db
        .prepare_cached("DELETE FROM event_parse_errors WHERE project_id = ?1 AND run_id = ?2")?
        .execute([project, run])?;
    counts.event_parse_errors_deleted += deleted as u64;
    db.prepare_cached("DELETE FROM run_activity WHERE project_id = ?1 AND run_id = ?2")?
        .execute([project, run])?;
    Ok(())
}

/// The line number of a message, and the message.
pub(crate) type MessageLine = (u64, ConversationMessage);

/// Parses a line of a message file. Returns `None` if it is not a message.
pub(crate) fn parse_message(seq: u64, line: &[u8]) -> Option<MessageLine> {
    serde_json::from_slice(line)
        .ok()
        .map(|message| (seq, message))
}

/// Inserts messages of a conversation, and adds them to the full text.
pub(crate) fn insert_messages(
    db: &Connection,
    path: &str,
    conversation: &str,
    messages: &[MessageLine],
    counts: &mut IndexSyncResponse,
) -> rusqlite::Result<()> {
    let mut statement = db.prepare_cached(
        "INSERT OR IGNORE INTO messages VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)",
    )?;
    for (seq, message) in messages {
        let mentions = serde_json::to_string(&message.mentions).unwrap_or_default();
        let added = statement.execute(params![
            message.id.as_str(),
            conversation,
            message.project_id.as_deref(),
            seq,
            message.created_at.as_str(),
            message.author_id.as_str(),
            message.author_role.as_str(),
            message.kind.as_str(),
            message.visibility.as_str(),
            message.body.as_str(),
            mentions,
        ])?;
        counts.messages_indexed += added as u64;
        if added > 0 {
            search::add(
                db,
                &search::IndexedText {
                    kind: protocol::company::index::SearchKind::Message,
                    project_id: message.project_id.as_deref(),
                    id: &message.id,
                    conversation_id: Some(conversation),
                    title: None,
                    body: &message.body,
                    author_id: Some(&message.author_id),
                    team_id: None,
                    visibility: Some(message.visibility.as_str()),
                    created_at: Some(&message.created_at),
                    relpath: path,
                },
            )?;
        }
    }
    Ok(())
}

/// Deletes all rows that come from a message file.
pub(crate) fn delete_messages(
    db: &Connection,
    path: &str,
    conversation: &str,
    counts: &mut IndexSyncResponse,
) -> rusqlite::Result<()> {
    search::forget(db, path)?;
    let deleted = db
        .prepare_cached("DELETE FROM messages WHERE conversation_id = ?1")?
        .execute([conversation])?;
    counts.messages_deleted += deleted as u64;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(line: &str) -> EventRow {
        match EventLine::parse(1, line.as_bytes()) {
            EventLine::Event(row) => *row,
            EventLine::Broken { error, .. } => panic!("{error}"),
        }
    }

    #[test]
    fn what_is_json_and_no_event_is_unknown() {
        for line in ["7", "[]", "null", r#"{"type":5,"payload":null}"#] {
            let row = event(line);
            assert_eq!(
                (row.kind.as_str(), row.payload_json.as_str()),
                ("unknown", "null"),
                "{line}"
            );
            assert_eq!(row.raw_json, line);
        }
    }

    #[test]
    fn a_member_given_twice_counts_as_the_last_one() {
        let row = event(r#"{"type":"a","type":"b","payload":{ "x" : " y " }}"#);
        assert_eq!(
            (row.kind.as_str(), row.payload_json.as_str()),
            ("b", r#"{"x":" y "}"#)
        );
    }

    #[test]
    fn a_payload_is_kept_without_blanks() {
        let row = event(r#"{"type":"a","payload": {"x" : [1, "a \" b"]} }"#);
        assert_eq!(row.payload_json, r#"{"x":[1,"a \" b"]}"#);
    }

    #[test]
    fn a_line_that_is_not_json_is_told() {
        let line = EventLine::parse(3, b"{\"a\":\xff");
        let EventLine::Broken { seq, raw_line, .. } = line else {
            panic!("{line:?}");
        };
        assert_eq!((seq, raw_line.as_str()), (3, "{\"a\":\u{fffd}"));
    }

    #[test]
    fn decisions_are_counted_and_the_latest_is_kept() {
        let mut activity = EventSummary::default();
        for line in [
            r#"{"type":"policy.decision","payload":{"allowed":true,"rule_id":"r1"}}"#,
            r#"{"type":"policy.denied","payload":{"action":"read","policy":{"rule_id":"r2","reason":"no"}}}"#,
            r#"{"type":"budget.decision","payload":{"actual":2,"threshold":1.5}}"#,
            "broken",
        ] {
            activity.see(&EventLine::parse(9, line.as_bytes()));
        }
        assert_eq!(
            (
                activity.policy_decisions,
                activity.policy_denied,
                activity.budget_decisions
            ),
            (1, 1, 1)
        );
        assert_eq!(activity.parse_errors, 1);
        assert_eq!(
            activity.latest_policy_denied.unwrap().rule_id.as_deref(),
            Some("r2")
        );
        assert_eq!(activity.latest_budget_decision.unwrap().actual, Some(2.0));
        assert_eq!(activity.last_event.unwrap().r#type, "budget.decision");
    }
}
