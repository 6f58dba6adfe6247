//! Rewriting the events file of an older writer: missing members are filled in, and the chain is made anew.

#![allow(
    clippy::disallowed_methods,
    reason = "a person who may migrate asked for it; refuses links"
)]

use std::{
    fs::{self, OpenOptions},
    io,
    path::{Path, PathBuf},
};

use protocol::company::RunId;

use super::{
    hash_of, is_blank,
    lines::open_regular,
    log::{EventLogs, Locked, Place},
    verify::{self, EVENT_HASH, PREV_EVENT_HASH},
};
use crate::{Error, files, format::ecma_json::Object};

/// The name of this migration in the folder's log.
pub const MIGRATION_ID: &str = "2026-02-12-event-envelope-v1-backfill";

/// What to do with a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Upgrade {
    /// Only say what would change.
    DryRun,
    /// Rewrite it, unless its hashes say that it was tampered with.
    Careful,
    /// Rewrite it whatever its hashes say.
    Forced,
    /// Only say what [`Upgrade::Forced`] would change.
    ForcedDryRun,
}

/// What was done with a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Upgraded {
    /// How many events changed, or would.
    pub events_rewritten: u64,
    /// How many lines are no events and stay as they are.
    pub parse_errors: u64,
    /// What became of the file.
    pub outcome: Outcome,
}

/// What became of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Nothing had to change.
    Unchanged,
    /// It was rewritten, or would be; the original is kept beside it.
    Updated,
    /// It was left alone: the hash of this line, counted from 1, is there and wrong. Its counters are 0.
    Refused {
        /// The first such line.
        line: u64,
    },
}

impl EventLogs {
    /// Rewrites one events file so that every event has its members and the chain holds. Appends wait meanwhile.
    ///
    /// A file whose hashes are there and wrong is evidence, and refused unless forced. The original stays beside
    /// the new file as `events.jsonl.pre-<migration id>`, with `-2` and so on when that name is taken.
    pub fn upgrade_file(
        &self,
        path: &Path,
        run_id: &RunId,
        upgrade: Upgrade,
    ) -> Result<Upgraded, Error> {
        let failed = |error| Error::io("read", path, error);
        let dry = matches!(upgrade, Upgrade::DryRun | Upgrade::ForcedDryRun);
        let forced = matches!(upgrade, Upgrade::Forced | Upgrade::ForcedDryRun);
        let mut bytes = Vec::new();
        let read = |mut file: &fs::File, bytes: &mut Vec<u8>| {
            io::Read::read_to_end(&mut file, bytes).map_err(failed)
        };
        if dry {
            let file = open_regular(path, OpenOptions::new().read(true), "read")?;
            read(&file, &mut bytes)?;
            return Ok(rewrite(&bytes, run_id.as_str(), forced).0);
        }
        let locked = Locked::open(&Place::at(path)?)?;
        read(&locked.0, &mut bytes)?;
        let (upgraded, rewritten) = rewrite(&bytes, run_id.as_str(), forced);
        if upgraded.outcome == Outcome::Updated {
            keep_original(path)?;
            // Who waits for the lock of the old file sees that it has no longer this name.
            files::replace(path, &rewritten)?;
            self.forget(path);
        }
        Ok(upgraded)
    }
}

/// Gives the file a second name, which it keeps when another one takes the first.
fn keep_original(path: &Path) -> Result<(), Error> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let kept = |number: u32| -> PathBuf {
        path.with_file_name(match number {
            1 => format!("{name}.pre-{MIGRATION_ID}"),
            _ => format!("{name}.pre-{MIGRATION_ID}-{number}"),
        })
    };
    for number in 1.. {
        let kept = kept(number);
        match fs::hard_link(path, &kept) {
            Ok(()) => return Ok(()),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            // Not every file system has hard links.
            Err(_) => {
                let copied = fs::copy(path, &kept).and_then(|_| fs::File::open(&kept)?.sync_all());
                return copied.map_err(|error| Error::io("written", &kept, error));
            }
        }
    }
    unreachable!("some number is free")
}

