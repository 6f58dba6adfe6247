//! Background runs, which no phase waits for.

use std::{
    sync::{
        Arc, Mutex,
        atomic::{AtomicU32, Ordering},
    },
    time::Duration,
};

use hooks::{
    Attempt, AwaitPolicy, BackgroundOptions, Backoff, Definition, FailurePolicy, RunRecord,
    RunStatus, RuntimeOptions, Subscription,
};
use tokio::{sync::Semaphore, time::Instant};

use crate::support::{
    MemoryStore, Scripted, audit, builder_at, error, hook, package, policy, policy_contribution,
    retryable, run, runtime, runtime_with,
};

fn background(handler: Scripted, change: impl FnOnce(&mut Subscription)) -> Definition {
    hook(handler, |it| {
        it.execution_policy.await_policy = AwaitPolicy::Background;
        change(it);
    })
}

/// A run that another process left unfinished.
async fn left_behind(status: RunStatus) -> RunRecord {
    let store = MemoryStore::new();
    let runtime = runtime(
        &store,
        vec![background(Scripted::answers("a", audit()), |_| {})],
    );
    let earlier = Arc::new(vec![policy_contribution("earlier")]);
    let outcome = runtime
        .run_phase(crate::support::PHASE, crate::support::context(), earlier)
        .await
        .expect("the phase succeeds");
    let mut record = outcome.runs[0].clone();
    record.id = "hkr_left".to_owned();
    record.status = status;
    if status == RunStatus::Running {
        record.started_at_ms = Some(record.queued_at_ms);
        record.attempts.push(Attempt {
            number: 1,
            status: RunStatus::Running,
            started_at_ms: record.queued_at_ms,
            duration_ms: 0,
        });
    }
    record
}

/// Restarts the runtime with the hook after the given time and returns the final record of the run.
async fn restarted(
    record: RunRecord,
    after: Duration,
    hook: Definition,
    expected: RunStatus,
) -> RunRecord {
    let store = MemoryStore::new();
    let now_ms = record.queued_at_ms + i64::try_from(after.as_millis()).expect("fits into i64");
    store.put(record);
    let runtime = builder_at(&store, now_ms)
        .install(package("package", vec![hook]))
        .expect("the package is sound")
        .build();
    assert_eq!(runtime.recover().await.expect("the store works"), 1);
    store.until("hkr_left", expected).await
}

#[tokio::test(start_paused = true)]
async fn the_phase_does_not_wait_and_the_run_is_recorded() {
    for policy in [AwaitPolicy::Background, AwaitPolicy::FireAndRecord] {
        let store = MemoryStore::new();
        let handler = Scripted::takes("a", Duration::from_millis(500), audit());
        let runtime = runtime(
            &store,
            vec![hook(handler, |it| {
                it.execution_policy.await_policy = policy
            })],
        );
        let start = Instant::now();
        let outcome = run(&runtime).await.unwrap();
        assert_eq!(start.elapsed(), Duration::ZERO);
        assert_eq!(outcome.runs[0].status, RunStatus::Queued);
        assert_eq!(outcome.contributions, []);

        let record = store.until("hkr_1", RunStatus::Succeeded).await;
        assert_eq!(record.contribution_hashes.len(), 1);
        assert_eq!(record.attempts[0].duration_ms, 500);
        assert_eq!(
            store.statuses_of("hkr_1"),
            [RunStatus::Queued, RunStatus::Running, RunStatus::Succeeded]
        );
    }
}

#[tokio::test(start_paused = true)]
async fn the_failure_of_a_background_run_does_not_fail_the_phase() {
    let store = MemoryStore::new();
    let runtime = runtime(
        &store,
        vec![background(
            Scripted::answers("a", Err(error("no luck"))),
            |it| it.failure_policy = FailurePolicy::Required,
        )],
    );
    run(&runtime).await.unwrap();
    let record = store.until("hkr_1", RunStatus::Failed).await;
    assert_eq!(record.error.unwrap().message, "no luck");
}

#[tokio::test(start_paused = true)]
async fn a_background_run_is_tried_again_with_growing_pauses() {
    let store = MemoryStore::new();
    let starts = Arc::new(Mutex::new(Vec::new()));
    let seen = Arc::clone(&starts);
    let begin = Instant::now();
    let handler = Scripted::new("a", move |request| {
        seen.lock()
            .expect("no holder panics")
            .push(begin.elapsed().as_millis());
        std::future::ready(if request.attempt < 4 {
            Err(retryable())
        } else {
            audit()
        })
    });
    let runtime = runtime(
        &store,
        vec![background(handler.idempotent(), |it| {
            it.retry_policy.max_attempts = 4;
            it.retry_policy.backoff = Backoff::Exponential;
            it.retry_policy.initial_delay_ms = Some(3000);
        })],
    );
    run(&runtime).await.unwrap();
    let record = store.until("hkr_1", RunStatus::Succeeded).await;
    // The delays are longer than the recovery interval: recovery must not run the hook as well.
    assert_eq!(*starts.lock().unwrap(), [0, 3000, 9000, 21_000]);
    let statuses: Vec<_> = record.attempts.iter().map(|it| it.status).collect();
    assert_eq!(
        statuses,
        [
            RunStatus::Failed,
            RunStatus::Failed,
            RunStatus::Failed,
            RunStatus::Succeeded
        ]
    );
    assert_eq!(record.error, None);
}

