//! Replays of complete and of damaged event logs.

use std::{collections::BTreeMap, io::Write as _};

use proptest::prelude::*;
use protocol::company::Text;
use serde_json::Value;
use tempfile::NamedTempFile;

use super::*;

const GOLDEN: &str = include_str!("../../event_log/golden.jsonl");

fn file(bytes: impl AsRef<[u8]>) -> NamedTempFile {
    let mut file = NamedTempFile::new().expect("a temporary file");
    file.write_all(bytes.as_ref()).expect("room for it");
    file
}

fn read(bytes: impl AsRef<[u8]>, options: &Options) -> Replay {
    replay(file(bytes).path(), options).expect("a readable file")
}

fn verified() -> Options {
    Options {
        mode: ReplayMode::Verified,
        ..Options::default()
    }
}

fn issues(replay: &Replay) -> Vec<(u64, u64, &str)> {
    let issues = replay.replayed.verification_issues.iter();
    issues
        .map(|issue| (issue.seq, issue.line, issue.code.as_str()))
        .collect()
}

fn golden_line(number: usize) -> &'static str {
    GOLDEN.lines().nth(number - 1).expect("six golden lines")
}

/// Replays the recorded transcript: writes every file that it writes and compares every replay.
#[test]
fn files_are_replayed_as_the_reference_did() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../conformance");
    let lines = |name: &str| -> Vec<Value> {
        let text = std::fs::read_to_string(format!("{folder}/{name}/08_replay.jsonl")).unwrap();
        text.lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect()
    };
    let answers: BTreeMap<u64, Value> = lines("transcripts")
        .into_iter()
        .filter_map(|line| Some((line["step"].as_u64()?, line["answer"]["result"].clone())))
        .collect();
    let mut golden = String::new();
    let mut compared = 0;
    for (step, line) in (0..).zip(lines("scenarios")) {
        let write = &line["fs.write"];
        if write["path"]
            .as_str()
            .is_some_and(|path| path.ends_with("run_golden/events.jsonl"))
        {
            golden = match write["lines"].as_array() {
                Some(lines) => lines
                    .iter()
                    .map(|line| format!("{}\n", line.as_str().unwrap()))
                    .collect(),
                None => write["text"].as_str().unwrap_or_default().to_owned(),
            };
        }
        let params = &line["params"];
        let Some(answer) = answers.get(&step).filter(|answer| answer.is_object()) else {
            continue;
        };
        if line["method"] != "run.replay" || params["run_id"] != "run_golden" {
            continue;
        }
        let replay = read(
            &golden,
            &Options {
                mode: serde_json::from_value(params["mode"].clone()).unwrap_or_default(),
                tail: params["tail"]
                    .as_u64()
                    .and_then(|tail| NonZeroUsize::new(tail as usize)),
                ..Options::default()
            },
        );
        let mut seen = serde_json::to_value(&replay.replayed).unwrap();
        assert_eq!(
            seen["events"].as_array().unwrap().len(),
            answer["events"].as_array().unwrap().len(),
            "step {step}"
        );
        for issue in seen["verification_issues"].as_array_mut().unwrap() {
            issue.as_object_mut().unwrap().remove("line");
        }
        for key in ["parse_issues", "verification_issues", "deterministic_ok"] {
            assert_eq!(seen[key], answer[key], "{key} of step {step}");
        }
        compared += 1;
    }
    assert_eq!(compared, 13);
}

#[test]
fn the_lines_between_blank_ones_keep_their_numbers() {
    let text = format!(
        "\n{}\n \r\n{{\"half\": \n[1]\nnot json\n{}",
        golden_line(1),
        golden_line(2)
    );
    let replay = read(text, &verified());
    let found: Vec<_> = replay
        .replayed
        .parse_issues
        .iter()
        .map(|issue| {
            (
                issue.seq,
                issue.line,
                issue.raw.as_str(),
                issue.error.as_str(),
            )
        })
        .collect();
    assert_eq!(
        found,
        [
            (2, 4, "{\"half\": ", "EOF while parsing a value at column 9"),
            (4, 6, "not json", "expected ident at column 2"),
        ]
    );
    assert_eq!(issues(&replay), [(2, 5, "invalid_shape")]);
    assert_eq!(replay.replayed.events.len(), 3);
    assert!(!replay.replayed.deterministic_ok);
}

