//! Roles and visibility of tokens in a company folder, and the responses of decisions.

use std::fs;

use rpc::Client;
use serde_json::{Value, json};
use tempfile::TempDir;
use testkit::TestGateway;

/// A gateway, its owner and a company with one project and one run.
struct Fixture {
    running: TestGateway,
    owner: Client,
    folder: TempDir,
    project: String,
    run: Value,
}

impl Fixture {
    async fn new() -> Self {
        let running = testkit::gateway().await;
        let owner = running.client();
        let folder = tempfile::tempdir().expect("the fixture is as it was made");
        let dir = folder
            .path()
            .to_str()
            .expect("the fixture is as it was made");
        let init = json!({"workspace_dir": dir, "company_name": "Acme"});
        owner
            .call_raw("workspace.init", init)
            .await
            .expect("the fixture is as it was made");
        let create = json!({"workspace_dir": dir, "name": "Alpha"});
        let made = owner
            .call_raw("workspace.project.create_with_defaults", create)
            .await;
        let project = made.expect("the fixture is as it was made")["project_id"]
            .as_str()
            .expect("the fixture is as it was made")
            .to_owned();
        let mut fixture = Self {
            running,
            owner,
            folder,
            project,
            run: Value::Null,
        };
        let run = json!({"agent_id": "agent_x", "provider": "cmd"});
        fixture.run = fixture
            .call(&fixture.owner, "run.create", run)
            .await
            .expect("the fixture is as it was made");
        fixture
    }

    /// Calls a method with the folder and the project in the params. Returns the result, or the reason code and data of
    /// the error.
    async fn call(&self, client: &Client, method: &str, mut params: Value) -> Result<Value, Value> {
        params["workspace_dir"] = json!(
            self.folder
                .path()
                .to_str()
                .expect("the fixture is as it was made")
        );
        params["project_id"] = json!(self.project);
        match client.call_raw(method, params).await {
            Ok(answer) => Ok(answer),
            Err(rpc::client::Error::Rpc { data, .. }) => Err(data),
            Err(error) => panic!("{error}"),
        }
    }

    async fn propose(&self) -> String {
        let delta = json!({
            "title": "Use port 8080", "scope_kind": "project_memory", "sensitivity": "internal",
            "rationale": "Agreed", "under_heading": "## Decisions", "insert_lines": ["- port 8080"],
            "visibility": "managers", "produced_by": "agent_x", "run_id": self.run["run_id"],
            "context_pack_id": self.run["context_pack_id"], "evidence": ["art_e"],
        });
        let proposed = self
            .call(&self.owner, "memory.propose_delta", delta)
            .await
            .expect("the fixture is as it was made");
        proposed["artifact_id"]
            .as_str()
            .expect("the fixture is as it was made")
            .to_owned()
    }
}

fn reason(answer: &Result<Value, Value>) -> &str {
    match answer {
        Ok(_) => "answered",
        Err(data) => data["reason_code"].as_str().unwrap_or_default(),
    }
}

#[tokio::test]
async fn a_decision_is_answered_although_the_snapshot_after_it_fails() {
    let fixture = Fixture::new().await;
    let id = fixture.propose().await;
    // The index cannot be built if its lock cannot be opened, so only the snapshot fails.
    let local = fixture.folder.path().join(".local");
    for name in ["index.sqlite", "index.sqlite.lock"] {
        let _ = fs::remove_file(local.join(name));
    }
    fs::create_dir_all(local.join("index.sqlite.lock")).expect("the fixture is as it was made");
    let params = json!({
        "artifact_id": id, "decision": "approved", "actor_id": "human", "actor_role": "human",
    });
    let answer = fixture.call(&fixture.owner, "ui.resolve", params.clone());
    let answer = answer.await.expect("the decision is stored");
    assert_eq!(answer["resolved"]["decision"], "approved");
    assert_eq!(answer.get("snapshot"), Some(&Value::Null));
    let error = answer["snapshot_error"].as_str().expect("a sentence");
    assert!(error.contains("incident"), "{error}");
    let again = fixture.call(&fixture.owner, "ui.resolve", params).await;
    assert_eq!(reason(&again), "ALREADY_DECIDED");
}

