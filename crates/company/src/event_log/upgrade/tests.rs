//! Upgrading the event logs of older writers.

use std::num::NonZeroUsize;

use protocol::{Id as _, company::run::ReplayMode};

use super::*;
use crate::events::replay::{Options, replay};

const GOLDEN: &str = include_str!("../golden.jsonl");

/// The events file of the recorded lifecycle transcript.
const OLD: &str = concat!(
    r#"{"type":"run.started","ts_wallclock":"2024-01-01T00:00:00.000Z","actor":"system","visibility":"org","payload":{"a":1}}"#,
    "\nnot json\n[\"array\"]\n",
    r#"{"schema_version":1,"event_id":"evt_keep","correlation_id":null,"causation_id":"evt_x","ts_wallclock":"2024-01-01T00:00:01.000Z","ts_monotonic_ms":5,"run_id":"run_old","session_ref":"s","actor":"system","visibility":"org","type":"run.ended","payload":{},"prev_event_hash":"bogus","event_hash":"bogus"}"#,
    "\n",
    r#"{"schema_version":"x","run_id":"","session_ref":" ","event_id":"","ts_monotonic_ms":"7","type":"odd"}"#,
    "\n",
);

struct Folder {
    folder: tempfile::TempDir,
    logs: EventLogs,
}

impl Folder {
    fn with(text: &str) -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        files::replace(&folder.path().join("events.jsonl"), text.as_bytes()).expect("room for it");
        Self {
            folder,
            logs: EventLogs::new(),
        }
    }

    fn path(&self) -> PathBuf {
        self.folder.path().join("events.jsonl")
    }

    fn upgrade(&self, upgrade: Upgrade) -> Upgraded {
        let run_id = RunId::parse("run_old").expect("an id");
        self.logs
            .upgrade_file(&self.path(), &run_id, upgrade)
            .expect("a file that can be rewritten")
    }

    fn text(&self) -> String {
        fs::read_to_string(self.path()).expect("the events file")
    }

    fn names(&self) -> Vec<String> {
        let mut names: Vec<_> = fs::read_dir(self.folder.path())
            .expect("the folder")
            .map(|entry| {
                entry
                    .expect("an entry")
                    .file_name()
                    .into_string()
                    .expect("a name")
            })
            .collect();
        names.sort();
        names
    }
}

fn counters(events_rewritten: u64, parse_errors: u64, outcome: UpgradeOutcome) -> Upgraded {
    Upgraded {
        events_rewritten,
        parse_errors,
        outcome,
    }
}

