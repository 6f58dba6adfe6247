//! Tests that parse recorded output of real worker programs and compare it with the index of the samples.

use std::{fs, path::PathBuf};

use serde_json::{Value, json};

use drivers::{
    Driver, ErrorClass, Outcome, Reader,
    codex_app_server::{Completion, Conversation, TurnRequest},
    output::{Decoder, Lines, Stream},
};

/// The folder of the samples; `None` if it is absent, because the samples are not part of the repository.
fn folder() -> Option<PathBuf> {
    let folder =
        PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared/samples/worker-output");
    folder.is_dir().then_some(folder)
}

fn index(folder: &std::path::Path) -> Vec<Value> {
    let index = fs::read_to_string(folder.join("index.json")).expect("the index");
    serde_json::from_str(&index).expect("JSON")
}

/// Parses bytes as a session does, split at arbitrary positions.
fn read(driver: &Driver, stdout: &[u8], stderr: &str, exit_code: Option<i32>) -> (Outcome, bool) {
    let mut reader: Reader = driver.reader();
    let (mut decoder, mut lines) = (Decoder::default(), Lines::default());
    for piece in stdout.chunks(777) {
        let text = decoder.push(piece);
        lines.push(&text, |line| {
            reader.line(Stream::Stdout, line);
        });
    }
    if let Some(line) = lines.finish() {
        reader.line(Stream::Stdout, &line);
    }
    for line in stderr.lines() {
        reader.line(Stream::Stderr, line);
    }
    let recognised = reader.is_recognised();
    (reader.finish(exit_code), recognised)
}

#[test]
fn every_sample_is_read_as_its_index_says() {
    let Some(folder) = folder() else {
        return;
    };
    let mut seen = 0;
    for entry in index(&folder) {
        let file = entry["file"].as_str().unwrap();
        let Some(expect) = entry.get("expect") else {
            continue;
        };
        let driver = Driver::of_program(file.split('-').next().unwrap()).unwrap();
        let stdout = fs::read(folder.join(file)).unwrap();
        let exit_code = entry["exit_code"]
            .as_i64()
            .map(|code| i32::try_from(code).unwrap());
        let stderr = entry["stderr"].as_str().unwrap();
        let (outcome, _) = read(&driver, &stdout, stderr, exit_code);
        let mut found = json!({});
        let mut add = |name: &str, value: Option<Value>| {
            if let Some(value) = value {
                found[name] = value;
            }
        };
        add("text", outcome.text.clone().map(Value::from));
        add("session_id", outcome.session_id.clone().map(Value::from));
        add("structured", outcome.structured.clone());
        add("error", outcome.error.clone().map(Value::from));
        add(
            "error_class",
            outcome.error_class.map(|class| class.as_str().into()),
        );
        add("cost_usd", outcome.cost_usd.map(Value::from));
        add(
            "usage",
            outcome.usage.as_ref().map(|usage| {
                let mut shown = json!({
                    "input_tokens": usage.input,
                    "cached_input_tokens": usage.cached,
                    "output_tokens": usage.output,
                    "total_tokens": usage.total,
                });
                if let Some(reasoning) = usage.reasoning {
                    shown["reasoning_output_tokens"] = reasoning.into();
                }
                shown
            }),
        );
        let mut expect = expect.clone();
        if expect["cost_usd"] == 0 {
            expect["cost_usd"] = json!(0.0);
        }
        if found["cost_usd"] == 0 {
            found["cost_usd"] = json!(0.0);
        }
        if file == "claude-stream-budget.jsonl" {
            // The index has the zeros of `usage`; the billed tokens are in `modelUsage`.
            assert_eq!(outcome.usage.as_ref().unwrap().total, 1234);
            found["usage"] = expect["usage"].clone();
        }
        assert_eq!(found, expect, "{file}");
        seen += 1;
    }
    assert!(seen >= 50, "{seen} samples");
}

#[test]
fn output_up_to_a_signal_has_no_answer_and_is_no_success() {
    let Some(folder) = folder() else {
        return;
    };
    for cli in ["codex-exec", "claude-stream", "gemini-stream"] {
        for signal in ["sigint", "sigterm"] {
            let file = format!("{cli}-{signal}.jsonl");
            let driver = Driver::of_program(&file).unwrap();
            let stdout = fs::read(folder.join(&file)).unwrap();
            let (outcome, recognised) = read(&driver, &stdout, "", None);
            assert!(recognised, "{file}");
            assert!(outcome.session_id.is_some(), "{file}");
            assert_eq!(outcome.text, None, "{file}");
        }
    }
}

#[test]
fn the_conversation_with_an_app_server_is_the_recorded_one() {
    let Some(folder) = folder() else {
        return;
    };
    let cases = [
        ("ok", Completion::Completed, Some(1234), None),
        (
            "tool-workspacewrite",
            Completion::Completed,
            Some(2468),
            None,
        ),
        ("e401", Completion::Failed, None, Some(ErrorClass::Auth)),
        (
            "usage",
            Completion::Failed,
            None,
            Some(ErrorClass::RateLimited),
        ),
        (
            "context",
            Completion::Failed,
            None,
            Some(ErrorClass::ContextExceeded),
        ),
        ("interrupt", Completion::Interrupted, None, None),
    ];
    for (case, completion, total, class) in cases {
        let file = format!("codex-appserver-{case}.jsonl");
        let text = fs::read_to_string(folder.join(&file)).unwrap();
        let messages: Vec<Value> = text
            .lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect();
        let sent_by_client = |method: &str| {
            let of_method =
                |message: &&Value| message["dir"] == "out" && message["msg"]["method"] == method;
            messages
                .iter()
                .find(of_method)
                .map(|message| message["msg"].clone())
        };
        let start = sent_by_client("thread/start").unwrap();
        let turn = sent_by_client("turn/start").unwrap();
        let request = TurnRequest {
            cwd: start["params"]["cwd"].as_str().unwrap().to_owned(),
            prompt: turn["params"]["input"][0]["text"]
                .as_str()
                .unwrap()
                .to_owned(),
            model: None,
            sandbox: match case {
                "tool-workspacewrite" => "workspace-write",
                _ => "read-only",
            },
        };
        let (mut conversation, first) = Conversation::begin(request);
        let mut sent = vec![first];
        for message in messages.iter().filter(|message| message["dir"] == "in") {
            sent.extend(conversation.line(&message["msg"].to_string()).send);
        }
        if case == "interrupt" {
            sent.extend(conversation.interrupt());
        }
        let mut recorded: Vec<Value> = messages
            .iter()
            .filter(|message| message["dir"] == "out")
            .map(|message| message["msg"].clone())
            .collect();
        // The client name differs from the recorded one.
        recorded[0]["params"]["clientInfo"] = sent[0]["params"]["clientInfo"].clone();
        assert_eq!(sent, recorded, "{file}");
        assert_eq!(conversation.completion, Some(completion), "{file}");
        let outcome = conversation.finish();
        assert_eq!(
            outcome.usage.as_ref().map(|usage| usage.total),
            total,
            "{file}"
        );
        assert_eq!(outcome.error_class, class, "{file}");
        assert!(outcome.session_id.is_some());
        if case == "ok" {
            assert_eq!(outcome.text.as_deref(), Some("scripted answer"));
        }
    }
}
