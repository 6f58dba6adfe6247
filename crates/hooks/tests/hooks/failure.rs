//! The effects of failures: failure policies, retries and deadlines.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
    },
    time::Duration,
};

use hooks::{
    AwaitPolicy, Backoff, Capability, FailurePolicy, HookError, PhaseError, REDACTED_ERROR,
    RunStatus, Severity, Subscription,
};
use tokio::time::Instant;

use crate::support::{
    MemoryStore, Scripted, error, hook, keys, policy, policy_contribution, retryable, run, runtime,
    set,
};

fn failing(policy: FailurePolicy) -> hooks::Definition {
    hook(Scripted::answers("a", Err(error("no luck"))), |it| {
        it.failure_policy = policy;
    })
}

#[tokio::test(start_paused = true)]
async fn a_required_hook_fails_the_phase_with_its_message() {
    let runtime = runtime(&MemoryStore::new(), vec![failing(FailurePolicy::Required)]);
    let failure = run(&runtime).await.unwrap_err();
    assert_eq!(failure.to_string(), "no luck");
    assert_eq!(
        failure,
        PhaseError::Required {
            hook_id: "a".to_owned(),
            subscription_id: "a".to_owned(),
            error: error("no luck"),
        }
    );
}

#[tokio::test(start_paused = true)]
async fn a_fail_closed_hook_fails_the_phase_in_its_own_class() {
    let runtime = runtime(
        &MemoryStore::new(),
        vec![failing(FailurePolicy::FailClosed)],
    );
    assert_eq!(
        run(&runtime).await.unwrap_err(),
        PhaseError::FailClosed {
            hook_id: "a".to_owned(),
            subscription_id: "a".to_owned(),
            error: error("no luck"),
        }
    );
}

#[tokio::test(start_paused = true)]
async fn a_message_that_is_not_for_users_is_replaced() {
    let secret = HookError {
        safe_for_user: false,
        ..error("password is hunter2")
    };
    let store = MemoryStore::new();
    let runtime = runtime(
        &store,
        vec![hook(Scripted::answers("a", Err(secret)), |it| {
            it.failure_policy = FailurePolicy::Required;
        })],
    );
    assert_eq!(run(&runtime).await.unwrap_err().to_string(), REDACTED_ERROR);
    runtime.flush().await;
    let stored = store.runs().remove(0).error.unwrap();
    assert_eq!(stored.message, REDACTED_ERROR);
}

#[tokio::test(start_paused = true)]
async fn a_fallback_stands_in_for_a_failed_hook() {
    let runtime = runtime(
        &MemoryStore::new(),
        vec![hook(Scripted::answers("a", Err(error("no luck"))), |it| {
            it.failure_policy = FailurePolicy::Fallback;
            it.fallback_contributions = vec![policy_contribution("instead")];
        })],
    );
    let outcome = run(&runtime).await.unwrap();
    assert_eq!(keys(&outcome), ["instead"]);
    assert_eq!(outcome.runs[0].status, RunStatus::Failed);
    assert_eq!(outcome.diagnostics, []);
}

#[tokio::test(start_paused = true)]
async fn a_fallback_without_contributions_is_a_mistake() {
    let runtime = runtime(&MemoryStore::new(), vec![failing(FailurePolicy::Fallback)]);
    let failure = run(&runtime).await.unwrap_err();
    assert!(matches!(failure, PhaseError::Configuration { .. }));
    assert_eq!(
        failure.to_string(),
        "subscription `a` has the failure policy `fallback` but no fallback contributions"
    );
}

#[tokio::test(start_paused = true)]
async fn a_best_effort_failure_is_one_warning() {
    let runtime = runtime(
        &MemoryStore::new(),
        vec![
            failing(FailurePolicy::BestEffort),
            hook(Scripted::answers("b", policy("b")), |it| {
                it.dependencies.after = set(&["a"]);
            }),
        ],
    );
    let outcome = run(&runtime).await.unwrap();
    assert_eq!(keys(&outcome), ["b"]);
    assert_eq!(outcome.runs[0].status, RunStatus::Failed);
    let [(subscription_id, warning)] = outcome.diagnostics.as_slice() else {
        panic!("not one: {:?}", outcome.diagnostics);
    };
    assert_eq!(subscription_id, "a");
    assert_eq!(warning.code, "hook.best_effort_failed");
    assert_eq!(warning.message, "no luck");
    assert_eq!(warning.severity, Severity::Warning);
}

