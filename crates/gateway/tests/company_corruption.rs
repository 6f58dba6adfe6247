//! A thousand ways to break a file of a company folder, seen over the wire: whatever method is called, it works or says
//! what is wrong, and what it refuses changes nothing.

#[path = "../../company/tests/filled/damage.rs"]
mod damage;
#[path = "../../company/tests/filled/folder.rs"]
#[expect(dead_code, reason = "the tests of the crate `company` use all of it")]
mod filled;

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
};

use damage::{Numbers, damage};
use filled::{filled, put};
use protocol::{Access, Dialect, methods};
use rpc::Client;
use serde_json::{Value, json};

/// Folders that are broken side by side, how often each, and how many methods look at each damage.
const FOLDERS: usize = 4;
const TIMES: usize = 250;
const CALLS: usize = 2;

type Tree = BTreeMap<PathBuf, Vec<u8>>;

/// Everything in a folder but its index, which is derived from the rest and built behind its back.
fn kept(root: &Path) -> Tree {
    let mut found = Tree::new();
    let mut open = vec![root.to_owned()];
    while let Some(folder) = open.pop() {
        // What is gone by now is gone.
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

/// What there is in the folder that methods can be asked for.
#[derive(Clone, Default)]
struct Ids {
    run: String,
    /// A run that was never launched.
    unlaunched: String,
    delta: String,
    other_delta: String,
    share_pack: String,
    channel: String,
    job: String,
    session: String,
    /// A project that a pipeline made, and its approved plan.
    planned: String,
    plan: String,
}

/// Params that fit the folder as it was made; a method takes of them what it knows.
fn params(method: &str, dir: &Path, outside: &Path, ids: &Ids) -> Value {
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
        // These take nothing they do not know.
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

/// An object with the members of another one.
fn with(mut object: Value, more: Value) -> Value {
    let (Some(members), Value::Object(more)) = (object.as_object_mut(), more) else {
        unreachable!("both are objects");
    };
    members.extend(more);
    object
}

fn job(dir: &Path, id: &str) -> Value {
    json!({
        "job_id": id, "worker_kind": "codex", "workspace_dir": dir, "project_id": "proj_a",
        "goal": "Remember the plan", "constraints": [], "deliverables": [], "permission_level": "patch",
        "context_refs": [], "worker_agent_id": "agent_a", "manager_actor_id": "human", "manager_role": "human",
    })
}

async fn must(client: &Client, method: &str, params: Value) -> Value {
    match client.call_raw(method, params).await {
        Ok(answer) => answer,
        Err(rpc::client::Error::Rpc { message, data, .. }) => {
            panic!("{method} in a healthy folder: {message} {data}")
        }
        Err(error) => panic!("{method}: {error}"),
    }
}

/// Fills a folder with something of everything.
async fn fill(client: &Client, dir: &Path) -> Ids {
    trust(client, dir).await;
    let task = dir.join("work/projects/proj_a/tasks/task_a.md");
    let text = fs::read_to_string(&task).expect("a task");
    // Proof of code is another matter.
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
    // What the job taught is written down after it is over.
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

/// Lets a pipeline make a project, and approves its plan.
async fn plan(client: &Client, dir: &Path, ids: &mut Ids) {
    let director = "schema_version: 1\ntype: agent\nid: agent_d\nname: Dora\nrole: director\nprovider: codex\n\
                    team_id: team_a\ncreated_at: \"2025-11-01T00:00:00.000Z\"\n";
    put(&dir.join("org/agents/agent_d/agent.yaml"), director);
    let intake = params("pipeline.client_intake.run", dir, dir, ids);
    let made = must(client, "pipeline.client_intake.run", intake).await;
    let word = |value: &Value| value.as_str().expect("an id").to_owned();
    ids.planned = word(&made["project_id"]);
    ids.plan = word(&made["artifacts"]["executive_plan_artifact_id"]);
    let approve = json!({
        "workspace_dir": dir, "project_id": ids.planned, "decision": "approved",
        "artifact_id": made["artifacts"]["approval_artifact_id"], "actor_id": "human_ceo", "actor_role": "ceo",
    });
    must(client, "inbox.resolve", approve).await;
}

/// Makes a folder what it was.
fn restore(root: &Path, pristine: &Tree) {
    for path in kept(root).keys().rev() {
        let place = root.join(path);
        let wanted = pristine.get(path).map(|content| content == b"folder");
        match place.is_dir() {
            is_folder if wanted == Some(is_folder) => {}
            true => fs::remove_dir_all(&place).expect("it can be removed"),
            false => drop(fs::remove_file(&place)),
        }
    }
    for (path, content) in pristine {
        let place = root.join(path);
        match content == b"folder" {
            true => fs::create_dir_all(&place).expect("a folder"),
            false if fs::read(&place).ok().as_ref() != Some(content) => put(&place, content),
            false => {}
        }
    }
}

/// Whether an error says which file is meant: by its path, its name, or the id that is part of its path.
fn names_it(told: &str, relative: &Path) -> bool {
    let parts = relative.iter().filter_map(|part| part.to_str());
    let mut names = parts
        .map(|part| part.split('.').next().unwrap_or(part))
        .filter(|part| part.contains('_') || *part == "company" || *part == "machine");
    // The sentence about a heading that is not there is published as it is.
    told.contains(&relative.display().to_string())
        || names.any(|name| told.contains(name))
        || told.contains("Heading not found")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn whatever_is_damaged_every_method_works_or_says_what_is_wrong_and_then_changes_nothing() {
    let running = testkit::gateway().await;
    let made = filled();
    let root = made.company.root();
    let ids = fill(&running.client(), root).await;
    // Subscriptions and pipelines have tests of their own.
    let calls = calls(|name| !name.starts_with("events.") && !name.starts_with("pipeline."));
    break_folders(&running, kept(root), calls, ids, TIMES).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn whatever_is_damaged_a_pipeline_works_or_says_what_is_wrong_and_then_changes_nothing() {
    let running = testkit::gateway().await;
    let made = filled();
    let root = made.company.root();
    let mut ids = Ids::default();
    trust(&running.client(), root).await;
    plan(&running.client(), root, &mut ids).await;
    let calls = calls(|name| name.starts_with("pipeline."));
    break_folders(&running, kept(root), calls, ids, TIMES / 2).await;
}

fn calls(is_wanted: impl Fn(&str) -> bool) -> Vec<(&'static str, Access)> {
    methods()
        .filter(|(family, method)| family.dialect == Dialect::Company && is_wanted(method.name))
        .map(|(_, method)| (method.name, method.access))
        .collect()
}

/// Breaks copies of a folder side by side.
async fn break_folders(
    running: &testkit::TestGateway,
    pristine: Tree,
    calls: Vec<(&'static str, Access)>,
    ids: Ids,
    times: usize,
) {
    let mut unfit = Vec::new();
    for (method, _) in &calls {
        let place = tempfile::tempdir().expect("a folder");
        let root = place.path().join("acme");
        restore_new(&root, &pristine);
        let client = running.client();
        trust(&client, &root).await;
        must(&client, "index.sync", json!({"workspace_dir": root})).await;
        let answer = client
            .call_raw(method, params(method, &root, place.path(), &ids))
            .await;
        if let Err(error) = answer {
            unfit.push(format!("{method}: {error:?}"));
        }
    }
    assert!(
        unfit.is_empty(),
        "give these methods params that fit: {unfit:#?}"
    );
    let mut folders = tokio::task::JoinSet::new();
    for number in 0..FOLDERS {
        let (client, pristine, calls, ids) = (
            running.client(),
            pristine.clone(),
            calls.clone(),
            ids.clone(),
        );
        folders.spawn(async move {
            let numbers = Numbers(20_261_115 + number as u64);
            break_and_call(&client, &pristine, &calls, &ids, numbers, (number, times)).await
        });
    }
    let (mut refused, mut wrong) = (0, Vec::new());
    while let Some(done) = folders.join_next().await {
        let (more_refused, more_wrong) = done.expect("nothing panics");
        refused += more_refused;
        wrong.extend(more_wrong);
    }
    assert!(wrong.is_empty(), "{}: {wrong:#?}", wrong.len());
    assert!(
        refused > FOLDERS * times * CALLS / 50,
        "{refused} calls were refused"
    );
}

/// The paths at which two trees differ by more than the record of what policy decided.
fn changed<'a>(before: &'a Tree, after: &'a Tree) -> Vec<&'a Path> {
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

fn restore_new(root: &Path, pristine: &Tree) {
    fs::create_dir_all(root).expect("a folder");
    restore(root, pristine);
}

/// Says that a folder is trusted. One that is too damaged to be a company folder cannot be.
async fn trust(client: &Client, root: &Path) {
    let folder = json!({"workspace_dir": root});
    let _ = client.call_raw("workspace.trust", folder).await;
}

/// Breaks a folder again and again; answers how many calls were refused, and what was wrong with answers.
async fn break_and_call(
    client: &Client,
    pristine: &Tree,
    calls: &[(&'static str, Access)],
    ids: &Ids,
    mut numbers: Numbers,
    (folder, times): (usize, usize),
) -> (usize, Vec<String>) {
    let place = tempfile::tempdir().expect("a folder");
    let root = place.path().join("acme");
    restore_new(&root, pristine);
    trust(client, &root).await;
    must(client, "index.sync", json!({"workspace_dir": root})).await;
    let files: Vec<&PathBuf> = pristine
        .iter()
        .filter(|(_, content)| !content.is_empty() && *content != b"folder")
        .map(|(path, _)| path)
        .collect();
    let (mut refused, mut wrong) = (0, Vec::new());
    let mut next = folder * calls.len() / FOLDERS;
    for time in 0..times {
        let path = files[numbers.below(files.len())];
        let how = damage(&mut numbers, &root.join(path), &pristine[path]);
        for _ in 0..CALLS {
            let (method, access) = calls[next % calls.len()];
            next += 1;
            let outside = tempfile::tempdir().expect("a folder");
            // What runs on behind an answer may write later: it gets a folder of its own.
            let runs_on = access == Access::Exec || method == "workspace.bootstrap.enterprise";
            let root = match runs_on {
                true => {
                    let copy = outside.path().join("copy");
                    restore_new(&copy, &kept(&root));
                    trust(client, &copy).await;
                    copy
                }
                false => root.clone(),
            };
            let before = kept(&root);
            let around = kept(outside.path());
            let params = params(method, &root, outside.path(), ids);
            let answer = client.call_raw(method, params).await;
            let what = format!("{folder}/{time}: {method} with {} {how}", path.display());
            let after = kept(&root);
            match answer {
                Ok(_) if access == Access::Read && !changed(&before, &after).is_empty() => {
                    wrong.push(format!("{what} changed {:?}", changed(&before, &after)));
                }
                Ok(_) => {}
                Err(rpc::client::Error::Rpc { message, data, .. }) => {
                    refused += 1;
                    let told = format!("{message} {data}");
                    let is_outside_same = runs_on || kept(outside.path()) == around;
                    // An approval that is lost cannot be named, only what lacks it.
                    let lacks = !ids.plan.is_empty() && told.contains(&ids.plan);
                    let is_told = names_it(&told, path) || lacks;
                    if data.get("incident_id").is_some() || !is_told {
                        wrong.push(format!("{what} says: {told}"));
                    } else if !changed(&before, &after).is_empty() || !is_outside_same {
                        wrong.push(format!(
                            "{what} is refused and changed {:?}: {told}",
                            changed(&before, &after)
                        ));
                    }
                }
                Err(error) => wrong.push(format!("{what}: {error}")),
            }
            if !runs_on {
                // The damage again, without what was done about it.
                restore(&root, &before);
            }
        }
        restore(&root, pristine);
    }
    (refused, wrong)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn whatever_is_damaged_a_subscription_works_or_says_what_is_wrong_and_changes_nothing() {
    let running = testkit::gateway().await;
    let client = running.client();
    let made = filled();
    let root = made.company.root();
    let ids = fill(&client, root).await;
    let pristine = kept(root);
    let files: Vec<&PathBuf> = pristine
        .iter()
        .filter(|(_, content)| !content.is_empty() && *content != b"folder")
        .map(|(path, _)| path)
        .collect();
    let mut numbers = Numbers(20_261_116);
    for time in 0..TIMES {
        let path = files[numbers.below(files.len())];
        let how = damage(&mut numbers, &root.join(path), &pristine[path]);
        let before = kept(root);
        let name = format!("sub_{time}");
        let of_run = time % 2 == 0;
        let mut wanted = json!({
            "workspace_dir": root, "subscription_id": name, "backfill_limit": 20,
        });
        if of_run {
            wanted = with(wanted, json!({"project_id": "proj_a", "run_id": ids.run}));
        }
        match client.call_raw("events.subscribe", wanted).await {
            Ok(_) => {
                for method in ["events.ack", "events.unsubscribe"] {
                    let known = json!({"subscription_id": name, "event_id": "evt_x"});
                    let _ = client.call_raw(method, known).await;
                }
            }
            Err(error) => {
                let told = format!("{error:?}");
                let file = path.file_name().and_then(|name| name.to_str());
                let is_told = names_it(&told, path) || file.is_some_and(|file| told.contains(file));
                assert!(is_told, "{} {how}: {told}", path.display());
            }
        }
        drop(client.unread().await);
        let after = kept(root);
        let what = format!("{} {how}", path.display());
        assert_eq!(changed(&before, &after), Vec::<&Path>::new(), "{what}");
        restore(root, &pristine);
    }
}
