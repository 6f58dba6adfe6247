//! Damages files of a company folder in a thousand ways: every method either works or reports the problem, and a
//! rejected call changes nothing.

use std::{
    fs,
    path::{Path, PathBuf},
};

use protocol::{Access, Dialect, methods};
use rpc::Client;
use serde_json::{Value, json};

use super::everything::{Ids, Tree, changed, fill, kept, must, params, trust, with};
use crate::{
    damage::{Numbers, damage},
    filled::{new_folder, put},
};

/// The number of folders damaged in parallel, of damages per folder, and of calls per damage.
const FOLDERS: usize = 4;
const TIMES: usize = 250;
const CALLS: usize = 2;

/// Creates a project with a pipeline and approves its plan.
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

/// Restores a folder to the given content.
fn restore(root: &Path, pristine: &Tree) {
    for path in kept(root).keys().rev() {
        let place = root.join(path);
        let wanted = pristine.get(path).map(|content| content == b"folder");
        let is_folder = place.is_dir();
        if wanted == Some(is_folder) {
            continue;
        }
        if is_folder {
            fs::remove_dir_all(&place).expect("it can be removed");
        } else {
            drop(fs::remove_file(&place));
        }
    }
    for (path, content) in pristine {
        let place = root.join(path);
        if content == b"folder" {
            fs::create_dir_all(&place).expect("a folder");
        } else if fs::read(&place).ok().as_ref() != Some(content) {
            put(&place, content);
        }
    }
}

/// Returns whether an error names the file: by its path, its name, or the id in its path.
fn names_it(told: &str, relative: &Path) -> bool {
    let parts = relative.iter().filter_map(|part| part.to_str());
    let mut names = parts
        .map(|part| part.split('.').next().unwrap_or(part))
        .filter(|part| part.contains('_') || *part == "company" || *part == "machine");
    // The message for a missing heading is fixed by the contract.
    told.contains(&relative.display().to_string())
        || names.any(|name| told.contains(name))
        || told.contains("Heading not found")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn whatever_is_damaged_every_method_works_or_says_what_is_wrong_and_then_changes_nothing() {
    let running = testkit::gateway().await;
    let (_folder, _, company) = new_folder();
    let root = company.root();
    let ids = fill(&running.client(), root).await;
    // Subscriptions and pipelines are tested separately.
    let calls = calls(|name| !name.starts_with("events.") && !name.starts_with("pipeline."));
    break_folders(&running, kept(root), calls, ids, TIMES).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn whatever_is_damaged_a_pipeline_works_or_says_what_is_wrong_and_then_changes_nothing() {
    let running = testkit::gateway().await;
    let (_folder, _, company) = new_folder();
    let root = company.root();
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

/// Damages copies of a folder in parallel.
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

fn restore_new(root: &Path, pristine: &Tree) {
    fs::create_dir_all(root).expect("a folder");
    restore(root, pristine);
}

/// Damages a folder repeatedly. Returns the number of rejected calls and the list of violations.
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
            // Work in the background may write after the response, so these methods get a copy of the folder.
            let runs_on = access == Access::Exec || method == "workspace.bootstrap.enterprise";
            let root = if runs_on {
                let copy = outside.path().join("copy");
                restore_new(&copy, &kept(&root));
                trust(client, &copy).await;
                copy
            } else {
                root.clone()
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
                    // A lost approval cannot be named, only the plan that lacks it.
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
                // Restores the damaged state for the next call.
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
    let (_folder, _, company) = new_folder();
    let root = company.root();
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