#[tokio::test]
async fn a_call_may_not_claim_a_role_above_that_of_its_token() {
    let fixture = Fixture::new().await;
    let id = fixture.propose().await;
    let scopes = ["read", "write"];
    let manager = fixture
        .running
        .client_with_role("manager", &scopes, &[])
        .await;
    for (method, params) in [
        (
            "memory.approve_delta",
            json!({"artifact_id": id, "actor_id": "x", "actor_role": "director"}),
        ),
        (
            "inbox.resolve",
            json!({"artifact_id": id, "decision": "denied", "actor_id": "x", "actor_role": "human"}),
        ),
        (
            "artifact.read",
            json!({"artifact_id": id, "actor_id": "x", "actor_role": "ceo"}),
        ),
        (
            "comment.add",
            json!({"author_id": "x", "author_role": "human", "body": "Hello", "target_agent_id": "agent_x"}),
        ),
        (
            "context.plan_for_job",
            json!({"manager_actor_id": "x", "manager_role": "director", "goal": "g"}),
        ),
        (
            "agent.record_mistake",
            json!({"worker_agent_id": "agent_x", "manager_actor_id": "x", "manager_role": "ceo",
                "mistake_key": "k", "summary": "s", "prevention_rule": "r"}),
        ),
    ] {
        let answer = fixture.call(&manager, method, params).await;
        assert_eq!(reason(&answer), "FORBIDDEN", "{method}: {answer:?}");
    }
    // A token may claim its own role; then the policy decides.
    let own = json!({"artifact_id": id, "actor_id": "x", "actor_role": "manager"});
    let read = fixture.call(&manager, "artifact.read", own.clone()).await;
    assert_eq!(reason(&read), "answered");
    let approved = fixture.call(&manager, "memory.approve_delta", own).await;
    assert_eq!(reason(&approved), "POLICY_DENIED");
}

#[tokio::test]
async fn whoever_does_not_say_what_they_are_sees_what_their_token_may() {
    let fixture = Fixture::new().await;
    let id = fixture.propose().await;
    let worker = fixture
        .running
        .client_with_role("worker", &["read"], &[])
        .await;
    for visibility in ["managers", "org"] {
        let comment = json!({"author_id": "human", "author_role": "human", "body": visibility,
            "target_run_id": fixture.run["run_id"], "visibility": visibility});
        fixture
            .call(&fixture.owner, "comment.add", comment)
            .await
            .unwrap();
    }
    let bodies = |listed: Value| -> Vec<String> {
        let comments = listed.as_array().unwrap().iter();
        comments
            .map(|comment| comment["body"].as_str().unwrap().to_owned())
            .collect()
    };
    let seen = fixture
        .call(&fixture.owner, "comment.list", json!({}))
        .await;
    assert_eq!(bodies(seen.unwrap()), ["org", "managers"]);
    let seen = fixture.call(&worker, "comment.list", json!({})).await;
    assert_eq!(bodies(seen.unwrap()), ["org"]);

    let run = json!({"run_id": fixture.run["run_id"]});
    let all = fixture
        .call(&fixture.owner, "run.replay", run.clone())
        .await
        .unwrap();
    assert_eq!(all.get("filtered_by_policy_count"), None);
    let some = fixture.call(&worker, "run.replay", run).await.unwrap();
    let visible = some["events"].as_array().unwrap();
    assert!(
        visible.iter().all(|event| event["visibility"] == "org"),
        "{visible:?}"
    );
    let filtered = some["filtered_by_policy_count"].as_u64().unwrap() as usize;
    assert!(filtered > 0);
    assert_eq!(
        visible.len() + filtered,
        all["events"].as_array().unwrap().len()
    );

    let pending = |snapshot: Value| snapshot["pending"].as_array().unwrap().len();
    let owner = fixture
        .call(&fixture.owner, "inbox.snapshot", json!({}))
        .await;
    assert_eq!(pending(owner.unwrap()), 1);
    let hidden = fixture.call(&worker, "inbox.snapshot", json!({})).await;
    assert_eq!(pending(hidden.unwrap()), 0);
    let found = |found: Value| found["items"].as_array().unwrap().len();
    let search = json!({"query": "8080", "kinds": ["artifact"]});
    let owner = fixture
        .call(&fixture.owner, "index.search", search.clone())
        .await;
    assert_eq!(found(owner.unwrap()), 1);
    let hidden = fixture.call(&worker, "index.search", search).await;
    assert_eq!(found(hidden.unwrap()), 0, "{id}");
}

