//! Tests of sessions with real processes, including misbehaving ones.

#![expect(
    clippy::unwrap_used,
    reason = "helpers of these tests are part of them"
)]

use std::{
    collections::BTreeMap,
    fs,
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
    sync::Arc,
    time::{Duration, Instant},
};

use company::{
    Companies, Company, Sources,
    document::{Confidence, Machine, Run, Team, UsageSource},
    events::replay::{self, Options as ReplayOptions},
    execution::run,
    layout,
    org::NewAgent,
    workspace::init::{self, NonEmpty},
};
use protocol::{
    Id as _,
    company::{
        AgentId, AgentRole, Budget, ProjectId, RepoId, RunId, RunStatus, TaskId, TeamId, Text,
        run::ReplayMode,
        session::{
            CompanySessionBudgetEnforcement, CompanySessionCollectResponse,
            CompanySessionLaunchParams, CompanySessionLaunchResponse, CompanySessionLaunchState,
            CompanySessionListParams, CompanySessionQueueReasonCode,
        },
        worktree::{WorktreeCleanupAction, WorktreeCleanupParams},
    },
};
use runner::{Cancellation, Error, GatewaySecrets, Options, ProcessId, Sessions, lanes::Limits};
use rustix::process::Signal;
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::sync::Notify;

/// Tests have the permission to execute.
#[expect(clippy::disallowed_methods, reason = "tests need no authorization")]
const MAY: protocol::MayExec = protocol::MayExec::granted();

/// Test fixture: a company with one project, and its sessions.
struct Office {
    _folder: TempDir,
    company: Company,
    project: ProjectId,
    sessions: Sessions,
    /// Notified whenever events are written.
    appended: Arc<Notify>,
}

fn text(text: impl Into<String>) -> Text {
    Text::new(text).unwrap()
}

#[expect(clippy::disallowed_methods, reason = "tests plant files of people")]
fn plant(path: &Path, content: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, content).unwrap();
}

impl Office {
    fn open() -> Self {
        Self::with(Options::default())
    }

    fn with(options: Options) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let appended = Arc::new(Notify::new());
        let tell = Arc::clone(&appended);
        #[expect(
            clippy::disallowed_methods,
            reason = "real processes need the real time"
        )]
        let now = || {
            let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
            i64::try_from(since.unwrap().as_millis()).unwrap()
        };
        let companies = Companies::new(
            Sources::new(Arc::new(now)),
            company::Trust::everywhere(),
            Arc::new(move |_, _| tell.notify_waiters()),
        );
        let root = folder.path().join("office").display().to_string();
        let company = companies.at(&root);
        init::init(&company, &text("Office"), NonEmpty::from_force(None)).unwrap();
        let company = companies.open(&root).unwrap();
        let project = company.write(|writer| writer.create_project("P")).unwrap();
        Self {
            _folder: folder,
            sessions: Sessions::new(companies, options),
            company,
            project,
            appended,
        }
    }

    fn run_of(&self, provider: &str) -> RunId {
        let agent = AgentId::parse("agent_w").unwrap();
        run::create(&self.company, &self.project, &agent, provider)
            .unwrap()
            .run_id
    }

    fn params(&self, run: &RunId, argv: &[&str]) -> CompanySessionLaunchParams {
        let params = serde_json::json!({
            "workspace_dir": self.company.given(),
            "project_id": self.project,
            "run_id": run,
            "argv": argv,
        });
        serde_json::from_value(params).unwrap()
    }

    async fn launch(&self, argv: &[&str]) -> (RunId, CompanySessionLaunchResponse) {
        let run = self.run_of("cmd");
        let launched = self
            .sessions
            .launch(self.params(&run, argv), MAY)
            .await
            .unwrap();
        (run, launched)
    }

    /// Runs a shell script in a session and waits until it is over.
    async fn script(&self, script: &str) -> (RunId, CompanySessionCollectResponse) {
        let (run, launched) = self.launch(&["/bin/sh", "-c", script]).await;
        (run, self.collect(&launched.session_ref).await)
    }

    async fn collect(&self, session_ref: &str) -> CompanySessionCollectResponse {
        self.sessions
            .collect(Some(self.company.given()), session_ref, Some(MAY))
            .await
            .unwrap()
    }

    async fn stop(&self, session_ref: &str) {
        self.sessions
            .stop(Some(self.company.given()), session_ref, MAY)
            .await
            .unwrap();
    }

    fn events(&self, run: &RunId) -> Vec<Value> {
        let path = self
            .company
            .path(&format!("{}/events.jsonl", layout::run(&self.project, run)));
        let lines = fs::read_to_string(path).unwrap();
        lines
            .lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect()
    }

    fn types(&self, run: &RunId) -> Vec<String> {
        let events = self.events(run);
        events
            .iter()
            .map(|event| event["type"].as_str().unwrap().to_owned())
            .collect()
    }

    /// The output of a run, from its events.
    fn printed(&self, run: &RunId) -> String {
        let events = self.events(run);
        let raw = events
            .iter()
            .filter(|event| event["type"] == "provider.raw");
        raw.map(|event| event["payload"]["chunk"].as_str().unwrap())
            .collect()
    }

    /// Waits until the output of a run contains `wanted`, and returns the output.
    async fn until_printed(&self, run: &RunId, wanted: &str) -> String {
        loop {
            let appended = self.appended.notified();
            tokio::pin!(appended);
            appended.as_mut().enable();
            let printed = self.printed(run);
            if printed.contains(wanted) {
                return printed;
            }
            appended.await;
        }
    }

    fn output(&self, run: &RunId, name: &str) -> Vec<u8> {
        let folder = layout::run(&self.project, run);
        fs::read(self.company.path(&format!("{folder}/outputs/{name}"))).unwrap()
    }

    fn document(&self, run: &RunId) -> Run {
        let path = format!("{}/run.yaml", layout::run(&self.project, run));
        Run::clone(&self.company.read::<Run>(&path).unwrap())
    }

    /// Asserts that the events of a run are unchanged and complete.
    fn assert_intact(&self, run: &RunId) {
        let path = self
            .company
            .path(&format!("{}/events.jsonl", layout::run(&self.project, run)));
        let options = ReplayOptions {
            mode: ReplayMode::Verified,
            tail: None,
            after_seq: 0,
            limit: None,
            events_tail: self.document(run).events_tail,
        };
        assert!(options.events_tail.is_some());
        let replayed = replay::replay(&path, &options).unwrap().replayed;
        assert_eq!(replayed.verification_issues, []);
        assert!(replayed.deterministic_ok);
    }

    fn set_machine(&self, change: impl FnOnce(&mut Machine)) {
        let mut machine = Machine::initial();
        change(&mut machine);
        self.company
            .write(|writer| writer.put(layout::MACHINE, &machine))
            .unwrap();
    }
}

