//! A company folder that contains every kind of object, params for every method, and a comparison of its content.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
};

use rpc::Client;
use serde_json::{Value, json};

use crate::filled::put;

pub(crate) type Tree = BTreeMap<PathBuf, Vec<u8>>;

/// Returns all files of a folder except the index, which is derived and updated in the background.
pub(crate) fn kept(root: &Path) -> Tree {
    let mut found = Tree::new();
    let mut open = vec![root.to_owned()];
    while let Some(folder) = open.pop() {
        // Files may disappear during the walk.
        for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
            let path = entry.path();
            let relative = path.strip_prefix(root).expect("below").to_owned();
            if entry.file_name().to_string_lossy().contains("index.sqlite") {
                continue;
            }
            if path.is_dir() {
                found.insert(relative, b"folder".to_vec());
                open.push(path);
            } else if let Ok(content) = fs::read(&path) {
                found.insert(relative, content);
            }
        }
    }
    found
}

/// The ids of the objects in the folder.
#[derive(Clone, Default)]
pub(crate) struct Ids {
    pub(crate) run: String,
    /// A run that was never launched.
    pub(crate) unlaunched: String,
    pub(crate) delta: String,
    pub(crate) other_delta: String,
    pub(crate) share_pack: String,
    pub(crate) channel: String,
    pub(crate) job: String,
    pub(crate) session: String,
    /// A project created by a pipeline, and its approved plan.
    pub(crate) planned: String,
    pub(crate) plan: String,
}

/// Returns params that fit the folder. Methods ignore the fields they do not know.
pub(crate) fn params(method: &str, dir: &Path, outside: &Path, ids: &Ids) -> Value {
    let who = json!({
        "workspace_dir": dir, "project_id": "proj_a", "scope": "project", "view": "home",
        "actor_id": "human", "actor_role": "human", "author_id": "human", "author_role": "human",
        "manager_actor_id": "human", "manager_role": "human", "created_by": "human", "applied_by": "human",
        "agent_id": "agent_a", "worker_agent_id": "agent_a", "peer_agent_id": "agent_m", "provider": "cmd",
        "company_name": "Acme", "name": "Beta", "slug": "beta", "body": "Hello", "target_agent_id": "agent_a",
    });
    let what = json!({
        "run_id": ids.run, "job_id": ids.job, "task_id": "task_a", "milestone_id": "ms_a",
        "artifact_id": ids.delta, "report_artifact_id": "art_report", "decision": "denied",
        "conversation_id": ids.channel, "share_pack_id": ids.share_pack, "session_ref": ids.session,
        "subscription_id": "all", "goal": "Remember the plan", "query": "plan", "format": "csv", "repo_id": "main", "repo_path": outside, "require_git": false,
        "mistake_key": "slow", "summary": "Too slow", "prevention_rule": "Measure first",
        "mode": "verified", "argv": ["true"],
    });
    let more = match method {
        // These methods reject unknown fields.
        "workspace.bootstrap.enterprise" => return json!({"workspace_dir": dir, "force": true}),
        "heartbeat.config.set" => return json!({"workspace_dir": dir, "enabled": false}),
        "pipeline.client_intake.run" => {
            return json!({
                "workspace_dir": dir, "project_name": "Portal", "ceo_actor_id": "human_ceo",
                "executive_manager_agent_id": "agent_m", "intake_text": "Build a portal",
            });
        }
        "pipeline.department.assign_tasks" => {
            return json!({
                "workspace_dir": dir, "project_id": ids.planned, "department_key": "backend",
                "director_agent_id": "agent_d", "worker_agent_ids": ["agent_a"],
                "approved_executive_plan_artifact_id": ids.plan,
            });
        }
        "artifact.read" => json!({"artifact_id": "art_plan"}),
        "milestone.evidence.read" => json!({"evidence_artifact_id": "art_delta"}),
        "run.cancel" => json!({"run_id": ids.unlaunched}),
        "ui.resolve" => json!({"artifact_id": ids.other_delta, "decision": "approved"}),
        "inbox.resolve" => json!({"artifact_id": "art_report"}),
        "desktop.bootstrap.snapshot" => json!({"view": "activities"}),
        "memory.propose_delta" => json!({
            "title": "Another", "scope_kind": "project_memory", "sensitivity": "internal", "rationale": "it helps",
            "under_heading": "## Summary", "insert_lines": ["- one more"], "visibility": "org",
            "produced_by": "agent_a", "context_pack_id": "ctx_a", "evidence": ["art_plan"],
        }),
        "memory.extract_candidates" => json!({"run_id": null}),
        "pm.apply_allocations" => {
            json!({"items": [{"task_id": "task_a", "preferred_agent_id": "agent_a"}]})
        }
        "task.update_plan" => json!({"execution_plan": {"preferred_agent_id": "agent_a"}}),
        "job.submit" => json!({"job": job(dir, "job_new"), "repo_id": null}),
        "adapter.channel.set" => json!({"provider": "codex", "channel": "api"}),
        "heartbeat.tick" => json!({"dry_run": true}),
        "workspace.init" => json!({"force": true}),
        "workspace.export" | "workspace.diagnostics" => json!({"out_dir": outside.join("out")}),
        "workspace.import" => json!({"src_dir": dir, "workspace_dir": outside.join("in")}),
        _ => json!({}),
    };
    with(with(who, what), more)
}

/// Returns an object extended by the members of another one.
pub(crate) fn with(mut object: Value, more: Value) -> Value {
    let (Some(members), Value::Object(more)) = (object.as_object_mut(), more) else {
        unreachable!("both are objects");
    };
    members.extend(more);
    object
}