#[tokio::test]
async fn a_second_decision_hears_of_the_first() {
    let fixture = Fixture::new().await;
    let id = fixture.propose().await;
    let decide = |decision: &str| {
        let params = json!({"artifact_id": id, "decision": decision, "actor_id": "ann",
            "actor_role": "director"});
        fixture.call(&fixture.owner, "inbox.resolve", params)
    };
    let first = decide("denied").await.unwrap();
    let second = decide("approved").await;
    assert_eq!(reason(&second), "ALREADY_DECIDED");
    let data = second.unwrap_err();
    assert_eq!(data["review_id"], first["review_id"]);
    assert_eq!(
        (&data["decision"], &data["actor_id"]),
        (&json!("denied"), &json!("ann"))
    );
}

#[tokio::test]
async fn a_secret_is_refused_with_its_place_and_without_its_text() {
    let fixture = Fixture::new().await;
    let secret = format!("ghp_{}", "a1B2".repeat(9));
    let comment = json!({"author_id": "human", "author_role": "human", "body": format!("use {secret}"),
        "target_run_id": fixture.run["run_id"]});
    let refused = fixture.call(&fixture.owner, "comment.add", comment).await;
    assert_eq!(reason(&refused), "SECRET_DETECTED");
    let data = refused.unwrap_err();
    assert_eq!(data["context_label"], "comment.body");
    assert_eq!(data["matches_by_kind"]["GITHUB_TOKEN"], 1);
    assert!(!data.to_string().contains(&secret));
    let message = json!({"scope": "workspace", "conversation_id": "conv_workspace_home",
        "author_id": "human", "author_role": "human", "body": secret});
    let refused = fixture
        .call(&fixture.owner, "conversation.message.send", message)
        .await;
    assert_eq!(reason(&refused), "SECRET_DETECTED");
}

