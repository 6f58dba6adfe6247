//! Recipients of the notifications about artifacts.

use protocol::artifact::{
    ArtifactCreatedNotification, ArtifactUpdatedNotification, ThreadArtifactsChangedNotification,
};

use super::*;

/// Returns a connection that has only called one list method.
async fn watcher(running: &TestGateway, method: &str, params: Value) -> Client {
    let client = running.client();
    call(&client, method, params).await;
    client
}

#[tokio::test]
async fn a_file_of_a_thread_is_announced_to_everyone_who_asked_for_a_list() {
    let running = testkit::gateway().await;
    let client = client(&running).await;
    let of_workspace = json!({"workspace_id": "ws_a"});
    let of_thread = json!({"workspace_id": "ws_a", "thread_id": "thr_a"});
    let watchers = [
        watcher(&running, "artifact/list", of_workspace.clone()).await,
        watcher(&running, "artifact/list/thread", of_thread).await,
        watcher(&running, "workspace/subscribe", of_workspace).await,
    ];
    let artifact = put(&client, "a.txt", b"one", json!({"thread_id": "thr_a"})).await;
    for watcher in &watchers {
        let created = watcher.wait_for::<ArtifactCreatedNotification>().await;
        let created = created.expect("the connection is open");
        assert_eq!(
            json!(created.artifact.artifact.artifact_id),
            artifact["artifact_id"]
        );
        let changed = watcher
            .wait_for::<ThreadArtifactsChangedNotification>()
            .await;
        let changed = changed.expect("the connection is open");
        assert_eq!(
            (changed.thread_id.as_str(), changed.reason.as_str()),
            ("thr_a", "user_upload")
        );
    }

    let more = json!({"artifact_id": artifact["artifact_id"]});
    put(&client, "a.txt", b"two", more).await;
    for watcher in &watchers {
        let updated = watcher.wait_for::<ArtifactUpdatedNotification>().await;
        let updated = updated.expect("the connection is open");
        assert_eq!(
            json!(updated.artifact.artifact.artifact_id),
            artifact["artifact_id"]
        );
        let changed = watcher
            .wait_for::<ThreadArtifactsChangedNotification>()
            .await;
        assert_eq!(
            changed.expect("the connection is open").reason,
            "new_version"
        );
    }

    call(&client, "artifact/delete", of(&artifact)).await;
    for watcher in &watchers {
        let changed = watcher
            .wait_for::<ThreadArtifactsChangedNotification>()
            .await;
        assert_eq!(changed.expect("the connection is open").reason, "delete");
    }
}

#[tokio::test]
async fn the_last_page_has_a_cursor_that_is_null() {
    let running = testkit::gateway().await;
    let client = client(&running).await;
    for name in ["a", "b"] {
        put(
            &client,
            name,
            name.as_bytes(),
            json!({"thread_id": "thr_a"}),
        )
        .await;
    }
    let page = |cursor: Value| json!({"workspace_id": "ws_a", "thread_id": "thr_a", "limit": 1, "cursor": cursor});
    let first = call(&client, "artifact/list/thread", page(Value::Null)).await;
    assert!(first["next_cursor"].is_string());
    let last = call(
        &client,
        "artifact/list/thread",
        page(first["next_cursor"].clone()),
    )
    .await;
    assert_eq!(last.get("next_cursor"), Some(&Value::Null));
    let versions = of(&last["items"][0]["artifact"]);
    let versions = call(&client, "artifact/versions/list", versions).await;
    assert_eq!(versions.get("next_cursor"), Some(&Value::Null));
}