fn rewrite(bytes: &[u8], run_id: &str, forced: bool) -> (Upgraded, Vec<u8>) {
    let mut upgraded = Upgraded {
        events_rewritten: 0,
        parse_errors: 0,
        outcome: Outcome::Unchanged,
    };
    let mut rewritten = Vec::with_capacity(bytes.len() + bytes.len() / 4);
    let mut seq = 0;
    let mut seals = Seals::default();
    // The hash the previous event has now, as JSON text.
    let mut previous = None;
    for (line_number, line) in (1..).zip(bytes.split(|&byte| byte == b'\n')) {
        if is_blank(line) {
            continue;
        }
        seq += 1;
        match str::from_utf8(line).ok().and_then(Object::parse) {
            None => {
                upgraded.parse_errors += 1;
                rewritten.extend_from_slice(line);
            }
            Some(mut object) => {
                if !forced && !seals.hold(&object) {
                    upgraded = Upgraded {
                        events_rewritten: 0,
                        parse_errors: 0,
                        outcome: Outcome::Refused { line: line_number },
                    };
                    return (upgraded, Vec::new());
                }
                complete(&mut object, run_id, seq);
                let before = previous.unwrap_or_else(|| "null".to_owned());
                object.set(PREV_EVENT_HASH, before);
                let hash = format!("\"{}\"", hash_of(&object.text_without(EVENT_HASH)));
                object.set(EVENT_HASH, hash.clone());
                previous = Some(hash);
                let text = object.text();
                upgraded.events_rewritten += u64::from(text.as_bytes() != line);
                rewritten.extend_from_slice(text.as_bytes());
            }
        }
        rewritten.push(b'\n');
    }
    if upgraded.events_rewritten > 0 {
        upgraded.outcome = Outcome::Updated;
    }
    (upgraded, rewritten)
}

/// Fills in what is missing or cannot be what it should be. New members come last.
fn complete(object: &mut Object, run_id: &str, seq: u64) {
    let quoted = |text: &str| serde_json::Value::from(text).to_string();
    let says_something = |object: &Object, key| {
        object
            .get(key)
            .and_then(|value| serde_json::from_str::<String>(value).ok())
            .is_some_and(|text| !text.trim().is_empty())
    };
    if !object
        .get("schema_version")
        .is_some_and(verify::is_positive_integer)
    {
        object.set("schema_version", "1".to_owned());
    }
    if !says_something(object, "run_id") {
        object.set("run_id", quoted(run_id));
    }
    if !says_something(object, "session_ref") {
        object.set("session_ref", quoted(&format!("local_{run_id}")));
    }
    if !says_something(object, "event_id") {
        object.set("event_id", quoted(&format!("evt_migrated_{run_id}_{seq}")));
    }
    if object.get("correlation_id").is_none() {
        let session_ref = object.get("session_ref").unwrap_or("null").to_owned();
        object.set("correlation_id", session_ref);
    }
    if object.get("causation_id").is_none() {
        object.set("causation_id", "null".to_owned());
    }
    // Numbers that are not finite were printed as null.
    let is_number = |value: &str| value.starts_with(|first: char| "-0123456789".contains(first));
    if !object.get("ts_monotonic_ms").is_some_and(is_number) {
        object.set("ts_monotonic_ms", seq.to_string());
    }
}

/// The hashes a file came with.
#[derive(Default)]
struct Seals {
    /// The hash of the last event, as JSON text.
    of_last: Option<String>,
    /// The hash of the last event that had one.
    last: Option<String>,
}

impl Seals {
    /// Whether the hashes of the next event are right, as far as they are there. Only 64 hexadecimal digits are a
    /// hash; anything else was never a seal and cannot be broken.
    fn hold(&mut self, object: &Object) -> bool {
        let seal = object.get(EVENT_HASH).filter(|value| is_hash(value));
        let holds = match seal {
            None => true,
            Some(seal) => {
                let previous = object.get(PREV_EVENT_HASH).filter(|value| *value != "null");
                // The reference names the last event that had a hash, and looks for that of the one before.
                let follows =
                    previous == self.last.as_deref() || previous == self.of_last.as_deref();
                follows && seal[1..65] == hash_of(&object.text_without(EVENT_HASH))
            }
        };
        self.of_last = seal.map(str::to_owned);
        if self.of_last.is_some() {
            self.last.clone_from(&self.of_last);
        }
        holds
    }
}

fn is_hash(value: &str) -> bool {
    value.len() == 66
        && value.starts_with('"')
        && value[1..65]
            .bytes()
            .all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

#[cfg(test)]
mod tests;
