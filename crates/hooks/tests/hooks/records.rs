//! Run records: their content, redaction and visibility.

use std::{
    collections::BTreeMap,
    sync::{Arc, atomic::Ordering},
    time::Duration,
};

use hooks::{
    Actor, BackgroundOptions, Contribution, Diagnostic, FailurePolicy, HookContext, HookResponse,
    REDACTED_DIAGNOSTIC, RunStatus, RuntimeOptions, Severity,
};

use crate::support::{
    MemoryStore, PHASE, Scripted, brings, context, error, hook, policy, policy_contribution, run,
    runtime, runtime_with, set,
};

fn remark(message: &str, safe_for_user: bool) -> Diagnostic {
    Diagnostic {
        code: "test.remark".to_owned(),
        message: message.to_owned(),
        severity: Severity::Info,
        safe_for_user,
        metadata: [("path".to_owned(), "/home".to_owned())].into(),
    }
}

async fn remarks(diagnostics: Vec<Diagnostic>) -> Vec<Diagnostic> {
    let response = HookResponse {
        contributions: Vec::new(),
        diagnostics,
    };
    let runtime = runtime(
        &MemoryStore::new(),
        vec![hook(Scripted::answers("a", Ok(response)), |_| {})],
    );
    let outcome = run(&runtime).await.expect("the phase succeeds");
    let recorded = outcome.runs[0].diagnostics.clone();
    let told: Vec<_> = outcome.diagnostics.into_iter().map(|(_, it)| it).collect();
    assert_eq!(told, recorded);
    told
}

async fn key_of(context: HookContext, earlier: Vec<Contribution>) -> String {
    let runtime = runtime(
        &MemoryStore::new(),
        vec![hook(Scripted::answers("a", policy("a")), |_| {})],
    );
    let outcome = runtime
        .run_phase(PHASE, context, Arc::new(earlier))
        .await
        .expect("the phase succeeds");
    outcome.runs[0].idempotency_key.clone()
}

#[tokio::test(start_paused = true)]
async fn a_run_is_stored_as_the_outcome_tells_it() {
    let store = MemoryStore::new();
    let runtime = runtime(
        &store,
        vec![hook(Scripted::answers("a", policy("a")), |_| {})],
    );
    let outcome = run(&runtime).await.unwrap();
    runtime.flush().await;
    assert_eq!(store.runs(), outcome.runs);
    let record = &outcome.runs[0];
    assert_eq!(record.id, "hkr_1");
    assert_eq!(record.status, RunStatus::Succeeded);
    assert_eq!(record.attempts.len(), 1);
    assert_eq!(record.queued_at_ms, 1_000_000);
    assert_eq!(record.context, context());
    assert_eq!(
        record.contribution_hashes,
        [policy_contribution("a").hash()]
    );
    assert_eq!(outcome.contributions[0].hash, record.contribution_hashes[0]);
}

#[tokio::test(start_paused = true)]
async fn a_failed_phase_stores_the_failure_and_what_it_did_not_get_to() {
    let store = MemoryStore::new();
    let runtime = runtime(
        &store,
        vec![
            hook(Scripted::answers("a", Err(error("no luck"))), |it| {
                it.failure_policy = FailurePolicy::Required;
            }),
            hook(Scripted::answers("b", policy("b")), |_| {}),
            hook(Scripted::answers("c", policy("c")), |it| {
                it.dependencies.after = set(&["a"]);
            }),
        ],
    );
    run(&runtime).await.unwrap_err();
    runtime.flush().await;
    let statuses: Vec<_> = store.runs().iter().map(|run| run.status).collect();
    assert_eq!(
        statuses,
        [RunStatus::Failed, RunStatus::Succeeded, RunStatus::Skipped]
    );
}

#[tokio::test(start_paused = true)]
async fn a_run_whose_turn_is_given_up_is_stored_as_abandoned() {
    let store = MemoryStore::new();
    let runtime = runtime(
        &store,
        vec![hook(
            Scripted::takes("a", Duration::from_secs(1), policy("a")),
            |_| {},
        )],
    );
    tokio::time::timeout(Duration::from_millis(10), run(&runtime))
        .await
        .unwrap_err();
    runtime.flush().await;
    let record = store.runs().remove(0);
    assert_eq!(record.status, RunStatus::Failed);
    assert_eq!(record.error.unwrap().code, "hook.abandoned");
}