#[test]
fn a_line_that_is_not_utf_8_is_shown_as_far_as_it_can_be() {
    let long = [b"{\"a\":\"\xff\xfe".as_slice(), &[b'x'; 9_000]].concat();
    let replay = read(long, &Options::default());
    let issue = &replay.replayed.parse_issues[0];
    assert_eq!(issue.error, "not UTF-8 at byte 7");
    assert!(issue.raw.starts_with("{\"a\":\"\u{fffd}\u{fffd}xxx"));
    assert!(issue.raw.len() < 5_000);
}

#[test]
fn the_text_of_an_event_passes_unchanged() {
    let line = "{\"b\" : 1.0,\t\"a\":1e999, \"s\":\"\\ud800\", \"s\":2}";
    let replay = read(format!("  {line}\r\n"), &Options::default());
    assert_eq!(replay.replayed.events[0].get(), line);
}

#[test]
fn an_event_with_other_spaces_escapes_and_numbers_has_the_same_hash() {
    let line = golden_line(1)
        .replace(":1,", ": 1.0 , ")
        .replace("codex", "\\u0063odex")
        .replace("\"event_hash\"", "\"\\u0065vent_hash\"");
    let replay = read(line, &verified());
    assert!(replay.replayed.deterministic_ok);
}

#[test]
fn of_a_member_that_stands_twice_the_last_one_counts() {
    let forged = golden_line(1).replace(
        "{\"schema_version\":1",
        "{\"event_hash\":\"x\",\"schema_version\":1",
    );
    // ECMAScript keeps the last value at the first position and hashes without it, so the hashed text is the same.
    assert!(read(&forged, &verified()).replayed.deterministic_ok);
    let forged = golden_line(1).replace(
        "\"actor\":\"system\"",
        "\"actor\":\"system\",\"actor\":\"human\"",
    );
    assert_eq!(
        issues(&read(forged, &verified())),
        [(1, 1, "event_hash_mismatch")]
    );
}

#[test]
fn a_key_that_is_no_unicode_text_is_a_key() {
    let replay = read("{\"\\ud800\":1}", &verified());
    assert_eq!(replay.replayed.parse_issues, []);
    assert_eq!(replay.replayed.verification_issues.len(), 18);
}

#[test]
fn a_line_nested_too_deep_is_no_event_in_any_mode() {
    let line = "[".repeat(513) + &"]".repeat(513);
    for mode in [ReplayMode::Raw, ReplayMode::Verified] {
        let replay = read(
            &line,
            &Options {
                mode,
                ..Options::default()
            },
        );
        assert_eq!(
            replay.replayed.parse_issues[0].error,
            "nested deeper than 512 levels"
        );
    }
}

#[test]
fn a_tail_hides_issues_before_it_and_says_how_many() {
    let text = GOLDEN.replace("line one", "line 1");
    let tail = |tail| Options {
        tail: NonZeroUsize::new(tail),
        ..verified()
    };
    let replay = read(&text, &tail(5));
    assert_eq!(issues(&replay), [(2, 2, "event_hash_mismatch")]);
    assert_eq!(replay.issues_outside, 0);
    let replay = read(&text, &tail(4));
    assert!(replay.replayed.deterministic_ok);
    assert_eq!(replay.issues_outside, 1);
    assert_eq!(replay.replayed.events.len(), 4);
}

#[test]
fn pages_together_are_the_whole_file() {
    let text = format!(
        "broken 1\n{}",
        GOLDEN
            .replacen("}\n{", "}\nbroken 2\n{", 3)
            .replace("changed", "x")
    )
    .replace("line one", "line 1");
    let whole = read(&text, &verified());
    let (mut events, mut parse_issues, mut found) = (Vec::new(), Vec::new(), Vec::new());
    let mut after_seq = 0;
    let mut pages = 0;
    loop {
        let options = Options {
            after_seq,
            limit: NonZeroUsize::new(2),
            ..verified()
        };
        let page = read(&text, &options).replayed;
        events.extend(page.events.into_iter().map(|event| event.get().to_owned()));
        parse_issues.extend(page.parse_issues);
        found.extend(page.verification_issues);
        pages += 1;
        match page.next_cursor {
            Some(cursor) => after_seq = cursor,
            None => break,
        }
    }
    assert_eq!(pages, 3);
    let all: Vec<_> = whole
        .replayed
        .events
        .iter()
        .map(|event| event.get())
        .collect();
    assert_eq!(events, all);
    assert_eq!(parse_issues, whole.replayed.parse_issues);
    assert_eq!(found, whole.replayed.verification_issues);
}

