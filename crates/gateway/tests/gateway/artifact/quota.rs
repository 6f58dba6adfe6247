//! Storage limits of a workspace, for its artifacts and for all bytes stored on disk.

use super::*;

const SMALL: crud::Quota = crud::Quota {
    max_bytes: 100,
    max_files: 10,
    max_stored_bytes: 150,
};

fn file(number: u8) -> Vec<u8> {
    vec![number; 60]
}

fn over(limit: &str, value: i64) -> (i64, Value, Value, Value) {
    (-32600, json!("quota_exceeded"), json!(limit), json!(value))
}

async fn over_quota(client: &Client, method: &str, params: Value) -> (i64, Value, Value, Value) {
    let (code, data) = refused(client, method, params).await;
    let member = |name: &str| data[name].clone();
    (code, member("kind"), member("limit_name"), member("limit"))
}

#[tokio::test]
async fn deleted_bytes_that_are_kept_count_against_the_disk() {
    let running = testkit::gateway_with_quota(SMALL).await;
    let client = client(&running).await;
    for number in [1, 2] {
        let artifact = put(&client, "a", &file(number), json!({})).await;
        call(&client, "artifact/delete", of(&artifact)).await;
    }
    let usage = call(&client, "artifact/usage", json!({"workspace_id": "ws_a"})).await;
    assert_eq!(
        usage,
        json!({"bytes": 0, "files": 0, "max_bytes": 100, "max_files": 10, "reclaimable_bytes": 120,
            "stored_bytes": 120, "open_upload_bytes": 0, "max_stored_bytes": 150})
    );
    let third = start("c", &file(3));
    assert_eq!(
        over_quota(&client, "artifact/upload/start", third).await,
        over("max_stored_bytes", 150)
    );
}

#[tokio::test]
async fn open_uploads_count_against_the_disk_until_they_are_aborted() {
    let running = testkit::gateway_with_quota(SMALL).await;
    let client = client(&running).await;
    let first = call(&client, "artifact/upload/start", start("a", &file(1))).await;
    call(&client, "artifact/upload/start", start("b", &file(2))).await;
    let third = start("c", &file(3));
    assert_eq!(
        over_quota(&client, "artifact/upload/start", third.clone()).await,
        over("max_stored_bytes", 150)
    );
    let abort = json!({"workspace_id": "ws_a", "upload_id": first["upload_id"]});
    call(&client, "artifact/upload/abort", abort).await;
    call(&client, "artifact/upload/start", third).await;
}

#[tokio::test]
async fn finishing_an_upload_checks_the_quota_again() {
    let running = testkit::gateway_with_quota(SMALL).await;
    let client = client(&running).await;
    let mut uploads = Vec::new();
    for (name, number) in [("a", 1), ("b", 2)] {
        // Each upload fits the quota if it is the only one.
        let started = call(&client, "artifact/upload/start", start(name, &file(number))).await;
        send(&client, &started["upload_id"], &file(number)).await;
        uploads.push(started["upload_id"].clone());
    }
    let first = finish(&client, &uploads[0]).await;
    let second = json!({"workspace_id": "ws_a", "upload_id": uploads[1]});
    assert_eq!(
        over_quota(&client, "artifact/upload/finish", second.clone()).await,
        over("max_bytes", 100)
    );
    // The same upload can be finished once there is space again.
    call(&client, "artifact/delete", of(&first)).await;
    call(&client, "artifact/upload/finish", second).await;
}

#[tokio::test]
async fn restoring_an_artifact_checks_the_quota() {
    let running = testkit::gateway_with_quota(SMALL).await;
    let client = client(&running).await;
    let first = put(&client, "a", &file(1), json!({})).await;
    call(&client, "artifact/delete", of(&first)).await;
    put(&client, "b", &file(2), json!({})).await;
    assert_eq!(
        over_quota(&client, "artifact/restore", of(&first)).await,
        over("max_bytes", 100)
    );
    let got = call(&client, "artifact/get", of(&first)).await;
    assert_eq!(
        got["artifact"]["artifact"]["status"], "deleted",
        "nothing changed"
    );
}
