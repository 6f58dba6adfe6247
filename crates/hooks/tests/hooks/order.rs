//! Selection and order of subscriptions.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex},
    time::Duration,
};

use hooks::{Definition, FilterValue, HookContext, Phase, PhaseError, Runtime, Subscription};
use tokio::time::Instant;

use crate::support::{
    MemoryStore, PHASE, Scripted, context, definition, hook, keys, policy, run, runtime, set,
    subscription,
};

fn plain(id: &str, change: impl FnOnce(&mut Subscription)) -> Definition {
    hook(Scripted::answers(id, policy(id)), change)
}

fn filtered(key: &str, value: FilterValue) -> Runtime {
    runtime(
        &MemoryStore::new(),
        vec![plain("a", |it| {
            it.filters.insert(key.to_owned(), value);
        })],
    )
}

async fn takes_part(runtime: &Runtime, context: HookContext) -> bool {
    let outcome = runtime
        .run_phase(PHASE, context, Arc::default())
        .await
        .expect("the phase succeeds");
    assert_eq!(outcome.runs.len(), outcome.contributions.len());
    !outcome.runs.is_empty()
}

#[tokio::test(start_paused = true)]
async fn lower_priorities_run_first_and_ids_break_ties() {
    let runtime = runtime(
        &MemoryStore::new(),
        vec![
            plain("d", |it| it.priority = -1),
            plain("c", |it| it.priority = 5),
            plain("b", |_| {}),
            plain("a", |_| {}),
        ],
    );
    assert_eq!(keys(&run(&runtime).await.unwrap()), ["d", "a", "b", "c"]);
}

#[tokio::test(start_paused = true)]
async fn only_subscriptions_of_the_phase_run() {
    let runtime = runtime(
        &MemoryStore::new(),
        vec![
            plain("a", |_| {}),
            plain("b", |it| it.phase = Phase::TurnPostTurn),
        ],
    );
    assert_eq!(keys(&run(&runtime).await.unwrap()), ["a"]);
}

#[tokio::test(start_paused = true)]
async fn dependencies_outrank_priorities() {
    let runtime = runtime(
        &MemoryStore::new(),
        vec![
            plain("a", |it| it.dependencies.after = set(&["c"])),
            plain("b", |_| {}),
            plain("c", |it| it.priority = 9),
            plain("d", |it| it.dependencies.before = set(&["b"])),
        ],
    );
    assert_eq!(keys(&run(&runtime).await.unwrap()), ["d", "c", "a", "b"]);
}

#[tokio::test(start_paused = true)]
async fn a_layer_runs_at_once_and_answers_in_order() {
    let slow = |id: &str, seconds, after: &[&str]| {
        let handler = Scripted::takes(id, Duration::from_secs(seconds), policy(id));
        let after = set(after);
        hook(handler, |it| {
            it.execution_policy.timeout_ms = Some(60_000);
            it.dependencies.after = after;
        })
    };
    let runtime = runtime(
        &MemoryStore::new(),
        vec![slow("a", 3, &[]), slow("b", 1, &[]), slow("c", 2, &["a"])],
    );
    let start = Instant::now();
    assert_eq!(keys(&run(&runtime).await.unwrap()), ["a", "b", "c"]);
    assert_eq!(start.elapsed().as_secs(), 5);
}

#[tokio::test(start_paused = true)]
async fn a_cycle_names_its_members_alone() {
    let runtime = runtime(
        &MemoryStore::new(),
        vec![
            plain("first", |_| {}),
            plain("a", |it| it.dependencies.after = set(&["b", "first"])),
            plain("b", |it| it.dependencies.after = set(&["c"])),
            plain("c", |it| it.dependencies.after = set(&["a"])),
            plain("last", |it| it.dependencies.after = set(&["a"])),
        ],
    );
    let error = run(&runtime).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "subscriptions depend on each other in a cycle: `a`, `b`, `c`"
    );
    assert_eq!(
        error,
        PhaseError::Cycle {
            members: vec!["a".to_owned(), "b".to_owned(), "c".to_owned()]
        }
    );
}

#[tokio::test(start_paused = true)]
async fn a_subscription_cannot_wait_for_itself() {
    let runtime = runtime(
        &MemoryStore::new(),
        vec![plain("a", |it| it.dependencies.before = set(&["a"]))],
    );
    assert_eq!(
        run(&runtime).await.unwrap_err(),
        PhaseError::Cycle {
            members: vec!["a".to_owned()]
        }
    );
}

#[tokio::test(start_paused = true)]
async fn a_dependency_of_another_phase_is_missing() {
    let runtime = runtime(
        &MemoryStore::new(),
        vec![
            plain("a", |it| it.dependencies.before = set(&["b"])),
            plain("b", |it| it.phase = Phase::TurnPostTurn),
        ],
    );
    let error = run(&runtime).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "subscription `a` depends on `b`, which is not in phase `turn.pre_prompt_compile`"
    );
}