#[tokio::test]
async fn a_rule_is_proposed_after_its_evaluation_ran_as_a_session() {
    let fixture = Fixture::new().await;
    let agents = fixture
        .folder
        .path()
        .join("org/agents/agent_global_manager/agent.yaml");
    assert!(fs::exists(agents).unwrap());
    let cycle = |argv: Value| {
        json!({"worker_agent_id": "agent_global_manager", "manager_actor_id": "ann", "manager_role": "director",
            "mistake_key": "slow", "summary": "Too slow", "prevention_rule": "Profile first",
            "proposal_threshold": 1, "evaluation_argv": argv, "evaluation_env": {"MODE": "strict"}})
    };
    let improve =
        |argv: Value| fixture.call(&fixture.owner, "agent.self_improve_cycle", cycle(argv));
    let failed = improve(json!(["/bin/sh", "-c", "exit 4"])).await.unwrap();
    assert_eq!(
        (&failed["status"], &failed["evaluation_exit_code"]),
        (&json!("evaluation_failed"), &json!(4))
    );
    let missing = improve(json!(["/no/such/tool"])).await;
    assert_eq!(reason(&missing), "REFUSED", "{missing:?}");
    let passed = improve(json!(["/bin/sh", "-c", "test \"$MODE\" = strict"]))
        .await
        .unwrap();
    assert_eq!(passed["status"], "proposal_created");
    let replayed = fixture
        .call(
            &fixture.owner,
            "run.replay",
            json!({"run_id": passed["run_id"]}),
        )
        .await;
    let kinds: Vec<String> = replayed.unwrap()["events"]
        .as_array()
        .unwrap()
        .iter()
        .map(|event| event["type"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(
        kinds,
        [
            "run.started",
            "policy.decision",
            "run.executing",
            "usage.estimated",
            "run.ended",
            "memory.delta.proposed",
            "artifact.produced",
            "artifact.produced",
            "evaluation.self_improve_cycle"
        ]
    );
    let again = improve(json!(["/bin/true"])).await.unwrap();
    assert_eq!(again["reused"], true);
    assert_eq!(
        again["memory_delta_artifact_id"],
        passed["memory_delta_artifact_id"]
    );
}

#[tokio::test]
async fn messages_are_told_to_those_who_asked_and_may_read_along() {
    let fixture = Fixture::new().await;
    let channel = json!({"scope": "project", "name": "Plans", "slug": "plans", "visibility": "managers",
        "created_by": "human"});
    let made = fixture
        .call(&fixture.owner, "conversation.create_channel", channel)
        .await
        .unwrap();
    let listeners = [("manager", 1), ("worker", 0)];
    let mut clients = Vec::new();
    for (role, _) in listeners {
        let client = fixture.running.client_with_role(role, &["read"], &[]).await;
        let wish = json!({"event_types": ["conversation.message"], "subscription_id": role});
        fixture
            .call(&client, "events.subscribe", wish)
            .await
            .unwrap();
        clients.push(client);
    }
    let message = json!({"scope": "project", "conversation_id": made["id"], "author_id": "human",
        "author_role": "human", "body": "Hello"});
    fixture
        .call(&fixture.owner, "conversation.message.send", message)
        .await
        .unwrap();
    for (client, (role, times)) in clients.iter().zip(listeners) {
        let told = testkit::told(client).await;
        let heard = told
            .lines()
            .filter(|line| line.contains("conversation.notification"))
            .count();
        assert_eq!(heard, times, "{role}: {told}");
    }
}

#[tokio::test]
async fn a_role_inside_of_a_job_is_held_against_the_token_too() {
    let fixture = Fixture::new().await;
    let scopes = ["read", "write", "exec"];
    let worker = fixture
        .running
        .client_with_role("worker", &scopes, &[])
        .await;
    let job = json!({"job": {
        "job_id": "job_1", "worker_kind": "codex", "workspace_dir": fixture.folder.path(),
        "project_id": fixture.project, "goal": "g", "constraints": [], "deliverables": [],
        "permission_level": "read-only", "context_refs": [], "context_mode": "manual",
        "manager_actor_id": "x", "manager_role": "director",
    }});
    let refused = fixture.call(&worker, "job.submit", job).await;
    assert_eq!(refused.unwrap_err()["claimed_role"], "director");
}

#[tokio::test]
async fn whoever_does_not_say_what_they_are_is_what_their_token_makes_them() {
    let fixture = Fixture::new().await;
    let agent = fixture.folder.path().join("org/agents/agent_t/agent.yaml");
    let text = "schema_version: 1\ntype: agent\nid: agent_t\nname: T\nrole: worker\nprovider: cmd\nteam_id: team_t\n\
                created_at: \"2024-05-01T09:00:00.000Z\"\n";
    company::files::replace(&agent, text.as_bytes()).unwrap();
    let scopes = ["read", "write", "exec"];
    let worker = fixture
        .running
        .client_with_role("worker", &scopes, &[])
        .await;
    for (client, expected) in [(&worker, "POLICY_DENIED"), (&fixture.owner, "answered")] {
        let run = json!({"agent_id": "agent_t", "provider": "cmd"});
        let run = fixture
            .call(&fixture.owner, "run.create", run)
            .await
            .unwrap();
        let launch = json!({"run_id": run["run_id"], "argv": ["/bin/true"]});
        let launched = fixture.call(client, "session.launch", launch).await;
        assert_eq!(reason(&launched), expected, "{launched:?}");
    }
    let intake = json!({"project_name": "P", "ceo_actor_id": "human_ceo",
        "executive_manager_agent_id": "agent_global_manager"});
    let mut params = intake.clone();
    params["workspace_dir"] = json!(fixture.folder.path());
    let refused = worker
        .call_raw("pipeline.client_intake.run", params.clone())
        .await;
    let Err(rpc::client::Error::Rpc { data, .. }) = refused else {
        panic!("{refused:?}");
    };
    assert_eq!(data["reason_code"], "POLICY_DENIED");
    let made = fixture
        .owner
        .call_raw("pipeline.client_intake.run", params)
        .await
        .unwrap();
    assert_eq!(made["generation"]["mode"], "deterministic");
}