pub(crate) fn job(dir: &Path, id: &str) -> Value {
    json!({
        "job_id": id, "worker_kind": "codex", "workspace_dir": dir, "project_id": "proj_a",
        "goal": "Remember the plan", "constraints": [], "deliverables": [], "permission_level": "patch",
        "context_refs": [], "worker_agent_id": "agent_a", "manager_actor_id": "human", "manager_role": "human",
    })
}

pub(crate) async fn must(client: &Client, method: &str, params: Value) -> Value {
    match client.call_raw(method, params).await {
        Ok(answer) => answer,
        Err(rpc::client::Error::Rpc { message, data, .. }) => {
            panic!("{method} in a healthy folder: {message} {data}")
        }
        Err(error) => panic!("{method}: {error}"),
    }
}

/// Fills a folder with every kind of object.
pub(crate) async fn fill(client: &Client, dir: &Path) -> Ids {
    trust(client, dir).await;
    let task = dir.join("work/projects/proj_a/tasks/task_a.md");
    let text = fs::read_to_string(&task).expect("a task");
    // Evidence for coding milestones is tested elsewhere.
    put(&task, text.replace("kind: coding", "kind: planning"));
    let report = dir.join("work/projects/proj_a/artifacts/art_report.md");
    let text = fs::read_to_string(&report).expect("a report");
    let named = text.replace("evidence_artifacts: []", "evidence_artifacts: [art_delta]");
    put(&report, named);
    let memory = "# Alpha\n\n## Summary\n\n## Decisions\n";
    put(&dir.join("work/projects/proj_a/memory.md"), memory);
    let word = |answer: &Value, name: &str| answer[name].as_str().expect("an id").to_owned();
    let folder = |more: Value| with(json!({"workspace_dir": dir, "project_id": "proj_a"}), more);
    let mut ids = Ids {
        job: "job_a".to_owned(),
        ..Ids::default()
    };
    let run = folder(json!({"agent_id": "agent_a", "provider": "cmd"}));
    ids.unlaunched = word(&must(client, "run.create", run.clone()).await, "run_id");
    ids.run = word(&must(client, "run.create", run).await, "run_id");
    for delta in [&mut ids.delta, &mut ids.other_delta] {
        let mut propose = params("memory.propose_delta", dir, dir, &Ids::default());
        propose["run_id"] = json!(ids.run);
        *delta = word(
            &must(client, "memory.propose_delta", propose).await,
            "artifact_id",
        );
    }
    let pack = must(client, "sharepack.create", folder(json!({}))).await;
    ids.share_pack = word(&pack, "share_pack_id");
    let channel = folder(
        json!({"scope": "project", "name": "Alpha", "slug": "alpha", "created_by": "human"}),
    );
    let made = must(client, "conversation.create_channel", channel).await;
    ids.channel = word(&made, "id");
    let launched = must(
        client,
        "session.launch",
        folder(json!({"run_id": ids.run, "argv": ["true"]})),
    )
    .await;
    ids.session = word(&launched, "session_ref");
    must(client, "job.submit", json!({"job": job(dir, &ids.job)})).await;
    for (method, name, id) in [
        ("session.poll", "session_ref", &ids.session),
        ("job.poll", "job_id", &ids.job),
    ] {
        loop {
            let mut poll = folder(json!({}));
            poll[name] = json!(id);
            let answer = must(client, method, poll).await;
            let status = answer["status"].as_str().expect("a status");
            if !matches!(status, "queued" | "running") {
                break;
            }
        }
    }
    // Memory candidates are recorded after the job has ended.
    let is_told = |(path, text): (PathBuf, Vec<u8>)| {
        path.ends_with("events.jsonl")
            && String::from_utf8_lossy(&text).contains("memory.candidates.generated")
    };
    while !kept(dir).into_iter().any(is_told) {
        tokio::task::yield_now().await;
    }
    for method in [
        "comment.add",
        "conversation.message.send",
        "agent.record_mistake",
    ] {
        must(client, method, params(method, dir, dir, &ids)).await;
    }
    ids
}

/// Returns the paths at which two trees differ, ignoring appended policy decisions.
pub(crate) fn changed<'a>(before: &'a Tree, after: &'a Tree) -> Vec<&'a Path> {
    let paths: BTreeSet<&PathBuf> = before.keys().chain(after.keys()).collect();
    let is_same = |path: &&PathBuf| {
        let [before, after] = [before, after].map(|tree| tree.get(*path));
        let is_record = path.extension().is_some_and(|kind| kind == "jsonl");
        match (before, after) {
            (Some(before), Some(after)) if is_record && after.len() > before.len() => {
                after.starts_with(before) && is_policy(&after[before.len()..])
            }
            (None, Some(after)) if is_record => is_policy(after),
            (None, Some(_)) => path.ends_with("logs"),
            (before, after) => before == after,
        }
    };
    paths
        .into_iter()
        .filter(|path| !is_same(path))
        .map(PathBuf::as_path)
        .collect()
}

fn is_policy(lines: &[u8]) -> bool {
    let text = String::from_utf8_lossy(lines);
    let mut lines = text.lines().filter(|line| !line.is_empty());
    lines.all(|line| line.contains("\"type\":\"policy."))
}

/// Trusts a folder. Fails silently for a folder that is too damaged to be a company folder.
pub(crate) async fn trust(client: &Client, root: &Path) {
    let folder = json!({"workspace_dir": root});
    let _ = client.call_raw("workspace.trust", folder).await;
}
