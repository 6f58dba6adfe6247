//! A run, and everything that refers to it, is visible to the team of its agent and to leaders.

use rpc::{Client, client::Error};
use serde_json::{Value, json};
use tempfile::TempDir;
use testkit::{TestGateway, put};

/// A company with an agent in a team, an agent without one, and a finished run of each.
struct Company {
    running: TestGateway,
    owner: Client,
    folder: TempDir,
    project: String,
    teams_run: String,
    everyones_run: String,
}

impl Company {
    async fn new() -> Self {
        let running = testkit::gateway().await;
        let owner = running.client();
        let (folder, project) = testkit::company(&owner).await;
        let mut company = Self {
            running,
            owner,
            folder,
            project,
            teams_run: String::new(),
            everyones_run: String::new(),
        };
        for (id, team) in [("agent_t", "team_id: team_t\n"), ("agent_e", "")] {
            put(
                &company
                    .folder
                    .path()
                    .join(format!("org/agents/{id}/agent.yaml")),
                &format!(
                    "schema_version: 1\ntype: agent\nid: {id}\nname: {id}\nrole: worker\nprovider: codex\n\
                     {team}created_at: \"2025-11-01T00:00:00.000Z\"\n"
                ),
            );
        }
        company.teams_run = company.ran("agent_t").await;
        company.everyones_run = company.ran("agent_e").await;
        company
    }

    /// Creates a run, runs it to its end with some output and returns its id.
    async fn ran(&self, agent: &str) -> String {
        let run = self.must("run.create", json!({"agent_id": agent, "provider": "cmd"}));
        let run = run.await["run_id"].as_str().expect("an id").to_owned();
        let launch = json!({"run_id": run, "argv": ["echo", "printed"]});
        let launched = self.must("session.launch", launch).await;
        let collect = json!({"session_ref": launched["session_ref"]});
        assert_eq!(
            self.must("session.collect", collect).await["status"],
            "ended"
        );
        run
    }

    async fn must(&self, method: &str, params: Value) -> Value {
        let answer = self.call(&self.owner, method, params).await;
        answer.unwrap_or_else(|reason| panic!("{method}: {reason}"))
    }

    /// Calls a method. Returns the result or the reason of the error.
    async fn call(
        &self,
        client: &Client,
        method: &str,
        mut params: Value,
    ) -> Result<Value, String> {
        params["workspace_dir"] = json!(self.folder.path());
        params["project_id"] = json!(self.project);
        match client.call_raw(method, params).await {
            Ok(answer) => Ok(answer),
            Err(Error::Rpc { data, .. }) => Err(data["reason_code"]
                .as_str()
                .or(data["kind"].as_str())
                .unwrap_or_default()
                .to_owned()),
            Err(error) => panic!("{method}: {error}"),
        }
    }

    /// Returns which of the two runs a response contains: that of the team and that visible to all.
    fn told(&self, answer: &Value) -> (bool, bool) {
        let text = answer.to_string();
        (
            text.contains(&self.teams_run),
            text.contains(&self.everyones_run),
        )
    }
}

#[tokio::test]
async fn lists_leave_out_the_runs_of_other_teams() {
    let company = Company::new().await;
    company.must("index.sync", json!({})).await;
    let worker = company
        .running
        .client_with_role("worker", &["read"], &[])
        .await;
    let manager = company
        .running
        .client_with_role("manager", &["read"], &[])
        .await;
    for method in [
        "run.list",
        "index.list_runs",
        "session.list",
        "monitor.snapshot",
    ] {
        let mine =
            json!({"actor_id": "agent_x", "actor_role": "worker", "actor_team_id": "team_t"});
        let others =
            json!({"actor_id": "agent_x", "actor_role": "worker", "actor_team_id": "team_u"});
        for (client, asking, sees) in [
            (&company.owner, json!({}), (true, true)),
            (&manager, json!({}), (true, true)),
            (&worker, json!({}), (false, true)),
            (&worker, mine.clone(), (true, true)),
            (&company.owner, others, (false, true)),
        ] {
            let answer = company.call(client, method, asking.clone()).await;
            let answer = answer.unwrap_or_else(|reason| panic!("{method}: {reason}"));
            assert_eq!(company.told(&answer), sees, "{method} {asking}: {answer}");
        }
    }
}

