//! Tests of launches: checks, explanations, drivers, cancellation.

use std::{collections::BTreeMap, fs};

use company::layout;
use protocol::company::{Budget, RunId, RunStatus, session::CompanySessionLaunchState};
use sessions::{Cancellation, Error};

use crate::fixture::{Fixture, MAY, one_at_a_time, program, text};

#[tokio::test]
async fn what_cannot_be_started_fails_its_run() {
    let fixture = Fixture::open();
    for (argv, reason, expected) in [
        (
            &["/no/such/program"][..],
            "spawn_failed",
            "spawn /no/such/program ENOENT",
        ),
        (&["/etc/passwd"], "spawn_failed", "spawn /etc/passwd EACCES"),
        (&[], "launch_failed", "argv must be non-empty"),
    ] {
        let run = fixture.run_of("cmd");
        let launched = fixture
            .sessions
            .launch(fixture.params(&run, argv), MAY)
            .await;
        let launched = launched.unwrap();
        assert_eq!(launched.state, CompanySessionLaunchState::Failed);
        assert_eq!(launched.error.as_deref(), Some(expected));
        let state = fixture.collect(&format!("local_{run}")).await.state;
        assert_eq!(state.status, RunStatus::Failed, "{argv:?}");
        assert_eq!(state.error.as_deref(), Some(expected));
        assert_eq!(fixture.document(&run).status, RunStatus::Failed);
        let last = fixture.events(&run).pop().unwrap();
        assert_eq!(
            (last["type"].as_str(), last["payload"]["reason"].as_str()),
            (Some("run.failed"), Some(reason))
        );
    }
    let (_, ended) = fixture.script("true").await;
    assert_eq!(ended.state.status, RunStatus::Ended);
}

#[tokio::test]
async fn a_run_has_one_session_at_a_time() {
    let fixture = Fixture::open();
    let (run, launched) = fixture.launch(&["/bin/sleep", "1000"]).await;
    let mut second = fixture.params(&run, &["/bin/true"]);
    second.session_ref = Some(text("other"));
    let refused = fixture.sessions.launch(second, MAY).await.unwrap_err();
    assert!(matches!(refused, Error::AlreadyRunning(name) if name == launched.session_ref));
    fixture.stop(&launched.session_ref).await;
    fixture.collect(&launched.session_ref).await;
    let again = fixture
        .sessions
        .launch(fixture.params(&run, &["/bin/true"]), MAY)
        .await
        .unwrap();
    assert_eq!(again.state, CompanySessionLaunchState::Failed);
}

#[tokio::test]
async fn explaining_starts_and_writes_nothing() {
    let fixture = Fixture::with(one_at_a_time());
    let (_, first) = fixture.launch(&["/bin/sleep", "1000"]).await;
    let run = fixture.run_of("cmd");
    let before = fixture.events(&run);
    let mut params = fixture.params(&run, &["/bin/echo", "hello"]);
    params.explain = Some(true);
    params.budget = Some(Budget {
        hard_tokens: Some(5),
        ..Budget::default()
    });
    let explained = fixture.sessions.launch(params, MAY).await.unwrap();
    assert_eq!(explained.state, CompanySessionLaunchState::Explained);
    let explanation = explained.explain.unwrap();
    assert!(explanation.would_launch);
    assert_eq!(explanation.policy.rule_id, "vis.org");
    assert_eq!(explanation.lane.queue_position, Some(1));
    assert_eq!(explanation.budget[0].result, "ok");
    assert_eq!(explanation.command.unwrap().argv, ["/bin/echo", "hello"]);
    assert_eq!(fixture.events(&run), before);
    assert!(
        fixture
            .sessions
            .poll(None, &explained.session_ref, Some(MAY))
            .await
            .is_err()
    );
    fixture.stop(&first.session_ref).await;
    fixture.sessions.settle().await;
}

#[tokio::test]
async fn a_driver_makes_the_command_and_reads_the_answer() {
    let fixture = Fixture::open();
    let script = r#"cat > prompt.seen; echo "$@" > argv.seen
echo '{"type":"thread.started","thread_id":"t1"}'
echo '{"type":"item.completed","item":{"id":"i","type":"agent_message","text":"scripted answer"}}'
echo '{"type":"turn.completed","usage":{"input_tokens":1200,"cached_input_tokens":800,"output_tokens":34,"reasoning_output_tokens":10}}'"#;
    let bin = program(fixture.company.root().parent().unwrap(), "codex", script);
    fixture.set_machine(|machine| {
        machine.provider_bins.insert("codex".to_owned(), bin);
        let card = serde_json::json!({"input": 1.0, "cached_input": 0.1, "output": 10.0});
        machine.provider_pricing_usd_per_1k_tokens = Some(BTreeMap::from([(
            "codex".to_owned(),
            serde_json::from_value(card).unwrap(),
        )]));
    });
    let run = fixture.run_of("codex");
    let mut params = fixture.params(&run, &[]);
    params.prompt_text = Some("say hello".to_owned());
    params.apply_guard = Some(false);
    let launched = fixture.sessions.launch(params, MAY).await.unwrap();
    let ended = fixture.collect(&launched.session_ref).await;
    assert_eq!(ended.state.status, RunStatus::Ended, "{ended:?}");
    assert_eq!(fixture.output(&run, "last_message.md"), b"scripted answer");
    let usage = fixture.document(&run).usage.unwrap();
    assert_eq!((usage.total_tokens, usage.cost_usd), (1234, Some(0.82)));
    let scratch = format!("{}/work", layout::run(&fixture.project, &run));
    let scratch = fixture.company.path(&scratch);
    let seen = |name: &str| fs::read_to_string(scratch.join(name)).unwrap();
    assert_eq!(seen("prompt.seen"), "say hello");
    assert!(
        seen("argv.seen")
            .starts_with("exec --json --skip-git-repo-check --color never --sandbox read-only")
    );
}

