//! `thread/agents_doc/*` through a client.

mod proposal;

use std::sync::Arc;

use insta::assert_snapshot;
use protocol::thread::agents_doc::{
    MAX_CONTENT_CHARS, ThreadAgentsDocExport, ThreadAgentsDocExportParams, ThreadAgentsDocFile,
    ThreadAgentsDocGet, ThreadAgentsDocGetParams, ThreadAgentsDocGetResponse,
    ThreadAgentsDocImport, ThreadAgentsDocImportMode, ThreadAgentsDocImportParams,
};
use rpc::Client;
use serde_json::{Value, json};
use testkit::{TestGateway, answer, refusal, told};

/// Returns a connection that has created a workspace and received its notification.
async fn in_workspace(running: &TestGateway) -> Client {
    let client = running.client();
    answer(&client, "workspace/create", json!({"workspace_id": "ws_a"})).await;
    told(&client).await;
    client
}

/// Creates a folder and returns its id.
async fn folder(client: &Client, parent: Option<&str>, name: &str) -> String {
    let create = json!({"workspace_id": "ws_a", "parent_folder_id": parent, "name": name});
    let created = client.call_raw("thread/folder/create", create).await;
    let created = created.expect("a folder can be made");
    let id = created["folder"]["id"].as_str();
    id.expect("an id is text").to_owned()
}

/// Returns save params with a scope and a text.
fn text(folder: Option<&str>, content: &str) -> Value {
    json!({"workspace_id": "ws_a", "folder_id": folder, "content": content})
}

/// Returns save params with an expected version.
fn text_after(version: i64, folder: Option<&str>, content: &str) -> Value {
    json!({"workspace_id": "ws_a", "folder_id": folder, "content": content, "expected_version": version})
}

fn scope(folder: Option<&str>) -> Value {
    json!({"workspace_id": "ws_a", "folder_id": folder})
}

async fn save(client: &Client, params: Value) -> String {
    answer(client, "thread/agents_doc/save", params).await
}

/// Saves a document and returns it.
async fn saved(client: &Client, params: Value) -> Value {
    let saved = client.call_raw("thread/agents_doc/save", params).await;
    saved.expect("the text can be saved")["doc"].take()
}

async fn get(client: &Client, folder: Option<&str>) -> ThreadAgentsDocGetResponse {
    let params: ThreadAgentsDocGetParams =
        serde_json::from_value(scope(folder)).expect("a scope is enough");
    let found = client.call::<ThreadAgentsDocGet>(params).await;
    found.expect("the scope is there")
}

/// Describes the effective document of a scope: its text, its source and whether it is inherited.
async fn in_force(client: &Client, folder: Option<&str>) -> String {
    match get(client, folder).await.effective {
        None => "nothing".to_owned(),
        Some(found) => {
            let path = found.source_path.join(" / ");
            let above = if found.inherited { "inherited" } else { "own" };
            format!("{:?} from [{path}], {above}", found.doc.content)
        }
    }
}

/// Returns the versions of a document with their reasons, newest first.
async fn versions(client: &Client, doc: &Value) -> String {
    let params = json!({"workspace_id": "ws_a", "doc_id": doc["id"]});
    let found = client.call_raw("thread/agents_doc/revisions", params).await;
    let found = found.expect("the document is there");
    let items = found["items"].as_array().expect("a list").iter();
    let lines: Vec<_> = items
        .map(|item| format!("{} {}", item["version"], item["save_reason"]))
        .collect();
    lines.join(", ")
}

/// Returns the received notifications: for documents whether the effective one changed, for others the name.
async fn told_briefly(client: &Client) -> Vec<String> {
    let answered = client.call_raw("workspace/list", Value::Null).await;
    answered.expect("workspaces can be listed");
    let brief = |told: rpc::client::Incoming| match told.method.as_str() {
        "thread/agents_doc/changed" => {
            let name = |part: &Value| part["content"].as_str().unwrap_or("-").to_owned();
            let (doc, effective) = (&told.params["doc"], &told.params["effective"]["doc"]);
            let changed = &told.params["effective_changed"];
            let place = told.params["folder_id"].as_str().unwrap_or("root");
            format!(
                "{place}: doc {}, effective {}, changed {changed}",
                name(doc),
                name(effective)
            )
        }
        other => other.to_owned(),
    };
    client.unread().await.into_iter().map(brief).collect()
}