#[tokio::test]
async fn a_limit_counts_what_is_shown() {
    let company = Company::new().await;
    company.ran("agent_t").await;
    company.must("index.sync", json!({})).await;
    let worker = company
        .running
        .client_with_role("worker", &["read"], &[])
        .await;
    for method in ["index.list_runs", "monitor.snapshot"] {
        let answer = company.call(&worker, method, json!({"limit": 1})).await;
        assert_eq!(
            company.told(&answer.expect("a list")),
            (false, true),
            "{method}"
        );
    }
}

#[tokio::test]
async fn a_session_of_another_team_is_neither_shown_nor_stopped() {
    let company = Company::new().await;
    let worker = company
        .running
        .client_with_role("worker", &["read", "write", "exec"], &[])
        .await;
    let teams = json!({"session_ref": format!("local_{}", company.teams_run)});
    let everyones = json!({"session_ref": format!("local_{}", company.everyones_run)});
    for method in ["session.poll", "session.collect", "session.stop"] {
        let refused = company.call(&worker, method, teams.clone()).await;
        assert_eq!(refused, Err("POLICY_DENIED".to_owned()), "{method}");
        let mut member = teams.clone();
        member["actor_team_id"] = json!("team_t");
        member["actor_role"] = json!("worker");
        for allowed in [everyones.clone(), member] {
            let answer = company.call(&worker, method, allowed).await;
            assert_eq!(answer.expect("a state")["status"], "ended", "{method}");
        }
    }
    // Without a folder the team of the caller is unknown.
    let asked = worker.call_raw("session.list", json!({})).await;
    let Err(Error::Rpc { data, .. }) = asked else {
        panic!("{asked:?}");
    };
    let told = data.to_string();
    assert!(told.contains("expected the company folder"), "{told}");
}

#[tokio::test]
async fn a_run_of_another_team_is_neither_cancelled_nor_followed() {
    let company = Company::new().await;
    let made = company.must(
        "run.create",
        json!({"agent_id": "agent_t", "provider": "cmd"}),
    );
    let run = json!({"run_id": made.await["run_id"], "mode": "live"});
    let worker = company
        .running
        .client_with_role("worker", &["read", "write"], &[])
        .await;
    let refused = company.call(&worker, "run.cancel", run.clone()).await;
    assert_eq!(refused, Err("POLICY_DENIED".to_owned()));
    let live = json!({"run_id": company.teams_run, "mode": "live"});
    let replayed = company.call(&worker, "run.replay", live.clone()).await;
    assert_eq!(replayed.expect("a replay")["live"]["available"], false);
    assert_eq!(
        company.must("run.replay", live).await["live"]["available"],
        true
    );
    let cancelled = company.must("run.cancel", run).await;
    assert_eq!(cancelled["status"], "stopped");
}

#[tokio::test]
async fn a_job_of_another_team_is_neither_shown_nor_cancelled() {
    let company = Company::new().await;
    for (job, agent) in [("job_t", "agent_t"), ("job_e", "agent_e")] {
        let contract = json!({
            "job_id": job, "worker_kind": "codex", "workspace_dir": company.folder.path(),
            "project_id": company.project, "goal": "Plan", "constraints": [], "deliverables": [],
            "permission_level": "read-only", "context_refs": [], "worker_agent_id": agent,
            "context_mode": "manual",
        });
        company.must("job.submit", json!({"job": contract})).await;
    }
    let worker = company
        .running
        .client_with_role("worker", &["read", "exec"], &[])
        .await;
    let listed = company
        .call(&worker, "job.list", json!({}))
        .await
        .expect("a list");
    let ids: Vec<_> = listed
        .as_array()
        .expect("a list")
        .iter()
        .map(|job| &job["job_id"])
        .collect();
    assert_eq!(ids, ["job_e"]);
    for method in ["job.poll", "job.collect", "job.cancel"] {
        let refused = company
            .call(&worker, method, json!({"job_id": "job_t"}))
            .await;
        assert_eq!(refused, Err("POLICY_DENIED".to_owned()), "{method}");
        let answer = company
            .call(&worker, method, json!({"job_id": "job_e"}))
            .await;
        answer.expect("a job of everybody");
    }
}