#[tokio::test(start_paused = true)]
async fn a_background_run_that_times_out_is_tried_as_often_as_it_may() {
    let store = MemoryStore::new();
    let handler = Scripted::takes("a", Duration::from_secs(60), audit()).idempotent();
    let runtime = runtime(
        &store,
        vec![background(handler, |it| {
            it.retry_policy.max_attempts = 2;
            it.retry_policy.backoff = Backoff::Fixed;
            it.retry_policy.initial_delay_ms = Some(100);
        })],
    );
    run(&runtime).await.unwrap();
    let record = store.until("hkr_1", RunStatus::TimedOut).await;
    assert_eq!(record.attempts.len(), 2);
    assert_eq!(record.attempts[1].started_at_ms, 1_001_100);
}

#[tokio::test(start_paused = true)]
async fn a_background_run_cannot_bring_what_a_phase_would_use() {
    let store = MemoryStore::new();
    let runtime = runtime(
        &store,
        vec![background(Scripted::answers("a", policy("a")), |_| {})],
    );
    run(&runtime).await.unwrap();
    let record = store.until("hkr_1", RunStatus::Failed).await;
    assert_eq!(
        record.error.unwrap().code,
        "hook.background_contribution_not_allowed"
    );
    assert_eq!(record.contribution_hashes, Vec::<String>::new());
}

#[tokio::test(start_paused = true)]
async fn four_background_runs_are_under_way_at_most() {
    let store = MemoryStore::new();
    let counts = Arc::new(Mutex::new((0, 0)));
    let seen = Arc::clone(&counts);
    let handler = Scripted::new("a", move |_| {
        let seen = Arc::clone(&seen);
        async move {
            {
                let mut seen = seen.lock().expect("no holder panics");
                seen.0 += 1;
                seen.1 = seen.1.max(seen.0);
            }
            tokio::time::sleep(Duration::from_millis(900)).await;
            seen.lock().expect("no holder panics").0 -= 1;
            audit()
        }
    });
    let runtime = runtime(&store, vec![background(handler, |_| {})]);
    for _ in 0..10 {
        run(&runtime).await.unwrap();
    }
    for number in 1..=10 {
        store
            .until(&format!("hkr_{number}"), RunStatus::Succeeded)
            .await;
    }
    assert_eq!(counts.lock().unwrap().1, 4);
}

#[tokio::test(start_paused = true)]
async fn runs_that_pause_between_tries_hold_up_nobody() {
    let store = MemoryStore::new();
    let runtime = runtime(
        &store,
        vec![
            background(
                Scripted::answers("busy", Err(retryable())).idempotent(),
                |it| {
                    it.retry_policy.max_attempts = 2;
                    it.retry_policy.backoff = Backoff::Fixed;
                    it.retry_policy.initial_delay_ms = Some(60_000);
                },
            ),
            background(Scripted::answers("quick", audit()), |_| {}),
        ],
    );
    let start = Instant::now();
    for _ in 0..6 {
        run(&runtime).await.unwrap();
    }
    // In each phase the second run is the fast one.
    store.until("hkr_12", RunStatus::Succeeded).await;
    assert_eq!(start.elapsed(), Duration::ZERO);
}

#[tokio::test(start_paused = true)]
async fn runs_a_full_queue_has_no_room_for_wait_in_the_store() {
    let store = MemoryStore::new();
    let options = RuntimeOptions {
        background: BackgroundOptions {
            queue_capacity: 1,
            concurrency: 1,
            ..BackgroundOptions::default()
        },
        ..RuntimeOptions::default()
    };
    let calls = Arc::new(AtomicU32::new(0));
    let counter = Arc::clone(&calls);
    let handler = Scripted::new("a", move |_| {
        counter.fetch_add(1, Ordering::SeqCst);
        async {
            tokio::time::sleep(Duration::from_millis(500)).await;
            audit()
        }
    });
    let runtime = runtime_with(&store, options, vec![background(handler, |_| {})]);
    for _ in 0..8 {
        run(&runtime).await.unwrap();
    }
    for number in 1..=8 {
        store
            .until(&format!("hkr_{number}"), RunStatus::Succeeded)
            .await;
    }
    assert_eq!(calls.load(Ordering::SeqCst), 8);
}

