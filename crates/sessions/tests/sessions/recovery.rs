//! Tests of sessions that an earlier gateway left.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use company::{Companies, Company, Sources};
use protocol::company::{
    RunStatus,
    session::{CompanySessionLaunchParams, CompanySessionListParams},
};
use sessions::{Options, Sessions};
use tokio::sync::Notify;

use crate::fixture::{Fixture, MAY, is_alive, plant};

#[tokio::test]
async fn a_process_with_the_id_of_an_earlier_one_is_not_the_session() {
    let fixture = Fixture::open();
    let run = fixture.run_of("cmd");
    // The process id of this test with another start time.
    let record = format!(
        "schema_version: 1\ntype: session_record\nsession_ref: old\nworkspace_dir: {}\nproject_id: {}\nrun_id: {run}\n\
         status: running\nexit_code: null\nsignal: null\nstarted_at_ms: 1700000000000\nmode: command\npid: {}\n\
         pid_start_ticks: 1\n",
        fixture.company.given(),
        fixture.project,
        std::process::id(),
    );
    plant(&fixture.company.path(".local/sessions/old.yaml"), &record);
    let state = fixture
        .sessions
        .poll(Some(fixture.company.given()), "old", Some(MAY))
        .await
        .unwrap();
    assert_eq!(state.status, RunStatus::Failed);
    assert_eq!(fixture.document(&run).status, RunStatus::Failed);
    let last = fixture.events(&run).pop().unwrap();
    assert_eq!(last["payload"]["orphaned"], true);
    fixture.assert_intact(&run);
}

#[tokio::test]
async fn a_second_gateway_finds_and_stops_what_the_first_one_left() {
    let fixture = Fixture::open();
    let (run, launched) = fixture
        .launch(&["/bin/sh", "-c", "echo $$; exec sleep 1000"])
        .await;
    let pid = fixture.until_printed(&run, "\n").await;
    let companies = Companies::new(
        fixture.company.sources().clone(),
        company::Trust::everywhere(),
        Arc::new(|_, _| {}),
    );
    let later = Sessions::new(companies, Options::default());
    let dir = Some(fixture.company.given());
    let state = later
        .poll(dir, &launched.session_ref, Some(MAY))
        .await
        .unwrap();
    assert_eq!(state.status, RunStatus::Running);
    assert!(state.error.unwrap().contains("detached"));
    later.stop(dir, &launched.session_ref, MAY).await.unwrap();
    // The first gateway still runs in this test and observes the end of its process.
    let ended = fixture.collect(&launched.session_ref).await;
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

    async fn launch(&self, fixture: &Fixture, params: CompanySessionLaunchParams) -> String {
        let sessions = fixture.sessions.clone();
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
fn other_gateway(fixture: &Fixture, clock_step_ms: i64) -> (Sessions, Company, Arc<Notify>) {
    let appended = Arc::new(Notify::new());
    let tell = Arc::clone(&appended);
    let clock = fixture.company.sources().clone();
    let companies = Companies::new(
        Sources::new(Arc::new(move || clock.now_ms() + clock_step_ms)),
        company::Trust::everywhere(),
        Arc::new(move |_, _| tell.notify_waiters()),
    );
    let company = companies.open(fixture.company.given()).unwrap();
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
    let fixture = Fixture::open();
    let gate = fixture.company.root().with_file_name("gate");
    let made = std::process::Command::new("mkfifo").arg(&gate).status();
    assert!(made.unwrap().success());
    let first = Doomed::new();
    let run = fixture.run_of("cmd");
    let script = format!("read line < {}; echo after $line", gate.display());
    let params = fixture.params(&run, &["/bin/sh", "-c", &script]);
    first.launch(&fixture, params).await;
    // The second gateway opens the folder while the first one runs.
    let (second, folder, appended) = other_gateway(&fixture, 0);
    second.recover_once(&folder, MAY).await.unwrap();
    first.die();
    until_taken_over(&second).await;
    let opened = tokio::task::spawn_blocking(move || plant(&gate, "that\n"));
    opened.await.unwrap();
    loop {
        let told = appended.notified();
        tokio::pin!(told);
        told.as_mut().enable();
        if fixture.document(&run).status != RunStatus::Running {
            break;
        }
        told.await;
    }
    assert_eq!(fixture.output(&run, "stdout.txt"), b"after that\n");
}

#[tokio::test]
async fn the_time_limit_of_a_session_that_is_taken_over_survives_a_step_of_the_clock() {
    const DAY_MS: i64 = 24 * 3_600_000;
    for step_ms in [DAY_MS, -DAY_MS] {
        let fixture = Fixture::open();
        let first = Doomed::new();
        let run = fixture.run_of("cmd");
        let mut params = fixture.params(&run, &["/bin/sleep", "1000"]);
        params.timeout_ms = Some(4000);
        let began = Instant::now();
        let session_ref = first.launch(&fixture, params).await;
        let (second, folder, _) = other_gateway(&fixture, step_ms);
        first.die();
        second.recover_once(&folder, MAY).await.unwrap();
        until_taken_over(&second).await;
        let dir = Some(fixture.company.given());
        let state = second.poll(dir, &session_ref, Some(MAY)).await.unwrap();
        assert_eq!(state.status, RunStatus::Running, "a step of {step_ms} ms");
        let ended = second.collect(dir, &session_ref, Some(MAY)).await.unwrap();
        let took = began.elapsed();
        assert_eq!(ended.state.status, RunStatus::Failed);
        assert!(took >= Duration::from_millis(3900), "{took:?}");
        assert!(took < Duration::from_secs(60), "{took:?}");
    }
}
