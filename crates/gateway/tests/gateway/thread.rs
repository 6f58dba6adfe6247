//! `thread/*` through a client.

mod agents_doc;
mod folder;
mod tree;

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

/// Creates a thread at the root of the tree.
async fn place(client: &Client, thread: &str) {
    let named = json!({"workspace_id": "ws_a", "thread_id": thread});
    for method in ["thread/start", "thread/move"] {
        let called = client.call_raw(method, named.clone()).await;
        called.expect("a thread can be started and moved");
    }
}

/// Returns the ids of the threads in the order of the tree.
async fn listed(client: &Client) -> Vec<String> {
    let tree = tree(client, json!({"workspace_id": "ws_a"})).await;
    let threads = tree["threads"].as_array().expect("threads are a list");
    threads
        .iter()
        .map(|thread| thread["id"].as_str().expect("an id is text").to_owned())
        .collect()
}

async fn tree(client: &Client, params: Value) -> Value {
    let tree = client.call_raw("thread/tree", params).await;
    tree.expect("the tree can be read")
}

#[tokio::test]
async fn a_new_thread_takes_what_is_given_and_defaults_for_the_rest() {
    let running = testkit::gateway().await;
    let client = in_workspace(&running).await;
    let plain = json!({"workspace_id": "ws_a", "thread_id": " thr_1 "});
    assert_snapshot!(answer(&client, "thread/start", plain).await, @r#"{"sandbox":{"mode":"FullAccess"},"thread":{"created_at":1777900001,"id":"thr_1","mode":"Chat","model":"echo","model_provider":"echo","origin_kind":"user","preview":"","sidebar_visibility":"visible","status":"Idle","turns":[],"updated_at":1777900001,"workspace_id":"ws_a"}}"#);
    assert_snapshot!(told(&client).await, @r#"- thread/started {"thread":{"created_at":1777900001,"id":"thr_1","mode":"Chat","model":"echo","model_provider":"echo","origin_kind":"user","preview":"","sidebar_visibility":"visible","status":"Idle","turns":[],"updated_at":1777900001,"workspace_id":"ws_a"}}"#);
    let given = json!({
        "workspace_id": "ws_a", "thread_id": "thr_2", "name": " Plan ", "model": "large", "model_provider": "acme",
        "sandbox": "FullAccess", "mode": "Agent", "origin_kind": "task_run", "sidebar_visibility": "hidden",
        "agent_nickname": "Ada", "agent_role": "reviewer",
    });
    assert_snapshot!(answer(&client, "thread/start", given).await, @r#"{"sandbox":{"mode":"FullAccess"},"thread":{"agent_nickname":"Ada","agent_role":"reviewer","created_at":1777900002,"id":"thr_2","mode":"Agent","model":"large","model_provider":"acme","name":"Plan","origin_kind":"task_run","preview":"","sidebar_visibility":"hidden","status":"Idle","turns":[],"updated_at":1777900002,"workspace_id":"ws_a"}}"#);
}

#[tokio::test]
async fn opening_a_thread_changes_only_what_is_given() {
    let running = testkit::gateway().await;
    let client = in_workspace(&running).await;
    let given = json!({"workspace_id": "ws_a", "thread_id": "thr_1", "name": "Plan", "model": "large", "mode": "Agent"});
    let started = answer(&client, "thread/start", given).await;
    let plain = json!({"workspace_id": "ws_a", "thread_id": "thr_1", "name": null});
    assert_eq!(answer(&client, "thread/start", plain).await, started);
    let renamed = json!({"workspace_id": "ws_a", "thread_id": "thr_1", "name": "Draft", "origin_kind": "system"});
    assert_snapshot!(answer(&client, "thread/start", renamed).await, @r#"{"sandbox":{"mode":"FullAccess"},"thread":{"created_at":1777900001,"id":"thr_1","mode":"Agent","model":"large","model_provider":"echo","name":"Draft","origin_kind":"user","preview":"","sidebar_visibility":"visible","status":"Idle","turns":[],"updated_at":1777900001,"workspace_id":"ws_a"}}"#);
}

#[tokio::test]
async fn a_started_thread_is_told_to_the_caller_alone() {
    let running = testkit::gateway().await;
    let client = in_workspace(&running).await;
    let watcher = running.client();
    answer(
        &watcher,
        "workspace/subscribe",
        json!({"workspace_id": "ws_a"}),
    )
    .await;
    let start = json!({"workspace_id": "ws_a", "thread_id": "thr_1"});
    answer(&client, "thread/start", start).await;
    assert_eq!(
        told(&client).await.split(' ').nth(1),
        Some("thread/started")
    );
    assert_eq!(told(&watcher).await, "");
}

#[tokio::test]
async fn a_draft_is_in_the_tree_of_its_connection_alone() {
    let running = testkit::gateway().await;
    let client = in_workspace(&running).await;
    let other = running.client();
    let named = json!({"workspace_id": "ws_a", "thread_id": "thr_1"});
    answer(&client, "thread/start", named.clone()).await;
    assert_eq!(listed(&client).await, ["thr_1"]);
    assert_eq!(listed(&other).await, [""; 0]);
    told(&other).await;

    answer(&client, "thread/move", named).await;
    assert_eq!(listed(&other).await, ["thr_1"]);
    assert_snapshot!(told(&other).await, @r#"2 thread/tree/changed {"reason":"thread/move","tree_version":1,"workspace_id":"ws_a"}"#);
}

#[tokio::test]
async fn a_draft_comes_back_to_whoever_opens_it_again() {
    let running = testkit::gateway().await;
    let client = in_workspace(&running).await;
    let start = json!({"workspace_id": "ws_a", "thread_id": "thr_1"});
    answer(&client, "thread/start", start.clone()).await;
    drop(client);
    let back = running.client();
    assert_eq!(listed(&back).await, [""; 0]);
    answer(&back, "thread/start", start).await;
    assert_eq!(listed(&back).await, ["thr_1"]);
}

#[tokio::test]
async fn a_thread_is_read_by_its_id_and_has_no_history_yet() {
    let running = testkit::gateway().await;
    let client = in_workspace(&running).await;
    place(&client, "thr_1").await;
    let named = json!({"thread_id": "thr_1"});
    assert_snapshot!(answer(&client, "thread/get", named.clone()).await, @r#"{"thread":{"created_at":1777900001,"id":"thr_1","mode":"Chat","model":"echo","model_provider":"echo","origin_kind":"user","preview":"","sidebar_visibility":"visible","status":"Idle","turns":[],"updated_at":1777900001,"workspace_id":"ws_a"}}"#);
    assert_snapshot!(answer(&client, "thread/history", named).await, @r#"{"events":[],"thread_id":"thr_1","workspace_id":"ws_a"}"#);
}

#[tokio::test]
async fn reading_a_thread_follows_its_workspace() {
    let running = testkit::gateway().await;
    let client = in_workspace(&running).await;
    place(&client, "thr_1").await;
    let reader = running.client();
    answer(&reader, "thread/get", json!({"thread_id": "thr_1"})).await;
    told(&reader).await;
    place(&client, "thr_2").await;
    assert_eq!(told(&reader).await.lines().count(), 1);
}

#[tokio::test]
async fn the_whole_tree_in_its_order() {
    let running = testkit::gateway().await;
    let client = in_workspace(&running).await;
    for name in ["b", "a", "a", "B"] {
        let create = json!({"workspace_id": "ws_a", "name": name});
        answer(&client, "thread/folder/create", create).await;
    }
    for thread in ["thr_2", "thr_1"] {
        place(&client, thread).await;
    }
    let inside = json!({"workspace_id": "ws_a", "thread_id": "thr_2", "folder_id": "fld_000000000000000001"});
    answer(&client, "thread/move", inside).await;
    let tree = tree(&client, json!({"workspace_id": "ws_a"})).await;
    assert_snapshot!(format!("{tree:#}"), @r#"
    {
      "agents_docs": [],
      "folders": [
        {
          "created_at": 1777900004,
          "id": "fld_000000000000000004",
          "name": "B",
          "updated_at": 1777900004,
          "workspace_id": "ws_a"
        },
        {
          "created_at": 1777900002,
          "id": "fld_000000000000000002",
          "name": "a",
          "updated_at": 1777900002,
          "workspace_id": "ws_a"
        },
        {
          "created_at": 1777900003,
          "id": "fld_000000000000000003",
          "name": "a",
          "updated_at": 1777900003,
          "workspace_id": "ws_a"
        },
        {
          "created_at": 1777900001,
          "id": "fld_000000000000000001",
          "name": "b",
          "updated_at": 1777900001,
          "workspace_id": "ws_a"
        }
      ],
      "placements": [
        {
          "thread_id": "thr_1",
          "workspace_id": "ws_a"
        },
        {
          "folder_id": "fld_000000000000000001",
          "thread_id": "thr_2",
          "workspace_id": "ws_a"
        }
      ],
      "threads": [
        {
          "created_at": 1777900007,
          "id": "thr_1",
          "mode": "Chat",
          "model": "echo",
          "model_provider": "echo",
          "origin_kind": "user",
          "preview": "",
          "sidebar_visibility": "visible",
          "status": "Idle",
          "turns": [],
          "updated_at": 1777900007,
          "workspace_id": "ws_a"
        },
        {
          "created_at": 1777900005,
          "id": "thr_2",
          "mode": "Chat",
          "model": "echo",
          "model_provider": "echo",
          "origin_kind": "user",
          "preview": "",
          "sidebar_visibility": "visible",
          "status": "Idle",
          "turns": [],
          "updated_at": 1777900005,
          "workspace_id": "ws_a"
        }
      ],
      "tree_version": 7,
      "workspace_id": "ws_a"
    }
    "#);
}

#[tokio::test]
async fn a_hidden_thread_and_its_placement_are_not_in_the_tree() {
    let running = testkit::gateway().await;
    let client = in_workspace(&running).await;
    for thread in ["thr_1", "thr_2"] {
        place(&client, thread).await;
    }
    let change = |visibility| json!({"workspace_id": "ws_a", "thread_id": "thr_1", "visibility": visibility});
    answer(&client, "thread/update", change("hidden")).await;
    let hidden = tree(&client, json!({"workspace_id": "ws_a"})).await;
    assert_eq!(hidden["threads"].as_array().unwrap().len(), 1);
    assert_eq!(
        hidden["placements"],
        json!([{"thread_id": "thr_2", "workspace_id": "ws_a"}])
    );
    answer(&client, "thread/update", change("visible")).await;
    assert_eq!(listed(&client).await, ["thr_2", "thr_1"]);
}

#[tokio::test]
async fn an_archived_thread_is_not_in_the_tree_and_can_be_read() {
    let running = testkit::gateway().await;
    let client = in_workspace(&running).await;
    place(&client, "thr_1").await;
    told(&client).await;
    let change =
        |archived| json!({"workspace_id": "ws_a", "thread_id": "thr_1", "archived": archived});
    assert_snapshot!(answer(&client, "thread/update", change(true)).await, @r#"{"thread":{"created_at":1777900001,"id":"thr_1","mode":"Chat","model":"echo","model_provider":"echo","origin_kind":"user","preview":"","sidebar_visibility":"visible","status":"Idle","turns":[],"updated_at":1777900001,"workspace_id":"ws_a"}}"#);
    assert_snapshot!(told(&client).await, @r#"
    3 thread/updated {"placement":{"thread_id":"thr_1","workspace_id":"ws_a"},"thread":{"created_at":1777900001,"id":"thr_1","mode":"Chat","model":"echo","model_provider":"echo","origin_kind":"user","preview":"","sidebar_visibility":"visible","status":"Idle","turns":[],"updated_at":1777900001,"workspace_id":"ws_a"}}
    4 thread/tree/changed {"reason":"thread/update","tree_version":2,"workspace_id":"ws_a"}
    "#);
    let archived = tree(&client, json!({"workspace_id": "ws_a"})).await;
    assert_eq!(
        (&archived["threads"], &archived["placements"]),
        (&json!([]), &json!([]))
    );
    let read = answer(&client, "thread/get", json!({"thread_id": "thr_1"})).await;
    assert!(read.starts_with(r#"{"thread":"#), "{read}");
    answer(&client, "thread/update", change(false)).await;
    assert_eq!(listed(&client).await, ["thr_1"]);
}

#[tokio::test]
async fn a_new_name_is_told_to_subscribers_and_to_the_tree() {
    let running = testkit::gateway().await;
    let client = in_workspace(&running).await;
    place(&client, "thr_1").await;
    let watcher = running.client();
    answer(
        &watcher,
        "workspace/subscribe",
        json!({"workspace_id": "ws_a"}),
    )
    .await;
    told(&client).await;
    let rename = json!({"workspace_id": "ws_a", "thread_id": "thr_1", "name": " Plan "});
    assert_snapshot!(answer(&client, "thread/update", rename).await, @r#"{"thread":{"created_at":1777900001,"id":"thr_1","mode":"Chat","model":"echo","model_provider":"echo","name":"Plan","origin_kind":"user","preview":"","sidebar_visibility":"visible","status":"Idle","turns":[],"updated_at":1777900001,"workspace_id":"ws_a"}}"#);
    assert_snapshot!(told(&client).await, @r#"
    3 thread/updated {"placement":{"thread_id":"thr_1","workspace_id":"ws_a"},"thread":{"created_at":1777900001,"id":"thr_1","mode":"Chat","model":"echo","model_provider":"echo","name":"Plan","origin_kind":"user","preview":"","sidebar_visibility":"visible","status":"Idle","turns":[],"updated_at":1777900001,"workspace_id":"ws_a"}}
    4 thread/tree/changed {"reason":"thread/update","tree_version":2,"workspace_id":"ws_a"}
    "#);
    assert_snapshot!(told(&watcher).await, @r#"4 thread/tree/changed {"reason":"thread/update","tree_version":2,"workspace_id":"ws_a"}"#);
}

#[tokio::test]
async fn pages_hold_every_thread_once_and_the_rest_only_at_first() {
    let running = testkit::gateway().await;
    let client = in_workspace(&running).await;
    answer(
        &client,
        "thread/folder/create",
        json!({"workspace_id": "ws_a", "name": "Notes"}),
    )
    .await;
    for number in 0..5 {
        place(&client, &format!("thr_{number}")).await;
    }
    let mut seen = Vec::new();
    let mut cursor = Value::Null;
    let mut pages = Vec::new();
    loop {
        let page = tree(
            &client,
            json!({"workspace_id": "ws_a", "limit": 2, "cursor": cursor}),
        )
        .await;
        let threads = page["threads"].as_array().unwrap();
        seen.extend(
            threads
                .iter()
                .map(|thread| thread["id"].as_str().unwrap().to_owned()),
        );
        let sizes =
            ["threads", "folders", "placements"].map(|part| page[part].as_array().unwrap().len());
        pages.push(sizes);
        cursor = page["next_cursor"].clone();
        if cursor.is_null() {
            break;
        }
    }
    assert_eq!(seen, ["thr_4", "thr_3", "thr_2", "thr_1", "thr_0"]);
    assert_eq!(pages, [[2, 1, 5], [2, 0, 0], [1, 0, 0]]);
}

#[tokio::test]
async fn a_page_that_is_just_full_is_the_last_one() {
    let running = testkit::gateway().await;
    let client = in_workspace(&running).await;
    for number in 0..2 {
        place(&client, &format!("thr_{number}")).await;
    }
    let page = tree(&client, json!({"workspace_id": "ws_a", "limit": 2})).await;
    assert_eq!(page.get("next_cursor"), None);
    let clamped = tree(&client, json!({"workspace_id": "ws_a", "limit": u32::MAX})).await;
    assert_eq!(clamped["threads"], page["threads"]);
}

#[tokio::test]
async fn the_version_of_the_tree_grows_with_every_change_and_no_other_call() {
    let running = testkit::gateway().await;
    let client = in_workspace(&running).await;
    let folder = "fld_000000000000000001";
    let calls = [
        ("thread/folder/create", json!({"name": "Notes"}), 1),
        ("thread/start", json!({"thread_id": "thr_1"}), 1),
        (
            "thread/start",
            json!({"thread_id": "thr_1", "name": "Draft"}),
            1,
        ),
        ("thread/move", json!({"thread_id": "thr_1"}), 2),
        ("thread/move", json!({"thread_id": "thr_1"}), 2),
        (
            "thread/move",
            json!({"thread_id": "thr_1", "folder_id": folder}),
            3,
        ),
        (
            "thread/update",
            json!({"thread_id": "thr_1", "name": "Plan"}),
            4,
        ),
        ("thread/start", json!({"thread_id": "thr_1"}), 4),
        (
            "thread/folder/update",
            json!({"folder_id": folder, "position": 3}),
            5,
        ),
        ("thread/folder/move", json!({"folder_id": folder}), 5),
        ("thread/folder/delete", json!({"folder_id": folder}), 6),
        ("thread/folder/delete", json!({"folder_id": folder}), 6),
        ("thread/delete", json!({"thread_id": "thr_1"}), 7),
        ("thread/delete", json!({"thread_id": "thr_1"}), 7),
    ];
    for (method, mut params, version) in calls {
        params["workspace_id"] = json!("ws_a");
        let called = client.call_raw(method, params.clone()).await;
        called.unwrap();
        let tree = tree(&client, json!({"workspace_id": "ws_a"})).await;
        assert_eq!(tree["tree_version"], version, "{method} {params}");
    }
}

#[tokio::test]
async fn a_move_that_changes_nothing_is_told_to_nobody() {
    let running = testkit::gateway().await;
    let client = in_workspace(&running).await;
    place(&client, "thr_1").await;
    told(&client).await;
    let named = json!({"workspace_id": "ws_a", "thread_id": "thr_1", "folder_id": null});
    assert_eq!(
        answer(&client, "thread/move", named).await,
        r#"{"moved":true}"#
    );
    assert_eq!(told(&client).await, "");
}

#[tokio::test]
async fn a_deleted_thread_is_gone_with_its_place() {
    let running = testkit::gateway().await;
    let client = in_workspace(&running).await;
    place(&client, "thr_1").await;
    told(&client).await;
    let named = json!({"workspace_id": "ws_a", "thread_id": "thr_1"});
    assert_eq!(
        answer(&client, "thread/delete", named.clone()).await,
        r#"{"deleted":true}"#
    );
    assert_snapshot!(told(&client).await, @r#"3 thread/tree/changed {"reason":"thread/delete","tree_version":2,"workspace_id":"ws_a"}"#);
    let tree = tree(&client, json!({"workspace_id": "ws_a"})).await;
    assert_eq!(
        (&tree["threads"], &tree["placements"]),
        (&json!([]), &json!([]))
    );
    assert_eq!(
        answer(&client, "thread/delete", named).await,
        r#"{"deleted":false}"#
    );
    assert_eq!(told(&client).await, "");
}

#[tokio::test]
async fn the_last_subscriber_closes_a_thread() {
    let running = testkit::gateway().await;
    let client = in_workspace(&running).await;
    let other = running.client();
    let start = json!({"workspace_id": "ws_a", "thread_id": "thr_1"});
    let leave = json!({"threadId": "thr_1"});
    assert_eq!(
        answer(&client, "thread/unsubscribe", leave.clone()).await,
        r#"{"status":"notLoaded"}"#
    );
    answer(&client, "thread/start", start.clone()).await;
    assert_eq!(
        answer(&other, "thread/unsubscribe", leave.clone()).await,
        r#"{"status":"notSubscribed"}"#
    );
    answer(&other, "thread/start", start).await;
    told(&client).await;
    told(&other).await;

    assert_eq!(
        answer(&client, "thread/unsubscribe", leave).await,
        r#"{"status":"unsubscribed"}"#
    );
    assert_eq!(told(&client).await, "");
    let leave = json!({"thread_id": "thr_1"});
    assert_eq!(
        answer(&other, "thread/unsubscribe", leave).await,
        r#"{"status":"unsubscribed"}"#
    );
    assert_snapshot!(told(&other).await, @r#"- thread/closed {"threadId":"thr_1","workspaceId":"ws_a"}"#);
}

#[tokio::test]
async fn a_deleted_thread_can_be_left() {
    let running = testkit::gateway().await;
    let client = in_workspace(&running).await;
    place(&client, "thr_1").await;
    answer(
        &client,
        "thread/delete",
        json!({"workspace_id": "ws_a", "thread_id": "thr_1"}),
    )
    .await;
    let left = answer(&client, "thread/unsubscribe", json!({"threadId": "thr_1"})).await;
    assert_eq!(left, r#"{"status":"unsubscribed"}"#);
}

#[tokio::test]
async fn bad_input_changes_nothing_and_is_told_to_nobody() {
    let running = testkit::gateway().await;
    let client = in_workspace(&running).await;
    place(&client, "thr_1").await;
    answer(&client, "workspace/create", json!({"workspace_id": "ws_b"})).await;
    answer(
        &client,
        "thread/start",
        json!({"workspace_id": "ws_b", "thread_id": "thr_b"}),
    )
    .await;
    answer(
        &client,
        "thread/folder/create",
        json!({"workspace_id": "ws_b", "name": "Theirs"}),
    )
    .await;
    let theirs = "fld_000000000000000001";
    let watcher = running.client();
    for id in ["ws_a", "ws_b"] {
        answer(&watcher, "workspace/subscribe", json!({"workspace_id": id})).await;
    }
    let before = [
        tree(&client, json!({"workspace_id": "ws_a"})).await,
        tree(&client, json!({"workspace_id": "ws_b"})).await,
    ];
    told(&client).await;

    let table = [
        (
            "thread/start",
            json!({"workspace_id": "ws_a"}),
            "-32602 invalid_params",
        ),
        (
            "thread/start",
            json!({"workspace_id": "ws_a", "thread_id": " "}),
            "-32602 invalid_params",
        ),
        (
            "thread/start",
            json!({"workspace_id": "ws_a", "thread_id": "../x"}),
            "-32602 invalid_params",
        ),
        (
            "thread/start",
            json!({"workspace_id": " ", "thread_id": "thr_n"}),
            "-32602 invalid_params",
        ),
        (
            "thread/start",
            json!({"workspace_id": "ws_none", "thread_id": "thr_n"}),
            "-32602 unknown_workspace",
        ),
        (
            "thread/start",
            json!({"workspace_id": "ws_a", "thread_id": "thr_b"}),
            "-32602 unknown_thread",
        ),
        (
            "thread/start",
            json!({"workspace_id": "ws_a", "thread_id": "thr_1", "name": " "}),
            "-32600 invalid_params",
        ),
        (
            "thread/start",
            json!({"workspace_id": "ws_a", "thread_id": "thr_1", "model": ""}),
            "-32600 invalid_params",
        ),
        (
            "thread/start",
            json!({"workspace_id": "ws_a", "thread_id": "thr_1", "model_provider": "\t"}),
            "-32600 invalid_params",
        ),
        (
            "thread/start",
            json!({"workspace_id": "ws_a", "thread_id": "thr_1", "mode": "agent"}),
            "-32602 invalid_params",
        ),
        (
            "thread/start",
            json!({"workspace_id": "ws_a", "thread_id": "thr_1", "sandbox": "None"}),
            "-32602 invalid_params",
        ),
        (
            "thread/get",
            json!({"thread_id": ""}),
            "-32602 invalid_params",
        ),
        (
            "thread/get",
            json!({"thread_id": "thr_none"}),
            "-32600 unknown_thread",
        ),
        (
            "thread/history",
            json!({"thread_id": "thr_none"}),
            "-32600 unknown_thread",
        ),
        (
            "thread/history",
            json!({"thread_id": "thr_1", "limit": 0}),
            "-32602 invalid_params",
        ),
        ("thread/tree", json!({}), "-32602 invalid_params"),
        (
            "thread/tree",
            json!({"workspace_id": "ws_none"}),
            "-32602 unknown_workspace",
        ),
        (
            "thread/tree",
            json!({"workspace_id": "ws_a", "limit": 0}),
            "-32602 invalid_params",
        ),
        (
            "thread/tree",
            json!({"workspace_id": "ws_a", "cursor": "x"}),
            "-32602 invalid_params",
        ),
        (
            "thread/move",
            json!({"workspace_id": "ws_none", "thread_id": "thr_1"}),
            "-32602 unknown_workspace",
        ),
        (
            "thread/move",
            json!({"workspace_id": "ws_a", "thread_id": "thr_none"}),
            "-32600 unknown_thread",
        ),
        (
            "thread/move",
            json!({"workspace_id": "ws_a", "thread_id": "thr_b"}),
            "-32602 unknown_thread",
        ),
        (
            "thread/move",
            json!({"workspace_id": "ws_a", "thread_id": "thr_1", "folder_id": "fld_none"}),
            "-32600 unknown_folder",
        ),
        (
            "thread/move",
            json!({"workspace_id": "ws_a", "thread_id": "thr_1", "folder_id": theirs}),
            "-32600 unknown_folder",
        ),
        (
            "thread/update",
            json!({"workspace_id": "ws_a", "thread_id": "thr_1"}),
            "-32602 invalid_params",
        ),
        (
            "thread/update",
            json!({"workspace_id": "ws_a", "thread_id": "thr_1", "name": " "}),
            "-32602 invalid_params",
        ),
        (
            "thread/update",
            json!({"workspace_id": "ws_a", "thread_id": "thr_1", "name": "x".repeat(201)}),
            "-32602 invalid_params",
        ),
        (
            "thread/update",
            json!({"workspace_id": "ws_a", "thread_id": "thr_none", "name": "N"}),
            "-32600 unknown_thread",
        ),
        (
            "thread/update",
            json!({"workspace_id": "ws_a", "thread_id": "thr_b", "name": "N"}),
            "-32602 unknown_thread",
        ),
        (
            "thread/delete",
            json!({"workspace_id": "ws_a", "thread_id": "thr_b"}),
            "-32602 unknown_thread",
        ),
        (
            "thread/unsubscribe",
            json!({"threadId": ""}),
            "-32602 invalid_params",
        ),
    ];
    for (method, params, expected) in table {
        let refused = refusal(&client, method, params.clone()).await;
        assert_eq!(refused, expected, "{method} {params}");
    }
    let after = [
        tree(&client, json!({"workspace_id": "ws_a"})).await,
        tree(&client, json!({"workspace_id": "ws_b"})).await,
    ];
    assert_eq!(after, before);
    assert_eq!(told(&client).await, "");
    assert_eq!(told(&watcher).await, "");
}