#[tokio::test(start_paused = true)]
async fn a_queued_run_goes_on_after_a_restart_with_what_it_knew() {
    let handler = Scripted::new("a", |request| {
        assert_eq!(*request.earlier, [policy_contribution("earlier")]);
        std::future::ready(audit())
    });
    let record = restarted(
        left_behind(RunStatus::Queued).await,
        Duration::ZERO,
        background(handler, |_| {}),
        RunStatus::Succeeded,
    )
    .await;
    assert_eq!(record.attempts.len(), 1);
}

#[tokio::test(start_paused = true)]
async fn the_loop_finds_a_run_that_becomes_stale() {
    let store = MemoryStore::new();
    let record = left_behind(RunStatus::Running).await;
    let now_ms = record.queued_at_ms + 60_000;
    store.put(record);
    let handler = Scripted::answers("a", audit()).idempotent();
    let runtime = builder_at(&store, now_ms)
        .install(package(
            "package",
            vec![background(handler, |it| it.retry_policy.max_attempts = 2)],
        ))
        .unwrap()
        .build();
    assert_eq!(runtime.recover().await.unwrap(), 0);
    let start = Instant::now();
    let record = store.until("hkr_left", RunStatus::Succeeded).await;
    assert_eq!(start.elapsed().as_secs(), 62);
    assert_eq!(record.attempts[0].status, RunStatus::TimedOut);
    assert_eq!(record.attempts[1].status, RunStatus::Succeeded);
}

#[tokio::test(start_paused = true)]
async fn a_lost_try_is_repeated_only_where_a_retry_is_allowed() {
    let record = restarted(
        left_behind(RunStatus::Running).await,
        Duration::from_secs(121),
        background(Scripted::answers("a", audit()), |_| {}),
        RunStatus::TimedOut,
    )
    .await;
    assert_eq!(record.error.unwrap().code, "hook.interrupted");
    assert_eq!(record.attempts.len(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_run_of_another_contract_is_not_resumed() {
    let handler = Scripted::answers("a", audit()).contract_version(2);
    let record = restarted(
        left_behind(RunStatus::Queued).await,
        Duration::ZERO,
        background(handler, |_| {}),
        RunStatus::Failed,
    )
    .await;
    assert_eq!(record.error.unwrap().code, "hook.unrecoverable");
}

#[tokio::test(start_paused = true)]
async fn a_run_whose_handler_is_gone_is_not_resumed() {
    let record = restarted(
        left_behind(RunStatus::Queued).await,
        Duration::ZERO,
        background(Scripted::answers("b", audit()), |_| {}),
        RunStatus::Failed,
    )
    .await;
    assert_eq!(record.error.unwrap().code, "hook.unrecoverable");
}

#[tokio::test(start_paused = true)]
async fn a_run_this_process_works_on_is_not_taken_up_twice() {
    let store = MemoryStore::new();
    let gate = Arc::new(Semaphore::new(0));
    let calls = Arc::new(AtomicU32::new(0));
    let (opened, counter) = (Arc::clone(&gate), Arc::clone(&calls));
    let handler = Scripted::new("a", move |_| {
        counter.fetch_add(1, Ordering::SeqCst);
        let opened = Arc::clone(&opened);
        async move {
            let _permit = opened.acquire().await;
            audit()
        }
    });
    let runtime = runtime(
        &store,
        vec![background(handler, |it| {
            it.execution_policy.timeout_ms = Some(1_000_000);
        })],
    );
    run(&runtime).await.unwrap();
    store.until("hkr_1", RunStatus::Running).await;
    // The run counts as stale by now.
    tokio::time::advance(Duration::from_secs(200)).await;
    assert_eq!(runtime.recover().await.unwrap(), 0);
    gate.add_permits(1);
    store.until("hkr_1", RunStatus::Succeeded).await;
    assert_eq!(calls.load(Ordering::SeqCst), 1);
}

#[tokio::test(start_paused = true)]
async fn the_background_ends_with_the_last_clone() {
    let store = MemoryStore::new();
    let handler = Scripted::answers("a", Err(retryable())).idempotent();
    let runtime = runtime(
        &store,
        vec![background(handler, |it| {
            it.retry_policy.max_attempts = 1000;
            it.retry_policy.backoff = Backoff::Fixed;
            it.retry_policy.initial_delay_ms = Some(3_600_000);
        })],
    );
    run(&runtime).await.unwrap();
    let waits_for_its_next_try =
        |run: &RunRecord| run.status == RunStatus::Queued && run.attempts.len() == 1;
    store.until_it("hkr_1", waits_for_its_next_try).await;
    let clone = runtime.clone();
    drop(runtime);
    run(&clone).await.unwrap();
    store.until_it("hkr_2", waits_for_its_next_try).await;

    drop(clone);
    // Every task of the runtime holds a reference to the store.
    for _ in 0..1000 {
        tokio::task::yield_now().await;
    }
    assert_eq!(Arc::strong_count(&store), 1);
    // A run that waits for its next attempt is left to the next process.
    assert!(store.runs().iter().all(waits_for_its_next_try));
}
