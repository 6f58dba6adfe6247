//! Tests of budgets.

use company::layout;
use protocol::company::{Budget, RunStatus, session::CompanySessionBudgetEnforcement};

use crate::fixture::{Fixture, MAY, plant};

#[tokio::test]
async fn spending_too_much_ends_a_session_that_is_watched() {
    let fixture = Fixture::open();
    let run = fixture.run_of("cmd");
    let script = "echo '{\"usage\":{\"total_tokens\":50}}'; echo '{\"usage\":{\"total_tokens\":5000}}'; sleep 1000";
    let mut params = fixture.params(&run, &["/bin/sh", "-c", script]);
    params.budget = Some(Budget {
        hard_tokens: Some(1000),
        ..Budget::default()
    });
    params.budget_enforcement = Some(CompanySessionBudgetEnforcement::Live);
    let launched = fixture.sessions.launch(params, MAY).await.unwrap();
    let ended = fixture.collect(&launched.session_ref).await;
    assert_eq!(ended.state.status, RunStatus::Failed);
    let events = fixture.events(&run);
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
    let fixture = Fixture::open();
    let path = format!("{}/project.yaml", layout::project(&fixture.project));
    let project = fixture.company.read_text(&path).unwrap();
    plant(
        &fixture.company.path(&path),
        &format!("{project}budget:\n  hard_tokens: 1000\n"),
    );
    let budget = Some(Budget {
        hard_tokens: Some(800),
        ..Budget::default()
    });
    let (first, second, third) = (
        fixture.run_of("cmd"),
        fixture.run_of("cmd"),
        fixture.run_of("cmd"),
    );
    let mut params = fixture.params(&first, &["/bin/sleep", "1000"]);
    params.budget.clone_from(&budget);
    let launched = fixture.sessions.launch(params, MAY).await.unwrap();
    let mut params = fixture.params(&second, &["/bin/true"]);
    params.budget = Some(Budget {
        hard_tokens: Some(10),
        ..Budget::default()
    });
    // 800 of 1000 tokens are reserved, so the budget is not exceeded.
    let passed = fixture.sessions.launch(params, MAY).await.unwrap();
    fixture.collect(&passed.session_ref).await;
    let fourth = fixture.run_of("cmd");
    let mut params = fixture.params(&fourth, &["/bin/sleep", "1000"]);
    params.budget = budget;
    let other = fixture.sessions.launch(params, MAY).await.unwrap();
    let refused = fixture
        .sessions
        .launch(fixture.params(&third, &["/bin/true"]), MAY)
        .await
        .unwrap_err();
    assert!(
        refused
            .to_string()
            .contains("project.tokens.hard: actual=1600 threshold=1000"),
        "{refused}"
    );
    assert_eq!(fixture.document(&third).status, RunStatus::Failed);
    for session_ref in [&launched.session_ref, &other.session_ref] {
        fixture.stop(session_ref).await;
        fixture.collect(session_ref).await;
    }
}
