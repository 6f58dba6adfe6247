//! Appending to event logs while other writers append and files are damaged.

use std::{
    fs::{self, OpenOptions},
    sync::Barrier,
    thread,
};

use protocol::{
    Id as _,
    company::{EventId, RunId, Visibility, run::ReplayMode},
};
use serde_json::json;

use super::*;
use crate::{
    event_log::Payload,
    events::replay::{Options, Replay, replay},
    files,
};

const GOLDEN: &str = include_str!("../golden.jsonl");

pub(in crate::event_log) fn event(number: u64) -> Event {
    Event {
        ts_wallclock: "2026-11-15T12:00:00.000Z".to_owned(),
        run_id: RunId::parse("run_1").expect("an id"),
        session_ref: "local_run_1".to_owned(),
        actor: "system".to_owned(),
        visibility: Visibility::Org,
        event_type: "provider.raw".to_owned(),
        payload: Payload::new(&json!({"stream": "stdout", "number": number})).expect("JSON"),
        event_id: EventId::parse(&format!("evt_{number}")).expect("an id"),
        correlation_id: Some("local_run_1".to_owned()),
        causation_id: None,
        ts_monotonic_ms: number,
    }
}

fn file(bytes: &[u8]) -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("events.jsonl");
    files::replace(&path, bytes).expect("room for it");
    (folder, path)
}

/// Location of the file for appending.
pub(in crate::event_log) fn at(path: &Path) -> LogFile {
    LogFile::locate(path).expect("a folder")
}

fn verify_all(path: &Path) -> Replay {
    let options = Options {
        mode: ReplayMode::Verified,
        ..Options::default()
    };
    replay(path, &options).expect("a readable file")
}

#[test]
fn events_of_one_append_follow_each_other_in_one_chain() {
    let (_folder, path) = file(b"");
    let logs = EventLogs::new();
    let first = logs.append(&at(&path), &[event(1), event(2)]).unwrap();
    let second = logs.append(&at(&path), &[event(3)]).unwrap();
    let lines: String = first
        .iter()
        .chain(&second)
        .map(|appended| format!("{}\n", appended.line))
        .collect();
    assert_eq!(fs::read_to_string(&path).unwrap(), lines);
    assert!(verify_all(&path).replayed.deterministic_ok);
    let places: Vec<_> = first
        .iter()
        .chain(&second)
        .map(|appended| (appended.seq, appended.offset))
        .collect();
    let length = first[0].line.len() as u64 + 1;
    let third = 2 * length + first[1].line.len() as u64 - first[0].line.len() as u64;
    assert_eq!(places, [(Some(1), 0), (Some(2), length), (Some(3), third)]);
}

#[test]
fn an_append_continues_the_chain_of_others() {
    let (_folder, path) = file(GOLDEN.as_bytes());
    let [ours, theirs] = [EventLogs::new(), EventLogs::new()];
    for number in [1, 3, 5] {
        ours.append(&at(&path), &[event(number)]).unwrap();
        theirs
            .append(&at(&path), &[event(number + 1), event(number + 2)])
            .unwrap();
    }
    let replay = verify_all(&path);
    assert!(replay.replayed.deterministic_ok);
    assert_eq!(replay.replayed.events.len(), 15);
}

#[test]
fn lines_of_others_are_counted() {
    let (_folder, path) = file(b"");
    let [ours, theirs] = [EventLogs::new(), EventLogs::new()];
    assert_eq!(
        ours.append(&at(&path), &[event(1)]).unwrap()[0].seq,
        Some(1)
    );
    assert_eq!(
        theirs.append(&at(&path), &[event(2)]).unwrap()[0].seq,
        Some(2)
    );
    assert_eq!(
        ours.append(&at(&path), &[event(3)]).unwrap()[0].seq,
        Some(3)
    );
    let mut torn = OpenOptions::new().append(true).open(&path).unwrap();
    torn.write_all(b"\n\n{\"torn").unwrap();
    assert_eq!(
        ours.append(&at(&path), &[event(4)]).unwrap()[0].seq,
        Some(7)
    );
}

#[test]
fn a_torn_last_line_becomes_a_line_of_its_own_wherever_it_was_cut() {
    let lines: Vec<_> = GOLDEN.lines().collect();
    let whole = lines[..2].join("\n").len() + 1;
    let last = lines[2].len();
    for cut in (0..=last).step_by(7).chain([1, last - 1, last]) {
        let (_folder, path) = file(&GOLDEN.as_bytes()[..whole + cut]);
        let logs = EventLogs::new();
        logs.append(&at(&path), &[event(1), event(2)]).unwrap();
        let replayed = verify_all(&path).replayed;
        assert_eq!(replayed.verification_issues, [], "cut at {cut}");
        let fragment = usize::from(cut != 0 && cut != last);
        assert_eq!(replayed.parse_issues.len(), fragment, "cut at {cut}");
        assert_eq!(replayed.events.len(), 4 + usize::from(cut == last));
    }
}

#[test]
fn the_last_hash_is_found_behind_long_lines_and_garbage() {
    let hashless = format!(
        "{{\"event_hash\":\"\",\"pad\":\"{}\"}}\n",
        "x".repeat(900_000)
    );
    let garbage = "{\"event_hash\":\"x\"\n\"event_hash\"\n[]\n\n".repeat(9_000);
    let long = GOLDEN.lines().last().unwrap().replacen(
        '{',
        &format!("{{\"pad\":\"{}\",", "y".repeat(300_000)),
        1,
    );
    for (text, hash) in [
        (String::new(), None),
        (garbage.clone(), None),
        (hashless.clone(), None),
        (format!("{GOLDEN}{garbage}{hashless}"), Some("a679fc39")),
        (
            format!("{}\n{hashless}", GOLDEN.lines().next().unwrap()),
            Some("73c5677a"),
        ),
        (format!("{hashless}{long}\n{garbage}"), Some("a679fc39")),
        (long.clone(), Some("a679fc39")),
        (
            "{\"event_hash\":\"bogus \\ud800\"}".to_owned(),
            Some("bogus \\ud800"),
        ),
    ] {
        let (_folder, path) = file(text.as_bytes());
        let found = last_hash(&File::open(&path).unwrap(), text.len() as u64).unwrap();
        match hash {
            Some(hash) => assert!(found.unwrap().starts_with(&format!("\"{hash}"))),
            None => assert_eq!(found, None),
        }
    }
}

