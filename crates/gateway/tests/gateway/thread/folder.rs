//! `thread/folder/*` through a client.

use insta::assert_snapshot;
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

async fn move_folder(client: &Client, folder: &str, parent: Option<&str>) -> String {
    let params = json!({"workspace_id": "ws_a", "folder_id": folder, "parent_folder_id": parent});
    answer(client, "thread/folder/move", params).await
}

/// Returns the tree as indented lines: folders by name, then the threads in them.
async fn outline(client: &Client) -> String {
    let tree = client
        .call_raw("thread/tree", json!({"workspace_id": "ws_a"}))
        .await;
    let tree = tree.expect("the tree can be read");
    let mut lines = Vec::new();
    draw(&tree, &Value::Null, 0, &mut lines);
    lines.join("\n")
}

fn draw(tree: &Value, parent: &Value, level: usize, lines: &mut Vec<String>) {
    let rows = |part: &str| tree[part].as_array().cloned().unwrap_or_default();
    let indent = "  ".repeat(level);
    for folder in rows("folders") {
        if folder["parent_folder_id"] == *parent {
            lines.push(format!(
                "{indent}{}/",
                folder["name"].as_str().unwrap_or("?")
            ));
            draw(tree, &folder["id"], level + 1, lines);
        }
    }
    for placement in rows("placements") {
        if placement["folder_id"] == *parent {
            lines.push(format!(
                "{indent}{}",
                placement["thread_id"].as_str().unwrap_or("?")
            ));
        }
    }
}

