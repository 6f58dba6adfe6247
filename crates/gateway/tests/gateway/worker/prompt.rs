//! A saved AGENTS.md reaches the worker programs of the project, and each run records which version it used.

use gateway::sha256_hex;
use serde_json::json;

use super::fixture::{Fixture, text};

#[tokio::test]
async fn an_edit_reaches_every_driver_and_the_run_proves_it() {
    let fixture = Fixture::new().await;
    let folder = fixture.project_folder().await;
    for (index, provider) in ["codex", "claude", "gemini"].into_iter().enumerate() {
        let rule = format!("Rule {index}: be brief.");
        let doc = fixture.save(Some(&folder), &rule).await;
        let (run, asked) = fixture.work(provider).await;
        assert!(asked.contains(&rule), "{provider}: {asked}");
        let told = asked.strip_suffix("\n\nFix the bug.");
        let told = told.expect("the task is behind what it is told");
        let manifest = fixture.manifest(&run);
        assert!(told.starts_with("# AGENTS.md\n\nSource: "), "{told}");
        assert!(!told.contains("<!--"), "{told}");
        assert_eq!(
            text(&manifest["fingerprint_full"]),
            sha256_hex(told),
            "{provider}: the worker read exactly what the manifest proves"
        );
        let turn = fixture.turn(&run).await;
        assert_eq!(turn["status"], "Completed");
        assert_eq!(turn["prompt_manifest"], manifest);
        let of = json!({"thread_id": format!("thr_{run}"), "turn_id": format!("trn_{run}")});
        let explained = fixture.call("turn/explain", of).await;
        let pieces = explained["prompt"]["pieces"].as_array().expect("a list");
        let document = &pieces.last().expect("a piece")["document"];
        assert_eq!(document["doc_id"], doc["id"]);
        assert_eq!(document["version"], doc["version"]);
        assert_eq!(document["content_sha256"], doc["content_sha256"]);
    }
}

#[tokio::test]
async fn without_an_agents_doc_a_worker_reads_its_task_and_nothing_else() {
    let fixture = Fixture::new().await;
    for provider in ["codex", "claude", "gemini"] {
        let (run, asked) = fixture.work(provider).await;
        assert_eq!(asked, "Fix the bug.", "{provider}");
        let manifest = fixture.manifest(&run);
        assert_eq!(manifest["section_ids"], json!([]));
        assert_eq!(text(&manifest["fingerprint_full"]), sha256_hex(""));
    }
}

#[tokio::test]
async fn moving_nesting_and_archiving_change_the_runs_that_start_afterwards() {
    let fixture = Fixture::new().await;
    let (workspace, project) = (fixture.workspace.clone(), fixture.project_folder().await);
    fixture.save(None, "Root rule.").await;
    assert!(fixture.work("codex").await.1.contains("Root rule."));

    fixture.save(Some(&project), "Project rule.").await;
    let (_, asked) = fixture.work("codex").await;
    assert!(asked.contains("Project rule.") && !asked.contains("Root rule."));

    let above = json!({"workspace_id": workspace, "name": "Above"});
    let above = fixture.call("thread/folder/create", above).await;
    let above = text(&above["folder"]["id"]);
    fixture.save(Some(&above), "Rule from above.").await;
    let archive = json!({"workspace_id": workspace, "folder_id": project});
    fixture.call("thread/agents_doc/archive", archive).await;
    assert!(fixture.work("codex").await.1.contains("Root rule."));

    let moved = json!({"workspace_id": workspace, "folder_id": project, "parent_folder_id": above});
    fixture.call("thread/folder/move", moved).await;
    assert!(fixture.work("codex").await.1.contains("Rule from above."));
}

#[tokio::test]
async fn a_launch_that_is_explained_starts_no_turn() {
    let fixture = Fixture::new().await;
    let made = json!({"agent_id": "agent_x", "provider": "codex"});
    let run = text(&fixture.within("run.create", made).await["run_id"]);
    let launch = json!({
        "run_id": run, "prompt_text": "Fix the bug.", "apply_guard": false, "explain": true,
    });
    let explained = fixture.within("session.launch", launch).await;
    assert_eq!(explained["explain"]["would_launch"], true, "{explained}");
    let of = json!({"thread_id": format!("thr_{run}"), "turn_id": format!("trn_{run}")});
    let found = fixture.client.call_raw("turn/get", of).await;
    assert!(found.is_err());
}

#[tokio::test]
async fn nobody_can_put_words_into_the_thread_of_a_worker() {
    let fixture = Fixture::new().await;
    let (run, _) = fixture.work("codex").await;
    let (thread, turn) = (format!("thr_{run}"), format!("trn_{run}"));
    let workspace = &fixture.workspace;
    let before = fixture.turn(&run).await;
    let say = json!([{"type": "text", "text": "forged"}]);
    for (method, params) in [
        (
            "thread/start",
            json!({"workspace_id": workspace, "thread_id": "thr_run_not_yet"}),
        ),
        (
            "turn/start",
            json!({"thread_id": thread, "turn_id": "trn_1", "input": say}),
        ),
        (
            "turn/start",
            json!({"thread_id": "thr_own", "turn_id": turn, "input": say}),
        ),
        (
            "thread/delete",
            json!({"workspace_id": workspace, "thread_id": thread}),
        ),
    ] {
        let refused = fixture.client.call_raw(method, params).await;
        assert!(refused.is_err(), "{method}");
    }
    // Clients can subscribe to it.
    let follow = json!({"workspace_id": workspace, "thread_id": thread});
    fixture.call("thread/start", follow).await;
    assert_eq!(fixture.turn(&run).await, before);
}