#[tokio::test]
async fn a_resumed_and_a_forked_codex_thread_are_counted_for_their_own_turns() {
    let fixture = Fixture::open();
    // Like Codex, a resumed and a forked thread report the usage of the whole thread.
    let script = r#"case "$*" in
*fork*) id=t2; input=390 ;; *resume*) id=t1; input=290 ;; *) id=t1; input=190 ;; esac
echo "{\"type\":\"thread.started\",\"thread_id\":\"$id\"}"
echo '{"type":"item.completed","item":{"id":"i","type":"agent_message","text":"done"}}'
echo "{\"type\":\"turn.completed\",\"usage\":{\"input_tokens\":$input,\"output_tokens\":10}}""#;
    let bin = program(fixture.company.root().parent().unwrap(), "codex", script);
    for (argv, expected) in [
        (vec![bin.as_str(), "exec", "--json", "-"], 200),
        (vec![&bin, "exec", "resume", "--json", "t1", "-"], 100),
        (vec![&bin, "exec", "fork", "--json", "t1", "-"], 100),
    ] {
        let run = fixture.run_of("codex");
        let mut params = fixture.params(&run, &argv);
        params.apply_guard = Some(false);
        let launched = fixture.sessions.launch(params, MAY).await.unwrap();
        let ended = fixture.collect(&launched.session_ref).await;
        assert_eq!(ended.state.status, RunStatus::Ended, "{ended:?}");
        let usage = fixture.document(&run).usage.unwrap();
        assert_eq!(usage.total_tokens, expected, "{argv:?}");
        let events = fixture.events(&run);
        let reported = events
            .iter()
            .find(|event| event["type"] == "usage.reported");
        assert_eq!(reported.unwrap()["payload"]["total_tokens"], expected);
    }
}

#[tokio::test]
async fn a_run_without_a_process_can_be_cancelled_and_one_with_a_process_cannot() {
    let fixture = Fixture::with(one_at_a_time());
    let cancel = |run: &RunId| {
        let cancellation = Cancellation {
            project: fixture.project.clone(),
            run: run.clone(),
            actor: "human".to_owned(),
            reason: Some(text("not needed")),
        };
        fixture
            .sessions
            .cancel_run(fixture.company.given(), cancellation)
    };
    let unstarted = fixture.run_of("cmd");
    cancel(&unstarted).await.unwrap();
    assert_eq!(fixture.document(&unstarted).status, RunStatus::Stopped);
    let last = fixture.events(&unstarted).pop().unwrap();
    assert_eq!(
        (&last["type"], &last["actor"], &last["payload"]["reason"]),
        (&"run.stopped".into(), &"human".into(), &"cancelled".into())
    );
    fixture.assert_intact(&unstarted);
    let again = cancel(&unstarted).await.unwrap_err();
    assert!(matches!(again, Error::Over { .. }), "{again}");
    let launched = fixture
        .sessions
        .launch(fixture.params(&unstarted, &["/bin/true"]), MAY)
        .await
        .unwrap();
    assert_eq!(launched.state, CompanySessionLaunchState::Failed);

    let (running, session) = fixture.launch(&["/bin/sleep", "1000"]).await;
    let refused = cancel(&running).await.unwrap_err();
    assert_eq!(
        refused.to_string(),
        format!(
            "run `{running}` has a process and cannot be cancelled: stop its session `{}` instead",
            session.session_ref
        )
    );
    let (queued, _) = fixture.launch(&["/bin/sleep", "1000"]).await;
    cancel(&queued).await.unwrap();
    assert_eq!(fixture.document(&queued).status, RunStatus::Stopped);
    fixture.assert_intact(&queued);
    fixture.sessions.close().await;
}

#[tokio::test]
async fn a_worker_program_that_is_not_allowed_is_not_started() {
    let fixture = Fixture::open();
    let bin = program(fixture.company.root().parent().unwrap(), "claude", "exit 0");
    let run = fixture.run_of("claude");
    let mut params = fixture.params(&run, &[&bin, "-p"]);
    params.env = Some([("ANTHROPIC_API_KEY".to_owned(), "0123456789".to_owned())].into());
    let refused = fixture.sessions.launch(params, MAY).await.unwrap_err();
    assert!(
        matches!(
            refused,
            Error::Unverified {
                reason: "api_key_present",
                ..
            }
        ),
        "{refused}"
    );
    assert_eq!(fixture.document(&run).status, RunStatus::Failed);
    assert!(
        fixture
            .types(&run)
            .contains(&"worker.subscription_check.failed".to_owned())
    );
}
