//! Tests of the output of sessions: files, events, redaction.

use std::{
    fs,
    time::{Duration, Instant},
};

use company::layout;
use protocol::company::RunStatus;
use sessions::{GatewaySecrets, Options};

use crate::fixture::{Fixture, MAY, is_alive};

#[tokio::test]
async fn a_run_has_its_events_in_order_and_its_end_written_down() {
    let fixture = Fixture::open();
    let (run, ended) = fixture.script("printf 'hello\\n'; printf oops >&2").await;
    assert_eq!(
        (ended.state.status, ended.state.exit_code),
        (RunStatus::Ended, Some(0))
    );
    let types = fixture.types(&run);
    assert_eq!(
        types[..3],
        ["run.started", "policy.decision", "run.executing"]
    );
    assert_eq!(types[types.len() - 2..], ["usage.estimated", "run.ended"]);
    assert_eq!(fixture.output(&run, "stdout.txt"), b"hello\n");
    assert_eq!(fixture.output(&run, "stderr.txt"), b"oops");
    let tail = fixture.document(&run).events_tail.unwrap();
    assert_eq!(tail.count, types.len() as u64);
    fixture.assert_intact(&run);
}

#[tokio::test]
async fn what_the_gateway_holds_is_in_no_output() {
    let keys = || vec!["sk-of-the-gateway".to_owned()];
    let fixture = Fixture::with(Options {
        secrets: GatewaySecrets::new(keys),
        ..Options::default()
    });
    let (run, _) = fixture.script("printf 'sk-of-the-%s' gateway").await;
    assert_eq!(fixture.output(&run, "stdout.txt"), b"[redacted]");
    assert_eq!(fixture.printed(&run), "[redacted]");
}

#[tokio::test]
async fn a_worker_that_closes_its_output_is_waited_for() {
    let fixture = Fixture::open();
    let (run, ended) = fixture
        .script("echo bye; exec >&- 2>&-; sleep 0.2; exit 7")
        .await;
    assert_eq!(
        (ended.state.status, ended.state.exit_code),
        (RunStatus::Failed, Some(7))
    );
    assert_eq!(fixture.output(&run, "stdout.txt"), b"bye\n");
}

#[tokio::test]
async fn a_tool_that_keeps_the_pipe_open_does_not_keep_the_session() {
    let fixture = Fixture::open();
    let began = Instant::now();
    let (run, ended) = fixture.script("setsid sleep 1000 & echo $!").await;
    assert!(began.elapsed() < Duration::from_secs(10));
    assert_eq!(ended.state.status, RunStatus::Ended);
    assert!(!is_alive(fixture.printed(&run).trim()));
}

#[tokio::test]
async fn a_hundred_megabytes_without_a_newline_are_all_there() {
    let fixture = Fixture::open();
    const SIZE: usize = 100_000_000;
    let (run, ended) = fixture
        .script(&format!("head -c {SIZE} /dev/zero | tr '\\0' x"))
        .await;
    assert_eq!(ended.state.status, RunStatus::Ended);
    assert_eq!(fixture.output(&run, "stdout.txt").len(), SIZE);
    assert_eq!(fixture.printed(&run).len(), SIZE);
    fixture.assert_intact(&run);
}

#[tokio::test]
async fn bytes_that_are_no_text_are_kept_in_the_file_and_shown_as_such() {
    let fixture = Fixture::open();
    let (run, ended) = fixture
        .script("printf 'a\\377b\\303'; sleep 0.1; printf '\\251\\n'")
        .await;
    assert_eq!(ended.state.status, RunStatus::Ended);
    assert_eq!(fixture.output(&run, "stdout.txt"), b"a\xffb\xc3\xa9\n");
    assert_eq!(fixture.printed(&run), "a\u{fffd}b\u{e9}\n");
    fixture.assert_intact(&run);
}

#[tokio::test]
async fn an_end_that_begins_like_a_secret_is_one_event_with_what_is_before_it() {
    let fixture = Fixture::with(Options {
        secrets: GatewaySecrets::new(|| vec!["e23456789".to_owned()]),
        ..Options::default()
    });
    let (run, _) = fixture.script("printf done").await;
    let events = fixture.events(&run);
    let raw = events
        .iter()
        .filter(|event| event["type"] == "provider.raw");
    let chunks: Vec<_> = raw.map(|event| &event["payload"]["chunk"]).collect();
    assert_eq!(chunks, ["done"]);
    assert_eq!(fixture.output(&run, "stdout.txt"), b"done");
}

#[tokio::test]
async fn secrets_a_worker_was_given_are_not_written_down() {
    let fixture = Fixture::open();
    let run = fixture.run_of("cmd");
    let secret = "hunter2-hunter2";
    let mut params = fixture.params(
        &run,
        &[
            "/bin/sh",
            "-c",
            "echo key=$MY_API_KEY plain=$PLAIN; printf hunter2; sleep 0.1; printf -- '-hunter2'; cat",
        ],
    );
    params.stdin_text = Some(format!("use {secret}\n"));
    let env = [("MY_API_KEY", secret), ("PLAIN", "visible")];
    params.env = Some(
        env.map(|(name, value)| (name.to_owned(), value.to_owned()))
            .into(),
    );
    let launched = fixture.sessions.launch(params, MAY).await.unwrap();
    fixture.collect(&launched.session_ref).await;
    let folder = fixture.company.path(&layout::run(&fixture.project, &run));
    for name in [
        "events.jsonl",
        "run.yaml",
        "outputs/stdout.txt",
        "outputs/stdin.txt",
    ] {
        let content = fs::read_to_string(folder.join(name)).unwrap();
        assert!(!content.contains(secret), "{name}");
    }
    assert!(fixture.printed(&run).contains("plain=visible"));
    let spec = serde_json::to_value(fixture.document(&run).spec).unwrap();
    assert_eq!(spec["env"]["MY_API_KEY"], "[set]");
}