#[tokio::test(start_paused = true)]
async fn a_skipped_failure_is_not_mentioned() {
    let runtime = runtime(&MemoryStore::new(), vec![failing(FailurePolicy::Skip)]);
    let outcome = run(&runtime).await.unwrap();
    assert_eq!(outcome.runs[0].status, RunStatus::Failed);
    assert_eq!(outcome.diagnostics, []);
    assert_eq!(outcome.contributions, []);
}

#[tokio::test(start_paused = true)]
async fn a_hook_whose_failure_is_skipped_still_contributes() {
    let runtime = runtime(
        &MemoryStore::new(),
        vec![hook(Scripted::answers("a", policy("a")), |it| {
            it.failure_policy = FailurePolicy::Skip;
        })],
    );
    assert_eq!(keys(&run(&runtime).await.unwrap()), ["a"]);
}

#[tokio::test(start_paused = true)]
async fn a_late_best_effort_hook_is_timed_out_and_the_phase_goes_on() {
    let runtime = runtime(
        &MemoryStore::new(),
        vec![hook(
            Scripted::takes("a", Duration::from_secs(2), policy("a")),
            |_| {},
        )],
    );
    let start = Instant::now();
    let outcome = run(&runtime).await.unwrap();
    assert_eq!(start.elapsed().as_millis(), 1000);
    let record = &outcome.runs[0];
    assert_eq!(record.status, RunStatus::TimedOut);
    assert_eq!(record.attempts[0].status, RunStatus::TimedOut);
    assert_eq!(record.attempts[0].duration_ms, 1000);
    assert_eq!(record.deadline_at_ms, record.completed_at_ms);
    assert_eq!(record.error.as_ref().unwrap().code, "hook.timed_out");
    assert_eq!(
        outcome.diagnostics[0].1.message,
        "hook `a` did not answer within 1000 ms"
    );
}

#[tokio::test(start_paused = true)]
async fn a_deadline_without_a_time_is_the_default_one() {
    let runtime = runtime(
        &MemoryStore::new(),
        vec![hook(
            Scripted::takes("a", Duration::from_secs(60), policy("a")),
            |it| it.execution_policy.timeout_ms = None,
        )],
    );
    let start = Instant::now();
    run(&runtime).await.unwrap();
    assert_eq!(start.elapsed().as_millis(), 1000);
}

#[tokio::test(start_paused = true)]
async fn a_blocking_hook_may_take_longer_than_a_deadline() {
    let runtime = runtime(
        &MemoryStore::new(),
        vec![hook(
            Scripted::takes("a", Duration::from_secs(9), policy("a")),
            |it| it.execution_policy.await_policy = AwaitPolicy::Blocking,
        )],
    );
    assert_eq!(keys(&run(&runtime).await.unwrap()), ["a"]);
}

#[tokio::test(start_paused = true)]
async fn a_blocking_hook_is_timed_out_at_the_ceiling() {
    let runtime = runtime(
        &MemoryStore::new(),
        vec![hook(
            Scripted::takes("a", Duration::from_secs(60), policy("a")),
            |it| {
                it.execution_policy.await_policy = AwaitPolicy::Blocking;
                it.failure_policy = FailurePolicy::FailClosed;
            },
        )],
    );
    let start = Instant::now();
    let failure = run(&runtime).await.unwrap_err();
    assert_eq!(start.elapsed().as_secs(), 10);
    assert_eq!(
        failure.to_string(),
        "hook `a` did not answer within 10000 ms"
    );
}

