//! Finds the JSON answer in a worker's output: alone, in a code fence, within prose, or wrapped in other JSON.

use std::ops::Range;

use serde_json::{Map, Value};

/// Maximum nesting depth of wrappers around an answer.
const DEPTH: usize = 6;
/// Maximum number of objects examined in one text.
const MAX_OBJECTS: usize = 500;
/// Bound on the total work of finding objects, in multiples of the text length.
const MAX_SCANS: usize = 16;
/// Fields in which programs wrap an answer.
const WRAPPERS: [&str; 8] = [
    "structured_output",
    "result",
    "response",
    "payload",
    "data",
    "output",
    "message",
    "content",
];
/// Fields in which programs put text.
const TEXTS: [&str; 7] = [
    "text",
    "output_text",
    "content",
    "message",
    "result",
    "completion",
    "delta",
];

/// Returns the first object that satisfies `is_it`, or else the first object of all. `structured` takes precedence over
/// `texts`.
pub(crate) fn find(
    structured: Option<&Value>,
    texts: &[String],
    is_it: impl Fn(&Map<String, Value>) -> bool,
) -> Option<Map<String, Value>> {
    let mut first = None;
    let mut look = |value: Value| {
        let mut nested = Vec::new();
        unwrap(value, DEPTH, &mut nested);
        for object in nested {
            if is_it(&object) {
                return Some(object);
            }
            first.get_or_insert(object);
        }
        None
    };
    if let Some(found) = structured.cloned().and_then(&mut look) {
        return Some(found);
    }
    for text in texts {
        for value in values(text) {
            if let Some(found) = look(value) {
                return Some(found);
            }
        }
    }
    first
}

/// Whether an object looks like the result of a job.
pub(crate) fn is_result(object: &Map<String, Value>) -> bool {
    let has = |names: &[&str]| names.iter().all(|name| object.contains_key(*name));
    object.get("type").is_some_and(|kind| kind == "result") && has(&["summary"])
        || has(&["status", "summary"])
        || has(&["job_id", "attempt_run_id"])
        || has(&["files_changed", "commands_run", "artifacts"])
}

/// Whether an object looks like the report of a heartbeat worker.
pub(crate) fn is_report(object: &Map<String, Value>) -> bool {
    let status = object.get("status").and_then(Value::as_str);
    matches!(status, Some("ok" | "actions")) || object.contains_key("token")
}

