//! Damaged bytes are never served, and uploading the original bytes heals them.

use std::{
    fs::OpenOptions,
    io::{Seek as _, SeekFrom, Write as _},
};

use protocol::artifact::ArtifactUpdatedNotification;

use super::*;

/// Changes eight bytes in the middle of the file without changing its size.
fn change(running: &TestGateway, bytes: &[u8]) {
    let file = OpenOptions::new()
        .write(true)
        .open(blob_path(running, bytes));
    let mut file = file.expect("the blob is there");
    file.seek(SeekFrom::Start(bytes.len() as u64 / 2))
        .and_then(|_| file.write_all(b"????????"))
        .expect("the blob can be written");
}

fn shorten(running: &TestGateway, bytes: &[u8]) {
    let file = OpenOptions::new()
        .write(true)
        .open(blob_path(running, bytes));
    let cut = file.and_then(|file| file.set_len(bytes.len() as u64 / 2));
    cut.expect("the blob can be cut");
}

fn file(number: u8) -> Vec<u8> {
    (0..3000u32).map(|at| (at / 7) as u8 ^ number).collect()
}

async fn read(client: &Client, artifact: &Value) -> Vec<u8> {
    use base64::{Engine as _, engine::general_purpose::STANDARD as BASE64};
    let read = call(client, "artifact/read", of(artifact)).await;
    let content = read["content_base64"].as_str().expect("it is text");
    BASE64.decode(content).expect("it is base64")
}

#[tokio::test]
async fn shortened_and_changed_files_are_refused_by_read_and_download() {
    let running = testkit::gateway().await;
    let client = client(&running).await;
    let damages: [fn(&TestGateway, &[u8]); 2] = [shorten, change];
    let mut number = 0;
    for damage in damages {
        for method in ["artifact/read", "artifact/download/start"] {
            number += 1;
            let bytes = file(number);
            let artifact = put(&client, "a.bin", &bytes, json!({})).await;
            assert_eq!(artifact["status"], "ready");
            damage(&running, &bytes);
            let (code, data) = refused(&client, method, of(&artifact)).await;
            assert_eq!(
                (code, &data["kind"]),
                (-32600, &json!("not_ready")),
                "{method}"
            );
            assert_eq!(data["status"], "quarantined", "{method}");
            // From now on the artifact itself shows the status.
            let got = call(&client, "artifact/get", of(&artifact)).await;
            assert_eq!(got["artifact"]["artifact"]["status"], "quarantined");
        }
    }
}

#[tokio::test]
async fn a_file_that_is_damaged_during_a_download_is_refused_from_then_on() {
    let running = testkit::gateway().await;
    let client = client(&running).await;
    let bytes = file(1);
    let artifact = put(&client, "a.bin", &bytes, json!({})).await;
    let started = call(&client, "artifact/download/start", of(&artifact)).await;
    let chunk = |offset: u64, len: u64| {
        json!({"workspace_id": "ws_a", "download_id": started["download_id"],
            "offset": offset, "len": len})
    };
    call(&client, "artifact/download/chunk", chunk(0, 100)).await;
    change(&running, &bytes);
    // Unchanged parts are rejected too, because only the hash of the whole file is known to be wrong.
    let (code, data) = refused(&client, "artifact/download/chunk", chunk(100, 100)).await;
    assert_eq!((code, &data["status"]), (-32600, &json!("quarantined")));
}

#[tokio::test]
async fn a_missing_file_is_said_to_be_missing() {
    let running = testkit::gateway().await;
    let client = client(&running).await;
    let bytes = file(1);
    let artifact = put(&client, "a.bin", &bytes, json!({})).await;
    std::fs::remove_file(blob_path(&running, &bytes)).expect("the blob is there");
    let (code, data) = refused(&client, "artifact/read", of(&artifact)).await;
    assert_eq!((code, &data["status"]), (-32600, &json!("failed")));
}

#[tokio::test]
async fn a_damaged_file_is_announced_to_those_who_follow_the_workspace() {
    let running = testkit::gateway().await;
    let (client, bytes) = (client(&running).await, file(1));
    let artifact = put(&client, "a.bin", &bytes, json!({})).await;
    let watcher = running.client();
    call(&watcher, "artifact/list", json!({"workspace_id": "ws_a"})).await;
    change(&running, &bytes);
    refused(&client, "artifact/read", of(&artifact)).await;
    let told = watcher.wait_for::<ArtifactUpdatedNotification>().await;
    let told = json!(told.expect("the connection is open").artifact.artifact);
    assert_eq!(told["artifact_id"], artifact["artifact_id"]);
    assert_eq!(told["status"], "quarantined");
}

#[tokio::test]
async fn uploading_good_bytes_over_a_damaged_file_heals_every_artifact_that_has_it() {
    let running = testkit::gateway().await;
    let (client, bytes) = (client(&running).await, file(1));
    let first = put(&client, "first.bin", &bytes, json!({})).await;
    // The gateway has not detected the damage yet.
    change(&running, &bytes);
    let started = call(
        &client,
        "artifact/upload/start",
        start("second.bin", &bytes),
    )
    .await;
    assert_eq!(
        started.get("already_present"),
        None,
        "damaged bytes are not there"
    );
    send(&client, &started["upload_id"], &bytes).await;
    let second = finish(&client, &started["upload_id"]).await;
    for artifact in [&first, &second] {
        let got = call(&client, "artifact/get", of(artifact)).await;
        assert_eq!(got["artifact"]["artifact"]["status"], "ready");
        assert_eq!(read(&client, artifact).await, bytes);
        call(&client, "artifact/download/start", of(artifact)).await;
    }
}

#[tokio::test]
async fn a_quarantined_artifact_is_ready_again_after_its_bytes_were_uploaded() {
    let running = testkit::gateway().await;
    let (client, bytes) = (client(&running).await, file(1));
    let first = put(&client, "first.bin", &bytes, json!({})).await;
    shorten(&running, &bytes);
    refused(&client, "artifact/read", of(&first)).await;
    let watcher = running.client();
    call(&watcher, "artifact/list", json!({"workspace_id": "ws_a"})).await;
    put(&client, "second.bin", &bytes, json!({})).await;
    let told = watcher.wait_for::<ArtifactUpdatedNotification>().await;
    let told = json!(told.expect("the connection is open").artifact.artifact);
    assert_eq!(told["artifact_id"], first["artifact_id"]);
    assert_eq!(told["status"], "ready");
    assert_eq!(read(&client, &first).await, bytes);
}

#[tokio::test]
async fn restoring_an_artifact_whose_file_was_damaged_does_not_make_it_ready() {
    let running = testkit::gateway().await;
    let (client, bytes) = (client(&running).await, file(1));
    let artifact = put(&client, "a.bin", &bytes, json!({})).await;
    call(&client, "artifact/delete", of(&artifact)).await;
    change(&running, &bytes);
    let restored = call(&client, "artifact/restore", of(&artifact)).await;
    assert_eq!(restored["status"], "quarantined");
}
