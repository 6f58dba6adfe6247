//! Upgrades the events file of an older writer: fills in missing members and recomputes the hash chain.

#![allow(
    clippy::disallowed_methods,
    reason = "runs on request of a person who may migrate; rejects links"
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
    log::{EventLogs, Locked, LogFile},
    verify::{self, EVENT_HASH, PREV_EVENT_HASH},
};
use crate::{Error, files, format::ecma_json::Object};

/// Name of this migration in the migration log of the folder.
pub(crate) const MIGRATION_ID: &str = "2026-02-12-event-envelope-v1-backfill";

/// Mode of an upgrade.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Upgrade {
    /// Only report the changes.
    DryRun,
    /// Rewrite the file, unless a wrong hash indicates tampering.
    Careful,
    /// Rewrite the file even if its hashes are wrong.
    Forced,
    /// Only report the changes of [`Upgrade::Forced`].
    ForcedDryRun,
}

/// Result of an upgrade.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Upgraded {
    /// Number of events that changed, or would change in a dry run.
    pub events_rewritten: u64,
    /// Number of lines that are not events; they stay unchanged.
    pub parse_errors: u64,
    /// Outcome for the file.
    pub outcome: UpgradeOutcome,
}

/// Outcome of an upgrade for a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UpgradeOutcome {
    /// No change was necessary.
    Unchanged,
    /// The file was rewritten, or would be in a dry run; the original is kept next to it.
    Updated,
    /// The file was left unchanged, because the hash of a line is wrong. The counters are 0.
    Refused {
        /// Number of the first such line, starting at 1.
        line: u64,
    },
}

impl EventLogs {
    /// Rewrites one events file so that the envelope of every event is complete and the chain is valid. Appends wait
    /// meanwhile.
    ///
    /// A file with wrong hashes is evidence of tampering and is rejected unless the upgrade is forced. The original is
    /// kept next to the new file as `events.jsonl.pre-<migration id>`, with `-2` and so on if that name exists.
    pub(crate) fn upgrade_file(
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
        let locked = Locked::open(&LogFile::locate(path)?)?;
        read(&locked.0, &mut bytes)?;
        let (upgraded, rewritten) = rewrite(&bytes, run_id.as_str(), forced);
        if upgraded.outcome == UpgradeOutcome::Updated {
            keep_original(path)?;
            // Appends that wait for the lock of the old file detect that it was replaced.
            files::replace(path, &rewritten)?;
            self.forget(path);
        }
        Ok(upgraded)
    }
}

/// Creates a second name for the file, under which it remains after it is replaced.
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
            // Not every file system supports hard links.
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
        outcome: UpgradeOutcome::Unchanged,
    };
    let mut rewritten = Vec::with_capacity(bytes.len() + bytes.len() / 4);
    let mut seq = 0;
    let mut seals = Seals::default();
    // New hash of the previous event, as JSON text.
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
                        outcome: UpgradeOutcome::Refused { line: line_number },
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
        upgraded.outcome = UpgradeOutcome::Updated;
    }
    (upgraded, rewritten)
}

/// Fills in members that are missing or have an invalid value. New members come last.
fn complete(object: &mut Object, run_id: &str, seq: u64) {
    let quoted = |text: &str| serde_json::Value::from(text).to_string();
    let has_text = |object: &Object, key| {
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
    if !has_text(object, "run_id") {
        object.set("run_id", quoted(run_id));
    }
    if !has_text(object, "session_ref") {
        object.set("session_ref", quoted(&format!("local_{run_id}")));
    }
    if !has_text(object, "event_id") {
        object.set("event_id", quoted(&format!("evt_migrated_{run_id}_{seq}")));
    }
    if object.get("correlation_id").is_none() {
        let session_ref = object.get("session_ref").unwrap_or("null").to_owned();
        object.set("correlation_id", session_ref);
    }
    if object.get("causation_id").is_none() {
        object.set("causation_id", "null".to_owned());
    }
    // `Object` prints numbers that are not finite as `null`.
    let is_number = |value: &str| value.starts_with(|first: char| "-0123456789".contains(first));
    if !object.get("ts_monotonic_ms").is_some_and(is_number) {
        object.set("ts_monotonic_ms", seq.to_string());
    }
}

/// The original hashes of a file.
#[derive(Default)]
struct Seals {
    /// Hash of the previous event, as JSON text; absent if it had none.
    of_previous: Option<String>,
    /// Hash of the last event that had one.
    last: Option<String>,
}

impl Seals {
    /// Whether the hashes of the next event are correct, if it has any. Only 64 hexadecimal digits count as a hash; any
    /// other value is treated as absent.
    fn hold(&mut self, object: &Object) -> bool {
        let seal = object.get(EVENT_HASH).filter(|value| is_hash(value));
        let holds = match seal {
            None => true,
            Some(seal) => {
                let previous = object.get(PREV_EVENT_HASH).filter(|value| *value != "null");
                // The reference implementation writes the hash of the last event that had one, but verifies against the
                // hash of the previous event. Both are accepted.
                let follows =
                    previous == self.last.as_deref() || previous == self.of_previous.as_deref();
                follows && seal[1..65] == hash_of(&object.text_without(EVENT_HASH))
            }
        };
        self.of_previous = seal.map(str::to_owned);
        if self.of_previous.is_some() {
            self.last.clone_from(&self.of_previous);
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
