//! `workspace/*` through a client.

use insta::assert_snapshot;
use serde_json::json;
use testkit::{answer, refusal, told};

#[tokio::test]
async fn the_default_workspace_is_made_once() {
    let running = testkit::gateway().await;
    let client = running.client();
    let first = answer(&client, "workspace/default", json!({})).await;
    assert_snapshot!(first, @r#"{"workspace":{"created_at":1777900000,"id":"ws_000000000000000000","is_active":true,"is_current":true,"name":"Default Workspace","updated_at":1777900000}}"#);
    assert_snapshot!(told(&client).await, @r#"1 workspace/changed {"workspace":{"created_at":1777900000,"id":"ws_000000000000000000","is_active":true,"is_current":true,"name":"Default Workspace","updated_at":1777900000}}"#);
    let second = answer(&client, "workspace/default", json!({})).await;
    assert_eq!(first, second);
    assert_eq!(told(&client).await, "");
}

#[tokio::test]
async fn the_default_is_the_current_workspace() {
    let running = testkit::gateway().await;
    let client = running.client();
    for id in ["ws_a", "ws_b"] {
        answer(&client, "workspace/create", json!({"workspace_id": id})).await;
    }
    let select = json!({"workspace_id": "ws_b", "make_current": true});
    let selected = answer(&client, "workspace/select", select).await;
    assert_eq!(
        answer(&client, "workspace/default", json!({})).await,
        selected
    );
}

#[tokio::test]
async fn a_workspace_is_created_once_and_keeps_its_first_name() {
    let running = testkit::gateway().await;
    let client = running.client();
    let create = |name| json!({"workspace_id": " ws_a ", "name": name});
    let created = answer(&client, "workspace/create", create("  Alpha\u{7} ")).await;
    assert_snapshot!(created, @r#"{"workspace":{"created_at":1777900000,"id":"ws_a","is_active":true,"is_current":true,"name":"Alpha","updated_at":1777900000}}"#);
    assert_snapshot!(told(&client).await, @r#"1 workspace/changed {"workspace":{"created_at":1777900000,"id":"ws_a","is_active":true,"is_current":true,"name":"Alpha","updated_at":1777900000}}"#);
    assert_eq!(
        answer(&client, "workspace/create", create("Beta")).await,
        created
    );
    assert_eq!(told(&client).await, "");
}

#[tokio::test]
async fn workspaces_are_numbered_listed_by_age_and_only_the_first_is_current() {
    let running = testkit::gateway().await;
    let client = running.client();
    for id in ["ws_b", "ws_a"] {
        answer(
            &client,
            "workspace/create",
            json!({"workspace_id": id, "name": null}),
        )
        .await;
    }
    assert_snapshot!(answer(&client, "workspace/list", json!({})).await, @r#"{"workspaces":[{"created_at":1777900000,"id":"ws_b","is_active":true,"is_current":true,"name":"Workspace 1","updated_at":1777900000},{"created_at":1777900001,"id":"ws_a","is_active":true,"is_current":false,"name":"Workspace 2","updated_at":1777900001}]}"#);
}

#[tokio::test]
async fn selecting_moves_what_is_current_and_tells_of_both() {
    let running = testkit::gateway().await;
    let (client, stranger) = (running.client(), running.client());
    for id in ["ws_a", "ws_b"] {
        answer(&client, "workspace/create", json!({"workspace_id": id})).await;
    }
    told(&stranger).await;
    let look = json!({"workspace_id": "ws_b"});
    assert_snapshot!(answer(&client, "workspace/select", look).await, @r#"{"workspace":{"created_at":1777900001,"id":"ws_b","is_active":true,"is_current":false,"name":"Workspace 2","updated_at":1777900001}}"#);
    assert_eq!(told(&stranger).await, "");

    let select = json!({"workspace_id": "ws_b", "make_current": true});
    let selected = answer(&client, "workspace/select", select.clone()).await;
    assert_snapshot!(selected, @r#"{"workspace":{"created_at":1777900001,"id":"ws_b","is_active":true,"is_current":true,"name":"Workspace 2","updated_at":1777900002}}"#);
    assert_snapshot!(told(&stranger).await, @r#"
    2 workspace/changed {"workspace":{"created_at":1777900000,"id":"ws_a","is_active":true,"is_current":false,"name":"Workspace 1","updated_at":1777900002}}
    2 workspace/changed {"workspace":{"created_at":1777900001,"id":"ws_b","is_active":true,"is_current":true,"name":"Workspace 2","updated_at":1777900002}}
    "#);

    assert_eq!(answer(&client, "workspace/select", select).await, selected);
    assert_eq!(told(&stranger).await, "", "it was current already");
}

#[tokio::test]
async fn a_new_name_is_told_to_everybody() {
    let running = testkit::gateway().await;
    let (client, stranger) = (running.client(), running.client());
    answer(&client, "workspace/create", json!({"workspace_id": "ws_a"})).await;
    told(&stranger).await;
    let rename = json!({"workspace_id": "ws_a", "name": " Alpha "});
    assert_snapshot!(answer(&client, "workspace/update", rename).await, @r#"{"workspace":{"created_at":1777900000,"id":"ws_a","is_active":true,"is_current":true,"name":"Alpha","updated_at":1777900001}}"#);
    assert_snapshot!(told(&stranger).await, @r#"2 workspace/changed {"workspace":{"created_at":1777900000,"id":"ws_a","is_active":true,"is_current":true,"name":"Alpha","updated_at":1777900001}}"#);
}

#[tokio::test]
async fn tree_notifications_go_to_those_who_named_the_workspace() {
    let running = testkit::gateway().await;
    let (client, named, stranger) = (running.client(), running.client(), running.client());
    answer(&client, "workspace/create", json!({"workspace_id": "ws_a"})).await;
    answer(&named, "thread/tree", json!({"workspace_id": "ws_a"})).await;
    for client in [&client, &named, &stranger] {
        told(client).await;
    }
    let create = json!({"workspace_id": "ws_a", "name": "Notes"});
    answer(&client, "thread/folder/create", create).await;
    let heard = told(&client).await;
    assert_snapshot!(heard, @r#"2 thread/tree/changed {"reason":"thread/folder/create","tree_version":1,"workspace_id":"ws_a"}"#);
    assert_eq!(told(&named).await, heard);
    assert_eq!(told(&stranger).await, "");
}

#[tokio::test]
async fn naming_a_second_workspace_does_not_end_the_first() {
    let running = testkit::gateway().await;
    let (client, watcher) = (running.client(), running.client());
    for id in ["ws_a", "ws_b"] {
        answer(&client, "workspace/create", json!({"workspace_id": id})).await;
        answer(&watcher, "workspace/subscribe", json!({"workspace_id": id})).await;
    }
    told(&watcher).await;
    for id in ["ws_a", "ws_b"] {
        let create = json!({"workspace_id": id, "name": "Notes"});
        answer(&client, "thread/folder/create", create).await;
    }
    assert_snapshot!(told(&watcher).await, @r#"
    2 thread/tree/changed {"reason":"thread/folder/create","tree_version":1,"workspace_id":"ws_a"}
    2 thread/tree/changed {"reason":"thread/folder/create","tree_version":1,"workspace_id":"ws_b"}
    "#);
}

#[tokio::test]
async fn who_unsubscribes_is_told_no_more_until_it_names_the_workspace_again() {
    let running = testkit::gateway().await;
    let (client, watcher) = (running.client(), running.client());
    let named = json!({"workspace_id": "ws_a"});
    let change = json!({"workspace_id": "ws_a", "name": "Notes"});
    answer(&client, "workspace/create", named.clone()).await;
    assert_eq!(
        answer(&watcher, "workspace/subscribe", named.clone()).await,
        r#"{"subscribed":true}"#
    );
    assert_eq!(
        answer(&watcher, "workspace/unsubscribe", named.clone()).await,
        r#"{"subscribed":false}"#
    );
    told(&watcher).await;
    answer(&client, "thread/folder/create", change.clone()).await;
    assert_eq!(told(&watcher).await, "");

    answer(&watcher, "workspace/select", named).await;
    answer(&client, "thread/folder/create", change).await;
    assert_snapshot!(told(&watcher).await, @r#"3 thread/tree/changed {"reason":"thread/folder/create","tree_version":2,"workspace_id":"ws_a"}"#);
}

#[tokio::test]
async fn a_workspace_that_is_not_there_is_not_followed() {
    let running = testkit::gateway().await;
    let (client, watcher) = (running.client(), running.client());
    let named = json!({"workspace_id": "ws_a"});
    for method in ["workspace/subscribe", "thread/tree", "workspace/select"] {
        let refused = refusal(&watcher, method, named.clone()).await;
        assert_eq!(refused, "-32602 unknown_workspace", "{method}");
    }
    answer(&client, "workspace/create", named).await;
    told(&watcher).await;
    let create = json!({"workspace_id": "ws_a", "name": "Notes"});
    answer(&client, "thread/folder/create", create).await;
    assert_eq!(told(&watcher).await, "");
}

#[tokio::test]
async fn bad_input_changes_nothing_and_is_told_to_nobody() {
    let running = testkit::gateway().await;
    let (client, watcher) = (running.client(), running.client());
    answer(&client, "workspace/create", json!({"workspace_id": "ws_a"})).await;
    answer(
        &watcher,
        "workspace/subscribe",
        json!({"workspace_id": "ws_a"}),
    )
    .await;
    let before = answer(&client, "workspace/list", json!({})).await;
    told(&client).await;
    told(&watcher).await;

    let long = "x".repeat(201);
    let table = [
        ("workspace/create", json!({}), "-32602 invalid_params"),
        (
            "workspace/create",
            json!({"workspace_id": "  "}),
            "-32602 invalid_params",
        ),
        (
            "workspace/create",
            json!({"workspace_id": "a/b"}),
            "-32602 invalid_params",
        ),
        (
            "workspace/create",
            json!({"workspace_id": "ws_n", "name": " "}),
            "-32602 invalid_params",
        ),
        (
            "workspace/create",
            json!({"workspace_id": "ws_n", "name": long}),
            "-32602 invalid_params",
        ),
        (
            "workspace/select",
            json!({"workspace_id": "ws_none"}),
            "-32602 unknown_workspace",
        ),
        (
            "workspace/select",
            json!({"workspace_id": "ws_none", "make_current": true}),
            "-32602 unknown_workspace",
        ),
        (
            "workspace/select",
            json!({"workspace_id": "ws_a", "make_current": "yes"}),
            "-32602 invalid_params",
        ),
        (
            "workspace/update",
            json!({"workspace_id": "ws_a"}),
            "-32602 invalid_params",
        ),
        (
            "workspace/update",
            json!({"workspace_id": "ws_a", "name": null}),
            "-32602 invalid_params",
        ),
        (
            "workspace/update",
            json!({"workspace_id": "ws_a", "name": " \u{0}"}),
            "-32602 invalid_params",
        ),
        (
            "workspace/update",
            json!({"workspace_id": "ws_none", "name": "N"}),
            "-32602 unknown_workspace",
        ),
        (
            "workspace/subscribe",
            json!({"workspace_id": "ws_none"}),
            "-32602 unknown_workspace",
        ),
        (
            "workspace/unsubscribe",
            json!({"workspace_id": "ws_none"}),
            "-32602 unknown_workspace",
        ),
        (
            "session/resume",
            json!({"workspace_id": "ws_none", "after_seq": 0}),
            "-32602 unknown_workspace",
        ),
        (
            "session/resume",
            json!({"workspace_id": "ws_a", "after_seq": -1}),
            "-32602 invalid_params",
        ),
    ];
    for (method, params, expected) in table {
        let refused = refusal(&client, method, params.clone()).await;
        assert_eq!(refused, expected, "{method} {params}");
    }
    assert_eq!(answer(&client, "workspace/list", json!({})).await, before);
    assert_eq!(told(&client).await, "");
    assert_eq!(told(&watcher).await, "");
}

#[tokio::test]
async fn a_change_of_another_process_is_told_here() {
    let running = testkit::gateway().await;
    let neighbour = running.neighbour().await;
    let (client, elsewhere) = (running.client(), neighbour.client());
    let named = json!({"workspace_id": "ws_a"});
    answer(&elsewhere, "workspace/create", named.clone()).await;
    let told = client.notification().await.unwrap();
    assert_eq!(told.method, "workspace/changed");
    answer(&client, "workspace/subscribe", named).await;
    let create = json!({"workspace_id": "ws_a", "name": "Notes"});
    answer(&elsewhere, "thread/folder/create", create).await;
    let told = client.notification().await.unwrap();
    let expected = json!({"workspace_id": "ws_a", "reason": "external", "tree_version": 1});
    assert_eq!(
        (told.method.as_str(), told.params),
        ("thread/tree/changed", expected)
    );
}

#[tokio::test]
async fn a_tree_changed_elsewhere_is_told_although_the_workspace_is_renamed_here() {
    let running = testkit::gateway().await;
    let neighbour = running.neighbour().await;
    let (client, elsewhere) = (running.client(), neighbour.client());
    answer(&client, "workspace/create", json!({"workspace_id": "ws_a"})).await;
    let create = json!({"workspace_id": "ws_a", "name": "Notes"});
    answer(&elsewhere, "thread/folder/create", create).await;
    // The row written here contains a tree version that has not been published to the clients of this process.
    let rename = json!({"workspace_id": "ws_a", "name": "Alpha"});
    answer(&client, "workspace/update", rename).await;
    let told = client.wait_for::<protocol::thread::ThreadTreeChangedNotification>();
    let told = tokio::time::timeout(std::time::Duration::from_secs(5), told).await;
    assert_eq!(told.unwrap().unwrap().tree_version, Some(1));
}

#[tokio::test]
async fn a_change_elsewhere_right_after_the_start_is_told() {
    let running = testkit::gateway().await;
    let client = running.client();
    // This blocks the runtime, so that no task of the gateway runs between its start and the change.
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let runtime = tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .build();
            runtime.unwrap().block_on(async {
                let elsewhere = running.neighbour().await.client();
                answer(
                    &elsewhere,
                    "workspace/create",
                    json!({"workspace_id": "ws_a"}),
                )
                .await;
            });
        });
    });
    let told = tokio::time::timeout(std::time::Duration::from_secs(5), client.notification()).await;
    assert_eq!(told.unwrap().unwrap().method, "workspace/changed");
}