#[test]
fn an_old_file_gets_its_members_and_a_chain() {
    let folder = Folder::with(OLD);
    assert_eq!(
        folder.upgrade(Upgrade::DryRun),
        counters(3, 2, UpgradeOutcome::Updated)
    );
    assert_eq!(folder.text(), OLD);
    assert_eq!(
        folder.upgrade(Upgrade::Careful),
        counters(3, 2, UpgradeOutcome::Updated)
    );
    insta::assert_snapshot!(folder.text(), @r#"
    {"type":"run.started","ts_wallclock":"2024-01-01T00:00:00.000Z","actor":"system","visibility":"org","payload":{"a":1},"schema_version":1,"run_id":"run_old","session_ref":"local_run_old","event_id":"evt_migrated_run_old_1","correlation_id":"local_run_old","causation_id":null,"ts_monotonic_ms":1,"prev_event_hash":null,"event_hash":"535baf3b4a002b7ea065f5f73eed54cc1fc70f96d76f5b2d9f3a2cbad0088177"}
    not json
    ["array"]
    {"schema_version":1,"event_id":"evt_keep","correlation_id":null,"causation_id":"evt_x","ts_wallclock":"2024-01-01T00:00:01.000Z","ts_monotonic_ms":5,"run_id":"run_old","session_ref":"s","actor":"system","visibility":"org","type":"run.ended","payload":{},"prev_event_hash":"535baf3b4a002b7ea065f5f73eed54cc1fc70f96d76f5b2d9f3a2cbad0088177","event_hash":"d6d5a38968ab0cd8cc47bec57d84d538cff4dede2f9bc2bda0ff448a34690998"}
    {"schema_version":1,"run_id":"run_old","session_ref":"local_run_old","event_id":"evt_migrated_run_old_5","ts_monotonic_ms":5,"type":"odd","correlation_id":"local_run_old","causation_id":null,"prev_event_hash":"d6d5a38968ab0cd8cc47bec57d84d538cff4dede2f9bc2bda0ff448a34690998","event_hash":"a59d752e93fbc98656bc8929f83ab1b82cbb6b45cb1a2d58ce71e93f9bce110a"}
    "#);
    let options = Options {
        mode: ReplayMode::Verified,
        ..Options::default()
    };
    let replayed = replay(&folder.path(), &options).unwrap().replayed;
    let issues: Vec<_> = replayed
        .verification_issues
        .iter()
        .map(|issue| (issue.seq, issue.message.as_str()))
        .collect();
    assert_eq!(
        issues,
        [
            (2, "Event is not an object."),
            (4, "Missing required key: ts_wallclock"),
            (4, "Missing required key: actor"),
            (4, "Missing required key: visibility"),
            (4, "Missing required key: payload"),
        ]
    );
}

#[test]
fn a_file_that_is_whole_stays_as_it_is() {
    let folder = Folder::with(GOLDEN);
    assert_eq!(
        folder.upgrade(Upgrade::Careful),
        counters(0, 0, UpgradeOutcome::Unchanged)
    );
    assert_eq!(folder.text(), GOLDEN);
    assert_eq!(folder.names(), ["events.jsonl"]);
}

#[test]
fn an_upgraded_file_stays_as_it_is() {
    let folder = Folder::with(OLD);
    folder.upgrade(Upgrade::Careful);
    let once = folder.text();
    assert_eq!(
        folder.upgrade(Upgrade::Forced),
        counters(0, 2, UpgradeOutcome::Unchanged)
    );
    assert_eq!(folder.text(), once);
}

#[test]
fn a_file_that_was_tampered_with_is_evidence_and_refused() {
    for (tampered, line) in [
        (GOLDEN.replace("line one", "line 1"), 2),
        (
            GOLDEN
                .lines()
                .skip(1)
                .map(|line| format!("{line}\n"))
                .collect(),
            1,
        ),
        (
            GOLDEN
                .lines()
                .rev()
                .map(|line| format!("{line}\n"))
                .collect(),
            1,
        ),
    ] {
        let folder = Folder::with(&tampered);
        assert_eq!(
            folder.upgrade(Upgrade::Careful),
            counters(0, 0, UpgradeOutcome::Refused { line })
        );
        assert_eq!(folder.text(), tampered);
        assert_eq!(folder.names(), ["events.jsonl"]);
    }
}

#[test]
fn by_force_a_tampered_file_is_sealed_again_and_the_original_kept() {
    let tampered = GOLDEN.replace("line one", "line 1");
    let folder = Folder::with(&tampered);
    assert_eq!(
        folder.upgrade(Upgrade::ForcedDryRun),
        counters(5, 0, UpgradeOutcome::Updated)
    );
    assert_eq!(
        folder.upgrade(Upgrade::Forced),
        counters(5, 0, UpgradeOutcome::Updated)
    );
    let kept = "events.jsonl.pre-2026-02-12-event-envelope-v1-backfill";
    assert_eq!(folder.names(), ["events.jsonl", kept]);
    assert_eq!(
        fs::read_to_string(folder.folder.path().join(kept)).unwrap(),
        tampered
    );

    // A second original does not replace the first.
    let again = folder
        .text()
        .replace("changed", "other")
        .replace("line 1", "line 2");
    files::replace(&folder.path(), again.as_bytes()).unwrap();
    folder.upgrade(Upgrade::Forced);
    assert_eq!(
        folder.names(),
        [
            "events.jsonl".to_owned(),
            kept.to_owned(),
            format!("{kept}-2")
        ]
    );
    assert_eq!(
        fs::read_to_string(folder.folder.path().join(kept)).unwrap(),
        tampered
    );
}

#[test]
fn an_append_behind_a_rewritten_file_continues_the_new_chain() {
    let folder = Folder::with("");
    let (event, at) = (
        crate::event_log::log::tests::event,
        crate::event_log::log::tests::at,
    );
    folder
        .logs
        .append(&at(&folder.path()), &[event(1), event(2)])
        .unwrap();
    let tampered = folder.text().replace("evt_1", "evt_9");
    files::replace(&folder.path(), tampered.as_bytes()).unwrap();
    folder.upgrade(Upgrade::Forced);
    folder
        .logs
        .append(&at(&folder.path()), &[event(3)])
        .unwrap();
    let options = Options {
        mode: ReplayMode::Verified,
        tail: NonZeroUsize::new(9),
        ..Options::default()
    };
    let replayed = replay(&folder.path(), &options).unwrap().replayed;
    assert_eq!(replayed.events.len(), 3);
    assert!(replayed.deterministic_ok);
}
