//! Validation of packages at installation.

use hooks::{Definition, Phase, RegistrationError, Subscription};

use crate::support::{
    MemoryStore, PHASE, Scripted, builder, definition, hook, keys, package, policy, run,
    subscription,
};

fn sound(id: &str) -> Definition {
    hook(Scripted::answers(id, policy(id)), |_| {})
}

/// Installs package `first` with hook `a`, then a package `second` with the given definitions.
fn check(definitions: Vec<Definition>, expected: &RegistrationError, message: &str) {
    let error = builder(&MemoryStore::new())
        .install(package("first", vec![sound("a")]))
        .and_then(|builder| builder.install(package("second", definitions)))
        .map(|_| ())
        .expect_err("it is refused");
    assert_eq!(&error, expected);
    assert_eq!(error.to_string(), message);
}

#[test]
fn a_package_is_installed_once() {
    let error = builder(&MemoryStore::new())
        .install(package("first", vec![]))
        .and_then(|builder| builder.install(package("first", vec![])))
        .map(|_| ())
        .unwrap_err();
    assert_eq!(
        error,
        RegistrationError::DuplicatePackage {
            package_id: "first".to_owned()
        }
    );
}

#[test]
fn two_handlers_cannot_share_an_id() {
    let expected = RegistrationError::DuplicateHandler {
        hook_id: "a".to_owned(),
    };
    check(
        vec![definition(Scripted::answers("a", policy("a")), vec![])],
        &expected,
        "handler `a` is already installed",
    );
}

#[test]
fn two_handlers_of_one_package_cannot_share_an_id() {
    let expected = RegistrationError::DuplicateHandler {
        hook_id: "b".to_owned(),
    };
    let handler = || definition(Scripted::answers("b", policy("b")), vec![]);
    check(
        vec![handler(), handler()],
        &expected,
        "handler `b` is already installed",
    );
}

#[test]
fn two_subscriptions_cannot_share_an_id() {
    let expected = RegistrationError::DuplicateSubscription {
        subscription_id: "a".to_owned(),
    };
    check(
        vec![definition(
            Scripted::answers("b", policy("b")),
            vec![subscription("a", "b", |_| {})],
        )],
        &expected,
        "subscription `a` is already installed",
    );
}

#[test]
fn a_handler_has_phases() {
    let expected = RegistrationError::NoPhases {
        hook_id: "b".to_owned(),
    };
    check(
        vec![definition(
            Scripted::answers("b", policy("b")).phases(&[]),
            vec![],
        )],
        &expected,
        "handler `b` supports no phase",
    );
}

#[test]
fn a_subscription_needs_its_handler() {
    let expected = RegistrationError::MissingHandler {
        subscription_id: "b".to_owned(),
        hook_id: "nobody".to_owned(),
    };
    check(
        vec![definition(
            Scripted::answers("b", policy("b")),
            vec![subscription("b", "nobody", |_| {})],
        )],
        &expected,
        "subscription `b` is for handler `nobody`, which is not installed",
    );
}

#[test]
fn a_subscription_is_for_a_phase_its_handler_supports() {
    let expected = RegistrationError::UnsupportedPhase {
        subscription_id: "b".to_owned(),
        hook_id: "b".to_owned(),
        phase: PHASE,
    };
    check(
        vec![hook(
            Scripted::answers("b", policy("b")).phases(&[Phase::TurnPostTurn]),
            |_| {},
        )],
        &expected,
        "subscription `b` is for phase `turn.pre_prompt_compile`, which handler `b` does not support",
    );
}

#[tokio::test(start_paused = true)]
async fn a_refused_package_leaves_nothing_behind() {
    let store = MemoryStore::new();
    let mut builder = builder(&store);
    let broken = vec![
        sound("a"),
        definition(
            Scripted::answers("b", policy("b")),
            vec![Subscription::new("b", "nobody", PHASE)],
        ),
    ];
    builder
        .try_install(package("one", broken))
        .expect_err("it is refused");
    builder
        .try_install(package("one", vec![sound("b")]))
        .unwrap();
    let outcome = run(&builder.build()).await.unwrap();
    assert_eq!(keys(&outcome), ["b"]);
}