#[tokio::test(start_paused = true)]
async fn a_panic_is_a_failure_of_the_hook_alone() {
    let runtime = runtime(
        &MemoryStore::new(),
        vec![
            hook(
                Scripted::new("a", |_| -> std::future::Ready<_> { panic!("at once") }),
                |_| {},
            ),
            hook(
                Scripted::new("b", |_| async {
                    tokio::task::yield_now().await;
                    panic!("later")
                }),
                |_| {},
            ),
            hook(Scripted::answers("c", policy("c")), |_| {}),
        ],
    );
    let outcome = run(&runtime).await.unwrap();
    assert_eq!(keys(&outcome), ["c"]);
    for record in &outcome.runs[..2] {
        assert_eq!(record.status, RunStatus::Failed);
        assert_eq!(record.error.as_ref().unwrap().code, "hook.panicked");
    }
}

#[tokio::test(start_paused = true)]
async fn a_contribution_without_its_capability_fails_the_run() {
    let runtime = runtime(
        &MemoryStore::new(),
        vec![hook(
            Scripted::answers("a", policy("a")).capabilities(&[Capability::EmitAudit]),
            |_| {},
        )],
    );
    let outcome = run(&runtime).await.unwrap();
    assert_eq!(outcome.contributions, []);
    let record = &outcome.runs[0];
    assert_eq!(record.status, RunStatus::Failed);
    assert_eq!(
        record.error.as_ref().unwrap().code,
        "hook.capability_missing"
    );
}

/// Runs a hook that fails twice with a retryable error and returns the number of calls.
async fn tries(is_idempotent: bool, change: impl FnOnce(&mut Subscription)) -> u32 {
    let calls = Arc::new(AtomicU32::new(0));
    let counter = Arc::clone(&calls);
    let mut handler = Scripted::new("a", move |request| {
        let call = counter.fetch_add(1, Ordering::SeqCst) + 1;
        assert_eq!(call, request.attempt);
        std::future::ready(if call < 3 {
            Err(retryable())
        } else {
            policy("a")
        })
    });
    if is_idempotent {
        handler = handler.idempotent();
    }
    let runtime = runtime(
        &MemoryStore::new(),
        vec![hook(handler, |it| {
            it.retry_policy.max_attempts = 3;
            it.retry_policy.backoff = Backoff::Exponential;
            it.retry_policy.initial_delay_ms = Some(100);
            change(it);
        })],
    );
    let outcome = run(&runtime).await.expect("best effort");
    let count = calls.load(Ordering::SeqCst);
    let attempts = &outcome.runs[0].attempts;
    assert_eq!(attempts.len(), usize::try_from(count).expect("few"));
    count
}

#[tokio::test(start_paused = true)]
async fn a_run_with_a_deadline_is_tried_again_while_there_is_time() {
    let start = Instant::now();
    assert_eq!(tries(true, |_| {}).await, 3);
    assert_eq!(start.elapsed().as_millis(), 300);
    // The second delay would end after the deadline.
    assert_eq!(
        tries(true, |it| it.execution_policy.timeout_ms = Some(250)).await,
        2
    );
}

#[tokio::test(start_paused = true)]
async fn only_what_may_be_repeated_is_tried_again() {
    assert_eq!(tries(false, |_| {}).await, 1);
    let marked = |it: &mut Subscription| {
        it.metadata
            .insert("idempotent".to_owned(), "true".to_owned());
    };
    assert_eq!(tries(false, marked).await, 3);
    let careless = |it: &mut Subscription| it.retry_policy.idempotency_required = false;
    assert_eq!(tries(false, careless).await, 3);
}

#[tokio::test(start_paused = true)]
async fn a_blocking_run_is_not_tried_again() {
    let blocking = |it: &mut Subscription| {
        it.execution_policy.await_policy = AwaitPolicy::Blocking;
    };
    assert_eq!(tries(true, blocking).await, 1);
}

#[tokio::test(start_paused = true)]
async fn what_cannot_be_mended_is_not_tried_again() {
    let runtime = runtime(
        &MemoryStore::new(),
        vec![hook(
            Scripted::answers("a", Err(error("no luck"))).idempotent(),
            |it| it.retry_policy.max_attempts = 3,
        )],
    );
    assert_eq!(run(&runtime).await.unwrap().runs[0].attempts.len(), 1);
}
