//! Tests of the end of sessions: stops, limits, remaining processes.

use std::{fs, path::Path};

use company::{
    document::{Confidence, UsageSource},
    layout,
};
use protocol::company::RunStatus;
use rustix::process::Signal;
use serde_json::{Value, json};
use sessions::{Error, Options, ProcessId, lanes::Limits};

use crate::fixture::{Fixture, MAY, is_alive, program};

#[tokio::test]
async fn everything_a_worker_started_is_gone_when_it_is_stopped() {
    let fixture = Fixture::open();
    // The worker starts tools in sessions of their own, one of them an orphan.
    let script = "setsid sleep 1000 & echo $!; (setsid sh -c 'echo $$; sleep 1001; :' &) ; \
                  trap '' TERM; sleep 1002 & echo $!; echo ready; wait; wait";
    let (run, launched) = fixture.launch(&["/bin/sh", "-c", script]).await;
    let printed = fixture.until_printed(&run, "ready").await;
    let printed = match printed.lines().count() {
        4 => printed,
        _ => fixture.until_printed(&run, "ready").await,
    };
    let pids: Vec<_> = printed.lines().filter(|line| *line != "ready").collect();
    assert!(pids.iter().all(|pid| is_alive(pid)), "{printed}");
    fixture.stop(&launched.session_ref).await;
    let ended = fixture.collect(&launched.session_ref).await;
    assert_eq!(ended.state.status, RunStatus::Stopped);
    for pid in pids {
        assert!(!is_alive(pid), "{pid} of {printed}");
    }
}

/// Whether this account may create cgroups beside its own.
fn may_make_cgroups() -> bool {
    let own = fs::read_to_string("/proc/self/cgroup").unwrap();
    let own = own.lines().find_map(|line| line.strip_prefix("0::/"));
    let mounts = fs::read_to_string("/proc/self/mountinfo").unwrap();
    let mount = mounts.lines().find(|line| line.contains(" - cgroup2 "));
    let (Some(own), Some(mount)) = (own, mount.and_then(|line| line.split(' ').nth(4))) else {
        return false;
    };
    let probe = Path::new(mount)
        .join(own)
        .join(format!("probe-{}", std::process::id()));
    fs::create_dir(&probe)
        .and_then(|()| fs::remove_dir(&probe))
        .is_ok()
}

#[tokio::test]
async fn a_tool_that_forks_twice_and_clears_its_environment_is_ended_or_named() {
    let fixture = Fixture::open();
    let script = "env -i setsid -f /bin/sh -c 'echo $$; echo ready; exec sleep 1000'; sleep 1001";
    let (run, launched) = fixture.launch(&["/bin/sh", "-c", script]).await;
    let printed = fixture.until_printed(&run, "ready").await;
    let pid = printed.lines().next().unwrap();
    assert!(is_alive(pid), "{printed}");
    fixture.stop(&launched.session_ref).await;
    let ended = fixture.collect(&launched.session_ref).await;
    assert_eq!(ended.state.status, RunStatus::Stopped);
    let end = fixture.events(&run).pop().unwrap();
    let named = &end["payload"]["may_still_run"];
    if may_make_cgroups() {
        assert!(!is_alive(pid), "{pid} still runs");
        assert_eq!((named, ended.state.error), (&Value::Null, None));
    } else {
        // Without a cgroup nothing proves that the process belongs to the session, so it is reported and not killed.
        assert_eq!(named, &json!([pid.parse::<i32>().unwrap()]));
        assert!(ended.state.error.unwrap().contains(pid));
        ProcessId::of(pid.parse().unwrap()).signal(Signal::KILL);
    }
}

#[tokio::test]
async fn a_worker_that_ignores_term_is_killed_and_counts_as_stopped() {
    let fixture = Fixture::open();
    let script = "trap '' TERM; echo ready; sleep 1000; sleep 1000";
    let (run, launched) = fixture.launch(&["/bin/sh", "-c", script]).await;
    fixture.until_printed(&run, "ready").await;
    fixture.stop(&launched.session_ref).await;
    let ended = fixture.collect(&launched.session_ref).await;
    assert_eq!(ended.state.status, RunStatus::Stopped);
    assert_eq!(ended.state.signal.as_deref(), Some("SIGKILL"));
    assert_eq!(fixture.document(&run).status, RunStatus::Stopped);
    assert_eq!(fixture.types(&run).last().unwrap(), "run.stopped");
}