/// Collects the objects in a value, the innermost first.
fn unwrap(value: Value, depth: usize, found: &mut Vec<Map<String, Value>>) {
    match value {
        Value::Object(object) => {
            if depth > 0 {
                for name in WRAPPERS {
                    if let Some(inner) = object.get(name) {
                        unwrap(inner.clone(), depth - 1, found);
                    }
                }
            }
            found.push(object);
        }
        Value::Array(items) if depth > 0 => {
            for item in items {
                unwrap(item, depth - 1, found);
            }
        }
        Value::String(text) if depth > 0 && text.contains('{') => {
            for value in values(&text) {
                unwrap(value, depth - 1, found);
            }
        }
        Value::Array(_) | Value::String(_) | Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// Returns the JSON values in a text: the whole text if it is JSON, otherwise code fences, then objects.
fn values(text: &str) -> Vec<Value> {
    let text = text.trim().trim_start_matches('\u{feff}');
    if let Some(whole) = parse(text) {
        return vec![whole];
    }
    let fences = text.split("```").skip(1).step_by(2);
    let fences = fences.filter_map(|fence| {
        let inner = fence.split_once('\n').map_or(fence, |(_, inner)| inner);
        parse(inner.trim())
    });
    let objects = objects(text);
    fences
        .chain(objects.into_iter().filter_map(parse))
        .collect()
}

/// Parses a JSON object or array, tolerating trailing commas.
fn parse(text: &str) -> Option<Value> {
    let value = serde_json::from_str::<Value>(text)
        .ok()
        .or_else(|| serde_json::from_str(&without_trailing_commas(text)).ok())?;
    (value.is_object() || value.is_array()).then_some(value)
}

/// Returns the outermost `{…}` of a text. Braces inside of strings are ignored.
///
/// An unclosed brace or a stray quote does not hide complete objects after it: the text is then scanned again from a
/// later brace. [`MAX_SCANS`] bounds the total work.
fn objects(text: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let (mut at, mut budget) = (0, text.len() * MAX_SCANS);
    while found.len() < MAX_OBJECTS
        && budget > 0
        && let Some(place) = text[at..].find('{')
    {
        let start = at + place;
        let scan = BraceScan::of(&text.as_bytes()[start..]);
        let closed = scan.closed.iter();
        found.extend(closed.map(|range| &text[start + range.start..start + range.end]));
        match scan.next {
            Some(next) => at = start + next,
            None => break,
        }
        budget = budget.saturating_sub(scan.read);
    }
    found.truncate(MAX_OBJECTS);
    found
}

/// Result of scanning a text that starts with an opening brace.
#[derive(Default)]
struct BraceScan {
    /// The outermost objects that are closed.
    closed: Vec<Range<usize>>,
    /// Position from which to scan for further objects.
    next: Option<usize>,
    /// Number of bytes read.
    read: usize,
}

impl BraceScan {
    /// Scans until the first brace is closed, or else to the end.
    fn of(bytes: &[u8]) -> Self {
        let mut scan = Self::default();
        let mut open = Vec::new();
        let (mut in_string, mut escaped) = (false, false);
        for (place, byte) in bytes.iter().enumerate() {
            match (in_string, byte) {
                (true, _) if escaped => escaped = false,
                (true, b'\\') => escaped = true,
                (_, b'"') => in_string = !in_string,
                // After a stray quote this brace would not be inside of a string.
                (true, b'{') => scan.next = scan.next.or(Some(place)),
                (false, b'{') => open.push(place),
                (false, b'}') => {
                    if let Some(start) = open.pop() {
                        scan.close(start..place + 1);
                    }
                    if open.is_empty() {
                        scan.next = Some(place + 1);
                        scan.read = place + 1;
                        return scan;
                    }
                }
                (true | false, _) => {}
            }
        }
        scan.read = bytes.len();
        scan
    }

    /// Records a closed object. It contains the objects closed since it started, and strings seen inside of it were
    /// real strings, so no rescan of its content is needed.
    fn close(&mut self, object: Range<usize>) {
        let is_within = |inner: &Range<usize>| inner.start > object.start;
        while self.closed.last().is_some_and(is_within) {
            self.closed.pop();
        }
        self.closed.push(object);
        self.next = None;
    }
}

fn without_trailing_commas(text: &str) -> String {
    let mut kept = String::with_capacity(text.len());
    let (mut in_string, mut escaped) = (false, false);
    for (place, char) in text.char_indices() {
        if in_string {
            in_string = escaped || char != '"';
            escaped = char == '\\' && !escaped;
        } else if char == '"' {
            in_string = true;
        } else if char == ',' {
            let next = text[place + 1..].trim_start().chars().next();
            if matches!(next, Some('}' | ']')) {
                continue;
            }
        }
        kept.push(char);
    }
    kept
}

/// Extracts the text of JSON lines in an unknown format: that of final messages, or else of all lines. Returns the
/// longest text if it is at least 200 bytes long or the only one; otherwise joins the texts.
pub(crate) fn words(stdout: &str) -> Option<String> {
    let (mut last, mut fragments) = (Vec::new(), Vec::new());
    for line in stdout.lines() {
        let Ok(line) = serde_json::from_str::<Value>(line) else {
            continue;
        };
        let kind = line["type"].as_str().unwrap_or_default();
        let is_last = ["result", "final", "complete", "message_stop"]
            .iter()
            .any(|word| kind.contains(word))
            || ["result", "completion", "output_text"]
                .iter()
                .any(|name| line.get(name).is_some());
        let mut texts = Vec::new();
        collect(&line, 8, &mut texts);
        if is_last {
            last.append(&mut texts);
        } else {
            fragments.append(&mut texts);
        }
    }
    let texts = if last.is_empty() { fragments } else { last };
    let longest = texts.iter().max_by_key(|text| text.len())?;
    if longest.len() >= 200 || texts.len() == 1 {
        Some(longest.clone())
    } else {
        Some(texts.concat())
    }
}

fn collect(value: &Value, depth: usize, texts: &mut Vec<String>) {
    if depth == 0 {
        return;
    }
    for name in TEXTS {
        match value.get(name) {
            Some(Value::String(text)) => texts.push(text.clone()),
            Some(Value::Array(items)) => {
                for item in items {
                    collect(item, depth - 1, texts);
                }
            }
            Some(inner) => collect(inner, depth - 1, texts),
            None => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn check(text: &str, summary: Option<&str>) {
        let found = find(None, &[text.to_owned()], is_result);
        let found = found.and_then(|object| Some(object.get("summary")?.as_str()?.to_owned()));
        assert_eq!(found.as_deref(), summary, "{text}");
    }

    #[test]
    fn an_answer_is_found_alone_in_a_fence_in_prose_and_wrapped() {
        check(r#"{"status":"succeeded","summary":"a"}"#, Some("a"));
        check(
            "Here:\n```json\n{\"status\":\"s\",\"summary\":\"b\",}\n```\nbye",
            Some("b"),
        );
        check(
            r#"I say { and {"status":"s","summary":"c } \" {"} ok"#,
            Some("c } \" {"),
        );
        check(
            "{\"type\":\"agent_message\",\"message\":\"{\\\"status\\\":\\\"s\\\",\\\"summary\\\":\\\"d\\\"}\"}\n{\"type\":\"turn.completed\"}",
            Some("d"),
        );
        check(
            r#"{"type":"result","result":"prose","structured_output":{"status":"s","summary":"e"}}"#,
            Some("e"),
        );
        check("nothing here", None);
    }

    #[test]
    fn braces_that_never_close_and_a_quote_too_much_hide_nothing() {
        let answer = r#"{"status":"s","summary":"found"}"#;
        check(&format!("{}{answer}", "{ ".repeat(10_000)), Some("found"));
        check(&format!(r#"{{ a " b {answer}"#), Some("found"));
        check(
            &format!(r#"{{ "a":1 }} {{ b " {{"c":2}} {answer}"#),
            Some("found"),
        );
    }

    /// Rescanning from every brace would take hours for the first of these texts.
    #[test]
    fn a_text_full_of_braces_is_read_a_few_times_only() {
        for text in ["{", "{\"", "{\"{", "{}", "{\\\"", "{{}"] {
            let long = text.repeat(4_000_000 / text.len());
            assert!(objects(&long).len() <= MAX_OBJECTS);
        }
    }

    #[test]
    fn text_that_comes_in_pieces_is_put_together() {
        let stdout = "{\"type\":\"delta\",\"delta\":{\"text\":\"{\\\"status\\\":\\\"s\\\",\"}}\n{\"type\":\"delta\",\"delta\":{\"text\":\"\\\"summary\\\":\\\"f\\\"}\"}}\n";
        check(&words(stdout).unwrap(), Some("f"));
    }

    proptest! {
        #[test]
        fn whatever_is_printed_is_read_without_harm(text in "[{}\\[\\]\",:a`\\\\\n€ ]{0,200}") {
            let _ = find(None, std::slice::from_ref(&text), is_result);
            let _ = words(&text);
        }
    }
}
