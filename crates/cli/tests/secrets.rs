//! Keys and other people's texts are in no log, however loud, and keys are in no file but their own.

use std::{fs, io::Write as _, path::Path, process::Command};

use serde_json::json;
use testkit::{ServeProcess, answer, told_until};

const CONFIGURED: &str = "sk-configured-0123456789";
const STORED: &str = "sk-stored-0123456789";
const TEXT: &str = "text that is nobody's business";

/// Every file below a folder that contains a text, by name.
fn files_with(folder: &Path, text: &str) -> Vec<String> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).expect("the folder can be read") {
        let path = entry.expect("an entry can be read").path();
        if path.is_dir() {
            found.extend(files_with(&path, text));
            continue;
        }
        let bytes = fs::read(&path).expect("the owner can read the file");
        if bytes
            .windows(text.len())
            .any(|window| window == text.as_bytes())
        {
            let name = path.file_name().unwrap_or_default();
            found.push(name.to_string_lossy().into_owned());
        }
    }
    found
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_loudest_log_has_neither_keys_nor_texts() {
    let mut model = testkit::model_server().await;
    let home = tempfile::tempdir().unwrap();
    let mut config = fs::File::create(home.path().join("config.toml")).unwrap();
    config
        .write_all(model.config(CONFIGURED).as_bytes())
        .unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_ac"));
    command.env("ACCORD_LOG", "trace");
    let mut serving = ServeProcess::start(command, home.path());
    // The log is a pipe, which somebody has to empty while it is filled.
    let log = serving.log();
    let client = serving.client().await;
    let calls = [
        ("workspace/create", json!({"workspace_id": "ws_a"})),
        (
            "thread/start",
            json!({"workspace_id": "ws_a", "thread_id": "thr_a", "model": "m", "model_provider": "openai"}),
        ),
    ];
    let save = json!({"workspace_id": "ws_a", "content": TEXT});
    let calls = calls.into_iter().chain([("thread/agents_doc/save", save)]);
    for (method, params) in calls {
        client.call_raw(method, params).await.unwrap();
    }
    for (turn, key) in [("trn_1", CONFIGURED), ("trn_2", STORED)] {
        let start = json!({"thread_id": "thr_a", "turn_id": turn, "input": [{"type": "text", "text": "hello"}]});
        client.call_raw("turn/start", start).await.unwrap();
        let question = model.question().await;
        assert_eq!(question.headers["authorization"], format!("Bearer {key}"));
        let body = json!({"error": {"message": format!("Incorrect API key provided: {key}")}});
        question.reply(401, &[], &body).await;
        told_until(&client, "turn/failed").await;
        let set = json!({"provider": "openai", "api_key": STORED});
        client.call_raw("provider/set_api_key", set).await.unwrap();
        // A refused key is not repeated either.
        let bad = json!({"provider": "openai", "api_key": format!("{STORED} {CONFIGURED}")});
        let refused = answer(&client, "provider/set_api_key", bad).await;
        assert!(
            refused.starts_with("-32602 ") && !refused.contains("sk-"),
            "{refused}"
        );
    }
    serving.signal("TERM");
    serving.wait();
    let log = log.join().unwrap();
    assert!(log.contains("a turn failed"), "the log is loud: {log}");
    for secret in [CONFIGURED, STORED, TEXT] {
        assert!(!log.contains(secret), "`{secret}` is in {log}");
    }
    assert_eq!(files_with(home.path(), CONFIGURED), ["config.toml"]);
    assert_eq!(files_with(home.path(), STORED), ["provider_keys.json"]);
}