#[tokio::test]
async fn a_folder_is_made_in_a_folder() {
    let running = testkit::gateway().await;
    let client = in_workspace(&running).await;
    let outer = json!({"workspace_id": "ws_a", "name": " Out\u{1}er "});
    assert_snapshot!(answer(&client, "thread/folder/create", outer).await, @r#"{"folder":{"created_at":1777900001,"id":"fld_000000000000000001","name":"Outer","updated_at":1777900001,"workspace_id":"ws_a"}}"#);
    let inner = json!({"workspace_id": "ws_a", "parent_folder_id": "fld_000000000000000001", "name": "Inner"});
    assert_snapshot!(answer(&client, "thread/folder/create", inner).await, @r#"{"folder":{"created_at":1777900002,"id":"fld_000000000000000002","name":"Inner","parent_folder_id":"fld_000000000000000001","updated_at":1777900002,"workspace_id":"ws_a"}}"#);
    assert_snapshot!(told(&client).await, @r#"
    2 thread/tree/changed {"reason":"thread/folder/create","tree_version":1,"workspace_id":"ws_a"}
    3 thread/tree/changed {"reason":"thread/folder/create","tree_version":2,"workspace_id":"ws_a"}
    "#);
}

#[tokio::test]
async fn siblings_may_share_a_name() {
    let running = testkit::gateway().await;
    let client = in_workspace(&running).await;
    assert_ne!(
        folder(&client, None, "Notes").await,
        folder(&client, None, "Notes").await
    );
}

#[tokio::test]
async fn a_folder_moves_with_everything_in_it() {
    let running = testkit::gateway().await;
    let client = in_workspace(&running).await;
    let a = folder(&client, None, "a").await;
    let b = folder(&client, Some(&a), "b").await;
    folder(&client, Some(&b), "c").await;
    let z = folder(&client, None, "z").await;
    told(&client).await;
    assert_eq!(
        move_folder(&client, &b, Some(&z)).await,
        r#"{"moved":true}"#
    );
    assert_snapshot!(told(&client).await, @r#"
    6 thread/agents_doc/changed {"effective_changed":false,"folder_id":"fld_000000000000000002","workspace_id":"ws_a"}
    7 thread/tree/changed {"reason":"thread/folder/move","tree_version":5,"workspace_id":"ws_a"}
    "#);
    assert_snapshot!(outline(&client).await, @r"
    a/
    z/
      b/
        c/
    ");
    move_folder(&client, &b, None).await;
    assert_snapshot!(outline(&client).await, @r"
    a/
    b/
      c/
    z/
    ");
}

#[tokio::test]
async fn a_move_that_changes_nothing_is_told_to_nobody() {
    let running = testkit::gateway().await;
    let client = in_workspace(&running).await;
    let a = folder(&client, None, "a").await;
    let b = folder(&client, Some(&a), "b").await;
    told(&client).await;
    assert_eq!(move_folder(&client, &a, None).await, r#"{"moved":true}"#);
    assert_eq!(
        move_folder(&client, &b, Some(&a)).await,
        r#"{"moved":true}"#
    );
    assert_eq!(told(&client).await, "");
}

#[tokio::test]
async fn a_folder_cannot_be_moved_into_itself_or_below() {
    let running = testkit::gateway().await;
    let client = in_workspace(&running).await;
    let a = folder(&client, None, "a").await;
    let b = folder(&client, Some(&a), "b").await;
    let c = folder(&client, Some(&b), "c").await;
    let before = outline(&client).await;
    told(&client).await;
    assert_snapshot!(move_folder(&client, &a, Some(&c)).await, @r#"-32600 folder `fld_000000000000000001` cannot be moved into `fld_000000000000000003`, which is inside it {"kind":"cycle"}"#);
    assert_snapshot!(move_folder(&client, &a, Some(&a)).await, @r#"-32600 folder `fld_000000000000000001` cannot be moved into `fld_000000000000000001`, which is inside it {"kind":"cycle"}"#);
    assert_eq!(outline(&client).await, before);
    assert_eq!(told(&client).await, "");
}

#[tokio::test]
async fn deleting_a_folder_promotes_what_is_in_it() {
    let running = testkit::gateway().await;
    let client = in_workspace(&running).await;
    let a = folder(&client, None, "a").await;
    let b = folder(&client, Some(&a), "b").await;
    let c = folder(&client, Some(&b), "c").await;
    for (thread, place) in [("thr_b", &b), ("thr_c", &c)] {
        let named = json!({"workspace_id": "ws_a", "thread_id": thread, "folder_id": place});
        answer(&client, "thread/start", named.clone()).await;
        answer(&client, "thread/move", named).await;
    }
    told(&client).await;
    assert_snapshot!(outline(&client).await, @r"
    a/
      b/
        c/
          thr_c
        thr_b
    ");

    let delete = |id: &str| json!({"workspace_id": "ws_a", "folder_id": id});
    assert_eq!(
        answer(&client, "thread/folder/delete", delete(&b)).await,
        r#"{"deleted":true}"#
    );
    assert_snapshot!(told(&client).await, @r#"7 thread/tree/changed {"reason":"thread/folder/delete","tree_version":6,"workspace_id":"ws_a"}"#);
    assert_snapshot!(outline(&client).await, @r"
    a/
      c/
        thr_c
      thr_b
    ");
    answer(&client, "thread/folder/delete", delete(&a)).await;
    assert_snapshot!(outline(&client).await, @r"
    c/
      thr_c
    thr_b
    ");
}

#[tokio::test]
async fn deleting_a_folder_twice_is_told_once() {
    let running = testkit::gateway().await;
    let client = in_workspace(&running).await;
    let a = folder(&client, None, "a").await;
    let delete = json!({"workspace_id": "ws_a", "folder_id": a});
    answer(&client, "thread/folder/delete", delete.clone()).await;
    told(&client).await;
    assert_eq!(
        answer(&client, "thread/folder/delete", delete).await,
        r#"{"deleted":false}"#
    );
    assert_eq!(told(&client).await, "");
}

#[tokio::test]
async fn a_folder_gets_a_new_name_and_a_position() {
    let running = testkit::gateway().await;
    let client = in_workspace(&running).await;
    let a = folder(&client, None, "a").await;
    told(&client).await;
    let rename = json!({"workspace_id": "ws_a", "folder_id": a, "name": " Notes "});
    assert_snapshot!(answer(&client, "thread/folder/update", rename).await, @r#"{"folder":{"created_at":1777900001,"id":"fld_000000000000000001","name":"Notes","updated_at":1777900002,"workspace_id":"ws_a"}}"#);
    let arrange = json!({"workspace_id": "ws_a", "folder_id": a, "position": -7});
    assert_snapshot!(answer(&client, "thread/folder/update", arrange).await, @r#"{"folder":{"created_at":1777900001,"id":"fld_000000000000000001","name":"Notes","position":-7,"updated_at":1777900003,"workspace_id":"ws_a"}}"#);
    assert_snapshot!(told(&client).await, @r#"
    3 thread/tree/changed {"reason":"thread/folder/update","tree_version":2,"workspace_id":"ws_a"}
    4 thread/tree/changed {"reason":"thread/folder/update","tree_version":3,"workspace_id":"ws_a"}
    "#);
}

#[tokio::test]
async fn folders_are_at_most_64_deep() {
    let running = testkit::gateway().await;
    let client = in_workspace(&running).await;
    let mut deepest: Option<String> = None;
    for level in 1..=64 {
        deepest = Some(folder(&client, deepest.as_deref(), &format!("level {level}")).await);
    }
    let deepest = deepest.unwrap();
    told(&client).await;
    let create = json!({"workspace_id": "ws_a", "parent_folder_id": deepest, "name": "level 65"});
    assert_snapshot!(answer(&client, "thread/folder/create", create).await, @r#"-32600 folders can be nested 64 deep at most {"kind":"too_large","limit":64}"#);

    let root = folder(&client, None, "root").await;
    let below_root = folder(&client, Some(&root), "below root").await;
    let refused = move_folder(&client, &root, Some(&deepest)).await;
    assert!(refused.starts_with("-32600"), "{refused}");
    // The depth of the moved subtree counts: two levels fit below level 62, but not below level 63.
    let level = |level: usize| format!("fld_{level:018}");
    let refused = move_folder(&client, &root, Some(&level(63))).await;
    assert!(refused.starts_with("-32600"), "{refused}");
    assert_eq!(
        move_folder(&client, &root, Some(&level(62))).await,
        r#"{"moved":true}"#
    );
    let create =
        json!({"workspace_id": "ws_a", "parent_folder_id": below_root, "name": "level 65"});
    assert_eq!(
        refusal(&client, "thread/folder/create", create).await,
        "-32600 too_large"
    );
}

#[tokio::test]
async fn bad_input_changes_nothing_and_is_told_to_nobody() {
    let running = testkit::gateway().await;
    let client = in_workspace(&running).await;
    let ours = folder(&client, None, "ours").await;
    answer(&client, "workspace/create", json!({"workspace_id": "ws_b"})).await;
    answer(
        &client,
        "thread/folder/create",
        json!({"workspace_id": "ws_b", "name": "theirs"}),
    )
    .await;
    let theirs = "fld_000000000000000002";
    let watcher = running.client();
    for id in ["ws_a", "ws_b"] {
        answer(&watcher, "workspace/subscribe", json!({"workspace_id": id})).await;
    }
    let before = outline(&client).await;
    told(&client).await;

    let table = [
        (
            "thread/folder/create",
            json!({"workspace_id": "ws_a"}),
            "-32602 invalid_params",
        ),
        (
            "thread/folder/create",
            json!({"workspace_id": "ws_a", "name": "  "}),
            "-32602 invalid_params",
        ),
        (
            "thread/folder/create",
            json!({"workspace_id": "ws_a", "name": "x".repeat(201)}),
            "-32602 invalid_params",
        ),
        (
            "thread/folder/create",
            json!({"workspace_id": "ws_none", "name": "N"}),
            "-32602 unknown_workspace",
        ),
        (
            "thread/folder/create",
            json!({"workspace_id": "ws_a", "name": "N", "parent_folder_id": "fld_none"}),
            "-32600 unknown_folder",
        ),
        (
            "thread/folder/create",
            json!({"workspace_id": "ws_a", "name": "N", "parent_folder_id": theirs}),
            "-32600 unknown_folder",
        ),
        (
            "thread/folder/create",
            json!({"workspace_id": "ws_a", "name": "N", "parent_folder_id": ""}),
            "-32602 invalid_params",
        ),
        (
            "thread/folder/move",
            json!({"workspace_id": "ws_none", "folder_id": ours}),
            "-32602 unknown_workspace",
        ),
        (
            "thread/folder/move",
            json!({"workspace_id": "ws_a", "folder_id": "fld_none"}),
            "-32600 unknown_folder",
        ),
        (
            "thread/folder/move",
            json!({"workspace_id": "ws_a", "folder_id": theirs}),
            "-32600 unknown_folder",
        ),
        (
            "thread/folder/move",
            json!({"workspace_id": "ws_a", "folder_id": ours, "parent_folder_id": "fld_none"}),
            "-32600 unknown_folder",
        ),
        (
            "thread/folder/move",
            json!({"workspace_id": "ws_a", "folder_id": ours, "parent_folder_id": theirs}),
            "-32600 unknown_folder",
        ),
        (
            "thread/folder/move",
            json!({"workspace_id": "ws_a", "folder_id": ours, "parent_folder_id": ours}),
            "-32600 cycle",
        ),
        (
            "thread/folder/update",
            json!({"workspace_id": "ws_a", "folder_id": ours}),
            "-32602 invalid_params",
        ),
        (
            "thread/folder/update",
            json!({"workspace_id": "ws_a", "folder_id": ours, "name": ""}),
            "-32602 invalid_params",
        ),
        (
            "thread/folder/update",
            json!({"workspace_id": "ws_a", "folder_id": "fld_none", "name": "N"}),
            "-32600 unknown_folder",
        ),
        (
            "thread/folder/update",
            json!({"workspace_id": "ws_a", "folder_id": theirs, "name": "N"}),
            "-32600 unknown_folder",
        ),
        (
            "thread/folder/delete",
            json!({"workspace_id": "ws_none", "folder_id": ours}),
            "-32602 unknown_workspace",
        ),
        (
            "thread/folder/delete",
            json!({"workspace_id": "ws_a", "folder_id": theirs}),
            "-32600 unknown_folder",
        ),
        (
            "thread/folder/delete",
            json!({"workspace_id": "ws_a", "folder_id": " "}),
            "-32602 invalid_params",
        ),
    ];
    for (method, params, expected) in table {
        let refused = refusal(&client, method, params.clone()).await;
        assert_eq!(refused, expected, "{method} {params}");
    }
    assert_eq!(outline(&client).await, before);
    assert_eq!(told(&client).await, "");
    assert_eq!(told(&watcher).await, "");
}