fn is_alive(pid: &str) -> bool {
    ProcessId::of(pid.parse().unwrap()).is_alive()
}

fn program(folder: &Path, name: &str, script: &str) -> String {
    let path = folder.join(name);
    plant(&path, &format!("#!/bin/sh\n{script}\n"));
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    path.display().to_string()
}

#[tokio::test]
async fn a_run_has_its_events_in_order_and_its_end_written_down() {
    let office = Office::open();
    let (run, ended) = office.script("printf 'hello\\n'; printf oops >&2").await;
    assert_eq!(
        (ended.state.status, ended.state.exit_code),
        (RunStatus::Ended, Some(0))
    );
    let types = office.types(&run);
    assert_eq!(
        types[..3],
        ["run.started", "policy.decision", "run.executing"]
    );
    assert_eq!(types[types.len() - 2..], ["usage.estimated", "run.ended"]);
    assert_eq!(office.output(&run, "stdout.txt"), b"hello\n");
    assert_eq!(office.output(&run, "stderr.txt"), b"oops");
    let tail = office.document(&run).events_tail.unwrap();
    assert_eq!(tail.count, types.len() as u64);
    office.assert_intact(&run);
}

#[tokio::test]
async fn everything_a_worker_started_is_gone_when_it_is_stopped() {
    let office = Office::open();
    // The worker starts tools in sessions of their own, one of them an orphan.
    let script = "setsid sleep 1000 & echo $!; (setsid sh -c 'echo $$; sleep 1001; :' &) ; \
                  trap '' TERM; sleep 1002 & echo $!; echo ready; wait; wait";
    let (run, launched) = office.launch(&["/bin/sh", "-c", script]).await;
    let printed = office.until_printed(&run, "ready").await;
    let printed = match printed.lines().count() {
        4 => printed,
        _ => office.until_printed(&run, "ready").await,
    };
    let pids: Vec<_> = printed.lines().filter(|line| *line != "ready").collect();
    assert!(pids.iter().all(|pid| is_alive(pid)), "{printed}");
    office.stop(&launched.session_ref).await;
    let ended = office.collect(&launched.session_ref).await;
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
    let office = Office::open();
    let script = "env -i setsid -f /bin/sh -c 'echo $$; echo ready; exec sleep 1000'; sleep 1001";
    let (run, launched) = office.launch(&["/bin/sh", "-c", script]).await;
    let printed = office.until_printed(&run, "ready").await;
    let pid = printed.lines().next().unwrap();
    assert!(is_alive(pid), "{printed}");
    office.stop(&launched.session_ref).await;
    let ended = office.collect(&launched.session_ref).await;
    assert_eq!(ended.state.status, RunStatus::Stopped);
    let end = office.events(&run).pop().unwrap();
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
async fn what_the_gateway_holds_is_in_no_output() {
    let keys = || vec!["sk-of-the-gateway".to_owned()];
    let office = Office::with(Options {
        secrets: GatewaySecrets::new(keys),
        ..Options::default()
    });
    let (run, _) = office.script("printf 'sk-of-the-%s' gateway").await;
    assert_eq!(office.output(&run, "stdout.txt"), b"[redacted]");
    assert_eq!(office.printed(&run), "[redacted]");
}

#[tokio::test]
async fn a_worker_that_ignores_term_is_killed_and_counts_as_stopped() {
    let office = Office::open();
    let script = "trap '' TERM; echo ready; sleep 1000; sleep 1000";
    let (run, launched) = office.launch(&["/bin/sh", "-c", script]).await;
    office.until_printed(&run, "ready").await;
    office.stop(&launched.session_ref).await;
    let ended = office.collect(&launched.session_ref).await;
    assert_eq!(ended.state.status, RunStatus::Stopped);
    assert_eq!(ended.state.signal.as_deref(), Some("SIGKILL"));
    assert_eq!(office.document(&run).status, RunStatus::Stopped);
    assert_eq!(office.types(&run).last().unwrap(), "run.stopped");
}

#[tokio::test]
async fn stopped_is_what_we_did_and_not_how_the_worker_ended() {
    let office = Office::open();
    let script = "trap 'exit 0' TERM; echo ready; while :; do sleep 0.01; done";
    let (run, launched) = office.launch(&["/bin/sh", "-c", script]).await;
    office.until_printed(&run, "ready").await;
    office.stop(&launched.session_ref).await;
    let ended = office.collect(&launched.session_ref).await;
    assert_eq!(
        (ended.state.status, ended.state.exit_code),
        (RunStatus::Stopped, Some(0))
    );
}

#[tokio::test]
async fn a_worker_that_closes_its_output_is_waited_for() {
    let office = Office::open();
    let (run, ended) = office
        .script("echo bye; exec >&- 2>&-; sleep 0.2; exit 7")
        .await;
    assert_eq!(
        (ended.state.status, ended.state.exit_code),
        (RunStatus::Failed, Some(7))
    );
    assert_eq!(office.output(&run, "stdout.txt"), b"bye\n");
}

#[tokio::test]
async fn a_tool_that_keeps_the_pipe_open_does_not_keep_the_session() {
    let office = Office::open();
    let began = Instant::now();
    let (run, ended) = office.script("setsid sleep 1000 & echo $!").await;
    assert!(began.elapsed() < Duration::from_secs(10));
    assert_eq!(ended.state.status, RunStatus::Ended);
    assert!(!is_alive(office.printed(&run).trim()));
}

#[tokio::test]
async fn a_hundred_megabytes_without_a_newline_are_all_there() {
    let office = Office::open();
    const SIZE: usize = 100_000_000;
    let (run, ended) = office
        .script(&format!("head -c {SIZE} /dev/zero | tr '\\0' x"))
        .await;
    assert_eq!(ended.state.status, RunStatus::Ended);
    assert_eq!(office.output(&run, "stdout.txt").len(), SIZE);
    assert_eq!(office.printed(&run).len(), SIZE);
    office.assert_intact(&run);
}

#[tokio::test]
async fn bytes_that_are_no_text_are_kept_in_the_file_and_shown_as_such() {
    let office = Office::open();
    let (run, ended) = office
        .script("printf 'a\\377b\\303'; sleep 0.1; printf '\\251\\n'")
        .await;
    assert_eq!(ended.state.status, RunStatus::Ended);
    assert_eq!(office.output(&run, "stdout.txt"), b"a\xffb\xc3\xa9\n");
    assert_eq!(office.printed(&run), "a\u{fffd}b\u{e9}\n");
    office.assert_intact(&run);
}

#[tokio::test]
async fn what_cannot_be_started_fails_its_run() {
    let office = Office::open();
    for (argv, reason, expected) in [
        (
            &["/no/such/program"][..],
            "spawn_failed",
            "spawn /no/such/program ENOENT",
        ),
        (&["/etc/passwd"], "spawn_failed", "spawn /etc/passwd EACCES"),
        (&[], "launch_failed", "argv must be non-empty"),
    ] {
        let run = office.run_of("cmd");
        let launched = office.sessions.launch(office.params(&run, argv), MAY).await;
        let launched = launched.unwrap();
        assert_eq!(launched.state, CompanySessionLaunchState::Failed);
        assert_eq!(launched.error.as_deref(), Some(expected));
        let state = office.collect(&format!("local_{run}")).await.state;
        assert_eq!(state.status, RunStatus::Failed, "{argv:?}");
        assert_eq!(state.error.as_deref(), Some(expected));
        assert_eq!(office.document(&run).status, RunStatus::Failed);
        let last = office.events(&run).pop().unwrap();
        assert_eq!(
            (last["type"].as_str(), last["payload"]["reason"].as_str()),
            (Some("run.failed"), Some(reason))
        );
    }
    let (_, ended) = office.script("true").await;
    assert_eq!(ended.state.status, RunStatus::Ended);
}

#[tokio::test]
async fn a_run_has_one_session_at_a_time() {
    let office = Office::open();
    let (run, launched) = office.launch(&["/bin/sleep", "1000"]).await;
    let mut second = office.params(&run, &["/bin/true"]);
    second.session_ref = Some(text("other"));
    let refused = office.sessions.launch(second, MAY).await.unwrap_err();
    assert!(matches!(refused, Error::AlreadyRunning(name) if name == launched.session_ref));
    office.stop(&launched.session_ref).await;
    office.collect(&launched.session_ref).await;
    let again = office
        .sessions
        .launch(office.params(&run, &["/bin/true"]), MAY)
        .await
        .unwrap();
    assert_eq!(again.state, CompanySessionLaunchState::Failed);
}

fn one_at_a_time() -> Options {
    Options {
        limits: Limits {
            workspace: 1,
            provider: 1,
            team: 1,
        },
        ..Options::default()
    }
}

#[tokio::test]
async fn a_place_is_held_until_the_session_ends() {
    let office = Office::with(one_at_a_time());
    let (_, first) = office.launch(&["/bin/sleep", "1000"]).await;
    let (_, second) = office.launch(&["/bin/sh", "-c", "echo second"]).await;
    let (third_run, third) = office.launch(&["/bin/sh", "-c", "echo third"]).await;
    assert_eq!(
        (second.state, second.queue_position),
        (CompanySessionLaunchState::Queued, Some(1))
    );
    assert_eq!(third.queue_position, Some(2));
    let rows = office
        .sessions
        .list(CompanySessionListParams::default(), Some(MAY))
        .await
        .unwrap();
    let queued: Vec<_> = rows
        .iter()
        .filter(|row| row.state.queued == Some(true))
        .collect();
    assert_eq!(queued.len(), 2);
    assert!(
        queued
            .iter()
            .all(|row| row.state.status == RunStatus::Running && row.pid.is_none())
    );
    // A queued session is stopped before it has a process.
    office.stop(&third.session_ref).await;
    let stopped = office.collect(&third.session_ref).await;
    assert_eq!(stopped.state.status, RunStatus::Stopped);
    assert!(
        !office
            .types(&third_run)
            .contains(&"run.executing".to_owned())
    );
    assert_eq!(office.document(&third_run).status, RunStatus::Stopped);
    office.stop(&first.session_ref).await;
    let ended = office.collect(&second.session_ref).await;
    assert_eq!(ended.state.status, RunStatus::Ended);
}

#[tokio::test]
async fn waiting_has_a_limit_if_one_is_given() {
    let office = Office::with(one_at_a_time());
    let (_, first) = office.launch(&["/bin/sleep", "1000"]).await;
    let run = office.run_of("cmd");
    let mut params = office.params(&run, &["/bin/true"]);
    params.queue_timeout_ms = Some(50);
    let second = office.sessions.launch(params, MAY).await.unwrap();
    let ended = office.collect(&second.session_ref).await;
    assert_eq!(ended.state.status, RunStatus::Failed);
    office.stop(&first.session_ref).await;
    office.sessions.settle().await;
}

#[tokio::test]
async fn a_session_ends_at_its_limits_of_time() {
    let office = Office::open();
    for (timeout_ms, idle_timeout_ms, reason) in [
        (Some(300), None, "timeout"),
        (None, Some(300), "idle_timeout"),
    ] {
        let run = office.run_of("cmd");
        let mut params = office.params(&run, &["/bin/sh", "-c", "echo x; sleep 1000"]);
        params.timeout_ms = timeout_ms;
        params.idle_timeout_ms = idle_timeout_ms;
        let launched = office.sessions.launch(params, MAY).await.unwrap();
        let ended = office.collect(&launched.session_ref).await;
        assert_eq!(ended.state.status, RunStatus::Failed, "{reason}");
        let last = office.events(&run).pop().unwrap();
        assert_eq!(last["payload"]["reason"], reason);
    }
}

#[tokio::test]
async fn spending_too_much_ends_a_session_that_is_watched() {
    let office = Office::open();
    let run = office.run_of("cmd");
    let script = "echo '{\"usage\":{\"total_tokens\":50}}'; echo '{\"usage\":{\"total_tokens\":5000}}'; sleep 1000";
    let mut params = office.params(&run, &["/bin/sh", "-c", script]);
    params.budget = Some(Budget {
        hard_tokens: Some(1000),
        ..Budget::default()
    });
    params.budget_enforcement = Some(CompanySessionBudgetEnforcement::Live);
    let launched = office.sessions.launch(params, MAY).await.unwrap();
    let ended = office.collect(&launched.session_ref).await;
    assert_eq!(ended.state.status, RunStatus::Failed);
    let events = office.events(&run);
    let exceeded = events
        .iter()
        .find(|event| event["type"] == "budget.exceeded")
        .unwrap();
    assert_eq!(exceeded["payload"]["phase"], "live");
    let last = events.last().unwrap();
    assert_eq!(last["payload"]["budget_exceeded"], true);
    assert_eq!(last["causation_id"], exceeded["event_id"]);
}

#[tokio::test]
async fn what_a_running_session_may_spend_is_reserved_for_it() {
    let office = Office::open();
    let path = format!("{}/project.yaml", layout::project(&office.project));
    let project = office.company.read_text(&path).unwrap();
    plant(
        &office.company.path(&path),
        &format!("{project}budget:\n  hard_tokens: 1000\n"),
    );
    let budget = Some(Budget {
        hard_tokens: Some(800),
        ..Budget::default()
    });
    let (first, second, third) = (
        office.run_of("cmd"),
        office.run_of("cmd"),
        office.run_of("cmd"),
    );
    let mut params = office.params(&first, &["/bin/sleep", "1000"]);
    params.budget.clone_from(&budget);
    let launched = office.sessions.launch(params, MAY).await.unwrap();
    let mut params = office.params(&second, &["/bin/true"]);
    params.budget = Some(Budget {
        hard_tokens: Some(10),
        ..Budget::default()
    });
    // 800 of 1000 tokens are reserved, so the budget is not exceeded.
    let passed = office.sessions.launch(params, MAY).await.unwrap();
    office.collect(&passed.session_ref).await;
    let fourth = office.run_of("cmd");
    let mut params = office.params(&fourth, &["/bin/sleep", "1000"]);
    params.budget = budget;
    let other = office.sessions.launch(params, MAY).await.unwrap();
    let refused = office
        .sessions
        .launch(office.params(&third, &["/bin/true"]), MAY)
        .await
        .unwrap_err();
    assert!(
        refused
            .to_string()
            .contains("project.tokens.hard: actual=1600 threshold=1000"),
        "{refused}"
    );
    assert_eq!(office.document(&third).status, RunStatus::Failed);
    for session_ref in [&launched.session_ref, &other.session_ref] {
        office.stop(session_ref).await;
        office.collect(session_ref).await;
    }
}

#[tokio::test]
async fn closing_stops_all_and_writes_their_ends_down() {
    let office = Office::with(Options {
        limits: Limits {
            workspace: 2,
            provider: 2,
            team: 2,
        },
        ..Options::default()
    });
    let mut runs = Vec::new();
    for _ in 0..3 {
        runs.push(office.launch(&["/bin/sleep", "1000"]).await.0);
    }
    office.sessions.close().await;
    for run in &runs {
        assert_eq!(office.document(run).status, RunStatus::Stopped);
        office.assert_intact(run);
    }
    let run = office.run_of("cmd");
    let refused = office
        .sessions
        .launch(office.params(&run, &["/bin/true"]), MAY)
        .await
        .unwrap_err();
    assert!(matches!(refused, Error::Closing));
}

#[tokio::test]
async fn a_process_with_the_id_of_an_earlier_one_is_not_the_session() {
    let office = Office::open();
    let run = office.run_of("cmd");
    // The process id of this test with another start time.
    let record = format!(
        "schema_version: 1\ntype: session_record\nsession_ref: old\nworkspace_dir: {}\nproject_id: {}\nrun_id: {run}\n\
         status: running\nexit_code: null\nsignal: null\nstarted_at_ms: 1700000000000\nmode: command\npid: {}\n\
         pid_start_ticks: 1\n",
        office.company.given(),
        office.project,
        std::process::id(),
    );
    plant(&office.company.path(".local/sessions/old.yaml"), &record);
    let state = office
        .sessions
        .poll(Some(office.company.given()), "old", Some(MAY))
        .await
        .unwrap();
    assert_eq!(state.status, RunStatus::Failed);
    assert_eq!(office.document(&run).status, RunStatus::Failed);
    let last = office.events(&run).pop().unwrap();
    assert_eq!(last["payload"]["orphaned"], true);
    office.assert_intact(&run);
}

#[tokio::test]
async fn a_second_gateway_finds_and_stops_what_the_first_one_left() {
    let office = Office::open();
    let (run, launched) = office
        .launch(&["/bin/sh", "-c", "echo $$; exec sleep 1000"])
        .await;
    let pid = office.until_printed(&run, "\n").await;
    let companies = Companies::new(
        office.company.sources().clone(),
        company::Trust::everywhere(),
        Arc::new(|_, _| {}),
    );
    let later = Sessions::new(companies, Options::default());
    let dir = Some(office.company.given());
    let state = later
        .poll(dir, &launched.session_ref, Some(MAY))
        .await
        .unwrap();
    assert_eq!(state.status, RunStatus::Running);
    assert!(state.error.unwrap().contains("detached"));
    later.stop(dir, &launched.session_ref, MAY).await.unwrap();
    // The first gateway still runs in this test and observes the end of its process.
    let ended = office.collect(&launched.session_ref).await;
    assert_ne!(ended.state.status, RunStatus::Running);
    assert!(!is_alive(pid.trim()));
}

/// A gateway that can be killed: its runtime is dropped with all its tasks, while its workers continue.
struct Doomed {
    runtime: tokio::runtime::Runtime,
}

impl Doomed {
    fn new() -> Self {
        let mut builder = tokio::runtime::Builder::new_multi_thread();
        let runtime = builder.worker_threads(1).enable_all().build().unwrap();
        Self { runtime }
    }

    async fn launch(&self, office: &Office, params: CompanySessionLaunchParams) -> String {
        let sessions = office.sessions.clone();
        let launched = self
            .runtime
            .spawn(async move { sessions.launch(params, MAY).await });
        launched.await.unwrap().unwrap().session_ref
    }

    fn die(self) {
        self.runtime.shutdown_background();
    }
}

/// Another gateway of the same folder, whose clock is off by `clock_step_ms` milliseconds.
fn other_gateway(office: &Office, clock_step_ms: i64) -> (Sessions, Company, Arc<Notify>) {
    let appended = Arc::new(Notify::new());
    let tell = Arc::clone(&appended);
    let clock = office.company.sources().clone();
    let companies = Companies::new(
        Sources::new(Arc::new(move || clock.now_ms() + clock_step_ms)),
        company::Trust::everywhere(),
        Arc::new(move |_, _| tell.notify_waiters()),
    );
    let company = companies.open(office.company.given()).unwrap();
    let sessions = Sessions::new(companies, Options::default());
    (sessions, company, appended)
}

/// Waits until a gateway has a session, without a request about the folder, which could itself trigger the take-over.
async fn until_taken_over(sessions: &Sessions) {
    let all = CompanySessionListParams {
        workspace_dir: None,
        project_id: None,
        run_id: None,
        status: None,
        ..CompanySessionListParams::default()
    };
    while sessions
        .list(all.clone(), Some(MAY))
        .await
        .unwrap()
        .is_empty()
    {
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn a_session_of_a_gateway_that_dies_later_is_taken_over_without_being_asked() {
    let office = Office::open();
    let gate = office.company.root().with_file_name("gate");
    let made = std::process::Command::new("mkfifo").arg(&gate).status();
    assert!(made.unwrap().success());
    let first = Doomed::new();
    let run = office.run_of("cmd");
    let script = format!("read line < {}; echo after $line", gate.display());
    let params = office.params(&run, &["/bin/sh", "-c", &script]);
    first.launch(&office, params).await;
    // The second gateway opens the folder while the first one runs.
    let (second, folder, appended) = other_gateway(&office, 0);
    second.look_at(&folder, MAY).await.unwrap();
    first.die();
    until_taken_over(&second).await;
    let opened = tokio::task::spawn_blocking(move || plant(&gate, "that\n"));
    opened.await.unwrap();
    loop {
        let told = appended.notified();
        tokio::pin!(told);
        told.as_mut().enable();
        if office.document(&run).status != RunStatus::Running {
            break;
        }
        told.await;
    }
    assert_eq!(office.output(&run, "stdout.txt"), b"after that\n");
}

#[tokio::test]
async fn the_time_limit_of_a_session_that_is_taken_over_survives_a_step_of_the_clock() {
    const DAY_MS: i64 = 24 * 3_600_000;
    for step_ms in [DAY_MS, -DAY_MS] {
        let office = Office::open();
        let first = Doomed::new();
        let run = office.run_of("cmd");
        let mut params = office.params(&run, &["/bin/sleep", "1000"]);
        params.timeout_ms = Some(4000);
        let began = Instant::now();
        let session_ref = first.launch(&office, params).await;
        let (second, folder, _) = other_gateway(&office, step_ms);
        first.die();
        second.look_at(&folder, MAY).await.unwrap();
        until_taken_over(&second).await;
        let dir = Some(office.company.given());
        let state = second.poll(dir, &session_ref, Some(MAY)).await.unwrap();
        assert_eq!(state.status, RunStatus::Running, "a step of {step_ms} ms");
        let ended = second.collect(dir, &session_ref, Some(MAY)).await.unwrap();
        let took = began.elapsed();
        assert_eq!(ended.state.status, RunStatus::Failed);
        assert!(took >= Duration::from_millis(3900), "{took:?}");
        assert!(took < Duration::from_secs(60), "{took:?}");
    }
}

#[tokio::test]
async fn an_end_that_begins_like_a_secret_is_one_event_with_what_is_before_it() {
    let office = Office::with(Options {
        secrets: GatewaySecrets::new(|| vec!["e23456789".to_owned()]),
        ..Options::default()
    });
    let (run, _) = office.script("printf done").await;
    let events = office.events(&run);
    let raw = events
        .iter()
        .filter(|event| event["type"] == "provider.raw");
    let chunks: Vec<_> = raw.map(|event| &event["payload"]["chunk"]).collect();
    assert_eq!(chunks, ["done"]);
    assert_eq!(office.output(&run, "stdout.txt"), b"done");
}

#[tokio::test]
async fn secrets_a_worker_was_given_are_not_written_down() {
    let office = Office::open();
    let run = office.run_of("cmd");
    let secret = "hunter2-hunter2";
    let mut params = office.params(
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
    let launched = office.sessions.launch(params, MAY).await.unwrap();
    office.collect(&launched.session_ref).await;
    let folder = office.company.path(&layout::run(&office.project, &run));
    for name in [
        "events.jsonl",
        "run.yaml",
        "outputs/stdout.txt",
        "outputs/stdin.txt",
    ] {
        let content = fs::read_to_string(folder.join(name)).unwrap();
        assert!(!content.contains(secret), "{name}");
    }
    assert!(office.printed(&run).contains("plain=visible"));
    let spec = serde_json::to_value(office.document(&run).spec).unwrap();
    assert_eq!(spec["env"]["MY_API_KEY"], "[set]");
}

#[tokio::test]
async fn explaining_starts_and_writes_nothing() {
    let office = Office::with(one_at_a_time());
    let (_, first) = office.launch(&["/bin/sleep", "1000"]).await;
    let run = office.run_of("cmd");
    let before = office.events(&run);
    let mut params = office.params(&run, &["/bin/echo", "hello"]);
    params.explain = Some(true);
    params.budget = Some(Budget {
        hard_tokens: Some(5),
        ..Budget::default()
    });
    let explained = office.sessions.launch(params, MAY).await.unwrap();
    assert_eq!(explained.state, CompanySessionLaunchState::Explained);
    let explanation = explained.explain.unwrap();
    assert!(explanation.would_launch);
    assert_eq!(explanation.policy.rule_id, "vis.org");
    assert_eq!(explanation.lane.queue_position, Some(1));
    assert_eq!(explanation.budget[0].result, "ok");
    assert_eq!(explanation.command.unwrap().argv, ["/bin/echo", "hello"]);
    assert_eq!(office.events(&run), before);
    assert!(
        office
            .sessions
            .poll(None, &explained.session_ref, Some(MAY))
            .await
            .is_err()
    );
    office.stop(&first.session_ref).await;
    office.sessions.settle().await;
}

#[tokio::test]
async fn a_driver_makes_the_command_and_reads_the_answer() {
    let office = Office::open();
    let script = r#"cat > prompt.seen; echo "$@" > argv.seen
echo '{"type":"thread.started","thread_id":"t1"}'
echo '{"type":"item.completed","item":{"id":"i","type":"agent_message","text":"scripted answer"}}'
echo '{"type":"turn.completed","usage":{"input_tokens":1200,"cached_input_tokens":800,"output_tokens":34,"reasoning_output_tokens":10}}'"#;
    let bin = program(office.company.root().parent().unwrap(), "codex", script);
    office.set_machine(|machine| {
        machine.provider_bins.insert("codex".to_owned(), bin);
        let card = serde_json::json!({"input": 1.0, "cached_input": 0.1, "output": 10.0});
        machine.provider_pricing_usd_per_1k_tokens = Some(BTreeMap::from([(
            "codex".to_owned(),
            serde_json::from_value(card).unwrap(),
        )]));
    });
    let run = office.run_of("codex");
    let mut params = office.params(&run, &[]);
    params.prompt_text = Some("say hello".to_owned());
    params.apply_guard = Some(false);
    let launched = office.sessions.launch(params, MAY).await.unwrap();
    let ended = office.collect(&launched.session_ref).await;
    assert_eq!(ended.state.status, RunStatus::Ended, "{ended:?}");
    assert_eq!(office.output(&run, "last_message.md"), b"scripted answer");
    let usage = office.document(&run).usage.unwrap();
    assert_eq!((usage.total_tokens, usage.cost_usd), (1234, Some(0.82)));
    let scratch = format!("{}/work", layout::run(&office.project, &run));
    let scratch = office.company.path(&scratch);
    let seen = |name: &str| fs::read_to_string(scratch.join(name)).unwrap();
    assert_eq!(seen("prompt.seen"), "say hello");
    assert!(
        seen("argv.seen")
            .starts_with("exec --json --skip-git-repo-check --color never --sandbox read-only")
    );
}

#[tokio::test]
async fn a_resumed_and_a_forked_codex_thread_are_counted_for_their_own_turns() {
    let office = Office::open();
    // Like Codex, a resumed and a forked thread report the usage of the whole thread.
    let script = r#"case "$*" in
*fork*) id=t2; input=390 ;; *resume*) id=t1; input=290 ;; *) id=t1; input=190 ;; esac
echo "{\"type\":\"thread.started\",\"thread_id\":\"$id\"}"
echo '{"type":"item.completed","item":{"id":"i","type":"agent_message","text":"done"}}'
echo "{\"type\":\"turn.completed\",\"usage\":{\"input_tokens\":$input,\"output_tokens\":10}}""#;
    let bin = program(office.company.root().parent().unwrap(), "codex", script);
    for (argv, expected) in [
        (vec![bin.as_str(), "exec", "--json", "-"], 200),
        (vec![&bin, "exec", "resume", "--json", "t1", "-"], 100),
        (vec![&bin, "exec", "fork", "--json", "t1", "-"], 100),
    ] {
        let run = office.run_of("codex");
        let mut params = office.params(&run, &argv);
        params.apply_guard = Some(false);
        let launched = office.sessions.launch(params, MAY).await.unwrap();
        let ended = office.collect(&launched.session_ref).await;
        assert_eq!(ended.state.status, RunStatus::Ended, "{ended:?}");
        let usage = office.document(&run).usage.unwrap();
        assert_eq!(usage.total_tokens, expected, "{argv:?}");
        let events = office.events(&run);
        let reported = events
            .iter()
            .find(|event| event["type"] == "usage.reported");
        assert_eq!(reported.unwrap()["payload"]["total_tokens"], expected);
    }
}

#[tokio::test]
async fn a_provider_that_was_asked_too_often_rests_also_after_a_restart() {
    let office = Office::open();
    let script = r#"echo '{"type":"thread.started","thread_id":"t1"}'
echo '{"type":"turn.failed","error":{"message":"exceeded retry limit, last status: 429 Too Many Requests"}}'
exit 1"#;
    let bin = program(office.company.root().parent().unwrap(), "codex", script);
    let run = office.run_of("codex");
    let mut params = office.params(&run, &[&bin]);
    params.apply_guard = Some(false);
    let launched = office.sessions.launch(params, MAY).await.unwrap();
    let ended = office.collect(&launched.session_ref).await;
    assert_eq!(ended.state.status, RunStatus::Failed);
    assert_eq!(
        office.events(&run).pop().unwrap()["payload"]["error_class"],
        "rate_limited"
    );
    let lanes = office.company.path(".local/lanes.json");
    // The session leaves the lane only after the cool-down is saved.
    let other = office.run_of("codex");
    let explain = |office: &Office, sessions: &Sessions| {
        let mut params = office.params(&other, &["/bin/true"]);
        params.explain = Some(true);
        let sessions = sessions.clone();
        async move {
            sessions
                .launch(params, MAY)
                .await
                .unwrap()
                .explain
                .unwrap()
                .lane
        }
    };
    while !lanes.exists() {
        tokio::task::yield_now().await;
    }
    let lane = explain(&office, &office.sessions).await;
    assert_eq!(lane.queue_position, Some(1));
    let companies = Companies::new(
        office.company.sources().clone(),
        company::Trust::everywhere(),
        Arc::new(|_, _| {}),
    );
    let later = Sessions::new(companies, Options::default());
    assert!(explain(&office, &later).await.cooldown_until.is_some());
}

#[tokio::test]
async fn a_queued_session_says_which_limit_it_waits_for_by_name() {
    let office = Office::with(Options {
        limits: Limits {
            workspace: 9,
            provider: 2,
            team: 1,
        },
        ..Options::default()
    });
    let team = TeamId::parse("team_platform").unwrap();
    let agents = ["agent_ada", "agent_grace"].map(|id| AgentId::parse(id).unwrap());
    let made = office.company.write(|writer| {
        let document = Team::new(text(team.as_str()), text("Platform"), writer.now());
        writer.create_team(&team, &document)?;
        for id in &agents {
            writer.create_agent(&NewAgent {
                id: id.clone(),
                name: id.as_str(),
                display_title: None,
                role: AgentRole::Worker,
                provider: "other",
                model_hint: None,
                team: Some(&team),
            })?;
        }
        Ok(())
    });
    made.unwrap();
    let launch = |run: RunId| {
        let params = office.params(&run, &["/bin/sleep", "1000"]);
        office.sessions.launch(params, MAY)
    };
    let run_by = |agent: &AgentId, provider| {
        let made = run::create(&office.company, &office.project, agent, provider);
        made.unwrap().run_id
    };
    let first = launch(run_by(&agents[0], "other")).await.unwrap();
    assert_eq!(first.queue_reason, None);
    let second = launch(run_by(&agents[1], "other")).await.unwrap();
    let state = office
        .sessions
        .poll(Some(office.company.given()), &second.session_ref, Some(MAY))
        .await
        .unwrap();
    assert_eq!(state.queue_reason, second.queue_reason);
    let reason = state.queue_reason.unwrap();
    assert_eq!(reason.reason_code, CompanySessionQueueReasonCode::TeamLimit);
    assert_eq!(
        (reason.subject.as_str(), reason.limit, reason.until),
        ("Platform", Some(1), None)
    );
    assert_eq!(
        reason.reason,
        "team `Platform` may have 1 session at a time, and 1 is running"
    );
    // Agents without a team have no team limit: here the limit of the provider applies.
    let free = office.run_of("cmd");
    let free = launch(free).await.unwrap();
    assert_eq!(free.state, CompanySessionLaunchState::Running);
    let free = launch(office.run_of("cmd")).await.unwrap();
    assert_eq!(free.state, CompanySessionLaunchState::Running);
    let third = launch(office.run_of("cmd")).await.unwrap();
    let rows = office
        .sessions
        .list(CompanySessionListParams::default(), Some(MAY))
        .await
        .unwrap();
    let row = rows
        .iter()
        .find(|row| row.state.session_ref == third.session_ref)
        .unwrap();
    let reason = row.state.queue_reason.as_ref().unwrap();
    assert_eq!(
        reason.reason,
        "provider `cmd` may have 2 sessions at a time, and 2 are running"
    );
    office.sessions.close().await;
}

#[tokio::test]
async fn a_session_that_waits_for_a_cool_down_says_until_when_and_starts_when_it_is_cleared() {
    let office = Office::open();
    let lanes = office.company.path(".local/lanes.json");
    let until = "2999-01-01T00:00:00.000Z";
    let until_ms = until.parse::<jiff::Timestamp>().unwrap().as_millisecond();
    let saved = serde_json::json!({"schema_version": 1, "cooldowns": {
        "cmd": {"until_ms": until_ms, "level": 2, "reason": "rate_limit:try again later."},
    }});
    plant(&lanes, &saved.to_string());
    let (run, launched) = office.launch(&["/bin/sh", "-c", "echo hello"]).await;
    assert_eq!(launched.state, CompanySessionLaunchState::Queued);
    let reason = launched.queue_reason.unwrap();
    assert_eq!(reason.reason_code, CompanySessionQueueReasonCode::Cooldown);
    assert_eq!(reason.until.as_deref(), Some(until));
    assert_eq!(
        reason.reason,
        "provider `cmd` cools down because it reported a rate limit: try again later"
    );

    let given = office.company.given();
    let listed = office.sessions.cooldowns(given).await.unwrap();
    assert_eq!(listed.len(), 1);
    assert_eq!(
        (
            listed[0].provider.as_str(),
            listed[0].reason_code.as_str(),
            listed[0].until.as_str(),
            listed[0].waiting
        ),
        ("cmd", "rate_limit", until, 1)
    );
    let other = office.sessions.clear_cooldowns(given, Some("codex")).await;
    assert_eq!(other.unwrap(), []);
    let cleared = office.sessions.clear_cooldowns(given, None).await.unwrap();
    assert_eq!(cleared, listed);
    let ended = office.collect(&launched.session_ref).await;
    assert_eq!(ended.state.status, RunStatus::Ended);
    assert_eq!(office.output(&run, "stdout.txt"), b"hello\n");
    assert_eq!(office.sessions.cooldowns(given).await.unwrap(), []);
    assert!(!fs::read_to_string(lanes).unwrap().contains("cmd"));
}

#[tokio::test]
async fn a_run_without_a_process_can_be_cancelled_and_one_with_a_process_cannot() {
    let office = Office::with(one_at_a_time());
    let cancel = |run: &RunId| {
        let cancellation = Cancellation {
            project: office.project.clone(),
            run: run.clone(),
            actor: "human".to_owned(),
            reason: Some(text("not needed")),
        };
        office
            .sessions
            .cancel_run(office.company.given(), cancellation)
    };
    let unstarted = office.run_of("cmd");
    cancel(&unstarted).await.unwrap();
    assert_eq!(office.document(&unstarted).status, RunStatus::Stopped);
    let last = office.events(&unstarted).pop().unwrap();
    assert_eq!(
        (&last["type"], &last["actor"], &last["payload"]["reason"]),
        (&"run.stopped".into(), &"human".into(), &"cancelled".into())
    );
    office.assert_intact(&unstarted);
    let again = cancel(&unstarted).await.unwrap_err();
    assert!(matches!(again, Error::Over { .. }), "{again}");
    let launched = office
        .sessions
        .launch(office.params(&unstarted, &["/bin/true"]), MAY)
        .await
        .unwrap();
    assert_eq!(launched.state, CompanySessionLaunchState::Failed);

    let (running, session) = office.launch(&["/bin/sleep", "1000"]).await;
    let refused = cancel(&running).await.unwrap_err();
    assert_eq!(
        refused.to_string(),
        format!(
            "run `{running}` has a process and cannot be cancelled: stop its session `{}` instead",
            session.session_ref
        )
    );
    let (queued, _) = office.launch(&["/bin/sleep", "1000"]).await;
    cancel(&queued).await.unwrap();
    assert_eq!(office.document(&queued).status, RunStatus::Stopped);
    office.assert_intact(&queued);
    office.sessions.close().await;
}

#[tokio::test]
async fn a_stopped_session_keeps_the_largest_count_it_reported_with_low_confidence() {
    let office = Office::open();
    let script = r#"echo '{"type":"system","subtype":"init","session_id":"s1"}'
echo '{"type":"assistant","session_id":"s1","message":{"usage":{"input_tokens":400,"output_tokens":34}}}'
echo '{"type":"assistant","session_id":"s1","message":{"usage":{"input_tokens":300,"output_tokens":20}}}'
echo ready
exec sleep 1000"#;
    let bin = program(office.company.root().parent().unwrap(), "claude", script);
    let run = office.run_of("claude");
    let mut params = office.params(&run, &[&bin]);
    params.apply_guard = Some(false);
    let launched = office.sessions.launch(params, MAY).await.unwrap();
    loop {
        let appended = office.appended.notified();
        let printed = fs::read(office.company.path(&format!(
            "{}/outputs/stdout.txt",
            layout::run(&office.project, &run)
        )));
        if printed.is_ok_and(|bytes| bytes.ends_with(b"ready\n")) {
            break;
        }
        appended.await;
    }
    office.stop(&launched.session_ref).await;
    let ended = office.collect(&launched.session_ref).await;
    assert_eq!(ended.state.status, RunStatus::Stopped);
    let usage = office.document(&run).usage.unwrap();
    assert_eq!(
        (usage.total_tokens, usage.source, usage.confidence),
        (434, UsageSource::ProviderReported, Confidence::Low)
    );
}

#[tokio::test]
async fn a_worker_program_that_is_not_allowed_is_not_started() {
    let office = Office::open();
    let bin = program(office.company.root().parent().unwrap(), "claude", "exit 0");
    let run = office.run_of("claude");
    let mut params = office.params(&run, &[&bin, "-p"]);
    params.env = Some([("ANTHROPIC_API_KEY".to_owned(), "0123456789".to_owned())].into());
    let refused = office.sessions.launch(params, MAY).await.unwrap_err();
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
    assert_eq!(office.document(&run).status, RunStatus::Failed);
    assert!(
        office
            .types(&run)
            .contains(&"worker.subscription_check.failed".to_owned())
    );
}

/// Runs git and returns its output.
fn git(folder: &Path, arguments: &[&str]) -> String {
    let output = std::process::Command::new("git")
        .arg("-C")
        .arg(folder)
        .args(["-c", "user.name=t", "-c", "user.email=t@example.com"])
        .args(arguments)
        .output()
        .unwrap();
    assert!(output.status.success(), "git {arguments:?}");
    String::from_utf8(output.stdout).unwrap()
}

/// Creates a repository with one commit and registers it as `site`.
fn repository(office: &Office) -> PathBuf {
    let repo = office.company.root().parent().unwrap().join("repo");
    plant(&repo.join("a.txt"), "one\n");
    git(&repo, &["init", "-q", "-b", "main"]);
    git(&repo, &["add", "a.txt"]);
    git(&repo, &["commit", "-q", "-m", "first"]);
    let path = repo.display().to_string();
    office.set_machine(|machine| {
        machine.repo_roots.insert("site".to_owned(), path);
    });
    let task = format!(
        "---\nschema_version: 1\ntype: task\nid: task_1\nproject_id: {}\ntitle: T\ncreated_at: \"2024-06-01T10:00:00.000Z\"\n\
         status: draft\nvisibility: team\nscope:\n  requires_worktree_isolation: true\nmilestones: []\n---\n\n## Contract\n\n## Milestones\n",
        office.project
    );
    plant(
        &office.company.path(&format!(
            "{}/tasks/task_1.md",
            layout::project(&office.project)
        )),
        &task,
    );
    repo
}

async fn isolated(office: &Office, script: &str) -> RunId {
    let run = office.run_of("cmd");
    let mut params = office.params(&run, &["/bin/sh", "-c", script]);
    params.repo_id = Some(RepoId::parse("site").unwrap());
    params.task_id = Some(TaskId::parse("task_1").unwrap());
    let launched = office.sessions.launch(params, MAY).await.unwrap();
    let ended = office.collect(&launched.session_ref).await;
    assert_eq!(ended.state.status, RunStatus::Ended, "{ended:?}");
    run
}

fn cleanup_params(office: &Office) -> WorktreeCleanupParams {
    WorktreeCleanupParams {
        workspace_dir: text(office.company.given()),
        project_id: None,
        max_age_hours: Some(0.0),
        dry_run: None,
        force: None,
        delete_branches: None,
    }
}

#[tokio::test]
async fn a_worktree_with_changes_stays_until_somebody_insists() {
    let office = Office::open();
    let repo = repository(&office);
    let run = isolated(&office, "cat a.txt; echo two > a.txt").await;
    assert_eq!(fs::read_to_string(repo.join("a.txt")).unwrap(), "one\n");
    let path = office
        .company
        .path(&format!(".local/worktrees/{}/task_1/{run}", office.project));
    assert_eq!(fs::read_to_string(path.join("a.txt")).unwrap(), "two\n");
    let mut params = cleanup_params(&office);
    let cleaned = runner::worktree::cleanup(&office.company, &params)
        .await
        .unwrap();
    assert_eq!(cleaned.items[0].reason, "uncommitted changes");
    assert!(path.exists());
    params.force = Some(true);
    params.delete_branches = Some(true);
    let cleaned = runner::worktree::cleanup(&office.company, &params)
        .await
        .unwrap();
    assert_eq!(cleaned.items[0].action, WorktreeCleanupAction::Removed);
    assert_eq!(cleaned.items[0].branch_deleted, Some(true));
    assert!(!path.exists());
    assert!(
        !office
            .company
            .path(&format!(".local/worktrees/{}", office.project))
            .exists()
    );
}

#[tokio::test]
async fn a_dry_run_refuses_what_the_removal_refuses() {
    let office = Office::open();
    let repo = repository(&office);
    let run = isolated(&office, "echo two > a.txt").await;
    let relpath = format!(".local/worktrees/{}/task_1/{run}", office.project);
    let path = office.company.path(&relpath);
    let cleaned = async |dry_run, force| {
        let params = WorktreeCleanupParams {
            dry_run: Some(dry_run),
            force: Some(force),
            ..cleanup_params(&office)
        };
        let cleaned = runner::worktree::cleanup(&office.company, &params).await;
        let item = cleaned.unwrap().items.remove(0);
        (item.action, item.reason)
    };
    let changed = (
        WorktreeCleanupAction::Failed,
        "uncommitted changes".to_owned(),
    );
    assert_eq!(cleaned(true, false).await, changed);
    assert_eq!(cleaned(false, false).await, changed);

    git(&repo, &["worktree", "lock", path.to_str().unwrap()]);
    let locked = cleaned(true, true).await;
    assert_eq!(locked.0, WorktreeCleanupAction::Failed);
    assert!(locked.1.contains("locked"), "{}", locked.1);
    assert_eq!(cleaned(false, true).await, locked);

    git(&repo, &["worktree", "unlock", path.to_str().unwrap()]);
    let eligible = (
        WorktreeCleanupAction::Kept,
        "dry-run eligible for removal".to_owned(),
    );
    assert_eq!(cleaned(true, true).await, eligible);
    assert!(path.exists());
}

#[tokio::test]
async fn branches_of_removed_worktrees_are_deleted_unless_commits_would_be_lost() {
    let office = Office::open();
    let repo = repository(&office);
    let merged = isolated(&office, "true").await;
    let script = "git -c user.name=w -c user.email=w@x commit -q --allow-empty -m work";
    let unmerged = isolated(&office, script).await;
    let cleaned = async |dry_run, force, delete_branches| {
        let params = WorktreeCleanupParams {
            dry_run: Some(dry_run),
            force: Some(force),
            delete_branches: Some(delete_branches),
            ..cleanup_params(&office)
        };
        let cleaned = runner::worktree::cleanup(&office.company, &params).await;
        let items = cleaned.unwrap().items;
        let find = |run: &RunId| {
            items
                .iter()
                .find(|item| item.run_id == run.as_str())
                .unwrap()
        };
        [&merged, &unmerged].map(|run| {
            let item = find(run);
            (item.branch_deleted, item.branch_kept_reason.clone())
        })
    };
    let kept = |deleted| (deleted, Some("unmerged commits".to_owned()));
    assert_eq!(cleaned(true, false, true).await, [(None, None), kept(None)]);
    // Worktrees are removed first; their branches remain.
    assert_eq!(
        cleaned(false, false, false).await,
        [(None, None), (None, None)]
    );
    assert_eq!(git(&repo, &["branch", "--list", "ac/*"]).lines().count(), 2);
    let deleted = cleaned(false, false, true).await;
    assert_eq!(deleted, [(Some(true), None), kept(Some(false))]);
    assert_eq!(git(&repo, &["branch", "--list", "ac/*"]).lines().count(), 1);
    let forced = cleaned(false, true, true).await;
    assert_eq!(forced, [(None, None), (Some(true), None)]);
    assert_eq!(git(&repo, &["branch", "--list", "ac/*"]), "");
}

#[tokio::test]
async fn nothing_outside_the_folder_for_worktrees_is_removed() {
    let office = Office::open();
    repository(&office);
    let run = isolated(&office, "true").await;
    let outside = office.company.root().parent().unwrap().join("precious");
    plant(&outside.join("file"), "x");
    let link = office.company.path(".local/worktrees/link");
    std::os::unix::fs::symlink(&outside, &link).unwrap();
    let path = format!("{}/run.yaml", layout::run(&office.project, &run));
    let original = office.company.read_text(&path).unwrap();
    let relpath = office
        .document(&run)
        .spec
        .unwrap()
        .worktree_relpath()
        .unwrap()
        .to_owned();
    for planted in [
        "../precious",
        ".local/worktrees/../../../precious",
        ".local/worktrees/link",
        ".local/worktrees",
        "work",
    ] {
        plant(
            &office.company.path(&path),
            &original.replace(&relpath, planted),
        );
        let mut params = cleanup_params(&office);
        params.force = Some(true);
        let cleaned = runner::worktree::cleanup(&office.company, &params)
            .await
            .unwrap();
        assert_eq!(cleaned.removed, 0, "{planted}");
        assert!(outside.join("file").exists(), "{planted}");
        assert!(office.company.path("work").exists());
    }
}

#[tokio::test]
async fn a_working_directory_that_leaves_the_repository_is_refused() {
    let office = Office::open();
    repository(&office);
    let run = office.run_of("cmd");
    let mut params = office.params(&run, &["/bin/true"]);
    params.repo_id = Some(RepoId::parse("site").unwrap());
    params.workdir_rel = Some(text("../office"));
    let launched = office.sessions.launch(params, MAY).await.unwrap();
    assert_eq!(launched.state, CompanySessionLaunchState::Failed);
    assert!(launched.error.unwrap().contains("leaves the repository"));
}