#[tokio::test(start_paused = true)]
async fn a_broken_store_does_not_fail_the_phase() {
    let store = MemoryStore::new();
    store.is_broken.store(true, Ordering::SeqCst);
    let runtime = runtime(
        &store,
        vec![hook(Scripted::answers("a", policy("a")), |_| {})],
    );
    run(&runtime).await.unwrap();
    runtime.flush().await;
    assert_eq!(runtime.stats().records_dropped, 1);
}

#[tokio::test(start_paused = true)]
async fn a_stuck_store_does_not_slow_the_phase() {
    let store = MemoryStore::new();
    store.is_stuck.store(true, Ordering::SeqCst);
    let options = RuntimeOptions {
        background: BackgroundOptions {
            record_capacity: 2,
            ..BackgroundOptions::default()
        },
        ..RuntimeOptions::default()
    };
    let runtime = runtime_with(
        &store,
        options,
        vec![hook(Scripted::answers("a", policy("a")), |_| {})],
    );
    for _ in 0..10 {
        run(&runtime).await.unwrap();
    }
    assert!(runtime.stats().records_dropped >= 7);
}

#[tokio::test(start_paused = true)]
async fn a_remark_that_is_not_for_users_is_replaced() {
    let seen = remarks(vec![remark("token is abc", false)]).await;
    assert_eq!(seen[0].message, REDACTED_DIAGNOSTIC);
    assert_eq!(seen[0].code, "test.remark");
    assert_eq!(seen[0].metadata, BTreeMap::new());
}

#[tokio::test(start_paused = true)]
async fn a_long_remark_is_cut_at_512_characters() {
    let seen = remarks(vec![
        remark(&"ö".repeat(512), true),
        remark(&"ö".repeat(513), true),
    ])
    .await;
    assert_eq!(seen[0].message, "ö".repeat(512));
    assert_eq!(seen[1].message, format!("{}...", "ö".repeat(509)));
    assert_eq!(seen[0].metadata, BTreeMap::new());
}

#[tokio::test(start_paused = true)]
async fn a_manifest_remark_that_is_not_for_users_is_replaced() {
    let remark = |message: &str| Contribution::PromptManifestDiagnostic {
        code: "test.remark".to_owned(),
        message: message.to_owned(),
        severity: Severity::Info,
        safe_for_user: false,
    };
    let runtime = runtime(
        &MemoryStore::new(),
        vec![hook(
            Scripted::answers("a", brings(vec![remark("token is abc")])),
            |_| {},
        )],
    );
    let outcome = run(&runtime).await.unwrap();
    let expected = remark(REDACTED_DIAGNOSTIC);
    assert_eq!(outcome.contributions[0].hash, expected.hash());
    assert_eq!(outcome.contributions[0].contribution, expected);
}

#[tokio::test(start_paused = true)]
async fn the_same_work_has_the_same_key() {
    let key = key_of(context(), Vec::new()).await;
    let later = HookContext {
        now_unix: 99,
        ..context()
    };
    assert_eq!(key_of(later, Vec::new()).await, key);
    // Stored keys must stay valid, so the segments and their order are fixed.
    assert_eq!(
        key,
        "sha256:3d07fd0467c015125f6c4332bdddd72799075de915dcae321517f001a5822907"
    );
}

#[tokio::test(start_paused = true)]
async fn other_work_has_another_key() {
    let some = |text: &str| Some(text.to_owned());
    let mut keys = vec![
        key_of(context(), Vec::new()).await,
        key_of(context(), vec![policy_contribution("a")]).await,
    ];
    let others = [
        HookContext {
            turn_id: some("turn_2"),
            ..context()
        },
        HookContext {
            turn_id: None,
            task_id: some("turn_1"),
            ..context()
        },
        HookContext {
            turn_id: None,
            ..context()
        },
        HookContext {
            mode: some("agent"),
            ..context()
        },
        HookContext {
            actor: Some(Actor {
                kind: "user".to_owned(),
                id: None,
            }),
            ..context()
        },
    ];
    for other in others {
        keys.push(key_of(other, Vec::new()).await);
    }
    let count = keys.len();
    keys.sort();
    keys.dedup();
    assert_eq!(keys.len(), count);
}