#[tokio::test]
async fn a_first_text_is_version_1_and_active() {
    let running = testkit::gateway().await;
    let client = in_workspace(&running).await;
    let rules = json!({"workspace_id": "ws_a", "content": "# Rules\n", "save_reason": "manual"});
    assert_snapshot!(save(&client, rules).await, @r##"{"doc":{"content":"# Rules\n","content_sha256":"a3af2177809b3c009bfec4d1c507c6ee32757385e856bce9ae5ac3aec41a791b","created_at":1777900001,"id":"agd_000000000000000001","status":"active","title":"AGENTS.md","updated_at":1777900001,"version":1,"workspace_id":"ws_a"}}"##);
    assert_snapshot!(answer(&client, "thread/agents_doc/get", scope(None)).await, @r##"{"effective":{"doc":{"content":"# Rules\n","content_sha256":"a3af2177809b3c009bfec4d1c507c6ee32757385e856bce9ae5ac3aec41a791b","created_at":1777900001,"id":"agd_000000000000000001","status":"active","title":"AGENTS.md","updated_at":1777900001,"version":1,"workspace_id":"ws_a"},"inherited":false,"resolved_at":1777900003,"source_path":[]},"explicit":{"content":"# Rules\n","content_sha256":"a3af2177809b3c009bfec4d1c507c6ee32757385e856bce9ae5ac3aec41a791b","created_at":1777900001,"id":"agd_000000000000000001","status":"active","title":"AGENTS.md","updated_at":1777900001,"version":1,"workspace_id":"ws_a"}}"##);
}

#[tokio::test]
async fn a_first_blank_text_is_a_draft_and_is_not_in_force() {
    let running = testkit::gateway().await;
    let client = in_workspace(&running).await;
    assert_snapshot!(save(&client, text(None, " \n\t\u{2003}\n")).await, @r#"{"doc":{"content":" \n\t \n","content_sha256":"f3e787bc95bdaf636f0fb794b4d9b925aa13309c8b0dc2f7c2694481fdbca5ef","created_at":1777900001,"id":"agd_000000000000000001","status":"draft","title":"AGENTS.md","updated_at":1777900001,"version":1,"workspace_id":"ws_a"}}"#);
    assert_eq!(in_force(&client, None).await, "nothing");
    assert_eq!(
        told_briefly(&client).await,
        [
            "root: doc  \n\t\u{2003}\n, effective -, changed false",
            "thread/tree/changed"
        ]
    );
}

#[tokio::test]
async fn a_first_text_after_a_version_nobody_has_is_a_conflict() {
    let running = testkit::gateway().await;
    let client = in_workspace(&running).await;
    for content in ["text", ""] {
        assert_eq!(
            save(&client, text_after(3, None, content)).await,
            r#"-32600 version conflict in `thread/agents_doc/save`: expected version 3, actual version 0 {"actual":0,"expected":3,"kind":"version_conflict"}"#
        );
    }
    assert_eq!(get(&client, None).await.explicit, None);
    assert_eq!(told(&client).await, "");
}

#[tokio::test]
async fn version_0_means_that_there_must_be_none() {
    let running = testkit::gateway().await;
    let client = in_workspace(&running).await;
    let doc = saved(&client, text_after(0, None, "one")).await;
    assert_eq!(doc["version"], 1);
    assert_eq!(
        refusal(
            &client,
            "thread/agents_doc/save",
            text_after(0, None, "two")
        )
        .await,
        "-32600 version_conflict"
    );
    assert_eq!(in_force(&client, None).await, r#""one" from [], own"#);
}

#[tokio::test]
async fn the_same_text_again_changes_nothing() {
    let running = testkit::gateway().await;
    let client = in_workspace(&running).await;
    for first in ["text", ""] {
        let doc = saved(&client, text(None, first)).await;
        assert_eq!(saved(&client, text(None, first)).await, doc);
        let version = doc["version"].as_i64().unwrap();
        assert_eq!(saved(&client, text_after(version, None, first)).await, doc);
    }
    let doc = json!(get(&client, None).await.explicit);
    assert_eq!(
        versions(&client, &doc).await,
        r#"2 "autosave", 1 "autosave""#
    );
}

#[tokio::test]
async fn another_text_is_the_next_version() {
    let running = testkit::gateway().await;
    let client = in_workspace(&running).await;
    let doc = saved(&client, text(None, "one")).await;
    assert_snapshot!(save(&client, text_after(1, None, "two")).await, @r#"{"doc":{"content":"two","content_sha256":"3fc4ccfe745870e2c0d99f71f30ff0656c8dedd41cc1d7d3d376b0dbe685e2f3","created_at":1777900001,"id":"agd_000000000000000001","status":"active","title":"AGENTS.md","updated_at":1777900003,"version":2,"workspace_id":"ws_a"}}"#);
    assert_snapshot!(save(&client, text(None, "")).await, @r#"{"doc":{"content":"","content_sha256":"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855","created_at":1777900001,"id":"agd_000000000000000001","status":"draft","title":"AGENTS.md","updated_at":1777900005,"version":3,"workspace_id":"ws_a"}}"#);
    assert_snapshot!(save(&client, text_after(3, None, "four")).await, @r#"{"doc":{"content":"four","content_sha256":"04efaf080f5a3e74e1c29d1ca6a48569382cbbcd324e8d59d2b83ef21c039f00","created_at":1777900001,"id":"agd_000000000000000001","status":"active","title":"AGENTS.md","updated_at":1777900006,"version":4,"workspace_id":"ws_a"}}"#);
    assert_eq!(
        versions(&client, &doc).await,
        r#"4 "autosave", 3 "autosave", 2 "autosave", 1 "autosave""#
    );
}

#[tokio::test]
async fn a_conflict_names_both_versions_and_what_is_there() {
    let running = testkit::gateway().await;
    let client = in_workspace(&running).await;
    saved(&client, text(None, "one")).await;
    saved(&client, text(None, "two")).await;
    told(&client).await;
    assert_snapshot!(save(&client, text_after(1, None, "other")).await, @r#"-32600 version conflict in `thread/agents_doc/save`: expected version 1, actual version 2 {"actual":2,"content_sha256":"3fc4ccfe745870e2c0d99f71f30ff0656c8dedd41cc1d7d3d376b0dbe685e2f3","doc_id":"agd_000000000000000001","expected":1,"kind":"version_conflict","updated_at":1777900003}"#);
    // Saving the identical text with an outdated version is rejected too.
    assert_eq!(
        refusal(
            &client,
            "thread/agents_doc/save",
            text_after(1, None, "two")
        )
        .await,
        "-32600 version_conflict"
    );
    assert_eq!(
        refusal(
            &client,
            "thread/agents_doc/save",
            text_after(-1, None, "two")
        )
        .await,
        "-32600 version_conflict"
    );
    assert_eq!(in_force(&client, None).await, r#""two" from [], own"#);
    assert_eq!(told(&client).await, "");
}

#[tokio::test]
async fn line_endings_become_lf_and_nothing_else_changes() {
    let running = testkit::gateway().await;
    let client = in_workspace(&running).await;
    let doc = saved(&client, text(None, "a\r\nb\rc\n\r\r\n")).await;
    assert_eq!(doc["content"], "a\nb\nc\n\n\n");
    for same in ["a\nb\nc\n\n\n", "a\rb\rc\r\r\r", "a\r\nb\r\nc\r\n\r\n\r\n"] {
        assert_eq!(saved(&client, text(None, same)).await, doc);
    }
    for kept in [
        "\u{feff}# BOM",
        "  trailing  ",
        "e\u{301} and é",
        "no end",
        "\u{85}\u{2028}x",
        "\u{feff}",
    ] {
        let doc = saved(&client, text(None, kept)).await;
        assert_eq!(
            (&doc["content"], &doc["status"]),
            (&json!(kept), &json!("active"))
        );
    }
}

#[tokio::test]
async fn a_text_has_at_most_65536_characters_as_they_came() {
    let running = testkit::gateway().await;
    let client = in_workspace(&running).await;
    let doc = saved(&client, text(None, &"😀".repeat(MAX_CONTENT_CHARS))).await;
    assert_eq!(doc["version"], 1);
    let too_long = text(None, &"😀".repeat(MAX_CONTENT_CHARS + 1));
    assert_eq!(
        save(&client, too_long).await,
        r#"-32602 invalid params for `thread/agents_doc/save`: expected at most 65536 characters, found 65537 {"kind":"too_large","limit":65536,"path":"/content"}"#
    );
    // A CRLF counts as two characters, although it is stored as one.
    let pairs = text(None, &"\r\n".repeat(MAX_CONTENT_CHARS / 2 + 1));
    assert_eq!(
        refusal(&client, "thread/agents_doc/save", pairs).await,
        "-32602 too_large"
    );
    let pairs = text(None, &"\r\n".repeat(MAX_CONTENT_CHARS / 2));
    assert_eq!(
        saved(&client, pairs).await["content"],
        "\n".repeat(MAX_CONTENT_CHARS / 2)
    );
    assert_eq!(
        save(&client, text(None, "a\0b")).await,
        r#"-32602 invalid params for `thread/agents_doc/save`: expected text, found a NUL character {"kind":"invalid_params","path":"/content"}"#
    );
}

#[tokio::test]
async fn a_scope_has_to_be_there() {
    let running = testkit::gateway().await;
    let client = in_workspace(&running).await;
    answer(&client, "workspace/create", json!({"workspace_id": "ws_b"})).await;
    let here = folder(&client, None, "here").await;
    for method in ["get", "save", "archive", "export", "import"] {
        let method = format!("thread/agents_doc/{method}");
        let asked = |workspace: &str, folder: &str| json!({"workspace_id": workspace, "folder_id": folder, "content": "x", "files": [], "mode": "create"});
        assert_eq!(
            refusal(&client, &method, asked("ws_none", &here)).await,
            "-32602 unknown_workspace"
        );
        assert_eq!(
            refusal(&client, &method, asked("ws_a", "fld_none")).await,
            "-32602 unknown_folder"
        );
        assert_eq!(
            refusal(&client, &method, asked("ws_b", &here)).await,
            "-32602 unknown_folder"
        );
        for blank in ["", "  "] {
            assert_eq!(
                refusal(&client, &method, asked("ws_a", blank)).await,
                "-32602 invalid_params"
            );
        }
    }
}

#[tokio::test]
async fn the_text_is_checked_before_the_scope_and_the_scope_before_the_version() {
    let running = testkit::gateway().await;
    let client = in_workspace(&running).await;
    let method = "thread/agents_doc/save";
    let long = "x".repeat(MAX_CONTENT_CHARS + 1);
    let params = |workspace: &str, content: &str| json!({"workspace_id": workspace, "folder_id": "fld_none", "content": content, "expected_version": 9});
    assert_eq!(
        refusal(&client, method, params("ws_none", &long)).await,
        "-32602 too_large"
    );
    assert_eq!(
        refusal(&client, method, params("ws_none", "x")).await,
        "-32602 unknown_workspace"
    );
    assert_eq!(
        refusal(&client, method, params("ws_a", "x")).await,
        "-32602 unknown_folder"
    );
    let reason = json!({"workspace_id": "ws_a", "content": "x", "save_reason": "restore"});
    assert_eq!(
        refusal(&client, method, reason).await,
        "-32602 invalid_params"
    );
}

#[tokio::test]
async fn a_thread_named_beside_the_scope_changes_nothing() {
    let running = testkit::gateway().await;
    let client = in_workspace(&running).await;
    let mut root = text(None, "root");
    root["thread_id"] = json!("thr_none");
    assert_eq!(saved(&client, root.clone()).await["content"], "root");
    for method in ["thread/agents_doc/get", "thread/agents_doc/archive"] {
        client.call_raw(method, root.clone()).await.unwrap();
    }
    assert_eq!(get(&client, None).await.explicit, None);
}

#[tokio::test]
async fn the_nearest_active_text_is_in_force() {
    let running = testkit::gateway().await;
    let client = in_workspace(&running).await;
    let a = folder(&client, None, "A").await;
    let b = folder(&client, Some(&a), "B").await;
    let c = folder(&client, Some(&b), "C").await;
    assert_eq!(in_force(&client, Some(&c)).await, "nothing");
    saved(&client, text(None, "root")).await;
    assert_eq!(
        in_force(&client, Some(&c)).await,
        r#""root" from [], inherited"#
    );
    saved(&client, text(Some(&b), "b")).await;
    assert_eq!(
        in_force(&client, Some(&c)).await,
        r#""b" from [A / B], inherited"#
    );
    assert_eq!(
        in_force(&client, Some(&b)).await,
        r#""b" from [A / B], own"#
    );
    assert_eq!(
        in_force(&client, Some(&a)).await,
        r#""root" from [], inherited"#
    );
    saved(&client, text(Some(&c), "c")).await;
    assert_eq!(
        in_force(&client, Some(&c)).await,
        r#""c" from [A / B / C], own"#
    );
    assert_eq!(in_force(&client, None).await, r#""root" from [], own"#);
}

#[tokio::test]
async fn a_draft_does_not_hide_the_parent_file() {
    let running = testkit::gateway().await;
    let client = in_workspace(&running).await;
    let a = folder(&client, None, "A").await;
    saved(&client, text(None, "root")).await;
    saved(&client, text(Some(&a), "")).await;
    assert_snapshot!(answer(&client, "thread/agents_doc/get", scope(Some(&a))).await, @r#"{"effective":{"doc":{"content":"root","content_sha256":"4813494d137e1631bba301d5acab6e7bb7aa74ce1185d456565ef51d737677b2","created_at":1777900002,"id":"agd_000000000000000002","status":"active","title":"AGENTS.md","updated_at":1777900002,"version":1,"workspace_id":"ws_a"},"inherited":true,"resolved_at":1777900006,"resolved_for_folder_id":"fld_000000000000000001","source_path":[]},"explicit":{"content":"","content_sha256":"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855","created_at":1777900004,"folder_id":"fld_000000000000000001","id":"agd_000000000000000004","status":"draft","title":"AGENTS.md","updated_at":1777900004,"version":1,"workspace_id":"ws_a"}}"#);
}

#[tokio::test]
async fn the_tree_has_summaries_of_drafts_and_active_texts_without_content() {
    let running = testkit::gateway().await;
    let client = in_workspace(&running).await;
    let a = folder(&client, None, "A").await;
    let b = folder(&client, None, "B").await;
    saved(&client, text(None, "räksmörgås 😀")).await;
    saved(&client, text(Some(&a), "")).await;
    saved(&client, text(Some(&b), "gone")).await;
    answer(&client, "thread/agents_doc/archive", scope(Some(&b))).await;
    let tree = client
        .call_raw("thread/tree", json!({"workspace_id": "ws_a"}))
        .await
        .unwrap();
    assert_snapshot!(tree["agents_docs"], @r#"[{"char_count":12,"content_sha256":"4ba352f6f922d1273256030148ccea57c5622255341ae719c2525e1ec06d5ee0","id":"agd_000000000000000003","status":"active","updated_at":1777900003,"version":1,"workspace_id":"ws_a"},{"char_count":0,"content_sha256":"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855","folder_id":"fld_000000000000000001","id":"agd_000000000000000005","status":"draft","updated_at":1777900005,"version":1,"workspace_id":"ws_a"}]"#);
}

#[tokio::test]
async fn an_archived_text_makes_room_for_the_one_above() {
    let running = testkit::gateway().await;
    let client = in_workspace(&running).await;
    let a = folder(&client, None, "A").await;
    saved(&client, text(None, "root")).await;
    let doc = saved(&client, text(Some(&a), "a")).await;
    told(&client).await;
    let wrong = json!({"workspace_id": "ws_a", "folder_id": a, "expected_version": 2});
    assert_snapshot!(answer(&client, "thread/agents_doc/archive", wrong).await, @r#"-32600 version conflict in `thread/agents_doc/archive`: expected version 2, actual version 1 {"actual":1,"content_sha256":"ca978112ca1bbdcafac231b39a23dc4da786eff8147c4e72b9807785afee48bb","doc_id":"agd_000000000000000004","expected":2,"kind":"version_conflict","updated_at":1777900004}"#);
    assert_eq!(told(&client).await, "");
    let right = json!({"workspace_id": "ws_a", "folder_id": a, "expected_version": 1});
    assert_snapshot!(answer(&client, "thread/agents_doc/archive", right).await, @r#"{"archived":true,"effective":{"doc":{"content":"root","content_sha256":"4813494d137e1631bba301d5acab6e7bb7aa74ce1185d456565ef51d737677b2","created_at":1777900002,"id":"agd_000000000000000002","status":"active","title":"AGENTS.md","updated_at":1777900002,"version":1,"workspace_id":"ws_a"},"inherited":true,"resolved_at":1777900008,"resolved_for_folder_id":"fld_000000000000000001","source_path":[]}}"#);
    assert_snapshot!(told(&client).await, @r#"
    7 thread/agents_doc/changed {"doc":{"content":"a","content_sha256":"ca978112ca1bbdcafac231b39a23dc4da786eff8147c4e72b9807785afee48bb","created_at":1777900004,"folder_id":"fld_000000000000000001","id":"agd_000000000000000004","status":"archived","title":"AGENTS.md","updated_at":1777900007,"version":2,"workspace_id":"ws_a"},"effective":{"doc":{"content":"root","content_sha256":"4813494d137e1631bba301d5acab6e7bb7aa74ce1185d456565ef51d737677b2","created_at":1777900002,"id":"agd_000000000000000002","status":"active","title":"AGENTS.md","updated_at":1777900002,"version":1,"workspace_id":"ws_a"},"inherited":true,"resolved_at":1777900008,"resolved_for_folder_id":"fld_000000000000000001","source_path":[]},"effective_changed":true,"folder_id":"fld_000000000000000001","workspace_id":"ws_a"}
    8 thread/tree/changed {"reason":"thread/agents_doc/archive","tree_version":4,"workspace_id":"ws_a"}
    "#);
    assert_eq!(get(&client, Some(&a)).await.explicit, None);
    assert_eq!(
        versions(&client, &doc).await,
        r#"2 "archive", 1 "autosave""#
    );
}

#[tokio::test]
async fn archiving_nothing_is_told_to_nobody() {
    let running = testkit::gateway().await;
    let client = in_workspace(&running).await;
    let nothing = json!({"workspace_id": "ws_a", "expected_version": 7});
    assert_eq!(
        answer(&client, "thread/agents_doc/archive", nothing).await,
        r#"{"archived":false}"#
    );
    assert_eq!(told(&client).await, "");
}

#[tokio::test]
async fn the_versions_of_a_scope_never_repeat() {
    let running = testkit::gateway().await;
    let client = in_workspace(&running).await;
    let a = folder(&client, None, "A").await;
    let first = saved(&client, text(Some(&a), "one")).await;
    answer(&client, "thread/agents_doc/archive", scope(Some(&a))).await;
    for stale in [1, 2] {
        assert_eq!(
            refusal(
                &client,
                "thread/agents_doc/save",
                text_after(stale, Some(&a), "stale")
            )
            .await,
            "-32600 version_conflict"
        );
    }
    let second = saved(&client, text(Some(&a), "one")).await;
    assert_ne!(first["id"], second["id"]);
    assert_eq!(second["version"], 3);
    answer(&client, "thread/agents_doc/archive", scope(Some(&a))).await;
    let third = saved(&client, text_after(0, Some(&a), "three")).await;
    assert_eq!(third["version"], 5);
    // Versions of another scope are counted separately.
    assert_eq!(saved(&client, text(None, "root")).await["version"], 1);
}

#[tokio::test]
async fn a_thread_gets_what_is_in_force_in_its_folder() {
    let running = testkit::gateway().await;
    let client = in_workspace(&running).await;
    let a = folder(&client, None, "A").await;
    let thread = json!({"workspace_id": "ws_a", "thread_id": "thr_a", "folder_id": a});
    saved(&client, text(None, "root")).await;
    saved(&client, text(Some(&a), "a")).await;
    answer(&client, "thread/start", thread.clone()).await;
    assert_snapshot!(answer(&client, "thread/agents_doc/resolve_for_thread", thread.clone()).await, @r#"{"effective":{"doc":{"content":"root","content_sha256":"4813494d137e1631bba301d5acab6e7bb7aa74ce1185d456565ef51d737677b2","created_at":1777900002,"id":"agd_000000000000000002","status":"active","title":"AGENTS.md","updated_at":1777900002,"version":1,"workspace_id":"ws_a"},"inherited":false,"resolved_at":1777900007,"source_path":[]}}"#);
    answer(&client, "thread/move", thread.clone()).await;
    assert_snapshot!(answer(&client, "thread/agents_doc/resolve_for_thread", thread).await, @r#"{"effective":{"doc":{"content":"a","content_sha256":"ca978112ca1bbdcafac231b39a23dc4da786eff8147c4e72b9807785afee48bb","created_at":1777900004,"folder_id":"fld_000000000000000001","id":"agd_000000000000000004","status":"active","title":"AGENTS.md","updated_at":1777900004,"version":1,"workspace_id":"ws_a"},"inherited":false,"resolved_at":1777900009,"resolved_for_folder_id":"fld_000000000000000001","source_folder_id":"fld_000000000000000001","source_path":["A"]}}"#);
}

#[tokio::test]
async fn a_thread_has_to_be_in_the_workspace() {
    let running = testkit::gateway().await;
    let client = in_workspace(&running).await;
    answer(&client, "workspace/create", json!({"workspace_id": "ws_b"})).await;
    answer(
        &client,
        "thread/start",
        json!({"workspace_id": "ws_b", "thread_id": "thr_b"}),
    )
    .await;
    for method in [
        "thread/agents_doc/resolve_for_thread",
        "thread/agents_doc/preview",
    ] {
        let thread = |id: &str| json!({"workspace_id": "ws_a", "thread_id": id});
        assert_eq!(
            answer(&client, method, thread("thr_none")).await,
            format!(
                r#"-32602 invalid params for `{method}`: there is no thread `thr_none` {{"kind":"unknown_thread","path":"/thread_id"}}"#
            )
        );
        assert_eq!(
            answer(&client, method, thread("thr_b")).await,
            format!(
                r#"-32602 invalid params for `{method}`: thread `thr_b` is not in workspace `ws_a` {{"kind":"unknown_thread","path":"/thread_id"}}"#
            )
        );
        assert_eq!(
            refusal(&client, method, thread(" ")).await,
            "-32602 invalid_params"
        );
    }
}

#[tokio::test]
async fn the_versions_of_a_text_are_listed_in_pages() {
    let running = testkit::gateway().await;
    let client = in_workspace(&running).await;
    for content in ["one", "two", "three", "four", "five"] {
        saved(
            &client,
            json!({"workspace_id": "ws_a", "content": content, "save_reason": "manual"}),
        )
        .await;
    }
    let id = get(&client, None).await.explicit.unwrap().id;
    let page =
        |cursor: Value| json!({"workspace_id": "ws_a", "doc_id": id, "limit": 2, "cursor": cursor});
    assert_snapshot!(answer(&client, "thread/agents_doc/revisions", page(Value::Null)).await, @r#"{"items":[{"char_count":4,"content_sha256":"222b0bd51fcef7e65c2e62db2ed65457013bab56be6fafeb19ee11d453153c80","save_reason":"manual","saved_at":1777900009,"saved_by":"owner","version":5},{"char_count":4,"content_sha256":"04efaf080f5a3e74e1c29d1ca6a48569382cbbcd324e8d59d2b83ef21c039f00","save_reason":"manual","saved_at":1777900007,"saved_by":"owner","version":4}],"next_cursor":"4"}"#);
    assert_snapshot!(answer(&client, "thread/agents_doc/revisions", page(json!("4"))).await, @r#"{"items":[{"char_count":5,"content_sha256":"8b5b9db0c13db24256c829aa364aa90c6d2eba318b9232a4ab9313b954d3555f","save_reason":"manual","saved_at":1777900005,"saved_by":"owner","version":3},{"char_count":3,"content_sha256":"3fc4ccfe745870e2c0d99f71f30ff0656c8dedd41cc1d7d3d376b0dbe685e2f3","save_reason":"manual","saved_at":1777900003,"saved_by":"owner","version":2}],"next_cursor":"2"}"#);
    assert_snapshot!(answer(&client, "thread/agents_doc/revisions", page(json!("2"))).await, @r#"{"items":[{"char_count":3,"content_sha256":"7692c3ad3540bb803c020b3aee66cd8887123234ea0c6e7143c0add73ff431ed","save_reason":"manual","saved_at":1777900001,"saved_by":"owner","version":1}]}"#);
    assert_eq!(
        refusal(&client, "thread/agents_doc/revisions", page(json!("x"))).await,
        "-32602 invalid_params"
    );
    let none = json!({"workspace_id": "ws_a", "doc_id": id, "limit": 0});
    assert_eq!(
        refusal(&client, "thread/agents_doc/revisions", none).await,
        "-32602 invalid_params"
    );
    let most = json!({"workspace_id": "ws_a", "doc_id": id, "limit": 1_000_000});
    let all = client
        .call_raw("thread/agents_doc/revisions", most)
        .await
        .unwrap();
    assert_eq!(
        (all["items"].as_array().unwrap().len(), &all["next_cursor"]),
        (5, &Value::Null)
    );
}

#[tokio::test]
async fn an_old_version_can_be_read() {
    let running = testkit::gateway().await;
    let client = in_workspace(&running).await;
    answer(&client, "workspace/create", json!({"workspace_id": "ws_b"})).await;
    let doc = saved(&client, text(None, "one\r\n")).await;
    saved(&client, text(None, "two")).await;
    answer(&client, "thread/agents_doc/archive", scope(None)).await;
    let version = |workspace: &str, version: i64| json!({"workspace_id": workspace, "doc_id": doc["id"], "version": version});
    assert_snapshot!(answer(&client, "thread/agents_doc/revision_get", version("ws_a", 1)).await, @r#"{"revision":{"content":"one\n","content_sha256":"2c8b08da5ce60398e1f19af0e5dccc744df274b826abe585eaba68c525434806","doc_id":"agd_000000000000000001","save_reason":"autosave","saved_at":1777900002,"saved_by":"owner","version":1}}"#);
    assert_snapshot!(answer(&client, "thread/agents_doc/revision_get", version("ws_a", 3)).await, @r#"{"revision":{"content":"two","content_sha256":"3fc4ccfe745870e2c0d99f71f30ff0656c8dedd41cc1d7d3d376b0dbe685e2f3","doc_id":"agd_000000000000000001","save_reason":"archive","saved_at":1777900006,"saved_by":"owner","version":3}}"#);
    assert_snapshot!(answer(&client, "thread/agents_doc/revision_get", version("ws_a", 4)).await, @r#"-32602 invalid params for `thread/agents_doc/revision_get`: document `agd_000000000000000001` has no version 4 {"kind":"unknown_revision","path":"/version"}"#);
    assert_snapshot!(answer(&client, "thread/agents_doc/revision_get", version("ws_b", 1)).await, @r#"-32602 invalid params for `thread/agents_doc/revision_get`: there is no AGENTS.md document `agd_000000000000000001` {"kind":"unknown_agents_doc","path":"/doc_id"}"#);
}

#[tokio::test]
async fn an_old_version_is_written_as_a_new_one() {
    let running = testkit::gateway().await;
    let client = in_workspace(&running).await;
    let doc = saved(&client, text(None, "one")).await;
    saved(&client, text(None, "two")).await;
    saved(&client, text(None, "three")).await;
    told(&client).await;
    let restore = |version: Value, expected: Value| json!({"workspace_id": "ws_a", "doc_id": doc["id"], "version": version, "expected_version": expected});
    let method = "thread/agents_doc/restore";
    assert_snapshot!(answer(&client, method, restore(json!(1), json!(2))).await, @r#"-32600 version conflict in `thread/agents_doc/restore`: expected version 2, actual version 3 {"actual":3,"content_sha256":"8b5b9db0c13db24256c829aa364aa90c6d2eba318b9232a4ab9313b954d3555f","doc_id":"agd_000000000000000001","expected":2,"kind":"version_conflict","updated_at":1777900005}"#);
    assert_snapshot!(answer(&client, method, restore(json!(9), json!(3))).await, @r#"-32602 invalid params for `thread/agents_doc/restore`: document `agd_000000000000000001` has no version 9 {"kind":"unknown_revision","path":"/version"}"#);
    assert_eq!(told(&client).await, "");
    assert_snapshot!(answer(&client, method, restore(json!(1), json!(3))).await, @r#"{"doc":{"content":"one","content_sha256":"7692c3ad3540bb803c020b3aee66cd8887123234ea0c6e7143c0add73ff431ed","created_at":1777900001,"id":"agd_000000000000000001","status":"active","title":"AGENTS.md","updated_at":1777900009,"version":4,"workspace_id":"ws_a"}}"#);
    assert_eq!(
        told_briefly(&client).await,
        [
            "root: doc one, effective one, changed true",
            "thread/tree/changed"
        ]
    );
    // Without a version, the previous one is restored.
    let restored = client
        .call_raw(method, restore(Value::Null, Value::Null))
        .await
        .unwrap();
    assert_eq!(
        (&restored["doc"]["content"], &restored["doc"]["version"]),
        (&json!("three"), &json!(5))
    );
    assert_eq!(
        versions(&client, &doc).await,
        r#"5 "restore", 4 "restore", 3 "autosave", 2 "autosave", 1 "autosave""#
    );
}

#[tokio::test]
async fn an_archived_document_comes_back_unless_its_scope_has_another_one() {
    let running = testkit::gateway().await;
    let client = in_workspace(&running).await;
    let a = folder(&client, None, "A").await;
    let doc = saved(&client, text(Some(&a), "one")).await;
    answer(&client, "thread/agents_doc/archive", scope(Some(&a))).await;
    let restore = json!({"workspace_id": "ws_a", "doc_id": doc["id"]});
    assert_snapshot!(answer(&client, "thread/agents_doc/restore", restore.clone()).await, @r##"{"doc":{"content":"one","content_sha256":"7692c3ad3540bb803c020b3aee66cd8887123234ea0c6e7143c0add73ff431ed","created_at":1777900002,"folder_id":"fld_000000000000000001","id":"agd_000000000000000002","status":"active","title":"AGENTS.md","updated_at":1777900005,"version":3,"workspace_id":"ws_a"}}"##);
    answer(&client, "thread/agents_doc/archive", scope(Some(&a))).await;
    saved(&client, text(Some(&a), "another")).await;
    assert_snapshot!(answer(&client, "thread/agents_doc/restore", restore.clone()).await, @r##"-32600 version conflict in `thread/agents_doc/restore`: expected version 0, actual version 5 {"actual":5,"content_sha256":"ae448ac86c4e8e4dec645729708ef41873ae79c6dff84eff73360989487f08e5","doc_id":"agd_000000000000000007","expected":0,"kind":"version_conflict","updated_at":1777900008}"##);
    answer(&client, "thread/folder/delete", scope(Some(&a))).await;
    assert_eq!(
        refusal(&client, "thread/agents_doc/restore", restore).await,
        "-32602 unknown_folder"
    );
}

#[tokio::test]
async fn a_preview_is_the_section_of_a_new_turn() {
    let running = testkit::gateway().await;
    let client = in_workspace(&running).await;
    let a = folder(&client, None, "A").await;
    let b = folder(&client, Some(&a), "B").await;
    let thread = json!({"workspace_id": "ws_a", "thread_id": "thr_a", "folder_id": b});
    answer(&client, "thread/start", thread.clone()).await;
    answer(&client, "thread/move", thread.clone()).await;
    let preview = "thread/agents_doc/preview";
    assert_eq!(
        answer(&client, preview, thread.clone()).await,
        r#"{"char_count":0,"source_path":[],"text":"","truncated":false}"#
    );
    saved(&client, text(Some(&b), "\n# Rules\n</AGENTS_MD>\n\n")).await;
    assert_snapshot!(answer(&client, preview, thread.clone()).await, @r##"{"char_count":249,"doc_id":"agd_000000000000000003","source_path":["A","B"],"text":"# AGENTS.md\n\nSource: thread tree / A / B\nApplies to: this thread, unless a nearer folder provides its own AGENTS.md.\nRank: below system and developer messages and below what the user asks in this turn.\n\n<AGENTS_MD>\n# Rules\n<\\/AGENTS_MD>\n</AGENTS_MD>","truncated":false,"version":1}"##);
    let long = vec!["0123456789"; 2_000].join("\n");
    saved(&client, text(Some(&b), &long)).await;
    let shown = client.call_raw(preview, thread).await.unwrap();
    let section = shown["text"].as_str().unwrap();
    assert!(
        section.ends_with("of 21999 characters are shown.]\n</AGENTS_MD>"),
        "{section}"
    );
    assert_eq!(
        (section.chars().count() <= 16_000, &shown["truncated"]),
        (true, &json!(true))
    );
    assert_eq!(shown["char_count"], section.chars().count());
}

#[tokio::test]
async fn a_text_is_saved_with_a_warning_exactly_when_its_end_will_not_reach_the_model() {
    let running = testkit::gateway().await;
    let client = in_workspace(&running).await;
    let thread = json!({"workspace_id": "ws_a", "thread_id": "thr_a"});
    answer(&client, "thread/start", thread.clone()).await;
    let frame = {
        saved(&client, text(None, "x")).await;
        let shown = client
            .call_raw("thread/agents_doc/preview", thread.clone())
            .await
            .unwrap();
        usize::try_from(shown["char_count"].as_u64().unwrap()).unwrap() - 1
    };
    let fits = 16_000 - frame;
    for (content, is_cut) in [
        ("x".repeat(fits), false),
        ("x".repeat(fits + 1), true),
        (format!("{}{}", "x".repeat(fits), "\n".repeat(9_999)), false),
        ("x".repeat(MAX_CONTENT_CHARS), true),
        (" ".repeat(20_000), false),
    ] {
        let saved = client
            .call_raw("thread/agents_doc/save", text(None, &content))
            .await
            .unwrap();
        let shown = client
            .call_raw("thread/agents_doc/preview", thread.clone())
            .await
            .unwrap();
        assert_eq!(shown["truncated"], is_cut, "{}", content.len());
        let length = content.len();
        let warning = format!(
            "the text has {length} characters, which is more than a prompt takes: the end will not reach the model"
        );
        assert_eq!(
            saved.get("content_warnings"),
            is_cut.then(|| json!([warning])).as_ref()
        );
    }
}

#[tokio::test]
async fn moving_a_folder_tells_truthfully_what_is_in_force_there() {
    let running = testkit::gateway().await;
    let client = in_workspace(&running).await;
    let a = folder(&client, None, "A").await;
    let b = folder(&client, None, "B").await;
    let own = folder(&client, None, "own").await;
    saved(&client, text(None, "root")).await;
    saved(&client, text(Some(&a), "a")).await;
    saved(&client, text(Some(&own), "own")).await;
    told(&client).await;
    let moving = |folder: &str, parent: Option<&str>| json!({"workspace_id": "ws_a", "folder_id": folder, "parent_folder_id": parent});
    answer(&client, "thread/folder/move", moving(&b, Some(&a))).await;
    assert_snapshot!(told(&client).await, @r#"
    11 thread/agents_doc/changed {"effective":{"doc":{"content":"a","content_sha256":"ca978112ca1bbdcafac231b39a23dc4da786eff8147c4e72b9807785afee48bb","created_at":1777900006,"folder_id":"fld_000000000000000001","id":"agd_000000000000000006","status":"active","title":"AGENTS.md","updated_at":1777900006,"version":1,"workspace_id":"ws_a"},"inherited":true,"resolved_at":1777900011,"resolved_for_folder_id":"fld_000000000000000002","source_folder_id":"fld_000000000000000001","source_path":["A"]},"effective_changed":true,"folder_id":"fld_000000000000000002","workspace_id":"ws_a"}
    12 thread/tree/changed {"reason":"thread/folder/move","tree_version":7,"workspace_id":"ws_a"}
    "#);
    answer(&client, "thread/folder/move", moving(&own, Some(&a))).await;
    assert_eq!(
        told_briefly(&client).await,
        [
            format!("{own}: doc -, effective own, changed false"),
            "thread/tree/changed".to_owned()
        ]
    );
    assert_eq!(
        in_force(&client, Some(&own)).await,
        r#""own" from [A / own], own"#
    );
}

#[tokio::test]
async fn deleting_a_folder_archives_its_text_and_tells_so() {
    let running = testkit::gateway().await;
    let client = in_workspace(&running).await;
    let a = folder(&client, None, "A").await;
    let b = folder(&client, Some(&a), "B").await;
    let c = folder(&client, Some(&b), "C").await;
    saved(&client, text(Some(&a), "a")).await;
    let doc = saved(&client, text(Some(&b), "b")).await;
    told(&client).await;
    answer(&client, "thread/folder/delete", scope(Some(&b))).await;
    assert_snapshot!(told(&client).await, @r#"
    9 thread/agents_doc/changed {"doc":{"content":"b","content_sha256":"3e23e8160039594a33894f6564e1b1348bbd7a0088d42c4acb73eeaed59c009d","created_at":1777900006,"folder_id":"fld_000000000000000002","id":"agd_000000000000000006","status":"archived","title":"AGENTS.md","updated_at":1777900008,"version":2,"workspace_id":"ws_a"},"effective_changed":true,"folder_id":"fld_000000000000000002","workspace_id":"ws_a"}
    10 thread/tree/changed {"reason":"thread/folder/delete","tree_version":6,"workspace_id":"ws_a"}
    "#);
    assert_eq!(
        in_force(&client, Some(&c)).await,
        r#""a" from [A], inherited"#
    );
    assert_eq!(
        versions(&client, &doc).await,
        r#"2 "archive", 1 "autosave""#
    );
    // A draft was never effective.
    saved(&client, text(Some(&c), "")).await;
    told(&client).await;
    answer(&client, "thread/folder/delete", scope(Some(&c))).await;
    assert_eq!(
        told_briefly(&client).await,
        [
            format!("{c}: doc , effective -, changed false"),
            "thread/tree/changed".to_owned()
        ]
    );
}

#[tokio::test]
async fn a_new_folder_name_shows_in_the_source_path() {
    let running = testkit::gateway().await;
    let client = in_workspace(&running).await;
    let a = folder(&client, None, "A").await;
    saved(&client, text(Some(&a), "a")).await;
    answer(
        &client,
        "thread/folder/update",
        json!({"workspace_id": "ws_a", "folder_id": a, "name": "Backend"}),
    )
    .await;
    assert_eq!(
        in_force(&client, Some(&a)).await,
        r#""a" from [Backend], own"#
    );
}

#[tokio::test]
async fn the_answer_comes_before_the_document_and_the_document_before_the_tree() {
    let running = testkit::gateway().await;
    in_workspace(&running).await;
    let sent = running
        .transcript(&[
            ("thread/agents_doc/save", text(None, "one")),
            ("thread/agents_doc/save", text(None, "one")),
            ("thread/agents_doc/archive", scope(None)),
        ])
        .await;
    assert_snapshot!(sent, @r#"
    {"jsonrpc":"2.0","id":1,"result":{"doc":{"id":"agd_000000000000000001","workspace_id":"ws_a","status":"active","title":"AGENTS.md","content":"one","content_sha256":"7692c3ad3540bb803c020b3aee66cd8887123234ea0c6e7143c0add73ff431ed","version":1,"created_at":1777900001,"updated_at":1777900001}}}
    {"jsonrpc":"2.0","method":"thread/agents_doc/changed","params":{"workspace_id":"ws_a","doc":{"id":"agd_000000000000000001","workspace_id":"ws_a","status":"active","title":"AGENTS.md","content":"one","content_sha256":"7692c3ad3540bb803c020b3aee66cd8887123234ea0c6e7143c0add73ff431ed","version":1,"created_at":1777900001,"updated_at":1777900001},"effective":{"doc":{"id":"agd_000000000000000001","workspace_id":"ws_a","status":"active","title":"AGENTS.md","content":"one","content_sha256":"7692c3ad3540bb803c020b3aee66cd8887123234ea0c6e7143c0add73ff431ed","version":1,"created_at":1777900001,"updated_at":1777900001},"source_path":[],"inherited":false,"resolved_at":1777900002},"effective_changed":true},"seq":2}
    {"jsonrpc":"2.0","method":"thread/tree/changed","params":{"workspace_id":"ws_a","reason":"thread/agents_doc/save","tree_version":1},"seq":3}
    {"jsonrpc":"2.0","id":2,"result":{"doc":{"id":"agd_000000000000000001","workspace_id":"ws_a","status":"active","title":"AGENTS.md","content":"one","content_sha256":"7692c3ad3540bb803c020b3aee66cd8887123234ea0c6e7143c0add73ff431ed","version":1,"created_at":1777900001,"updated_at":1777900001}}}
    {"jsonrpc":"2.0","method":"thread/agents_doc/changed","params":{"workspace_id":"ws_a","doc":{"id":"agd_000000000000000001","workspace_id":"ws_a","status":"active","title":"AGENTS.md","content":"one","content_sha256":"7692c3ad3540bb803c020b3aee66cd8887123234ea0c6e7143c0add73ff431ed","version":1,"created_at":1777900001,"updated_at":1777900001},"effective":{"doc":{"id":"agd_000000000000000001","workspace_id":"ws_a","status":"active","title":"AGENTS.md","content":"one","content_sha256":"7692c3ad3540bb803c020b3aee66cd8887123234ea0c6e7143c0add73ff431ed","version":1,"created_at":1777900001,"updated_at":1777900001},"source_path":[],"inherited":false,"resolved_at":1777900004},"effective_changed":false},"seq":4}
    {"jsonrpc":"2.0","id":3,"result":{"archived":true}}
    {"jsonrpc":"2.0","method":"thread/agents_doc/changed","params":{"workspace_id":"ws_a","doc":{"id":"agd_000000000000000001","workspace_id":"ws_a","status":"archived","title":"AGENTS.md","content":"one","content_sha256":"7692c3ad3540bb803c020b3aee66cd8887123234ea0c6e7143c0add73ff431ed","version":2,"created_at":1777900001,"updated_at":1777900005},"effective_changed":true},"seq":5}
    {"jsonrpc":"2.0","method":"thread/tree/changed","params":{"workspace_id":"ws_a","reason":"thread/agents_doc/archive","tree_version":2},"seq":6}
    "#);
}

#[tokio::test]
async fn every_connection_of_the_workspace_is_told_and_no_other() {
    let running = testkit::gateway().await;
    let client = in_workspace(&running).await;
    let (here, elsewhere) = (running.client(), running.client());
    answer(&here, "thread/tree", json!({"workspace_id": "ws_a"})).await;
    answer(
        &elsewhere,
        "workspace/create",
        json!({"workspace_id": "ws_b"}),
    )
    .await;
    told(&client).await;
    told(&here).await;
    told(&elsewhere).await;
    saved(&client, text(None, "one")).await;
    let seen = told(&client).await;
    assert_eq!(seen.lines().count(), 2, "{seen}");
    assert_eq!(told(&here).await, seen);
    assert_eq!(told(&elsewhere).await, "");
}

/// Returns files of a repository.
fn files(files: &[(&str, &str)]) -> Vec<ThreadAgentsDocFile> {
    let file = |(path, content): &(&str, &str)| ThreadAgentsDocFile {
        path: (*path).to_owned(),
        content: (*content).to_owned(),
        expected_version: None,
    };
    files.iter().map(file).collect()
}

fn import(mode: &str, files: &[(&str, &str)]) -> Value {
    json!({"workspace_id": "ws_a", "mode": mode, "files": self::files(files)})
}

/// Returns every exported file of the workspace as path and text.
async fn exported(client: &Client) -> Vec<(String, String)> {
    let params: ThreadAgentsDocExportParams =
        serde_json::from_value(scope(None)).expect("a scope is enough");
    let found = client.call::<ThreadAgentsDocExport>(params).await;
    let files = found.expect("the workspace is there").files;
    files
        .into_iter()
        .map(|file| (file.path, file.content))
        .collect()
}

#[tokio::test]
async fn the_files_of_a_repository_become_folders_and_documents() {
    let running = testkit::gateway().await;
    let client = in_workspace(&running).await;
    let tree = [
        ("AGENTS.md", "root\r\n"),
        ("web/app/CLAUDE.md", "app"),
        ("web/AGENTS.md", "web"),
        ("web/CLAUDE.md", "not this one"),
    ];
    assert_snapshot!(answer(&client, "thread/agents_doc/import", import("create", &tree)).await, @r#"{"docs":[{"content":"root\n","content_sha256":"53175bcc0524f37b47062fafdda28e3f8eb91d519ca0a184ca71bbebe72f969a","created_at":1777900001,"id":"agd_000000000000000001","status":"active","title":"AGENTS.md","updated_at":1777900001,"version":1,"workspace_id":"ws_a"},{"content":"web","content_sha256":"4b5e57f6eb2f42b9039b3d1e13929295f231749c510cbe341cd68036d9af97e2","created_at":1777900001,"folder_id":"fld_000000000000000003","id":"agd_000000000000000004","status":"active","title":"AGENTS.md","updated_at":1777900001,"version":1,"workspace_id":"ws_a"},{"content":"app","content_sha256":"a172cedcae47474b615c54d510a5d84a8dea3032e958587430b413538be3f333","created_at":1777900001,"folder_id":"fld_000000000000000006","id":"agd_000000000000000007","status":"active","title":"AGENTS.md","updated_at":1777900001,"version":1,"workspace_id":"ws_a"}],"folders":[{"created_at":1777900001,"id":"fld_000000000000000003","name":"web","updated_at":1777900001,"workspace_id":"ws_a"},{"created_at":1777900001,"id":"fld_000000000000000006","name":"app","parent_folder_id":"fld_000000000000000003","updated_at":1777900001,"workspace_id":"ws_a"}]}"#);
    assert_eq!(
        told_briefly(&client).await.len(),
        4,
        "a line for each document and one for the tree"
    );
    assert_snapshot!(answer(&client, "thread/agents_doc/export", scope(None)).await, @r#"{"files":[{"content":"root\n","content_sha256":"53175bcc0524f37b47062fafdda28e3f8eb91d519ca0a184ca71bbebe72f969a","path":"AGENTS.md","version":1},{"content":"web","content_sha256":"4b5e57f6eb2f42b9039b3d1e13929295f231749c510cbe341cd68036d9af97e2","path":"web/AGENTS.md","version":1},{"content":"app","content_sha256":"a172cedcae47474b615c54d510a5d84a8dea3032e958587430b413538be3f333","path":"web/app/AGENTS.md","version":1}],"folders":[{"folder_id":"fld_000000000000000003","path":"web"},{"folder_id":"fld_000000000000000006","path":"web/app"}]}"#);
}

#[tokio::test]
async fn an_import_reuses_folders_and_leaves_texts_alone_unless_told_otherwise() {
    let running = testkit::gateway().await;
    let client = in_workspace(&running).await;
    let web = folder(&client, None, "web").await;
    let doc = saved(&client, text(Some(&web), "old")).await;
    told(&client).await;
    let tree = [("web/AGENTS.md", "new"), ("web/app/AGENTS.md", "app")];
    let create = client
        .call_raw("thread/agents_doc/import", import("create", &tree))
        .await
        .unwrap();
    assert_eq!(create["docs"].as_array().unwrap().len(), 1);
    assert_eq!(
        (
            &create["docs"][0]["content"],
            &create["folders"][0]["parent_folder_id"]
        ),
        (&json!("app"), &json!(web))
    );
    assert_eq!(
        in_force(&client, Some(&web)).await,
        r#""old" from [web], own"#
    );
    let update = client
        .call_raw("thread/agents_doc/import", import("update", &tree))
        .await
        .unwrap();
    assert_eq!(
        (
            &update["docs"][0]["id"],
            &update["docs"][0]["version"],
            &update["folders"]
        ),
        (&doc["id"], &json!(2), &json!([]))
    );
    assert_eq!(versions(&client, &doc).await, r#"2 "manual", 1 "autosave""#);
    told(&client).await;
    // Importing the same files again changes nothing.
    assert_eq!(
        answer(&client, "thread/agents_doc/import", import("update", &tree)).await,
        r#"{"docs":[],"folders":[]}"#
    );
    assert_eq!(told(&client).await, "");
}

#[tokio::test]
async fn an_import_with_one_bad_file_changes_nothing() {
    let running = testkit::gateway().await;
    let client = in_workspace(&running).await;
    saved(&client, text(None, "root")).await;
    told(&client).await;
    let before = answer(&client, "thread/tree", json!({"workspace_id": "ws_a"})).await;
    let deep = format!("{}AGENTS.md", "d/".repeat(65));
    let long = "x".repeat(MAX_CONTENT_CHARS + 1);
    for (path, content, refused) in [
        ("../AGENTS.md", "x", "-32602 invalid_params"),
        ("/etc/AGENTS.md", "x", "-32602 invalid_params"),
        ("a/README.md", "x", "-32602 invalid_params"),
        ("a/AGENTS.md", "x", "-32602 invalid_params"),
        ("b/AGENTS.md", "a\0b", "-32602 invalid_params"),
        ("b/AGENTS.md", &long, "-32602 too_large"),
        (&deep, "x", "-32600 too_large"),
    ] {
        let files = [("AGENTS.md", "new"), ("a/AGENTS.md", "a"), (path, content)];
        assert_eq!(
            refusal(
                &client,
                "thread/agents_doc/import",
                import("update", &files)
            )
            .await,
            refused,
            "{path}"
        );
    }
    assert_eq!(
        answer(&client, "thread/tree", json!({"workspace_id": "ws_a"})).await,
        before
    );
    assert_eq!(told(&client).await, "");
}

#[tokio::test]
async fn what_was_exported_can_be_imported() {
    let running = testkit::gateway().await;
    let client = in_workspace(&running).await;
    let a = folder(&client, None, "A").await;
    let b = folder(&client, Some(&a), "B").await;
    // Two folders with the same name, and a name that no directory can have.
    let twin = folder(&client, None, "A").await;
    let odd = folder(&client, None, "x/..").await;
    for (place, content) in [
        (None, "root"),
        (Some(&b), "b"),
        (Some(&twin), "twin"),
        (Some(&odd), "odd"),
    ] {
        saved(&client, text(place.map(String::as_str), content)).await;
    }
    let files = exported(&client).await;
    assert_eq!(
        files,
        [
            ("AGENTS.md", "root"),
            ("A/B/AGENTS.md", "b"),
            ("A (2)/AGENTS.md", "twin"),
            ("x_../AGENTS.md", "odd")
        ]
        .map(|(path, content)| (path.to_owned(), content.to_owned()))
    );

    let other = testkit::gateway().await;
    let client = in_workspace(&other).await;
    let import = ThreadAgentsDocImportParams {
        workspace_id: serde_json::from_value(json!("ws_a")).unwrap(),
        folder_id: None,
        files: files
            .iter()
            .map(|(path, content)| ThreadAgentsDocFile {
                path: path.clone(),
                content: content.clone(),
                expected_version: None,
            })
            .collect(),
        mode: ThreadAgentsDocImportMode::Create,
    };
    client.call::<ThreadAgentsDocImport>(import).await.unwrap();
    assert_eq!(exported(&client).await, files);
}

#[tokio::test]
async fn an_import_means_the_folders_that_an_export_names() {
    let running = testkit::gateway().await;
    let client = in_workspace(&running).await;
    let mut places = Vec::new();
    for name in ["A", "A", "x/.."] {
        let place = folder(&client, None, name).await;
        saved(&client, text(Some(&place), "old")).await;
        places.push(place);
    }
    let files = [
        ("A/AGENTS.md", "first"),
        ("A (2)/AGENTS.md", "second"),
        ("x_../AGENTS.md", "third"),
    ];
    let imported = client
        .call_raw("thread/agents_doc/import", import("update", &files))
        .await
        .unwrap();
    let docs = imported["docs"].as_array().unwrap().iter();
    let changed: Vec<_> = docs
        .map(|doc| (doc["folder_id"].clone(), doc["content"].clone()))
        .collect();
    let [first, second, third] = places.try_into().unwrap();
    assert_eq!(
        changed,
        [
            (json!(first), json!("first")),
            (json!(second), json!("second")),
            (json!(third), json!("third")),
        ]
    );
    assert_eq!(imported["folders"], json!([]));
}

#[tokio::test]
async fn an_import_for_another_version_changes_nothing() {
    let running = testkit::gateway().await;
    let client = in_workspace(&running).await;
    saved(&client, text(None, "one")).await;
    saved(&client, text(None, "two")).await;
    let before = answer(&client, "thread/tree", json!({"workspace_id": "ws_a"})).await;
    let import = |mode: &str, root: i64, new: i64| {
        json!({"workspace_id": "ws_a", "mode": mode, "files": [
            {"path": "new/AGENTS.md", "content": "new", "expected_version": new},
            {"path": "AGENTS.md", "content": "mine", "expected_version": root},
        ]})
    };
    for (mode, root, new) in [("update", 1, 0), ("create", 1, 0), ("update", 2, 1)] {
        let refused = refusal(&client, "thread/agents_doc/import", import(mode, root, new));
        assert_eq!(refused.await, "-32600 version_conflict", "{mode}");
        let after = answer(&client, "thread/tree", json!({"workspace_id": "ws_a"}));
        assert_eq!(after.await, before, "{mode}");
    }
    let method = "thread/agents_doc/import";
    let done = client.call_raw(method, import("update", 2, 0)).await;
    let done = done.unwrap();
    assert_eq!(done["docs"][0]["version"], 3);
    assert_eq!(done["docs"][1]["version"], 1);
}

/// Saves concurrently on 16 connections.
async fn rush(running: &TestGateway, params: impl Fn(usize) -> Value) -> Vec<String> {
    let start = Arc::new(tokio::sync::Barrier::new(16));
    let mut writers = Vec::new();
    for writer in 0..16 {
        let (client, start, params) = (running.client(), Arc::clone(&start), params(writer));
        writers.push(tokio::spawn(async move {
            start.wait().await;
            save(&client, params).await
        }));
    }
    let mut answers = Vec::new();
    for writer in writers {
        answers.push(writer.await.expect("a writer comes to its end"));
    }
    answers
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn of_sixteen_who_saw_the_same_version_one_wins() {
    let running = testkit::gateway().await;
    let client = in_workspace(&running).await;
    saved(&client, text(None, "one")).await;
    let answers = rush(&running, |writer| {
        text_after(1, None, &format!("by {writer}"))
    })
    .await;
    let conflict = "-32600 version conflict in `thread/agents_doc/save`: expected version 1, actual version 2 ";
    let refused = answers
        .iter()
        .filter(|answer| answer.starts_with(conflict))
        .count();
    let won: Vec<_> = answers
        .iter()
        .filter(|answer| answer.contains(r#""version":2"#))
        .collect();
    assert_eq!((refused, won.len()), (15, 1), "{answers:#?}");
    let winner = get(&client, None).await.explicit.unwrap();
    assert!(won[0].contains(&winner.content), "{winner:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn sixteen_first_saves_make_one_document() {
    let running = testkit::gateway().await;
    let client = in_workspace(&running).await;
    let answers = rush(&running, |writer| text(None, &format!("by {writer}"))).await;
    assert!(
        answers
            .iter()
            .all(|answer| answer.starts_with(r#"{"doc":"#)),
        "{answers:#?}"
    );
    let tree = client
        .call_raw("thread/tree", json!({"workspace_id": "ws_a"}))
        .await
        .unwrap();
    assert_eq!(tree["agents_docs"].as_array().unwrap().len(), 1);
    let doc = get(&client, None).await.explicit.unwrap();
    assert_eq!(doc.version, 16);
    assert_eq!(versions(&client, &json!(doc)).await.split(", ").count(), 16);
}

#[tokio::test]
async fn a_version_names_the_token_that_saved_it() {
    let running = testkit::gateway().await;
    let client = in_workspace(&running).await;
    saved(&client, text(None, "by the owner")).await;
    let writer = running
        .client_with_role("human", &["read", "write"], &["ws_a"])
        .await;
    let doc = saved(&writer, text(None, "by a token")).await;
    let tokens = running
        .gateway
        .store()
        .access_tokens()
        .list()
        .await
        .unwrap();
    let params = json!({"workspace_id": "ws_a", "doc_id": doc["id"]});
    let found = client
        .call_raw("thread/agents_doc/revisions", params)
        .await
        .unwrap();
    let authors: Vec<_> = found["items"]
        .as_array()
        .unwrap()
        .iter()
        .map(|item| &item["saved_by"])
        .collect();
    assert_eq!(authors, [&json!(tokens[0].id), &json!("owner")]);
}