#[tokio::test(start_paused = true)]
async fn a_dependency_that_does_not_take_part_is_satisfied() {
    let runtime = runtime(
        &MemoryStore::new(),
        vec![
            plain("a", |it| it.dependencies.after = set(&["off", "filtered"])),
            plain("off", |it| it.enabled = false),
            plain("filtered", |it| {
                it.filters
                    .insert("mode".to_owned(), FilterValue::Is("task".to_owned()));
            }),
        ],
    );
    let outcome = run(&runtime).await.unwrap();
    assert_eq!(keys(&outcome), ["a"]);
    assert_eq!(outcome.runs.len(), 1);
}

#[tokio::test(start_paused = true)]
async fn every_known_filter_is_compared_with_the_turn() {
    let turn = HookContext {
        mode: Some("x".to_owned()),
        origin_kind: Some("x".to_owned()),
        model_provider: Some("x".to_owned()),
        workspace_id: Some("x".to_owned()),
        ..HookContext::default()
    };
    for key in ["mode", "origin_kind", "model_provider", "workspace_id"] {
        let fits = filtered(key, FilterValue::Is("x".to_owned()));
        assert!(takes_part(&fits, turn.clone()).await, "{key}");
        assert!(!takes_part(&fits, HookContext::default()).await, "{key}");
        let differs = filtered(key, FilterValue::Is("y".to_owned()));
        assert!(!takes_part(&differs, turn.clone()).await, "{key}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_filter_may_accept_several_values() {
    let fits = filtered("mode", FilterValue::OneOf(set(&["task", "chat"])));
    assert!(takes_part(&fits, context()).await);
    let differs = filtered("mode", FilterValue::OneOf(set(&["task", "agent"])));
    assert!(!takes_part(&differs, context()).await);
}

#[tokio::test(start_paused = true)]
async fn an_unknown_filter_never_fits() {
    let unknown = filtered("moon", FilterValue::OneOf(set(&["full"])));
    assert!(!takes_part(&unknown, context()).await);
}

#[tokio::test(start_paused = true)]
async fn layers_respect_dependencies_of_any_graph() {
    // Edges go from lower to higher numbers only, so the graph has no cycle; names are shuffled independently.
    let mut seed = 7_u64;
    let mut random = |below: u64| {
        seed = seed
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (seed >> 33) % below
    };
    for _ in 0..50 {
        let count = 1 + random(12);
        let name = |number: u64| format!("s{:02}", (number * 7 + 3) % 13);
        let mut edges = Vec::new();
        let mut subscriptions: BTreeMap<u64, Subscription> = (0..count)
            .map(|number| {
                let priority = i32::try_from(random(3)).unwrap();
                let id = name(number);
                (number, subscription(&id, "h", |it| it.priority = priority))
            })
            .collect();
        for later in 0..count {
            for earlier in 0..later {
                let (holder, named) = match random(6) {
                    0 => (later, earlier),
                    1 => (earlier, later),
                    _ => continue,
                };
                let dependencies = &mut subscriptions.get_mut(&holder).unwrap().dependencies;
                if holder == later {
                    dependencies.after.insert(name(named));
                } else {
                    dependencies.before.insert(name(named));
                }
                edges.push((name(earlier), name(later)));
            }
        }
        // Runs take time, so a dependency is visible as an end before a start.
        let handler = Scripted::takes("h", Duration::from_millis(500), policy("h"));
        let runtime = runtime(
            &MemoryStore::new(),
            vec![definition(handler, subscriptions.into_values().collect())],
        );
        let runs = run(&runtime).await.unwrap().runs;
        assert_eq!(runs.len(), usize::try_from(count).unwrap());
        let find = |id: &String| runs.iter().find(|run| &run.subscription_id == id).unwrap();
        for (earlier, later) in edges {
            let ended = find(&earlier).completed_at_ms;
            let started = find(&later).started_at_ms;
            assert!(ended <= started, "{earlier} before {later}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_subscription_has_only_as_many_runs_under_way_as_it_may() {
    let under_way = Arc::new(Mutex::new((0, 0)));
    let counts = Arc::clone(&under_way);
    let handler = Scripted::new("a", move |_| {
        let counts = Arc::clone(&counts);
        async move {
            {
                let mut counts = counts.lock().expect("no holder panics");
                counts.0 += 1;
                counts.1 = counts.1.max(counts.0);
            }
            tokio::time::sleep(Duration::from_millis(400)).await;
            counts.lock().expect("no holder panics").0 -= 1;
            policy("a")
        }
    });
    let runtime = runtime(
        &MemoryStore::new(),
        vec![hook(handler, |it| {
            it.execution_policy.max_parallelism = Some(2);
        })],
    );
    let outcomes = futures_util::future::join_all((0..6).map(|_| run(&runtime))).await;
    assert_eq!(under_way.lock().unwrap().1, 2);
    // Two at a time take 400 ms each, so the last two have 200 ms left: waiting counts against the deadline.
    let brought: usize = outcomes
        .iter()
        .map(|outcome| outcome.as_ref().unwrap().contributions.len())
        .sum();
    assert_eq!(brought, 4);
}