#[test]
fn a_page_of_a_tail_begins_where_the_tail_does() {
    let options = Options {
        tail: NonZeroUsize::new(4),
        limit: NonZeroUsize::new(3),
        ..verified()
    };
    let page = read(GOLDEN, &options).replayed;
    assert_eq!(page.events[0].get(), golden_line(3));
    assert_eq!(page.next_cursor, Some(5));
    let rest = read(
        GOLDEN,
        &Options {
            after_seq: 5,
            ..options
        },
    )
    .replayed;
    assert_eq!(rest.events.len(), 1);
    assert_eq!(rest.next_cursor, None);
}

#[test]
fn a_log_that_was_cut_off_is_told_by_what_its_run_says() {
    let last = "a679fc391b4304562cb7b438557c285b5b3cf85cd7ca6b5aafb2c5265bbf06f1";
    let options = Options {
        events_tail: Some(EventsTail {
            count: 6,
            event_hash: Text::new(last).unwrap(),
        }),
        ..verified()
    };
    assert!(read(GOLDEN, &options).replayed.deterministic_ok);
    let cut: String = GOLDEN
        .lines()
        .take(4)
        .map(|line| format!("{line}\n"))
        .collect();
    assert!(read(&cut, &verified()).replayed.deterministic_ok);
    assert_eq!(issues(&read(&cut, &options)), [(5, 4, "truncated_log")]);
    assert_eq!(issues(&read("", &options)), [(1, 0, "truncated_log")]);
    let raw = Options {
        mode: ReplayMode::Raw,
        ..options.clone()
    };
    assert_eq!(issues(&read(&cut, &raw)), []);
    let other = Options {
        events_tail: Some(EventsTail {
            count: 5,
            event_hash: Text::new(last).unwrap(),
        }),
        ..verified()
    };
    assert_eq!(issues(&read(GOLDEN, &other)), [(5, 6, "truncated_log")]);
}

#[test]
fn issues_beyond_a_bound_are_counted_only() {
    let replay = read("x\n".repeat(1_500), &Options::default());
    assert_eq!(replay.replayed.parse_issues.len(), 1_000);
    assert_eq!(replay.issues_left_off, 500);
}

#[test]
fn a_file_of_many_chunks_is_put_together_in_order() {
    let lines = 30_000;
    let text: String = (1..=lines)
        .map(|number| format!("{{\"number\":{number},\"pad\":\"{}\"}}\n", "x".repeat(200)))
        .collect();
    let replay = read(&text, &Options::default());
    assert_eq!(replay.replayed.events.len(), lines);
    for (number, event) in (1..).zip(&replay.replayed.events) {
        assert!(event.get().starts_with(&format!("{{\"number\":{number},")));
    }
}

#[test]
fn a_file_that_is_not_there_is_missing() {
    let folder = tempfile::tempdir().unwrap();
    let error = replay(&folder.path().join("events.jsonl"), &Options::default()).unwrap_err();
    assert!(error.is_missing());
}

proptest! {
    #[test]
    fn no_file_panics(bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
        read(&bytes, &verified());
    }

    #[test]
    fn no_change_of_a_golden_line_panics_or_passes(at in 0..GOLDEN.len(), byte in any::<u8>()) {
        let mut bytes = GOLDEN.as_bytes().to_vec();
        let same = bytes[at] == byte;
        bytes[at] = byte;
        let replay = read(&bytes, &verified());
        // Only white space between two lines belongs to no event.
        let between = GOLDEN.as_bytes()[at] == b'\n' && byte.is_ascii_whitespace() || at + 1 == GOLDEN.len();
        prop_assert!(same || between || !replay.replayed.deterministic_ok);
    }
}