#[test]
fn nothing_is_made_for_a_run_that_is_not_there() {
    let folder = tempfile::tempdir().unwrap();
    let logs = EventLogs::new();
    for path in ["events.jsonl", "run_1/events.jsonl"] {
        let path = folder.path().join(path);
        let appended = LogFile::locate(&path).and_then(|place| logs.append(&place, &[event(1)]));
        assert!(appended.unwrap_err().is_missing());
    }
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[test]
fn a_folder_or_a_link_is_no_events_file() {
    let folder = tempfile::tempdir().unwrap();
    let link = folder.path().join("link");
    fs::File::create(folder.path().join("target")).unwrap();
    std::os::unix::fs::symlink("target", &link).unwrap();
    let logs = EventLogs::new();
    for path in [folder.path(), &link] {
        let error = logs.append(&at(path), &[event(1)]).unwrap_err();
        assert!(!error.is_missing());
    }
    assert_eq!(fs::read(folder.path().join("target")).unwrap(), b"");
}

#[test]
fn a_file_that_was_replaced_is_looked_at_again() {
    let (_folder, path) = file(b"");
    let logs = EventLogs::new();
    logs.append(&at(&path), &[event(1)]).unwrap();
    let length = fs::metadata(&path).unwrap().len();
    let mut other = GOLDEN.lines().next().unwrap().to_owned();
    other.push('\n');
    other.push_str(&" ".repeat(usize::try_from(length).unwrap().saturating_sub(other.len())));
    files::replace(&path, other.as_bytes()).unwrap();
    logs.append(&at(&path), &[event(2)]).unwrap();
    assert_eq!(verify_all(&path).replayed.verification_issues, []);
}

#[test]
fn threads_share_one_chain_and_lose_nothing() {
    let (_folder, path) = file(b"");
    let logs = EventLogs::new();
    let barrier = Barrier::new(8);
    thread::scope(|scope| {
        for thread in 0..8 {
            let (logs, path, barrier) = (&logs, &path, &barrier);
            scope.spawn(move || {
                barrier.wait();
                for number in 0..40 {
                    let appended = logs
                        .append(&at(path), &[event(thread * 100 + number)])
                        .unwrap();
                    assert_eq!(appended.len(), 1);
                }
            });
        }
    });
    let replayed = verify_all(&path).replayed;
    assert!(replayed.deterministic_ok);
    assert_eq!(replayed.events.len(), 320);
}

#[test]
fn only_so_many_files_are_remembered() {
    let folder = tempfile::tempdir().unwrap();
    let logs = EventLogs::new();
    for number in 0..MAX_FILES + 10 {
        let path = folder.path().join(number.to_string());
        // The append fails because the file does not exist, but its name is cached.
        logs.append(&at(&path), &[event(1)]).unwrap_err();
    }
    assert_eq!(logs.logs.lock().by_path.len(), MAX_FILES);
}

#[test]
fn plain_lines_of_many_threads_are_all_there_and_a_torn_line_keeps_its_own() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("messages.jsonl");
    let logs = EventLogs::new();
    logs.append_lines(&at(&path), vec!["first".to_owned()])
        .unwrap();
    let mut torn = OpenOptions::new().append(true).open(&path).unwrap();
    torn.write_all(b"torn").unwrap();
    thread::scope(|scope| {
        for writer in 0..8 {
            let (logs, path) = (&logs, &path);
            scope.spawn(move || {
                for line in 0..50 {
                    let lines = vec![format!("{writer}-{line}")];
                    logs.append_lines(&at(path), lines).unwrap();
                }
            });
        }
    });
    let text = fs::read_to_string(&path).unwrap();
    let lines: Vec<_> = text.lines().collect();
    assert_eq!(lines[..2], ["first", "torn"]);
    assert_eq!(lines.len(), 402);
    for writer in 0..8 {
        let begin = format!("{writer}-");
        let own: Vec<_> = lines
            .iter()
            .filter_map(|line| line.strip_prefix(&begin))
            .collect();
        let expected: Vec<_> = (0..50).map(|line| line.to_string()).collect();
        assert_eq!(own, expected, "the lines of a thread keep their order");
    }
}

#[test]
fn an_event_behind_plain_lines_continues_the_chain() {
    let (_folder, path) = file(GOLDEN.as_bytes());
    let logs = EventLogs::new();
    logs.append_lines(&at(&path), vec!["not an event".to_owned()])
        .unwrap();
    logs.append(&at(&path), &[event(1)]).unwrap();
    assert_eq!(verify_all(&path).replayed.verification_issues, []);
}

#[test]
fn a_plain_file_is_never_created_through_a_link() {
    let folder = tempfile::tempdir().unwrap();
    let outside = tempfile::tempdir().unwrap();
    let path = folder.path().join("messages.jsonl");
    let target = outside.path().join("target");
    std::os::unix::fs::symlink(&target, &path).unwrap();
    let appended = EventLogs::new().append_lines(&at(&path), vec!["line".to_owned()]);
    appended.unwrap_err();
    assert!(!target.exists());
}
