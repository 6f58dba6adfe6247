//! The way of an AGENTS.md change from `ac doc propose` through `ac inbox` to `ac approve`.

use std::{
    io::Write as _,
    path::Path,
    process::{Command, Stdio},
};

use serde_json::{Value, json};

/// Runs a command with a text on standard input and returns its output.
fn ac(place: &Path, words: &[&str], input: &str) -> Result<Value, String> {
    let mut child = Command::new(env!("CARGO_BIN_EXE_ac"))
        .args(words)
        .current_dir(place.join("acme"))
        .env("ACCORD_HOME", place.join("home"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("ac starts");
    let mut stdin = child.stdin.take().expect("a pipe");
    stdin.write_all(input.as_bytes()).expect("room");
    drop(stdin);
    let output = child.wait_with_output().expect("ac ends");
    let printed = String::from_utf8(output.stdout).expect("text");
    if output.status.success() {
        Ok(serde_json::from_str(&printed).unwrap_or(Value::String(printed)))
    } else {
        Err(String::from_utf8(output.stderr).expect("text"))
    }
}

#[test]
fn a_proposal_waits_in_the_inbox_until_somebody_decides() {
    let place = tempfile::tempdir().unwrap();
    std::fs::create_dir(place.path().join("acme")).unwrap();
    let run = |words: &[&str], input: &str| ac(place.path(), words, input);
    run(&["workspace:init", ".", "--company-name", "Acme"], "").unwrap();
    run(&["doc", "edit"], "Use tabs.\n").unwrap();
    let because = ["doc", "propose", "--because", "The code has spaces"];
    let proposed = run(&because, "Use spaces.\n").unwrap();
    let second = run(&because, "Use two spaces.\n").unwrap();

    let inbox = run(&["inbox"], "").unwrap();
    let waiting = inbox.as_array().unwrap().iter();
    let waiting: Vec<_> = waiting.map(|row| &row["proposal"]).collect();
    assert!(waiting.len() == 2 && waiting.contains(&&proposed) && waiting.contains(&&second));
    assert_eq!(
        proposed["diff"],
        "--- a/AGENTS.md\n+++ b/AGENTS.md\n@@ -1 +1 @@\n-Use tabs.\n+Use spaces.\n"
    );
    let id = proposed["id"].as_str().unwrap();
    let approved = run(&["approve", id, "--notes", "Yes"], "").unwrap();
    assert_eq!(approved["saved_version"], 2);
    assert_eq!(run(&["doc", "show"], "").unwrap(), "Use spaces.\n");

    // The other proposal is based on the previous version.
    let other = second["id"].as_str().unwrap();
    let refused = run(&["approve", other], "").unwrap_err();
    assert!(refused.contains("version 1"), "{refused}");
    run(&["deny", other], "").unwrap();
    let nothing = run(&["inbox"], "").unwrap();
    assert_eq!(nothing, json!([]));
}
