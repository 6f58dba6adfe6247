//! Project planning through a client.

use std::fs;

use rpc::client::Error;
use serde_json::{Value, json};

/// A client of a company with one project that has the task `task_a`.
struct Fixture {
    _running: testkit::TestGateway,
    client: rpc::Client,
    folder: tempfile::TempDir,
    project: String,
}

impl Fixture {
    async fn new() -> Self {
        let running = testkit::gateway().await;
        let client = running.client();
        let folder = tempfile::tempdir().expect("a temporary folder");
        let dir = folder.path().to_str().expect("a path");
        let init = json!({"workspace_dir": dir, "company_name": "Acme"});
        client
            .call_raw("workspace.init", init)
            .await
            .expect("it works");
        let create = json!({"workspace_dir": dir, "name": "Alpha"});
        let made = client.call_raw("workspace.project.create_with_defaults", create);
        let project = made.await.expect("it works")["project_id"]
            .as_str()
            .expect("an id")
            .to_owned();
        let text = format!(
            "---\nschema_version: 1\ntype: task\nid: task_a\nproject_id: {project}\ntitle: Build it\n\
             created_at: \"2024-06-01T00:00:00.000Z\"\nstatus: draft\nvisibility: team\nmilestones: []\n---\n\n\
             ## Contract\n\n## Milestones\n"
        );
        let tasks = folder.path().join(format!("work/projects/{project}/tasks"));
        #[expect(
            clippy::disallowed_methods,
            reason = "a test writes before anybody reads"
        )]
        fs::write(tasks.join("task_a.md"), text).expect("it works");
        Self {
            _running: running,
            client,
            folder,
            project,
        }
    }

    /// Calls a method. Returns the result, or the code and data of the error.
    async fn call(&self, method: &str, mut params: Value) -> Result<Value, (i64, Value)> {
        params["workspace_dir"] = json!(self.folder.path().to_str().expect("a path"));
        if params.get("project_id").is_none() {
            params["project_id"] = json!(self.project);
        }
        let answer = self.client.call_raw(method, params).await;
        answer.map_err(|error| match error {
            Error::Rpc { code, data, .. } => (code, data),
            Error::Closed | Error::Unreachable(_) | Error::Unexpected(_) => {
                panic!("{method}: {error}")
            }
        })
    }
}

#[tokio::test]
async fn a_plan_is_changed_looked_at_and_printed() {
    let fixture = Fixture::new().await;
    let schedule = json!({"planned_start": "2031-03-03", "duration_days": 2});
    let update = json!({"task_id": "task_a", "schedule": schedule});
    let updated = fixture.call("task.update_plan", update).await.unwrap();
    assert_eq!(updated["frontmatter"]["schedule"]["duration_days"], 2);
    let scope = json!({"scope": "project"});
    let snapshot = fixture.call("pm.snapshot", scope).await.unwrap();
    let bar = &snapshot["project"]["gantt"]["tasks"][0];
    assert_eq!(bar["start_at"], "2031-03-03T00:00:00.000Z");
    assert_eq!(bar["end_at"], "2031-03-05T00:00:00.000Z");
    let format = json!({"format": "mermaid"});
    let export = fixture.call("pm.export", format).await.unwrap();
    let content = export["content"].as_str().unwrap();
    let line = "Build it :crit, t1, 2031-03-03 00:00, 2031-03-05 00:00";
    assert!(content.contains(line), "{content}");
}

#[tokio::test]
async fn a_recommendation_can_be_applied_as_it_is() {
    let fixture = Fixture::new().await;
    let advice = fixture.call("pm.recommend_allocations", json!({})).await;
    let items = advice.unwrap()["recommendations"].clone();
    assert_eq!(items[0]["token_budget_hint"], 12_000);
    let apply = json!({"applied_by": "human", "items": items});
    let applied = fixture.call("pm.apply_allocations", apply).await.unwrap();
    assert_eq!(applied["updated_task_ids"], json!(["task_a"]));
    let list = fixture.call("task.list", json!({})).await.unwrap();
    let plan = &list["tasks"][0]["frontmatter"]["execution_plan"];
    assert_eq!(plan["applied_at"], applied["applied_at"]);
    assert_eq!(plan["preferred_agent_id"], items[0]["preferred_agent_id"]);
}

#[tokio::test]
async fn allocations_without_their_items_are_refused() {
    let fixture = Fixture::new().await;
    let apply = json!({"applied_by": "human"});
    let refused = fixture.call("pm.apply_allocations", apply).await;
    let (code, data) = refused.unwrap_err();
    assert_eq!((code, &data[0]["path"]), (-32602, &json!(["items"])));
    let apply = json!({"applied_by": "human", "items": []});
    let applied = fixture.call("pm.apply_allocations", apply).await.unwrap();
    assert_eq!(applied["updated_task_ids"], json!([]));
}

#[tokio::test]
async fn what_cannot_be_planned_is_named() {
    let fixture = Fixture::new().await;
    let items = json!([{"task_id": "task_a", "preferred_model": "m"}, {"task_id": "task_none"}]);
    let apply = json!({"applied_by": "human", "items": items});
    let (code, data) = fixture
        .call("pm.apply_allocations", apply)
        .await
        .unwrap_err();
    assert_eq!(code, -32000);
    assert_eq!(
        data,
        json!({"reason_code": "NOT_FOUND", "task_ids": ["task_none"]})
    );

    let schedule = json!({"planned_start": "2031-05-02", "planned_end": "2031-05-01"});
    let update = json!({"task_id": "task_a", "schedule": schedule});
    let (code, data) = fixture.call("task.update_plan", update).await.unwrap_err();
    assert_eq!((code, &data[0]["path"]), (-32602, &json!(["planned_end"])));

    let update = json!({"task_id": "task_a", "schedule": {"planned_start": "whenever"}});
    let (code, data) = fixture.call("task.update_plan", update).await.unwrap_err();
    let path = json!(["schedule", "planned_start"]);
    assert_eq!((code, &data[0]["path"]), (-32602, &path));

    let scope = json!({"scope": "project", "project_id": null});
    let (code, data) = fixture.call("pm.snapshot", scope).await.unwrap_err();
    assert_eq!(code, -32601);
    assert_eq!(data["reason_code"], "MISSING_PROJECT_ID");

    let nowhere = json!({"project_id": "proj_none"});
    let (code, data) = fixture.call("task.list", nowhere).await.unwrap_err();
    assert_eq!((code, &data["reason_code"]), (-32000, &json!("NOT_FOUND")));
}