#[tokio::test]
async fn stopped_is_what_we_did_and_not_how_the_worker_ended() {
    let fixture = Fixture::open();
    let script = "trap 'exit 0' TERM; echo ready; while :; do sleep 0.01; done";
    let (run, launched) = fixture.launch(&["/bin/sh", "-c", script]).await;
    fixture.until_printed(&run, "ready").await;
    fixture.stop(&launched.session_ref).await;
    let ended = fixture.collect(&launched.session_ref).await;
    assert_eq!(
        (ended.state.status, ended.state.exit_code),
        (RunStatus::Stopped, Some(0))
    );
}

#[tokio::test]
async fn a_session_ends_at_its_limits_of_time() {
    let fixture = Fixture::open();
    for (timeout_ms, idle_timeout_ms, reason) in [
        (Some(300), None, "timeout"),
        (None, Some(300), "idle_timeout"),
    ] {
        let run = fixture.run_of("cmd");
        let mut params = fixture.params(&run, &["/bin/sh", "-c", "echo x; sleep 1000"]);
        params.timeout_ms = timeout_ms;
        params.idle_timeout_ms = idle_timeout_ms;
        let launched = fixture.sessions.launch(params, MAY).await.unwrap();
        let ended = fixture.collect(&launched.session_ref).await;
        assert_eq!(ended.state.status, RunStatus::Failed, "{reason}");
        let last = fixture.events(&run).pop().unwrap();
        assert_eq!(last["payload"]["reason"], reason);
    }
}

#[tokio::test]
async fn closing_stops_all_and_writes_their_ends_down() {
    let fixture = Fixture::with(Options {
        limits: Limits {
            workspace: 2,
            provider: 2,
            team: 2,
        },
        ..Options::default()
    });
    let mut runs = Vec::new();
    for _ in 0..3 {
        runs.push(fixture.launch(&["/bin/sleep", "1000"]).await.0);
    }
    fixture.sessions.close().await;
    for run in &runs {
        assert_eq!(fixture.document(run).status, RunStatus::Stopped);
        fixture.assert_intact(run);
    }
    let run = fixture.run_of("cmd");
    let refused = fixture
        .sessions
        .launch(fixture.params(&run, &["/bin/true"]), MAY)
        .await
        .unwrap_err();
    assert!(matches!(refused, Error::Closing));
}

#[tokio::test]
async fn a_stopped_session_keeps_the_largest_count_it_reported_with_low_confidence() {
    let fixture = Fixture::open();
    let script = r#"echo '{"type":"system","subtype":"init","session_id":"s1"}'
echo '{"type":"assistant","session_id":"s1","message":{"usage":{"input_tokens":400,"output_tokens":34}}}'
echo '{"type":"assistant","session_id":"s1","message":{"usage":{"input_tokens":300,"output_tokens":20}}}'
echo ready
exec sleep 1000"#;
    let bin = program(fixture.company.root().parent().unwrap(), "claude", script);
    let run = fixture.run_of("claude");
    let mut params = fixture.params(&run, &[&bin]);
    params.apply_guard = Some(false);
    let launched = fixture.sessions.launch(params, MAY).await.unwrap();
    loop {
        let appended = fixture.appended.notified();
        let printed = fs::read(fixture.company.path(&format!(
            "{}/outputs/stdout.txt",
            layout::run(&fixture.project, &run)
        )));
        if printed.is_ok_and(|bytes| bytes.ends_with(b"ready\n")) {
            break;
        }
        appended.await;
    }
    fixture.stop(&launched.session_ref).await;
    let ended = fixture.collect(&launched.session_ref).await;
    assert_eq!(ended.state.status, RunStatus::Stopped);
    let usage = fixture.document(&run).usage.unwrap();
    assert_eq!(
        (usage.total_tokens, usage.source, usage.confidence),
        (434, UsageSource::ProviderReported, Confidence::Low)
    );
}
