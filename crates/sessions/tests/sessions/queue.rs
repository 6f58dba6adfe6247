//! Tests of the queue: limits, cool-downs, reasons to wait.

use std::{fs, sync::Arc};

use company::{Companies, document::Team, execution::run, org::NewAgent};
use protocol::{
    Id as _,
    company::{
        AgentId, AgentRole, RunId, RunStatus, TeamId,
        session::{
            CompanySessionLaunchState, CompanySessionListParams, CompanySessionQueueReasonCode,
        },
    },
};
use sessions::{Options, Sessions, lanes::Limits};

use crate::fixture::{Fixture, MAY, one_at_a_time, plant, program, text};

#[tokio::test]
async fn a_place_is_held_until_the_session_ends() {
    let fixture = Fixture::with(one_at_a_time());
    let (_, first) = fixture.launch(&["/bin/sleep", "1000"]).await;
    let (_, second) = fixture.launch(&["/bin/sh", "-c", "echo second"]).await;
    let (third_run, third) = fixture.launch(&["/bin/sh", "-c", "echo third"]).await;
    assert_eq!(
        (second.state, second.queue_position),
        (CompanySessionLaunchState::Queued, Some(1))
    );
    assert_eq!(third.queue_position, Some(2));
    let rows = fixture
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
    fixture.stop(&third.session_ref).await;
    let stopped = fixture.collect(&third.session_ref).await;
    assert_eq!(stopped.state.status, RunStatus::Stopped);
    assert!(
        !fixture
            .types(&third_run)
            .contains(&"run.executing".to_owned())
    );
    assert_eq!(fixture.document(&third_run).status, RunStatus::Stopped);
    fixture.stop(&first.session_ref).await;
    let ended = fixture.collect(&second.session_ref).await;
    assert_eq!(ended.state.status, RunStatus::Ended);
}

#[tokio::test]
async fn waiting_has_a_limit_if_one_is_given() {
    let fixture = Fixture::with(one_at_a_time());
    let (_, first) = fixture.launch(&["/bin/sleep", "1000"]).await;
    let run = fixture.run_of("cmd");
    let mut params = fixture.params(&run, &["/bin/true"]);
    params.queue_timeout_ms = Some(50);
    let second = fixture.sessions.launch(params, MAY).await.unwrap();
    let ended = fixture.collect(&second.session_ref).await;
    assert_eq!(ended.state.status, RunStatus::Failed);
    fixture.stop(&first.session_ref).await;
    fixture.sessions.settle().await;
}

#[tokio::test]
async fn a_provider_that_was_asked_too_often_rests_also_after_a_restart() {
    let fixture = Fixture::open();
    let script = r#"echo '{"type":"thread.started","thread_id":"t1"}'
echo '{"type":"turn.failed","error":{"message":"exceeded retry limit, last status: 429 Too Many Requests"}}'
exit 1"#;
    let bin = program(fixture.company.root().parent().unwrap(), "codex", script);
    let run = fixture.run_of("codex");
    let mut params = fixture.params(&run, &[&bin]);
    params.apply_guard = Some(false);
    let launched = fixture.sessions.launch(params, MAY).await.unwrap();
    let ended = fixture.collect(&launched.session_ref).await;
    assert_eq!(ended.state.status, RunStatus::Failed);
    assert_eq!(
        fixture.events(&run).pop().unwrap()["payload"]["error_class"],
        "rate_limited"
    );
    let lanes = fixture.company.path(".local/lanes.json");
    // The session leaves the lane only after the cool-down is saved.
    let other = fixture.run_of("codex");
    let explain = |fixture: &Fixture, sessions: &Sessions| {
        let mut params = fixture.params(&other, &["/bin/true"]);
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
    let lane = explain(&fixture, &fixture.sessions).await;
    assert_eq!(lane.queue_position, Some(1));
    let companies = Companies::new(
        fixture.company.sources().clone(),
        company::Trust::everywhere(),
        Arc::new(|_, _| {}),
    );
    let later = Sessions::new(companies, Options::default());
    assert!(explain(&fixture, &later).await.cooldown_until.is_some());
}

#[tokio::test]
async fn a_queued_session_says_which_limit_it_waits_for_by_name() {
    let fixture = Fixture::with(Options {
        limits: Limits {
            workspace: 9,
            provider: 2,
            team: 1,
        },
        ..Options::default()
    });
    let team = TeamId::parse("team_platform").unwrap();
    let agents = ["agent_ada", "agent_grace"].map(|id| AgentId::parse(id).unwrap());
    let made = fixture.company.write(|writer| {
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
        let params = fixture.params(&run, &["/bin/sleep", "1000"]);
        fixture.sessions.launch(params, MAY)
    };
    let run_by = |agent: &AgentId, provider| {
        let made = run::create(&fixture.company, &fixture.project, agent, provider);
        made.unwrap().run_id
    };
    let first = launch(run_by(&agents[0], "other")).await.unwrap();
    assert_eq!(first.queue_reason, None);
    let second = launch(run_by(&agents[1], "other")).await.unwrap();
    let state = fixture
        .sessions
        .poll(
            Some(fixture.company.given()),
            &second.session_ref,
            Some(MAY),
        )
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
    let free = fixture.run_of("cmd");
    let free = launch(free).await.unwrap();
    assert_eq!(free.state, CompanySessionLaunchState::Running);
    let free = launch(fixture.run_of("cmd")).await.unwrap();
    assert_eq!(free.state, CompanySessionLaunchState::Running);
    let third = launch(fixture.run_of("cmd")).await.unwrap();
    let rows = fixture
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
    fixture.sessions.close().await;
}

#[tokio::test]
async fn a_session_that_waits_for_a_cool_down_says_until_when_and_starts_when_it_is_cleared() {
    let fixture = Fixture::open();
    let lanes = fixture.company.path(".local/lanes.json");
    let until = "2999-01-01T00:00:00.000Z";
    let until_ms = until.parse::<jiff::Timestamp>().unwrap().as_millisecond();
    let saved = serde_json::json!({"schema_version": 1, "cooldowns": {
        "cmd": {"until_ms": until_ms, "level": 2, "reason": "rate_limit:try again later."},
    }});
    plant(&lanes, &saved.to_string());
    let (run, launched) = fixture.launch(&["/bin/sh", "-c", "echo hello"]).await;
    assert_eq!(launched.state, CompanySessionLaunchState::Queued);
    let reason = launched.queue_reason.unwrap();
    assert_eq!(reason.reason_code, CompanySessionQueueReasonCode::Cooldown);
    assert_eq!(reason.until.as_deref(), Some(until));
    assert_eq!(
        reason.reason,
        "provider `cmd` cools down because it reported a rate limit: try again later"
    );

    let given = fixture.company.given();
    let listed = fixture.sessions.cooldowns(given).await.unwrap();
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
    let other = fixture.sessions.clear_cooldowns(given, Some("codex")).await;
    assert_eq!(other.unwrap(), []);
    let cleared = fixture.sessions.clear_cooldowns(given, None).await.unwrap();
    assert_eq!(cleared, listed);
    let ended = fixture.collect(&launched.session_ref).await;
    assert_eq!(ended.state.status, RunStatus::Ended);
    assert_eq!(fixture.output(&run, "stdout.txt"), b"hello\n");
    assert_eq!(fixture.sessions.cooldowns(given).await.unwrap(), []);
    assert!(!fs::read_to_string(lanes).unwrap().contains("cmd"));
}
